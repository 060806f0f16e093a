"""The learner that scores tags: where scores come from, and gradients by finite differences."""

from typing import Any

import numpy as np
import pytest
from spacy.tokens import Doc
from test_build_spans import TAGS, VOCAB, WIDTH, Lookup, check_learner, words_of
from thinc.api import Linear, Model, fix_random_seed, set_dropout_rate, with_array

from spacy_parsetag.decode import Transitions
from spacy_parsetag.ml.tags import build_tags
from spacy_parsetag.ml.words import SentenceScores

DOCS = [words_of(3, 1, spaces=(1, 4)), words_of(), words_of(2)]
T = len(TAGS)


def make(**settings: Any) -> tuple[Model[list[Doc], SentenceScores], Lookup]:
    fix_random_seed(0)
    lookup, rng = Lookup(), np.random.default_rng(1)
    model = build_tags(Model("lookup", lookup), **settings)
    model.initialize(X=DOCS, Y=[np.zeros((len(doc), 2 * T), dtype="f") for doc in DOCS])
    for node in (model, model.layers[2]):
        for name in node.param_names:
            node.set_param(name, rng.normal(size=node.get_param(name).shape).astype("f"))
    return model, lookup


@pytest.mark.parametrize("width", [0, -3, "8"])
def test_a_width_that_no_layer_has(width: Any) -> None:
    with pytest.raises(ValueError, match=rf"\[E200\] hidden_width must be at least 1; got {width!r}"):
        make(hidden_width=width)


@pytest.mark.parametrize("transitions", [False, True])
def test_scores(transitions: bool) -> None:
    """Two heads, one of each tag of a word; white space has no rows."""
    model, lookup = make(transitions=transitions)
    Y = model.predict(DOCS)
    assert Y.words.tokens.tolist() == [0, 2, 3, 5, 6, 7] and Y.spans is None and model.get_dim("nO") == 2 * T
    texts = [doc[i].text for doc, sents in zip(DOCS, Y.words.sentences, strict=True) for sent in sents for i in sent]
    heads = model.layers[2]
    W, b = (heads.get_param(name).reshape((2, T, -1)) for name in ("W", "b"))
    for w, text in enumerate(texts):
        for slot in (0, 1):
            expected = W[slot] @ lookup.vector(text) + b[slot][:, 0]
            np.testing.assert_allclose(Y.rows[2 * w + slot], expected, atol=1e-5)
    assert (Y.transitions is not None) == transitions
    for name, array in zip(Transitions._fields, Y.transitions or (), strict=False):
        assert array is model.get_param(name)


@pytest.mark.parametrize("encoder", [False, True])
@pytest.mark.parametrize("hidden_width", [None, 4])
def test_gradient(encoder: bool, hidden_width: int | None) -> None:
    """Of vectors and parameters, those of transitions too."""
    layer = with_array(Linear(5)) if encoder else None
    model, lookup = make(transitions=True, hidden_width=hidden_width, encoder=layer)
    Y, backprop = model(DOCS, True)
    rng = np.random.default_rng(2)
    assert Y.transitions is not None
    d_transitions = Transitions(*(rng.normal(size=array.shape).astype("f") for array in Y.transitions))
    dY = SentenceScores(rng.normal(size=Y.rows.shape).astype("f"), Y.words, d_transitions)
    backprop(dY)
    check_learner(model, lookup, DOCS, dY, rng, n_places=6, atol=5e-2)
    # Gradients add up, and the parameters are saved.
    before = model.get_grad("pairs").copy()
    model(DOCS, True)[1](dY)
    np.testing.assert_allclose(model.get_grad("pairs"), before + d_transitions.pairs, rtol=1e-5)


def test_transitions_begin_at_zero_and_are_saved() -> None:
    model, _ = make(transitions=True)
    other = build_tags(Model("lookup", Lookup()), transitions=True)
    other.initialize(X=DOCS, Y=[np.zeros((1, 2 * T), dtype="f")])
    assert other.get_param("pairs").shape == (T, T) and not any(other.get_param(n).any() for n in Transitions._fields)
    other.from_bytes(model.to_bytes())
    for name in Transitions._fields:
        np.testing.assert_array_equal(other.get_param(name), model.get_param(name))


def test_dropout() -> None:
    model, _ = make()
    plain = model.predict(DOCS).rows
    set_dropout_rate(model, 0.5)
    assert not np.allclose(model(DOCS, True)[0].rows, plain)
    np.testing.assert_array_equal(model.predict(DOCS).rows, plain)


@pytest.mark.parametrize("transitions", [False, True])
def test_no_words(transitions: bool) -> None:
    model, lookup = make(transitions=transitions)
    Y, backprop = model([words_of(), Doc(VOCAB, words=["\n"])], True)
    assert Y.rows.shape == (0, T) and not len(Y.words.n_words)
    backprop(Y)
    assert [array.shape for array in lookup.gradient] == [(0, WIDTH), (1, WIDTH)]
