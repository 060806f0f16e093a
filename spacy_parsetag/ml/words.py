"""The words of docs, sentence by sentence, as learners and their readers index them; their scores; their encoder."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import accumulate, pairwise
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from spacy.pipeline.tok2vec import Tok2VecListener
from spacy.tokens import Doc
from thinc.api import Model, get_array_module
from thinc.types import Floats2d

from ..decode import SpanScores, TagScores, Transitions
from ..decode.batch import first_spans, list_spans, span_row
from ..decode.constraints import is_whole
from ..errors import Errors
from ..linearize import Linearizer, TagSet
from ..tokens.sentences import sentence_words

Arrays = list[Floats2d]  # one (rows, width) for each sequence
SequenceModel = Model[Arrays, Arrays]


class Words(NamedTuple):
    """The W words of the S sentences of a batch of docs.

    sentences (list[list[list[int]]]): For each doc and each of its sentences, the tokens of the words.
    offsets (list[int]): First token of each doc among the tokens of all; one more entry for their end.
    n_words (np.ndarray): (S,) int64 words of each sentence.
    tokens (np.ndarray): (W,) int64 token of each word, among the tokens of all docs; ascending.
    """

    sentences: list[list[list[int]]]
    offsets: list[int]
    n_words: NDArray[Any]
    tokens: NDArray[Any]

    @classmethod
    def of(cls, docs: Sequence[Doc]) -> Words:
        """Find the words of docs."""
        sentences = [sentence_words(doc) for doc in docs]
        offsets = list(accumulate(map(len, docs), initial=0))
        pairs = zip(sentences, offsets, strict=False)
        tokens = [i + offset for of_doc, offset in pairs for words in of_doc for i in words]
        n_words = np.asarray([len(words) for of_doc in sentences for words in of_doc], dtype=np.int64)
        return cls(sentences, offsets, n_words, np.asarray(tokens, dtype=np.int64))

    @property
    def starts(self) -> NDArray[Any]:
        """(S,) int64 first word of each sentence."""
        starts: NDArray[Any] = np.cumsum(self.n_words) - self.n_words
        return starts

    def find(self, sentences: Sequence[Sequence[Sequence[int]]]) -> NDArray[Any]:
        """Find the (S',) first words of other sentences of the same docs, in the form of the field `sentences`."""
        pairs = zip(sentences, self.offsets, strict=False)
        firsts = [tokens[0] + offset for of_doc, offset in pairs for tokens in of_doc]
        return np.searchsorted(self.tokens, np.asarray(firsts, dtype=np.int64))

    def sentences_around(self, first: NDArray[Any], n_words: NDArray[Any]) -> NDArray[Any]:
        """Find the sentences that (S',) runs of words lie in; -1 for a run that leaves its sentence."""
        ends = np.cumsum(self.n_words)
        around = np.searchsorted(ends, first, side="right")
        return np.where(first + n_words <= ends[around], around, -1)


@dataclass(frozen=True, eq=False)
class SentenceScores:
    """The scores that a learner gives the sentences of a batch of docs. The gradient of a loss has the same form.

    rows (Floats2d): (2W, T) scores of T tags, two rows a word, sentence after sentence: for the first tag of the word,
        then for its second. Nothing reads the second row of the last word of a sentence.
    words (Words): The W words.
    transitions (Transitions | None): Scores of successive tags, where the learner has any.
    spans (SpanScores | None): Scores of the spans of each sentence, where the learner has any.
    by_sentence (bool): Whether only runs of words within a sentence have scores.
    """

    rows: Floats2d
    words: Words
    transitions: Transitions | None = None
    spans: SpanScores | None = None
    by_sentence: bool = False

    def batch(self, tags: TagSet, linearizer: Linearizer, max_stack: int | None) -> TagScores:
        """Make the batch of all sentences; for the arguments see `TagScores`."""
        starts, n_words = 2 * self.words.starts, self.words.n_words
        return TagScores(
            self.rows, starts, n_words, tags, linearizer, self.transitions, self.spans, max_stack=max_stack
        )

    def batch_of(
        self, batch: TagScores, first: NDArray[Any], n_words: NDArray[Any]
    ) -> tuple[TagScores, Callable[[TagScores], SentenceScores]]:
        """Make the batch of other sentences of the same docs, each a run of words within a sentence.

        first, n_words (np.ndarray): (S',) first word and number of words of each run.
        RETURNS (tuple[TagScores, Callable]): The batch; and the function that takes gradients for it and returns them
            in the form of these scores.
        """
        spans, chosen = self.spans, None
        if spans is not None:
            around = self.words.sentences_around(first, n_words)
            n_around, before = self.words.n_words[around], first - self.words.starts[around]
            starts = spans.starts[around]
            if (n_around == n_words).all():
                spans = SpanScores(spans.scores, starts)
            else:
                scored = np.where(starts >= 0, n_words, 0)
                s, start, end = list_spans(scored)
                rows = starts[s] + span_row(n_around[s], start + before[s], end + before[s])
                chosen = get_array_module(spans.scores).asarray(rows)
                spans = SpanScores(spans.scores[chosen], np.where(starts >= 0, first_spans(scored)[:-1], -1))

        def gradient(d_batch: TagScores) -> SentenceScores:
            d_spans = d_batch.spans
            if d_spans is not None and self.spans is not None:
                d_scores = d_spans.scores
                if chosen is not None:
                    d_scores = get_array_module(d_scores).zeros_like(self.spans.scores)
                    d_scores[chosen] = d_spans.scores
                d_spans = SpanScores(d_scores, self.spans.starts)
            return replace(self, rows=d_batch.scores, transitions=d_batch.transitions, spans=d_spans)

        return replace(batch, starts=2 * first, n_words=n_words, spans=spans, numbers=None), gradient


def require_scores(scores: object, *, name: str) -> None:
    """Raise a ValueError if the output of a model is that of another kind of component, such as a tagger."""
    if not isinstance(scores, SentenceScores):
        raise ValueError(Errors.E217.format(name=name, found=type(scores).__name__))


def require_upstream(model: Model[Any, Any], docs: Sequence[Doc], *, name: str) -> None:
    """Check that the encoder that a model listens to, if it does, has run on docs.

    A listener has no vectors of its own: it takes what a `tok2vec` or `transformer` component before it leaves on the
    docs. Where that component is missing, spaCy's listeners give zeros, and with them any pipe gives nonsense.

    RAISES (ValueError): If a doc lacks the vectors, or has vectors of another width.
    """
    # A listener stores the name of the component that it listens to, "*" for any; in spacy-curated-transformers the
    # name is in `attrs`. Listeners to transformers read the extension `trf_data`.
    named = [(node, getattr(node, "upstream_name", node.attrs.get("_upstream_name"))) for node in model.walk()]
    for listener, listened_to in ((node, upstream) for node, upstream in named if upstream is not None):
        for doc in filter(len, docs):
            upstream, found = "transformer", "no vectors"
            fits = doc.has_extension("trf_data") and doc._.trf_data is not None
            if isinstance(listener, Tok2VecListener):
                upstream, width = "tok2vec", listener.get_dim("nO")
                fits = bool(doc.tensor.size) and doc.tensor.shape[-1] == width
                if doc.tensor.size:
                    found = f"vectors of width {doc.tensor.shape[-1]}, not {width}"
            if not fits:
                upstream = upstream if listened_to == "*" else listened_to
                raise ValueError(Errors.E216.format(name=name, upstream=upstream, found=found))


def encode_words(
    model: Model[Any, Any], docs: list[Doc], is_train: bool
) -> tuple[Words, Any, Callable[[Any], list[Doc]]]:
    """Run the first two layers of a learner: the encoder of docs, and a layer over the words of each sentence.

    RETURNS (tuple[Words, Floats2d | None, Callable]): The words, their (W, width) vectors, None if there are no words;
        and the function that takes the gradient of these vectors.
    """
    tok2vec, layer = model.layers[:2]
    ops, xp = model.ops, model.ops.xp
    words = Words.of(docs)
    if not len(words.tokens) and not is_train:
        return words, None, lambda _: docs
    vectors, backprop_vectors = tok2vec(docs, is_train)
    if not len(words.tokens):
        return words, None, lambda _: backprop_vectors([xp.zeros_like(of_doc) for of_doc in vectors])
    encoded, backprop_layer = layer(split_sentences(xp, vectors, words), is_train)

    def backprop(dX: Floats2d) -> list[Doc]:
        d_words = xp.concatenate(backprop_layer(cut(dX, words.n_words.tolist())))
        d_vectors = ops.alloc2f(words.offsets[-1], d_words.shape[1])
        d_vectors[xp.asarray(words.tokens)] = d_words
        d_docs: list[Doc] = backprop_vectors([d_vectors[start:stop] for start, stop in pairwise(words.offsets)])
        return d_docs

    return words, xp.concatenate(encoded), backprop


def split_sentences(xp: Any, vectors: Arrays, words: Words) -> Arrays:
    """Take the vectors of the words of each sentence out of the docs' vectors of tokens; there must be some."""
    present = [of_doc for of_doc in vectors if len(of_doc)]  # an empty doc's may have another width
    return cut(xp.concatenate(present)[xp.asarray(words.tokens)], words.n_words.tolist())


class WithSettings:
    """A layer's forward function with settings, which are the config's whatever was saved.

    Those in a model's `attrs` come back with the weights, so that a config could not change them when a pipeline is
    loaded. (Thinc does not take a `functools.partial` where it validates data.)
    """

    def __init__(self, forward: Callable[..., Any], **settings: Any) -> None:
        self.forward, self.settings, self.__name__ = forward, settings, forward.__name__

    def __call__(self, model: Model[Any, Any], X: Any, is_train: bool) -> Any:
        return self.forward(model, X, is_train, **self.settings)


def check_sizes(**sizes: int | None) -> None:
    """Raise a ValueError if a setting of a layer is no whole number of at least 1; None stands for no such setting."""
    for what, value in sizes.items():
        if value is not None and not is_whole(value, 1):
            raise ValueError(Errors.E200.format(what=what, least=1, value=value))


def cut(x: Floats2d, lengths: list[int]) -> Arrays:
    """Cut an array into pieces of the given numbers of rows; they are views."""
    pieces: Arrays = get_array_module(x).split(x, np.cumsum(lengths)[:-1])
    return pieces


def initialize_words(model: Model[Any, Any], X: list[Doc], Y: Arrays | None) -> Floats2d:
    """Initialize the first two layers of a learner; returns the (1, width) vector of one word, to go on with."""
    tok2vec, layer = model.layers[:2]
    tok2vec.initialize(X=X)
    vectors = split_sentences(model.ops.xp, tok2vec.predict(X), Words.of(X))
    layer.initialize(X=vectors, Y=Y)
    sample: Floats2d = layer.predict(vectors[:1])[0][:1]
    return sample
