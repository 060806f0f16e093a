"""The recurrent layer: its gradients, the reference beside it, and what it sees."""

from typing import Any

import numpy as np
import pytest
from differences import check_gradients
from sru_reference import backward_steps, forward_steps
from thinc.api import fix_random_seed, set_dropout_rate

from spacy_parsetag.ml import _sru
from spacy_parsetag.ml.sru import sru_layer, sru_layers

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
    for compiled, reference in zip((states, outputs, gates), forward_steps(*args), strict=True):
        np.testing.assert_allclose(compiled, reference, atol=1e-12)
    gradients = _sru.backward(*args, states, gates, weights)
    for compiled, reference in zip(gradients, backward_steps(*args, states, gates, weights), strict=True):
        np.testing.assert_allclose(compiled, reference, atol=1e-12)
    pairs = zip(args, gradients, strict=False)
    check_gradients(lambda: (_sru.forward(*args)[1] * weights).sum(), pairs, atol=1e-7, step=EPSILON)


def test_single_precision() -> None:
    """The polynomial of the sigmoid is as exact as the numbers are, also where it saturates."""
    double = inputs(3, [2000, 3], units=8)
    double[0] *= 30
    single = [array.astype("f") for array in double[:4]]
    for found, expected in zip(_sru.forward(*single, double[4]), _sru.forward(*double), strict=True):
        np.testing.assert_allclose(found, expected, rtol=2e-4, atol=2e-4)
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
    layer = sru_layer(3)
    layer.initialize(X=X)

    def value() -> float:
        return sum(float((y.astype(float) * w).sum()) for y, w in zip(layer.predict(X), weights, strict=True))

    _, backprop = layer(X, is_train=True)
    dX = backprop(weights)
    checked = [(x, dx) for x, dx in zip(X, dX, strict=True)]
    checked += [(layer.get_param(name), layer.get_grad(name)) for name in ("W", "v", "b")]
    check_gradients(value, checked, atol=2e-3, step=0.01)


def test_no_sequence_sees_another() -> None:
    """A sequence gets the same vectors alone and in any batch, and its words see each other."""
    fix_random_seed(0)
    rng = np.random.default_rng(0)
    a, b = (rng.normal(size=(n, 4)).astype("f") for n in (5, 3))
    layers = sru_layers(depth=2, hidden_width=3)
    layers.initialize(X=[a, b])
    alone = layers.predict([a])[0]
    first, empty, second = layers.predict([a, a[:0], b])
    assert first.shape == (5, 6) and empty.shape == (0, 6)
    np.testing.assert_allclose(first, alone, atol=1e-6)
    np.testing.assert_allclose(second, layers.predict([b])[0], atol=1e-6)
    changed = a.copy()
    changed[2] += 1
    different = ~np.isclose(layers.predict([changed])[0], alone).all(axis=1)
    assert different.all()
    # The first layer's forward units know the words before, its backward units those after.
    layer = sru_layers(depth=1, hidden_width=3).initialize(X=[a])
    before, after = layer.predict([a])[0], layer.predict([changed])[0]
    different = ~np.isclose(before, after)
    assert not different[:2, :3].any() and different[2:, :3].any(axis=1).all()
    assert not different[3:, 3:].any() and different[:3, 3:].any(axis=1).all()


def test_saving() -> None:
    X = [np.random.default_rng(0).normal(size=(4, 3)).astype("f")]
    # The first layer has a highway of its own, the second has not.
    layers, other = (sru_layers(depth=2, hidden_width=2).initialize(X=X) for _ in range(2))
    assert not np.allclose(layers.predict(X)[0], other.predict(X)[0])
    other.from_bytes(layers.to_bytes())
    np.testing.assert_array_equal(layers.predict(X)[0], other.predict(X)[0])


def test_sizes() -> None:
    for sizes in ((0, 1), (1, 0)):
        with pytest.raises(ValueError, match="E200"):
            sru_layers(*sizes)


def test_initial_variance() -> None:
    """Products vary as much as the inputs, so that no layer's outputs vanish or grow with its width."""
    for width, units in ((40, 60), (400, 60), (120, 60)):
        fix_random_seed(0)
        layer = sru_layer(units).initialize(X=[np.ones((1, width), dtype="f")])
        W, v = layer.get_param("W"), layer.get_param("v")
        assert W.var() == pytest.approx(1 / width, rel=0.05) and v.var() == pytest.approx(1 / units, rel=0.2)
        for array, size in ((W, width), (v, units)):
            assert abs(array).max() <= (3 / size) ** 0.5 and abs(array).max() > 0.9 * (3 / size) ** 0.5
        assert not layer.get_param("b").any()
        X = np.random.default_rng(0).normal(size=(200, width)).astype("f")
        assert (X @ W.T).var() == pytest.approx(1, rel=0.1)


def test_dropout_between_layers() -> None:
    """In training the second layer misses some of what the first one gives it; in prediction nothing is missing."""
    fix_random_seed(0)
    X = [np.random.default_rng(0).normal(size=(6, 4)).astype("f")]
    layers = sru_layers(depth=2, hidden_width=5).initialize(X=X)
    plain = layers(X, True)[0][0]
    set_dropout_rate(layers, 0.5)
    dropped = [layers(X, True)[0][0] for _ in range(2)]
    assert not np.allclose(dropped[0], plain) and not np.allclose(*dropped)
    np.testing.assert_array_equal(layers.predict(X)[0], plain)


@pytest.mark.parametrize("lengths", [[], [0], [0, 0], [4], [0, 9, 0], [4, 0, 3, 2, 1, 0, 7, 5, 0, 0, 6]])
def test_prediction_piece_by_piece(lengths: list[int], monkeypatch: pytest.MonkeyPatch) -> None:
    """Any cut into pieces gives the outputs of training."""
    rng = np.random.default_rng(0)
    layers = sru_layers(2, 3)
    layers.initialize(X=[rng.normal(size=(3, 5)).astype("f")])
    X = [rng.normal(size=(n, 5)).astype("f") for n in lengths]
    expected, _ = layers(X, is_train=True)
    for size in range(1, 12):
        monkeypatch.setattr("spacy_parsetag.ml.sru._PIECE", size)
        found = layers.predict(X)
        assert [len(y) for y in found] == lengths
        for one, other in zip(found, expected, strict=True):
            np.testing.assert_allclose(one, other, atol=1e-6)


@pytest.mark.parametrize("name, shape", [("W", (39, 5)), ("W", (40, 4)), ("v", (1, 2, 5)), ("b", (2, 2, 4))])
def test_weights_that_do_not_fit(name: str, shape: tuple[int, ...]) -> None:
    """Compiled code would read outside them."""
    layer = sru_layers(1, 5).initialize(X=[np.zeros((3, 5), dtype="f")])
    layer.set_param(name, np.zeros(shape, dtype="f"))
    with pytest.raises(ValueError, match=r"not \{'W': \(40, 5\), 'v': \(2, 2, 5\), 'b': \(2, 2, 5\)\}"):
        layer.predict([np.zeros((3, 5), dtype="f")])
