"""What a linearizer is: two functions between binary trees and tags, and a table of integers that says which tag
sequences are trees.

Four classes of tag, one notation for the three orders: `l` and `r` tag a leaf that is a left or right child, `L` and
`R` an internal node that is a left or right child; after a slash the node's label, if it has one: `l`, `r/NP`,
`R/S+VP`, and a bare `R` for a node that binarization added. The root counts as a left child.
"""

from collections.abc import Sequence
from enum import IntEnum
from typing import NamedTuple, Protocol, runtime_checkable

from ..errors import Errors
from ..trees import BinaryTree


class TagClass(IntEnum):
    """Class of a tag, in the order in which tag sets are sorted."""

    LEFT_LEAF = 0
    RIGHT_LEAF = 1
    LEFT_NODE = 2
    RIGHT_NODE = 3


CLASS_NAMES = ("l", "r", "L", "R")
_CLASS_OF = {name: TagClass(i) for i, name in enumerate(CLASS_NAMES)}


class Lattice(NamedTuple):
    """Which sequences of tag classes are trees, as a table of integers; decoders read nothing else.

    A state is a stack size and one of two groups, which is what has to be known of the last tag. Tag class c may be
    emitted in group source[c] with at least need[c] on the stack; it leads to group target[c] and changes the stack by
    delta[c]. In every order two classes lead into each group.

    order (str): "in", "pre" or "post".
    start_stack, start_state (int): The state before the first tag.
    end_stack, end_state (int): The state after the last tag.
    delta, need, source, target (Tuple[int, ...]): By tag class.
    """

    order: str
    start_stack: int
    start_state: int
    end_stack: int
    end_state: int
    delta: tuple[int, int, int, int]
    need: tuple[int, int, int, int]
    source: tuple[int, int, int, int]
    target: tuple[int, int, int, int]

    def may_follow(self, before: int, after: int) -> bool:
        """Whether a tag of class `after` may come right after one of class `before`, at some stack size."""
        return self.target[before] == self.source[after]


@runtime_checkable
class Linearizer(Protocol):
    """A way to write a binary tree over N words as 2N-1 tags and back."""

    lattice: Lattice

    @property
    def order(self) -> str: ...

    def linearize(self, tree: BinaryTree) -> list[str]: ...

    def delinearize(self, tags: Sequence[str]) -> BinaryTree: ...


def make_tag(tag_class: int, label: str) -> str:
    """Write a tag: class 3 and "S+VP" make `R/S+VP`."""
    return f"{CLASS_NAMES[tag_class]}/{label}" if label else CLASS_NAMES[tag_class]


def split_tag(tag: str) -> tuple[TagClass, str]:
    """The inverse of `make_tag`.

    tag (str): The tag.
    RETURNS (Tuple[TagClass, str]): Its class and its label, "" if it has none.
    RAISES (ValueError): If it is not written as a tag.
    """
    tag_class = _CLASS_OF.get(tag[:1])
    if tag_class is None or (len(tag) > 1 and (tag[1] != "/" or len(tag) == 2)):
        raise ValueError(Errors.E007.format(tag=tag))
    return tag_class, tag[2:]


def node_classes(leaf: Sequence[bool]) -> list[int]:
    """Tag classes of a tree's nodes in pre-order: a node right after a leaf is a right child, any other a left one."""
    classes = []
    right = 0
    for is_leaf in leaf:
        classes.append(right if is_leaf else 2 + right)
        right = 1 if is_leaf else 0
    return classes


def max_stack(tags: Sequence[str], lattice: Lattice) -> int:
    """The largest stack a tag sequence needs: sizes are those after each tag (paper section 5.1, appendix E).

    tags (Sequence[str]): A valid tag sequence.
    lattice (Lattice): The table of its order.
    RETURNS (int): The largest size.
    """
    size = lattice.start_stack
    largest = 0
    for tag in tags:
        size += lattice.delta[split_tag(tag)[0]]
        largest = max(largest, size)
    return largest


def invalid(order: str, tags: Sequence[str], position: int, reason: str) -> ValueError:
    """The error for a tag sequence that is no tree; position counts from 0."""
    tag = tags[position] if position < len(tags) else "the end"
    return ValueError(
        Errors.E004.format(order=order, n=(len(tags) + 1) // 2, reason=reason, position=position + 1, tag=tag)
    )


def preorder_tree(left: Sequence[int], right: Sequence[int], labels: Sequence[str], root: int) -> BinaryTree:
    """Walk linked nodes (children as indices, -1 for none) from the root into a `BinaryTree`."""
    leaf: list[bool] = []
    label: list[str] = []
    stack = [root]
    while stack:
        node = stack.pop()
        label.append(labels[node])
        is_leaf = left[node] < 0
        leaf.append(is_leaf)
        if not is_leaf:
            stack.append(right[node])
            stack.append(left[node])
    return BinaryTree(tuple(leaf), tuple(label))
