"""en_parsetag_sm, the pipeline that comes with the project."""

import json
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
import spacy
from spacy.language import Language
from weasel.util.config import load_project_config

from tools.release import load

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
    # Neither chain has other constituents than the other: SBAR over S, and S over SBAR.
    (third,) = nlp("She says he reads papers.").sents
    assert "(VP (VBZ says) (SBAR (S (NP (PRP he)) (VP" in third._.parse_string


def test_the_full_stop_after_a_pronoun(nlp: Language) -> None:
    assert [token.text for token in nlp("So did I. J. Low did.")] == ["So", "did", "I", ".", "J.", "Low", "did", "."]


def test_blank_lines_end_sentences(nlp: Language) -> None:
    text = "Chapter 2\n\nNorton made a living. He lost it.\n\nPart 3\n\nKim"
    sentences = ["Chapter 2", "Norton made a living.", "He lost it.", "Part 3", "Kim"]
    assert [sentence.text.strip() for sentence in nlp(text).sents] == sentences


def test_sentences_in_quotation_marks(nlp: Language) -> None:
    text = 'It says "no." | That is clear. | "Know that" is a phrase. | "Is it far?" asked Kim. | "I know!" she said.'
    assert [sentence.text for sentence in nlp(text.replace(" |", "")).sents] == text.split(" | ")


@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_line_ends(nlp: Language, end: str) -> None:
    sentences = ["Norton made a living.", "He lost it | last year.", "Kim laughed: | that was | the end.", "It rained."]
    text = " | ".join(sentences).replace(" | ", end)
    assert [" ".join(sentence.text.split()) for sentence in nlp(text).sents] == [
        s.replace(" | ", " ") for s in sentences
    ]


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


def with_vectors(nlp: Language) -> Language:
    """Give a pipeline word vectors of another kind than en_parsetag_sm has."""
    nlp.vocab.reset_vectors(width=5)
    for word in TEXT.split():
        nlp.vocab.set_vector(word, np.full(5, len(word), dtype="float32"))
    return nlp


def others() -> Language:
    """A pipeline of somebody else: components that listen to a tok2vec, which reads word vectors."""
    nlp = with_vectors(spacy.blank("en"))
    nlp.add_pipe("tok2vec", config={"model": {"pretrained_vectors": True}})
    listener = {"@architectures": "spacy.Tok2VecListener.v1", "width": 96, "upstream": "tok2vec"}
    nlp.add_pipe("senter", config={"model": {"tok2vec": listener}})
    nlp.add_pipe("tagger", config={"model": {"tok2vec": listener}}).add_label("TAG")
    nlp.initialize()
    return nlp


def trees_of(nlp: Language) -> list[list[tuple[int, int, str]]]:
    """The constituents of a text whose sentences are given; also after the pipeline was saved and loaded."""
    found = []
    for pipeline in (nlp, spacy.util.load_model_from_config(nlp.config).from_bytes(nlp.to_bytes())):
        doc = pipeline.make_doc(TEXT)
        for token in doc:
            token.is_sent_start = token.i in (0, 7)
        found.append([(span.start, span.end, span.label_) for span in pipeline(doc).spans["constituents"]])
    assert found[0] == found[1]
    return found[0]


@pytest.mark.filterwarnings("ignore:.*W113")  # that the vectors differ, which is why this is tested
@pytest.mark.parametrize("make", [lambda: spacy.blank("en"), lambda: with_vectors(spacy.blank("en")), others])
def test_its_parser_in_other_pipelines(nlp: Language, make: Callable[[], Language]) -> None:
    """The recipes of docs/how-to/your-pipeline.md: the parser finds the same trees wherever it goes."""
    english, expected, mine = spacy.load(FOLDER), trees_of(nlp), make()
    english.replace_listeners("tok2vec", "parsetag", ["model.tok2vec"])
    mine.add_pipe("sentencizer")
    mine.add_pipe("parsetag", source=english)
    assert trees_of(mine) == expected
    assert {token.tag_ for token in mine(TEXT)} == ({"TAG"} if "tagger" in mine.pipe_names else {""})


@pytest.mark.filterwarnings("ignore:.*W113")
@pytest.mark.parametrize("make", [lambda: spacy.blank("en"), lambda: with_vectors(spacy.blank("en"))])
def test_all_of_it_in_other_pipelines(nlp: Language, make: Callable[[], Language]) -> None:
    english, mine = spacy.load(FOLDER), make()
    for name in english.pipe_names:
        mine.add_pipe(name, source=english)
    assert trees_of(mine) == trees_of(nlp)
    assert [token.tag_ for token in mine(TEXT)] == [token.tag_ for token in nlp(TEXT)]


@pytest.mark.filterwarnings("ignore:.*W113")
def test_components_of_others_in_it(nlp: Language) -> None:
    """Its own vectors are not in the vocabulary, so those of another pipeline can be."""
    english, other = with_vectors(spacy.load(FOLDER)), others()
    other.replace_listeners("tok2vec", "tagger", ["model.tok2vec"])
    english.add_pipe("tagger", name="other_tagger", source=other)
    assert trees_of(english) == trees_of(nlp)
    with english.select_pipes(disable="tagger"):
        assert {token.tag_ for token in english(TEXT)} == {"TAG"}


def test_its_strings(nlp: Language) -> None:
    """The package holds no words that it was trained on: its strings are labels, and what spaCy has for English."""
    strings = json.loads((FOLDER / "vocab" / "strings.json").read_text(encoding="utf8"))
    labels = {label for _, pipe in nlp.pipeline for label in getattr(pipe, "labels", ())}
    assert set(strings) - set(spacy.blank("en").vocab.strings) <= labels | {"$", ","}


def test_a_release_keeps_variables_of_the_config() -> None:
    """Whoever trains it further sets [paths] alone."""
    config = load(FOLDER).config
    assert (
        config["corpora"]["train"]["path"] == "${paths.train}" and config["initialize"]["vectors"] == "${paths.vectors}"
    )


@pytest.mark.parametrize("space", ["  ", "\n", "\r\n"])
def test_white_space_changes_no_tree(nlp: Language, space: str) -> None:
    """Wherever a line ends, tags and trees of given sentences are the same."""
    text = "The old dog, which was tired after a long day in the rain, did not bark at him (or at us)."
    docs = []
    for spaced in (text, text.replace(" ", space)):
        doc = nlp.make_doc(spaced)
        for token in doc:
            token.is_sent_start = token.i == 0
        docs.append(nlp(doc))
    plain, wrapped = ([sentence._.parse_string for sentence in doc.sents] for doc in docs)
    assert plain == wrapped and len(docs[0]) < len(docs[1])
    assert space == "\r\n" or {token.tag_ for token in docs[1] if token.is_space} == {"_SP"}


def test_sentences_that_are_given_stay(nlp: Language) -> None:
    doc = nlp.make_doc("She reads. He sings.")
    for token in doc:
        token.is_sent_start = token.i == 0
    assert len(list(nlp(doc).sents)) == 1


def test_it_is_small_and_states_its_terms(nlp: Language) -> None:
    package = PACKAGE / "en_parsetag_sm"  # beside it pip leaves what it built
    assert sum(path.stat().st_size for path in package.rglob("*") if path.is_file()) < 15 * 2**20
    assert META["license"] == "CC BY-SA 4.0" and len(META["sources"]) == 18
    assert all(value is None for value in nlp.config["paths"].values())
    assert '"/' not in nlp.config.to_str(interpolate=False), "a path of the machine that trained it"
    (requirement,) = (line for line in META["requirements"] if line.startswith("spacy-parsetag"))
    assert ">=0.1.0" in requirement


def test_it_needs_no_pytorch(nlp: Language) -> None:
    """No layer is a shim around another library's."""
    models = [pipe.model for _, pipe in nlp.pipeline if hasattr(pipe, "model")]
    assert models and all(not layer.shims for model in models for layer in model.walk())


@pytest.mark.parametrize("workflow", ["build-trf", "build-sm", "build-target", "self-train"])
def test_its_workflows(workflow: str) -> None:
    """Files that a workflow runs and reads exist, or an earlier command, an asset or the user makes them."""
    config = load_project_config(ROOT / "models")
    commands = {command["name"]: command for command in config["commands"]}
    # The user's:
    made = {"assets/target/train.mrg", "assets/target/dev.mrg", "assets/sentences.txt"}
    for step in config["workflows"][workflow]:
        for words in map(str.split, commands[step]["script"]):
            assert words[1] in ("-m", "-c") or (ROOT / "models" / words[1]).is_file(), words
        assert all(path in made or (ROOT / "models" / path).exists() for path in commands[step].get("deps", []))
        made.update(commands[step].get("outputs", []))
    assert (ROOT / "models" / config["vars"]["config"]).is_file()
