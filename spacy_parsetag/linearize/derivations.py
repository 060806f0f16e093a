"""Where in-order tags come from: the paper's two derivations (sections 3.1, 3.2 and 5.1, appendix B).

A shift-reduce parser's actions are tags written differently. The paper's table for *She enjoys reading papers*:

>>> from spacy_parsetag.linearize import get_linearizer
>>> tree = BinaryTree((False, True, False, True, False, True, True), ("S", "", "VP", "", "VP", "", ""))
>>> [("shift" if action.left is None else "reduce", action.parent.label) for action in top_down_actions(tree)]
[('reduce', 'S'), ('shift', ''), ('reduce', 'VP'), ('shift', ''), ('reduce', 'VP'), ('shift', ''), ('shift', '')]
>>> map_top_down(top_down_actions(tree))
['L/S', 'l', 'R/VP', 'l', 'R/VP', 'l', 'r']
>>> map_bottom_up(bottom_up_actions(tree))
['l', 'l', 'l', 'r', 'R/VP', 'R/VP', 'L/S']
>>> get_linearizer("in").linearize(tree)
['l', 'L/S', 'l', 'R/VP', 'l', 'R/VP', 'r']

The last of these is a shift-reduce parser too, over a corner transform of the tree (Johnson, 1998), which turns each
spine around. The right-corner transform takes each node that is the root or a left child, here S with its right spine
S, X, Y, and lists the left children along the spine from the top down. The left-corner transform is its mirror image:

        S                      S                             S                         S
       / \\                    / \\                           / \\                       / \\
      a   X        becomes  S/Y   Y                        X   c    becomes         Y   S/Y
         / \\                / \\                           / \\                           / \\
        b   Y            S/X   b                         Y   b                          b   S/X
                         / \\                                                               / \\
                        ε   a                                                             c   ε

On the left "S/Y" is an S that lacks a Y at its right end; on the right it is an S whose left corner Y is already there.
The subtrees a, b and c are transformed in turn. A chain to the right (left) becomes one to the left (right), so that a
bottom-up (top-down) parser of the result needs little stack.

Derivation 1 maps the actions of a bottom-up parser over the right-corner transform one by one, and then merges each
`l r` into `r`. Derivation 2 takes a top-down parser over the left-corner transform, and merges each `l r` into `l`;
there the root counts as a right child.

>>> actions = bottom_up_actions(right_corner(tree))
>>> map_right_corner(actions)
['l', 'L/S', 'l', 'R/VP', 'l', 'R/VP', 'l', 'r']
>>> merge_tags(map_right_corner(actions), TagClass.RIGHT_LEAF)
['l', 'L/S', 'l', 'R/VP', 'l', 'R/VP', 'r']
>>> map_left_corner(top_down_actions(left_corner(tree)))
['l', 'r', 'R/S', 'l', 'r', 'R/VP', 'l', 'r', 'R/VP', 'r']
>>> in_order_by_left_corner(tree)
['l', 'R/S', 'l', 'R/VP', 'l', 'R/VP', 'r']

These show what the tags are; what runs is the direct traversal, in `in_order`, `pre_order` and `post_order`. (A slip in
the paper: in appendix B's table of five ways to hang a word, the last row's fourth entry should be `r R(N)`.)
"""

from collections.abc import Sequence
from enum import IntEnum
from typing import NamedTuple

from ..errors import Errors
from ..trees import BinaryTree
from .base import TagClass, make_tag, post_order, split_tag


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
    """

    kind: Kind
    label: str = ""
    other: str = ""


EPSILON = Category(Kind.EMPTY)
# The nodes of a tree, or of a corner transform, in pre-order. As in a `BinaryTree`, that is its whole shape.
Nodes = tuple[Category, ...]


def right_corner(tree: BinaryTree) -> Nodes:
    """The right-corner transform.

    tree (BinaryTree): A tree over N words.
    RETURNS (Nodes): The transformed tree over the same words.

    >>> tree = BinaryTree((False, True, False, True, True), ("S", "a", "X", "b", "Y"))
    >>> [f"{node.label}/{node.other}".strip("/") or "ε" for node in right_corner(tree)]
    ['S', 'S/Y', 'S/X', 'ε', 'a', 'b', 'Y']
    """
    right, before = _right_children(tree.leaf), _nodes(tree)
    nodes: list[Category] = []
    todo: list[int | Category] = [0]  # subtrees by their root, and nodes of the new tree, ready to be written
    while todo:
        item = todo.pop()
        if isinstance(item, Category):
            nodes.append(item)
            continue
        spine = [item]
        while not tree.leaf[spine[-1]]:
            spine.append(right[spine[-1]])
        top, *lower = (before[node] for node in spine)
        if not lower:
            nodes.append(top)
            continue
        # S; S/Y and S/X, a chain of left children; ε; their right children from below; the word Y.
        slashed = [Category(Kind.SLASHED, top.label, node.label) for node in reversed(lower)]
        todo += reversed([top, *slashed, EPSILON, *(node + 1 for node in spine[:-1]), lower[-1]])
    return tuple(nodes)


def left_corner(tree: BinaryTree) -> Nodes:
    """The left-corner transform.

    tree (BinaryTree): A tree over N words.
    RETURNS (Nodes): The transformed tree over the same words.

    >>> tree = BinaryTree((False, False, True, True, True), ("S", "X", "Y", "b", "c"))
    >>> [f"{node.label}/{node.other}".strip("/") or "ε" for node in left_corner(tree)]
    ['S', 'Y', 'S/Y', 'b', 'S/X', 'c', 'ε']
    """
    turned = post_order(tree.leaf)[::-1]
    mirror = BinaryTree(tuple(tree.leaf[i] for i in turned), tuple(tree.label[i] for i in turned))
    nodes = right_corner(mirror)
    return tuple(nodes[i] for i in reversed(post_order(_leaf(nodes))))


def _nodes(tree: BinaryTree | Nodes) -> Nodes:
    if not isinstance(tree, BinaryTree):
        return tree
    return tuple(Category(Kind.WORD if leaf else Kind.WHOLE, label) for leaf, label in zip(*tree, strict=True))


def _leaf(nodes: Nodes) -> list[bool]:
    return [node.kind in (Kind.WORD, Kind.EMPTY) for node in nodes]


def _right_children(leaf: Sequence[bool]) -> list[int]:
    """The right child of each node of a binary tree in pre-order, -1 for a leaf. The left child of node i is i + 1."""
    right = [-1] * len(leaf)
    waiting: list[int] = []
    for node, is_leaf in enumerate(leaf):
        if node and leaf[node - 1]:  # after a leaf comes the right child of the nearest node that waits for one
            right[waiting.pop()] = node
        if not is_leaf:
            waiting.append(node)
    return right


class Action(NamedTuple):
    """One action of a shift-reduce parser, by its production.

    parent (Category): What is made, or for a shift the word with its label.
    left, right (Category | None): Its children; None for a shift.
    """

    parent: Category
    left: Category | None = None
    right: Category | None = None


def top_down_actions(tree: BinaryTree | Nodes) -> list[Action]:
    """Actions of a top-down shift-reduce parser, which visits nodes before their children.

    tree (BinaryTree | Nodes): A tree, or its corner transform.
    RETURNS (list[Action]): A shift for each word, a reduce for each node with children; ε takes no action.
    """
    return _actions(tree, bottom_up=False)


def bottom_up_actions(tree: BinaryTree | Nodes) -> list[Action]:
    """Actions of a bottom-up shift-reduce parser, which visits nodes after their children.

    tree (BinaryTree | Nodes): A tree, or its corner transform.
    RETURNS (list[Action]): As `top_down_actions`, in the other order.
    """
    return _actions(tree, bottom_up=True)


def _actions(tree: BinaryTree | Nodes, *, bottom_up: bool) -> list[Action]:
    nodes = _nodes(tree)
    leaf = _leaf(nodes)
    right = _right_children(leaf)
    visited = post_order(leaf) if bottom_up else range(len(nodes))
    actions = [Action(nodes[i], *(() if leaf[i] else (nodes[i + 1], nodes[right[i]]))) for i in visited]
    return [action for action in actions if action.parent != EPSILON]


def map_top_down(actions: Sequence[Action]) -> list[str]:
    """Pre-order tags of a top-down parser's actions over a tree that is not transformed.

    actions (Sequence[Action]): The actions.
    RETURNS (list[str]): A tag for each.
    RAISES (ValueError): If they are not the actions over a tree.
    """
    tags: list[str] = []
    pending = [0]  # sides of the nodes still to come: 0 left, 1 right; the root counts as a left child
    for i, (parent, left, _) in enumerate(actions):
        if not pending:
            raise _wrong_action("complete", "the tree is already complete", i)
        tags.append(make_tag(pending.pop() + (0 if left is None else 2), parent.label))
        pending += [] if left is None else [1, 0]
    if pending:
        raise _wrong_action("complete", "a node is missing", len(actions))
    return tags


def map_bottom_up(actions: Sequence[Action]) -> list[str]:
    """Post-order tags of a bottom-up parser's actions over a tree that is not transformed.

    actions (Sequence[Action]): The actions.
    RETURNS (list[str]): A tag for each.
    RAISES (ValueError): If they are not the actions over a tree.
    """
    sides = [0] * len(actions)  # the root counts as a left child
    stack: list[int] = []
    for i, action in enumerate(actions):
        if action.left is not None:
            if len(stack) < 2:
                raise _wrong_action("complete", "the stack is too small", i)
            sides[stack.pop()] = 1
            stack.pop()
        stack.append(i)
    if len(stack) != 1:
        raise _wrong_action("complete", "a node is missing", len(actions))
    return [make_tag(s + (0 if a.left is None else 2), a.parent.label) for s, a in zip(sides, actions, strict=True)]


def map_right_corner(actions: Sequence[Action]) -> list[str]:
    """The map of Derivation 1, action by action.

        shift                       l          reduce(N → N/N1 N2)         r
        reduce(N/N1 → ε N2)         L/N        reduce(N/N1 → N/N2 N3)      R/N2

    actions (Sequence[Action]): Actions of a bottom-up parser over a right-corner transform.
    RETURNS (list[str]): A tag for each; a shift's has the label of its word, if it has one.
    RAISES (ValueError): If an action is not one of these.
    """
    return _map_corner([(parent, left) for parent, left, _ in actions], (0, 1, 2, 3), "right-corner")


def map_left_corner(actions: Sequence[Action]) -> list[str]:
    """The map of Derivation 2, action by action.

        shift                       r          reduce(N → N2 N/N1)         l
        reduce(N/N1 → N2 ε)         R/N        reduce(N/N1 → N3 N/N2)      L/N2

    actions (Sequence[Action]): Actions of a top-down parser over a left-corner transform.
    RETURNS (list[str]): A tag for each; a shift's has the label of its word, if it has one.
    RAISES (ValueError): If an action is not one of these.
    """
    return _map_corner([(parent, right) for parent, _, right in actions], (1, 0, 3, 2), "left-corner")


def _map_corner(
    steps: Sequence[tuple[Category, Category | None]], classes: tuple[int, int, int, int], what: str
) -> list[str]:
    """Map actions, each with the child that has the slash or is ε, to the classes in the order of the tables above."""
    tags: list[str] = []
    for i, (parent, child) in enumerate(steps):
        if child is None:
            tags.append(make_tag(classes[0], parent.label))
        elif (parent.kind, child.kind) == (Kind.WHOLE, Kind.SLASHED):
            tags.append(make_tag(classes[1], ""))
        elif (parent.kind, child.kind) == (Kind.SLASHED, Kind.EMPTY):
            tags.append(make_tag(classes[2], parent.label))
        elif (parent.kind, child.kind) == (Kind.SLASHED, Kind.SLASHED):
            tags.append(make_tag(classes[3], child.other))
        else:
            raise _wrong_action(what, "such a tree has no such production", i)
    return tags


def merge_tags(tags: Sequence[str], kept: TagClass) -> list[str]:
    """The merge of both derivations: each `l` with an `r` right after it becomes one tag, with the label of the word.

    tags (Sequence[str]): What `map_right_corner` or `map_left_corner` returned.
    kept (TagClass): The class of that tag: a right leaf in Derivation 1, a left leaf in Derivation 2.
    RETURNS (list[str]): The merged tags.
    """
    merged: list[str] = []
    open_left: str | None = None  # label of the `l` just before, if there is one
    for tag in tags:
        tag_class, label = split_tag(tag)
        if tag_class == TagClass.RIGHT_LEAF and open_left is not None:
            merged[-1] = make_tag(kept, open_left or label)
            open_left = None
            continue
        merged.append(tag)
        open_left = label if tag_class == TagClass.LEFT_LEAF else None
    return merged


def in_order_by_right_corner(tree: BinaryTree) -> list[str]:
    """In-order tags by Derivation 1: equal to `InOrder.linearize`."""
    return merge_tags(map_right_corner(bottom_up_actions(right_corner(tree))), TagClass.RIGHT_LEAF)


def in_order_by_left_corner(tree: BinaryTree) -> list[str]:
    """In-order tags by Derivation 2: equal to `InOrder.linearize`, but with the root as a right child."""
    return merge_tags(map_left_corner(top_down_actions(left_corner(tree))), TagClass.LEFT_LEAF)


def _wrong_action(what: str, reason: str, i: int) -> ValueError:
    return ValueError(Errors.E055.format(what=what, reason=reason, position=i + 1))
