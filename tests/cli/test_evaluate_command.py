"""`parsetag evaluate`: EVALB on files, and on a pipeline."""

import json
from pathlib import Path

import pytest
from command_data import TREES, Run


def test_bracket_files(run: Run, treebank: Path, tmp_path: Path) -> None:
    test = tmp_path / "test.mrg"
    test.write_text(TREES.replace("(NP (NNS papers))", "(NNS papers)"))
    result = run("evaluate", treebank, test)
    assert result.exit_code == 0
    assert "Bracketing FMeasure       =  94.74" in result.stdout
    assert result.stdout.startswith("  Sent.")
    assert "F  94.74" in run("evaluate", treebank, test, "--summary").stdout
    report = json.loads(run("evaluate", treebank, test, "--json", "--output", tmp_path / "x" / "m.json").stdout)
    assert report["all"]["matched"] == 9
    assert json.loads((tmp_path / "x" / "m.json").read_text()) == report


def test_failures_are_stated(run: Run, treebank: Path, tmp_path: Path) -> None:
    test = tmp_path / "test.mrg"
    test.write_text("\n".join([*TREES.splitlines()[:2], "(TOP)"]))
    result = run("evaluate", treebank, test, "--summary", "--params", "new")
    assert result.exit_code == 0
    assert "1 of 3 sentences have no usable parse" in result.stderr
    assert "F 100.00" in result.stdout


def test_pipeline(run: Run, pipeline: Path, treebank: Path, tmp_path: Path) -> None:
    data = tmp_path / "data.spacy"
    assert run("convert", treebank, data, "--n-sents", "2", "--detokenize").exit_code == 0
    result = run("evaluate", pipeline, data, "--output", tmp_path / "m.json")
    assert result.exit_code == 0
    assert "EVALB (collins), 3 sentences: 0 errors, 0 skipped" in result.stdout
    report = json.loads((tmp_path / "m.json").read_text())
    assert report["evalb"]["failures"] == 0
    # The scorer of the pipeline and EVALB agree where nothing fails.
    assert 100 * report["scores"]["parsetag_f"] == pytest.approx(report["evalb"]["all"]["f"])
    table = run("evaluate", pipeline, tmp_path, "--table")
    assert table.stdout.startswith("  Sent.")


@pytest.mark.parametrize(
    "gold, test, options, message",
    [
        ("missing.mrg", "trees.mrg", [], "[E351]"),
        ("trees.mrg", "missing.mrg", [], "[E351]"),
        ("trees.mrg", "bad.mrg", [], "bad.mrg:2: "),
        ("trees.mrg", "short.mrg", [], "[E203]"),
        ("trees.mrg", "trees.mrg", ["--params", "nonsense"], "[E202]"),
        ("trees.mrg", "missing.spacy", [], "[E351]"),
        ("empty.mrg", "empty.mrg", [], "[E355]"),
        ("MODEL", "trees.mrg", [], "[E362]"),
        ("MODEL", "bad.spacy", [], "[E354]"),
    ],
)
def test_bad_input(
    run: Run, treebank: Path, pipeline: Path, gold: str, test: str, options: list[str], message: str
) -> None:
    folder = treebank.parent
    (folder / "bad.mrg").write_text(TREES.splitlines()[0] + "\n(TOP (S\n")
    (folder / "short.mrg").write_text(TREES.splitlines()[0] + "\n")
    (folder / "empty.mrg").write_text("\n")
    (folder / "bad.spacy").write_text("nonsense")
    result = run("evaluate", pipeline if gold == "MODEL" else folder / gold, folder / test, *options)
    assert result.exit_code == 1
    assert message in result.stderr


def test_no_constituents(run: Run, pipeline: Path, treebank: Path, tmp_path: Path) -> None:
    run("convert", treebank, tmp_path / "data.spacy", "--spans-key", "other")
    result = run("evaluate", pipeline, tmp_path / "data.spacy")
    assert result.exit_code == 1
    assert "[E364]" in result.stderr
