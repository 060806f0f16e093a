"""The reader of Penn brackets: a tokenizer, a stack, and what to do when brackets do not match.

Brackets decide what a tree is, not the layout. Only where they do not match does the layout tell which tree is broken
and where the next one starts:

- While a tree is open, a root wrapper like its own starts the next one: `(TOP` at the start of a line, or after words.
- In files without wrappers, so may a bracket in the first column (or where the file's first tree starts). The reader
  remembers the first such place and goes back to it if the open tree is never closed. Once that has happened, it takes
  each such bracket for a start; once a whole tree has had such a bracket inside, for none. So no line is read more
  than twice.
- After a closing bracket too many it goes on at the next wrapper, after a blank line, or at a bracket in the first
  column. Whole trees before it on the same line may be parts of one that was closed too early: they are not given out.
- A flaw that leaves the brackets intact (a word without a tag, an undecodable byte) costs just its tree.
"""

import re
from collections.abc import Callable, Generator, Iterator
from dataclasses import dataclass, field
from typing import Any

from ..errors import TreebankError
from ..trees.escape import SPACE, unescape_label, unescape_token
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
    excerpt,
)

OnError = Callable[[TreebankError], None]

_TEXT = f"[^{SPACE}()]"
_TOKEN = re.compile(
    rf"""
      \( ({_TEXT}+) [ \t]+ ({_TEXT}+) \)      # groups 1, 2: a part-of-speech tag over a word
    | \( [{SPACE}]* ({_TEXT}*)                # group 3: an opening bracket and its label, if any
    | (\))                                    # group 4
    | ({_TEXT}+)                              # group 5: a word by itself
    """,
    re.VERBOSE,
)
_PRETERMINAL, _OPEN, _CLOSE = 2, 3, 4  # the number of each alternative's last group
_LINE_START = re.compile(rf"([ \t]*)\([{SPACE}]*({_TEXT}*)")
_LABEL = re.compile(rf"[{SPACE}]*({_TEXT}*)")
_WRAPPER_START = re.compile(rf"\([ \t]*(?=\()|\((?:{'|'.join(sorted(filter(None, ROOT_LABELS)))})[{SPACE}(]")
_SUSPECT = re.compile("[\x00\ud800-\udfff]")

# No sentence is that long, and a file with a bracket missing must not fill the memory.
_MAX_WORDS = 100_000
_MAX_HELD = 1_000


@dataclass
class _OpenTree:
    """The tree that is being read.

    line (int): Where it starts.
    nodes (list[tuple[str, list[Tree | str]]]): Its open nodes: the label in file form, and the children so far.
    n_words (int): Words so far.
    word_line (int): The line of the last word that has no bracket of its own.
    flaw (PennError | None): The first problem that leaves the brackets intact.
    restart (list[Line]): The lines since the first bracket that may start another tree.
    restart_missing, restart_flaw: How many nodes were open there, and the flaw known there.
    """

    line: int
    nodes: list[tuple[str, list[Tree | str]]] = field(default_factory=list)
    n_words: int = 0
    word_line: int = 0
    flaw: PennError | None = None
    restart: list[Line] = field(default_factory=list)
    restart_missing: int = 0
    restart_flaw: PennError | None = None


class BracketReader:
    """Iterates over the trees of one file.

    lines (Iterator[Line]): The file's lines.
    path (str): Name for messages.
    encoding (str): What the lines were decoded from, for messages.
    on_error (Callable[[TreebankError], None] | None): Called with each malformation; None raises the first.
    default_tag (str | None): Part-of-speech tag for words that have none.
    """

    def __init__(
        self, lines: Iterator[Line], path: str, encoding: str, on_error: OnError | None, default_tag: str | None
    ) -> None:
        self.lines = lines
        self.path = path
        self.encoding = encoding
        self.on_error = on_error
        self.default_tag = default_tag
        self.again: list[Line] = []  # lines to read again, the next one last
        self.held: list[Tree] = []  # whole trees that a closing bracket too many would spoil
        self.open: _OpenTree | None = None
        self.label_follows = False  # the last line ended after an opening bracket
        self.base: int | None = None  # column where the file's first tree starts
        self.after_blank = True
        self.searching = False  # for the next start, after a closing bracket too many
        self.quiet = False  # what stands before the next tree was reported already
        self.columns_start_trees: bool | None = None  # None until a tree without a wrapper has shown it

    def __iter__(self) -> Iterator[Tree]:
        number = 1
        while True:
            line = self._next_line()
            if line is not None:
                number = line.number
                yield from self._read_line(line)
            elif self.open is not None:
                self._fail(self.open, UnterminatedTree, number)
            else:
                break
        yield from self._release()

    def _next_line(self) -> Line | None:
        if self.again:
            return self.again.pop()
        try:
            return next(self.lines, None)
        except UndecodableBytes as err:
            # Decoding cannot go on: this is the end of the file.
            self._report(err)
            return None

    def _release(self) -> Iterator[Tree]:
        """Give out the trees that nothing can spoil any more."""
        trees, self.held = self.held, []
        yield from trees

    # Lines and tokens

    def _read_line(self, line: Line) -> Iterator[Tree]:
        """Read one line, or a piece of a long one."""
        if not line.text.strip(SPACE):
            self.after_blank = self.after_blank or line.fresh
            if self.open is not None and self.open.restart:
                self.open.restart.append(line)
            return
        start = _LINE_START.match(line.text) if line.fresh else None
        at_margin = start is not None and len(start.group(1)) <= (self.base or 0)
        position: int | None = 0
        if self.searching:
            self.searching = False
            if not at_margin and not (start is not None and self.after_blank):
                position = self._find_wrapper(line.text, 0)
        elif self.open is not None:
            if start is not None and at_margin and self._starts_another(self.open, start.group(2), line):
                self._fail(self.open, UnclosedTree, line.number, line)
                return
            if self.open.n_words > _MAX_WORDS:
                self.searching = not self.open.restart
                self._fail(self.open, OversizedTree, line.number, line)
                return
            if self.open.restart and self.open.restart[-1] is not line:
                self.open.restart.append(line)
            if self.label_follows:
                position = self._read_label(self.open, line)
        self.after_blank = False
        while position is not None:
            position = yield from self._read_tokens(line, position, start.end(1) if start is not None else -1)

    def _read_tokens(self, line: Line, position: int, indent: int) -> Generator[Tree, None, int | None]:
        """Take a line's tokens from a position on.

        indent (int): Where the line's first bracket stands, if the line begins with one; -1 otherwise.
        RETURNS (int | None): Where to go on after a closing bracket too many; None at the end.
        """
        text, number = line.text, line.number
        suspicious = "\x00" in text or (not text.isascii() and UNDECODABLE.search(text) is not None)
        for token in _TOKEN.finditer(text, position):
            kind = token.lastindex
            tree = self.open
            if kind in (_PRETERMINAL, _OPEN):
                label = token.group(kind if kind == _OPEN else 1)
                pending = not label and token.end() == len(text)
                root = tree.nodes[0][0] if tree is not None and tree.n_words and not pending else None
                if tree is not None and label == root and label in ROOT_LABELS:
                    # A root wrapper inside itself, beside words: the next tree on the same line.
                    self._fail(tree, UnclosedTree, number)
                    tree = None
                if tree is None:
                    yield from self._start(number, token.start(), token.start() == indent, label)
                    tree = self.open = _OpenTree(number)
                elif not label and not pending:
                    self._note(tree, EmptyLabel, number)
                if suspicious and _SUSPECT.search(token.group()):
                    self._suspect(token.group(), number)
                tree.nodes.append((label, []))
                self.label_follows = pending
                if kind == _PRETERMINAL:
                    tree.n_words += 1
                    tree.word_line = number if len(tree.nodes) == 1 else tree.word_line
                    tree.nodes[-1][1].append(unescape_token(token.group(2)))
                    self._close_node(tree, number)
            elif kind == _CLOSE:
                if tree is not None:
                    self._close_node(tree, number)
                elif not self.quiet:
                    self.quiet = True
                    tree_line = self.held[0].line if self.held else number
                    self.held.clear()
                    self._report(ExtraBracket.at(self.path, number, tree_line))
                    return self._find_wrapper(text, token.end())
            elif tree is not None:
                if suspicious and _SUSPECT.search(token.group()):
                    self._suspect(token.group(), number)
                self._add_word(tree, token.group(), number)
            elif not self.quiet:
                self.quiet = True
                if _SUSPECT.search(token.group()):
                    self._suspect(token.group(), number)
                else:
                    self._report(StrayText.at(self.path, number, number, text=excerpt(token.group())))
        return None

    def _read_label(self, tree: _OpenTree, line: Line) -> int:
        """Take the label of a bracket that ended a line, and say where to go on."""
        self.label_follows = False
        found = _LABEL.match(line.text)
        label = found.group(1) if found else ""
        tree.nodes[-1] = (label, tree.nodes[-1][1])
        if _SUSPECT.search(label):
            self._suspect(label, line.number)
        if not label and len(tree.nodes) > 1:
            self._note(tree, EmptyLabel, line.number)
        return found.end() if found and label else 0

    def _find_wrapper(self, text: str, position: int) -> int | None:
        """Where the next tree starts in a line, after a closing bracket too many; if nowhere, the search goes on."""
        found = _WRAPPER_START.search(text, position)
        self.searching = found is None
        return None if found is None else found.start()

    # Trees

    def _start(self, number: int, column: int, is_first: bool, label: str) -> Iterator[Tree]:
        """A tree starts."""
        self.quiet = False
        if self.base is None:
            self.base = column if is_first else 0
        if (is_first and column <= self.base) or label in ROOT_LABELS or len(self.held) >= _MAX_HELD:
            yield from self._release()

    def _add_word(self, tree: _OpenTree, word: str, number: int) -> None:
        """Add a word that has no bracket of its own: it is fine alone under a label, which is then its tag."""
        tree.n_words += 1
        tree.word_line = number
        children = tree.nodes[-1][1]
        children.append(unescape_token(word))
        if len(children) > 1:
            self._tag_bare_words(tree, word)

    def _tag_bare_words(self, tree: _OpenTree, word: str) -> None:
        """Give the words right under the last open node the default tag, or note that they have none."""
        label, children = tree.nodes[-1]
        if self.default_tag is None:
            self._note(tree, MissingTag, tree.word_line, word=excerpt(word), label=excerpt(label))
        else:
            children[:] = [Tree(self.default_tag, (child,)) if isinstance(child, str) else child for child in children]

    def _close_node(self, tree: _OpenTree, number: int) -> None:
        """A closing bracket was read."""
        label, children = tree.nodes[-1]
        self.label_follows = False
        if not children:
            self._note(tree, EmptyNode, number, label=excerpt(label))
        elif isinstance(children[0], str) and len(tree.nodes) == 1 and label in ROOT_LABELS:
            self._tag_bare_words(tree, children[0])
        tree.nodes.pop()
        node = Tree(unescape_label(label) if label else "", tuple(children), 0 if tree.nodes else tree.line)
        if label and not node.label and tree.nodes and not node.is_preterminal:
            self._note(tree, EmptyLabel, number)
        if tree.nodes:
            siblings = tree.nodes[-1][1]
            siblings.append(node)
            if len(siblings) > 1 and isinstance(siblings[-2], str):
                self._tag_bare_words(tree, siblings[-2])
            return
        self.open = None
        error = tree.flaw
        if not tree.n_words and (error is None or isinstance(error, (EmptyNode, EmptyLabel))):
            error = EmptyTree.at(self.path, number, tree.line)
        if tree.restart:
            self.columns_start_trees = False
        if error is not None:
            self.quiet = True
            self._report(error)
        else:
            self.held.append(node)

    # Problems

    def _report(self, error: TreebankError) -> None:
        if self.on_error is None:
            raise error
        self.on_error(error)

    def _note(self, tree: _OpenTree, kind: type[PennError], number: int, **values: Any) -> None:
        """Keep the open tree's first problem until the tree ends."""
        if tree.flaw is None:
            tree.flaw = kind.at(self.path, number, tree.line, **values)

    def _suspect(self, text: str, number: int) -> None:
        """A NUL or undecodable bytes: a flaw of the tree they stand in, or text outside of trees."""
        values = {}
        kind: type[PennError] = NulByte
        if "\x00" not in text:
            kind = UndecodableBytes
            values = {"data": undecodable_bytes(text), "encoding": self.encoding, "hint": "latin-1"}
        if self.open is not None:
            self._note(self.open, kind, number, **values)
        else:
            self._report(kind.at(self.path, number, number, **values))

    def _starts_another(self, tree: _OpenTree, label: str, line: Line) -> bool:
        """Whether a line that begins like a tree shows that the open one is broken; otherwise remember the place."""
        root = tree.nodes[0][0]
        if label in ROOT_LABELS and (label == root or tree.n_words):
            return True
        if root in ROOT_LABELS or self.columns_start_trees is False:
            return False
        if self.columns_start_trees:
            return True
        if not tree.restart:
            tree.restart = [line]
            tree.restart_missing = len(tree.nodes)
            tree.restart_flaw = tree.flaw
        return False

    def _fail(self, tree: _OpenTree, kind: type[PennError], number: int, line: Line | None = None) -> None:
        """Report the open tree as not closed, and go back to where another one may have started in it.

        kind (type[PennError]): The problem, where no such place is known.
        number (int): The line where it shows.
        line (Line | None): What is read next, where no such place is known.
        """
        self.open = None
        self.label_follows = False
        self.quiet = True
        missing, flaw = len(tree.nodes), tree.flaw
        if tree.restart:
            self.again.extend(reversed(tree.restart if line in (None, tree.restart[-1]) else [*tree.restart, line]))
            kind, number, missing, flaw = UnclosedTree, tree.restart[0].number, tree.restart_missing, tree.restart_flaw
            self.columns_start_trees = True
        elif line is not None:
            self.again.append(line)
        self._report(flaw or kind.at(self.path, number, tree.line, missing=missing, limit=_MAX_WORDS))
