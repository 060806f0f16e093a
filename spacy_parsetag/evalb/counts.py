"""EVALB's counts for one sentence, each equal to the C program's."""

from collections.abc import Sequence
from typing import NamedTuple

from .params import Bracket, EvalbParams
from .sentence import fix_quotes, read_sentence

VALID, ERROR, SKIP, MISSED = 0, 1, 2, 3


class SentenceCounts(NamedTuple):
    """One row of EVALB's table.

    length (int): Gold words, those in `delete_labels_for_length` left out.
    status (int): 0 valid, 1 error, 2 skipped. In the last two cases the counts up to `correct_tags` enter no figure:
        they are 0, save where the only error is that brackets are not balanced. 3 is not EVALB's: see `as_missed`.
    matched, gold, test (int): Matched, gold and test brackets.
    crossing (int): Test brackets that cross a gold bracket.
    words (int): Words that count.
    correct_tags (int): Of these, words with the right part-of-speech tag.
    all_gold (int): Gold brackets, whatever the status.
    all_words (int): Gold words that count, whatever the status.
    error (str): What is wrong, in the words of the C program; empty if nothing is.
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

    @property
    def complete(self) -> bool:
        """Whether the brackets are exactly the gold ones."""
        return self.status == VALID and self.matched == self.gold == self.test

    @property
    def failed(self) -> bool:
        """Whether there is no usable parse of a sentence that has words."""
        return self.status == ERROR or (self.status == SKIP and self.all_words > 0)

    def as_missed(self) -> "SentenceCounts":
        """The row of a failure that counts as zero: every gold bracket and every tag is missed."""
        return SentenceCounts(self.length, MISSED, gold=self.all_gold, words=self.all_words) if self.failed else self


class Matching(NamedTuple):
    """Brackets matched one to one: gold and test brackets in pairs, gold ones without a partner, test ones without."""

    matched: list[tuple[Bracket, Bracket]]
    missing: list[Bracket]
    extra: list[Bracket]


def compare(gold: str, test: str, params: EvalbParams) -> tuple[SentenceCounts, list[str], Matching]:
    """Score a test line, empty where there is no parse, against a gold line.

    RETURNS (tuple[SentenceCounts, list[str], Matching]): The counts, the gold words that count and the brackets over
        them, none where the words differ.
    RAISES (ValueError): If the gold line cannot be read. A test line that cannot be read is an error sentence.
    """
    ours = read_sentence(gold, params)
    row = SentenceCounts(ours.length, all_gold=len(params.counted(ours.brackets)), all_words=len(ours.words))
    nothing = Matching([], [], [])
    try:
        theirs = read_sentence(test, params)
    except ValueError as err:
        return row._replace(status=ERROR, error=str(err)), ours.words, nothing
    errors = [*ours.errors, *theirs.errors]
    if not theirs.words:
        return row._replace(status=SKIP, error="; ".join(errors)), ours.words, nothing
    if len(ours.words) != len(theirs.words):
        fix_quotes(ours, theirs, params.delete_labels)
    differing = [pair for pair in zip(ours.words, theirs.words, strict=False) if not params.same_word(*pair)]
    if len(ours.words) != len(theirs.words):
        errors.append(f"Length unmatch ({len(ours.words)}|{len(theirs.words)})")
    elif differing:
        errors.append("Words unmatch ({}|{})".format(*differing[0]))
    row = row._replace(status=ERROR if errors else VALID, error="; ".join(errors))
    if differing or len(ours.words) != len(theirs.words):
        return row, ours.words, nothing
    gold_brackets, test_brackets = params.counted(ours.brackets), params.counted(theirs.brackets)
    matching = match_brackets(gold_brackets, test_brackets, params)
    row = row._replace(
        matched=len(matching.matched),
        gold=len(gold_brackets),
        test=len(test_brackets),
        crossing=count_crossing(gold_brackets, test_brackets, len(ours.words)),
        words=len(ours.words),
        correct_tags=sum(map(params.same_tag, ours.tags, theirs.tags)),
    )
    return row, ours.words, matching


def match_brackets(gold: Sequence[Bracket], test: Sequence[Bracket], params: EvalbParams) -> Matching:
    """Match brackets that count. As in C, each gold bracket takes the first free test bracket that equals it."""
    free: dict[tuple[int, int], list[Bracket]] = {}
    for bracket in test:
        free.setdefault(bracket[:2], []).append(bracket)
    matched, missing = [], []
    for bracket in gold:
        candidates = free.get(bracket[:2], [])
        for i, other in enumerate(candidates):
            if not params.labeled or params.same_label(bracket[2], other[2]):
                matched.append((bracket, candidates.pop(i)))
                break
        else:
            missing.append(bracket)
    return Matching(matched, missing, [bracket for rest in free.values() for bracket in rest])


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
