"""Exact decoding: Viterbi over the lattice, or over the chart where spans count."""

import os
from concurrent.futures import ThreadPoolExecutor

import numpy as np

from ..errors import Errors
from .failures import raise_failure
from .passes import Best, best_trees
from .scores import Decoded, StackBound, TagScores, check_bound


class ExactDecoder:
    """Finds the tag sequence with the greatest sum of scores among all that are trees (paper section 5.1).

    It takes O(N|T| + dN) for N words, |T| tags and stack bound d, or O(dN|T|^2) where the batch has transitions, and
    O(N^2|L| + N^3) where spans of |L| labels are scored or constrained, d times as long with a bound, and in pre- and
    post-order. Of tags with the same score it takes
    the first, so that the same scores always give the same tree.

    max_stack (int | "train" | None): Largest stack size allowed after any tag; None for no bound. The paper bounds it
        by the largest stack in the training trees: "train", which the pipe turns into a number.
    n_threads (int | None): Threads that share the sentences of a batch; None for as many as OMP_NUM_THREADS says, or
        else as there are cores. Beside an encoder the decoder takes next to no time: several pay for scores alone.
    RAISES (ValueError): If the bound is below 0, or the number of threads below 1.
    """

    def __init__(self, max_stack: StackBound = None, n_threads: int | None = 1) -> None:
        if n_threads is None:
            asked, *_ = os.environ.get("OMP_NUM_THREADS", "").split(",")  # OpenMP takes one number for each level
            n_threads = int(asked or os.cpu_count() or 1)
        if n_threads < 1:
            raise ValueError(Errors.E173.format(n=n_threads))
        self.max_stack = check_bound(max_stack)
        self.n_threads = n_threads

    def __call__(self, batch: TagScores) -> Decoded:
        """Decodes a batch.

        batch (TagScores): The scores.
        RETURNS (Decoded): The best tree of each sentence.
        RAISES (ValueError): If a score is not finite, naming word and tag, or if no tree exists within the bound.
        """
        batch = batch.on_cpu()
        best = self._best_trees(batch)
        raise_failure(batch, self.max_stack, best.status)
        return Decoded(best.ids, best.scores)

    def _best_trees(self, batch: TagScores) -> Best:
        n_parts = min(self.n_threads, len(batch.n_words))
        if n_parts < 2:
            return best_trees(batch, self.max_stack)
        parts = [batch.select(part) for part in np.array_split(np.arange(len(batch.n_words)), n_parts)]
        with ThreadPoolExecutor(n_parts) as pool:  # the compiled passes release Python's lock
            found = list(pool.map(lambda part: best_trees(part, self.max_stack), parts))
        ids, scores, status = zip(*found, strict=True)
        # Each part has -1 in the rows of the others.
        return Best(np.maximum.reduce(ids), np.concatenate(scores), np.concatenate(status))
