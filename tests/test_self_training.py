"""The tools of self-training: sentences of newswire, one pipeline of several, and trees to train on."""

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import nltk
import pytest
import spacy
from spacy.tokens import Doc, DocBin
from spacy.training import Example
from tiny import TREES, gold_doc, make_examples, make_nlp, train

from spacy_parsetag.tokens import doc_from_tree
from spacy_parsetag.tokens.groups import SPANS_KEY
from tools import newswire, self_training

ARTICLES = """<REUTERS><TITLE>RATES RISE</TITLE><BODY>The &quot;old&quot; bank &lt;BNK.N> raised its rate,
sources said today.
    It pays five pct    6
    Nobody in the market knew why the bank did so.
 Reuter
&#3;</BODY></REUTERS><REUTERS><TITLE>NO BODY</TITLE></REUTERS>"""


def call(monkeypatch: pytest.MonkeyPatch, tool: Callable[[], None], *arguments: object) -> None:
    monkeypatch.setattr(sys, "argv", ["tool", *map(str, arguments)])
    tool()


def test_sentences_of_newswire(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    source = tmp_path / "source"
    source.mkdir()
    (source / "0.sgm").write_text(ARTICLES)
    paragraphs = list(newswire.read_paragraphs(source / "0.sgm"))
    assert paragraphs == [
        'The "old" bank <BNK.N> raised its rate, sources said today.',
        "Nobody in the market knew why the bank did so.",
    ]
    splitter = tmp_path / "splitter"
    nlp = spacy.blank("en")
    nlp.add_pipe("sentencizer")
    nlp.to_disk(splitter)
    trees = tmp_path / "trees.mrg"
    sentence = "(S (NP (DT The) (NN dog)) (VP (VBZ barks)) (. .))"
    trees.write_text(sentence)
    output = tmp_path / "sentences.txt"
    rest = ("--splitter", splitter, "--exclude", trees)
    call(monkeypatch, newswire.main, source, output, *rest)
    assert output.read_text().splitlines() == ["Nobody in the market knew why the bank did so ."]
    words = ["in", "the", "market", "knew", "why", "the", "bank", "did", "so"]
    trees.write_text("(S " + " ".join(f"(X {word})" for word in words) + ")")
    call(monkeypatch, newswire.main, source, output, *rest)
    assert output.read_text() == ""
    with pytest.raises(SystemExit, match=r"no \.sgm file"):
        call(monkeypatch, newswire.main, trees.parent / "splitter", output, *rest)


def test_what_is_a_sentence() -> None:
    assert newswire.is_sentence(["``", "Rates", "rise", ",", "''", "the", "bank", "said", "today", "."])
    for text in ("5 mln 6 mln .", "they rise again today .", "Rates rise again today", "Stop it ."):
        assert not newswire.is_sentence(text.split())


def test_from_pipelines_to_trees(run: Callable[..., Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for order in ("in", "pre"):
        nlp = make_nlp(order)
        train(nlp, make_examples(nlp))
        nlp.to_disk(tmp_path / order)
    before = [pipe for pipe in nlp.pipe_names if pipe != "parsetag"]
    together = tmp_path / "together"
    call(monkeypatch, self_training.main, "ensemble", together, tmp_path / "in", tmp_path / "pre")
    nlp = spacy.load(together)
    assert nlp.pipe_names == [*before, "parsetag_ensemble"]
    lines = ["The old dog sings and barked on papers", "The dog barked", "Dogs"]
    sentences = tmp_path / "sentences.txt"
    sentences.write_text("\n".join(lines) + "\n")
    gold, silver, mixed = (tmp_path / f"{name}.spacy" for name in ("gold", "silver", "mixed"))
    gold_docs = [gold_doc(nlp, TREES[0])]
    gold_docs[0][0].lemma_, gold_docs[0].user_data["id"] = "lemma", "one"
    gold_docs[0][0].set_morph("Number=Sing")
    DocBin(docs=gold_docs, store_user_data=True).to_disk(gold)
    for wanted in (True, False):
        options = ["--probs"] if wanted else []
        assert run("parse", together, sentences, silver, "--format", "tokens", *options).exit_code == 0
        call(monkeypatch, self_training.main, "mix", gold, silver, mixed, "--words", 2, 9, "--share", 0.5)
        docs = list(DocBin().from_disk(mixed).get_docs(nlp.vocab))
        texts = sorted(" ".join(token.text for token in doc) for doc in docs)
        first = " ".join(token.text for token in gold_doc(nlp, TREES[0]))
        silver_docs = [doc for doc in DocBin().from_disk(silver).get_docs(nlp.vocab) if len(doc) > 1]
        best = max(silver_docs, key=lambda doc: doc.spans[SPANS_KEY].attrs["expected_f"][0])
        assert texts == sorted([first, first, " ".join(token.text for token in best)])
        assert not any("probs" in doc.spans[SPANS_KEY].attrs for doc in docs)
        kept = [doc for doc in docs if doc.user_data.get("id") == "one"]
        assert [(doc[0].lemma_, str(doc[0].morph)) for doc in kept] == [("lemma", "Number=Sing")] * 2
    with pytest.raises(SystemExit, match="no sentence of 90 to 99 words"):
        call(monkeypatch, self_training.main, "mix", gold, silver, mixed, "--words", 90, 99)
    with pytest.raises(SystemExit, match="--probs"):
        call(monkeypatch, self_training.main, "mix", gold, gold, mixed)
    del gold_docs[0].spans[SPANS_KEY]
    DocBin(docs=gold_docs).to_disk(gold)
    with pytest.raises(SystemExit, match=r"gold\.spacy has docs without trees"):
        call(monkeypatch, self_training.main, "mix", gold, silver, mixed)


def test_an_ensemble_needs_parsers(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    spacy.blank("en").to_disk(tmp_path / "none")
    with pytest.raises(SystemExit, match="no parser"):
        call(monkeypatch, self_training.main, "ensemble", tmp_path / "together", tmp_path / "none")


def test_an_ensemble_takes_packages(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    nlp = make_nlp()
    nlp.initialize(lambda: make_examples(nlp))
    nlp.to_disk(tmp_path / "one")
    path = (tmp_path / "one").as_posix()
    (tmp_path / "package_of_one.py").write_text(f"import spacy\ndef load(**_): return spacy.load({path!r}, **_)\n")
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr("spacy.util.is_package", lambda name: name == "package_of_one")
    call(monkeypatch, self_training.main, "ensemble", tmp_path / "together", "package_of_one")
    assert spacy.load(tmp_path / "together").pipe_names == ["one_sentence", "parsetag_ensemble"]


@pytest.mark.filterwarnings("ignore:.*W258")
def test_an_ensemble_takes_the_place_of_the_parser(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It stands before what reads its trees, and keeps them where the parser did."""
    nlp = make_nlp(spans_key="trees")
    nlp.add_pipe("tree_matcher", config={"spans_key": "trees", "patterns": {"A": ["NP"]}})
    gold = doc_from_tree(nlp.vocab, nltk.Tree.fromstring(TREES[0]), spans_key="trees")
    nlp.initialize(lambda: [Example(nlp.make_doc(gold.text), gold)])
    nlp.to_disk(tmp_path / "one")
    call(monkeypatch, self_training.main, "ensemble", tmp_path / "together", tmp_path / "one")
    together = spacy.load(tmp_path / "together")
    assert together.pipe_names == [*nlp.pipe_names[:-2], "parsetag_ensemble", "tree_matcher"]
    assert "trees" in together("The dog barked.").spans


def test_certain_trees_come_first() -> None:
    vocab = spacy.blank("en").vocab
    docs = []
    for n, expected in ((3, 0.5), (4, 0.9), (5, 0.7), (6, 0.8), (50, 1.0)):
        doc = Doc(vocab, ["a"] * n)
        doc.spans[SPANS_KEY] = []
        doc.spans[SPANS_KEY].attrs["expected_f"] = [expected]
        docs.append(doc)
    kept, n = self_training.most_certain(docs, share=0.5, least=3, most=45)
    assert [len(doc) for doc in kept] == [4, 6] and n == 4
