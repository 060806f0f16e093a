"""Docs become trees and Penn brackets. The root wrapper comes back, words and labels are escaped."""

from __future__ import annotations

from typing import TYPE_CHECKING

from spacy.tokens import Doc

from ..treebanks.write import format_tree
from ..trees.nltk_trees import to_nltk
from ..trees.parse import Parse
from .group import SPANS_KEY
from .spans import parses_from_doc

if TYPE_CHECKING:
    import nltk

ROOT = "TOP"


def parse_string(parse: Parse, root: str | None = ROOT) -> str:
    """Write a parse in Penn brackets, on one line.

    parse (Parse): The parse.
    root (str | None): Label of the wrapper. None leaves it out, where a single node is at the top.
    RETURNS (str): The brackets; "(" has become "-LRB-".
    RAISES (ValueError): If spans cross or lie outside the sentence, or root is None over several nodes.
    """
    return format_tree(parse.to_tree(root))


def doc_to_trees(doc: Doc, spans_key: str = SPANS_KEY, *, root: str = ROOT) -> list[nltk.Tree]:
    """Make a tree of each sentence of a doc.

    doc (Doc): The doc.
    spans_key (str): Key of the group in `doc.spans`.
    root (str): Label of the wrapper.
    RETURNS (list[nltk.Tree]): The trees. Part-of-speech nodes are `token.tag_`, else `token.pos_`, else "X".
    RAISES (ValueError): If the doc has no constituents, or they are not trees (see `parses_from_doc`).
    """
    return [to_nltk(sentence.parse.to_tree(root)) for sentence in parses_from_doc(doc, spans_key)]


def doc_to_strings(doc: Doc, spans_key: str = SPANS_KEY, *, root: str = ROOT) -> list[str]:
    """Write each sentence of a doc in Penn brackets, as one line of a bracket file. See `doc_to_trees`."""
    return [parse_string(sentence.parse, root) for sentence in parses_from_doc(doc, spans_key)]
