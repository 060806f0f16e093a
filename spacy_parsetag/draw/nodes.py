"""Makes the nodes of a drawing from a tree, for text and SVG alike: each a text that is fit to be shown, and a kind."""

import unicodedata
from collections.abc import Collection
from dataclasses import dataclass, field
from itertools import count

from ..errors import showable
from ..trees.tree import NO_TAG, Tree
from .labels import family


@dataclass(slots=True, eq=False)
class DrawnNode:
    """Holds a label, a part-of-speech tag or a word.

    kind (str): "word", "tag", or the family of a constituent's label (see `labels.family`).
    children (list[DrawnNode]): The nodes below, from left to right. A tag has one word.
    """

    text: str
    kind: str
    children: "list[DrawnNode]" = field(default_factory=list)
    is_marked: bool = False

    @property
    def is_leaf(self) -> bool:
        """True for a word, alone or under its tag."""
        return self.kind in ("word", "tag")


def nodes_of(tree: Tree, *, tags: bool = True, marks: Collection[int] = ()) -> DrawnNode:
    """Make the nodes that are drawn of a tree. A root wrapper over a single node is left out, unless it stands out.

    tags (bool): Show part-of-speech tags, except "X" and tags that repeat the word, as a comma's does.
    marks (Collection[int]): The nodes that stand out, by their number in pre-order, words included, from 0 at the root.
    RETURNS (DrawnNode): The top. Characters that would break a drawing, such as line breaks, are "�".
    """
    numbers = count()
    if 0 not in marks and tree.is_wrapper and len(tree.children) == 1 and isinstance(tree.children[0], Tree):
        tree = tree.children[0]
        next(numbers)
    above = DrawnNode("", "")
    todo: list[tuple[Tree | str, DrawnNode]] = [(tree, above)]
    while todo:
        item, parent = todo.pop()
        number = next(numbers)
        if isinstance(item, str):
            is_marked = number in marks or (parent.kind != "tag" and number - 1 in marks)  # its tag is not shown
            parent.children.append(DrawnNode(showable(item, keep=""), "word", is_marked=is_marked))
            continue
        kind = "tag" if item.is_preterminal else family(item.label)
        if kind != "tag" or (tags and item.label not in ("", NO_TAG, *item.children)):
            node = DrawnNode(showable(item.label, keep=""), kind, is_marked=number in marks)
            parent.children.append(node)
            parent = node
        todo.extend((child, parent) for child in reversed(item.children))
    return above.children[0]


def is_right_to_left(text: str) -> bool:
    """Tell whether more letters of a text are written from right to left than from left to right."""
    kinds = [unicodedata.bidirectional(char) for char in text]
    return sum(kind in ("R", "AL") for kind in kinds) > kinds.count("L")


def n_columns(text: str) -> int:
    """Count the columns of a terminal that a text takes: wide characters take two, combining ones none."""
    return sum(map(_char_columns, text))


def _char_columns(char: str) -> int:
    if unicodedata.category(char) in ("Mn", "Me", "Cf") or "\u1160" <= char <= "\u11ff":  # Hangul within a syllable
        return 0
    return 2 if unicodedata.east_asian_width(char) in ("W", "F") else 1
