"""F by label, by length of sentence and by length of constituent; failures count as zero."""

from bisect import bisect_left
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, NamedTuple

from ..trees.nltk_trees import refuse_single
from .counts import SentenceCounts
from .lines import Brackets
from .params import Bracket, EvalbParams, get_params
from .result import EvalbResult, compare_all, f_score, percent

_LENGTHS = (10, 20, 30, 40, 50, 60, 80)  # words of a sentence, as EVALB's table and its cut-off count them
_SPANS = (1, 2, 3, 4, 6, 10, 20, 40)  # words of a constituent


class Score(NamedTuple):
    """Matched, gold and test brackets of a kind."""

    matched: int = 0
    gold: int = 0
    test: int = 0

    @property
    def precision(self) -> float:
        return percent(self.matched, self.test)

    @property
    def recall(self) -> float:
        return percent(self.matched, self.gold)

    @property
    def f(self) -> float:
        return f_score(self.precision, self.recall)


@dataclass(frozen=True)
class Breakdown:
    """EVALB's counts, and what they are made of.

    unlabeled (EvalbResult): The counts with labels ignored.
    tables (dict[str, dict[str, Score]]): The brackets of each kind, in the tables "label" (labels held equal share a
        row), "length" (of the sentence, with punctuation) and "span" (words of the constituent that count).
    """

    result: EvalbResult
    unlabeled: EvalbResult
    tables: dict[str, dict[str, Score]]


def break_down(
    gold: Iterable[Brackets], test: Iterable[Brackets], params: EvalbParams | str | Path = "collins"
) -> Breakdown:
    """Score test trees, with counts by label and by length. For arguments and errors see `evalb`."""
    params = get_params(params)
    gold_trees, test_trees = list(refuse_single(gold)), list(refuse_single(test))
    matched, missing, extra = (Counter[tuple[str, Any]]() for _ in range(3))
    rows: list[SentenceCounts] = []
    for row, _, matching in compare_all(gold_trees, test_trees, params):
        rows.append(row)
        matched.update(_kinds((gold_bracket for gold_bracket, _ in matching.matched), row.length, params))
        missing.update(_kinds(matching.missing, row.length, params))
        extra.update(_kinds(matching.extra, row.length, params))
    without_labels = compare_all(gold_trees, test_trees, replace(params, labeled=False))
    unlabeled = EvalbResult(params, [comparison.counts for comparison in without_labels])
    tables: dict[str, dict[str, Score]] = {"label": {}, "length": {}, "span": {}}
    for table, kind in sorted(matched | missing | extra):
        n = matched[table, kind]
        name = kind if table == "label" else _name(kind, _LENGTHS if table == "length" else _SPANS)
        tables[table][name] = Score(n, n + missing[table, kind], n + extra[table, kind])
    return Breakdown(EvalbResult(params, rows), unlabeled, tables)


def _kinds(brackets: Iterable[Bracket], length: int, params: EvalbParams) -> Iterator[tuple[str, Any]]:
    """Yield, for each bracket of a sentence, the name of each table and the bracket's kind in it."""
    for start, end, label in brackets:
        yield "label", params.names.get(label, label)
        yield "length", bisect_left(_LENGTHS, length)
        yield "span", bisect_left(_SPANS, end - start)


def _name(i: int, bounds: tuple[int, ...]) -> str:
    """Name the range of numbers that ends at bound i, such as "5-6"; beyond the last bound, such as ">10"."""
    below = bounds[i - 1] if i else 0
    if i == len(bounds):
        return f">{below}"
    return str(bounds[i]) if bounds[i] == below + 1 else f"{below + 1}-{bounds[i]}"
