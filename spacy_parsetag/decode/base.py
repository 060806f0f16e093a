"""What a decoder is, and the one-sentence entry that checks its input."""

from collections.abc import Sequence
from typing import Protocol, runtime_checkable

import numpy as np

from ..errors import Errors
from ..linearize import Linearizer, get_linearizer
from ..linearize.tags import TagSet
from .batch import as_scores, check_dependencies
from .beam import BeamDecoder
from .exact import ExactDecoder


@runtime_checkable
class Decoder(Protocol):
    """Finds a tree for each sentence of a batch, given scores."""

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
    ) -> tuple[np.ndarray, np.ndarray]: ...


def decode(
    scores: np.ndarray,
    tags: Sequence[str],
    order: str = "in",
    transitions: np.ndarray | None = None,
    start: np.ndarray | None = None,
    end: np.ndarray | None = None,
    max_stack: int | None = None,
    beam: int | None = None,
) -> tuple[np.ndarray, float]:
    """Find the best tree of one sentence.

    scores (np.ndarray): (2N-1, T) scores of T tags at each position, for N words.
    tags (Sequence[str]): The T tags, in the order of the columns.
    order (str): "in", "pre" or "post".
    transitions (Optional[np.ndarray]): (T, T); [a, b] is the score of tag b right after tag a.
    start, end (Optional[np.ndarray]): (T,) score of a tag as the first and as the last one.
    max_stack (Optional[int]): Largest stack size after any tag; None for no bound.
    beam (Optional[int]): Sequences kept at each step of a beam search; None for the exact decoder.
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
    decoder: Decoder = ExactDecoder(max_stack) if beam is None else BeamDecoder(beam, max_stack)
    dependencies = check_dependencies(transitions, start, end, len(tags), scores.dtype)
    sorted_dependencies: tuple[np.ndarray | None, ...] = (None, None, None)
    if dependencies is not None:
        sorted_dependencies = (
            dependencies.transitions[np.ix_(columns, columns)],
            dependencies.start[columns],
            dependencies.end[columns],
        )
    ids, totals = decoder.decode_batch(scores, rows, words, tagset, get_linearizer(order), *sorted_dependencies)
    return columns[ids], float(totals[0])
