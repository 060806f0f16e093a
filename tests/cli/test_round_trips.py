"""What one command writes another one reads: comments, escapes, ids."""

import bz2
import gzip
import io
import json
import lzma
import os
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest
import spacy
from command_data import TREES, Run
from spacy.tokens import DocBin
from spacy.vocab import Vocab

from spacy_parsetag.cli._inputs import trees_and_parses
from spacy_parsetag.tokens import has_parses
from spacy_parsetag.trees.brackets import format_tree

TEXT = "She reads papers .\nThe dog barks .\n"


@pytest.mark.parametrize("options", [["--probs"], ["--k-best", 3], ["--probs", "--k-best", 2]])
def test_comments_of_brackets(run: Run, pipeline: Path, tmp_path: Path, options: list[Any]) -> None:
    source, plain, said = tmp_path / "in.txt", tmp_path / "plain.mrg", tmp_path / "said.mrg"
    source.write_text(TEXT)
    assert run("parse", pipeline, source, plain).exit_code == 0
    assert run("parse", pipeline, source, said, *options).exit_code == 0
    assert said.read_text().startswith("#")
    for command in (["evaluate", plain], ["diff", plain]):
        result = run(*command, said)
        assert result.exit_code == 0, result.stderr
        assert result.stdout == run(*command, plain).stdout
    for command in (["show"], ["linearize"]):
        assert run(*command, said).stdout == run(*command, plain).stdout != ""
    assert run("show", "-", stdin=said.read_text()).stdout == run("show", plain).stdout
    for path in (plain, said):
        assert run("convert", path, path.with_suffix(".spacy")).exit_code == 0
    assert said.with_suffix(".spacy").read_bytes() == plain.with_suffix(".spacy").read_bytes()


def test_neither_a_tree_nor_text(run: Run) -> None:
    result = run("show", "-", stdin="Results of Tuesday\n" + TREES)
    assert result.exit_code == 1 and "[E453] Line 2 of <stdin>" in result.stderr
    pretty = "# a comment\n(TOP\n  (S (NP (PRP She))\n     (VP (VBZ reads))))\n"
    assert run("show", "-", stdin=pretty).stdout == run("show", "(TOP (S (NP (PRP She)) (VP (VBZ reads))))").stdout


def test_escapes_of_treebanks(run: Run, pipeline: Path, tmp_path: Path) -> None:
    """Words are compared as text: brackets of a pipeline have 3/8 where the treebank has 3\\/8."""
    gold, test = tmp_path / "gold.mrg", tmp_path / "test.mrg"
    gold.write_text("(TOP (NP (CD 3\\/8) (NN -LSB-)))\n" + TREES)
    assert run("convert", gold, tmp_path / "gold.spacy").exit_code == 0
    assert run("parse", pipeline, tmp_path / "gold.spacy", test).exit_code == 0
    assert "3/8" in test.read_text()
    result = run("evaluate", gold, test, "--json")
    found = json.loads(result.stdout)
    assert found["failures"] == 0 and found["errors"] == {}
    assert r"same text, spelled otherwise (such as 3\/8 as 3/8)" in result.stderr
    whole = json.loads(run("evaluate", pipeline, tmp_path / "gold.spacy", "--json").stdout)["evalb"]
    assert whole["all"]["matched"] == found["all"]["matched"] and whole["all"]["gold"] == found["all"]["gold"]
    gold.write_text("(TOP (NP (CD 3\\/9) (NN -LSB-)))\n" + TREES)
    assert "Words unmatch" in json.loads(run("evaluate", gold, test, "--json").stdout)["errors"]["1"]


@pytest.mark.parametrize("suffix, compress", [("gz", gzip.compress), ("bz2", bz2.compress), ("xz", lzma.compress)])
def test_compressed_treebanks(run: Run, tmp_path: Path, suffix: str, compress: Callable[[bytes], bytes]) -> None:
    for name, folder in (("plain", tmp_path / "plain"), ("packed", tmp_path / "packed")):
        (folder / "a").mkdir(parents=True)
        for part in ("a/train", "dev"):
            path = folder / f"{part}.mrg"
            path.write_text(TREES)
            if name == "packed":
                path.with_name(f"{path.name}.{suffix}").write_bytes(compress(path.read_bytes()))
                path.unlink()
        result = run("convert", folder, tmp_path / f"{name}-corpus", "--split", "train=train,dev=dev")
        assert result.exit_code == 0, result.stderr
    corpora = [sorted((tmp_path / f"{name}-corpus").iterdir()) for name in ("plain", "packed")]
    assert [path.name for path in corpora[0]] == [path.name for path in corpora[1]] == ["dev.spacy", "train.spacy"]
    assert [path.read_bytes() for path in corpora[0]] == [path.read_bytes() for path in corpora[1]]
    assert run("convert", tmp_path / "packed", tmp_path / "each", "--split", "none").exit_code == 0
    assert (tmp_path / "each" / "a" / "train.spacy").is_file() and (tmp_path / "each" / "dev.spacy").is_file()
    plain, packed = tmp_path / "plain" / "dev.mrg", tmp_path / "packed" / f"dev.mrg.{suffix}"
    unnamed = packed.rename(tmp_path / "unnamed")  # as a pipe would bring it
    assert run("convert", unnamed, tmp_path / "unnamed.spacy", "--format", "penn").exit_code == 0
    assert (tmp_path / "unnamed.spacy").read_bytes() == corpora[0][0].read_bytes()
    unnamed.rename(packed)
    for command in (["show"], ["linearize"], ["analyze", "labels"]):
        assert run(*command, packed).stdout == run(*command, plain).stdout != ""
    for command in ("evaluate", "diff"):
        assert run(command, plain, packed).stdout == run(command, plain, plain).stdout != ""
    packed.write_bytes(packed.read_bytes()[:-8])
    result = run("linearize", packed)
    assert result.exit_code == 1 and "E033" in result.stderr and str(packed) in result.stderr


@pytest.mark.parametrize("compress", [bytes, gzip.compress, bz2.compress, lzma.compress])
def test_compressed_standard_input(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, compress: Callable[[bytes], bytes]
) -> None:
    """As `linearize`, `show` and `analyze` read it. What Typer's runner gives them cannot be looked into."""
    path, errors = tmp_path / "stdin", list[ValueError]()
    path.write_bytes(compress(f"{TREES}(TOP (NP the (NN dog)))\n".encode()))
    with path.open("rb") as file:
        monkeypatch.setattr("sys.stdin", io.TextIOWrapper(file))
        read = list(trees_and_parses(Path("-"), "utf-8", errors.append))
        assert not file.closed
    assert [format_tree(tree) for _, tree, _ in read] == TREES.splitlines()
    assert read[2][0] == "<stdin>:3" and str(errors[0]).startswith("<stdin>:4: ")


def test_ids_in_every_format(run: Run, pipeline: Path, tmp_path: Path) -> None:
    """Also those of texts that fail, whose places are kept."""
    source = tmp_path / "in.jsonl"
    lines: list[Any] = [
        {"text": "The dog barks.", "id": "a", "meta": {"n": [1, 2**70]}},
        {"tokens": ["She", ""], "id": "b", "meta": {"n": 2}},
        {"text": 7, "id": "c"},
        {"text": "A. B.", "id": 4},
    ]
    source.write_text("".join(json.dumps(line) + "\n" for line in lines))
    out = tmp_path / "parts"
    result = run("parse", pipeline, source, f"{out}/", "--skip-bad", "all")
    assert result.exit_code == 0, result.stderr
    found = [json.loads(line) for line in (out / "000000.jsonl").read_text().splitlines()]
    assert [row["id"] for row in found] == ["a", "b", "c", 4]
    assert [row.get("meta") for row in found] == [{"n": [1, 2**70]}, {"n": 2}, None, None]
    assert found[1]["text"] == "She " and "error" in found[1] and "error" not in found[3]
    assert run("parse", pipeline, source, tmp_path / "out.spacy", "--skip-bad", "all").exit_code == 0
    docs = list(DocBin(store_user_data=True).from_disk(tmp_path / "out.spacy").get_docs(Vocab()))
    assert [doc.user_data["id"] for doc in docs] == ["a", "b", "c", 4]
    assert [len(doc) > 0 for doc in docs] == [True, False, False, True] and all(map(has_parses, docs))
    assert json.loads(docs[0].user_data["meta"]) == {"n": [1, 2**70]} and "[E553]" in docs[1].user_data["error"]
    # From docs on to JSON again, and to docs in a folder.
    again = run("parse", pipeline, tmp_path / "out.spacy", "--output-format", "jsonl", "--skip-bad", "all").stdout
    assert [json.loads(line)["id"] for line in again.splitlines()] == ["a", "b", "c", 4]
    assert run("parse", pipeline, tmp_path / "out.spacy", f"{tmp_path}/more/", "--skip-bad", "all").exit_code == 0
    assert (tmp_path / "more" / "000000.spacy").exists()
    result = run("parse", pipeline, source, "--skip-bad", "all")
    assert "4 of 4 texts have an id or meta" in result.stderr
    pytest.importorskip("pyarrow", reason="pyarrow is not installed")
    from pyarrow import parquet

    assert run("parse", pipeline, source, tmp_path / "out.parquet", "--skip-bad", "all").exit_code == 0
    rows = parquet.read_table(tmp_path / "out.parquet").to_pylist()
    assert [row["id"] for row in rows] == ["a", "b", "c", "4"] and rows[1]["text"] == "She "


def test_components_keep_nothing_large_in_docs(run: Run, pipeline: Path, tmp_path: Path) -> None:
    """Only what came with a doc, and ids, are written: what components keep there need not be fit for a file."""
    code = tmp_path / "code.py"
    code.write_text(
        "from spacy.language import Language\n"
        "@Language.component('parsetag_test_keep')\n"
        "def keep(doc):\n    doc.user_data['large'] = object()\n    return doc\n"
    )
    from spacy.util import import_file

    import_file("parsetag_test_keep", code)
    nlp = spacy.load(pipeline)
    nlp.add_pipe("parsetag_test_keep", first=True)
    nlp.to_disk(tmp_path / "model")
    given = nlp.make_doc("She reads .")
    given.user_data["mine"] = "kept"
    DocBin(docs=[given], store_user_data=True).to_disk(tmp_path / "in.spacy")
    result = run("parse", tmp_path / "model", tmp_path / "in.spacy", tmp_path / "out.spacy")
    assert result.exit_code == 0, result.stderr
    [doc] = DocBin(store_user_data=True).from_disk(tmp_path / "out.spacy").get_docs(Vocab())
    assert doc.user_data == {"mine": "kept"}


def test_numbers_that_json_lacks(run: Run, pipeline: Path, tmp_path: Path) -> None:
    refused = {number: f"no number {number}" for number in ("NaN", "-Infinity", "1e999")}
    for number, reason in {**refused, "1" * 5000: "5000 digits"}.items():
        result = run("parse", pipeline, "-", "-f", "jsonl", stdin=f'{{"text": "A.", "meta": [{number}]}}\n')
        assert result.exit_code == 1 and "[E556]" in result.stderr and reason in result.stderr
    pa = pytest.importorskip("pyarrow", reason="pyarrow is not installed")
    from pyarrow import parquet

    nan, inf = float("nan"), float("inf")
    parquet.write_table(
        pa.table({"text": ["A.", "B."], "id": [nan, inf], "meta": [[nan], [1.0]]}), tmp_path / "a.parquet"
    )
    lines = run("parse", pipeline, tmp_path / "a.parquet", "--output-format", "jsonl").stdout.splitlines()

    def refuse(constant: str) -> None:
        raise ValueError(constant)

    found = [json.loads(line, parse_constant=refuse) for line in lines]
    assert "id" not in found[0] and found[0]["meta"] == [None] and found[1]["id"] is None
    table = pa.Table.from_arrays([pa.array(["A."]), pa.array(["B."])], names=["text", "text"])
    parquet.write_table(table, tmp_path / "twice.parquet")
    assert "[E570]" in run("parse", pipeline, tmp_path / "twice.parquet").stderr


def test_keys_that_json_lacks(run: Run, pipeline: Path, tmp_path: Path) -> None:
    """Docs may have them."""
    doc = spacy.blank("en")("She reads .")
    doc.user_data["meta"] = {(1, 2): 3, 4: {None: 5}}
    DocBin(docs=[doc], store_user_data=True).to_disk(tmp_path / "in.spacy")
    result = run("parse", pipeline, tmp_path / "in.spacy", "--output-format", "jsonl")
    assert result.exit_code == 0 and json.loads(result.stdout)["meta"] == {"(1, 2)": 3, "4": {"None": 5}}


def test_messages(run: Run, pipeline: Path, tmp_path: Path) -> None:
    assert "[E455] The command needs an INPUT to parse" in run("parse").stderr
    (tmp_path / "news.txt").write_text(TEXT)
    result = run("parse", tmp_path / "news.txt", tmp_path / "trees.mrg")
    assert result.exit_code == 1 and "[E462]" in result.stderr
    assert f"parse en_parsetag_sm {tmp_path / 'news.txt'} {tmp_path / 'trees.mrg'}" in result.stderr
    result = run("parse", "She's late.", "trees.mrg")
    command = """parse en_parsetag_sm 'She'"'"'s late.' trees.mrg"""
    assert result.exit_code == 1 and "is a text; the pipeline comes first" in result.stderr and command in result.stderr
    assert len(run("parse", pipeline, "The dog barks. She reads.").stdout.splitlines()) == 2  # a text in quotes
    # Of the last one spaCy's tokenizer needs a package.
    for lang in ("yi", "xyz", *(["ja"] if find_spec("sudachipy") is None else [])):
        result = run("init-config", "-", "--lang", lang)
        assert result.exit_code == 1 and "[E461]" in result.stderr and "--lang xx" in result.stderr
    assert run("init-config", "-", "--lang", "xx").exit_code == 0
    gold, test = tmp_path / "gold.mrg", tmp_path / "test.mrg"
    gold.write_text("(TOP (NP (NN a\u202eb\x1b[2J) (NN c)))\n", encoding="utf-8")
    test.write_text("(TOP (VP (NN a\u202eb\x1b[2J) (NN c)))\n", encoding="utf-8")
    text = run("diff", gold, test).stdout
    assert "a\x1b" not in text and "\u202e" not in text and "\ufffd[2J" in text


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="/dev/full, a device that is full, is missing")
def test_a_full_disk(run: Run, pipeline: Path) -> None:
    result = run("parse", pipeline, "The dog barks.", "/dev/full")
    assert result.exit_code == 1 and "/dev/full" in result.stderr
