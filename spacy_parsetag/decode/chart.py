"""The passes over spans, for a batch: which sentences need them, and their arrays."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..errors import Errors
from ._chart import Chart, log_sums, viterbi
from .scores import ORDER_CODES, StackBound, TagScores, bound_of


def needs_chart(batch: TagScores) -> NDArray[Any]:
    """(S,) bool: the sentences whose trees the lattice of tags alone does not score."""
    if batch.spans is None:
        return np.zeros(len(batch.n_words), dtype=bool)
    return batch.spans.starts >= 0


def chart_of(batch: TagScores, max_stack: StackBound) -> Chart:
    """The chart of a batch that is on the CPU, as the compiled passes take it.

    batch (TagScores): The scores, in one of the three orders, without transitions.
    max_stack (int | None): Largest stack size after any tag; None for no bound.
    RETURNS (Chart): The chart.
    RAISES (ValueError): If the order is another one.
    """
    if batch.linearizer.order not in ORDER_CODES:
        raise ValueError(Errors.E167.format(order=batch.linearizer.order))
    bound = bound_of(max_stack)
    order = ORDER_CODES[batch.linearizer.order]
    scores, starts, ids = None, None, None
    if batch.spans is not None:
        scores, starts, ids = batch.spans.scores, batch.spans.starts, batch.tags.node_ids
    return Chart(
        batch.scores, batch.starts, batch.n_words, batch.tags.offsets, scores, starts, ids, None, None, None,
        order, order != ORDER_CODES["in"] or bound >= 0, bound,
    )  # fmt: skip


def chart_viterbi(batch: TagScores, max_stack: StackBound, ids: NDArray[Any]) -> tuple[NDArray[Any], NDArray[Any]]:
    """The best tree of each sentence.

    batch (TagScores): The scores, on the CPU.
    max_stack (int | None): Largest stack size after any tag; None for no bound.
    ids (np.ndarray): (R,) int32, where tag ids go.
    RETURNS (tuple[np.ndarray, np.ndarray]): (S,) scores of the trees, and (S,) statuses.
    """
    totals, status = np.zeros(len(batch.n_words)), np.zeros(len(batch.n_words), dtype=np.uint8)
    chart = chart_of(batch, max_stack)
    viterbi(chart, chart.scores, chart.spans, ids, totals, status)
    return totals, status


def chart_sums(
    batch: TagScores,
    max_stack: StackBound,
    marginals: NDArray[Any],
    labels: NDArray[Any] | None,
    starts: NDArray[Any],
) -> tuple[NDArray[Any], NDArray[Any]]:
    """The log-partition of each sentence, with its gradient.

    batch (TagScores): The scores, on the CPU.
    max_stack (int | None): Largest stack size after any tag; None for no bound.
    marginals (np.ndarray): (R, T), where probabilities of tags go.
    labels (np.ndarray | None): (K, L) zeros, where probabilities of labels of spans go; None if nobody asks for them.
    starts (np.ndarray): (S,) int64, first row of the spans of each sentence among them.
    RETURNS (tuple[np.ndarray, np.ndarray]): (S,) log-partitions, and (S,) statuses.
    """
    totals, status = np.zeros(len(batch.n_words)), np.zeros(len(batch.n_words), dtype=np.uint8)
    chart = chart_of(batch, max_stack)
    label_of = np.zeros(len(batch.tags), dtype=np.int32)
    for ids in batch.tags.node_ids:
        label_of[ids[ids >= 0]] = np.flatnonzero(ids >= 0)
    log_sums(chart, chart.scores, chart.spans, label_of, starts, totals, marginals, labels, status)
    return totals, status


def first_spans(batch: TagScores) -> NDArray[Any]:
    """(S + 1,) int64: first row of the spans of each sentence where all have them, and how many there are."""
    n_words = batch.n_words.astype(np.int64)
    return np.concatenate([[0], np.cumsum(n_words * (n_words - 1) // 2)])
