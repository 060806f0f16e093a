"""The log-partition against enumeration and finite differences, and where numbers get extreme."""

from dataclasses import replace

import numpy as np
import pytest
from batches import ALL_ORDERS, TAGS, check_sums, random_batch, with_spans
from oracle import enumerate_classes, log_z_by_enumeration
from sums import sums_of

from spacy_parsetag.decode import Constraint, Distribution, ExactDecoder, TagScores, Transitions
from spacy_parsetag.decode._passes import limit_registers
from spacy_parsetag.decode.passes import sum_trees
from spacy_parsetag.linearize import ORDERS
from spacy_parsetag.linearize.tagset import TagSet
from spacy_parsetag.ml.losses import partial_likelihood


def one(scores, order, max_stack=None, tags=TAGS):
    n = (len(scores) + 1) // 2
    log_z, marginals, *_ = sums_of(TagScores(scores, [0], [n], tags, ORDERS[order], max_stack=max_stack))
    return float(log_z[0]), marginals


@ALL_ORDERS
@pytest.mark.parametrize("max_stack", [None, 2, 3])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_equals_enumeration(order, max_stack, dtype):
    rng = np.random.default_rng(0)
    for n in range(1, 7):
        scores = rng.normal(scale=3, size=(2 * n - 1, len(TAGS))).astype(dtype)
        expected = log_z_by_enumeration(scores, TAGS.tags, order, max_stack=max_stack)
        if expected is None:
            with pytest.raises(ValueError, match="E152"):
                one(scores, order, max_stack)
            continue
        log_z, marginals = one(scores, order, max_stack)
        assert log_z == pytest.approx(expected, rel=1e-6 if dtype == np.float32 else 1e-12)
        assert marginals.dtype == dtype and marginals.shape == scores.shape
        np.testing.assert_allclose(marginals.sum(axis=1), 1, rtol=1e-5 if dtype == np.float32 else 1e-12)


@ALL_ORDERS
@pytest.mark.parametrize("max_stack", [None, 3])
def test_gradient_by_finite_differences(order, max_stack):
    rng = np.random.default_rng(1)
    for n in (1, 2, 4, 6):
        scores = rng.normal(scale=2, size=(2 * n - 1, len(TAGS)))
        check_sums(TagScores(scores, [0], [n], TAGS, ORDERS[order], max_stack=max_stack))


@ALL_ORDERS
def test_batch_equals_single_sentences(order):
    rng = np.random.default_rng(2)
    words = np.asarray([3, 0, 1, 12, 5])
    rows = np.asarray([40, 0, 2, 4, 30])
    scores = rng.normal(size=(48, len(TAGS))).astype(np.float32)
    log_z, marginals, *_ = sums_of(TagScores(scores, rows, words, TAGS, ORDERS[order]))
    owned = np.zeros(len(scores), dtype=bool)
    for row, n, z in zip(rows, words, log_z, strict=True):
        if n:
            sentence = slice(row, row + 2 * n - 1)
            owned[sentence] = True
            single_z, single = one(scores[sentence], order)
            assert z == single_z
            np.testing.assert_array_equal(marginals[sentence], single)
    assert log_z[1] == 0
    assert not marginals[~owned].any()


@ALL_ORDERS
@pytest.mark.parametrize("max_stack", [None, 8])
def test_long_sentence_stays_finite(order, max_stack):
    rng = np.random.default_rng(3)
    scores = rng.normal(scale=5, size=(2 * 2000 - 1, len(TAGS))).astype(np.float32)
    log_z, marginals = one(scores, order, max_stack)
    _, best, _ = ExactDecoder()(Distribution(TagScores(scores, [0], [2000], TAGS, ORDERS[order], max_stack=max_stack)))
    assert best[0] < log_z < best[0] + len(scores) * np.log(len(TAGS))
    assert np.isfinite(marginals).all() and (marginals >= 0).all()
    np.testing.assert_allclose(marginals.sum(axis=1), 1, rtol=1e-4)


@ALL_ORDERS
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_very_low_scores(order, dtype):
    rng = np.random.default_rng(4)
    scores = rng.normal(size=(11, len(TAGS))).astype(dtype)
    plain_z, plain = one(scores, order)
    # Tags shut out by a very low score: the same as if they were not there.
    shut = TAGS.encode(["l/NP", "R/VP"])
    masked = scores.copy()
    masked[:, shut] = -1e30
    kept = [i for i in range(len(TAGS)) if i not in shut]
    less_z, less = one(scores[:, kept], order, tags=TagSet([TAGS[i] for i in kept]))
    log_z, marginals = one(masked, order)
    assert log_z == pytest.approx(less_z, rel=1e-6)
    assert not marginals[:, shut].any()
    np.testing.assert_allclose(marginals[:, kept], less, atol=1e-6)
    # A class that every tree needs: low everywhere, nothing else changes.
    forced = scores.copy()
    forced[:, TAGS.classes == 0] = -1e30
    log_z, marginals = one(forced, order)
    assert log_z < -1e30 / 2 and np.isfinite(marginals).all()
    np.testing.assert_allclose(marginals.sum(axis=1), 1, rtol=1e-5)
    # All the same and low.
    log_z, marginals = one(np.full_like(scores, -1e30), order)
    assert np.isfinite(log_z) and np.isfinite(marginals).all()
    assert np.isfinite(plain_z) and np.isfinite(plain).all()


@ALL_ORDERS
@pytest.mark.parametrize("below", [10, 20, 30, 35])
def test_a_tree_of_little_probability(order, below):
    """It counts for as long as double shows what it adds."""
    first, second = enumerate_classes(3, order)
    p = next(p for p in range(5) if first[p] != second[p])
    scores = np.zeros((5, 4))
    scores[p, second[p]] = -below
    log_z, marginals = one(scores, order, tags=TagSet([]))
    assert log_z == pytest.approx(np.log1p(np.exp(-below)), rel=1e-6)
    assert marginals[p, second[p]] == pytest.approx(1 / (1 + np.exp(below)), rel=1e-6)


@ALL_ORDERS
def test_sharp_scores_put_all_mass_on_the_best_tree(order):
    rng = np.random.default_rng(5)
    scores = rng.normal(scale=1000, size=(59, len(TAGS)))
    log_z, marginals = one(scores, order)
    ids, best, _ = ExactDecoder()(Distribution(TagScores(scores, [0], [30], TAGS, ORDERS[order])))
    assert log_z == pytest.approx(best[0], rel=1e-9)
    np.testing.assert_allclose(marginals[np.arange(59), ids], 1, atol=1e-3)


def test_shift_of_a_row_changes_nothing_but_log_z():
    rng = np.random.default_rng(6)
    scores = rng.normal(size=(9, len(TAGS)))
    log_z, marginals = one(scores, "pre")
    shifted_z, shifted = one(scores + np.arange(9)[:, None] * 100, "pre")
    assert shifted_z == pytest.approx(log_z + 3600)
    np.testing.assert_allclose(shifted, marginals, atol=1e-10)


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
def test_refuses_scores_that_are_not_finite(value):
    scores = np.zeros((9, len(TAGS)), dtype=np.float32)
    scores[6, TAGS.id("r/NP")] = value
    with pytest.raises(ValueError, match=r"E151.*'r/NP' at word 4"):
        one(scores, "in")


def test_refuses_what_does_not_fit():
    scores = np.zeros((9, len(TAGS)), dtype=np.float32)
    with pytest.raises(ValueError, match="E155"):
        TagScores(scores, [0], [6], TAGS, ORDERS["in"])
    with pytest.raises(ValueError, match="E155"):
        TagScores(scores, [-1], [2], TAGS, ORDERS["in"])
    with pytest.raises(ValueError, match="E154"):
        TagScores(scores, [0, 1], [2], TAGS, ORDERS["in"])
    with pytest.raises(ValueError, match="E154"):
        TagScores(scores, [0, 3], [2, 1], TAGS, ORDERS["in"], numbers=[5])
    with pytest.raises(ValueError, match="E150"):
        TagScores(scores[:, 1:], [0], [2], TAGS, ORDERS["in"])
    with pytest.raises(ValueError, match="E161"):
        TagScores(scores, [0], [2], TAGS, ORDERS["in"], max_stack=-2)
    with pytest.raises(ValueError, match="E152"):
        sums_of(TagScores(np.zeros((3, 2)), [0], [2], TagSet(["l", "r"], complete=False), ORDERS["in"]))


def test_takes_any_array():
    rng = np.random.default_rng(7)
    scores = rng.normal(size=(5, len(TAGS))).astype(np.float32)
    expected = sums_of(TagScores(scores, [0], [3], TAGS, ORDERS["post"]))

    class OnDevice:
        shape, ndim = scores.shape, 2

        def get(self):
            return scores

        def __len__(self):
            return len(scores)

    for same in (OnDevice(), np.asfortranarray(scores), scores[:, ::-1][:, ::-1]):
        log_z, marginals, *_ = sums_of(TagScores(same, [0], [3], TAGS, ORDERS["post"]))
        assert log_z == expected[0]
        np.testing.assert_array_equal(marginals, expected[1])
    log_z, marginals, *_ = sums_of(TagScores(np.zeros((0, len(TAGS))), [], [], TAGS, ORDERS["in"]))
    assert log_z.shape == (0,) and marginals.shape == (0, len(TAGS))


@pytest.mark.parametrize("sizes", [(30, 40, 27, 53), (1, 1, 7, 8), (16, 17, 15, 32)])
def test_registers_of_any_width(sizes):
    """The loops over labels give the same marginals for every width, also far below the greatest score."""
    tags = TagSet([f"{name}/X{i}" for name, n in zip("lrLR", sizes, strict=True) for i in range(n)])
    rng = np.random.default_rng(8)
    scores = (rng.normal(size=(41, len(tags))) * 10 ** rng.uniform(-3, 30, (41, len(tags)))).astype(np.float32)
    expected = one(scores.astype(np.float64), "in", tags=tags)
    widest = limit_registers(0)
    try:
        for n_bytes in (64, 32, 16):
            limit_registers(n_bytes)
            log_z, marginals = one(scores, "in", tags=tags)
            assert log_z == pytest.approx(expected[0], rel=1e-6)
            np.testing.assert_allclose(marginals, expected[1], rtol=1e-5, atol=1e-6)
    finally:
        limit_registers(-widest)


@ALL_ORDERS
def test_labels_far_below_the_best_of_their_class(order):
    """In float32 exp(x) is 0 below -87, not what is left of the bits."""
    tags = TagSet([f"{name}/X{i}" for name in "lrLR" for i in range(9)])
    scores = np.random.default_rng(7).choice([0, -80, -90, -120, -190, -300], size=(9, len(tags))).astype(np.float32)
    scores[:, tags.offsets[:4]] = 0
    log_z, marginals = one(scores, order, tags=tags)
    expected_z, expected = one(scores.astype(np.float64), order, tags=tags)
    assert log_z == pytest.approx(expected_z, rel=1e-6)
    np.testing.assert_allclose(marginals, expected, atol=1e-6)


def test_gradient_of_the_partial_likelihood():
    """Only trees that agree with the constraints: finite differences of their sum."""
    constraints = (((1, 4, None, "must"), (0, 2, "NP", "must not")), ((0, 2, None, "uncrossed"),), ())
    cases = [("in", None, True), ("in", 2, True), ("in", None, False), ("pre", 3, False), ("post", None, False)]
    for order, bound, spans in cases:
        batch = random_batch([5, 3, 2], order, constraints=constraints, max_stack=bound)
        if spans:
            batch = with_spans(batch)
        check_sums(batch, every=3)


@ALL_ORDERS
def test_the_partial_likelihood_has_no_bound(order):
    """What a partial tree leaves open may need any stack: a bound on the batch changes neither loss nor gradient."""
    constraints = ((Constraint(1, 4, "VP", "must"),), (Constraint(0, 2, "S", "must"),), ())
    free = random_batch([6, 5, 2], order)
    expected, gradient = partial_likelihood(free, constraints)
    bounded = replace(free, max_stack=2 if order == "in" else 3)
    assert abs(sums_of(bounded).log_z - sums_of(free).log_z).max() > 1e-3
    loss, found = partial_likelihood(bounded, constraints)
    assert loss == pytest.approx(expected) and expected > 0.1
    np.testing.assert_allclose(found.scores, gradient.scores, atol=1e-12)


@ALL_ORDERS
def test_gradient_with_transitions(order):
    rng, size = np.random.default_rng(5), len(TAGS)
    transitions = Transitions(rng.normal(size=(size, size)), rng.normal(size=size), rng.normal(size=size))
    batch = random_batch([3, 2, 2], order, transitions=transitions, max_stack=3)
    assert len(batch.arrays) == 4
    check_sums(batch, every=5)


@ALL_ORDERS
@pytest.mark.parametrize("bound", [None, 3])
def test_lattice_and_chart_agree(order, bound):
    """The sums that know labels come from the chart; of what both know the lattice says the same."""
    batch = random_batch([3, 0, 6, 1], order, max_stack=bound)
    lattice, chart = sums_of(batch), sum_trees(batch, labels=True)
    assert lattice.nodes is None and chart.nodes is not None and not chart.status.any()
    np.testing.assert_allclose(chart.log_z, lattice.log_z, rtol=1e-12)
    np.testing.assert_allclose(chart.marginals, lattice.marginals, atol=1e-12)
    if order == "in":  # the only one in which words have rows of their own
        rows = [0, 2, 4, 5, 7, 9, 11, 13, 15, 16]
        np.testing.assert_allclose(chart.leaves, lattice.marginals[rows], atol=1e-12)
    np.testing.assert_allclose(chart.leaves.sum(axis=1), 1)
    assert chart.nodes.sum() == pytest.approx(2 + 5)
    log_z = Distribution(batch).log_partition
    _ = Distribution(batch).constituents
    np.testing.assert_allclose(Distribution(batch).log_partition, log_z, rtol=1e-12)


def test_labels_where_some_spans_are_scored():
    """Probabilities of all spans, put into the rows of the scores that there are."""
    batch = with_spans(random_batch([4, 6, 3]))
    starts = np.asarray([-1, 9, 1])
    batch = replace(batch, spans=replace(batch.spans, starts=starts))
    plain, labelled = sums_of(batch), sum_trees(batch, labels=True)
    np.testing.assert_allclose(labelled.spans, plain.spans, atol=1e-12)
    assert not plain.spans[[0, *range(4, 9)]].any()
    np.testing.assert_allclose(labelled.log_z, plain.log_z, rtol=1e-12)
