"""`parsetag diff`: where trees differ."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from command_data import TREES, Run


@pytest.fixture
def test(tmp_path: Path) -> Path:
    lines = TREES.splitlines()
    lines[0] = lines[0].replace("(NP (NNS papers))", "(NNS papers)").replace("(NP (PRP She))", "(ADVP (PRP She))")
    path = tmp_path / "test.mrg"
    path.write_text("\n".join([lines[0], "", lines[2]]) + "\n", encoding="utf-8")
    return path


def test_text(run: Run, treebank: Path, test: Path) -> None:
    result = run("diff", treebank, test)
    assert result.exit_code == 0
    lines = [line.rstrip() for line in result.stdout.splitlines()]
    assert lines[0].startswith("2 of 3 sentences differ, 1 of them without a usable parse. F (collins) ")
    start = lines.index("sentence 2  no usable parse: no words")
    assert lines[start + 1] == "    The dog barks"
    assert lines[start + 3 : start + 7] == [
        "sentence 1  F 57.14: 2 of 4 gold brackets, 3 test brackets, 0 crossing",
        "    She reads papers",
        "    > NP as ADVP: She",
        "    - NP: papers",
    ]
    assert [line.split() for line in lines[-4:]] == [
        ["gold", "test", "times"],
        ["----", "------", "-----"],
        ["NP", "(none)", "1"],
        ["NP", "ADVP", "1"],
    ]
    short = run("diff", treebank, test, "--top", "1").stdout
    assert "sentence 2 " in short and "sentence 1 " not in short and "ADVP" not in short
    assert run("diff", treebank, test, "--top", "0").stdout == result.stdout
    assert run("diff", treebank, treebank).stdout.startswith("0 of 3 sentences differ")
    for path, root in ((treebank, ""), (test, "TOP")):
        path.write_text(f"({root} (S (NP (PRP She)) (VP (VBZ sleeps))))\n", encoding="utf-8")
    result = run("diff", treebank, test)
    lines = result.stdout.splitlines()
    assert '    - "": She sleeps' in lines and lines[-1].split() == ['""', "(none)", "1"]
    assert "In 1 sentence the root is ( in GOLD and (TOP in" in result.stderr
    treebank.write_text("(TOP (S (NP (PRP She))\n (VP (VBZ sleeps))))\n")
    result = run("diff", treebank, treebank)
    assert "say --multiline" in result.stderr and "2 trees of GOLD are malformed" in result.stderr


def test_the_same_words_under_other_tags(run: Run, treebank: Path, test: Path) -> None:
    treebank.write_text("(S (VP (VBP go) (: --) (ADVP (RB home))))\n", encoding="utf-8")
    test.write_text("(S (VP (VBP go) (SYM --) (ADVP (RB home))))\n", encoding="utf-8")
    head = "sentence 1  no usable parse: Length unmatch (2|3). The words are the same, but '--' is tagged : in GOLD and"
    assert f"{head} SYM in TEST\n" in run("diff", treebank, test).stdout


def test_json(run: Run, treebank: Path, test: Path, tmp_path: Path) -> None:
    report = json.loads(run("diff", treebank, test, "--json", "--top", "1").stdout)
    assert report["differ"] == 2 and [one["sentence"] for one in report["sentences"]] == [2]
    assert {"gold": "NP", "test": "ADVP", "count": 1} in report["confusions"]
    result = run("diff", treebank, test, "--json", "--top", "1", "--output", tmp_path / "new" / "diff.json")
    assert result.exit_code == 0 and not result.stdout
    assert json.loads((tmp_path / "new" / "diff.json").read_text(encoding="utf-8")) == report


def test_bad_input(run: Run, treebank: Path, test: Path, tmp_path: Path) -> None:
    for args, code in [
        ([tmp_path / "none.mrg", test], "[E030]"),
        ([treebank, test, "--params", "none"], "[E352]"),
        ([treebank, test, "--output", treebank], "[E032]"),
        ([tmp_path / "empty.mrg", test], "[E106]"),
    ]:
        (tmp_path / "empty.mrg").write_text("\n")
        result = run("diff", *args)
        assert result.exit_code == 1 and code in result.stderr
    assert treebank.read_text(encoding="utf-8") == TREES


def test_output_that_is_not_in_utf8(tmp_path: Path) -> None:
    """Words go out as UTF-8 whatever the locale, and messages never fail."""
    gold, test = tmp_path / "gold.mrg", tmp_path / "test.mrg"
    gold.write_text("(S (NN café))\n(S (NN 語))\n", encoding="utf-8")
    test.write_text("(NN café)\n(S (NN 词))\n", encoding="utf-8")
    environment = {**os.environ, "PYTHONIOENCODING": "ascii", "PYTHONUTF8": "0"}
    for command, expected in (("diff", "- S: café"), ("evaluate", "Number of Error sentence  =      1")):
        args = [sys.executable, "-m", "spacy", "parsetag", command, str(gold), str(test)]
        done = subprocess.run(args, capture_output=True, env=environment)
        assert done.returncode == 0 and expected in done.stdout.decode("utf-8")


def test_a_folder_is_called_one(run: Run, treebank: Path, tmp_path: Path) -> None:
    result = run("diff", treebank, tmp_path)
    assert result.exit_code == 1 and str(tmp_path) in result.stderr and "No such file" not in result.stderr
