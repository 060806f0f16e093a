"""The pipe on a transformer: a tiny one with random weights, made on the spot."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import spacy
from spacy.language import Language
from spacy.tokens import Doc
from spacy.training import Example
from tiny import TREES, gold_doc, spans_of, words_only

from spacy_parsetag.tokens import parses_from_doc, set_parses
from spacy_parsetag.trees import Parse

pytest.importorskip("spacy_transformers", reason="spacy-transformers is not installed")
pytest.importorskip("transformers", reason="transformers is not installed")
pytest.importorskip("torch", reason="torch is not installed")

LISTENER = {
    "@architectures": "spacy-transformers.TransformerListener.v1",
    "grad_factor": 1.0,
    "upstream": "transformer",
    "pooling": {"@layers": "spacy-parsetag.LastSubword.v1"},
}


def make_nlp(encoder: Path, **parsetag: Any) -> Language:
    nlp = spacy.blank("en")
    nlp.add_pipe("one_sentence")
    spans = {"@span_getters": "spacy-transformers.strided_spans.v1", "window": 16, "stride": 12}
    transformer = {
        "@architectures": "spacy-transformers.TransformerModel.v3",
        "name": str(encoder),
        "get_spans": spans,
        "tokenizer_config": {"use_fast": True},
    }
    nlp.add_pipe("transformer", config={"model": transformer})
    model = {"@architectures": "spacy-parsetag.Tags.v1", "tok2vec": LISTENER}
    nlp.add_pipe("parsetag", config={"model": model, "learn_rate_scale": 5.0, **parsetag})
    return nlp


def make_examples(nlp: Language) -> list[Example]:
    """Trees, one with white space before, in and after it, an empty doc, and a sentence longer than the window."""
    golds = [gold_doc(nlp, tree) for tree in TREES]
    examples = [Example(words_only(nlp, gold), gold) for gold in golds]
    words = [token.text for token in golds[1]]
    examples.append(Example(Doc(nlp.vocab, words=["\n", *words[:2], "   ", *words[2:], "\n\n"]), golds[1]))
    examples.append(Example(Doc(nlp.vocab), Doc(nlp.vocab)))
    long = Doc(nlp.vocab, words=["reading", "papers"] * 20)
    set_parses(long, [(range(40), [(0, 40, "S"), *((i, 40, "NP") for i in range(1, 39))])])
    examples.append(Example(words_only(nlp, long), long))
    return examples


@pytest.fixture(scope="module")
def trained(encoder: Path) -> Language:
    nlp = make_nlp(encoder)
    examples = make_examples(nlp)
    optimizer = nlp.initialize(lambda: examples)
    optimizer.learn_rate = 0.005
    first: dict[str, float] = {}
    nlp.update(examples, sgd=optimizer, losses=first)
    for _ in range(15):
        losses: dict[str, float] = {}
        nlp.update(examples, sgd=optimizer, losses=losses)
    assert losses["parsetag"] < first["parsetag"] / 3
    return nlp


def test_it_learns(trained: Language) -> None:
    assert trained.evaluate(make_examples(trained))["parsetag_f"] > 0.9


def test_odd_docs(trained: Language) -> None:
    words = [
        [],
        ["\n"],
        [" ", "\n\n"],
        ["the"],
        ["\n", "the", " ", "dog", "\n"],
        ["ü", "日本", "🙂"],
        ["reading"] * 100,
    ]
    docs = [Doc(trained.vocab, words=tokens) for tokens in words]
    for doc in trained.pipe(docs):
        parses = parses_from_doc(doc)
        assert [i for sentence in parses for i in sentence.tokens] == [token.i for token in doc if not token.is_space]
        for sentence in parses:
            tree = sentence.parse.to_tree()
            assert Parse.from_tree(tree) == sentence.parse
    for tokens in words:
        alone = trained(Doc(trained.vocab, words=tokens))
        assert "constituents" in alone.spans
    assert len(docs[-1].spans["constituents"]) > 10


def test_saving(trained: Language, encoder: Path, tmp_path: Path) -> None:
    texts = ["She enjoys reading papers .", "the mat", "", "\n"]
    expected = [spans_of(doc) for doc in trained.pipe(texts)]
    trained.to_disk(tmp_path)
    assert [spans_of(doc) for doc in spacy.load(tmp_path).pipe(texts)] == expected
    again = make_nlp(encoder).from_bytes(trained.to_bytes())
    assert [spans_of(doc) for doc in again.pipe(texts)] == expected


def test_last_subword_is_pooled(trained: Language) -> None:
    """The word's vector is the encoder's output at its last subword."""
    doc = trained("She enjoys \n reading")
    vectors = trained.get_pipe("parsetag").model.get_ref("tok2vec").predict([doc])[0]
    pieces = doc._.trf_data
    output = pieces.model_output.last_hidden_state.reshape(-1, 32)
    for token in doc:
        rows = pieces.align[token.i].dataXd
        expected = output[rows[-1, 0]] if len(rows) else np.zeros(32)
        np.testing.assert_allclose(vectors[token.i], expected, rtol=1e-5, atol=1e-6)
    assert not len(pieces.align[2].dataXd) and len(pieces.align[3].dataXd) > 1


def test_a_copy_of_the_encoder_for_each_component(encoder: Path, tmp_path: Path) -> None:
    """Their listeners lie below `model.tok2vec`, as in configs/transformer.cfg."""
    features = {"width": 16, "attrs": ["NORM"], "rows": [50], "include_static_vectors": False}
    beside = {"encoder": LISTENER, "features": {"@architectures": "spacy.MultiHashEmbed.v2", **features}}
    tok2vec = {"@layers": "concatenate.v1", "*": beside}
    nlp = make_nlp(encoder, model={"@architectures": "spacy-parsetag.Tags.v1", "tok2vec": tok2vec})
    scaled = {"@architectures": "spacy-parsetag.Scaled.v1", "factor": 10.0, "tok2vec": {**LISTENER, "grad_factor": 0.1}}
    nlp.add_pipe("tagger", config={"model": {"@architectures": "spacy.Tagger.v2", "tok2vec": scaled}})
    examples = make_examples(nlp)
    nlp.initialize(lambda: examples)
    nlp.to_disk(tmp_path / "shared")
    own = spacy.load(tmp_path / "shared")
    own.replace_listeners("transformer", "parsetag", ["model.tok2vec.*.encoder"])
    own.replace_listeners("transformer", "tagger", ["model.tok2vec.tok2vec"])
    assert own.config["components"]["tagger"]["model"]["tok2vec"]["tok2vec"]["grad_factor"] == 0.1
    own.remove_pipe("transformer")
    own.to_disk(tmp_path / "own")
    docs = [[*pipeline.pipe(eg.text for eg in examples)] for pipeline in (nlp, own, spacy.load(tmp_path / "own"))]
    expected, *others = [[(spans_of(doc), [token.tag_ for token in doc]) for doc in parsed] for parsed in docs]
    assert any(spans for spans, _ in expected) and others == [expected, expected]
