"""Chooses lattice or chart for each sentence of a batch, and calls the compiled passes.

The lattice knows the trees of scores of tags, and of successive tags. The chart knows spans: their scores, constraints
on them, their probabilities; it has no scores of successive tags.
"""

from types import SimpleNamespace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..errors import Errors
from ._chart import k_best, log_sums as chart_sums, samples, viterbi as chart_viterbi
from ._passes import log_sums, viterbi
from .batch import ORDER_CODES, Decoded, TagScores, Transitions, arguments_of, ranges
from .constraints import label_sets

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
        labels were not asked for, as `leaves`.
    leaves (np.ndarray | None): (W, T) probability of each leaf tag of each word, sentence after sentence.
    status (np.ndarray): (S,) uint8, 0 or what went wrong.
    """

    log_z: NDArray[Any]
    marginals: NDArray[Any]
    transitions: Transitions | None
    spans: NDArray[Any] | None
    nodes: NDArray[Any] | None
    leaves: NDArray[Any] | None
    status: NDArray[Any]

    @property
    def arrays(self) -> tuple[Any, ...]:
        """The gradient of the sum of `log_z`, in the order of `TagScores.arrays`."""
        return (self.marginals, *(self.transitions or ()), *(() if self.spans is None else (self.spans,)))


def first_spans(n_words: NDArray[Any], shortest: int = 2) -> NDArray[Any]:
    """Find the first row of each sentence where all spans are in rows: (S + 1,) int64, the last their number."""
    n = n_words.astype(np.int64) - shortest + 1
    rows: NDArray[Any] = np.concatenate([[0], np.cumsum(np.maximum(n * (n + 1) // 2, 0))])
    return rows


def needs_chart(batch: TagScores) -> NDArray[Any]:
    """Find the sentences whose trees the lattice does not know, (S,) bool: spans are scored, or constrained."""
    scored = np.zeros(len(batch.n_words), dtype=bool) if batch.spans is None else batch.spans.starts >= 0
    if batch.constraints is None:
        return scored
    constrained = np.asarray([len(own) > 0 for own in batch.constraints], dtype=bool)
    needs: NDArray[Any] = scored | constrained
    return needs


def chart_arguments(batch: TagScores) -> tuple[NDArray[Any], tuple[Any, ...]]:
    """Give the scores, and the other arguments with which compiled passes over the chart read a batch on the CPU.

    batch (TagScores): The scores, in one of the three orders, without transitions.
    RAISES (ValueError): If the order is another one, or the batch has transitions.
    """
    if batch.linearizer.order not in ORDER_CODES:
        raise ValueError(Errors.E167.format(order=batch.linearizer.order))
    if batch.transitions is not None:
        raise ValueError(Errors.E175)
    scores, (*others, bound, _, _, _) = arguments_of(batch)
    order = ORDER_CODES[batch.linearizer.order]
    # Where tags alone are scored in pre- and post-order, their places depend on the stack.
    levels = bound >= 0 or (order != ORDER_CODES["in"] and batch.spans is None)
    spans: tuple[Any, ...] = (None, None, None)
    if batch.spans is not None:
        spans = (batch.spans.scores, batch.spans.starts, batch.tags.node_ids)
    sets: tuple[Any, ...] = (None, None, None)
    if batch.constraints is not None:
        sets = label_sets(batch.constraints, batch.n_words, batch.tags)
    return scores, (*others, bound, order, levels, *spans, *sets)


def best_trees(batch: TagScores) -> tuple[Decoded, NDArray[Any]]:
    """Find the best tree of each sentence of a batch that is on the CPU, by Viterbi, and statuses."""
    ids = np.full(len(batch.scores), -1, dtype=np.int32)
    totals, status = _results(batch)
    chart = needs_chart(batch)
    if not chart.all():
        found = totals[~chart], status[~chart]
        viterbi(*arguments_of(batch.select(~chart)), ids, *found)
        totals[~chart], status[~chart] = found
    if chart.any():
        found = totals[chart], status[chart]
        chart_viterbi(*chart_arguments(batch.select(chart)), ids, *found)
        totals[chart], status[chart] = found
    return Decoded(ids, totals), status


def sum_trees(batch: TagScores, *, labels: bool = False) -> Sums:
    """Sum over the trees of each sentence of a batch that is on the CPU.

    Log-sum-exp forward and back in the lattice takes O(N|T| + dN) for N words, |T| tags and stack bound d;
    inside-outside in the chart O(N^3), or O(dN^3) with a bound, and in pre- and post-order, where d is at most N.

    labels (bool): Find `nodes` and `leaves` too, in the chart.
    RAISES (ValueError): If labels are asked for, and the batch has transitions or an order of its own.
    """
    log_z, status = _results(batch)
    marginals = np.zeros_like(batch.scores)
    transitions = nodes = leaves = None
    spans = None if batch.spans is None else np.zeros_like(batch.spans.scores)
    chart = np.ones(len(log_z), dtype=bool) if labels else needs_chart(batch)
    if not chart.any() or not chart.all():  # of no sentence too, for the shapes of its counts
        found = log_z[~chart], status[~chart]
        transitions = _sum_lattice(arguments_of(batch.select(~chart)), marginals, *found)
        log_z[~chart], status[~chart] = found
    if chart.any() or labels:
        some, found = batch.select(chart), (log_z[chart], status[chart])
        n_words = some.n_words.astype(np.int64)
        first, rows = first_spans(n_words), spans
        if labels:
            rows = nodes = np.zeros((int(first[-1]), len(batch.tags.node_labels)), dtype=batch.scores.dtype)
            leaves = np.zeros((int(n_words.sum()), len(batch.tags)), dtype=batch.scores.dtype)
        elif some.spans is not None:
            first = some.spans.starts
        leaf_starts = np.cumsum(n_words) - n_words
        arguments = (*chart_arguments(some), batch.tags.label_of, first, leaf_starts)
        chart_sums(*arguments, found[0], marginals, rows, leaves, found[1])
        log_z[chart], status[chart] = found
        if nodes is not None and spans is not None and batch.spans is not None:
            scored = np.flatnonzero(batch.spans.starts >= 0)
            counts = np.diff(first)[scored]
            spans[ranges(batch.spans.starts[scored], counts)] = nodes[ranges(first[scored], counts)]
    return Sums(log_z, marginals, transitions, spans, nodes, leaves, status)


def sum_sequences(batch: TagScores) -> Sums:
    """Sum over all tag sequences of each sentence, whether they are trees or not, as a linear-chain CRF does.

    RAISES (ValueError): If spans are scored, or there are constraints.
    """
    if needs_chart(batch).any():
        raise ValueError(Errors.E165.format(what="The sum over all tag sequences"))
    log_z, status = _results(batch)
    marginals = np.zeros_like(batch.scores)
    scores, (starts, n_words, _, _, _, *arrays) = arguments_of(batch)
    one_class = np.asarray([0, *[len(batch.tags)] * 4], dtype=np.int32)
    arguments = (scores, (starts, n_words, one_class, _LINEAR_CHAIN, -1, *arrays))
    transitions = _sum_lattice(arguments, marginals, log_z, status)
    return Sums(log_z, marginals, transitions, None, None, None, status)


def _sum_lattice(
    arguments: tuple[NDArray[Any], tuple[Any, ...]], marginals: NDArray[Any], log_z: NDArray[Any], status: NDArray[Any]
) -> Transitions | None:
    """Sum over paths of a lattice, into arrays; returns the expected counts of transitions, where there are any."""
    *_, pairs, start, end = arguments[1]
    counts = None if pairs is None else Transitions(*(np.zeros(array.shape) for array in (pairs, start, end)))
    log_sums(*arguments, log_z, marginals, *(counts or (None, None, None)), status)
    return counts


def k_best_trees(batch: TagScores, k: int) -> list[tuple[NDArray[np.int32], NDArray[np.float64]]]:
    """Find the k best trees of each sentence of a batch on the CPU that has trees: (m, 2N-1) tag ids, (m,) scores."""
    if not len(batch.n_words):
        return []
    _, status = _results(batch)
    counts = np.zeros(len(batch.n_words), dtype=np.int64)
    ids, scores = k_best(*chart_arguments(batch), k, counts, status)
    lengths = batch.lengths
    parts = np.split(np.frombuffer(ids, dtype=np.int32), np.cumsum(counts * lengths)[:-1])
    totals = np.split(np.frombuffer(scores, dtype=np.float64), np.cumsum(counts)[:-1])
    return [
        (flat.reshape(count, length), total)
        for flat, total, count, length in zip(parts, totals, counts.tolist(), lengths.tolist(), strict=True)
    ]


def sample_trees(batch: TagScores, n: int, seed: int) -> tuple[NDArray[Any], NDArray[Any]]:
    """Draw n trees of each sentence by their probabilities: (n, R) int32 tag ids, and statuses."""
    _, status = _results(batch)
    ids = np.full((n, len(batch.scores)), -1, dtype=np.int32)
    samples(*chart_arguments(batch), seed, ids, status)
    return ids, status


def _results(batch: TagScores) -> tuple[NDArray[Any], NDArray[Any]]:
    return np.zeros(len(batch.n_words)), np.zeros(len(batch.n_words), dtype=np.uint8)
