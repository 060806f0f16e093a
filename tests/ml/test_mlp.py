"""Linear layers and scores of hidden vectors: compiled ones beside NumPy's, and gradients."""

import numpy as np
import pytest
from differences import check_gradients
from thinc.api import Model, fix_random_seed, set_dropout_rate
from thinc.types import Floats2d

from spacy_parsetag.ml import mlp
from spacy_parsetag.ml._mlp import limit_registers, multiply, score
from spacy_parsetag.ml.mlp import Hidden, scores_of_hidden

STEP = 2e-3  # in single precision


def scorer(X: Hidden, n_scores: int, rng: np.random.Generator) -> Model[Hidden, Floats2d]:
    model = scores_of_hidden(n_scores).initialize(X=X)
    for name in ("G", "beta", "b"):
        model.set_param(name, rng.normal(size=model.get_param(name).shape).astype("f") + (name == "G"))
    return model


def draw(n_rows: int, width: int, n: int, rng: np.random.Generator) -> Hidden:
    """Differences of rows that do not have the mean 0."""
    vectors = (rng.normal(size=(n_rows, width)) + rng.normal(size=(n_rows, 1))).astype("f")
    first, last = rng.integers(n_rows, size=(2, n)).astype(np.int32)
    return Hidden(vectors, first, last)


@pytest.mark.parametrize("n_bytes", [64, 32, 16])
@pytest.mark.parametrize(
    ("width", "n_scores", "n"), [(1, 1, 1), (15, 16, 31), (16, 17, 32), (33, 70, 67), (300, 106, 5)]
)
def test_compiled_scores(n_bytes: int, width: int, n_scores: int, n: int) -> None:
    """Registers of all widths give what NumPy gives in double precision, of differences and of the rows themselves."""
    rng = np.random.default_rng(0)
    X = draw(9, width, n, rng)
    model = scorer(X, n_scores, rng)
    scale, shift, weights, bias = (model.get_param(name) for name in ("G", "beta", "W", "b"))
    centred = X.vectors - X.vectors.mean(axis=1, keepdims=True)
    before = limit_registers(n_bytes)
    try:
        for first, last in ((X.first, X.last), (None, None)):
            vectors = centred.astype("d")
            if last is not None:
                vectors = vectors[last] - vectors[first]
            normed = vectors / np.sqrt((vectors**2).mean(axis=1, keepdims=True) + 1e-5)
            expected = np.maximum(normed * scale + shift, 0) @ weights.T + bias
            found = score(centred, first, last, scale, shift, weights, bias, 1e-5)
            np.testing.assert_allclose(found, expected, rtol=1e-4, atol=1e-4)
    finally:
        limit_registers(-before)


@pytest.mark.parametrize("n_bytes", [64, 32, 16])
@pytest.mark.parametrize("n_out", [1, 15, 16, 17, 63, 64, 65, 79, 80, 81, 128, 144, 336])
@pytest.mark.parametrize(("n", "depth"), [(0, 5), (1, 1), (3, 0), (5, 33), (64, 7), (67, 512), (130, 96)])
def test_linear_layers(n_bytes: int, n_out: int, n: int, depth: int) -> None:
    """Compiled products give what NumPy gives in double precision, however many vectors there are at once."""
    rng = np.random.default_rng(0)
    vectors, weights = (rng.normal(size=(rows, depth)).astype("f") for rows in (n, n_out))
    before = limit_registers(n_bytes)
    try:
        found = multiply(vectors, weights)
        expected = vectors.astype("d") @ weights.T.astype("d")
        np.testing.assert_allclose(found, expected, rtol=1e-4, atol=1e-4)
        for row in range(min(n, 5)):
            np.testing.assert_array_equal(multiply(vectors[row : row + 1], weights)[0], found[row])
    finally:
        limit_registers(-before)


def test_both_ways(monkeypatch: pytest.MonkeyPatch) -> None:
    """With and without wide registers the layer gives the same; what is not a number comes through."""
    rng = np.random.default_rng(1)
    X = draw(20, 12, 90, rng)
    X.vectors[3, 5] = np.nan
    assert X.first is not None and X.last is not None
    other = Hidden(np.asfortranarray(X.vectors), X.first[::2].astype(np.int64), X.last[::2])
    model = scorer(X, 4, rng)
    found = []
    for is_wide in (True, False):
        monkeypatch.setattr(mlp, "_WIDE", 0 if is_wide else 1000)
        found.append([model.predict(x) for x in (X, Hidden(X.vectors), draw(20, 12, 0, rng), other)])
    for compiled, expected, n in zip(*found, (90, 20, 0, 45), strict=True):
        assert compiled.shape == (n, 4)
        np.testing.assert_allclose(compiled, expected, atol=1e-5)
    assert np.isnan(found[0][1][3]).all()


def test_damaged_weights(monkeypatch: pytest.MonkeyPatch) -> None:
    """Compiled code does not read beyond weights of another shape."""
    monkeypatch.setattr(mlp, "_WIDE", 0)
    rng = np.random.default_rng(2)
    X = draw(5, 12, 8, rng)
    for name, shape in (("G", 11), ("beta", 0), ("W", (4, 13)), ("W", (3, 12)), ("b", 3)):
        model = scorer(X, 4, rng)
        model.set_param(name, np.zeros(shape, dtype="f"))
        with pytest.raises(ValueError, match=r"E218.*scores_of_hidden"):
            model.predict(X)


@pytest.mark.parametrize("rows", [2, 512])
@pytest.mark.parametrize("differences", [True, False])
def test_gradient_of_scores_of_hidden(differences: bool, rows: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of input and parameters, with the masks of dropout held, in pieces and in one go."""
    monkeypatch.setattr(mlp, "_CPU_ROWS", rows)
    rng = np.random.default_rng(0)
    vectors = rng.normal(size=(5, 6)).astype("f")
    first, last = (np.asarray(index, dtype=np.int32) for index in ([0, 0, 1, 3], [2, 3, 3, 4]))
    X = Hidden(vectors, first, last) if differences else Hidden(vectors)
    model = scorer(X, 3, rng)
    set_dropout_rate(model, 0.4)
    fix_random_seed(1)
    Y, backprop = model(X, True)
    dY = rng.normal(size=Y.shape).astype("f")
    dX = backprop(dY)

    def value() -> float:
        fix_random_seed(1)
        return float((model(X, True)[0].astype("d") * dY).sum())

    arrays = [(vectors, dX)] + [(model.get_param(name), model.get_grad(name)) for name in ("G", "beta", "W", "b")]
    check_gradients(value, arrays, atol=4e-3, step=STEP)
