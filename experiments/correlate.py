"""How F goes with the mean deviation over treebanks and orders (paper section 6.2)."""

from typing import Any

from spacy_parsetag.analysis import Point, correlate
from spacy_parsetag.compat import has_module

Row = dict[str, Any]


def points_of(rows: list[Row]) -> list[Point]:
    return [Point(row["treebank"], row["order"], row["F"], row["mean deviation"]) for row in rows]


def correlations(rows: list[Row]) -> dict[str, Any]:
    """Over all cells, as the paper has it, and over differences within each treebank.

    The second looks at how far F falls from in-order to the other orders on the same treebank: treebanks differ in F
    for many reasons, and these drop out.

    rows (List[Row]): The table's rows.
    RETURNS (Dict[str, Any]): n, r and p by name; nothing where they are not defined, or SciPy is not installed.
    """
    points = points_of(rows)
    base = {point.treebank: point for point in points if point.order == "in"}
    differences = [
        Point(point.treebank, point.order, point.f - base[point.treebank].f, point.deviation)
        for point in points
        if point.order != "in" and point.treebank in base
    ]
    found = {}
    for name, chosen in (("all", points), ("differences to in-order", differences)):
        if has_module("scipy") and len(chosen) > 2 and len({point.deviation for point in chosen}) > 1:
            found[name] = correlate(chosen)._asdict()
    return found


def format_correlations(found: dict[str, Any]) -> str:
    return "\n".join(
        f"F and mean deviation, {name}: r = {value['r']:.3f}, p = {value['p']:.2g}, n = {value['n']}"
        for name, value in found.items()
    )
