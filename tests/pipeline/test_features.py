"""The encoder with features of spelling beside it."""

import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import spacy
from spacy.language import Language
from spacy.tokens import Doc
from tiny import TINY_MODEL, make_examples, make_nlp, spans_of, train

from spacy_parsetag.ml.features import build_with_features, window_layer

FEATURES: dict[str, Any] = {
    "@architectures": "spacy.MultiHashEmbed.v2",
    "width": 16,
    "attrs": ["PREFIX", "SHAPE"],
    "rows": [100, 100],
    "include_static_vectors": False,
}


def make_pipeline(**settings: Any) -> Language:
    encoder = {
        "@architectures": "spacy-parsetag.WithFeatures.v1",
        "tok2vec": TINY_MODEL["tok2vec"],
        "features": FEATURES,
        **settings,
    }
    return make_nlp(model={**TINY_MODEL, "tok2vec": encoder})


@pytest.mark.parametrize("settings", [{}, {"depth": 2, "window_size": 2, "maxout_pieces": 1}, {"window_size": 0}])
def test_overfitting_IO(settings: dict[str, Any], tmp_path: Path) -> None:
    nlp = make_pipeline(**settings)
    examples = make_examples(nlp)
    train(nlp, examples, steps=40)
    encoder = nlp.get_pipe("parsetag").model.get_ref("tok2vec")
    assert encoder.get_dim("nO") == 32 + 16
    expected = [spans_of(eg.reference) for eg in examples]
    nlp.to_disk(tmp_path)
    for pipeline in (nlp, spacy.load(tmp_path), pickle.loads(pickle.dumps(nlp))):
        assert [spans_of(pipeline(eg.predicted.copy())) for eg in make_examples(pipeline)] == expected


def test_convolution_stays_in_its_sentence() -> None:
    nlp = make_pipeline()
    train(nlp, make_examples(nlp), steps=1)
    encoder = nlp.get_pipe("parsetag").model.get_ref("tok2vec")
    both, convolution = encoder.layers
    doc = Doc(nlp.vocab, words=["Rain", "falls", "She", "sings", "well"], sent_starts=[True, False, True, False, False])
    vectors = both.predict([doc])[0]
    expected = [convolution.predict([vectors[:2]])[0], convolution.predict([vectors[2:]])[0]]
    np.testing.assert_allclose(encoder.predict([doc])[0], np.concatenate(expected), atol=1e-6)
    assert encoder.predict([nlp.make_doc("")])[0].shape == (0, 48)


def test_gradient_of_the_convolution() -> None:
    """Against finite differences."""
    rng = np.random.default_rng(0)
    layer = window_layer(1, 3)
    X, d = rng.normal(size=(5, 4)).astype("f"), rng.normal(size=(5, 4)).astype("f")
    layer.initialize(X=X)
    _, backprop = layer(X, True)
    gradient = backprop(d)
    step = 1e-2
    for place in np.ndindex(X.shape):
        shifted = [X.copy(), X.copy()]
        shifted[0][place] += step
        shifted[1][place] -= step
        high, low = ((layer.predict(x).astype(np.float64) * d).sum() for x in shifted)
        assert gradient[place] == pytest.approx((high - low) / (2 * step), abs=2e-2)


@pytest.mark.parametrize("wrong", [{"depth": -1}, {"window_size": -1}, {"maxout_pieces": 0}])
def test_bad_sizes(wrong: dict[str, int]) -> None:
    with pytest.raises(ValueError, match=r"\[E200\]"):
        build_with_features(window_layer(1, 1), window_layer(1, 1), **wrong)  # type: ignore[arg-type]
