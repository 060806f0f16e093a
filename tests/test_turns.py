"""What the last trainings of the English pipelines read."""

import sys

import pytest
import spacy
from spacy.language import Language

from spacy_parsetag.tokens.conversion import docs_from_trees
from spacy_parsetag.treebanks.penn import read_string
from spacy_parsetag.trees import Parse
from tools import turns
from tools.english import read, write
from tools.repairs import repair

AMOUNT = "(TOP (S (NP (PRP It)) (VP (VBZ costs) (NP ($ $) (CD 2) (CD million))) (. .)))"
OTHER = "(TOP (S (NP (PRP It)) (VP (VBZ rains)) (NFP .)))"
SCORED = "(TOP (S (NP (PRP We)) (VP (VBP sing)) (. .)))"
SILVER = "(TOP (S (NP (PRP We)) (VP (VBP sing)) (. !)))"
TURNS = ["0", "1", "2", "3", "4", "5", "small", "small-4", "small-5"]


@pytest.fixture
def folder(tmp_path):
    """A folder with all that turns are made of: two sentences, and one that is scored, everywhere."""
    nlp = spacy.blank("en")
    nlp.add_pipe("tagger").add_label("PRP")
    nlp.initialize()
    nlp.to_disk(tmp_path / "tagger")
    trees = [repair(Parse.from_tree(tree)) for text in (AMOUNT, OTHER, SILVER) for tree in read_string(text)]
    for name in ("speech/speech-000", "singles/silver-000", "runs/silver-000", "sentences", "gold",
                 "dependencies/singles/ewt", "dependencies/runs/ewt"):  # fmt: skip
        path = tmp_path / f"{name}.spacy"
        path.parent.mkdir(parents=True, exist_ok=True)
        docs = list(docs_from_trees(nlp.vocab, trees))
        for doc in docs:
            doc.user_data.update(mended=doc[1].text != "costs", by_hand=doc[1].text != "rains")
        write(docs, path)
    for name, texts in (("corrected", [AMOUNT.replace("It", "IT"), SILVER]), ("corrected-dev", [SCORED])):
        trees = [Parse.from_tree(tree) for text in texts for tree in read_string(text)]
        write(docs_from_trees(nlp.vocab, trees), tmp_path / f"{name}.spacy")
    return tmp_path


def run(folder, monkeypatch, *names):
    paths = (folder, folder / "sentences.spacy", folder / "gold.spacy", folder)
    options = ["--tagger", str(folder / "tagger"), "--turns", *names]
    monkeypatch.setattr(sys, "argv", ["turns.py", *map(str, paths), *options])
    turns.main()


def test_turns(folder, monkeypatch):
    """Direct speech goes everywhere, amounts and mended trees to a turn each; the small one learns no tags it lacks.

    Trees by dependencies take the place of the treebanks' trees that a parser made, and corrected trees the place of
    both. What is scored is nowhere.
    """
    run(folder, monkeypatch, *TURNS)
    speech, by_speech = "speech-000.spacy", ["sentences.spacy", "speech-000.spacy"]
    by_hand = ["ewt.spacy", "mended.spacy", *by_speech]
    small = ["gold.spacy", "silver-000.spacy", speech]
    found = {turn: sorted(path.name for path in (folder / turn).iterdir()) for turn in TURNS}
    assert found == {
        "0": by_speech,
        "1": ["sentences.spacy", "silver-000.spacy", speech],
        "2": ["amounts.spacy", *by_speech],
        "3": ["mended-again.spacy", "mended.spacy", *by_speech],
        "4": by_hand,
        "5": ["corrected.spacy", *by_hand],
        "small": small,
        "small-4": ["ewt.spacy", *small],
        "small-5": ["corrected.spacy", "ewt.spacy", *small],
    }
    vocab = Language().vocab

    def docs(name):
        return list(read([folder / f"{name}.spacy"], vocab))

    def verbs(name):
        return [doc[1].text for doc in docs(name)]

    for turn, names in found.items():
        for name in names:
            assert "sing" not in verbs(f"{turn}/{name.removesuffix('.spacy')}"), (turn, name)
    assert verbs("2/amounts") == ["costs"] and verbs("3/mended") == verbs("3/mended-again") == ["rains"]
    assert verbs("1/silver-000") == verbs("4/ewt") == verbs("small-5/ewt") == ["costs", "rains"]
    assert verbs("4/sentences") == verbs("small-4/gold") == ["costs"] == verbs("5/corrected")
    assert verbs("5/sentences") == [] and verbs("5/ewt") == verbs("5/speech-000") == ["rains"]
    assert {token.tag_ for token in docs("small/speech-000")[-1]} == {""}
    for name in ("4/ewt", "small/silver-000"):
        assert {token.tag_ for token in docs(name)[-1]} == {"PRP", "VBZ", "NFP"}, name
    for name in ("5/corrected", "small/gold", "small-4/ewt", "small-4/gold", "small-5/corrected"):
        assert {token.tag_ for token in docs(name)[-1]} == {"PRP", ""}, name


def test_what_is_missing_or_old(folder, monkeypatch):
    """A turn takes nothing of an earlier one of its name, and says what it lacks."""
    run(folder, monkeypatch, "1")
    (folder / "singles" / "silver-000.spacy").rename(folder / "singles" / "silver-001.spacy")
    run(folder, monkeypatch, "1")
    assert sorted(path.name for path in (folder / "1").glob("silver-*")) == ["silver-001.spacy"]
    (folder / "dependencies" / "runs" / "ewt.spacy").unlink()
    with pytest.raises(SystemExit, match=r"runs has no \.spacy files, and turn small-4"):
        run(folder, monkeypatch, "3", "small-4")
