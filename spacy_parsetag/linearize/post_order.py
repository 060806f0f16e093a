"""Post-order linearization: bottom-up shift-reduce (paper section 3.1).

*She enjoys reading papers* becomes `l/NP l l r/NP R/S+VP R/VP L/S`.

The stack holds complete subtrees. A leaf tag shifts a word; an internal tag reduces the two on top. After a left child
its right sibling's first word must be shifted; after a right child the two on top reduce.
"""

from collections.abc import Sequence

from ..trees import BinaryTree
from .base import Lattice, Linearizer, children_first, preorder_tags, read_tags, tree_of


class PostOrder(Linearizer):
    """Nodes after their children's subtrees."""

    # State 0: a leaf comes next (after a left child, or at the start). State 1: an internal node (after a right child).
    # A right child needs a left one beneath it, so R, which takes two and leaves one, needs three.
    lattice = Lattice(
        order="post", start_stack=0, start_state=0, end_stack=1, end_state=0,
        delta=(1, 1, -1, -1), need=(0, 1, 2, 3), source=(0, 0, 1, 1), target=(0, 1, 0, 1),
    )  # fmt: skip

    def linearize(self, tree: BinaryTree) -> list[str]:
        tags = preorder_tags(tree)
        return [tags[node] for node in children_first(tree)]

    def delinearize(self, tags: Sequence[str]) -> BinaryTree:
        # Backwards, post-order is the pre-order of the mirror image, and the other way round.
        mirror = read_tags(tags, self.lattice)[::-1]
        return tree_of(mirror, reversed(children_first(tree_of(mirror, range(len(mirror))))))
