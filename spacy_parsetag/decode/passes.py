"""The compiled passes, for a batch: the lattice where tags alone are scored, the chart where spans count."""

from collections.abc import Iterator
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..errors import Errors
from ._chart import Chart, k_best, samples
from ._chart import log_sums as chart_sums
from ._chart import viterbi as chart_viterbi
from ._passes import viterbi
from .chain_chart import chain_sums
from .chain_trees import chain_k_best, chain_samples
from .constraints import Constraint, label_sets
from .scores import (
    FOUND,
    NO_TREE,
    NOT_FINITE,
    ORDER_CODES,
    StackBound,
    TagScores,
    Transitions,
    arguments_of,
    bound_of,
)


class Best(NamedTuple):
    """The best trees.

    ids (np.ndarray): (R,) int32 tag ids, -1 in rows that no sentence owns.
    scores (np.ndarray): (S,) float64 score of each tree.
    status (np.ndarray): (S,) uint8, 0 or what went wrong.
    """

    ids: NDArray[Any]
    scores: NDArray[Any]
    status: NDArray[Any]


class SpanSums(NamedTuple):
    """Sums over the trees of each sentence, in the chart.

    log_z (np.ndarray): (S,) float64 log-partition.
    marginals (np.ndarray): (R, T) probability of each tag at each row; of joint scores, in the rows of gaps, that of
        splits as a left or right child, in the columns of the bare tags.
    nodes (np.ndarray): (K, L) probability that a span is a node with a label. Rows are as `first_spans` has them, or,
        unless labels are asked for, those of the batch's scores of spans.
    leaves (np.ndarray): (W, T) probability of each leaf tag of each word, sentence after sentence.
    expected (Transitions | None): Expected number of each pair of successive tags, first and last tag, over all
        sentences; None if the batch has no transitions.
    status (np.ndarray): (S,) uint8, 0 or what went wrong.
    """

    log_z: NDArray[Any]
    marginals: NDArray[Any]
    nodes: NDArray[Any]
    leaves: NDArray[Any]
    expected: Transitions | None
    status: NDArray[Any]


def needs_chart(batch: TagScores) -> NDArray[Any]:
    """(S,) bool: the sentences whose trees the lattice does not know: spans are scored, or constrained."""
    scored = np.zeros(len(batch.n_words), dtype=bool) if batch.spans is None else batch.spans.starts >= 0
    if batch.constraints is None:
        return scored
    constrained = np.asarray([len(own) > 0 for own in batch.constraints], dtype=bool)
    needs: NDArray[Any] = scored | constrained
    return needs


def first_spans(n_words: NDArray[Any], shortest: int = 2) -> NDArray[Any]:
    """(S + 1,) int64: first row of the spans of each sentence where all are in rows, and how many rows there are.

    n_words (np.ndarray): (S,) words of each sentence.
    shortest (int): Words of the shortest spans.
    """
    n = n_words.astype(np.int64) - shortest + 1
    rows: NDArray[Any] = np.concatenate([[0], np.cumsum(np.maximum(n * (n + 1) // 2, 0))])
    return rows


def chart_of(
    batch: TagScores, max_stack: StackBound, levels: bool | None = None, spans: tuple[Any, Any, Any] | None = None
) -> Chart:
    """The chart of a batch that is on the CPU, as the compiled passes take it.

    batch (TagScores): The scores, in one of the three orders, without transitions.
    max_stack (int | None): Largest stack size after any tag; None for no bound.
    levels (bool | None): Whether what an item weighs depends on the stack; None to go by order and bound.
    spans (tuple[np.ndarray, np.ndarray, np.ndarray] | None): Scores of spans, first rows and tags of labels; None for
        those of the batch.
    RETURNS (Chart): The chart.
    RAISES (ValueError): If the order is another one.
    """
    if batch.linearizer.order not in ORDER_CODES:
        raise ValueError(Errors.E167.format(order=batch.linearizer.order))
    bound = bound_of(max_stack)
    order = ORDER_CODES[batch.linearizer.order]
    if levels is None:
        levels = order != ORDER_CODES["in"] or bound >= 0
    if spans is None:
        spans = (None, None, None)
        if batch.spans is not None:
            spans = (batch.spans.scores, batch.spans.starts, batch.tags.node_ids)
    sets: tuple[Any, ...] = (None, None, None)
    if batch.constraints is not None:
        sets = label_sets(batch.constraints, batch.n_words, batch.tags)
    return Chart(
        batch.scores, batch.starts, batch.n_words, batch.tags.offsets, *spans, *sets,
        order, levels, bound,
    )  # fmt: skip


def best_trees(batch: TagScores, max_stack: StackBound) -> Best:
    """The best tree of each sentence of a batch that is on the CPU."""
    ids = np.full(len(batch.scores), -1, dtype=np.int32)
    totals, status = _results(batch)
    chart = needs_chart(batch)
    if not chart.all():
        some, found = batch.select(~chart), (totals[~chart], status[~chart])
        viterbi(*arguments_of(some, max_stack), ids, *found)
        totals[~chart], status[~chart] = found
    if chart.any() and batch.transitions is None:
        some, found = batch.select(chart), (totals[chart], status[chart])
        own = chart_of(some, max_stack)
        chart_viterbi(own, own.scores, own.spans, ids, *found)
        totals[chart], status[chart] = found
    elif chart.any():
        for s, one in _sentences(batch, chart, status):
            rows, scores = chain_k_best(one, max_stack, 1)
            if len(rows):
                ids[batch.starts[s] : batch.stops[s]], totals[s] = rows[0], scores[0]
            else:
                status[s] = NO_TREE
    return Best(ids, totals, status)


def best_gains(
    batch: TagScores, max_stack: StackBound, scores: NDArray[Any], spans: NDArray[Any], starts: NDArray[Any]
) -> Best:
    """The trees with the greatest gains, where those of a node depend on its span and its tag and not on its place.

    batch (TagScores): The batch, for its sentences, its tags, its order and its constraints.
    max_stack (int | None): Largest stack size after any tag; None for no bound.
    scores (np.ndarray): (R, T) gains of leaf tags in the first row of each word and every second one after; 0 else.
    spans (np.ndarray): (K, L) gains of the labels of spans.
    starts (np.ndarray): (S,) int64, first row of the spans of each sentence.
    RETURNS (Best): The trees.
    """
    ids = np.full(len(batch.scores), -1, dtype=np.int32)
    totals, status = _results(batch)
    # A tree is right by its constituents, whatever its transitions.
    batch = replace(batch, transitions=None)
    own = chart_of(batch, max_stack, levels=bound_of(max_stack) >= 0, spans=(spans, starts, batch.tags.node_ids))
    chart_viterbi(own, scores, spans, ids, totals, status)
    return Best(ids, totals, status)


def span_sums(batch: TagScores, max_stack: StackBound, *, labels: bool = True) -> SpanSums:
    """Sums over the trees of each sentence of a batch that is on the CPU, all of them in the chart.

    batch (TagScores): The scores.
    max_stack (int | None): Largest stack size after any tag; None for no bound.
    labels (bool): Whether to find the probabilities of labels of spans and words; joint scores need those of spans.
    RETURNS (SpanSums): The sums; without labels two of the arrays are empty.
    """
    totals, status = _results(batch)
    label_of = batch.tags.label_of
    dtype, n_words = batch.scores.dtype, batch.n_words.astype(np.int64)
    if batch.spans is not None and not labels:
        nodes, starts = np.zeros_like(batch.spans.scores), batch.spans.starts
    else:  # also of sentences of which no spans are scored
        starts = first_spans(n_words)
        nodes = np.zeros((int(starts[-1]) if labels else 0, len(batch.tags.node_labels)), dtype=dtype)
    leaves = np.zeros((int(n_words.sum()) if labels else 0, len(batch.tags)), dtype=dtype)
    marginals = np.zeros_like(batch.scores)
    expected = None
    if batch.transitions is not None:
        expected = batch.transitions.replace(np.zeros(array.shape) for array in batch.transitions[:3])
        for s, one in _sentences(batch, n_words > 0, status):
            sums = chain_sums(one, max_stack)
            totals[s], status[s] = sums.log_z, FOUND if sums.log_z > -np.inf else NO_TREE
            marginals[batch.starts[s] : batch.stops[s]] = sums.marginals
            for counts, own_counts in zip(expected[:3], sums.expected[:3], strict=True):
                counts += own_counts
            if labels:
                first = n_words[:s].sum()
                leaves[first : first + n_words[s]] = sums.leaves
                np.add.at(nodes[starts[s] : starts[s + 1]].T, label_of, sums.nodes.T.astype(dtype))
        return SpanSums(totals, marginals, nodes, leaves, expected, status)
    own = chart_of(batch, max_stack)
    chart_sums(
        own, own.scores, own.spans, label_of, starts, np.cumsum(n_words) - n_words, totals, marginals,
        nodes if len(nodes) else None, leaves if len(leaves) else None, status,
    )  # fmt: skip
    return SpanSums(totals, marginals, nodes, leaves, expected, status)


def k_best_trees(
    batch: TagScores, max_stack: StackBound, k: int
) -> list[tuple[NDArray[np.int32], NDArray[np.float64]]]:
    """The k best trees of each sentence of a batch on the CPU that has trees: (m, 2N-1) tag ids and (m,) scores."""
    if batch.transitions is not None:
        no_trees = np.zeros((0, 0), dtype=np.int32), np.zeros(0)
        sentences = (batch.select(np.asarray([s])) for s in range(len(batch.n_words)))
        return [chain_k_best(one, max_stack, k) if one.n_words[0] else no_trees for one in sentences]
    if not len(batch.n_words):
        return []
    _, status = _results(batch)
    counts = np.zeros(len(batch.n_words), dtype=np.int64)
    own = chart_of(batch, max_stack)
    ids, scores = k_best(own, own.scores, own.spans, k, counts, status)
    lengths = batch.stops - batch.starts
    parts = np.split(np.frombuffer(ids, dtype=np.int32), np.cumsum(counts * lengths)[:-1])
    totals = np.split(np.frombuffer(scores, dtype=np.float64), np.cumsum(counts)[:-1])
    return [
        (flat.reshape(count, length), total)
        for flat, total, count, length in zip(parts, totals, counts.tolist(), lengths.tolist(), strict=True)
    ]


def sample_trees(batch: TagScores, max_stack: StackBound, n: int, seed: int) -> tuple[NDArray[Any], NDArray[Any]]:
    """(n, R) int32 tag ids of n trees of each sentence, drawn by their probabilities, and statuses."""
    _, status = _results(batch)
    ids = np.full((n, len(batch.scores)), -1, dtype=np.int32)
    if batch.transitions is not None:
        for s, one in _sentences(batch, batch.n_words > 0, status):
            found = chain_samples(one, max_stack, n, seed + s)
            if found is None:
                status[s] = NO_TREE
            else:
                ids[:, batch.starts[s] : batch.stops[s]] = found
        return ids, status
    own = chart_of(batch, max_stack)
    samples(own, own.scores, own.spans, seed, ids, status)
    return ids, status


def keep_possible(batch: TagScores, max_stack: StackBound = None) -> tuple[TagScores, list[list[int]]]:
    """Leave out constraints that cannot hold together with those before them: the first of a sentence count most.

    batch (TagScores): The scores, with constraints.
    max_stack (int | None): Largest stack size after any tag; None for no bound.
    RETURNS (tuple[TagScores, list[list[int]]]): The batch with the constraints that are kept, and the indices of those
        of each sentence that are left out.
    """
    if batch.constraints is None:
        return batch, [[] for _ in batch.n_words]
    batch = batch.on_cpu()
    status = best_trees(batch, max_stack).status
    constraints, dropped = list(batch.constraints or ()), [list[int]() for _ in batch.n_words]
    for s in np.flatnonzero((status != 0) & (status != NOT_FINITE)).tolist():
        one = batch.select(np.asarray([s]))
        kept: list[Constraint] = []
        for i, constraint in enumerate(constraints[s]):
            if best_trees(replace(one, constraints=((*kept, constraint),)), max_stack).status[0]:
                dropped[s].append(i)
            else:
                kept.append(constraint)
        constraints[s] = tuple(kept)
    return replace(batch, constraints=tuple(constraints)), dropped


def conflict(one: TagScores, max_stack: StackBound) -> list[int]:
    """Find constraints on the sentence of a batch of one that cannot hold together.

    one (TagScores): The scores, on the CPU, with constraints that no tree agrees with.
    max_stack (int | None): Largest stack size after any tag; None for no bound.
    RETURNS (list[int]): Their indices, none of which can be left out; empty if no tree exists without constraints.
    """
    given = one.constraints[0] if one.constraints else ()
    needed = list(range(len(given)))
    for i in range(len(given)):
        fewer = [j for j in needed if j != i]
        if best_trees(replace(one, constraints=(tuple(given[j] for j in fewer),)), max_stack).status[0]:
            needed = fewer
    return needed


def _sentences(batch: TagScores, mask: NDArray[Any], status: NDArray[Any]) -> Iterator[tuple[int, TagScores]]:
    """Sentences one by one; those whose scores are not finite get their status in place of being given."""
    for s in np.flatnonzero(mask).tolist():
        if (np.abs(batch.scores[batch.starts[s] : batch.stops[s]]) < 1e300).all():
            yield s, batch.select(np.asarray([s]))
        else:
            status[s] = NOT_FINITE


def _results(batch: TagScores) -> tuple[NDArray[Any], NDArray[Any]]:
    return np.zeros(len(batch.n_words)), np.zeros(len(batch.n_words), dtype=np.uint8)
