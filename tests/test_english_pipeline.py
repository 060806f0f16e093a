"""en_parsetag_sm, the pipeline that comes with the project."""

import json
from pathlib import Path

import pytest
import spacy
from spacy.language import Language
from weasel.util.config import load_project_config

ROOT = Path(__file__).resolve().parent.parent
PACKAGE = ROOT / "models" / "en_parsetag_sm"
META = json.loads((PACKAGE / "meta.json").read_text(encoding="utf8"))
FOLDER = PACKAGE / "en_parsetag_sm" / f"en_parsetag_sm-{META['version']}"
TEXT = "She says that he reads papers. The old dog, which was tired, didn't bark at him (or at us)."


@pytest.fixture(scope="module")
def nlp() -> Language:
    return spacy.load(FOLDER)


def test_sentences_tags_and_trees(nlp: Language) -> None:
    doc = nlp(TEXT)
    first, second = doc.sents
    assert first._.parse_string == (
        "(S (NP (PRP She)) (VP (VBZ says) (SBAR (IN that) (S (NP (PRP he)) (VP (VBZ reads) (NP (NNS papers)))))) (. .))"
    )
    assert second[0].text == "The" and [token.tag_ for token in second[:3]] == ["DT", "JJ", "NN"]
    labels = {(span.text, span.label_) for span in doc.spans["constituents"]}
    assert {("The old dog", "NP"), ("at him", "PP")} <= labels


@pytest.mark.parametrize(
    "text", ["", " ", "\n\n", "a", "…", "\u00a0x\u00a0\u200b", "I\n\n\nYou", "😀 " * 300, "and " * 500]
)
def test_odd_texts(nlp: Language, text: str) -> None:
    doc = nlp(text)
    assert doc.text == text and "constituents" in doc.spans


def test_a_doc_of_its_own_and_in_a_batch(nlp: Language) -> None:
    texts = [TEXT, "Stop!", TEXT + " " + TEXT]
    for text, doc in zip(texts, nlp.pipe(texts, batch_size=3), strict=True):
        alone = nlp(text)
        assert [(s.start, s.end, s.label_) for s in alone.spans["constituents"]] == [
            (s.start, s.end, s.label_) for s in doc.spans["constituents"]
        ]


def test_sentences_that_are_given_stay(nlp: Language) -> None:
    doc = nlp.make_doc("She reads. He sings.")
    for token in doc:
        token.is_sent_start = token.i == 0
    assert len(list(nlp(doc).sents)) == 1


def test_it_is_small_and_states_its_terms(nlp: Language) -> None:
    package = PACKAGE / "en_parsetag_sm"  # beside it pip leaves what it built
    assert sum(path.stat().st_size for path in package.rglob("*") if path.is_file()) < 15 * 2**20
    assert META["license"] == "CC BY-SA 4.0" and len(META["sources"]) == 13
    assert all(value is None for value in nlp.config["paths"].values())
    (requirement,) = (line for line in META["requirements"] if line.startswith("spacy-parsetag"))
    assert ">=0.1.0" in requirement


def test_it_needs_no_pytorch(nlp: Language) -> None:
    """No layer is a shim around another library's."""
    assert all(not layer.shims for _, pipe in nlp.pipeline for layer in pipe.model.walk())


@pytest.mark.parametrize("workflow", ["build-trf", "build-sm", "build-research", "build-target", "self-train"])
def test_its_workflows(workflow: str) -> None:
    """Files that a workflow runs and reads exist, or an earlier command, an asset or the user makes them."""
    config = load_project_config(ROOT / "models")
    commands = {command["name"]: command for command in config["commands"]}
    # The user's:
    made = {"assets/target/train.mrg", "assets/target/dev.mrg", "assets/more/train.mrg", "assets/sentences.txt"}
    for step in config["workflows"][workflow]:
        for words in map(str.split, commands[step]["script"]):
            assert words[1] in ("-m", "-c") or (ROOT / "models" / words[1]).is_file(), words
        assert all(path in made or (ROOT / "models" / path).exists() for path in commands[step].get("deps", []))
        made.update(commands[step].get("outputs", []))
    assert (ROOT / "models" / config["vars"]["config"]).is_file()
