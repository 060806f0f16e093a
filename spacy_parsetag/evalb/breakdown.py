"""F by label, by length of sentence and by length of constituent; failures count as zero."""

from bisect import bisect_left
from collections.abc import Iterable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, NamedTuple

from .counts import SentenceCounts, read_sentence
from .lines import Brackets, tree_line
from .params import EvalbParams, get_params
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

    unlabeled (EvalbResult): The counts where labels do not matter.
    tables (dict[str, dict[str, Score]]): By "label", "length" (of the sentence, with punctuation) and "span" (words of
        the constituent that count) the brackets of each kind.
    """

    result: EvalbResult
    unlabeled: EvalbResult
    tables: dict[str, dict[str, Score]]


def break_down(
    gold: Iterable[Brackets], test: Iterable[Brackets], params: EvalbParams | str | Path = "collins"
) -> Breakdown:
    """Score test trees, with counts by label and by length. For arguments and errors see `evalb`."""
    params = get_params(params)
    gold_trees, test_trees = list(gold), list(test)
    tables: dict[str, dict[Any, list[int]]] = {"label": {}, "length": {}, "span": {}}
    rows: list[SentenceCounts] = []
    for gold_tree, (row, _, matching) in zip(gold_trees, compare_all(gold_trees, test_trees, params), strict=False):
        rows.append(row)
        groups = [gold_bracket for gold_bracket, _ in matching.matched], matching.missing, matching.extra
        if row.failed:
            groups = [], params.counted(read_sentence(tree_line(gold_tree), params).brackets), []
        for kind, (start, end, label) in ((kind, bracket) for kind, group in enumerate(groups) for bracket in group):
            keys = (label, bisect_left(_LENGTHS, row.length), bisect_left(_SPANS, end - start))
            for table, key in zip(tables.values(), keys, strict=True):
                counts = table.setdefault(key, [0, 0, 0])
                counts[0] += kind == 0
                counts[1] += kind in (0, 1)
                counts[2] += kind in (0, 2)
    without_labels = compare_all(gold_trees, test_trees, replace(params, labeled=False))
    unlabeled = EvalbResult(params, [row for row, _, _ in without_labels])
    scores = {kind: {key: Score(*counts) for key, counts in sorted(table.items())} for kind, table in tables.items()}
    for name, bounds in (("length", _LENGTHS), ("span", _SPANS)):
        scores[name] = {_name(i, bounds): score for i, score in scores[name].items()}
    return Breakdown(EvalbResult(params, rows), unlabeled, scores)


def _name(i: int, bounds: tuple[int, ...]) -> str:
    """Name the numbers up to bound i and above the one before it, such as "5-6"; beyond the last bound ">10"."""
    below = bounds[i - 1] if i else 0
    if i == len(bounds):
        return f">{below}"
    return str(bounds[i]) if bounds[i] == below + 1 else f"{below + 1}-{bounds[i]}"
