"""The k best trees of each sentence of a batch."""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..errors import Errors
from .failures import raise_failure
from .nodes import labelled_nodes
from .passes import best_trees, k_best_trees
from .scores import StackBound, TagScores


class KBest(NamedTuple):
    """The best trees of one sentence, best first.

    ids (np.ndarray): (m, 2N-1) int32 tag ids.
    scores (np.ndarray): (m,) float64 scores.
    """

    ids: NDArray[np.int32]
    scores: NDArray[np.float64]


def k_best(batch: TagScores, k: int, max_stack: StackBound = None) -> list[KBest]:
    """The k best trees of each sentence, fewer where there are fewer: lazy k-best (Huang and Chiang 2005, algorithm 3).

    No two have the same tags; two may differ in nodes that binarization added alone. The first is the exact decoder's.

    batch (TagScores): The scores; constraints count.
    k (int): How many trees, at least 1.
    max_stack (int | None): Largest stack size after any tag; None for no bound.
    RETURNS (list[KBest]): The trees of each sentence.
    RAISES (ValueError): If k is below 1, if a score is not finite, or if no tree exists within the bound that agrees
        with the constraints.
    """
    if k < 1:
        raise ValueError(Errors.E171.format(value=k))
    batch = batch.on_cpu()
    best = best_trees(batch, max_stack)
    raise_failure(batch, max_stack, best.status)
    found = []
    for s, (ids, scores) in enumerate(k_best_trees(batch, max_stack, k)):
        first = best.ids[batch.starts[s] : batch.stops[s]]
        # Of trees with the same score the exact decoder has a choice of its own.
        others = np.flatnonzero((ids != first).any(axis=1))[: k - 1] if len(first) else np.zeros(0, dtype=np.int64)
        totals = np.concatenate([best.scores[s : s + 1], scores[others]])
        found.append(KBest(np.concatenate([first[None], ids[others]]), np.minimum.accumulate(totals)))
    return found


def k_best_parses(batch: TagScores, k: int, max_stack: StackBound = None) -> list[KBest]:
    """The k best trees of each sentence that differ in their constituents, not in binarization alone.

    batch, k, max_stack: As for `k_best`.
    RETURNS (list[KBest]): The trees of each sentence; of those with the same constituents the best.
    RAISES (ValueError): As `k_best`.
    """
    found: dict[int, KBest] = {}
    left: NDArray[Any] = np.arange(len(batch.n_words))
    width = k
    while len(left):
        again = []
        for s, trees in zip(left.tolist(), k_best(batch.select(left), width, max_stack), strict=True):
            found[s] = _distinct(batch, s, trees, k)
            if len(found[s].scores) < k and len(trees.scores) == width:
                again.append(s)
        left, width = np.asarray(again, dtype=np.int64), 2 * width
    return [found[s] for s in range(len(batch.n_words))]


def _distinct(batch: TagScores, s: int, trees: KBest, k: int) -> KBest:
    """The first k trees whose constituents differ from those before."""
    same = TagScores.blank(np.repeat(batch.n_words[s], len(trees.scores)), batch.tags, batch.linearizer)
    nodes = labelled_nodes(trees.ids.reshape(-1), same)
    # A number for each chain, which may be a left or a right child.
    numbers: dict[tuple[str, ...], int] = {}
    chains = np.asarray([numbers.setdefault(chain, len(numbers)) for chain in batch.tags.unaries])
    ends = np.cumsum(nodes.counts)
    columns = np.stack([nodes.start, nodes.end, chains[nodes.tag]], axis=1)
    seen: set[bytes] = set()
    kept = []
    for i, (start, end) in enumerate(zip(ends - nodes.counts, ends, strict=True)):
        key = columns[start:end].tobytes()
        if key not in seen:
            seen.add(key)
            kept.append(i)
    return KBest(trees.ids[kept[:k]], trees.scores[kept[:k]])
