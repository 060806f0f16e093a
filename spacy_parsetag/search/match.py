"""Find the nodes that match a pattern in columns of trees: a mask over the nodes for each of its parts, bottom up.

A pattern without back-references is a tree of existential tests, so a semi-join for each relation is exact and takes
time linear in the nodes (Yannakakis 1981), for `.` and `..` times the longest chain of first children.
NP < (PP < IN) over (NP (NP dogs) (PP (IN of) (NP war))), in pre-order

    node        NP NP NN dogs PP IN of NP NN war
    IN                           x
    has an IN                 x                     parents of these
    PP < IN                   x
    NP < ...    x                                   and of these

Several patterns become one program, which evaluates parts that they share once. It runs over blocks of trees whose
masks stay in a processor's cache. Joins over the masks then enumerate named nodes and check back-references: without
back-references every row that they make belongs to a match (Yannakakis 1981).
"""

from collections.abc import Sequence
from dataclasses import replace
from functools import cached_property, reduce
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ._kernel import fill_masks, find_nodes, node_pairs
from .columns import Ints, Longs, TreeColumns
from .heads import HeadRules, get_head_rules
from .pattern import RELATIONS, Label, Node, Step, Test, parse_pattern, parts

BLOCK = 1 << 13  # nodes whose masks stay in a cache
ENUMERATED = 1 << 18  # nodes of trees in which names are bound at a time
_ALL, _LEAF, _TOP, _NOT, _AND, _OR, _SEMI_JOIN = range(7)  # as the kernel calls the kinds of steps
_HEAD_RELATIONS = {RELATIONS[symbol] for symbol in ("<#", ">#", "<<#", ">>#")}


class Matches(NamedTuple):
    """Ways to match; each array has an entry for each way.

    nodes (Longs): The nodes that match.
    names (dict[str, Longs]): For each name the nodes that have it; -1 where no node does, as with `?`.
    """

    nodes: Longs
    names: dict[str, Longs]


class Program:
    """Patterns as steps; each makes a mask from earlier masks. The masks of labels come first.

    patterns (Sequence[tuple[Node, ...]]): The alternatives of each pattern.
    mask_of (dict[Label | Node | Test, int]): For each part of the patterns the number of its mask, which marks the
        nodes that match it; with back-references, the mask may also mark others.
    labels (dict[Label, int]): The labels that are tested, without negation, each with the number of its mask.
    steps (Ints): (steps, 5) int32: the kind of each step; two masks, or a relation and a mask; its N; the mask between.
    results (Longs): The mask of each pattern.
    needs_heads (bool): Whether a part is a relation of heads.
    """

    def __init__(self, patterns: Sequence[tuple[Node, ...]]) -> None:
        self.patterns = patterns
        all_parts = [part for nodes in patterns for node in nodes for part in parts(node)]
        tested = (part for part in all_parts if isinstance(part, Label) and part.kind != "any")
        distinct = dict.fromkeys(replace(label, negated=False) for label in tested)
        self.labels = {label: number for number, label in enumerate(distinct)}
        self._steps: dict[tuple[int, ...], int] = {}
        self.mask_of: dict[Label | Node | Test, int] = {}
        for part in reversed(all_parts):  # what a part consists of comes before it
            self.mask_of[part] = self._compile(part)
        self.results = np.array([self._combine(_OR, nodes) for nodes in patterns], np.int64)
        self.steps = np.array(list(self._steps), np.int32).reshape(-1, 5)
        self.needs_heads = any(isinstance(part, Step) and part.relation in _HEAD_RELATIONS for part in all_parts)

    def _add(self, kind: int, a: int = 0, b: int = 0, nth: int = 0, through: int = -1) -> int:
        """Add a step, unless it is there, and return the number of its mask."""
        return self._steps.setdefault((kind, a, b, nth, through), len(self._steps) + len(self.labels))

    def _combine(self, kind: int, operands: Sequence[Node | Test]) -> int:
        return reduce(lambda a, b: self._add(kind, a, b), map(self.mask_of.__getitem__, operands))

    def _compile(self, part: Label | Node | Test) -> int:
        """Add the steps of a part, and return the number of its mask."""
        if isinstance(part, Label):
            if part.kind == "any":
                return self._add(_ALL)
            number = self.labels[replace(part, negated=False)]
            if part.means_root:
                number = self._add(_OR, number, self._add(_TOP))
            return self._add(_NOT, number) if part.negated else number
        if isinstance(part, Node):
            if part.test is None:
                return self.mask_of[part.label]
            label_mask, test_mask = self.mask_of[part.label], self.mask_of[part.test]
            return test_mask if part.label.kind == "any" else self._add(_AND, label_mask, test_mask)
        if isinstance(part, Step):
            lacking = {RELATIONS["<"]: _LEAF, RELATIONS[">"]: _TOP}.get(part.relation)
            if lacking is not None and part.node.label.kind == "any" and part.node.test is None:  # a child, a parent
                return self._add(_NOT, self._add(lacking))
            through = -1 if part.through is None else self.mask_of[part.through]
            return self._add(_SEMI_JOIN, part.relation, self.mask_of[part.node], part.nth, through)
        if part.kind in ("and", "or"):
            return self._combine(_AND if part.kind == "and" else _OR, part.tests)
        refers = any(isinstance(inner, Node) and (inner.same or inner.like) for inner in parts(part))
        return self._add(_ALL) if part.kind == "maybe" or refers else self._add(_NOT, self.mask_of[part.tests[0]])

    def _on(
        self, columns: TreeColumns, rules: HeadRules
    ) -> tuple[Ints, Ints, Ints, Ints | None, Ints, NDArray[np.uint8], int]:
        """The arguments of the kernel for a batch: labels, distances to parents, sizes, and heads if a pattern asks for
        them; the steps; which labels' tests each string passes, a bit for each label; and the number of labels."""
        rows = [columns.passes(label) for label in self.labels]
        passes = np.array(rows, bool).reshape(len(rows), len(columns.strings))
        heads = columns.heads(rules) if self.needs_heads else None
        program = self.steps, np.packbits(passes, axis=0, bitorder="little"), len(rows)
        return columns.label, columns.up, columns.size, heads, *program

    def find(self, columns: TreeColumns, rules: HeadRules) -> list[Longs]:
        """Find the nodes that match each pattern, and with back-references perhaps others."""
        found: list[Longs] = find_nodes(*self._on(columns, rules), columns.starts, BLOCK, self.results)
        return found

    def bind(self, columns: TreeColumns, rules: HeadRules, trees: Longs, names: Sequence[str]) -> Matches:
        """The ways in which the first pattern matches in some trees."""
        label, up, size, head, *program = self._on(columns, rules)
        node_ends = np.cumsum(columns.size[columns.starts[trees]] + 1, dtype=np.int64)
        tables = [np.empty((1 + len(names), 0), np.int64)]
        for batch in np.split(trees, np.flatnonzero(np.diff(node_ends // ENUMERATED)) + 1):
            nodes = columns.nodes_of(batch)
            arrays = label[nodes], up[nodes], size[nodes], None if head is None else head[nodes]
            masks = np.empty((len(self.labels) + len(self.steps), -(-len(nodes) // 64)), np.uint64)
            fill_masks(*arrays, *program, masks)
            bound = _Block(self, *arrays, masks, names).bind(self.patterns[0])
            tables.append(np.append(nodes, -1)[bound])
        table = np.hstack(tables)
        return Matches(table[0], dict(zip(names, table[1:], strict=True)))


class _Block(NamedTuple):
    """Some trees, their masks, a bit for each node, and the names of the pattern.

    A table has a column for each way to match so far. Its first row is the node that the next test is about, its last
    rows are the nodes that have the names, -1 for names not yet given. Rows between keep what is needed after a test.
    """

    program: Program
    label: Ints
    up: Ints
    size: Ints
    head: Ints | None
    masks: NDArray[np.uint64]
    names: Sequence[str]

    def bind(self, nodes: Sequence[Node]) -> Longs:
        """Enumerate the ways in which one of some nodes matches: a table of the nodes that match and the named ones,
        each way once, in order."""
        unbound = np.full((1 + len(self.names), len(self.label)), -1, np.int64)
        unbound[0] = np.arange(len(self.label))
        table: Longs = np.unique(np.hstack([self._node(node, unbound) for node in nodes]), axis=1)
        return table

    def _row(self, name: str) -> int:
        return self.names.index(name) - len(self.names)

    def _keep(self, part: Node | Test, table: Longs) -> Longs:
        nodes = table[0].astype(np.uint64)
        return table.compress(self.masks[self.program.mask_of[part]][nodes >> 6] >> (nodes & 63) & 1, axis=1)

    def _node(self, node: Node, table: Longs) -> Longs:
        """Keep the columns whose first node matches, and extend them by the ways to match the node's tests."""
        table = self._keep(node, table)
        if node.same:
            table = table.compress(table[self._row(node.same)] == table[0], axis=1)
        if node.like:
            other = table[self._row(node.like)]
            table = table.compress((other >= 0) & (self.label[other] == self.label[table[0]]), axis=1)
        if node.name:
            table[self._row(node.name)] = table[0]
        return table if node.test is None or not _grows(node.test) else self._test(node.test, table)

    def _test(self, test: Test, table: Longs) -> Longs:
        if not _grows(test):
            return self._keep(test, table)
        if isinstance(test, Step):
            through = None if test.through is None else self.masks[self.program.mask_of[test.through]]
            columns, mask = (self.up, self.size, self.head), self.masks[self.program.mask_of[test.node]]
            places, others = node_pairs(*columns, test.relation, test.nth, through, table[0], mask)
            return self._node(test.node, np.vstack([others, table.take(places, axis=1)]))[1:]
        if test.kind == "and":
            return reduce(lambda table, part: self._test(part, table), test.tests, table)
        if test.kind == "or":
            return np.hstack([self._test(part, table) for part in test.tests])
        ways = np.arange(table.shape[1])
        matched = self._test(test.tests[0], np.insert(table, 1, ways, axis=0))
        without = table.compress(~np.isin(ways, matched[1]), axis=1)
        return without if test.kind == "not" else np.hstack([np.delete(matched, 1, axis=0), without])


def _grows(test: Test) -> bool:
    """Check whether a test gives names or refers to them, so that its mask alone is not enough."""
    return any(isinstance(part, Node) and (part.name or part.same or part.like) for part in parts(test))


class Tregex:
    """A pattern, to be found in columns.

    >>> from spacy_parsetag.search import Tregex, TreeColumns, read_brackets
    >>> trees = TreeColumns.join(read_brackets(b"(TOP (S (NP (PRP She)) (VP (VBZ reads) (NP (NNS papers)))))", "a.mrg"))
    >>> [trees.words(node) for node in Tregex("NP > VP").find(trees)]
    [['papers']]

    heads (str | Path | HeadRules): Rules for `<#` and its kin: "penn", "ctb", "icon" or a file.
    RAISES (ValueError): If the text is not a pattern: the message gives the place, and what could stand there.
    """

    def __init__(self, pattern: str, *, heads: str | Path | HeadRules = "penn") -> None:
        self.pattern = pattern
        self.rules = get_head_rules(heads)
        self.nodes = parse_pattern(pattern)
        named = [part for node in self.nodes for part in parts(node) if isinstance(part, Node)]
        self.names = list(dict.fromkeys(node.name for node in named if node.name))
        self.refers = any(node.same or node.like for node in named)

    def __repr__(self) -> str:
        return f"Tregex({self.pattern!r})"

    @cached_property
    def program(self) -> Program:
        """The pattern as steps."""
        return Program([self.nodes])

    def find(self, columns: TreeColumns) -> Longs:
        """The nodes that match, in order."""
        return find_all([self], columns)[0]

    def matches(self, columns: TreeColumns) -> Matches:
        """Find the nodes that match and the named nodes: an entry for each way to match, no two alike."""
        return self.matches_of(columns, self.program.find(columns, self.rules)[0])

    def matches_of(self, columns: TreeColumns, nodes: Longs) -> Matches:
        """Find the same from the result of `Program.find`: nodes that match, with back-references perhaps others."""
        if not len(nodes) or not (self.names or self.refers):
            return Matches(nodes, dict.fromkeys(self.names, nodes))
        return self.program.bind(columns, self.rules, np.unique(columns.trees_of(nodes)), self.names)


def find_all(patterns: Sequence[Tregex], columns: TreeColumns) -> list[Longs]:
    """Find several patterns at once. What they have in common is looked for once.

    patterns (Sequence[Tregex]): The patterns. Those of different head rules are looked for one by one.
    RETURNS (list[Longs]): For each pattern the nodes that match, in order.
    """
    if len({id(pattern.rules) for pattern in patterns}) != 1:
        return [pattern.find(columns) for pattern in patterns]
    program = patterns[0].program if len(patterns) == 1 else Program([pattern.nodes for pattern in patterns])
    candidates = program.find(columns, patterns[0].rules)
    return [
        np.unique(pattern.matches_of(columns, nodes).nodes) if pattern.refers else nodes
        for pattern, nodes in zip(patterns, candidates, strict=True)
    ]
