"""How large a stack the trees of a treebank need (paper appendix E).

>>> from spacy_parsetag.trees import BinaryTree
>>> stack_needed(BinaryTree((False, True, False, True, False, True, True), ("S", "", "VP", "", "VP", "", "")))
{'in': 2, 'pre': 2, 'post': 4}
"""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from itertools import accumulate
from typing import Any

from ..errors import Errors
from ..linearize import ORDERS, max_stack
from ..trees import BinaryTree


def stack_needed(tree: BinaryTree) -> dict[str, int]:
    """The largest stack after any tag, which is what decoders bound, for each order."""
    return {order: max_stack(one.linearize(tree), one.lattice) for order, one in ORDERS.items()}


@dataclass
class Stacks:
    """Stack sizes over a treebank.

    trees (int): How many trees.
    counts (dict[str, Counter]): For each order, how many trees need each size.
    """

    trees: int = 0
    counts: dict[str, Counter[int]] = field(default_factory=lambda: {order: Counter() for order in ORDERS})

    def coverage(self, order: str) -> list[float]:
        """Share of the trees that a stack of 0, 1, 2, ... covers, up to the first size that covers all."""
        sizes = range(max(self.counts[order], default=0) + 1)
        return [covered / max(1, self.trees) for covered in accumulate(self.counts[order][size] for size in sizes)]

    def needed(self, order: str, share: float = 1.0) -> int:
        """The smallest stack that covers a share of the trees.

        order (str): "in", "pre" or "post".
        share (float): The share, from 0 to 1.
        RETURNS (int): The size.
        RAISES (ValueError): If the share is below 0 or above 1.
        """
        if not 0 <= share <= 1:
            raise ValueError(Errors.E367.format(share=share))
        # In whole trees: 0.99 of 100 trees are 99, whatever floats make of it.
        sizes = sorted(self.counts[order])
        covered = accumulate(self.counts[order][size] for size in sizes)
        return next((size for size, n in zip(sizes, covered, strict=True) if n >= share * self.trees - 1e-9), 0)

    def to_dict(self) -> dict[str, Any]:
        """As JSON: "trees" and for each order "needed" for all trees and "counts", a list over sizes."""
        orders = {
            order: {"needed": self.needed(order), "counts": [counts[k] for k in range(self.needed(order) + 1)]}
            for order, counts in self.counts.items()
        }
        return {"trees": self.trees, "orders": orders}


def count_stacks(trees: Iterable[BinaryTree]) -> Stacks:
    """Measure a treebank, one tree at a time.

    trees (Iterable[BinaryTree]): The trees.
    RETURNS (Stacks): The counts.
    """
    total = Stacks()
    for tree in trees:
        total.trees += 1
        for order, size in stack_needed(tree).items():
            total.counts[order][size] += 1
    return total
