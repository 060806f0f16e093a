"""The figures of the paper, drawn with Matplotlib: deviations by treebank, coverage of the stack, F by deviation.

A figure is written to every given path, in the format of its suffix; the same data give the same bytes.
"""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from itertools import accumulate
from math import ceil
from pathlib import Path
from typing import Any

from ..compat import require
from ..errors import Errors, showable
from ..files.write import atomic_path
from .inventories import Deviations, Inventory, Stacks
from .reliability import Reliability
from .results import Correlation, Point

FORMATS = (".svg", ".png", ".pdf")
# Colours that the colour-blind tell apart, and lines that differ in print as well.
STYLES: dict[str, dict[str, Any]] = {
    "in": {"color": "#0072b2", "linestyle": "-", "marker": "o"},
    "pre": {"color": "#d55e00", "linestyle": "--", "marker": "s"},
    "post": {"color": "#555555", "linestyle": ":", "marker": "^"},
}
PANEL = (2.6, 1.9)  # inches
SHOWN = 0.995  # of the words: the tail of deviations beyond is cut
Paths = Sequence[str | Path]


def check_paths(paths: Paths) -> None:
    """Raise before the work is done, not after it.

    RAISES (ValueError): If a suffix is not one of `FORMATS`.
    RAISES (ImportError): If there are paths and Matplotlib is not installed.
    """
    for path in map(Path, paths):
        if path.suffix.lower() not in FORMATS:
            raise ValueError(Errors.E402.format(path=path, known=", ".join(FORMATS)))
    if paths:
        require("matplotlib", "A figure")


def plot_deviations(treebanks: Mapping[str, Deviations], paths: Paths) -> None:
    """A panel for each treebank: how many of the words deviate by how much, in each order but in-order, whose tags
    always stand at 0.
    """
    with _figure(paths, treebanks, x="deviation (words)", y="share of words") as panels:
        for axes, deviations in zip(panels, treebanks.values(), strict=True):
            largest = 1
            for order in (order for order in deviations.counts if order != "in"):
                shares = deviations.distribution(order)
                largest = max(largest, next((k for k, covered in enumerate(accumulate(shares)) if covered >= SHOWN), 0))
                style = _style(order, deviations.counts)
                label = f"{order}-order, mean {deviations.mean(order):.2f}"
                edges = [distance - 0.5 for distance in range(len(shares) + 1)]
                axes.stairs(shares, edges, fill=True, alpha=0.15, color=style["color"])
                axes.stairs(shares, edges, label=label, color=style["color"], linestyle=style["linestyle"])
            axes.set(xlim=(-0.5, largest + 0.5), ylim=(0, None))
            axes.legend(fontsize=6, frameon=False)


def plot_stacks(treebanks: Mapping[str, Stacks], paths: Paths) -> None:
    """A panel for each treebank: share of the trees that each stack size covers, in the three orders."""
    with _figure(paths, treebanks, x="stack size", y="coverage") as panels:
        for axes, stacks in zip(panels, treebanks.values(), strict=True):
            largest = max(map(stacks.largest, stacks.counts))
            for order in stacks.counts:
                shares = stacks.coverage(order)
                label = f"{order}-order, all at {len(shares) - 1}"
                shares = [*shares, *[1.0] * (largest + 1 - len(shares))]
                axes.plot(range(len(shares)), shares, label=label, **{**_style(order, stacks.counts), "marker": ""})
            axes.set(xlim=(0, largest), ylim=(0, 1.03))
            axes.legend(fontsize=6, frameon=False, loc="lower right")


def plot_coverage(treebanks: Mapping[str, Inventory], paths: Paths, *, kind: str) -> None:
    """Share of all occurrences that the most frequent items make up, a line for each treebank."""
    with _figure(paths, [""], x=f"most frequent {kind}", y=f"share of all {kind}", panel=(5.0, 3.4)) as (axes,):
        for name, inventory in treebanks.items():
            shares = inventory.covered()
            axes.plot(range(1, len(shares) + 1), shares, label=f"{len(shares)} {kind} in {name}", linewidth=1.2)
        axes.set(xscale="log", ylim=(0, 1.03))
        axes.legend(fontsize=7, frameon=False)


def plot_correlation(points: Sequence[Point], correlation: Correlation, paths: Paths) -> None:
    """F by mean deviation, a point for each treebank and order."""
    title = f"r = {correlation.r:.2f}, p = {correlation.p:.2g}, n = {correlation.n}"
    with _figure(paths, [title], x="mean deviation (words)", y="F", panel=(5.0, 3.4), integers=False) as (axes,):
        orders = list(dict.fromkeys(point.order for point in points))
        for order in orders:
            of_order = [point for point in points if point.order == order]
            style = {**_style(order, orders), "linestyle": ""}
            axes.plot([p.deviation for p in of_order], [p.f for p in of_order], label=f"{order}-order", **style)
            for point in of_order:
                position = (point.deviation, point.f)
                axes.annotate(point.treebank, position, xytext=(3, 3), textcoords="offset points", fontsize=5)
        axes.legend(fontsize=7, frameon=False)


def _style(order: str, orders: Iterable[str]) -> dict[str, Any]:
    """Give the style of an order; a user's own ones take Matplotlib's colours in turn."""
    if order in STYLES:
        return STYLES[order]
    unstyled = [name for name in orders if name not in STYLES]
    return {"color": f"C{unstyled.index(order)}", "linestyle": "-.", "marker": "D"}


def plot_reliability(panels: Mapping[str, Mapping[str, Reliability]], paths: Paths) -> None:
    """A panel for each kind of thing: the share that is right by probability. On the diagonal both are the same."""
    with _figure(paths, panels, x="probability", y="share that is right", panel=(3.4, 3.2), integers=False) as drawn:
        for axes, lines in zip(drawn, panels.values(), strict=True):
            axes.plot([0, 1], [0, 1], color="#bbbbbb", linewidth=0.8)
            for (name, line), style in zip(lines.items(), STYLES.values(), strict=False):
                xy = ([values[key] for values in line.bins] for key in ("confidence", "accuracy"))
                axes.plot(*xy, label=f"{name}, ECE {line.ece:.1%}", markersize=3, **style)
            axes.set(xlim=(0, 1), ylim=(0, 1), aspect="equal")
            axes.legend(fontsize=7, frameon=False)


@contextmanager
def _figure(
    paths: Paths, titles: Collection[str], *, x: str, y: str, panel: tuple[float, float] = PANEL, integers: bool = True
) -> Iterator[list[Any]]:
    """Yield the panels of a figure, in rows of up to four; then write the figure, whole or not at all, without the
    date. `integers` keeps the ticks of x to whole numbers."""
    check_paths(paths)
    n = len(titles)
    columns = min(4, n)
    rows = ceil(n / columns)
    size = (columns * panel[0], rows * panel[1] + 0.3)
    figure = require("matplotlib.figure", "A figure").Figure(figsize=size, layout="constrained")
    panels = [figure.add_subplot(rows, columns, place) for place in range(1, n + 1)]
    for axes, title in zip(panels, titles, strict=True):
        axes.set_title(title, fontsize=9)
        axes.tick_params(labelsize=7)
        axes.xaxis.get_major_locator().set_params(integer=integers)
        axes.spines[["top", "right"]].set_visible(False)
    figure.supxlabel(x, fontsize=9)
    figure.supylabel(y, fontsize=9)
    yield panels
    for axes in panels:
        legend = axes.get_legend()
        for text in (axes.title, *axes.texts, *(legend.get_texts() if legend else ())):
            text.set_parse_math(False)  # dollar signs in names are no formulas
            text.set_text(showable(text.get_text(), keep=""))  # which SVG also has as comments
    matplotlib = require("matplotlib", "A figure")
    for path in map(Path, paths):
        kind = path.suffix.lower()[1:]
        metadata = {"Software": None} if kind == "png" else {"Date" if kind == "svg" else "CreationDate": None}
        path.parent.mkdir(parents=True, exist_ok=True)
        # Text stays text in SVG: smaller, and it can be searched.
        settings = {"svg.hashsalt": "spacy-parsetag", "svg.fonttype": "none"}
        with matplotlib.rc_context(settings), atomic_path(path) as temporary:
            figure.savefig(temporary, format=kind, dpi=150, metadata=metadata)
