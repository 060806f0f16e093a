"""Minimum-Bayes-risk decoding (Goodman 1996): the tree whose constituents are right most often."""

import numpy as np

from ..errors import Errors
from .batch import Decoded
from .constituents import check_cost
from .constraints import is_whole
from .distribution import Distribution


class MBRDecoder:
    """Finds the tree whose constituents are right most often: each adds its probability, less `cost`.

    With a cost of 0 it is the tree with the greatest expected number of right constituents; it then has every
    constituent that fits, however unlikely. With 0.5 a wrong one costs as much as a right one brings, which is close to
    the greatest expected F. S over SBAR has the constituents of SBAR over S: of such chains it takes the likelier one.
    It takes an inside-outside pass over spans: see `sum_trees`. Of trees that differ in nodes that binarization added
    alone it takes any, which saves time; `Distribution.mbr` finds the likeliest.

    cost (float): The cost of a constituent.
    max_words (int | None): Words of the longest sentence decoded this way, which takes O(N^3) for N words. Longer ones
        get the likeliest tree, as from `ExactDecoder`. None for no limit.
    RAISES (ValueError): If the cost is not a number from -1e30 to 1e30, or max_words is no whole number of at least 0.
    """

    def __init__(self, cost: float = 0.5, max_words: int | None = 100) -> None:
        if max_words is not None and not is_whole(max_words, 0):
            raise ValueError(Errors.E200.format(what="max_words", least=0, value=max_words))
        check_cost(cost)
        self.cost = cost
        self.max_words = max_words

    def __call__(self, distribution: Distribution) -> Decoded:
        """Find the tree of each sentence; see `Decoder`.

        RETURNS (Decoded): The score of a tree is the sum over its constituents; in a sentence of more than `max_words`
            words it is the sum of its tags' scores.
        """
        long = distribution.batch.n_words > (np.inf if self.max_words is None else self.max_words)
        if not long.any():
            return distribution.constituents.most_expected(distribution.batch, self.cost)
        likeliest, short = distribution.select(long).argmax, distribution.select(~long)
        expected = short.constituents.most_expected(short.batch, self.cost)
        scores = np.empty(len(long))
        scores[long], scores[~long] = likeliest.scores, expected.scores
        # Each has -1 in the rows of the other's sentences.
        return Decoded(np.maximum(likeliest.ids, expected.ids), scores)
