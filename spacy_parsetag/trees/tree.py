"""The tree inside this package: a label over children, immutable, and as deep as memory allows.

Words and labels are plain text. `escape` has their file form: readers decode it, writers encode it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from itertools import zip_longest
from typing import Any, TypeVar

ROOT_LABELS = frozenset({"TOP", "ROOT", "VROOT", "S1", ""})
ROOT = "TOP"  # label of the wrapper that is added
NO_TAG = "X"  # stands for a part of speech that is not known
AnyNode = TypeVar("AnyNode", bound=Any)  # whose `children` are nodes of its own kind, and words


class Word(str):
    """A word with what a treebank says of it beside its part of speech. It equals the string.

    lemma (str): Its lemma, or "".
    morph (str): Its morphology, "Case=Nom|Number=Sing", or "".
    """

    lemma: str
    morph: str

    def __new__(cls, text: str, lemma: str = "", morph: str = "") -> Word:
        word = super().__new__(cls, text)
        word.lemma, word.morph = lemma, morph
        return word


def preorder(node: AnyNode) -> Iterator[AnyNode]:
    """A node and all nodes within, each before those below it, from left to right. Words are no nodes."""
    stack = [node]
    while stack:
        node = stack.pop()
        yield node
        stack.extend(child for child in reversed(node.children) if not isinstance(child, str))


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Tree:
    """A node and what is under it. Trees are equal if labels, words and shape are; `line` does not matter.

    label (str): The label. The root's may be empty.
    children (tuple[Tree | str, ...]): Nodes, and words as strings. A part-of-speech node has one word and nothing else.
    line (int): The line of its file that the tree starts on, from 1; 0 if it comes from no file.
    """

    label: str
    children: tuple[Tree | str, ...]
    line: int = 0

    @property
    def is_preterminal(self) -> bool:
        """Check whether the node is a part-of-speech tag over one word."""
        return len(self.children) == 1 and isinstance(self.children[0], str)

    @property
    def is_wrapper(self) -> bool:
        """Check whether the node, at the top of a tree, is a root wrapper, which is not a constituent."""
        return self.label in ROOT_LABELS and not self.is_preterminal

    def _events(self) -> Iterator[tuple[str, str]]:
        """The tree from left to right: opening brackets with labels, words, closing brackets."""
        stack: list[Tree | str | None] = [self]
        while stack:
            node = stack.pop()
            if node is None:
                yield ")", ""
            elif isinstance(node, str):
                yield "", node
            else:
                yield "(", node.label
                stack.append(None)
                stack.extend(reversed(node.children))

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Tree):
            return NotImplemented
        return all(ours == theirs for ours, theirs in zip_longest(self._events(), other._events()))

    def __hash__(self) -> int:
        return hash(tuple(self._events()))

    def __reduce__(self) -> tuple[Callable[[list[Any]], Tree | str], tuple[list[Any]]]:
        """Hand a flat list to `pickle` and `copy`, which call themselves for each object within another."""
        items: list[Any] = []
        stack: list[Tree | str] = [self]
        while stack:
            node = stack.pop()
            if isinstance(node, str):
                items.append(node)
            else:
                items.append((node.label, len(node.children), node.line))
                stack += node.children
        return _rebuild, (items[::-1],)

    def __repr__(self) -> str:
        pieces = (mark if mark == ")" else f" {mark}{text}" for mark, text in self._events())
        return f"<Tree {''.join(pieces).strip()}>"


def _rebuild(items: list[Any]) -> Tree | str:
    """Build a tree of words and nodes (label, number of children, line), each of them after its children."""
    nodes: list[Tree | str] = []
    for item in items:
        if not isinstance(item, str):
            label, n_children, line = item
            first = len(nodes) - n_children
            item = Tree(label, tuple(nodes[first:]), line)
            del nodes[first:]
        nodes.append(item)
    return nodes[0]


def rewrite(
    tree: Tree, change: Callable[[Tree, list[Tree | str]], Iterable[Tree | str]], enter: Callable[[Tree], bool]
) -> list[Tree | str]:
    """Build a tree anew from its words up.

    change (Callable[[Tree, list[Tree | str]], Iterable[Tree | str]]): Called with each node and its children, which
        have been changed already; returns what takes the node's place.
    enter (Callable[[Tree], bool]): Called with each node on the way down; where it is false the node goes, with
        everything under it.
    """
    result: list[Tree | str] = []
    stack: list[tuple[Tree, Iterator[Tree | str], list[Tree | str]]] = [(tree, iter((tree,)), result)]
    while True:
        node, unread, children = stack[-1]
        for child in unread:
            if isinstance(child, str):
                children.append(child)
            elif enter(child):
                stack.append((child, iter(child.children), []))
                break
        else:
            stack.pop()
            if not stack:
                return result
            stack[-1][2].extend(change(node, children))
