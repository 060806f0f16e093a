"""Losses on tag scores: the loss and its gradient, for a batch of sentences."""

from typing import NamedTuple, Protocol, runtime_checkable

import numpy as np
from thinc.api import get_array_module
from thinc.types import Floats2d

from ..decode.batch import Dependencies
from ..linearize import Linearizer
from ..linearize.tags import TagSet
from .chain_sums import chain_sums


@runtime_checkable
class Loss(Protocol):
    """Loss and gradient of a batch of tag scores."""

    def __call__(
        self,
        scores: Floats2d,
        gold: np.ndarray,
        rows: np.ndarray,
        words: np.ndarray,
        tags: TagSet,
        linearizer: Linearizer,
    ) -> tuple[float, Floats2d]: ...

    def dependent(
        self,
        scores: Floats2d,
        dependencies: Dependencies,
        gold: np.ndarray,
        rows: np.ndarray,
        words: np.ndarray,
        tags: TagSet,
        linearizer: Linearizer,
    ) -> tuple[float, Floats2d, Dependencies]: ...


class TagLoss:
    """Likelihood of the gold tags among all tag sequences, be they trees or not (paper section 4.2).

    Called with scores of single tags, that is cross-entropy tag by tag: each position is a choice among all tags. With
    scores of successive tags it is the likelihood of a linear chain.

    scores (Floats2d): (R, T) scores; a sentence of N words owns 2N-1 rows.
    gold (np.ndarray): (R,) ids of the gold tags; -1 leaves a row out.
    rows, words (np.ndarray): (S,) first row and number of words of each sentence; not needed here.
    RETURNS (Tuple[float, Floats2d]): The summed loss in nats, and its gradient (R, T).
    """

    def __call__(
        self,
        scores: Floats2d,
        gold: np.ndarray,
        rows: np.ndarray,
        words: np.ndarray,
        tags: TagSet,
        linearizer: Linearizer,
    ) -> tuple[float, Floats2d]:
        xp = get_array_module(scores)
        gold = xp.asarray(gold)
        used = gold >= 0
        shifted = scores - xp.max(scores, axis=1, keepdims=True)  # (R, T)
        exp = xp.exp(shifted)
        total = exp.sum(axis=1, keepdims=True)
        gradient = exp / total
        index = xp.nonzero(used)[0]
        loss = (xp.log(total[index, 0]) - shifted[index, gold[index]]).sum()
        gradient[index, gold[index]] -= 1.0
        gradient[~used] = 0.0
        return float(loss), gradient

    def dependent(
        self,
        scores: Floats2d,
        dependencies: Dependencies,
        gold: np.ndarray,
        rows: np.ndarray,
        words: np.ndarray,
        tags: TagSet,
        linearizer: Linearizer,
    ) -> tuple[float, Floats2d, Dependencies]:
        """Loss and gradients with scores of successive tags; -inf shuts a pair out. See `chain_loss`."""
        return chain_loss(scores, dependencies, gold, rows, words, tags)


class Known(NamedTuple):
    """The sentences of a batch whose gold tags are all in the tag set.

    rows, words (np.ndarray): (S,) first row and number of words of each.
    owned (np.ndarray): (R',) the rows they own, one sentence after another.
    """

    rows: np.ndarray
    words: np.ndarray
    owned: np.ndarray

    @classmethod
    def among(cls, gold: np.ndarray, rows: np.ndarray, words: np.ndarray) -> "Known":
        known = [bool((gold[row : row + 2 * n - 1] >= 0).all()) for row, n in zip(rows, words, strict=True)]
        rows, words = rows[known], words[known]
        ranges: list[np.ndarray] = [np.arange(row, row + 2 * n - 1) for row, n in zip(rows, words, strict=True)]
        return cls(rows, words, np.concatenate([np.zeros(0, dtype=np.int64), *ranges]))


def chain_loss(
    scores: Floats2d,
    dependencies: Dependencies,
    gold: np.ndarray,
    rows: np.ndarray,
    words: np.ndarray,
    tags: TagSet,
    linearizer: Linearizer | None = None,
    max_stack: int | None = None,
) -> tuple[float, Floats2d, Dependencies]:
    """Minus the log-probability of the gold sequences among all sequences of a linear chain, or among all trees.

    A sentence with a gold tag that is not in the set is left out as a whole: its sequence cannot be scored.

    scores (Floats2d): (R, T) scores; a sentence of N words owns 2N-1 rows.
    dependencies (Dependencies): Scores of successive tags, on the device of the scores.
    gold (np.ndarray): (R,) ids of the gold tags, -1 for unknown ones.
    rows, words (np.ndarray): (S,) first row and number of words of each sentence.
    tags (TagSet): The tags.
    linearizer (Optional[Linearizer]): The order, for the probability among all trees; None for all sequences.
    max_stack (Optional[int]): Bound on the stack of these trees; None for none.
    RETURNS (Tuple[float, Floats2d, Dependencies]): The summed loss in nats and its gradients, with the type of scores.
    """
    xp = get_array_module(scores)
    dtype = scores.dtype
    known = Known.among(gold, rows, words)
    if not len(known.words):
        return 0.0, xp.zeros_like(scores), Dependencies(*(xp.zeros(x.shape, dtype=dtype) for x in dependencies))
    log_z, gradient, counts = chain_sums(scores, known.rows, known.words, dependencies, tags, linearizer, max_stack)
    ends = np.cumsum(2 * known.words.astype(np.int64) - 1)
    inner = np.delete(np.arange(len(known.owned)), ends - 1)  # rows with a next one in the same sentence
    index = xp.asarray(known.owned)
    ids = xp.asarray(gold[known.owned])
    n_tags = scores.shape[1]
    first, last = ids[xp.asarray(np.append(0, ends[:-1]))], ids[xp.asarray(ends - 1)]
    before, after = ids[xp.asarray(inner)], ids[xp.asarray(inner + 1)]
    right = (
        scores[index, ids].sum(dtype=np.float64)
        + dependencies.transitions[before, after].sum(dtype=np.float64)
        + dependencies.start[first].sum(dtype=np.float64)
        + dependencies.end[last].sum(dtype=np.float64)
    )
    gradient[index, ids] -= 1.0
    pairs = xp.bincount(before * n_tags + after, minlength=n_tags * n_tags).reshape(n_tags, n_tags)
    observed = (pairs, xp.bincount(first, minlength=n_tags), xp.bincount(last, minlength=n_tags))
    d_dependencies = Dependencies(*((a - b).astype(dtype) for a, b in zip(counts, observed, strict=True)))
    return float(log_z.sum() - right), gradient.astype(dtype), d_dependencies
