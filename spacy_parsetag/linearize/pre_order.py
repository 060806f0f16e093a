"""Pre-order linearization: top-down shift-reduce (paper section 3.1).

*She enjoys reading papers* becomes `L/S l/NP R/VP l R/S+VP l r/NP`.

The stack counts the nodes that are still to come; it starts at 1, the root. An internal tag replaces a pending node by
its two children, a leaf tag completes one. Right after an internal node comes its left child, right after a leaf the
right child of the nearest node that waits for it.
"""

from collections.abc import Sequence

from ..trees import BinaryTree
from .base import Lattice, TagClass, invalid, preorder_tags, split_tag

# State 0: a left child comes next (after an internal node, or at the start). State 1: a right child (after a leaf).
PRE_ORDER = Lattice(
    order="pre",
    start_stack=1,
    start_state=0,
    end_stack=0,
    end_state=1,
    delta=(-1, -1, 1, 1),
    need=(1, 1, 1, 1),
    source=(0, 1, 0, 1),
    target=(1, 1, 0, 0),
)


class PreOrder:
    """Nodes before their children's subtrees."""

    lattice = PRE_ORDER
    order = "pre"

    def linearize(self, tree: BinaryTree) -> list[str]:
        """Tags of a binary tree.

        tree (BinaryTree): A tree over N words.
        RETURNS (list[str]): Its 2N-1 tags.
        """
        return preorder_tags(tree)

    def delinearize(self, tags: Sequence[str]) -> BinaryTree:
        """The tree of a tag sequence.

        tags (Sequence[str]): 2N-1 tags.
        RETURNS (BinaryTree): The tree.
        RAISES (ValueError): If the sequence is not that of a tree.
        """
        leaf: list[bool] = []
        labels: list[str] = []
        pending = 1
        right_next = False
        for i, tag in enumerate(tags):
            tag_class, label = split_tag(tag)
            if not pending:
                raise invalid("pre", tags, i, "the tree is already complete")
            if (tag_class % 2 == 1) != right_next:
                raise invalid("pre", tags, i, f"a {'right' if right_next else 'left'} child must come next")
            is_leaf = tag_class < TagClass.LEFT_NODE
            pending += -1 if is_leaf else 1
            right_next = is_leaf
            leaf.append(is_leaf)
            labels.append(label)
        if pending:
            raise invalid("pre", tags, len(tags), "the tree is not complete")
        return BinaryTree(tuple(leaf), tuple(labels))
