"""Losses on tag scores: the loss and its gradient, for a batch of sentences."""

from typing import Protocol, Tuple, runtime_checkable

import numpy as np
from thinc.api import get_array_module
from thinc.types import Floats2d

from ..linearize import Linearizer
from ..tags import TagSet


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
    ) -> Tuple[float, Floats2d]: ...


class TagLoss:
    """Cross-entropy tag by tag (paper section 5): each position is a choice among all tags.

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
    ) -> Tuple[float, Floats2d]:
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
