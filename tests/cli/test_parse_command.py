"""`parsetag parse`: text in, trees out."""

import codecs
import gzip
import json
import os
import signal
import struct
import subprocess
import sys
import textwrap
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest
import spacy
from command_data import Run
from spacy.language import Language
from spacy.tokens import Doc, DocBin
from spacy.training import Example
from spacy.util import import_file
from spacy.vocab import Vocab
from tiny import add_untrained_parser

from spacy_parsetag.pipeline.component import ParseTagger
from spacy_parsetag.tokens import doc_to_strings
from spacy_parsetag.treebanks.penn import read_string
from spacy_parsetag.trees import Parse

TEXT = "She reads papers (really).\n\n  \t\nThe dog barks. She reads.  \n"
WORDS = [["She", "reads", "papers", "(", "really", ")", "."], [], [], ["The", "dog", "barks", ".", "She", "reads", "."]]


SENTENCES = [WORDS[0], WORDS[3][:4], WORDS[3][4:]]
COMPONENTS = ["parse_test_split", "parse_test_boom"]


@Language.component(COMPONENTS[0])
def split(doc: Doc) -> Doc:
    for token in doc:
        token.is_sent_start = True
    return doc


@Language.component(COMPONENTS[1])
def boom(doc: Doc) -> Doc:
    if "boom" in doc.text:
        raise KeyError("boom")
    return doc


def change(pipeline: Path, folder: Path, how: Callable[[Language], object]) -> Path:
    """A copy of a pipeline with a change."""
    nlp = spacy.load(pipeline)
    how(nlp)
    nlp.to_disk(folder / "model")
    return folder / "model"


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
    for row in objects:
        for sent in row["sents"]:
            pairs = zip(sent["offsets"], sent["words"], strict=True)
            assert all(row["text"].startswith(word, offset) for offset, word in pairs)
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
    result = run("parse", pipeline, source, "--output-format", "jsonl")
    first, second, *empty = map(json.loads, result.stdout.splitlines())
    assert (first["id"], first["sents"][0]["pos"]) == (7, ["X", "X", "X"])
    assert (second["meta"], second["sents"][0]["words"]) == ({"a": 1}, ["New York", "("])
    assert "(NNP New\\u0020York)" in second["sents"][0]["tree"]
    assert "(-LRB- -LRB-)" in second["sents"][0]["tree"]
    assert [each["sents"] for each in empty] == [[], []]
    result = run("parse", pipeline, "-", "--format", "tokens", stdin="do n't ( stop\n")
    assert words_of(result.stdout) == ["do", "n't", "(", "stop"]


def test_sentences_of_the_pipeline(run: Run, pipeline: Path, tmp_path: Path) -> None:
    model = change(pipeline, tmp_path, lambda nlp: nlp.add_pipe("sentencizer", first=True, config={"overwrite": True}))
    result = run("parse", model, "-", "--sents", "model", stdin=TEXT)
    assert [words_of(line) for line in result.stdout.splitlines()] == SENTENCES
    assert not result.stderr
    result = run("parse", model, "-", stdin=TEXT)
    assert [words_of(line) for line in result.stdout.splitlines()] == WORDS
    assert "1 of 4 texts look like several sentences" in result.stderr
    result = run(
        "parse", model, "-", "--format", "jsonl", stdin='{"text": "She ran.\\n"}\n{"text": "A cat.\\n\\nA dog."}'
    )
    assert "1 of 2 texts look like several sentences" in result.stderr


WRAPPED = "Chapter\n\nShe reads\n  old pa-\n pers -\r\n(really). The dog,\nwhich\nbarks\n \t\n\n\nThe end\n"


def test_paragraphs(run: Run, pipeline: Path, tmp_path: Path) -> None:
    """Their lines are joined, and the first one names them. The pipeline splits them, unless they are sentences."""
    texts = ["Chapter", "She reads old pa-pers - (really). The dog, which barks", "The end"]
    result = run("parse", pipeline, "-", "-f", "paragraphs", stdin=WRAPPED)
    assert [" ".join(words_of(line)) for line in result.stdout.splitlines()] == [
        "Chapter", "She reads old pa - pers - ( really ) .", "The dog , which barks", "The end"
    ]  # fmt: skip
    source, out = tmp_path / "in.txt", tmp_path / "out.jsonl"
    source.write_text(WRAPPED, newline="")
    assert run("parse", pipeline, source, out, "-f", "paragraphs", "-s", "line").exit_code == 0
    rows = [json.loads(line) for line in out.read_text().splitlines()]
    assert [(row["text"], len(row["sents"])) for row in rows] == [(text, 1) for text in texts]
    source.write_bytes(WRAPPED.encode().replace(b"which", b"caf\xe9"))
    result = run("parse", pipeline, source, "-f", "paragraphs", "--skip-bad", "1")
    assert f"{source}:7: [E555] " in result.stderr and "character 4" in result.stderr
    assert len(result.stdout.splitlines()) == 2
    assert "[E455] --format paragraphs" in run("parse", pipeline, WRAPPED, "-f", "paragraphs").stderr


def test_blank_lines_end_sentences_of_texts(run: Run, pipeline: Path, tmp_path: Path) -> None:
    row = json.dumps({"text": "One\n\nTwo\nwords. Three"})
    result = run("parse", pipeline, "-", "-f", "jsonl", "-s", "model", stdin=row)
    assert [words_of(line) for line in result.stdout.splitlines()] == [["One"], ["Two", "words", "."], ["Three"]]
    model = change(pipeline, tmp_path, lambda nlp: nlp.add_pipe("paragraphs", first=True))
    assert run("parse", model, "-", "-f", "jsonl", "-s", "model", stdin=row).stdout == result.stdout
    assert len(run("parse", model, "-", "-f", "jsonl", "-s", "line", stdin=row).stdout.splitlines()) == 1

    def disable(nlp: Language) -> None:
        nlp.add_pipe("paragraphs", first=True)
        nlp.disable_pipe("paragraphs")

    model = change(pipeline, tmp_path, disable)
    assert len(run("parse", model, "-", "-f", "jsonl", "-s", "model", stdin=row).stdout.splitlines()) == 2
    model = change(pipeline, tmp_path, lambda nlp: nlp.replace_pipe("one_sentence", COMPONENTS[0]))
    own = run("parse", model, "-", "-f", "jsonl", "-s", "model", stdin=row).stdout
    assert [words_of(line) for line in own.splitlines()] == [["One"], ["Two"], ["words"], ["."], ["Three"]]


@pytest.mark.parametrize("sents", ["line", "model"])
def test_wrapped_lines_are_noticed(run: Run, pipeline: Path, tmp_path: Path, sents: str) -> None:
    text = "The old dog barked at the cat, which had been asleep since May. She reads papers as she has done all day."
    lines = textwrap.wrap(text, 24)
    (tmp_path / "in.txt").write_text("\n".join([*lines, "", "End"]))
    message = f"4 of {len(lines) + 2} lines seem to go on in the next one"
    for options in ([], [tmp_path / "out.mrg", "--workers", 2], [f"{tmp_path}/shards/"]):
        assert message in run("parse", pipeline, tmp_path / "in.txt", *options, "-s", sents).stderr
    queries = ["how to cook rice", "best way to learn french", "i do not like this movie", "what is a verb"]
    for lines in (["one", "two", "three"] * 4 + ["Four words that stand here"], ["One.", "two."] * 9, queries):
        assert "seem to go on" not in run("parse", pipeline, "-", "-s", sents, stdin="\n".join(lines)).stderr
    rows = "".join(json.dumps({"text": text}) + "\n" for text in ("One", "two"))
    assert "seem to go on" not in run("parse", pipeline, "-", "-f", "jsonl", "-s", sents, stdin=rows).stderr


def test_the_splitter_wins_over_one_sentence(run: Run, pipeline: Path, tmp_path: Path) -> None:
    model = change(pipeline, tmp_path, lambda nlp: nlp.add_pipe("sentencizer", after="one_sentence"))
    result = run("parse", model, "-", "--sents", "model", stdin=TEXT)
    assert [words_of(line) for line in result.stdout.splitlines()] == SENTENCES


@pytest.mark.parametrize("is_disabled", [True, False])
def test_a_sentencizer_that_does_not_split(run: Run, pipeline: Path, tmp_path: Path, is_disabled: bool) -> None:
    """It stands behind the parser, or is disabled: another one comes."""

    def add(nlp: Language) -> None:
        nlp.add_pipe("sentencizer")
        if is_disabled:
            nlp.disable_pipe("sentencizer")

    result = run("parse", change(pipeline, tmp_path, add), "-", "--sents", "model", stdin=TEXT)
    assert [words_of(line) for line in result.stdout.splitlines()] == SENTENCES


def test_a_text_that_failed_is_parsed_again(run: Run, pipeline: Path, tmp_path: Path) -> None:
    """From .spacy, where its doc has no words."""
    lines = '{"text": "She \\u0000 sings", "id": 1}\n{"text": "She sings", "id": 2}'
    first, again = tmp_path / "first.spacy", tmp_path / "again.jsonl"
    assert run("parse", pipeline, "-", first, "--format", "jsonl", "--skip-bad", "all", stdin=lines).exit_code == 0
    assert run("parse", pipeline, first, again, "--skip-bad", "1").exit_code == 0
    rows = [json.loads(line) for line in again.read_text(encoding="utf8").splitlines()]
    found = [(row["id"], row["text"], "error" in row) for row in rows]
    assert found == [(1, "She \0 sings", True), (2, "She sings", False)]


def test_a_pipeline_without_splitter_gets_one_and_says_so(run: Run, pipeline: Path) -> None:
    result = run("parse", pipeline, "-", "--sents", "model", stdin=TEXT)
    assert [words_of(line) for line in result.stdout.splitlines()] == SENTENCES
    assert "no splitter of sentences" in result.stderr


def test_a_pipeline_without_any_component_for_sentences(run: Run, pipeline: Path, tmp_path: Path) -> None:
    model = change(pipeline, tmp_path, lambda nlp: nlp.remove_pipe("one_sentence"))
    result = run("parse", model, "-", "--sents", "model", stdin=TEXT)
    assert [words_of(line) for line in result.stdout.splitlines()] == SENTENCES
    assert "no splitter of sentences" in result.stderr

    def add_own(nlp: Language) -> None:  # it does not say what it assigns: it may be a splitter
        nlp.replace_pipe("one_sentence", COMPONENTS[0])

    model = change(pipeline, tmp_path, add_own)
    result = run("parse", model, "-", "--sents", "model", stdin="One\nTwo words.\n")
    assert len(result.stdout.splitlines()) == 4 and not result.stderr


def test_a_component_that_splits_all_the_same(run: Run, pipeline: Path, tmp_path: Path) -> None:
    model = change(pipeline, tmp_path, lambda nlp: nlp.add_pipe(COMPONENTS[0], after="one_sentence"))
    result = run("parse", model, "-", stdin="One\nTwo words.\n")
    assert result.exit_code == 1
    assert "<stdin>:2: [E558]" in result.stderr


def test_failures_are_named(run: Run, pipeline: Path, tmp_path: Path) -> None:
    model = change(pipeline, tmp_path, lambda nlp: nlp.add_pipe(COMPONENTS[1], first=True))
    source = tmp_path / "in.txt"
    source.write_text("Good.\nThis will boom.\nGood again.\n")
    result = run("parse", model, source, tmp_path / "out.mrg")
    assert result.exit_code == 1
    assert f"{source}:2: [E557]" in result.stderr and "KeyError: 'boom'" in result.stderr
    assert not (tmp_path / "out.mrg").exists()
    result = run("parse", model, source, tmp_path / "out.mrg", "--skip-bad", "all")
    assert result.exit_code == 0
    assert f"skipped {source}:2: [E557]" in result.stderr and "Skipped 1 text " in result.stderr
    lines = (tmp_path / "out.mrg").read_text().splitlines()
    assert [words_of(line) for line in lines] == [["Good", "."], [], ["Good", "again", "."]]
    assert run("parse", model, source, tmp_path / "out.spacy", "--skip-bad", "all").exit_code == 0
    docs = list(DocBin().from_disk(tmp_path / "out.spacy").get_docs(Vocab()))
    assert [[token.text for token in doc] for doc in docs] == [["Good", "."], [], ["Good", "again", "."]]
    assert docs[1].user_data["text"] == "This will boom." and "boom" in docs[1].user_data["error"]


def test_with_a_dependency_parser(run: Run, pipeline: Path, tmp_path: Path) -> None:
    def add_parser(nlp: Language) -> None:
        parser = nlp.add_pipe("parser", first=True)
        parser.add_label("dep")  # type: ignore[attr-defined]
        doc = nlp.make_doc("a b . c d .")
        examples = [Example.from_dict(doc, {"heads": [1, 1, 1, 4, 4, 4], "deps": ["dep", "ROOT"] * 3})]
        parser.initialize(lambda: examples, nlp=nlp)  # type: ignore[attr-defined]
        for _ in range(20):
            parser.update(examples, sgd=nlp.create_optimizer())  # type: ignore[attr-defined]

    model = change(pipeline, tmp_path, add_parser)
    split, kept = (run("parse", model, "-", "--sents", how, stdin="a b . c d .\n") for how in ("model", "line"))
    assert [words_of(line) for line in split.stdout.splitlines()] == [["a", "b", "."], ["c", "d", "."]]
    assert [words_of(line) for line in kept.stdout.splitlines()] == [["a", "b", ".", "c", "d", "."]]


def test_empty_tokens_beside_a_text(run: Run, pipeline: Path) -> None:
    result = run("parse", pipeline, "-", "--format", "jsonl", stdin='{"text": "She reads.", "tokens": []}\n')
    assert "<stdin>:1: [E553]" in result.stderr


def test_failures_in_json(run: Run, pipeline: Path, tmp_path: Path) -> None:
    source = tmp_path / "in.jsonl"
    source.write_text('{"text": "A."}\n{]\n{"text": "\\ud800", "id": 3}\n{"text": "B.", "id": 4}\n')
    result = run("parse", pipeline, source, "--output-format", "jsonl", "--skip-bad", "all")
    assert result.exit_code == 0
    first, second, third, fourth = map(json.loads, result.stdout.splitlines())
    assert [len(each["sents"]) for each in (first, second, third, fourth)] == [1, 0, 0, 1]
    assert "error" in second and fourth["id"] == 4
    assert "half a surrogate pair, U+D800, at character 1" in third["error"] and third["id"] == 3


def test_passed_on_as_it_came(run: Run, pipeline: Path) -> None:
    meta = {"a": 0.1234567890123456, "b": 2**70, "c": "\ud800", "d": "日本"}
    result = run(
        "parse",
        pipeline,
        "-",
        "-f",
        "jsonl",
        "--output-format",
        "jsonl",
        stdin=json.dumps({"text": "A.", "meta": meta}),
    )
    assert json.loads(result.stdout)["meta"] == meta
    assert "日本" in result.stdout


@pytest.mark.parametrize("suffix", ["spacy", "parquet"])
def test_an_id_with_half_a_surrogate_pair(run: Run, pipeline: Path, tmp_path: Path, suffix: str) -> None:
    """Docs and Parquet have an escape there, and no quotes around it."""
    if suffix == "parquet":
        pytest.importorskip("pyarrow", reason="pyarrow is not installed")
    out = tmp_path / f"out.{suffix}"
    result = run("parse", pipeline, "-", out, "-f", "jsonl", stdin='{"text": "A.", "id": "\\ud800id"}\n')
    assert result.exit_code == 0, result.stderr
    if suffix == "spacy":
        (doc,) = DocBin().from_disk(out).get_docs(Vocab())
        found = doc.user_data["id"]
    else:
        from pyarrow import parquet

        (found,) = parquet.read_table(out).column("id").to_pylist()
    assert found == "\\ud800id"


def test_line_ends(run: Run, pipeline: Path, tmp_path: Path) -> None:
    source = tmp_path / "in.txt"
    source.write_bytes("\ufeffOne.\rTwo.\r\nThree\u0085four\u2028five.\n".encode())
    lines = run("parse", pipeline, source).stdout.splitlines()
    assert [words_of(line)[0][:3] for line in lines] == ["One", "Two", "Thr"]


def test_what_separates_tokens(run: Run, pipeline: Path) -> None:
    line = "10\u00a0000 a\u3000b\tc\u2028d\u0085e"
    result = run("parse", pipeline, "-", "-f", "tokens", stdin=line)
    assert words_of(result.stdout) == ["10\u00a0000", "a\u3000b", "c\u2028d\u0085e"]


def test_inputs_are_not_overwritten(run: Run, pipeline: Path, tmp_path: Path) -> None:
    source = tmp_path / "in.txt"
    source.write_text("A.\n")
    for out in (source, tmp_path / "." / "in.txt", pipeline / "meta.json"):
        before = out.read_bytes()
        assert "[E032]" in run("parse", pipeline, source, out).stderr
        assert out.read_bytes() == before
    # A file that would be read as text the next time.
    assert "[E032]" in run("parse", pipeline, tmp_path, tmp_path / "trees.txt").stderr
    assert run("parse", pipeline, tmp_path, tmp_path / "trees.mrg").exit_code == 0


@pytest.mark.parametrize(
    "suffix, text",
    [(".txt", "A.\n"), (".txt", "\n(Kim) #1"), (".txt", "# A\nb"), (".jsonl", '{"text": "A."}\n'), (".json", "{}")],
)
def test_a_second_input_is_not_overwritten(run: Run, pipeline: Path, tmp_path: Path, suffix: str, text: str) -> None:
    """*.txt may be two files, of which the second stands where OUTPUT does. What `parse` wrote is replaced."""
    source, other = tmp_path / "a.txt", tmp_path / f"b{suffix}"
    for path in (source, other):
        path.write_text(text)
    assert "[E036]" in run("parse", pipeline, source, other).stderr and other.read_text() == text
    other.unlink()
    for options in ([], ["--probs"], ["--k-best", "2"], []):
        assert run("parse", pipeline, source, other, *options).exit_code == 0


def test_names_of_brackets_among_tokens(run: Run, pipeline: Path) -> None:
    """A warning: in JSON tokens are text, and -LRB- is a word that no parser knows."""
    line = json.dumps({"tokens": ["A", "-LRB-", "b", "-RRB-"]})
    result = run("parse", pipeline, "-", "--format", "jsonl", stdin=f'{line}\n{{"tokens": ["A", "("]}}\n')
    assert "1 of 2 texts have tokens such as -LRB-" in result.stderr
    assert "-LRB-" not in run("parse", pipeline, "-", "--format", "tokens", stdin="A -LRB- b -RRB-\n").stderr


def test_constituents_of_docs_are_replaced(run: Run, pipeline: Path, tmp_path: Path) -> None:
    nlp = spacy.load(pipeline)
    doc = Doc(nlp.vocab, words=["A", "b", "C", "d"], sent_starts=[True, False, True, False])
    doc.spans["constituents"] = [doc[0:3]]
    doc.spans["other"] = [doc[1:2]]
    DocBin(docs=[doc]).to_disk(tmp_path / "in.spacy")
    lines = run("parse", pipeline, tmp_path / "in.spacy").stdout.splitlines()
    assert [words_of(line) for line in lines] == [["A", "b"], ["C", "d"]]
    assert run("parse", pipeline, tmp_path / "in.spacy", tmp_path / "out.spacy").exit_code == 0
    (out,) = DocBin().from_disk(tmp_path / "out.spacy").get_docs(Vocab())
    assert [span.text for span in out.spans["other"]] == ["b"]


def test_batches(run: Run, pipeline: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    stdin = "".join(f"word{i} is new{i}.\n" for i in range(25))
    whole = run("parse", pipeline, "-", stdin=stdin).stdout
    sizes: list[int] = []
    predict = ParseTagger.predict

    def spy(pipe: ParseTagger, docs: Sequence[Doc]) -> Any:
        sizes.append(len(docs))
        return predict(pipe, docs)

    monkeypatch.setattr(ParseTagger, "predict", spy)
    small = change(pipeline, tmp_path, lambda nlp: None)
    config = (small / "config.cfg").read_text()
    assert "batch_size = 1000" in config
    (small / "config.cfg").write_text(config.replace("batch_size = 1000", "batch_size = 2"))
    for size, expected in ((4, [4, 4, 4, 4, 4, 4, 1]), (100, [25])):
        sizes.clear()
        assert run("parse", small, "-", "--batch-size", size, stdin=stdin).stdout == whole
        assert sizes == expected  # whatever the batch size of the pipeline
    assert len(whole.splitlines()) == 25


def test_what_was_written_is_said(run: Run, pipeline: Path, tmp_path: Path) -> None:
    (tmp_path / "in.txt").write_text("She reads.\nKim sings.\n", encoding="utf-8")
    for options, said in (([], ["✔ 2 texts in 1 shard: " + str(tmp_path / "0")]), (["--quiet"], [])):
        assert (
            run("parse", pipeline, tmp_path / "in.txt", f"{tmp_path}/{len(options)}/", *options).stderr.splitlines()
            == said
        )


def test_two_processes(run: Run, pipeline: Path, tmp_path: Path) -> None:
    args = ["parse", pipeline, "-", "--batch-size", 2, "--skip-bad", "all", "-f", "jsonl", "--output-format", "json"]
    args.append("--quiet")  # workers may take a minute to start, and then there is a line of progress
    stdin = "".join(json.dumps({"text": line}) + "\n" for line in TEXT.splitlines()) + "[]\n"
    one, two = (run(*args, "--n-process", n, stdin=stdin) for n in (1, 2))
    assert not two.exit_code, two.stderr
    assert one.stdout == two.stdout and len(json.loads(one.stdout)) == 5
    assert one.stderr == two.stderr and "<stdin>:5: [E553] Not a text to parse: it is not an object" in one.stderr


def test_docs_of_two_processes(run: Run, pipeline: Path, tmp_path: Path) -> None:
    """Their user data come along, as those of one process do."""
    stdin = "".join(json.dumps({"text": line, "id": i}) + "\n" for i, line in enumerate(TEXT.splitlines()))
    args = ["parse", pipeline, "-", tmp_path / "out.spacy", "--batch-size", 2, "-f", "jsonl", "--quiet"]
    result = run(*args, "--n-process", 2, stdin=stdin)
    assert not result.exit_code, result.stderr
    docs = DocBin().from_disk(tmp_path / "out.spacy").get_docs(spacy.blank("en").vocab)
    assert [doc.user_data["id"] for doc in docs] == [*range(len(TEXT.splitlines()))]


@pytest.mark.slow
def test_a_worker_that_dies(run: Run, pipeline: Path, tmp_path: Path) -> None:
    code = tmp_path / "code.py"
    code.write_text(
        "import multiprocessing, os\nfrom spacy.language import Language\n"
        "@Language.component('dies')\ndef dies(doc):\n"
        "    if multiprocessing.parent_process() is not None:\n        os._exit(1)\n    return doc\n"
    )
    import_file("code", code)
    model = change(pipeline, tmp_path, lambda nlp: nlp.add_pipe("dies"))
    result = run("parse", model, "-", tmp_path / "out.mrg", "--n-process", 2, "--code", code, stdin=TEXT)
    assert result.exit_code == 1 and "[E559]" in result.stderr
    assert not list(tmp_path.glob("*out.mrg*"))


@pytest.mark.parametrize(
    "name, content, args, message",
    [
        ("missing.txt", None, [], "[E484]"),
        ("my missing file.txt", None, [], "[E030]"),
        ("bad.jsonl", "\n{]\n", [], "bad.jsonl:2: "),
        ("bad.jsonl", "[1]\n", [], "bad.jsonl:1: "),
        ("bad.jsonl", '\n{"text": "a"\n', [], "delimiter at character 14."),
        ("bad.jsonl", '{"tokens": ["a", 1]}\n', [], "bad.jsonl:1: "),
        ("bad.jsonl", '{"tokens": ["a", ""]}\n', [], "bad.jsonl:1: "),
        ("bad.jsonl", '{"tokens": ["a"], "tags": []}\n', [], "bad.jsonl:1: "),
        ("bad.txt", "good\n\udcff\n", [], "bad.txt:2: "),
        ("bad.txt", "a dog \0 barks", [], "[E555] Not text in UTF-8: the character U+0000 at character 7."),
        ("bad.txt", "caf\udce9 \0 a dog", [], "iconv -f latin1 -t utf-8."),
        ("bad.spacy", "nonsense", [], "[E550]"),
        ("bad.jsonl", "[" * 100_000, [], "bad.jsonl:1: [E556] Cannot read this JSON: it is nested too deeply"),
        (
            "bad.jsonl",
            '{"text": "\\udcff"}',
            [],
            "[E555] Not text in UTF-8: half a surrogate pair, U+DCFF,",
        ),
        ("bad.jsonl", '{"text": "a\\u0000"}', [], "the character U+0000 at character 2."),
        ("long.txt", "a" * 2_000_000, [], "long.txt:1: [E584]"),
        ("text.txt", "a", ["--output-format", "spacy"], "[E455]"),
        ("text.txt", "a", ["out.conll"], "[E463]"),
        ("text.txt", "a", ["--n-process", "0"], "[E464]"),
        ("text.txt", "a", ["--code", "missing.py"], "[E030]"),
        ("text.txt", "a", ["--code", __file__.removesuffix("test_parse_command.py")], "[E030]"),
        ("text.txt", "a", ["--code", str(Path(__file__).parents[2] / "README.md")], "[E576]"),
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
    (tmp_path / "text.txt").write_text("a")
    assert "[E050]" in run("parse", "no_such_pipeline", tmp_path / "text.txt").stderr
    spacy.blank("en").to_disk(tmp_path / "blank")
    assert "[E560]" in run("parse", tmp_path / "blank", tmp_path / "text.txt").stderr


def start(*args: object, **kwargs: object) -> "subprocess.Popen[bytes]":
    """The command in a process of its own, where a terminal, a locale or a signal matters."""
    command = [sys.executable, "-m", "spacy", "parsetag", *map(str, args)]
    return subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, **kwargs)  # type: ignore[call-overload]


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no terminals and signals of POSIX")
def test_terminal_locale_and_signal(pipeline: Path, tmp_path: Path) -> None:
    import fcntl
    import pty
    import termios

    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 80, 0, 0))
    shown = start("parse", pipeline, "-", stderr=theirs, env={**os.environ, "PYTHONIOENCODING": "latin-1"})
    ended = start("parse", pipeline, "-", tmp_path / "out.mrg", stderr=subprocess.PIPE)
    out, _ = shown.communicate("日本\n".encode())
    os.close(theirs)
    assert "日本" in out.decode()
    assert b"1 texts" in os.read(ours, 10_000)  # a bar on a terminal
    assert ended.stdin is not None and ended.stderr is not None
    ended.stdin.write(b"one\n" * 10_000)
    ended.stdin.flush()
    while not any(tmp_path.iterdir()):  # until it writes
        assert ended.poll() is None
        time.sleep(0.05)
    ended.send_signal(signal.SIGTERM)
    _, err = ended.communicate()
    assert ended.returncode == 128 + signal.SIGTERM
    assert not err and not any(tmp_path.iterdir())  # and none where there is no terminal


def test_the_default_pipeline(run: Run, pipeline: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without MODEL: a text in quotes, whose sentences the pipeline splits, or a file, whose lines are sentences."""
    (tmp_path / "en_parsetag_sm").symlink_to(pipeline)
    monkeypatch.chdir(tmp_path)  # `spacy.load` finds a folder of the name
    monkeypatch.setattr("spacy_parsetag.cli._inputs.is_package", lambda name: False)
    result = run("parse", "She reads. The dog barks.")
    assert result.exit_code == 1 and "[E468]" in result.stderr
    assert "pip install ./models/en_parsetag_sm" in " ".join(result.stderr.split())
    monkeypatch.setattr("spacy_parsetag.cli._inputs.is_package", lambda name: name == "en_parsetag_sm")
    result = run("parse", "She reads. The dog barks.")
    assert [words_of(line) for line in result.stdout.splitlines()] == [
        ["She", "reads", "."],
        ["The", "dog", "barks", "."],
    ]
    assert len(run("parse", "She reads. The dog barks.", "--sents", "line").stdout.splitlines()) == 1
    assert words_of(run("parse", "Stop!").stdout) == ["Stop", "!"]
    for first in ("Stop!", "-", tmp_path):
        assert "[E462]" in run("parse", first, "en_parsetag_sm").stderr
    assert "[E577] numpy is a package" in run("parse", "numpy", "Stop!").stderr
    assert len(run("parse", "The dog barks. " * 40).stdout.splitlines()) == 40  # longer than the name of a file may be
    (tmp_path / "some text.txt").write_text("The dog barks.\nShe reads.\n")
    assert len(run("parse", "some text.txt").stdout.splitlines()) == 2
    assert len(run("parse", "-", stdin="The dog barks.\n").stdout.splitlines()) == 1
    for argument, code in (("en_parsetag_sm", "[E455]"), ("absent.txt", "[E484]")):
        result = run("parse", argument)
        assert result.exit_code == 1 and code in result.stderr


def test_probabilities_and_the_best_trees(run: Run, pipeline: Path, tmp_path: Path) -> None:
    result = run("parse", pipeline, "-", "--probs", "--k-best", "3", stdin="She reads papers.\n\n")
    assert result.exit_code == 0
    lines = result.stdout.splitlines()
    assert lines[0].startswith("# log_prob -") and "expected_f 0." in lines[0]
    assert lines[1].startswith("# ") and "[0:" in lines[1]
    assert [line[:8] for line in lines[2::2]] == ["# tree 1", "# tree 2", "# tree 3", "(TOP)"][: len(lines[2::2])]
    trees = [line for line in lines if not line.startswith("#")]
    plain = run("parse", pipeline, "-", stdin="She reads papers.\n\n").stdout.splitlines()
    assert trees[0] == plain[0] and trees[-1] == "(TOP)" == plain[1] and len(set(trees)) == 4
    result = run(
        "parse", pipeline, "-", "--probs", "--k-best", "2", "--output-format", "jsonl", stdin="She reads papers.\n"
    )
    [sent] = json.loads(result.stdout)["sents"]
    assert sent["k_best"][0]["tree"] == sent["tree"] and len(sent["k_best"]) == 2
    assert sent["k_best"][0]["log_prob"] == pytest.approx(sent["log_prob"], abs=1e-4)
    assert all(0 < constituent["prob"] <= 1.0001 for constituent in sent["constituents"])
    assert "E455" in run("parse", pipeline, "-", tmp_path / "out.parquet", "--probs", stdin="a\n").stderr


def test_labels_that_are_no_words_beside_probabilities(run: Run, tmp_path: Path) -> None:
    """A comment keeps to its line, so that the file can be read."""
    tree = r"(TOP (A\u000aB\u202e (X a) (X b)))"
    nlp = spacy.blank("en")
    nlp.add_pipe("one_sentence")
    add_untrained_parser(nlp, tree)
    nlp.to_disk(tmp_path / "model")
    gold, parsed, docs = (tmp_path / name for name in ("gold.mrg", "parsed.mrg", "gold.spacy"))
    gold.write_text(tree + "\n")
    assert run("parse", tmp_path / "model", "-", parsed, "--probs", stdin="a b\n").exit_code == 0
    assert r"# A\u000aB\u202e[0:2]" in parsed.read_text() and read_string(parsed.read_text())
    assert run("convert", gold, docs).exit_code == 0
    assert "\nA\ufffdB " in run("evaluate", tmp_path / "model", docs).stdout


def test_figures_of_a_tree_that_is_not_the_best(run: Run, pipeline: Path, tmp_path: Path) -> None:
    decoder = {"@misc": "spacy-parsetag.MBRDecoder.v1", "cost": 2.0}  # at which no constituent is worth it
    spacy.load(pipeline, config={"components.parsetag.decoder": decoder}).to_disk(tmp_path / "mbr")
    figures, tree = run("parse", tmp_path / "mbr", "-", "--probs", stdin="She reads.\n").stdout.splitlines()[1:]
    for options in (["--probs"], []):
        written = run("parse", tmp_path / "mbr", "-", *options, "--k-best", 2, stdin="She reads.\nKim sings.\n").stdout
        lines = written.splitlines()[len(options) * 2 :]
        assert lines[0] == tree and (not options or written.splitlines()[1] == figures)
        numbered = [line for line in lines if line.startswith("# tree ")]
        assert numbered and all(line.endswith(", not the pipeline's") for line in numbered)
        assert len(read_string(written)) == 2 and read_string(written)[0] == read_string(tree)[0] and lines[2] != tree


def test_probabilities_beside_the_best_trees_of_the_config(run: Run, pipeline: Path, tmp_path: Path) -> None:
    spacy.load(pipeline, config={"components.parsetag.k_best": 2}).to_disk(tmp_path / "two")
    line = run("parse", tmp_path / "two", "-", "--probs", "--output-format", "jsonl", stdin="She reads.\n").stdout
    (sent,) = json.loads(line)["sents"]
    assert len(sent["k_best"]) == 2 and "log_prob" in sent


def test_an_ensemble_is_always_asked_for_probabilities(run: Run, pipeline: Path, tmp_path: Path) -> None:
    nlp = spacy.blank("en")
    nlp.add_pipe("one_sentence")
    nlp.add_pipe("parsetag_ensemble", config={"pipelines": [str(pipeline)]})
    nlp.to_disk(tmp_path / "together")
    result = run("parse", tmp_path / "together", "-", "--probs", stdin="She reads papers.\n")
    assert result.exit_code == 0 and result.stdout.startswith("# expected_f 0."), result.stderr
    result = run(
        "parse", tmp_path / "together", "-", "--probs", "--output-format", "jsonl", stdin="She reads papers.\n"
    )
    assert all("prob" in constituent for constituent in json.loads(result.stdout)["sents"][0]["constituents"])
    result = run("parse", tmp_path / "together", "-", "--k-best", "2", stdin="She reads papers.\n")
    assert result.exit_code == 1 and "[E569]" in result.stderr


def test_two_parsers(run: Run, pipeline: Path, tmp_path: Path) -> None:
    """The last one's trees are written, and it is said which that is."""
    nlp = spacy.load(pipeline)
    nlp.add_pipe("parsetag", name="second", source=spacy.load(pipeline))
    nlp.get_pipe("second").cfg["spans_key"] = "others"  # type: ignore[attr-defined]
    nlp.to_disk(tmp_path / "two")
    with pytest.warns(UserWarning, match=r"\[W550\].*\(parsetag, second\). The trees of 'second'"):
        result = run("parse", tmp_path / "two", "-", stdin="She reads papers.\n")
    assert result.exit_code == 0 and words_of(result.stdout.strip()) == ["She", "reads", "papers", "."]


def test_tokens_of_the_penn_treebank(run: Run, pipeline: Path) -> None:
    """Its plain text writes brackets and slashes as its trees do; no other backslash means anything."""
    line = r"She -LRB- x-RRB- ran 1\/2 C:\u0041 \\ ." + "\n"
    (tree,) = read_string(run("parse", pipeline, "-", "-f", "tokens", stdin=line).stdout)
    assert Parse.from_tree(tree).words == ("She", "(", "x)", "ran", "1/2", "C:\\u0041", "\\\\", ".")


NO_TEXT = ["trees.mrg", "trees.PTB.gz", "texts.json", "a.discbracket", "a.export", "a.tbf"]
NO_TEXT += ["a.csv", "a.TSV.gz", "a.conllu", "a.xml", "a.html", "a.pdf", "a.docx"]


@pytest.mark.parametrize("name", NO_TEXT)
def test_files_that_are_no_text_by_their_name(run: Run, pipeline: Path, tmp_path: Path, name: str) -> None:
    """Brackets, commas and markup would be parsed as words."""
    source = tmp_path / name
    data = b"(TOP (NN a))\n"
    source.write_bytes(gzip.compress(data) if name.endswith(".gz") else data)
    result = run("parse", pipeline, source)
    assert result.exit_code == 1 and "[E574]" in result.stderr and not result.stdout
    assert run("parse", pipeline, source, "--format", "text").exit_code == 0


def test_no_shards_of_a_pipe(run: Run, pipeline: Path, pipe: Callable[[str], Path], tmp_path: Path) -> None:
    """Texts are counted before they are parsed, and a pipe is read once."""
    result = run("parse", pipeline, pipe("She reads.\n"), f"{tmp_path}/out/")
    assert result.exit_code == 1 and "A folder of shards needs a file" in result.stderr
    assert not (tmp_path / "out").exists()
    assert run("parse", pipeline, pipe("She reads.\n")).stdout == run("parse", pipeline, "-", stdin="She reads.").stdout


def test_encodings_to_convert_from(run: Run, pipeline: Path, tmp_path: Path) -> None:
    """Quotes of Windows-1252 are control characters in Latin 1."""
    for text, encoding, named in (("café", "latin-1", "latin1"), ("caf\u00e9 \u201ehi\u201c", "cp1252", "cp1252")):
        (tmp_path / "a.txt").write_text(text, encoding=encoding)
        assert f"iconv -f {named} -t utf-8" in run("parse", pipeline, tmp_path / "a.txt").stderr
        (tmp_path / "a.mrg").write_text(f"(TOP (NN {text.replace(' ', '')}))\n", encoding=encoding)
        assert f"--encoding {named.replace('latin1', 'latin-1')}" in run("show", tmp_path / "a.mrg").stderr
    for mark, encoding in ((codecs.BOM_UTF16_LE, "utf-16-le"), (codecs.BOM_UTF16_BE, "utf-16-be")):
        (tmp_path / "a.txt").write_bytes(mark + "café".encode(encoding))
        assert "iconv -f utf16 -t utf-8" in run("parse", pipeline, tmp_path / "a.txt").stderr
        (tmp_path / "a.txt").write_text("A dog barks.", encoding=encoding)  # without a mark
        result = run("parse", pipeline, tmp_path / "a.txt")
        assert result.exit_code == 1 and f"iconv -f {encoding.replace('-', '')} -t utf-8" in result.stderr


def test_a_text_in_quotes_is_in_utf8(run: Run, pipeline: Path) -> None:
    """Where the locale has other characters, its bytes come as half surrogate pairs."""
    assert (
        run("parse", pipeline, "Zo\udcc3\udcab reads.").stdout == run("parse", pipeline, "Zo\u00eb reads.").stdout != ""
    )
    for command in (("parse", pipeline, "Zo\udceb reads."), ("show", "(TOP (NN Zo\udceb))")):
        result = run(*command)
        assert result.exit_code == 1 and "[E555] Not text in UTF-8: the byte 0xeb" in result.stderr


def test_a_text_in_quotes_has_no_other_format(run: Run, pipeline: Path) -> None:
    result = run("parse", pipeline, "She reads.", "--format", "tokens")
    assert result.exit_code == 1 and "[E455] --format tokens needs a file or standard input" in result.stderr
    assert run("parse", pipeline, "She reads.", "--format", "text").exit_code == 0


def test_docs_to_json(run: Run, pipeline: Path, tmp_path: Path) -> None:
    doc = Doc(spacy.blank("en").vocab, words=["A", "b", "C", "d"], sent_starts=[True, False, True, False])
    doc.user_data = {"id": 7, "meta": {"n": float("nan")}, "other": 1}
    DocBin(docs=[doc], store_user_data=True).to_disk(tmp_path / "in.spacy")
    data = json.loads(run("parse", pipeline, tmp_path / "in.spacy", "--output-format", "jsonl").stdout)
    assert [data["text"][sent["start"] : sent["end"]] for sent in data.pop("sents")] == ["A b", "C d"]
    assert data == {"text": "A b C d ", "id": 7, "meta": {"n": None}}
