"""A linearizer of a user's own: in-order tags by the left-corner transform (the paper's Derivation 2).

Its lattice is unlike those of the three orders: the stack starts at 1 and ends at 0, and the two classes that lead into
a state leave stacks of unequal least size.
"""

from collections.abc import Sequence

from derivations import in_order_by_left_corner

from spacy_parsetag.linearize import InOrder, Lattice, split_tag
from spacy_parsetag.trees import BinaryTree


class LeftCorner:
    """The stack holds what a top-down parser still has to find: a constituent (state 0: a leaf comes next), or what
    lacks its left corner (state 1: a node comes next)."""

    order = "left-corner"
    lattice = Lattice(
        order="left-corner",
        start_stack=1,
        start_state=0,
        end_stack=0,
        end_state=1,
        delta=(0, -1, 1, 0),
        need=(1, 1, 1, 1),
        source=(0, 0, 1, 1),
        target=(1, 1, 0, 0),
    )

    def linearize(self, tree: BinaryTree) -> list[str]:
        return in_order_by_left_corner(tree)

    def delinearize(self, tags: Sequence[str]) -> BinaryTree:
        """The root is the first right child that is found with nothing else on the stack; in-order it is a left one."""
        size, root = 1, None
        for i, tag in enumerate(tags):
            tag_class = split_tag(tag)[0]
            if root is None and size == 1 and (tag_class == 3 or len(tags) == 1):
                root = i
            size += self.lattice.delta[tag_class]
        if root is None:
            raise ValueError("these tags have no root")
        return InOrder().delinearize(
            [*tags[:root], {"R": "L", "r": "l"}[tags[root][0]] + tags[root][1:], *tags[root + 1 :]]
        )
