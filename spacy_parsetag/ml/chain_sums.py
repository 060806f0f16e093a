"""Sums over tag sequences whose successive tags depend on each other: all sequences, or all trees.

Forward and backward over a batch at once, in log space and double precision. The state is the last tag, and for trees
the stack size beside it, so a step is the product of a (sentences x stack sizes, T) matrix with a (T, T) one: on the
device where the scores are, O(d N |T|^2) a sentence, d being 1 for all sequences.
"""

from typing import Any, NamedTuple

import numpy as np
from thinc.api import get_array_module
from thinc.types import Floats2d

from ..decode.batch import Dependencies
from ..errors import Errors
from ..linearize import Linearizer
from ..linearize.tags import TagSet
from .dependent import mask_dependencies

# A product of matrices of exponentials keeps terms down to exp(-700) times the greatest one of a row. Entries of a row
# differ by no more than a few times the range of the scores; beyond this range terms are added up one by one.
MAX_RANGE = 150.0
# Bytes for the forward pass over as many sentences as are summed together.
BUDGET = 1 << 28


class ChainSums(NamedTuple):
    """Log-partition and marginals of a batch.

    log_z (Any): (S,) float64, log of the sum of exp(score) over the sequences of each sentence.
    marginals (Any): (R, T) probability of each tag at each row; 0 in rows that no sentence owns.
    counts (Dependencies): Expected number of each pair of successive tags, first and last tag, over all sentences.
    """

    log_z: Any
    marginals: Any
    counts: Dependencies


def chain_sums(
    scores: Floats2d,
    rows: np.ndarray,
    words: np.ndarray,
    dependencies: Dependencies,
    tags: TagSet,
    linearizer: Linearizer | None = None,
    max_stack: int | None = None,
) -> ChainSums:
    """Sum over all tag sequences of each sentence, or over all trees.

    scores (Floats2d): (R, T) scores, on any device; a sentence of N words owns 2N-1 rows.
    rows, words (np.ndarray): (S,) first row and number of words of each sentence, at least 1.
    dependencies (Dependencies): Scores of successive tags, -inf for what is shut out, on the device of the scores.
    tags (TagSet): The tags.
    linearizer (Optional[Linearizer]): The order, to sum over trees; None for all sequences.
    max_stack (Optional[int]): For trees, the largest stack size after any tag; None for no bound.
    RETURNS (ChainSums): All in float64, on the device of the scores.
    RAISES (ValueError): If no sequence is left for a sentence, or scores are not finite.
    """
    xp = get_array_module(scores)
    n_tags = scores.shape[1]
    if linearizer is not None:
        dependencies = mask_dependencies(dependencies, tags, linearizer.lattice)
    pairs = _Pairs(xp, dependencies, scores)
    marginals = xp.zeros(scores.shape, dtype=np.float64)
    counts = Dependencies(xp.zeros((n_tags, n_tags)), xp.zeros(n_tags), xp.zeros(n_tags))
    log_z = xp.zeros(len(words))
    order = np.argsort(-words, kind="stable")
    done = 0
    while done < len(order):
        longest = int(words[order[done]])
        stack = _Stack(xp, tags, linearizer, longest, max_stack)
        n = max(1, BUDGET // ((2 * longest - 1) * stack.levels * n_tags * 8))
        some = order[done : done + n]
        log_z[xp.asarray(some)] = _sum_some(xp, scores, rows[some], words[some], pairs, stack, marginals, counts)
        done += n
    return ChainSums(log_z, marginals, counts)


class _Pairs:
    """Products of states with the exponentials of the transitions."""

    def __init__(self, xp: Any, dependencies: Dependencies, scores: Floats2d) -> None:
        self.xp = xp
        self.transitions, self.start, self.end = (array.astype(np.float64) for array in dependencies)
        finite = [xp.where(xp.isfinite(array), array, 0.0) for array in (self.transitions, self.start, self.end)]
        span = sum(float(array.max() - array.min()) for array in finite)
        if len(scores):
            span += float((scores.max(axis=1) - scores.min(axis=1)).max())
        self.exact = not span <= MAX_RANGE
        self.top = float(finite[0].max())
        self.exp = xp.exp(self.transitions - self.top)  # (T, T)

    def forward(self, x: Any) -> Any:
        """(..., T) masses of the last tag -> masses before the next one."""
        return self._product(x, self.exp, self.transitions)

    def backward(self, x: Any) -> Any:
        """(..., T) masses after the next tag -> masses after the last one."""
        return self._product(x, self.exp.T, self.transitions.T)

    def expected(self, before: Any, after: Any, log_z: Any) -> Any:
        """(T, T) expected pairs: `before` and `after` are (S, levels, T), around a pair."""
        xp, n_tags = self.xp, before.shape[-1]
        log_z = xp.broadcast_to(log_z[:, None], before.shape[:2]).reshape(-1)
        a, b = before.reshape(-1, n_tags), after.reshape(-1, n_tags)
        if self.exact:
            return sum(
                xp.exp(x[:, None] + self.transitions + y[None, :] - z) for x, y, z in zip(a, b, log_z, strict=True)
            )
        a_top, b_top = self._tops(a), self._tops(b)
        alive = xp.isfinite(a.max(axis=1)) & xp.isfinite(b.max(axis=1))
        weight = xp.exp(xp.where(alive, a_top[:, 0] + b_top[:, 0] + self.top - log_z, -np.inf))
        return ((xp.exp(a - a_top) * weight[:, None]).T @ xp.exp(b - b_top)) * self.exp

    def _product(self, x: Any, matrix: Any, log_matrix: Any) -> Any:
        xp = self.xp
        flat = x.reshape(-1, x.shape[-1])
        if self.exact:
            return xp.stack([_log_sum(xp, row[:, None] + log_matrix) for row in flat]).reshape(x.shape)
        top = self._tops(flat)
        with np.errstate(divide="ignore"):  # the log of 0 is -inf, as it should be
            return (xp.log(xp.exp(flat - top) @ matrix) + (top + self.top)).reshape(x.shape)

    def _tops(self, x: Any) -> Any:
        top = x.max(axis=1, keepdims=True)
        return self.xp.where(self.xp.isfinite(top), top, 0.0)


class _Stack:
    """What tags do to the stack: nothing when all sequences count, else as the lattice says."""

    def __init__(self, xp: Any, tags: TagSet, linearizer: Linearizer | None, words: int, max_stack: int | None) -> None:
        self.xp = xp
        self.lattice = lattice = None if linearizer is None else linearizer.lattice
        self.offsets = tags.offsets.tolist()
        self.bound = max_stack
        if lattice is None:
            self.levels, self.first, self.last = 1, 0, 0
            return
        most = words if max_stack is None else min(max_stack, words)
        self.first, self.last = lattice.start_stack, lattice.end_stack
        self.levels = max(most, self.last, self.first) + 1
        self.above = most + 1  # the first size that no tag may reach

    def forward(self, x: Any) -> Any:
        """(S, levels, T) masses by the size before a tag -> by the size after it."""
        return self._shift(x, 1)

    def backward(self, x: Any) -> Any:
        """The same from after to before."""
        return self._shift(x, -1)

    def _shift(self, x: Any, way: int) -> Any:
        if self.lattice is None:
            return x
        shifted = self.xp.full_like(x, -np.inf)
        for c, (delta, need) in enumerate(zip(self.lattice.delta, self.lattice.need, strict=True)):
            columns = slice(self.offsets[c], self.offsets[c + 1])
            end = max(need, min(self.levels, self.above - delta))
            before, after = slice(need, end), slice(need + delta, end + delta)
            source, target = (before, after) if way > 0 else (after, before)
            shifted[:, target, columns] = x[:, source, columns]
        return shifted


def _sum_some(
    xp: Any,
    scores: Any,
    rows: np.ndarray,
    words: np.ndarray,
    pairs: _Pairs,
    stack: _Stack,
    marginals: Any,
    counts: Dependencies,
) -> Any:
    """Log-partitions of sentences, longest first; adds to marginals and counts."""
    n_tags = scores.shape[1]
    lengths = 2 * words.astype(np.int64) - 1
    steps = int(lengths[0])
    active = [int((lengths > t).sum()) for t in range(steps)] + [0]
    index = [xp.asarray(rows[: active[t]] + t) for t in range(steps)]
    alphas: list[Any] = []
    states = xp.full((len(words), stack.levels, n_tags), -np.inf)
    states[:, stack.first] = pairs.start
    for t in range(steps):
        k = active[t]
        if t:
            states = pairs.forward(alphas[-1][:k])
        alphas.append(stack.forward(states) + scores[index[t]].astype(np.float64)[:, None])
    final = xp.full((stack.levels, n_tags), -np.inf)
    final[stack.last] = pairs.end
    # Sentences end shortest first, and stand longest first.
    log_z = xp.zeros(len(words))
    for t in range(steps):
        ended = slice(active[t + 1], active[t])
        if ended.start < ended.stop:
            masses = (alphas[t][ended] + final).reshape(ended.stop - ended.start, -1)
            log_z[ended] = _log_sum(xp, masses.T)
    if not bool(xp.isfinite(log_z).all()):
        s = int(xp.nonzero(~xp.isfinite(log_z))[0][0])
        raise ValueError(Errors.E157.format(n=int(words[s]), max_stack=stack.bound))
    beta = None
    for t in range(steps - 1, -1, -1):
        k, going_on = active[t], active[t + 1]
        ending = xp.broadcast_to(final, (k - going_on, *final.shape))
        if beta is None:
            beta = ending
        else:
            after = stack.backward(beta + scores[index[t + 1]].astype(np.float64)[:, None])
            counts.transitions[...] += pairs.expected(alphas[t][:going_on], after, log_z[:going_on])
            beta = xp.concatenate([pairs.backward(after), ending])
        probability = xp.exp(alphas[t] + beta - log_z[:k, None, None]).sum(axis=1)  # (k, T)
        marginals[index[t]] = probability
        counts.end[...] += probability[going_on:].sum(axis=0)
    counts.start[...] += probability.sum(axis=0)
    return log_z


def _log_sum(xp: Any, x: Any) -> Any:
    """Log of the sum of exponentials over the first axis."""
    top = x.max(axis=0)
    top = xp.where(xp.isfinite(top), top, 0.0)
    with np.errstate(divide="ignore"):
        return xp.log(xp.exp(x - top).sum(axis=0)) + top
