"""In-order linearization: tetratags (Kitaev and Klein, 2020; paper section 3.2).

*She enjoys reading papers* becomes `l/NP L/S l R/VP l R/S+VP r/NP`.

Leaf and internal tags alternate, so the leaf tag of word n is always tag 2n-1: the deviation is 0 (Proposition 1). The
stack holds partial trees: `l` opens one, `L` makes the top a left child of a new node, `R` hangs the top under the node
below it, `r` completes one.
"""

from collections.abc import Sequence

from ..trees import BinaryTree
from .base import Lattice, Linearizer, TagClass, preorder_tags, read_tags, tree_of


class InOrder(Linearizer):
    """Nodes between their children's subtrees."""

    # State 0: a leaf comes next. State 1: an internal node comes next.
    lattice = Lattice(
        order="in", start_stack=0, start_state=0, end_stack=1, end_state=1,
        delta=(1, 0, 0, -1), need=(0, 1, 1, 2), source=(0, 0, 1, 1), target=(1, 1, 0, 0),
    )  # fmt: skip

    def linearize(self, tree: BinaryTree) -> list[str]:
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
        nodes = read_tags(tags, self.lattice)
        first_leaf: list[int] = []  # of each node, the first leaf below it
        stack: list[int] = []  # of each partial tree, its first leaf
        for i, (tag_class, _) in enumerate(nodes):
            if tag_class == TagClass.LEFT_LEAF:
                stack.append(i)
            first_leaf.append(i if tag_class < TagClass.LEFT_NODE else stack[-1])
            if tag_class == TagClass.RIGHT_NODE:
                stack.pop()
        # In pre-order a node stands before its first leaf. Of nodes with the same first leaf, the upper ones come later
        # in in-order.
        return tree_of(nodes, sorted(range(len(nodes)), key=lambda i: (first_leaf[i], -i)))
