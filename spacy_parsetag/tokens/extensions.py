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

They are getters, computed from `doc.spans["constituents"]` (see `index` for the cost): nothing is stored on the doc.
`span.as_doc()` drops `doc.spans`, and with them the answers.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from functools import partial
from typing import TYPE_CHECKING, Any

from spacy.tokens import Doc, Span, Token

from ..errors import Errors, Warnings
from ..treebanks.write import format_tree
from ..trees.parse import Constituent, Parse
from .group import SPANS_KEY
from .index import Bounds, ConstituentIndex, ask, get_index
from .spans import has_parses, has_sentences, words_and_tags
from .strings import ROOT, doc_to_strings, tree_from_parse

if TYPE_CHECKING:
    from nltk import Tree


def get_labels(span: Span, spans_key: str = SPANS_KEY) -> tuple[str, ...]:
    """The labels over just the words of a span, top of the unary chain first; () for a bare word or sentence."""
    bounds = _locate(span, spans_key)
    index = get_index(span.doc, spans_key)
    node = index.node_at.get(bounds)
    return () if node is None else index.labels(node)


def get_children(span: Span, spans_key: str = SPANS_KEY) -> Iterator[Span]:
    """The constituents right below a span and the bare words between them, from left to right."""
    start, end = _locate(span, spans_key)
    return _spans(span.doc, spans_key, ask(span.doc, spans_key, lambda index: index.children(start, end)))


def get_constituents(span: Span, spans_key: str = SPANS_KEY) -> Iterator[Span]:
    """A span, and all constituents and words within it, in pre-order; nothing twice."""
    start, end = _locate(span, spans_key)
    return _spans(span.doc, spans_key, ask(span.doc, spans_key, lambda index: index.constituents(start, end)))


def get_parent(span: Span, spans_key: str = SPANS_KEY) -> Span | None:
    """The smallest constituent that contains a span and more than it, or None."""
    start, end = _locate(span, spans_key)

    def find_parent(index: ConstituentIndex) -> tuple[list[Bounds], list[int]]:
        node = index.node_at.get((start, end))
        above = index.smallest_around(start, end) if node is None else index.parent[node]
        return ([], []) if above == -1 else ([(index.start[above], index.end[above])], [above])

    return next(_spans(span.doc, spans_key, ask(span.doc, spans_key, find_parent)), None)


def get_tree(span: Span, spans_key: str = SPANS_KEY) -> Tree:
    """The tree over a span; a sentence with several nodes at the top gets a root TOP over them."""
    start, end = _locate(span, spans_key)
    if start == end:
        raise ValueError(Errors.E309.format(text=span.text))

    def read_parse(index: ConstituentIndex) -> tuple[Parse, list[int]]:
        nodes = index.constituents(start, end)[1]
        spans = tuple(
            Constituent(index.start[node] - start, index.end[node] - start, label)
            for node in nodes
            for label in index.labels(node)
        )
        return Parse(*words_and_tags(span.doc, index.words.tokens[start:end]), spans), nodes

    parse = ask(span.doc, spans_key, read_parse)
    one_top = len(parse.words) == 1 or (parse.spans and parse.spans[0][:2] == (0, len(parse.words)))
    return tree_from_parse(parse, None if one_top else ROOT)


def get_parse_string(span: Span, spans_key: str = SPANS_KEY) -> str:
    """The tree over a span in Penn brackets, on one line; "" for white space."""
    start, end = _locate(span, spans_key)
    return format_tree(get_tree(span, spans_key)) if start < end else ""


def is_constituent(span: Span, spans_key: str = SPANS_KEY) -> bool:
    """Whether a span is a constituent, a word or a sentence of a parsed doc, so that the other extensions answer."""
    if not has_parses(span.doc, spans_key):
        return False
    bounds = _find_bounds(span, spans_key)
    return bounds is not None and bounds[0] < bounds[1]


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
    sentences = list(doc.sents) if has_sentences(doc) else [doc[:]]
    return (constituent for sentence in sentences for constituent in get_constituents(sentence, spans_key))


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


def _locate(span: Span, spans_key: str) -> Bounds:
    """The words of a constituent, a word or a sentence; equal bounds for white space. An error for other spans."""
    bounds = _find_bounds(span, spans_key)
    if bounds is None:
        index = get_index(span.doc, spans_key)
        before = index.words.before
        around = index.smallest_around(before[span.start], before[span.end])
        hint = "No constituent contains it."
        if around != -1:
            bounds = (index.start[around], index.end[around])
            smallest = next(_spans(span.doc, spans_key, [bounds]))
            hint = f"The smallest constituent around it is {smallest.text!r} ({', '.join(index.labels(around))})."
        raise ValueError(Errors.E307.format(text=span.text, start=span.start, end=span.end, hint=hint))
    return bounds


def _find_bounds(span: Span, spans_key: str) -> Bounds | None:
    """As `_locate`, with None for other spans."""

    def find(index: ConstituentIndex) -> tuple[Bounds | None, list[int]]:
        start, end = index.words.before[span.start], index.words.before[span.end]
        if start == end:
            return (start, end), []
        node = index.node_at.get((start, end))
        if node is not None:
            return (start, end), [node]
        around = index.innermost[start]
        found = end - start == 1 or _is_sentence(span, index, start, end)
        return (start, end) if found else None, [around] if around != -1 else []

    return ask(span.doc, spans_key, find)


def _is_sentence(span: Span, index: ConstituentIndex, start: int, end: int) -> bool:
    """Whether these words are all those of a sentence."""
    before, tokens = index.words
    if not has_sentences(span.doc):
        return (start, end) == (0, len(tokens))
    sentence = span.doc[tokens[start]].sent
    return (before[sentence.start], before[sentence.end]) == (start, end)


def _spans(doc: Doc, spans_key: str, bounds: list[Bounds]) -> Iterator[Span]:
    """Slices of the doc over words."""
    tokens = get_index(doc, spans_key).words.tokens
    return (doc[tokens[start] : tokens[end - 1] + 1] for start, end in bounds)
