"""Post-order linearization: bottom-up shift-reduce (paper section 3.1).

*She enjoys reading papers* becomes `l/NP l l r/NP R/S+VP R/VP L/S`.

The stack holds complete subtrees. A leaf tag shifts a word; an internal tag reduces the two on top. After a left child
its right sibling's first word must be shifted; after a right child the two on top reduce.
"""

from collections.abc import Sequence

from ..trees import BinaryTree
from .base import Lattice, TagClass, invalid, post_order, preorder_tags, preorder_tree, split_tag

# State 0: a leaf comes next (after a left child, or at the start). State 1: an internal node (after a right child). A
# right child needs a left one beneath it, so R, which takes two and leaves one, needs three.
POST_ORDER = Lattice(
    order="post",
    start_stack=0,
    start_state=0,
    end_stack=1,
    end_state=0,
    delta=(1, 1, -1, -1),
    need=(0, 1, 2, 3),
    source=(0, 0, 1, 1),
    target=(0, 1, 0, 1),
)


class PostOrder:
    """Nodes after their children's subtrees."""

    lattice = POST_ORDER
    order = "post"

    def linearize(self, tree: BinaryTree) -> list[str]:
        """Tags of a binary tree.

        tree (BinaryTree): A tree over N words.
        RETURNS (list[str]): Its 2N-1 tags.
        """
        tags = preorder_tags(tree)
        return [tags[node] for node in post_order(tree.leaf)]

    def delinearize(self, tags: Sequence[str]) -> BinaryTree:
        """The tree of a tag sequence.

        tags (Sequence[str]): 2N-1 tags.
        RETURNS (BinaryTree): The tree.
        RAISES (ValueError): If the sequence is not that of a tree.
        """
        size = len(tags)
        left, right, labels = [-1] * size, [-1] * size, [""] * size
        stack: list[int] = []
        reduce_next = False  # whether the top of the stack is a right child
        for i, tag in enumerate(tags):
            tag_class, labels[i] = split_tag(tag)
            if (tag_class >= TagClass.LEFT_NODE) != reduce_next:
                what = "an internal tag must come after a right child" if reduce_next else "a leaf tag must come next"
                raise invalid("post", tags, i, what)
            if reduce_next:
                right[i] = stack.pop()
                left[i] = stack.pop()
            stack.append(i)
            reduce_next = tag_class % 2 == 1
            if reduce_next and len(stack) < 2:
                raise invalid("post", tags, i, "a right child needs a left one before it")
        if len(stack) != 1 or reduce_next:
            raise invalid("post", tags, size, "the tree is not complete")
        return preorder_tree(left, right, labels, stack[0])
