"""Draw a tree in a terminal: as NLTK does where that fits the width, else as an outline, which fits any.

        S                          S
 ┌──────┴─────┐                    ├─ NP She
 │            VP                   └─ VP
 │      ┌─────┴─────┐                 ├─ enjoys
 NP     │           NP                └─ NP papers
 │      │           │
She   enjoys      papers
"""

import re
from collections.abc import Iterator
from typing import NamedTuple

from ..errors import Errors
from ..trees.tree import Tree, preorder
from .nodes import DrawnNode, is_right_to_left, n_columns, nodes_of

LEAST_WIDTH = 20
# Of the 256 colours of terminals, some that can be read on black and on white.
_COLORS = {"clause": 35, "noun": 33, "verb": 167, "preposition": 172, "modifier": 134, "other": 37, "tag": 244}
_DEEPEST = 60  # NLTK's drawing is recursive
_ROOM = 24  # columns that an outline leaves for a label and a word, however deep they are
_LEFT_TO_RIGHT = "\u200e"  # keeps right-to-left text in its place where a terminal reorders a line
# While NLTK draws, characters for private use stand in for labels and words: one that says which, and fillers.
_FIRST, _FILLER = 0xF0000, "\ue000"
_STAND_IN = re.compile(f"([{chr(_FIRST)}-\U000ffffd]){_FILLER}*")


def draw_text(tree: Tree, width: int, *, color: bool = False, tags: bool = True) -> str:
    """Draw a tree in text.

    width (int): How many columns a line may take, at least 20.
    RETURNS (str): The lines. Right-to-left text is drawn from right to left where NLTK draws it.
    """
    if width < LEAST_WIDTH:
        raise ValueError(Errors.E040.format(least=LEAST_WIDTH, width=width))
    top = nodes_of(tree, tags=tags)
    lines = _draw_wide(top, width, color) or _Outline(top, width, color).draw()
    return "\n".join(lines)


def _paint(text: str, kind: str, color: bool) -> str:
    mark = _LEFT_TO_RIGHT if is_right_to_left(text) else ""
    return f"{mark}\x1b[38;5;{_COLORS[kind]}m{text}\x1b[0m" if color and kind in _COLORS else mark + text


def _draw_wide(top: DrawnNode, width: int, color: bool) -> list[str]:
    """NLTK's drawing, coloured; no lines if it does not fit."""
    import nltk
    from nltk.tree.prettyprinter import TreePrettyPrinter

    words = [node.text for node in preorder(top) if node.kind == "word"]
    if sum(max(3, n_columns(word)) + 1 for word in words) > width + 1:
        return []  # NLTK would take long to find this out
    step = -1 if is_right_to_left("".join(words)) else 1
    nodes: list[DrawnNode] = []
    leaves: list[str] = []  # words; the tree has their indices, or NLTK would put words right below the top first
    above = nltk.Tree("", [])
    todo = [(top, above, 1)]
    while todo:
        node, parent, depth = todo.pop()
        if depth > _DEEPEST:
            return []
        stand_in = chr(_FIRST + len(nodes)) + _FILLER * (n_columns(node.text) - 1)
        nodes.append(node)
        if node.children:
            nltk_node = nltk.Tree(stand_in, [])
            parent.append(nltk_node)
            todo.extend((child, nltk_node, depth + 1) for child in node.children[::-step])
        else:
            parent.append(len(leaves))
            leaves.append(stand_in)
    if not top.children:
        return [_paint(top.text, top.kind, color)]
    # A width that no label exceeds: None, which switches wrapping off, fails in NLTK 3.9.1.
    widest = max(16, *(n_columns(node.text) for node in nodes))
    drawing = TreePrettyPrinter(above[0], leaves).text(unicodelines=True, maxwidth=widest)
    lines = [line.rstrip() for line in drawing.splitlines()]
    if max(map(len, lines)) > width:
        return []

    def paint(match: re.Match[str]) -> str:
        node = nodes[ord(match[1]) - _FIRST]
        return _paint(node.text, node.kind, color)

    return [_STAND_IN.sub(paint, line) for line in lines]


class _Segment(NamedTuple):
    """Holds part of a line: a label, or a word with its tag."""

    text: str
    kind: str
    tag: str = ""

    @property
    def n_columns(self) -> int:
        return n_columns(self.text + self.tag)

    def paint(self, color: bool) -> str:
        return _paint(self.text, self.kind, color) + (_paint(self.tag, "tag", color) if self.tag else "")


class _Outline:
    """Draws an outline: a line for each constituent, below it and further to the right what it consists of.

    A unary chain is one line (`S ─ VP`), a constituent of words one line if it fits (`NP the dog`). Where lines would
    get too far to the right, a number replaces a constituent's children; the whole is drawn below, after that number.
    """

    def __init__(self, top: DrawnNode, width: int, color: bool) -> None:
        self.width = width
        self.color = color
        self.lines: list[str] = []
        self.apart = [("", top)]  # the top, and what is drawn below it, each with its number

    def draw(self) -> list[str]:
        for number, part in self.apart:  # it grows meanwhile
            # A node's first line begins with its lead; its further lines and its children's begin with its indent.
            todo = [(part, number, "")]
            while todo:
                node, lead, indent = todo.pop()
                children = self._draw_node(node, lead, indent)
                for child in reversed(children):
                    is_last = child is children[-1]
                    todo.append((child, indent + ("└─ " if is_last else "├─ "), indent + ("   " if is_last else "│  ")))
        return self.lines

    def _draw_node(self, node: DrawnNode, lead: str, indent: str) -> list[DrawnNode]:
        """Draw a node's line, or lines; returns the children that are to be drawn below it."""
        if node.is_leaf:
            self._write([_leaf(node)], lead, indent)
            return []
        pieces = [_Segment(node.text, node.kind)]
        while len(node.children) == 1 and not node.children[0].is_leaf:
            node = node.children[0]
            pieces += [_Segment("─", ""), _Segment(node.text, node.kind)]
        if all(child.is_leaf for child in node.children):
            flat = [*pieces, *map(_leaf, node.children)]
            if len(node.children) == 1 or n_columns(lead) + sum(piece.n_columns + 1 for piece in flat) <= self.width:
                self._write(flat, lead, indent + "   ")
                return []
        if indent and len(indent) + 3 + min(_ROOM, self.width // 2) > self.width:
            number = f"[{len(self.apart)}]"
            self.apart.append((number + " ", node))
            self._write([*pieces, _Segment(number, "tag")], lead, indent + "   ")
            return []
        self._write(pieces, lead, indent + "│  ")
        return node.children

    def _write(self, pieces: list[_Segment], lead: str, indent: str) -> None:
        """Write pieces, separated by spaces, in one line or in several, where long words go on in the next line."""
        line, used = lead, n_columns(lead)
        prefix_width = used
        for piece in pieces:
            for part in _split(piece, self.width - max(prefix_width, n_columns(indent))):
                if used > prefix_width and used + 1 + part.n_columns > self.width:
                    self.lines.append(line)
                    line, used = indent, n_columns(indent)
                    prefix_width = used
                gap = " " if used > prefix_width else ""
                line += gap + part.paint(self.color)
                used += len(gap) + part.n_columns
        self.lines.append(line)


def _leaf(node: DrawnNode) -> _Segment:
    if node.kind == "tag":
        return _Segment(node.children[0].text, "word", "/" + node.text)
    return _Segment(node.text, node.kind)


def _split(piece: _Segment, width: int) -> Iterator[_Segment]:
    """Cut a piece into parts of at most `width` columns."""
    if piece.n_columns <= width:
        yield piece
        return
    for text, kind in ((piece.text, piece.kind), (piece.tag, "tag")):
        part = ""
        for char in text:
            if n_columns(part + char) > width:
                yield _Segment(part, kind)
                part = ""
            part += char
        if part:
            yield _Segment(part, kind)
