"""The learner that scores spans beside tags.

In in-order a leaf's tag belongs to its word, and an internal node's tag to the gap between two words at which the node
splits. Such a tag sees one gap, a constituent has two ends. So here a gap's score says only that a left or a right
child splits there, and what the node is called is scored by both ends of its span: the label scores of the span from
boundary i to boundary j come from the difference of the vectors of these boundaries (Wang and Chang, 2016; Stern et
al., 2017; Kitaev and Klein, 2018). A boundary is half the vector of the word before it and half that of the word after.

    words         She     enjoys     reading     papers        leaf scores      l/NP  l  l  r/NP
    boundaries  0      1          2           3         4      gap scores       L     R  R
                                                               spans            (0,4) S  (1,4) VP  (2,4) S+VP

The score of a tree is the sum of its parts. The best one and the sum over all come from a chart (see `SpanScores`).
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import accumulate, pairwise
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from spacy.tokens import Doc
from thinc.api import Dropout, Linear, Model, Ops, chain, with_array
from thinc.types import Floats2d

from ..decode import ExactDecoder, TagScores
from ..decode.nodes import labelled_nodes
from ..errors import Errors
from ..linearize import ORDERS
from ..linearize.tags import TagSet, make_tag_set
from ..tokens.sentences import sentence_words
from .heads import DocScores
from .resize import RESIZE, resize_rows
from .scorer import Hidden, scorer
from .sentences import split
from .spans import DocSpans

SequenceModel = Model[list[Floats2d], list[Floats2d]]


def build_chart(
    tok2vec: Model[list[Doc], list[Floats2d]],
    encoder: SequenceModel | None = None,
    hidden_width: int = 250,
    span_width: int | None = 300,
    max_words: int = 250,
) -> Model[list[Doc], DocScores]:
    """Leaf tags, split points and labels of spans over any tok2vec: spacy-parsetag.Chart.v1.

    In-order only. It is trained with LatticeLoss, and decoded exactly. Sentences are those of the doc; a doc without
    sentence boundaries is one.

    A sentence of more than `max_words` words has too many spans. Leaf and gap scores alone give the shape of its tree,
    and only that tree's own spans are scored. How much worse than the best each label of a span is goes into the
    scores of the tags at its gap, so that a decoder of tags finds the labelled tree. In training such a sentence
    teaches leaf and gap scores only.

    tok2vec (Model[list[Doc], list[Floats2d]]): The encoder of words.
    encoder (Model[list[Floats2d], list[Floats2d]] | None): A layer over the words of each sentence on top of it, such
        as spacy-parsetag.TorchBiLSTM.v1. The first half of its output should know the words before, the second half
        those after, as in a BiLSTM.
    hidden_width (int): Width of the hidden layers of leaf and gap scores.
    span_width (int | None): Width of the hidden layer of span scores. None scores no spans: gaps then have scores for
        all tags of internal nodes, as in the paper's in-order tagger.
    max_words (int): Words of the longest sentence whose spans are all scored; N words have N(N-1)/2.
    RETURNS (Model[list[Doc], DocScores]): Scores of each doc.
    RAISES (ValueError): If a width or max_words is below 1.
    """
    for what, value in (("hidden_width", hidden_width), ("span_width", span_width), ("max_words", max_words)):
        if value is not None and value < 1:
            raise ValueError(Errors.E200.format(what=what, least=1, value=value))
    layers: dict[str, Model[Any, Any]] = {
        "tok2vec": tok2vec,
        "words": _dropout() if encoder is None else chain(_dropout(), encoder, _dropout()),
        "leaf_hidden": Linear(nO=hidden_width),
        "leaf": scorer(),
        "gap_hidden": Linear(nO=hidden_width),
        "gap": scorer(),
    }
    if span_width is not None:
        layers.update(span_hidden=Linear(nO=span_width), span=scorer())
    return Model(
        # With the encoder's name in it: by that `spacy debug model` knows a transformer's listener.
        f"chart({tok2vec.name})",
        _forward,
        init=_init,
        layers=list(layers.values()),
        refs={**layers, **({} if "span" in layers else {"span_hidden": None, "span": None})},
        dims={"nO": None},
        attrs={"tags": [], "order": "", "max_words": max_words, RESIZE: _resize},
    )


def _dropout() -> SequenceModel:
    return with_array(Dropout())


class Layout(NamedTuple):
    """Where words, boundaries, gaps and spans of a batch of docs are. Words and boundaries are counted over the batch.

    sentences (list[list[list[int]]]): Of each doc, of each sentence, the tokens of its words.
    offsets (list[int]): First token of each doc among the tokens of all; one more entry for their end.
    n_words (np.ndarray): (S,) int64 words of each sentence.
    tokens (np.ndarray): (W,) int64 token of each word, among the tokens of all docs.
    """

    sentences: list[list[list[int]]]
    offsets: list[int]
    n_words: NDArray[Any]
    tokens: NDArray[Any]

    @classmethod
    def of(cls, docs: list[Doc]) -> Layout:
        sentences = [sentence_words(doc) for doc in docs]
        offsets = list(accumulate(map(len, docs), initial=0))
        tokens = [i + offset for own, offset in zip(sentences, offsets, strict=False) for words in own for i in words]
        n_words = np.asarray([len(words) for own in sentences for words in own], dtype=np.int64)
        return cls(sentences, offsets, n_words, np.asarray(tokens, dtype=np.int64))

    @property
    def before(self) -> NDArray[Any]:
        """(W,) int64 boundary before each word; the one after it is the next. A sentence has one more than words."""
        return np.arange(len(self.tokens)) + np.repeat(np.arange(len(self.n_words)), self.n_words)

    @property
    def ends(self) -> NDArray[Any]:
        """(S,) int64, one past the last word of each sentence."""
        return np.cumsum(self.n_words)

    def gaps(self) -> NDArray[Any]:
        """(G,) int64 word before each gap. The last word of a sentence is before none."""
        return np.delete(np.arange(len(self.tokens)), self.ends - 1)

    def spans(self, scored: NDArray[Any]) -> tuple[NDArray[Any], NDArray[Any], NDArray[Any]]:
        """All spans of two words or more of the sentences that a mask chooses, in the order of `SpanScores`.

        RETURNS (tuple[np.ndarray, np.ndarray, np.ndarray]): (K,) int32 first and last boundary of each; (S,) int64
            first row of each sentence, -1 for sentences that are not chosen.
        """
        first = np.arange(len(self.tokens) + len(self.n_words))
        position = first - np.repeat(self.ends - self.n_words + np.arange(len(self.n_words)), self.n_words + 1)
        counts = np.maximum(np.repeat(np.where(scored, self.n_words, 0), self.n_words + 1) - position - 1, 0)
        rows = np.cumsum(counts) - counts
        last = np.arange(counts.sum()) - np.repeat(rows - first - 2, counts)
        totals = np.where(scored, self.n_words * (self.n_words - 1) // 2, 0)
        starts = np.where(scored, np.cumsum(totals) - totals, -1)
        return np.repeat(first, counts).astype(np.int32), last.astype(np.int32), starts


def _init(model: Model[list[Doc], DocScores], X: list[Doc] | None = None, Y: list[Floats2d] | None = None) -> None:
    tags = make_tag_set(tuple(model.attrs["tags"]))
    if X is None or model.attrs["order"] != "in":
        raise ValueError(Errors.E202.format(order=model.attrs["order"], n=len(tags)))
    tok2vec, words, leaf_hidden, leaf, gap_hidden, gap, *span_layers = model.layers
    tok2vec.initialize(X=X)
    layout = Layout.of(X)
    vectors = _sentences(model, tok2vec.predict(X), layout)
    words.initialize(X=vectors, Y=Y)
    sample = model.ops.xp.concatenate(words.predict(vectors))[:1]
    n_leaves = int(tags.offsets[2])
    n_inner = len(tags) - n_leaves
    sizes = (n_leaves, 2, len(tags.node_labels)) if span_layers else (n_leaves, n_inner)
    heads = [(leaf_hidden, leaf), (gap_hidden, gap), *([span_layers] if span_layers else [])]
    for (hidden, scores), size in zip(heads, sizes, strict=True):
        hidden.initialize(X=sample)
        scores.set_dim("nO", size)
        scores.initialize(X=Hidden(hidden.predict(sample)))
    model.set_dim("nO", 2 * len(tags))


def _resize(model: Model[list[Doc], DocScores], old: TagSet, new: TagSet) -> None:
    axes = {"W": 1, "b": 1}
    resize_rows(model.get_ref("leaf"), old.tags[: old.offsets[2]], new.tags[: new.offsets[2]], axes)
    if model.has_ref("span"):
        resize_rows(model.get_ref("span"), old.node_labels, new.node_labels, axes)
    else:
        resize_rows(model.get_ref("gap"), old.tags[old.offsets[2] :], new.tags[new.offsets[2] :], axes)
    model.attrs["tags"] = list(new.tags)
    model.set_dim("nO", 2 * len(new), force=True)


def _forward(
    model: Model[list[Doc], DocScores], docs: list[Doc], is_train: bool
) -> tuple[DocScores, Callable[[DocScores], list[Doc]]]:
    ops, xp = model.ops, model.ops.xp
    tags = make_tag_set(tuple(model.attrs["tags"]))
    n_leaves = int(tags.offsets[2])
    sides = [slice(int(start), int(stop)) for start, stop in pairwise(tags.offsets[2:])]
    tok2vec, words, leaf_hidden, leaf, gap_hidden, gap, *span_layers = model.layers
    vectors, backprop_vectors = tok2vec(docs, is_train)
    layout = Layout.of(docs)
    if not len(layout.n_words):
        nothing = DocSpans(ops.alloc2f(0, len(tags.node_labels)), layout.n_words, layout.sentences)
        scores = [ops.alloc2f(len(doc), 2 * len(tags)) for doc in docs]
        d_vectors = [xp.zeros_like(own) for own in vectors]
        return DocScores(scores, spans=nothing if span_layers else None), lambda dY: backprop_vectors(d_vectors)
    encoded, backprop_words = words(_sentences(model, vectors, layout), is_train)
    X: Floats2d = xp.concatenate(encoded)  # (W, width)
    before, tokens, gaps = (xp.asarray(index) for index in (layout.before, layout.tokens, layout.gaps()))
    boundaries, backprop_boundaries = _join_halves(ops, X, before, len(layout.n_words))
    splits = before[gaps] + 1  # boundaries
    leaf_scores, backprop_leaf = _score(leaf_hidden, leaf, X, is_train)
    gap_scores, backprop_gap = _score(gap_hidden, gap, boundaries[splits], is_train)
    flat: Any = ops.alloc3f(layout.offsets[-1], 2, len(tags))
    flat[tokens, 0, :n_leaves] = leaf_scores
    if not span_layers:
        flat[tokens[gaps], 1, n_leaves:] = gap_scores
    else:
        for side, columns in enumerate(sides):
            flat[tokens[gaps], 1, columns] = gap_scores[:, side : side + 1]
    spans = None
    if span_layers:
        span_hidden, span = span_layers
        scored = layout.n_words <= model.attrs["max_words"]
        first, last, starts = layout.spans(scored)
        hidden, backprop_span_hidden = span_hidden(boundaries, is_train)
        span_scores, backprop_span = span(Hidden(hidden, xp.asarray(first), xp.asarray(last)), is_train)
        spans = DocSpans(span_scores, starts, layout.sentences)
        if not scored.all():
            _label_long_sentences(model, flat, hidden, layout, ~scored)

    def backprop(dY: DocScores) -> list[Doc]:
        d_flat = xp.concatenate(dY.arrays).reshape(flat.shape)
        dX = backprop_leaf(xp.ascontiguousarray(d_flat[tokens, 0, :n_leaves]))
        d_inner = d_flat[tokens[gaps], 1]
        d_gaps = xp.ascontiguousarray(d_inner[:, n_leaves:])
        if span_layers:
            d_gaps = xp.hstack([d_inner[:, columns].sum(axis=1, keepdims=True) for columns in sides])
        d_boundaries = xp.zeros_like(boundaries)
        d_boundaries[splits] = backprop_gap(d_gaps)
        if dY.spans is not None:
            d_boundaries += backprop_span_hidden(backprop_span(dY.spans.scores))
        dX += backprop_boundaries(d_boundaries)
        d_words = xp.concatenate(backprop_words(split(dX, layout.n_words.tolist())))
        d_vectors = ops.alloc2f(layout.offsets[-1], d_words.shape[1])
        d_vectors[tokens] = d_words
        d_docs: list[Doc] = backprop_vectors([d_vectors[start:stop] for start, stop in pairwise(layout.offsets)])
        return d_docs

    rows = flat.reshape((len(flat), 2 * len(tags)))
    return DocScores([rows[start:stop] for start, stop in pairwise(layout.offsets)], spans=spans), backprop


def _score(
    hidden_layer: Model[Floats2d, Floats2d], scores: Model[Hidden, Floats2d], X: Floats2d, is_train: bool
) -> tuple[Floats2d, Callable[[Floats2d], Floats2d]]:
    """Scores of rows by a hidden layer."""
    hidden, backprop_hidden = hidden_layer(X, is_train)
    Y, backprop_scores = scores(Hidden(hidden), is_train)
    return Y, lambda dY: backprop_hidden(backprop_scores(dY))


def _join_halves(ops: Ops, X: Floats2d, before: Any, n_sents: int) -> tuple[Floats2d, Callable[[Floats2d], Floats2d]]:
    """Vectors of boundaries: the first half of the word before (it knows what came), the second of the word after.

    X (Floats2d): (W, width) vectors of words.
    before (Ints1d): (W,) boundary before each word.
    n_sents (int): S sentences.
    RETURNS (tuple[Floats2d, Callable]): (W + S, width), zeros where a sentence has no such word; and what makes the
        gradient of X of theirs.
    """
    half = X.shape[1] // 2
    boundaries = ops.alloc2f(len(X) + n_sents, X.shape[1])
    boundaries[before + 1, :half] = X[:, :half]
    boundaries[before, half:] = X[:, half:]

    def backprop(dY: Floats2d) -> Floats2d:
        dX: Floats2d = ops.xp.hstack([dY[before + 1, :half], dY[before, half:]])
        return dX

    return boundaries, backprop


def _sentences(model: Model[Any, Any], vectors: list[Floats2d], layout: Layout) -> list[Floats2d]:
    """The vectors of the words of each sentence; there must be some."""
    xp = model.ops.xp
    present = [own for own in vectors if len(own)]  # those of an empty doc may have another width
    return split(xp.concatenate(present)[xp.asarray(layout.tokens)], layout.n_words.tolist())


def _label_long_sentences(
    model: Model[Any, Any], flat: Any, hidden: Floats2d, layout: Layout, long: NDArray[np.bool_]
) -> None:
    """Let the tags of long sentences say the labels of a tree's spans, at the gaps where these split.

    It is the best tree by leaf and gap scores. It stays the best: of the tags of either side, that with the best label
    keeps the gap's score, and the others get as much less as their labels score less.

    flat (Floats3d): (tokens, 2, T) scores, to be changed; those of internal tags are the gaps' for all labels.
    hidden (Floats2d): (W + S, span_width) vectors of boundaries.
    long (np.ndarray): (S,) which sentences.
    """
    tags = make_tag_set(tuple(model.attrs["tags"]))
    xp = model.ops.xp
    n_words = layout.n_words[long]
    word_starts = (layout.ends - layout.n_words)[long]
    tokens = layout.tokens[np.repeat(long, layout.n_words)]
    rows = flat[xp.asarray(tokens)].reshape((-1, len(tags)))
    batch = TagScores(rows, 2 * (np.cumsum(n_words) - n_words), n_words, tags, ORDERS["in"])
    nodes = labelled_nodes(ExactDecoder()(batch).ids, batch, bare=True)
    s = np.repeat(np.arange(len(n_words)), nodes.counts)
    inner = np.flatnonzero(nodes.end - nodes.start > 1)
    # In pre-order a node's left child comes right after it, and ends where the node splits.
    at = xp.asarray(layout.tokens[(word_starts[s] + np.append(nodes.end[1:], 0) - 1)[inner]])
    base = (word_starts + np.flatnonzero(long))[s]  # boundaries
    first, last = (xp.asarray((base + bound)[inner].astype(np.int32)) for bound in (nodes.start, nodes.end))
    scores = model.get_ref("span").predict(Hidden(hidden, first, last))
    for ids in tags.node_ids:
        known = xp.asarray(ids >= 0)
        own = scores[:, known]
        flat[at[:, None], 1, xp.asarray(ids)[known]] += own - own.max(axis=1, keepdims=True)
