"""Where in-order tags come from: the paper's two derivations (sections 3.1, 3.2 and 5.1, appendix B).

A shift-reduce parser's actions are tags written differently. The paper's table for *She enjoys reading papers*:

>>> from spacy_parsetag.linearize import get_linearizer
>>> tree = BinaryTree((False, True, False, True, False, True, True), ("S", "", "VP", "", "VP", "", ""))
>>> [("reduce" if action.children else "shift", action.label) for action in top_down_actions(tree)]
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

from collections.abc import Iterable, Sequence
from itertools import pairwise
from typing import NamedTuple

from spacy_parsetag.linearize.base import CLASS_NAMES, TagClass, children_first, make_tag, split_tag
from spacy_parsetag.trees import BinaryTree


class Node(NamedTuple):
    """A node with what is under it, and with that an action of a shift-reduce parser: a shift, or a reduce.

    label (str): The label of the word's or the constituent's node in the tree before; "" if it has none.
    lacks (str | None): Of a slashed constituent, the label after the slash.
    children (tuple[Node, ...]): The left and the right child; none of a word and of ε.
    """

    label: str
    lacks: str | None = None
    children: "tuple[Node, ...]" = ()


EPSILON = Node("ε")


def right_corner(tree: BinaryTree) -> Node:
    """The right-corner transform.

    tree (BinaryTree): A tree over N words.
    RETURNS (Node): The root of the transformed tree over the same words.

    >>> tree = BinaryTree((False, True, False, True, True), ("S", "a", "X", "b", "Y"))
    >>> [f"{node.label}/{node.lacks or ''}".strip("/") for node in top_down_actions(right_corner(tree))]
    ['S', 'S/Y', 'S/X', 'a', 'b', 'Y']
    """
    return _corner(tree, reversed(range(len(tree.leaf))), 1)


def left_corner(tree: BinaryTree) -> Node:
    """The left-corner transform.

    tree (BinaryTree): A tree over N words.
    RETURNS (Node): The root of the transformed tree over the same words.

    >>> tree = BinaryTree((False, False, True, True, True), ("S", "X", "Y", "b", "c"))
    >>> [f"{node.label}/{node.lacks or ''}".strip("/") for node in top_down_actions(left_corner(tree))]
    ['S', 'Y', 'S/Y', 'b', 'S/X', 'c']
    """
    return _corner(tree, children_first(tree), -1)


def _corner(tree: BinaryTree, order: Iterable[int], step: int) -> Node:
    """Turn the spines around, in an order in which children come before their parents.

    step (int): 1 if a spine runs to the right, and the left child comes last in the order; -1 for the mirror image.
    """
    # Complete subtrees as their spines, from the word up: labels, and the transform of what hangs beside the spine.
    spines: list[list[tuple[str, Node]]] = []
    for i in order:
        if tree.leaf[i]:
            spines.append([(tree.label[i], EPSILON)])
        else:
            beside = _turn(spines.pop(), step)
            spines[-1].append((tree.label[i], beside))
    return _turn(spines.pop(), step)


def _turn(spine: list[tuple[str, Node]], step: int) -> Node:
    word, top = Node(spine[0][0]), spine[-1][0]
    if len(spine) == 1:
        return word
    slashed = EPSILON
    for (_, beside), (lower, _) in pairwise(reversed(spine)):
        slashed = Node(top, lower, (slashed, beside)[::step])
    return Node(top, None, (slashed, word)[::step])


def top_down_actions(tree: BinaryTree | Node) -> list[Node]:
    """Actions of a top-down shift-reduce parser, which visits nodes before their children.

    tree (BinaryTree | Node): A tree, or its corner transform.
    RETURNS (list[Node]): A shift for each word, a reduce for each node with children; ε takes no action.
    """
    return _actions(tree, 1)


def bottom_up_actions(tree: BinaryTree | Node) -> list[Node]:
    """Actions of a bottom-up shift-reduce parser, which visits nodes after their children.

    tree (BinaryTree | Node): A tree, or its corner transform.
    RETURNS (list[Node]): As `top_down_actions`, in the other order.
    """
    return _actions(tree, -1)[::-1]  # from the right, nodes before their children, and all that backwards


def _actions(tree: BinaryTree | Node, step: int) -> list[Node]:
    """Nodes before their children, from the left (step 1) or from the right (-1)."""
    if isinstance(tree, BinaryTree):
        complete: list[Node] = []  # subtrees, the leftmost last
        for leaf, label in zip(reversed(tree.leaf), reversed(tree.label), strict=True):
            complete.append(Node(label, None, () if leaf else (complete.pop(), complete.pop())))
        tree = complete[0]
    actions: list[Node] = []
    agenda = [tree]
    while agenda:
        node = agenda.pop()
        if node is not EPSILON:
            actions.append(node)
        agenda += node.children[::-step]
    return actions


def map_top_down(actions: Sequence[Node]) -> list[str]:
    """Pre-order tags of a top-down parser's actions over a tree that is not transformed.

    actions (Sequence[Node]): The actions.
    RETURNS (list[str]): A tag for each.
    """
    tags: list[str] = []
    sides = [0]  # of the nodes still to come: 0 left, 1 right; the root counts as a left child
    for action in actions:
        tags.append(make_tag(sides.pop() + len(action.children), action.label))
        sides += (1, 0) if action.children else ()
    return tags


def map_bottom_up(actions: Sequence[Node]) -> list[str]:
    """Post-order tags of a bottom-up parser's actions over a tree that is not transformed.

    actions (Sequence[Node]): The actions.
    RETURNS (list[str]): A tag for each.
    """
    sides = [0] * len(actions)  # the root counts as a left child
    stack: list[int] = []
    for i, action in enumerate(actions):
        if action.children:
            sides[stack.pop()] = 1
            stack.pop()
        stack.append(i)
    return [make_tag(side + len(action.children), action.label) for side, action in zip(sides, actions, strict=True)]


def map_right_corner(actions: Sequence[Node]) -> list[str]:
    """The map of Derivation 1, action by action.

        shift                       l          reduce(N → N/N1 N2)         r
        reduce(N/N1 → ε N2)         L/N        reduce(N/N1 → N/N2 N3)      R/N2

    actions (Sequence[Node]): Actions of a bottom-up parser over a right-corner transform.
    RETURNS (list[str]): A tag for each; a shift's has the label of its word, if it has one.
    RAISES (ValueError): If an action is not one of these.
    """
    return _map_corner(actions, 0, "lrLR", "right-corner")


def map_left_corner(actions: Sequence[Node]) -> list[str]:
    """The map of Derivation 2, action by action.

        shift                       r          reduce(N → N2 N/N1)         l
        reduce(N/N1 → N2 ε)         R/N        reduce(N/N1 → N3 N/N2)      L/N2

    actions (Sequence[Node]): Actions of a top-down parser over a left-corner transform.
    RETURNS (list[str]): A tag for each; a shift's has the label of its word, if it has one.
    RAISES (ValueError): If an action is not one of these.
    """
    return _map_corner(actions, -1, "rlRL", "left-corner")


def _map_corner(actions: Sequence[Node], side: int, classes: str, what: str) -> list[str]:
    """Map actions to the classes in the order of the tables above; on this side is the child with the slash, or ε."""
    shift, whole, first, other = map(CLASS_NAMES.index, classes)
    tags: list[str] = []
    for i, (label, lacks, children) in enumerate(actions, start=1):
        child = children[side] if children else None
        if child is None:
            tags.append(make_tag(shift, label))
        elif lacks is None and child.lacks is not None:
            tags.append(make_tag(whole, ""))
        elif lacks is not None and child is EPSILON:
            tags.append(make_tag(first, label))
        elif lacks is not None and child.lacks is not None:
            tags.append(make_tag(other, child.lacks))
        else:
            raise ValueError(f"not the actions of a parser over a {what} tree: action {i} has no production")
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
