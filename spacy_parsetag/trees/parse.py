"""A parse is labelled spans over N words, in pre-order. Words and labels are plain text.

*She enjoys reading papers* is

    words  ("She", "enjoys", "reading", "papers")
    pos    ("PRP", "VBZ", "VBG", "NNS")
    spans  ((0, 4, "S"), (0, 1, "NP"), (1, 4, "VP"), (2, 4, "S"), (2, 4, "VP"), (3, 4, "NP"))

Unary chains are consecutive spans with the same bounds, top first. The root wrapper and the part-of-speech level are
not spans: the first is added on output, the second is `pos`. Words outside every span, and several spans side by side
at the top, are fine: such a parse is a forest under its root wrapper.
"""

from dataclasses import dataclass, field
from typing import Any, NamedTuple

from ..errors import Errors, shorten
from .tree import ROOT, Tree


class Constituent(NamedTuple):
    """A labelled span over words: start and end (exclusive) as word indices within the sentence."""

    start: int
    end: int
    label: str


@dataclass(frozen=True)
class Parse:
    """One sentence with its constituents.

    words (tuple[str, ...]): The N words.
    pos (tuple[str, ...]): Their N part-of-speech tags.
    spans (tuple[Constituent, ...]): Constituents in pre-order; chains over the same words top first.
    id (str): What the treebank calls the sentence, if it does. Parses that differ in nothing else are equal.
    """

    words: tuple[str, ...]
    pos: tuple[str, ...]
    spans: tuple[Constituent, ...]
    id: str = field(default="", compare=False)

    def __len__(self) -> int:
        return len(self.words)

    @classmethod
    def from_tree(cls, tree: Tree) -> "Parse":
        """Read a tree; one outer root wrapper (TOP, ROOT, VROOT, S1 or no label) is dropped.

        tree (Tree): The tree; every word must have a part-of-speech node of its own above it.
        RAISES (ValueError): If the tree is not one over words, or has an inner node without a label.
        """
        words: list[str] = []
        pos: list[str] = []
        spans: list[list[Any]] = []  # start, end and label; the end is known when the node is left
        # Nodes still to read; a list is an open span, to be closed.
        stack: list[Tree | str | list[Any]] = [*reversed(tree.children)] if tree.is_wrapper else [tree]
        while stack:
            node = stack.pop()
            if isinstance(node, list):
                node[1] = len(words)
                continue
            if isinstance(node, str):
                raise ValueError(Errors.E001.format(reason=f"word {node!r} has no part-of-speech node"))
            if len(node.children) == 1 and isinstance(node.children[0], str):
                words.append(node.children[0])
                pos.append(node.label)
                continue
            if not node.children:
                raise ValueError(Errors.E001.format(reason=f"node {node.label!r} has no children"))
            if not node.label:
                reason = f"a node inside the tree (after word {len(words)}) has no label"
                raise ValueError(Errors.E001.format(reason=reason))
            spans.append([len(words), -1, node.label])
            stack.append(spans[-1])
            stack.extend(reversed(node.children))
        return cls(tuple(words), tuple(pos), tuple(map(Constituent._make, spans)))

    def to_tree(self, root: str | None = ROOT) -> Tree:
        """Make the tree.

        root (str | None): Label of the wrapper. None leaves it out, where a single node is at the top.
        RAISES (ValueError): If words and tags differ in number, spans cross, are not in pre-order or lie outside the
            sentence, or root is None over a forest.
        """
        n = len(self.words)
        if len(self.pos) != n:
            raise ValueError(Errors.E001.format(reason=f"{n} words have {len(self.pos)} part-of-speech tags"))
        complete: list[tuple[int, Tree]] = []  # subtrees with their ends, the leftmost last
        position = n  # the leftmost word that has been hung
        for start, end, label in (*reversed(self.spans), (0, n, "")):  # children before their parents
            if not 0 <= start < end <= n and (start, end) != (0, n):
                raise ValueError(Errors.E003.format(span=(start, end, label), n=n))
            if start > position:
                raise ValueError(Errors.E002.format(first=(start, end, label), second=f"one from word {position} on"))
            while position > start:
                position -= 1
                complete.append((position + 1, Tree(self.pos[position], (self.words[position],))))
            children: list[Tree] = []
            reached = start
            while complete and complete[-1][0] <= end:
                reached, node = complete.pop()
                children.append(node)
            if reached != end:
                raise ValueError(Errors.E002.format(first=(start, end, label), second=f"one after word {reached}"))
            complete.append((end, Tree(label, tuple(children))))
        if root is not None:
            return Tree(root, tuple(children))
        if len(children) != 1:
            raise ValueError(Errors.E001.format(reason=f"{len(children)} nodes at the top need a root label"))
        return children[0]


def check_words(parse: Parse) -> None:
    """Raise a ValueError if a word of a parse is empty or white space only, which cannot be a word of a doc."""
    for i, word in enumerate(parse.words):
        if not word or word.isspace():
            raise ValueError(Errors.E008.format(i=i, word=word, sentence=shorten(" ".join(parse.words), 200)))
