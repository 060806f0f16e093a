"""Calls the compiled passes over lattice and chart.

The lattice takes scores of tags and of successive tags. The chart takes scores of tags and of spans, and constraints on
spans, and finds the probabilities of spans; it does not take scores of successive tags.
"""

from types import SimpleNamespace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..errors import Errors
from ._passes import chart_sums, k_best, log_sums, samples, viterbi
from .batch import (
    CHART,
    FOUND,
    ORDER_CODES,
    Arguments,
    Decoded,
    TagScores,
    Transitions,
    arguments_of,
    first_spans,
    needs_chart,
    ranges,
)
from .constraints import LabelSets

# Every sequence of tags counts, whether it is a tree or not: one state, and all tags in the first class.
_LINEAR_CHAIN = SimpleNamespace(
    start_stack=0, start_state=0, end_stack=0, end_state=0,
    delta=(0, 0, 0, 0), need=(0, 0, 0, 0), source=(0, 0, 1, 1), target=(0, 0, 1, 1),
)  # fmt: skip


class Sums(NamedTuple):
    """Sums over the trees of each sentence.

    log_z (np.ndarray): (S,) float64 log-partition, the log of the sum of exp(score) over the trees.
    marginals (np.ndarray): (R, T) probability of each tag at each row, with the type of the scores; 0 in rows that no
        sentence owns. Where spans are scored, the rows of gaps have the probability that a left or a right child splits
        there, in the columns of the bare tags.
    transitions (Transitions | None): Expected number of each pair of successive tags, first and last tag, over all
        sentences, in float64; None if the batch has no transitions.
    spans (np.ndarray | None): (K, L) probability that a span is a node and has the label, in the rows of the batch's
        scores of spans; None if it has none.
    nodes (np.ndarray | None): (K', L) the same for all spans of all sentences, rows as `first_spans` has them; None if
        labels were not asked for.
    leaves (np.ndarray | None): (W, T) probability of each leaf tag of each word, sentence after sentence; None
        likewise.
    status (np.ndarray): (S,) uint8, 0 or what went wrong.
    error (np.ndarray | float): (S,) relative rounding error of the probabilities where scores of successive tags are
        great; 0 elsewhere.
    """

    log_z: NDArray[Any]
    marginals: NDArray[Any]
    transitions: Transitions | None
    spans: NDArray[Any] | None
    nodes: NDArray[Any] | None
    leaves: NDArray[Any] | None
    status: NDArray[Any]
    error: NDArray[Any] | float = 0.0

    @property
    def arrays(self) -> tuple[Any, ...]:
        """The gradient of the sum of `log_z`, in the order of `TagScores.arrays`."""
        return (self.marginals, *(self.transitions or ()), *(() if self.spans is None else (self.spans,)))


def best_trees(
    batch: TagScores, sets: LabelSets | None = None, shared: NDArray[np.int32] | None = None
) -> tuple[Decoded, NDArray[Any]]:
    """Find the best tree of each sentence of a batch that is on the CPU, by Viterbi, and statuses.

    sets (LabelSets | None): The tags that spans may have, in place of those that the constraints leave.
    shared (np.ndarray | None): (K,) the row of the scores of spans that each span has, where spans share rows, and
        there are fewer of them.
    """
    (scores, others), totals, status = _prepare(batch, needs_chart(batch) if sets is None else None)
    *first, _, has_sets, cells, cell_starts = others
    ids = np.full(len(batch.scores), -1, dtype=np.int32)
    viterbi(scores, (*first, shared, *(sets or (has_sets, cells, cell_starts))), ids, totals, status)
    return Decoded(ids, totals), status


def sum_trees(batch: TagScores, *, labels: bool = False) -> Sums:
    """Sum over the trees of each sentence of a batch that is on the CPU.

    Log-sum-exp forward and back in the lattice takes O(N|T| + dN) for N words, |T| tags and stack bound d;
    inside-outside in the chart takes O(N^3); with a bound, or in pre- or post-order, O(dN^3), where d is at most N.

    labels (bool): Find `nodes` and `leaves` too, in the chart.
    RAISES (ValueError): If labels are asked for, and the batch has transitions or an order of its own.
    """
    arguments, log_z, status = _prepare(batch, None if labels else needs_chart(batch))
    marginals, n_words = np.zeros_like(batch.scores), batch.n_words.astype(np.int64)
    spans = None if batch.spans is None else np.zeros_like(batch.spans.scores)
    starts, nodes, leaves = first_spans(n_words), None, None
    if labels:
        nodes = np.zeros((int(starts[-1]), len(batch.tags.node_labels)), dtype=batch.scores.dtype)
        leaves = np.zeros((int(n_words.sum()), len(batch.tags)), dtype=batch.scores.dtype)
    transitions = _sum_lattice(batch, arguments, marginals, log_z, status)
    if (status == CHART).any():
        # The sums are of all spans where labels are asked for, else of those that are scored.
        rows, sums = (starts, nodes) if labels or batch.spans is None else (batch.spans.starts, spans)
        leaf_starts = np.cumsum(n_words) - n_words
        chart_sums(*arguments, batch.tags.label_of, rows, leaf_starts, log_z, marginals, sums, leaves, status)
    if nodes is not None and spans is not None and batch.spans is not None:
        scored = np.flatnonzero(batch.spans.starts >= 0)
        counts = np.diff(starts)[scored]
        spans[ranges(batch.spans.starts[scored], counts)] = nodes[ranges(starts[scored], counts)]
    return Sums(log_z, marginals, transitions, spans, nodes, leaves, status)


def sum_sequences(batch: TagScores) -> Sums:
    """Sum over all tag sequences of each sentence, whether they are trees or not, as a linear-chain CRF does.

    RAISES (ValueError): If spans are scored, or there are constraints.
    """
    chart = needs_chart(batch)
    if chart.any():
        raise ValueError(Errors.E165.format(what="The sum over all tag sequences"))
    (scores, (starts, n_words, _, _, _, *others)), log_z, status = _prepare(batch, chart)
    marginals = np.zeros_like(batch.scores)
    one_class = np.asarray([0, *[len(batch.tags)] * 4], dtype=np.int32)
    arguments = (scores, (starts, n_words, one_class, _LINEAR_CHAIN, 0, *others))  # the stack never grows
    transitions = _sum_lattice(batch, arguments, marginals, log_z, status)
    return Sums(log_z, marginals, transitions, None, None, None, status)


def k_best_trees(batch: TagScores, k: int) -> list[tuple[NDArray[np.int32], NDArray[np.float64]]]:
    """Find the k best trees of each sentence of a batch on the CPU that has trees: (m, 2N-1) tag ids, (m,) scores."""
    if not len(batch.n_words):
        return []
    arguments, _, status = _prepare(batch, None)
    counts = np.zeros(len(batch.n_words), dtype=np.int64)
    ids, scores = k_best(*arguments, k, counts, status)
    lengths = batch.lengths
    flat_ids = np.split(np.frombuffer(ids, dtype=np.int32), np.cumsum(counts * lengths)[:-1])
    totals = np.split(np.frombuffer(scores, dtype=np.float64), np.cumsum(counts)[:-1])
    return [
        (flat.reshape(count, length), total)
        for flat, total, count, length in zip(flat_ids, totals, counts.tolist(), lengths.tolist(), strict=True)
    ]


def sample_trees(batch: TagScores, n: int, seed: int) -> tuple[NDArray[Any], NDArray[Any]]:
    """Draw n trees of each sentence by their probabilities: (n, R) int32 tag ids, and statuses."""
    arguments, _, status = _prepare(batch, None)
    ids = np.full((n, len(batch.scores)), -1, dtype=np.int32)
    samples(*arguments, seed, ids, status)
    return ids, status


def _prepare(batch: TagScores, chart: NDArray[Any] | None) -> tuple[Arguments, NDArray[Any], NDArray[Any]]:
    """Give the arguments of a pass over a batch on the CPU, and arrays for its outputs: totals and statuses.

    chart (np.ndarray | None): (S,) bool, the sentences for the chart, None for all. Statuses tell the pass which.
    RAISES (ValueError): If the chart takes any, but the order is none of the three or the batch has transitions.
    """
    if chart is None or chart.any():
        if batch.linearizer.order not in ORDER_CODES:
            raise ValueError(Errors.E167.format(order=batch.linearizer.order))
        if batch.transitions is not None:
            raise ValueError(Errors.E175)
    in_chart = (batch.n_words > 0) & (True if chart is None else chart)
    return arguments_of(batch), np.zeros(len(in_chart)), np.where(in_chart, CHART, FOUND).astype(np.uint8)


def _sum_lattice(
    batch: TagScores, arguments: Arguments, marginals: NDArray[Any], log_z: NDArray[Any], status: NDArray[Any]
) -> Transitions | None:
    """Sum over paths of a lattice, into arrays; returns the expected counts of transitions, where there are any."""
    counts = batch.transitions and Transitions(*(np.zeros(array.shape) for array in batch.transitions))
    log_sums(*arguments, log_z, marginals, *(counts or (None, None, None)), status)
    return counts
