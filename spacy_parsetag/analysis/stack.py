"""How large a stack the trees of a treebank need (paper appendix E).

>>> from spacy_parsetag.trees import BinaryTree
>>> stack_needed(BinaryTree((False, True, False, True, False, True, True), ("S", "", "VP", "", "VP", "", "")))
{'in': 2, 'pre': 2, 'post': 4}
"""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from ..errors import Errors
from ..linearize import ORDERS
from ..trees.binarize import BinaryTree


def stack_needed(tree: BinaryTree) -> dict[str, int]:
    """The largest stack in the three orders: equal to `linearize.max_stack`, without writing a tag.

    tree (BinaryTree): A tree.
    RETURNS (Dict[str, int]): For each order, the largest size after a tag, which is what decoders bound.
    """
    inside = most_inside = 0
    pending, most_pending = 1, 0
    shifted, most_shifted = 0, 0
    left_done: list[bool] = []  # of the open nodes: whether their left subtree is complete
    is_right: list[bool] = []  # of the nodes that in-order has still to come to: whether they are right children
    after_leaf = False
    for is_leaf in tree.leaf:
        pending += -1 if is_leaf else 1
        most_pending = max(most_pending, pending)
        if not is_leaf:
            left_done.append(False)
            is_right.append(after_leaf)
            after_leaf = False
            continue
        if not after_leaf:  # a left child
            inside += 1
            most_inside = max(most_inside, inside)
        if is_right and is_right.pop():
            inside -= 1
        shifted += 1
        most_shifted = max(most_shifted, shifted)
        while left_done and left_done[-1]:
            left_done.pop()
            shifted -= 1
        if left_done:
            left_done[-1] = True
        after_leaf = True
    return {"in": most_inside, "pre": most_pending, "post": most_shifted}


@dataclass
class Stacks:
    """Stack sizes over a treebank.

    trees (int): How many trees.
    counts (Dict[str, Counter]): For each order, how many trees need each size.
    """

    trees: int = 0
    counts: dict[str, "Counter[int]"] = field(default_factory=lambda: {order: Counter() for order in ORDERS})

    def coverage(self, order: str) -> list[float]:
        """Share of the trees that a stack of 0, 1, 2, ... covers, up to the first size that covers all."""
        counts = self.counts[order]
        covered = 0
        shares = []
        for size in range(max(counts, default=0) + 1):
            covered += counts[size]
            shares.append(covered / max(1, self.trees))
        return shares

    def needed(self, order: str, share: float = 1.0) -> int:
        """The smallest stack that covers a share of the trees.

        order (str): "in", "pre" or "post".
        share (float): The share, from 0 to 1.
        RETURNS (int): The size.
        RAISES (ValueError): If it is no share.
        """
        if not 0 <= share <= 1:
            raise ValueError(Errors.E367.format(share=share))
        covered = 0
        counts = self.counts[order]
        for size in sorted(counts):
            covered += counts[size]
            # In whole trees: 0.99 of 100 trees are 99, whatever floats make of it.
            if covered >= share * self.trees - 1e-9:
                return size
        return 0

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
