"""Exact decoding: Viterbi over the lattice, or over the chart where spans count."""

from .failures import raise_failure
from .passes import best_trees
from .scores import Decoded, StackBound, TagScores, check_bound


class ExactDecoder:
    """Finds the tag sequence with the greatest sum of scores among all that are trees (paper section 5.1).

    It takes O(N|T| + dN) for N words, |T| tags and stack bound d, or O(dN|T|^2) where the batch has transitions, and
    O(N^2|L| + N^3) where spans of |L| labels are scored or constrained, d times as long with a bound, and in pre- and
    post-order. Of tags with the same score it takes
    the first, so that the same scores always give the same tree.

    max_stack (int | "train" | None): Largest stack size allowed after any tag; None for no bound. The paper bounds it
        by the largest stack in the training trees: "train", which the pipe turns into a number.
    RAISES (ValueError): If the bound is below 0.
    """

    def __init__(self, max_stack: StackBound = None) -> None:
        self.max_stack = check_bound(max_stack)

    def __call__(self, batch: TagScores) -> Decoded:
        """Decodes a batch.

        batch (TagScores): The scores.
        RETURNS (Decoded): The best tree of each sentence.
        RAISES (ValueError): If a score is not finite, naming word and tag, or if no tree exists within the bound.
        """
        batch = batch.on_cpu()
        best = best_trees(batch, self.max_stack)
        raise_failure(batch, self.max_stack, best.status)
        return Decoded(best.ids, best.scores)
