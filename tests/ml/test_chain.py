"""The linear chain: log-partition, marginals and gradients against enumeration and finite differences."""

import itertools
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from oracle import log_z_by_enumeration, score_of
from thinc.api import CupyOps, NumpyOps, Ops, get_array_module

from spacy_parsetag.compat import has_cupy_gpu
from spacy_parsetag.decode import log_partition
from spacy_parsetag.decode.batch import Dependencies
from spacy_parsetag.linearize import CLASS_NAMES, ORDERS
from spacy_parsetag.linearize.tags import TagSet
from spacy_parsetag.ml import chain_sums as chain_sums_module
from spacy_parsetag.ml.chain_sums import chain_sums
from spacy_parsetag.ml.dependent import DependentScores, mask_dependencies, tag_chain
from spacy_parsetag.ml.lattice_loss import LatticeLoss
from spacy_parsetag.ml.losses import TagLoss

TAGS = TagSet(["l/NP", "r/NP", "L/S", "R/VP"])
ALL_OPS: list[Ops] = [NumpyOps(), *([CupyOps()] if has_cupy_gpu() else [])]
ALL_ORDERS = pytest.mark.parametrize("order", ORDERS)


def random_batch(words: list[int], seed: int = 0, scale: float = 2.0) -> tuple[Any, ...]:
    """Scores with a row to spare between sentences, rows, words and dependencies."""
    rng = np.random.default_rng(seed)
    n = np.asarray(words, dtype=np.int32)
    rows = 2 * np.cumsum([0, *words])[:-1].astype(np.int64)
    scores = rng.normal(scale=scale, size=(2 * int(n.sum()), len(TAGS)))
    shapes = ((len(TAGS), len(TAGS)), len(TAGS), len(TAGS))
    return scores, rows, n, Dependencies(*(rng.normal(scale=scale, size=shape) for shape in shapes))


def log_z_of_all_sequences(scores: np.ndarray, dependencies: Dependencies) -> float:
    ids = itertools.product(range(scores.shape[1]), repeat=len(scores))
    return float(np.logaddexp.reduce([score_of(path, scores, *dependencies) for path in ids]))


def random_gold(words: np.ndarray, order: str, seed: int = 0) -> np.ndarray:
    """Gold ids of random trees, with a -1 after each sentence."""
    rng = np.random.default_rng(seed)
    gold = []
    for n in words.tolist():
        scores = rng.normal(size=(2 * n - 1, len(TAGS)))
        _, marginals = log_partition(scores * 50, [0], [n], TAGS, ORDERS[order])
        gold.append(np.append(marginals.argmax(axis=1), -1))
    return np.concatenate(gold).astype(np.int32)


@pytest.mark.parametrize("masked", [None, *ORDERS])
def test_all_sequences_by_enumeration(masked: str | None) -> None:
    scores, rows, words, dependencies = random_batch([2, 1, 2])
    if masked:
        dependencies = mask_dependencies(dependencies, TAGS, ORDERS[masked].lattice)
    log_z, marginals, counts = chain_sums(scores, rows, words, dependencies, TAGS)
    for row, n, z in zip(rows, words, log_z, strict=True):
        own = slice(row, row + 2 * n - 1)
        assert z == pytest.approx(log_z_of_all_sequences(scores[own], dependencies), rel=1e-12)
        np.testing.assert_allclose(marginals[own].sum(axis=1), 1, rtol=1e-12)
        assert not marginals[row + 2 * n - 1].any()
    assert counts.transitions.sum() == pytest.approx(sum(2 * n - 2 for n in words))
    assert [counts.start.sum(), counts.end.sum()] == pytest.approx([len(words)] * 2)


@ALL_ORDERS
def test_a_mask_is_what_trees_allow(order: str) -> None:
    """Pairs that the mask shuts out are in no tree, pairs that it allows are in one."""
    zeros = Dependencies(np.zeros((len(TAGS), len(TAGS))), np.zeros(len(TAGS)), np.zeros(len(TAGS)))
    masked = mask_dependencies(zeros, TAGS, ORDERS[order].lattice)
    scores = np.zeros((2 * 6, len(TAGS)))
    words = np.asarray([1, 5], dtype=np.int32)
    counts = chain_sums(scores, np.asarray([0, 2]), words, zeros, TAGS, ORDERS[order]).counts
    for allowed, count in zip(masked, counts, strict=True):
        np.testing.assert_array_equal(np.isfinite(allowed), count > 0)


@ALL_ORDERS
@pytest.mark.parametrize("max_stack", [None, 2, 3])
@pytest.mark.parametrize("exact", [False, True])
def test_trees_by_enumeration(order: str, max_stack: int | None, exact: bool, monkeypatch: Any) -> None:
    if exact:
        monkeypatch.setattr(chain_sums_module, "MAX_RANGE", 0.0)
    scores, rows, words, dependencies = random_batch([3, 1, 6, 2, 5], seed=1)
    log_z, marginals, _ = chain_sums(scores, rows, words, dependencies, TAGS, ORDERS[order], max_stack)
    for row, n, z in zip(rows, words, log_z, strict=True):
        own = slice(row, row + 2 * n - 1)
        expected = log_z_by_enumeration(scores[own], TAGS.tags, order, *dependencies, max_stack=max_stack)
        assert expected is not None and z == pytest.approx(expected, rel=1e-12)
        np.testing.assert_allclose(marginals[own].sum(axis=1), 1, rtol=1e-12)


@ALL_ORDERS
def test_without_dependence_equals_the_lattice(order: str) -> None:
    scores, rows, words, _ = random_batch([12, 1, 30, 7], seed=2)
    zeros = Dependencies(np.zeros((len(TAGS), len(TAGS))), np.zeros(len(TAGS)), np.zeros(len(TAGS)))
    for max_stack in (None, 4):
        log_z, marginals, _ = chain_sums(scores, rows, words, zeros, TAGS, ORDERS[order], max_stack)
        expected, expected_marginals = log_partition(scores, rows, words, TAGS, ORDERS[order], max_stack)
        np.testing.assert_allclose(log_z, expected, rtol=1e-12)
        np.testing.assert_allclose(marginals, expected_marginals, atol=1e-10)


def slope(function: Callable[[], float], x: np.ndarray, i: tuple[int, ...]) -> float:
    step, old = 1e-5, x[i]
    x[i] = old + step
    up = function()
    x[i] = old - step
    down = function()
    x[i] = old
    return (up - down) / (2 * step)


@ALL_ORDERS
@pytest.mark.parametrize("kind", ["all", "masked", "trees", "bounded", "exact"])
def test_gradients(kind: str, order: str, monkeypatch: Any) -> None:
    """Of scores, transitions, start and end; `exact` is the way that great ranges take."""
    if kind == "exact":
        monkeypatch.setattr(chain_sums_module, "MAX_RANGE", 0.0)
    scores, rows, words, dependencies = random_batch([3, 1, 4], seed=3)
    gold = random_gold(words, order)
    if kind == "masked":
        dependencies = mask_dependencies(dependencies, TAGS, ORDERS[order].lattice)
    loss_function = LatticeLoss(4 if kind == "bounded" else None) if kind in {"trees", "bounded"} else TagLoss()

    def run() -> tuple[float, np.ndarray, Dependencies]:
        return loss_function.dependent(scores, dependencies, gold, rows, words, TAGS, ORDERS[order])

    loss, gradient, d_dependencies = run()
    assert loss > 0
    for array, found in zip((scores, *dependencies), (gradient, *d_dependencies), strict=True):
        assert found.shape == array.shape and found.dtype == array.dtype
        for i in np.ndindex(*array.shape):
            if np.isfinite(array[i]):
                assert slope(lambda: run()[0], array, i) == pytest.approx(found[i], abs=1e-7)
            else:
                assert found[i] == 0.0


def test_loss_without_dependence_equals_tag_by_tag() -> None:
    scores, rows, words, _ = random_batch([3, 1, 4], seed=4)
    gold = random_gold(words, "in")
    zeros = Dependencies(np.zeros((len(TAGS), len(TAGS))), np.zeros(len(TAGS)), np.zeros(len(TAGS)))
    loss, gradient, _ = TagLoss().dependent(scores, zeros, gold, rows, words, TAGS, ORDERS["in"])
    expected, expected_gradient = TagLoss()(scores, gold, rows, words, TAGS, ORDERS["in"])
    assert loss == pytest.approx(expected)
    np.testing.assert_allclose(gradient, expected_gradient, atol=1e-12)


@pytest.mark.parametrize("kind", ["tags", "trees"])
def test_unknown_tags(kind: str) -> None:
    """A sentence with a gold tag that is not in the set is left out as a whole."""
    scores, rows, words, dependencies = random_batch([3, 2], seed=5)
    gold = random_gold(words, "in")
    gold[1] = -1
    loss_function = TagLoss() if kind == "tags" else LatticeLoss()
    loss, gradient, _ = loss_function.dependent(scores, dependencies, gold, rows, words, TAGS, ORDERS["in"])
    assert loss > 0 and not gradient[:6].any() and gradient[6:9].any()
    gold[:] = -1
    loss, gradient, d_dependencies = loss_function.dependent(
        scores, dependencies, gold, rows, words, TAGS, ORDERS["in"]
    )
    assert loss == 0.0 and not gradient.any() and not any(array.any() for array in d_dependencies)


@ALL_ORDERS
@pytest.mark.parametrize("trees", [False, True])
def test_great_scores(order: str, trees: bool) -> None:
    """Scores so far apart that exponentials of them are 0 or infinite; the best sequence has all the mass."""
    scores, rows, words, dependencies = random_batch([4, 2, 6], seed=6, scale=3000.0)
    dependencies = mask_dependencies(dependencies, TAGS, ORDERS[order].lattice)
    linearizer = ORDERS[order] if trees else None
    log_z, marginals, counts = chain_sums(scores, rows, words, dependencies, TAGS, linearizer)
    assert np.isfinite(log_z).all() and np.isfinite(counts.transitions).all()
    for row, n, z in zip(rows, words, log_z, strict=True):
        ids = marginals[row : row + 2 * n - 1].argmax(axis=1)
        assert z == pytest.approx(score_of(ids, scores[row:], *dependencies))


def test_very_low_scores_and_long_sentences() -> None:
    scores, rows, words, dependencies = random_batch([150, 3], seed=7)
    for shift in (-500.0, 500.0):
        for linearizer in (None, ORDERS["post"]):
            plain = chain_sums(scores, rows, words, dependencies, TAGS, linearizer, 6)
            moved = chain_sums(scores + shift, rows, words, dependencies, TAGS, linearizer, 6)
            np.testing.assert_allclose(moved.log_z, plain.log_z + shift * (2 * words - 1), rtol=1e-12)
            np.testing.assert_allclose(moved.marginals, plain.marginals, atol=1e-9)
            np.testing.assert_allclose(moved.counts.transitions, plain.counts.transitions, rtol=1e-7, atol=1e-9)


def test_chunks_change_nothing(monkeypatch: Any) -> None:
    scores, rows, words, dependencies = random_batch([5, 9, 2, 14, 1], seed=8)
    whole = chain_sums(scores, rows, words, dependencies, TAGS, ORDERS["pre"])
    monkeypatch.setattr(chain_sums_module, "BUDGET", 1)
    parts = chain_sums(scores, rows, words, dependencies, TAGS, ORDERS["pre"])
    np.testing.assert_allclose(whole.log_z, parts.log_z)
    np.testing.assert_allclose(whole.marginals, parts.marginals, atol=1e-12)
    np.testing.assert_allclose(whole.counts.transitions, parts.counts.transitions)


def test_no_sequence_is_an_error() -> None:
    scores, rows, words, dependencies = random_batch([3], seed=9)
    with pytest.raises(ValueError, match=r"\[E157\].*3 words.*bound of 1"):
        chain_sums(scores, rows, words, dependencies, TAGS, ORDERS["post"], 1)
    scores[2, 1] = np.nan
    with pytest.raises(ValueError, match=r"\[E157\]"):
        chain_sums(scores, rows, words, dependencies, TAGS)


@pytest.mark.parametrize("ops", ALL_OPS, ids=lambda ops: ops.name)
@pytest.mark.parametrize("kind", ["tags", "trees"])
def test_arrays_stay_on_the_device(ops: Ops, kind: str) -> None:
    scores, rows, words, dependencies = random_batch([3, 5], seed=10)
    gold = random_gold(words, "in")
    loss_function = TagLoss() if kind == "tags" else LatticeLoss()
    batch = (gold, rows, words, TAGS, ORDERS["in"])
    expected = loss_function.dependent(scores, dependencies, *batch)
    on_device = Dependencies(*(ops.asarray(array, dtype="float32") for array in dependencies))
    loss, gradient, d_dependencies = loss_function.dependent(ops.asarray2f(scores), on_device, *batch)
    assert loss == pytest.approx(expected[0], rel=1e-5)
    for array, other in zip((gradient, *d_dependencies), (expected[1], *expected[2]), strict=True):
        assert get_array_module(array) is ops.xp and array.dtype == np.float32
        np.testing.assert_allclose(ops.to_numpy(array), other, atol=1e-5)


@pytest.mark.parametrize("rate_scale", [1.0, 5.0])
def test_layer(rate_scale: float) -> None:
    """Scores pass through; the parameters' gradient comes back with that of the scores."""
    rng = np.random.default_rng(0)
    X = [rng.normal(size=(n, 6)).astype("f") for n in (2, 0, 3)]
    model = tag_chain(rate_scale=rate_scale, masked=False)
    model.initialize(X=X)
    assert model.get_dim("nO") == 6 and model.get_param("transitions").shape == (3, 3)
    values = Dependencies(*(rng.normal(size=shape).astype("f") for shape in ((3, 3), 3, 3)))
    for name, value in values._asdict().items():
        model.set_param(name, value)
    Y, backprop = model(X, is_train=True)
    assert isinstance(Y, DependentScores) and not Y.masked and list(map(id, Y)) == list(map(id, X))
    for found, value in zip(Y.dependencies, values, strict=True):
        np.testing.assert_allclose(found, rate_scale * value, rtol=1e-6)
    for _ in range(2):
        assert backprop(DependentScores(X, values)) is not None
    for name, value in values._asdict().items():
        np.testing.assert_allclose(model.get_grad(name), 2 * rate_scale * value, rtol=1e-5)
    again = tag_chain(rate_scale=rate_scale).from_bytes(model.to_bytes())
    np.testing.assert_array_equal(again.get_param("transitions"), values.transitions)


def test_classes_of_the_tag_set() -> None:
    """The tests above rely on it: more than one tag in each class."""
    assert np.bincount(TAGS.classes).tolist() == [2, 2, 2, 2] and len(CLASS_NAMES) == 4
