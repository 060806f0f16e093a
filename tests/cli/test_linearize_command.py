"""`parsetag linearize`: trees to tags and back."""

import json
from pathlib import Path

import pytest
from command_data import TREES, Run

ODD = """\
(TOP (NN word))
( (S (NP (PRP She)) (VP (VBZ sleeps))))
(ROOT (X (A+B (C\\D a) (-LRB- -LRB-)) (X|Y (X|Y (N-A a\\u0020é))) (, ,)))
(S (NP-SBJ (NP (DT the)) (NN dog)) (NP (-NONE- *)))
(TOP (NP (NN a)) (NP (NN b)) (. .))
"""


@pytest.mark.parametrize("order", ["in", "pre", "post"])
def test_round_trip(run: Run, tmp_path: Path, order: str) -> None:
    source, tags, back = (tmp_path / name for name in ("trees.mrg", "tags.jsonl", "back.mrg"))
    source.write_text(TREES + ODD)
    assert run("linearize", source, tags, "--order", order).exit_code == 0
    assert run("linearize", tags, back, "--inverse").exit_code == 0
    assert back.read_text() == source.read_text()


def test_tags_on_standard_output(run: Run) -> None:
    result = run("linearize", "-", "--output-format", "tags", stdin=ODD)
    assert result.stdout.splitlines()[:2] == ["l", "l/NP L/S r/VP"]
    record = json.loads(run("linearize", "-", "--order", "post", stdin=ODD).stdout.splitlines()[1])
    assert record == {
        "order": "post", "words": ["She", "sleeps"], "pos": ["PRP", "VBZ"], "tags": ["l/NP", "r/VP", "L/S"], "root": ""
    }  # fmt: skip


def test_check(run: Run, tmp_path: Path) -> None:
    (tmp_path / "a.mrg").write_text(TREES + ODD)
    result = run("linearize", tmp_path, "--check")
    assert result.exit_code == 0
    lines = [" ".join(line.split()) for line in result.stdout.splitlines()]
    assert lines == [f"{order} 8 of 8 trees came back (25 words)" for order in ("in", "pre", "post")]


@pytest.mark.parametrize(
    "line",
    [
        "no json",
        "[]",
        '{"words": ["a"]}',
        '{"order": "in", "words": ["a"], "pos": [], "tags": ["l"]}',
        '{"order": "in", "words": ["a"], "pos": ["X"], "tags": ["R"]}',
        '{"order": "in", "words": ["a"], "pos": ["X"], "tags": ["l", "l"]}',
        '{"order": "of", "words": ["a"], "pos": ["X"], "tags": ["l"]}',
        '{"order": "in", "words": "a", "pos": ["X"], "tags": ["l"]}',
        '{"order": "in", "words": [], "pos": [], "tags": []}',
        '{"order": "in", "words": ["a"], "pos": ["X"], "tags": [1]}',
        '{"order": "in", "words": ["a"], "pos": ["X"], "tags": ["l"], "root": 1}',
        '{"order": ["in"], "words": ["a"], "pos": ["X"], "tags": ["l"]}',
        "[" * 100_000,
    ],
    ids=lambda line: line[:70],
)
def test_bad_lines_are_named(run: Run, tmp_path: Path, line: str) -> None:
    source, out = tmp_path / "tags.jsonl", tmp_path / "out.mrg"
    source.write_text('{"order": "in", "words": ["a"], "pos": ["X"], "tags": ["l"]}\n\n' + line + "\n")
    result = run("linearize", source, out, "--inverse")
    assert result.exit_code == 1
    assert f"{source}:3: " in result.stderr
    assert not out.exists()


def test_malformed_trees(run: Run, tmp_path: Path) -> None:
    source = tmp_path / "trees.mrg"
    source.write_text(TREES + "(TOP (S\n")
    result = run("linearize", source, tmp_path / "out")
    assert result.exit_code == 1
    assert f"{source}:4: " in result.stderr
    assert not (tmp_path / "out").exists()
    for args in ([source, tmp_path / "out"], [source, "--check"]):
        result = run("linearize", *args, "--skip-bad", "1%")
        assert result.exit_code == 1 and "E456" in result.stderr and "1 of 4 " in result.stderr
    assert not (tmp_path / "out").exists()
    assert run("linearize", source, tmp_path / "out", "--skip-bad", "25%").exit_code == 0
    assert len((tmp_path / "out").read_text().splitlines()) == 3


def test_skip_bad_skips_trees_that_are_no_parses(run: Run, tmp_path: Path) -> None:
    """The reader takes a node without a label; a parse does not."""
    source = tmp_path / "trees.mrg"
    source.write_text(TREES + "(TOP (S (NP (DT a)) ( (VP (VB b)))))\n")
    assert f"{source}:4: " in run("linearize", source, "-").stderr
    result = run("linearize", source, "-", "--skip-bad", "25%")
    assert result.exit_code == 0 and len(result.stdout.splitlines()) == 3
    assert f"skipped {source}:4: " in result.stderr


@pytest.mark.parametrize("options", [[], ["--inverse"]])
def test_an_input_is_never_overwritten(run: Run, tmp_path: Path, options: list[str]) -> None:
    source = tmp_path / "trees.mrg"
    source.write_text(TREES)
    for inputs in (source, tmp_path):
        result = run("linearize", inputs, source, *options)
        assert result.exit_code == 1 and "[E032]" in result.stderr
        assert source.read_text() == TREES
    other = tmp_path / "other.mrg"  # as *.mrg may name it
    other.write_text(TREES)
    for format in ("tags", "jsonl"):
        assert "[E036]" in run("linearize", source, other, "--output-format", format).stderr
        assert other.read_text() == TREES


def test_inverse_skips(run: Run, tmp_path: Path) -> None:
    lines = run("linearize", "-", stdin=TREES).stdout.splitlines()
    tags = "\n".join([lines[0], "{}", *lines[1:]])
    assert "<stdin>:2: [E452]" in run("linearize", "-", "--inverse", stdin=tags).stderr
    result = run("linearize", "-", "--inverse", "--skip-bad", "25%", stdin=tags)
    assert result.exit_code == 0 and result.stdout == TREES and "skipped <stdin>:2: [E452]" in result.stderr
    assert "[E456] 1 of 4" in run("linearize", "-", tmp_path / "x", "--inverse", "--skip-bad", "24%", stdin=tags).stderr
    assert not (tmp_path / "x").exists()


@pytest.mark.parametrize(
    "args, option",
    [
        (["--inverse", "--check"], "--check"),
        (["--inverse", "--output-format", "tags"], "--output-format"),
        (["--inverse", "--glob", "*"], "--glob"),
        (["--inverse", "--encoding", "latin-1"], "--encoding"),
        (["--inverse", "--order", "pre"], "--order"),
        (["--check", "--order", "post"], "--order"),
        (["--check", "--output-format", "tags"], "--output-format"),
        (["trees.mrg", "--check"], "OUTPUT"),
        (["--glob", "*"], "--glob"),
    ],
)
def test_options_that_would_do_nothing(run: Run, args: list[str], option: str) -> None:
    refused = run("linearize", "-", *args, stdin=TREES)
    assert refused.exit_code == 1 and f"[E455] {option} needs" in refused.stderr and not refused.stdout


def test_nothing_to_linearize(run: Run, tmp_path: Path) -> None:
    """An error, and no file, rather than an empty one."""
    source, target = tmp_path / "trees.mrg", tmp_path / "tags.jsonl"
    source.write_text("\n")
    for options in ((), ("--check",), ("--inverse",)):
        result = run("linearize", source, *([] if "--check" in options else [target]), *options)
        assert result.exit_code == 1 and "E106" in result.stderr and not target.exists()


def test_a_name_of_a_compressed_file_is_refused(run: Run, tmp_path: Path) -> None:
    """What is written would not be compressed, and no command could read it back."""
    result = run("linearize", "-", tmp_path / "tags.jsonl.gz", stdin=TREES)
    assert result.exit_code == 1 and "[E034]" in result.stderr and not any(tmp_path.iterdir())
