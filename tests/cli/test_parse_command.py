"""`parsetag parse`: text in, trees out."""

import json
from pathlib import Path

import pytest
from command_data import Run
from spacy.tokens import DocBin
from spacy.vocab import Vocab

from spacy_parsetag.tokens import doc_to_strings
from spacy_parsetag.treebanks.penn import read_string
from spacy_parsetag.trees import Parse

TEXT = "She reads papers (really).\n\n  \t\nThe dog barks. She reads.  \n"
WORDS = [["She", "reads", "papers", "(", "really", ")", "."], [], [], ["The", "dog", "barks", ".", "She", "reads", "."]]


def words_of(brackets: str) -> list[str]:
    return [] if brackets == "(TOP)" else list(Parse.from_tree(read_string(brackets)[0]).words)


def test_a_line_in_is_a_line_out(run: Run, pipeline: Path) -> None:
    result = run("parse", pipeline, "-", stdin=TEXT)
    assert result.exit_code == 0
    assert [words_of(line) for line in result.stdout.splitlines()] == WORDS
    assert "(TOP" in result.stdout.splitlines()[0]


def test_files_and_formats(run: Run, pipeline: Path, tmp_path: Path) -> None:
    source = tmp_path / "text.txt"
    source.write_text(TEXT)
    outs = {suffix: tmp_path / f"out.{suffix}" for suffix in ("mrg", "json", "jsonl", "spacy")}
    for out in outs.values():
        assert run("parse", pipeline, source, out).exit_code == 0
    lines = outs["mrg"].read_text().splitlines()
    objects = json.loads(outs["json"].read_text())
    assert objects == [json.loads(line) for line in outs["jsonl"].read_text().splitlines()]
    assert [sent["tree"] for each in objects for sent in each["sents"]] == [line for line in lines if line != "(TOP)"]
    first = objects[0]["sents"][0]
    assert first["words"] == WORDS[0]
    assert objects[0]["text"][first["start"] : first["end"]] == "She reads papers (really)."
    docs = list(DocBin().from_disk(outs["spacy"]).get_docs(Vocab()))
    assert [line for doc in docs for line in doc_to_strings(doc) or ["(TOP)"]] == lines
    # Docs can be parsed again.
    assert run("parse", pipeline, outs["spacy"], tmp_path / "again.mrg").exit_code == 0
    assert (tmp_path / "again.mrg").read_text().splitlines() == lines


def test_jsonl_and_tokens(run: Run, pipeline: Path, tmp_path: Path) -> None:
    source = tmp_path / "in.jsonl"
    records = [
        {"text": "She reads.", "id": 7},
        {"tokens": ["New York", "("], "tags": ["NNP", "-LRB-"], "meta": {"a": 1}},
    ]
    source.write_text("\n".join(map(json.dumps, [*records, {"text": ""}, {"tokens": []}])))
    result = run("parse", pipeline, source, "--format", "jsonl")
    first, second, *empty = map(json.loads, result.stdout.splitlines())
    assert (first["id"], first["sents"][0]["pos"]) == (7, ["X", "X", "X"])
    assert (second["meta"], second["sents"][0]["words"]) == ({"a": 1}, ["New York", "("])
    assert "(NNP New\\u0020York)" in second["sents"][0]["tree"]
    assert "(-LRB- -LRB-)" in second["sents"][0]["tree"]
    assert [each["sents"] for each in empty] == [[], []]
    result = run("parse", pipeline, "-", "--input-format", "tokens", stdin="do n't ( stop\n")
    assert words_of(result.stdout) == ["do", "n't", "(", "stop"]


def test_sentences_of_the_pipeline(run: Run, pipeline: Path, tmp_path: Path) -> None:
    import spacy

    nlp = spacy.load(pipeline)
    nlp.add_pipe("sentencizer", first=True)
    nlp.to_disk(tmp_path / "model")
    result = run("parse", tmp_path / "model", "-", "--sents", "model", stdin=TEXT)
    assert [words_of(line) for line in result.stdout.splitlines()] == [WORDS[0], WORDS[3][:4], WORDS[3][4:]]
    result = run("parse", tmp_path / "model", "-", stdin=TEXT)
    assert [words_of(line) for line in result.stdout.splitlines()] == WORDS


def test_batches(run: Run, pipeline: Path) -> None:
    stdin = "".join(f"word{i} is new{i}.\n" for i in range(25))
    whole = run("parse", pipeline, "-", stdin=stdin).stdout
    assert run("parse", pipeline, "-", "--batch-size", 4, stdin=stdin).stdout == whole
    assert len(whole.splitlines()) == 25


@pytest.mark.parametrize(
    "name, content, args, message",
    [
        ("missing.txt", None, [], "[E351]"),
        ("bad.jsonl", "\n{]\n", [], "bad.jsonl:2: "),
        ("bad.jsonl", "[1]\n", [], "bad.jsonl:1: "),
        ("bad.jsonl", '{"tokens": ["a", 1]}\n', [], "bad.jsonl:1: "),
        ("bad.jsonl", '{"tokens": ["a", ""]}\n', [], "bad.jsonl:1: "),
        ("bad.jsonl", '{"tokens": ["a"], "tags": []}\n', [], "bad.jsonl:1: "),
        ("bad.txt", "good\n\udcff\n", [], "bad.txt:2: "),
        ("bad.spacy", "nonsense", [], "[E354]"),
        ("text.txt", "a", ["--format", "spacy"], "[E362]"),
    ],
)
def test_bad_input(
    run: Run, pipeline: Path, tmp_path: Path, name: str, content: str | None, args: list[str], message: str
) -> None:
    if content is not None:
        (tmp_path / name).write_bytes(content.encode("utf-8", "surrogateescape"))
    out = [] if args else [tmp_path / "out.mrg"]
    result = run("parse", pipeline, tmp_path / name, *out, *args)
    assert result.exit_code == 1
    assert message in result.stderr
    assert not (tmp_path / "out.mrg").exists()


def test_no_such_pipeline(run: Run, tmp_path: Path) -> None:
    import spacy

    (tmp_path / "text.txt").write_text("a")
    assert "[E050]" in run("parse", "no_such_pipeline", tmp_path / "text.txt").stderr
    spacy.blank("en").to_disk(tmp_path / "blank")
    assert "[E358]" in run("parse", tmp_path / "blank", tmp_path / "text.txt").stderr
