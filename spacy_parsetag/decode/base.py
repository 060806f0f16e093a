"""What a decoder is, and the one-sentence entry that checks its input."""

from typing import Optional, Protocol, Sequence, Tuple, runtime_checkable

import numpy as np

from ..errors import Errors
from ..linearize import Linearizer, get_linearizer
from ..tags import TagSet
from .batch import as_scores
from .exact import ExactDecoder


@runtime_checkable
class Decoder(Protocol):
    """Finds a tree for each sentence of a batch, given scores."""

    def decode_batch(
        self, scores: np.ndarray, rows: np.ndarray, words: np.ndarray, tags: TagSet, linearizer: Linearizer
    ) -> Tuple[np.ndarray, np.ndarray]: ...


def decode(
    scores: np.ndarray, tags: Sequence[str], order: str = "in", *, max_stack: Optional[int] = None
) -> Tuple[np.ndarray, float]:
    """Find the best tree of one sentence.

    scores (np.ndarray): (2N-1, T) scores of T tags at each position, for N words.
    tags (Sequence[str]): The T tags, in the order of the columns.
    order (str): "in", "pre" or "post".
    max_stack (Optional[int]): Largest stack size after any tag; None for no bound.
    RETURNS (Tuple[np.ndarray, float]): (2N-1,) int32 columns of the best valid tag sequence, and its score.
    RAISES (ValueError): If shapes disagree, a score is not finite, or no tree exists within the bound.

    >>> import numpy as np
    >>> ids, score = decode(np.zeros((3, 4)), ["l", "r", "L/S", "R/VP"])
    >>> [["l", "r", "L/S", "R/VP"][i] for i in ids]
    ['l', 'L/S', 'r']
    """
    scores = as_scores(scores)
    if scores.ndim != 2 or scores.shape[0] % 2 == 0 or scores.shape[1] != len(tags):
        raise ValueError(Errors.E101.format(rows="2N-1", tags=len(tags), shape=scores.shape))
    tagset = TagSet(tags, complete=False)
    if len(tagset) != len(tags):
        twice = next(tag for i, tag in enumerate(tags) if tag in tags[:i])
        raise ValueError(Errors.E105.format(tag=twice))
    columns = np.asarray([tags.index(tag) for tag in tagset.tags], dtype=np.int32)
    scores = np.ascontiguousarray(scores[:, columns])
    rows = np.zeros(1, dtype=np.int64)
    words = np.asarray([(len(scores) + 1) // 2], dtype=np.int32)
    decoder = ExactDecoder(max_stack)
    ids, totals = decoder.decode_batch(scores, rows, words, tagset, get_linearizer(order))
    return columns[ids], float(totals[0])
