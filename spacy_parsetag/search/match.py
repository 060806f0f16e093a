"""Find what matches a pattern, in columns of trees: a mask over the nodes for each part of the pattern, bottom up.

A pattern without back-references is a tree of existential tests, so a semi-join for each relation is exact and takes
time linear in the nodes (Yannakakis 1981). NP < (PP < IN) over (NP (NP dogs) (PP (IN of) (NP war))), in pre-order

    node        NP NP NN dogs PP IN of NP NN war
    IN                           x
    has an IN                 x                     parents of these
    PP < IN                   x
    NP < ...    x                                   and of these

Several patterns are one program: what they have in common is looked for once. It runs over blocks of trees whose masks
stay in a processor's cache.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property, reduce
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from ._kernel import fill_masks, find_nodes
from .bindings import Block, Matches
from .columns import Longs, TreeColumns
from .heads import HeadRules, get_head_rules
from .pattern import RELATIONS, Label, Node, Step, Test, parse_pattern, parts

BLOCK = 1 << 13  # nodes whose masks stay in a cache
ENUMERATED = 1 << 18  # nodes of trees in which names are bound at a time
_ALL, _LEAF, _TOP, _NOT, _AND, _OR, _SEMI_JOIN = range(7)  # as the kernel calls the kinds of steps
_HEAD_RELATIONS = {RELATIONS[symbol] for symbol in ("<#", ">#", "<<#", ">>#")}


class Program:
    """Patterns as steps; each makes a mask from earlier masks. The masks of labels come first.

    patterns (Sequence[tuple[Node, ...]]): The alternatives of each pattern.
    """

    def __init__(self, patterns: Sequence[tuple[Node, ...]]) -> None:
        self.patterns = patterns
        self.labels: dict[Label, int] = {}
        for part in (part for nodes in patterns for node in nodes for part in parts(node)):
            label = part.label if isinstance(part, Node) else getattr(part, "through", None)
            if label is not None and label.kind != "any":
                self.labels.setdefault(label, len(self.labels))
        self._steps: dict[tuple[int, ...], int] = {}
        self.numbers: dict[int, int] = {}  # the mask of each part of a pattern, by the part's identity
        self.results = np.array([self._combine(_OR, [self._node(node) for node in nodes]) for nodes in patterns])
        self.steps = np.array(list(self._steps), np.int32).reshape(-1, 5)
        self.needs_heads = bool({*self.steps[self.steps[:, 0] == _SEMI_JOIN, 1].tolist()} & _HEAD_RELATIONS)

    def __reduce__(self) -> tuple[type[Program], tuple[Sequence[tuple[Node, ...]]]]:
        return Program, (self.patterns,)  # in a copy, parts have other identities

    def _add(self, kind: int, a: int = 0, b: int = 0, nth: int = 0, through: int = -1) -> int:
        return self._steps.setdefault((kind, a, b, nth, through), len(self._steps) + len(self.labels))

    def _combine(self, kind: int, numbers: Sequence[int]) -> int:
        return reduce(lambda a, b: self._add(kind, a, b), numbers)

    def _label(self, label: Label) -> int:
        return self._add(_ALL) if label.kind == "any" else self.labels[label]

    def _node(self, node: Node) -> int:
        """The nodes that match, or, if there are back-references, a few more."""
        number = self._label(node.label)
        if node.test is not None:
            test = self._test(node.test)
            number = test if node.label.kind == "any" else self._add(_AND, number, test)
        self.numbers[id(node)] = number
        return number

    def _test(self, test: Test) -> int:
        if isinstance(test, Step):
            number = self._node(test.node)
            if test.is_leaf:
                number = self.numbers[id(test.node)] = self._add(_AND, number, self._add(_LEAF))
            through = -1 if test.through is None else self._label(test.through)
            self.numbers[id(test.through)] = through
            some = {RELATIONS["<"]: _LEAF, RELATIONS[">"]: _TOP}.get(test.relation)
            if number == self._add(_ALL) and some is not None:  # some child, some parent
                number = self._add(_NOT, self._add(some))
            else:
                number = self._add(_SEMI_JOIN, test.relation, number, test.nth, through)
        elif test.kind in ("and", "or"):
            number = self._combine(_AND if test.kind == "and" else _OR, [self._test(each) for each in test.tests])
        else:
            number = self._test(test.tests[0])
            refers = any(isinstance(part, Node) and (part.same or part.like) for part in parts(test))
            number = self._add(_ALL) if test.kind == "maybe" or refers else self._add(_NOT, number)
        self.numbers[id(test)] = number
        return number

    def tables(self, columns: TreeColumns) -> NDArray[np.uint8]:
        """The labels that each string of a batch passes as: rows of a bit for each of 8 labels."""
        rows = [columns.passes(label) for label in self.labels]
        passes = np.array(rows, bool).reshape(len(rows), len(columns.strings))
        return np.packbits(passes, axis=0, bitorder="little")

    def find(self, columns: TreeColumns, rules: HeadRules) -> list[Longs]:
        """The nodes that match each pattern, or, with back-references, a few more."""
        heads = columns.heads(rules) if self.needs_heads else None
        arrays = columns.label, columns.up, columns.size, heads
        found: list[Longs] = find_nodes(
            *arrays, self.steps, self.tables(columns), len(self.labels), columns.starts, BLOCK, self.results
        )
        return found

    def bind(self, columns: TreeColumns, rules: HeadRules, trees: Longs, names: Sequence[str]) -> Matches:
        """The ways in which the first pattern matches in some trees."""
        tables = self.tables(columns)
        ends = np.append(columns.starts, len(columns.label))[trees + 1]
        n_nodes = ends - columns.starts[trees]
        found = [np.empty((1 + len(names), 0), np.int64)]
        for batch in np.split(trees, np.flatnonzero(np.diff(np.cumsum(n_nodes) // ENUMERATED)) + 1):
            part, nodes = columns.select(batch)
            heads = part.heads(rules) if self.needs_heads else None
            masks = np.empty((len(self.labels) + len(self.steps), -(-len(nodes) // 64)), np.uint64)
            fill_masks(part.label, part.up, part.size, heads, self.steps, tables, len(self.labels), masks)
            block = Block(part.label, part.up, part.size, heads, masks, self.numbers, names)
            found.append(np.append(nodes, -1)[block.bind(self.patterns[0])])
        table = np.hstack(found)
        return Matches(table[0], dict(zip(names, table[1:], strict=True)))


class Tregex:
    """A pattern, to be found in columns.

    >>> from spacy_parsetag.search import Tregex, TreeColumns, read_brackets
    >>> trees = TreeColumns.join(read_brackets(b"(TOP (S (NP (PRP She)) (VP (VBZ reads) (NP (NNS papers)))))", "a.mrg"))
    >>> [trees.words(node) for node in Tregex("NP > VP").find(trees)]
    [['papers']]

    pattern (str): The pattern.
    heads (str | Path | HeadRules): Rules for `<#` and its kin: "penn", "ctb" or a file.
    RAISES (ValueError): If it is no pattern: the message says where, and what could stand there.
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
        """The nodes that match with the nodes that have names: a row for each way to match, no two alike."""
        return self.matches_of(columns, self.program.find(columns, self.rules)[0])

    def matches_of(self, columns: TreeColumns, nodes: Longs) -> Matches:
        """The same, where the nodes that match are known, and with back-references perhaps a few more."""
        if not len(nodes) or not (self.names or self.refers):
            return Matches(nodes, dict.fromkeys(self.names, nodes))
        return self.program.bind(columns, self.rules, np.unique(columns.trees_of(nodes)), self.names)


def find_all(patterns: Sequence[Tregex], columns: TreeColumns) -> list[Longs]:
    """Find several patterns at once. What they have in common is looked for once.

    patterns (Sequence[Tregex]): The patterns. The first one's head rules count.
    columns (TreeColumns): The trees.
    RETURNS (list[Longs]): For each pattern the nodes that match, in order.
    """
    program = patterns[0].program if len(patterns) == 1 else Program([pattern.nodes for pattern in patterns])
    found = program.find(columns, patterns[0].rules)
    return [
        np.unique(pattern.matches_of(columns, nodes).nodes) if pattern.refers else nodes
        for pattern, nodes in zip(patterns, found, strict=True)
    ]
