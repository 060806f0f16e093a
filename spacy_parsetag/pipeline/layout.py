"""Which rows of a batch's scores belong to which sentence."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from spacy.tokens import Doc

from ..errors import Errors
from ..tokens.sentences import find_words, has_sentences, sentence_starts


class Layout(NamedTuple):
    """The sentences of a batch of docs, over all their words. Sentences without any word are left out.

    token (NDArray[int64]): (W,) index of each word's token among the tokens of all docs.
    n_words (NDArray[int32]): (S,) words of each sentence, at least 1.
    first (NDArray[int64]): (S,) first word of each sentence, as an index into `token`.
    doc (NDArray[int64]): (S,) index of each sentence's doc.
    offsets (NDArray[int64]): (D+1,) index of each doc's first token.
    """

    token: NDArray[np.int64]
    n_words: NDArray[np.int32]
    first: NDArray[np.int64]
    doc: NDArray[np.int64]
    offsets: NDArray[np.int64]

    @classmethod
    def of(cls, docs: Sequence[Doc], *, name: str) -> "Layout":
        """Lay out docs by their sentence boundaries.

        docs (Sequence[Doc]): The docs; each one of several tokens must have sentence boundaries.
        name (str): The component, for the message.
        RETURNS (Layout): The layout.
        RAISES (ValueError): If a doc has no sentence boundaries.
        """
        for doc in docs:
            if not has_sentences(doc):
                raise ValueError(Errors.E150.format(name=name, text=doc.text[:50]))
        offsets = np.cumsum([0, *map(len, docs)], dtype=np.int64)
        starts = [sentence_starts(doc) for doc in docs]
        none = np.zeros(0, dtype=np.int64)
        token = np.flatnonzero(np.concatenate([none == 0, *map(find_words, docs)]))
        bounds = np.concatenate([none, *(own + offset for own, offset in zip(starts, offsets, strict=False))])
        before = np.searchsorted(token, np.append(bounds, offsets[-1]))  # words before each sentence
        n_words = np.diff(before)
        owner = np.repeat(np.arange(len(docs)), [len(own) for own in starts])
        full = n_words > 0
        return cls(token, n_words[full].astype(np.int32), before[:-1][full], owner[full], offsets)
