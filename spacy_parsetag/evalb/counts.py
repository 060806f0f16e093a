"""Reads a sentence as EVALB does from its line, and counts as the C program does.

Words tagged with a deleted label are gone and the brackets close over the gap. Brackets keep their raw labels, in
pre-order, with the root. Malformed lines are read as the C program reads them. It differs in one thing: words are
compared as text, so that `3\\/8` and `3/8`, which treebanks write for the same word, do not make a sentence an error.
"""

import re
from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

from ..errors import Errors
from ..trees.escape import unescape_token
from ..trees.parse import Parse
from ..trees.tree import ROOT
from .params import Bracket, EvalbParams

VALID, ERROR, SKIP, MISSED = 0, 1, 2, 3

# With ASCII, \s is what C's isspace() knows. The groups: a label, the word where it is a tag, a closing bracket.
_PIECE = re.compile(r"\(([^\s()]*)(?:\s+([^\s()]*)\))?|(\))|[^\s()]+", re.ASCII)
_LABEL, _WORD, _CLOSE = 1, 2, 3
_QUOTES = frozenset("'\"/")


class SentenceCounts(NamedTuple):
    """One row of EVALB's table.

    length (int): Gold words, without tags in `delete_labels_for_length`.
    status (int): 0 valid, 1 error, 2 skipped. In the last two cases the counts up to `correct_tags` enter no figure:
        they are 0, save where the only error is that brackets are not balanced. 3 is not EVALB's: see `as_missed`.
    crossing (int): Test brackets that cross a gold bracket.
    words (int): Words that count.
    correct_tags (int): Of these, words with the right part-of-speech tag.
    all_gold (int): Gold brackets, whatever the status.
    all_words (int): Gold words that count, whatever the status.
    error (str): What is wrong, in the words of the C program; empty if nothing is.
    respelled (str): A word that the two sides spell differently, for messages; empty if there is none.
    gold_error (str): What is wrong with the brackets of the gold tree; empty if nothing is.
    retagged (str): The first word that by its tags only one side counts, in an error or skipped sentence whose words
        are the same on both sides; else empty.
    """

    length: int
    status: int = VALID
    matched: int = 0
    gold: int = 0
    test: int = 0
    crossing: int = 0
    words: int = 0
    correct_tags: int = 0
    all_gold: int = 0
    all_words: int = 0
    error: str = ""
    respelled: str = ""
    gold_error: str = ""
    retagged: str = ""

    @property
    def complete(self) -> bool:
        """Check whether the brackets are exactly the gold ones."""
        return self.status == VALID and self.matched == self.gold == self.test

    @property
    def failed(self) -> bool:
        """Check whether a sentence that has words lacks a usable parse."""
        return self.status == ERROR or (self.status == SKIP and self.all_words > 0)

    def as_missed(self) -> "SentenceCounts":
        """The row of a failure that counts as zero: every gold bracket and every tag is missed."""
        return SentenceCounts(self.length, MISSED, gold=self.all_gold, words=self.all_words) if self.failed else self


class Matching(NamedTuple):
    """Brackets matched one to one: gold and test brackets in pairs, gold ones without a partner, test ones without."""

    matched: list[tuple[Bracket, Bracket]]
    missing: list[Bracket]
    extra: list[Bracket]


class Comparison(NamedTuple):
    """A test line beside a gold line.

    words (list[str]): The gold words that count.
    matching (Matching): The brackets over these words; of a failure, all gold ones are missing.
    """

    counts: SentenceCounts
    words: list[str]
    matching: Matching


class Quote(NamedTuple):
    """A quote-like word, deleted or not, and its place in the tree.

    position (int): Number of words that count before it.
    n_before (int): Number of brackets that open before it.
    around (list[int]): Indices of the brackets that are open at the word.
    """

    word: str
    tag: str
    position: int
    n_before: int
    around: list[int]


class SentenceBrackets(NamedTuple):
    """A sentence after deletions.

    brackets (list[Bracket]): All brackets over these words, in pre-order. Those with start == end cover deleted words;
        one that is never closed ends at -1.
    length (int): Number of words for the cut-off, without tags in `delete_labels_for_length`.
    quotes (list[Quote]): Words that may be quotes under `quote_labels`.
    errors (list[str]): What is wrong with the brackets, in the words of the C program.
    """

    words: list[str]
    tags: list[str]
    brackets: list[Bracket]
    length: int
    quotes: list[Quote]
    errors: list[str]


def read_sentence(line: str | Parse, params: EvalbParams) -> SentenceBrackets:
    """Read a line of brackets, or a parse. All brackets on a line are one sentence; on an empty line there is none.

    RAISES (ValueError): If there is text that is not alone in a bracket with its tag, which the C program never gets
        past, or if a span of a parse lies outside the sentence.
    """
    if isinstance(line, Parse):
        return _read_parse(line, params)
    words: list[str] = []
    tags: list[str] = []
    brackets: list[Bracket] = []
    quotes: list[Quote] = []
    errors: list[str] = []
    length = 0
    # The open brackets. Like C's array it can be popped when it is empty: what lies below it is 0, the first bracket.
    stack: dict[int, int] = {}
    top = 0
    for match in _PIECE.finditer(line):
        kind = match.lastindex
        if kind == _WORD:
            tag, word = match.group(_LABEL, _WORD)
            length += tag not in params.delete_labels_for_length
            if tag in params.quote_labels and word in _QUOTES:
                quotes.append(Quote(word, tag, len(words), len(brackets), [stack[i] for i in range(top)]))
            if tag not in params.delete_labels:
                words.append(word)
                tags.append(tag)
        elif kind == _LABEL:
            stack[top] = len(brackets)
            top += 1
            brackets.append((len(words), -1, match[_LABEL]))
        elif kind == _CLOSE:
            top -= 1
            if top < -1:
                errors.append("Bracketing unbalance (too many close bracket)")
            if brackets:
                closed = stack.get(top, 0)
                start, _, label = brackets[closed]
                brackets[closed] = (start, len(words), label)
        else:
            raise ValueError(f"Reading sentence ({match.group()[:100]!r} is not alone in a bracket with its tag)")
    if top:
        errors.append("Bracketing is unbalanced (too many open bracket)")
    return SentenceBrackets(words, tags, brackets, length, quotes, errors)


def _read_parse(parse: Parse, params: EvalbParams) -> SentenceBrackets:
    """Read a parse as the line that `format_tree` would make of it, under a root TOP."""
    words: list[str] = []
    tags: list[str] = []
    quotes: list[Quote] = []
    before = [0]  # words that count before each word
    spans = [(0, len(parse), ROOT), *parse.spans]
    for i, (word, tag) in enumerate(zip(parse.words, parse.pos, strict=True)):
        if tag in params.quote_labels and word in _QUOTES:
            around = [k for k, (start, end, _) in enumerate(spans) if start <= i < end]
            quotes.append(Quote(word, tag, len(words), sum(start <= i for start, _, _ in spans), around))
        if tag not in params.delete_labels:
            words.append(word)
            tags.append(tag)
        before.append(len(words))
    n = len(parse)
    if outside := next((span for span in spans if not 0 <= span[0] <= span[1] <= n), None):
        raise ValueError(Errors.E003.format(span=tuple(outside), n=n))
    brackets = [(before[start], before[end], label) for start, end, label in spans]
    length = sum(tag not in params.delete_labels_for_length for tag in parse.pos)
    return SentenceBrackets(words, tags, brackets, length, quotes, [])


def fix_quotes(gold: SentenceBrackets, test: SentenceBrackets, deleted: frozenset[str]) -> None:
    """Put back quotes that only one of the two deletes, as EVALB does where the numbers of words differ.

    A tagger may call the quote ' a possessive (POS, which counts) and the treebank '' (deleted). The order of steps,
    and what is compared with what, is the C program's. Both sentences are changed in place.
    """
    for i in range(len(test.quotes)):
        position = test.quotes[i].position
        for j in range(len(gold.quotes)):
            # Both quotes may change within the loop; `position` is the test quote's before the loop.
            gold_quote, test_quote = gold.quotes[j], test.quotes[i]
            if gold_quote.position == position and (gold_quote.tag in deleted) != (test_quote.tag in deleted):
                if gold_quote.tag in deleted:
                    _reinsert(gold, j)
                else:
                    _reinsert(test, i)


def _reinsert(sentence: SentenceBrackets, i: int) -> None:
    """Insert deleted quote i; the brackets opened after it move, those around it grow."""
    quote = sentence.quotes[i]
    sentence.words.insert(quote.position, quote.word)
    sentence.tags.insert(quote.position, quote.tag)
    for k, (start, end, label) in enumerate(sentence.brackets):
        after = k >= quote.n_before
        sentence.brackets[k] = (start + after, end + after + (k in quote.around), label)
    for k, later in enumerate(sentence.quotes[i:], start=i):
        sentence.quotes[k] = later._replace(position=later.position + 1)


def compare(gold: str | Parse, test: str | Parse, params: EvalbParams) -> Comparison:
    """Score a test line, empty where there is no parse, against a gold line.

    RAISES (ValueError): If the gold line cannot be read. A test line that cannot be read is an error sentence.
    """
    gold_sentence = read_sentence(gold, params)
    gold_words = gold_sentence.words
    gold_brackets = params.counted(gold_sentence.brackets)
    row = SentenceCounts(
        gold_sentence.length,
        all_gold=len(gold_brackets),
        all_words=len(gold_words),
        gold_error="; ".join(gold_sentence.errors),
    )
    missed = Matching([], gold_brackets, [])
    try:
        test_sentence = read_sentence(test, params)
    except ValueError as err:
        return Comparison(row._replace(status=ERROR, error=str(err)), gold_words, missed)
    test_words = test_sentence.words
    errors = [*gold_sentence.errors, *test_sentence.errors]
    if not test_words:
        row = row._replace(status=SKIP, error="; ".join(errors), retagged=_find_retagged(gold, test, params))
        return Comparison(row, gold_words, missed if row.failed else Matching([], [], []))
    if len(gold_words) != len(test_words):
        fix_quotes(gold_sentence, test_sentence, params.delete_labels)
    pairs = [(a, b) for a, b in zip(gold_words, test_words, strict=False) if a != b]
    respellings = [(a, b) for a, b in pairs if unescape_token(a) == unescape_token(b)]
    differing = [(a, b) for a, b in pairs if not params.same_word(a, b)]
    length_differs = len(gold_words) != len(test_words)
    if length_differs:
        errors.append(f"Length unmatch ({len(gold_words)}|{len(test_words)})")
    elif differing:
        errors.append("Words unmatch ({}|{})".format(*differing[0]))
    respelled = "{} as {}".format(*respellings[0]) if respellings and not errors else ""
    row = row._replace(status=ERROR if errors else VALID, error="; ".join(errors), respelled=respelled)
    if differing or length_differs:
        if gold_sentence.length == test_sentence.length:
            row = row._replace(retagged=_find_retagged(gold, test, params))
        return Comparison(row, gold_words, missed)
    gold_brackets, test_brackets = params.counted(gold_sentence.brackets), params.counted(test_sentence.brackets)
    matching = match_brackets(gold_brackets, test_brackets, params)
    cut = params.cut if params.cut_tags else str
    tag_pairs = zip(gold_sentence.tags, test_sentence.tags, strict=True)
    row = row._replace(
        matched=len(matching.matched),
        gold=len(gold_brackets),
        test=len(test_brackets),
        crossing=count_crossing(gold_brackets, test_brackets, len(gold_words)),
        words=len(gold_words),
        correct_tags=sum(params.same_label(cut(a), cut(b)) for a, b in tag_pairs),
    )
    return Comparison(row, gold_words, missed if row.failed else matching)


def _find_retagged(gold: str | Parse, test: str | Parse, params: EvalbParams) -> str:
    """Find the first word that by its tags only one of two lines with the same words counts; empty if there is none."""
    all_words = replace(params, delete_labels=params.delete_labels_for_length)
    gold_sentence, test_sentence = (read_sentence(line, all_words) for line in (gold, test))
    words = list(zip(gold_sentence.words, test_sentence.words, strict=False))
    is_same = len(gold_sentence.words) == len(test_sentence.words) and all(params.same_word(*pair) for pair in words)
    for (word, _), gold_tag, test_tag in zip(words, gold_sentence.tags, test_sentence.tags, strict=False):
        if is_same and (gold_tag in params.delete_labels) != (test_tag in params.delete_labels):
            return f"{word!r} is tagged {gold_tag} in GOLD and {test_tag} in TEST"
    return ""


def match_brackets(gold: Sequence[Bracket], test: Sequence[Bracket], params: EvalbParams) -> Matching:
    """Match brackets that count. As in C, each gold bracket takes the first free test bracket that equals it."""
    free: dict[tuple[int, int], list[Bracket]] = {}
    for bracket in test:
        free.setdefault(bracket[:2], []).append(bracket)
    matched, missing = [], []
    for gold_bracket in gold:
        candidates = free.get(gold_bracket[:2], [])
        for i, candidate in enumerate(candidates):
            if not params.labeled or params.same_label(gold_bracket[2], candidate[2]):
                matched.append((gold_bracket, candidates.pop(i)))
                break
        else:
            missing.append(gold_bracket)
    return Matching(matched, missing, [bracket for extra in free.values() for bracket in extra])


def count_crossing(gold: Sequence[Bracket], test: Sequence[Bracket], n_words: int) -> int:
    """Count the test brackets that cross one gold bracket or more, in linear time where test brackets are short."""
    leftmost = [n_words] * (n_words + 1)  # by boundary: where the widest gold bracket that ends there starts
    rightmost = [0] * (n_words + 1)  # by boundary: where the widest gold bracket that starts there ends
    for start, end, _ in gold:
        # A bracket that is never closed ends at -1. It changes the outermost boundary only, which is never looked at.
        leftmost[end] = min(start, leftmost[end])
        rightmost[start] = max(end, rightmost[start])
    return sum(
        end - start > 1 and (min(leftmost[start + 1 : end]) < start or max(rightmost[start + 1 : end]) > end)
        for start, end, _ in test
    )
