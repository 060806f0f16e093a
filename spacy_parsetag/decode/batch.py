"""Checks that stand between a caller's arrays and the decoders' C loops."""

from typing import Any, Tuple

import numpy as np

from ..errors import Errors


def as_scores(scores: Any) -> np.ndarray:
    """Scores as a C-contiguous float array on the CPU; float64 stays, anything else becomes float32.

    An array on a GPU is copied here, once.
    """
    if hasattr(scores, "get") and not isinstance(scores, np.ndarray):
        scores = scores.get()
    scores = np.asarray(scores)
    dtype = np.float64 if scores.dtype == np.float64 else np.float32
    return np.ascontiguousarray(scores, dtype=dtype)


def check_batch(scores: Any, rows: Any, words: Any, n_tags: int) -> Tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Bring a batch into the form that the C loops read without looking.

    scores (Any): (R, T) scores, on any device, of any number type.
    rows (Any): (S,) first row of each sentence.
    words (Any): (S,) words of each sentence.
    n_tags (int): T.
    RETURNS (Tuple[np.ndarray, np.ndarray, np.ndarray]): Scores as of `as_scores`, rows as int64, words as int32.
    RAISES (ValueError): If the shapes disagree or a sentence lies outside the scores.
    """
    scores = as_scores(scores)
    rows = np.ascontiguousarray(rows, dtype=np.int64)
    words = np.ascontiguousarray(words, dtype=np.int32)
    if scores.ndim != 2 or scores.shape[1] != n_tags:
        raise ValueError(Errors.E101.format(rows="R", tags=n_tags, shape=scores.shape))
    if rows.ndim != 1 or rows.shape != words.shape:
        raise ValueError(Errors.E106.format(rows=rows.shape, words=words.shape))
    ends = rows + np.maximum(2 * words.astype(np.int64) - 1, 0)
    outside = (rows < 0) | (words < 0) | (ends > len(scores))
    if outside.any():
        s = int(np.flatnonzero(outside)[0])
        raise ValueError(Errors.E107.format(s=s, row=int(rows[s]), n=int(words[s]), total=len(scores)))
    return scores, rows, words
