"""What the last trainings of the English pipelines read."""

import sys

import spacy
from spacy.tokens import DocBin

from spacy_parsetag.tokens.conversion import docs_from_trees
from spacy_parsetag.treebanks.penn import read_string
from spacy_parsetag.trees import Parse
from tools import turns
from tools.repairs import repair

AMOUNT = "(TOP (S (NP (PRP It)) (VP (VBZ costs) (NP ($ $) (CD 2) (CD million))) (. .)))"
OTHER = "(TOP (S (NP (PRP It)) (VP (VBZ rains)) (NFP .)))"


def test_turns(tmp_path, monkeypatch):
    """Direct speech goes everywhere, amounts and mended trees to a turn each; the small one learns no tags it lacks."""
    nlp = spacy.blank("en")
    nlp.add_pipe("tagger").add_label("PRP")
    nlp.initialize()
    nlp.to_disk(tmp_path / "tagger")
    trees = [repair(Parse.from_tree(tree)) for text in (AMOUNT, OTHER) for tree in read_string(text)]
    for name in ("0/speech-000", "1/silver-000", "runs/silver-000", "sentences", "gold"):
        path = tmp_path / f"{name}.spacy"
        path.parent.mkdir(exist_ok=True)
        docs = list(docs_from_trees(nlp.vocab, trees))
        for doc in docs:
            doc.user_data["mended"] = doc[1].text == "rains"
        turns.write(docs, path)
    paths = (tmp_path, tmp_path / "sentences.spacy", tmp_path / "gold.spacy")
    monkeypatch.setattr(sys, "argv", ["turns.py", *map(str, paths), "--tagger", str(tmp_path / "tagger")])
    turns.main()
    found = {turn: sorted(path.name for path in (tmp_path / turn).iterdir()) for turn in ("0", "1", "2", "3", "small")}
    assert found == {
        "0": ["sentences.spacy", "speech-000.spacy"],
        "1": ["sentences.spacy", "silver-000.spacy", "speech-000.spacy"],
        "2": ["amounts.spacy", "sentences.spacy", "speech-000.spacy"],
        "3": ["mended-again.spacy", "mended.spacy", "sentences.spacy", "speech-000.spacy"],
        "small": ["gold.spacy", "silver-000.spacy", "speech-000.spacy"],
    }
    (amount,) = DocBin().from_disk(tmp_path / "2" / "amounts.spacy").get_docs(nlp.vocab)
    assert amount.text.startswith("It costs")
    (mended,) = DocBin().from_disk(tmp_path / "3" / "mended.spacy").get_docs(nlp.vocab)
    assert mended.text.startswith("It rains")
    tags = {path: {token.tag_ for doc in turns.read([tmp_path / path], nlp.vocab) for token in doc} for path in (
        "small/gold.spacy", "small/speech-000.spacy", "small/silver-000.spacy",
    )}  # fmt: skip
    assert tags["small/gold.spacy"] == {"PRP", ""} and tags["small/speech-000.spacy"] == {""}
    assert "NFP" in tags["small/silver-000.spacy"]
