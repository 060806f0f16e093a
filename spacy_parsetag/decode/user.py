"""Decoding one sentence: the entry for users who bring scores of their own."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..errors import Errors
from ..linearize import get_linearizer
from ..linearize.tagset import TagSet
from .batch import TagScores, Transitions, as_floats
from .beam import BeamDecoder


def sentence_scores(
    scores: Any, tags: Sequence[str], order: str, transitions: Any, start: Any, end: Any, max_stack: int | None
) -> tuple[TagScores, NDArray[Any]]:
    """Make a batch of one sentence.

    scores, tags, order, transitions, start, end, max_stack: As `decode` takes them.
    RETURNS (tuple[TagScores, np.ndarray]): The batch, whose tags are sorted, and (T,) the caller's column of each tag.
    RAISES (ValueError): If shapes disagree or a tag is given twice.
    """
    scores = as_floats(scores)
    n_tags = len(tags)
    if scores.ndim != 2 or scores.shape[0] % 2 == 0 or scores.shape[1] != n_tags:
        raise ValueError(Errors.E150.format(rows="2N-1", tags=n_tags, shape=scores.shape))
    tag_set = TagSet(tags, complete=False)
    if len(tag_set) != n_tags:
        twice = next(tag for i, tag in enumerate(tags) if tag in tags[:i])
        raise ValueError(Errors.E153.format(tag=twice))
    columns = np.asarray([tags.index(tag) for tag in tag_set.tags], dtype=np.int32)
    sorted_transitions = None
    if not (transitions is None and start is None and end is None):
        arrays = []
        for name, array, shape in (
            ("transitions", transitions, (n_tags, n_tags)), ("start", start, (n_tags,)), ("end", end, (n_tags,))
        ):  # fmt: skip
            array = np.zeros(shape) if array is None else np.asarray(array)
            if array.shape != shape:
                raise ValueError(Errors.E158.format(name=name, expected=shape, shape=array.shape))
            arrays.append(array[np.ix_(*[columns] * array.ndim)])
        sorted_transitions = Transitions(arrays[0], arrays[1], arrays[2])
    batch = TagScores(
        np.ascontiguousarray(scores[:, columns]),
        np.zeros(1, dtype=np.int64),
        np.asarray([(len(scores) + 1) // 2], dtype=np.int32),
        tag_set,
        get_linearizer(order),
        sorted_transitions,
        max_stack=max_stack,
    )
    return batch, columns


def decode(
    scores: Any,
    tags: Sequence[str],
    order: str = "in",
    transitions: Any = None,
    start: Any = None,
    end: Any = None,
    max_stack: int | None = None,
    beam: int | None = None,
) -> tuple[NDArray[Any], float]:
    """Find the best tree of one sentence.

    scores (np.ndarray): (2N-1, T) scores of T tags at each position, for N words.
    tags (Sequence[str]): The T tags, in the order of the columns.
    order (str): "in", "pre" or "post".
    transitions (np.ndarray | None): (T, T); [a, b] is the score of tag b right after tag a.
    start, end (np.ndarray | None): (T,) score of a tag as the first and as the last one.
    max_stack (int | None): Largest stack size after any tag; None for no bound.
    beam (int | None): Sequences kept at each step of a beam search; None for the exact decoder.
    RETURNS (tuple[np.ndarray, float]): (2N-1,) int32 columns of the best valid tag sequence, and its score.
    RAISES (ValueError): If shapes disagree, a score is not finite, or no tree exists within the bound.

    >>> import numpy as np
    >>> ids, score = decode(np.zeros((3, 4)), ["l", "r", "L/S", "R/VP"])
    >>> [["l", "r", "L/S", "R/VP"][i] for i in ids]
    ['l', 'L/S', 'r']
    """
    batch, columns = sentence_scores(scores, tags, order, transitions, start, end, max_stack)
    decoded = batch.trees.argmax if beam is None else BeamDecoder(beam)(batch)
    return columns[decoded.ids], float(decoded.scores[0])
