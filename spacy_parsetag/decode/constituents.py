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
from .repair import check_status
from .trees import Spans

_LARGEST_COST = 1e30  # in float32 a tree's costs do not overflow
_ORDER_WEIGHT = 1e-4  # of the probability of the order of a chain, which breaks ties; above float32's rounding error
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
    def from_sums(
        cls, batch: TagScores, sums: Sums, chains: tuple[tuple[str, ...], ...] | None = None
    ) -> "Constituents":
        """Add up the probabilities of the tags that have a label; the sums have `nodes` and `leaves`.

        chains (tuple[tuple[str, ...], ...] | None): The chains of labels to look for, for `mean` those of all models;
            None for those whose labels have several orders among the batch's tags.
        """
        assert sums.nodes is not None and sums.leaves is not None
        tags, n_words = batch.tags, batch.n_words
        labels, dtype = tags.constituent_labels, sums.nodes.dtype
        chains = tags.reordered_chains if chains is None else chains
        has_label, is_chain = _label_masks(tags, labels, chains, dtype)
        starts = first_spans(n_words, 1)
        probs, chain_probs = (np.zeros((int(starts[-1]), len(names)), dtype=dtype) for names in (labels, chains))
        word_rows, longer = rows_of_words(n_words)
        node_tags = tags.node_ids.max(axis=0)  # of each label, by either side that has it
        for rows, tag_probs, ids in ((word_rows, sums.leaves, slice(None)), (longer, sums.nodes, node_tags)):
            chained = np.flatnonzero(is_chain[ids].any(axis=1))
            with one_blas_thread():
                sums_of_tags = tag_probs @ has_label[ids]
                probs[rows] = np.minimum(sums_of_tags, 1, out=sums_of_tags)  # rounding may leave a little above
                chain_probs[rows] = np.take(tag_probs, chained, axis=1) @ is_chain[ids][chained]
        return cls(probs, starts[:-1], n_words, labels, chain_probs, chains)

    @classmethod
    def mean(cls, several: Sequence["Constituents"]) -> "Constituents":
        """Average the probabilities of several models, whatever their tags, orders and learners.

        A label that a model does not know has no probability there.

        RAISES (ValueError): If they are not of the same sentences.
        """
        n_words = [model.n_words.tolist() for model in several]
        if any(lengths != n_words[0] for lengths in n_words):
            raise ValueError(Errors.E172.format(words=" and ".join(map(str, n_words))))
        probs, labels = _mean([(model.probs, model.labels) for model in several])
        chain_probs, chains = _mean([(model.chain_probs, model.chains) for model in several])
        return several[0]._replace(probs=probs, labels=labels, chain_probs=chain_probs, chains=chains)

    def rows(self, s: int, start: Any, end: Any) -> Any:
        """Find the rows of spans of sentence s, given their first words and ends; integers or arrays."""
        return self.starts[s] + span_row(int(self.n_words[s]), start, end, shortest=1)

    def sentence(self, s: int, least: float = 0.0) -> dict[tuple[int, int, str], float]:
        """List the constituents of sentence s that are likelier than `least`: {(start, end, label): probability}."""
        starts, ends = np.triu_indices(int(self.n_words[s]) + 1, k=1)
        probs = self.probs[self.starts[s] : self.starts[s] + len(starts)]
        rows, columns = np.nonzero(probs > least)
        lists = (array.tolist() for array in (starts[rows], ends[rows], columns, probs[rows, columns]))
        return {(start, end, self.labels[c]): prob for start, end, c, prob in zip(*lists, strict=True)}

    def rivals(self, s: int, spans: Spans, least: float) -> list[tuple[int, int, str, float]]:
        """List constituents of sentence s that are not among `spans`, likelier than `least`, the likeliest first."""
        in_tree = set(spans)
        rivals = [(*span, prob) for span, prob in self.sentence(s, least).items() if span not in in_tree]
        return sorted(rivals, key=lambda rival: -rival[3])

    def of_spans(self, s: int, spans: Spans) -> list[float]:
        """Look up the probability of each of some constituents of sentence s; 0 for labels that are not known."""
        column_of = {label: c for c, label in enumerate(self.labels)}
        starts, ends = (np.asarray([span[i] for span in spans], dtype=np.int64) for i in (0, 1))
        cells = zip(self.rows(s, starts, ends).tolist(), (column_of.get(span[2]) for span in spans), strict=True)
        return [0.0 if column is None else float(self.probs[row, column]) for row, column in cells]

    def describe(self, s: int, spans: Spans, least: float) -> dict[str, Any]:
        """Say how probable constituents that were found in sentence s are: "probs", "expected_f" and "rivals".

        least (float): As for `rivals`.
        """
        probs = self.of_spans(s, spans)
        return {"probs": probs, "expected_f": self.expected_f(s, spans, probs), "rivals": self.rivals(s, spans, least)}

    def expected_f(self, s: int, spans: Spans, probs: Sequence[float]) -> float:
        """Estimate the F of constituents that were found in sentence s, 0 to 1.

        The estimate is 2c / (f + e), which is close to the expected F: f constituents were found, c is the expected
        number of right ones among them, e the expected number in all. If none was found, it is 1 - e or 0, whichever is
        greater: the least probability that there is none.
        """
        n_words = int(self.n_words[s])
        first, n_spans = self.starts[s], n_words * (n_words + 1) // 2
        n_expected = float(self.probs[first : first + n_spans].sum(dtype=np.float64))
        unique = dict(zip(spans, probs, strict=True))  # a label twice over the same words counts once on both sides
        return float(2 * sum(unique.values()) / (len(unique) + n_expected)) if unique else max(0.0, 1.0 - n_expected)

    def most_expected(self, batch: TagScores, cost: float) -> Decoded:
        """Find the trees with the greatest sum of probabilities of their constituents, each less a cost (Goodman 1996).

        The likelier order of the labels in a chain gains a little, which breaks ties. Of trees that differ in nodes
        that binarization added alone it is any; see `Distribution.likeliest`.

        batch (TagScores): The batch. Its scores count for nothing.
        RETURNS (Decoded): The tree of each sentence, and its sum.
        RAISES (ValueError): If the cost is not a number from -1e30 to 1e30, or no tree exists within the bound that
            agrees with the constraints.
        """
        check_cost(cost)
        cost = float(cost)
        tags, n_words = batch.tags, batch.n_words.astype(np.int64)
        n_leaves, node_tags = tags.n_leaves, tags.node_ids.max(axis=0)
        dtype = self.probs.dtype
        has_label, is_chain = _label_masks(tags, self.labels, self.chains, dtype)
        # A label twice in a chain gains once and costs twice: S+S+VP is no better than S+VP.
        costs = np.asarray([cost * len(chain) for chain in tags.unaries], dtype=dtype)

        def gains_of(rows: NDArray[Any], ids: Any) -> Any:
            chain_probs, chained = self.chain_probs[rows], np.flatnonzero(is_chain[ids].any(axis=1))
            likely = np.flatnonzero((chain_probs > _LEAST_CHAIN).any(axis=1))  # few of the spans
            with one_blas_thread():
                gains = self.probs[rows] @ has_label[ids].T - costs[ids]
                gains[np.ix_(likely, chained)] += _ORDER_WEIGHT * (chain_probs[likely] @ is_chain[ids][chained].T)
            return gains

        # The gains of tags: of leaves in the rows of words, of nodes in the rows of spans.
        word_rows, longer = rows_of_words(n_words)
        tag_gains = np.zeros((len(batch.scores), len(tags)), dtype=dtype)
        leaf_rows = np.repeat(batch.starts, n_words) + 2 * ranges(np.zeros_like(n_words), n_words)  # every other row
        tag_gains[leaf_rows, :n_leaves] = gains_of(word_rows, slice(n_leaves))
        # The gain of a node depends on its span and its tag alone, so in any order it is that of a span. Where no
        # constituent is worth its cost, a node that is none is best, and it does not matter what others would lose:
        # such spans share a row.
        worthy = longer.copy()
        if batch.constraints is None and {"L", "R"} <= set(tags.tags):
            worthy &= ~(self.probs <= cost - _ORDER_WEIGHT).all(axis=1)
        shared = np.cumsum(worthy, dtype=np.int32)
        shared[~worthy] = 0
        span_gains = np.vstack([-costs[node_tags], gains_of(worthy, node_tags)])
        spans = SpanScores(span_gains, first_spans(n_words)[:-1])
        best, status = best_trees(batch.derive(scores=tag_gains, spans=spans), shared=shared[longer])
        check_status(batch, status)
        return best


def check_cost(cost: float) -> None:
    """Raise if the cost of a constituent is not a number from -1e30 to 1e30."""
    if not isinstance(cost, Real) or not abs(float(cost)) <= _LARGEST_COST:
        raise ValueError(Errors.E176.format(value=cost, largest=_LARGEST_COST))


@lru_cache(maxsize=16)  # asked for twice a batch
def _label_masks(
    tags: TagSet, labels: tuple[str, ...], chains: tuple[tuple[str, ...], ...], dtype: Any
) -> tuple[NDArray[Any], NDArray[Any]]:
    """Mark which `labels` the unary chain of each tag has, (T, C), and which of `chains` it is, if any, (T, K)."""
    has_label = np.asarray([[label in tag_chain for label in labels] for tag_chain in tags.unaries], dtype=dtype)
    is_chain = np.asarray([[tag_chain == chain for chain in chains] for tag_chain in tags.unaries], dtype=dtype)
    return has_label.reshape(len(tags), len(labels)), is_chain.reshape(len(tags), len(chains))


def _mean(tables: Sequence[tuple[NDArray[Any], Sequence[Any]]]) -> tuple[NDArray[Any], tuple[Any, ...]]:
    """Average arrays whose columns have names, by these; a column that an array lacks is 0 there."""
    names = tuple(sorted({name for _, columns in tables for name in columns}))
    mean = np.zeros((len(tables[0][0]), len(names)), dtype=tables[0][0].dtype)
    for probs, columns in tables:
        mean[:, [names.index(name) for name in columns]] += probs
    return mean / len(tables), names


def rows_of_words(n_words: NDArray[Any]) -> tuple[NDArray[Any], NDArray[Any]]:
    """Tell the spans of one word from longer spans, among the spans of all sentences.

    n_words (np.ndarray): (S,) words of each sentence.
    RETURNS (tuple[np.ndarray, np.ndarray]): (W,) int64 row of each word, and (M,) bool, which rows are of longer spans.
    """
    n = n_words.astype(np.int64)
    counts = np.repeat(n, n) - ranges(np.zeros_like(n), n)  # spans that begin at each word, first the word alone
    word_rows = np.cumsum(counts) - counts
    longer = np.ones(int(counts.sum()), dtype=np.bool_)
    longer[word_rows] = False
    return word_rows, longer
