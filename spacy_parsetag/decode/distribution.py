"""The distribution over the trees of a batch, with sums that are computed when they are first asked for, and kept."""

from __future__ import annotations

from functools import cached_property
from itertools import chain
from math import fsum
from typing import Any, NamedTuple, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from ..errors import Errors
from .batch import Decoded, TagScores
from .constituents import Constituents
from .constraints import LARGEST_COUNT, is_whole, sets_of_trees
from .passes import Sums, best_trees, k_best_trees, sample_trees, sum_trees
from .repair import check_status
from .trees import Spans, WeightedTrees, labelled_nodes, tree_scores

_LARGEST_SEED = 2**64 - 1  # of the compiled passes
_LARGEST_ERROR = 0.01  # of a log-probability, in nats
_MOST_TREES = 2**16  # trees that are looked through at once for ones that differ in their constituents


class KBest(NamedTuple):
    """The best trees of one sentence, best first.

    ids (np.ndarray): (m, 2N-1) int32 tag ids.
    scores (np.ndarray): (m,) float64 scores.
    """

    ids: NDArray[np.int32]
    scores: NDArray[np.float64]


class Distribution:
    """The trees of each sentence of a batch, each with the probability exp(score - log_partition).

    Names are torch-struct's. Sums are computed when they are first asked for, and kept. Whatever is asked for raises a
    ValueError if a score is not finite, naming word and tag, or if a sentence has no tree within the bound that agrees
    with the constraints, naming the constraints in conflict.

    Scores can be so great that floats cannot tell trees apart. Log-probabilities and entropies then raise a ValueError:
    for N words, if the log-partition is above about 2e13 / N. With transitions everything but `argmax` raises it above
    that limit, and the entropy already if the square of the log-partition is above it. If such scores cancel, or belong
    to no tree that agrees with the constraints, every result that takes sums raises it. `argmax` and `topk` just add
    floats: of trees whose scores differ by less than rounding, any may come first.

    batch (TagScores): The scores, the bound and the constraints.
    """

    def __init__(self, batch: TagScores) -> None:
        self.batch = batch.on_cpu()
        self._sums: Sums | None = None

    def select(self, sentences: NDArray[Any]) -> Distribution:
        """Choose sentences, by index or by a mask; what was computed for the batch is not taken along."""
        return Distribution(self.batch.select(sentences))

    def at(self, temperature: float) -> Distribution:
        """The distribution with all scores divided by a temperature, which leaves the order of trees as it is."""
        return self if temperature == 1.0 else Distribution(self.batch.scaled(1.0 / temperature))

    def sums(self, *, labels: bool = False) -> Sums:
        """Sum over all trees; see `sum_trees`. The arrays are kept, so do not change them."""
        if self._sums is None or (labels and self._sums.nodes is None):
            sums = sum_trees(self.batch, labels=labels)
            check_status(self.batch, sums.status)
            if self.batch.transitions is not None:
                what = "probabilities where successive tags score"
                self._check_size(sums, what)
                sums = self._sum_less_shared(sums)
                self._check_size(sums, what)
            self._sums = sums
        return self._sums

    def _sum_less_shared(self, sums: Sums) -> Sums:
        """Sum again less what all trees share, if scores of successive tags are so great that rounding counts.

        Without such scores the compiled passes do this themselves. Less what all trees share, each step of a tree
        scores at most 0, so that great scores show in the sum, whatever their signs.
        """
        batch = self.batch
        lengths, epsilon = batch.lengths, float(np.finfo(np.float64).eps)
        rows = batch.scores[batch.rows].astype(np.float64)
        transitions = [array.astype(np.float64) for array in batch.transitions or ()]
        sizes = [np.abs(array[np.isfinite(array)]).max(initial=0.0) for array in (rows, *transitions)]
        size = min(float(sum(sizes)), 1e100)
        if 2 * lengths.max(initial=0) ** 2 * size * max(1.0, size) * epsilon <= _LARGEST_ERROR:
            return sums
        shared = [np.nan_to_num(array.max(initial=-np.inf), neginf=0.0) for array in transitions]
        tops = rows.max(axis=1, initial=-np.inf)
        scores = np.zeros(batch.scores.shape)
        scores[batch.rows] = rows - tops[:, None]
        less_shared = (array - top for array, top in zip(transitions, shared, strict=True))
        reduced = sum_trees(batch.with_arrays((scores, *less_shared)))
        if (too_great := lengths * np.spacing(np.abs(reduced.log_z)) > _LARGEST_ERROR).any():
            raise ValueError(Errors.E180.format(s=batch.numbers[too_great.argmax()]))
        error = lengths * epsilon * np.abs(reduced.log_z)
        tops_of_sentences = np.split(tops, np.cumsum(lengths)[:-1])
        pair, *ends = shared
        log_z = [
            fsum([z, *of_rows, *[pair] * (len(of_rows) - 1), *ends]) if len(of_rows) else z  # of no tag, nothing
            for z, of_rows in zip(reduced.log_z.tolist(), tops_of_sentences, strict=True)
        ]
        marginals = reduced.marginals.astype(batch.scores.dtype)
        return reduced._replace(log_z=np.asarray(log_z), marginals=marginals, error=error)

    def _check_size(self, sums: Sums, what: str, *, of_products: bool = False) -> None:
        """Raise if scores are so great that rounding in their sums, or sums of products, hides what differs.

        The error is estimated as by `error_of` in the compiled passes, which leave this check to their callers.
        """
        errors = self.batch.lengths * np.finfo(np.float64).eps * np.abs(sums.log_z)
        if of_products:
            errors *= np.maximum(1.0, np.abs(sums.log_z))
        if (errors > _LARGEST_ERROR).any():
            s = int(errors.argmax())
            log_z = sums.log_z[s]
            gap = np.spacing(abs(log_z))
            raise ValueError(Errors.E179.format(what=what, s=self.batch.numbers[s], log_z=log_z, gap=gap))

    @property
    def log_partition(self) -> NDArray[np.float64]:
        """(S,) log of the sum of exp(score) over all trees."""
        return self.sums().log_z

    @cached_property
    def argmax(self) -> Decoded:
        """The best tree of each sentence, by Viterbi."""
        best, status = best_trees(self.batch)
        check_status(self.batch, status)
        return best

    def topk(self, k: int) -> list[KBest]:
        """Find the k best trees of each sentence, fewer where there are fewer (Huang and Chiang 2005, algorithm 3).

        No two have the same tags; two may differ in nodes that binarization added alone. The first is `argmax`.

        k (int): Number of trees, at least 1.
        RAISES (ValueError): If k is not such a number.
        """
        _check_k(k)
        best, starts, stops, results = self.argmax, self.batch.starts, self.batch.stops, []
        for s, (ids, scores) in enumerate(k_best_trees(self.batch, k)):
            first = best.ids[starts[s] : stops[s]]
            # Of trees with the same score, the exact decoder's is the first.
            others = np.flatnonzero((ids != first).any(axis=1))[: k - 1]
            totals = np.concatenate([best.scores[s : s + 1], scores[others]])
            results.append(KBest(np.concatenate([first[None], ids[others]]), np.minimum.accumulate(totals)))
        return results

    def k_best_parses(self, k: int) -> list[list[tuple[float, Spans]]]:
        """Find the k best trees of each sentence that differ in their constituents, not in binarization alone.

        k (int): Number of trees, at least 1.
        RETURNS (list[list[tuple[float, Spans]]]): Log-probability and constituents of each tree, best first. Of trees
            with the same constituents only the best is there. Fewer than k if the 65,536 best trees (or the 8k best, if
            more) do not have k that differ so: a sentence can have billions that differ in binarization alone.
        RAISES (ValueError): If k is not such a number.
        """
        _check_k(k)
        batch, log_z = self.batch, self.log_partition
        self._check_size(self.sums(), "log-probabilities")
        parses: dict[int, list[tuple[float, Spans]]] = {}
        pending, width, widest = [*range(len(batch.n_words))], int(k), min(max(8 * int(k), _MOST_TREES), LARGEST_COUNT)
        while pending:
            again = []
            size = max(1, _MOST_TREES // width)  # sentences at once
            chunks = (pending[i : i + size] for i in range(0, len(pending), size))
            results = (zip(chunk, self.select(np.asarray(chunk)).topk(width), strict=True) for chunk in chunks)
            for s, best in chain.from_iterable(results):
                nodes = labelled_nodes(best.ids.reshape(-1), batch, sentences=np.full(len(best.scores), s))
                log_probs = np.minimum(best.scores - log_z[s], 0.0).tolist()
                distinct: dict[tuple[tuple[int, int, str], ...], float] = {}
                for log_prob, spans in zip(log_probs, nodes.spans(batch.tags), strict=True):
                    distinct.setdefault(tuple(spans), log_prob)
                parses[s] = [(log_prob, [*spans]) for spans, log_prob in distinct.items()][:k]
                if len(parses[s]) < k and len(best.scores) == width < widest:
                    again.append(s)
            pending, width = again, min(2 * width, widest)
        return [parses[s] for s in range(len(batch.n_words))]

    def sample(self, n: int, seed: int) -> NDArray[np.int32]:
        """Draw trees by their probabilities, independent of each other.

        seed (int): Seed of the random numbers, 0 to 2^64 - 1: the same seed, the same trees of the same batch. In
            another batch, beside other sentences, a sentence gets others.
        RETURNS (np.ndarray): (n, R) int32 tag ids, -1 in rows that no sentence owns.
        RAISES (ValueError): If n or the seed is not such a number.
        """
        for what, value, largest in (("number of samples", n, LARGEST_COUNT), ("seed", seed, _LARGEST_SEED)):
            if not is_whole(value, 0, largest):
                raise ValueError(Errors.E177.format(what=what, value=value, largest=largest))
        ids, status = sample_trees(self.batch, n, seed)
        check_status(self.batch, status)
        return ids

    def log_prob(self, ids: NDArray[Any]) -> NDArray[np.float64]:
        """Find the (S,) log-probabilities of trees that count, given by their (R,) tag ids.

        RAISES (ValueError): If the ids of a sentence form no tree.
        """
        labelled_nodes(ids, self.batch, bare=True)  # raises it
        self._check_size(self.sums(), "log-probabilities")
        scores = tree_scores(self.batch, WeightedTrees.of_batch(self.batch, ids))
        # Rounding may leave a little above 0 where one tree has all of the probability.
        return np.minimum(scores - self.log_partition, 0.0)

    @cached_property
    def entropy(self) -> NDArray[np.float64]:
        """(S,) entropy in nats: 0 where one tree has all the probability."""
        batch, sums = self.batch, self.sums()
        self._check_size(sums, "entropies", of_products=batch.transitions is not None)
        n_sents = len(batch.n_words)
        if batch.transitions is not None and n_sents > 1:  # their expected counts are summed over all sentences
            singles = (Distribution(batch.select(np.asarray([s])).trim()) for s in range(n_sents))
            return np.concatenate([single.entropy for single in singles])
        expected, sizes, log_z = _expected_scores(batch, sums)
        if (too_great := sizes * (np.finfo(sums.marginals.dtype).eps + sums.error) > _LARGEST_ERROR).any():
            raise ValueError(Errors.E180.format(s=batch.numbers[too_great.argmax()]))
        entropy: NDArray[np.float64] = np.maximum(log_z - expected, 0.0)
        return entropy

    @cached_property
    def constituents(self) -> Constituents:
        """The probabilities of constituents, by inside-outside."""
        return Constituents.from_sums(self.batch, self.sums(labels=True))

    def mbr(self, cost: float) -> Decoded:
        """Find the trees whose constituents are right most often, each the likeliest with these; see `MBRDecoder`."""
        found = self.constituents.most_expected(self.batch, cost)
        return found._replace(ids=self.likeliest(found.ids).ids)

    def likeliest(self, ids: NDArray[Any]) -> Decoded:
        """Find the likeliest trees that differ from trees that count in nodes that binarization added alone.

        ids (np.ndarray): (R,) tag ids of the trees that count.
        """
        nodes = labelled_nodes(ids, self.batch)
        best, status = best_trees(self.batch, sets_of_trees(*nodes, self.batch.n_words, self.batch.tags))
        check_status(self.batch, status)
        return best


@runtime_checkable
class Decoder(Protocol):
    """Finds a tree for each sentence of a batch."""

    def __call__(self, distribution: Distribution, /) -> Decoded:
        """Choose among the trees of each sentence of `distribution.batch`, whose scores are on the CPU.

        `distribution` keeps the results that the decoder asks it for, and gives them to later callers.

        RAISES (ValueError): If a score is not finite, naming word and tag, or if no tree exists within the bound that
            agrees with the constraints.
        """


def _check_k(k: object) -> None:
    if not is_whole(k, 1, LARGEST_COUNT):
        raise ValueError(Errors.E171.format(value=k, largest=LARGEST_COUNT))


def _expected_scores(batch: TagScores, sums: Sums) -> tuple[NDArray[Any], NDArray[Any], NDArray[Any]]:
    """Find the (S,) expected scores of trees, less what the trees of a sentence share: then great ones stay precise.

    RETURNS (tuple[np.ndarray, np.ndarray, np.ndarray]): The expected scores; the sum of the sizes of their parts; and
        the log-partitions, less the same.
    """
    expected, tops = _expected_of_tags(batch, sums.marginals)
    sizes = np.abs(expected)
    minus_tops = np.split(-tops, np.cumsum(batch.lengths)[:-1])[: len(expected)]  # by sentence; one piece for none
    log_z = np.asarray([fsum([z, *of_rows]) for z, of_rows in zip(sums.log_z.tolist(), minus_tops, strict=True)])
    for probs, scores in zip(sums.transitions or (), batch.transitions or (), strict=True):
        expected += _dot(probs, scores).sum()
        sizes += _dot(probs, np.abs(scores)).sum()
    if sums.spans is not None:
        of_spans, tops = _expected_of_spans(batch, sums.spans)
        expected += of_spans
        sizes += np.abs(of_spans)
        log_z -= (batch.n_words - 1) * tops
    return expected, sizes, log_z


def _expected_of_tags(batch: TagScores, marginals: NDArray[Any]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Find the (S,) expected scores of tags, less the greatest of each row: every tree has a tag there.

    RETURNS (tuple[np.ndarray, np.ndarray]): The expected scores, and (R',) the greatest scores.
    """
    rows = batch.rows
    probs, scores = marginals[rows], batch.scores[rows].astype(np.float64)
    tops = np.where(probs > 0, scores, -np.inf).max(axis=1, initial=-np.inf)
    expected = np.zeros(len(batch.n_words))
    np.add.at(expected, np.repeat(np.arange(len(expected)), batch.lengths), _dot(probs, scores - tops[:, None]))
    return expected, tops


def _expected_of_spans(batch: TagScores, span_probs: NDArray[Any]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Find the (S,) expected scores of spans, less the greatest of each sentence, for every tree has N-1 of them.

    RETURNS (tuple[np.ndarray, np.ndarray]): The expected scores, and (S,) the greatest scores.
    """
    assert batch.spans is not None
    starts, stops = batch.spans.starts, batch.spans.stops(batch.n_words)
    expected, tops = np.zeros(len(starts)), np.zeros(len(starts))
    for s in np.flatnonzero(stops > starts):
        rows = slice(starts[s], stops[s])
        probs, scores = span_probs[rows], batch.spans.scores[rows].astype(np.float64)
        tops[s] = scores.max(initial=-np.inf, where=probs > 0)
        expected[s] = _dot(probs, scores - tops[s]).sum()
    return expected, tops


def _dot(probs: Any, scores: Any) -> NDArray[np.float64]:
    """Multiply and sum along the last axis. Scores that no tree uses may be NaN or infinite; their probability is 0."""
    products: NDArray[np.float64] = (probs.astype(np.float64) * np.where(probs > 0, scores, 0.0)).sum(axis=-1)
    return products
