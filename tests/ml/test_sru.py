"""The recurrent layer: its gradients, its two implementations, and what it sees."""

from typing import Any

import numpy as np
import pytest
from spacy.tokens import Doc
from spacy.vocab import Vocab
from thinc.api import Model, fix_random_seed

from spacy_parsetag.ml import _sru
from spacy_parsetag.ml.sru import backward_steps, build_sru, forward_steps, sru

EPSILON = 1e-5


def inputs(n_parts: int, lengths: list[int], units: int = 3) -> list[Any]:
    rng = np.random.default_rng(0)
    n = sum(lengths)
    shapes = ((n, 2 * n_parts * units), (n, 2 * units), (2, 2, units), (2, 2, units))
    return [*(rng.normal(size=shape) for shape in shapes), np.asarray(lengths)]


@pytest.mark.parametrize("n_parts", [3, 4])
@pytest.mark.parametrize("lengths", [[1], [4], [3, 0, 5, 1]])
def test_gradients(n_parts: int, lengths: list[int]) -> None:
    """Both implementations give the same, and the gradients that finite differences give."""
    args = inputs(n_parts, lengths)
    weights = np.random.default_rng(1).normal(size=args[1].shape)
    states, outputs, gates = _sru.forward(*args)
    for own, other in zip((states, outputs, gates), forward_steps(*args), strict=True):
        np.testing.assert_allclose(own, other, atol=1e-12)
    gradients = _sru.backward(*args, states, gates, weights)
    for own, other in zip(gradients, backward_steps(*args, states, gates, weights), strict=True):
        np.testing.assert_allclose(own, other, atol=1e-12)
    for array, gradient in zip(args, gradients, strict=False):
        for i in np.ndindex(*array.shape):
            values = []
            for step in (EPSILON, -2 * EPSILON):
                array[i] += step
                values.append((_sru.forward(*args)[1] * weights).sum())
            array[i] += EPSILON
            assert (values[0] - values[1]) / (2 * EPSILON) == pytest.approx(gradient[i], abs=1e-7)


def test_single_precision() -> None:
    """The polynomial of the sigmoid is as exact as the numbers are, also where it saturates."""
    double = inputs(3, [2000, 3], units=8)
    double[0] *= 30
    single = [array.astype("f") for array in double[:4]]
    for own, exact in zip(_sru.forward(*single, double[4]), _sru.forward(*double), strict=True):
        np.testing.assert_allclose(own, exact, rtol=2e-4, atol=2e-4)
    gates = np.linspace(-40, 40, 100_001, dtype="f")
    U = np.zeros((len(gates), 6), dtype="f")
    U[:, 1] = gates
    found = _sru.forward(U, U[:, :2].copy(), *np.zeros((2, 2, 2, 1), dtype="f"), np.ones(len(U), dtype=np.int64))[2][
        :, 0
    ]
    np.testing.assert_allclose(found, 1 / (1 + np.exp(-gates.astype(float))), rtol=3e-7, atol=1e-13)


def test_layer_gradient() -> None:
    """The layer's gradients of its inputs and weights, in single precision."""
    fix_random_seed(0)
    rng = np.random.default_rng(0)
    X = [rng.normal(size=(n, 5)).astype("f") for n in (3, 0, 4)]
    weights = [rng.normal(size=(len(x), 6)).astype("f") for x in X]
    layer = sru(3)
    layer.initialize(X=X)

    def value() -> float:
        return sum(float((y.astype(float) * w).sum()) for y, w in zip(layer.predict(X), weights, strict=True))

    _, backprop = layer(X, is_train=True)
    dX = backprop(weights)
    checked = [(x, dx) for x, dx in zip(X, dX, strict=True)]
    checked += [(layer.get_param(name), layer.get_grad(name)) for name in ("W", "v", "b")]
    for array, gradient in checked:
        for i in np.ndindex(*array.shape):
            values = []
            for step in (0.01, -0.02):
                array[i] += step
                values.append(value())
            array[i] += 0.01
            assert (values[0] - values[1]) / 0.02 == pytest.approx(gradient[i], abs=2e-3)


def encoder(**sizes: int) -> tuple[Model[list[Doc], Any], list[Doc]]:
    """SRUs over vectors that depend on the word alone, and docs of several sentences."""
    fix_random_seed(0)
    vectors = {word: np.random.default_rng(i).normal(size=4).astype("f") for i, word in enumerate("abcdef")}
    words: Model[list[Doc], Any] = Model(
        "words",
        lambda model, docs, is_train: (
            [np.asarray([vectors[t.text] for t in doc], dtype="f").reshape(-1, 4) for doc in docs],
            lambda dY: [],
        ),
    )
    vocab = Vocab()
    docs = [
        Doc(vocab, words=list("abcabf"), sent_starts=[True, False, False, True, False, False]),
        Doc(vocab),
        Doc(vocab, words=list("abc"), sent_starts=[True, False, False]),
    ]
    model = build_sru(words, **sizes)
    model.initialize(X=docs)
    return model, docs


def test_it_sees_one_sentence() -> None:
    """A sentence gets the same vectors alone, in a doc of several, and in any batch; its words see each other."""
    model, docs = encoder(depth=2, hidden_width=3)
    first, empty, alone = model.predict(docs)
    assert first.shape == (6, 6) and empty.shape == (0, 6)
    np.testing.assert_array_equal(first[:3], alone)
    np.testing.assert_array_equal(model.predict([docs[2]])[0], alone)
    assert not np.allclose(first[3], first[0]) and not np.allclose(first[4], first[1])


def test_saving() -> None:
    model, docs = encoder(depth=2, hidden_width=2)  # the first layer has a highway of its own, the second has not
    other, _ = encoder(depth=2, hidden_width=2)
    for node in other.walk():
        for name in node.param_names:
            node.set_param(name, node.get_param(name) * 0)
    other.from_bytes(model.to_bytes())
    for own, loaded in zip(model.predict(docs), other.predict(docs), strict=True):
        np.testing.assert_array_equal(own, loaded)


def test_sizes() -> None:
    with pytest.raises(ValueError, match="E200"):
        encoder(depth=0)
    with pytest.raises(ValueError, match="E200"):
        encoder(hidden_width=0)
