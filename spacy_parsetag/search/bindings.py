"""Enumerate the nodes that have names in a pattern, and check back-references: joins over the masks of `match`.

Rows grow from the nodes that match. A relation pairs the node of each row with all nodes that stand in it, and only
those are tried that match their part of the pattern; without back-references no row is made in vain (Yannakakis 1981).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple, cast

import numpy as np
from numpy.typing import NDArray

from ._kernel import node_pairs
from .columns import Longs
from .pattern import Label, Node, Step, Test, parts

Names = dict[str, Longs]


class Block(NamedTuple):
    """Some trees of a batch, and what was found in them.

    nodes (Longs): Their nodes, as they are numbered in the batch.
    label, up, size, head: Their columns. `head` is None where no pattern asks for heads.
    masks (NDArray[np.uint8]): The masks of a program, one a row.
    """

    nodes: Longs
    label: NDArray[np.int32]
    up: NDArray[np.int32]
    size: NDArray[np.int32]
    head: NDArray[np.int32] | None
    masks: NDArray[np.uint8]


class Matches(NamedTuple):
    """Ways to match, by the node that matches.

    nodes (Longs): The nodes that match.
    names (dict[str, Longs]): For each name the nodes that have it there; -1 where there is none, as with `?`.
    """

    nodes: Longs
    names: Names

    @classmethod
    def join(cls, found: Sequence[Matches], names: Sequence[str]) -> Matches:
        """Join the matches of successive blocks."""
        empty = [np.empty(0, np.int64)]
        columns = {name: np.concatenate([each.names[name] for each in found] or empty) for name in names}
        return cls(np.concatenate([each.nodes for each in found] or empty), columns)


class _Rows(NamedTuple):
    places: Longs  # the earlier row that each row grew from
    names: Names


def bind(numbers: Mapping[int, int], block: Block, nodes: Sequence[Node], names: Sequence[str]) -> Matches:
    """Enumerate the ways in which a pattern matches in a block.

    numbers (Mapping[int, int]): The mask of each part of the pattern, by the part's identity.
    block (Block): The trees.
    nodes (Sequence[Node]): The alternatives of the pattern.
    names (Sequence[str]): The names to keep.
    RETURNS (Matches): The ways, each once, in order.
    """
    binder = _Binder(numbers, block)
    everything = np.arange(len(block.label))
    found = []
    for node in nodes:
        rows = binder.node(node, everything, {})
        missing = np.full(len(rows.places), -1)
        found.append(np.stack([rows.places, *(rows.names.get(name, missing) for name in names)]))
    table = np.append(block.nodes, -1)[np.unique(np.concatenate(found, axis=1), axis=1)]
    return Matches(table[0], dict(zip(names, table[1:], strict=True)))


class _Binder:
    def __init__(self, numbers: Mapping[int, int], block: Block) -> None:
        self.numbers = numbers
        self.block = block

    def mask(self, part: Node | Test | Label) -> NDArray[np.uint8]:
        return cast("NDArray[np.uint8]", self.block.masks[self.numbers[id(part)]])

    def node(self, node: Node, at: Longs, names: Names) -> _Rows:
        """Keep the rows whose node matches, and grow them by what stands in its tests."""
        keep = np.flatnonzero(self.mask(node)[at])
        if node.same:
            keep = keep[names[node.same][keep] == at[keep]]
        if node.like:
            other = names[node.like][keep]
            keep = keep[(other >= 0) & (self.block.label[other] == self.block.label[at[keep]])]
        kept = _pick(names, keep)
        if node.name:
            kept[node.name] = at[keep]
        if node.test is None or not _grows(node.test):
            return _Rows(keep, kept)
        rows = self.test(node.test, at[keep], kept)
        return _Rows(keep[rows.places], rows.names)

    def test(self, test: Test, at: Longs, names: Names) -> _Rows:
        if not _grows(test):
            keep = np.flatnonzero(self.mask(test)[at])
            return _Rows(keep, _pick(names, keep))
        everything = np.arange(len(at))
        if isinstance(test, Step):
            block = self.block
            through = None if test.through is None else self.mask(test.through)
            places, others = node_pairs(
                block.up, block.size, block.head, test.relation, test.nth, through, at, self.mask(test.node)
            )
            rows = self.node(test.node, others, _pick(names, places))
            return _Rows(places[rows.places], rows.names)
        if test.kind == "and":
            rows = _Rows(everything, names)
            for each in test.tests:
                grown = self.test(each, at[rows.places], rows.names)
                rows = _Rows(rows.places[grown.places], grown.names)
            return rows
        if test.kind == "or":
            return _union([self.test(each, at, names) for each in test.tests])
        rows = self.test(test.tests[0], at, names)
        others = np.setdiff1d(everything, rows.places)
        without = _Rows(others, _pick(names, others))
        return without if test.kind == "not" else _union([rows, without])


def _grows(test: Test) -> bool:
    """Check whether a test gives names or refers to them, so that its mask does not say all."""
    return any(isinstance(part, Node) and (part.name or part.same or part.like) for part in parts(test))


def _pick(names: Names, places: Longs) -> Names:
    return {name: nodes[places] for name, nodes in names.items()}


def _union(found: Sequence[_Rows]) -> _Rows:
    names = dict.fromkeys(name for rows in found for name in rows.names)
    return _Rows(
        np.concatenate([rows.places for rows in found]),
        {
            name: np.concatenate([rows.names.get(name, np.full(len(rows.places), -1)) for rows in found])
            for name in names
        },
    )
