"""Docs become trees and Penn brackets. The root wrapper comes back, words and labels are escaped."""

from __future__ import annotations

from typing import TYPE_CHECKING

from spacy.tokens import Doc

from ..treebanks.escape import escape_label, escape_token
from ..treebanks.write import format_tree
from ..trees.parse import Constituent, Parse
from .group import SPANS_KEY
from .spans import parses_from_doc

if TYPE_CHECKING:
    from nltk import Tree

ROOT = "TOP"


def tree_from_parse(parse: Parse, root: str | None = ROOT) -> Tree:
    """Make the tree of a parse whose words are text; the inverse of `parse_from_tree`.

    parse (Parse): The parse.
    root (Optional[str]): Label of the wrapper. None leaves it out, where a single node is at the top.
    RETURNS (nltk.Tree): The tree, with words and labels as in a bracket file; "(" has become "-LRB-".
    RAISES (ValueError): If spans cross or lie outside the sentence, or root is None over several nodes.
    """
    return Parse(
        tuple(map(escape_token, parse.words)),
        tuple(map(escape_label, parse.tags)),
        tuple(Constituent(start, end, escape_label(label)) for start, end, label in parse.spans),
    ).to_tree(root)


def parse_string(parse: Parse, root: str | None = ROOT) -> str:
    """Write a parse whose words are text in Penn brackets, on one line. See `tree_from_parse`."""
    return format_tree(tree_from_parse(parse, root))


def doc_to_trees(doc: Doc, spans_key: str = SPANS_KEY, *, root: str = ROOT) -> list[Tree]:
    """Make a tree of each sentence of a doc.

    doc (Doc): The doc.
    spans_key (str): Key of the group in `doc.spans`.
    root (str): Label of the wrapper.
    RETURNS (List[nltk.Tree]): The trees. Part-of-speech nodes are `token.tag_`, else `token.pos_`, else "X".
    RAISES (ValueError): If the doc has no constituents, or they are no trees (see `parses_from_doc`).
    """
    return [tree_from_parse(sentence.parse, root) for sentence in parses_from_doc(doc, spans_key)]


def doc_to_strings(doc: Doc, spans_key: str = SPANS_KEY, *, root: str = ROOT) -> list[str]:
    """Write each sentence of a doc in Penn brackets, as one line of a bracket file. See `doc_to_trees`."""
    return [format_tree(tree) for tree in doc_to_trees(doc, spans_key, root=root)]
