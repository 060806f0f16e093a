"""Trees: bracket files, cleaning, binarization, and the `Parse` that everything else works on."""

from .binarize import BinaryTree, binarize, join_chain, split_chain, tree_spans, unbinarize
from .parse import ROOT_LABELS, Constituent, Parse, sort_preorder

__all__ = [
    "ROOT_LABELS",
    "BinaryTree",
    "Constituent",
    "Parse",
    "binarize",
    "join_chain",
    "sort_preorder",
    "split_chain",
    "tree_spans",
    "unbinarize",
]
