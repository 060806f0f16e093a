"""A parse is labelled spans over N words, in pre-order. Trees are pictures of it, made at the border.

*She enjoys reading papers* is

    words  ("She", "enjoys", "reading", "papers")
    tags   ("PRP", "VBZ", "VBG", "NNS")
    spans  ((0, 4, "S"), (0, 1, "NP"), (1, 4, "VP"), (2, 4, "S"), (2, 4, "VP"), (3, 4, "NP"))

Unary chains are consecutive spans with the same bounds, top first. The root wrapper and the part-of-speech level are
not spans: the first is added on output, the second is `tags`. Words outside every span, and several spans side by side
at the top, are fine: such a parse is a forest under its root wrapper.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from ..errors import Errors

if TYPE_CHECKING:
    # NLTK takes longer to import than spaCy does, and spaCy imports this module whenever a pipeline is made.
    from nltk import Tree

ROOT_LABELS = frozenset({"TOP", "ROOT", "VROOT", "S1", ""})


class Constituent(NamedTuple):
    """A labelled span over words: start and end (exclusive) as word indices within the sentence."""

    start: int
    end: int
    label: str


@dataclass(frozen=True)
class Parse:
    """One sentence with its constituents.

    words (Tuple[str, ...]): The N words.
    tags (Tuple[str, ...]): Their N part-of-speech tags.
    spans (Tuple[Constituent, ...]): Constituents in pre-order; chains over the same words top first.
    """

    words: tuple[str, ...]
    tags: tuple[str, ...]
    spans: tuple[Constituent, ...]

    def __len__(self) -> int:
        return len(self.words)

    @classmethod
    def from_tree(cls, tree: Tree) -> Parse:
        """Read an nltk tree; one outer root wrapper (TOP, ROOT, VROOT, S1 or no label) is dropped.

        tree (nltk.Tree): The tree; every word must have a part-of-speech node of its own above it.
        RETURNS (Parse): The parse.
        RAISES (ValueError): If the tree is not one over words, or has an inner node without a label.
        """
        from nltk import Tree

        words: list[str] = []
        tags: list[str] = []
        spans: list[tuple[int, str]] = []  # start and label; the end is known when the node is left
        ends: list[int] = []
        if is_preterminal(tree):
            return cls((tree[0],), (tree.label(),), ())
        wrapped = tree.label() in ROOT_LABELS
        # Each entry: a node and its index in `spans`, or (None, index) to close it.
        stack: list[tuple[Tree | None, int]] = [(child, -1) for child in reversed(tree)] if wrapped else [(tree, -1)]
        while stack:
            node, index = stack.pop()
            if node is None:
                ends[index] = len(words)
                continue
            if not isinstance(node, Tree):
                raise ValueError(Errors.E001.format(reason=f"word {node!r} has no part-of-speech node"))
            if is_preterminal(node):
                words.append(node[0])
                tags.append(node.label())
                continue
            if not len(node):
                raise ValueError(Errors.E001.format(reason=f"node {node.label()!r} has no children"))
            if not node.label():
                reason = f"a node inside the tree (after word {len(words)}) has no label"
                raise ValueError(Errors.E001.format(reason=reason))
            spans.append((len(words), node.label()))
            ends.append(-1)
            stack.append((None, len(spans) - 1))
            stack.extend((child, -1) for child in reversed(node))
        return cls(
            tuple(words),
            tuple(tags),
            tuple(Constituent(start, end, label) for (start, label), end in zip(spans, ends, strict=True)),
        )

    def to_tree(self, root: str | None = "TOP") -> Tree:
        """Make the nltk tree.

        root (Optional[str]): Label of the wrapper. None leaves it out, where a single node is at the top.
        RETURNS (nltk.Tree): The tree.
        RAISES (ValueError): If spans cross or lie outside the sentence, or root is None over a forest.
        """
        from nltk import Tree

        top = Tree(root or "", [])
        stack: list[tuple[Tree, int]] = [(top, len(self.words))]  # open nodes and their ends
        position = 0  # the next word to attach
        for span in self.spans:
            start, end, label = span
            if not 0 <= start < end <= len(self.words):
                raise ValueError(Errors.E003.format(span=tuple(span), n=len(self.words)))
            position = self._attach_words(stack, position, start)
            while stack[-1][1] <= start:
                stack.pop()
            if end > stack[-1][1] or start < position:
                raise ValueError(Errors.E002.format(first=tuple(span), second=f"one that ends at word {stack[-1][1]}"))
            node = Tree(label, [])
            stack[-1][0].append(node)
            stack.append((node, end))
        self._attach_words(stack, position, len(self.words))
        if root is not None:
            return top
        if len(top) != 1:
            raise ValueError(Errors.E001.format(reason=f"{len(top)} nodes at the top need a root label"))
        return top[0]

    def _attach_words(self, stack: list[tuple[Tree, int]], position: int, until: int) -> int:
        """Hang the words position..until under the open nodes, closing each where it ends."""
        from nltk import Tree

        while position < until:
            while stack[-1][1] <= position:
                stack.pop()
            stack[-1][0].append(Tree(self.tags[position], [self.words[position]]))
            position += 1
        return position


def is_preterminal(tree: Tree) -> bool:
    """Whether the node is a part-of-speech tag over one word."""
    return len(tree) == 1 and isinstance(tree[0], str)


def sort_preorder(spans: Sequence[Constituent]) -> list[Constituent]:
    """Sort spans into pre-order; those with equal bounds keep their order, which is that of their unary chain."""
    return sorted(spans, key=lambda span: (span[0], -span[1]))
