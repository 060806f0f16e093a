"""Figures of a table, as PNG and SVG."""

from pathlib import Path
from typing import Any, Dict, List

from spacy_parsetag.compat import has_module, require

ORDERS = {"in": "in-order", "pre": "pre-order", "post": "post-order"}
COLORS = {"in": "#1b7837", "pre": "#2166ac", "post": "#b2182b"}
MARKERS = {"in": "o", "pre": "s", "post": "^"}
# So that a figure is the same file each time.
RC = {"svg.hashsalt": "parsetag", "svg.fonttype": "none", "font.size": 9}


def draw_figures(runs: List[Dict[str, Any]], rows: List[Dict[str, Any]], folder: Path) -> str:
    """Draw what the table has.

    runs (List[Dict[str, Any]]): The runs.
    rows (List[Dict[str, Any]]): The table's rows.
    folder (Path): Where to write.
    RETURNS (str): The names, for a message.
    """
    if not has_module("matplotlib"):
        return 'none, for want of matplotlib: pip install "spacy-parsetag[plots]"'
    matplotlib = require("matplotlib", "Figures")
    matplotlib.use("Agg")
    with matplotlib.rc_context(RC):
        if runs[0]["settings"]["table"] == "languages":
            drawn = {
                "correlation": draw_correlation(rows),
                "deviation": draw_deviation(runs),
                "stack": draw_stack(runs),
            }
        else:
            drawn = {"decoders": draw_decoders(rows)}
        for name, figure in drawn.items():
            for kind in ("png", "svg"):
                metadata = {"Date": None} if kind == "svg" else {}
                figure.savefig(folder / f"{name}.{kind}", dpi=150, bbox_inches="tight", metadata=metadata)
            require("matplotlib.pyplot", "Figures").close(figure)
    return ", ".join(f"{name}.png, .svg" for name in drawn)


def subplots(*args: Any, **kwargs: Any) -> Any:
    return require("matplotlib.pyplot", "Figures").subplots(*args, **kwargs)


def draw_correlation(rows: List[Dict[str, Any]]) -> Any:
    """F over mean deviation, a point for each treebank and order."""
    figure, axes = subplots(figsize=(5.5, 4))
    for order, name in ORDERS.items():
        chosen = [row for row in rows if row["order"] == order]
        axes.scatter(
            [row["mean deviation"] for row in chosen],
            [row["F"] for row in chosen],
            c=COLORS[order], marker=MARKERS[order], label=name,
        )  # fmt: skip
        for row in chosen:
            place = (row["mean deviation"], row["F"])
            axes.annotate(row["treebank"], place, fontsize=6, xytext=(4, 2), textcoords="offset points")
    axes.set_xlabel("mean deviation (words)")
    axes.set_ylabel("F")
    axes.legend()
    return figure


def one_run_each(runs: List[Dict[str, Any]]) -> Dict[str, Dict[str, Any]]:
    """The trees' figures of each treebank."""
    return {run["settings"]["treebank"]: run["data"]["train"]["orders"] for run in runs}


def grid(n: int) -> Any:
    columns = min(4, n)
    figure, axes = subplots(-(-n // columns), columns, figsize=(2.6 * columns, 2 * -(-n // columns)), squeeze=False)
    for spare in axes.flat[n:]:
        spare.set_visible(False)
    return figure, axes.flat


def draw_deviation(runs: List[Dict[str, Any]], longest: int = 20) -> Any:
    """Share of words by deviation, for each treebank; in-order deviates nowhere."""
    banks = one_run_each(runs)
    figure, places = grid(len(banks))
    for (name, orders), axes in zip(banks.items(), places, strict=False):
        for order in ("pre", "post"):
            counts = {int(k): n for k, n in orders[order]["deviations"].items()}
            total = sum(counts.values())
            shares = [counts.get(k, 0) / total for k in range(longest + 1)]
            axes.plot(range(longest + 1), shares, c=COLORS[order], label=ORDERS[order])
        axes.set_title(name, fontsize=8)
    figure.supxlabel("deviation (words)")
    figure.supylabel("share of words")
    places[0].legend(fontsize=6)
    figure.tight_layout()
    return figure


def draw_stack(runs: List[Dict[str, Any]], largest: int = 25) -> Any:
    """Share of trees that a stack of some size is enough for."""
    banks = one_run_each(runs)
    figure, places = grid(len(banks))
    for (name, orders), axes in zip(banks.items(), places, strict=False):
        for order in ORDERS:
            counts = {int(k): n for k, n in orders[order]["stacks"].items()}
            total = sum(counts.values())
            shares = [sum(n for k, n in counts.items() if k <= size) / total for size in range(largest + 1)]
            axes.plot(range(largest + 1), shares, c=COLORS[order], label=ORDERS[order])
        axes.set_title(name, fontsize=8)
    figure.supxlabel("largest stack")
    figure.supylabel("share of trees covered")
    places[0].legend(fontsize=6)
    figure.tight_layout()
    return figure


def draw_decoders(rows: List[Dict[str, Any]]) -> Any:
    """F of each row of the table, a bar for each decoder."""
    cells = list(dict.fromkeys((row["treebank"], row["order"], row["learner"]) for row in rows))
    decoders = list(dict.fromkeys(row["decoder"] for row in rows))
    figure, axes = subplots(figsize=(1.5 + 0.9 * len(cells), 3.5))
    width = 0.8 / len(decoders)
    shades = ("#444444", "#aaaaaa", "#888888", "#cccccc")
    for i, decoder in enumerate(decoders):
        found = {(row["treebank"], row["order"], row["learner"]): row["F"] for row in rows if row["decoder"] == decoder}
        places = [k + i * width for k in range(len(cells))]
        bars = axes.bar(places, [found.get(cell, 0.0) for cell in cells], width, label=decoder, color=shades[i % 4])
        axes.bar_label(bars, fmt="%.1f", fontsize=6)
    axes.set_xticks([k + 0.4 - width / 2 for k in range(len(cells))])
    axes.set_xticklabels([f"{ORDERS[order]}\n{learner}" for _, order, learner in cells], fontsize=7)
    values = [row["F"] for row in rows]
    axes.set_ylim(max(0, min(values) - 5), min(100, max(values) + 3))
    axes.set_ylabel("F")
    axes.legend(loc="lower left")
    return figure
