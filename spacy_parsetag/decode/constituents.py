"""Probabilities of constituents: what a parse is sure of, span by span."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..errors import Errors
from ..linearize.tags import TagSet
from .failures import raise_failure
from .passes import first_spans, span_sums
from .scores import StackBound, TagScores, span_row


class Constituents(NamedTuple):
    """The probability of each constituent of each sentence of a batch.

    A unary chain counts for each of its labels. Nodes that binarization added are no constituents.

    probs (np.ndarray): (M, C) probability that a span is a constituent with a label. A sentence of N words owns
        N(N+1)/2 rows, one for each span: (0, 1), (0, 2) to (0, N), (1, 2) to (N-1, N), ends exclusive.
    starts (np.ndarray): (S,) int64, first row of each sentence.
    n_words (np.ndarray): (S,) words of each sentence.
    labels (tuple[str, ...]): The C labels, sorted.
    """

    probs: NDArray[Any]
    starts: NDArray[Any]
    n_words: NDArray[Any]
    labels: tuple[str, ...]

    def rows(self, s: int, start: NDArray[Any], end: NDArray[Any]) -> NDArray[Any]:
        """Rows of spans of sentence s, given their first words and ends."""
        # There are as many spans of one word or more as there are of two or more with one more word.
        rows: NDArray[Any] = self.starts[s] + span_row(int(self.n_words[s]) + 1, start, end + 1)
        return rows

    def sentence(self, s: int, least: float = 0.0) -> dict[tuple[int, int, str], float]:
        """The constituents of sentence s whose probability is above `least`, as {(start, end, label): probability}."""
        starts, ends = np.triu_indices(int(self.n_words[s]) + 1, k=1)
        own = self.probs[self.starts[s] : self.starts[s] + len(starts)]
        found = np.argwhere(own > least).tolist()
        return {(int(starts[i]), int(ends[i]), self.labels[c]): float(own[i, c]) for i, c in found}


def labels_of_tags(tags: TagSet, labels: Sequence[str]) -> NDArray[np.bool_]:
    """(T, C) whether the unary chain of a tag has a label."""
    has = [[label in chain for label in labels] for chain in tags.unaries]
    return np.asarray(has, dtype=np.bool_).reshape(len(tags), len(labels))


def mean_constituents(several: Sequence[Constituents]) -> Constituents:
    """The mean of what several models say of the same sentences, whatever their tags, orders and learners.

    several (Sequence[Constituents]): The probabilities of each model, at least one.
    RETURNS (Constituents): Their mean; a label that a model does not know has no probability there.
    RAISES (ValueError): If they are not of the same sentences.
    """
    words = [one.n_words.tolist() for one in several]
    if any(own != words[0] for own in words):
        raise ValueError(Errors.E172.format(words=" and ".join(map(str, words))))
    labels = tuple(sorted({label for one in several for label in one.labels}))
    probs = np.zeros((len(several[0].probs), len(labels)), dtype=several[0].probs.dtype)
    for one in several:
        probs[:, [labels.index(label) for label in one.labels]] += one.probs / len(several)
    return several[0]._replace(probs=probs, labels=labels)


def constituent_marginals(batch: TagScores, max_stack: StackBound = None) -> Constituents:
    """Probabilities of the constituents of a batch, by inside-outside.

    It takes O(N^3) for N words in in-order without a bound, O(dN^3) with one and in pre- and post-order, where d is at
    most N.

    batch (TagScores): The scores, of tags alone or of tags and spans; constraints count.
    max_stack (int | None): Largest stack size after any tag; None for no bound.
    RETURNS (Constituents): The probabilities, with the type of the scores.
    RAISES (ValueError): If a score is not finite, or if no tree exists within the bound that agrees with the
        constraints.
    """
    batch = batch.on_cpu()
    sums = span_sums(batch, max_stack)
    raise_failure(batch, max_stack, sums.status)
    tags, n_words = batch.tags, batch.n_words.astype(np.int64)
    has = labels_of_tags(tags, tags.constituent_labels).astype(sums.nodes.dtype)
    starts = first_spans(n_words, 1)
    probs = np.zeros((int(starts[-1]), has.shape[1]), dtype=sums.nodes.dtype)
    words, longer = rows_of_words(n_words)
    probs[words] = sums.leaves @ has
    # The same for the labels of nodes, by either side that has them.
    probs[longer] = sums.nodes @ has[tags.node_ids.max(axis=0)]
    return Constituents(probs, starts[:-1], batch.n_words, tags.constituent_labels)


def rows_of_words(n_words: NDArray[Any]) -> tuple[NDArray[Any], NDArray[Any]]:
    """The rows of the spans of one word, and those of longer spans, among the spans of all sentences.

    n_words (np.ndarray): (S,) words of each sentence.
    RETURNS (tuple[np.ndarray, np.ndarray]): (W,) int64 row of each word, and (M,) bool, which rows are of longer spans.
    """
    n = n_words.astype(np.int64)
    starts, of_word = first_spans(n, 1), np.repeat(n, n)
    i = np.arange(len(of_word)) - np.repeat(np.cumsum(n) - n, n)
    words: NDArray[Any] = np.repeat(starts[:-1], n) + i * of_word - i * (i - 1) // 2
    longer = np.ones(int(starts[-1]), dtype=np.bool_)
    longer[words] = False
    return words, longer
