"""Gradients of losses and layers are those that finite differences give."""

from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from spacy.tokens import Doc
from spacy.training import Example
from thinc.api import Adam, Ragged, fix_random_seed, get_current_ops
from tiny import make_examples, make_nlp

from spacy_parsetag.decode import TagScores
from spacy_parsetag.linearize import ORDERS
from spacy_parsetag.linearize.tags import TagSet
from spacy_parsetag.ml.heads import DocScores, tag_heads
from spacy_parsetag.ml.losses import LatticeLoss, Loss, TagLoss
from spacy_parsetag.ml.pooling import last_subword

EPSILON = 1e-5


def differences(function: Callable[[np.ndarray], float], x: np.ndarray) -> np.ndarray:
    """The gradient of a function of an array, by central differences."""
    gradient = np.zeros_like(x)
    for i in np.ndindex(*x.shape):
        up, down = x.copy(), x.copy()
        up[i] += EPSILON
        down[i] -= EPSILON
        gradient[i] = (function(up) - function(down)) / (2 * EPSILON)
    return gradient


def tag_loss(scores: np.ndarray, gold: np.ndarray) -> tuple[float, np.ndarray]:
    """The loss of one sentence, which owns all rows but the last."""
    tags = TagSet([f"l/X{i}" for i in range(scores.shape[1] - 4)])
    loss, gradient = TagLoss()(TagScores(scores, [0], [len(scores) // 2], tags, ORDERS["in"]), gold)
    return loss, gradient.scores


def test_tag_loss() -> None:
    assert isinstance(TagLoss(), Loss)
    rng = np.random.default_rng(0)
    scores = rng.normal(size=(6, 5)) * 3
    gold = np.asarray([0, 4, -1, 2, 2, -1], dtype=np.int32)
    loss, gradient = tag_loss(scores, gold)
    used = gold >= 0
    log_p = scores - np.log(np.exp(scores).sum(axis=1, keepdims=True))
    assert loss == pytest.approx(-log_p[used, gold[used]].sum())
    np.testing.assert_allclose(gradient, differences(lambda x: tag_loss(x, gold)[0], scores), atol=1e-8)
    assert not gradient[~used].any()
    np.testing.assert_allclose(gradient.sum(axis=1), 0, atol=1e-12)


def test_tag_loss_of_great_scores() -> None:
    scores = np.asarray([[1e4, -1e4, 0.0, -1e4], [-1e4, -1e4, -1e4, -1e4]], dtype="f")
    loss, gradient = tag_loss(scores, np.asarray([1, 0], dtype=np.int32))
    assert loss == pytest.approx(2e4 + np.log(4)) and np.isfinite(gradient).all()
    assert tag_loss(scores, np.asarray([-1, -1], dtype=np.int32))[0] == 0.0
    assert gradient.dtype == scores.dtype


@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("kind", ["Tag", "Lattice"])
def test_get_loss(kind: str, order: str) -> None:
    """Through words, slots, several docs and white space."""
    nlp = make_nlp(order, loss={"@misc": f"spacy-parsetag.{kind}Loss.v1"})
    examples: list[Example] = make_examples(nlp)[:3]
    space = Doc(nlp.vocab, words=["\n", *(token.text for token in examples[1].reference), " "])
    examples = [
        examples[0],
        Example(space, examples[1].reference),
        Example(Doc(nlp.vocab), Doc(nlp.vocab)),
        examples[2],
    ]
    nlp.initialize(lambda: examples)
    pipe = nlp.get_pipe("parsetag")
    rng = np.random.default_rng(0)
    width = 2 * len(pipe.labels)
    scores = [rng.normal(size=(len(eg.predicted), width)) for eg in examples]
    loss, found = pipe.get_loss(examples, DocScores(scores))
    gradients = found.arrays
    assert loss > 0
    for i, gradient in enumerate(gradients):
        assert gradient.shape == scores[i].shape

        def loss_of(x: np.ndarray, i: int = i) -> float:
            return pipe.get_loss(examples, DocScores([*scores[:i], x, *scores[i + 1 :]]))[0]

        np.testing.assert_allclose(gradient, differences(loss_of, scores[i]), atol=1e-8)
    assert not gradients[1][0].any() and not gradients[1][-1].any()
    # The second slot of a sentence's last word has no tag.
    assert not gradients[0][-1, width // 2 :].any() and gradients[0][-2, width // 2 :].any()
    tags = [len(eg.reference) * 2 - 1 for eg in examples if len(eg.reference)]
    right = sum(-(gradient[gradient < 0]).sum() for gradient in gradients)
    assert 0 < right <= sum(tags)


@pytest.mark.parametrize("rate_scale", [1.0, 5.0])
def test_heads(rate_scale: float) -> None:
    rng = np.random.default_rng(0)
    X = [rng.normal(size=(n, 4)).astype("f") for n in (3, 0, 2)]
    model = tag_heads(6, rate_scale=rate_scale)
    model.initialize(X=X, Y=[np.zeros((len(x), 6), dtype="f") for x in X])
    linear = model.get_ref("linear")
    W, b = rng.normal(size=(6, 4)).astype("f"), rng.normal(size=6).astype("f")
    linear.set_param("W", W)
    linear.set_param("b", b)
    Y, backprop = model(X, is_train=True)
    for x, y in zip(X, Y.arrays, strict=True):
        np.testing.assert_allclose(y, rate_scale * (x @ W.T + b), rtol=1e-5, atol=1e-5)
    dY = [rng.normal(size=y.shape).astype("f") for y in Y.arrays]
    for dx, dy in zip(backprop(DocScores(dY)), dY, strict=True):
        np.testing.assert_allclose(dx, rate_scale * dy @ W, rtol=1e-4, atol=1e-5)
    expected = rate_scale * sum(dy.T @ x for dy, x in zip(dY, X, strict=True))
    np.testing.assert_allclose(linear.get_grad("W"), expected, rtol=1e-4, atol=1e-5)


def test_scaled_heads_begin_with_the_scores_of_plain_ones() -> None:
    """And they move `rate_scale` times as far in the first step of an optimizer such as Adam."""
    X = [np.random.default_rng(0).normal(size=(5, 4)).astype("f")]
    Y = [np.zeros((5, 6), dtype="f")]
    before, after = [], []
    for rate_scale in (1.0, 5.0):
        fix_random_seed(0)
        model = tag_heads(rate_scale=rate_scale)
        model.initialize(X=X, Y=Y)
        scores, backprop = model(X, is_train=True)
        backprop(DocScores([np.ones_like(scores.arrays[0])]))
        model.finish_update(Adam(0.001, L2=0.0))
        before.append(scores.arrays[0])
        after.append(model.predict(X).arrays[0])
    assert before[0].any()
    np.testing.assert_allclose(before[1], before[0], rtol=1e-5)
    np.testing.assert_allclose(after[1] - before[1], 5 * (after[0] - before[0]), rtol=1e-2, atol=1e-6)


@settings(deadline=None)
@given(lengths=st.lists(st.integers(0, 3), max_size=6), width=st.integers(1, 3))
def test_last_subword(lengths: list[int], width: int) -> None:
    """Values and gradient against a loop over words."""
    ops = get_current_ops()
    rng = np.random.default_rng(len(lengths))
    data = rng.normal(size=(sum(lengths), width)).astype("f")
    model = last_subword()
    Y, backprop = model(Ragged(data, ops.asarray1i(lengths)), is_train=True)
    dY = rng.normal(size=(len(lengths), width)).astype("f")
    dX = backprop(dY)
    expected, gradient = np.zeros_like(dY), np.zeros_like(data)
    end = 0
    for i, length in enumerate(lengths):
        end += length
        if length:
            expected[i] = data[end - 1]
            gradient[end - 1] = dY[i]
    np.testing.assert_array_equal(Y, expected)
    np.testing.assert_array_equal(dX.dataXd, gradient)
    assert dX.lengths.tolist() == lengths


def test_lattice_loss_of_unknown_tags() -> None:
    """A sentence with a gold tag that is not in the set is left out as a whole, by the other loss only that tag."""
    tags = TagSet(["L/S"])
    gold = np.concatenate([tags.encode(["l", "L/S", "r"]), [-1], tags.encode(["l", "L/NP", "r"]), [-1]])
    scores = np.random.default_rng(0).normal(size=(8, len(tags)))
    batch = TagScores(scores, [0, 4], [2, 2], tags, ORDERS["in"])
    loss, gradient = LatticeLoss()(batch, gold)
    alone, _ = LatticeLoss()(TagScores(scores[:4], [0], [2], tags, ORDERS["in"]), gold[:4])
    # l and r are certain
    assert loss == alone > 0 and gradient.scores[1].any() and not gradient.scores[3:].any()
    _, gradient = TagLoss()(batch, gold)
    assert gradient.scores.any(axis=1).tolist() == [True, True, True, False, True, False, True, False]
    for made in (LatticeLoss(), TagLoss()):
        loss, gradient = made(batch, np.full(8, -1))
        assert loss == 0.0 and gradient.scores.shape == scores.shape and not gradient.scores.any()
