"""`parsetag analyze`: treebanks in, figures out."""

import csv
import io
import json
from pathlib import Path

import pytest
from command_data import TREES, Run

from spacy_parsetag.cli.analyze import name_inputs

RESULTS = "treebank,order,f\none,in,90\none,pre,85\none,post,70\n"


@pytest.mark.parametrize("command", ["deviation", "stack", "tags", "labels", "correlation"])
def test_help(run: Run, command: str) -> None:
    result = run("analyze", command, "--help")
    assert result.exit_code == 0
    assert f"analyze {command} [OPTIONS]" in result.stdout


def test_deviation(run: Run, treebank: Path) -> None:
    result = run("analyze", "deviation", treebank)
    assert result.exit_code == 0
    lines = [line.split() for line in result.stdout.splitlines()]
    assert lines[0] == ["treebank", "trees", "words", "order", "mean", "max", "in", "place"]
    assert lines[1] == ["trees", "3", "12", "in", "0.00", "0", "1.00"]
    content = json.loads(run("analyze", "deviation", treebank, "--json").stdout)["treebanks"]["trees"]
    assert content["words"] == 12 and sum(content["orders"]["post"]["counts"]) == 12
    rows = list(csv.DictReader(io.StringIO(run("analyze", "deviation", treebank, "--csv").stdout)))
    assert [row["order"] for row in rows] == ["in", "pre", "post"]
    assert float(rows[2]["mean"]) == pytest.approx(content["orders"]["post"]["mean"])


def test_stack(run: Run, treebank: Path) -> None:
    result = run("analyze", "stack", f"mine={treebank}", treebank, "--limit", 1)
    assert result.exit_code == 0
    lines = [line.split() for line in result.stdout.splitlines()]
    assert lines[0][-3:] == ["99%", "99.9%", "100%"]
    assert [line[0] for line in lines[1:]] == ["mine"] * 3 + ["trees"] * 3
    assert lines[1][1] == "1"
    content = json.loads(run("analyze", "stack", treebank, "-j").stdout)["treebanks"]["trees"]
    assert {order: found["needed"] for order, found in content["orders"].items()} == {"in": 2, "pre": 3, "post": 4}


def test_tags(run: Run, treebank: Path, tmp_path: Path) -> None:
    other = tmp_path / "other.mrg"
    other.write_text("(TOP (S (X (DT The)) (VP (VBZ barks))))\n" + TREES)
    result = run("analyze", "tags", treebank, other)
    assert result.exit_code == 0
    assert result.stdout.endswith("unseen in other: l/X (1) r/VP (1)\n")
    content = json.loads(run("analyze", "tags", treebank, other, "--json").stdout)["treebanks"]
    assert "unseen" not in content["trees"]
    assert content["other"]["unseen"] == {"trees": 1, "types": 2, "tokens": 2, "counts": {"l/X": 1, "r/VP": 1}}
    rows = list(csv.DictReader(io.StringIO(run("analyze", "tags", treebank, other, "--csv").stdout)))
    assert {"tag": "l/X", "trees": "0", "other": "1"} in rows


def test_labels(run: Run, treebank: Path, tmp_path: Path) -> None:
    other = tmp_path / "other.mrg"
    other.write_text("(TOP (SQ (VP (VBZ Does) (NP (PRP it)))))\n" + TREES)
    result = run("analyze", "labels", treebank, other)
    assert result.exit_code == 0
    lines = result.stdout.splitlines()
    assert lines[0].split("  ")[0] == "treebank"
    for name, n_trees, n_words, mean, *_ in map(str.split, lines[1:3]):
        assert name in ("trees", "other") and f"{int(n_words) / int(n_trees):.2f}" == mean
    assert "unseen labels in other: SQ (1)" in lines
    assert "unseen unaries in other: SQ+VP (1)" in lines
    assert "unseen productions in other: SQ → VP (1)" in lines
    assert any(line.startswith("labels in trees: NP (") for line in lines)
    content = json.loads(run("analyze", "labels", treebank, other, "--json").stdout)["treebanks"]
    assert "unseen" not in content["trees"]["labels"]
    assert content["other"]["unaries"]["unseen"] == {"trees": 1, "types": 1, "tokens": 1, "counts": {"SQ+VP": 1}}
    assert content["other"]["lengths"] == {**content["trees"]["lengths"], "2": 1}
    rows = list(csv.DictReader(io.StringIO(run("analyze", "labels", treebank, other, "--csv").stdout)))
    assert {"kind": "productions", "item": "SQ → VP", "trees": "0", "other": "1"} in rows


def test_labels_that_a_terminal_would_obey(run: Run, treebank: Path, tmp_path: Path) -> None:
    path = tmp_path / "odd.mrg"
    path.write_text("(TOP (S (\x1b[31m (T w)) (VP (V v))))\n")
    for command in ("labels", "tags"):
        output = run("analyze", command, treebank, path).stdout
        assert "\x1b" not in output and "\ufffd[31m" in output


def test_limit_spreads_over_the_treebank(run: Run, tmp_path: Path) -> None:
    """Each tree has a tag of its own, so the tags say which trees were read."""
    path = tmp_path / "trees.mrg"
    path.write_text("".join(f"(TOP (X{i} (A a)))\n" for i in range(10)))

    def tags(*options: object) -> list[str]:
        result = run("analyze", "tags", path, "--json", "--limit", 3, *options)
        return sorted(json.loads(result.stdout)["treebanks"]["trees"]["counts"])

    assert tags() == ["l/X0", "l/X3", "l/X6"]
    drawn = {tuple(tags("--seed", seed)) for seed in range(5)}
    assert len(drawn) > 1 and tuple(tags("--seed", 0)) in drawn
    assert "at even distances" in " ".join(run("analyze", "tags", "--help").stdout.split())


def test_docs_are_as_good_as_brackets(run: Run, treebank: Path, tmp_path: Path) -> None:
    treebank.write_text(TREES + "(TOP (A+B (-LRB- -LRB-) (N+P (X x))))\n")
    data = tmp_path / "docs" / "trees.spacy"
    assert run("convert", treebank, data, "--n-sents", 2).exit_code == 0
    for command in ("deviation", "stack", "tags", "labels"):
        assert run("analyze", command, data, "--json").stdout == run("analyze", command, treebank, "--json").stdout
    # A folder holds both kinds.
    assert json.loads(run("analyze", "tags", f"all={tmp_path}", "-j").stdout)["treebanks"]["all"]["trees"] == 8


def test_docs_beside_their_brackets_do_not_count(run: Run, treebank: Path, tmp_path: Path) -> None:
    folder = tmp_path / "train"
    folder.mkdir()
    treebank = treebank.rename(folder / "train.mrg")
    assert run("convert", treebank, folder / "train.spacy").exit_code == 0
    result = run("analyze", "tags", folder)
    assert result.exit_code == 1 and "[E487]" in result.stderr
    for file in ("train.mrg", "train.spacy"):
        assert run("analyze", "tags", folder, "--glob", file).stdout == run("analyze", "tags", folder / file).stdout


def test_files_without_a_tree_are_named(run: Run, treebank: Path) -> None:
    (treebank.parent / "empty.mrg").touch()
    result = run("analyze", "labels", treebank.parent)
    assert result.exit_code == 0 and f"[E106] No trees in {treebank.parent / 'empty.mrg'}." in result.stderr


def test_correlation(run: Run, treebank: Path, tmp_path: Path) -> None:
    results, deviation = tmp_path / "results.csv", tmp_path / "deviation.json"
    results.write_text(RESULTS)
    deviation.write_text(run("analyze", "deviation", f"one={treebank}", "--json").stdout)
    figure = tmp_path / "figures" / "f.svg"
    result = run("analyze", "correlation", results, "--deviation", deviation, "--json", "--figure", figure)
    assert result.exit_code == 0
    content = json.loads(result.stdout)
    assert content["n"] == 3 and -1 < content["r"] < -0.5 and 0 < content["p"] < 1
    assert figure.read_text().startswith("<?xml")
    for other in (results, results.parent / ".." / results.parent.name / results.name):
        twice = run("analyze", "correlation", results, other, "--deviation", deviation, "--json")
        assert twice.stdout == result.stdout  # each point once, or p would be smaller
    text = run("analyze", "correlation", results, "--deviation", deviation).stdout.splitlines()
    assert len(text) == 5 and text[-1].endswith(f"  r = {content['r']:.4f}  {content['p']:.4g}")
    table = run("analyze", "correlation", results, "--deviation", deviation, "--csv").stdout
    rows = [*csv.DictReader(table.splitlines())]
    assert len(rows) == 3 and {float(row["r"]) for row in rows} == {content["r"]}
    results.write_text(table)  # which is a table of results as well
    assert run("analyze", "correlation", results, "--json").stdout == result.stdout


def test_small_figures_of_a_correlation(run: Run, tmp_path: Path) -> None:
    """F may be from 0 to 1, and p is small."""
    pytest.importorskip("scipy", reason="scipy is not installed")
    results = tmp_path / "results.csv"
    results.write_text("treebank,order,f,deviation\na,in,0.90,0\nb,pre,0.852,0.9\nc,post,0.8005,2\nd,post,0.81,1.2\n")
    text = [line.split() for line in run("analyze", "correlation", results).stdout.splitlines()]
    assert [row[2] for row in text[1:4]] == ["0.9", "0.852", "0.8005"] and text[-1][-1] == "0.05264"


def test_figures(run: Run, treebank: Path, tmp_path: Path) -> None:
    pytest.importorskip("matplotlib", reason="matplotlib is not installed")
    for command in ("deviation", "stack", "tags", "labels"):
        paths = [tmp_path / f"{command}{suffix}" for suffix in (".png", ".svg")]
        assert run("analyze", command, treebank, "--figure", paths[0], "--figure", paths[1]).exit_code == 0
        assert all(path.stat().st_size > 1000 for path in paths)


@pytest.mark.parametrize(
    "args, message",
    [
        (["deviation", "missing.mrg"], "[E030]"),
        (["deviation", "bad.mrg"], "bad.mrg:4: "),
        (["stack", "crossing.mrg"], "crossing.mrg:1: "),
        (["stack", "empty.mrg"], "[E106]"),
        (["tags", "bad.spacy"], "[E550]"),
        (["tags", "plain.spacy", "--spans-key", "other"], "[E458]"),
        (["deviation", "trees.mrg", "a/trees.mrg", "trees=bad.mrg"], "bad.mrg:4: "),
        (["deviation", "x=trees.mrg", "x=trees.mrg"], "[E457]"),
        (["deviation", "trees.mrg", "--json", "--csv"], "[E459]"),
        (["deviation", "trees.mrg", "--figure", "figure.gif"], "[E402]"),
        (["deviation", "trees.mrg", "--seed", "4"], "[E455] --seed needs --limit"),
        (["correlation", "missing.csv"], "[E030]"),
        (["correlation", "results.csv"], "[E404]"),
        (["correlation", "few.csv"], "[E401]"),
    ],
)
def test_bad_input(run: Run, treebank: Path, monkeypatch: pytest.MonkeyPatch, args: list[str], message: str) -> None:
    folder = treebank.parent
    monkeypatch.chdir(folder)
    (folder / "a").mkdir()
    (folder / "a" / "trees.mrg").write_text(TREES)
    (folder / "bad.mrg").write_text(TREES + "(TOP (S\n")
    (folder / "crossing.mrg").write_text("(TOP (S (NP (DT a)) ( (VP (VB b)))))\n")
    (folder / "empty.mrg").write_text("\n")
    (folder / "bad.spacy").write_text("nonsense")
    (folder / "results.csv").write_text(RESULTS)
    (folder / "few.csv").write_text("treebank,order,f,deviation\na,in,90,0\n")
    run("convert", treebank, folder / "plain.spacy")
    result = run("analyze", *args)
    assert result.exit_code == 1
    assert message in result.stderr
    assert not result.stdout


def test_skip_bad(run: Run, treebank: Path) -> None:
    treebank.write_text(TREES + "(TOP (S (NP (DT a)) ( (VP (VB b)))))\n(TOP (S\n")
    result = run("analyze", "deviation", treebank, "--skip-bad", "1%", "--json")
    assert result.exit_code == 1 and "E456" in result.stderr and "2 of 5 " in result.stderr
    assert not result.stdout
    result = run("analyze", "deviation", treebank, "--skip-bad", "40%", "--json")
    assert result.exit_code == 0
    assert json.loads(result.stdout)["treebanks"]["trees"]["trees"] == 3
    assert "Skipped 2 malformed trees" in result.stderr
    result = run("analyze", "deviation", treebank, "--skip-bad", "101%")
    assert result.exit_code == 1 and "E460" in result.stderr


@pytest.mark.parametrize(
    "inputs, names",
    [
        (["x/a.mrg", "y/b.mrg"], ["a", "b"]),
        (["x/a.mrg", "y/a.mrg"], ["x", "y"]),
        (["x/a.mrg", "x/b.mrg", "y/a.mrg"], ["x/a", "x/b", "y/a"]),
        (["1/x/a.mrg", "2/x/a.mrg"], ["1/x/a.mrg", "2/x/a.mrg"]),
        (["one=x/a.mrg", "x/a.mrg"], ["one", "a"]),
        (["treebank"], ["treebank"]),
    ],
)
def test_names(inputs: list[str], names: list[str]) -> None:
    assert list(name_inputs(inputs)) == names
