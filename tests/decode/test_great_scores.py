"""Scores of any size: probabilities stay probabilities, and what all trees share changes none of them."""

import itertools
import math
from dataclasses import replace
from fractions import Fraction
from functools import partial

import numpy as np
import pytest
from batches import ALL_ORDERS, TAGS, random_batch, with_spans
from oracle import enumerate_classes, log_z_by_enumeration

from spacy_parsetag.decode import (
    Constraint,
    Distribution,
    MBRDecoder,
    SpanScores,
    TagScores,
    Transitions,
    TreeDistribution,
    WeightedTrees,
)
from spacy_parsetag.linearize import ORDERS, TagSet
from spacy_parsetag.ml.losses import TreeLoss, partial_likelihood

SIZES = [
    (np.float64, 1e9),
    (np.float64, 1e12),
    (np.float64, 1e15),
    (np.float64, 1e100),
    (np.float32, 1e8),
    (np.float32, 1e20),
]


@ALL_ORDERS
@pytest.mark.parametrize("dtype, size", SIZES)
@pytest.mark.parametrize("kind", ["spread", "offset", "below"])
def test_probabilities(order, dtype, size, kind):
    rng = np.random.default_rng(3)
    noise = rng.normal(size=(13, len(TAGS)))
    scores = {"spread": noise * size, "offset": noise + size, "below": noise - size}[kind].astype(dtype)
    distribution = TreeDistribution(scores, TAGS.tags, order)
    assert np.allclose(distribution.tag_marginals.sum(axis=1), 1, atol=1e-5)
    assert min(distribution.constituents.values()) >= 0 and max(distribution.constituents.values()) <= 1 + 1e-5
    assert distribution.sample(3, 0).shape == (3, 13)
    trees = (distribution.mbr(), distribution.argmax[0])
    if size > 1e11:
        for ask in (lambda: distribution.entropy, *(partial(distribution.log_prob, tree) for tree in trees)):
            with pytest.raises(ValueError, match=r"\[E179\].*Scale the scores down"):
                ask()
        return
    # Scores that are as far apart leave one tree; elsewhere what all trees share changes nothing.
    less = scores.astype(np.float64) - {"spread": 0, "offset": size, "below": -size}[kind]
    totals = [less[np.arange(13), tree].sum() for tree in trees]
    plain = TreeDistribution(less, TAGS.tags, order)
    entropy, log_z = (0, totals[1]) if kind == "spread" else (plain.entropy, plain.log_partition)
    assert distribution.entropy == pytest.approx(entropy, abs=0.01)
    for tree, total in zip(trees, totals, strict=True):
        assert distribution.log_prob(tree) == pytest.approx(total - log_z, abs=0.01)


@ALL_ORDERS
def test_successive_tags_that_score(order):
    """Sums are right or refused, however great the scores are; the best tree is found whatever they are."""
    for size in (1e4, 1e9, 1e20):
        rng = np.random.default_rng(5)
        scores, pairs = (rng.normal(size=(n, len(TAGS))) * size for n in (13, len(TAGS)))
        distribution = TreeDistribution(scores, TAGS.tags, order, pairs)
        assert np.isfinite(distribution.argmax[1])
        if size < 1e11:
            np.testing.assert_allclose(distribution.tag_marginals.sum(axis=1), 1, atol=1e-3)
            assert -1 < distribution.log_prob(distribution.argmax[0]) <= 0
        else:
            for ask in (lambda d: d.tag_marginals, lambda d: d.log_partition):
                with pytest.raises(ValueError, match=r"\[E179\]"):
                    ask(distribution)
        if size < 1e6:
            assert 0 <= distribution.entropy < 1
        else:
            with pytest.raises(ValueError, match=r"\[E179\]"):
                _ = distribution.entropy


@ALL_ORDERS
@pytest.mark.parametrize("dtype, size", [(np.float64, 2.0**40), (np.float64, 2.0**50), (np.float32, 2.0**27)])
@pytest.mark.parametrize("sign", [1, -1])
def test_what_all_trees_share(order, dtype, size, sign):
    """Multiples of the gap between floats of that size are added without an error."""
    scores = (np.random.default_rng(4).integers(-3, 4, size=(13, len(TAGS))) * np.spacing(dtype(size))).astype(dtype)
    plain, shifted = (TreeDistribution(array, TAGS.tags, order) for array in (scores, scores + dtype(sign * size)))
    np.testing.assert_allclose(shifted.tag_marginals, plain.tag_marginals, atol=1e-6)
    np.testing.assert_allclose([*shifted.constituents.values()], [*plain.constituents.values()], atol=1e-6)
    np.testing.assert_array_equal(shifted.sample(5, 0), plain.sample(5, 0))


@ALL_ORDERS
@pytest.mark.parametrize("dtype, size", [(np.float64, 1e299), (np.float32, 3e38)])
@pytest.mark.parametrize("max_stack", [None, 2, 3])
@pytest.mark.parametrize("constraints", [[], [(0, 1, None, "uncrossed")]])
def test_great_scores_where_no_tree_has_the_class(order, dtype, size, max_stack, constraints):
    """Of tags alone, and by the chart, which a constraint that always holds asks for."""
    for n in range(1, 6):
        trees = enumerate_classes(n, order, max_stack)
        if not trees:
            continue
        scores = np.random.default_rng(6).normal(size=(2 * n - 1, len(TAGS))).astype(dtype)
        others = {"constraints": constraints, "max_stack": max_stack}
        plain = TreeDistribution(scores, TAGS.tags, order, **others)
        expected = log_z_by_enumeration(scores, TAGS.tags, order, max_stack=max_stack)
        for p in range(2 * n - 1):
            for c in {0, 1, 2, 3} - {classes[p] for classes in trees}:
                great = scores.copy()
                great[p, np.flatnonzero(TAGS.classes == c)[0]] = size
                found = TreeDistribution(great, TAGS.tags, order, **others)
                assert found.log_partition == pytest.approx(expected, rel=1e-5)
                np.testing.assert_allclose(found.tag_marginals, plain.tag_marginals, atol=1e-6)
                np.testing.assert_allclose(found.entropy, plain.entropy, rtol=1e-4)


def test_great_scores_of_a_split_that_no_tree_has():
    """Beside scores of spans: what begins with the first word is no right child, or the whole sentence."""
    batch = with_spans(random_batch([4, 2]))
    plain = Distribution(batch).sums()
    great = batch.scores.copy()
    great[batch.starts + 1, TAGS.id("R")] = 1e15
    found = Distribution(batch.with_arrays((great, batch.spans.scores))).sums()
    np.testing.assert_allclose(found.log_z, plain.log_z, rtol=1e-9)
    np.testing.assert_allclose(found.marginals, plain.marginals, atol=1e-9)
    np.testing.assert_allclose(found.spans, plain.spans, atol=1e-9)


@ALL_ORDERS
@pytest.mark.parametrize("constraint, tag", [((0, 1, "NP", "must not"), "l/NP"), ((1, 4, "VP", "must"), "r/NP")])
def test_great_scores_that_constraints_exclude(order, constraint, tag):
    """They are right or refused."""
    refused = 0
    for n in (4, 5):
        scores = np.random.default_rng(7).normal(size=(2 * n - 1, len(TAGS)))
        plain = TreeDistribution(scores, TAGS.tags, order, constraints=[constraint])
        for p in np.flatnonzero(plain.tag_marginals[:, TAGS.tags.index(tag)] == 0):
            great = scores.copy()
            great[p, TAGS.tags.index(tag)] = 3e38
            found = TreeDistribution(great, TAGS.tags, order, constraints=[constraint])
            try:
                assert found.log_partition == pytest.approx(plain.log_partition, rel=1e-6)
                np.testing.assert_allclose(found.tag_marginals, plain.tag_marginals, atol=1e-6)
            except ValueError as err:
                refused += 1
                assert str(err).startswith(
                    "[E180] Scores of sentence 0 are so great that rounding hides what its trees"
                )
    assert refused


def _exact(scores, tags, order, transitions, max_stack):
    """Tag ids and score of every tree, without rounding."""
    rows = [[Fraction(float(x)) for x in row] for row in scores]
    pairs = transitions if transitions is None else [[Fraction(float(x)) for x in row] for row in transitions]
    columns = [[i for i, tag in enumerate(tags) if tag[0] == name] for name in "lrLR"]
    found = {}
    for classes in enumerate_classes((len(rows) + 1) // 2, order, max_stack):
        for ids in itertools.product(*(columns[c] for c in classes)):
            found[ids] = sum((row[i] for row, i in zip(rows, ids, strict=True)), Fraction(0))
            if pairs:
                found[ids] += sum(pairs[a][b] for a, b in itertools.pairwise(ids))
    return found


def _great(rng, dtype, shape):
    """Some great numbers of one size or of several, of both signs, between small ones."""
    sizes = (1e4, 1e8, 1e12, 1e20, 3e38) if dtype == np.float32 else (1e8, 1e12, 1e13, 1e15, 1e20, 1e100, 9e299)
    array = rng.normal(size=shape)
    great = rng.random(shape) < rng.choice([0.05, 0.1, 0.3, 0.6, 1])
    size = np.full(shape, rng.choice(sizes)) if rng.random() < 0.7 else rng.choice(sizes, shape)
    array[great] += (size * rng.choice([-1, 1], shape) * np.where(rng.random(shape) < 0.7, 1, rng.random(shape)))[great]
    return array.astype(dtype)


@ALL_ORDERS
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("kind", ["tags", "transitions", "chart"])
def test_great_scores_that_cancel(order, dtype, kind):
    """Of both signs: what is said of all trees is as their exact scores say, or is refused."""
    tags, rng = ["l", "r", "L", "R", "l/A", "R/A"], np.random.default_rng(8)
    right, refused = 0, 0
    for _ in range(150):
        n, max_stack = rng.choice([1, 2, 2, 3, 3]), rng.choice([None, None, 2])
        scores = _great(rng, dtype, (2 * n - 1, len(tags)))
        pairs = _great(rng, dtype, (len(tags), len(tags))) if kind == "transitions" else None
        constraints = [(0, 1, None, "uncrossed")] if kind == "chart" else []
        trees = _exact(scores, tags, order, pairs, max_stack)
        top = max(trees.values())
        weights = {ids: math.exp(max(score - top, -1000)) for ids, score in trees.items()}
        total = math.fsum(weights.values())
        marginals, log_z = np.zeros(scores.shape), top + Fraction(math.log(total))
        for ids, weight in weights.items():
            marginals[np.arange(len(ids)), ids] += weight / total
        entropy = math.log(total) - sum(w / total * math.log(w) for w in weights.values() if w > 0)
        ids = list(trees)[rng.integers(len(trees))]
        found = TreeDistribution(scores, tags, order, pairs, max_stack=max_stack, constraints=constraints)
        questions = (
            lambda f=found, z=log_z: abs(Fraction(f.log_partition) - z) <= max(Fraction(1, 50), abs(z) / 10**6),
            lambda f=found, m=marginals: np.abs(f.tag_marginals - m).max() <= 0.02,
            lambda f=found, h=entropy: abs(f.entropy - h) <= 0.02,
            lambda f=found, t=ids, p=trees[ids] - log_z: abs(Fraction(f.log_prob(t)) - p) <= max(0.02, abs(p) / 10**5),
            lambda f=found, w=weights: (
                kind == "transitions" or all(w[tuple(t.tolist())] > 1e-9 for t in f.sample(2, 1))
            ),
        )
        for ask in questions:
            try:
                assert ask()
                right += 1
            except ValueError as err:
                assert str(err).startswith(("[E179]", "[E180]"))
                refused += 1
    assert right > 2 * refused or kind == "transitions"
    assert right > 200


@ALL_ORDERS
def test_great_sums_of_greater_scores(order):
    """Scores cancel in a sum that is great still: what trees differ in is right or refused."""
    rng, right, refused = np.random.default_rng(11), 0, 0
    for _ in range(600):
        scores = rng.normal(size=(7, 4)) * 3e12
        scores += np.where(rng.random(scores.shape) < 0.5, 1e21, 0) * rng.choice([-1, 1], scores.shape)
        found = TreeDistribution(scores, ["l", "r", "L", "R"], order)
        # Of the five trees over four words the best has a fifth of the probability, or more.
        for ask in (lambda f=found: -f.log_prob(f.argmax[0]), lambda f=found: f.entropy):
            try:
                assert ask() <= math.log(5) + 0.02
                right += 1
            except ValueError as err:
                assert str(err).startswith(("[E179]", "[E180]"))
                refused += 1
    assert min(right, refused) >= 10


@ALL_ORDERS
def test_great_rows_that_cancel(order):
    """What all trees share adds up without rounding; of a tie at great scores nothing is said."""
    noise = np.random.default_rng(9).normal(size=(5, len(TAGS)))
    rows = np.asarray([1e15, -1e15, 0.0, 1e13, -1e13])[:, None]
    plain, shifted = (TreeDistribution(scores, TAGS.tags, order) for scores in ((noise + rows) - rows, noise + rows))
    assert shifted.log_partition == pytest.approx(plain.log_partition, abs=1e-9)
    assert shifted.entropy == pytest.approx(plain.entropy, abs=1e-9)
    # Beside rows of two sizes, what the others add is lost.
    rows = np.asarray([1e40, 1e20, 0.0, -1e20, -1e40])[:, None]
    for constraints in ([], [(0, 1, None, "uncrossed")]):
        with pytest.raises(ValueError, match=r"\[E180\] Scores of sentence 0"):
            _ = TreeDistribution(noise + rows, TAGS.tags, order, constraints=constraints).log_partition
    # Of two trees each has a class of -1e20, at places of which both have better ones.
    scores = np.random.default_rng(10).normal(size=(5, len(TAGS)))
    first, second = enumerate_classes(3, order)
    places = [p for p in range(5) if first[p] != second[p]]
    for classes, p in ((first, places[0]), (second, places[-1])):
        scores[p, TAGS.classes == classes[p]] = -1e20
    assert len(places) > 1
    for constraints in ([], [(0, 1, None, "uncrossed")]):
        tied = TreeDistribution(scores, TAGS.tags, order, constraints=constraints)
        for ask in (lambda d: d.tag_marginals, lambda d: d.log_partition, lambda d: d.constituents):
            with pytest.raises(ValueError, match=r"\[E180\] Scores of sentence 0"):
                ask(tied)


def test_labels_of_spans_far_from_0():
    batch = with_spans(random_batch([5, 3]))
    arrays = list(batch.arrays)
    arrays[-1] = arrays[-1] + arrays[-1].dtype.type(2**20)
    plain, shifted = Distribution(batch).sums(), Distribution(batch.with_arrays(arrays)).sums()
    np.testing.assert_allclose(shifted.log_z - plain.log_z, 2**20 * (batch.n_words - 1), rtol=1e-5)
    np.testing.assert_allclose(shifted.spans.sum(), plain.spans.sum(), rtol=1e-5)


@pytest.mark.parametrize("size", [1e12, 1e14])
def test_one_tree_whose_labels_of_spans_are_great(size):
    """Sums that say so are of the scores as they are, however it was found out."""
    batch = with_spans(random_batch([5, 3]))
    great = batch.with_arrays((batch.scores, batch.spans.scores * size))
    best, found = Distribution(great).argmax, Distribution(great).sums()
    np.testing.assert_allclose(found.log_z, best.scores, rtol=1e-9)
    assert found.marginals.max() <= 1 + 1e-9 and found.spans.sum() == pytest.approx(4 + 2)


@pytest.mark.parametrize("size, n_right", [(1e2, 2), (1e6, 1), (1e9, 1), (1e20, 0)])
def test_entropies_where_labels_of_spans_are_far_from_0(size, n_right):
    """In float32: what all trees share changes nothing; where labels are far apart, it is right or refused."""
    batch = with_spans(random_batch([7, 1, 4], dtype=np.float32))
    noise = np.round(batch.spans.scores)
    for scores in (noise + np.float32(size), noise * np.float32(size)):
        great = batch.with_arrays((np.round(batch.scores), scores))
        exact = great.with_arrays([array.astype(np.float64) for array in great.arrays])
        try:
            np.testing.assert_allclose(Distribution(great).entropy, Distribution(exact).entropy, atol=0.01)
            n_right -= 1
        except ValueError as err:
            assert str(err).startswith(("[E179]", "[E180]"))
    assert n_right == 0
    shifted = batch.with_arrays((batch.scores, noise + np.float32(2**20)))
    plain = batch.with_arrays((batch.scores, noise))
    np.testing.assert_allclose(Distribution(shifted).entropy, Distribution(plain).entropy, atol=1e-4)


def test_one_great_label_of_a_span_that_one_side_lacks():
    """The other labels keep their differences, far below the greatest one of the sentence."""
    tags, rng = TagSet(["L/A", "R/B"]), np.random.default_rng(6)
    scores, of_spans = rng.normal(size=(5, 6)) * 1e6, rng.normal(size=(3, 3)) + 1e9 * (rng.random((3, 3)) < 0.3)
    spans = SpanScores(of_spans, np.zeros(1, dtype=int))
    trees = Distribution(TagScores(scores, np.zeros(1, dtype=int), np.asarray([3]), tags, ORDERS["in"], spans=spans))
    log_probs = trees.topk(9)[0].scores - trees.argmax.scores
    probs = np.exp(log_probs) / np.exp(log_probs).sum()
    assert len(probs) == 8 and trees.entropy[0] == pytest.approx(-(probs * np.log(probs + 1e-99)).sum(), abs=1e-6)
    assert trees.sums().spans.sum() == pytest.approx(2, abs=1e-12)


@ALL_ORDERS
@pytest.mark.parametrize("n_words", [1, 2, 5])
def test_no_room_on_the_stack(order, n_words):
    """Where no tree is, nothing is written past the end of what the bound leaves room for."""
    if order == "pre" and n_words == 1:  # its one tag takes the last of the stack
        return
    for dtype in (np.float32, np.float64):
        distribution = TreeDistribution(np.zeros((2 * n_words - 1, len(TAGS)), dtype), TAGS.tags, order, max_stack=0)
        for ask in (lambda d: d.log_partition, lambda d: d.constituents, lambda d: d.argmax):
            with pytest.raises(ValueError, match=r"\[E152\]"):
                ask(distribution)


def _tied():
    """Scores of six sentences; both trees over the three words of sentence 4 have a score of -1e20."""
    batch = random_batch([7, 2, 6, 0, 3, 4])
    first, second = enumerate_classes(3, "in")
    places = [p for p in range(5) if first[p] != second[p]]
    for classes, p in ((first, places[0]), (second, places[-1])):
        batch.scores[batch.starts[4] + p, TAGS.classes == classes[p]] = -1e20
    return batch


def _learn_all_but_one(batch):
    ids = Distribution(batch).argmax.ids.copy()
    ids[batch.starts[1]] = -1  # a tag that is not known
    TreeLoss()(batch, WeightedTrees.of_batch(batch, ids))


@pytest.mark.parametrize(
    "ask",
    [
        lambda batch: Distribution(batch).log_partition,
        lambda batch: [Distribution(part).constituents for part in batch.parts(12)],
        lambda batch: Distribution(batch.select(np.asarray([4, 1]))).log_partition,
        lambda batch: MBRDecoder(max_words=5)(Distribution(batch)),
        _learn_all_but_one,
        lambda batch: partial_likelihood(batch, [(), (), (), (), (Constraint(0, 1, None, "uncrossed"),), ()]),
        lambda batch: TreeDistribution.from_batch(batch, 4).log_partition,
    ],
)
def test_the_sentence_that_is_named(ask):
    """It is counted in the batch that was given, not among those that were chosen from it."""
    with pytest.raises(ValueError, match=r"\[E180\] Scores of sentence 4 "):
        ask(_tied())


@pytest.mark.parametrize("transitions", [False, True])
def test_the_sentence_that_is_named_with_great_scores(transitions):
    batch = random_batch([4, 3, 5])
    if transitions:
        shape = (len(TAGS), len(TAGS))
        batch = replace(batch, transitions=Transitions(np.zeros(shape), np.zeros(shape[0]), np.zeros(shape[0])))
    batch.scores[batch.starts[1] : batch.stops[1]] *= 1e8 if transitions else 1e15
    trees = Distribution(batch)
    for ask in (lambda: trees.entropy, *[lambda: trees.k_best_parses(2)] * (not transitions)):
        with pytest.raises(ValueError, match=r"\[E179\].* of sentence 1 "):
            ask()


@ALL_ORDERS
def test_log_probabilities_are_not_above_0(order):
    """Rounding would leave a little above it, where one tree has nearly all of the probability."""
    batch = random_batch([7] * 30, order)
    batch.scores[:] *= 1e6
    trees = Distribution(batch)
    assert (trees.argmax.scores > trees.log_partition).any()
    assert max(log_prob for [(log_prob, _)] in trees.k_best_parses(1)) == 0


def test_an_empty_sentence_beside_great_scores_of_successive_tags():
    """It has one tree, without a tag: what the first and the last tag share is none of its score."""
    batch, n_tags = random_batch([5, 0, 2]), len(TAGS)
    great = Transitions(*(np.full(shape, 1e6) for shape in ((n_tags, n_tags), n_tags, n_tags)))
    trees = Distribution(replace(batch, transitions=great))
    assert trees.log_partition[1] == trees.argmax.scores[1] == 0
    assert trees.log_prob(trees.argmax.ids)[1] == 0


def test_the_sentence_that_is_named_with_scores_that_are_not_finite():
    for batch, code in ((random_batch([4, 3, 5]), "E151"), (with_spans(random_batch([4, 3, 5])), "E166")):
        scores, first = (batch.scores, batch.starts) if code == "E151" else (batch.spans.scores, batch.spans.starts)
        scores[first[1:] + 1] = np.nan
        for parts in ([batch], batch.parts(1)):
            with pytest.raises(ValueError, match=rf"\[{code}\].* is nan, in sentence 1 of the batch"):
                [Distribution(part).argmax for part in parts]
