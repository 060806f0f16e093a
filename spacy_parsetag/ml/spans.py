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
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray
from spacy.tokens import Doc
from thinc.api import Dropout, Linear, Model, Ops, chain, with_array
from thinc.types import Floats2d

from ..decode import Distribution, SpanScores, TagScores
from ..decode.batch import as_floats, first_spans, list_spans
from ..decode.trees import labelled_nodes
from ..errors import Errors
from ..linearize import ORDERS
from ..linearize.tagset import TagSet, make_tag_set
from .mlp import Hidden, scores_of_hidden
from .resize import RESIZE, resize_rows
from .words import (
    Arrays,
    SentenceScores,
    SequenceModel,
    WithSettings,
    Words,
    check_sizes,
    encode_words,
    initialize_words,
)


def build_spans(
    tok2vec: Model[list[Doc], Arrays],
    encoder: SequenceModel | None = None,
    hidden_width: int = 250,
    span_width: int | None = 300,
    max_words: int = 250,
) -> Model[list[Doc], SentenceScores]:
    """Score leaf tags, split points and labels of spans over any tok2vec: spacy-parsetag.Spans.v1.

    In-order only. It is trained with TreeLoss; all decoders but a beam search take its scores. Sentences are the doc's;
    a doc without sentence boundaries is one.

    A sentence of more than `max_words` words has too many spans. Leaf and gap scores alone give the shape of its tree,
    and only that tree's own spans are scored. The difference between each label's score and the best one is added to
    the tags at the span's gap, so that a decoder of tags finds the labelled tree. In training such a sentence teaches
    leaf and gap scores only.

    tok2vec (Model[list[Doc], list[Floats2d]]): The encoder of words.
    encoder (Model[list[Floats2d], list[Floats2d]] | None): A layer over the words of each sentence on top of it, such
        as spacy-parsetag.TorchBiLSTM.v1. The first half of its output should know the words before, the second half
        those after, as in a BiLSTM.
    hidden_width (int): Width of the hidden layers of leaf and gap scores.
    span_width (int | None): Width of the hidden layer of span scores. None scores no spans: gaps then have scores for
        all tags of internal nodes, as in the paper's in-order tagger.
    max_words (int): Words of the longest sentence whose spans are all scored; N words have N(N-1)/2.
    RAISES (ValueError): If a width or max_words is below 1.
    """
    check_sizes(hidden_width=hidden_width, span_width=span_width, max_words=max_words)
    layers: dict[str, Model[Any, Any]] = {
        "tok2vec": tok2vec,
        "words": _dropout() if encoder is None else chain(_dropout(), encoder, _dropout()),
        "leaf_hidden": Linear(nO=hidden_width),
        "leaf": scores_of_hidden(),
        "gap_hidden": Linear(nO=hidden_width),
        "gap": scores_of_hidden(),
    }
    if span_width is not None:
        layers.update(span_hidden=Linear(nO=span_width), span=scores_of_hidden())
    return Model(
        # With the encoder's name in it: by that `spacy debug model` knows a transformer's listener.
        f"spans({tok2vec.name})",
        WithSettings(_forward, max_words=max_words),
        init=_init,
        layers=list(layers.values()),
        refs={**layers, **({} if "span" in layers else {"span_hidden": None, "span": None})},
        dims={"nO": None},
        attrs={"tags": [], "order": "", RESIZE: _resize},
    )


def _dropout() -> SequenceModel:
    return with_array(Dropout())


def _init(model: Model[list[Doc], SentenceScores], X: list[Doc] | None = None, Y: Arrays | None = None) -> None:
    tags = make_tag_set(tuple(model.attrs["tags"]))
    if X is None or model.attrs["order"] != "in":
        raise ValueError(Errors.E202.format(order=model.attrs["order"], n=len(tags)))
    sample = initialize_words(model, X, Y)
    n_leaves = tags.n_leaves
    sizes = (n_leaves, 2, len(tags.node_labels)) if model.has_ref("span") else (n_leaves, len(tags) - n_leaves)
    for hidden, scores, size in zip(model.layers[2::2], model.layers[3::2], sizes, strict=True):
        hidden.initialize(X=sample)
        scores.set_dim("nO", size)
        scores.initialize(X=Hidden(hidden.predict(sample)))
    model.set_dim("nO", 2 * len(tags))


def _resize(model: Model[list[Doc], SentenceScores], old: TagSet, new: TagSet) -> None:
    axes = {"W": 1, "b": 1}
    resize_rows(model.get_ref("leaf"), old.tags[: old.n_leaves], new.tags[: new.n_leaves], axes)
    if model.has_ref("span"):
        resize_rows(model.get_ref("span"), old.node_labels, new.node_labels, axes)
    else:
        resize_rows(model.get_ref("gap"), old.tags[old.n_leaves :], new.tags[new.n_leaves :], axes)
    model.attrs["tags"] = list(new.tags)
    model.set_dim("nO", 2 * len(new), force=True)


def _forward(
    model: Model[list[Doc], SentenceScores], docs: list[Doc], is_train: bool, *, max_words: int
) -> tuple[SentenceScores, Callable[[SentenceScores], list[Doc]]]:
    ops, xp = model.ops, model.ops.xp
    tags = make_tag_set(tuple(model.attrs["tags"]))
    n_leaves = tags.n_leaves
    leaf_hidden, leaf, gap_hidden, gap, *span_layers = model.layers[2:]
    words, X, backprop_words = encode_words(model, docs, is_train)
    if X is None:
        nothing = SpanScores(ops.alloc2f(0, len(tags.node_labels)), words.starts) if span_layers else None
        empty = SentenceScores(ops.alloc2f(0, len(tags)), words, spans=nothing, by_sentence=True)
        return empty, lambda dY: backprop_words(None)
    gaps, before = (xp.asarray(index) for index in (gaps_of(words), boundaries_before(words)))
    boundaries, backprop_boundaries = _join_halves(ops, X, before, len(words.n_words))
    splits = before[gaps] + 1  # boundaries
    leaf_scores, backprop_leaf = _score(leaf_hidden, leaf, X, is_train)
    gap_scores, backprop_gap = _score(gap_hidden, gap, boundaries[splits], is_train)
    tag_scores: Any = ops.alloc3f(len(X), 2, len(tags))
    tag_scores[:, 0, :n_leaves] = leaf_scores
    spans = None
    if span_layers:
        is_long = words.n_words > max_words
        # The columns that take a gap's scores as a left and as a right child: the chart reads bare tags alone.
        sides = [slice(int(i), int(j if is_long.any() else i + 1)) for i, j in pairwise(tags.offsets[2:])]
        for side, columns in enumerate(sides):
            tag_scores[gaps, 1, columns] = gap_scores[:, side : side + 1]
        spans, hidden, backprop_spans = _score_spans(model, boundaries, words, ~is_long, is_train)
        if is_long.any():
            _label_long_sentences(model, tags, tag_scores, hidden, words, is_long)
    else:
        tag_scores[gaps, 1, n_leaves:] = gap_scores

    def backprop(dY: SentenceScores) -> list[Doc]:
        d_tag_scores: Any = dY.rows.reshape(tag_scores.shape)
        dX = backprop_leaf(xp.ascontiguousarray(d_tag_scores[:, 0, :n_leaves]))
        d_inner = d_tag_scores[gaps, 1]
        d_gaps = xp.ascontiguousarray(d_inner[:, n_leaves:])
        if span_layers:
            d_gaps = xp.hstack([d_inner[:, columns].sum(axis=1, keepdims=True) for columns in sides])
        d_boundaries = xp.zeros_like(boundaries)
        d_boundaries[splits] = backprop_gap(d_gaps)
        if dY.spans is not None:
            d_boundaries += backprop_spans(dY.spans.scores)
        dX += backprop_boundaries(d_boundaries)
        return backprop_words(dX)

    return SentenceScores(tag_scores.reshape((-1, len(tags))), words, spans=spans, by_sentence=True), backprop


class SpanRows:
    """Scores of spans that are computed only when rows are read: part by part, so that a CPU's cache holds each part.

    A doc of a thousand words has some ten megabytes of span scores, and prediction reads each score once. The object
    has a shape, gives rows by index, can be multiplied, and can be made an array.

    layer (Model[Hidden, Floats2d]): The layer that gives the (K, L) scores.
    vectors (Floats2d): (W + S, width) hidden vectors of boundaries.
    first, last (np.ndarray): (K,) int32 boundaries of each span.
    factor (float): What all scores are multiplied with.
    """

    ndim = 2

    def __init__(
        self,
        layer: Model[Hidden, Floats2d],
        vectors: Floats2d,
        first: NDArray[Any],
        last: NDArray[Any],
        factor: float = 1.0,
    ) -> None:
        self.layer, self.vectors, self.first, self.last, self.factor = layer, vectors, first, last, factor
        self.shape = (len(first), layer.get_dim("nO"))

    def __len__(self) -> int:
        return self.shape[0]

    def __getitem__(self, rows: Any) -> Floats2d:
        first, last = self.first[rows], self.last[rows]
        low, high = first.min(initial=len(self.vectors)), last.max(initial=0) + 1
        asarray = self.layer.ops.xp.asarray
        scores = self.layer.predict(Hidden(self.vectors[low:high], asarray(first - low), asarray(last - low)))
        return scores if self.factor == 1.0 else scores * self.factor

    def __mul__(self, factor: float) -> SpanRows:
        return SpanRows(self.layer, self.vectors, self.first, self.last, self.factor * factor)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> NDArray[Any]:
        return as_floats(self[:])


def boundaries_before(words: Words) -> NDArray[Any]:
    """Find the boundary b before each word, (W,) int64; b + 1 is after it. N words have N + 1 boundaries."""
    return np.arange(len(words.tokens)) + np.repeat(np.arange(len(words.n_words)), words.n_words)


def gaps_of(words: Words) -> NDArray[Any]:
    """Find the word before each gap, (G,) int64. The last word of a sentence is before none."""
    return np.delete(np.arange(len(words.tokens)), np.cumsum(words.n_words) - 1)


def spans_of(words: Words, scored: NDArray[Any]) -> tuple[NDArray[Any], NDArray[Any], NDArray[Any]]:
    """List all spans of two words or more of the sentences that a mask chooses, in the order of `SpanScores`.

    RETURNS (tuple[np.ndarray, np.ndarray, np.ndarray]): (K,) int32 first and last boundary of each; (S,) int64 first
        row of each sentence, -1 for sentences that are not chosen.
    """
    n_words = np.where(scored, words.n_words, 0)
    sentence, start, end = list_spans(n_words)
    base = (words.starts + np.arange(len(n_words)))[sentence]  # the first boundary of the sentence
    starts = np.where(scored, first_spans(n_words)[:-1], -1)
    return (base + start).astype(np.int32), (base + end).astype(np.int32), starts


def _score(
    hidden_layer: Model[Floats2d, Floats2d], scores: Model[Hidden, Floats2d], X: Floats2d, is_train: bool
) -> tuple[Floats2d, Callable[[Floats2d], Floats2d]]:
    """Scores of rows by a hidden layer."""
    hidden, backprop_hidden = hidden_layer(X, is_train)
    Y, backprop_scores = scores(Hidden(hidden), is_train)
    return Y, lambda dY: backprop_hidden(backprop_scores(dY))


def _score_spans(
    model: Model[Any, Any], boundaries: Floats2d, words: Words, scored: NDArray[np.bool_], is_train: bool
) -> tuple[SpanScores, Floats2d, Callable[[Floats2d], Floats2d]]:
    """Score the spans of the sentences that a mask chooses; in prediction, scores are computed when they are read.

    RETURNS (tuple[SpanScores, Floats2d, Callable]): The scores; (W + S, width) hidden vectors of the boundaries; and,
        for training, the function that turns the gradient of the scores into that of the boundaries.
    """
    span, asarray = model.get_ref("span"), model.ops.xp.asarray
    first, last, starts = spans_of(words, scored)
    hidden, backprop_hidden = model.get_ref("span_hidden")(boundaries, is_train)
    if not is_train:
        return SpanScores(SpanRows(span, hidden, first, last), starts), hidden, backprop_hidden
    scores, backprop_scores = span(Hidden(hidden, asarray(first), asarray(last)), is_train)
    return SpanScores(scores, starts), hidden, lambda dY: backprop_hidden(backprop_scores(dY))


def _join_halves(ops: Ops, X: Floats2d, before: Any, n_sents: int) -> tuple[Floats2d, Callable[[Floats2d], Floats2d]]:
    """Vectors of boundaries: the first half of the word before (it knows what came), the second of the word after.

    X (Floats2d): (W, width) vectors of words.
    before (Ints1d): (W,) boundary before each word.
    n_sents (int): S sentences.
    RETURNS (tuple[Floats2d, Callable]): (W + S, width) vectors, zeros where a sentence has no such word; and the
        function that turns their gradient into that of X.
    """
    half = X.shape[1] // 2
    boundaries = ops.alloc2f(len(X) + n_sents, X.shape[1])
    boundaries[before + 1, :half] = X[:, :half]
    boundaries[before, half:] = X[:, half:]
    return boundaries, lambda dY: ops.xp.hstack([dY[before + 1, :half], dY[before, half:]])


def _label_long_sentences(
    model: Model[Any, Any], tags: TagSet, tag_scores: Any, hidden: Floats2d, words: Words, is_long: NDArray[np.bool_]
) -> None:
    """Add label scores of the spans of a tree to the tags of long sentences, at the gaps where the spans split.

    The tree is the best one by leaf and gap scores, and stays the best: each tag of either side gets the gap's score
    plus its label's score minus the best label's. With constraints or a bound, the decoder may find another one.

    tag_scores (Floats3d): (W, 2, T) scores, to be changed; internal tags have the gaps' scores for all labels.
    hidden (Floats2d): (W + S, span_width) vectors of boundaries.
    is_long (np.ndarray): (S,) which sentences are long.
    """
    xp = model.ops.xp
    word_starts = words.starts[is_long]
    rows = tag_scores.reshape((-1, len(tags)))
    batch = TagScores(rows, 2 * word_starts, words.n_words[is_long], tags, ORDERS["in"])
    nodes = labelled_nodes(Distribution(batch).argmax.ids, batch, bare=True)
    s = np.repeat(np.arange(len(word_starts)), nodes.counts)
    inner = np.flatnonzero(nodes.end - nodes.start > 1)
    # In pre-order a node's left child comes right after it, and ends where the node splits.
    gaps = xp.asarray((word_starts[s] + np.append(nodes.end[1:], 0) - 1)[inner])
    base = (word_starts + np.flatnonzero(is_long))[s]  # boundaries
    first, last = (xp.asarray((base + bound)[inner].astype(np.int32)) for bound in (nodes.start, nodes.end))
    scores = model.get_ref("span").predict(Hidden(hidden, first, last))
    for ids in tags.node_ids:
        has_tag = xp.asarray(ids >= 0)
        label_scores = scores[:, has_tag]
        label_scores -= label_scores.max(axis=1, keepdims=True)
        tag_scores[gaps[:, None], 1, xp.asarray(ids)[has_tag]] += label_scores
