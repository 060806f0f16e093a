"""The log-partition over tag sequences and its gradient: the sums that training needs."""

from types import SimpleNamespace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..errors import Errors
from ._passes import log_sums
from .failures import raise_failure
from .passes import needs_chart, span_sums
from .scores import StackBound, TagScores, Transitions, arguments_of

# Every sequence of tags counts, whether it is a tree or not: one state, and all tags in the first class.
_LINEAR_CHAIN = SimpleNamespace(
    start_stack=0, start_state=0, end_stack=0, end_state=0,
    delta=(0, 0, 0, 0), need=(0, 0, 0, 0), source=(0, 0, 1, 1), target=(0, 0, 1, 1),
)  # fmt: skip


class LogPartition(NamedTuple):
    """Sums over the tag sequences of each sentence. All but the first are the gradient of the sum of the first.

    log_z (np.ndarray): (S,) float64, the log of the sum of exp(score) over the sequences.
    marginals (np.ndarray): (R, T) probability of each tag at each row, with the type of the scores; 0 in rows that no
        sentence owns.
    expected (Transitions | None): Expected number of each pair of successive tags, first and last tag, over all
        sentences, in float64; None if the batch has no transitions.
    spans (np.ndarray | None): (K, L) probability that a span is a node and has the label, with the type of the scores;
        None if the batch has no scores of spans. `marginals` then has, in the rows of gaps, the probability that a left
        or a right child splits there, in the columns of the bare tags.
    """

    log_z: NDArray[Any]
    marginals: NDArray[Any]
    expected: Transitions | None
    spans: NDArray[Any] | None = None

    @property
    def arrays(self) -> tuple[Any, ...]:
        """The gradient of the sum of `log_z`, in the order of `TagScores.arrays`."""
        expected = () if self.expected is None else self.expected[:3]
        return (self.marginals, *expected, *(() if self.spans is None else (self.spans,)))


def log_partition(batch: TagScores, max_stack: StackBound = None, *, trees: bool = True) -> LogPartition:
    """Sum over all trees of each sentence, in one pass of log-sum-exp forward and one back.

    A tag sequence y that is a tree has the probability exp(score(y) - log_z), where score(y) adds up its scores; any
    other has none. The loss of a gold sequence is log_z - score(gold); the gradient of that loss is what is expected
    less what is there.

    batch (TagScores): The scores.
    max_stack (int | None): Largest stack size after any tag; None for no bound.
    trees (bool): Sum over trees; otherwise over all tag sequences, as a linear-chain CRF does.
    RETURNS (LogPartition): The sums.
    RAISES (ValueError): If a score is not finite, naming word and tag, or if no tree exists within the bound.
    """
    batch = batch.on_cpu()
    chart = needs_chart(batch)
    if not trees and chart.any():
        raise ValueError(Errors.E165.format(what="The sum over all tag sequences"))
    n_tags = len(batch.tags)
    log_z = np.zeros(len(batch.n_words))
    marginals = np.zeros_like(batch.scores)
    spans = None if batch.spans is None else np.zeros_like(batch.spans.scores)
    status = np.zeros(len(batch.n_words), dtype=np.uint8)
    expected = None
    if batch.transitions is not None:
        expected = batch.transitions.replace(np.zeros(array.shape) for array in batch.transitions[:3])
    if not chart.all():
        counts = (None, None, None) if expected is None else expected[:3]
        scores, starts, n_words, offsets, lattice, bound, *transitions = arguments_of(batch.select(~chart), max_stack)
        if not trees:
            offsets, lattice, bound = np.asarray([0, *[n_tags] * 4], dtype=np.int32), _LINEAR_CHAIN, -1
        found = np.zeros(len(n_words)), np.zeros(len(n_words), dtype=np.uint8)
        log_sums(scores, starts, n_words, offsets, lattice, bound, *transitions, found[0], marginals, *counts, found[1])
        log_z[~chart], status[~chart] = found
    if chart.any():
        sums = span_sums(batch.select(chart), max_stack, labels=False)
        log_z[chart], status[chart] = sums.log_z, sums.status
        marginals += sums.marginals
        if expected is not None and sums.expected is not None:
            for total, own in zip(expected[:3], sums.expected[:3], strict=True):
                total += own
        if spans is not None:
            spans = sums.nodes
    raise_failure(batch, max_stack, status)
    return LogPartition(log_z, marginals, expected, spans)
