"""Sentences without a tree: errors that say why, and constraints that are left out until there is one."""

from dataclasses import replace
from typing import Any, NoReturn

import numpy as np
from numpy.typing import NDArray

from ..errors import Errors
from .batch import NOT_FINITE, TOO_GREAT, TagScores
from .constraints import Constraint
from .passes import best_trees


def check_status(batch: TagScores, status: NDArray[Any], conflict: str = Errors.E169) -> None:
    """Raise a ValueError if some sentence has no result, saying what is wrong with the first such.

    status (np.ndarray): (S,) outcome of a pass over each sentence.
    conflict (str): The message for constraints that cannot hold together.
    """
    if not status.any():
        return
    s = int(np.flatnonzero(status)[0])
    n = int(batch.n_words[s])
    if status[s] == NOT_FINITE:
        _raise_not_finite(batch, s)
    if status[s] == TOO_GREAT:
        raise ValueError(Errors.E180.format(s=batch.numbers[s]))
    sentence = batch.select(np.asarray([s]))
    if sentence.constraints and (needed := [sentence.constraints[0][i] for i in find_conflict(sentence)]):
        labels = batch.tags.constituent_labels
        for constraint in needed:
            label = constraint.label
            if constraint.kind == "must" and label is not None and label not in labels:
                raise ValueError(Errors.E178.format(constraint=constraint, label=label, labels=", ".join(labels)))
        listed = "; ".join(map(str, needed))
        raise ValueError(conflict.format(n=n, constraints=listed, max_stack=batch.max_stack))
    raise ValueError(Errors.E152.format(n=n, max_stack=batch.max_stack, order=batch.linearizer.order))


def _raise_not_finite(batch: TagScores, s: int) -> NoReturn:
    """Raise the error that names the first score of a sentence that cannot be added up."""
    scores = batch.scores[batch.starts[s] : batch.stops[s]]
    bad = _not_finite(scores)
    if batch.spans is not None and batch.spans.starts[s] >= 0:
        # The chart reads only the leaf tags in the rows of words, and the bare L and R in the rows of gaps.
        bad[::2, batch.tags.classes >= 2] = False
        bad[1::2, [tag not in ("L", "R") for tag in batch.tags.tags]] = False
        if not bad.any():
            start, stop = int(batch.spans.starts[s]), int(batch.spans.stops(batch.n_words)[s])
            row, column = (int(i) for i in np.argwhere(_not_finite(batch.spans.scores[start:stop]))[0])
            first, end = (int(bounds[row]) for bounds in np.triu_indices(int(batch.n_words[s]) + 1, k=2))
            label, value = batch.tags.node_labels[column], batch.spans.scores[start + row, column]
            raise ValueError(Errors.E166.format(label=label, start=first + 1, end=end, value=value, s=batch.numbers[s]))
    row, column = (int(i) for i in np.argwhere(bad)[0])
    tag, value = batch.tags[column], scores[row, column]
    raise ValueError(Errors.E151.format(tag=tag, word=row // 2 + 1, value=value, s=batch.numbers[s]))


def _not_finite(scores: NDArray[Any]) -> NDArray[Any]:
    """Mark scores that cannot be added up."""
    return ~(abs(scores.astype(np.float64)) < 1e300)


def keep_possible(batch: TagScores) -> tuple[TagScores, list[list[int]]]:
    """Leave out constraints that cannot hold together with earlier ones: the first of a sentence count most.

    RETURNS (tuple[TagScores, list[list[int]]]): The batch with the constraints that are kept, and for each sentence the
        indices of the ones that are left out.
    """
    if batch.constraints is None:
        return batch, [[] for _ in batch.n_words]
    constraints, dropped = list(batch.constraints), [list[int]() for _ in batch.n_words]
    batch = batch.on_cpu()
    _, status = best_trees(batch)
    for s in np.flatnonzero((status != 0) & (status != NOT_FINITE)).tolist():
        sentence = batch.select(np.asarray([s]))
        kept: list[Constraint] = []
        for i, constraint in enumerate(constraints[s]):
            if _has_tree(sentence, (*kept, constraint)):
                kept.append(constraint)
            else:
                dropped[s].append(i)
        constraints[s] = tuple(kept)
    return replace(batch, constraints=tuple(constraints)), dropped


def find_conflict(sentence: TagScores) -> list[int]:
    """Find constraints on a sentence that cannot hold together.

    sentence (TagScores): A batch of one, on the CPU, with constraints that no tree agrees with.
    RETURNS (list[int]): Their indices; none can be left out. Empty if no tree exists without constraints.
    """
    constraints = sentence.constraints[0] if sentence.constraints else ()
    needed = list(range(len(constraints)))
    for i in range(len(constraints)):
        fewer = [j for j in needed if j != i]
        if not _has_tree(sentence, tuple(constraints[j] for j in fewer)):
            needed = fewer
    return needed


def _has_tree(sentence: TagScores, constraints: tuple[Constraint, ...]) -> bool:
    _, status = best_trees(replace(sentence, constraints=(constraints,)))
    return not status[0]
