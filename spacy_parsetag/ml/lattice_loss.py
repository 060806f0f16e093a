"""Likelihood over whole trees instead of single tags."""

from typing import Optional, Tuple

import numpy as np
from thinc.api import get_array_module
from thinc.types import Floats2d

from ..decode import as_scores
from ..decode.marginals import log_partition
from ..linearize import Linearizer
from ..tags import TagSet


class LatticeLoss:
    """Cross-entropy normalized over valid sequences only: minus the log-probability of the gold tree.

    Tag by tag, a model spends probability on sequences that are no tree, which the decoder rules out anyway. Here the
    sum in the denominator runs over the trees alone; its logarithm and gradient come from the lattice in one pass
    forward and one back. The paper does not have this.

    max_stack (Optional[int]): Bound on the stack, as in decoding; None for none. It must admit the gold trees.
    """

    def __init__(self, max_stack: Optional[int] = None) -> None:
        self.max_stack = max_stack

    def __call__(
        self,
        scores: Floats2d,
        gold: np.ndarray,
        rows: np.ndarray,
        words: np.ndarray,
        tags: TagSet,
        linearizer: Linearizer,
    ) -> Tuple[float, Floats2d]:
        """Loss and gradient of a batch; the arguments are those of `TagLoss`.

        A sentence with a gold tag that is not in the set is left out as a whole: the tree it asks for cannot be scored.
        """
        xp = get_array_module(scores)
        known = np.ones(len(words), dtype=bool)
        for s, (row, n) in enumerate(zip(rows.tolist(), words.tolist(), strict=True)):
            known[s] = bool((gold[row : row + 2 * n - 1] >= 0).all())
        host = as_scores(scores)
        rows, words = rows[known], words[known]
        log_z, gradient = log_partition(host, rows, words, tags, linearizer, max_stack=self.max_stack)
        if not len(words):
            return 0.0, xp.zeros_like(scores)
        index = np.concatenate([np.arange(row, row + 2 * n - 1) for row, n in zip(rows, words, strict=True)])
        loss = float(log_z.sum() - host[index, gold[index]].sum(dtype=np.float64))
        gradient[index, gold[index]] -= 1.0
        return loss, xp.asarray(gradient)
