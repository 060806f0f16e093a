"""Scores of spans for the sentences of docs: what a learner gives beside the scores of tags."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from thinc.api import get_array_module
from thinc.types import Floats2d

from ..decode import SpanScores
from ..decode.scores import span_row

Sentences = Sequence[Sequence[Sequence[int]]]  # of each doc, of each of its sentences, the tokens of its words


@dataclass(frozen=True, eq=False)
class DocSpans:
    """Scores of the spans of all sentences of a batch of docs. The gradient of a loss has the same form.

    scores (Floats2d): (K, L) scores, rows as in `SpanScores`.
    starts (np.ndarray): (S,) int64 first row of each sentence; -1 for a sentence without rows.
    sentences (list[list[list[int]]]): The sentences that the learner saw in each doc, S in all: the tokens of words.
    """

    scores: Floats2d
    starts: NDArray[Any]
    sentences: list[list[list[int]]]

    def locate(self, wanted: Sentences) -> NDArray[Any]:
        """Find sentences in those that the learner saw.

        wanted (list[list[list[int]]]): Sentences of the same docs.
        RETURNS (np.ndarray): (S', 2) int64, for each of them the sentence that it is in and its first word there; -1
            where it is in none.
        """
        if wanted == self.sentences:
            own = np.arange(len(self.starts))
            return np.stack([own, np.zeros_like(own)], axis=1)
        places: list[tuple[int, int]] = []
        before = 0
        for own_sentences, sentences in zip(self.sentences, wanted, strict=True):
            at = {token: (s, i) for s, own in enumerate(own_sentences) for i, token in enumerate(own)}
            for tokens in sentences:
                s, i = at[tokens[0]]
                inside = own_sentences[s][i : i + len(tokens)] == list(tokens)
                places.append((before + s, i) if inside else (-1, -1))
            before += len(own_sentences)
        return np.asarray(places, dtype=np.int64).reshape(-1, 2)

    def select(self, places: NDArray[Any], n_words: NDArray[Any]) -> tuple[SpanScores, NDArray[Any] | None]:
        """The scores of sentences that were located.

        places (np.ndarray): (S', 2) as `locate` returns them, all found.
        n_words (np.ndarray): (S',) number of words of each.
        RETURNS (tuple[SpanScores, np.ndarray | None]): The scores, and the rows of `self.scores` that they are, where
            they are not these themselves.
        """
        lengths = np.asarray([len(tokens) for own in self.sentences for tokens in own], dtype=np.int64)
        which, first = places.T
        if (lengths[which] == n_words).all():
            return SpanScores(self.scores, self.starts[which]), None
        starts = np.full(len(places), -1, dtype=np.int64)
        rows = [np.zeros(0, dtype=np.int64)]
        total = 0
        for s, (own, i, n) in enumerate(zip(which.tolist(), first.tolist(), n_words.tolist(), strict=True)):
            if self.starts[own] >= 0:
                starts[s] = total
                start, end = np.triu_indices(n + 1, 2)
                rows.append(self.starts[own] + span_row(int(lengths[own]), start + i, end + i))
                total += len(start)
        taken = np.concatenate(rows)
        return SpanScores(self.scores[get_array_module(self.scores).asarray(taken)], starts), taken
