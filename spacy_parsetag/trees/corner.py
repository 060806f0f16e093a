"""Right-corner and left-corner transforms of binary trees, with inverses (paper sections 3.2 and 5.1, appendix B).

Both turn a spine of a tree around. The right-corner transform takes each node that is the root or a left child, here S
with its right spine S, X, Y, and lists the left children along the spine from the top down; the left-corner transform
takes each node that is the root or a right child and lists the right children along its left spine from the bottom up:

        S                      S                             S                         S
       / \\                    / \\                           / \\                       / \\
      a   X        becomes  S/Y   Y                        X   c    becomes         Y   S/Y
         / \\                / \\                           / \\                           / \\
        b   Y            S/X   b                         Y   b                          b   S/X
                         / \\                                                               / \\
                        ε   a                                                             c   ε

In the first, "S/Y" is an S that lacks a Y at its right end; in the second, an S whose left corner Y is already there.
The subtrees a, b and c are transformed in turn. What was a chain to the right (left) becomes one to the left (right),
so that a bottom-up (top-down) shift-reduce parser of the result needs little stack (Johnson, 1998).
"""

from collections.abc import Callable, Sequence
from enum import IntEnum
from typing import NamedTuple

from ..errors import Errors
from .binarize import BinaryTree


class Kind(IntEnum):
    """What a node of a transformed tree is: a word, a whole constituent, a slashed one, or the empty string ε."""

    WORD = 0
    WHOLE = 1
    SLASHED = 2
    EMPTY = 3


class Category(NamedTuple):
    """What stands at a node.

    kind (Kind): What it is. Words and ε have no children, others have two.
    label (str): The label of the word's or the constituent's node in the tree before; "" if it has none.
    other (str): Of a slashed category, the label after the slash.
    word (int): Which word it is, or which one stands after the slash, from 0; -1 for a constituent.
    """

    kind: Kind
    label: str = ""
    other: str = ""
    word: int = -1


EPSILON = Category(Kind.EMPTY)


class CornerTree(NamedTuple):
    """A transformed tree over N words, as its nodes in pre-order; as in a `BinaryTree`, that is its whole shape.

    nodes (Tuple[Category, ...]): The nodes.
    """

    nodes: tuple[Category, ...]


def right_corner(tree: BinaryTree) -> CornerTree:
    """The right-corner transform.

    >>> from spacy_parsetag.trees import BinaryTree
    >>> tree = BinaryTree((False, True, False, True, True), ("S", "a", "X", "b", "Y"))
    >>> [f"{node.label}/{node.other}".strip("/") or "ε" for node in right_corner(tree).nodes]
    ['S', 'S/Y', 'S/X', 'ε', 'a', 'b', 'Y']

    tree (BinaryTree): A tree over N words.
    RETURNS (CornerTree): The transformed tree over the same words.
    """
    return _transform(tree, _write_right_corner, _right_spine)


def left_corner(tree: BinaryTree) -> CornerTree:
    """The left-corner transform.

    >>> from spacy_parsetag.trees import BinaryTree
    >>> tree = BinaryTree((False, False, True, True, True), ("S", "X", "Y", "b", "c"))
    >>> [f"{node.label}/{node.other}".strip("/") or "ε" for node in left_corner(tree).nodes]
    ['S', 'Y', 'S/Y', 'b', 'S/X', 'c', 'ε']

    tree (BinaryTree): A tree over N words.
    RETURNS (CornerTree): The transformed tree over the same words.
    """
    return _transform(tree, _write_left_corner, _left_spine)


def undo_right_corner(tree: CornerTree) -> BinaryTree:
    """The inverse of `right_corner`.

    tree (CornerTree): A tree that `right_corner` made.
    RETURNS (BinaryTree): The tree before.
    RAISES (ValueError): If it is no such tree.
    """
    return _undo(tree, right_corner, _read_right_corner)


def undo_left_corner(tree: CornerTree) -> BinaryTree:
    """The inverse of `left_corner`.

    tree (CornerTree): A tree that `left_corner` made.
    RETURNS (BinaryTree): The tree before.
    RAISES (ValueError): If it is no such tree.
    """
    return _undo(tree, left_corner, _read_left_corner)


# An item of work: a subtree of the tree before, by its root, or a node of the new tree, ready to be written.
_Work = tuple[int, Category | None]
_Spine = tuple[list[int], list[int]]  # nodes from the top to a word, and what hangs off each but the last


def _transform(
    tree: BinaryTree,
    write: Callable[[list[int], list[int], Sequence[Category]], list[_Work]],
    find_spine: Callable[[BinaryTree, list[int], int], _Spine],
) -> CornerTree:
    right = right_children(tree.leaf)
    categories = as_categories(tree)
    nodes: list[Category] = []
    todo: list[_Work] = [(0, None)]
    while todo:
        node, ready = todo.pop()
        if ready is not None:
            nodes.append(ready)
        elif tree.leaf[node]:
            nodes.append(categories[node])
        else:
            todo.extend(reversed(write(*find_spine(tree, right, node), categories)))
    return CornerTree(tuple(nodes))


def as_categories(tree: BinaryTree) -> list[Category]:
    """The nodes of a tree that is not transformed, as categories, in pre-order."""
    categories = []
    word = 0
    for is_leaf, label in zip(tree.leaf, tree.label, strict=True):
        categories.append(Category(Kind.WORD, label, "", word) if is_leaf else Category(Kind.WHOLE, label))
        word += is_leaf
    return categories


def right_children(leaf: Sequence[bool]) -> list[int]:
    """The right child of each node of a binary tree in pre-order, -1 for a leaf. The left child of node i is i + 1."""
    right = [-1] * len(leaf)
    waiting: list[int] = []
    for node, is_leaf in enumerate(leaf):
        if node and leaf[node - 1]:  # after a leaf comes the right child of the nearest node that waits for one
            right[waiting.pop()] = node
        if not is_leaf:
            waiting.append(node)
    return right


def _right_spine(tree: BinaryTree, right: list[int], top: int) -> _Spine:
    spine, hanging = [top], []
    while not tree.leaf[spine[-1]]:
        hanging.append(spine[-1] + 1)
        spine.append(right[spine[-1]])
    return spine, hanging


def _left_spine(tree: BinaryTree, right: list[int], top: int) -> _Spine:
    spine, hanging = [top], []
    while not tree.leaf[spine[-1]]:
        hanging.append(right[spine[-1]])
        spine.append(spine[-1] + 1)
    return spine, hanging


def _slash(top: Category, other: Category) -> Category:
    return Category(Kind.SLASHED, top.label, other.label, other.word)


def _write_right_corner(spine: list[int], hanging: list[int], node: Sequence[Category]) -> list[_Work]:
    """N; N/Mk, ..., N/M1, which are a chain of left children; ε; their right children from below; the word Mk."""
    top, word = node[spine[0]], node[spine[-1]]
    slashed: list[_Work] = [(-1, _slash(top, node[lower])) for lower in reversed(spine[1:])]
    return [(-1, top), *slashed, (-1, EPSILON), *((child, None) for child in hanging), (-1, word)]


def _write_left_corner(spine: list[int], hanging: list[int], node: Sequence[Category]) -> list[_Work]:
    """N; the word Mk; N/Mk, ..., N/M1, which are a chain of right children, each after its sibling; ε."""
    top, word = node[spine[0]], node[spine[-1]]
    work: list[_Work] = [(-1, top), (-1, word)]
    for lower, child in zip(reversed(spine[1:]), reversed(hanging), strict=True):
        work += [(-1, _slash(top, node[lower])), (child, None)]
    return [*work, (-1, EPSILON)]


# How to read a transformed subtree back: the nodes of its spine but the last, what hangs off each, and the last one.
_Read = tuple[list[str], list[int], int]


def _undo(
    tree: CornerTree, transform: Callable[[BinaryTree], CornerTree], read: Callable[[CornerTree, list[int], int], _Read]
) -> BinaryTree:
    leaf = [node.kind in (Kind.WORD, Kind.EMPTY) for node in tree.nodes]
    if not _is_shape(leaf):
        reason = "every node needs two children, except words and ε, which have none"
        raise ValueError(Errors.E365.format(reason=reason))
    right = right_children(leaf)
    is_leaf: list[bool] = []
    labels: list[str] = []
    # A node of the transformed tree to be read, or -1 and the label of an inner node to be written.
    todo: list[tuple[int, str]] = [(0, "")]
    while todo:
        node, label = todo.pop()
        if node >= 0 and leaf[node]:
            is_leaf.append(True)
            labels.append(tree.nodes[node].label)
        elif node < 0:
            is_leaf.append(False)
            labels.append(label)
        else:
            spine, hanging, word = read(tree, right, node)
            todo.extend(_unroll(spine, hanging, word, left_spine=read is _read_left_corner))
    result = BinaryTree(tuple(is_leaf), tuple(labels))
    # Much can be wrong with such a tree, and all of it shows here.
    if transform(result) != tree:
        raise ValueError(Errors.E365.format(reason="labels or words do not agree with those around them"))
    return result


def _is_shape(leaf: Sequence[bool]) -> bool:
    """Whether this is a binary tree in pre-order."""
    pending = 1
    for is_leaf in leaf:
        if not pending:
            return False
        pending += -1 if is_leaf else 1
    return not pending


def _unroll(spine: list[str], hanging: list[int], word: int, *, left_spine: bool) -> list[tuple[int, str]]:
    """A spine as work, last in first out."""
    if left_spine:
        return [*((child, "") for child in hanging), (word, ""), *((-1, label) for label in reversed(spine))]
    work: list[tuple[int, str]] = [(word, "")]
    for label, child in zip(reversed(spine), reversed(hanging), strict=True):
        work += [(child, ""), (-1, label)]
    return work


def _read_right_corner(tree: CornerTree, right: list[int], top: int) -> _Read:
    labels: list[str] = []
    hanging: list[int] = []
    node = top + 1
    while tree.nodes[node].kind == Kind.SLASHED:
        labels.append(tree.nodes[node].other)
        hanging.append(right[node])
        node += 1
    _check(tree, top, node, right[top], labels)
    # The first slashed node is N/Mk, and Mk is the word; what hangs there hangs off M(k-1), above it.
    return [tree.nodes[top].label, *reversed(labels[1:])], hanging[::-1], right[top]


def _read_left_corner(tree: CornerTree, right: list[int], top: int) -> _Read:
    labels: list[str] = []
    hanging: list[int] = []
    node = right[top]
    while tree.nodes[node].kind == Kind.SLASHED:
        labels.append(tree.nodes[node].other)
        hanging.append(node + 1)
        node = right[node]
    _check(tree, top, node, top + 1, labels)
    return [tree.nodes[top].label, *reversed(labels[1:])], hanging[::-1], top + 1


def _check(tree: CornerTree, top: int, end: int, corner: int, slashed: list[str]) -> None:
    """Raise unless a whole constituent has a chain of slashed nodes that ends in ε, and a word at the corner."""
    kinds = tree.nodes[top].kind, tree.nodes[end].kind, tree.nodes[corner].kind
    if not slashed or kinds != (Kind.WHOLE, Kind.EMPTY, Kind.WORD):
        raise ValueError(Errors.E365.format(reason=f"the spine of node {top} does not end in a word and ε"))
