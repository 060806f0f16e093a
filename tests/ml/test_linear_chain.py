"""Linear chains: log-partition, marginals and gradients against enumeration and finite differences."""

import itertools
from dataclasses import replace

import numpy as np
import pytest
from differences import slope
from oracle import log_z_by_enumeration, score_of
from sums import sums_of
from thinc.api import CupyOps, NumpyOps, Ops, get_array_module
from thinc.compat import has_cupy_gpu

from spacy_parsetag.decode import Distribution, TagScores, Transitions, WeightedTrees
from spacy_parsetag.decode._passes import log_sums
from spacy_parsetag.decode.batch import arguments_of
from spacy_parsetag.decode.passes import Sums
from spacy_parsetag.linearize import CLASS_NAMES, ORDERS
from spacy_parsetag.linearize.tagset import TagSet
from spacy_parsetag.ml.losses import TagLoss, TreeLoss, mask_transitions

TAGS = TagSet(["l/NP", "r/NP", "L/S", "R/VP"])
SHAPES = ((len(TAGS), len(TAGS)), (len(TAGS),), (len(TAGS),))
ALL_OPS: list[Ops] = [NumpyOps(), *([CupyOps()] if has_cupy_gpu else [])]
ALL_ORDERS = pytest.mark.parametrize("order", ORDERS)


def zeros() -> Transitions:
    return Transitions(*(np.zeros(shape) for shape in SHAPES))


def random_batch(n_words: list[int], order: str, seed: int = 0, scale: float = 2.0) -> TagScores:
    """A batch with transitions and a row to spare between sentences."""
    rng = np.random.default_rng(seed)
    scores = rng.normal(scale=scale, size=(2 * sum(n_words), len(TAGS)))
    transitions = Transitions(*(rng.normal(scale=scale, size=shape) for shape in SHAPES))
    starts = 2 * np.cumsum([0, *n_words])[:-1]
    return TagScores(scores, starts, np.asarray(n_words), TAGS, ORDERS[order], transitions)


def rows_of_sentences(batch: TagScores) -> list[np.ndarray]:
    """The scores of each sentence."""
    return [batch.scores[start:stop] for start, stop in zip(batch.starts, batch.stops, strict=True)]


def log_z_of_all_sequences(scores: np.ndarray, transitions: Transitions) -> float:
    ids = itertools.product(range(scores.shape[1]), repeat=len(scores))
    return float(np.logaddexp.reduce([score_of(path, scores, *transitions) for path in ids]))


def random_gold(batch: TagScores, seed: int = 0) -> WeightedTrees:
    """One random tree for each sentence."""
    sharp = np.random.default_rng(seed).normal(scale=50, size=batch.scores.shape)
    return WeightedTrees.of_batch(batch, Distribution(replace(batch, scores=sharp, transitions=None)).argmax.ids)


def check_sums(batch: TagScores, found: Sums, rtol: float = 1e-12) -> None:
    """Probabilities that must add up."""
    for start, stop in zip(batch.starts, batch.stops, strict=True):
        np.testing.assert_allclose(found.marginals[start:stop].sum(axis=1), 1, rtol=rtol)
        assert not found.marginals[stop : stop + 1].any()
    counts = found.transitions
    assert counts is not None
    assert counts.pairs.sum() == pytest.approx(sum(2 * n - 2 for n in batch.n_words))
    assert [counts.start.sum(), counts.end.sum()] == pytest.approx([len(batch.n_words)] * 2)
    for axis, ends in ((0, counts.start), (1, counts.end)):
        np.testing.assert_allclose(counts.pairs.sum(axis=axis) + ends, found.marginals.sum(axis=0), rtol=1e-7 + rtol)


@pytest.mark.parametrize("masked", [None, *ORDERS])
def test_all_sequences_by_enumeration(masked: str | None) -> None:
    batch = random_batch([2, 1, 2], masked or "in")
    assert batch.transitions is not None
    if masked:
        batch = replace(batch, transitions=mask_transitions(batch, batch.transitions))
    found = sums_of(batch, trees=False)
    check_sums(batch, found)
    for scores, z in zip(rows_of_sentences(batch), found.log_z, strict=True):
        assert z == pytest.approx(log_z_of_all_sequences(scores, batch.transitions), rel=1e-12)


@ALL_ORDERS
def test_a_mask_is_what_trees_allow(order: str) -> None:
    """Pairs that the mask shuts out are in no tree, pairs that it allows are in one."""
    scores = np.zeros((2 * 6, len(TAGS)))
    batch = TagScores(scores, np.asarray([0, 2]), np.asarray([1, 5]), TAGS, ORDERS[order], zeros())
    expected = sums_of(batch).transitions
    assert expected is not None and batch.transitions is not None
    for allowed, count in zip(mask_transitions(batch, batch.transitions), expected, strict=True):
        np.testing.assert_array_equal(np.isfinite(allowed), count > 0)


@ALL_ORDERS
@pytest.mark.parametrize("max_stack", [None, 2, 3])
@pytest.mark.parametrize("scale", [2.0, 1000.0])
def test_trees_by_enumeration(order: str, max_stack: int | None, scale: float) -> None:
    """Also where scores are so far apart that their exponentials are 0."""
    batch = replace(random_batch([3, 1, 6, 2, 5], order, seed=1, scale=scale), max_stack=max_stack)
    assert batch.transitions is not None
    found = sums_of(batch)
    check_sums(batch, found, 1e-12 * max(1, scale))  # sums of scores in the thousands have that many fewer digits
    for scores, z in zip(rows_of_sentences(batch), found.log_z, strict=True):
        expected = log_z_by_enumeration(scores, TAGS.tags, order, *batch.transitions, max_stack=max_stack)
        assert expected is not None and z == pytest.approx(expected, rel=1e-12)


@ALL_ORDERS
def test_classes_that_may_not_follow(order: str) -> None:
    """Their pairs leave stacks of the right size that no tag leads to."""
    batch = random_batch([3, 4], order, seed=12)
    assert batch.transitions is not None
    some = 0
    for before, after in itertools.product(range(4), repeat=2):
        pairs = batch.transitions.pairs.copy()
        pairs[np.ix_(TAGS.classes == before, TAGS.classes == after)] = -np.inf
        shut = replace(batch, transitions=batch.transitions._replace(pairs=pairs))
        rows = rows_of_sentences(shut)
        expected = [log_z_by_enumeration(scores, TAGS.tags, order, pairs, *batch.transitions[1:]) for scores in rows]
        if np.isfinite(expected).all():
            found = sums_of(shut)
            check_sums(shut, found)
            np.testing.assert_allclose(found.log_z, expected, rtol=1e-12)
            some += 1
    assert some > 1


@ALL_ORDERS
def test_transitions_of_zero_change_nothing(order: str) -> None:
    batch = replace(random_batch([12, 1, 30, 7], order, seed=2), transitions=None)
    for max_stack in (None, 4):
        batch = replace(batch, max_stack=max_stack)
        expected, found = sums_of(batch), sums_of(replace(batch, transitions=zeros()))
        check_sums(batch, found, 1e-10)
        np.testing.assert_allclose(found.log_z, expected.log_z, rtol=1e-12)
        np.testing.assert_allclose(found.marginals, expected.marginals, atol=1e-10)


@ALL_ORDERS
@pytest.mark.parametrize("kind", ["all", "masked", "trees", "bounded"])
def test_gradients(kind: str, order: str) -> None:
    """Of scores, transitions, start and end."""
    batch = replace(random_batch([3, 1, 4], order, seed=3), max_stack=4 if kind == "bounded" else None)
    gold = random_gold(batch)
    assert batch.transitions is not None
    loss_function = TreeLoss() if kind in {"trees", "bounded"} else TagLoss(masked=kind == "masked")
    loss, gradient = loss_function(batch, gold)
    assert loss > 0 and gradient.transitions is not None
    allowed = [np.isfinite(array) for array in mask_transitions(batch, batch.transitions)]
    everywhere = [True, *(allowed if kind == "masked" else [True] * 3)]
    for array, found, free in zip(batch.arrays, gradient.arrays, everywhere, strict=True):
        assert found.shape == array.shape and found.dtype == array.dtype
        for i in np.ndindex(*array.shape):
            if free is True or free[i]:
                assert slope(lambda: loss_function(batch, gold)[0], array, i) == pytest.approx(found[i], abs=1e-7)
            else:
                assert found[i] == 0.0


def test_masked_pairs_take_no_probability() -> None:
    """A linear chain that shuts out what no tree has gives the gold sequence more probability."""
    batch = random_batch([3, 2], "pre", seed=4)
    gold = random_gold(batch)
    loss, _ = TagLoss(masked=False)(batch, gold)
    masked, _ = TagLoss()(batch, gold)
    trees, _ = TreeLoss()(batch, gold)
    assert trees < masked < loss


def test_the_bound_counts() -> None:
    """Trees beyond the bound take no probability, with and without transitions."""
    batch = random_batch([6], "post", seed=5)
    gold = random_gold(batch)
    for some in (batch, replace(batch, transitions=None)):
        free, loss = sums_of(some).log_z[0], TreeLoss()(some, gold)[0]
        assert TreeLoss()(replace(some, max_stack=6), gold)[0] == pytest.approx(loss)
        assert sums_of(replace(some, max_stack=2)).log_z[0] < free - 1e-3
        bounded = replace(some, max_stack=5)
        assert TreeLoss()(bounded, gold)[0] - loss == pytest.approx(sums_of(bounded).log_z[0] - free)


def test_loss_without_transitions_equals_tag_by_tag() -> None:
    batch = replace(random_batch([3, 1, 4], "in", seed=4), transitions=None)
    gold = random_gold(batch)
    expected, expected_gradient = TagLoss()(batch, gold)
    loss, gradient = TagLoss(masked=False)(replace(batch, transitions=zeros()), gold)
    assert loss == pytest.approx(expected)
    np.testing.assert_allclose(gradient.scores, expected_gradient.scores, atol=1e-12)


@pytest.mark.parametrize("loss_function", [TagLoss(), TreeLoss()])
def test_unknown_tags(loss_function: TagLoss | TreeLoss) -> None:
    """A sentence with a gold tag that is not in the set is left out as a whole."""
    batch = random_batch([3, 2], "in", seed=5)
    gold = random_gold(batch)
    gold.ids[1] = -1
    loss, gradient = loss_function(batch, gold)
    assert loss > 0 and not gradient.scores[:6].any() and gradient.scores[6:9].any()
    gold.ids[:] = -1
    loss, gradient = loss_function(batch, gold)
    assert gradient.transitions is not None
    assert loss == 0.0 and not gradient.scores.any() and not any(array.any() for array in gradient.transitions)


@ALL_ORDERS
@pytest.mark.parametrize("trees", [False, True])
def test_great_scores(order: str, trees: bool) -> None:
    """Scores so far apart that exponentials of them are 0 or infinite; the best sequence has all the mass."""
    batch = random_batch([4, 2, 6], order, seed=6, scale=3000.0)
    assert batch.transitions is not None
    batch = replace(batch, transitions=mask_transitions(batch, batch.transitions))
    found = sums_of(batch, trees)
    assert found.transitions is not None and batch.transitions is not None
    assert np.isfinite(found.log_z).all() and np.isfinite(found.transitions.pairs).all()
    for scores, start, z in zip(rows_of_sentences(batch), batch.starts, found.log_z, strict=True):
        ids = found.marginals[start : start + len(scores)].argmax(axis=1)
        assert z == pytest.approx(score_of(ids, scores, *batch.transitions))


def test_very_low_scores_and_long_sentences() -> None:
    batch = replace(random_batch([150, 3], "post", seed=7), max_stack=6)
    for shift in (-500.0, 500.0):
        moved = replace(batch, scores=batch.scores + shift)
        for trees in (False, True):
            sums, moved_sums = (sums_of(some, trees) for some in (batch, moved))
            assert sums.transitions is not None and moved_sums.transitions is not None
            np.testing.assert_allclose(moved_sums.log_z, sums.log_z + shift * (2 * batch.n_words - 1), rtol=1e-12)
            np.testing.assert_allclose(moved_sums.marginals, sums.marginals, atol=1e-9)
            np.testing.assert_allclose(moved_sums.transitions.pairs, sums.transitions.pairs, rtol=1e-7, atol=1e-9)


@ALL_ORDERS
@pytest.mark.parametrize("transitions", [True, False])
def test_checkpointing_changes_nothing(order: str, transitions: bool) -> None:
    """Keeping the states of few positions and running stretches again gives the same sums."""
    batch = random_batch([5, 9, 2, 14, 1, 30], order, seed=8)
    if not transitions:
        batch = replace(batch, transitions=None)
    results = []
    for budget in (0, 1 << 40):
        outputs = [np.zeros(6), np.zeros_like(batch.scores), *zeros()]
        log_sums(*arguments_of(batch), *outputs, np.zeros(6, dtype=np.uint8), budget)
        results.append(outputs)
    for few, all_states in zip(*results, strict=True):
        np.testing.assert_array_equal(few, all_states)


def test_no_tree_is_an_error() -> None:
    batch = random_batch([3], "post", seed=9)
    with pytest.raises(ValueError, match=r"\[E152\].*3 words.*bound of 1"):
        sums_of(replace(batch, max_stack=1))
    batch.scores[2, 1] = np.nan
    for trees in (False, True):
        with pytest.raises(ValueError, match=r"\[E151\].*at word 2"):
            sums_of(batch, trees)


@pytest.mark.parametrize("ops", ALL_OPS, ids=lambda ops: ops.name)
@pytest.mark.parametrize("loss_function", [TagLoss(), TreeLoss()])
def test_gradients_are_on_the_device(ops: Ops, loss_function: TagLoss | TreeLoss) -> None:
    batch = random_batch([3, 5], "in", seed=10)
    gold = random_gold(batch)
    expected_loss, expected = loss_function(batch, gold)
    assert batch.transitions is not None and expected.transitions is not None
    transitions = Transitions(*(ops.asarray(array, dtype="float32") for array in batch.transitions))
    loss, gradient = loss_function(replace(batch, scores=ops.asarray2f(batch.scores), transitions=transitions), gold)
    assert loss == pytest.approx(expected_loss, rel=1e-5) and gradient.transitions is not None
    for array, other in zip(gradient.arrays, expected.arrays, strict=True):
        assert get_array_module(array) is ops.xp and array.dtype == np.float32
        np.testing.assert_allclose(ops.to_numpy(array), other, atol=1e-5)


@pytest.mark.parametrize("order", ORDERS)
def test_masked_loss_by_enumeration(order: str) -> None:
    """The sum runs over the sequences whose pairs, first and last tags some tree has."""
    batch = random_batch([2], order, seed=11)
    gold = random_gold(batch)
    assert batch.transitions is not None
    allowed = mask_transitions(batch, batch.transitions)
    gold_score = score_of(gold.ids.tolist(), batch.scores, *batch.transitions)
    for masked, transitions in ((True, allowed), (False, batch.transitions)):
        expected = log_z_of_all_sequences(batch.scores[:3], transitions) - gold_score
        assert TagLoss(masked)(batch, gold)[0] == pytest.approx(expected, rel=1e-9)


def test_classes_of_the_tag_set() -> None:
    """The tests above rely on it: more than one tag in each class."""
    assert np.bincount(TAGS.classes).tolist() == [2, 2, 2, 2] and len(CLASS_NAMES) == 4
