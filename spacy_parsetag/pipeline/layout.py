"""Which rows of a batch's scores belong to which sentence."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from spacy.attrs import IS_SPACE, SENT_START
from spacy.tokens import Doc

from ..errors import Errors
from ..tokens.spans import has_sentences


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
        for doc in docs:
            if len(doc) > 1 and not has_sentences(doc):
                raise ValueError(Errors.E150.format(name=name, text=doc.text[:50]))
        lengths = np.asarray([len(doc) for doc in docs], dtype=np.int64)
        offsets = np.cumsum([0, *lengths])
        attributes = [
            np.zeros((0, 2), dtype=np.uint64),
            *(doc.to_array([SENT_START, IS_SPACE]) for doc in docs if len(doc)),
        ]
        flags = np.concatenate(attributes) == 1  # (tokens, 2)
        starts = flags[:, 0]
        for doc, offset in zip(docs, offsets.tolist(), strict=False):
            if "sents" in doc.user_hooks:
                starts[offset : offset + len(doc)] = False
                starts[[offset + sent.start for sent in doc.sents]] = True
        starts[offsets[:-1][lengths > 0]] = True
        token = np.flatnonzero(~flags[:, 1])
        sentence = np.cumsum(starts) - 1  # of each token
        words = np.bincount(sentence[token], minlength=int(starts.sum()))
        owner = np.repeat(np.arange(len(docs)), lengths)[starts]
        # Sentences of white space alone are none.
        owner, words = owner[words > 0], words[words > 0]
        return cls(token, words.astype(np.int32), np.cumsum(words) - words, owner, offsets)
