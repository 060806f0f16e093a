"""Reads and writes files of Penn brackets: as a stream, and one tree to a line.

    >>> from spacy_parsetag.treebanks.penn import format_tree, read_string
    >>> [format_tree(tree) for tree in read_string("( (S (NP (PRP She)) (VP (VBZ reads))) )")]
    ['( (S (NP (PRP She)) (VP (VBZ reads))))']

Trees may run over several lines or stand several to a line, under a root label (`(TOP ...)`) or none (`( (S ...))`).
Brackets decide what a tree is, not the layout. Only where they do not match does the layout tell which tree is broken
and where the next one starts. So a file is read in pieces, which `pieces` cuts at lines that start a tree.

Within a piece that leaves a bracket open, a root wrapper starts the next tree if it stands after words, inside a
wrapper of the same label. A surplus closing bracket spoils the trees before it, which may be parts of a tree that was
closed too early; reading continues at the next wrapper. A flaw that leaves the brackets intact (a word without a tag,
an undecodable byte) costs only the tree that has it.

Lines that begin with # or %% are comments, and so are the banner of the Penn Treebank's Brown files (*x*) and the lines
between the texts of its ATIS file.
"""

import io
import re
from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import accumulate, chain, starmap
from pathlib import Path
from typing import TextIO, TypeVar

from ..errors import EmptyTree, Errors, NoParse, TreebankError, shorten
from ..files.write import atomic_path, refuse_overwrite
from ..trees.brackets import format_tree
from ..trees.escape import SPACE, unescape_label, unescape_token
from ..trees.nltk_trees import NLTKTree, from_nltk, refuse_single
from ..trees.tree import ROOT_LABELS, Tree, preorder
from .lines import Line, read_file_lines, undecodable
from .pieces import MAX_NODES, cut_pieces

MadeT = TypeVar("MadeT")
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
_WRAPPER_START = re.compile(rf"\([ \t]*(?=\()|\((?:{'|'.join(sorted(filter(None, ROOT_LABELS)))})[{SPACE}(]")
_SUSPECT = re.compile("[\x00\ud800-\udfff]")  # what `undecodable` reports

_LONGEST = 60  # characters of a word in a message
# NEGRA's brackets have `%% Sent 1` before a tree. Banners stand within a file, too, when files were joined.
COMMENTS = ("#", "%%", "*x*", "( END_OF_TEXT_UNIT )")
# What other trees than brackets begin with.
_OTHER_FORMATS = {
    "NEGRA's export format": re.compile(r"#(FORMAT|BOS|BOT)\b", re.IGNORECASE),
    "TigerXML": re.compile(r"<\?xml\b|<corpus\b|<!--"),
}
# The comment before a tree other than the pipeline's. Tree 1 may be that, if nothing follows its log-probability.
_NEXT_BEST = re.compile(r"# tree (?!1 log_prob \S+\s*$)\d+ log_prob ")
_NUMBERED = re.compile(r"([0-9]+)=.")


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
    RAISES (TreebankError): The malformation, with file and line.
    RAISES (ValueError): If there is no such encoding, or the stream gives bytes.
    """
    path = str(source) if isinstance(source, (str, Path)) else str(getattr(source, "name", "<stream>"))
    return iter(BracketReader(read_file_lines(source, encoding, path), path, encoding, on_error, default_tag))


def read_string(text: str, *, on_error: OnError | None = None, default_tag: str | None = None) -> list[Tree]:
    """Read the trees in a string of brackets; for arguments and errors see `read_trees`."""
    return list(read_trees(io.StringIO(text, newline=None), on_error=on_error, default_tag=default_tag))


def make_of_each(
    trees: Iterable[Tree], make: Callable[[Tree], MadeT], path: str, on_error: OnError | None
) -> Iterator[tuple[Tree, MadeT]]:
    """Make something of each tree, such as its parse. A ValueError goes to `on_error` as one of the tree's line.

    RAISES (TreebankError): The first such error, without `on_error`.
    """
    for tree in trees:
        try:
            made = make(tree)
        except ValueError as err:
            error = TreebankError(path, tree.line, str(err))
            if on_error is None:
                raise error from err
            on_error(error)
        else:
            yield tree, made


def without_comments(lines: Iterable[Line], path: str, is_head: bool = True) -> Iterator[Line]:
    """Leave out lines that begin as `COMMENTS` do. Of the trees that `parse --k-best` writes, keep the pipeline's.

    is_head (bool): Whether the lines begin a file.
    RAISES (TreebankError): If the file begins like a file of discontinuous trees.
    """
    first_number, is_next_best = 0, False
    for line in lines:
        is_comment = line.text.startswith(COMMENTS)
        if is_head and line.text.strip():
            first_number = first_number or line.number
            refuse_other_formats(line._replace(number=first_number), path)
            is_head = is_comment
        if not (is_comment or is_next_best):
            yield line
        is_next_best = is_comment and _NEXT_BEST.match(line.text) is not None


def refuse_other_formats(line: Line, path: str) -> None:
    """Raise a TreebankError if a line before the first tree is that of a format for discontinuous trees."""
    for kind, pattern in _OTHER_FORMATS.items():
        if pattern.match(line.text.lstrip()):
            raise TreebankError(path, line.number, Errors.E124.format(kind=kind))


def refuse_numbered(words: Sequence[str], path: str, number: int) -> None:
    """Refuse a tree whose words are all numbered by place in the sentence, as in disco-dop's brackets: (VB 2=sings).

    RAISES (TreebankError): If all words are numbered.
    """
    places = [match[1] for match in map(_NUMBERED.match, words) if match is not None]
    if len(words) > 1 and sorted(map(int, places)) == list(range(len(words))):
        raise TreebankError(path, number, Errors.E124.format(kind="A file of numbered words (disco-dop's brackets)"))


@dataclass(slots=True)
class _Node:
    """Holds an open bracket: its label in file form, its line or that of its last bare word, and its children."""

    label: str
    line: int
    children: list[Tree | str] = field(default_factory=list)


@dataclass(slots=True)
class _OpenTree:
    """Holds a tree that is being read.

    line (int): The line that it starts on.
    nodes (list[_Node]): Its open brackets.
    flaw (tuple[str, int] | None): What is wrong with it first, and the line of that.
    """

    line: int
    nodes: list[_Node] = field(default_factory=list)
    n_words: int = 0
    flaw: tuple[str, int] | None = None


@dataclass
class BracketReader:
    """Iterates over the trees of one file.

    encoding (str): What the lines were decoded from, for messages.
    on_error (Callable[[TreebankError], None] | None): Called with each malformation; None raises the first.
    default_tag (str | None): Part-of-speech tag for words that have none.
    is_head (bool): Whether the lines begin the file, and may show that it has another format.
    """

    lines: Iterator[Line]
    path: str
    encoding: str
    on_error: OnError | None
    default_tag: str | None
    is_head: bool = True

    def __iter__(self) -> Iterator[Tree]:
        pieces = cut_pieces(without_comments(self.lines, self.path, self.is_head))
        is_checked = not self.is_head
        for tree in chain.from_iterable(starmap(self._read, pieces)):
            if not is_checked:
                words = [child for node in preorder(tree) for child in node.children if isinstance(child, str)]
                refuse_numbered(words, self.path, tree.line)
                is_checked = len(words) > 1
            yield tree

    def _read(self, lines: list[Line], unclosed_message: str, end_line: int) -> Iterator[Tree]:
        """Give out the whole trees of a piece, and report what is wrong with the others.

        unclosed_message, end_line (str, int): The message if the last tree stays open, and the line where that shows.
        """
        text = "".join(line.text for line in lines)
        line_ends = list(accumulate(len(line.text) for line in lines))
        is_suspect = _SUSPECT.search(text) is not None
        is_unclosed = text.count("(") > text.count(")")
        whole_trees: list[Tree] = []  # trees that a closing bracket too many would spoil
        tree: _OpenTree | None = None
        line, position = lines[0].number, 0
        quiet: tuple[str, ...] = ()  # what, if it stands before the next tree, was reported already
        while (token := _TOKEN.search(text, position)) is not None:
            position, kind = token.end(), token.lastgroup
            if kind == "tagged":
                tag, word = token.group("tag", "tagged")
                if tree is not None and not is_suspect and tag not in ROOT_LABELS:
                    tree.n_words += 1
                    tree.nodes[-1].children.append(Tree(unescape_label(tag), (unescape_token(word),)))
                    continue
                kind, position = "label", token.end("tag")  # the word and the closing bracket come next
            if len(line_ends) > 1:
                line = lines[bisect_right(line_ends, token.start())].number
            if kind == "label":
                label = token["tag"] or token["label"]
                is_root = label in ROOT_LABELS
                if tree is not None and is_unclosed and is_root and tree.n_words and label == tree.nodes[0].label:
                    self._report_tree(tree, Errors.E121, line)
                    tree = None
                if tree is None:
                    tree, quiet = _OpenTree(line), ()
                    if is_root:
                        yield from whole_trees
                        whole_trees = []
                tree.nodes.append(_Node(label, line))
            elif tree is None:
                if kind == "word" and kind not in quiet:
                    stray = Errors.E120.format(text=shorten(token.group(), _LONGEST))
                    self._report(undecodable(token.group(), self.encoding, text) or stray, line, line)
                elif kind not in quiet:
                    self._report(Errors.E119, line, whole_trees[0].line if whole_trees else line)
                    whole_trees = []
                    wrapper = _WRAPPER_START.search(text, position)
                    position = len(text) if wrapper is None else wrapper.start()
                quiet = ("word", "close")
                continue
            if is_suspect and tree.flaw is None and (problem := undecodable(token.group(), self.encoding, text)):
                tree.flaw = problem, line
            if kind == "word":
                tree.n_words += 1
                tree.nodes[-1].line = line
                tree.nodes[-1].children.append(unescape_token(token.group()))
            elif kind == "close" and (whole_tree := self._close(tree, line)) is not None:
                if tree.flaw is None:
                    whole_trees.append(whole_tree)
                else:
                    is_no_parse = whole_tree.label in ROOT_LABELS and not whole_tree.children
                    quiet = ("word", "close") if tree.n_words else () if is_no_parse else ("close",)
                    kind_of_error = TreebankError if tree.n_words else NoParse if is_no_parse else EmptyTree
                    self._report(*tree.flaw, tree.line, kind_of_error)
                tree = None
        yield from whole_trees
        if tree is not None:
            self._report_tree(tree, unclosed_message, end_line)

    def _close(self, tree: _OpenTree, line: int) -> Tree | None:
        """Close the innermost open bracket of a tree. Returns the whole tree if that bracket was its root."""
        node = tree.nodes.pop()
        problem = self._check(node, is_root=not tree.nodes)
        if problem and tree.flaw is None:
            tree.flaw = problem, node.line
        closed = Tree(unescape_label(node.label), tuple(node.children), 0 if tree.nodes else tree.line)
        if tree.nodes:
            tree.nodes[-1].children.append(closed)
            return None
        if not tree.n_words:
            tree.flaw = Errors.E114, line
        return closed

    def _check(self, node: _Node, is_root: bool) -> str:
        """Give bare words the default tag. Returns what is wrong with a node that closes, else an empty string."""
        # The label over a lone word is its tag, unless the label is that of a root wrapper.
        has_words = str in map(type, node.children)
        if has_words and (len(node.children) > 1 or (is_root and node.label in ROOT_LABELS)):
            if self.default_tag is None:
                word = next(child for child in node.children if isinstance(child, str))
                return Errors.E117.format(word=shorten(word, _LONGEST), label=shorten(node.label, _LONGEST))
            tag = self.default_tag
            node.children = [Tree(tag, (child,)) if isinstance(child, str) else child for child in node.children]
        elif not (is_root or has_words or unescape_label(node.label)):
            return Errors.E116
        elif not node.children:
            return Errors.E115.format(label=shorten(node.label, _LONGEST))
        return ""

    def _report_tree(self, tree: _OpenTree, unclosed_message: str, end_line: int) -> None:
        """Report a tree that stays open: a flaw found in it before, else that it is not closed."""
        unclosed = unclosed_message.format(missing=len(tree.nodes), limit=MAX_NODES), end_line
        self._report(*(tree.flaw or unclosed), tree.line)

    def _report(self, reason: str, line: int, tree_line: int, kind: type[TreebankError] = TreebankError) -> None:
        if tree_line != line:
            reason = f"{reason} (The tree starts on line {tree_line}.)"
        error = kind(self.path, line, reason, tree_line)
        if self.on_error is None:
            raise error
        self.on_error(error)


def write_trees(path: str | Path, trees: "Iterable[Tree | NLTKTree]") -> int:
    """Write trees to a file in UTF-8, one to a line, and count them. The file appears whole or not at all.

    path (str | Path): The file. What it held before is replaced only once every tree is written.
    trees (Iterable[Tree | nltk.Tree]): The trees.
    RAISES (TypeError): If this is one tree, or something in it is no tree.
    RAISES (ValueError): As `format_tree`, or if by its name the file is compressed. This, and whatever `trees` raises,
        leaves the old file as it was.
    """
    refuse_overwrite([Path(path)], [])
    n_trees = 0
    with atomic_path(path) as temporary, temporary.open("w", encoding="utf-8", newline="\n") as file:
        for tree in refuse_single(trees):
            file.write(format_tree(tree if isinstance(tree, Tree) else from_nltk(tree)) + "\n")
            n_trees += 1
    return n_trees
