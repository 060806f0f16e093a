"""Losses on tag scores: the loss of a batch of sentences, and its gradient in the form of the batch."""

import warnings
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray
from thinc.api import get_array_module

from ..decode import Constraint, Distribution, TagScores, Transitions, WeightedTrees
from ..decode.batch import FOUND, NOT_FINITE
from ..decode.passes import Sums, sum_sequences, sum_trees
from ..decode.repair import check_status
from ..decode.trees import cells_of
from ..errors import Errors, Warnings


@runtime_checkable
class Loss(Protocol):
    """Computes the loss in nats, summed over a batch, and its gradient: the same batch with gradients in place of
    scores, on the same device and, if the scores are floats, of the same type.

    If a tree has an unknown tag, a loss whose attribute `by_tag` is true still learns the other tags of the tree,
    where the batch has no transitions.
    """

    def __call__(self, batch: TagScores, gold: WeightedTrees, /) -> tuple[float, TagScores]: ...


class TagLoss:
    """Likelihood of the gold tags among all tag sequences, whether they are trees or not (paper section 4.2).

    Where tags are independent this is cross-entropy tag by tag: each position is a choice among all tags, one with an
    unknown gold tag is left out, and a score of -inf shuts a tag out. With transitions it is the likelihood of a
    linear-chain CRF, a tree with an unknown tag is left out as a whole, as its sequence has no score, and -inf shuts a
    pair of tags out.

    masked (bool): With transitions, shut out the pairs of tags that no tree has. Otherwise their scores are learned as
        well, though no decoder uses them.
    """

    by_tag = True  # see `Loss`

    def __init__(self, masked: bool = True) -> None:
        self.masked = masked

    def __call__(self, batch: TagScores, gold: WeightedTrees) -> tuple[float, TagScores]:
        """Find the loss and its gradient; see `Loss`."""
        if batch.spans is not None:
            raise ValueError(Errors.E201)
        if batch.transitions is not None:
            if self.masked:
                batch = replace(batch, transitions=mask_transitions(batch, batch.transitions))
            return cross_entropy(batch, gold, sum_sequences)
        scores = batch.scores if batch.scores.dtype.kind == "f" else batch.scores.astype(np.float64)
        xp = get_array_module(scores)
        at, tree = cells_of(batch, gold)[0]
        is_known = gold.ids >= 0
        rows, columns = (xp.asarray(index[is_known]) for index in at)
        weights = xp.asarray(gold.weight[tree[is_known]].astype(scores.dtype))
        with np.errstate(invalid="ignore"):  # of rows that count for nothing
            shifted = scores - xp.max(scores, axis=1, keepdims=True)  # (R, T)
        gradient = xp.exp(shifted)
        total = gradient.sum(axis=1, keepdims=True)
        loss = float((weights * (xp.log(total[rows, 0]) - shifted[rows, columns])).sum())
        if not np.isfinite(loss):
            _check_finite(batch, at[0][is_known])
        share = xp.bincount(rows, weights, len(scores))[:, None].astype(scores.dtype)
        gradient *= share / total
        gradient[share[:, 0] == 0] = 0
        xp.add.at(gradient, (rows, columns), -weights)  # CuPy subtracts integers only
        return loss, replace(batch, scores=gradient)


class TreeLoss:
    """Likelihood of the gold tree among all trees: cross-entropy normalized over valid sequences only.

    With `TagLoss` a model spends probability on sequences that are not trees, which the decoder rules out anyway. Here
    the sum in the denominator runs over the trees alone. Its logarithm and gradient come from the lattice, in one pass
    of log-sum-exp forward and one back; where spans are scored too, from the chart. This loss is not in the paper. A
    tree that needs a larger stack than the batch's bound is left out, since no sum counts it, and the others of its
    sentence share its weight. A sentence is left out if no tree is left, or one has an unknown tag.

    With transitions a sentence takes O(dN|T|^2) time. In pre- and post-order, where the stack may be as large as the
    sentence is long, use a bound.
    """

    def __call__(self, batch: TagScores, gold: WeightedTrees) -> tuple[float, TagScores]:
        """Find the loss and its gradient; see `Loss`."""
        if batch.max_stack is not None:
            lattice, lengths = batch.linearizer.lattice, batch.lengths[gold.sentence]
            steps = np.asarray(lattice.delta)[batch.tags.classes]
            ids_of_trees = np.split(gold.ids, np.cumsum(lengths)[:-1])[: len(lengths)]  # one piece for none
            # Trees with an unknown tag are left out anyway.
            known = (ids if ids.min(initial=0) >= 0 else ids[:0] for ids in ids_of_trees)
            largest_stacks = [lattice.start_stack + steps[ids].cumsum().max(initial=-1) for ids in known]
            inside = np.asarray(largest_stacks) <= batch.max_stack
            if not inside.all():
                kept = np.bincount(gold.sentence, gold.weight * inside, len(batch.n_words))  # of weights that sum to 1
                lost = kept[gold.sentence] == 0
                if lost.any():
                    warnings.warn(Warnings.W200.format(bound=batch.max_stack), stacklevel=2)
                inside &= ~lost
                sentence = gold.sentence[inside]
                ids = gold.ids[np.repeat(inside, lengths)]
                gold = WeightedTrees(sentence, gold.weight[inside] / kept[sentence], ids)
        return cross_entropy(batch, gold, sum_trees)


def cross_entropy(
    batch: TagScores, gold: WeightedTrees, sum_over: Callable[[TagScores], Sums]
) -> tuple[float, TagScores]:
    """Find the cross-entropy of the model's distribution with the weighted gold trees of each sentence.

    For one tree of weight 1 it is minus the tree's log-probability. The gradient is the expected minus the gold counts.
    Scores on a GPU are copied to the CPU once, and the gradient back once.

    gold (WeightedTrees): The trees. A sentence is left out where one of its trees has an unknown tag, or it has none.
    sum_over (Callable[[TagScores], Sums]): Sums over all sequences that count: `sum_trees` or `sum_sequences`.
    """
    owner = np.repeat(gold.sentence, batch.lengths[gold.sentence])
    taught = np.zeros(len(batch.n_words), dtype=bool)
    taught[gold.sentence] = True
    taught[owner[gold.ids < 0]] = False
    taught_batch = batch.on_cpu().select(taught)
    tree_taught = taught[gold.sentence]
    sentence = (np.cumsum(taught) - 1)[gold.sentence[tree_taught]]  # as a number among the taught ones
    trees = WeightedTrees(sentence, gold.weight[tree_taught], gold.ids[taught[owner]])
    sums = sum_over(taught_batch)
    check_status(taught_batch, sums.status)
    loss = float(sums.log_z.sum())
    cells = cells_of(taught_batch, trees)
    for scores, expected, (at, tree) in zip(taught_batch.arrays, sums.arrays, cells, strict=True):
        weights = trees.weight[tree]
        loss -= float(scores[at].astype(np.float64) @ weights)
        np.subtract.at(expected, at, weights.astype(expected.dtype))
    return loss, _gradient(batch, sums.arrays)


def partial_likelihood(batch: TagScores, constraints: Sequence[tuple[Constraint, ...]]) -> tuple[float, TagScores]:
    """Find minus the log-probability of the trees that agree with partial trees, among all trees.

    The sums in numerator and denominator run over trees in the chart (Pereira and Schabes 1992), without a bound on the
    stack.

    constraints (Sequence[tuple[Constraint, ...]]): Those on each sentence; a sentence without any is left out.
    RAISES (ValueError): If no tree agrees.
    """
    is_constrained = np.asarray([len(of_sentence) > 0 for of_sentence in constraints], dtype=bool)
    free = replace(batch.on_cpu().select(is_constrained), max_stack=None)
    agreeing = replace(free, constraints=tuple(filter(len, constraints)))
    of_all, of_agreeing = Distribution(free).sums(), Distribution(agreeing).sums()
    loss = float((of_all.log_z - of_agreeing.log_z).sum())
    return loss, _gradient(batch, [a - b for a, b in zip(of_all.arrays, of_agreeing.arrays, strict=True)])


def _check_finite(batch: TagScores, rows: NDArray[Any]) -> None:
    """Raise the error that names the first score that is not finite, of those in some rows."""
    batch = batch.on_cpu()
    bad = np.isin(np.arange(len(batch.scores)), rows) & ~np.isfinite(batch.scores).all(axis=1)
    owners = [bad[start:stop].any() for start, stop in zip(batch.starts, batch.stops, strict=True)]
    check_status(batch, np.where(owners, NOT_FINITE, FOUND))


def _gradient(batch: TagScores, arrays: Sequence[NDArray[Any]]) -> TagScores:
    """Put gradients, which are on the CPU, in place of the batch's arrays; of the scores' type if they are floats."""
    xp, own = get_array_module(batch.scores), batch.scores.dtype
    dtype = own if own.kind == "f" else arrays[0].dtype
    return batch.with_arrays(xp.asarray(array.astype(dtype, copy=False)) for array in arrays)


def mask_transitions(batch: TagScores, transitions: Transitions) -> Transitions:
    """Shut out, with -inf, the pairs of tags that no tree has, and the tags that begin or end none."""
    xp = get_array_module(transitions.pairs)
    lattice, classes = batch.linearizer.lattice, batch.tags.classes
    source, target, need = (np.asarray(table)[classes] for table in (lattice.source, lattice.target, lattice.need))
    first = (source == lattice.start_state) & (need <= lattice.start_stack)
    last = target == lattice.end_state
    allowed = (target[:, None] == source[None, :], first, last)
    masked = (xp.where(xp.asarray(mask), scores, -xp.inf) for mask, scores in zip(allowed, transitions, strict=True))
    return Transitions(*masked)
