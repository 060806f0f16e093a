"""Minimum-Bayes-risk decoding: the tree with the greatest expected number of right constituents (Goodman 1996)."""

import numpy as np

from ..errors import Errors
from .constituents import Constituents, constituent_marginals, labels_of_tags, rows_of_words
from .exact import ExactDecoder
from .failures import raise_failure
from .passes import best_gains, first_spans
from .scores import Decoded, StackBound, TagScores, check_bound


class MBRDecoder:
    """Finds the tree whose constituents are right most often, by their probabilities: each adds its own, less `cost`.

    With a cost of 0 it is the tree with the greatest expected number of right constituents; it then has every
    constituent that fits, however unlikely. With 0.5 a wrong one costs as much as a right one brings, which is close to
    the greatest expected F. It takes an inside-outside pass over spans: see `constituent_marginals`.

    max_stack (int | "train" | None): As for `ExactDecoder`.
    cost (float): What a constituent costs.
    max_words (int | None): Words of the longest sentence that is decoded so: it takes O(N^3) for N words. Longer ones
        get the likeliest tree, as from `ExactDecoder`. None for no limit.
    RAISES (ValueError): If the bound or max_words is below 0.
    """

    def __init__(self, max_stack: StackBound = None, cost: float = 0.5, max_words: int | None = 100) -> None:
        if max_words is not None and max_words < 0:
            raise ValueError(Errors.E200.format(what="max_words", least=0, value=max_words))
        self.max_stack = check_bound(max_stack)
        self.cost = cost
        self.max_words = max_words

    def __call__(self, batch: TagScores) -> Decoded:
        """Decodes a batch.

        batch (TagScores): The scores; constraints count.
        RETURNS (Decoded): The tree of each sentence. Its score is what its constituents add up to; that of a sentence
            of more than `max_words` words the sum of its scores.
        RAISES (ValueError): If a score is not finite, or if no tree exists within the bound that agrees with the
            constraints.
        """
        batch = batch.on_cpu()
        long = batch.n_words > (np.inf if self.max_words is None else self.max_words)
        if not long.any():
            return self._decode(batch)
        likeliest, expected = ExactDecoder(self.max_stack)(batch.select(long)), self._decode(batch.select(~long))
        scores = np.empty(len(long))
        scores[long], scores[~long] = likeliest.scores, expected.scores
        # Each has -1 in the rows of the other's sentences.
        return Decoded(np.maximum(likeliest.ids, expected.ids), scores)

    def _decode(self, batch: TagScores) -> Decoded:
        return most_expected(batch, constituent_marginals(batch, self.max_stack), self.max_stack, self.cost)


def most_expected(
    batch: TagScores, constituents: Constituents, max_stack: StackBound = None, cost: float = 0.5
) -> Decoded:
    """The trees with the greatest sum of probabilities of their constituents, each less a cost.

    batch (TagScores): The batch, for its sentences, its tags, its order and its constraints; scores are not read.
    constituents (Constituents): The probabilities: of this batch, or the mean over several models.
    max_stack (int | None): Largest stack size after any tag; None for no bound.
    cost (float): What a constituent costs.
    RETURNS (Decoded): The tree of each sentence, and its sum.
    RAISES (ValueError): If no tree exists within the bound that agrees with the constraints.
    """
    tags, n_words = batch.tags, batch.n_words.astype(np.int64)
    n_leaves, node_tags = int(tags.offsets[2]), tags.node_ids.max(axis=0)
    dtype = constituents.probs.dtype
    has = labels_of_tags(tags, constituents.labels).astype(dtype)
    costs = (cost * labels_of_tags(tags, tags.constituent_labels).sum(axis=1)).astype(dtype)
    # What tags bring: of leaves in the rows of words, of nodes in those of spans. Gaps bring nothing.
    words, longer = rows_of_words(n_words)
    rows = np.repeat(batch.starts - 2 * (np.cumsum(n_words) - n_words), n_words) + 2 * np.arange(len(words))
    scores = np.zeros((len(batch.scores), len(tags)), dtype=dtype)
    scores[rows, :n_leaves] = constituents.probs[words] @ has[:n_leaves].T - costs[:n_leaves]
    spans = constituents.probs[longer] @ has[node_tags].T - costs[node_tags]
    best = best_gains(batch, max_stack, scores, spans, first_spans(n_words)[:-1])
    raise_failure(batch, max_stack, best.status)
    return Decoded(best.ids, best.scores)
