"""Derivations 1 and 2: in-order tags come out of shift-reduce actions over corner transforms."""

import pytest
from derivations import (
    EPSILON,
    Node,
    bottom_up_actions,
    in_order_by_left_corner,
    in_order_by_right_corner,
    left_corner,
    map_bottom_up,
    map_left_corner,
    map_right_corner,
    map_top_down,
    right_corner,
    top_down_actions,
)
from hypothesis import given, strategies as st
from oracle import enumerate_trees
from strategies import LABELS, parses

from spacy_parsetag.linearize import InOrder, PostOrder, PreOrder
from spacy_parsetag.trees import BinaryTree, Parse, binarize

DEPTH = 5000


@st.composite
def binary_trees(draw: st.DrawFn, max_words: int = 12) -> BinaryTree:
    """Any shape, unlike what right-branching binarization gives, with a label or none at each node."""
    leaf, label = [], []
    todo = [draw(st.integers(1, max_words))]
    while todo:
        n = todo.pop()
        leaf.append(n == 1)
        label.append(draw(st.one_of(st.just(""), LABELS)))
        if n > 1:
            middle = draw(st.integers(1, n - 1))
            todo += [n - middle, middle]
    return BinaryTree(tuple(leaf), tuple(label))


def check(tree: BinaryTree) -> None:
    """The tags of both derivations are the tags of the tree, so both transforms can be undone, too."""
    tags = InOrder().linearize(tree)
    assert in_order_by_right_corner(tree) == tags
    # With the left-corner transform the root comes out as a right child. Its tag stands after its left subtree.
    n_left = left_words(tree)
    root = 2 * n_left - 1 if n_left else 0
    turned = {"L": "R", "l": "r"}[tags[root][0]] + tags[root][1:]
    assert in_order_by_left_corner(tree) == [*tags[:root], turned, *tags[root + 1 :]]
    assert map_top_down(top_down_actions(tree)) == PreOrder().linearize(tree)
    assert map_bottom_up(bottom_up_actions(tree)) == PostOrder().linearize(tree)
    words = [label for is_leaf, label in zip(tree.leaf, tree.label, strict=True) if is_leaf]
    for transformed in (right_corner(tree), left_corner(tree)):
        assert [node.label for node in top_down_actions(transformed) if not node.children] == words


def left_words(tree: BinaryTree) -> int:
    """How many words the left child of the root has; 0 for a tree of one word."""
    pending = 1
    for i, is_leaf in enumerate(tree.leaf[1:], start=1):
        pending += -1 if is_leaf else 1
        if not pending:
            return (i + 1) // 2
    return 0


@given(tree=binary_trees())
def test_derivations(tree: BinaryTree) -> None:
    check(tree)


@given(parse=parses(max_words=10))
def test_derivations_of_parses(parse: Parse) -> None:
    check(binarize(parse))


@pytest.mark.parametrize("n_words", range(1, 8))
def test_derivations_of_every_shape(n_words: int) -> None:
    for tree in enumerate_trees(n_words):
        check(BinaryTree(tree.leaf, tuple(f"X{i}" for i in range(len(tree.leaf)))))


@pytest.mark.parametrize("right", [True, False], ids=["right", "left"])
def test_deep_trees(right: bool) -> None:
    leaf = (False, True) * (DEPTH - 1) + (True,) if right else (False,) * (DEPTH - 1) + (True,) * DEPTH
    check(BinaryTree(leaf, tuple(f"X{i}" for i in range(len(leaf)))))


@pytest.mark.parametrize("right", [True, False], ids=["right", "left"])
def test_transformed_spines_need_little_stack(right: bool) -> None:
    """Why the transforms: a tree that branches to one side needs a stack of at most 2, whatever its length."""
    n = 50
    leaf = (False, True) * (n - 1) + (True,) if right else (False,) * (n - 1) + (True,) * n
    tree = BinaryTree(leaf, ("",) * len(leaf))
    if right:
        size = largest = 0
        for action in bottom_up_actions(right_corner(tree)):
            size += 1 if not action.children else 0 if action.children[0] is EPSILON else -1
            largest = max(largest, size)
        assert (size, largest) == (1, 2)
    else:
        size = largest = 1
        for action in top_down_actions(left_corner(tree)):
            size += -1 if not action.children else 0 if action.children[1] is EPSILON else 1
            largest = max(largest, size)
        assert (size, largest) == (0, 2)


def test_transforms_of_the_figure() -> None:
    """S with the children a and X, and X with b and Y, over the words a b Y; the mirror image for the left corner."""
    right = BinaryTree((False, True, False, True, True), ("S", "a", "X", "b", "Y"))
    lower = Node("S", "X", (EPSILON, Node("a")))
    upper = Node("S", "Y", (lower, Node("b")))
    assert right_corner(right) == Node("S", None, (upper, Node("Y")))
    left = BinaryTree((False, False, True, True, True), ("S", "X", "Y", "b", "c"))
    lower = Node("S", "X", (Node("c"), EPSILON))
    upper = Node("S", "Y", (Node("b"), lower))
    assert left_corner(left) == Node("S", None, (Node("Y"), upper))
    one = BinaryTree((True,), ("NP",))
    assert right_corner(one) == left_corner(one) == Node("NP")


def test_actions_over_a_plain_tree() -> None:
    plain = bottom_up_actions(BinaryTree((False, True, True), ("S", "A", "B")))
    for map_actions in (map_right_corner, map_left_corner):
        with pytest.raises(ValueError, match="action 3 has no production"):
            map_actions(plain)
