"""What is drawn of a tree, whatever it is drawn in: nodes with a text and a kind, fit to be shown."""

from __future__ import annotations

import unicodedata
from dataclasses import dataclass, field

from .labels import family
from .tree import NO_TAG, Tree

_EMBEDDING = frozenset("\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")


@dataclass(slots=True, eq=False)
class Node:
    """A label, a part-of-speech tag or a word.

    text (str): What is shown.
    kind (str): "word", "tag", or the family of a constituent's label (see `labels.family`).
    children (list[Node]): The nodes below, from left to right. A tag has one word.
    """

    text: str
    kind: str
    children: list[Node] = field(default_factory=list)

    @property
    def is_leaf(self) -> bool:
        """Whether the node is a word, alone or under its tag."""
        return self.kind in ("word", "tag")


def nodes_of(tree: Tree, *, tags: bool = True) -> Node:
    """Make the nodes that are drawn of a tree.

    tree (Tree): The tree, words and labels as text. A root wrapper over a single node is left out.
    tags (bool): Show part-of-speech tags, but for "X", and for those that are the word itself, as a comma's is.
    RETURNS (Node): The top. Characters that would break a drawing, such as line breaks, are "�".
    """
    if tree.is_wrapper and len(tree.children) == 1 and isinstance(tree.children[0], Tree):
        tree = tree.children[0]
    above = Node("", "")
    todo: list[tuple[Tree | str, Node]] = [(tree, above)]
    while todo:
        item, parent = todo.pop()
        if isinstance(item, str):
            parent.children.append(Node(_showable(item), "word"))
            continue
        node = parent
        if not item.is_preterminal:
            node = Node(_showable(item.label), family(item.label))
        elif tags and item.label not in ("", NO_TAG, *item.children):
            node = Node(_showable(item.label), "tag")
        if node is not parent:
            parent.children.append(node)
        todo.extend((child, node) for child in reversed(item.children))
    return above.children[0]


def _showable(text: str) -> str:
    return "".join("�" if _breaks(char) else char for char in text if char not in _EMBEDDING)


def _breaks(char: str) -> bool:
    """Whether a character moves the cursor of a terminal, or may not be in XML."""
    return unicodedata.category(char) in ("Cc", "Cs", "Zl", "Zp") or ord(char) & 0xFFFE == 0xFFFE


def is_right_to_left(text: str) -> bool:
    """Whether more letters of a text are written from right to left than from left to right."""
    kinds = [unicodedata.bidirectional(char) for char in text]
    return sum(kind in ("R", "AL") for kind in kinds) > kinds.count("L")


def n_columns(text: str) -> int:
    """How many columns of a terminal a text takes: wide characters take two, combining ones none."""
    return sum(map(_char_columns, text))


def _char_columns(char: str) -> int:
    if unicodedata.category(char) in ("Mn", "Me", "Cf"):
        return 0
    return 2 if unicodedata.east_asian_width(char) in ("W", "F") else 1
