"""Exact decoding where the score of a tag depends on the tag before it: `ExactDecoder` with transitions."""

import numpy as np

from ..linearize import Linearizer
from ..linearize.tags import TagSet
from ._dependent import best_paths
from .batch import NO_TREE, Dependencies

# Bytes of states kept for one sentence before its stretches are run twice.
BUDGET = 1 << 26


def dependent_paths(
    scores: np.ndarray,
    rows: np.ndarray,
    words: np.ndarray,
    tags: TagSet,
    linearizer: Linearizer,
    bound: int,
    dependencies: Dependencies,
    ids: np.ndarray,
    totals: np.ndarray,
    status: np.ndarray,
    *,
    budget: int = BUDGET,
) -> None:
    """Decode a checked batch into `ids`, `totals` and `status`; see `ExactDecoder.decode_batch`.

    Scores in float32 add up in float32, relative to the best state of each position, so that long sentences lose no
    precision; the totals are summed in double along the best path. Where float32 finds no tree, because scores are so
    far apart that sums overflow, float64 has the last word.
    """
    best_paths(scores, rows, words, tags.offsets, linearizer.lattice, bound, *dependencies, budget, ids, totals, status)
    again = np.flatnonzero(status == NO_TREE)
    if len(again) and scores.dtype == np.float32:
        wide = [array.astype(np.float64) for array in (scores, *dependencies)]
        some_totals, some_status = totals[again], status[again]
        best_paths(
            wide[0], rows[again], words[again], tags.offsets, linearizer.lattice, bound, *wide[1:], budget, ids,
            some_totals, some_status,
        )  # fmt: skip
        totals[again], status[again] = some_totals, some_status
