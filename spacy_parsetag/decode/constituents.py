"""Probabilities of constituents, span by span, and the trees that have the greatest sum of them."""

from collections.abc import Sequence
from functools import lru_cache
from numbers import Real
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..compat import one_blas_thread
from ..errors import Errors
from ..linearize.tagset import TagSet
from .batch import Decoded, SpanScores, TagScores, first_spans, ranges, span_row
from .passes import Sums, best_trees
from .repair import raise_failure
from .trees import Spans

_LARGEST_COST = 1e30  # in float32 a tree's costs do not overflow
# These break ties among trees with the same constituents: the probability of the order of a chain, and the score, which
# decides between binarizations. Each is more than is rounded away from the gain of a constituent in the type.
_ORDER_WEIGHT = 1e-4
_SCORE_WEIGHT = {np.float32: 1e-5, np.float64: 1e-11}
_LEAST_SCORE = -100.0  # less the greatest; so the scores of a sentence weigh little, however great they are
_LEAST_CHAIN = 0.001  # probability


class Constituents(NamedTuple):
    """The probability of each constituent of each sentence of a batch.

    A unary chain counts for each of its labels. Nodes that binarization added are no constituents.

    probs (np.ndarray): (M, C) probability that a span is a constituent with a label. A sentence of N words owns
        N(N+1)/2 rows, one for each span: (0, 1), (0, 2) to (0, N), (1, 2) to (N-1, N), ends exclusive.
    starts (np.ndarray): (S,) int64, first row of each sentence.
    n_words (np.ndarray): (S,) words of each sentence.
    labels (tuple[str, ...]): The C labels, sorted.
    chain_probs (np.ndarray): (M, K) probability that the constituents of a span are a chain in this order.
    chains (tuple[tuple[str, ...], ...]): The K chains whose labels have several orders, sorted.
    """

    probs: NDArray[Any]
    starts: NDArray[Any]
    n_words: NDArray[Any]
    labels: tuple[str, ...]
    chain_probs: NDArray[Any]
    chains: tuple[tuple[str, ...], ...]

    @classmethod
    def from_sums(cls, batch: TagScores, sums: Sums) -> "Constituents":
        """Add up the probabilities of the tags that have a label; the sums have `nodes` and `leaves`."""
        assert sums.nodes is not None and sums.leaves is not None
        tags, n_words = batch.tags, batch.n_words
        labels, chains, dtype = tags.constituent_labels, tags.reordered_chains, sums.nodes.dtype
        has, is_chain = _marks(tags, labels, chains, dtype)
        starts = first_spans(n_words, 1)
        probs, chain_probs = (np.zeros((int(starts[-1]), len(names)), dtype=dtype) for names in (labels, chains))
        words, longer = rows_of_words(n_words)
        # The same for the labels of nodes, by either side that has them.
        for rows, of_tags, ids in ((words, sums.leaves, slice(None)), (longer, sums.nodes, tags.node_ids.max(axis=0))):
            used = np.flatnonzero(is_chain[ids].any(axis=1))
            with one_blas_thread():
                probs[rows] = of_tags @ has[ids]
                chain_probs[rows] = np.take(of_tags, used, axis=1) @ is_chain[ids][used]
        return cls(probs, starts[:-1], n_words, labels, chain_probs, chains)

    @classmethod
    def mean(cls, several: Sequence["Constituents"]) -> "Constituents":
        """Average the probabilities of several models, whatever their tags, orders and learners.

        A label that a model does not know has no probability there.

        RAISES (ValueError): If they are not of the same sentences.
        """
        words = [one.n_words.tolist() for one in several]
        if any(own != words[0] for own in words):
            raise ValueError(Errors.E172.format(words=" and ".join(map(str, words))))
        probs, labels = _mean([(one.probs, one.labels) for one in several])
        chain_probs, chains = _mean([(one.chain_probs, one.chains) for one in several])
        return several[0]._replace(probs=probs, labels=labels, chain_probs=chain_probs, chains=chains)

    def rows(self, s: int, start: Any, end: Any) -> Any:
        """Find the rows of spans of sentence s, given their first words and ends; integers or arrays."""
        # There are as many spans of one word or more as there are of two or more with one more word.
        return self.starts[s] + span_row(int(self.n_words[s]) + 1, start, end + 1)

    def sentence(self, s: int, least: float = 0.0) -> dict[tuple[int, int, str], float]:
        """List the constituents of sentence s that are likelier than `least`: {(start, end, label): probability}."""
        starts, ends = np.triu_indices(int(self.n_words[s]) + 1, k=1)
        own = self.probs[self.starts[s] : self.starts[s] + len(starts)]
        rows, columns = np.nonzero(own > least)
        found = (array.tolist() for array in (starts[rows], ends[rows], columns, own[rows, columns]))
        return {(start, end, self.labels[c]): prob for start, end, c, prob in zip(*found, strict=True)}

    def rivals(self, s: int, spans: Spans, least: float) -> list[tuple[int, int, str, float]]:
        """List constituents of sentence s that are not among `spans`, likelier than `least`, the likeliest first."""
        found = set(spans)
        others = [(*span, prob) for span, prob in self.sentence(s, least).items() if span not in found]
        return sorted(others, key=lambda other: -other[3])

    def of_spans(self, s: int, spans: Spans) -> list[float]:
        """Look up the probability of each of some constituents of sentence s; 0 for labels that are not known."""
        place = {label: c for c, label in enumerate(self.labels)}
        start, end = (np.asarray([span[i] for span in spans], dtype=np.int64) for i in (0, 1))
        found = zip(self.rows(s, start, end).tolist(), (place.get(label) for _, _, label in spans), strict=True)
        return [0.0 if column is None else float(self.probs[row, column]) for row, column in found]

    def describe(self, s: int, spans: Spans, least: float) -> dict[str, Any]:
        """Say how probable constituents that were found in sentence s are: "probs", "expected_f" and "rivals".

        least (float): As for `rivals`.
        """
        probs = self.of_spans(s, spans)
        return {"probs": probs, "expected_f": self.expected_f(s, spans, probs), "rivals": self.rivals(s, spans, least)}

    def expected_f(self, s: int, spans: Spans, probs: Sequence[float]) -> float:
        """Estimate the F of constituents that were found in sentence s, 0 to 1.

        It is twice the expected number of right constituents over the number found plus the number expected, which is
        close to the expected F. Where none was found it is the least probability that there is none.
        """
        n = int(self.n_words[s])
        there = self.probs[self.starts[s] : self.starts[s] + n * (n + 1) // 2].sum(dtype=np.float64)
        unique = dict(zip(spans, probs, strict=True))  # a label twice over the same words counts once on both sides
        return float(2 * sum(unique.values()) / (len(unique) + there)) if unique else max(0.0, 1.0 - float(there))

    def most_expected(self, batch: TagScores, cost: float) -> Decoded:
        """Find the trees with the greatest sum of probabilities of their constituents, each less a cost (Goodman 1996).

        Of chains with the same labels, which have the same constituents, the likelier order counts a little more.
        In-order, so does the likeliest of the binarizations that have the same constituents.

        batch (TagScores): The batch. Its scores choose between binarizations, and nothing else.
        RETURNS (Decoded): The tree of each sentence, and its sum.
        RAISES (ValueError): If the cost is not a number from -1e30 to 1e30, or no tree exists within the bound that
            agrees with the constraints.
        """
        if not isinstance(cost, Real) or not abs(cost) <= _LARGEST_COST:
            raise ValueError(Errors.E176.format(value=cost, largest=_LARGEST_COST))
        tags, n_words = batch.tags, batch.n_words.astype(np.int64)
        n_leaves, node_tags = tags.n_leaves, tags.node_ids.max(axis=0)
        dtype = self.probs.dtype
        has, is_chain = _marks(tags, self.labels, self.chains, dtype)
        # A label twice in a chain gains once and costs twice: S+S+VP is no better than S+VP.
        costs = np.asarray([cost * len(chain) for chain in tags.unaries], dtype=dtype)

        def gains(rows: NDArray[Any], ids: Any) -> Any:
            of_chains, used = self.chain_probs[rows], np.flatnonzero(is_chain[ids].any(axis=1))
            likely = np.flatnonzero((of_chains > _LEAST_CHAIN).any(axis=1))  # few of the spans
            with one_blas_thread():
                found = self.probs[rows] @ has[ids].T - costs[ids]
                found[np.ix_(likely, used)] += _ORDER_WEIGHT * (of_chains[likely] @ is_chain[ids][used].T)
            return found

        # The gains of tags: of leaves in the rows of words, of nodes in the rows of spans.
        words, longer = rows_of_words(n_words)
        rows = np.repeat(batch.starts - 2 * (np.cumsum(n_words) - n_words), n_words) + 2 * np.arange(len(words))
        scores = np.zeros((len(batch.scores), len(tags)), dtype=dtype)
        scores[rows, :n_leaves] = gains(words, slice(n_leaves))
        spans = gains(longer, node_tags)
        if batch.linearizer.order == "in":
            _add_scores(batch, rows, scores, spans)
        # The gain of a node depends on its span and its tag alone, so in any order it is that of a span.
        best, status = best_trees(batch.derive(scores=scores, spans=SpanScores(spans, first_spans(n_words)[:-1])))
        if status.any():
            raise_failure(batch, status)
        return best


def _add_scores(batch: TagScores, leaves: NDArray[Any], gains: NDArray[Any], of_spans: NDArray[Any]) -> None:
    """Add a little of the scores to gains of tags and of spans, where trees with the same constituents differ in them:
    in the sides of leaves and nodes, and in the nodes that binarization added.

    leaves (np.ndarray): (W,) rows of words; the others are gaps.
    """
    tags, spans = batch.tags, batch.spans
    gaps = np.delete(leaves + 1, np.cumsum(batch.n_words[batch.n_words > 0]) - 1)
    n_leaves, sides = tags.n_leaves, tags.offsets[2:4]  # the columns of L and R
    if not {"L", "R"} <= set(tags.tags):  # as a tag set of one's own may lack
        return
    of_gaps = batch.scores[gaps]
    of_sides = of_gaps[:, sides] if spans is not None else np.maximum.reduceat(of_gaps, sides, axis=1)
    of_leaves = batch.scores[leaves, :n_leaves]
    gains[leaves, :n_leaves] += _little(of_leaves, of_leaves.max(axis=1, keepdims=True, initial=-np.inf))
    gains[gaps[:, None], sides] = _little(of_sides, of_sides.max(axis=1, keepdims=True, initial=-np.inf))
    if spans is not None:
        first = first_spans(batch.n_words)
        scored = np.flatnonzero((spans.starts >= 0) & (batch.n_words > 1))
        counts, bare = np.diff(first)[scored], tags.node_labels.index("")
        of_bare = spans.scores[ranges(spans.starts[scored], counts), bare]
        tops = np.maximum.reduceat(of_bare, np.cumsum(counts) - counts) if len(counts) else of_bare
        of_spans[ranges(first[scored], counts), bare] += _little(of_bare, np.repeat(tops, counts))


def _little(scores: NDArray[Any], tops: NDArray[Any]) -> NDArray[Any]:
    """Weigh scores, which are taken less `tops` and at least -100, so that they do no more than break ties."""
    with np.errstate(over="ignore"):
        little: NDArray[Any] = _SCORE_WEIGHT[scores.dtype.type] * np.maximum(scores - tops, _LEAST_SCORE)
    return little


@lru_cache(maxsize=16)  # asked for twice a batch
def _marks(
    tags: TagSet, labels: tuple[str, ...], chains: tuple[tuple[str, ...], ...], dtype: Any
) -> tuple[NDArray[Any], NDArray[Any]]:
    """Mark the labels in the unary chain of each tag, (T, C), and its chain if that is one of some, (T, K)."""
    has = np.asarray([[label in own for label in labels] for own in tags.unaries], dtype=dtype)
    is_chain = np.asarray([[own == chain for chain in chains] for own in tags.unaries], dtype=dtype)
    return has.reshape(len(tags), len(labels)), is_chain.reshape(len(tags), len(chains))


def _mean(several: Sequence[tuple[NDArray[Any], Sequence[Any]]]) -> tuple[NDArray[Any], tuple[Any, ...]]:
    """Average arrays whose columns have names, by these; a column that an array lacks is 0 there."""
    names = tuple(sorted({name for _, own in several for name in own}))
    mean = np.zeros((len(several[0][0]), len(names)), dtype=several[0][0].dtype)
    for probs, own in several:
        mean[:, [names.index(name) for name in own]] += probs / len(several)
    return mean, names


def rows_of_words(n_words: NDArray[Any]) -> tuple[NDArray[Any], NDArray[Any]]:
    """Tell the spans of one word from longer spans, among the spans of all sentences.

    n_words (np.ndarray): (S,) words of each sentence.
    RETURNS (tuple[np.ndarray, np.ndarray]): (W,) int64 row of each word, and (M,) bool, which rows are of longer spans.
    """
    n = n_words.astype(np.int64)
    counts = np.repeat(n, n) - ranges(np.zeros_like(n), n)  # spans that begin at each word, first the word alone
    words = np.cumsum(counts) - counts
    longer = np.ones(int(counts.sum()), dtype=np.bool_)
    longer[words] = False
    return words, longer
