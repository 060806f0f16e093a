"""The scores of some docs as one batch of their sentences, and the gradient of the batch back on the docs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import accumulate, pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray
from thinc.api import get_array_module

from ..decode import TagScores
from ..linearize import Linearizer
from ..linearize.tags import TagSet
from ..ml.heads import DocScores


@dataclass(frozen=True)
class DocBatch:
    """Some docs as one batch, two rows of scores a word, the last of each sentence unused.

    scores (DocScores): The learner's scores for the docs.
    batch (TagScores): The batch of their sentences.
    tokens (np.ndarray): (W,) int64: each word's token among the tokens of all docs.
    span_rows (np.ndarray | None): Each row of the batch's span scores among those of the docs; None if they are the
        same.
    """

    scores: DocScores
    batch: TagScores
    tokens: NDArray[np.int64]
    span_rows: NDArray[Any] | None

    @classmethod
    def from_scores(
        cls, scores: DocScores, sentences: Sequence[Sequence[Sequence[int]]], tags: TagSet, linearizer: Linearizer
    ) -> DocBatch:
        """Make the batch.

        scores (DocScores): The learner's scores for the docs.
        sentences (Sequence[Sequence[Sequence[int]]]): For each doc and each of its sentences, the tokens of its words.
        tags (TagSet): The tags.
        linearizer (Linearizer): Their order.
        RETURNS (DocBatch): The batch.
        """
        arrays = scores.arrays
        xp = get_array_module(arrays[0])
        flat = arrays[0] if len(arrays) == 1 else xp.concatenate(arrays)
        offsets = accumulate(map(len, arrays), initial=0)
        places = [offset + i for offset, own in zip(offsets, sentences, strict=False) for one in own for i in one]
        tokens = np.asarray(places, dtype=np.int64)
        if len(tokens) != len(flat):
            flat = flat[xp.asarray(tokens)]
        n_words = np.asarray([len(one) for own in sentences for one in own], dtype=np.int32)
        starts = 2 * (np.cumsum(n_words) - n_words)
        rows = flat.reshape((2 * len(tokens), flat.shape[1] // 2))
        spans = span_rows = None
        if scores.spans is not None:
            spans, span_rows = scores.spans.select(scores.spans.locate(sentences), n_words)
        batch = TagScores(rows, starts, n_words, tags, linearizer, scores.transitions, spans)
        return cls(scores, batch, tokens, span_rows)

    def gradient(self, d_batch: TagScores) -> DocScores:
        """The gradient of the docs' scores, 0 where the batch has none of them.

        d_batch (TagScores): The gradient of the batch.
        RETURNS (DocScores): The gradient, in the form of the scores.
        """
        xp = get_array_module(d_batch.scores)
        flat = d_batch.scores.reshape((len(self.tokens), 2 * d_batch.scores.shape[1]))
        offsets = [0, *accumulate(map(len, self.scores.arrays))]
        if len(self.tokens) != offsets[-1]:
            d_flat = xp.zeros((offsets[-1], flat.shape[1]), dtype=flat.dtype)
            d_flat[xp.asarray(self.tokens)] = flat
            flat = d_flat
        arrays = [flat[start:stop] for start, stop in pairwise(offsets)]
        spans = self.scores.spans
        if spans is not None and d_batch.spans is not None:
            d_spans = d_batch.spans.scores
            if self.span_rows is not None:
                d_spans = xp.zeros_like(spans.scores)
                d_spans[xp.asarray(self.span_rows)] = d_batch.spans.scores
            spans = replace(spans, scores=d_spans)
        return DocScores(arrays, d_batch.transitions, spans)
