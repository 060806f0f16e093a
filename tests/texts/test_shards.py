"""`parsetag parse` to a folder of shards: killed, failing, changed, with workers."""

import bz2
import gzip
import hashlib
import json
import lzma
import os
import pickle
import random
import re
import signal
import subprocess
import sys
import time
import zlib
from collections import Counter
from datetime import date
from importlib.metadata import version
from itertools import chain, repeat
from pathlib import Path
from pkgutil import resolve_name
from types import SimpleNamespace
from typing import Any
from unittest.mock import Mock

import pytest
import spacy
import srsly
from spacy.tokens import Doc, DocBin
from spacy.vocab import Vocab
from texts_data import FORMATS, Run, contents, write_texts

from spacy_parsetag.cli._util import progress
from spacy_parsetag.cli.parse import parse_cli
from spacy_parsetag.files.lock import lock_folder
from spacy_parsetag.files.write import atomic_path
from spacy_parsetag.texts.input import Source
from spacy_parsetag.texts.output import open_output
from spacy_parsetag.texts.parser import Settings, load_parser
from spacy_parsetag.texts.shards import (
    LOCK,
    MANIFEST,
    NOTES,
    Job,
    Run as ShardRun,
    Shard,
    ShardParser,
    check_same,
    describe_run,
    hash_files,
    plan_shards,
)
from spacy_parsetag.tokens import doc_to_strings


def manifest(folder: Path) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((folder / MANIFEST).read_text(encoding="utf-8"))
    return found


def read_shards(folder: Path, suffix: str) -> str:
    return "".join(path.read_text(encoding="utf-8") for path in sorted(folder.glob(f"*{suffix}")))


def test_plan() -> None:
    assert [tuple(shard) for shard in plan_shards([5, 0, 2], 2)] == [
        (0, 0, 0, 2),
        (1, 0, 2, 4),
        (2, 0, 4, 5),
        (3, 2, 0, 2),
    ]


def test_shards_are_the_file_in_parts(run: Run, pipeline: Path, tmp_path: Path) -> None:
    source = write_texts(tmp_path / "in.txt", 25)
    assert run("parse", pipeline, source, tmp_path / "whole.mrg").exit_code == 0
    result = run("parse", pipeline, source, f"{tmp_path}/parts/", "--shard-size", 10, "--batch-size", 4)
    assert result.exit_code == 0 and "25 texts in 3 shards" in result.stderr
    assert read_shards(tmp_path / "parts", ".mrg") == (tmp_path / "whole.mrg").read_text()
    found = manifest(tmp_path / "parts")
    assert [(note["start"], note["stop"]) for note in found["shards"]] == [(0, 10), (10, 20), (20, 25)]
    for note in found["shards"]:
        path = tmp_path / "parts" / note["file"]
        assert (note["sha256"], note["bytes"]) == (hash_files([path]), path.stat().st_size)
    assert found["sources"] == [
        {"name": "in.txt", "id": "", "format": "text", "n_texts": 25, "sha256": hash_files([source])},
    ]
    assert (
        found["model"]["meta"]["pipeline"] == ["texts_test_log", "one_sentence", "parsetag"]
        and found["versions"]["spacy"]
    )
    assert found["options"]["shard_size"] == 10
    assert sorted(path.name for path in (tmp_path / "parts").iterdir()) == [
        *("000000.mrg", "000001.mrg", "000002.mrg"),
        MANIFEST,
    ]


@pytest.mark.parametrize("format, suffix", FORMATS)
def test_formats(run: Run, pipeline: Path, tmp_path: Path, format: str, suffix: str) -> None:
    """One file and shards say the same in every format."""
    if format == "parquet":
        pytest.importorskip("pyarrow", reason="pyarrow is not installed")
    source = tmp_path / "in.jsonl"
    texts = [{"text": f"The dog barks {i}."} for i in range(7)]
    source.write_text("".join(json.dumps({**text, "id": i, "meta": {"n": i}}) + "\n" for i, text in enumerate(texts)))
    out = tmp_path / f"out{suffix}"
    assert run("parse", pipeline, source, out).exit_code == 0
    assert (
        run("parse", pipeline, source, f"{tmp_path}/parts/", "--shard-size", 3, "--output-format", format).exit_code
        == 0
    )
    shards = sorted((tmp_path / "parts").glob(f"*{suffix}"))
    assert len(shards) == 3
    if format == "spacy":
        in_one, *parts = (list(DocBin().from_disk(path).get_docs(Vocab())) for path in (out, *shards))
        assert [doc_to_strings(doc) for doc in in_one] == [doc_to_strings(doc) for docs in parts for doc in docs]
        assert len(in_one) == 7
    elif format == "parquet":
        from pyarrow import parquet

        rows, *pieces = (parquet.read_table(path).to_pylist() for path in (out, *shards))
        assert rows == [row for piece in pieces for row in piece]
        assert parquet.read_table(tmp_path / "parts").num_rows == len(rows)  # the folder is a table, manifest and all
        assert [(row["id"], row["meta"], row["error"]) for row in rows[:2]] == [
            ("0", '{"n": 0}', None),
            ("1", '{"n": 1}', None),
        ]
        lines = run("parse", pipeline, source, "--output-format", "jsonl").stdout.splitlines()
        assert [row["sents"] for row in rows] == [json.loads(line)["sents"] for line in lines]
    else:
        assert read_shards(tmp_path / "parts", suffix) == out.read_text()


@pytest.mark.parametrize("suffix, compress", [("gz", gzip.compress), ("bz2", bz2.compress), ("xz", lzma.compress)])
def test_compressed(run: Run, pipeline: Path, tmp_path: Path, suffix: str, compress: Any) -> None:
    plain = write_texts(tmp_path / "in.txt", 5)
    packed = tmp_path / f"in.txt.{suffix}"
    packed.write_bytes(compress(plain.read_bytes()))
    assert run("parse", pipeline, packed).stdout == run("parse", pipeline, plain).stdout
    assert run("parse", pipeline, plain, tmp_path / "out.spacy").exit_code == 0
    docs = tmp_path / f"docs.spacy.{suffix}"
    docs.write_bytes(compress((tmp_path / "out.spacy").read_bytes()))
    assert run("parse", pipeline, docs).stdout == run("parse", pipeline, plain).stdout
    packed.write_bytes(packed.read_bytes()[:-9])
    result = run("parse", pipeline, packed)
    assert result.exit_code == 1 and "[E033]" in result.stderr
    packed.write_bytes(b"nonsense")
    assert "[E033]" in run("parse", pipeline, packed).stderr


def test_an_id_that_is_null(run: Run, pipeline: Path, tmp_path: Path) -> None:
    """It is none in a table, and not the word."""
    pytest.importorskip("pyarrow", reason="pyarrow is not installed")
    from pyarrow import parquet

    (tmp_path / "in.jsonl").write_text(
        '{"text": "a", "id": null, "meta": null}\n{"text": "b", "id": 0, "meta": false}\n{"text": "c", "id": "x"}'
    )
    assert run("parse", pipeline, tmp_path / "in.jsonl", tmp_path / "out.parquet").exit_code == 0
    rows = parquet.read_table(tmp_path / "out.parquet").to_pylist()
    assert [(row["id"], row["meta"]) for row in rows] == [(None, None), ("0", "false"), ("x", None)]


def test_meta_of_a_table_that_is_parsed_again(run: Run, pipeline: Path, tmp_path: Path) -> None:
    """As what it is, not as a text of it; what another program calls meta may be any text."""
    pytest.importorskip("pyarrow", reason="pyarrow is not installed")
    import pyarrow
    from pyarrow import parquet

    metas = ['{"genre": "news"}', "news", None, '"fiction"', "2020"]
    parquet.write_table(pyarrow.table({"text": ["a"] * 5, "meta": metas}), tmp_path / "0.parquet")
    for i in range(2):
        assert run("parse", pipeline, tmp_path / f"{i}.parquet", tmp_path / f"{i + 1}.parquet").exit_code == 0
        rows = parquet.read_table(tmp_path / f"{i + 1}.parquet").to_pylist()
        assert [row["meta"] for row in rows] == ['{"genre": "news"}', '"news"', None, '"fiction"', '"2020"']
    run("parse", pipeline, tmp_path / "2.parquet", tmp_path / "out.jsonl")
    rows = [json.loads(line) for line in (tmp_path / "out.jsonl").read_text().splitlines()]
    assert [row.get("meta") for row in rows] == [{"genre": "news"}, "news", None, "fiction", "2020"]


def test_hashes_follow_linked_folders(tmp_path: Path) -> None:
    for name in ("a", "b"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "weights").write_text(name)
    (tmp_path / "pipeline").mkdir()
    hashes = set()
    for name in ("a", "b"):
        try:
            (tmp_path / "pipeline" / "encoder").symlink_to(tmp_path / name)
        except OSError:
            pytest.skip("no symbolic links")
        hashes.add(hash_files([tmp_path / "pipeline"]))
        (tmp_path / "pipeline" / "encoder").unlink()
    assert len(hashes) == 2


def test_batches_share_a_row_group(run: Run, pipeline: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    parquet = pytest.importorskip("pyarrow.parquet", reason="pyarrow is not installed")
    files = []
    for size in (1 << 24, 1):
        monkeypatch.setattr("spacy_parsetag.texts.output.ROW_GROUP", size)
        assert run("parse", pipeline, "-", tmp_path / "out.parquet", "-b", 2, stdin="a b\n" * 5).exit_code == 0
        files.append(parquet.ParquetFile(tmp_path / "out.parquet"))
        (tmp_path / "out.parquet").unlink()
    assert [file.num_row_groups for file in files] == [1, 3]
    assert files[0].read() == files[1].read()


def test_parquet_input(run: Run, pipeline: Path, tmp_path: Path) -> None:
    pa = pytest.importorskip("pyarrow", reason="pyarrow is not installed")
    from pyarrow import parquet

    plain = write_texts(tmp_path / "in.txt", 5)
    texts = plain.read_text().splitlines()
    parquet.write_table(pa.table({"other": range(5), "text": texts}), tmp_path / "in.parquet")
    assert run("parse", pipeline, tmp_path / "in.parquet").stdout == run("parse", pipeline, plain).stdout
    (tmp_path / "in.parquet.gz").write_bytes(gzip.compress((tmp_path / "in.parquet").read_bytes()))
    assert run("parse", pipeline, tmp_path / "in.parquet.gz").stdout == run("parse", pipeline, plain).stdout
    parquet.write_table(pa.table({"tokens": [["a", "b"], None]}), tmp_path / "in.parquet")
    result = run("parse", pipeline, tmp_path / "in.parquet", "--skip-bad", "all")
    assert "row 2: [E553]" in result.stderr and len(result.stdout.splitlines()) == 2
    parquet.write_table(pa.table({"text": texts[:2], "id": [1.0, float("nan")]}), tmp_path / "in.parquet")
    result = run("parse", pipeline, tmp_path / "in.parquet")
    assert "1 of 2 texts have an id" in result.stderr  # NaN, of Pandas, is none
    first = date(2026, 1, 2)
    for name, text in (
        (first, "2026-01-02"), (True, "true"), ([1, 2], '"[1, 2]"'), (float("inf"), ""),
        ({"a": None}, '"{""a"": null}"'), ({"a": first}, '"{""a"": ""2026-01-02""}"'),
        ({"a": b"x"}, '"{""a"": ""b\'x\'""}"'),
    ):  # fmt: skip
        parquet.write_table(pa.table({"text": texts[:1], "id": [name]}), tmp_path / "in.parquet")
        for suffix in ("jsonl", "parquet", "spacy"):
            assert run("parse", pipeline, tmp_path / "in.parquet", tmp_path / f"named.{suffix}").exit_code == 0
            result = run("search", "__ !> __", tmp_path / f"named.{suffix}", "--by", "id", "--csv")
            assert result.stdout.splitlines()[1:] == [f"1,{text}"]
    parquet.write_table(pa.table({"content": texts}), tmp_path / "in.parquet")
    assert "[E552]" in run("parse", pipeline, tmp_path / "in.parquet").stderr
    strings = pa.Array.from_buffers(pa.string(), 1, pa.array([b"caf\xe9"]).buffers())
    parquet.write_table(pa.table({"text": strings}), tmp_path / "in.parquet")
    assert f"[E554] {tmp_path / 'in.parquet'} is not" in run("parse", pipeline, tmp_path / "in.parquet").stderr
    (tmp_path / "in.parquet").write_text("nonsense")
    assert "[E554]" in run("parse", pipeline, tmp_path / "in.parquet").stderr
    parquet.write_table(pa.table({"text": texts * 100}), tmp_path / "in.parquet", compression="none")
    damaged = bytearray((tmp_path / "in.parquet").read_bytes())
    damaged[4:44] = b"\xff" * 40  # the head of a page
    (tmp_path / "in.parquet").write_bytes(damaged)
    assert f"[E554] {tmp_path / 'in.parquet'} is not" in run("parse", pipeline, tmp_path / "in.parquet").stderr
    (tmp_path / "in.parquet.gz").write_bytes(gzip.compress(damaged)[:-9])
    assert "[E033]" in run("parse", pipeline, tmp_path / "in.parquet.gz").stderr


@pytest.mark.parametrize(
    "change", [{"strings": []}, {"attrs": [999_999]}, {"user_data": [b"\xc1"]}, {"span_groups": [b"\xc1"]}]
)
def test_damaged_docs(run: Run, pipeline: Path, tmp_path: Path, change: dict[str, Any]) -> None:
    path = tmp_path / "in.spacy"
    doc = Doc(Vocab(), words=["unheard-of", "words"])
    data = srsly.msgpack_loads(zlib.decompress(DocBin(docs=[doc], store_user_data=True).to_bytes()))
    path.write_bytes(zlib.compress(srsly.msgpack_dumps({**data, **change})))
    for command in (("parse", pipeline, path), ("search", "NP", path), ("evaluate", pipeline, path)):
        result = run(*command)
        assert result.exit_code == 1 and re.search(r"\[E550\] .*in\.spacy is not .*, or damaged: \S", result.stderr)


def test_folders(run: Run, pipeline: Path, tmp_path: Path) -> None:
    texts = tmp_path / "texts"
    (texts / "b").mkdir(parents=True)
    write_texts(texts / "a.txt", 3)
    (texts / "b" / "c.txt.gz").write_bytes(gzip.compress(b"The last one.\nAnother.\n"))
    result = run("parse", pipeline, texts)
    assert len(result.stdout.splitlines()) == 5 and "(X Another)" in result.stdout.splitlines()[-1]
    assert run("parse", pipeline, texts, f"{tmp_path}/out/", "--shard-size", 2).exit_code == 0
    assert read_shards(tmp_path / "out", ".mrg") == result.stdout
    assert [note["source"] for note in manifest(tmp_path / "out")["shards"]] == [0, 0, 1]
    assert [source["name"] for source in manifest(tmp_path / "out")["sources"]] == ["a.txt", "b/c.txt.gz"]
    rows = run("parse", pipeline, texts, "--output-format", "jsonl").stdout.splitlines()
    names = ["a.txt"] * 3 + ["b/c.txt.gz"] * 2
    assert [json.loads(row)["id"] for row in rows] == names and "have an id" not in result.stderr
    bad = run("parse", pipeline, texts, "--output-format", "jsonl", "-f", "tokens", "--skip-bad", "all")
    assert [json.loads(row)["id"] for row in bad.stdout.splitlines()] == names
    assert "id" not in json.loads(run("parse", pipeline, texts / "a.txt", "--output-format", "json").stdout)[0]
    (texts / "d.jsonl").write_text('{"text": "One more."}\n')
    assert "[E566]" in run("parse", pipeline, texts).stderr
    assert len(run("parse", pipeline, texts, "-f", "text").stdout.splitlines()) == 5
    assert len(run("parse", pipeline, texts, "-f", "tokens").stdout.splitlines()) == 5
    assert "[E031]" in run("parse", pipeline, texts, "-f", "parquet").stderr


def test_what_goes_where(run: Run, pipeline: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    source = write_texts(tmp_path / "in.txt", 3)
    texts = tmp_path / "texts"
    texts.mkdir()
    write_texts(texts / "a.txt", 3)
    for args, code in (
        ((source, f"{tmp_path}/out/", "--output-format", "json"), "[E455]"),
        (("-", f"{tmp_path}/out/"), "[E455]"),
        ((source, tmp_path / "in.txt", "--shard-size", 1), "[E032]"),
        ((source, tmp_path), "[E032]"),  # the folder that the input is in
        ((texts, texts / "out", "--shard-size", 1), "[E032]"),
        ((source, pipeline), "[E032]"),
        ((source, texts), "[E561]"),  # it holds something else
        ((source, "-", "--resume"), "[E455] A folder of shards needs a name that ends in /"),
        ((source, tmp_path / "out.jsonl", "--resume"), "[E455] A folder of shards needs a name that ends in /"),
    ):
        result = run("parse", pipeline, *args)
        assert result.exit_code == 1 and code in result.stderr
    assert sorted(path.name for path in tmp_path.iterdir()) == ["in.txt", "texts"]


def test_resume_with_something_else(run: Run, pipeline: Path, tmp_path: Path) -> None:
    source, out = write_texts(tmp_path / "in.txt", 12), tmp_path / "out"
    args = ("parse", pipeline, source, out, "--shard-size", 5)
    assert run(*args).exit_code == 0
    before = contents(out)
    result = run(*args)
    assert result.exit_code == 1 and "[E562]" in result.stderr and "3 of 3 shards" in result.stderr
    for more, message in (
        (("--batch-size", 3), "batch_size (was None, is 3)"),
        (("--output-format", "jsonl"), "format (was brackets, is jsonl)"),
        (("--sents", "model"), "sents (was line, is model)"),
        (("--shard-size", 4), "shard_size (was 5, is 4)"),
    ):
        result = run(*args, "--resume", *more)
        assert result.exit_code == 1 and "[E563]" in result.stderr and message in result.stderr
    other = spacy.load(pipeline)
    other.add_pipe("sentencizer")
    other.to_disk(tmp_path / "other")
    result = run("parse", tmp_path / "other", *args[2:], "--resume")
    assert "[E563]" in result.stderr and "other model" in result.stderr
    source.write_text(source.read_text().replace("3", "4"))
    result = run(*args, "--resume")
    assert "[E563]" in result.stderr and "other files to parse" in result.stderr
    (tmp_path / "texts").mkdir()
    write_texts(tmp_path / "texts" / "in.txt", 12)
    result = run("parse", pipeline, tmp_path / "texts", out, "--shard-size", 5, "--resume")  # these texts have names
    assert "[E563]" in result.stderr and "other files to parse" in result.stderr
    assert contents(out) == before
    write_texts(source, 12)
    assert run(*args, "--resume", "--workers", 2).exit_code == 0  # nothing to do
    (out / "000001.mrg").unlink()
    (out / "000002.mrg").write_text("")
    assert run(*args, "--resume").exit_code == 0
    assert contents(out) == before


def test_a_file_called_like_a_shard(run: Run, pipeline: Path, tmp_path: Path) -> None:
    """One shard after another would not be the parses."""
    source, out = write_texts(tmp_path / "in.txt", 4), tmp_path / "out"
    args = ("parse", pipeline, source, out, "--shard-size", 2, "--resume")
    assert run(*args).exit_code == 0
    for name, code in (("notes.mrg", 0), ("000002.jsonl", 0), ("000002.mrg", 1)):
        (out / name).write_text("(TOP)\n")
        result = run(*args)
        assert result.exit_code == code and (f"[E568] {out / name} is not" in result.stderr) == bool(code)


@pytest.mark.parametrize(
    "changes, new_time",
    [
        ([str.upper], True),
        ([str.upper], False),
        ([str.upper, str], True),  # before the second shard it is as it was
        ([lambda text: text[: text.rindex("\n", 0, -1) + 1]], True),
    ],
)
def test_input_that_changes_meanwhile(
    run: Run, pipeline: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, changes: Any, new_time: bool
) -> None:
    """The manifest does not say that its parses are the shards, whether it stays changed or not."""
    source, out = write_texts(tmp_path / "in.txt", 4), tmp_path / "out"
    text, then = source.read_text(), source.stat().st_mtime_ns
    rest = chain(changes, repeat(changes[-1]))

    def open_late(*args: Any, **options: Any) -> Any:
        source.write_text(next(rest)(text))
        if not new_time:
            os.utime(source, ns=(then, then))
        return open_output(*args, **options)

    with monkeypatch.context() as patch:
        patch.setattr("spacy_parsetag.texts.shards.open_output", open_late)
        result = run("parse", pipeline, source, out, "--shard-size", 2)
    assert result.exit_code == 1 and f"[E565] {source} has changed" in result.stderr
    assert "shards" not in manifest(out)
    source.write_text(text)
    assert run("parse", pipeline, source, out, "--shard-size", 2, "--resume").exit_code == 0
    assert read_shards(out, ".mrg") == run("parse", pipeline, source).stdout


def test_a_run_that_lacks_a_shard_has_not_ended(
    run: Run, pipeline: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its manifest has no `shards` while the shard is parsed again, and those that are there are not parsed again."""
    source, out = write_texts(tmp_path / "in.txt", 12), tmp_path / "out"
    args = ("parse", pipeline, source, out, "--shard-size", 5, "--resume")
    assert run(*args).exit_code == 0
    before = contents(out)
    (out / "000001.mrg").unlink()
    with monkeypatch.context() as patch:
        patch.setattr("spacy_parsetag.texts.shards.open_output", lambda *_, **__: (tmp_path / "no").open())
        assert run(*args).exit_code == 1
    assert "shards" not in manifest(out)
    assert run(*args).exit_code == 0
    assert contents(out) == before


def test_damaged_shards_are_parsed_again(run: Run, pipeline: Path, code: Path, tmp_path: Path) -> None:
    """Whatever happened to their bytes; in a run that was stopped, and in one that ended."""
    source, out = write_texts(tmp_path / "in.txt", 12, boom=10), tmp_path / "out"
    args = ("parse", pipeline, source, out, "--code", code, "--shard-size", 3)
    assert run(*args).exit_code == 1  # at the last shard
    good = {name: data for name, data in contents(out).items() if name.endswith(".mrg")}
    for skip in ("0", "all"):
        for name, data in good.items():
            (out / name).write_bytes(bytes(len(data)))
        result = run(*args, "--resume", "--skip-bad", skip)
        assert result.exit_code == int(skip == "0")
        assert {name: data for name, data in contents(out).items() if name in good} == good
    for name, data in good.items():
        (out / name).write_bytes(b"x" + data[1:])
    assert run(*args, "--resume", "--skip-bad", "all").exit_code == 0
    assert {name: data for name, data in contents(out).items() if name in good} == good


def test_files_are_on_the_disk(run: Run, pipeline: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each shard before its note, each note before the next shard: what a power cut leaves is what a kill leaves."""
    synced: list[str] = []
    monkeypatch.setattr("os.fsync", lambda number: synced.append(os.readlink(f"/proc/self/fd/{number}")))
    source, out = write_texts(tmp_path / "in.txt", 4), tmp_path / "out"
    assert run("parse", pipeline, source, out, "--shard-size", 2).exit_code == 0
    files = [Path(name).parent.name for name in synced if name.endswith(".tmp")]
    assert files == ["out", "out", ".notes", "out", ".notes", "out"]  # manifest, shard and note twice, manifest


def test_only_what_may_be_written_is_synced(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Windows refuses any other file; and a file that nobody may write is replaced all the same."""
    fcntl = pytest.importorskip("fcntl", reason="not a POSIX system")
    modes: list[int] = []
    monkeypatch.setattr("os.fsync", lambda number: modes.append(fcntl.fcntl(number, fcntl.F_GETFL) & os.O_ACCMODE))
    path = tmp_path / "note.json"
    path.touch(0o444)
    with atomic_path(path, sync=True) as temporary:
        temporary.write_text("{}")
    assert modes == [os.O_RDWR, os.O_RDONLY]  # the file, its folder
    assert path.read_text() == "{}" and path.stat().st_mode & 0o777 == 0o444


@pytest.mark.parametrize(
    "text", ["{}", "[]", '{"sources": [', '{"sources": [], "model": 1, "options": {}}', "\0", "[" * 100_000]
)
def test_manifests_and_notes_of_other_content(run: Run, pipeline: Path, tmp_path: Path, text: str) -> None:
    source, out = write_texts(tmp_path / "in.txt", 4), tmp_path / "out"
    args = ("parse", pipeline, source, out, "--shard-size", 2, "--resume")
    assert run(*args).exit_code == 0
    (out / ".notes").mkdir()
    (out / ".notes" / "000000.json").write_text(text)
    before = manifest(out)
    (out / MANIFEST).write_text(json.dumps({key: before[key] for key in before if key != "shards"}))
    assert run(*args).exit_code == 0 and manifest(out) == before
    for other in (text, json.dumps({**before, "format": 2})):
        (out / MANIFEST).write_text(other)
        result = run(*args)
        assert result.exit_code == 1 and "[E568]" in result.stderr and MANIFEST in result.stderr


@pytest.mark.parametrize("part", [{"n_several": "1"}, {"n_ids": None}, {"failures": 0}, {"sha256": ""}])
def test_notes_of_other_kinds(run: Run, pipeline: Path, tmp_path: Path, part: dict[str, Any]) -> None:
    """A shard whose note says what cannot be counted is parsed again, whether the run was stopped or ended."""
    source, out = write_texts(tmp_path / "in.txt", 4), tmp_path / "out"
    args = ("parse", pipeline, source, out, "--shard-size", 2, "--resume")
    assert run(*args).exit_code == 0
    before = manifest(out)
    changed = [{**note, **part} for note in before["shards"]]
    (out / MANIFEST).write_text(json.dumps({**before, "shards": changed}))
    assert run(*args).exit_code == 0 and manifest(out) == before
    (out / MANIFEST).write_text(json.dumps({key: before[key] for key in before if key != "shards"}))
    (out / ".notes").mkdir()
    (out / ".notes" / "000000.json").write_text(json.dumps(changed[0]))
    assert run(*args).exit_code == 0 and manifest(out) == before


def test_two_runs_in_one_folder(run: Run, pipeline: Path, tmp_path: Path) -> None:
    source, out = write_texts(tmp_path / "in.txt", 4), tmp_path / "out"
    (out / ".notes").mkdir(parents=True)
    (out / ".0123456789abcdef.tmp").write_text("of the other run")
    with lock_folder(out, LOCK):
        result = run("parse", pipeline, source, out, "--resume")
        assert result.exit_code == 1 and f"[E035] Another run is writing to {out}" in result.stderr
        assert (out / ".0123456789abcdef.tmp").exists()
    assert run("parse", pipeline, source, out, "--resume").exit_code == 0
    with lock_folder(out, LOCK):
        assert "[E035]" in run("parse", pipeline, source, out).stderr  # before it reads what may still change
    assert "[E562]" in run("parse", pipeline, source, out).stderr
    assert sorted(path.name for path in out.iterdir()) == ["000000.mrg", MANIFEST]


def begin(pipeline: Path, folder: Path) -> ShardRun:
    """Begin a run over one text, or go on with it."""
    settings = Settings(str(pipeline), -1, None, True, "brackets")
    source = Source(write_texts(folder / "in.txt", 1), "text")
    return ShardRun(Job(settings, (source,), folder / "out", None), load_parser(settings), 1, resume=True)


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no fcntl")
@pytest.mark.parametrize("begins_again", [False, True])
@pytest.mark.parametrize("name", ["spacy_parsetag.texts.shards:lock_folder", "pathlib:Path.open", "fcntl:flock"])
def test_a_run_that_begins_as_another_ends(
    pipeline: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, begins_again: bool
) -> None:
    """It finds all shards parsed, or is told that there is another run, which may be a third one by now."""
    first, others = begin(pipeline, tmp_path), []
    first.add(ShardParser(first.job)(first.shards[0]))
    inner = resolve_name(name)

    def end_first(*args: Any, **options: Any) -> Any:
        if not name.endswith("open") or "ab" in args:
            monkeypatch.undo()
            first.finish()
            others.extend([begin(pipeline, tmp_path)] * begins_again)
        return inner(*args, **options)

    monkeypatch.setattr(name.replace(":", "."), end_first)
    if name.endswith("lock_folder") and not begins_again:
        others.append(begin(pipeline, tmp_path))
    else:
        with pytest.raises(ValueError, match="E035"):
            begin(pipeline, tmp_path)
    for other in others:
        assert other.n_done == 1
        other.finish()
    assert sorted(path.name for path in (tmp_path / "out").iterdir()) == ["000000.mrg", MANIFEST]


def test_a_run_ends_as_another_begins(pipeline: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The folder of the notes stays for the other."""
    first, others, inner = begin(pipeline, tmp_path), [], Path.rmdir

    def begin_other(path: Path) -> None:
        monkeypatch.undo()
        others.append(begin(pipeline, tmp_path))
        inner(path)

    first.add(ShardParser(first.job)(first.shards[0]))
    monkeypatch.setattr(Path, "rmdir", begin_other)
    first.finish()
    assert others[0].n_done == 1
    with pytest.raises(ValueError, match="E035"):
        begin(pipeline, tmp_path)
    others[0].finish()
    assert sorted(path.name for path in (tmp_path / "out").iterdir()) == ["000000.mrg", MANIFEST]


def test_two_runs_on_windows(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its lock is of bytes of a file, and says otherwise that another has it."""
    held: list[int] = []

    def locking(number: int, mode: int, n_bytes: int) -> None:
        if held:
            raise PermissionError(13, "Permission denied")
        held.append(number)

    monkeypatch.setitem(sys.modules, "msvcrt", SimpleNamespace(LK_NBLCK=2, locking=locking))
    monkeypatch.setattr(sys, "platform", "win32")
    with lock_folder(tmp_path, LOCK) as file:
        assert held == [file.fileno()]
        with pytest.raises(ValueError, match="E035"), lock_folder(tmp_path, LOCK):
            pass
    assert not list(tmp_path.iterdir())


def test_shards_in_any_order(pipeline: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """An engine may ask for an earlier shard of a file after a later one, or for one again. Others take one pass."""
    prepare = Mock(wraps=Source.prepare)
    monkeypatch.setattr(Source, "prepare", lambda source: prepare(source))
    source = Source(write_texts(tmp_path / "in.txt", 12), "text")
    (tmp_path / "out" / ".notes").mkdir(parents=True)
    settings = Settings(str(pipeline), -1, None, True, "jsonl")
    parse: Any = ShardParser(Job(settings, (source,), tmp_path / "out", None))
    shards = plan_shards([12], 3)
    notes = {shard: parse(shard) for shard in (shards[1], shards[2], shards[0], shards[3])}
    assert prepare.call_count == 2
    lines = read_shards(tmp_path / "out", ".jsonl").splitlines()
    assert [json.loads(line)["text"] for line in lines] == [f"The dog barks {i}." for i in range(12)]
    parse.parser = None
    assert {shard: parse(shard) for shard in shards} == notes


def test_a_task_carries_its_own_file(pipeline: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """All files of a large run in each task would take longer to send than to parse."""
    sent: list[bytes] = []

    def map_here(function: Any, tasks: Any, n_process: int, patience: float) -> Any:
        for task in tasks:
            sent.append(pickle.dumps((function, task)))
            yield function(task)

    monkeypatch.setattr("spacy_parsetag.cli.parse.map_in_processes", map_here)
    texts, out = tmp_path / "texts", tmp_path / "out"
    texts.mkdir()
    names = [f"file{i:02d}" for i in range(12)]
    for name in names:
        write_texts(texts / f"{name}.txt", 3)
    parse_cli(str(pipeline), str(texts), f"{out}/", n_process=2, shard_size=2, quiet=True)
    for shard, data in enumerate(sent):
        assert [name for name in names if name.encode() in data] == [names[shard // 2]]
    notes = manifest(out)["shards"]
    assert [(note["source"], note["start"]) for note in notes] == [(i, start) for i in range(12) for start in (0, 2)]
    assert read_shards(out, ".mrg").count("\n") == 36


@pytest.mark.parametrize("suffix", ["txt", "jsonl", "spacy", "parquet"])
def test_messages_of_workers_in_other_folders(suffix: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """They name a file as it was given, as one process does: the manifest is the same."""
    monkeypatch.chdir(tmp_path)
    path, text = Path(f"in.{suffix}"), {"text": "She sings"}
    if suffix == "spacy":
        DocBin(docs=[spacy.blank("en")("She sings")]).to_disk(path)
    elif suffix == "parquet":
        pa = pytest.importorskip("pyarrow", reason="pyarrow is not installed")
        pytest.importorskip("pyarrow.parquet").write_table(pa.Table.from_pylist([text]), path)
    else:
        path.write_text(json.dumps(text) + "\n", encoding="utf-8")
    source = Source(path, {"txt": "text"}.get(suffix, suffix))
    job = Job(Settings("en_parsetag_sm", -1, Path("code.py"), True, "jsonl"), (source,), Path("out"), None)
    (of_worker,) = job.absolute().sources
    assert (job.absolute().settings.code, job.absolute().folder) == (tmp_path / "code.py", tmp_path / "out")
    assert of_worker.path == path.resolve()
    assert [record.where for record in of_worker.read()] == [record.where for record in source.read()]


def test_a_shard_that_failed_is_asked_for_again(run: Run, pipeline: Path, tmp_path: Path) -> None:
    """What was read of it before counts for nothing."""
    source = Source(write_texts(tmp_path / "in.txt", 6), "text")
    (tmp_path / "out" / ".notes").mkdir(parents=True)
    settings = Settings(str(pipeline), -1, None, True, "jsonl")
    parse: Any = ShardParser(Job(settings, (source,), tmp_path / "out", 1))
    first, second = plan_shards([6], 3)
    parse(first)
    parser, parse.parser = parse.parser, None  # no function
    with pytest.raises(TypeError):
        parse(second)
    parse.parser = parser
    parse(second)
    lines = read_shards(tmp_path / "out", ".jsonl").splitlines()
    assert [json.loads(line)["text"] for line in lines] == [f"The dog barks {i}." for i in range(6)]


def test_tags_of_another_length(run: Run, pipeline: Path) -> None:
    line = '{"tokens": ["She", "reads"], "tags": ["PRP"]}\n'
    result = run("parse", pipeline, "-", "-f", "jsonl", stdin=line)
    assert result.exit_code == 1 and "[E553]" in result.stderr and "2 tokens have 1 tags" in result.stderr


def test_killed_before_anything_is_written(run: Run, pipeline: Path, tmp_path: Path) -> None:
    source, out = write_texts(tmp_path / "in.txt", 3), tmp_path / "out"
    (out / ".notes").mkdir(parents=True)
    (out / ".0123456789abcdef.tmp").write_text("{")
    assert run("parse", pipeline, source, out, "--resume").exit_code == 0
    assert sorted(contents(out)) == ["000000.mrg", MANIFEST]


def test_interrupted(run: Run, pipeline: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Ctrl-C says what there is, and how to go on."""
    source, out = write_texts(tmp_path / "in.txt", 12), tmp_path / "out"
    args = ("parse", pipeline, source, out, "--shard-size", 5)
    parse = ShardParser.__call__

    def interrupted(self: ShardParser, shard: Shard, *rest: Any) -> Any:
        if shard.number == 1:
            raise KeyboardInterrupt
        return parse(self, shard, *rest)

    with monkeypatch.context() as context:
        context.setattr(ShardParser, "__call__", interrupted)
        result = run(*args)
    assert result.exit_code == 130 and "Stopped, with 5 of 12 texts parsed. --resume goes on." in result.stderr
    assert run(*args, "--resume").exit_code == 0


def test_failing_texts(run: Run, pipeline: Path, code: Path, tmp_path: Path) -> None:
    texts = [f"The dog barks {i}." for i in range(12)]
    for i in (2, 4, 8):
        texts[i] = "This is a boom."
    source, out = tmp_path / "in.txt", tmp_path / "out"
    source.write_text("\n".join(texts))
    args = ("parse", pipeline, source, out, "--code", code, "--shard-size", 3)
    result = run(*args, "--skip-bad", 1)
    assert result.exit_code == 1 and "[E564] 2 texts failed, more than 1." in result.stderr
    assert result.stderr.count("skipped") == 2 and f"{source}:3: [E557]" in result.stderr
    assert len(list(out.glob("*.mrg"))) == 2
    result = run(*args, "--skip-bad", 1, "--resume")
    assert "[E564]" in result.stderr and result.stderr.count("skipped") == 2  # still too many, and listed again
    result = run("parse", pipeline, source, tmp_path / "none", *args[4:])
    assert "[E564] 1 text failed, more than 0." in result.stderr
    assert len(list(out.glob("*.mrg"))) == 2
    assert run(*args, "--skip-bad", 3, "--resume").exit_code == 0
    assert [len(note["failures"]) for note in manifest(out)["shards"]] == [1, 1, 1, 0]
    assert manifest(out)["n_failed"] == 3
    lines = read_shards(out, ".mrg").splitlines()
    assert [i for i, line in enumerate(lines) if line == "(TOP)"] == [2, 4, 8]
    assert run("parse", pipeline, source, tmp_path / "all", *args[4:], "--skip-bad", "all").exit_code == 0
    assert contents(out) == contents(tmp_path / "all")
    # To one file.
    args = ("parse", pipeline, source, tmp_path / "out.mrg", "--code", code)
    result = run(*args, "--skip-bad", 2)
    assert result.exit_code == 1 and "[E469]" in result.stderr and result.stderr.count("skipped") == 3
    assert not (tmp_path / "out.mrg").exists()
    assert run(*args, "--skip-bad", 3).exit_code == 0


def test_workers(run: Run, pipeline: Path, code: Path, tmp_path: Path) -> None:
    source = write_texts(tmp_path / "in.txt", 40, boom=17)
    args = ("--code", code, "--shard-size", 3, "--batch-size", 2, "--skip-bad", "all")
    for n in (1, 2):
        result = run("parse", pipeline, source, tmp_path / f"out{n}", *args, "--workers", n)
        assert result.exit_code == 0, result.stderr
        assert f"skipped {source}:18: [E557]" in result.stderr
    assert contents(tmp_path / "out1") == contents(tmp_path / "out2")


def test_progress(
    run: Run,
    pipeline: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """Where there is no terminal: a line a minute, here after each batch."""
    monkeypatch.setattr("spacy_parsetag.cli._util.LOG_SECONDS", 0.0)
    source = write_texts(tmp_path / "in.txt", 6)
    result = run("parse", pipeline, source, tmp_path / "out", "--shard-size", 4, "--batch-size", 2)
    lines = result.stderr.splitlines()
    assert len(lines) == 4 and "2 of 6 texts, " in lines[0] and " a second, 0:00:0" in lines[0]
    assert lines[0].endswith(" left")
    assert "6 of 6 texts" in lines[2]
    assert "4 texts, " in run("parse", pipeline, source, tmp_path / "out.mrg", "--batch-size", 4).stderr
    # What an earlier run has done does not count for the rate.
    now = iter((0.0, 2.0))
    monkeypatch.setattr("spacy_parsetag.cli._util.time.monotonic", lambda: next(now))
    with progress("texts", total=10, done=4) as parsed:
        parsed(2)
    assert capsys.readouterr().err.strip().endswith("6 of 10 texts, 1.0 a second, 0:00:04 left")
    monkeypatch.undo()
    for out, *options in (("out2.mrg",), ("out2", "--shard-size", 4)):
        assert not run("parse", pipeline, source, f"{tmp_path}/{out}", *options, "--quiet").stderr


def start(*args: object, log: Path) -> "subprocess.Popen[bytes]":
    command = [sys.executable, "-m", "spacy", "parsetag", *map(str, args)]
    env = {**os.environ, "PARSETAG_TEST_LOG": str(log)}
    return subprocess.Popen(command, env=env, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)


def n_lines(path: Path) -> int:
    return path.read_bytes().count(b"\n") if path.exists() else 0


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no signals of POSIX")
@pytest.mark.parametrize("n_workers, n_kills", [(1, 2), pytest.param(2, 6, marks=pytest.mark.release)])
def test_killed(pipeline: Path, code: Path, tmp_path: Path, n_workers: int, n_kills: int) -> None:
    """The output is that of a run that nothing disturbs, and at each kill only what is in hand is parsed again."""
    n, size = 2000, 50
    source, log, out = write_texts(tmp_path / "in.txt", n, boom=7), tmp_path / "log", tmp_path / "out"
    args = ("--code", code, "--shard-size", size, "--batch-size", 20, "--skip-bad", "all", "--workers", n_workers)
    assert start("parse", pipeline, source, tmp_path / "calm", *args, log=tmp_path / "calm.log").wait() == 0
    assert n_lines(tmp_path / "calm.log") == n + 8  # up to the one that fails, then its batch one by one
    rng = random.Random(n_workers)
    for kill in range(n_kills):
        process = start("parse", pipeline, source, out, *args, "--resume", log=log)
        goal = n_lines(log) + rng.randrange(n // n_kills - size)
        while n_lines(log) < goal or not (out / MANIFEST).exists():
            assert process.poll() is None, f"it ended before kill {kill}"
            time.sleep(0.01)
        process.send_signal(signal.SIGKILL)
        process.wait()
        time.sleep(0.2)  # for its workers to end
    process = start("parse", pipeline, source, out, *args, "--resume", log=log)
    assert process.wait() == 0, process.stderr and process.stderr.read()
    assert contents(out) == contents(tmp_path / "calm")
    times = Counter(line.split("\t")[1] for line in log.read_text().splitlines())
    assert set(times) == set(source.read_text().splitlines())
    assert sum(times.values()) <= n + 8 * (n_kills + 1) + n_kills * n_workers * size


def test_docs_again(run: Run, pipeline: Path, tmp_path: Path) -> None:
    """Docs in shards lose the constituents that they came with, and nothing else."""
    nlp = spacy.load(pipeline)
    docs = [Doc(nlp.vocab, words=["A", "b", "C", "d"], sent_starts=[True, False, True, False]) for _ in range(5)]
    for doc in docs:
        doc.spans["constituents"] = [doc[0:3]]
        doc.spans["other"] = [doc[1:2]]
    DocBin(docs=docs).to_disk(tmp_path / "in.spacy")
    args = (tmp_path / "in.spacy", f"{tmp_path}/out/", "--output-format", "spacy", "--shard-size", 2)
    assert run("parse", pipeline, *args).exit_code == 0
    found = [
        doc for path in sorted((tmp_path / "out").glob("*.spacy")) for doc in DocBin().from_disk(path).get_docs(Vocab())
    ]
    assert [len(doc_to_strings(doc)) for doc in found] == [2] * 5
    assert all([span.text for span in doc.spans["other"]] == ["b"] for doc in found)


def test_what_a_hash_covers(tmp_path: Path) -> None:
    """All of a file, however large, and the names in a folder; not what Python compiles there."""
    (tmp_path / "a").write_bytes(bytes(3 << 20) + b"end")
    (tmp_path / "b").touch()
    assert hash_files([tmp_path / "a"]) == hashlib.sha256((tmp_path / "a").read_bytes()).hexdigest()
    before = hash_files([tmp_path])
    (tmp_path / "code.pyc").write_bytes(b"compiled")
    assert hash_files([tmp_path]) == before
    (tmp_path / "b").rename(tmp_path / "c")
    assert hash_files([tmp_path]) != before


def test_what_a_manifest_compares(pipeline: Path, tmp_path: Path) -> None:
    """Each setting and version that the output depends on."""
    settings = Settings(str(pipeline), -1, None, False, "jsonl", probs=True, k_best=2)
    job = Job(settings._replace(code=Path(__file__)), (Source(tmp_path, "text"),), tmp_path, 3)
    head = describe_run(job, load_parser(settings), 5, [0], [hash_files([tmp_path])])
    counts = {"probs": True, "k_best": 2, "batch_size": 3, "shard_size": 5}
    assert head["options"] == {"sents": "model", "format": "jsonl", "code": hash_files([Path(__file__)]), **counts}
    assert head["versions"] == {name: version(name) for name in ("spacy-parsetag", "spacy", "thinc", "numpy")}
    for key in ("options", "versions"):
        for name in head[key]:
            with pytest.raises(ValueError, match=rf"\[E563\].* begun with other {name} \(was other, is"):
                check_same({**head, key: {**head[key], name: "other"}}, head, tmp_path)


def test_notes_on_other_texts(tmp_path: Path) -> None:
    """A note counts for the shard that it names."""
    job = Job(Settings("a_pipeline", -1, None, True, "brackets"), (), tmp_path, None)
    shard = Shard(3, 1, 4, 6)
    (tmp_path / job.name(shard)).write_text("(TOP)\n(TOP)\n")
    counts: dict[str, Any] = {"n_several": 0, "n_ids": 0, "n_wrapped": 0, "failures": []}
    place = {"file": "000003.mrg", "source": 1, "start": 4, "stop": 6}
    note = {**place, **counts, "sha256": hash_files([tmp_path / job.name(shard)])}
    assert job.check_note(note, shard) == note
    for key in place:
        assert job.check_note({**note, key: 0}, shard) is None


def test_counts_of_all_shards(run: Run, pipeline: Path, tmp_path: Path) -> None:
    (tmp_path / "in.jsonl").write_text(
        '{"text": "She ran. Kim sang.", "id": 1}\n{"text": "She ran. Kim sang.", "meta": 2}\n{"text": "She ran."}\n'
    )
    args = ("--output-format", "brackets", "--shard-size", 1)
    result = run("parse", pipeline, tmp_path / "in.jsonl", f"{tmp_path}/out/", *args)
    assert "2 of 3 texts look like several sentences" in result.stderr
    assert "2 of 3 texts have an id or meta" in result.stderr


def test_what_a_file_gains_while_its_texts_are_counted(
    pipeline: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    count = Source.n_texts

    def count_and_add(source: Source) -> int:
        n = count(source)
        with source.path.open("a") as file:
            file.write("One more.\n")
        return n

    monkeypatch.setattr(Source, "n_texts", count_and_add)
    settings = Settings(str(pipeline), -1, None, True, "brackets")
    source = Source(write_texts(tmp_path / "in.txt", 1), "text")
    run = ShardRun(Job(settings, (source,), tmp_path / "out", None), load_parser(settings), 2, resume=False)
    (tmp_path / "out" / NOTES / "@eaDir").mkdir()
    run.add(ShardParser(run.job)(run.shards[0]))
    with pytest.raises(ValueError, match=r"\[E565\].*in.txt has changed since the run began"):
        run.finish()


def test_another_pipeline_in_a_worker(pipeline: Path, tmp_path: Path) -> None:
    """A training may write to the folder while a run begins."""
    source = Source(write_texts(tmp_path / "in.txt", 1), "text")
    settings = Settings(str(pipeline), -1, None, True, "brackets")
    job = Job(settings, (source,), tmp_path / "out", None, load_parser(settings).sha256)
    assert load_parser(settings).sha256 == hash_files([pipeline])
    ShardParser(job)
    with pytest.raises(ValueError, match=r"\[E581\] The pipeline .* is another one than when the run began"):
        ShardParser(job._replace(model_sha256="0" * 64))


def test_what_killed_workers_leave(pipeline: Path, tmp_path: Path) -> None:
    """It is gone when the run ends, though other workers have taken their place."""
    settings = Settings(str(pipeline), -1, None, True, "brackets")
    source = Source(write_texts(tmp_path / "in.txt", 1), "text")
    run = ShardRun(Job(settings, (source,), tmp_path / "out", None), load_parser(settings), 2, resume=False)
    (tmp_path / "out" / ".0123456789abcdef.tmp").touch()
    run.add(ShardParser(run.job)(run.shards[0]))
    run.finish()
    assert sorted(contents(tmp_path / "out")) == ["000000.mrg", MANIFEST]
