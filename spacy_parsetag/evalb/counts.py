"""EVALB (Sekine and Collins), reimplemented: every count equals that of the C program, sentence by sentence.

    gold   (TOP (S (NP She) (VP enjoys (S (VP reading (NP papers))))))
    test   (TOP (S (NP She) (VP enjoys (VP reading (NP papers)))))        5 of 6 gold brackets, 5 of 5 test brackets

Brackets match one to one: two equal brackets need two partners. Sentences whose words differ (errors) and those where
the test tree has no word that counts (skipped) stay out of the C program's totals, so that failures raise its figures.
Hence a second summary, `EvalbResult.strict`: there a failure misses all of its gold brackets.

Differences to the C program, none of which changes a count: no bounds on words, brackets and labels; past MAX_ERROR
errors it goes on (`stop_at_max_error` stops as C does, without summaries); differing numbers of trees are an error.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import zip_longest
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from ..errors import Errors
from ..trees.parse import Parse
from .brackets import Rules, Sentence, fix_quotes, sentence_from_parse, sentence_from_tree
from .matching import brackets_that_count, count_crossing, match_brackets
from .params import COLLINS, EvalbParams, get_params

if TYPE_CHECKING:
    from nltk import Tree

VALID, ERROR, SKIP = 0, 1, 2


class SentenceCounts(NamedTuple):
    """One row of EVALB's table.

    length (int): Gold words, those in `delete_labels_for_length` left out.
    status (int): 0 valid, 1 error, 2 skipped; in the last two cases the counts up to `correct_tags` are 0, as in C.
    matched, gold, test (int): Matched, gold and test brackets.
    crossing (int): Test brackets that cross a gold bracket.
    words (int): Words that count.
    correct_tags (int): Of these, words with the right part-of-speech tag.
    all_gold (int): Gold brackets whatever the status.
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
    def recall(self) -> float:
        """In percent."""
        return percent(self.matched, self.gold)

    @property
    def precision(self) -> float:
        """In percent."""
        return percent(self.matched, self.test)

    @property
    def complete(self) -> bool:
        return self.status == VALID and self.matched == self.gold == self.test


def percent(part: int, whole: int) -> float:
    """100 times part over whole, 0.0 over nothing; computed in C's order, for equal rounding."""
    return 100.0 * part / whole if whole else 0.0


@dataclass
class Summary:
    """Totals over sentences. Rates are in percent, as EVALB prints them.

    sentences, errors, skipped (int): Numbers of sentences; the counts below are over the others.
    matched, gold, test, crossing, words, correct_tags (int): Sums over these.
    complete, no_crossing, two_or_less (int): Number of them with exactly the gold brackets; with no crossing bracket;
        with at most two.
    """

    sentences: int = 0
    errors: int = 0
    skipped: int = 0
    matched: int = 0
    gold: int = 0
    test: int = 0
    crossing: int = 0
    words: int = 0
    correct_tags: int = 0
    complete: int = 0
    no_crossing: int = 0
    two_or_less: int = 0

    def add(self, row: SentenceCounts) -> None:
        self.sentences += 1
        if row.status == ERROR:
            self.errors += 1
        elif row.status == SKIP:
            self.skipped += 1
        else:
            self.matched += row.matched
            self.gold += row.gold
            self.test += row.test
            self.crossing += row.crossing
            self.words += row.words
            self.correct_tags += row.correct_tags
            self.complete += row.complete
            self.no_crossing += row.crossing == 0
            self.two_or_less += row.crossing <= 2

    def add_failure(self, row: SentenceCounts) -> None:
        """Count a sentence without a usable parse as one in which every gold bracket and tag was missed."""
        self.sentences += 1
        self.gold += row.all_gold
        self.words += row.all_words

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
        p, r = self.precision, self.recall
        return 2 * p * r / (p + r) if p + r else 0.0

    @property
    def complete_match(self) -> float:
        return percent(self.complete, self.valid)

    @property
    def average_crossing(self) -> float:
        return self.crossing / self.valid if self.valid else 0.0

    @property
    def tag_accuracy(self) -> float:
        return percent(self.correct_tags, self.words)

    def to_dict(self) -> dict[str, Any]:
        """The rates and the counts, ready for JSON."""
        rates = ("recall", "precision", "f", "complete_match", "average_crossing", "tag_accuracy", "valid")
        return {**{name: getattr(self, name) for name in rates}, **vars(self)}


@dataclass
class EvalbResult:
    """What EVALB found.

    params (EvalbParams): The parameters.
    rows (List[SentenceCounts]): One row per sentence.
    all (Summary): Over all sentences, errors and skipped ones left out: EVALB's first summary, the published figure.
    short (Summary): The same over sentences of at most `params.cutoff_len` words: EVALB's second summary.
    strict (Summary): Over all sentences, failures counted as zero: no test bracket, every gold bracket missed. A
        skipped sentence without any gold word that counts is no failure; it adds nothing to any figure.
    stopped (bool): Whether errors beyond `params.max_error` stopped the run before its end.
    """

    params: EvalbParams
    rows: list[SentenceCounts] = field(default_factory=list)
    all: Summary = field(default_factory=Summary)
    short: Summary = field(default_factory=Summary)
    strict: Summary = field(default_factory=Summary)
    stopped: bool = False

    def add(self, row: SentenceCounts) -> None:
        self.rows.append(row)
        self.all.add(row)
        if row.length <= self.params.cutoff_len:
            self.short.add(row)
        if row.status == VALID or (row.status == SKIP and not row.all_words):
            self.strict.add(row)
        else:
            self.strict.add_failure(row)

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
        return sum(row.status == ERROR or (row.status == SKIP and row.all_words > 0) for row in self.rows)

    def to_dict(self, *, rows: bool = False) -> dict[str, Any]:
        """The summaries, ready for JSON.

        rows (bool): Whether to include every sentence.
        RETURNS (Dict[str, Any]): Keys `params`, `failures`, `all`, `len<=40` (by the cut-off), `strict`, `errors`.
        """
        result: dict[str, Any] = {
            "params": self.params.name,
            "failures": self.failures,
            "stopped": self.stopped,
            "all": self.all.to_dict(),
            f"len<={self.params.cutoff_len}": self.short.to_dict(),
            "strict": self.strict.to_dict(),
            "errors": {number: row.error for number, row in enumerate(self.rows, start=1) if row.error},
        }
        if rows:
            result["rows"] = [row._asdict() for row in self.rows]
        return result


def evalb(
    gold: Iterable[Tree],
    test: Iterable[Tree | None],
    params: EvalbParams | str | Path = COLLINS,
    *,
    stop_at_max_error: bool = False,
) -> EvalbResult:
    """Score test trees against gold trees.

    gold (Iterable[nltk.Tree]): Gold trees with their root wrappers, words in file form (-LRB-). A wrapper that
        `params` do not delete (ROOT under Collins' parameters) counts as a bracket, as in C.
    test (Iterable[Optional[nltk.Tree]]): The test trees in the same order; None or a tree without words where there is
        no parse.
    params (Union[EvalbParams, str, Path]): Parameters, or "collins", "new", "spmrl", or a parameter file.
    stop_at_max_error (bool): Stop where the C program would exit for too many errors.
    RETURNS (EvalbResult): Rows and summaries.
    RAISES (ValueError): If the numbers of trees differ, or a gold tree is not one over words. (A test tree that is not
        is an error sentence.)

    >>> from nltk import Tree
    >>> gold = Tree.fromstring("(TOP (S (NP (PRP She)) (VP (VBZ sleeps))))")
    >>> evalb([gold], [gold]).f
    100.0
    """
    params = get_params(params)
    rules = get_rules(params)
    result = EvalbResult(params)
    errors = 0
    end = object()
    for number, (gold_tree, test_tree) in enumerate(zip_longest(gold, test, fillvalue=end), start=1):
        if gold_tree is end or test_tree is end:
            names = ("gold", "test") if gold_tree is end else ("test", "gold")
            raise ValueError(Errors.E203.format(shorter=names[0], longer=names[1], n=number - 1))
        row = _count_trees(number, gold_tree, test_tree, rules)
        if row.error:
            errors += 1
            # C compares before it counts, so that two errors more than MAX_ERROR end the run, in the midst of a row.
            if stop_at_max_error and errors > params.max_error + 1:
                result.stopped = True
                break
        result.add(row)
    return result


def _count_trees(number: int, gold_tree: Any, test_tree: Any, rules: Rules) -> SentenceCounts:
    try:
        gold = sentence_from_tree(gold_tree, rules)
    except ValueError as err:
        raise ValueError(Errors.E204.format(n=number, reason=err)) from err
    if test_tree is None:
        return count_sentence(gold, Sentence([], [], [], 0, []), rules)
    try:
        test = sentence_from_tree(test_tree, rules)
    except ValueError as err:
        return failed(gold, rules, ERROR, str(err))
    return count_sentence(gold, test, rules)


def evalb_counts(gold: Parse, test: Parse, params: EvalbParams | str | Path = COLLINS) -> SentenceCounts:
    """EVALB's counts for one sentence, from parses. These have no root wrapper, so none is counted.

    gold (Parse): The gold parse.
    test (Parse): The test parse.
    params (Union[EvalbParams, str, Path]): Parameters, as for `evalb`.
    RETURNS (SentenceCounts): The counts.
    """
    rules = get_rules(get_params(params))
    return count_sentence(sentence_from_parse(gold, rules), sentence_from_parse(test, rules), rules)


@lru_cache(maxsize=32)
def get_rules(params: EvalbParams) -> Rules:
    """The rules of parameters, made once."""
    return Rules(params)


def count_sentence(gold: Sentence, test: Sentence, rules: Rules) -> SentenceCounts:
    """EVALB's counts for one sentence.

    gold (Sentence): The gold sentence.
    test (Sentence): The test sentence.
    rules (Rules): The rules.
    RETURNS (SentenceCounts): The counts.
    """
    if not test.words:
        return failed(gold, rules, SKIP)
    mended = gold
    if len(gold.words) != len(test.words):
        if test.quotes and gold.quotes:
            mended, test = fix_quotes(gold, test, rules)
        if len(mended.words) != len(test.words):
            return failed(gold, rules, ERROR, f"Length unmatch ({len(mended.words)}|{len(test.words)})")
    if mended.words != test.words:
        for ours, theirs in zip(mended.words, test.words, strict=True):
            if not rules.same_word(ours, theirs):
                return failed(gold, rules, ERROR, f"Words unmatch ({ours}|{theirs})")
    gold = mended
    gold_brackets = brackets_that_count(gold.brackets, rules)
    test_brackets = brackets_that_count(test.brackets, rules)
    n_words = len(gold.words)
    correct = sum(a == b or rules.same_tag(a, b) for a, b in zip(gold.tags, test.tags, strict=True))
    return SentenceCounts(
        length=gold.length,
        matched=len(match_brackets(gold_brackets, test_brackets, rules)),
        gold=len(gold_brackets),
        test=len(test_brackets),
        crossing=count_crossing(gold_brackets, test_brackets, n_words),
        words=n_words,
        correct_tags=correct,
        all_gold=len(gold_brackets),
        all_words=n_words,
    )


def failed(gold: Sentence, rules: Rules, status: int, error: str = "") -> SentenceCounts:
    """The row of an error or of a skipped sentence."""
    return SentenceCounts(
        length=gold.length,
        status=status,
        all_gold=len(brackets_that_count(gold.brackets, rules)),
        all_words=len(gold.words),
        error=error,
    )
