"""The reader of Penn brackets: a tokenizer, a stack, and what to do when brackets do not match.

The grammar decides what a tree is, not the layout. Only where brackets do not match does the reader look at the layout,
to find out which tree is broken and where the next one starts:

- While a tree is open, a bracket in the first column (or where the file's first tree starts) may be the start of the
  next one. If it is a root wrapper, it is. If not, the reader remembers the place, and goes back to it when the open
  tree is not closed in due course.
- After a closing bracket too many it goes on at the next such start. Whole trees on the same line before that bracket
  may be parts of one that was closed too early, so they are not given out.
- A flaw that leaves the brackets intact (a word without a tag, an undecodable byte) costs just its tree.

So a broken tree costs its neighbours as little as possible, and memory does not depend on the size of the file.
"""

import re
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from ..errors import TreebankError
from ..trees.escape import unescape_label, unescape_token
from ..trees.tree import ROOT_LABELS, Tree
from .lines import UNDECODABLE, Line, undecodable_bytes
from .penn_errors import (
    EmptyLabel,
    EmptyNode,
    EmptyTree,
    ExtraBracket,
    MissingTag,
    NulByte,
    OversizedTree,
    PennError,
    StrayText,
    UnclosedTree,
    UndecodableBytes,
    UnterminatedTree,
)

OnError = Callable[[TreebankError], None]

# Only ASCII white space separates: no-break and ideographic spaces are parts of words.
_SPACE = " \t\r\n\f\v"
_TOKEN = re.compile(
    r"""
      \( ([^ \t\r\n\f\v()]+) [ \t]+ ([^ \t\r\n\f\v()]+) \)   # groups 1, 2: a part-of-speech tag over a word
    | \( [ \t\r\n\f\v]* ([^ \t\r\n\f\v()]*)                  # group 3: an opening bracket and its label, if any
    | (\))                                                   # group 4
    | ([^ \t\r\n\f\v()]+)                                    # group 5: a word by itself
    """,
    re.VERBOSE,
)
_PRETERMINAL, _OPEN, _CLOSE, _WORD = 2, 3, 4, 5  # the number of each alternative's last group
_LINE_START = re.compile(r"([ \t]*)\([ \t\r\n\f\v]*([^ \t\r\n\f\v()]*)")
_LEADING_WORD = re.compile(r"[ \t\r\n\f\v]*([^ \t\r\n\f\v()]+)?")
_WRAPPER_START = re.compile(r"\([ \t]*(?=\()|\((?:TOP|ROOT|VROOT|S1)[ \t\r\n(]")
_SUSPECT = re.compile("[\x00\ud800-\udfff]")

# An open tree counts as broken after so many possible starts in a row at the same depth, which is how well-formed trees
# look from inside an open one.
_MAX_STARTS_IN_A_ROW = 100
# No sentence is that long, and a file with a bracket missing must not fill the memory.
_MAX_WORDS = 100_000
_MAX_HELD = 1_000


class _Node(list["_Node | str"]):
    """A node that is being read, in file form."""

    def __init__(self, label: str, children: "Iterable[_Node | str]" = ()) -> None:
        super().__init__(children)
        self.label = label

    def to_tree(self, line: int) -> Tree:
        """The tree as text."""
        stack: list[tuple[_Node, int, list[Tree | str]]] = [(self, 0, [])]
        while True:
            node, position, children = stack.pop()
            if position == len(node):
                made = Tree(unescape_label(node.label) if node.label else "", tuple(children), 0 if stack else line)
                if not stack:
                    return made
                stack[-1][2].append(made)
                continue
            stack.append((node, position + 1, children))
            child = node[position]
            if isinstance(child, str):
                children.append(unescape_token(child))
            else:
                stack.append((child, 0, []))


class BracketReader:
    """Iterates over the trees of one file.

    lines (Iterator[Line]): The file's lines.
    path (str): Name for messages.
    encoding (str): What the lines were decoded from, for messages.
    on_error (Optional[Callable[[TreebankError], None]]): Called with each malformation; None raises the first.
    default_tag (Optional[str]): Part-of-speech tag for words that have none.
    """

    def __init__(
        self, lines: Iterator[Line], path: str, encoding: str, on_error: OnError | None, default_tag: str | None
    ) -> None:
        self.lines = lines
        self.path = path
        self.encoding = encoding
        self.on_error = on_error
        self.default_tag = default_tag
        self.pushed: list[Line] = []  # lines to read again, the next one last
        self.ready: list[Tree] = []  # trees to give out
        self.held: list[Tree] = []  # whole trees that a closing bracket too many would spoil
        self.held_line = 1  # where the first of them starts
        self.number = 1  # line being read
        self.base: int | None = None  # column where the file's first tree starts
        self.after_blank = True
        self.searching = False  # for the next start, after a closing bracket too many
        self.forgive_closing = False  # after a tree that was reported already
        self.in_stray = False  # inside a run of text that was reported already
        self.starts_inside = False  # well-formed trees of this file have lines that look like starts
        self.wrapped: bool | None = None  # the last well-formed tree had a root wrapper
        self.distrust = False  # a possible start turned out to be one, so the next will be taken for one
        self.stack: list[_Node] = []  # open nodes
        self.tree_line = 1
        self._reset()

    def _reset(self) -> None:
        """Forget the open tree. The stack stays the same list."""
        self.stack.clear()
        self.n_words = 0
        self.expect_label = False  # the line ended after an opening bracket
        self.bare: list[tuple[_Node, int]] = []  # nodes that got a word of their own, and its line
        self.flaw: PennError | None = None  # the first problem that leaves the brackets intact
        self.retry: list[Line] = []  # what was read since the first possible start of another tree
        self.retry_missing = 0  # how many nodes were open there
        self.retry_flaw: PennError | None = None  # the flaw known there
        self.starts = 0  # possible starts so far, those in a row at the same depth, and that depth
        self.starts_in_a_row = 0
        self.start_depth = 0

    def __iter__(self) -> Iterator[Tree]:
        try:
            while True:
                line = self._next_line()
                if line is not None:
                    self._read_line(line)
                elif self.stack:
                    self._fail_open_tree(None)
                else:
                    break
                if self.ready:
                    yield from self.ready
                    self.ready.clear()
        except TreebankError:
            # Not those held: the next bracket might have spoilt them.
            yield from self.ready
            raise
        yield from self.held

    def _next_line(self) -> Line | None:
        if self.pushed:
            return self.pushed.pop()
        try:
            return next(self.lines, None)
        except UndecodableBytes as err:
            # Decoding cannot go on: this is the end of the file.
            self._report(err)
            return None

    # Lines and tokens

    def _read_line(self, line: Line) -> None:
        """Read one line, or a piece of a long one."""
        self.number = line.number
        position = 0
        if not line.text.strip(_SPACE):
            self.after_blank = self.after_blank or line.fresh
            if self.retry:
                self.retry.append(line)
            return
        if self.searching:
            start = self._find_start(line)
            self.searching = start is None
            position = len(line.text) if start is None else start
        elif self.stack:
            if self.retry:
                self.retry.append(line)
            if self.n_words > _MAX_WORDS:
                self.searching = not self.retry
                self._fail_open_tree(line, OversizedTree)
                return
            if line.fresh and self._breaks_off(line):
                return
            if self.expect_label:
                position = self._read_label(line.text)
        self._read_tokens(line, position)
        self.after_blank = False

    def _read_tokens(self, line: Line, position: int) -> None:
        """Take a line's tokens, from a position on."""
        text, number, stack = line.text, line.number, self.stack
        suspicious = "\x00" in text or (not text.isascii() and UNDECODABLE.search(text) is not None)
        for token in _TOKEN.finditer(text, position):
            kind = token.lastindex
            if suspicious and _SUSPECT.search(token.group()):
                self._suspect(token.group())
            if kind == _PRETERMINAL:
                label, word = token.group(1, 2)
                node = _Node(label, [word])
                if not stack:
                    self._start(line, token.start(), label)
                    if label in ROOT_LABELS:
                        self.bare.append((node, number))
                self.n_words += 1
                if stack:
                    stack[-1].append(node)
                else:
                    self._complete(node)
            elif kind == _CLOSE:
                if stack:
                    node = stack.pop()
                    if not node:
                        self._note(EmptyNode, label=node.label)
                    if not stack:
                        self._complete(node)
                elif not self.forgive_closing:
                    self._extra_bracket(Line(number, text[token.end() :], False))
                    return
            elif kind == _OPEN:
                label = token.group(3)
                node = _Node(label)
                if not stack:
                    self._start(line, token.start(), label)
                    self.expect_label = not label and token.end() == len(text)
                else:
                    if not label and token.end() == len(text):
                        self.expect_label = True
                    elif not label:
                        self._remember(Line(number, text[token.start() :], False))
                        self._note(EmptyLabel)
                    elif label in ROOT_LABELS and self.n_words and label == stack[0].label:
                        # A root wrapper inside itself, beside words: the next tree on the same line.
                        self._fail_open_tree(Line(number, text[token.start() :], False))
                        return
                    stack[-1].append(node)
                stack.append(node)
            elif stack:
                stack[-1].append(token.group())
                self.n_words += 1
                self.bare.append((stack[-1], number))
            elif not self.in_stray:
                self.in_stray = True
                self._report(StrayText.at(self.path, number, number, text=token.group()[:60]))

    def _read_label(self, text: str) -> int:
        """Take the label of a bracket that ended a line, and say where to go on."""
        self.expect_label = False
        found = _LEADING_WORD.match(text)
        if found and found.group(1):
            self.stack[-1].label = found.group(1)
            if _SUSPECT.search(found.group(1)):
                self._suspect(found.group(1))
            return found.end()
        if len(self.stack) > 1:
            self._note(EmptyLabel)
        return 0

    # Trees

    def _start(self, line: Line, column: int, label: str) -> None:
        """A tree starts."""
        self.tree_line = line.number
        self.in_stray = self.forgive_closing = False
        first = line.fresh and not line.text[:column].strip(_SPACE)
        if self.base is None:
            self.base = column if first else 0
        if self.held and ((first and column <= self.base) or label in ROOT_LABELS or len(self.held) >= _MAX_HELD):
            self.ready += self.held
            self.held.clear()

    def _complete(self, node: _Node) -> None:
        """A tree's last bracket was read: give it out, or report what is wrong with it."""
        error = self.flaw
        if not self.n_words and (error is None or isinstance(error, (EmptyNode, EmptyLabel))):
            error = EmptyTree.at(self.path, self.number, self.tree_line)
        elif error is None and self.bare:
            error = self._tag_bare_words(node)
        self.starts_inside = self.starts_inside or self.starts > 0
        self._reset()
        if error is not None:
            self.forgive_closing = True
            self._report(error)
            return
        self.wrapped = node.label in ROOT_LABELS
        tree = node.to_tree(self.tree_line)
        if not self.held:
            self.held_line = self.tree_line
        self.held.append(tree)

    def _tag_bare_words(self, tree: _Node) -> PennError | None:
        """Give words without a tag the default one, or say that they have none."""
        for node, line in self.bare:
            # A node over one word alone is its part-of-speech tag, unless it is the root wrapper.
            if len(node) == 1 and not (node is tree and node.label in ROOT_LABELS):
                continue
            for i, child in enumerate(node):
                if isinstance(child, _Node):
                    continue
                if self.default_tag is None:
                    return MissingTag.at(self.path, line, self.tree_line, word=child, label=node.label)
                node[i] = _Node(self.default_tag, [child])
        return None

    # Problems

    def _report(self, error: TreebankError) -> None:
        if self.on_error is None:
            raise error
        self.on_error(error)

    def _note(self, kind: type[PennError], **values: Any) -> None:
        """Keep the open tree's first problem until the tree ends."""
        if self.flaw is None:
            self.flaw = kind.at(self.path, self.number, self.tree_line if self.stack else self.number, **values)

    def _suspect(self, text: str) -> None:
        """A NUL or undecodable bytes: a flaw of the tree they stand in, or the start of a run of stray text."""
        values = {}
        kind: type[PennError] = NulByte
        if "\x00" not in text:
            kind = UndecodableBytes
            values = {"data": undecodable_bytes(text), "encoding": self.encoding, "hint": "latin-1"}
        if self.stack or text.startswith("("):
            self._note(kind, **values)
        elif not self.in_stray:
            self.in_stray = True
            self._report(kind.at(self.path, self.number, self.number, **values))

    def _extra_bracket(self, rest: Line) -> None:
        """A closing bracket closes nothing. What whole trees stand before it on the line are not to be trusted."""
        tree_line = self.held_line if self.held else rest.number
        self.held.clear()
        self.searching = True
        self.pushed.append(rest)
        self._report(ExtraBracket.at(self.path, rest.number, tree_line))

    def _find_start(self, line: Line) -> int | None:
        """Where the next tree starts in a line, after a closing bracket too many."""
        if line.fresh:
            found = _LINE_START.match(line.text)
            if found and (self.after_blank or len(found.group(1)) <= (self.base or 0)):
                return 0
        found = _WRAPPER_START.search(line.text)
        return found.start() if found else None

    def _breaks_off(self, line: Line) -> bool:
        """Whether this line shows that the open tree is broken. If so, that is reported."""
        found = _LINE_START.match(line.text)
        if not found or len(found.group(1)) > (self.base or 0):
            return False
        label, root = found.group(2), self.stack[0].label
        if label in ROOT_LABELS and (label == root or self.n_words):
            self._forget_line_starts()
            self._fail_open_tree(line)
            return True
        if self.starts_inside and not self.after_blank:
            return False
        depth = len(self.stack)
        self.starts += 1
        self.starts_in_a_row = self.starts_in_a_row + 1 if depth == self.start_depth else 1
        self.start_depth = depth
        if self.starts_in_a_row > _MAX_STARTS_IN_A_ROW or (self.distrust and not self._expects_wrappers()):
            self._fail_open_tree(line)
            return True
        self._remember(line)
        return False

    def _forget_line_starts(self) -> None:
        """Where trees have wrappers, lines that start without one were just nodes of the open tree."""
        if self.retry and self.retry[0].fresh and self._expects_wrappers():
            self.retry = []

    def _expects_wrappers(self) -> bool:
        """Whether trees of this file have root wrappers, by the last whole tree, else by the open one."""
        return self.stack[0].label in ROOT_LABELS if self.wrapped is None else self.wrapped

    def _remember(self, start: Line) -> None:
        """Another tree may start here."""
        if not self.retry:
            self.retry = [start]
            self.retry_missing = len(self.stack)
            self.retry_flaw = self.flaw

    def _fail_open_tree(self, start: Line | None, kind: type[PennError] = UnclosedTree) -> None:
        """Report the open tree as not closed, and go back to where another one may have started in it.

        start (Optional[Line]): What is read next, where no earlier start is known. None at the end of the file.
        kind (Type[PennError]): The problem, where no earlier start is known.
        """
        missing, line, flaw = len(self.stack), self.number, self.flaw
        again = [] if start is None else [start]
        if start is None and (self.wrapped or not 2 <= self.starts == self.starts_in_a_row):
            self._forget_line_starts()
        if self.retry:
            kind = UnclosedTree
            missing, line, flaw, again = self.retry_missing, self.retry[0].number, self.retry_flaw, self.retry
            self.distrust = self.distrust or (again[0].fresh and not self.starts_inside)
        elif start is None:
            kind = UnterminatedTree
        self._reset()
        self.pushed.extend(reversed(again))
        self._report(flaw or kind.at(self.path, line, self.tree_line, missing=missing, limit=_MAX_WORDS))
