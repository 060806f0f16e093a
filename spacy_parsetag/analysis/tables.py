"""Figures as tables: text to look at, CSV for other programs. JSON is made of the counts themselves."""

import csv
from collections.abc import Iterable, Mapping, Sequence
from types import SimpleNamespace
from typing import Any, Literal, NamedTuple

from wasabi.tables import table as format_table

from ..linearize import CLASS_NAMES
from .inventories import Deviations, Inventory, Labels, Stacks, Tags, rank
from .results import Correlation, Point

KINDS = tuple(Labels().kinds())
SHARES = (0.9, 0.95, 0.99, 0.999, 1.0)
WIDEST = 10**6  # characters of a column: wasabi counts no more than 30 of a cell, and longer ones fall out of line


class Table(NamedTuple):
    """Rows with the names of their columns.

    rows (list[tuple[Any, ...]]): Strings, whole numbers and floats; "" or None for an empty cell.
    """

    columns: tuple[str, ...]
    rows: list[tuple[Any, ...]]


def deviation_table(treebanks: Mapping[str, Deviations]) -> Table:
    """Mean and largest deviation, and the share of words whose tags are in place."""
    columns = ("treebank", "trees", "words", "order", "mean", "max", "in place")
    rows = [
        (name, devs.trees, devs.words, order, devs.mean(order), devs.largest(order), devs.distribution(order)[0])
        for name, devs in treebanks.items()
        for order in devs.counts
    ]
    return Table(columns, rows)


def stack_table(treebanks: Mapping[str, Stacks]) -> Table:
    """The stack that covers some shares of the trees."""
    columns = ("treebank", "trees", "order", *(f"{100 * share:g}%" for share in SHARES))
    rows = [
        (name, stacks.trees, order, *(stacks.needed(order, share) for share in SHARES))
        for name, stacks in treebanks.items()
        for order in stacks.counts
    ]
    return Table(columns, rows)


def tags_summary(treebanks: Mapping[str, Tags]) -> Table:
    """List the sizes of the inventories, and how much is unseen where they were compared with a training part."""
    columns = ("treebank", "trees", "tags", *CLASS_NAMES, "once", "unseen tags", "% of tags", "% of trees")
    rows: list[tuple[Any, ...]] = []
    for name, tags in treebanks.items():
        unseen: tuple[Any, ...] = ("", "", "")
        if tags.train is not None:
            tag_share = tags.unseen.total() / max(1, tags.counts.total())
            tree_share = tags.unseen_trees / max(1, tags.trees)
            unseen = (len(tags.unseen), 100 * tag_share, 100 * tree_share)
        rows.append((name, tags.trees, len(tags.counts), *tags.by_class().values(), tags.once, *unseen))
    return Table(columns, rows)


def tag_counts(treebanks: Mapping[str, Tags]) -> Table:
    """Tabulate how often each tag stands in each treebank, by its frequency in the first one that has it."""
    return Table(("tag", *treebanks), _item_rows(list(treebanks.values())))


def labels_summary(treebanks: Mapping[str, Labels]) -> Table:
    """Sizes of a treebank, how many labels, unary chains and productions it has, and how many of them are unseen."""
    columns = ("treebank", "trees", "words", "mean length", "longest", *KINDS, *(f"unseen {kind}" for kind in KINDS))
    rows = [
        (
            name,
            labels.trees,
            labels.words,
            labels.words / max(1, labels.trees),
            max(labels.lengths, default=0),
            *(len(inventory.counts) for inventory in labels.kinds().values()),
            *("" if inventory.train is None else len(inventory.unseen) for inventory in labels.kinds().values()),
        )
        for name, labels in treebanks.items()
    ]
    return Table(columns, rows)


def label_counts(treebanks: Mapping[str, Labels]) -> Table:
    """Tabulate how often each label, unary chain and production stands in each treebank, as `tag_counts`."""
    inventories = {kind: [labels.kinds()[kind] for labels in treebanks.values()] for kind in KINDS}
    rows = [(kind, *row) for kind in KINDS for row in _item_rows(inventories[kind])]
    return Table(("kind", "item", *treebanks), rows)


def _item_rows(inventories: Sequence[Inventory]) -> list[tuple[Any, ...]]:
    items = dict.fromkeys(item for inventory in inventories for item, _ in rank(inventory.counts))
    return [(item, *(inventory.counts[item] for inventory in inventories)) for item in items]


def correlation_table(points: Sequence[Point], correlation: Correlation) -> Table:
    """The points, and in the last row the coefficient and its p, as text."""
    rows = [(*point[:2], *(f"{value:.4g}" for value in point[2:]), "") for point in points]
    last = ("all", f"n = {correlation.n}", "", f"r = {correlation.r:.4f}", f"{correlation.p:.4g}")
    return Table((*Point._fields, "p"), [*rows, last])


def correlation_rows(points: Sequence[Point], correlation: Correlation) -> Table:
    """The points, each with the coefficient and its p in columns of their own, as numbers."""
    return Table((*Point._fields, *Correlation._fields), [(*point, *correlation) for point in points])


def format_text(table: Table) -> str:
    """Write a table in columns, numbers to the right; returns its lines."""
    values = list(zip(table.columns, *table.rows, strict=True))  # by column
    numbers = [all(isinstance(value, (int, float)) or value in ("", None) for value in column[1:]) for column in values]
    aligns: list[Literal["l", "r"]] = ["r" if are_numbers else "l" for are_numbers in numbers]
    rows = [list(map(_cell, row)) for row in table.rows]
    text = format_table(rows, header=table.columns, aligns=aligns, spacing=2, max_col=WIDEST)
    return "".join(line.rstrip() + "\n" for line in text.strip("\n").splitlines())


def _cell(value: Any) -> str:
    if isinstance(value, int):
        return f"{value:,}"
    if isinstance(value, float):
        if abs(value) >= 1000:
            return f"{value:,.0f}"
        return f"{value:.2f}" if abs(value) >= 0.005 or not value else f"{value:.2g}"
    return "" if value is None else str(value)


def format_csv(rows: Iterable[Iterable[Any]]) -> str:
    """Write rows as CSV, the names of the columns as the first of them, and numbers with all digits."""
    lines: list[str] = []
    # By its own line end, "\r\n", it quotes cells with either character.
    stream = SimpleNamespace(write=lambda line: lines.append(f"{line[:-2]}\n"))
    csv.writer(stream).writerows(rows)
    return "".join(lines)
