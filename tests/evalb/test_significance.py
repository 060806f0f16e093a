"""Differences between parsers: intervals that hold the truth, few false alarms, and what F is made of."""

import numpy as np
import pytest

from spacy_parsetag.evalb import EvalbParams, SentenceCounts, break_down, compare_parsers, evalb

GOLD = ["(TOP (S (NP (PRP She)) (VP (VBZ reads) (NP (NNS papers)))))", "(TOP (S (NP (NNP Kim)) (VP (VBZ sings))))"]
TEST = ["(TOP (S (NP (PRP She)) (VP (VBZ reads) (ADJP (NNS papers)))))", "(TOP (S (NP (NNP Kim)) (VP (VBZ sings))))"]


def draw(n: int, gain: float, rng: np.random.Generator) -> list[list[SentenceCounts]]:
    """Counts of two parsers on sentences that are easy or hard for both."""
    gold = rng.poisson(15, n) + 1
    ease = rng.beta(8, 1.5, n)
    found = []
    for more in (0.0, gain):
        matched = rng.binomial(gold, np.clip(ease + more, 0, 1))
        test = np.maximum(matched, gold + rng.integers(-1, 2, n))
        rows = zip(matched.tolist(), gold.tolist(), test.tolist(), strict=True)
        found.append([SentenceCounts(10, matched=m, gold=g, test=t) for m, g, t in rows])
    return found


@pytest.mark.parametrize(
    "n_pairs, samples, low, high",
    [(120, 100, 0.02, 0.11), pytest.param(4000, 1000, 0.04, 0.06, marks=pytest.mark.release)],
)
def test_false_alarms_and_coverage(n_pairs: int, samples: int, low: float, high: float) -> None:
    rng = np.random.default_rng(1)
    pairs = [compare_parsers(*draw(300, 0, rng), samples=samples, seed=i) for i in range(n_pairs)]
    assert low <= np.mean([pair.p_bootstrap <= 0.05 for pair in pairs]) <= high
    assert low <= np.mean([pair.p_randomization <= 0.05 for pair in pairs]) <= high
    assert 1 - high <= np.mean([pair.low <= 0 <= pair.high for pair in pairs]) <= 1 - low


def test_clear_difference() -> None:
    first, second = draw(400, 0.05, np.random.default_rng(2))
    found = compare_parsers(first, second, samples=500)
    assert found.difference == pytest.approx(found.second - found.first)
    assert 0 < found.low < found.difference < found.high and found.p_bootstrap == found.p_randomization == 1 / 501
    back = compare_parsers(second, first, samples=500)
    assert back.difference == pytest.approx(-found.difference) and found == compare_parsers(first, second, samples=500)


@pytest.mark.parametrize("level, low, high", [(0.95, 45, 55), (0.5, 48.25, 51.75)])
def test_interval_of_a_known_distribution(level: float, low: float, high: float) -> None:
    """Every other sentence gains its one bracket, so the difference of a sample is a binomial share of 400 tries."""
    parsers = [[SentenceCounts(1, matched=n * (i % 2), gold=1, test=1) for i in range(400)] for n in (0, 1)]
    found = compare_parsers(*parsers, level=level)
    assert found.samples == 10_000 and (found.low, found.high) == pytest.approx((low, high), abs=0.3)


def test_documents_are_units() -> None:
    first, second = draw(200, 0, np.random.default_rng(3))
    documents = [f"doc{i // 20}" for i in range(200)]
    found = compare_parsers(first, second, documents=documents, samples=300)
    assert found.units == 10 and found.first == compare_parsers(first, second, samples=1).first
    with pytest.raises(ValueError, match="same sentences"):
        compare_parsers(first, second[:-1])
    with pytest.raises(ValueError, match="same sentences"):
        compare_parsers([], [])
    for single in (
        compare_parsers(first, second, documents=["one"] * 200, samples=9),
        compare_parsers(first[:1], second[:1], samples=9),
    ):
        assert (single.low, single.high, single.p_bootstrap, single.p_randomization) == (-100, 100, 1, 1)
    for n_units in (2, 3):  # all of which differ alike
        alike = compare_parsers(
            [SentenceCounts(3, matched=1, gold=2, test=2)] * n_units,
            [SentenceCounts(3, matched=2, gold=2, test=2)] * n_units,
            samples=999,
        )
        assert alike.p_bootstrap == 2.0 ** (1 - n_units) and alike.p_randomization == pytest.approx(
            alike.p_bootstrap, abs=0.1
        )
    few_differ = [SentenceCounts(3, matched=2, gold=2, test=2)] * 40
    for n_changed in (3, 4, 5):
        found = compare_parsers(
            [SentenceCounts(3, matched=1, gold=2, test=2)] * n_changed + few_differ[n_changed:], few_differ, samples=999
        )
        assert found.p_bootstrap >= 2.0 ** (1 - n_changed)
    for wrong in ({"samples": 0}, {"level": 95}, {"level": 1}):
        with pytest.raises(ValueError, match="E357"):
            compare_parsers(first, second, **wrong)


def test_f_is_that_of_evalb() -> None:
    test = [TEST[0], ""]
    result = evalb(GOLD, test)
    found = compare_parsers(result.rows, evalb(GOLD, TEST).rows, samples=10)
    assert found.first == pytest.approx(result.strict.f) and found.second == pytest.approx(evalb(GOLD, TEST).f)


def test_what_f_is_made_of() -> None:
    found = break_down(GOLD, TEST)
    assert found.result.rows == evalb(GOLD, TEST).rows and found.unlabeled.f == 100
    labels = found.tables["label"]
    assert {label: tuple(score) for label, score in labels.items()} == {
        "ADJP": (0, 0, 1), "NP": (2, 3, 2), "S": (2, 2, 2), "VP": (2, 2, 2),
    }  # fmt: skip
    assert labels["NP"].recall == pytest.approx(200 / 3) and labels["NP"].precision == 100
    assert list(found.tables["span"]) == ["1", "2", "3"] and found.tables["span"]["3"].f == 100
    assert {key: tuple(score) for key, score in found.tables["length"].items()} == {"1-10": (6, 7, 7)}
    failed = break_down(GOLD, [TEST[0], ""])
    assert failed.tables["label"]["S"].gold == 2 and failed.tables["label"]["S"].matched == 1


@pytest.mark.parametrize(
    "pairs, row",
    [
        (("NP NX", "NML NX"), "NP"),
        (("NML NX", "NP NX"), "NML"),
        (("NX NP", "NML NX"), "NX"),
        (("NP X", "NML NX", "NX X"), "NP"),
    ],
)
def test_labels_held_equal_share_a_row(pairs: tuple[str, ...], row: str) -> None:
    """Also by way of others, and whatever the order of lines: a row has P and R of all of them."""
    params = EvalbParams(eq_labels=tuple((a, b) for a, b in map(str.split, pairs)))
    gold, test = "(S (NML (A a) (B b)) (VP (C c) (D d)))", "(S (NX (A a) (B b)) (NX (C c) (D d)))"
    labels = break_down([gold], [test], params).tables["label"]
    assert {label: tuple(score) for label, score in labels.items()} == {
        row: (1, 1, 2), "S": (1, 1, 1), "VP": (0, 1, 0),
    }  # fmt: skip


def test_a_length_is_that_of_the_table() -> None:
    """EVALB's Len. and its cut-off count the punctuation that its brackets do not have, and so do the kinds."""
    tree = f"(TOP (S {'(NN a) ' * 40}(. .)))"
    found = break_down([tree, ""], [tree, ""])
    assert found.result.rows[0].length == 41 and found.result.short.gold == 0
    assert list(found.tables["length"]) == ["41-50"]
    failed = break_down([tree], [""])
    assert list(failed.tables["length"]) == ["41-50"]


def test_kinds_by_length() -> None:
    """Each length is of one kind, and kinds come in order."""
    lengths = (1, 2, 3, 4, 5, 6, 7, 10, 11, 20, 21, 30, 31, 40, 41, 50, 51, 60, 61, 80, 81)
    trees = [f"(TOP (S {'(NN a) ' * n}))" for n in lengths]
    tables = break_down(trees, trees).tables
    assert [(kind, score.gold) for kind, score in tables["span"].items()] == [
        ("1", 1), ("2", 1), ("3", 1), ("4", 1), ("5-6", 2), ("7-10", 2), ("11-20", 2), ("21-40", 4), (">40", 7),
    ]  # fmt: skip
    assert [(kind, score.gold) for kind, score in tables["length"].items()] == [
        ("1-10", 8), ("11-20", 2), ("21-30", 2), ("31-40", 2), ("41-50", 2), ("51-60", 2), ("61-80", 2), (">80", 1),
    ]  # fmt: skip
