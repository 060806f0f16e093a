"""Differences between test and gold trees: sentences from worst to best, and labels taken for others."""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple

from .counts import SentenceCounts, match_brackets
from .lines import Brackets
from .params import Bracket, EvalbParams, get_params
from .result import EvalbResult, compare_all, f_score, percent


class SentenceDiff(NamedTuple):
    """A sentence whose brackets are not exactly the gold ones.

    number (int): The sentence, from 1: comments and, with `join_lines`, line breaks do not count.
    counts (SentenceCounts): EVALB's counts.
    words (list[str]): The gold words that count.
    relabeled (list[tuple[Bracket, str]]): Gold brackets that the test tree has under another label, and that label.
    missing (list[Bracket]): Gold brackets over words that no unmatched test bracket covers exactly.
    extra (list[Bracket]): Test brackets over words that no unmatched gold bracket covers exactly.
    """

    number: int
    counts: SentenceCounts
    words: list[str]
    relabeled: list[tuple[Bracket, str]]
    missing: list[Bracket]
    extra: list[Bracket]

    @property
    def f(self) -> float:
        """F of the sentence, in percent."""
        row = self.counts
        return 0.0 if row.failed else f_score(percent(row.matched, row.test), percent(row.matched, row.gold))

    def text(self, bracket: Bracket) -> str:
        """The words of a bracket."""
        return " ".join(self.words[bracket[0] : bracket[1]])

    def to_dict(self) -> dict[str, Any]:
        """The sentence, ready for JSON. Positions count the words that count."""
        row = self.counts
        return {
            "sentence": self.number,
            "f": self.f,
            "error": row.error or ("no parse" if row.failed else ""),
            "retagged": row.retagged,
            **{name: getattr(row, name) for name in ("matched", "gold", "test", "crossing")},
            "words": self.words,
            "relabeled": [{**self._to_dict(bracket), "test_label": label} for bracket, label in self.relabeled],
            "missing": [self._to_dict(bracket) for bracket in self.missing],
            "extra": [self._to_dict(bracket) for bracket in self.extra],
        }

    def _to_dict(self, bracket: Bracket) -> dict[str, Any]:
        start, end, label = bracket
        return {"label": label, "start": start, "end": end, "text": self.text(bracket)}


@dataclass(frozen=True)
class EvalbDiff:
    """The differences of two files.

    sentences (list[SentenceDiff]): The sentences that differ, from worst to best: those without a usable parse, last
        among them those whose words are the same, then by their F and the number of brackets that differ.
    """

    result: EvalbResult
    sentences: list[SentenceDiff]

    @cached_property
    def confusions(self) -> list[tuple[str | None, str | None, int]]:
        """Gold label, test label and their count, most frequent first; None for a label whose side has no bracket.

        Sentences without a usable parse are not counted.
        """
        counts: Counter[tuple[str | None, str | None]] = Counter()
        for sentence in self.sentences:
            counts.update((bracket[2], label) for bracket, label in sentence.relabeled)
            counts.update((bracket[2], None) for bracket in sentence.missing)
            counts.update((None, bracket[2]) for bracket in sentence.extra)
        ordered = sorted(counts.items(), key=lambda item: (-item[1], item[0][0] or "", item[0][1] or ""))
        return [(gold, test, n) for (gold, test), n in ordered]

    def to_dict(self, top: int | None = None) -> dict[str, Any]:
        """The difference, ready for JSON.

        top (int | None): Number of sentences; None for all.
        RETURNS (dict[str, Any]): Keys `evalb` (see `EvalbResult.to_dict`), `differ` (number of sentences), `confusions`
            (a label is null where there is no such bracket) and `sentences`.
        """
        return {
            "evalb": self.result.to_dict(),
            "differ": len(self.sentences),
            "confusions": [{"gold": gold, "test": test, "count": n} for gold, test, n in self.confusions],
            "sentences": [sentence.to_dict() for sentence in self.sentences[:top]],
        }


def diff(gold: Iterable[Brackets], test: Iterable[Brackets], params: EvalbParams | str | Path = "collins") -> EvalbDiff:
    """Find the differences. For arguments and errors see `evalb`.

    >>> found = diff(["(S (NP (NN a)) (VP (VB b)))"], ["(S (ADJP (NN a)) (VB b))"])
    >>> found.confusions
    [('NP', 'ADJP', 1), ('VP', None, 1)]
    """
    params = get_params(params)
    unlabeled = replace(params, labeled=False)
    rows, sentences = [], []
    for number, (row, words, (_, missing, extra)) in enumerate(compare_all(gold, test, params), start=1):
        rows.append(row)
        if row.failed:
            sentences.append(SentenceDiff(number, row, words, [], [], []))
        elif missing or extra:
            pairs, missing, extra = match_brackets(missing, extra, unlabeled)
            relabeled = [(gold_bracket, test_bracket[2]) for gold_bracket, test_bracket in pairs]
            sentences.append(SentenceDiff(number, row, words, relabeled, missing, extra))

    def rank(one: SentenceDiff) -> tuple[bool, bool, float, int]:
        n_brackets = len([*one.relabeled, *one.missing, *one.extra])
        return not one.counts.failed, bool(one.counts.retagged), one.f, -n_brackets

    sentences.sort(key=rank)
    return EvalbDiff(EvalbResult(params, rows), sentences)
