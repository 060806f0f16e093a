"""Checks that stand between a caller's arrays and the decoders' C loops."""

from typing import Any, Literal, NamedTuple

import numpy as np

from ..errors import Errors
from ..linearize import Linearizer
from ..linearize.tags import TagSet

# The largest stack size allowed after any tag: a number, None for any size, or "train", which the pipe resolves.
StackBound = int | Literal["train"] | None

# What the C loops say of a sentence.
NOT_FINITE, NO_TREE = 1, 2


def as_scores(scores: Any) -> np.ndarray:
    """Scores as a C-contiguous float array on the CPU; float64 stays, anything else becomes float32.

    An array on a GPU is copied here, once.
    """
    if hasattr(scores, "get") and not isinstance(scores, np.ndarray):
        scores = scores.get()
    scores = np.asarray(scores)
    dtype = np.float64 if scores.dtype == np.float64 else np.float32
    return np.ascontiguousarray(scores, dtype=dtype)


def check_batch(scores: Any, rows: Any, words: Any, n_tags: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
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


class Dependencies(NamedTuple):
    """Scores of tags that depend on their neighbours, beside the scores of each position.

    transitions (np.ndarray): (T, T); [a, b] is the score of tag b right after tag a.
    start, end (np.ndarray): (T,) score of a tag as the first and as the last one.
    """

    transitions: np.ndarray
    start: np.ndarray
    end: np.ndarray


def check_dependencies(
    transitions: Any | None, start: Any | None, end: Any | None, n_tags: int, dtype: np.dtype
) -> Dependencies | None:
    """Bring dependencies into the form that the C loops read; what is missing counts 0.

    transitions, start, end (Optional[Any]): See `Dependencies`. -inf shuts a pair or a tag out.
    n_tags (int): T.
    dtype (np.dtype): That of the scores.
    RETURNS (Optional[Dependencies]): None if all three are.
    RAISES (ValueError): If the shapes disagree, or a score is infinite (other than -inf) or no number.
    """
    if transitions is None and start is None and end is None:
        return None
    checked = []
    for name, given, shape in (
        ("transitions", transitions, (n_tags, n_tags)),
        ("start", start, (n_tags,)),
        ("end", end, (n_tags,)),
    ):
        if given is None:
            checked.append(np.zeros(shape, dtype=dtype))
            continue
        array = np.ascontiguousarray(as_scores(given), dtype=dtype)
        if array.shape != shape:
            raise ValueError(Errors.E110.format(name=name, expected=shape, shape=array.shape))
        if not (array < np.inf).all():
            raise ValueError(Errors.E111.format(name=name))
        checked.append(array)
    return Dependencies(*checked)


def stack_bound(max_stack: StackBound) -> int:
    """A bound as the C loops take it: -1 for none."""
    if max_stack is None:
        return -1
    if max_stack == "train":
        raise ValueError(Errors.E158)
    if max_stack < 0:
        raise ValueError(Errors.E104.format(least=0, value=max_stack))
    return max_stack


def check_bound(max_stack: StackBound) -> StackBound:
    """Refuse a bound that is none, when it is given."""
    if max_stack != "train":
        stack_bound(max_stack)
    return max_stack


def raise_failure(
    scores: np.ndarray,
    rows: np.ndarray,
    words: np.ndarray,
    tags: TagSet,
    linearizer: Linearizer,
    max_stack: StackBound,
    status: np.ndarray,
) -> None:
    """Raise the error that tells what went wrong in the first sentence that has no result."""
    s = int(np.flatnonzero(status)[0])
    n = int(words[s])
    if status[s] == NOT_FINITE:
        own = scores[rows[s] : rows[s] + 2 * n - 1]
        row, column = (int(i) for i in np.argwhere(~np.isfinite(own))[0])
        raise ValueError(Errors.E102.format(tag=tags[column], word=row // 2 + 1, value=own[row, column]))
    if status[s] == NO_TREE:
        raise ValueError(Errors.E103.format(n=n, max_stack=max_stack, order=linearizer.order))
    raise MemoryError
