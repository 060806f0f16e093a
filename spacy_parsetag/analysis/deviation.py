"""How far tags stray from their words, over a treebank (paper sections 3.3 and 6.2).

>>> from spacy_parsetag.trees import BinaryTree
>>> tree = BinaryTree((False, True, False, True, False, True, True), ("S", "", "VP", "", "VP", "", ""))
>>> word_deviations(tree)
{'in': [0, 0, 0, 0], 'pre': [0, 0, 0, 0], 'post': [0, 1, 1, 2]}
"""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from ..linearize import ORDERS, deviations
from ..trees import BinaryTree


def word_deviations(tree: BinaryTree) -> dict[str, list[int]]:
    """Deviation of each word, in words, for each order."""
    return {order: deviations(linearizer.linearize(tree)) for order, linearizer in ORDERS.items()}


@dataclass
class Deviations:
    """Deviations over a treebank.

    trees (int): How many trees.
    words (int): How many words.
    counts (dict[str, Counter]): For each order, how many words deviate by each distance.
    """

    trees: int = 0
    words: int = 0
    counts: dict[str, Counter[int]] = field(default_factory=lambda: {order: Counter() for order in ORDERS})

    def mean(self, order: str) -> float:
        """Mean deviation over all words, in words."""
        return sum(k * n for k, n in self.counts[order].items()) / max(1, self.words)

    def largest(self, order: str) -> int:
        """The largest deviation of any word."""
        return max(self.counts[order], default=0)

    def distribution(self, order: str) -> list[float]:
        """Share of the words that deviate by 0, 1, 2, ... words, up to the largest deviation."""
        return [self.counts[order][k] / max(1, self.words) for k in range(self.largest(order) + 1)]

    def to_dict(self) -> dict[str, Any]:
        """As JSON: "trees", "words" and for each order "mean", "max" and "counts", a list over distances."""
        orders = {
            order: {
                "mean": round(self.mean(order), 6),
                "max": self.largest(order),
                "counts": [counts[k] for k in range(self.largest(order) + 1)],
            }
            for order, counts in self.counts.items()
        }
        return {"trees": self.trees, "words": self.words, "orders": orders}


def count_deviations(trees: Iterable[BinaryTree]) -> Deviations:
    """Measure a treebank, one tree at a time.

    trees (Iterable[BinaryTree]): The trees.
    RETURNS (Deviations): The counts.
    """
    total = Deviations()
    for tree in trees:
        total.trees += 1
        total.words += tree.n_words
        for order, found in word_deviations(tree).items():
            total.counts[order].update(found)
    return total
