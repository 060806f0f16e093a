"""The exact decoder: the best tree among all, for scores where each tag stands for itself."""

from typing import Optional, Tuple

import numpy as np

from ..errors import Errors
from ..linearize import Linearizer
from ..tags import TagSet
from ._exact import best_paths
from .batch import check_batch

_NOT_FINITE, _NO_TREE = 1, 2


class ExactDecoder:
    """Finds the tag sequence with the greatest sum of scores among all that are trees (paper section 6).

    max_stack (Optional[int]): Largest stack size allowed after any tag; None for no bound. The paper bounds it by the
        largest stack in the training trees.
    """

    def __init__(self, max_stack: Optional[int] = None) -> None:
        stack_bound(max_stack)
        self.max_stack = max_stack

    def decode_batch(
        self,
        scores: np.ndarray,
        rows: np.ndarray,
        words: np.ndarray,
        tags: TagSet,
        linearizer: Linearizer,
    ) -> Tuple[np.ndarray, np.ndarray]:
        """Decode many sentences in one call.

        scores (np.ndarray): (R, T) float32 or float64, C-contiguous, columns in the order of `tags`. A sentence of N
            words owns 2N-1 rows in tag order; rows between sentences are not read.
        rows (np.ndarray): (S,) int64, first row of each sentence.
        words (np.ndarray): (S,) int32, words of each sentence.
        tags (TagSet): The tags.
        linearizer (Linearizer): The order.
        RETURNS (Tuple[np.ndarray, np.ndarray]): Tag ids (R,) int32, -1 in rows that no sentence owns, and the score of
            each tree (S,) float64.
        RAISES (ValueError): If a score is not finite, naming word and tag, or if no tree exists within the bound.
        """
        scores, rows, words = check_batch(scores, rows, words, len(tags))
        ids = np.full(len(scores), -1, dtype=np.int32)
        totals = np.zeros(len(words), dtype=np.float64)
        status = np.zeros(len(words), dtype=np.uint8)
        bound = stack_bound(self.max_stack)
        best_paths(scores, rows, words, tags.offsets, linearizer.lattice, bound, ids, totals, status)
        if status.any():
            raise_failure(scores, rows, words, tags, linearizer, self.max_stack, status)
        return ids, totals


def stack_bound(max_stack: Optional[int]) -> int:
    """A bound as the C loops take it: -1 for none."""
    if max_stack is None:
        return -1
    if max_stack < 0:
        raise ValueError(Errors.E104.format(least=0, value=max_stack))
    return max_stack


def raise_failure(
    scores: np.ndarray,
    rows: np.ndarray,
    words: np.ndarray,
    tags: TagSet,
    linearizer: Linearizer,
    max_stack: Optional[int],
    status: np.ndarray,
) -> None:
    """Raise the error that tells what went wrong in the first sentence that has no result."""
    s = int(np.flatnonzero(status)[0])
    n = int(words[s])
    if status[s] == _NOT_FINITE:
        own = scores[rows[s] : rows[s] + 2 * n - 1]
        row, column = (int(i) for i in np.argwhere(~np.isfinite(own))[0])
        raise ValueError(Errors.E102.format(tag=tags[column], word=row // 2 + 1, value=own[row, column]))
    if status[s] == _NO_TREE:
        raise ValueError(Errors.E103.format(n=n, max_stack=max_stack, order=linearizer.order))
    raise MemoryError
