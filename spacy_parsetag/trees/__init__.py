"""A `Tree` as files have it, the `Parse` that everything else works on, cleaning, binarization, the border to NLTK."""

from .binary import BinaryTree, binarize, join_chain, split_chain, tree_spans, unbinarize
from .nltk_trees import from_nltk, to_nltk
from .parse import Constituent, Parse
from .tree import ROOT_LABELS, Tree

__all__ = [
    "ROOT_LABELS",
    "BinaryTree",
    "Constituent",
    "Parse",
    "Tree",
    "binarize",
    "from_nltk",
    "join_chain",
    "split_chain",
    "to_nltk",
    "tree_spans",
    "unbinarize",
]
