"""Flat trees in place of sentences that have no usable parse, so that no scorer can leave them out or count them right.

    gold    (TOP (S (NP (PRP She)) (VP (VBZ sleeps))))
    test    (TOP)                                          becomes    (TOP (PRP She) (VBZ sleeps))

A flat tree has no bracket but the root: it misses every gold bracket and adds none. See docs/scoring.md.
"""

from collections.abc import Iterable, Iterator

from ..errors import Errors
from ..trees import ROOT_LABELS
from .lines import Brackets, paired_lines
from .params import EvalbParams
from .sentence import read_sentence

_EVERYTHING = EvalbParams()  # no word and no bracket is deleted


def fill_unparsed(gold: Iterable[Brackets], test: Iterable[Brackets]) -> Iterator[tuple[str, bool]]:
    """Put a flat tree wherever there is no tree over the gold sentence's words.

    gold (Iterable[str | Tree | nltk.Tree]): The gold trees.
    test (Iterable[str | Tree | nltk.Tree | None]): The test trees in the same order; None where there is none.
    YIELDS (tuple[str, bool]): The line of the test tree or of a flat one, and whether it is a flat one.
    RAISES (ValueError): If the numbers of trees differ, or a gold tree cannot be read or has no words.
    """
    for number, (ours, theirs) in enumerate(paired_lines(gold, test), start=1):
        try:
            sentence = read_sentence(ours, _EVERYTHING)
        except ValueError as err:
            raise ValueError(Errors.E204.format(n=number, reason=err)) from err
        if not sentence.words:
            raise ValueError(Errors.E391.format(number=number))
        try:
            found = read_sentence(theirs, _EVERYTHING)
            usable = found.words == sentence.words and not found.errors
        except ValueError:
            usable = False
        if usable:
            yield theirs.strip(), False
            continue
        start, end, root = sentence.brackets[0] if sentence.brackets else (0, 0, "TOP")
        if root not in ROOT_LABELS or (start, end) != (0, len(sentence.words)):
            root = "TOP"
        words = " ".join(f"({tag} {word})" for tag, word in zip(sentence.tags, sentence.words, strict=True))
        yield f"({root} {words})", True
