"""`TreeDistribution`: all trees of one sentence and their probabilities."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..errors import Errors
from ..linearize.base import max_stack as stack_of
from .constituents import Constituents, constituent_marginals
from .constraints import label_sets, read_constraints
from .exact import ExactDecoder
from .failures import raise_failure
from .k_best import k_best
from .mbr import most_expected
from .nodes import labelled_nodes
from .partition import LogPartition, log_partition
from .passes import sample_trees
from .places import tree_scores
from .scores import SpanScores, StackBound, TagScores, check_bound, span_row
from .sentence import sentence_scores


class TreeDistribution:
    """The trees of one sentence, each with the probability exp(score - log_partition); names are those of torch-struct.

    Trees are given by the caller's columns, as `decode` gives them. What is asked for first is computed once and kept.

    scores, tags, order, transitions, start, end, max_stack: As `decode` takes them.
    constraints (Sequence[tuple[int, int, str | None, str]]): What is known of the constituents, each as (start, end,
        label or None, kind); see `Constraint`. Trees that do not agree have no probability.
    RAISES (ValueError): If shapes disagree, a score is not finite, or a constraint is not one. When something is asked
        for: if no tree exists within the bound that agrees with the constraints, naming those in conflict.

    >>> import numpy as np
    >>> d = TreeDistribution(np.zeros((5, 6)), ["l", "r", "L", "R", "L/S", "R/VP"])
    >>> round(float(np.exp(d.log_partition)))  # two trees over three words, two labels for each of two nodes
    8
    >>> round(d.constituents[1, 3, "VP"], 9)
    0.25
    """

    def __init__(
        self,
        scores: Any,
        tags: Sequence[str],
        order: str = "in",
        transitions: Any = None,
        start: Any = None,
        end: Any = None,
        max_stack: int | None = None,
        constraints: Sequence[Sequence[Any]] = (),
    ) -> None:
        batch, columns = sentence_scores(scores, tags, order, transitions, start, end)
        if constraints:
            batch = replace(batch, constraints=(read_constraints(constraints, int(batch.n_words[0])),))
        self._set(batch, columns, max_stack)

    @classmethod
    def from_batch(cls, batch: TagScores, s: int, max_stack: StackBound = None) -> TreeDistribution:
        """The trees of sentence s of a batch, of tags alone or of tags and spans; columns are ids of the batch's tags.

        batch (TagScores): The batch; its constraints count.
        s (int): The sentence.
        max_stack (int | None): Largest stack size after any tag; None for no bound.
        RETURNS (TreeDistribution): The distribution.
        """
        one = batch.select(np.asarray([s])).on_cpu()
        first, stop = int(one.starts[0]), int(one.stops[0])
        spans = one.spans
        if spans is not None:
            row, end = int(spans.starts[0]), int(spans.stops(one.n_words)[0])
            spans = None if row < 0 else SpanScores(spans.scores[row:end], np.zeros(1, dtype=np.int64))
        one = replace(one, scores=one.scores[first:stop], starts=np.zeros(1, dtype=np.int64), spans=spans)
        distribution = cls.__new__(cls)
        distribution._set(one, np.arange(len(batch.tags), dtype=np.int32), max_stack)
        return distribution

    def _set(self, batch: TagScores, columns: NDArray[Any], max_stack: StackBound) -> None:
        self._batch = batch.on_cpu()
        self._columns = columns
        self._max_stack = check_bound(max_stack)

    @cached_property
    def _sums(self) -> LogPartition:
        return log_partition(self._batch, self._max_stack)

    @cached_property
    def _constituents(self) -> Constituents:
        return constituent_marginals(self._batch, self._max_stack)

    @property
    def log_partition(self) -> float:
        """The log of the sum of exp(score) over all trees."""
        return float(self._sums.log_z[0])

    @cached_property
    def entropy(self) -> float:
        """The entropy, in nats: 0 where one tree has all the probability."""
        return self.log_partition - _expected_score(self._batch, self._sums)

    def log_prob(self, ids: Sequence[int]) -> float:
        """The log-probability of a tree.

        ids (Sequence[int]): (2N-1,) columns of its tags.
        RETURNS (float): The log-probability; -inf if the tree is outside the bound or does not agree with the
            constraints.
        RAISES (ValueError): If the columns are not those of a tree.
        """
        batch = self._batch
        if len(ids) != len(batch.scores):
            raise ValueError(Errors.E004.format(n_tags=len(ids), n_words=int(batch.n_words[0])))
        if not all(0 <= column < len(self._columns) for column in ids):
            raise ValueError(Errors.E174.format(columns=list(ids), last=len(self._columns) - 1))
        own = np.argsort(self._columns)[np.asarray(ids)]
        tags = batch.tags.decode(own.tolist())
        batch.linearizer.delinearize(tags)  # raises if they are not those of a tree
        bound = self._max_stack
        outside = isinstance(bound, int) and stack_of(tags, batch.linearizer.lattice) > bound
        if outside or not _agrees(batch, own):
            return -np.inf
        return float(tree_scores(batch, own)[0]) - self.log_partition

    @cached_property
    def argmax(self) -> tuple[NDArray[Any], float]:
        """The best tree, (2N-1,) columns, and its score: the exact decoder's."""
        decoded = ExactDecoder(self._max_stack)(self._batch)
        return self._columns[decoded.ids], float(decoded.scores[0])

    def topk(self, k: int) -> list[tuple[NDArray[Any], float]]:
        """The k best trees, fewer where there are fewer, best first, no tag sequence twice; the first is `argmax`.

        k (int): How many, at least 1.
        RETURNS (list[tuple[np.ndarray, float]]): (2N-1,) columns and score of each.
        """
        ids, scores = k_best(self._batch, k, self._max_stack)[0]
        return [(self._columns[own], float(score)) for own, score in zip(ids, scores, strict=True)]

    def sample(self, n: int, seed: int) -> NDArray[Any]:
        """Draw trees by their probabilities, independent of each other.

        n (int): How many.
        seed (int): Seed of the random numbers: the same seed, the same trees.
        RETURNS (np.ndarray): (n, 2N-1) int32 columns.
        """
        ids, status = sample_trees(self._batch, self._max_stack, n, seed)
        raise_failure(self._batch, self._max_stack, status)
        columns: NDArray[Any] = self._columns[ids]
        return columns

    @cached_property
    def tag_marginals(self) -> NDArray[Any]:
        """(2N-1, T) probability of each tag at each position.

        Where spans are scored, the positions of gaps have the probability that a left or a right child splits there, in
        the columns of the bare tags.
        """
        marginals = np.empty_like(self._sums.marginals)
        marginals[:, self._columns] = self._sums.marginals
        return marginals

    @cached_property
    def constituents(self) -> dict[tuple[int, int, str], float]:
        """The probability of each constituent, as {(start, end, label): probability}, without those of none.

        A unary chain gives one entry for each of its labels. Nodes that binarization added give none.
        """
        return self._constituents.sentence(0)

    def mbr(self, cost: float = 0.0) -> NDArray[Any]:
        """The tree with the greatest expected number of right constituents.

        cost (float): What each constituent costs; see `MBRDecoder`.
        RETURNS (np.ndarray): (2N-1,) columns.
        """
        decoded = most_expected(self._batch, self._constituents, self._max_stack, cost)
        columns: NDArray[Any] = self._columns[decoded.ids]
        return columns


def _agrees(batch: TagScores, ids: NDArray[Any]) -> bool:
    """Whether the tree of a batch of one sentence agrees with its constraints."""
    if not batch.constraints or not batch.constraints[0]:
        return True
    sets = label_sets(batch.constraints, batch.n_words, batch.tags)
    nodes = labelled_nodes(ids, batch, bare=True)
    cells = sets.cells[span_row(int(batch.n_words[0]) + 1, nodes.start, nodes.end + 1)]  # with those of one word
    return bool((cells >= 0).all() and sets.has[cells, nodes.tag].all())


def _expected_score(batch: TagScores, sums: LogPartition) -> float:
    """The mean score of the trees of a batch of one sentence."""
    pairs = zip(sums.arrays, batch.arrays, strict=True)
    # Scores that nothing reads, or of -inf, have a probability of 0.
    return sum(float((p[p > 0].astype(np.float64) * scores[p > 0]).sum()) for p, scores in pairs)
