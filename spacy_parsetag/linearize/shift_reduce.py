"""Shift-reduce actions, and the two derivations of in-order tags from them (paper sections 3.1 and 3.2, appendix B).

The paper's table for *She enjoys reading papers*: the actions of a top-down parser, and the tags in the three orders.

>>> from nltk import Tree
>>> from spacy_parsetag.linearize import get_linearizer
>>> from spacy_parsetag.trees import Parse, binarize
>>> parse = Parse.from_tree(Tree.fromstring("(S (PRP She) (VP (V enjoys) (VP (V reading) (N papers))))"))
>>> tree = binarize(parse)
>>> for action in top_down_actions(tree):
...     print(format_action(action, parse.words, parse.tags))
reduce(S → PRP VP)
shift(PRP → She)
reduce(VP → V VP)
shift(V → enjoys)
reduce(VP → V N)
shift(V → reading)
shift(N → papers)
>>> map_top_down(top_down_actions(tree))
['L/S', 'l', 'R/VP', 'l', 'R/VP', 'l', 'r']
>>> map_bottom_up(bottom_up_actions(tree))
['l', 'l', 'l', 'r', 'R/VP', 'R/VP', 'L/S']
>>> get_linearizer("in").linearize(tree)
['l', 'L/S', 'l', 'R/VP', 'l', 'R/VP', 'r']

Derivation 1 gets the last of these by another road: the actions of a bottom-up parser over the right-corner transform,
mapped one by one, where then each `l r` is merged into `r`. Derivation 2 takes a top-down parser over the left-corner
transform and merges each `l r` into `l`; there the root counts as a right child.

>>> actions = bottom_up_actions(right_corner(tree))
>>> [format_action(action, parse.words, parse.tags) for action in actions[:3]]
['shift(PRP → She)', 'reduce(S/VP → ε PRP)', 'shift(V → enjoys)']
>>> map_right_corner(actions)
['l', 'L/S', 'l', 'R/VP', 'l', 'R/VP', 'l', 'r']
>>> merge_right_corner(map_right_corner(actions))
['l', 'L/S', 'l', 'R/VP', 'l', 'R/VP', 'r']
>>> map_left_corner(top_down_actions(left_corner(tree)))
['l', 'r', 'R/S', 'l', 'r', 'R/VP', 'l', 'r', 'R/VP', 'r']
>>> in_order_by_left_corner(tree)
['l', 'R/S', 'l', 'R/VP', 'l', 'R/VP', 'r']

These show what the tags are; what runs is the direct traversal, in `in_order`, `pre_order` and `post_order`. (A slip in
the paper: in appendix B's table of five ways to hang a word, the last row's fourth entry should be `r R(N)`.)
"""

from collections.abc import Sequence
from typing import NamedTuple

from ..errors import Errors
from ..trees.binarize import BinaryTree
from ..trees.corner import Category, CornerTree, Kind, as_categories, left_corner, right_children, right_corner
from .base import TagClass, make_tag, split_tag


class Action(NamedTuple):
    """One action of a shift-reduce parser, by its production.

    parent (Category): What is made, or for a shift the word with its label.
    left (Optional[Category]): Its left child; None for a shift.
    right (Optional[Category]): Its right child; None for a shift.
    """

    parent: Category
    left: Category | None = None
    right: Category | None = None

    @property
    def is_shift(self) -> bool:
        return self.left is None


def top_down_actions(tree: BinaryTree | CornerTree) -> list[Action]:
    """Actions of a top-down shift-reduce parser, which visits nodes before their children.

    tree (Union[BinaryTree, CornerTree]): A tree, or its corner transform.
    RETURNS (List[Action]): A shift for each word, a reduce for each node with children; ε takes no action.
    """
    return [action for action in _productions(tree) if action.parent.kind != Kind.EMPTY]


def bottom_up_actions(tree: BinaryTree | CornerTree) -> list[Action]:
    """Actions of a bottom-up shift-reduce parser, which visits nodes after their children.

    tree (Union[BinaryTree, CornerTree]): A tree, or its corner transform.
    RETURNS (List[Action]): As `top_down_actions`, in the other order.
    """
    actions: list[Action] = []
    open_nodes: list[Action] = []
    left_done: list[bool] = []
    for action in _productions(tree):
        if not action.is_shift:
            open_nodes.append(action)
            left_done.append(False)
            continue
        if action.parent.kind != Kind.EMPTY:
            actions.append(action)
        while left_done and left_done[-1]:  # this leaf ends the right subtrees of these nodes
            actions.append(open_nodes.pop())
            left_done.pop()
        if left_done:
            left_done[-1] = True
    return actions


def _productions(tree: BinaryTree | CornerTree) -> list[Action]:
    """The production of each node, ε too, in pre-order."""
    if isinstance(tree, BinaryTree):
        nodes: Sequence[Category] = as_categories(tree)
        leaf: Sequence[bool] = tree.leaf
    else:
        nodes = tree.nodes
        leaf = [node.kind in (Kind.WORD, Kind.EMPTY) for node in nodes]
    right = right_children(leaf)
    return [
        Action(node) if is_leaf else Action(node, nodes[i + 1], nodes[right[i]])
        for i, (node, is_leaf) in enumerate(zip(nodes, leaf, strict=True))
    ]


def map_top_down(actions: Sequence[Action]) -> list[str]:
    """Pre-order tags of a top-down parser's actions over a tree that is not transformed.

    actions (Sequence[Action]): The actions.
    RETURNS (List[str]): A tag for each.
    RAISES (ValueError): If they are not the actions over a tree.
    """
    tags: list[str] = []
    pending = [TagClass.LEFT_LEAF]  # sides of the nodes still to come; the root counts as a left child
    for i, action in enumerate(actions):
        if not pending:
            raise ValueError(Errors.E366.format(what="complete", reason="the tree is already complete", position=i + 1))
        side = pending.pop()
        if action.is_shift:
            tags.append(make_tag(side, action.parent.label))
        else:
            tags.append(make_tag(side + 2, action.parent.label))
            pending += [TagClass.RIGHT_LEAF, TagClass.LEFT_LEAF]
    if pending:
        raise ValueError(Errors.E366.format(what="complete", reason="a node is missing", position=len(actions) + 1))
    return tags


def map_bottom_up(actions: Sequence[Action]) -> list[str]:
    """Post-order tags of a bottom-up parser's actions over a tree that is not transformed.

    actions (Sequence[Action]): The actions.
    RETURNS (List[str]): A tag for each.
    RAISES (ValueError): If they are not the actions over a tree.
    """
    sides = [0] * len(actions)  # the root counts as a left child
    stack: list[int] = []
    for i, action in enumerate(actions):
        if not action.is_shift:
            if len(stack) < 2:
                raise ValueError(Errors.E366.format(what="complete", reason="too small a stack", position=i + 1))
            sides[stack.pop()] = 1
            stack.pop()
        stack.append(i)
    if len(stack) != 1:
        raise ValueError(Errors.E366.format(what="complete", reason="a node is missing", position=len(actions) + 1))
    return [
        make_tag(side if action.is_shift else side + 2, action.parent.label)
        for action, side in zip(actions, sides, strict=True)
    ]


def map_right_corner(actions: Sequence[Action]) -> list[str]:
    """The map of Derivation 1, action by action.

        shift                       l          reduce(N → N/N1 N2)         r
        reduce(N/N1 → ε N2)         L/N        reduce(N/N1 → N/N2 N3)      R/N2

    actions (Sequence[Action]): Actions of a bottom-up parser over a right-corner transform.
    RETURNS (List[str]): A tag for each; a shift's has the label of its word, if it has one.
    RAISES (ValueError): If one is none of these.
    """
    tags: list[str] = []
    for i, (parent, left, _) in enumerate(actions):
        if left is None:
            tags.append(make_tag(TagClass.LEFT_LEAF, parent.label))
        elif parent.kind == Kind.WHOLE and left.kind == Kind.SLASHED:
            tags.append(make_tag(TagClass.RIGHT_LEAF, ""))
        elif parent.kind == Kind.SLASHED and left.kind == Kind.EMPTY:
            tags.append(make_tag(TagClass.LEFT_NODE, parent.label))
        elif parent.kind == Kind.SLASHED and left.kind == Kind.SLASHED:
            tags.append(make_tag(TagClass.RIGHT_NODE, left.other))
        else:
            raise _not_transformed("right-corner", i)
    return tags


def map_left_corner(actions: Sequence[Action]) -> list[str]:
    """The map of Derivation 2, action by action.

        shift                       r          reduce(N → N2 N/N1)         l
        reduce(N/N1 → N2 ε)         R/N        reduce(N/N1 → N3 N/N2)      L/N2

    actions (Sequence[Action]): Actions of a top-down parser over a left-corner transform.
    RETURNS (List[str]): A tag for each; a shift's has the label of its word, if it has one.
    RAISES (ValueError): If one is none of these.
    """
    tags: list[str] = []
    for i, (parent, _, right) in enumerate(actions):
        if right is None:
            tags.append(make_tag(TagClass.RIGHT_LEAF, parent.label))
        elif parent.kind == Kind.WHOLE and right.kind == Kind.SLASHED:
            tags.append(make_tag(TagClass.LEFT_LEAF, ""))
        elif parent.kind == Kind.SLASHED and right.kind == Kind.EMPTY:
            tags.append(make_tag(TagClass.RIGHT_NODE, parent.label))
        elif parent.kind == Kind.SLASHED and right.kind == Kind.SLASHED:
            tags.append(make_tag(TagClass.LEFT_NODE, right.other))
        else:
            raise _not_transformed("left-corner", i)
    return tags


def merge_right_corner(tags: Sequence[str]) -> list[str]:
    """The merge of Derivation 1: each `l` with an `r` right after it becomes one `r`, with the label of the word."""
    return _merge(tags, TagClass.RIGHT_LEAF)


def merge_left_corner(tags: Sequence[str]) -> list[str]:
    """The merge of Derivation 2: each `l` with an `r` right after it becomes one `l`, with the label of the word."""
    return _merge(tags, TagClass.LEFT_LEAF)


def in_order_by_right_corner(tree: BinaryTree) -> list[str]:
    """In-order tags by Derivation 1.

    tree (BinaryTree): A tree over N words.
    RETURNS (List[str]): Its 2N-1 tags, which are those of `InOrder.linearize`.
    """
    return merge_right_corner(map_right_corner(bottom_up_actions(right_corner(tree))))


def in_order_by_left_corner(tree: BinaryTree) -> list[str]:
    """In-order tags by Derivation 2.

    tree (BinaryTree): A tree over N words.
    RETURNS (List[str]): Its 2N-1 tags, which are those of `InOrder.linearize`, save that the root is a right child.
    """
    return merge_left_corner(map_left_corner(top_down_actions(left_corner(tree))))


def _merge(tags: Sequence[str], kept: TagClass) -> list[str]:
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


def _not_transformed(what: str, i: int) -> ValueError:
    return ValueError(Errors.E366.format(what=what, reason="no production of such a tree", position=i + 1))


def format_action(action: Action, words: Sequence[str], tags: Sequence[str]) -> str:
    """Write an action as the paper does.

    action (Action): The action.
    words (Sequence[str]): The words of the sentence.
    tags (Sequence[str]): Their part-of-speech tags.
    RETURNS (str): For instance "shift(PRP → She)", or "reduce(S/VP → ε NP+PRP)" with the chain NP above PRP. A node
        without a label is "·".
    """
    parent = _format_category(action.parent, tags)
    if action.left is None or action.right is None:
        return f"shift({parent} → {words[action.parent.word]})"
    return f"reduce({parent} → {_format_category(action.left, tags)} {_format_category(action.right, tags)})"


def _format_category(category: Category, tags: Sequence[str]) -> str:
    if category.kind == Kind.EMPTY:
        return "ε"
    if category.kind == Kind.WORD:
        return _with_tag(category.label, tags[category.word])
    label = category.label or "·"
    if category.kind == Kind.WHOLE:
        return label
    other = _with_tag(category.other, tags[category.word]) if category.word >= 0 else category.other
    return f"{label}/{other or '·'}"


def _with_tag(label: str, tag: str) -> str:
    return f"{label}+{tag}" if label else tag
