"""Probabilities, the k best trees and the temperature, as users see them on docs."""

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import numpy as np
import pytest
from nltk import Tree
from spacy.language import Language
from spacy.tokens import Doc, DocBin, Span, SpanGroup
from spacy.vocab import Vocab
from tiny import make_examples, make_nlp, spans_of, train

from spacy_parsetag.decode import Decoded, Distribution, MBRDecoder, TreeDistribution, passes
from spacy_parsetag.decode.passes import chart_sums
from spacy_parsetag.decode.trees import labelled_nodes
from spacy_parsetag.pipeline.component import ParseTagger
from spacy_parsetag.tokens import doc_from_tree, register_extensions
from spacy_parsetag.tokens.groups import Prediction, set_predictions
from spacy_parsetag.tokens.sentences import WordMap, map_words

TEXT = "The old dog sings and barked on papers"
TEMPERATURES = ("temperature", "tree_temperature")
SETTINGS: dict[str, Any] = {"probs": False, "k_best": 0}


@pytest.fixture
def settings(trained: Callable[[str], Language]) -> Iterator[Callable[..., tuple[Language, ParseTagger]]]:
    """Trained pipelines with settings that are put back."""
    changed: list[ParseTagger] = []

    def get(
        order: str = "in", *, temperatures: tuple[float, float] = (1.0, 1.0), **values: Any
    ) -> tuple[Language, ParseTagger]:
        nlp = trained(order)
        pipe = nlp.get_pipe("parsetag")
        changed.append(pipe)
        pipe.cfg.update(zip(TEMPERATURES, temperatures, strict=True))
        for name, value in values.items():
            setattr(pipe, name, value)
        return nlp, pipe

    yield get
    for pipe in changed:
        pipe.cfg.update(dict.fromkeys(TEMPERATURES, 1.0))
        for name, value in SETTINGS.items():
            setattr(pipe, name, value)


def distribution(nlp: Language, pipe: ParseTagger, text: str) -> TreeDistribution:
    doc = nlp.get_pipe("one_sentence")(nlp.make_doc(text))
    batch, *_ = pipe.score_docs([doc])
    return TreeDistribution.from_batch(batch.scaled(1 / pipe.cfg["temperature"]), 0)


@pytest.mark.parametrize("order", ["in", "pre", "post"])
def test_what_the_distribution_says(order: str, settings: Callable[..., Any]) -> None:
    nlp, pipe = settings(order, probs=True, k_best=4, temperatures=(2.5, 2.5))
    doc = nlp(TEXT)
    d = distribution(nlp, pipe, TEXT)
    group = doc.spans["constituents"]
    attrs = group.attrs
    ids, score = d.argmax
    assert attrs["log_probs"] == pytest.approx([d.log_prob(ids)], abs=1e-4)
    assert attrs["log_probs"] == pytest.approx([score - d.log_partition], abs=1e-4)
    assert attrs["entropies"] == pytest.approx([d.entropy], rel=1e-4)
    constituents = d.constituents
    expected = [constituents[span.start, span.end, span.label_] for span in group]
    assert attrs["probs"] == pytest.approx(expected, rel=1e-4)
    right = sum(constituents[span] for span in set(spans_of(doc)))
    f = 2 * right / (len(set(spans_of(doc))) + sum(constituents.values()))
    assert attrs["expected_f"] == pytest.approx([f], rel=1e-4)
    for span in group:
        plain = doc[span.start : span.end]
        prob = constituents[span.start, span.end, span.label_]
        assert plain._.label_probs[span.label_] == pytest.approx(prob, rel=1e-4)
        assert plain._.prob == min(plain._.label_probs[label] for label in plain._.labels)
        assert span._.prob == plain._.label_probs[span.label_] == doc._.span_prob(span.start, span.end, span.label_)
        assert Span(doc, span.start, span.end, "PRODUCT")._.prob == 0
    [trees] = doc._.parses(4)
    assert [log_prob for _, log_prob in trees] == sorted((log_prob for _, log_prob in trees), reverse=True)
    assert trees[0][1] == pytest.approx(attrs["log_probs"][0], abs=1e-4)
    assert len({str(tree) for tree, _ in trees}) == 4
    assert " ".join(str(trees[0][0]).split()) == doc._.parse_strings[0]


@pytest.mark.parametrize("order", ["in", "pre"])
def test_log_probs_are_of_the_likeliest_binarization(order: str, settings: Callable[..., Any]) -> None:
    """A decoder may find any of the binary trees with the same constituents."""
    nlp, pipe = settings(order, probs=True)
    expected = nlp(TEXT).spans["constituents"].attrs["log_probs"]

    def find_another(trees: Distribution) -> Decoded:
        ids, scores = trees.topk(5000)[0]
        nodes = labelled_nodes(ids.reshape(-1), trees.batch, sentences=np.zeros(len(ids), dtype=np.int64))
        first, *others = nodes.spans(trees.batch.tags)
        last = max(i for i, spans in enumerate(others, start=1) if spans == first)
        return Decoded(ids[last], scores[last : last + 1])

    decoder, pipe.decoder = pipe.decoder, find_another
    try:
        assert nlp(TEXT).spans["constituents"].attrs["log_probs"] == pytest.approx(expected, abs=1e-4)
    finally:
        pipe.decoder = decoder


def test_rivals(settings: Callable[..., Any]) -> None:
    """Constituents that the tree has not are told of, with their probabilities, where they are likely."""
    nlp, pipe = settings(probs=True, temperatures=(2.5, 2.5))
    doc = nlp(TEXT)
    found = set(spans_of(doc))
    likely = distribution(nlp, pipe, TEXT).constituents.items()
    expected = {span: prob for span, prob in likely if span not in found and prob > 0.01}
    assert expected
    rivals = [rival for span in doc.spans["constituents"] for rival in span._.rivals]
    assert rivals and {(span.start, span.end, span.label_) for span, _ in rivals} <= set(expected)
    for (start, end, label), prob in expected.items():
        assert doc._.span_prob(start, end, label) == pytest.approx(prob, rel=1e-4)
        assert doc[start:end]._.label_probs[label] == pytest.approx(prob, rel=1e-4)
    assert doc._.span_prob(0, len(doc), "NOTHING") == 0
    for span in doc.spans["constituents"]:
        probs = [prob for _, prob in span._.rivals]
        assert probs == sorted(probs, reverse=True)
        for rival, _ in span._.rivals:
            (i, j), (start, end) = (rival.start, rival.end), (span.start, span.end)
            outer = span._.parent if len(span) < len(doc) else doc[:]
            is_between = outer.start <= i <= start and end <= j <= outer.end and (span is outer or j - i < len(outer))
            assert (i, j) == (start, end) or i < start < j < end or start < i < end < j or is_between


def test_rivals_of_an_attachment() -> None:
    """Another reading of a sentence may cross nothing: a phrase is then the child of another one."""
    register_extensions()
    doc = doc_from_tree(
        Vocab(),
        Tree.fromstring(
            "(TOP (S (NP (X She)) (VP (X saw) (NP (X the) (X man)) (PP (X with) (NP (X the) (X telescope))))))"
        ),
    )
    spans = [(0, 7, "S"), (0, 1, "NP"), (1, 7, "VP"), (2, 4, "NP"), (4, 7, "PP"), (5, 7, "NP")]
    rivals = [(2, 7, "NP", 0.08), (1, 4, "VP", 0.03), (4, 7, "ADVP", 0.02)]
    set_predictions(doc, [Prediction(range(7), spans, probs=[0.9] * 6, rivals=rivals)])
    found = {
        span.text: [(rival.text, rival.label_, prob) for rival, prob in span._.rivals]
        for span in doc.spans["constituents"]
    }
    np_, vp, advp = (
        ("the man with the telescope", "NP", 0.08),
        ("saw the man", "VP", 0.03),
        ("with the telescope", "ADVP", 0.02),
    )
    assert found == {
        "She saw the man with the telescope": [],
        "She": [],
        "saw the man with the telescope": [],
        "the man": [np_, vp],
        "with the telescope": [np_, advp],
        "the telescope": [],
    }
    assert [prob for _, prob in doc[3:5]._.rivals] == [0.08, 0.03, 0.02]  # of any span


def test_rivals_are_of_the_sentences_of_a_span() -> None:
    register_extensions()
    n = 5
    doc = Doc(Vocab(), words=["a"] * 3 * n, sent_starts=[i % n == 0 for i in range(3 * n)])
    spans, rivals = [(0, 5, "S"), (2, 5, "VP")], [(0, 3, "NP", 0.1), (1, 5, "VP", 0.4), (1, 2, "X", 0.3)]
    set_predictions(doc, [Prediction(range(i, i + n), spans, probs=[1, 0.5], rivals=rivals) for i in (0, n, 2 * n)])

    def found(start: int, end: int) -> list[tuple[int, int, float]]:
        return [(rival.start, rival.end, prob) for rival, prob in doc[start:end]._.rivals]

    for i in (0, n, 2 * n):
        assert found(i + 2, i + 5) == [(i + 1, i + 5, 0.4), (i, i + 3, 0.1)]
        assert found(i + 1, i + 2) == [(i + 1, i + 5, 0.4), (i + 1, i + 2, 0.3), (i, i + 3, 0.1)]
    assert found(2, n + 1) == [(1, 5, 0.4), (0, 3, 0.1), (5, 8, 0.1)]  # of two sentences
    assert found(0, len(doc)) == found(n - 1, n - 1) == []


def test_values_of_the_sentence_of_a_span() -> None:
    """White space that stands as a sentence of its own, and before the first word, has none."""
    register_extensions()
    words = ["\n", "She", "reads", "\n", "He", "\n", "left"]
    doc = Doc(Vocab(), words=words, sent_starts=[True, True, False, True, True, False, False])
    set_predictions(
        doc,
        [
            Prediction((1, 2), [(0, 2, "S")], probs=[0.9], log_prob=-0.1, expected_f=0.9),
            Prediction((4, 6), [(0, 2, "S")], probs=[0.5], log_prob=-0.7, expected_f=0.5),
        ],
    )
    assert [sent._.expected_f for sent in doc.sents] == [None, 0.9, None, 0.5]
    assert [sent._.log_prob for sent in doc.sents] == [None, -0.1, None, -0.7]
    assert [doc[i : i + 1]._.expected_f for i in range(7)] == [None, 0.9, 0.9, None, 0.5, None, 0.5]
    assert doc[2:6]._.expected_f is doc[:]._.log_prob is doc[1:1]._.log_prob is None
    assert doc[:4]._.expected_f == 0.9


def test_tokens_that_a_doc_does_not_have() -> None:
    register_extensions()
    doc = doc_from_tree(Vocab(), Tree.fromstring("(TOP (S (NP (X Kim)) (VP (X sings))))"))
    set_predictions(doc, [Prediction(range(2), [(0, 2, "S"), (0, 1, "NP"), (1, 2, "VP")], probs=[0.9, 0.8, 0.7])])
    assert doc._.span_prob(0, 2, "S") == doc._.span_prob(0, 2, doc.vocab.strings["S"]) == 0.9
    for start, end in [(0, 3), (1, 300), (2, 3), (-2, 2), (1, 1), (2, 1)]:
        with pytest.raises(ValueError, match=rf"E312.*tokens {start} to {end} in a doc of 2 tokens"):
            doc._.span_prob(start, end, "S")


def test_one_pass(settings: Callable[..., Any], monkeypatch: pytest.MonkeyPatch) -> None:
    """Minimum Bayes risk, probabilities, entropies and the k best trees share one pass of inside-outside."""
    nlp, pipe = settings(probs=True, k_best=3)
    calls = []

    def count(*arguments: Any) -> None:
        calls.append(arguments)
        chart_sums(*arguments)

    monkeypatch.setattr(passes, "chart_sums", count)
    decoder, pipe.decoder = pipe.decoder, MBRDecoder()
    doc = nlp(TEXT)
    pipe.decoder = decoder
    assert len(calls) == 1 and {"probs", "log_probs", "entropies", "k_best"} <= set(doc.spans["constituents"].attrs)


def test_a_word_without_constituent_has_none(settings: Callable[..., Any]) -> None:
    nlp, _ = settings(probs=True)
    doc = nlp("She enjoys reading papers .")
    bare = next(doc[i : i + 1] for i in range(len(doc)) if not doc[i : i + 1]._.labels)
    assert bare._.prob is None and bare._.label_probs == {}


def test_they_survive(settings: Callable[..., Any]) -> None:
    nlp, _ = settings(probs=True, k_best=2)
    doc = nlp(TEXT)
    [other] = DocBin().from_bytes(DocBin(docs=[doc]).to_bytes()).get_docs(nlp.vocab)
    for copy in (other, Doc(nlp.vocab).from_bytes(doc.to_bytes()), doc.copy()):
        assert copy.spans["constituents"].attrs == doc.spans["constituents"].attrs
        assert [span._.prob for span in copy._.constituents] == [span._.prob for span in doc._.constituents]
        assert copy._.parses(2) == doc._.parses(2)


def test_probabilities_are_in_the_order_of_the_group(settings: Callable[..., Any]) -> None:
    nlp, _ = settings(probs=True)
    doc = nlp(TEXT)
    group = doc.spans["constituents"]
    expected = {(span.start, span.end, span.label_): span._.prob for span in doc._.constituents}
    order = sorted(range(len(group)), key=lambda i: (group[i].start - group[i].end, -i))
    assert order != sorted(order)
    attrs = {**group.attrs, "probs": [group.attrs["probs"][i] for i in order]}
    doc.spans["constituents"] = SpanGroup(doc, name="constituents", spans=[group[i] for i in order], attrs=attrs)
    assert {(span.start, span.end, span.label_): span._.prob for span in doc._.constituents} == expected


def test_errors_say_what_to_set(settings: Callable[..., Any]) -> None:
    nlp, _ = settings()
    doc = nlp(TEXT)
    assert set(doc.spans["constituents"].attrs) == {"format"}
    with pytest.raises(ValueError, match=r"E320.*Set probs = true in the config.*'\)\.probs = True\."):
        _ = doc[0:1]._.prob
    with pytest.raises(ValueError, match=r"E320.*k_best = 3"):
        doc._.parses(3)
    for k in (0, -1, 1.5, "a"):
        with pytest.raises(ValueError, match=rf"E322.*got {k!r}"):
            doc._.parses(k)
    nlp, _ = settings(k_best=2)
    assert len(nlp(TEXT)._.parses(np.int64(1))[0]) == 1
    with pytest.raises(ValueError, match=r"E320.*k_best = 3"):
        nlp(TEXT)._.parses(3)
    pipe = nlp.get_pipe("parsetag")
    pipe.spans_key, pipe.temperature = "mine", 2.0  # type: ignore[attr-defined]
    assert set(nlp(TEXT).spans) == {"mine"} and pipe.cfg["temperature"] == pipe.temperature == 2.0  # type: ignore[attr-defined]
    for value in (0, True):
        with pytest.raises(ValueError, match=rf"\[E263\].*temperature .*must be a number above 0; got {value}"):
            pipe.temperature = value  # type: ignore[attr-defined]
    with pytest.raises(ValueError, match=r"\[E263\].*spans_key"):
        pipe.spans_key = None  # type: ignore[attr-defined]
    pipe.spans_key, pipe.temperature = "constituents", 1.0  # type: ignore[attr-defined]
    with pytest.raises(ValueError, match="E263"):
        make_nlp(conflicts="ignore")
    with pytest.raises(ValueError, match="E263"):
        make_nlp(k_best=-1)


def test_docs_without_words_have_no_trees(settings: Callable[..., Any]) -> None:
    """That is an answer, not a missing setting."""
    nlp, _ = settings(k_best=2, probs=True)
    for text in ("", " ", "\n\n"):
        doc = nlp(text)
        again = Doc(nlp.vocab).from_bytes(doc.to_bytes())
        assert doc._.parses(2) == again._.parses(2) == []
        of_sentences = ("log_probs", "entropies", "expected_f", "k_best", "rivals", "probs")
        assert doc.spans["constituents"].attrs == {"k": 2, "format": 1, **{key: [] for key in of_sentences}}
        with pytest.raises(ValueError, match="E320"):
            doc._.parses(3)


def test_the_doc_is_read_once(settings: Callable[..., Any], monkeypatch: pytest.MonkeyPatch) -> None:
    """Asking about every constituent of a long doc does not count its words again and again."""
    nlp, _ = settings(probs=True)
    doc = nlp(TEXT)
    read: list[Doc] = []

    def count(doc: Doc) -> WordMap:
        read.append(doc)
        return map_words(doc)

    for module in ("extensions", "nodes"):
        monkeypatch.setattr(f"spacy_parsetag.tokens.{module}.map_words", count)
    spans = list(doc._.constituents)
    assert all(0 <= span._.prob <= 1 for span in spans) and len(spans) > 2
    assert len(read) == 2  # once for nodes, and once for probabilities


def test_several_sentences_and_batches(settings: Callable[..., Any]) -> None:
    nlp, _ = settings(probs=True, k_best=2)
    texts = [TEXT, "", "Rain", "a cat on the mat"]
    docs = list(nlp.pipe(texts))
    for doc, text in zip(docs, texts, strict=True):
        alone, attrs = nlp(text).spans["constituents"].attrs, doc.spans["constituents"].attrs
        assert set(attrs) == set(alone)
        assert attrs.get("probs", []) == pytest.approx(alone.get("probs", []), rel=1e-4)
        assert attrs.get("log_probs", []) == pytest.approx(alone.get("log_probs", []), abs=1e-4)


def test_temperature(settings: Callable[..., Any]) -> None:
    """The same tree, surer or less sure; at a high temperature all trees are as probable."""
    found = []
    for temperature in (0.5, 1.0, 100.0):
        nlp, _ = settings(probs=True, temperatures=(temperature, temperature))
        doc = nlp(TEXT)
        found.append((spans_of(doc), doc.spans["constituents"].attrs["entropies"][0]))
    assert found[0][0] == found[1][0] == found[2][0]
    assert found[0][1] < found[1][1] < found[2][1]


@pytest.mark.parametrize("decoder", [MBRDecoder(0.0), MBRDecoder(), MBRDecoder(0.9)])
def test_trees_are_those_without_temperatures(decoder: Any, settings: Callable[..., Any], request: Any) -> None:
    """Minimum Bayes risk depends on probabilities, but takes them from the scores as they are."""
    _, pipe = settings()
    request.addfinalizer(partial(setattr, pipe, "decoder", pipe.decoder))
    pipe.decoder = decoder
    trees = []
    for temperature in (1.0, 0.2, 20.0):
        nlp, _ = settings(probs=True, k_best=2, temperatures=(temperature, temperature))
        trees.append([spans_of(nlp(text)) for text in (TEXT, "old dog papers sings The on", "sings on on old The")])
    assert trees[0] == trees[1] == trees[2]


def test_constituents_and_trees_have_temperatures_of_their_own(settings: Callable[..., Any]) -> None:
    of: dict[tuple[float, float], dict[str, Any]] = {}
    for temperatures in ((1.0, 1.0), (3.0, 3.0), (3.0, 1.0), (1.0, 3.0)):
        nlp, _ = settings(probs=True, k_best=3, temperatures=temperatures)
        of[temperatures] = dict(nlp(TEXT).spans["constituents"].attrs)
    for (first, second), attrs in of.items():
        for name in ("probs", "expected_f"):
            assert attrs[name] == pytest.approx(of[first, first][name], rel=1e-4)
        for name in ("log_probs", "entropies"):
            assert attrs[name] == pytest.approx(of[second, second][name], rel=1e-4)
        assert attrs["k_best"][0][0][0] == pytest.approx(attrs["log_probs"][0], abs=1e-4)
    nlp, _ = settings(probs=False, k_best=3, temperatures=(1.0, 3.0))
    [found], [expected] = nlp(TEXT).spans["constituents"].attrs["k_best"], of[3.0, 3.0]["k_best"]
    assert [log_prob for log_prob, _ in found] == pytest.approx([log_prob for log_prob, _ in expected], abs=1e-4)
    for name in ("probs", "log_probs"):
        assert of[1.0, 1.0][name] != pytest.approx(of[3.0, 3.0][name], rel=0.01)


def test_temperature_is_saved() -> None:
    nlp = make_nlp(probs=True)
    train(nlp, make_examples(nlp), steps=1)
    pipe = nlp.get_pipe("parsetag")
    pipe.cfg.update(temperature=3.0, tree_temperature=2.0)
    loaded = make_nlp(probs=True).from_bytes(nlp.to_bytes())
    assert [loaded.get_pipe("parsetag").cfg[name] for name in TEMPERATURES] == [3.0, 2.0]
    assert loaded(TEXT).spans["constituents"].attrs == nlp(TEXT).spans["constituents"].attrs
    for name in TEMPERATURES:
        pipe.cfg.update({**dict.fromkeys(TEMPERATURES, 1.0), name: 0.0})
        with pytest.raises(ValueError, match=rf"E257.*{name}"):
            make_nlp().from_bytes(nlp.to_bytes())
    nlp.initialize(lambda: make_examples(nlp))
    assert [pipe.cfg[name] for name in TEMPERATURES] == [1.0, 1.0]


def test_the_sentence_that_an_error_names(
    settings: Callable[..., tuple[Language, ParseTagger]], monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is counted in the doc, however the sentences were divided for decoding."""
    nlp, pipe = settings(probs=True)
    score_docs = pipe.score_docs

    def score(docs: list[Doc]) -> Any:
        batch, *others = score_docs(docs)
        batch.scores[batch.starts[900] : batch.stops[900]] *= 1e20
        return batch, *others

    monkeypatch.setattr(pipe, "score_docs", score)
    doc = Doc(nlp.vocab, words=["Kim", "sings", "."] * 1000, sent_starts=[True, False, False] * 1000)
    with pytest.raises(ValueError, match=r"\[E179\].* of sentence 900 "):
        pipe.predict([doc])
