"""Reads lines of brackets. A line is a sentence: an empty one has no parse, several brackets are a forest."""

import re
from collections.abc import Iterable, Iterator
from itertools import zip_longest
from pathlib import Path
from typing import TypeAlias

from ..errors import Errors, TreebankError
from ..treebanks import penn
from ..trees import ROOT_LABELS, Parse, Tree
from ..trees.brackets import format_tree
from ..trees.escape import unescape_token
from ..trees.nltk_trees import NLTKTree
from .counts import read_sentence
from .params import EvalbParams

_WORD = re.compile(r"[^\s()]+(?=\s*\))")
Brackets: TypeAlias = "str | Tree | NLTKTree | Parse | None"


def tree_line(tree: Brackets) -> str | Parse:
    """Write a tree as a line; malformed trees of NLTK are written as they are. Lines and parses stay as they are."""
    if tree is None or isinstance(tree, (str, Parse)):
        return tree or ""
    if isinstance(tree, Tree):
        return format_tree(tree) if tree.children else ""
    parts: list[str] = []
    stack: list[NLTKTree | str] = [tree]
    while stack:
        node = stack.pop()
        if isinstance(node, str):
            parts.append(node)
        else:
            parts.append(f" ({node.label()}")
            stack.append(")")
            stack.extend(child if not isinstance(child, str) else f" {child}" for child in reversed(node))
    return "".join(parts).lstrip()


def read_tree_lines(path: str | Path, *, encoding: str = "utf-8") -> Iterator[str]:
    """Read a file for scoring, a sentence a line.

    encoding (str): Its encoding. A byte order mark is left out, and so are comments (see `penn.without_comments`).
    RAISES (TreebankError): If bytes are not valid in the encoding, or the file is in another format.
    RAISES (ValueError): If there is no such encoding.
    """
    is_first = True
    for number, text in penn.without_comments(penn.read_file_lines(path, encoding, str(path)), str(path)):
        if problem := penn.undecodable(text, encoding):
            raise TreebankError(str(path), number, problem)
        if is_first and (words := _WORD.findall(text)):
            penn.refuse_numbered(words, str(path), number)
            is_first = False
        yield text


def join_lines(lines: Iterable[str]) -> Iterator[str]:
    """Join the lines of trees that run over several, as treebanks print them: a tree is a sentence, whatever the line.

    lines (Iterable[str]): The lines. Empty ones are left out.
    YIELDS (str): A tree; text that belongs to none stays with the one that follows.
    """
    parts: list[str] = []
    depth = 0
    for line in lines:
        for piece in re.findall(r"[()]|[^()]+", line):
            parts.append(piece)
            depth += (piece == "(") - (piece == ")")
            if piece == ")" and depth == 0:
                yield "".join(parts).strip()
                parts = []
            depth = max(depth, 0)
    if rest := "".join(parts).strip():
        yield rest


def paired_lines(gold: Iterable[Brackets], test: Iterable[Brackets]) -> Iterator[tuple[str | Parse, str | Parse]]:
    """Put gold and test lines side by side. Empty lines that only one side has at its end are left out.

    RAISES (ValueError): If one side has more sentences.
    """
    n = 0
    for ours, theirs in zip_longest(map(tree_line, gold), map(tree_line, test)):
        if ours is not None and theirs is not None:
            n += 1
            yield ours, theirs
        elif not isinstance(rest := ours or theirs or "", str) or rest.strip():
            shorter, longer = ("gold", "test") if ours is None else ("test", "gold")
            raise ValueError(Errors.E353.format(shorter=shorter, longer=longer, n=n))


def fill_unparsed(gold: Iterable[Brackets], test: Iterable[Brackets]) -> Iterator[tuple[str, bool]]:
    """Put a flat tree wherever there is no tree over the gold sentence's words.

    No scorer can then leave such a sentence out, or count it right: a flat tree has no bracket but the root, so it
    misses every gold bracket and adds none. See docs/explanation/scoring.md.

        gold    (TOP (S (NP (PRP She)) (VP (VBZ sleeps))))
        test    (TOP)                                          becomes    (TOP (PRP She) (VBZ sleeps))

    test (Iterable[str | Tree | nltk.Tree | None]): The test trees in the same order; None where there is none.
    YIELDS (tuple[str, bool]): The line of the test tree or of a flat one, and whether it is a flat one.
    RAISES (ValueError): If the numbers of trees differ, or a gold tree cannot be read or has no words.
    """
    everything = EvalbParams()  # no word and no bracket is deleted
    for number, (ours, theirs) in enumerate(paired_lines(gold, test), start=1):
        try:
            sentence = read_sentence(ours, everything)
        except ValueError as err:
            raise ValueError(Errors.E354.format(n=number, reason=err)) from err
        if not sentence.words:
            raise ValueError(Errors.E355.format(number=number))
        try:
            found = read_sentence(theirs, everything)
            usable = not found.errors and [*map(unescape_token, found.words)] == [*map(unescape_token, sentence.words)]
        except ValueError:
            usable = False
        if usable:
            yield theirs.strip() if isinstance(theirs, str) else format_tree(theirs.to_tree()), False
            continue
        start, end, root = sentence.brackets[0] if sentence.brackets else (0, 0, "TOP")
        if root not in ROOT_LABELS or (start, end) != (0, len(sentence.words)):
            root = "TOP"
        words = " ".join(f"({tag} {word})" for tag, word in zip(sentence.tags, sentence.words, strict=True))
        yield f"({root} {words})", True
