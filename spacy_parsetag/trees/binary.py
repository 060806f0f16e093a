"""Unary collapse and right-branching binarization, with exact inverses.

*She enjoys reading papers* has no node with three children; its chains collapse:

    (S (NP She) (VP enjoys (S (VP reading (NP papers)))))    becomes    (S NP/She (VP enjoys (S+VP reading NP/papers)))

A node with children c1 c2 c3 becomes (c1 (c2 c3)); the node this adds has no label, so the inverse is: a node without a
label dissolves into its parent. Equal to NLTK's `collapse_unary` and `chomsky_normal_form(factor="right")`.

A chain is written with its labels joined by "+", top first. A "+" or a backslash inside a label is written with a
backslash before it, so labels that contain them survive.
"""

import re
from collections.abc import Sequence
from functools import lru_cache
from typing import NamedTuple

from ..errors import Errors
from .parse import Constituent, Parse

_CHAIN = re.compile(r"((?:[^+\\]|\\.)+)(?:\+|$)", re.DOTALL)


class BinaryTree(NamedTuple):
    """A binary tree over N words as its 2N-1 nodes in pre-order.

    leaf (tuple[bool, ...]): Whether the node is a word. With the order, this is the whole shape of the tree.
    label (tuple[str, ...]): The node's chain of labels joined by "+"; "" for a node that binarization added, and for a
        word that is not a constituent of its own.
    """

    leaf: tuple[bool, ...]
    label: tuple[str, ...]

    @property
    def n_words(self) -> int:
        return (len(self.leaf) + 1) // 2


def join_chain(labels: Sequence[str]) -> str:
    """Write a unary chain, top first, as one label: ("S", "VP") becomes "S+VP"."""
    if len(labels) == 1 and "+" not in labels[0] and "\\" not in labels[0]:
        return labels[0]
    return "+".join(label.replace("\\", "\\\\").replace("+", "\\+") for label in labels)


@lru_cache(maxsize=65536)
def split_chain(label: str) -> tuple[str, ...]:
    """The inverse of `join_chain`; "" is the empty chain.

    RAISES (ValueError): If `join_chain` does not write such a label.
    """
    if not label:
        return ()
    if "\\" not in label:
        chain = tuple(label.split("+"))
    else:
        chain = tuple(re.sub(r"\\(.)", r"\1", part, flags=re.DOTALL) for part in _CHAIN.findall(label))
    if not all(chain) or join_chain(chain) != label:
        raise ValueError(Errors.E005.format(label=label))
    return chain


def binarize(parse: Parse) -> BinaryTree:
    """Collapse unary chains and binarize to the right.

    Several nodes at the top hang under a root without a label.

    RAISES (ValueError): If the parse has no word, spans cross, are not in pre-order or lie outside the sentence, or one
        has no label.
    """
    n = len(parse.words)
    if not n:
        raise ValueError(Errors.E001.format(reason="a tree needs at least one word"))
    leaf: list[bool] = []
    label: list[str] = []
    spans = parse.spans
    i = 0  # next span to open
    # Regions still to be written, as (start, end): one subtree if a span covers it, else its first child and the rest.
    regions: list[tuple[int, int]] = [(0, n)]
    while regions:
        start, end = regions.pop()
        chain: list[str] = []
        while i < len(spans) and spans[i][0] == start and spans[i][1] == end:
            if not spans[i][2]:
                raise ValueError(Errors.E001.format(reason=f"the constituent over words {start} to {end} has no label"))
            chain.append(spans[i][2])
            i += 1
        label.append(join_chain(chain) if chain else "")
        if end - start == 1:
            leaf.append(True)
            continue
        leaf.append(False)
        # The first child: the next span if it starts here, else a word.
        middle = start + 1
        if i < len(spans) and spans[i][0] <= start:
            middle = spans[i][1]
            if spans[i][0] < start or not start < middle < end:
                raise ValueError(_misplaced(spans[i], start, end, n))
        regions += [(middle, end), (start, middle)]
    if i < len(spans):
        raise ValueError(_misplaced(spans[i], 0, n, n))
    return BinaryTree(tuple(leaf), tuple(label))


def _misplaced(span: Constituent, start: int, end: int, n: int) -> str:
    if not 0 <= span[0] < span[1] <= n:
        return Errors.E003.format(span=tuple(span), n=n)
    return Errors.E002.format(first=tuple(span), second=(start, end))


def unbinarize(tree: BinaryTree, words: Sequence[str], pos: Sequence[str]) -> Parse:
    """The inverse of `binarize`: nodes without a label dissolve, chains open up.

    tree (BinaryTree): The binary tree; it need not be right-branching.
    RAISES (ValueError): If the numbers of words differ.
    """
    n = tree.n_words
    if len(words) != n:
        raise ValueError(Errors.E004.format(n_tags=len(tree.leaf), n_words=len(words)))
    if len(pos) != n:
        raise ValueError(Errors.E001.format(reason=f"{n} words have {len(pos)} part-of-speech tags"))
    return Parse(tuple(words), tuple(pos), tuple(tree_spans(tree)))


def tree_spans(tree: BinaryTree) -> list[Constituent]:
    """The constituents of a binary tree, in pre-order."""
    return [
        Constituent(start, end, label)
        for (start, end), chain in zip(node_bounds(tree), tree.label, strict=True)
        if chain
        for label in split_chain(chain)
    ]


def node_bounds(tree: BinaryTree) -> list[tuple[int, int]]:
    """First word and end of each node, in pre-order."""
    bounds = [(0, 0)] * len(tree.leaf)
    complete: list[int] = []  # roots of complete subtrees, the leftmost on top
    position = tree.n_words
    for node in range(len(tree.leaf) - 1, -1, -1):
        if tree.leaf[node]:
            bounds[node] = (position - 1, position)
            position -= 1
        else:
            left, right = complete.pop(), complete.pop()
            bounds[node] = (bounds[left][0], bounds[right][1])
        complete.append(node)
    return bounds
