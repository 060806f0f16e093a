"""The exact decoder: the best tree among all, with or without scores of tags that depend on the tag before."""

import numpy as np

from ..linearize import Linearizer
from ..linearize.tags import TagSet
from ._exact import best_paths
from .batch import StackBound, check_batch, check_bound, check_dependencies, raise_failure, stack_bound
from .dependent import dependent_paths


class ExactDecoder:
    """Finds the tag sequence with the greatest sum of scores among all that are trees (paper section 5.1).

    max_stack (Union[int, "train", None]): Largest stack size allowed after any tag; None for no bound. The paper bounds
        it by the largest stack in the training trees: "train", which the pipe resolves.
    """

    def __init__(self, max_stack: StackBound = None) -> None:
        self.max_stack = check_bound(max_stack)

    def decode_batch(
        self,
        scores: np.ndarray,
        rows: np.ndarray,
        words: np.ndarray,
        tags: TagSet,
        linearizer: Linearizer,
        transitions: np.ndarray | None = None,
        start: np.ndarray | None = None,
        end: np.ndarray | None = None,
    ) -> tuple[np.ndarray, np.ndarray]:
        """Decode many sentences in one call.

        scores (np.ndarray): (R, T) float32 or float64, C-contiguous, columns in the order of `tags`. A sentence of N
            words owns 2N-1 rows in tag order; rows between sentences are not read.
        rows (np.ndarray): (S,) int64, first row of each sentence.
        words (np.ndarray): (S,) int32, words of each sentence.
        tags (TagSet): The tags.
        linearizer (Linearizer): The order.
        transitions (Optional[np.ndarray]): (T, T); [a, b] is the score of tag b right after tag a. Decoding then takes
            O(dN|T|^2) rather than O(N|T| + dN). -inf shuts a pair out.
        start, end (Optional[np.ndarray]): (T,) score of a tag as the first and as the last one.
        RETURNS (Tuple[np.ndarray, np.ndarray]): Tag ids (R,) int32, -1 in rows that no sentence owns, and the score of
            each tree (S,) float64.
        RAISES (ValueError): If a score is not finite, naming word and tag, or if no tree exists within the bound.
        """
        scores, rows, words = check_batch(scores, rows, words, len(tags))
        bound = stack_bound(self.max_stack)
        dependencies = check_dependencies(transitions, start, end, len(tags), scores.dtype)
        ids = np.full(len(scores), -1, dtype=np.int32)
        totals = np.zeros(len(words), dtype=np.float64)
        status = np.zeros(len(words), dtype=np.uint8)
        if dependencies is None:
            best_paths(scores, rows, words, tags.offsets, linearizer.lattice, bound, ids, totals, status)
        else:
            dependent_paths(scores, rows, words, tags, linearizer, bound, dependencies, ids, totals, status)
        if status.any():
            raise_failure(scores, rows, words, tags, linearizer, self.max_stack, status)
        return ids, totals
