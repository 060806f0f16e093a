"""Losses on tag scores: the loss of a batch of sentences, and its gradient in the form of the batch."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray
from thinc.api import get_array_module

from ..decode import Constraint, StackBound, TagScores, Transitions, log_partition
from ..decode.places import places_of
from ..decode.scores import check_bound
from ..errors import Errors


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
    sums = log_partition(some, max_stack, trees=trees)
    loss = float(sums.log_z.sum())
    for scores, expected, (at, _) in zip(some.arrays, sums.arrays, places_of(some, gold), strict=True):
        loss -= float(scores[at].sum(dtype=np.float64))
        np.subtract.at(expected, at, 1.0)
    return loss, _gradient(batch, sums.arrays)


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
    loss = float((all_trees.log_z - agreeing.log_z).sum())
    return loss, _gradient(batch, [a - b for a, b in zip(all_trees.arrays, agreeing.arrays, strict=True)])


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
    gradients = [np.zeros_like(array) for array in cpu.arrays]
    for ids, weights in trees:
        some, weight = cpu.select(weights != 0), weights[weights != 0].astype(cpu.scores.dtype)
        for scores, gradient, (at, s) in zip(some.arrays, gradients, places_of(some, ids), strict=True):
            total += float(scores[at] @ weight[s])
            np.add.at(gradient, at, weight[s])
    return total, _gradient(batch, gradients)


def _gradient(batch: TagScores, arrays: Sequence[NDArray[Any]]) -> TagScores:
    """The batch with gradients, which are on the CPU, for its `arrays`."""
    xp, dtype = get_array_module(batch.scores), arrays[0].dtype
    return batch.with_arrays(xp.asarray(array.astype(dtype, copy=False)) for array in arrays)


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
