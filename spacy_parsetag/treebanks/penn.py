"""Penn brackets as files have them: read as a stream, and written one tree to a line.

    >>> from spacy_parsetag.treebanks.penn import format_tree, read_string
    >>> [format_tree(tree) for tree in read_string("( (S (NP (PRP She)) (VP (VBZ reads))) )")]
    ['( (S (NP (PRP She)) (VP (VBZ reads))))']

Trees may run over several lines or stand several to a line, under a root label (`(TOP ...)`) or none (`( (S ...))`).
Brackets decide what a tree is, not the layout. Only where they do not match does the layout tell which tree is broken
and where the next one starts:

- While a tree is open, a root wrapper like its own starts the next one: `(TOP` at the start of a line, or after words.
- In files without wrappers, so may a bracket at the margin (in the first column, or where the file's first tree
  starts). The reader remembers the first such place and goes back to it if the open tree is never closed. Once that has
  happened, it takes each such bracket for a start; once a whole tree has had such a bracket inside, for none. So no
  line is read more than twice.
- After a closing bracket too many it goes on at the next wrapper, after a blank line, or at a bracket at the margin.
  Whole trees before it on the same line may be parts of one that was closed too early: they are not given out.
- A flaw that leaves the brackets intact (a word without a tag, an undecodable byte) costs just its tree.
"""

import io
import re
from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path
from typing import NamedTuple, TextIO

from ..errors import Errors, TreebankError
from ..trees.escape import SPACE, escape_label, escape_token, unescape_label, unescape_token
from ..trees.tree import ROOT_LABELS, Tree
from .atomic import atomic_path

OnError = Callable[[TreebankError], None]

_TEXT = f"[^{SPACE}()]"
_TOKEN = re.compile(
    rf"""
      \( (?P<tag>{_TEXT}+) [ \t]+ (?P<tagged>{_TEXT}+) \)
    | \( [{SPACE}]* (?P<label>{_TEXT}*)
    | (?P<close>\))
    | (?P<word>{_TEXT}+)
    """,
    re.VERBOSE,
)
_LINE_START = re.compile(rf"([ \t]*)\([{SPACE}]*({_TEXT}*)")
_WRAPPER_START = re.compile(rf"\([ \t]*(?=\()|\((?:{'|'.join(sorted(filter(None, ROOT_LABELS)))})[{SPACE}(]")
# Bytes that the encoding does not have come as lone surrogates U+DC00 + byte, which no valid text contains.
_UNDECODABLE = re.compile("[\ud800-\udfff]+")
_SUSPECT = re.compile("[\x00\ud800-\udfff]")
# Byte order marks of other encodings, as undecodable bytes and as Latin 1.
_FOREIGN_MARK = re.compile("[\udcffÿ][\udcfeþ]|[\udcfeþ][\udcffÿ]|ï»¿")
_MARKS = {"ff fe": "utf-16", "fe ff": "utf-16", "ef bb bf": "utf-8"}

# No sentence is that long, and a file with a bracket missing must not fill the memory.
_MAX_WORDS = 100_000
_MAX_HELD = 1_000
_LONGEST = 60  # characters of a word in a message


def read_trees(
    source: str | Path | TextIO,
    *,
    encoding: str = "utf-8",
    on_error: OnError | None = None,
    default_tag: str | None = None,
) -> Iterator[Tree]:
    """Read the trees of a bracket file, one at a time.

    Words and labels become text: `-LRB-` is `(`. An empty file has no trees, which is not an error.

    source (str | Path | TextIO): Path of a file, or a stream of text, which is not closed.
    encoding (str): Encoding of the file, for instance "latin-1". A byte order mark is left out.
    on_error (Callable[[TreebankError], None] | None): Called with each malformation; reading then goes on with the
        next tree. Without it, the first malformation is raised, after the trees that are whole beyond doubt.
    default_tag (str | None): Part-of-speech tag for words that have none: `(NP the (NN dog))`.
    YIELDS (Tree): The trees, in order.
    RAISES (TreebankError): The malformation, with file and line.
    RAISES (ValueError): If there is no such encoding.
    """
    path = str(source) if isinstance(source, (str, Path)) else str(getattr(source, "name", "<stream>"))
    return iter(BracketReader(read_lines(source, encoding, path), path, encoding, on_error, default_tag))


def read_string(text: str, *, on_error: OnError | None = None, default_tag: str | None = None) -> list[Tree]:
    """Read the trees in a string of brackets. Arguments and errors are those of `read_trees`."""
    return list(read_trees(io.StringIO(text, newline=None), on_error=on_error, default_tag=default_tag))


class Line(NamedTuple):
    """A line of a file: its number, from 1, and its text with the line break."""

    number: int
    text: str


def read_lines(source: str | Path | TextIO, encoding: str, path: str) -> Iterator[Line]:
    """Read a file's lines, or a stream's. Line breaks of all kinds are read; byte order marks are left out.

    Where decoding cannot go on, the last line is just the bytes that stopped it, as the reader knows them.

    source (str | Path | TextIO): Path, or a stream of text, which is not closed.
    encoding (str): Encoding of a file. A stream has its own.
    path (str): Name for messages.
    YIELDS (Line): The lines.
    RAISES (TreebankError): If the file is not in this encoding from the start.
    RAISES (ValueError): If there is no such encoding.
    """
    file: AbstractContextManager[TextIO]
    try:
        if isinstance(source, (str, Path)):
            file = open(source, encoding=encoding, errors="surrogateescape")  # noqa: SIM115 (closed below)
        else:
            file = nullcontext(source)
    except LookupError as err:
        raise ValueError(Errors.E101.format(encoding=encoding)) from err
    with file as stream:
        for number in count(1):
            try:
                text = stream.readline()
            except UnicodeDecodeError as err:
                # Only streams that others opened, and codecs that know no error handlers, come here.
                yield Line(number, _mark(err.object[err.start : err.end]))
                return
            except UnicodeError as err:
                raise TreebankError(path, number, f"{err}. --encoding is {encoding}: is it another one?") from err
            if not text:
                return
            found = _FOREIGN_MARK.match(text) if number == 1 else None
            if found is not None:
                yield Line(number, _mark(bytes(ord(char) & 0xFF for char in found.group())))
                return
            # A mark inside a file comes from files joined without removing it.
            yield Line(number, text.removeprefix("\ufeff"))


def undecodable(text: str, encoding: str) -> str:
    """What is wrong with a text that has bytes which are not valid in the encoding of its file; else empty."""
    found = _UNDECODABLE.search(text)
    if found is None:
        return ""
    data = " ".join(f"{ord(mark) & 0xFF:02x}" for mark in found.group()[:8])
    return Errors.E113.format(data=data, encoding=encoding, hint=_MARKS.get(data, "latin-1"))


def _mark(data: bytes) -> str:
    return "".join(chr(0xDC00 + byte) for byte in data)


def _malformed(message: str, path: str, line: int, tree_line: int, **values: str | int) -> TreebankError:
    """The error of a tree: the message with what it asks for, cut short, and where its tree starts."""
    for name, value in values.items():
        if isinstance(value, str) and len(value) > _LONGEST:
            values[name] = f"{value[:_LONGEST]}… ({len(value):,} characters)"
    reason = message.format(**values)
    if tree_line != line:
        reason = f"{reason} (The tree starts on line {tree_line}.)"
    return TreebankError(path, line, reason, tree_line)


@dataclass(slots=True)
class _Node:
    """An open bracket: its label in file form, the children so far, and the line of it or of its last bare word."""

    label: str
    line: int
    children: list[Tree | str] = field(default_factory=list)


@dataclass(slots=True)
class _OpenTree:
    """The tree that is being read.

    line (int): Where it starts.
    nodes (list[_Node]): Its open nodes.
    n_words (int): Words so far.
    flaw (TreebankError | None): The first problem that leaves the brackets intact.
    restart (list[Line]): The lines since the first bracket that may start another tree.
    restart_missing (int): How many nodes were open there.
    """

    line: int
    nodes: list[_Node] = field(default_factory=list)
    n_words: int = 0
    flaw: TreebankError | None = None
    restart: list[Line] = field(default_factory=list)
    restart_missing: int = 0


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
        self.sure: list[Tree] = []  # whole trees that nothing can spoil
        self.held: list[Tree] = []  # whole trees that a closing bracket too many would spoil
        self.open: _OpenTree | None = None
        self.label_follows = False  # the last line ended after an opening bracket
        self.margin: int | None = None  # column where the file's first tree starts
        self.margin_starts_trees: bool | None = None  # None until a tree without a wrapper has shown it
        self.after_blank = True
        self.searching = False  # for the next start, after a closing bracket too many
        self.quiet = False  # what stands before the next tree was reported already

    def __iter__(self) -> Iterator[Tree]:
        number = 1
        while True:
            line = self.again.pop() if self.again else next(self.lines, None)
            try:
                if line is not None:
                    number = line.number
                    self._read_line(line)
                elif self.open is not None:
                    self._fail(self.open, Errors.E122, number)
                else:
                    break
            finally:
                yield from self.sure
                self.sure.clear()
        yield from self.held

    def _read_line(self, line: Line) -> None:
        text, tree = line.text, self.open
        if not text.strip(SPACE):
            self.after_blank = True
            if tree is not None and tree.restart:
                tree.restart.append(line)
            return
        start = _LINE_START.match(text)
        if self.margin is None and start is not None:
            self.margin = start.end(1)
        at_margin = start is not None and start.end(1) <= (self.margin or 0)
        position = 0
        if self.searching:
            self.searching = False
            if not at_margin and not (start is not None and self.after_blank):
                position = self._find_wrapper(text, 0)
        elif tree is not None:
            root, label = tree.nodes[0].label, start.group(2) if start is not None and at_margin else None
            is_bare = root not in ROOT_LABELS
            if label in ROOT_LABELS and (label == root or tree.n_words):
                return self._fail(tree, Errors.E121, line.number, line)
            if at_margin and is_bare and self.margin_starts_trees:
                return self._fail(tree, Errors.E121, line.number, line)
            if tree.n_words > _MAX_WORDS:
                self.searching = not tree.restart
                return self._fail(tree, Errors.E123, line.number, line)
            if not tree.restart:
                tree.restart_missing = len(tree.nodes)
            if tree.restart or (at_margin and is_bare and self.margin_starts_trees is None):
                tree.restart.append(line)
        self.after_blank = False
        self._read_tokens(line, position)

    def _read_tokens(self, line: Line, position: int) -> None:
        """Take a line's tokens from a position on."""
        number, text = line
        is_suspect = _SUSPECT.search(text) is not None
        while (token := _TOKEN.search(text, position)) is not None:
            position = token.end()
            kind, tree = token.lastgroup, self.open
            if kind == "tagged":
                tag, word = token.group("tag", "tagged")
                if tree is not None and not is_suspect and tag not in ROOT_LABELS:
                    tree.n_words += 1
                    tree.nodes[-1].children.append(Tree(unescape_label(tag), (unescape_token(word),)))
                    self.label_follows = False
                    continue
                kind, position = "label", token.end("tag")  # the word and the closing bracket come next
            label_follows = False
            if kind == "label":
                label = token["tag"] or token["label"]
                label_follows = not label and position == len(text)
                is_wrapper = label in ROOT_LABELS and not label_follows
                if is_wrapper and tree is not None and tree.n_words and label == tree.nodes[0].label:
                    # A root wrapper inside itself, beside words: the next tree on the same line.
                    self._fail(tree, Errors.E121, number)
                    tree = None
                if tree is None:
                    self._start(text, token.start(), label)
                    tree = self.open = _OpenTree(number)
                tree.nodes.append(_Node(label, number))
            elif tree is None and self.quiet:
                continue
            elif tree is None:
                self.quiet = True
                if kind == "close":
                    tree_line = self.held[0].line if self.held else number
                    self.held.clear()
                    self._report(_malformed(Errors.E119, self.path, number, tree_line))
                    position = self._find_wrapper(text, position)
                else:
                    error = self._suspect(token.group(), number, number)
                    self._report(error or _malformed(Errors.E120, self.path, number, number, text=token.group()))
                continue
            if is_suspect:
                tree.flaw = tree.flaw or self._suspect(token.group(), number, tree.line)
            if kind == "close":
                self._close_node(tree, number)
            elif kind == "word" and self.label_follows:
                tree.nodes[-1].label = token.group()
            elif kind == "word":
                tree.n_words += 1
                tree.nodes[-1].line = number
                tree.nodes[-1].children.append(unescape_token(token.group()))
            self.label_follows = label_follows

    def _find_wrapper(self, text: str, position: int) -> int:
        """Where to go on in a line after a closing bracket too many; at its end, the search goes on."""
        found = _WRAPPER_START.search(text, position)
        self.searching = found is None
        return len(text) if found is None else found.start()

    def _start(self, text: str, column: int, label: str) -> None:
        """A tree starts. Nothing that follows it can spoil the trees before it, if it is sure to be one."""
        self.quiet = False
        at_margin = column <= (self.margin or 0) and not text[:column].strip(SPACE)
        if at_margin or label in ROOT_LABELS or len(self.held) >= _MAX_HELD:
            self.sure += self.held
            self.held.clear()

    def _close_node(self, tree: _OpenTree, number: int) -> None:
        """A closing bracket was read."""
        node = tree.nodes.pop()
        is_root = not tree.nodes
        label = unescape_label(node.label) if node.label else ""
        # A word alone under a label has it for its tag, unless this is a root wrapper.
        has_words = str in map(type, node.children)
        if has_words and (len(node.children) > 1 or (is_root and node.label in ROOT_LABELS)):
            if self.default_tag is None:
                word = next(child for child in node.children if isinstance(child, str))
                self._note(tree, Errors.E117, node.line, word=word, label=node.label)
            else:
                node.children = [
                    Tree(self.default_tag, (child,)) if isinstance(child, str) else child for child in node.children
                ]
        elif not (label or is_root or has_words):
            self._note(tree, Errors.E116, node.line)
        elif not node.children:
            self._note(tree, Errors.E115, node.line, label=node.label)
        made = Tree(label, tuple(node.children), tree.line if is_root else 0)
        if not is_root:
            tree.nodes[-1].children.append(made)
            return
        self.open = None
        if tree.restart:
            self.margin_starts_trees = False
        if not tree.n_words:
            tree.flaw = _malformed(Errors.E114, self.path, number, tree.line)
        if tree.flaw is None:
            self.held.append(made)
        else:
            self.quiet = True
            self._report(tree.flaw)

    def _report(self, error: TreebankError) -> None:
        if self.on_error is None:
            raise error
        self.on_error(error)

    def _note(self, tree: _OpenTree, message: str, number: int, **values: str | int) -> None:
        """Keep the open tree's first problem until the tree ends."""
        tree.flaw = tree.flaw or _malformed(message, self.path, number, tree.line, **values)

    def _suspect(self, text: str, number: int, tree_line: int) -> TreebankError | None:
        """What is wrong with a token that has a NUL or an undecodable byte."""
        message = Errors.E118 if "\x00" in text else undecodable(text, self.encoding)
        return _malformed(message, self.path, number, tree_line) if message else None

    def _fail(self, tree: _OpenTree, message: str, number: int, line: Line | None = None) -> None:
        """Report the open tree as not closed, and go back to where another one may have started in it.

        message (str): The problem, where no such place is known.
        number (int): The line where it shows.
        line (Line | None): What is read next, after the lines since that place.
        """
        self.open = None
        self.label_follows = False
        self.quiet = True
        missing, flaw = len(tree.nodes), tree.flaw
        if line is not None:
            self.again.append(line)
        if tree.restart:
            self.again.extend(reversed(tree.restart))
            message, number, missing = Errors.E121, tree.restart[0].number, tree.restart_missing
            flaw = flaw if flaw is not None and flaw.line < number else None
            self.margin_starts_trees = True
        self._report(flaw or _malformed(message, self.path, number, tree.line, missing=missing, limit=_MAX_WORDS))


def format_tree(tree: Tree) -> str:
    r"""Write a tree on one line, in file form.

    >>> format_tree(Tree("TOP", (Tree("S", (Tree("-LRB-", ("(",)), Tree("NN", ("N.Y.",)))),)))
    '(TOP (S (-LRB- -LRB-) (NN N.Y.)))'

    tree (Tree): The tree, words and labels as text. Its root may have an empty label.
    RETURNS (str): The brackets.
    RAISES (ValueError): If the tree could not be read back: a node without children, a root without a label over a
        word.
    """
    if not tree.label and any(isinstance(child, str) for child in tree.children):
        raise ValueError(Errors.E100.format(what="label", text="", reason="it stands over a word"))
    parts: list[str] = ["(", escape_label(tree.label) if tree.label else ""]
    stack = [iter(tree.children)] if tree.children else []
    if not stack:
        raise ValueError(Errors.E100.format(what="node", text=tree.label, reason="it has no children"))
    while stack:
        child = next(stack[-1], None)
        if child is None:
            parts.append(")")
            stack.pop()
        elif isinstance(child, str):
            parts += (" ", escape_token(child))
        elif not child.children:
            raise ValueError(Errors.E100.format(what="node", text=child.label, reason="it has no children"))
        elif not child.label and not child.is_preterminal:
            raise ValueError(Errors.E100.format(what="label", text="", reason="only the root's may be empty"))
        else:
            parts += (" (", escape_label(child.label))
            stack.append(iter(child.children))
    return "".join(parts)


def write_trees(path: str | Path, trees: Iterable[Tree]) -> int:
    """Write trees to a file in UTF-8, one to a line. The file appears whole or not at all.

    path (str | Path): The file. What it held before is replaced only once every tree is written.
    trees (Iterable[Tree]): The trees, consumed one at a time.
    RETURNS (int): How many trees were written.
    RAISES (ValueError): As `format_tree`. This, and whatever `trees` raises, leaves the old file as it was.
    """
    n_trees = 0
    with atomic_path(path) as temporary, temporary.open("w", encoding="utf-8", newline="\n") as file:
        for tree in trees:
            file.write(format_tree(tree) + "\n")
            n_trees += 1
    return n_trees
