"""Extensions on Span, Token and Doc that show the constituents, under the names that benepar's users know.

    span._.labels           labels over just these words, top of the chain first: ("S", "VP"); () for a bare word
    span._.children         the constituents right below, and bare words, as spans from left to right
    span._.parent           the smallest constituent that contains the span and more; None at the top
    span._.constituents     the span and all constituents and words within, in pre-order
    span._.tree             the same as an nltk.Tree, and
    span._.parse_string     in Penn brackets
    span._.is_constituent   whether all these can be asked for
    token._.labels, token._.parent, token._.parse_string    those of the span of this one token
    doc._.constituents, doc._.parse_strings                 those of its sentences, one after another

They answer for constituents, single words and whole sentences; white space at the edges of a span does not count. For
other spans they raise an error that names the smallest constituent around. White space alone has no labels, children
or constituents, and an empty parse string. The spans they give are plain slices of the doc, so they compare equal to
`doc[i:j]`; a unary chain is one of them, with several labels.

They are getters, computed from `doc.spans["constituents"]`: nothing is stored on the doc. See `nodes` for what they
cost and for changes of the group that they do not notice. `span.as_doc()` drops `doc.spans`, and with them the answers.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from functools import partial
from typing import TYPE_CHECKING, Any

from spacy.tokens import Doc, Span, Token

from ..errors import Errors, Warnings
from ..trees.nltk_trees import to_nltk
from ..trees.parse import Constituent, Parse
from .group import SPANS_KEY
from .nodes import get_nodes
from .spans import has_parses, words_and_tags
from .strings import ROOT, doc_to_strings, parse_string

if TYPE_CHECKING:
    from nltk import Tree


def get_labels(span: Span, spans_key: str = SPANS_KEY) -> tuple[str, ...]:
    """The labels over just the words of a span, top of the unary chain first; () for a bare word or sentence."""
    node = get_nodes(span.doc, spans_key).find(span)
    return () if node is None else tuple(node.labels)


def get_children(span: Span, spans_key: str = SPANS_KEY) -> Iterator[Span]:
    """The constituents right below a span and the bare words between them, from left to right."""
    nodes = get_nodes(span.doc, spans_key)
    node = nodes.find(span)
    return (nodes.span(span.doc, child) for child in (node.children if node is not None else ()))


def get_constituents(span: Span, spans_key: str = SPANS_KEY) -> Iterator[Span]:
    """A span, and all constituents and words within it, in pre-order; nothing twice."""
    nodes = get_nodes(span.doc, spans_key)
    node = nodes.find(span)
    return (nodes.span(span.doc, below) for below in (node.subtree() if node is not None else ()))


def get_parent(span: Span, spans_key: str = SPANS_KEY) -> Span | None:
    """The smallest constituent that contains a span and more than it, or None."""
    nodes = get_nodes(span.doc, spans_key)
    node = nodes.find(span)
    parent = nodes.smallest_around(*nodes.bounds(span)) if node is None else node.parent
    return None if parent is None else nodes.span(span.doc, parent)


def get_tree(span: Span, spans_key: str = SPANS_KEY) -> Tree:
    """The tree over a span; a sentence with several nodes at the top gets a root TOP over them."""
    found = _read_parse(span, spans_key)
    if found is None:
        raise ValueError(Errors.E309.format(text=span.text))
    return to_nltk(found[0].to_tree(found[1]))


def get_parse_string(span: Span, spans_key: str = SPANS_KEY) -> str:
    """The tree over a span in Penn brackets, on one line; "" for white space."""
    found = _read_parse(span, spans_key)
    return "" if found is None else parse_string(*found)


def _read_parse(span: Span, spans_key: str) -> tuple[Parse, str | None] | None:
    """The parse over a span, and the label of the root wrapper if it needs one; None for white space."""
    nodes = get_nodes(span.doc, spans_key)
    top = nodes.find(span)
    if top is None:
        return None
    spans = tuple(
        Constituent(node.start - top.start, node.end - top.start, label)
        for node in top.subtree()
        for label in node.labels
    )
    parse = Parse(*words_and_tags(span.doc, nodes.words.tokens[top.start : top.end]), spans)
    return parse, None if top.labels or len(parse) == 1 else ROOT


def is_constituent(span: Span, spans_key: str = SPANS_KEY) -> bool:
    """Whether a span is a constituent, a word or a sentence of a parsed doc, so that the other extensions answer."""
    if not has_parses(span.doc, spans_key):
        return False
    nodes = get_nodes(span.doc, spans_key)
    return nodes.bounds(span) in nodes.at


def get_token_labels(token: Token, spans_key: str = SPANS_KEY) -> tuple[str, ...]:
    """The labels over just this token."""
    return get_labels(_span_of(token), spans_key)


def get_token_parent(token: Token, spans_key: str = SPANS_KEY) -> Span | None:
    """The smallest constituent that contains this token and more than it, or None."""
    return get_parent(_span_of(token), spans_key)


def get_token_parse_string(token: Token, spans_key: str = SPANS_KEY) -> str:
    """The tree over just this token in Penn brackets."""
    return get_parse_string(_span_of(token), spans_key)


def get_doc_constituents(doc: Doc, spans_key: str = SPANS_KEY) -> Iterator[Span]:
    """The constituents and words of all sentences of a doc, in pre-order."""
    nodes = get_nodes(doc, spans_key)
    return (nodes.span(doc, node) for top in nodes.tops for node in top.subtree())


EXTENSIONS: dict[type[Doc | Span | Token], dict[str, Callable[..., Any]]] = {
    Span: {
        "labels": get_labels,
        "children": get_children,
        "parent": get_parent,
        "constituents": get_constituents,
        "tree": get_tree,
        "parse_string": get_parse_string,
        "is_constituent": is_constituent,
    },
    Token: {
        "labels": get_token_labels,
        "parent": get_token_parent,
        "parse_string": get_token_parse_string,
    },
    Doc: {
        "constituents": get_doc_constituents,
        "parse_strings": doc_to_strings,
    },
}


def register_extensions(spans_key: str = SPANS_KEY, *, force: bool = False) -> None:
    """Register the extensions. Those that exist stay, with a warning if another package registered them.

    This is a call, not something an import does: benepar fails to import where its extensions exist.

    spans_key (str): Key of the group in `doc.spans` that they read.
    force (bool): Replace extensions of the same names, for instance benepar's, or ours for another key.
    """
    for owner, getters in EXTENSIONS.items():
        for name, getter in getters.items():
            if force or not owner.has_extension(name):
                # A partial, not a closure: worker processes of `nlp.pipe` receive the extensions pickled.
                owner.set_extension(name, getter=partial(getter, spans_key=spans_key), force=force)
            elif getattr(owner.get_extension(name)[2], "func", None) is not getter:
                warnings.warn(Warnings.W300.format(owner=owner.__name__, name=name), stacklevel=2)


def _span_of(token: Token) -> Span:
    return token.doc[token.i : token.i + 1]
