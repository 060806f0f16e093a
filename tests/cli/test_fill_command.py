"""Standard splits of `convert`, and `evaluate --fill`."""

from pathlib import Path

from command_data import TREES, Run


def test_standard_split(run: Run, tmp_path: Path) -> None:
    for section in ("00", "02", "21", "22", "23"):
        (tmp_path / "wsj" / section).mkdir(parents=True)
        (tmp_path / "wsj" / section / f"wsj_{section}01.mrg").write_text(TREES, encoding="utf-8")
    result = run("convert", tmp_path / "wsj", tmp_path / "out", "--format", "ptb")
    assert result.exit_code == 0, result.stderr
    assert sorted(path.name for path in (tmp_path / "out").iterdir()) == ["dev.spacy", "test.spacy", "train.spacy"]
    assert "6 sentences" in result.stderr
    assert run("convert", tmp_path / "wsj", tmp_path / "all.spacy", "--format", "ptb").exit_code == 0
    assert run("convert", tmp_path / "wsj", tmp_path / "each", "--format", "ptb", "--split", "none").exit_code == 0
    assert len(list((tmp_path / "each").rglob("*.spacy"))) == 5


def test_fill(run: Run, treebank: Path, tmp_path: Path) -> None:
    test = tmp_path / "test.mrg"
    third = TREES.splitlines()[2]
    test.write_text(f"(TOP)\n(TOP (S (NN dog)))\n{third}\n", encoding="utf-8")
    filled = tmp_path / "filled.mrg"
    result = run("evaluate", treebank, test, "--fill", filled, "--summary")
    assert result.exit_code == 0, result.stderr
    assert "3 trees, 2 of them flat" in result.stderr
    # What is scored is the file as it was.
    assert "2 of 3 sentences have no usable parse" in result.stderr
    assert filled.read_text(encoding="utf-8").splitlines() == [
        "(TOP (PRP She) (VBZ reads) (NNS papers) (. .))",
        "(TOP (DT The) (NN dog) (VBZ barks) (. .))",
        third,
    ]
    treebank.write_text(TREES.replace("(S (NP", "(S\n\n  (NP"), encoding="utf-8")
    assert run("evaluate", treebank, treebank, "--multiline", "--fill", filled.with_suffix(".2")).exit_code == 0
    assert filled.with_suffix(".2").read_text(encoding="utf-8") == TREES
    treebank.write_text(TREES, encoding="utf-8")
    result = run("evaluate", treebank, filled)
    assert result.exit_code == 0 and "no usable parse" not in result.stderr


def test_fill_with_an_empty_line_at_the_end(run: Run, treebank: Path, tmp_path: Path) -> None:
    treebank.write_text(f"{TREES}\n")
    filled = tmp_path / "filled.mrg"
    result = run("evaluate", treebank, treebank, "--fill", filled)
    assert result.stdout == run("evaluate", treebank, treebank).stdout != ""
    assert "3 trees, 0 of them flat" in result.stderr and filled.read_text() == treebank.read_text()
