"""Which rows of a batch's scores belong to which sentence."""

from typing import List, NamedTuple, Sequence

import numpy as np
from spacy.attrs import IS_SPACE, SENT_START
from spacy.tokens import Doc

from ..errors import Errors


class Layout(NamedTuple):
    """The sentences of a batch of docs, over all their words. White space tokens are no words.

    token (np.ndarray): (W,) index of each word's token among the tokens of all docs.
    words (np.ndarray): (S,) int32 words of each sentence, at least 1.
    first (np.ndarray): (S,) int64 first word of each sentence, as an index into `token`.
    doc (np.ndarray): (S,) index of each sentence's doc.
    offsets (np.ndarray): (D+1,) index of each doc's first token.
    """

    token: np.ndarray
    words: np.ndarray
    first: np.ndarray
    doc: np.ndarray
    offsets: np.ndarray

    @property
    def rows(self) -> np.ndarray:
        """(S,) int64 first row of each sentence in (2W, T) scores, two rows a word. The last one is not used."""
        return 2 * self.first

    @classmethod
    def of(cls, docs: Sequence[Doc], *, name: str) -> "Layout":
        """Lay out docs by their sentence boundaries.

        docs (Sequence[Doc]): The docs; each one of several tokens must have sentence boundaries.
        name (str): The component, for the message.
        RAISES (ValueError): If a doc has none.
        """
        offset = 0
        offsets = [0]
        tokens: List[np.ndarray] = []
        words: List[np.ndarray] = []
        owner: List[np.ndarray] = []
        for i, doc in enumerate(docs):
            if len(doc) > 1 and not doc.has_annotation("SENT_START"):
                raise ValueError(Errors.E150.format(name=name, text=doc.text[:50]))
            if len(doc):
                attributes = doc.to_array([SENT_START, IS_SPACE])
                starts = attributes[:, 0] == 1
                starts[0] = True
                sentence = np.cumsum(starts) - 1
                in_doc = np.flatnonzero(attributes[:, 1] == 0)
                counts = np.bincount(sentence[in_doc], minlength=1)
                counts = counts[counts > 0]
                tokens.append(in_doc + offset)
                words.append(counts)
                owner.append(np.full(len(counts), i))
                offset += len(doc)
            offsets.append(offset)
        empty = np.zeros(0, dtype=np.int64)
        n_words = np.concatenate([empty, *words])
        first = np.concatenate([[0], np.cumsum(n_words)])[:-1].astype(np.int64) if len(n_words) else empty
        return cls(
            np.concatenate([empty, *tokens]),
            n_words.astype(np.int32),
            first,
            np.concatenate([empty, *owner]),
            np.asarray(offsets),
        )
