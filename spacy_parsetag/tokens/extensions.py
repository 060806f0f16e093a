"""Extensions on Span, Token and Doc that show the constituents, under the names that benepar's users know.

    span._.labels           labels over just these words, top of the chain first: ("S", "VP"); () for a bare word
    span._.children         the constituents right below, and bare words, as spans from left to right
    span._.parent           the smallest constituent that contains the span and more; None at the top
    span._.constituents     the span and all constituents and words within, in pre-order
    span._.tree             the same as an nltk.Tree, and
    span._.parse_string     in Penn brackets
    span._.is_constituent   whether all these can be asked for
    span._.label_probs      how probable each of its labels is: {"S": 0.98, "VP": 0.95}; {} for a bare word
    span._.prob             the smallest of these; None for a bare word
    token._.labels, token._.parent, token._.parse_string    those of the span of this one token
    doc._.constituents, doc._.parse_strings                 those of its sentences, one after another
    doc._.parses(k)                                         the k best trees of each sentence, with log-probabilities

Probabilities and the best trees are there if the pipe was told to find them (`probs`, `k_best`).

They answer for constituents, single words and whole sentences; white space at the edges of a span does not count. For
other spans they raise an error that names the smallest constituent around. White space alone has no labels, children
or constituents, and an empty parse string. The spans they give are plain slices of the doc, so they compare equal to
`doc[i:j]`; a unary chain is one of them, with several labels.

They are getters, computed from `doc.spans["constituents"]`: nothing is stored on the doc. What is read of a doc is
kept for as long as it lives; see `GroupCache` for which changes of the group are noticed. `span.as_doc()` drops
`doc.spans`, and with them the answers.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Any

from spacy.tokens import Doc, Span, Token

from ..errors import Errors, Warnings
from ..trees.nltk_trees import to_nltk
from ..trees.parse import Constituent, Parse
from ..trees.tree import Tree, preorder
from .convert import ROOT, doc_to_strings, parse_string
from .sentences import map_words
from .spans import SPANS_KEY, GroupCache, has_parses, parses_from_doc, words_and_tags

if TYPE_CHECKING:
    import nltk


@dataclass(slots=True, eq=False)
class Node:
    """A constituent, a bare word, or the top of a sentence that has several nodes there.

    A unary chain is one node with several labels; a bare word, and such a top, has none. *Kim sings loudly* with
    S[0:3] NP[0:1] VP[1:3] has the nodes ("S",) 0:3, ("NP",) 0:1, ("VP",) 1:3, () 1:2, () 2:3.

    start (int): Its first word, among the words of the doc.
    end (int): One past its last word.
    parent (Node | None): The smallest constituent that contains it and more.
    labels (list[str]): Its labels, top first.
    children (list[Node]): The nodes right below, from left to right.
    """

    start: int
    end: int
    parent: Node | None
    labels: list[str] = field(default_factory=list)
    children: list[Node] = field(default_factory=list)


class DocNodes:
    """The constituents of a doc as linked nodes.

    doc (Doc): The doc, which must have constituents. It is not kept.
    spans_key (str): Key of the group in `doc.spans`.
    RAISES (ValueError): If they do not nest (see `parses_from_doc`).
    """

    def __init__(self, doc: Doc, spans_key: str) -> None:
        self.words = map_words(doc)
        self.tops: list[Node] = []  # one a sentence
        self.at: dict[tuple[int, int], Node] = {}  # by their bounds
        offset = 0
        for _, parse in parses_from_doc(doc, spans_key):
            n = len(parse)
            # Sorted by their bounds into pre-order; of equal ones the constituents, top first, stay in this order.
            rows: list[tuple[int, int, str | None]] = [
                (0, n, None),
                *parse.spans,
                *((i, i + 1, None) for i in range(n)),
            ]
            rows.sort(key=lambda row: (row[0], -row[1]))
            stack: list[Node] = []  # the open nodes
            for start, end, label in rows:
                bounds = (offset + start, offset + end)
                while stack and stack[-1].end <= bounds[0]:
                    stack.pop()
                if not stack or bounds != (stack[-1].start, stack[-1].end):
                    node = self.at[bounds] = Node(*bounds, stack[-1] if stack and stack[-1].labels else None)
                    (stack[-1].children if stack else self.tops).append(node)
                    stack.append(node)
                if label is not None:
                    stack[-1].labels.append(label)
            offset += n

    def bounds(self, span: Span | Token) -> tuple[int, int]:
        """The words of a span or token: first, and one past the last."""
        start, end = (span.i, span.i + 1) if isinstance(span, Token) else (span.start, span.end)
        return self.words.before[start], self.words.before[end]

    def span(self, doc: Doc, node: Node) -> Span:
        """The slice of the doc over a node."""
        return doc[self.words.tokens[node.start] : self.words.tokens[node.end - 1] + 1]

    def find(self, span: Span | Token) -> Node | None:
        """The node over a span; None for white space.

        RAISES (ValueError): If the span is not a constituent, a word or a sentence.
        """
        start, end = self.bounds(span)
        node = self.at.get((start, end))
        if node is None and start < end and isinstance(span, Span):  # each word has a node
            around = self.smallest_around(start, end)
            hint = "No constituent contains it."
            if around is not None:
                text = self.span(span.doc, around).text
                hint = f"The smallest constituent around it is {text!r} ({', '.join(around.labels)})."
            raise ValueError(Errors.E307.format(text=span.text, start=span.start, end=span.end, hint=hint))
        return node

    def smallest_around(self, start: int, end: int) -> Node | None:
        """The smallest constituent with these words and more; with start == end, one with words on both sides."""
        node = self.at.get((start, start + 1))
        while node is not None and (not node.labels or node.end < end or (start == end and node.start == start)):
            node = node.parent
        return node


_CACHE: GroupCache[DocNodes] = GroupCache()


def _get_nodes(doc: Doc, spans_key: str) -> DocNodes:
    return _CACHE.get(doc, spans_key, lambda: DocNodes(doc, spans_key))


def get_labels(span: Span | Token, spans_key: str = SPANS_KEY) -> tuple[str, ...]:
    """The labels over just the words of a span, top of the unary chain first; () for a bare word or sentence."""
    node = _get_nodes(span.doc, spans_key).find(span)
    return () if node is None else tuple(node.labels)


def get_children(span: Span, spans_key: str = SPANS_KEY) -> Iterator[Span]:
    """The constituents right below a span and the bare words between them, from left to right."""
    nodes = _get_nodes(span.doc, spans_key)
    node = nodes.find(span)
    return (nodes.span(span.doc, child) for child in (node.children if node is not None else ()))


def get_constituents(span: Span, spans_key: str = SPANS_KEY) -> Iterator[Span]:
    """A span, and all constituents and words within it, in pre-order; nothing twice."""
    nodes = _get_nodes(span.doc, spans_key)
    node = nodes.find(span)
    return (nodes.span(span.doc, below) for below in (preorder(node) if node is not None else ()))


def get_parent(span: Span | Token, spans_key: str = SPANS_KEY) -> Span | None:
    """The smallest constituent that contains a span and more than it, or None."""
    nodes = _get_nodes(span.doc, spans_key)
    node = nodes.find(span)
    parent = nodes.smallest_around(*nodes.bounds(span)) if node is None else node.parent
    return None if parent is None else nodes.span(span.doc, parent)


def get_tree(span: Span, spans_key: str = SPANS_KEY) -> nltk.Tree:
    """The tree over a span; a sentence with several nodes at the top gets a root TOP over them."""
    return to_nltk(read_tree(span, spans_key))


def read_tree(span: Span, spans_key: str = SPANS_KEY) -> Tree:
    """The same, as a tree of this package."""
    found = _read_parse(span, spans_key)
    if found is None:
        raise ValueError(Errors.E309.format(text=span.text))
    return found[0].to_tree(found[1])


def get_parse_string(span: Span | Token, spans_key: str = SPANS_KEY) -> str:
    """The tree over a span in Penn brackets, on one line; "" for white space."""
    found = _read_parse(span, spans_key)
    return "" if found is None else parse_string(*found)


def _read_parse(span: Span | Token, spans_key: str) -> tuple[Parse, str | None] | None:
    """The parse over a span, and the label of the root wrapper if it needs one; None for white space."""
    nodes = _get_nodes(span.doc, spans_key)
    top = nodes.find(span)
    if top is None:
        return None
    spans = tuple(
        Constituent(node.start - top.start, node.end - top.start, label)
        for node in preorder(top)
        for label in node.labels
    )
    parse = Parse(*words_and_tags(span.doc, nodes.words.tokens[top.start : top.end]), spans)
    return parse, None if top.labels or len(parse) == 1 else ROOT


def is_constituent(span: Span, spans_key: str = SPANS_KEY) -> bool:
    """Whether a span is a constituent, a word or a sentence of a parsed doc, so that the other extensions answer."""
    if not has_parses(span.doc, spans_key):
        return False
    nodes = _get_nodes(span.doc, spans_key)
    return nodes.bounds(span) in nodes.at


def get_doc_constituents(doc: Doc, spans_key: str = SPANS_KEY) -> Iterator[Span]:
    """The constituents and words of all sentences of a doc, in pre-order."""
    nodes = _get_nodes(doc, spans_key)
    return (nodes.span(doc, node) for top in nodes.tops for node in preorder(top))


def get_label_probs(span: Span, spans_key: str = SPANS_KEY) -> dict[str, float]:
    """The probability of each label over just the words of a span; {} for a bare word or sentence.

    RAISES (ValueError): If the doc has no probabilities, or the span is not a constituent, a word or a sentence.
    """
    doc = span.doc
    node = _get_nodes(doc, spans_key).find(span)
    probs = _PROBS.get(doc, spans_key, lambda: _read_probs(doc, spans_key))
    return {} if node is None else dict(probs.get((node.start, node.end), {}))


def get_prob(span: Span, spans_key: str = SPANS_KEY) -> float | None:
    """The probability of the constituent over a span: of its least probable label, if it has several; None without."""
    return min(get_label_probs(span, spans_key).values(), default=None)


_PROBS: GroupCache[dict[tuple[int, int], dict[str, float]]] = GroupCache()


def _read_probs(doc: Doc, spans_key: str) -> dict[tuple[int, int], dict[str, float]]:
    """The probabilities of labels by their words, first and one past the last."""
    group = doc.spans[spans_key]
    probs = group.attrs.get("probs")
    if probs is None or len(probs) != len(group):
        raise ValueError(Errors.E320.format(key=spans_key, what="probabilities", setting="probs = true"))
    before = map_words(doc).before
    found: dict[tuple[int, int], dict[str, float]] = {}
    for span, prob in zip(group, probs, strict=True):
        found.setdefault((before[span.start], before[span.end]), {})[span.label_] = prob
    return found


def get_parses(doc: Doc, k: int, spans_key: str = SPANS_KEY) -> list[list[tuple[nltk.Tree, float]]]:
    """The best trees of each sentence, best first, no two with the same constituents, each with its log-probability.

    doc (Doc): The doc.
    k (int): How many trees of each sentence; no more than the pipe was told to keep, and fewer where there are fewer.
    spans_key (str): Key of the group in `doc.spans`.
    RETURNS (list[list[tuple[nltk.Tree, float]]]): For each sentence its trees.
    RAISES (ValueError): If the pipe was not told to keep so many.
    """
    sentences = parses_from_doc(doc, spans_key)
    attrs = doc.spans[spans_key].attrs
    kept = attrs.get("k_best")
    if k < 1 or kept is None or len(kept) != len(sentences) or k > attrs.get("k", 0):
        raise ValueError(Errors.E320.format(key=spans_key, what=f"{k} best trees", setting=f"k_best = {max(k, 1)}"))
    return [
        [(to_nltk(with_spans(parse, spans).to_tree(ROOT)), log_prob) for log_prob, spans in trees[:k]]
        for (_, parse), trees in zip(sentences, kept, strict=True)
    ]


def with_spans(parse: Parse, spans: Iterable[Sequence[Any]]) -> Parse:
    """The same words with other constituents, as attrs have them: (start, end, label)."""
    return Parse(parse.words, parse.pos, tuple(Constituent(*span) for span in spans))


EXTENSIONS: dict[type[Doc | Span | Token], dict[str, Callable[..., Any]]] = {
    Span: {
        "labels": get_labels,
        "children": get_children,
        "parent": get_parent,
        "constituents": get_constituents,
        "tree": get_tree,
        "parse_string": get_parse_string,
        "is_constituent": is_constituent,
        "label_probs": get_label_probs,
        "prob": get_prob,
    },
    Token: {"labels": get_labels, "parent": get_parent, "parse_string": get_parse_string},
    Doc: {"constituents": get_doc_constituents, "parse_strings": doc_to_strings},
}


METHODS: dict[str, Callable[..., Any]] = {"parses": get_parses}  # of docs


def register_extensions(spans_key: str = SPANS_KEY, *, force: bool = False) -> None:
    """Register the extensions. Those that exist stay, with a warning if another package registered them.

    This is a call, not something an import does: benepar fails to import where its extensions exist.

    spans_key (str): Key of the group in `doc.spans` that they read.
    force (bool): Replace extensions of the same names, for instance benepar's, or ours for another key.
    """
    kinds = [("getter", owner, found) for owner, found in EXTENSIONS.items()] + [("method", Doc, METHODS)]
    for kind, owner, functions in kinds:
        for name, function in functions.items():
            if force or not owner.has_extension(name):
                # A partial, not a closure: worker processes of `nlp.pipe` receive the extensions pickled.
                owner.set_extension(name, **{kind: partial(function, spans_key=spans_key)}, force=force)
            elif getattr(owner.get_extension(name)[1 if kind == "method" else 2], "func", None) is not function:
                warnings.warn(Warnings.W300.format(owner=owner.__name__, name=name), stacklevel=2)
