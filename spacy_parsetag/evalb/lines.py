"""Reads lines of brackets. A line is a sentence: an empty one has no parse, several brackets are a forest."""

import re
from collections.abc import Iterable, Iterator
from itertools import zip_longest
from pathlib import Path
from typing import TypeAlias

from ..errors import Errors, TreebankError
from ..treebanks.lines import read_file_lines, undecodable
from ..treebanks.penn import refuse_numbered, without_comments
from ..trees import ROOT_LABELS, Parse, Tree
from ..trees.brackets import format_tree
from ..trees.escape import SPACE, escape_label, escape_token, unescape_label, unescape_token
from ..trees.nltk_trees import NLTKTree, from_nltk, refuse_single
from ..trees.tree import ROOT, preorder
from .counts import compare, read_sentence
from .params import EvalbParams, get_params

_FILE_FORM = re.compile(f"[^{SPACE}()]+")
_WORD = re.compile(r"[^\s()]+(?=\s*\))")
_EVERYTHING = EvalbParams()  # no word and no bracket is deleted
OPEN = "Brackets are open at the end of a line{place}. If trees run over several lines, say --multiline."
UNOPENED = "A closing bracket{place} has no opening one: remove it, or add the missing opening bracket before it."
_SPACES = re.compile(r"\s+", re.ASCII)  # no-break spaces and their like are letters of words
Brackets: TypeAlias = "str | Tree | NLTKTree | Parse | None"


class FileLine(str):
    """A line of a file, or a tree that starts there, which knows its place: file and line."""

    place: str

    def __new__(cls, text: str, place: str) -> "FileLine":
        line = super().__new__(cls, text)
        line.place = place
        return line


def place_of(line: object) -> str:
    """Say in brackets where a line stands, for messages; empty if it is of no file."""
    return f" ({line.place})" if isinstance(line, FileLine) else ""


def n_open(line: object) -> int:
    """Count the brackets that are open at the end of a line; below 0 if it has closing brackets without opening ones.
    A parse has none."""
    return line.count("(") - line.count(")") if isinstance(line, str) else 0


class Balance:
    """Follows the brackets of successive lines.

    several (object): The first line of a tree that runs over several: the lines after it close its brackets. None if
        there is none.
    """

    def __init__(self) -> None:
        self.depth = 0
        self.first: object = None
        self.several: object = None

    def add(self, line: object) -> None:
        self.first = line if self.depth == 0 else self.first
        before, self.depth = self.depth, max(self.depth + n_open(line), 0)
        if before and not self.depth and self.several is None:
            self.several = self.first


def first_of_several(lines: Iterable[object]) -> object:
    """Find the first line of a tree that runs over several lines; see `Balance`."""
    balance = Balance()
    for line in lines:
        balance.add(line)
    return balance.several


def tree_line(tree: Brackets) -> str | Parse:
    """Write a tree as a line; malformed trees of NLTK are written as they are. Lines and parses stay as they are.

    NLTK's words and labels are in file form. Any with spaces or brackets are taken for text, as by `from_nltk`.

    RAISES (TypeError): If something in a tree of NLTK is neither a tree nor a string.
    """
    if tree is None or isinstance(tree, (str, Parse)):
        return tree or ""
    if isinstance(tree, Tree):
        has_words = any(isinstance(child, str) for node in preorder(tree) for child in node.children)
        return format_tree(tree) if has_words else ""
    parts: list[str] = []
    stack: list[NLTKTree | str] = [tree]
    while stack:
        node = stack.pop()
        if isinstance(node, str):
            parts.append(node)
            continue
        if not hasattr(node, "label"):
            from_nltk(tree)  # raises, and says what it is
        label = str(node.label())
        if label and not _FILE_FORM.fullmatch(label):
            label = escape_label(unescape_label(label))
        parts.append(f" ({label}")
        stack.append(")")
        stack.extend(f" {_in_file_form(child)}" if isinstance(child, str) else child for child in reversed(node))
    return "".join(parts).lstrip()


def _in_file_form(word: str) -> str:
    return word if _FILE_FORM.fullmatch(word) else escape_token(unescape_token(word))


def read_tree_lines(path: str | Path, *, encoding: str = "utf-8") -> list[str]:
    """Read a file for scoring, a sentence a line.

    encoding (str): Its encoding. A byte order mark is left out, and so are comments (see `penn.without_comments`).
    RETURNS (list[str]): The sentences, which know their lines.
    RAISES (TreebankError): If bytes are not valid in the encoding, or the file is in another format.
    RAISES (ValueError): If there is no such encoding.
    """
    lines: list[str] = []
    is_checked = False
    for number, text in without_comments(read_file_lines(path, encoding, str(path)), str(path)):
        # A later line may begin within a character, but only where the low byte comes first, the default of the hint.
        if problem := undecodable(text, encoding, text if number == 1 else ""):
            raise TreebankError(str(path), number, problem)
        if not is_checked and (words := _WORD.findall(text)):
            refuse_numbered(words, str(path), number)
            is_checked = len(words) > 1
        lines.append(FileLine(text, f"{path}:{number}"))
    return lines


def join_lines(lines: Iterable[str]) -> list[str]:
    """Join lines into trees, which may run over several lines, as treebanks print them. Each tree is a sentence.

    lines (Iterable[str]): The lines. Empty ones are left out.
    RETURNS (list[str]): The trees; text outside of trees stays with the tree that follows.
    """
    trees: list[str] = []
    parts: list[str] = []
    first_line = ""  # of the tree
    depth = 0

    def joined() -> str:
        text = "".join(parts).strip()
        return FileLine(text, first_line.place) if isinstance(first_line, FileLine) else text

    for line in lines:
        for piece in re.findall(r"[()]|[^()]+", line):
            first_line = first_line or ("" if piece.isspace() else line)
            parts.append(piece)
            depth += (piece == "(") - (piece == ")")
            if piece == ")" and depth == 0:
                trees.append(joined())
                parts, first_line = [], ""
            depth = max(depth, 0)
        if parts and not line[-1:].isspace():  # as of `splitlines`
            parts.append("\n")
    if unclosed := joined():
        trees.append(unclosed)
    return trees


def paired_lines(gold: Iterable[Brackets], test: Iterable[Brackets]) -> Iterator[tuple[str | Parse, str | Parse]]:
    """Put gold and test lines side by side. Empty lines that only one side has at its end are left out.

    RAISES (TypeError): If a side is one tree, or something in it is no tree.
    RAISES (ValueError): If one side has more sentences.
    """
    n = 0
    last_gold: str | Parse = ""
    last_test: str | Parse = ""
    of_gold, of_test = Balance(), Balance()
    pairs = zip_longest(map(tree_line, refuse_single(gold)), map(tree_line, refuse_single(test)))
    for gold_line, test_line in pairs:
        of_gold.add(gold_line)
        of_test.add(test_line)
        if gold_line is not None and test_line is not None:
            n += 1
            last_gold, last_test = gold_line, test_line
            yield gold_line, test_line
            continue
        extra = gold_line or test_line or ""
        if isinstance(extra, str) and not extra.strip():
            continue
        for gold_rest, test_rest in pairs:  # one of them has ended
            of_gold.add(gold_rest)
            of_test.add(test_rest)
        shorter, longer, last = ("gold", "test", last_gold) if gold_line is None else ("test", "gold", last_test)
        remedy = "Where there is no parse write (TOP)."
        if several := of_gold.several or of_test.several:
            remedy = OPEN.format(place=place_of(several))
        elif n_open(last) > 0:
            remedy = f"The last {shorter} tree{place_of(last)} is not closed: write its brackets."
        elif n_open(extra) < 0:
            remedy = UNOPENED.format(place="")
        places = {"end": place_of(last), "place": place_of(extra)}
        raise ValueError(Errors.E353.format(shorter=shorter, longer=longer, n=n, remedy=remedy, **places))


def fill_unparsed(
    gold: Iterable[Brackets], test: Iterable[Brackets], params: EvalbParams | str | Path = _EVERYTHING
) -> Iterator[tuple[str, bool]]:
    """Put a flat tree wherever the test tree is no usable parse of the gold sentence.

    No scorer can then leave such a sentence out, or count it right: a flat tree has no bracket but the root, so it
    misses every gold bracket and adds none. See docs/explanation/scoring.md.

        gold    (TOP (S (NP (PRP She)) (VP (VBZ sleeps))))
        test    (TOP)                                          becomes    (TOP (PRP She) (VBZ sleeps))

    test (Iterable[str | Tree | nltk.Tree | None]): The test trees in the same order; None where there is none.
    params (EvalbParams | str | Path): The parameters of the scoring, as for `evalb`, which decide what is usable. A
        flat tree has the gold root, or TOP where the gold root would count as a bracket. By default nothing is deleted.
    YIELDS (tuple[str, bool]): The line of the test tree or of the flat tree in its place, and whether it is flat. Where
        both lines are empty, so is this one.
    RAISES (TypeError): As `evalb`.
    RAISES (ValueError): If the numbers of trees differ, or else a gold tree cannot be read or has no words.
    """
    params = get_params(params)
    for number, (gold_line, test_line) in enumerate(paired_lines(gold, test), start=1):
        try:
            sentence = read_sentence(gold_line, _EVERYTHING)
        except ValueError as err:
            raise ValueError(Errors.E354.format(n=number, place=place_of(gold_line), reason=err)) from err
        if not sentence.words:
            if f"{gold_line}{test_line}".strip():
                raise ValueError(Errors.E355.format(number=number))
            yield "", False
            continue
        if not compare(gold_line, test_line, params).counts.failed and read_sentence(test_line, _EVERYTHING).words:
            line = test_line if isinstance(test_line, str) else format_tree(test_line.to_tree())
            yield _SPACES.sub(" ", line).strip(), False
            continue
        start, end, root = sentence.brackets[0] if sentence.brackets else (0, 0, ROOT)
        root_counts, top_counts = (bool(params.counted([(0, 1, label)])) for label in (root, ROOT))
        if root not in ROOT_LABELS or (start, end) != (0, len(sentence.words)) or root_counts > top_counts:
            root = ROOT
        words = " ".join(f"({tag} {word})" for tag, word in zip(sentence.tags, sentence.words, strict=True))
        yield f"({root} {words})", True
