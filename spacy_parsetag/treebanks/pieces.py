"""Cuts a file of brackets into pieces, each of them usually a tree, before each line that starts one:

- Outside of trees, a bracket at the margin (in the first column, or where the file's first tree starts), after a blank
  line, or of a root wrapper.
- Inside an open tree, a root wrapper at the margin, if it has the open tree's label or stands after words.
- If the open tree or all trees before it lack a wrapper, a bracket at the margin may start a tree. The first unclosed
  tree proves that such brackets do; a whole tree with such a line inside proves that they do not. So no line is read
  more than twice.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import chain

from ..errors import Errors
from ..trees.escape import SPACE
from ..trees.tree import ROOT_LABELS
from .lines import Line

# More nodes than any sentence has: a file with a bracket missing must not fill the memory.
MAX_NODES = 200_000
_LINE_START = re.compile(rf"(?P<margin>[ \t]*)\([{SPACE}]*(?P<label>[^{SPACE}()]*)")


@dataclass(slots=True)
class _Piece:
    """Holds the lines of a piece, and counts its last tree's brackets: `depth` still open, `n_nodes` opened in all.

    restart (int): Index in `lines` of the first line inside that tree that may start another; 0 if there is none.
    """

    lines: list[Line] = field(default_factory=list)
    depth: int = 0
    n_nodes: int = 0
    restart: int = 0

    def add(self, line: Line) -> None:
        n_opened = line.text.count("(")
        self.lines.append(line)
        self.n_nodes += n_opened
        self.depth += n_opened - line.text.count(")")


@dataclass(slots=True)
class _Layout:
    """Tells which lines of a file start a tree, as the module says.

    margin (int | None): The column where the first tree starts.
    root (str): The label of the open tree, or of the last one.
    starts_trees (bool | None): Whether brackets at the margin start trees without wrappers; None until that shows.
    are_bare (bool | None): Whether all trees so far had no wrapper; None before the first.
    """

    margin: int | None = None
    root: str = ""
    starts_trees: bool | None = None
    are_bare: bool | None = None

    def is_start(self, bracket: re.Match[str], piece: _Piece, after_blank: bool) -> bool | None:
        """Tell whether a line that begins with a bracket starts a tree. None: what follows will tell."""
        if self.margin is None:
            self.margin = bracket.end("margin")
        at_margin = bracket.end("margin") <= self.margin
        is_root = bracket["label"] in ROOT_LABELS
        if not piece.depth:
            return at_margin or after_blank or is_root
        if at_margin and is_root:
            return bracket["label"] == self.root or piece.n_nodes > piece.depth
        if at_margin and (self.root not in ROOT_LABELS or self.are_bare):
            return self.starts_trees
        return False

    def learn(self, piece: _Piece) -> None:
        """Learn from a piece whose brackets have all closed."""
        if piece.restart:
            self.starts_trees = False
        if piece.n_nodes:
            self.are_bare = self.are_bare is not False and self.root not in ROOT_LABELS


def cut_pieces(unread: Iterator[Line]) -> Iterator[tuple[list[Line], str, int]]:
    """Cut the lines of a file, without its comments, into pieces.

    YIELDS (tuple[list[Line], str, int]): The lines of a piece; and, if its last tree stays open, the message and the
        number of the line where that shows.
    """
    layout, piece = _Layout(), _Piece()
    after_blank, is_lost = True, False
    while True:
        line = next(unread, None)
        bracket = _LINE_START.match(line.text) if line is not None else None
        is_start = bracket is not None and layout.is_start(bracket, piece, after_blank)
        if is_start is None:
            piece.restart = piece.restart or len(piece.lines)
        is_oversized = piece.depth > 0 and piece.n_nodes > MAX_NODES
        if line is None or is_start or is_oversized:
            lines, restart = piece.lines, piece.restart
            piece = _Piece()
            if restart:
                rest = lines[restart:] + ([] if line is None else [line])
                unread = chain(rest, unread)  # once in a file at most
                layout.starts_trees = True
                yield lines[:restart], Errors.E121, rest[0].number
                continue
            if lines:
                message = Errors.E122 if line is None else Errors.E121 if is_start else Errors.E123
                yield lines, message, (line or lines[-1]).number
            if line is None:
                return
            is_lost = is_oversized and not is_start
        if is_lost and not is_start:
            continue
        if bracket is not None and not piece.depth:
            layout.root = bracket["label"]
        piece.add(line)
        if piece.depth <= 0:
            layout.learn(piece)
            piece.depth = piece.n_nodes = piece.restart = 0
        after_blank = not line.text.strip(SPACE)
