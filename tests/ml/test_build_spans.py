"""The learner that scores spans: where scores come from, gradients by finite differences, long sentences."""

from collections.abc import Callable
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
import spacy
from differences import slope
from spacy.tokens import Doc
from thinc.api import Model, fix_random_seed
from thinc.util import validate_fwd_input_output

from spacy_parsetag.decode import Distribution, ExactDecoder, SpanScores, TagScores
from spacy_parsetag.decode.batch import span_row
from spacy_parsetag.decode.trees import labelled_nodes
from spacy_parsetag.linearize import ORDERS
from spacy_parsetag.linearize.tagset import TagSet
from spacy_parsetag.ml.scaled import build_scaled
from spacy_parsetag.ml.spans import boundaries_before, build_spans, gaps_of, spans_of
from spacy_parsetag.ml.words import SentenceScores, Words

STEP = 2e-3  # in single precision

TAGS = TagSet(["l/NP", "r/NP", "r/S+VP", "L/S", "L/VP", "R/VP", "R/S+VP"])
WIDTH = 6
VOCAB = spacy.blank("en").vocab


def words_of(*sentences: int, spaces: tuple[int, ...] = ()) -> Doc:
    """A doc of sentences of so many words, with white space before the words of these numbers."""
    words, starts = [], []
    for n in sentences:
        for i in range(n):
            if len(words) in spaces:
                words.append("\n")
                starts.append(i == 0)
                starts.append(False)
            else:
                starts.append(i == 0)
            words.append(f"w{sentences}{len(words)}")
    return Doc(VOCAB, words=words, sent_starts=starts if words else None)


class Lookup:
    """Vectors of words, by their names, as a tok2vec whose gradient is kept."""

    def __init__(self) -> None:
        self.table: dict[str, np.ndarray] = {}
        self.gradient: list[np.ndarray] = []
        self.rng = np.random.default_rng(0)

    def __call__(self, model: Any, docs: list[Doc], is_train: bool) -> tuple[Any, Callable[[Any], Any]]:
        def backprop(dY: list[np.ndarray]) -> list[Doc]:
            self.gradient = dY
            return docs

        return [
            np.asarray([self.vector(token.text) for token in doc], dtype="f").reshape(-1, WIDTH) for doc in docs
        ], backprop

    def vector(self, word: str) -> np.ndarray:
        if word not in self.table:
            self.table[word] = self.rng.normal(size=WIDTH).astype("f")
        return self.table[word]


def make(docs: list[Doc], **settings: Any) -> tuple[Model[list[Doc], SentenceScores], Lookup]:
    fix_random_seed(0)
    lookup = Lookup()
    model = build_spans(Model("lookup", lookup), **{"hidden_width": 5, "span_width": 7, **settings})
    model.attrs.update(tags=list(TAGS.tags), order="in")
    model.initialize(X=docs)
    return model, lookup


def tags_batch(rows: Any, n: int) -> TagScores:
    """The tags alone of a sentence of n words."""
    return TagScores(rows, np.zeros(1, dtype=np.int64), np.asarray([n]), TAGS, ORDERS["in"])


def test_words() -> None:
    docs = [words_of(3, 1, spaces=(1, 4)), words_of(), words_of(2)]
    words = Words.of(docs)
    assert words.sentences == [[[0, 2, 3], [5]], [], [[0, 1]]] and words.offsets == [0, 6, 6, 8]
    assert words.tokens.tolist() == [0, 2, 3, 5, 6, 7] and words.n_words.tolist() == [3, 1, 2]
    assert words.starts.tolist() == [0, 3, 4]
    assert boundaries_before(words).tolist() == [0, 1, 2, 4, 6, 7]
    assert gaps_of(words).tolist() == [0, 1, 4]
    first, last, starts = spans_of(words, np.asarray([True, True, True]))
    assert list(zip(first.tolist(), last.tolist(), strict=True)) == [(0, 2), (0, 3), (1, 3), (6, 8)]
    assert starts.tolist() == [0, 3, 3]
    first, last, starts = spans_of(words, np.asarray([False, True, True]))
    assert (first.tolist(), last.tolist(), starts.tolist()) == ([6], [8], [-1, 0, 0])


def test_rows_of_spans() -> None:
    for n in range(2, 7):
        start, end = np.triu_indices(n + 1, 2)
        assert span_row(n, start, end).tolist() == list(range(n * (n - 1) // 2))


def scores_by_hand(model: Model[Any, Any], lookup: Lookup, words: list[str]) -> tuple[Any, Any, Any]:
    """Leaf, gap and span scores of one sentence, one vector at a time."""

    def head(name: str, vector: np.ndarray) -> np.ndarray:
        layer = model.get_ref(name)
        centred = vector - vector.mean()
        normed = centred / np.sqrt((centred**2).mean() + 1e-5)
        active = np.maximum(normed * layer.get_param("G") + layer.get_param("beta"), 0)
        return active @ layer.get_param("W").T + layer.get_param("b")

    def hidden(name: str, vector: np.ndarray) -> np.ndarray:
        layer = model.get_ref(f"{name}_hidden")
        return layer.get_param("W") @ vector + layer.get_param("b")

    vectors = [lookup.vector(word) for word in words]
    half, zeros = WIDTH // 2, np.zeros(WIDTH // 2)
    ends = zip([zeros, *(v[:half] for v in vectors)], [*(v[half:] for v in vectors), zeros], strict=True)
    boundaries = [np.concatenate(pair) for pair in ends]
    leaves = [head("leaf", hidden("leaf", vector)) for vector in vectors]
    gaps = [head("gap", hidden("gap", vector)) for vector in boundaries[1:-1]]
    if not model.has_ref("span"):
        return leaves, gaps, None
    n = len(words)
    ends_of = [hidden("span", vector) for vector in boundaries]
    spans = [head("span", ends_of[j] - ends_of[i]) for i in range(n - 1) for j in range(i + 2, n + 1)]
    return leaves, gaps, spans


@pytest.mark.parametrize("span_width", [7, None])
def test_scores(span_width: int | None) -> None:
    docs = [words_of(3, 1, spaces=(1, 4)), words_of(), words_of(4)]
    model, lookup = make(docs, span_width=span_width)
    rng = np.random.default_rng(1)
    for name in ("leaf", "gap", *(["span"] if span_width else [])):
        for param in ("G", "beta", "b"):
            size = model.get_ref(name).get_param(param).shape
            model.get_ref(name).set_param(param, rng.normal(size=size).astype("f"))
    Y = model.predict(docs)
    n_leaves, n_left = int(TAGS.offsets[2]), int(TAGS.offsets[3] - TAGS.offsets[2])
    assert Y.rows.shape == (2 * 8, len(TAGS)) and Y.words.n_words.tolist() == [3, 1, 4] and Y.transitions is None
    assert (Y.spans is not None) == bool(span_width)
    slots, s, w = Y.rows.reshape(-1, 2, len(TAGS)), 0, 0
    for doc, sentences in zip(docs, Y.words.sentences, strict=True):
        for tokens in sentences:
            leaves, gaps, spans = scores_by_hand(model, lookup, [doc[i].text for i in tokens])
            of_sentence, w = slots[w : w + len(tokens)], w + len(tokens)
            np.testing.assert_allclose(of_sentence[:, 0, :n_leaves], leaves, atol=1e-5)
            found = of_sentence[:-1, 1, n_leaves:]
            if spans is None:
                np.testing.assert_allclose(found, np.reshape(gaps, found.shape), atol=1e-5)
                continue
            for token, gap in zip(found, gaps, strict=True):
                np.testing.assert_allclose(token[[0, n_left]], gap, atol=1e-5)
                assert not np.delete(token, [0, n_left]).any()  # spans say the labels
            assert Y.spans is not None
            of_sentence = Y.spans.scores[Y.spans.starts[s] :][: len(spans)]
            np.testing.assert_allclose(of_sentence, np.reshape(spans, of_sentence.shape), atol=1e-5)
            s += 1


def check_learner(
    model: Model[list[Doc], SentenceScores],
    lookup: Lookup,
    docs: list[Doc],
    dY: SentenceScores,
    rng: np.random.Generator,
    *,
    n_places: int,
    atol: float,
) -> None:
    """Compare the gradients that a learner has found, given that of its scores, with slopes: those of all vectors, and
    at some places of each parameter."""
    assert [array.shape for array in lookup.gradient] == [(len(doc), WIDTH) for doc in docs]

    def arrays_of(scores: SentenceScores) -> list[Any]:
        spans = [] if scores.spans is None else [np.asarray(scores.spans.scores)]
        return [scores.rows, *(scores.transitions or ()), *spans]

    def value() -> float:
        pairs = zip(arrays_of(model.predict(docs)), arrays_of(dY), strict=True)
        return float(sum((array.astype("d") * gradient).sum() for array, gradient in pairs))

    for doc, gradient in zip(docs, lookup.gradient, strict=True):
        for token in doc:
            for k in range(WIDTH):
                found = slope(value, lookup.table[token.text], (k,), STEP) if not token.is_space else 0.0
                assert found == pytest.approx(gradient[token.i, k], abs=atol)
    for node in model.walk():
        for name in node.param_names:
            array, gradient = node.get_param(name), node.get_grad(name)
            for i in [tuple(rng.integers(array.shape)) for _ in range(n_places)]:
                assert slope(value, array, i, STEP) == pytest.approx(gradient[i], abs=atol)


@pytest.mark.parametrize("span_width", [7, None])
def test_gradient_of_the_learner(span_width: int | None) -> None:
    """Of vectors and parameters."""
    docs = [words_of(3, 1, spaces=(1,)), words_of(), words_of(2)]
    model, lookup = make(docs, span_width=span_width)
    Y, backprop = model(docs, True)
    rng = np.random.default_rng(1)
    spans = None
    if Y.spans is not None:
        spans = SpanScores(rng.normal(size=Y.spans.scores.shape).astype("f"), Y.spans.starts)
        assert len(spans.scores) == 4
    dY = SentenceScores(rng.normal(size=Y.rows.shape).astype("f"), Y.words, spans=spans)
    n_leaves = int(TAGS.offsets[2])
    slots = dY.rows.reshape(-1, 2, len(TAGS))
    slots[:, 0, n_leaves:] = slots[:, 1, :n_leaves] = 0.0  # not the learner's
    slots[np.cumsum(Y.words.n_words) - 1, 1] = 0.0
    backprop(dY)
    check_learner(model, lookup, docs, dY, rng, n_places=10, atol=1e-2)


def test_rows_that_are_computed_when_they_are_read() -> None:
    """In training all spans are scored at once, in prediction the rows that someone asks for: they are the same."""
    docs = [words_of(5, 1, 3), words_of(4)]
    model, _ = make(docs)
    trained, found = model(docs, True)[0].spans, model.predict(docs).spans
    assert trained is not None and found is not None and len(found.scores) == len(trained.scores) == 10 + 3 + 6
    np.testing.assert_array_equal(found.starts, trained.starts)
    for rows in (slice(None), slice(10, 13), slice(3, 3), slice(12, None), np.asarray([18, 0, 11])):
        np.testing.assert_allclose(found.scores[rows], trained.scores[rows], atol=1e-6)
    np.testing.assert_allclose(np.asarray(found.scores, dtype="d"), trained.scores, atol=1e-6)
    halves = found.scores * 0.5  # computed when they are read, too
    assert not isinstance(halves, np.ndarray) and halves.shape == trained.scores.shape
    np.testing.assert_allclose((halves * 3)[2:5], trained.scores[2:5] * 1.5, atol=1e-6)
    np.testing.assert_allclose(halves, trained.scores * 0.5, atol=1e-6)


def test_long_sentences() -> None:
    """Leaf and gap scores choose the tree; labels are those of its spans, and decoding tags finds both."""
    docs = [words_of(2, 7, 1), words_of(9, spaces=(3,))]
    model, lookup = make(docs, max_words=6)
    Y = model.predict(docs)
    assert Y.spans is not None and Y.spans.starts.tolist() == [0, -1, 1, -1] and len(Y.spans.scores) == 1
    for doc, tokens, s in ((docs[0], Y.words.sentences[0][1], 1), (docs[1], Y.words.sentences[1][0], 3)):
        n, start = len(tokens), 2 * int(Y.words.starts[s])
        leaves, gaps, spans = scores_by_hand(model, lookup, [doc[i].text for i in tokens])
        rows = Y.rows[start : start + 2 * n]
        shape = np.full((2 * n, len(TAGS)), -1e3)  # the scores of the unlabelled tree
        n_leaves, n_left = int(TAGS.offsets[2]), int(TAGS.offsets[3])
        shape[::2, :n_leaves] = leaves
        shape[1:-1:2, n_leaves] = np.asarray(gaps)[:, 0]
        shape[1:-1:2, n_left] = np.asarray(gaps)[:, 1]
        plain = tags_batch(shape, n)
        expected = labelled_nodes(ExactDecoder()(Distribution(plain)).ids, plain, bare=True)
        batch = tags_batch(rows, n)
        found = labelled_nodes(ExactDecoder()(Distribution(batch)).ids, batch, bare=True)
        assert found.start.tolist() == expected.start.tolist() and found.end.tolist() == expected.end.tolist()
        for start, end, tag in zip(found.start, found.end, found.tag, strict=True):
            if end - start > 1:
                scores = spans[span_row(n, start, end)]
                ids = TAGS.node_ids[int(TAGS.classes[tag]) - 2]
                allowed = np.flatnonzero(ids >= 0)
                assert tag == ids[allowed[scores[allowed].argmax()]]


def test_gradient_of_long_sentences() -> None:
    """What comes for the labelled tags of a gap goes to its left or right score; span scores get nothing.

    In a short sentence all of it comes for the bare tags.
    """
    docs = [words_of(4)]
    rng = np.random.default_rng(0)
    slots = rng.normal(size=(4, 2, len(TAGS))).astype("f")
    bare = slots.copy()
    for first, last in pairwise(TAGS.offsets[2:].tolist()):
        bare[:, 1, first] = slots[:, 1, first:last].sum(axis=1)
        bare[:, 1, first + 1 : last] = 0
    grads = []
    for max_words, d_slots in ((250, bare), (3, slots)):
        model, _ = make(docs, max_words=max_words)
        Y, backprop = model(docs, True)
        assert Y.spans is not None
        backprop(SentenceScores(d_slots.reshape(8, -1), Y.words, spans=SpanScores(Y.spans.scores * 0, Y.spans.starts)))
        assert not model.get_ref("span").get_grad("W").any()
        grads.append([model.get_ref(name).get_grad("W") for name in ("leaf", "gap")])
    for short, long in zip(*grads, strict=True):
        assert short.any()
        np.testing.assert_allclose(short, long, atol=1e-5)


@pytest.mark.parametrize("n", [1000, 10000])
def test_very_long_sentence(n: int) -> None:
    doc = words_of(n)
    model, _ = make([words_of(3)])
    Y = model.predict([doc])
    assert Y.spans is not None and not len(Y.spans.scores)
    batch = Y.batch(TAGS, ORDERS["in"], None)
    assert len(labelled_nodes(ExactDecoder()(Distribution(batch)).ids, batch).tag) > n / 10


def test_the_longest_sentence_whose_spans_are_scored() -> None:
    """It has exactly max_words words; one more is too many."""
    for n, scored in ((5, True), (6, True), (7, False)):
        docs = [words_of(n)]
        Y = make(docs, max_words=6)[0].predict(docs)
        assert Y.spans is not None and Y.spans.starts.tolist() == [0 if scored else -1]
        assert len(Y.spans.scores) == (n * (n - 1) // 2 if scored else 0)
        labelled = np.flatnonzero((TAGS.classes >= 2) & (TAGS.labelled > 0))
        assert Y.rows[1:-1:2, labelled].any() != scored  # the tags of gaps say no labels where spans do


def test_settings_that_a_saved_learner_had_do_not_count() -> None:
    """Those of the config do, also where an older version saved them with the weights."""
    docs = [words_of(5)]
    saved, _ = make(docs, max_words=6)
    saved.attrs["max_words"] = 6
    loaded = make(docs, max_words=4)[0].from_bytes(saved.to_bytes())
    found = loaded.predict(docs)
    assert found.spans is not None and found.spans.starts.tolist() == [-1]


def test_layers_where_thinc_validates_data() -> None:
    """It asks a forward function for its name, and for three arguments."""
    scaled = build_scaled(Model("lookup", Lookup()), 2.0)
    for layer in (make([words_of(5)])[0], scaled.layers[1].layers[0]):
        validate_fwd_input_output(layer.name, layer._func, None, None)


def sentence_scores(docs: list[Doc], starts: list[int]) -> SentenceScores:
    """Scores that are all different, with spans of the sentences that have a first row."""
    words = Words.of(docs)
    n = [int(n) * (int(n) - 1) // 2 for n, start in zip(words.n_words, starts, strict=True) if start >= 0]
    rows = np.arange(2.0 * len(words.tokens) * len(TAGS)).reshape(-1, len(TAGS))
    n_labels = len(TAGS.node_labels)
    return SentenceScores(
        rows, words, spans=SpanScores(np.arange(float(sum(n) * n_labels)).reshape(-1, n_labels), np.asarray(starts))
    )


def test_sentences_of_docs() -> None:
    """Gold sentences are found in those of the learner, and their spans among its rows; gradients find the way back."""
    docs = [words_of(4, 2, spaces=(1,)), words_of(), words_of(3)]
    Y = sentence_scores(docs, [0, 6, 7])
    words, spans = Y.words, Y.spans
    assert spans is not None and words.sentences == [[[0, 2, 3, 4], [5, 6]], [], [[0, 1, 2]]]
    whole = Y.batch(TAGS, ORDERS["in"], 3)
    assert whole.starts.tolist() == [0, 8, 12] and whole.scores is Y.rows and whole.max_stack == 3
    # The same sentences.
    first, n_words = words.find(words.sentences), words.n_words
    assert first.tolist() == [0, 4, 6] and words.sentences_around(first, n_words).tolist() == [0, 1, 2]
    same, back = Y.batch_of(whole, first, n_words)
    assert same.spans is not None and same.spans.scores is spans.scores and same.spans.starts.tolist() == [0, 6, 7]
    assert same.starts.tolist() == [0, 8, 12] and same.max_stack == 3 and back(same).words is words
    # Parts of them; one of these goes from one sentence into the next.
    sentences = [[[0, 2], [3, 4], [4, 5], [5, 6], [6]], [], [[1, 2]]]
    first, n_words = words.find(sentences), np.asarray([2, 2, 2, 2, 1, 2])
    assert first.tolist() == [0, 2, 3, 4, 5, 7]
    around = words.sentences_around(first, n_words)
    assert around.tolist() == [0, 0, -1, 1, 1, 2]
    first_kept, n_kept = first[around >= 0], n_words[around >= 0]
    found, back = Y.batch_of(whole, first_kept, n_kept)
    # (0, 2) and (2, 4) of four words, the only one of two, none, and (1, 3) of three
    rows = [0, 5, 6, 9]
    assert found.spans is not None and found.spans.starts.tolist() == [0, 1, 2, 3, 3]
    np.testing.assert_array_equal(found.spans.scores, spans.scores[rows])
    assert found.starts.tolist() == [0, 4, 8, 10, 14] and found.n_words.tolist() == n_kept.tolist()
    gradient = back(found.with_arrays((found.scores + 1, found.spans.scores + 1)))
    np.testing.assert_array_equal(gradient.rows, Y.rows + 1)
    assert gradient.spans is not None and gradient.spans.scores.shape == spans.scores.shape
    np.testing.assert_array_equal(gradient.spans.scores[rows], spans.scores[rows] + 1)
    assert not np.delete(gradient.spans.scores, rows, axis=0).any() and gradient.spans.starts is spans.starts
    # Where the spans of some sentences are not scored.
    few = sentence_scores(docs, [-1, 0, -1])
    found, _ = few.batch_of(few.batch(TAGS, ORDERS["in"], None), first_kept, n_kept)
    assert found.spans is not None and found.spans.starts.tolist() == [-1, -1, 0, 1, -1]
    assert few.spans is not None
    np.testing.assert_array_equal(found.spans.scores, few.spans.scores)
    # Whole sentences, but not all of them.
    first = words.find([[[5, 6]], [], []])
    found, _ = Y.batch_of(whole, first, np.asarray([2]))
    assert found.spans is not None and found.spans.scores is spans.scores and found.spans.starts.tolist() == [6]


def test_settings() -> None:
    for wrong in ({"hidden_width": 0}, {"span_width": 0}, {"max_words": 0}):
        with pytest.raises(ValueError, match=r"\[E200\]"):
            make([words_of(2)], **wrong)
    for factor in (0, -1.0, float("nan"), float("inf"), None):
        with pytest.raises(ValueError, match=r"\[E219\]"):
            build_scaled(Model("lookup", Lookup()), factor)
    with pytest.raises(ValueError, match=r"\[E202\].*'pre'"):
        model = build_spans(Model("lookup", Lookup()))
        model.attrs.update(tags=list(TAGS.tags), order="pre")
        model.initialize(X=[words_of(2)])


def test_no_words() -> None:
    docs = [words_of(2)]
    model, lookup = make(docs)
    Y, backprop = model([words_of(), Doc(VOCAB, words=["\n"])], True)
    assert Y.rows.shape == (0, len(TAGS)) and not len(Y.words.n_words)
    assert Y.spans is not None and Y.spans.scores.shape == (0, len(TAGS.node_labels)) and not len(Y.spans.starts)
    backprop(Y)
    assert [array.shape for array in lookup.gradient] == [(0, WIDTH), (1, WIDTH)]


def test_scaled_encoder() -> None:
    docs = [words_of(2), words_of()]
    lookup = Lookup()
    model = build_scaled(Model("lookup", lookup), 10.0)
    Y, backprop = model(docs, True)
    assert [array.shape for array in Y] == [(2, WIDTH), (0, WIDTH)]
    np.testing.assert_allclose(Y[0], 10 * lookup(None, docs, True)[0][0], rtol=1e-6)
    backprop([np.ones_like(array) for array in Y])
    assert (lookup.gradient[0] == 10).all()
