"""An encoder of docs in which white space is no neighbour of words."""

from collections.abc import Callable
from typing import Any

import numpy as np
from spacy.attrs import IS_SPACE
from spacy.tokens import Doc
from thinc.api import Model

from .words import Arrays, SequenceModel


def build_word_tok2vec(embed: Model[list[Doc], Arrays], encode: SequenceModel) -> Model[list[Doc], Arrays]:
    """Embed tokens, and encode words and white space apart: spacy-parsetag.WordTok2Vec.v1.

    It takes the place of spaCy's `Tok2Vec.v2`, and reads its weights. There a line break or a second space is a
    neighbour of words like any other, so that their vectors, tags and trees change when an editor wraps a text anew.
    Here words have words for neighbours, and the white space of a doc has its other white space.

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
    is_space = [doc.to_array(IS_SPACE) == 1 for doc in docs]
    mixed = [i for i, of_doc in enumerate(is_space) if of_doc.any() and not of_doc.all()]
    words, spaces = ([xp.asarray(np.flatnonzero(is_space[i] == kind)) for i in mixed] for kind in (False, True))

    def split(arrays: Arrays) -> Arrays:
        """Leave the words in docs that have words and white space, and put the rows of their white space last."""
        parts = list(arrays)
        for i, of_words in zip(mixed, words, strict=True):
            parts[i] = arrays[i][of_words]
        return parts + [arrays[i][of_spaces] for i, of_spaces in zip(mixed, spaces, strict=True)]

    def join(parts: Arrays) -> Arrays:
        """Undo what `split` does."""
        arrays = parts[: len(docs)]
        for i, of_words, of_spaces, rows in zip(mixed, words, spaces, parts[len(docs) :], strict=True):
            arrays[i] = model.ops.alloc2f(len(docs[i]), rows.shape[1])
            arrays[i][of_words], arrays[i][of_spaces] = parts[i], rows
        return arrays

    vectors, backprop_embed = embed(docs, is_train)
    encoded, backprop_encode = encode(split(vectors), is_train)

    def backprop(d_encoded: Arrays) -> list[Doc]:
        d_docs: list[Doc] = backprop_embed(join(backprop_encode(split(d_encoded))))
        return d_docs

    return join(encoded), backprop
