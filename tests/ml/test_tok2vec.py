"""WordTok2Vec.v1: spaCy's Tok2Vec.v2 over the words of docs."""

from typing import Any

import numpy as np
import pytest
import spacy
from spacy.tokens import Doc
from thinc.api import Model
from thinc.types import Floats2d

TEXTS = ["She enjoys reading old papers .", "The old dog barked ."]
SPACED = ["\n She enjoys \r\n reading old papers .", "  The old   dog barked . \n"]


def make(name: str) -> Model[list[Doc], list[Floats2d]]:
    get = spacy.registry.architectures.get
    attrs, rows = ["NORM", "PREFIX", "SUFFIX", "SHAPE"], [200, 50, 50, 50]
    embed = get("spacy.MultiHashEmbed.v2")(width=16, attrs=attrs, rows=rows, include_static_vectors=False)
    encode = get("spacy.MaxoutWindowEncoder.v2")(width=16, window_size=1, maxout_pieces=2, depth=2)
    model: Model[list[Doc], list[Floats2d]] = get(name)(embed=embed, encode=encode)
    return model


def docs_of(texts: list[str]) -> list[Doc]:
    """One token for each piece of white space beside a single space, as spaCy's tokenizer has it."""
    nlp = spacy.blank("en")
    return [nlp.make_doc(text) for text in texts]


def gradients(model: Model[Any, Any]) -> list[np.ndarray]:
    """Take the gradients of all weights, which become zeros."""
    found = []
    for node in model.walk():
        for name in node.param_names:
            if node.has_grad(name):
                found.append(node.get_grad(name).copy())
                node.set_grad(name, np.zeros_like(found[-1]))
    return found


@pytest.fixture
def models() -> tuple[Model[list[Doc], list[Floats2d]], Model[list[Doc], list[Floats2d]]]:
    """spaCy's encoder, and ours with its weights."""
    docs = docs_of(TEXTS)
    theirs, ours = make("spacy.Tok2Vec.v2"), make("spacy-parsetag.WordTok2Vec.v1")
    theirs.initialize(X=docs)
    ours.initialize(X=docs)
    return theirs, ours.from_bytes(theirs.to_bytes())


def test_without_white_space(models: tuple[Model[Any, Any], Model[Any, Any]]) -> None:
    """The vectors and gradients of spaCy's, whose weights it reads."""
    found = []
    for model in models:
        vectors, backprop = model(docs_of(TEXTS), is_train=True)
        backprop([rows * 2 for rows in vectors])
        found.append([*vectors, *gradients(model)])
    assert len(found[0]) == len(found[1]) > 2
    for theirs, ours in zip(*found, strict=True):
        assert np.array_equal(theirs, ours)


def test_white_space_changes_nothing(models: tuple[Model[Any, Any], Model[Any, Any]]) -> None:
    _, model = models
    expected, backprop = model(docs_of(TEXTS), is_train=True)
    backprop(expected)
    of_weights = gradients(model)
    docs = docs_of(SPACED)
    vectors, backprop = model(docs, is_train=True)
    for doc, rows, words in zip(docs, vectors, expected, strict=True):
        is_word = [not token.is_space for token in doc]
        assert rows.shape[0] == len(doc) > len(words)
        assert np.array_equal(rows[is_word], words) and rows[np.invert(is_word)].any()
        rows[np.invert(is_word)] = 0
    backprop(vectors)
    for ours, theirs in zip(gradients(model), of_weights, strict=True):
        np.testing.assert_allclose(ours, theirs, rtol=1e-4, atol=1e-6)


def test_docs_without_words(models: tuple[Model[Any, Any], Model[Any, Any]]) -> None:
    _, model = models
    docs = [*docs_of(["", "\n", TEXTS[0]])]
    assert [rows.shape[0] for rows in model.predict(docs)] == [0, 1, 6]
    vectors, backprop = model(docs_of(["\n"]), is_train=True)
    assert [rows.shape[0] for rows in vectors] == [1]
    backprop(vectors)
