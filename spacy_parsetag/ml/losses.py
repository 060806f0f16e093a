"""Losses on tag scores: the loss of a batch of sentences, and its gradient in the form of the batch."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray
from thinc.api import get_array_module

from ..decode import Constraint, SpanScores, StackBound, TagScores, Transitions, log_partition
from ..decode.nodes import labelled_nodes
from ..decode.scores import check_bound
from ..errors import Errors
from .spans import span_row


@runtime_checkable
class Loss(Protocol):
    """Loss and gradient of a batch.

    batch (TagScores): The scores.
    gold (np.ndarray): (R,) ids of the gold tags; -1 for one that is not in the tag set, and in rows that no sentence
        owns.
    RETURNS (tuple[float, TagScores]): The loss in nats, summed over the batch, and its gradient: the same batch with
        gradients for scores, of the same type and on the same device.
    """

    def __call__(self, batch: TagScores, gold: NDArray[Any]) -> tuple[float, TagScores]: ...


class TagLoss:
    """Likelihood of the gold tags among all tag sequences, whether they are trees or not (paper section 4.2).

    Where tags are independent this is cross-entropy tag by tag: each position is a choice among all tags, and one with
    an unknown gold tag is left out. With transitions it is the likelihood of a linear-chain CRF, and a sentence with an
    unknown gold tag is left out as a whole: its sequence has no score.
    """

    def __call__(self, batch: TagScores, gold: NDArray[Any]) -> tuple[float, TagScores]:
        """The loss and its gradient; see `Loss`."""
        if batch.spans is not None:
            raise ValueError(Errors.E201)
        if batch.transitions is not None:
            if batch.transitions.masked:
                batch = replace(batch, transitions=mask_transitions(batch, batch.transitions))
            return negative_log_likelihood(batch, gold, trees=False)
        scores = batch.scores
        xp = get_array_module(scores)
        gold = xp.asarray(gold)
        used = gold >= 0
        shifted = scores - xp.max(scores, axis=1, keepdims=True)  # (R, T)
        exp = xp.exp(shifted)
        total = exp.sum(axis=1, keepdims=True)
        gradient = exp / total
        index = xp.nonzero(used)[0]
        loss = (xp.log(total[index, 0]) - shifted[index, gold[index]]).sum()
        gradient[index, gold[index]] -= 1.0
        gradient[~used] = 0.0
        return float(loss), replace(batch, scores=gradient)


class LatticeLoss:
    """Likelihood of the gold tree among all trees: cross-entropy normalized over valid sequences only.

    Tag by tag, a model spends probability on sequences that are not trees, which the decoder rules out anyway. Here the
    sum in the denominator runs over the trees alone. Its logarithm and gradient come from the lattice, in one pass of
    log-sum-exp forward and one back; where spans are scored too, from the chart. The paper does not have this. A
    sentence with an unknown gold tag is left out as a whole.

    With transitions a sentence takes O(dN|T|^2): in pre- and post-order, where the stack may be as large as the
    sentence is long, that calls for a bound.

    max_stack (int | "train" | None): Bound on the stack, as in decoding; None for none. It must admit the gold trees.
    RAISES (ValueError): If the bound is below 0.
    """

    def __init__(self, max_stack: StackBound = None) -> None:
        self.max_stack = check_bound(max_stack)

    def __call__(self, batch: TagScores, gold: NDArray[Any]) -> tuple[float, TagScores]:
        """The loss and its gradient; see `Loss`."""
        return negative_log_likelihood(batch, gold, self.max_stack)


def negative_log_likelihood(
    batch: TagScores, gold: NDArray[Any], max_stack: StackBound = None, *, trees: bool = True
) -> tuple[float, TagScores]:
    """Minus the log-probability of the gold sequences among all trees, or among all tag sequences.

    Scores on a GPU are copied to the CPU once, and the gradient back once.

    batch (TagScores): The scores.
    gold (np.ndarray): (R,) ids of the gold tags; a sentence with a -1 is left out.
    max_stack (int | None): Bound on the stack of trees; None for none.
    trees (bool): Compare with trees; otherwise with all tag sequences.
    RETURNS (tuple[float, TagScores]): The summed loss in nats and its gradient.
    """
    known = [bool((gold[start:stop] >= 0).all()) for start, stop in zip(batch.starts, batch.stops, strict=True)]
    some = batch.on_cpu().select(np.asarray(known, dtype=bool))
    log_z, gradient, expected, d_spans = log_partition(some, max_stack, trees=trees)
    xp = get_array_module(batch.scores)
    loss = float(log_z.sum())
    rows = some.rows
    ids = gold[rows]
    if batch.spans is not None and some.spans is not None and d_spans is not None:
        ids, *at = gold_spans(some, some.spans, gold)
        loss -= float(some.spans.scores[tuple(at)].sum(dtype=np.float64))
        d_spans[tuple(at)] -= 1.0
        batch = replace(batch, spans=replace(batch.spans, scores=xp.asarray(d_spans)))
    loss -= float(some.scores[rows, ids].sum(dtype=np.float64))
    gradient[rows, ids] -= 1.0
    if batch.transitions is None or some.transitions is None or expected is None:
        return loss, replace(batch, scores=xp.asarray(gradient))
    observed = gold_transitions(some, gold)
    loss -= sum(float(a[b].sum(dtype=np.float64)) for a, b in zip(some.transitions, observed, strict=False))
    for counts, index in zip(expected, observed, strict=False):
        np.subtract.at(counts, index, 1.0)
    d_scores = (xp.asarray(counts.astype(gradient.dtype)) for counts in expected[:3])
    return loss, replace(batch, scores=xp.asarray(gradient), transitions=some.transitions.replace(d_scores))


def partial_likelihood(batch: TagScores, known: Sequence[tuple[Constraint, ...]]) -> tuple[float, TagScores]:
    """Minus the log-probability of the trees that agree with what is known, among all trees.

    The sums in numerator and denominator run over trees in the chart (Pereira and Schabes 1992), without a bound on the
    stack.

    batch (TagScores): The scores.
    known (Sequence[tuple[Constraint, ...]]): What is known of each sentence; those of which nothing is are left out.
    RETURNS (tuple[float, TagScores]): The summed loss in nats, and its gradient as the batch with gradients for scores.
    RAISES (ValueError): If no tree agrees.
    """
    chosen = np.asarray([len(own) > 0 for own in known], dtype=bool)
    free = batch.on_cpu().select(chosen)
    all_trees = log_partition(free)
    agreeing = log_partition(replace(free, constraints=tuple(own for own in known if own)))
    xp = get_array_module(batch.scores)
    scores = xp.asarray(all_trees.marginals - agreeing.marginals)
    spans, transitions = batch.spans, batch.transitions
    if spans is not None and all_trees.spans is not None and agreeing.spans is not None:
        spans = replace(spans, scores=xp.asarray(all_trees.spans - agreeing.spans))
    if transitions is not None and all_trees.expected is not None and agreeing.expected is not None:
        pairs = zip(all_trees.expected[:3], agreeing.expected[:3], strict=True)
        transitions = transitions.replace(xp.asarray((a - b).astype(scores.dtype)) for a, b in pairs)
    loss = float((all_trees.log_z - agreeing.log_z).sum())
    return loss, replace(batch, scores=scores, spans=spans, transitions=transitions)


def expected_tree_score(
    batch: TagScores, trees: Sequence[tuple[NDArray[Any], NDArray[Any]]]
) -> tuple[float, TagScores]:
    """The weighted scores of some trees of each sentence, summed.

    The log-partition does not depend on the gold tree. So a likelihood of one tree becomes the cross-entropy with a
    distribution over several by adding the score of that tree, and taking off what they are expected to score.

    batch (TagScores): The scores.
    trees (Sequence[tuple[np.ndarray, np.ndarray]]): One tree of each sentence a time: (R,) tag ids, and (S,) weights;
        ids of sentences of weight 0 are not read.
    RETURNS (tuple[float, TagScores]): The sum, and its gradient as the batch with gradients for scores.
    """
    cpu = batch.on_cpu()
    total = 0.0
    d_scores = np.zeros_like(cpu.scores)
    d_spans = None if cpu.spans is None else np.zeros_like(cpu.spans.scores)
    d_transitions = None if cpu.transitions is None else [np.zeros_like(array) for array in cpu.transitions[:3]]
    for ids, weights in trees:
        some, weight = cpu.select(weights != 0), weights[weights != 0].astype(cpu.scores.dtype)
        n_words = some.n_words.astype(np.int64)
        columns = ids[some.rows]
        if some.spans is not None and d_spans is not None:
            columns, *at = gold_spans(some, some.spans, ids)
            scored = some.spans.starts >= 0
            of_node = np.repeat(weight[scored], n_words[scored] - 1)
            total += float(some.spans.scores[tuple(at)] @ of_node)
            d_spans[tuple(at)] += of_node
        if some.transitions is not None and d_transitions is not None:
            of_pair = np.repeat(weight, np.maximum(2 * n_words - 2, 0))
            of_end = weight[n_words > 0]
            parts = zip(some.transitions[:3], d_transitions, gold_transitions(some, ids), strict=True)
            for (scores, gradient, index), own in zip(parts, (of_pair, of_end, of_end), strict=True):
                total += float(scores[index] @ own)
                np.add.at(gradient, index, own)
        of_row = np.repeat(weight, np.maximum(2 * n_words - 1, 0))
        total += float(some.scores[some.rows, columns] @ of_row)
        d_scores[some.rows, columns] += of_row
    xp = get_array_module(batch.scores)
    spans, transitions = batch.spans, batch.transitions
    if spans is not None:
        spans = replace(spans, scores=xp.asarray(d_spans))
    if transitions is not None and d_transitions is not None:
        transitions = transitions.replace(map(xp.asarray, d_transitions))
    return total, replace(batch, scores=xp.asarray(d_scores), spans=spans, transitions=transitions)


def add_gradients(first: TagScores, second: TagScores) -> TagScores:
    """The sum of two gradients of the same batch."""
    spans, transitions = first.spans, first.transitions
    if spans is not None and second.spans is not None:
        spans = replace(spans, scores=spans.scores + second.spans.scores)
    if transitions is not None and second.transitions is not None:
        pairs = zip(transitions[:3], second.transitions[:3], strict=True)
        transitions = transitions.replace(a + b for a, b in pairs)
    return replace(first, scores=first.scores + second.scores, spans=spans, transitions=transitions)


def gold_spans(
    batch: TagScores, spans: SpanScores, gold: NDArray[Any]
) -> tuple[NDArray[Any], NDArray[Any], NDArray[Any]]:
    """Where the scores of gold trees are in a batch with scores of spans.

    batch (TagScores): The batch, whose sentences all have gold tags.
    spans (SpanScores): Its scores of spans.
    gold (np.ndarray): (R,) ids of the gold tags.
    RETURNS (tuple[np.ndarray, np.ndarray, np.ndarray]): The column of each row that sentences own, which for an
        internal node is that of the bare tag where spans are scored; row and column of each internal node in `spans`.
    """
    tags, n_words = batch.tags, batch.n_words.astype(np.int64)
    scored = spans.starts >= 0
    columns = gold[batch.rows]
    inner = np.repeat(scored, np.maximum(2 * n_words - 1, 0)) & (tags.classes[columns] >= 2)
    columns[inner] = tags.offsets[tags.classes[columns[inner]]]  # the bare tag is the first of its class
    label_of = np.zeros(len(tags), dtype=np.int64)
    for ids in tags.node_ids:
        label_of[ids[ids >= 0]] = np.flatnonzero(ids >= 0)
    nodes = labelled_nodes(gold, batch.select(scored), bare=True)
    s = np.repeat(np.flatnonzero(scored), nodes.counts)
    start, end = nodes.start.astype(np.int64), nodes.end.astype(np.int64)
    rows = spans.starts[s] + span_row(n_words[s], start, end)
    internal = end - start > 1
    return columns, rows[internal], label_of[nodes.tag[internal]]


def gold_transitions(batch: TagScores, gold: NDArray[Any]) -> tuple[tuple[NDArray[Any], ...], ...]:
    """Where the transitions of gold sequences are: indices of pairs, of first tags and of last tags.

    batch (TagScores): The batch, whose sentences all have gold tags.
    gold (np.ndarray): (R,) ids of the gold tags.
    RETURNS (tuple[tuple[np.ndarray, ...], ...]): Two arrays for pairs, one for first and one for last tags.
    """
    full = batch.n_words > 0
    starts, stops = batch.starts[full], batch.stops[full]
    followed = np.setdiff1d(batch.rows, stops - 1)
    return (gold[followed], gold[followed + 1]), (gold[starts],), (gold[stops - 1],)


def mask_transitions(batch: TagScores, transitions: Transitions) -> Transitions:
    """Shut out, with -inf, the pairs of tags that no tree has, and the tags that begin or end none.

    batch (TagScores): The batch, for its tags and its order.
    transitions (Transitions): The scores.
    RETURNS (Transitions): New arrays, on the same device.
    """
    xp = get_array_module(transitions.pairs)
    lattice, classes = batch.linearizer.lattice, batch.tags.classes
    source, target, need = (np.asarray(table)[classes] for table in (lattice.source, lattice.target, lattice.need))
    first = (source == lattice.start_state) & (need <= lattice.start_stack)
    last = target == lattice.end_state
    allowed = (target[:, None] == source[None, :], first, last)
    return transitions.replace(
        xp.where(xp.asarray(free), scores, -xp.inf) for free, scores in zip(allowed, transitions, strict=False)
    )
