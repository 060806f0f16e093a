"""Trees that were corrected: tools/corrected.py finds their words, and the file in the repository is whole."""

import json
import sys
from pathlib import Path

import pytest
import srsly

from spacy_parsetag.treebanks.penn import read_string
from spacy_parsetag.trees import Parse

ROOT = Path(__file__).parent.parent
sys.path.insert(0, str(ROOT))
from tools import corrected  # noqa: E402

TEXT = "It rained. We stayed in, didn't we? So."
CONLLU = """# sent_id = one
1\tDogs\tdog\tNOUN\tNNS\t_\t2\tnsubj\t_\t_
2\tbark\tbark\tVERB\tVBP\t_\t0\troot\t_\tSpaceAfter=No
3\t.\t.\tPUNCT\t.\t_\t2\tpunct\t_\t_

"""
QUESTION = "(S (S (NP (PRP _)) (VP (VBD _) (ADVP (RB _)))) (, _) (SQ (VBD _) (RB _) (NP (PRP _))) (. _))"
DOGS = "(S (NP (NNS _)) (VP (VBP _)) (. _))"


@pytest.fixture
def sources(tmp_path):
    folder = tmp_path / "banks" / "ewt" / "not-to-release" / "sources" / "reviews"
    folder.mkdir(parents=True)
    (folder / "a.conllu").write_text(CONLLU, encoding="utf8")
    (tmp_path / "texts").mkdir()
    (tmp_path / "texts" / "b.txt").write_text(TEXT, encoding="utf8")
    return corrected.Sources(tmp_path / "banks", tmp_path / "texts")


def write_lines(tmp_path, *lines):
    path = tmp_path / "trees.jsonl"
    path.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf8")
    return path


def line(document, at, words, tree, part="train"):
    return {"document": document, "at": at, "digest": corrected.digest(words), "tree": tree, "part": part}


WORDS = ["We", "stayed", "in", ",", "did", "n't", "we", "?"]


def test_words_are_found_in_texts_and_in_the_treebank(tmp_path, sources):
    path = write_lines(
        tmp_path,
        line("b.txt", [11, 35], WORDS, QUESTION),
        line("reviews/a.conllu", 0, ["Dogs", "bark", "."], DOGS, "dev"),
    )
    (train, question), (dev, dogs) = corrected.read_corrected(path, sources)
    assert (train, dev) == ("train", "dev")
    assert list(question.parse.words) == WORDS
    assert list(question.spaces) == [True, True, False, True, False, True, False, False]
    assert question.parse.spans == Parse.from_tree(read_string(QUESTION)[0]).spans
    assert dogs.parse.pos == ("NNS", "VBP", ".")
    assert list(dogs.spaces) == [True, False, True]


@pytest.mark.parametrize(
    "words, tree", [([*WORDS[:-1], "!"], QUESTION), (WORDS, DOGS)], ids=["other words", "another number of words"]
)
def test_a_sentence_that_changed_is_named(tmp_path, sources, words, tree):
    path = write_lines(tmp_path, line("b.txt", [11, 35], words, tree))
    with pytest.raises(SystemExit, match=r"trees\.jsonl:1: b\.txt has other words at \[11, 35\]"):
        list(corrected.read_corrected(path, sources))


def test_the_trees_of_the_repository_are_whole():
    lines = [line for path in (ROOT / "models" / "corrected").glob("*.jsonl") for line in srsly.read_jsonl(path)]
    assert len({(line["document"], str(line["at"])) for line in lines}) == len(lines) > 500
    for line in lines:
        (tree,) = read_string(line["tree"])
        assert set(Parse.from_tree(tree).words) == {"_"}
        assert line["part"] in ("train", "dev")
        assert len(line["digest"]) == 12
    of_parts = [{line["digest"] for line in lines if line["part"] == part} for part in ("train", "dev")]
    assert not set.intersection(*of_parts), "a sentence that is learned and scored"
    # Parts were drawn by sentence at first; new ones are drawn by document.
    train, dev = ({line["document"] for line in lines if line["part"] == part} for part in ("train", "dev"))
    assert len(train & dev) <= 464
