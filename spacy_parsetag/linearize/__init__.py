"""Linearizers: trees as tag sequences, in three orders, with inverses."""

from collections.abc import Iterable, Sequence

from ..errors import Errors
from ..trees import Parse, binarize, unbinarize
from ..trees.escape import unescape_label, unescape_token
from ..trees.nltk_trees import NLTKTree, from_nltk, to_nltk
from .base import CLASS_NAMES, Lattice, Linearizer, TagClass, deviations, largest_stack, make_tag, split_tag
from .in_order import InOrder
from .post_order import PostOrder
from .pre_order import PreOrder
from .tagset import TagSet

__all__ = [
    "CLASS_NAMES",
    "ORDERS",
    "InOrder",
    "Lattice",
    "Linearizer",
    "PostOrder",
    "PreOrder",
    "TagClass",
    "TagSet",
    "delinearize",
    "deviations",
    "get_linearizer",
    "largest_stack",
    "linearize",
    "make_tag",
    "split_tag",
]

ORDERS: dict[str, Linearizer] = {"in": InOrder(), "pre": PreOrder(), "post": PostOrder()}


def get_linearizer(order: str) -> Linearizer:
    """Give the linearizer of an order: "in", "pre" or "post".

    RAISES (ValueError): If there is no such order.
    """
    if order not in ORDERS:
        raise ValueError(Errors.E051.format(order=order))
    return ORDERS[order]


def linearize(tree: "NLTKTree", order: str = "in") -> list[str]:
    """Write a tree as tags.

    tree (nltk.Tree): The tree over N words; a root wrapper such as TOP is dropped.
    order (str): "in", "pre" or "post".
    RETURNS (list[str]): 2N-1 tags.
    RAISES (TypeError): If this is no tree of NLTK.
    RAISES (ValueError): If this is not a tree over words, or there is no such order.

    >>> from nltk import Tree
    >>> linearize(Tree.fromstring("(S (NP (PRP She)) (VP (VBZ sleeps)))"), "in")
    ['l/NP', 'L/S', 'r/VP']
    """
    return get_linearizer(order).linearize(binarize(Parse.from_tree(from_nltk(tree))))


def delinearize(tags: Sequence[str], words: Iterable[tuple[str, str]], order: str = "in") -> "NLTKTree":
    """Turn tags back into a tree: the inverse of `linearize`.

    tags (Sequence[str]): 2N-1 tags.
    words (Iterable[tuple[str, str]]): N words with their part-of-speech tags, as `nltk.Tree.pos` gives them.
    order (str): "in", "pre" or "post".
    RETURNS (nltk.Tree): The tree, wrapped in TOP.
    RAISES (ValueError): If the tags form no tree, or not one of N words, or a word comes without a tag.
    """
    words = list(words)
    if bare := [word for word in words if isinstance(word, str)]:  # of two letters, it would pass for a pair
        raise ValueError(Errors.E056.format(word=bare[0]))
    tree = get_linearizer(order).delinearize(tags)
    parse = unbinarize(tree, [unescape_token(word) for word, _ in words], [unescape_label(pos) for _, pos in words])
    return to_nltk(parse.to_tree())
