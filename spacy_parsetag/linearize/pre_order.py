"""Pre-order linearization: top-down shift-reduce (paper section 3.1).

*She enjoys reading papers* becomes `L/S l/NP R/VP l R/S+VP l r/NP`.

The stack counts the nodes that are still to come; it starts at 1, the root. An internal tag replaces a pending node by
its two children, a leaf tag completes one. Right after an internal node comes its left child, right after a leaf the
right child of the nearest node that waits for it.
"""

from collections.abc import Sequence

from ..trees import BinaryTree
from .base import Lattice, Linearizer, preorder_tags, read_tags, tree_of


class PreOrder(Linearizer):
    """Nodes before their children's subtrees."""

    # State 0: a left child comes next (after an internal node, or at the start). State 1: a right child (after a leaf).
    lattice = Lattice(
        order="pre", start_stack=1, start_state=0, end_stack=0, end_state=1,
        delta=(-1, -1, 1, 1), need=(1, 1, 1, 1), source=(0, 1, 0, 1), target=(1, 1, 0, 0),
    )  # fmt: skip

    def linearize(self, tree: BinaryTree) -> list[str]:
        return preorder_tags(tree)

    def delinearize(self, tags: Sequence[str]) -> BinaryTree:
        return tree_of(read_tags(tags, self.lattice), range(len(tags)))
