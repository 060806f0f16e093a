"""Exact decoding: Viterbi over the lattice, or over the chart where spans are scored."""

import numpy as np

from ._passes import viterbi
from .chart import chart_viterbi, needs_chart
from .scores import Decoded, StackBound, TagScores, arguments_of, check_bound, raise_failure


class ExactDecoder:
    """Finds the tag sequence with the greatest sum of scores among all that are trees (paper section 5.1).

    It takes O(N|T| + dN) for N words, |T| tags and stack bound d, or O(dN|T|^2) where the batch has transitions, and
    O(N^2|L| + N^3) where it has spans of |L| labels, d times as long with a bound. Of tags with the same score it takes
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
        ids = np.full(len(batch.scores), -1, dtype=np.int32)
        totals = np.zeros(len(batch.n_words))
        status = np.zeros(len(batch.n_words), dtype=np.uint8)
        spans = needs_chart(batch)
        if not spans.all():
            some, found = batch.select(~spans), (totals[~spans], status[~spans])
            viterbi(*arguments_of(some, self.max_stack), ids, *found)
            totals[~spans], status[~spans] = found
        if spans.any():
            totals[spans], status[spans] = chart_viterbi(batch.select(spans), self.max_stack, ids)
        if status.any():
            raise_failure(batch, self.max_stack, status)
        return Decoded(ids, totals)
