"""Minimum-Bayes-risk decoding: the tree with the greatest expected number of right constituents (Goodman 1996)."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from .constituents import Constituents, constituent_marginals, labels_of_tags
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
    RAISES (ValueError): If the bound is below 0.
    """

    def __init__(self, max_stack: StackBound = None, cost: float = 0.5) -> None:
        self.max_stack = check_bound(max_stack)
        self.cost = cost

    def __call__(self, batch: TagScores) -> Decoded:
        """Decodes a batch.

        batch (TagScores): The scores; constraints count.
        RETURNS (Decoded): The tree of each sentence. Its score is what its constituents add up to.
        RAISES (ValueError): If a score is not finite, or if no tree exists within the bound that agrees with the
            constraints.
        """
        batch = batch.on_cpu()
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
    has = labels_of_tags(tags, constituents.labels).astype(np.float64)
    costs = cost * labels_of_tags(tags, tags.constituent_labels).sum(axis=1)
    leaf_tags, node_tags = tags.classes < 2, tags.node_ids.max(axis=0)
    # What tags bring: of leaves in the rows of words, of nodes in those of spans. Gaps bring nothing.
    scores = np.zeros((len(batch.scores), len(tags)))
    span_starts = first_spans(n_words)
    spans = np.zeros((int(span_starts[-1]), len(node_tags)))
    for s, n in enumerate(n_words.tolist()):
        start, end = np.triu_indices(n + 1, k=1)
        own, long = constituents.probs[constituents.starts[s] :][: len(start)], end - start > 1
        gains: NDArray[Any] = own[~long] @ has.T - costs
        scores[batch.starts[s] : batch.stops[s] : 2, leaf_tags] = gains[:, leaf_tags]
        spans[span_starts[s] : span_starts[s + 1]] = own[long] @ has[node_tags].T - costs[node_tags]
    best = best_gains(batch, max_stack, scores, spans, span_starts[:-1])
    raise_failure(batch, max_stack, best.status)
    return Decoded(best.ids, best.scores)
