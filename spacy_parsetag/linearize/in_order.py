"""In-order linearization: tetratags (Kitaev and Klein, 2020; paper section 3.2).

*She enjoys reading papers* becomes `l/NP L/S l R/VP l R/S+VP r/NP`.

Leaf and internal tags alternate, so the leaf tag of word n is always tag 2n-1: the deviation is 0 (Proposition 1). The
stack holds partial trees: `l` opens one, `L` makes the top a left child of a new node, `R` hangs the top under the node
below it, `r` completes one.
"""

from collections.abc import Sequence

from ..trees import BinaryTree
from .base import Lattice, TagClass, invalid, preorder_tags, preorder_tree, split_tag

# State 0: a leaf comes next. State 1: an internal node comes next.
IN_ORDER = Lattice(
    order="in",
    start_stack=0,
    start_state=0,
    end_stack=1,
    end_state=1,
    delta=(1, 0, 0, -1),
    need=(0, 1, 1, 2),
    source=(0, 0, 1, 1),
    target=(1, 1, 0, 0),
)


class InOrder:
    """Nodes between their children's subtrees."""

    lattice = IN_ORDER
    order = "in"

    def linearize(self, tree: BinaryTree) -> list[str]:
        """Tags of a binary tree.

        tree (BinaryTree): A tree over N words.
        RETURNS (list[str]): Its 2N-1 tags.
        """
        tags: list[str] = []
        open_nodes: list[str] = []
        for is_leaf, tag in zip(tree.leaf, preorder_tags(tree), strict=True):
            if not is_leaf:
                open_nodes.append(tag)
                continue
            tags.append(tag)
            if open_nodes:  # the node whose left subtree this leaf ends
                tags.append(open_nodes.pop())
        return tags

    def delinearize(self, tags: Sequence[str]) -> BinaryTree:
        """The tree of a tag sequence.

        tags (Sequence[str]): 2N-1 tags.
        RETURNS (BinaryTree): The tree.
        RAISES (ValueError): If the sequence is not that of a tree.
        """
        size = len(tags)
        left, right, labels = [-1] * size, [-1] * size, [""] * size
        roots: list[int] = []  # partial trees
        holes: list[int] = []  # for each, the node that waits for its right child, or -1 if it is complete
        for i, tag in enumerate(tags):
            tag_class, labels[i] = split_tag(tag)
            if (i % 2 == 0) != (tag_class < TagClass.LEFT_NODE):
                raise invalid("in", tags, i, "leaf and internal tags must alternate, a leaf tag first")
            if tag_class == TagClass.LEFT_LEAF:
                roots.append(i)
                holes.append(-1)
            elif tag_class == TagClass.RIGHT_LEAF:
                if not roots:
                    raise invalid("in", tags, i, "nothing on the stack")
                right[holes[-1]] = i
                holes[-1] = -1
            elif tag_class == TagClass.LEFT_NODE:
                left[i] = roots[-1]
                roots[-1] = i
                holes[-1] = i
            else:
                if len(roots) < 2:
                    raise invalid("in", tags, i, "a right child needs a node to its left")
                left[i] = roots.pop()
                holes.pop()
                right[holes[-1]] = i
                holes[-1] = i
        if len(roots) != 1 or holes[0] >= 0:
            raise invalid("in", tags, size, "the tree is not complete")
        return preorder_tree(left, right, labels, roots[0])
