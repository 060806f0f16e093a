"""Figures of a table, as PNG and SVG."""

from collections import Counter
from pathlib import Path
from typing import Any

from correlate import points_of

from spacy_parsetag.analysis import Correlation, Deviations, Stacks
from spacy_parsetag.analysis.plots import NAMES, plot_correlation, plot_deviations, plot_stacks
from spacy_parsetag.compat import has_module, require

KINDS = ("png", "svg")
# So that a figure is the same file each time.
RC = {"svg.hashsalt": "spacy-parsetag", "svg.fonttype": "none"}
SHADES = ("#444444", "#aaaaaa", "#888888", "#cccccc")


def draw_figures(runs: list[dict[str, Any]], content: dict[str, Any], folder: Path) -> list[str]:
    """Draw what the table has.

    runs (List[Dict[str, Any]]): The runs.
    content (Dict[str, Any]): The table: its rows, and their correlations.
    folder (Path): Where to write.
    RETURNS (List[str]): The names of the figures; none if Matplotlib is not installed.
    """
    if not has_module("matplotlib"):
        return []

    def paths(name: str) -> list[Path]:
        return [folder / f"{name}.{kind}" for kind in KINDS]

    if runs[0]["settings"]["table"] != "languages":
        draw_decoders(content["rows"], paths("decoders"))
        return ["decoders"]
    banks = {run["settings"]["treebank"]: run["data"]["train"] for run in runs}
    plot_deviations({name: deviations_of(data) for name, data in banks.items()}, paths("deviation"))
    plot_stacks({name: stacks_of(data) for name, data in banks.items()}, paths("stack"))
    if "all" not in content["correlations"]:
        return ["deviation", "stack"]
    plot_correlation(points_of(content["rows"]), Correlation(**content["correlations"]["all"]), paths("correlation"))
    return ["deviation", "stack", "correlation"]


def read_counts(data: dict[str, Any], name: str) -> dict[str, "Counter[int]"]:
    return {order: Counter({int(k): n for k, n in found[name].items()}) for order, found in data["orders"].items()}


def deviations_of(data: dict[str, Any]) -> Deviations:
    return Deviations(data["sentences"], data["words"], read_counts(data, "deviations"))


def stacks_of(data: dict[str, Any]) -> Stacks:
    return Stacks(data["sentences"], read_counts(data, "stacks"))


def draw_decoders(rows: list[dict[str, Any]], paths: list[Path]) -> None:
    """F of each row of the table, a bar for each decoder."""
    cells = list(dict.fromkeys((row["treebank"], row["order"], row["learner"]) for row in rows))
    decoders = list(dict.fromkeys(row["decoder"] for row in rows))
    figure = require("matplotlib.figure", "Figures").Figure(figsize=(1.5 + 0.9 * len(cells), 3.5), layout="constrained")
    axes = figure.subplots()
    width = 0.8 / len(decoders)
    for i, decoder in enumerate(decoders):
        found = {(row["treebank"], row["order"], row["learner"]): row["F"] for row in rows if row["decoder"] == decoder}
        places = [k + i * width for k in range(len(cells))]
        bars = axes.bar(places, [found.get(cell, 0.0) for cell in cells], width, label=decoder, color=SHADES[i % 4])
        axes.bar_label(bars, fmt="%.1f", fontsize=6)
    axes.set_xticks([k + 0.4 - width / 2 for k in range(len(cells))])
    axes.set_xticklabels([f"{NAMES.get(order, order)}\n{learner}" for _, order, learner in cells], fontsize=7)
    values = [row["F"] for row in rows]
    axes.set_ylim(max(0, min(values) - 5), min(102, max(values) + 3))
    axes.set_ylabel("F")
    axes.legend(loc="lower left", fontsize=7)
    matplotlib = require("matplotlib", "Figures")
    for path in paths:
        metadata = {"Date": None} if path.suffix == ".svg" else {"Software": None}
        with matplotlib.rc_context(RC):
            figure.savefig(path, dpi=150, metadata=metadata)
