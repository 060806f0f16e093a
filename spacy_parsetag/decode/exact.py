"""Exact decoding: Viterbi over the lattice, or over the chart where spans count."""

import os
from concurrent.futures import ThreadPoolExecutor

import numpy as np

from ..compat import threads_asked
from ..errors import Errors
from .batch import Decoded
from .constraints import is_whole
from .distribution import Distribution
from .passes import best_trees
from .repair import check_status


class ExactDecoder:
    """Finds the tag sequence with the greatest sum of scores among all that are trees (paper section 5.1).

    It takes O(N|T| + dN) for N words, |T| tags and stack bound d, or O(dN|T|^2) where the batch has transitions, and
    O(N^2|L| + N^3) where spans of |L| labels are scored or constrained, d times as long with a bound, and in pre- and
    post-order. Of tags with the same score it takes the first, so that the same scores always give the same tree.

    n_threads (int | None): Threads that share the sentences of a batch; None for as many as OMP_NUM_THREADS says, or
        else as there are cores. Beside an encoder decoding takes next to no time: more than one thread pays only where
        scores alone are decoded.
    RAISES (ValueError): If the number of threads is not whole, or below 1.
    """

    def __init__(self, n_threads: int | None = 1) -> None:
        if n_threads is None:
            n_threads = threads_asked() or os.cpu_count() or 1
        if not is_whole(n_threads, 1):
            raise ValueError(Errors.E173.format(n=n_threads))
        self.n_threads = n_threads

    def __call__(self, distribution: Distribution) -> Decoded:
        """Find the best tree of each sentence; see `Decoder`."""
        batch = distribution.batch
        n_parts = min(self.n_threads, len(batch.n_words))
        if n_parts < 2:
            return distribution.argmax
        parts = [batch.select(part) for part in np.array_split(np.arange(len(batch.n_words)), n_parts)]
        with ThreadPoolExecutor(n_parts) as pool:  # the compiled passes release Python's lock
            decoded, status = zip(*pool.map(best_trees, parts), strict=True)
        check_status(batch, np.concatenate(status))
        # Each part has -1 in the rows of the others.
        ids = np.maximum.reduce([part.ids for part in decoded])
        return Decoded(ids, np.concatenate([part.scores for part in decoded]))
