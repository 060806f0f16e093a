"""Extensions on Span, Token and Doc that show the constituents, under the names that benepar's users know.

`EXTENSIONS` and `METHODS` have them all, and docs/reference/attributes.md shows them in a table.

Probabilities and the best trees are there if the pipe was told to find them (`probs`, `k_best`).

The extensions work on constituents, single words and whole sentences; white space at the edges of a span is ignored. On
other spans they raise a ValueError that names the smallest constituent around. White space alone has no labels,
children or constituents, and an empty parse string. The spans they give are constituents, and `span.label_` is their
label; a unary chain is one span with the label of its top, and `span._.labels` has all of them. (So `doc[i:j]`, which
has no label, does not equal such a span.) A word without a label of its own is a token.

They are getters, computed from `doc.spans["constituents"]`: nothing is stored on the doc. Nodes are kept
for as long as the doc lives; see `GroupCache` for which changes of the group are noticed. `span.as_doc()` drops
`doc.spans`, and with them the answers.
"""

import warnings
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterator
from functools import cache, partial
from itertools import chain
from numbers import Integral
from typing import TYPE_CHECKING, Any, NamedTuple

from spacy.tokens import Doc, Span, Token

from ..errors import Errors, Warnings
from ..trees import Constituent, Parse
from ..trees.nltk_trees import NLTKTree, to_nltk
from ..trees.tree import ROOT, Tree, preorder
from .conversion import doc_to_strings, parse_string
from .groups import SPANS_KEY, GroupCache, get_group, has_parses, predictions_from_doc, with_spans, words_and_tags
from .nodes import get_nodes
from .sentences import map_words

if TYPE_CHECKING:
    from ..search.match import Tregex


def get_labels(span: Span | Token, spans_key: str = SPANS_KEY) -> tuple[str, ...]:
    """Give the labels over just the words of a span, top of the unary chain first; () for a bare word or sentence."""
    node = get_nodes(span.doc, spans_key).find(span)
    return () if node is None else tuple(node.labels)


def get_children(span: Span, spans_key: str = SPANS_KEY) -> Iterator[Span | Token]:
    """Give the constituents right below a span, and the bare words between them as tokens, from left to right."""
    nodes, doc = get_nodes(span.doc, spans_key), span.doc
    node = nodes.find(span)
    return (
        nodes.span(doc, child) if child.labels else doc[nodes.words.tokens[child.start]]
        for child in (node.children if node is not None else ())
    )


def get_constituents(span: Span, spans_key: str = SPANS_KEY) -> Iterator[Span]:
    """Give the constituents over a span and within it, in pre-order; a unary chain is one span."""
    nodes = get_nodes(span.doc, spans_key)
    node = nodes.find(span)
    return nodes.spans(span.doc, node) if node is not None else iter(())


def get_parent(span: Span | Token, spans_key: str = SPANS_KEY) -> Span | None:
    """Find the smallest constituent that contains a span and more than it, or None."""
    nodes = get_nodes(span.doc, spans_key)
    node = nodes.find(span)
    parent = nodes.smallest_around(*nodes.bounds(span)) if node is None else node.parent
    return None if parent is None else nodes.span(span.doc, parent)


def get_tree(span: Span, spans_key: str = SPANS_KEY) -> "NLTKTree":
    """Make the tree over a span; a sentence with several nodes at the top gets a root TOP over them.

    RAISES (ValueError): If the span is white space only, or no constituent, word or sentence of a parsed doc.
    """
    return to_nltk(read_tree(span, spans_key))


def read_tree(span: Span, spans_key: str = SPANS_KEY) -> Tree:
    """Make the tree over a span as a `Tree`; see `get_tree`."""
    rooted = _parse_of(span, spans_key)
    if rooted is None:
        raise ValueError(Errors.E309.format(text=span.text))
    parse, root = rooted
    return parse.to_tree(root)


def get_parse_string(span: Span | Token, spans_key: str = SPANS_KEY) -> str:
    """Write the tree over a span in Penn brackets, on one line; "" for white space."""
    rooted = _parse_of(span, spans_key)
    return "" if rooted is None else parse_string(*rooted)


def _parse_of(span: Span | Token, spans_key: str) -> tuple[Parse, str | None] | None:
    """Read the parse over a span, and the label of the root wrapper if it needs one; None for white space."""
    nodes = get_nodes(span.doc, spans_key)
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


def get_head(span: Span, spans_key: str = SPANS_KEY) -> Token | None:
    """The head word of a span, by the head rules for its language; None for white space."""
    from ..search.heads import rules_of_language, warn_of_language

    doc = span.doc
    warn_of_language(doc.vocab.lang)
    nodes = get_nodes(doc, spans_key)
    node = nodes.find(span)
    rules = rules_of_language(doc.vocab.lang)
    while node is not None and node.children:
        words = [nodes.words.tokens[child.start] for child in node.children]
        tags = words_and_tags(doc, words)[1]
        labels = [child.labels[0] if child.labels else tag for child, tag in zip(node.children, tags, strict=True)]
        node = node.children[rules.head_child(node.labels[-1] if node.labels else ROOT, labels)]
    return None if node is None else doc[nodes.words.tokens[node.start]]


def get_base_nps(doc: Doc, spans_key: str = SPANS_KEY) -> list[Span]:
    """Find the noun phrases of a doc that contain no other noun phrase, except that of a possessor, in order.

    RAISES (ValueError): If the doc has no constituents, or they are no tree.
    """
    from ..search.docs import columns_of_docs

    get_group(doc, spans_key)  # a doc without constituents is not one without noun phrases
    places = columns_of_docs([doc], spans_key)
    starts, ends = places.bounds(_base_np().find(places.columns))
    return [Span(doc, start, end, "NP") for start, end in zip(starts.tolist(), ends.tolist(), strict=True)]


@cache
def _base_np() -> "Tregex":
    from ..search.match import Tregex

    base = "@NP !<< (@NP !<- POS)"
    return Tregex(f"{base} !(<- POS > ({base}))")


def is_constituent(span: Span, spans_key: str = SPANS_KEY) -> bool:
    """Tell whether a span is a constituent, a word or a sentence of a parsed doc: the other extensions answer then."""
    if not has_parses(span.doc, spans_key):
        return False
    nodes = get_nodes(span.doc, spans_key)
    return nodes.bounds(span) in nodes.at


def get_doc_constituents(doc: Doc, spans_key: str = SPANS_KEY) -> Iterator[Span]:
    """Give the constituents of all sentences of a doc, in pre-order; a unary chain is one span."""
    nodes = get_nodes(doc, spans_key)
    return (span for top in nodes.tops for span in nodes.spans(doc, top))


def get_label_probs(span: Span, spans_key: str = SPANS_KEY) -> dict[str, float]:
    """Look up the probability of each label over just the words of a span, whether the tree has it or not.

    RETURNS (dict[str, float]): The labels of the tree, and others that are likely (see `predictions`); {} without any.
    RAISES (ValueError): If the doc has no probabilities.
    """
    probs = _get_probs(span.doc, spans_key)
    return dict(probs.labels.get((probs.before[span.start], probs.before[span.end]), {}))


def get_prob(span: Span, spans_key: str = SPANS_KEY) -> float | None:
    """Look up the probability of a constituent: that of `span.label_`, or of a span without a label the lowest of its
    unary chain; None where that is empty."""
    probs = get_label_probs(span, spans_key)
    if span.label_:
        return probs.get(span.label_, 0.0)
    return min((probs[label] for label in get_labels(span, spans_key) if label in probs), default=None)


def get_expected_f(span: Span, spans_key: str = SPANS_KEY) -> float | None:
    """Look up the expected F, 0 to 1, of the tree of a sentence, or of the sentence that a span lies in.

    RETURNS (float | None): None for a span over several sentences, or white space.
    RAISES (ValueError): If the doc has no probabilities.
    """
    return _sentence_values(span, spans_key).get("expected_f")


def get_log_prob(span: Span, spans_key: str = SPANS_KEY) -> float | None:
    """Look up the natural logarithm of the probability of the tree of a sentence; as `get_expected_f`."""
    return _sentence_values(span, spans_key).get("log_prob")


def _sentence_values(span: Span, spans_key: str) -> dict[str, float]:
    probs = _get_probs(span.doc, spans_key)
    first, end = probs.before[span.start], probs.before[span.end]
    sentence = bisect_right(probs.offsets, first) - 1
    return probs.values[sentence] if first < end and sentence == bisect_left(probs.offsets, end) - 1 else {}


def get_rivals(span: Span, spans_key: str = SPANS_KEY) -> list[tuple[Span, float]]:
    """List likely constituents that are not in the tree and compete with a span, likeliest first.

    They cross the span, have its words and another label, or stand between it and its parent, as (NP the man with the
    telescope) over (PP with the telescope), which the tree may have below the VP.

    RETURNS (list[tuple[Span, float]]): Labelled spans, each with its probability.
    RAISES (ValueError): If the doc has no probabilities.
    """
    nodes = get_nodes(span.doc, spans_key)
    (first, last), tokens = nodes.bounds(span), nodes.words.tokens
    node = nodes.at.get((first, last))
    parent = nodes.smallest_around(first, last) if node is None else node.parent
    low, high = (0, len(tokens) + 1) if parent is None else (parent.start, parent.end)
    probs = _get_probs(span.doc, spans_key)
    sentences = slice(bisect_right(probs.offsets, first) - 1, bisect_left(probs.offsets, last))
    rivals = [
        (Span(span.doc, tokens[start], tokens[end - 1] + 1, label), prob)
        for start, end, label, prob in chain.from_iterable(probs.rivals[sentences])
        if (start < first < end < last or first < start < last < end)
        or (low <= start <= first < last <= end <= high and end - start < high - low)
    ]
    return sorted(rivals, key=lambda rival: -rival[1])


def get_span_prob(doc: Doc, start: int, end: int, label: str | int, spans_key: str = SPANS_KEY) -> float:
    """Look up the probability that some tokens are a constituent with a label.

    start, end (int): The tokens, end exclusive.
    label (str | int): The label, or as in `span.label` its hash.
    RETURNS (float): The probability; 0 for a constituent that is not in the tree and less likely than one in a hundred.
    RAISES (ValueError): If the doc has no probabilities, or no such tokens.
    """
    if not 0 <= start < end <= len(doc):
        raise ValueError(Errors.E312.format(start=start, end=end, n=len(doc)))
    span = Span(doc, start, end, label)
    return get_label_probs(span, spans_key).get(span.label_, 0.0)


class _Probs(NamedTuple):
    """Probabilities of a doc.

    before (list[int]): How many words precede each token.
    labels (dict[tuple[int, int], dict[str, float]]): The probability of each label, by its words: first, end.
    offsets (list[int]): The first word of each sentence.
    rivals (list[list[tuple[int, int, str, float]]]): For each sentence the constituents that are not in the tree.
    values (list[dict[str, float]]): For each sentence `Prediction.values`.
    """

    before: list[int]
    labels: dict[tuple[int, int], dict[str, float]]
    offsets: list[int]
    rivals: list[list[tuple[int, int, str, float]]]
    values: list[dict[str, float]]


_PROBS: GroupCache[_Probs] = GroupCache()


def _get_probs(doc: Doc, spans_key: str) -> _Probs:
    return _PROBS.get(doc, spans_key, partial(_read_probs, doc, spans_key))


def _read_probs(doc: Doc, spans_key: str) -> _Probs:
    before = map_words(doc).before
    probs = _Probs(before, {}, [], [], [])
    for prediction, _ in predictions_from_doc(doc, spans_key):
        if prediction.probs is None:
            say = {"what": "probabilities", "setting": "probs = true", "code": "probs = True"}
            raise ValueError(Errors.E320.format(key=spans_key, **say))
        first = before[prediction.tokens[0]]
        rivals = [(first + start, first + end, label, prob) for start, end, label, prob in prediction.rivals or ()]
        probs.offsets.append(first)
        probs.rivals.append(rivals)
        probs.values.append(prediction.values)
        for start, end, label, prob in rivals:
            probs.labels.setdefault((start, end), {})[label] = prob
        for (start, end, label), prob in zip(prediction.spans, prediction.probs, strict=True):
            probs.labels.setdefault((first + start, first + end), {})[label] = prob
    return probs


def get_parses(doc: Doc, k: int, spans_key: str = SPANS_KEY) -> "list[list[tuple[NLTKTree, float]]]":
    """Read the best trees of each sentence, no two with the same constituents, each with its log-probability.

    k (int): How many trees of each sentence; no more than the pipe was told to keep, and fewer where there are fewer.
    RAISES (ValueError): If k is no number of trees, or the pipe was not told to keep k trees.
    """
    if not isinstance(k, Integral) or k < 1:
        raise ValueError(Errors.E322.format(k=k))
    predictions = predictions_from_doc(doc, spans_key)
    are_kept = all(prediction.k_best is not None for prediction, _ in predictions)
    n_kept = doc.spans[spans_key].attrs.get("k", 0) if are_kept else 0
    if k > n_kept:
        setting = f"k_best = {k}"
        raise ValueError(Errors.E320.format(key=spans_key, what=f"{k} best trees", setting=setting, code=setting))
    return [
        [(to_nltk(with_spans(parse, spans).to_tree(ROOT)), log_prob) for log_prob, spans in (best.k_best or ())[:k]]
        for best, parse in predictions
    ]


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
        "head": get_head,
        "rivals": get_rivals,
        "expected_f": get_expected_f,
        "log_prob": get_log_prob,
    },
    Token: {"labels": get_labels, "parent": get_parent, "parse_string": get_parse_string},
    Doc: {"constituents": get_doc_constituents, "parse_strings": doc_to_strings, "base_nps": get_base_nps},
}
METHODS: dict[str, Callable[..., Any]] = {"parses": get_parses, "span_prob": get_span_prob}  # of docs


def register_extensions(spans_key: str = SPANS_KEY, *, force: bool = False) -> None:
    """Register the extensions. Those that exist stay, with a warning if another package registered them.

    This is a call, not something an import does: benepar fails to import where its extensions exist.

    spans_key (str): Key of the group in `doc.spans` that they read.
    force (bool): Replace extensions of the same names, for instance benepar's, or ours for another key.
    """
    kinds = [("getter", owner, getters) for owner, getters in EXTENSIONS.items()] + [("method", Doc, METHODS)]
    for kind, owner, functions in kinds:
        for name, function in functions.items():
            if force or not owner.has_extension(name):
                # A partial, not a closure: worker processes of `nlp.pipe` receive the extensions pickled.
                owner.set_extension(name, **{kind: partial(function, spans_key=spans_key)}, force=force)
                continue
            _, method, getter, _ = owner.get_extension(name)
            if getattr(method or getter, "func", None) is not function:
                warnings.warn(Warnings.W300.format(owner=owner.__name__, name=name), stacklevel=2)
