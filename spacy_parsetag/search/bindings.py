"""Enumerate the nodes that have names in a pattern, and check back-references: joins over the masks of `match`.

Rows grow from the nodes that match. A relation pairs the node of each row with all nodes that stand in it, and only
those are tried that match their part of the pattern; without back-references no row is made in vain (Yannakakis 1981).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ._kernel import node_pairs
from .columns import Longs
from .pattern import Label, Node, Step, Test, parts


class Matches(NamedTuple):
    """Ways to match, by the node that matches.

    nodes (Longs): The nodes that match.
    names (dict[str, Longs]): For each name the nodes that have it there; -1 where there is none, as with `?`.
    """

    nodes: Longs
    names: dict[str, Longs]


class Block(NamedTuple):
    """Some trees, what was found in them, and the names of the pattern.

    A table has a column for each way to match so far. Its first row is the node that the next test is about, and its
    last ones are the nodes that have the names, -1 where none has yet; what was before a test stands in between.

    label, up, size, head: The columns of the trees. `head` is None where no pattern asks for heads.
    masks (NDArray[np.uint64]): The masks of a program, one a row, with a bit for each node.
    numbers (Mapping[int, int]): The mask of each part of the pattern, by the part's identity.
    names (Sequence[str]): The names.
    """

    label: NDArray[np.int32]
    up: NDArray[np.int32]
    size: NDArray[np.int32]
    head: NDArray[np.int32] | None
    masks: NDArray[np.uint64]
    numbers: Mapping[int, int]
    names: Sequence[str]

    def bind(self, nodes: Sequence[Node]) -> Longs:
        """Enumerate the ways in which one of some nodes matches: a table of the nodes that match and the named ones,
        each way once, in order."""
        start = np.full((1 + len(self.names), len(self.label)), -1)
        start[0] = np.arange(len(self.label))
        table: Longs = np.unique(np.hstack([self._node(node, start) for node in nodes]), axis=1)
        return table

    def _place(self, name: str) -> int:
        return self.names.index(name) - len(self.names)

    def _keep(self, part: Node | Test, table: Longs) -> Longs:
        nodes = table[0].astype(np.uint64)
        return table.compress(self._mask(part)[nodes >> 6] >> (nodes & 63) & 1, axis=1)

    def _mask(self, part: Node | Test | Label) -> NDArray[np.uint64]:
        mask: NDArray[np.uint64] = self.masks[self.numbers[id(part)]]
        return mask

    def _node(self, node: Node, table: Longs) -> Longs:
        """Keep what matches, and grow it by what stands in the node's tests."""
        table = self._keep(node, table)
        if node.same:
            table = table.compress(table[self._place(node.same)] == table[0], axis=1)
        if node.like:
            other = table[self._place(node.like)]
            table = table.compress((other >= 0) & (self.label[other] == self.label[table[0]]), axis=1)
        if node.name:
            table[self._place(node.name)] = table[0]
        return table if node.test is None or not _grows(node.test) else self._test(node.test, table)

    def _test(self, test: Test, table: Longs) -> Longs:
        if not _grows(test):
            return self._keep(test, table)
        if isinstance(test, Step):
            through = None if test.through is None else self._mask(test.through)
            columns, mask = (self.up, self.size, self.head), self._mask(test.node)
            places, others = node_pairs(*columns, test.relation, test.nth, through, table[0], mask)
            return self._node(test.node, np.vstack([others, table.take(places, axis=1)]))[1:]
        if test.kind == "and":
            for each in test.tests:
                table = self._test(each, table)
            return table
        if test.kind == "or":
            return np.hstack([self._test(each, table) for each in test.tests])
        every = np.arange(table.shape[1])
        found = self._test(test.tests[0], np.insert(table, 1, every, axis=0))
        without = table.compress(~np.isin(every, found[1]), axis=1)
        return without if test.kind == "not" else np.hstack([np.delete(found, 1, axis=0), without])


def _grows(test: Test) -> bool:
    """Check whether a test gives names or refers to them, so that its mask does not say all."""
    return any(isinstance(part, Node) and (part.name or part.same or part.like) for part in parts(test))
