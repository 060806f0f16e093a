"""Likelihood over whole trees instead of single tags."""

import numpy as np
from thinc.api import get_array_module
from thinc.types import Floats2d

from ..decode import as_scores
from ..decode.batch import Dependencies, StackBound, check_bound, stack_bound
from ..decode.marginals import log_partition
from ..linearize import Linearizer
from ..linearize.tags import TagSet
from .losses import Known, chain_loss


class LatticeLoss:
    """Cross-entropy normalized over valid sequences only: minus the log-probability of the gold tree.

    Tag by tag, a model spends probability on sequences that are no tree, which the decoder rules out anyway. Here the
    sum in the denominator runs over the trees alone; its logarithm and gradient come from the lattice in one pass
    forward and one back. The paper does not have this.

    With scores of successive tags the state is the last tag beside the stack, so a sentence takes O(d N |T|^2): in
    pre- and post-order, where a stack may be as large as the sentence is long, that calls for a bound.

    max_stack (Union[int, "train", None]): Bound on the stack, as in decoding; None for none. It must admit the gold
        trees. "train" is resolved by the pipe.
    """

    def __init__(self, max_stack: StackBound = None) -> None:
        self.max_stack = check_bound(max_stack)

    def _bound(self) -> int | None:
        bound = stack_bound(self.max_stack)
        return None if bound < 0 else bound

    def __call__(
        self,
        scores: Floats2d,
        gold: np.ndarray,
        rows: np.ndarray,
        words: np.ndarray,
        tags: TagSet,
        linearizer: Linearizer,
    ) -> tuple[float, Floats2d]:
        """Loss and gradient of a batch; the arguments are those of `TagLoss`.

        A sentence with a gold tag that is not in the set is left out as a whole: the tree it asks for cannot be scored.
        """
        xp = get_array_module(scores)
        known = Known.among(gold, rows, words)
        if not len(known.words):
            return 0.0, xp.zeros_like(scores)
        host = as_scores(scores)
        log_z, gradient = log_partition(host, known.rows, known.words, tags, linearizer, max_stack=self._bound())
        loss = float(log_z.sum() - host[known.owned, gold[known.owned]].sum(dtype=np.float64))
        gradient[known.owned, gold[known.owned]] -= 1.0
        return loss, xp.asarray(gradient)

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
        """Loss and gradients with scores of successive tags. See `chain_loss`."""
        return chain_loss(scores, dependencies, gold, rows, words, tags, linearizer, self._bound())
