"""Constraints on trees from dependencies that were annotated by hand."""

from __future__ import annotations

import sys
from collections import Counter
from pathlib import Path

import pytest
import spacy
from hypothesis import given, strategies as st
from spacy.language import Language
from spacy.tokens import Doc, DocBin
from tiny import make_examples, make_nlp, train

from spacy_parsetag.tokens.groups import SPANS_KEY
from tools import dependencies
from tools.dependencies import constituents, constrain, constrained_trees, descendants, is_split, outside, trim
from tools.english import Text


def text(*rows: str) -> Text:
    """A sentence; a row for each word: word, tag, head from 1, 0 for the root, relation."""
    words, tags, heads, relations = zip(*map(str.split, rows), strict=True)
    n = len(words)
    return Text(list(words), [True] * n, False, list(tags), [int(head) - 1 for head in heads], list(relations))


def spans(sentence: Text) -> dict[str, str]:
    return {" ".join(sentence.words[start:end]): label for (start, end), label in constituents(sentence).items()}


SAW = text(
    "I PRP 2 nsubj",
    "saw VBD 0 root",
    "the DT 4 det",
    "man NN 2 obj",
    "with IN 7 case",
    "a DT 7 det",
    "telescope NN 4 nmod",
    ". . 2 punct",
)


def test_a_word_and_what_depends_on_it() -> None:
    """So a phrase goes to the word that it belongs to; its preposition stands before a noun phrase."""
    phrases = {"I": "NP", "the man with a telescope": "NP", "with a telescope": "", "a telescope": "NP"}
    assert spans(SAW) == phrases


def test_a_phrase_that_joins_others_is_none() -> None:
    high = SAW._replace(heads=[1, -1, 3, 1, 6, 6, 1, 1], relations=[*SAW.relations[:6], "obl", "punct"])
    assert outside(high, 2, 7) == [3, 6] and is_split(high, 2, 7, "NP")
    assert not is_split(SAW, 2, 7, "NP") and not is_split(high, 1, 7, "VP")
    # ADVP and QP have conventions of their own, and so have clauses without a conjunction
    assert not is_split(high, 2, 7, "ADVP")
    want = text("We PRP 2 nsubj", "want VBP 0 root", "him PRP 2 obj", "to TO 5 mark", "go VB 2 xcomp")
    assert outside(want, 2, 5) == [2, 4] and not is_split(want, 2, 5, "S") and is_split(want, 2, 5, "NP")


@pytest.mark.parametrize(
    ("rows", "expected"),
    [
        # "and" and commas are outside; a bare noun is no constituent of several words
        (
            ["cats NNS 0 root", ", , 4 punct", "big JJ 4 amod", "dogs NNS 1 conj", "and CC 6 cc", "mice NNS 1 conj"],
            {"big dogs": "NP"},
        ),
        # a clause with a copula is no noun phrase, and "that" belongs to it
        (
            ["know VBP 0 root", "that IN 6 mark", "he PRP 6 nsubj", "is VBZ 6 cop", "a DT 6 det", "fool NN 1 ccomp"],
            {"that he is a fool": "", "he is a fool": "", "he": "NP"},
        ),
        # prepositions of several words
        (
            ["left VBD 0 root", "because IN 5 case", "of IN 2 fixed", "the DT 5 det", "rain NN 1 obl"],
            {"because of the rain": "", "the rain": "NP"},
        ),
        # words before a name are flat
        (["Actor NN 2 nmod:desc", "Kim NNP 3 nsubj", "left VBD 0 root"], {"Actor Kim": "NP"}),
        # a word with a gap in what depends on it
        (
            ["a DT 2 det", "man NN 3 nsubj", "came VBD 0 root", "from IN 5 case", "Rome NNP 2 nmod"],
            {"from Rome": "", "Rome": "NP"},
        ),
        # adverbs of verbs are constituents alone, "not" and those of adjectives are none
        (
            ["I PRP 3 nsubj", "not RB 3 advmod", "ran VBD 0 root", "up RB 3 advmod", "so RB 6 advmod", "hot JJ 3 amod"],
            {"I": "NP", "up": "", "so hot": ""},
        ),
    ],
)  # fmt: skip
def test_constituents(rows: list[str], expected: dict[str, str]) -> None:
    assert spans(text(*rows)) == expected


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (", see it .", "see it"),
        ("( see it )", "see it"),
        ("see it ( now )", "see it ( now )"),
        ("see it ( now ) .", "see it ( now )"),
        ('" see " it ,', '" see " it'),
        ('" see it "', "see it"),
        ("see `` it '' ,", "see `` it ''"),
        (") see it (", "see it"),
        (". ,", ""),
    ],
)
def test_punctuation_at_the_ends(words: str, expected: str) -> None:
    rows = [f"{word} X 1 {'dep' if word.isalpha() else 'punct'}" for word in words.split()]
    sentence = text(*rows)
    start, end = trim(sentence, 0, len(rows))
    assert " ".join(sentence.words[start:end]) == expected


@given(st.data())
def test_descendants_equal_their_definition(data: st.DataObject) -> None:
    n = data.draw(st.integers(1, 9))
    order = data.draw(st.permutations(range(n)))
    heads = [-1] * n
    for i in range(1, n):
        heads[order[i]] = order[data.draw(st.integers(0, i - 1))]
    sentence = text(*(f"w X {head + 1} dep" for head in heads))

    def above(word: int) -> set[int]:
        return {word} | (above(heads[word]) if heads[word] >= 0 else set())

    for word, span in enumerate(descendants(sentence)):
        below = {other for other in range(n) if word in above(other)}
        whole = len(below) == max(below) - min(below) + 1
        assert span == ((min(below), max(below) + 1) if whole else None)
        assert span is None or outside(sentence, *span) == [word]


def test_what_the_pipeline_is_sure_of_stays() -> None:
    counts: Counter[str] = Counter()
    probs = {
        (0, 1, "NP"): 1.0,
        (2, 7, "NP"): 0.3,
        (2, 7, "S"): 0.4,
        (4, 7, "PP"): 0.999,
        (5, 7, "NP"): 0.001,
        (5, 7, "NX"): 0.9,
    }
    # the label where it is possible, any label where it is not; nothing where there is no doubt
    assert constrain(SAW, probs, counts) == [(5, 7, "", "must"), (2, 7, "NP", "must")]
    assert counts == {"likely": 3, "unlikely": 1}
    high = SAW._replace(heads=[1, -1, 3, 1, 6, 6, 1, 1], relations=[*SAW.relations[:6], "obl", "punct"])
    assert constrain(high, {(2, 7, "NP"): 0.7, (2, 7, "VP"): 0.005}, counts) == [(2, 7, "NP", "must not")]
    assert constrain(high, {(2, 7, "NP"): 0.999}, counts) == []
    assert counts["against the pipeline"] == 9


def test_punctuation_goes_where_the_pipeline_has_it() -> None:
    """A comma after an apposition is inside or outside, whichever is likelier."""
    sentence = text(
        "Kim NNP 5 nsubj", ", , 3 punct", "director NN 1 appos", ", , 3 punct", "left VBD 0 root", ". . 5 punct"
    )
    assert constituents(sentence) == {(0, 3): "NP", (2, 3): "NP"}
    for likely in ((0, 4), (0, 3)):
        probs = {(0, 3, "NP"): 0.1, (0, 4, "NP"): 0.1, (2, 3, "NP"): 1.0} | {(*likely, "NP"): 0.4}
        assert constrain(sentence, probs, Counter()) == [(*likely, "NP", "must")]
    assert constrain(sentence, {(0, 4, "S"): 0.3, (2, 3, "NP"): 1.0}, Counter()) == [(0, 4, "", "must")]


@pytest.fixture(scope="module")
def pipeline() -> Language:
    nlp = make_nlp()
    train(nlp, make_examples(nlp), steps=30)
    return nlp


def test_trees_agree_with_dependencies(pipeline: Language, monkeypatch: pytest.MonkeyPatch) -> None:
    """Also where the pipeline, left alone, would have another tree; sentences stay in their order."""
    monkeypatch.setattr(dependencies, "LEAST_F", 0.0)
    monkeypatch.setattr(dependencies, "SURE", 1.0)
    monkeypatch.setattr(dependencies, "CHUNK", 2)
    words = ("She", "enjoys", "reading", "papers", ".")
    doc = pipeline(Doc(pipeline.vocab, words, sent_starts=[True, *[False] * 4]))
    free = {(span.start, span.end) for span in doc.spans[SPANS_KEY]}
    other = next((start, start + 2) for start in range(4) if (start, start + 2) not in free)
    texts = []
    for n in (5, 1, 5):
        heads = [-1] * n
        relations = ["dep"] * n
        if n == 5:
            heads[other[0]], relations[other[0]] = other[1] - 1, "dep"
            relations[other[1] - 1] = "obj"
        texts.append(Text(list(words[:n]), [True] * n, False, ["X"] * n, heads, relations))
    found = constrained_trees(pipeline, texts, counts := Counter())
    assert [one is not None and len(one.parse) for one in found] == [5, 1, 5] and counts["kept"] == 3
    assert found[0] is not None and other in {(start, end) for start, end, _ in found[0].parse.spans}


CONLLU = """# newpar
1\tShe\tshe\t_\tPRP\t_\t2\tnsubj\t_\t_
2\tenjoys\tenjoy\t_\tVBZ\t_\t0\troot\t_\t_
3\treading\tread\t_\tZZ\t_\t2\txcomp\t_\t_
4\tpapers\tpaper\t_\tNNS\t_\t3\tobj\t_\tSpaceAfter=No
5\t.\t.\t_\t.\t_\t2\tpunct\t_\t_

1\the\the\t_\tPRP\t_\t2\tgoeswith\t_\t_
2\tart\theart\t_\tNN\t_\t0\troot\t_\t_
"""


def test_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    """Training documents of both treebanks, without what may not be trained on; tags that the pipeline knows."""
    nlp = make_nlp()
    tagger = nlp.add_pipe("tagger")
    for label in ("PRP", "VBZ", "NNS", "."):
        tagger.add_label(label)
    nlp.initialize(lambda: make_examples(nlp))
    nlp.to_disk(tmp_path / "pipeline")
    files = {
        "gum/splits.md": "## train\n\n  * GUM_news_x\n  * GUM_whow_y\n",
        "gum/dep/GUM_news_x.conllu": CONLLU,
        "gum/dep/GUM_whow_y.conllu": CONLLU,
        "ewt/not-to-release/file-lists/files.train": "email/a.conllu\n",
        "ewt/not-to-release/sources/email/a.conllu": CONLLU,
        "ewt/not-to-release/sources/email/b.conllu": CONLLU,
        "masc/train.mrg": "(TOP (NP (NN x)))\n",
        "masc/dev.mrg": "(TOP (NP (NN x)))\n",
        "masc/counts.json": '{"notes": ["trees of each document: a train 1, b dev 1"]}',
        "craft/train.mrg": "(TOP (NP (NN x)))\n",
        "craft/dev.mrg": "(TOP (NP (NN x)))\n",
    }
    for name, content in files.items():
        path = tmp_path / "treebanks" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content, encoding="utf8")
    monkeypatch.setattr(dependencies, "LEAST_F", 0.0)
    paths = (tmp_path / "pipeline", tmp_path / "treebanks", tmp_path / "out")
    monkeypatch.setattr(sys, "argv", ["dependencies.py", *map(str, paths)])
    dependencies.main()
    assert capsys.readouterr().out.count("'no prose': 1") == 2  # "he art"
    for folder in ("runs", "singles"):
        assert sorted(path.name for path in (tmp_path / "out" / folder).iterdir()) == ["ewt.spacy", "gum.spacy"]
        for path in (tmp_path / "out" / folder).iterdir():
            (doc,) = DocBin().from_disk(path).get_docs(spacy.blank("en").vocab)
            assert [token.tag_ for token in doc if not token.is_space][:4] == ["PRP", "VBZ", "", "NNS"]
            assert doc.spans[SPANS_KEY].attrs["soft"]
