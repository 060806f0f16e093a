"""Describes a kind of treebank files. Each kind has a file of its own beside this one, and a line in `table`."""

import codecs
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from itertools import tee
from pathlib import Path

from ...errors import Errors
from ...files.read import is_stream, open_binary
from ...trees.clean import CleanCounts, CleanOptions, clean_tree
from ...trees.parse import Parse, check_words
from ...trees.tree import Tree, rewrite
from ..lines import Line, read_file_lines
from ..penn import BracketReader, OnError, make_of_each

Rewrite = Callable[[str], str]
RewriteLines = Callable[[Iterator[Line]], Iterator[Line]]
PENN_CLEAN = CleanOptions()
ID = "ID"  # label of a sentence's id
LEMMA = "\x1f"  # between a word and its lemma, on lines that were rewritten


@dataclass(frozen=True, kw_only=True)
class TreebankFormat:
    """Describes a kind of treebank files: what to change in lines and trees, and the usual options.

    suffixes (tuple[str, ...]): Which files of a folder to read: suffixes in lower case, or whole names.
    encoding (str): The encoding of files that are not in UTF-8.
    encoding_of (Callable[[Path], str] | None): Gives the encoding of one such file, where they differ.
    clean (CleanOptions): The usual cleaning.
    split (str | None): The usual split by names of files, where there is one.
    lines (RewriteLines | None): Changes a file's lines before brackets are read. Lines keep their numbers; what belongs
        to no tree becomes an empty line.
    phrase, tag, word (Rewrite | None): Rewrites the labels of phrases, part-of-speech tags, and words, given as text
        without escapes. A word may become a `Word`, which has a lemma and morphology.
    leaf (Callable[[str, str], tuple[str, str]] | None): Rewrites tag and word together.
    attrs (tuple[str, ...]): Which of LEMMA and MORPH it has.
    substitute (Callable[[Tree, list[Tree | str]], list[Tree | str] | None] | None): Says what takes the place of a
        phrase below the top, given the node and its rewritten children; None if it stays.

    A function for tags, words, leaves or phrases raises a ValueError where the tree is not as the format has it.
    """

    suffixes: tuple[str, ...]
    encoding: str = "utf-8"
    encoding_of: Callable[[Path], str] | None = None
    clean: CleanOptions = PENN_CLEAN
    split: str | None = None
    lines: RewriteLines | None = None
    phrase: Rewrite | None = None
    tag: Rewrite | None = None
    word: Rewrite | None = None
    leaf: Callable[[str, str], tuple[str, str]] | None = None
    attrs: tuple[str, ...] = ()
    substitute: Callable[[Tree, list[Tree | str]], list[Tree | str] | None] | None = None

    def read(
        self,
        source: Path,
        *,
        encoding: str | None = None,
        on_error: OnError | None = None,
        default_tag: str | None = None,
        counts: CleanCounts | None = None,
    ) -> Iterator[Tree]:
        """Read the trees of a file, one at a time.

        encoding (str | None): The file's encoding. None: UTF-8 if the file is in UTF-8, else the format's usual one.
        on_error, default_tag: As for `read_trees`, which also lists the errors.
        """
        if encoding is None:
            encoding = guess_encoding(source, self.encoding_of(source) if self.encoding_of else self.encoding)
        lines = read_file_lines(source, encoding, str(source))
        counts = counts or CleanCounts()
        if self.lines is not None:
            lines = _rewrite_lines(lines, self.lines, counts)
        trees = iter(BracketReader(lines, str(source), encoding, on_error, default_tag))
        if self.phrase or self.tag or self.word or self.leaf or self.substitute:
            rewritten = make_of_each(trees, lambda tree: self._rewrite(tree, counts), str(source), on_error)
            return (tree for _, tree in rewritten)
        return trees

    def read_parses(
        self,
        source: Path,
        clean: CleanOptions | None = None,
        counts: CleanCounts | None = None,
        *,
        encoding: str | None = None,
        on_error: OnError | None = None,
        default_tag: str | None = None,
    ) -> Iterator[Parse]:
        """Read the trees of a file as parses that can become docs. For the other arguments and errors see `read`.

        clean (CleanOptions | None): What to clean; None for the usual cleaning of the format.
        """
        clean, counts = clean or self.clean, counts or CleanCounts()

        def parse_of(tree: Tree) -> Parse | None:
            cleaned = clean_tree(tree, clean, counts)
            if cleaned is None:
                return None
            parse = replace(Parse.from_tree(cleaned), id=_find_id(tree) if ID in clean.remove else "")
            check_words(parse)
            return parse

        trees = self.read(source, encoding=encoding, on_error=on_error, default_tag=default_tag, counts=counts)
        for _, parse in make_of_each(trees, parse_of, str(source), on_error):
            if parse is not None:
                yield parse

    def _rewrite(self, tree: Tree, counts: CleanCounts) -> Tree:
        phrase, tag, word = self.phrase or str, self.tag or str, self.word or str
        leaf = self.leaf or (lambda label, text: (tag(label), word(text)))

        def change(node: Tree, children: list[Tree | str]) -> Iterable[Tree | str]:
            if self.substitute is not None and node is not tree and not node.is_preterminal:
                replacement = self.substitute(node, children)
                if replacement is not None:
                    counts.labels += 1
                    return replacement
            label, inside = phrase(node.label), tuple(children)
            if node.is_preterminal and (node.label != ID or ID not in self.clean.remove):
                label, text = leaf(node.label, str(children[0]))
                inside = (text,)
            counts.labels += label != node.label
            return (Tree(label, inside, node.line),)

        (result,) = rewrite(tree, change, lambda node: True)
        return result if isinstance(result, Tree) else tree


def _rewrite_lines(lines: Iterator[Line], change: RewriteLines, counts: CleanCounts) -> Iterator[Line]:
    originals, lines = tee(lines)
    for original, line in zip(originals, change(lines), strict=True):
        counts.lines += line.text != original.text
        yield line


def _find_id(tree: Tree) -> str:
    """Find what a tree says is its id: ( (IP ...) (ID wsj,12))."""
    children = (child for child in tree.children if isinstance(child, Tree) and child.is_preterminal)
    return next((str(child.children[0]) for child in children if child.label == ID), "")


def each_line(change: Rewrite) -> RewriteLines:
    """Make a function for `TreebankFormat.lines` that changes the text of each line by itself."""
    return lambda lines: (line._replace(text=change(line.text)) for line in lines)


def guess_encoding(path: Path, fallback: str) -> str:
    """Read a file through to see whether it is UTF-8.

    RETURNS (str): UTF-16 or UTF-32 if the file begins with its byte order mark; UTF-8 if it is valid UTF-8 and not
        ASCII alone, as which files in encodings of seven bits, and with NULs those in UTF-16 without a mark, are valid
        too; else the fallback. For a stream always UTF-8: bytes read here would be lost to the reader, which reports
        invalid ones.
    RAISES (ValueError): If there is no such encoding as the fallback.
    """
    try:
        is_wide = codecs.lookup(fallback).name.startswith(("utf-16", "utf-32"))
    except LookupError as err:
        raise ValueError(Errors.E101.format(encoding=fallback)) from err
    if is_stream(path):
        return "utf-8"
    with open_binary(path) as file:
        start = file.read(4)
        if start in (codecs.BOM_UTF32_LE, codecs.BOM_UTF32_BE):
            return "utf-32"
        if start.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
            return "utf-16"
        if fallback in ("utf-8", "utf-16", "utf-32"):  # the others of these would have begun with a mark
            return "utf-8"
        file.seek(0)
        is_ascii, has_nul = True, False
        try:
            for text in codecs.iterdecode(iter(lambda: file.read(1 << 20), b""), "utf-8"):
                is_ascii, has_nul = is_ascii and text.isascii(), has_nul or "\0" in text
        except UnicodeDecodeError:
            return fallback
    return fallback if is_ascii and (has_nul or not is_wide) else "utf-8"
