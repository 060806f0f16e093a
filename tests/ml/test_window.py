"""The convolution without padding between docs."""

import numpy as np
import pytest
import spacy
from differences import check_gradients
from spacy.ml.models.tok2vec import MaxoutWindowEncoder
from thinc.api import Model, NumpyOps, fix_random_seed

from spacy_parsetag.ml.window import build_window_encoder

WIDTH = 8


def make(depth: int, window_size: int = 2) -> Model:
    fix_random_seed(0)
    model = build_window_encoder(WIDTH, window_size, 3, depth)
    model.initialize()
    return model


def make_docs(*lengths: int) -> list[np.ndarray]:
    random = np.random.default_rng(0)
    return [random.normal(size=(n, WIDTH)).astype(np.float32) for n in lengths]


def test_one_layer_is_spacys() -> None:
    """What lies beyond a doc's ends is zeros in both; with more layers only in ours."""
    ours, spacys = make(1), MaxoutWindowEncoder(WIDTH, 2, 3, 1)
    spacys.initialize()
    for mine, theirs in zip(
        (node for node in ours.walk() if node.param_names),
        (node for node in spacys.walk() if node.param_names),
        strict=True,
    ):
        for name in mine.param_names:
            theirs.set_param(name, mine.get_param(name))
    docs = make_docs(3, 1, 10)
    for found, expected in zip(ours.predict(docs), spacys.predict(docs), strict=True):
        np.testing.assert_allclose(found, expected, atol=1e-5)


@pytest.mark.parametrize("lengths", [(4, 1, 7), (0, 4, 0, 3, 0), (0, 0), (1,)])
def test_docs_do_not_see_each_other(lengths: tuple[int, ...]) -> None:
    model = make(3)
    docs = make_docs(*lengths)
    for found, doc in zip(model.predict(docs), docs, strict=True):
        assert found.shape == doc.shape
        if len(doc):
            np.testing.assert_allclose(found, model.predict([doc])[0], atol=1e-6)
    assert model.predict([]) == []


def test_gradient() -> None:
    """By finite differences; and none comes from one doc to the other."""
    model = make(2)
    docs = make_docs(4, 0, 3)
    found, backprop = model.begin_update(docs)
    weights = [np.ones_like(doc) * np.arange(WIDTH, dtype=np.float32) for doc in docs]
    gradients = backprop(weights)

    def value() -> float:
        return sum(float((w * y).sum(dtype="d")) for w, y in zip(weights, model.predict(docs), strict=True))

    check_gradients(value, zip(docs, gradients, strict=True), atol=0.05, step=1e-2)
    assert len(found) == 3 and isinstance(model.ops, NumpyOps)


def test_refuses_bad_settings() -> None:
    make_layer = spacy.registry.architectures.get("spacy-parsetag.WindowEncoder.v1")
    for settings in ((0, 1, 3, 2), (8, 0, 3, 2), (8, 1, 0, 2), (8, 1, 3, 0)):
        with pytest.raises(ValueError, match=r"\[E200\]"):
            make_layer(*settings)
