"""Tregex by its definition: every relation asked of every pair of nodes, by recursion. Slow, and without any array.

Written from the description of the language, not from the package: trees are linked objects, patterns are made here and
only their text goes to the package.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

from spacy_parsetag.trees.tree import Tree

WRAPPERS = {"TOP", "ROOT", "VROOT", "S1", ""}


@dataclass(eq=False)
class N:
    """A node of a tree; a word has no children."""

    label: str
    parent: N | None = None
    children: list[N] = field(default_factory=list)
    first: int = 0  # its words
    last: int = 0
    head: N | None = None
    related: dict[tuple[str, str], list[N]] = field(default_factory=dict)  # as `relatives` found them

    @property
    def above(self) -> list[N]:
        return [] if self.parent is None else [self.parent, *self.parent.above]


def link(tree: Tree) -> list[N]:
    """The nodes of a tree, in pre-order."""
    nodes: list[N] = []
    n_words = 0

    def add(item: Tree | str, parent: N | None) -> N:
        nonlocal n_words
        node = N(item if isinstance(item, str) else item.label, parent)
        nodes.append(node)
        node.first = n_words
        if isinstance(item, str):
            n_words += 1
        else:
            node.children = [add(child, node) for child in item.children]
        node.last = n_words - 1
        return node

    add(tree, None)
    return nodes


class Heads:
    """Head rules, read and followed as `penn.txt` says."""

    def __init__(self, path: Path) -> None:
        self.rules: dict[str, list[list[str]]] = {}
        self.conjunctions: list[str] = []
        self.punctuation: list[str] = []
        for line in path.read_text(encoding="utf-8").splitlines():
            if line.startswith("#") or not line.strip():
                continue
            labels, value = line.split(":", 1)
            if labels == "conjunction":
                self.conjunctions = value.split()
            elif labels == "punctuation":
                self.punctuation = value.split()
            else:
                for label in labels.split():
                    self.rules[label] = [step.split() for step in value.split(";")]
        label_sets = (labels for steps in self.rules.values() for step in steps for labels in step[1:])
        self.labels = {label for labels in label_sets for label in labels.split("|")}
        self.labels |= {*self.rules, *self.conjunctions, *self.punctuation}

    def head(self, node: N) -> N | None:
        if node.head is None:
            node.head = self.find(node)
        return node.head

    def find(self, node: N) -> N | None:
        if len(node.children) < 2:
            return node.children[0] if node.children else None
        steps = self.rules.get(node.label) or self.rules.get(basic(node.label)) or self.rules["*"]
        child = self._by_steps(node.children, steps)
        place = node.children.index(child)
        if place >= 2 and self._is(node.children[place - 1], self.conjunctions):
            before = [child for child in node.children[: place - 1] if not self._is(child, self.punctuation)]
            if before:
                return before[-1]
        return child

    def _by_steps(self, children: list[N], steps: list[list[str]]) -> N:
        for side, *label_sets in steps:
            ordered = children if side == "left" else children[::-1]
            for labels in label_sets:
                for child in ordered:
                    if self._is(child, labels.split("|")):
                        return child
        ordered = children if steps[-1][0] == "left" else children[::-1]
        candidates = [child for child in ordered if not self._is(child, self.punctuation)]
        return (candidates or ordered)[0]

    def _is(self, node: N, labels: list[str]) -> bool:
        return (node.label if node.label in self.labels else basic(node.label)) in labels


def basic(label: str) -> str:
    opening = label[:1] if label[:1] in [*"-=|#^~_["] else ""
    for place in range(1, len(label)):
        if place > 1 and label[place] == opening:
            opening = ""
        elif label[place] in "-=|#^~_[":
            return label[:place]
    return label


@dataclass
class Desc:
    """What a node is called: names, a /regex/ or any (""), negated, by its basic category."""

    text: str
    negated: bool = False
    basic: bool = False

    def __str__(self) -> str:
        return "!" * self.negated + "@" * self.basic + (self.text or "__")

    def ok(self, node: N) -> bool:
        label = basic(node.label) if self.basic else node.label
        if self.text.startswith("/"):
            matches = re.search(self.text[1:-1], label) is not None
        elif self.text:
            names = self.text.split("|")
            matches = label in names or (node.parent is None and any(name in WRAPPERS for name in names))
        else:
            matches = True
        return matches != self.negated


@dataclass
class Pat:
    """A node of a pattern. `ref` is "=x" or "~x"."""

    desc: Desc
    name: str = ""
    ref: str = ""
    test: Rel | Bool | None = None

    def __str__(self) -> str:
        text = (self.ref or str(self.desc)) + (f"={self.name}" if self.name else "")
        return text + (f" {self.test}" if self.test is not None else "")


@dataclass
class Rel:
    symbol: str
    pat: Pat
    through: Desc | None = None

    def __str__(self) -> str:
        through = f"({self.through})" if self.through is not None else ""
        return f"{self.symbol}{through} ({self.pat})"


@dataclass
class Bool:
    kind: str  # and, or, not, maybe
    parts: list[Rel | Bool]

    def __str__(self) -> str:
        inner = [f"[{part}]" if isinstance(part, Bool) else str(part) for part in self.parts]
        return {"and": " & ".join(inner), "or": " | ".join(inner), "not": "! " + inner[0], "maybe": "?" + inner[0]}[
            self.kind
        ]


def beside(a: N, b: N) -> int:
    """How many places b stands after a among the children of one node; 0 if they are no sisters."""
    if a.parent is None or a.parent is not b.parent:
        return 0
    first, second = (next(i for i, child in enumerate(a.parent.children) if child is node) for node in (a, b))
    return second - first


def chain(a: N, step: str, heads: Heads) -> list[N]:
    """What is reached by going from a node to its first, last, only or head child, and on from there."""
    reached = []
    while a.children and not (step == "only" and len(a.children) > 1):
        head = heads.head(a)
        assert head is not None
        a = {"first": a.children[0], "last": a.children[-1], "only": a.children[0], "head": head}[step]
        reached.append(a)
    return reached


RELATIONS: dict[str, Callable[[N, N, Heads], bool]] = {
    "<": lambda a, b, heads: b.parent is a,
    "<<": lambda a, b, heads: a in b.above,
    "<<<": lambda a, b, heads: a in b.above and not b.children,
    "<,": lambda a, b, heads: a.children[:1] == [b],
    "<-": lambda a, b, heads: a.children[-1:] == [b],
    "<`": lambda a, b, heads: a.children[-1:] == [b],
    "<:": lambda a, b, heads: a.children == [b],
    "<<:": lambda a, b, heads: b in chain(a, "only", heads),
    "<<,": lambda a, b, heads: b in chain(a, "first", heads),
    "<<-": lambda a, b, heads: b in chain(a, "last", heads),
    "<<`": lambda a, b, heads: b in chain(a, "last", heads),
    "<#": lambda a, b, heads: heads.head(a) is b,
    "<<#": lambda a, b, heads: b in chain(a, "head", heads),
    "$": lambda a, b, heads: beside(a, b) != 0,
    "$++": lambda a, b, heads: beside(a, b) > 0,
    "$..": lambda a, b, heads: beside(a, b) > 0,
    "$+": lambda a, b, heads: beside(a, b) == 1,
    "$.": lambda a, b, heads: beside(a, b) == 1,
    "..": lambda a, b, heads: a.last < b.first,
    ".": lambda a, b, heads: a.last + 1 == b.first,
    "==": lambda a, b, heads: a is b,
    "<=": lambda a, b, heads: a is b or b.parent is a,
    ":": lambda a, b, heads: True,
}
INVERSE = {
    ">": "<", ">>": "<<", ">,": "<,", ">-": "<-", ">`": "<-", ">:": "<:", ">>:": "<<:", ">>,": "<<,", ">>-": "<<-",
    ">>`": "<<-", "$--": "$++", "$,,": "$++", "$-": "$+", "$,": "$+", ",": ".", ",,": "..", ">#": "<#", ">>#": "<<#",
}  # fmt: skip


def holds(rel: Rel, a: N, b: N, heads: Heads) -> bool:
    """Whether a stands in a relation to b, both of one tree."""
    symbol = rel.symbol
    if symbol in INVERSE:
        return RELATIONS[INVERSE[symbol]](b, a, heads)
    if symbol in RELATIONS:
        return RELATIONS[symbol](a, b, heads)
    up, down = (a, b) if symbol[0] == "<" else (b, a)
    if symbol[1:] == "+":
        if up not in down.above:
            return False
        assert rel.through is not None
        return all(map(rel.through.ok, down.above[: down.above.index(up)]))
    place = int(symbol[1:])
    place = place - 1 if place > 0 else place
    return -len(up.children) <= place < len(up.children) and up.children[place] is down


SYMBOLS = [
    "<", ">", "<<", ">>", "<,", ">,", "<-", ">-", "<`", ">`", "<1", "<2", "<-1", "<-2", ">1", ">3", ">-1", ">-2",
    "<:", ">:", "<<:", ">>:", "<<,", ">>,", "<<-", ">>-", "<<`", ">>`",
    "$", "$+", "$-", "$++", "$--", "$.", "$,", "$..", "$,,",
    ".", ",", "..", ",,", "<#", ">#", "<<#", ">>#", "==", "<=", ":", "<<<", "<+", ">+",
]  # fmt: skip

Env = dict[str, N]


def relatives(rel: Rel, a: N, nodes: list[N], heads: Heads) -> list[N]:
    """All nodes of a tree that a stands in a relation to. Each relation is asked of each pair once."""
    key = rel.symbol, str(rel.through)
    if key not in a.related:
        a.related[key] = [b for b in nodes if holds(rel, a, b, heads)]
    return a.related[key]


def solve(pat: Pat, node: N, nodes: list[N], env: Env, heads: Heads) -> Iterator[Env]:
    """The ways in which a node matches a pattern, as what the names stand for."""
    if pat.ref:
        other = env.get(pat.ref[1:])
        if other is None or (other is not node if pat.ref[0] == "=" else other.label != node.label):
            return
    elif not pat.desc.ok(node):
        return
    if pat.name:
        env = {**env, pat.name: node}
    yield from [env] if pat.test is None else solve_test(pat.test, node, nodes, env, heads)


def solve_test(test: Rel | Bool, node: N, nodes: list[N], env: Env, heads: Heads) -> Iterator[Env]:
    if isinstance(test, Rel):
        for other in relatives(test, node, nodes, heads):
            yield from solve(test.pat, other, nodes, env, heads)
    elif test.kind == "and":
        envs = [env]
        for part in test.parts:
            envs = [after for before in envs for after in solve_test(part, node, nodes, before, heads)]
        yield from envs
    elif test.kind == "or":
        for part in test.parts:
            yield from solve_test(part, node, nodes, env, heads)
    else:
        envs = list(solve_test(test.parts[0], node, nodes, env, heads))
        if test.kind == "maybe":
            yield from envs or [env]
        elif not envs:
            yield env


def all_matches(pat: Pat, nodes: list[N], names: list[str], heads: Heads) -> set[tuple[int, ...]]:
    """All ways to match in a linked tree: the place of the node, and those of the nodes with names, -1 for none."""
    place = {id(node): i for i, node in enumerate(nodes)}
    return {
        (place[id(node)], *(place[id(env[name])] if name in env else -1 for name in names))
        for node in nodes
        for env in solve(pat, node, nodes, {}, heads)
    }
