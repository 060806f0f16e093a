"""Silver trees of direct speech, joined from the trees of their parts."""

import random
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest
import spacy

from spacy_parsetag.treebanks.penn import read_string
from spacy_parsetag.trees import Parse
from spacy_parsetag.trees.brackets import format_tree
from tools import speech
from tools.speech import Part, as_typed, find_speech, speeches, without_words

TREES = {
    "It rains .": "(S (NP (PRP It)) (VP (VBZ rains)) (. .))",
    "Who sings ?": "(SBARQ (WHNP (WP Who)) (SQ (VP (VBZ sings))) (. ?))",
    "He said Ann quietly .": "(S (NP (PRP He)) (VP (VBD said) (NP (NNP Ann)) (ADVP (RB quietly))) (. .))",
    "He said .": "(S (NP (PRP He)) (VP (VBD said)) (. .))",
    "He asked .": "(S (NP (PRP He)) (VP (VBD asked)) (. .))",
    "Ann said .": "(S (NP (NNP Ann)) (VP (VBD said)) (. .))",
    "She said that .": "(S (NP (PRP She)) (VP (VBD said) (NP (DT that))) (. .))",
    "It , rains today .": "(S (NP (PRP It)) (, ,) (VP (VBZ rains) (NP (NN today))) (. .))",
    "It rains , and Ann sings .": (
        "(S (S (NP (PRP It)) (VP (VBZ rains))) (, ,) (CC and) (S (NP (NNP Ann)) (VP (VBZ sings))) (. .))"
    ),
}


@pytest.fixture
def joined(monkeypatch):
    """What a sentence, written with tags, becomes, with the parts' trees from the table above."""

    def parse_parts(pipeline: object, parts: list[list[str]]) -> Iterator[Part]:
        for part in parts:
            (tree,) = read_string(f"(TOP {TREES[' '.join(part)]})")
            yield Part(Parse.from_tree(tree), 0.9)

    monkeypatch.setattr(speech, "parse_parts", parse_parts)

    def join(text: str) -> tuple[list[str], dict[str, int]]:
        words, tags = zip(*(pair.rsplit("_", 1) for pair in text.split()), strict=True)
        counts: Counter[str] = Counter()
        found = list(speeches(None, [(words, tags)], counts))
        return [format_tree(parse.to_tree("TOP")) for _, parse, _ in found], dict(counts)

    return join


@pytest.mark.parametrize(
    ("text", "tree"),
    [
        (
            "\"_`` It_PRP rains_VBZ ,_, \"_'' said_VBD Ann_NNP quietly_RB ._.",
            "(TOP (SINV (`` \") (S (NP (PRP It)) (VP (VBZ rains))) (, ,) ('' \") (VP (VBD said)) (NP (NNP Ann))"
            " (ADVP (RB quietly)) (. .)))",
        ),
        (
            "“_`` Who_WP sings_VBZ ?_. ”_'' asked_VBD he_PRP ._.",
            "(TOP (SINV (`` “) (SBARQ (WHNP (WP Who)) (SQ (VP (VBZ sings))) (. ?)) ('' ”) (VP (VBD asked))"
            " (NP (PRP he)) (. .)))",
        ),
        (  # the quotation began in the sentence before
            "It_PRP rains_VBZ ,_, ”_'' she_PRP said_VBD that_DT ._.",
            "(TOP (S (S (NP (PRP It)) (VP (VBZ rains))) (, ,) ('' ”) (NP (PRP she)) (VP (VBD said) (NP (DT that)))"
            " (. .)))",
        ),
        (
            "“_`` It_PRP ,_, ”_'' Ann_NNP said_VBD ,_, “_`` rains_VBZ today_NN ._. ”_''",
            "(TOP (S (`` “) (NP (PRP It)) (PRN (, ,) ('' ”) (S (NP (NNP Ann)) (VP (VBD said))) (, ,)) (`` “)"
            " (VP (VBZ rains) (NP (NN today))) (. .) ('' ”)))",
        ),
        (
            "“_`` It_PRP rains_VBZ ,_, ”_'' said_VBD he_PRP ,_, “_`` and_CC Ann_NNP sings_VBZ ._. ”_''",
            "(TOP (S (`` “) (S (NP (PRP It)) (VP (VBZ rains))) (PRN (, ,) ('' ”) (SINV (VP (VBD said)) (NP (PRP he)))"
            " (, ,)) (`` “) (CC and) (S (NP (NNP Ann)) (VP (VBZ sings))) (. .) ('' ”)))",
        ),
    ],
)
def test_forms(joined, text, tree):
    """The three forms of the Penn Treebank, with either order of verb and subject."""
    found, counts = joined(text)
    assert found == [tree]
    assert counts["found"] == 1


@pytest.mark.parametrize(
    "text",
    [
        "He said : “ It rains . ”",
        "It rains .",
        "The word “ rain ” is short .",
        "“ It rains . ” She sings .",
    ],
)
def test_other_sentences(text):
    """What is no quotation with a reporting clause after it is left alone."""
    assert find_speech(text.split()) is None


def test_quotation_marks_go():
    (tree,) = read_string(
        "(TOP (S (`` ``) (S (NP (PRP It)) (VP (VBZ rains))) (, ,) ('' '') (NP (PRP he)) (VP (VBD said))))"
    )
    parse = without_words(Parse.from_tree(tree), [0, 4])
    assert format_tree(parse.to_tree()) == (
        "(TOP (S (S (NP (PRP It)) (VP (VBZ rains))) (, ,) (NP (PRP he)) (VP (VBD said))))"
    )
    seen = {" ".join(as_typed(Parse.from_tree(tree), (0, 4), random.Random(i)).parse.words) for i in range(60)}
    assert {"`` It rains , '' he said", "It rains , he says"} <= seen


def test_a_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of a folder of texts, with the shipped pipeline in the place of the exported one."""
    shipped = Path(__file__).resolve().parent.parent / "models" / "en_parsetag_sm" / "en_parsetag_sm"
    (folder,) = shipped.glob("en_parsetag_sm-*")
    load = spacy.load
    monkeypatch.setattr(spacy, "load", lambda name, **options: load(folder, **options))
    monkeypatch.setattr(speech, "known_grams", lambda treebanks: set())
    texts = tmp_path / "texts"
    texts.mkdir()
    text = "“The old dog does not bark at him,” said the man. “We have seen it before,” she said."
    (texts / "novel.txt").write_text(text, encoding="utf8")
    arguments = ["speech.py", str(folder), str(texts), "--output", str(tmp_path / "out"), "--exclude", str(tmp_path)]
    monkeypatch.setattr(sys, "argv", arguments)
    speech.main()
    docs = list(
        spacy.tokens.DocBin().from_disk(tmp_path / "out" / "speech-000.spacy").get_docs(spacy.blank("en").vocab)
    )
    assert {"said", "says"} & {token.text for doc in docs for token in doc} and len(docs) == 2
