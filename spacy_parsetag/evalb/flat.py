"""Flat trees in place of sentences that have no usable parse, so that no scorer can leave them out or count them right.

    gold    (TOP (S (NP (PRP She)) (VP (VBZ sleeps))))
    test    (TOP)                                          becomes    (TOP (PRP She) (VBZ sleeps))

A flat tree has no bracket but the root: it misses every gold bracket and adds none. See docs/scoring.md.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import zip_longest
from typing import TYPE_CHECKING

from ..errors import Errors
from ..trees.parse import ROOT_LABELS, Parse

if TYPE_CHECKING:
    from nltk import Tree


def flat_tree(gold: Tree) -> Tree:
    """The gold tree's words and part-of-speech tags under its root, without a bracket.

    gold (nltk.Tree): The tree.
    RETURNS (nltk.Tree): The flat tree.
    RAISES (ValueError): If it is not a tree over words.
    """
    from nltk import Tree

    parse = Parse.from_tree(gold)
    label = gold.label() if gold.label() in ROOT_LABELS and not isinstance(gold[0], str) else "TOP"
    return Tree(label, [Tree(tag, [word]) for tag, word in zip(parse.tags, parse.words, strict=True)])


def fill_unparsed(gold: Iterable[Tree], test: Iterable[Tree | None]) -> Iterator[tuple[Tree, bool]]:
    """Put a flat tree wherever there is no tree over the gold sentence's words.

    gold (Iterable[nltk.Tree]): The gold trees.
    test (Iterable[Optional[nltk.Tree]]): The test trees in the same order; None where there is none.
    YIELDS (Tuple[nltk.Tree, bool]): The test tree or a flat one, and whether it is a flat one.
    RAISES (ValueError): If the numbers of trees differ, or a gold tree is not one over words.
    """
    from nltk import Tree

    end = object()
    for number, (ours, theirs) in enumerate(zip_longest(gold, test, fillvalue=end), start=1):
        if ours is end or theirs is end:
            names = ("gold", "test") if ours is end else ("test", "gold")
            raise ValueError(Errors.E203.format(shorter=names[0], longer=names[1], n=number - 1))
        if not isinstance(ours, Tree):
            raise ValueError(Errors.E391.format(number=number))
        if isinstance(theirs, Tree) and _words(theirs) == Parse.from_tree(ours).words:
            yield theirs, False
        else:
            yield flat_tree(ours), True


def _words(tree: Tree) -> tuple[str, ...] | None:
    """The words of a tree, None if it is not one over words."""
    try:
        return Parse.from_tree(tree).words
    except ValueError:
        return None
