"""Linear chains: log-partition, marginals and gradients against enumeration and finite differences."""

import itertools
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from oracle import log_z_by_enumeration, score_of
from thinc.api import CupyOps, NumpyOps, Ops, get_array_module
from thinc.compat import has_cupy_gpu

from spacy_parsetag.decode import LogPartition, TagScores, Transitions, log_partition
from spacy_parsetag.decode._passes import log_sums
from spacy_parsetag.decode.scores import arguments_of
from spacy_parsetag.linearize import CLASS_NAMES, ORDERS
from spacy_parsetag.linearize.tags import TagSet
from spacy_parsetag.ml.crf import linear_chain
from spacy_parsetag.ml.heads import DocScores
from spacy_parsetag.ml.losses import LatticeLoss, TagLoss, mask_transitions

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


def own_rows(batch: TagScores) -> list[np.ndarray]:
    """The scores of each sentence."""
    return [batch.scores[start:stop] for start, stop in zip(batch.starts, batch.stops, strict=True)]


def log_z_of_all_sequences(scores: np.ndarray, transitions: Transitions) -> float:
    ids = itertools.product(range(scores.shape[1]), repeat=len(scores))
    return float(np.logaddexp.reduce([score_of(path, scores, *transitions[:3]) for path in ids]))


def random_gold(batch: TagScores, seed: int = 0) -> np.ndarray:
    """Gold ids of random trees, with a -1 after each sentence."""
    sharp = np.random.default_rng(seed).normal(scale=50, size=batch.scores.shape)
    gold = log_partition(replace(batch, scores=sharp, transitions=None)).marginals.argmax(axis=1)
    gold[np.setdiff1d(np.arange(len(gold)), batch.rows)] = -1
    return gold.astype(np.int32)


def check_sums(batch: TagScores, found: LogPartition, rtol: float = 1e-12) -> None:
    """Probabilities that must add up."""
    for start, stop in zip(batch.starts, batch.stops, strict=True):
        np.testing.assert_allclose(found.marginals[start:stop].sum(axis=1), 1, rtol=rtol)
        assert not found.marginals[stop : stop + 1].any()
    assert found.expected is not None
    assert found.expected.pairs.sum() == pytest.approx(sum(2 * n - 2 for n in batch.n_words))
    assert [found.expected.start.sum(), found.expected.end.sum()] == pytest.approx([len(batch.n_words)] * 2)


@pytest.mark.parametrize("masked", [None, *ORDERS])
def test_all_sequences_by_enumeration(masked: str | None) -> None:
    batch = random_batch([2, 1, 2], masked or "in")
    if masked:
        batch = replace(batch, transitions=mask_transitions(batch, batch.transitions))
    assert batch.transitions is not None
    found = log_partition(batch, trees=False)
    check_sums(batch, found)
    for own, z in zip(own_rows(batch), found.log_z, strict=True):
        assert z == pytest.approx(log_z_of_all_sequences(own, batch.transitions), rel=1e-12)


@ALL_ORDERS
def test_a_mask_is_what_trees_allow(order: str) -> None:
    """Pairs that the mask shuts out are in no tree, pairs that it allows are in one."""
    scores = np.zeros((2 * 6, len(TAGS)))
    batch = TagScores(scores, np.asarray([0, 2]), np.asarray([1, 5]), TAGS, ORDERS[order], zeros())
    expected = log_partition(batch).expected
    assert expected is not None
    for allowed, count in zip(mask_transitions(batch, batch.transitions), expected[:3], strict=False):
        np.testing.assert_array_equal(np.isfinite(allowed), count > 0)


@ALL_ORDERS
@pytest.mark.parametrize("max_stack", [None, 2, 3])
@pytest.mark.parametrize("scale", [2.0, 1000.0])
def test_trees_by_enumeration(order: str, max_stack: int | None, scale: float) -> None:
    """Also where scores are so far apart that their exponentials are 0."""
    batch = random_batch([3, 1, 6, 2, 5], order, seed=1, scale=scale)
    assert batch.transitions is not None
    found = log_partition(batch, max_stack)
    check_sums(batch, found, 1e-12 * max(1, scale))  # sums of scores in the thousands have that many fewer digits
    for own, z in zip(own_rows(batch), found.log_z, strict=True):
        expected = log_z_by_enumeration(own, TAGS.tags, order, *batch.transitions[:3], max_stack=max_stack)
        assert expected is not None and z == pytest.approx(expected, rel=1e-12)


@ALL_ORDERS
def test_transitions_of_zero_change_nothing(order: str) -> None:
    batch = replace(random_batch([12, 1, 30, 7], order, seed=2), transitions=None)
    for max_stack in (None, 4):
        expected = log_partition(batch, max_stack)
        found = log_partition(replace(batch, transitions=zeros()), max_stack)
        np.testing.assert_allclose(found.log_z, expected.log_z, rtol=1e-12)
        np.testing.assert_allclose(found.marginals, expected.marginals, atol=1e-10)


def slope(function: Callable[[], float], x: np.ndarray, i: tuple[int, ...]) -> float:
    step, old = 1e-5, x[i]
    x[i] = old + step
    up = function()
    x[i] = old - step
    down = function()
    x[i] = old
    return (up - down) / (2 * step)


@ALL_ORDERS
@pytest.mark.parametrize("kind", ["all", "masked", "trees", "bounded"])
def test_gradients(kind: str, order: str) -> None:
    """Of scores, transitions, start and end."""
    batch = random_batch([3, 1, 4], order, seed=3)
    gold = random_gold(batch)
    if kind == "masked":
        assert batch.transitions is not None
        batch = replace(batch, transitions=batch.transitions._replace(masked=True))
    assert batch.transitions is not None
    loss_function = LatticeLoss(4 if kind == "bounded" else None) if kind in {"trees", "bounded"} else TagLoss()
    loss, gradient = loss_function(batch, gold)
    assert loss > 0 and gradient.transitions is not None
    allowed = [np.isfinite(array) for array in mask_transitions(batch, batch.transitions)[:3]]
    everywhere = [True, *(allowed if kind == "masked" else [True] * 3)]
    for array, found, free in zip(
        (batch.scores, *batch.transitions[:3]), (gradient.scores, *gradient.transitions[:3]), everywhere, strict=True
    ):
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
    assert batch.transitions is not None
    loss, _ = TagLoss()(batch, gold)
    masked, _ = TagLoss()(replace(batch, transitions=batch.transitions._replace(masked=True)), gold)
    trees, _ = LatticeLoss()(batch, gold)
    assert trees < masked < loss


def test_the_bound_counts() -> None:
    """Trees beyond the bound take no probability, with and without transitions."""
    batch = random_batch([6], "post", seed=5)
    gold = random_gold(batch)
    for some in (batch, replace(batch, transitions=None)):
        assert LatticeLoss(6)(some, gold)[0] == pytest.approx(LatticeLoss()(some, gold)[0])
        assert log_partition(some, 2).log_z[0] < log_partition(some).log_z[0] - 1e-3
        bounded = log_partition(some, 5).log_z[0] - log_partition(some).log_z[0]
        assert LatticeLoss(5)(some, gold)[0] - LatticeLoss()(some, gold)[0] == pytest.approx(bounded)


def test_loss_without_transitions_equals_tag_by_tag() -> None:
    batch = replace(random_batch([3, 1, 4], "in", seed=4), transitions=None)
    gold = random_gold(batch)
    expected, expected_gradient = TagLoss()(batch, gold)
    loss, gradient = TagLoss()(replace(batch, transitions=zeros()), gold)
    assert loss == pytest.approx(expected)
    np.testing.assert_allclose(gradient.scores, expected_gradient.scores, atol=1e-12)


@pytest.mark.parametrize("loss_function", [TagLoss(), LatticeLoss()])
def test_unknown_tags(loss_function: TagLoss | LatticeLoss) -> None:
    """A sentence with a gold tag that is not in the set is left out as a whole."""
    batch = random_batch([3, 2], "in", seed=5)
    gold = random_gold(batch)
    gold[1] = -1
    loss, gradient = loss_function(batch, gold)
    assert loss > 0 and not gradient.scores[:6].any() and gradient.scores[6:9].any()
    gold[:] = -1
    loss, gradient = loss_function(batch, gold)
    assert gradient.transitions is not None
    assert loss == 0.0 and not gradient.scores.any() and not any(array.any() for array in gradient.transitions[:3])


@ALL_ORDERS
@pytest.mark.parametrize("trees", [False, True])
def test_great_scores(order: str, trees: bool) -> None:
    """Scores so far apart that exponentials of them are 0 or infinite; the best sequence has all the mass."""
    batch = random_batch([4, 2, 6], order, seed=6, scale=3000.0)
    batch = replace(batch, transitions=mask_transitions(batch, batch.transitions))
    assert batch.transitions is not None
    found = log_partition(batch, trees=trees)
    assert found.expected is not None
    assert np.isfinite(found.log_z).all() and np.isfinite(found.expected.pairs).all()
    for own, start, z in zip(own_rows(batch), batch.starts, found.log_z, strict=True):
        ids = found.marginals[start : start + len(own)].argmax(axis=1)
        assert z == pytest.approx(score_of(ids, own, *batch.transitions[:3]))


def test_very_low_scores_and_long_sentences() -> None:
    batch = random_batch([150, 3], "post", seed=7)
    for shift in (-500.0, 500.0):
        moved = replace(batch, scores=batch.scores + shift)
        for trees in (False, True):
            here, there = (log_partition(some, 6, trees=trees) for some in (batch, moved))
            assert here.expected is not None and there.expected is not None
            np.testing.assert_allclose(there.log_z, here.log_z + shift * (2 * batch.n_words - 1), rtol=1e-12)
            np.testing.assert_allclose(there.marginals, here.marginals, atol=1e-9)
            np.testing.assert_allclose(there.expected.pairs, here.expected.pairs, rtol=1e-7, atol=1e-9)


@ALL_ORDERS
@pytest.mark.parametrize("transitions", [True, False])
def test_checkpointing_changes_nothing(order: str, transitions: bool) -> None:
    """Keeping the states of few positions and running stretches again gives the same sums."""
    batch = random_batch([5, 9, 2, 14, 1, 30], order, seed=8)
    if not transitions:
        batch = replace(batch, transitions=None)
    results = []
    for budget in (0, 1 << 40):
        outputs = [np.zeros(6), np.zeros_like(batch.scores), *zeros()[:3]]
        log_sums(*arguments_of(batch, None), *outputs, np.zeros(6, dtype=np.uint8), budget)
        results.append(outputs)
    for few, all_states in zip(*results, strict=True):
        np.testing.assert_array_equal(few, all_states)


def test_no_tree_is_an_error() -> None:
    batch = random_batch([3], "post", seed=9)
    with pytest.raises(ValueError, match=r"\[E152\].*3 words.*bound of 1"):
        log_partition(batch, 1)
    batch.scores[2, 1] = np.nan
    for trees in (False, True):
        with pytest.raises(ValueError, match=r"\[E151\].*at word 2"):
            log_partition(batch, trees=trees)


@pytest.mark.parametrize("ops", ALL_OPS, ids=lambda ops: ops.name)
@pytest.mark.parametrize("loss_function", [TagLoss(), LatticeLoss()])
def test_gradients_are_on_the_device(ops: Ops, loss_function: TagLoss | LatticeLoss) -> None:
    batch = random_batch([3, 5], "in", seed=10)
    gold = random_gold(batch)
    expected_loss, expected = loss_function(batch, gold)
    assert batch.transitions is not None and expected.transitions is not None
    there = Transitions(*(ops.asarray(array, dtype="float32") for array in batch.transitions[:3]))
    loss, gradient = loss_function(replace(batch, scores=ops.asarray2f(batch.scores), transitions=there), gold)
    assert loss == pytest.approx(expected_loss, rel=1e-5) and gradient.transitions is not None
    for array, other in zip(
        (gradient.scores, *gradient.transitions[:3]), (expected.scores, *expected.transitions[:3]), strict=True
    ):
        assert get_array_module(array) is ops.xp and array.dtype == np.float32
        np.testing.assert_allclose(ops.to_numpy(array), other, atol=1e-5)


@pytest.mark.parametrize("rate_scale", [1.0, 5.0])
def test_layer(rate_scale: float) -> None:
    """Scores pass through; the parameters' gradient comes back with that of the scores."""
    rng = np.random.default_rng(0)
    X: Any = DocScores([rng.normal(size=(n, 6)).astype("f") for n in (2, 0, 3)])
    model = linear_chain(rate_scale=rate_scale, masked=False)
    model.initialize(X=X)
    assert model.get_dim("nO") == 6 and model.get_param("pairs").shape == (3, 3)
    values = Transitions(*(rng.normal(size=shape).astype("f") for shape in ((3, 3), (3,), (3,))))
    for name in ("pairs", "start", "end"):
        model.set_param(name, getattr(values, name))
    Y, backprop = model(X, is_train=True)
    assert Y.transitions is not None and not Y.transitions.masked and Y.arrays is X.arrays
    for found, value in zip(Y.transitions[:3], values[:3], strict=True):
        np.testing.assert_allclose(found, rate_scale * value, rtol=1e-6)
    for _ in range(2):
        assert backprop(DocScores(X.arrays, values)).transitions is None
    for name in ("pairs", "start", "end"):
        np.testing.assert_allclose(model.get_grad(name), 2 * rate_scale * getattr(values, name), rtol=1e-5)
    again = linear_chain(rate_scale=rate_scale).from_bytes(model.to_bytes())
    np.testing.assert_array_equal(again.get_param("pairs"), values.pairs)


def test_classes_of_the_tag_set() -> None:
    """The tests above rely on it: more than one tag in each class."""
    assert np.bincount(TAGS.classes).tolist() == [2, 2, 2, 2] and len(CLASS_NAMES) == 4
