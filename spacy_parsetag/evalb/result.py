"""EVALB (Sekine and Collins), reimplemented: every count equals that of the C program, sentence by sentence.

    gold   (TOP (S (NP She) (VP enjoys (S (VP reading (NP papers))))))
    test   (TOP (S (NP She) (VP enjoys (VP reading (NP papers)))))        5 of 6 gold brackets, 5 of 5 test brackets

Brackets match one to one: two equal brackets need two partners. Sentences whose words differ (errors) and those where
the test tree has no word that counts (skipped) stay out of the C program's totals, so that failures raise its figures.
Hence a second summary, `EvalbResult.strict`: there a failure misses all of its gold brackets.

Differences to the C program, which change no count: no bounds on words, brackets, labels and lines; scoring goes on
where the C program stops, which is past MAX_ERROR errors and at a test line that cannot be read; a gold line that
cannot be read, and differing numbers of sentences, raise an error.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from ..errors import Errors
from .counts import ERROR, MISSED, SKIP, VALID, Comparison, SentenceCounts, compare
from .lines import Brackets, paired_lines, place_of
from .params import EvalbParams, get_params

_RULE = "=" * 76
_HEAD = (
    "  Sent.                        Matched  Bracket   Cross        Correct Tag\n"
    " ID  Len.  Stat. Recal  Prec.  Bracket gold test Bracket Words  Tags Accracy\n" + _RULE
)


def percent(part: float, whole: float) -> float:
    """100 times part over whole, 0.0 over nothing; computed in C's order, for equal rounding."""
    return 100.0 * part / whole if whole else 0.0


def f_score(p: float, r: float) -> float:
    """The harmonic mean of precision and recall, 0.0 if both are."""
    return 2 * p * r / (p + r) if p + r else 0.0


@dataclass(frozen=True)
class Summary:
    """Totals over sentences, as in EVALB's summaries; rates are in percent.

    recall, precision, f (float): Of brackets.
    complete_match (float): Share of valid sentences with exactly the gold brackets.
    average_crossing (float): Crossing brackets a valid sentence.
    tag_accuracy (float): Share of words with the right part-of-speech tag.
    sentences, errors, skipped, valid (int): Numbers of sentences; the counts below are over the valid ones.
    matched, gold, test, crossing, words, correct_tags (int): Sums over the valid sentences.
    complete, no_crossing, two_or_less (int): Numbers of valid sentences with exactly the gold brackets, with no
        crossing bracket, and with at most two.
    """

    recall: float
    precision: float
    f: float
    complete_match: float
    average_crossing: float
    tag_accuracy: float
    valid: int
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
        parsed = [row for row in rows if row.status == VALID]
        counted = [row for row in rows if row.status in (VALID, MISSED)]
        names = ("matched", "gold", "test", "crossing", "words", "correct_tags")
        sums = {name: sum(getattr(row, name) for row in counted) for name in names}
        precision, recall = percent(sums["matched"], sums["test"]), percent(sums["matched"], sums["gold"])
        complete = sum(row.complete for row in parsed)
        return cls(
            recall=recall,
            precision=precision,
            f=f_score(precision, recall),
            complete_match=percent(complete, len(counted)),
            average_crossing=sums["crossing"] / len(counted) if counted else 0.0,
            tag_accuracy=percent(sums["correct_tags"], sums["words"]),
            valid=len(counted),
            sentences=len(rows),
            errors=sum(row.status == ERROR for row in rows),
            skipped=sum(row.status == SKIP for row in rows),
            complete=complete,
            no_crossing=sum(row.crossing == 0 for row in parsed),
            two_or_less=sum(row.crossing <= 2 for row in parsed),
            **sums,
        )


@dataclass(frozen=True)
class EvalbResult:
    """The result of EVALB: a row for each sentence, and summaries."""

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

    @property
    def errors(self) -> dict[int, str]:
        """The errors, by the number of the sentence, from 1."""
        return {number: row.error for number, row in enumerate(self.rows, start=1) if row.error}

    def to_dict(self) -> dict[str, Any]:
        """The summaries, ready for JSON.

        RETURNS (dict[str, Any]): Keys `params`, `failures`, `all`, `len<=40` (by the cut-off), `strict`, `errors`.
        """
        return {
            "params": self.params.name,
            "failures": self.failures,
            "all": asdict(self.all),
            f"len<={self.params.cutoff_len}": asdict(self.short),
            "strict": asdict(self.strict),
            "errors": self.errors,
        }


def evalb(
    gold: Iterable[Brackets], test: Iterable[Brackets], params: EvalbParams | str | Path = "collins"
) -> EvalbResult:
    """Score test trees against gold trees.

    gold (Iterable[str | Tree | nltk.Tree | Parse]): Gold trees with their root wrappers; a parse gets TOP. A wrapper
        that `params` do not delete (ROOT under Collins' parameters) counts as a bracket, as in C. A string is a line of
        a file (see `read_tree_lines`).
    test (Iterable[str | Tree | nltk.Tree | Parse | None]): The test trees in the same order; None, an empty string or a
        tree without words where there is no parse.
    params (EvalbParams | str | Path): Parameters, or "collins", "new", "spmrl", or a parameter file.
    RAISES (TypeError): If this is one tree where trees are due, or something in it is no tree.
    RAISES (ValueError): If the numbers of trees differ, or a gold tree cannot be read. (A test tree that cannot is an
        error sentence.)

    >>> gold = "(TOP (S (NP (PRP She)) (VP (VBZ sleeps))))"
    >>> evalb([gold], [gold]).f
    100.0
    """
    params = get_params(params)
    return EvalbResult(params, [comparison.counts for comparison in compare_all(gold, test, params)])


def compare_all(gold: Iterable[Brackets], test: Iterable[Brackets], params: EvalbParams) -> Iterator[Comparison]:
    """Score sentence by sentence: see `evalb` for the arguments and errors."""
    for number, (gold_line, test_line) in enumerate(paired_lines(gold, test), start=1):
        try:
            yield compare(gold_line, test_line, params)
        except ValueError as err:
            raise ValueError(Errors.E354.format(n=number, place=place_of(gold_line), reason=err)) from err


def format_table(result: EvalbResult) -> str:
    """Print a result as the C program does."""
    total = result.all
    brackets = ""
    if total.gold > 0 and total.test > 0:
        brackets = (
            f"                {total.recall:6.2f} {total.precision:6.2f} {total.matched:6d} {total.gold:5d} "
            f"{total.test:5d}  {total.crossing:5d}"
        )
    lines = [_HEAD]
    lines += [
        f"{number:4d}  {row.length:3d}    {row.status:d}  {percent(row.matched, row.gold):6.2f} "
        f"{percent(row.matched, row.test):6.2f}   {row.matched:3d}    {row.gold:3d}  "
        f"{row.test:3d}    {row.crossing:3d}   {row.words:4d}  {row.correct_tags:4d}   "
        f"{percent(row.correct_tags, row.words):6.2f}"
        for number, row in enumerate(result.rows, start=1)
    ]
    lines += [_RULE, f"{brackets}  {total.words:5d} {total.correct_tags:5d}   {total.tag_accuracy:6.2f}"]
    lines.append("=== Summary ===")
    for name, summary in (("All", total), (f"len<={result.params.cutoff_len}", result.short)):
        # Without a match C divides zero by zero; on x86-64 that prints with a minus sign.
        f = f"{summary.f:6.2f}" if summary.matched else "  -nan"
        lines += [
            "",
            f"-- {name} --",
            f"Number of sentence        = {summary.sentences:6d}",
            f"Number of Error sentence  = {summary.errors:6d}",
            f"Number of Skip  sentence  = {summary.skipped:6d}",
            f"Number of Valid sentence  = {summary.valid:6d}",
            f"Bracketing Recall         = {summary.recall:6.2f}",
            f"Bracketing Precision      = {summary.precision:6.2f}",
            f"Bracketing FMeasure       = {f}",
            f"Complete match            = {summary.complete_match:6.2f}",
            f"Average crossing          = {summary.average_crossing:6.2f}",
            f"No crossing               = {percent(summary.no_crossing, summary.valid):6.2f}",
            f"2 or less crossing        = {percent(summary.two_or_less, summary.valid):6.2f}",
            f"Tagging accuracy          = {summary.tag_accuracy:6.2f}",
        ]
    return "\n".join(lines) + "\n"


def format_summary(result: EvalbResult) -> str:
    """State both figures in three lines: EVALB's, and the one in which failures count as zero."""
    n = len(result.rows)
    text = f"EVALB ({result.params.name}), {n} sentences: {result.all.errors} errors, {result.all.skipped} skipped\n"
    for name, summary in (("all valid sentences", result.all), ("failures count as zero", result.strict)):
        text += (
            f"{name:<24} recall {summary.recall:6.2f}  precision {summary.precision:6.2f}  F {summary.f:6.2f}  "
            f"complete match {summary.complete_match:6.2f}\n"
        )
    return text
