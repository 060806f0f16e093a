"""An encoder of docs that passes over white space."""

from collections.abc import Callable
from typing import Any

import numpy as np
from spacy.attrs import IS_SPACE
from spacy.tokens import Doc
from thinc.api import Model
from thinc.types import Floats2d

from .words import Arrays, SequenceModel


def build_word_tok2vec(embed: Model[list[Doc], Arrays], encode: SequenceModel) -> Model[list[Doc], Arrays]:
    """Embed tokens and encode those that are words: spacy-parsetag.WordTok2Vec.v1.

    It takes the place of spaCy's `Tok2Vec.v2`, and reads its weights. There a line break or a second space is a
    neighbour of words like any other, so that their vectors, tags and trees change when an editor wraps a text anew.
    Here they do not; the vectors of white space are zeros.

    embed (Model): Gives a vector for each token of a doc.
    encode (Model): Gives vectors in context, of the same width.
    """
    dims = {"nO": encode.get_dim("nO") if encode.has_dim("nO") else None}
    refs: dict[str, Model[Any, Any] | None] = {"embed": embed, "encode": encode}
    return Model("word_tok2vec", _forward, init=_init, layers=[embed, encode], dims=dims, refs=refs)


def _init(model: Model[list[Doc], Arrays], X: list[Doc] | None = None, Y: Arrays | None = None) -> None:
    embed, encode = model.layers
    embed.initialize(X=X)
    encode.initialize(X=None if X is None else embed.predict(X), Y=Y)


def _forward(
    model: Model[list[Doc], Arrays], docs: list[Doc], is_train: bool
) -> tuple[Arrays, Callable[[Arrays], list[Doc]]]:
    embed, encode = model.layers
    xp = model.ops.xp
    words = [xp.asarray(np.flatnonzero(doc.to_array(IS_SPACE) == 0)) for doc in docs]
    vectors, backprop_embed = embed(docs, is_train)
    encoded, backprop_encode = encode(_take(vectors, words), is_train)

    def spread(arrays: Arrays) -> Arrays:
        """Put rows of words in the places of their tokens, among zeros."""
        spread: Arrays = []
        for rows, doc, of_doc in zip(arrays, docs, words, strict=True):
            whole: Floats2d = rows
            if len(rows) < len(doc):
                whole = model.ops.alloc2f(len(doc), rows.shape[1])
                whole[of_doc] = rows
            spread.append(whole)
        return spread

    def backprop(d_encoded: Arrays) -> list[Doc]:
        d_docs: list[Doc] = backprop_embed(spread(backprop_encode(_take(d_encoded, words))))
        return d_docs

    return spread(encoded), backprop


def _take(arrays: Arrays, words: list[Any]) -> Arrays:
    return [rows if len(of_doc) == len(rows) else rows[of_doc] for rows, of_doc in zip(arrays, words, strict=True)]
