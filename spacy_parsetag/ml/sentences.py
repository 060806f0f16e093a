"""Layers that see one sentence at a time, whatever the doc."""

from collections.abc import Callable
from itertools import islice
from typing import Any

import numpy as np
from spacy.tokens import Doc
from thinc.api import Model, get_array_module
from thinc.types import Floats2d

from ..tokens.sentences import sentence_starts

EncoderT = Model[list[Doc], list[Floats2d]]


def by_sentence(tok2vec: EncoderT, layer: Model[list[Floats2d], list[Floats2d]]) -> EncoderT:
    """Apply a layer to the vectors of each sentence on its own.

    tok2vec (Model[list[Doc], list[Floats2d]]): The encoder, which sees whole docs.
    layer (Model[list[Floats2d], list[Floats2d]]): The layer.
    RETURNS (Model[list[Doc], list[Floats2d]]): One (tokens, nO) array per doc.
    """
    # With the encoder's name in it: by that `spacy debug model` knows a transformer's listener.
    name = f"by_sentence({tok2vec.name})"
    return Model(name, _forward, init=_init, layers=[tok2vec, layer], dims={"nO": None})


def _init(model: EncoderT, X: list[Doc] | None = None, Y: list[Floats2d] | None = None) -> None:
    tok2vec, layer = model.layers
    tok2vec.initialize(X=X)
    layer.initialize(X=None if X is None else tok2vec.predict(X), Y=Y)
    model.set_dim("nO", layer.get_dim("nO"))


def _forward(
    model: EncoderT, docs: list[Doc], is_train: bool
) -> tuple[list[Floats2d], Callable[[list[Floats2d]], list[Doc]]]:
    tok2vec, layer = model.layers
    xp = model.ops.xp
    vectors, backprop_vectors = tok2vec(docs, is_train)
    lengths = [sentence_lengths(doc) for doc in docs]
    counts = [len(own) for own in lengths]
    sentences = [piece for x, own in zip(vectors, lengths, strict=True) for piece in split(x, own)]
    outputs, backprop_outputs = layer(sentences, is_train)

    def backprop(dY: list[Floats2d]) -> list[Doc]:
        pieces = [piece for dy, own in zip(dY, lengths, strict=True) for piece in split(dy, own)]
        d_docs: list[Doc] = backprop_vectors(_join(xp, backprop_outputs(pieces), counts))
        return d_docs

    return _join(xp, outputs, counts), backprop


def sentence_lengths(doc: Doc) -> list[int]:
    """The tokens of each sentence; one sentence of none for an empty doc."""
    return [int(n) for n in np.diff([*sentence_starts(doc), len(doc)])] or [0]


def split(x: Floats2d, lengths: list[int]) -> list[Floats2d]:
    """Cut an array into pieces of so many rows; they are views."""
    pieces: list[Floats2d] = get_array_module(x).split(x, np.cumsum(lengths)[:-1])
    return pieces


def _join(xp: Any, pieces: list[Floats2d], counts: list[int]) -> list[Floats2d]:
    """Put so many pieces together into each array."""
    rest = iter(pieces)
    return [xp.concatenate(list(islice(rest, n))) for n in counts]
