"""Figures as tables: text to look at, CSV for other programs. JSON is made of the counts themselves."""

import csv
import io
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from ..linearize import CLASS_NAMES
from .correlation import Correlation, Point
from .deviation import Deviations
from .inventory import Inventory, sort_counts
from .stack import Stacks

SHARES = (0.9, 0.95, 0.99, 0.999, 1.0)


class Table(NamedTuple):
    """Rows with the names of their columns.

    columns (Tuple[str, ...]): The names.
    rows (List[Tuple[Any, ...]]): Strings, whole numbers and floats.
    """

    columns: tuple[str, ...]
    rows: list[tuple[Any, ...]]


def deviation_table(treebanks: Mapping[str, Deviations]) -> Table:
    """Mean and largest deviation, and the share of words whose tags are in place."""
    columns = ("treebank", "trees", "words", "order", "mean", "max", "in place")
    rows = [
        (
            name,
            found.trees,
            found.words,
            order,
            found.mean(order),
            found.largest(order),
            counts[0] / max(1, found.words),
        )
        for name, found in treebanks.items()
        for order, counts in found.counts.items()
    ]
    return Table(columns, rows)


def stack_table(treebanks: Mapping[str, Stacks], shares: Sequence[float] = SHARES) -> Table:
    """The stack that covers some shares of the trees."""
    columns = ("treebank", "trees", "order", *(f"{100 * share:g}%" for share in shares))
    rows = [
        (name, found.trees, order, *(found.needed(order, share) for share in shares))
        for name, found in treebanks.items()
        for order in found.counts
    ]
    return Table(columns, rows)


def inventory_table(treebanks: Mapping[str, Inventory]) -> Table:
    """Sizes of the inventories, and how much is unseen in those that were compared with a training part."""
    columns = ("treebank", "trees", "tags", *CLASS_NAMES, "once", "unseen tags", "% of tags", "% of trees")
    rows: list[tuple[Any, ...]] = []
    for name, found in treebanks.items():
        new = found.unseen
        unseen: tuple[Any, ...] = ("", "", "")
        if new is not None:
            tokens = max(1, found.counts.total())
            unseen = (len(new.counts), 100 * new.counts.total() / tokens, 100 * new.trees / max(1, found.trees))
        rows.append((name, found.trees, len(found.counts), *found.by_class().values(), found.once, *unseen))
    return Table(columns, rows)


def tag_table(treebanks: Mapping[str, Inventory]) -> Table:
    """How often each tag stands in each treebank, by its frequency in the first one that has it."""
    seen = dict.fromkeys(tag for found in treebanks.values() for tag, _ in sort_counts(found.counts))
    rows = [(tag, *(found.counts[tag] for found in treebanks.values())) for tag in seen]
    return Table(("tag", *treebanks), rows)


def correlation_table(points: Sequence[Point], found: Correlation) -> Table:
    """The points, and in the last row the coefficient and its p."""
    rows: list[tuple[Any, ...]] = [(*point, "") for point in points]
    return Table((*Point._fields, "p"), [*rows, ("all", f"n = {found.n}", "", f"r = {found.r:.4f}", found.p)])


def format_text(table: Table) -> str:
    """Write a table in columns, numbers to the right.

    table (Table): The table.
    RETURNS (str): Its lines.
    """
    cells = [[_cell(value) for value in row] for row in table.rows]
    widths = [max(map(len, column)) for column in zip(table.columns, *cells, strict=True)]
    right = [all(_is_number(value) for value in column) for column in zip(*table.rows, strict=True)]
    right = right or [False] * len(table.columns)
    lines = []
    for row in [list(table.columns), *cells]:
        padded = [
            cell.rjust(width) if is_right else cell.ljust(width)
            for cell, width, is_right in zip(row, widths, right, strict=True)
        ]
        lines.append("  ".join(padded).rstrip())
    return "".join(line + "\n" for line in lines)


def _is_number(value: Any) -> bool:
    return isinstance(value, (int, float)) or value == ""


def _cell(value: Any) -> str:
    if isinstance(value, int):
        return f"{value:,}"
    if isinstance(value, float):
        return f"{value:.2f}" if abs(value) >= 0.005 or not value else f"{value:.2g}"
    return str(value)


def format_csv(table: Table) -> str:
    """Write a table as CSV, with the names of the columns in the first line.

    table (Table): The table.
    RETURNS (str): Its lines, numbers with all digits.
    """
    stream = io.StringIO()
    writer = csv.writer(stream, lineterminator="\n")
    writer.writerow(table.columns)
    writer.writerows(table.rows)
    return stream.getvalue()
