"""What the last trainings of the English pipelines read."""

import sys

import pytest
import spacy
from spacy.tokens import DocBin

from spacy_parsetag.tokens.conversion import docs_from_trees
from spacy_parsetag.treebanks.penn import read_string
from spacy_parsetag.trees import Parse
from tools import turns
from tools.repairs import repair

AMOUNT = "(TOP (S (NP (PRP It)) (VP (VBZ costs) (NP ($ $) (CD 2) (CD million))) (. .)))"
OTHER = "(TOP (S (NP (PRP It)) (VP (VBZ rains)) (NFP .)))"


@pytest.mark.parametrize("dependencies, corrected", [(False, False), (True, False), (True, True)])
def test_turns(tmp_path, monkeypatch, dependencies, corrected):
    """Direct speech goes everywhere, amounts and mended trees to a turn each; the small one learns no tags it lacks.

    Where there are trees by dependencies, they take the place of the treebanks' trees that a parser made, and corrected
    trees the place of both.
    """
    nlp = spacy.blank("en")
    nlp.add_pipe("tagger").add_label("PRP")
    nlp.initialize()
    nlp.to_disk(tmp_path / "tagger")
    trees = [repair(Parse.from_tree(tree)) for text in (AMOUNT, OTHER) for tree in read_string(text)]
    names = ("0/speech-000", "1/silver-000", "runs/silver-000", "sentences", "gold")
    by_dependencies = ("dependencies/singles/ewt", "dependencies/runs/ewt")
    for name in names + by_dependencies * dependencies:
        path = tmp_path / f"{name}.spacy"
        path.parent.mkdir(parents=True, exist_ok=True)
        docs = list(docs_from_trees(nlp.vocab, trees))
        for doc in docs:
            doc.user_data.update(mended=doc[1].text == "rains", by_hand=doc[1].text == "costs")
        turns.write(docs, path)
    if corrected:
        (tmp_path / "corrected").mkdir()
        for name, text in (("corrected", AMOUNT.replace("It", "IT")), ("corrected-dev", OTHER)):
            trees = [Parse.from_tree(tree) for tree in read_string(text)]
            turns.write(docs_from_trees(nlp.vocab, trees), tmp_path / "corrected" / f"{name}.spacy")
    paths = (tmp_path, tmp_path / "sentences.spacy", tmp_path / "gold.spacy")
    monkeypatch.setattr(sys, "argv", ["turns.py", *map(str, paths), "--tagger", str(tmp_path / "tagger")])
    turns.main()
    turn_names = ["0", "1", "2", "3", "4", "5", "small", "small-4", "small-5"]
    found = {
        turn: sorted(path.name for path in (tmp_path / turn).iterdir())
        for turn in turn_names if (tmp_path / turn).is_dir()
    }  # fmt: skip
    expected = {
        "0": ["sentences.spacy", "speech-000.spacy"],
        "1": ["sentences.spacy", "silver-000.spacy", "speech-000.spacy"],
        "2": ["amounts.spacy", "sentences.spacy", "speech-000.spacy"],
        "3": ["mended-again.spacy", "mended.spacy", "sentences.spacy", "speech-000.spacy"],
        "small": ["gold.spacy", "silver-000.spacy", "speech-000.spacy"],
    }
    if dependencies:
        expected["4"] = ["ewt.spacy", "mended.spacy", "sentences.spacy", "speech-000.spacy"]
        expected["small-4"] = ["ewt.spacy", "gold.spacy", "silver-000.spacy", "speech-000.spacy"]
        few = {"PRP", ""}
        for name, n, tags in (
            ("4/sentences", 1, {"PRP", "VBZ", "$", "CD", "."}), ("4/ewt", 2, {"PRP", "VBZ", "NFP"}),
            ("small-4/gold", 1, few), ("small-4/ewt", 2, few),
        ):  # fmt: skip
            docs = list(turns.read([tmp_path / f"{name}.spacy"], nlp.vocab))
            assert len(docs) == n and docs[0].text.startswith("It costs")
            assert {token.tag_ for token in docs[-1]} == tags
    if corrected:
        for turn, kept in (("5", []), ("small-5", ["It"])):
            expected[turn] = sorted([*expected["4" if turn == "5" else "small-4"], "corrected.spacy"])
            docs = list(turns.read([tmp_path / turn / "ewt.spacy"], nlp.vocab))
            assert [doc[0].text for doc in docs if doc[1].text == "costs"] == kept
            assert not [doc for doc in docs if doc[1].text == "rains"]
            (doc,) = turns.read([tmp_path / turn / "corrected.spacy"], nlp.vocab)
            assert {token.tag_ for token in doc} == {"PRP", ""}
    assert found == expected
    (amount,) = DocBin().from_disk(tmp_path / "2" / "amounts.spacy").get_docs(nlp.vocab)
    assert amount.text.startswith("It costs")
    (mended,) = DocBin().from_disk(tmp_path / "3" / "mended.spacy").get_docs(nlp.vocab)
    assert mended.text.startswith("It rains")
    tags = {path: {token.tag_ for doc in turns.read([tmp_path / path], nlp.vocab) for token in doc} for path in (
        "small/gold.spacy", "small/speech-000.spacy", "small/silver-000.spacy",
    )}  # fmt: skip
    assert tags["small/gold.spacy"] == {"PRP", ""} and tags["small/speech-000.spacy"] == {""}
    assert "NFP" in tags["small/silver-000.spacy"]
