"""The log-partition over valid tag sequences and its gradient: training normalised over trees."""

from typing import Any

import numpy as np

from ..linearize import Linearizer
from ..linearize.tags import TagSet
from ._marginals import sum_paths
from .batch import check_batch, raise_failure, stack_bound


def log_partition(
    scores: Any,
    rows: Any,
    words: Any,
    tags: TagSet,
    linearizer: Linearizer,
    max_stack: int | None = None,
) -> tuple[np.ndarray, np.ndarray]:
    """Sum over all trees of each sentence: the log-partition and the marginal of every tag.

    A tag sequence y that is a tree has probability exp(score(y) - log_z), where score(y) adds up its scores; any other
    has none. The loss of a gold sequence is log_z - score(gold), and the gradient of that loss is the marginals less 1
    at the gold tags.

    scores (Any): (R, T) scores, columns in the order of `tags`. A sentence of N words owns 2N-1 rows in tag order.
    rows (Any): (S,) first row of each sentence.
    words (Any): (S,) words of each sentence.
    tags (TagSet): The tags.
    linearizer (Linearizer): The order.
    max_stack (Optional[int]): Largest stack size after any tag; None for no bound.
    RETURNS (Tuple[np.ndarray, np.ndarray]): (S,) float64 log_z, and (R, T) probability of each tag at each row, float64
        for float64 scores and float32 for others, on the CPU; 0 in rows that no sentence owns.
    RAISES (ValueError): If a score is not finite, naming word and tag, or if no tree exists within the bound.
    """
    bound = stack_bound(max_stack)
    scores, rows, words = check_batch(scores, rows, words, len(tags))
    log_z = np.zeros(len(words), dtype=np.float64)
    marginals = np.zeros_like(scores)
    status = np.zeros(len(words), dtype=np.uint8)
    sum_paths(scores, rows, words, tags.offsets, linearizer.lattice, bound, log_z, marginals, status)
    if status.any():
        raise_failure(scores, rows, words, tags, linearizer, max_stack, status)
    return log_z, marginals
