"""Sentences of edited prose by rule, texts laid out in other ways, and what learns from them put before a parser."""

import random
from pathlib import Path
from typing import Any

import pytest
import spacy
from spacy.training import Example
from tiny import add_untrained_parser, spans_of

from tools.assemble import assemble
from tools.boundaries import doc_of_pieces, split, with_line_ends, write_out


@pytest.mark.parametrize(
    ("paragraph", "sentences"),
    [
        ("“Is it far?” asked Tom. “Not very,” said Kim.", ["“Is it far?” asked Tom.", "“Not very,” said Kim."]),
        ('"Go away!" Dr. Low cried. "I do." He left.', ['"Go away!" Dr. Low cried.', '"I do."', "He left."]),
        ("Mr. A. B. Smith sat down. (He was old.) So?", ["Mr. A. B. Smith sat down.", "(He was old.)", "So?"]),
        ("Wait... He went on! Why?!", ["Wait...", "He went on!", "Why?!"]),
        # Nobody can tell by rule whether a sentence ends there.
        ("She met Smith Jr. Kim stayed.", None),
        ("“Stop!” He said nothing.", None),
        ("It is here. so it ends", None),
    ],
)
def test_split(paragraph: str, sentences: list[str] | None) -> None:
    assert split(paragraph) == sentences


@pytest.mark.parametrize("layout", ["", "lines", "list", "wrapped"])
def test_layouts_keep_the_sentences(layout: str) -> None:
    nlp = spacy.blank("en")
    sentences = ["Kim sings songs that nobody has heard in all of these years.", "So what?", '"I do," she said.'] * 3
    for seed in range(20):
        doc = doc_of_pieces(nlp, write_out(sentences, random.Random(seed), layout))
        found = [" ".join(sentence.text.split()) for sentence in doc.sents]
        assert len(found) == len(sentences)
        for sentence, piece in zip(sentences, found, strict=True):
            assert piece.endswith(sentence.rstrip(".")) or piece.endswith(sentence)
            assert layout == "list" or piece in (sentence, sentence.rstrip("."))
        assert ("\n" in doc.text) == bool(layout)


def test_line_ends() -> None:
    """Some texts have those of Windows throughout, and the same sentences."""
    nlp = spacy.blank("en")
    layouts = [["Kim sings\n", "and goes.\n\n"]] * 100
    varied = list(with_line_ends(layouts, random.Random(0)))
    assert 10 < varied.count(["Kim sings\r\n", "and goes.\r\n\r\n"]) == 100 - varied.count(layouts[0]) < 40
    assert {tuple(" ".join(s.text.split()) for s in doc_of_pieces(nlp, pieces).sents) for pieces in varied} == {
        ("Kim sings", "and goes.")
    }


def test_assemble(tmp_path: Path) -> None:
    parser, senter = spacy.blank("en"), spacy.blank("en")
    parser.add_pipe("sentencizer")
    add_untrained_parser(parser, "(S (NP (PRP She)) (VP (VBZ sings)))")
    trained: Any = senter.add_pipe("senter")
    trained.initialize(lambda: [Example(senter.make_doc("A."), doc_of_pieces(senter, ["A."]))])
    parser.to_disk(tmp_path / "parser")
    senter.to_disk(tmp_path / "senter")
    assembled = assemble(tmp_path / "parser", tmp_path / "senter")
    assert assembled.pipe_names == ["paragraphs", "senter", "parsetag"]
    assert spans_of(assembled("She sings")) == spans_of(parser("She sings"))
