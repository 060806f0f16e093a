"""Errors that say why a sentence has no tree."""

from typing import Any, NoReturn

import numpy as np
from numpy.typing import NDArray

from ..errors import Errors
from .passes import conflict
from .scores import NOT_FINITE, StackBound, TagScores


def raise_failure(batch: TagScores, max_stack: StackBound, status: NDArray[Any]) -> None:
    """Raises the error that tells what is wrong with the first sentence that has no result, if there is one.

    batch (TagScores): The scores, on the CPU.
    max_stack (int | None): The bound on the stack.
    status (np.ndarray): (S,) what a pass said of each sentence.
    """
    if not status.any():
        return
    s = int(np.flatnonzero(status)[0])
    n = int(batch.n_words[s])
    if status[s] == NOT_FINITE:
        _raise_not_finite(batch, s)
    one = batch.select(np.asarray([s]))
    if one.constraints and (needed := conflict(one, max_stack)):
        constraints = "; ".join(str(one.constraints[0][i]) for i in needed)
        raise ValueError(Errors.E169.format(n=n, constraints=constraints, max_stack=max_stack))
    raise ValueError(Errors.E152.format(n=n, max_stack=max_stack, order=batch.linearizer.order))


def _raise_not_finite(batch: TagScores, s: int) -> NoReturn:
    """Raises the error that names the first score of a sentence that cannot be added up."""
    own = batch.scores[batch.starts[s] : batch.stops[s]]
    bad = _not_finite(own)
    if batch.spans is not None and batch.spans.starts[s] >= 0:
        # Of these columns the chart reads leaves, and the bare tags of nodes.
        leaves, nodes = batch.tags.classes < 2, [batch.tags.id("L"), batch.tags.id("R")]
        bad[::2, ~leaves] = False
        bad[1::2, np.setdiff1d(np.arange(len(batch.tags)), nodes)] = False
        if not bad.any():
            start, stop = int(batch.spans.starts[s]), int(batch.spans.stops(batch.n_words)[s])
            row, column = (int(i) for i in np.argwhere(_not_finite(batch.spans.scores[start:stop]))[0])
            first, end = (int(ends[row]) for ends in np.triu_indices(int(batch.n_words[s]) + 1, k=2))
            label, value = batch.tags.node_labels[column], batch.spans.scores[start + row, column]
            raise ValueError(Errors.E166.format(label=label, start=first + 1, end=end, value=value))
    row, column = (int(i) for i in np.argwhere(bad)[0])
    raise ValueError(Errors.E151.format(tag=batch.tags[column], word=row // 2 + 1, value=own[row, column]))


def _not_finite(scores: NDArray[Any]) -> NDArray[Any]:
    """Where scores cannot be added up."""
    bad: NDArray[Any] = ~(np.abs(scores.astype(np.float64)) < 1e300)
    return bad
