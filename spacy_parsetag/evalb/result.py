"""EVALB (Sekine and Collins), reimplemented: every count equals that of the C program, sentence by sentence.

    gold   (TOP (S (NP She) (VP enjoys (S (VP reading (NP papers))))))
    test   (TOP (S (NP She) (VP enjoys (VP reading (NP papers)))))        5 of 6 gold brackets, 5 of 5 test brackets

Brackets match one to one: two equal brackets need two partners. Sentences whose words differ (errors) and those where
the test tree has no word that counts (skipped) stay out of the C program's totals, so that failures raise its figures.
Hence a second summary, `EvalbResult.strict`: there a failure misses all of its gold brackets.

Differences to the C program, none of which changes a count: no bounds on words, brackets, labels and lines; scoring
goes on where the C program stops, which is past MAX_ERROR errors and at a test line that cannot be read; a gold line
that cannot be read, and differing numbers of sentences, raise an error.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass
from functools import cached_property
from itertools import zip_longest
from pathlib import Path
from typing import Any

from ..errors import Errors
from .counts import ERROR, MISSED, SKIP, VALID, Matching, SentenceCounts, compare
from .lines import Brackets, to_line
from .params import EvalbParams, get_params
from .sentence import Rules


def percent(part: float, whole: float) -> float:
    """100 times part over whole, 0.0 over nothing; computed in C's order, for equal rounding."""
    return 100.0 * part / whole if whole else 0.0


def f_score(p: float, r: float) -> float:
    """The harmonic mean of precision and recall, 0.0 if both are."""
    return 2 * p * r / (p + r) if p + r else 0.0


@dataclass(frozen=True)
class Summary:
    """Totals over sentences, as in EVALB's summaries; rates are in percent.

    sentences, errors, skipped (int): Numbers of sentences; the counts below are over the others.
    matched, gold, test, crossing, words, correct_tags (int): Sums over these.
    complete, no_crossing, two_or_less (int): Number of them with exactly the gold brackets; with no crossing bracket;
        with at most two.
    """

    sentences: int
    errors: int
    skipped: int
    matched: int
    gold: int
    test: int
    crossing: int
    words: int
    correct_tags: int
    complete: int
    no_crossing: int
    two_or_less: int

    @classmethod
    def of(cls, rows: Sequence[SentenceCounts]) -> "Summary":
        """Sum up rows."""
        counted = [row for row in rows if row.status in (VALID, MISSED)]
        valid = [row for row in rows if row.status == VALID]
        sums = ("matched", "gold", "test", "crossing", "words", "correct_tags")
        return cls(
            sentences=len(rows),
            errors=sum(row.status == ERROR for row in rows),
            skipped=sum(row.status == SKIP for row in rows),
            complete=sum(row.complete for row in valid),
            no_crossing=sum(row.crossing == 0 for row in valid),
            two_or_less=sum(row.crossing <= 2 for row in valid),
            **{name: sum(getattr(row, name) for row in counted) for name in sums},
        )

    @property
    def valid(self) -> int:
        return self.sentences - self.errors - self.skipped

    @property
    def recall(self) -> float:
        return percent(self.matched, self.gold)

    @property
    def precision(self) -> float:
        return percent(self.matched, self.test)

    @property
    def f(self) -> float:
        return f_score(self.precision, self.recall)

    @property
    def complete_match(self) -> float:
        return percent(self.complete, self.valid)

    @property
    def average_crossing(self) -> float:
        return self.crossing / self.valid if self.valid else 0.0

    @property
    def tag_accuracy(self) -> float:
        return percent(self.correct_tags, self.words)

    def to_dict(self) -> dict[str, float]:
        """The rates and the counts, ready for JSON."""
        rates = ("recall", "precision", "f", "complete_match", "average_crossing", "tag_accuracy", "valid")
        return {**{name: getattr(self, name) for name in rates}, **asdict(self)}


@dataclass(frozen=True)
class EvalbResult:
    """What EVALB found.

    params (EvalbParams): The parameters.
    rows (list[SentenceCounts]): One row a sentence.
    """

    params: EvalbParams
    rows: list[SentenceCounts]

    @cached_property
    def all(self) -> Summary:
        """Over all sentences, errors and skipped ones left out: EVALB's first summary, the published figure."""
        return Summary.of(self.rows)

    @cached_property
    def short(self) -> Summary:
        """The same over sentences of at most `params.cutoff_len` words: EVALB's second summary."""
        return Summary.of([row for row in self.rows if row.length <= self.params.cutoff_len])

    @cached_property
    def strict(self) -> Summary:
        """Over all sentences, failures counted as zero: no test bracket, every gold bracket missed. A skipped sentence
        without any gold word that counts is no failure; it adds nothing to any figure."""
        return Summary.of([row.as_missed() for row in self.rows])

    @property
    def f(self) -> float:
        """EVALB's F over all valid sentences, in percent."""
        return self.all.f

    @property
    def exact_match(self) -> float:
        """Valid sentences with exactly the gold brackets, in percent."""
        return self.all.complete_match

    @property
    def failures(self) -> int:
        """Number of sentences that `strict` counts as zero."""
        return sum(row.failed for row in self.rows)

    def to_dict(self) -> dict[str, Any]:
        """The summaries, ready for JSON.

        RETURNS (dict[str, Any]): Keys `params`, `failures`, `all`, `len<=40` (by the cut-off), `strict`, `errors`.
        """
        return {
            "params": self.params.name,
            "failures": self.failures,
            "all": self.all.to_dict(),
            f"len<={self.params.cutoff_len}": self.short.to_dict(),
            "strict": self.strict.to_dict(),
            "errors": {number: row.error for number, row in enumerate(self.rows, start=1) if row.error},
        }


def evalb(
    gold: Iterable[Brackets], test: Iterable[Brackets], params: EvalbParams | str | Path = "collins"
) -> EvalbResult:
    """Score test trees against gold trees.

    gold (Iterable[str | Tree | nltk.Tree]): Gold trees with their root wrappers. A wrapper that `params` do not delete
        (ROOT under Collins' parameters) counts as a bracket, as in C. A string is a line of a file (see `read_lines`).
    test (Iterable[str | Tree | nltk.Tree | None]): The test trees in the same order; None, an empty string or a tree
        without words where there is no parse.
    params (EvalbParams | str | Path): Parameters, or "collins", "new", "spmrl", or a parameter file.
    RETURNS (EvalbResult): Rows and summaries.
    RAISES (ValueError): If the numbers of trees differ, or a gold tree cannot be read. (A test tree that cannot is an
        error sentence.)

    >>> gold = "(TOP (S (NP (PRP She)) (VP (VBZ sleeps))))"
    >>> evalb([gold], [gold]).f
    100.0
    """
    params = get_params(params)
    return EvalbResult(params, [row for row, _, _ in compare_all(gold, test, params)])


def compare_all(
    gold: Iterable[Brackets], test: Iterable[Brackets], params: EvalbParams
) -> Iterator[tuple[SentenceCounts, list[str], Matching]]:
    """Score sentence by sentence: see `evalb` for the arguments and errors, and `compare` for what is yielded."""
    rules = Rules(params)
    for number, (ours, theirs) in enumerate(paired_lines(gold, test), start=1):
        try:
            yield compare(ours, theirs, rules)
        except ValueError as err:
            raise ValueError(Errors.E204.format(n=number, reason=err)) from err


def paired_lines(gold: Iterable[Brackets], test: Iterable[Brackets]) -> Iterator[tuple[str, str]]:
    """Put the lines of both sides side by side. Empty lines that only one side has at its end are left out.

    gold (Iterable[str | Tree | nltk.Tree]): Gold trees.
    test (Iterable[str | Tree | nltk.Tree | None]): Test trees.
    YIELDS (tuple[str, str]): A gold line and a test line.
    RAISES (ValueError): If one side has more sentences.
    """
    n = 0
    for ours, theirs in zip_longest(map(to_line, gold), map(to_line, test)):
        if ours is not None and theirs is not None:
            n += 1
            yield ours, theirs
        elif (ours or theirs or "").strip():
            shorter, longer = ("gold", "test") if ours is None else ("test", "gold")
            raise ValueError(Errors.E203.format(shorter=shorter, longer=longer, n=n))
