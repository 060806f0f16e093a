"""`parsetag evaluate`: EVALB on files, and on a pipeline."""

import csv
import gzip
import json
from collections.abc import Callable
from pathlib import Path

import pytest
import spacy
from command_data import TREES, Run
from spacy.language import Language
from spacy.tokens import Doc, DocBin
from spacy.training import Example
from tiny import train


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


@pytest.mark.parametrize(
    "root, params, n", [("", "collins", 3), ("S1", "collins", 3), ("S1", "new", 0), ("X", "new", 0)]
)
def test_roots_that_differ(run: Run, treebank: Path, tmp_path: Path, root: str, params: str, n: int) -> None:
    """A root that is not deleted counts as a bracket, as in EVALB, which is said where the other file has none."""
    gold = tmp_path / "gold.mrg"
    gold.write_text(TREES.replace("(TOP ", f"({root} "))
    for tests in ([treebank], [treebank, tmp_path / "other.mrg"]):
        tests[-1].write_text(TREES)
        result = run("evaluate", gold, *tests, "--params", params)
        assert result.exit_code == 0
        assert result.stderr.count(f"In {n:,} sentences the root is ({root} in GOLD and (TOP in") == (
            len(tests) if n else 0
        )
        assert n or "the root is" not in result.stderr
        assert "the root is" not in run("evaluate", gold, gold, "--params", params).stderr
    tests[-1].write_text("(())\n(TOP (, ,))\n" + TREES.splitlines()[2])  # what is skipped has no bracket that counts
    for command in ("evaluate", "diff"):
        stated = run(command, gold, tests[-1], "--params", params).stderr
        assert stated.count("the root is") == stated.count("In 1 sentence the root is") == min(n, 1)


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
    # The accuracy of gold tags is no figure.
    of_tables = run("evaluate", pipeline, data, "--by", "label", "--json").stdout
    assert "tag_accuracy" not in (tmp_path / "m.json").read_text() + of_tables


def test_a_component_that_changes_the_tokens(run: Run, pipeline: Path, treebank: Path, tmp_path: Path) -> None:
    """Trees over merged tokens are not those of the gold sentences, nor are they missing."""

    @Language.component("merge_first_two")
    def merge_first_two(doc: Doc) -> Doc:
        with doc.retokenize() as retokenizer:
            retokenizer.merge(doc[:2])
        return doc

    nlp = spacy.load(pipeline)
    nlp.add_pipe("merge_first_two", before="parsetag")
    nlp.to_disk(tmp_path / "merging")
    run("convert", treebank, tmp_path / "gold.spacy")
    result = run("evaluate", tmp_path / "merging", tmp_path / "gold.spacy")
    assert result.exit_code == 1 and "[E323] A component of the pipeline, such as merge_entities" in result.stderr


def test_tables_of_a_pipeline_have_the_parameters_given(
    run: Run, pipeline: Path, treebank: Path, tmp_path: Path
) -> None:
    """The table by label is by the parameters of the summary above it, not by those of the pipeline's scorer."""
    data, params = tmp_path / "data.spacy", tmp_path / "no-np.prm"
    params.write_text("DELETE_LABEL TOP\nDELETE_LABEL NP\n")
    assert run("convert", treebank, data).exit_code == 0
    report = json.loads(run("evaluate", pipeline, data, "--params", params, "--json").stdout)
    assert "NP" not in report["scores"]["parsetag_per_type"]
    assert 100 * report["scores"]["parsetag_f"] == pytest.approx(report["evalb"]["all"]["f"])
    assert "NP " not in run("evaluate", pipeline, data, "--params", params).stdout


def test_the_root_of_a_pipelines_trees_is_no_bracket(run: Run, pipeline: Path, treebank: Path, tmp_path: Path) -> None:
    """Docs have none, whatever root the parameters delete."""
    data, params = tmp_path / "data.spacy", tmp_path / "root.prm"
    params.write_text("DELETE_LABEL ROOT\n")
    assert run("convert", treebank, data).exit_code == 0
    options = ("--params", params, "--json")
    report = json.loads(run("evaluate", pipeline, data, *options).stdout)
    assert 100 * report["scores"]["parsetag_f"] == pytest.approx(report["evalb"]["all"]["f"])
    report = json.loads(run("evaluate", pipeline, data, *options, "--by", "label").stdout)
    assert "TOP" not in report["tables"]["label"][str(pipeline)]


def test_a_package_and_brackets(run: Run, treebank: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("spacy_parsetag.cli._inputs.is_package", lambda name: name == "mine")
    result = run("evaluate", "mine", treebank)
    assert result.exit_code == 1 and f"A pipeline needs a .spacy file, which {treebank} is not" in result.stderr


@pytest.mark.parametrize(
    "gold, test, options, message",
    [
        ("missing.mrg", "trees.mrg", [], "[E030]"),
        ("trees.mrg", "missing.mrg", [], "[E030]"),
        ("bad.mrg", "trees.mrg", [], "[E353]"),
        ("words.mrg", "trees.mrg", [], "Gold sentence 1 cannot be scored"),
        ("latin.mrg", "trees.mrg", [], "latin.mrg:2: [E113] Bytes e9 are not valid utf-8"),
        ("trees.mrg", "trees.mrg", ["--params", "LATIN.prm"], "LATIN.prm:1: [E113] Bytes c9 are not valid utf-8"),
        ("trees.mrg", "short.mrg", [], "short.mrg:1), the gold trees go on ("),
        ("trees.mrg", "trees.mrg", ["--params", "nonsense"], "[E352]"),
        ("trees.mrg", "missing.spacy", [], "[E030]"),
        ("trees.mrg", "trees.mrg", ["--encoding", "nonsense"], "[E101]"),
        ("empty.mrg", "empty.mrg", [], "[E106]"),
        ("MODEL", "trees.mrg", [], "[E455]"),
        ("trees.mrg", "bad.spacy", [], "bad.spacy needs a pipeline to score, which"),
        ("trees.mrg", "", [], "needs a pipeline to score, which"),
        ("MODEL", "bad.spacy", [], "[E550]"),
    ],
)
def test_bad_input(
    run: Run, treebank: Path, pipeline: Path, gold: str, test: str, options: list[str], message: str
) -> None:
    folder = treebank.parent
    (folder / "bad.mrg").write_text(TREES.splitlines()[0] + "\n(TOP (S\n")
    (folder / "short.mrg").write_text(TREES.splitlines()[0] + "\n")
    (folder / "words.mrg").write_text("She reads papers\n")
    (folder / "latin.mrg").write_bytes(b"(NN a)\n(NN \xe9)\n")
    (folder / "LATIN.prm").write_bytes(b"DELETE_LABEL \xc9\n")
    options = [str(folder / option) if option.endswith(".prm") else option for option in options]
    (folder / "empty.mrg").write_text("\n")
    (folder / "bad.spacy").write_text("nonsense")
    result = run("evaluate", pipeline if gold == "MODEL" else folder / gold, folder / test, *options)
    assert result.exit_code == 1
    assert message in result.stderr


def test_partial_trees_are_left_out(run: Run, pipeline: Path, treebank: Path, tmp_path: Path) -> None:
    """What is not known to be there may be right: so it is in the scorer of the pipeline."""
    data = tmp_path / "data.spacy"
    run("convert", treebank, data)
    docs = list(DocBin().from_disk(data).get_docs(spacy.blank("en").vocab))
    docs[0].spans["constituents"].attrs["partial"] = True
    docs[1].spans.clear()
    DocBin(docs=docs).to_disk(data)
    result = run("evaluate", pipeline, data)
    assert result.exit_code == 0
    assert "EVALB (collins), 1 sentences" in result.stdout and "constituents are known: 1.\n" in result.stderr
    assert "doc.spans has no 'constituents', but no groups of spans: 1.\n" in result.stderr
    result = run("analyze", "tags", data)
    assert result.exit_code == 0 and "constituents are known: 1.\n" in result.stderr
    assert "doc.spans has no 'constituents' (--spans-key), but no groups of spans: 1.\n" in result.stderr


def test_no_constituents(run: Run, pipeline: Path, treebank: Path, tmp_path: Path) -> None:
    run("convert", treebank, tmp_path / "data.spacy", "--spans-key", "other")
    result = run("evaluate", pipeline, tmp_path / "data.spacy")
    assert result.exit_code == 1
    assert "[E458]" in result.stderr


def test_a_line_is_a_sentence(run: Run, treebank: Path, tmp_path: Path) -> None:
    lines = TREES.splitlines()
    test = tmp_path / "test.mrg"
    test.write_text("\n".join([lines[0][:-1], "", lines[2].replace("really", "rarely")]) + "\n")
    result = run("evaluate", treebank, test)
    assert (
        result.exit_code == 0
        and "Number of Error sentence  =      2\nNumber of Skip  sentence  =      1" in result.stdout
    )
    stated = ["1 : Bracketing is unbalanced (too many open bracket)", "3 : Words unmatch (really|rarely)"]
    assert result.stderr.splitlines()[:2] == stated
    assert "--multiline" in result.stderr and "3 of 3 sentences have no usable parse" in result.stderr


def test_a_closing_bracket_too_many_is_no_open_one(run: Run, tmp_path: Path) -> None:
    """EVALB's message takes it for one."""
    gold, test = tmp_path / "gold.mrg", tmp_path / "test.mrg"
    gold.write_text("(TOP (S (NN a)))\n" * 2)
    test.write_text("(TOP (S (NN a)))\n(TOP (S (NN a))))\n")
    for command in ("evaluate", "diff"):
        stated = run(command, gold, test).stderr
        assert "2 : Bracketing is unbalanced (too many open bracket)" in stated and "--multiline" not in stated
        assert f"A closing bracket ({test}:2) has no opening one: remove it" in stated
    gold.write_text("(TOP\n (S (NN a)))\n" * 2)  # both lines of each tree are unbalanced
    stated = run("evaluate", gold, gold).stderr
    assert f"open at the end of a line ({gold}:1). If" in stated and "--multiline" in stated
    assert "A closing bracket" not in stated
    assert "A closing bracket has no opening one" in run("evaluate", gold, test, "--multiline").stderr


def test_many_errors_are_counted(run: Run, tmp_path: Path) -> None:
    gold, test = tmp_path / "gold.mrg", tmp_path / "test.mrg"
    for n in (10, 15):
        gold.write_text("(TOP (S (NN a)))\n" * n)
        test.write_text("(TOP (S (NN a) (NN b)))\n" * n)
        stated = run("evaluate", gold, test).stderr
        assert stated.count("Length unmatch (1|2)") == 10
        assert ("... and 5 more" in stated, "more: see" in stated) == (n == 15, n == 15)


def test_trees_over_several_lines(run: Run, treebank: Path, tmp_path: Path) -> None:
    pretty = tmp_path / "pretty.mrg"
    pretty.write_text(TREES.replace(" (VP", "\n  (VP").replace("\n(", "\n\n("))
    result = run("evaluate", pretty, treebank, "--multiline", "--summary")
    assert "3 sentences: 0 errors" in result.stdout and "F 100.00" in result.stdout


def test_deep_trees(run: Run, tmp_path: Path) -> None:
    deep = tmp_path / "deep.mrg"
    deep.write_text("(NP " * 20000 + "(NN a)" + ")" * 20000 + "\n")
    result = run("evaluate", deep, deep, "--summary", "--fill", tmp_path / "filled.mrg")
    assert result.exit_code == 0 and "F 100.00" in result.stdout
    assert (tmp_path / "filled.mrg").read_text() == deep.read_text()


@pytest.mark.parametrize("option", ["--output", "--fill"])
@pytest.mark.parametrize("which", ["gold.mrg", "test.mrg", "link", "params"])
def test_no_input_is_overwritten(run: Run, treebank: Path, tmp_path: Path, option: str, which: str) -> None:
    gold, test, link, params = (tmp_path / name for name in ("gold.mrg", "test.mrg", "link", "params"))
    texts = {gold: TREES, test: "(TOP)\n" * 3, params: "DELETE_LABEL TOP\n"}
    for path, text in texts.items():
        path.write_text(text)
    link.symlink_to(gold)
    result = run("evaluate", gold, test, "--params", params, option, tmp_path / which)
    assert result.exit_code == 1 and "[E032]" in result.stderr and not result.stdout
    assert {path: path.read_text() for path in texts} == texts


def test_two_parsers(run: Run, treebank: Path, tmp_path: Path) -> None:
    """The last parser of a pipeline is scored, under the usual names whatever its key."""
    run("convert", treebank, tmp_path / "data.spacy", "--spans-key", "second")
    nlp = spacy.blank("en")
    nlp.add_pipe("one_sentence")
    small = {"embed": {"width": 8, "rows": [50, 50, 50, 50]}, "encode": {"width": 8, "depth": 1}}
    nlp.add_pipe("parsetag", config={"model": {"tok2vec": small}, "spans_key": "second"})
    golds = list(DocBin().from_disk(tmp_path / "data.spacy").get_docs(nlp.vocab))
    nlp.initialize(lambda: [Example(nlp.make_doc(gold.text), gold) for gold in golds])
    nlp.to_disk(tmp_path / "model")
    report = json.loads(run("evaluate", tmp_path / "model", tmp_path / "data.spacy", "--json").stdout)
    assert 100 * report["scores"]["parsetag_f"] == pytest.approx(report["evalb"]["all"]["f"])


def test_several_pipelines(run: Run, pipeline: Path, treebank: Path, tmp_path: Path) -> None:
    """Each has the scores that it has alone, and docs are the units of the comparison."""
    data, other = tmp_path / "data.spacy", tmp_path / "other"
    run("convert", treebank, data, "--n-sents", "2")
    nlp = spacy.load(pipeline)
    golds = list(DocBin().from_disk(data).get_docs(nlp.vocab))
    train(nlp, [Example(Doc(nlp.vocab, words=[token.text for token in gold]), gold) for gold in golds])
    nlp.to_disk(other)
    alone = {path: json.loads(run("evaluate", path, data, "--json").stdout)["evalb"] for path in (pipeline, other)}
    report = json.loads(run("evaluate", pipeline, other, data, "--by", "label", "--samples", 20, "--json").stdout)
    assert alone[pipeline]["all"]["f"] < alone[other]["all"]["f"]
    for path, scores in alone.items():
        assert report["parsers"][str(path)]["f"] == pytest.approx(scores["all"]["f"])
        assert report["tables"]["label"][str(path)]["NP"]["gold"] > 0
    (difference,) = report["differences"]
    assert difference["units"] == 2
    assert difference["difference"] == pytest.approx(alone[other]["all"]["f"] - alone[pipeline]["all"]["f"])
    nlp.config["components"]["parsetag"]["spans_key"] = "mine"
    spacy.load(pipeline, config={"components.parsetag.spans_key": "mine"}).to_disk(tmp_path / "third")
    for gold in golds:
        gold.spans["mine"] = list(gold.spans["constituents"])[:1]
    DocBin(docs=golds, store_user_data=True).to_disk(data)
    assert "E488" in run("evaluate", pipeline, tmp_path / "third", data).stderr


def test_several_parsers(run: Run, tmp_path: Path) -> None:
    gold = [f"(TOP (S (NP (DT the) (NN n{i})) (VP (VBZ v))))\n" for i in range(30)]
    first = [line.replace("VP", "NP") if i % 3 == 0 else line for i, line in enumerate(gold)]
    files = {"gold": gold, "a": first, "b": gold, "docs": [f"d{i // 6}\n" for i in range(30)]}
    paths = {name: tmp_path / f"{name}.mrg" for name in files}
    for name, lines in files.items():
        paths[name].write_text("".join(lines), encoding="utf-8")
    options = ("--samples", 200)
    result = run("evaluate", paths["gold"], paths["a"], paths["b"], "--json", "--by", "label", *options)
    report = json.loads(result.stdout)
    ((difference,), parsers) = report["differences"], report["parsers"]
    assert difference["difference"] == pytest.approx(100 - parsers[str(paths["a"])]["f"]) and difference["low"] > 0
    assert parsers[str(paths["a"])]["tag_accuracy"] == 100.0
    assert report["mean"] == pytest.approx((100 + parsers[str(paths["a"])]["f"]) / 2)
    assert report["tables"]["label"][str(paths["a"])]["VP"]["r"] == pytest.approx(200 / 3)
    text = run("evaluate", paths["gold"], paths["a"], paths["b"], "--documents", paths["docs"], *options).stdout
    assert "\ndeviation " in text and text.splitlines()[-2].split()[-1] == "5"
    tables = run("evaluate", paths["gold"], paths["a"], paths["b"], "--tables", "csv", *options).stdout.split("\n\n")
    (row,) = csv.DictReader(tables[1].splitlines())
    assert row["parsers"] == f"{paths['b']} - {paths['a']}"
    for column, key in (("difference in F", "difference"), ("95 % from", "low"), ("p bootstrap", "p_bootstrap")):
        assert float(row[column]) == difference[key]
    text = run("evaluate", paths["gold"], paths["a"], "--by", "span", "--tables", "csv").stdout
    (row,) = csv.DictReader(text.split("\n\n")[1].splitlines()[:2])
    assert row["span"] == "1" and row["gold"] == "30" and float(row["R"]) == pytest.approx(200 / 3)
    latex = run("evaluate", paths["gold"], paths["a"], "--tables", "latex").stdout
    assert r"\begin{tabular}{lrrrrrr}" in latex
    assert run("evaluate", paths["gold"], paths["a"], paths["b"], "--fill", tmp_path / "x.mrg").exit_code == 1


@pytest.mark.parametrize("style, least", [("text", "<0.0001"), ("latex", r"\textless{}0.0001")])
def test_figures_that_are_nearly_nothing(run: Run, tmp_path: Path, style: str, least: str) -> None:
    """p is never 0, and a difference that is rounded to 0 has no minus."""
    gold, first, second = (tmp_path / f"{name}.mrg" for name in ("gold", "a", "b"))
    tree = "(TOP (S (NP (NN a)) (VP (VB b))))\n"
    gold.write_text(tree * 40)
    first.write_text(tree * 40)
    second.write_text(tree.replace("VP", "NP") * 40)
    table = run("evaluate", gold, first, second, "--samples", 20001, "--tables", style).stdout
    assert table.count(least) == 2 and "0.0000" not in table
    wide = f"(TOP (S {'(NP (NN a)) ' * 21_000}))\n"
    gold.write_text(wide)
    first.write_text(wide)
    second.write_text(wide.replace("NP", "VP", 1))
    table = run("evaluate", gold, first, second, "--samples", 9, "--tables", style).stdout
    assert "-0.00" not in table and "+0.00" in table


def test_options_that_would_do_nothing(run: Run, treebank: Path, tmp_path: Path) -> None:
    other = tmp_path / "other.mrg"
    other.write_text(TREES, encoding="utf-8")
    for options, message in [
        ([other, "--table"], "--table or --summary needs one TEST"),
        ([other, "--summary"], "--table or --summary needs one TEST"),
        (["--by", "label", "--table"], "--table or --summary needs one TEST"),
        (["--json", "--table"], "--table or --summary needs no --json"),
        (["--samples", 10000], "--samples needs several parsers"),
        (["--batch-size", 4], "--batch-size needs a pipeline"),
        (["--gpu-id", 0], "--gpu-id needs a pipeline"),
        (["--code", "absent.py"], "--code needs a pipeline"),
        (["--json", "--tables", "csv"], "--tables needs no --json"),
        (["--output", "-"], "--output needs a file"),
        (["--fill", "-"], "--fill needs a file"),
    ]:
        result = run("evaluate", treebank, treebank, *options)
        assert result.exit_code == 1 and f"[E455] {message}" in result.stderr and not result.stdout
    for options in (["--fill", tmp_path.parent / "filled.mrg"], ["--multiline"], ["--encoding", "latin-1"]):
        assert f"[E455] {options[0]} needs bracket files" in run("evaluate", "model", tmp_path, *options).stderr


def test_empty_lines_at_the_end(run: Run, tmp_path: Path) -> None:
    """They may be in some of the files."""
    tree = "(TOP (S (NN a)))\n"
    files = {"gold": f"{tree}{tree}\n", "a": f"{tree}{tree}\n\n", "b": tree * 2, "documents": "1\n2\n2\n"}
    paths = {name: tmp_path / f"{name}.mrg" for name in files}
    for name, text in files.items():
        paths[name].write_text(text)
    options = ("--documents", paths["documents"], "--samples", 9, "--json")
    result = run("evaluate", paths["gold"], paths["a"], paths["b"], *options)
    assert result.exit_code == 0, result.stderr
    report = json.loads(result.stdout)
    assert [each["sentences"] for each in report["parsers"].values()] == [2, 2]
    assert report["differences"][0]["units"] == 2
    for names in ("1\n2\n\n", "1\n2\n\n\n"):
        paths["documents"].write_text(names)
        again = run("evaluate", paths["gold"], paths["a"], paths["b"], *options)
        assert again.exit_code == 0 and json.loads(again.stdout) == report, again.stderr
    paths["documents"].unlink()
    assert "[E030]" in run("evaluate", paths["gold"], paths["a"], paths["b"], *options).stderr
    # Where a parser has a line for it, as `parse` writes, an empty line is a sentence without a parse.
    for name in "ab":
        paths[name].write_text(f"{tree * 2}(TOP)\n")
    assert run("evaluate", paths["gold"], paths["a"], paths["b"], "--json").exit_code == 0
    paths["a"].write_text(files["a"])
    # Alone, an empty line of both files is a sentence, as in EVALB.
    assert json.loads(run("evaluate", paths["gold"], paths["a"], "--json").stdout)["all"]["skipped"] == 1


def test_scores_that_cannot_be_written_are_printed(run: Run, treebank: Path) -> None:
    result = run("evaluate", treebank, treebank, "--summary", "--output", treebank / "scores.json")
    assert result.exit_code == 1 and str(treebank) in result.stderr and "F 100.00" in result.stdout


def test_a_broken_gold_tree_is_no_fault_of_the_parser(run: Run, treebank: Path) -> None:
    gold = treebank.with_name("gold.mrg")
    gold.write_text("".join(f"{line[: len(line) - (i == 1)]}\n" for i, line in enumerate(TREES.splitlines())))
    stderr = run("evaluate", gold, treebank).stderr
    assert "2 : Bracketing is unbalanced" in stderr
    assert "1 trees of GOLD are malformed" in stderr and f"({gold}:2): Bracketing is unbalanced" in stderr
    assert "of GOLD" not in run("evaluate", treebank, gold).stderr


def test_documents_by_any_editor(run: Run, tmp_path: Path) -> None:
    """A byte order mark is no part of the first document's name, and names may be in another encoding."""
    gold, other = tmp_path / "gold.mrg", tmp_path / "other.mrg"
    gold.write_text("(TOP (S (NN a)))\n" * 4)
    other.write_text("(TOP (NP (NN a)))\n" * 4)
    for names in (b"\xef\xbb\xbfd1\r\nd1\r\nd2\r\nd2", b"\xe9\n\xe9\nd2\nd2\n"):
        (tmp_path / "names.txt").write_bytes(names)
        result = run("evaluate", gold, gold, other, "--documents", tmp_path / "names.txt", "--samples", 9, "--json")
        assert json.loads(result.stdout)["differences"][0]["units"] == 2


def test_rows_by_length_are_in_order(run: Run, tmp_path: Path) -> None:
    """Also where only a later parser has a constituent of some length."""
    lines = {"gold": "(S (NP (A a)) (B b) (C c) (D d))", "other": "(S (NP (A a) (B b)) (C c) (D d))"}
    gold, other = (tmp_path / f"{name}.mrg" for name in lines)
    for path, line in zip((gold, other), lines.values(), strict=True):
        path.write_text(f"(TOP {line})\n")
    csv = run("evaluate", gold, gold, other, "--by", "span", "--tables", "csv", "--samples", 9).stdout
    assert [row.partition(",")[0] for row in csv.splitlines()[-4:]] == ["span", "1", "2", "4"]


def test_labels_that_would_move_the_cursor(run: Run, tmp_path: Path) -> None:
    path = tmp_path / "escape.mrg"
    path.write_text("(TOP (S\x1b[2J (NN a)))\n")
    assert "S\ufffd[2J" in run("evaluate", path, path, "--by", "label").stdout


def test_failures_are_stated_beside_all_tables(run: Run, treebank: Path, tmp_path: Path) -> None:
    """With the name of the parser where there are several; in JSON too."""
    pretty = tmp_path / "pretty.mrg"
    pretty.write_text(TREES.replace(" (VP", "\n  (VP"))
    alone = run("evaluate", pretty, pretty, "--by", "label").stderr
    assert alone.startswith("1 : Bracketing is unbalanced") and "say --multiline" in alone
    test = tmp_path / "test.mrg"
    test.write_text(TREES.replace("She", "He"))
    several = run("evaluate", treebank, treebank, test, "--samples", 9)
    assert several.stderr.startswith(f"{test}: 1 : Words unmatch (She|He)\n")
    assert f"{test}: 1 of 3 sentences have no usable parse" in several.stderr
    report = json.loads(run("evaluate", treebank, treebank, test, "--samples", 9, "--json").stdout)
    assert report["parsers"][str(test)]["errors"] == {"1": "Words unmatch (She|He)"}


def test_a_parser_is_named_once(run: Run, treebank: Path, pipeline: Path, tmp_path: Path) -> None:
    """Of two parsers under one name one would be lost."""
    data = tmp_path / "data.spacy"
    run("convert", treebank, data)
    for arguments in ((treebank, treebank, treebank), (pipeline, pipeline, data)):
        result = run("evaluate", *arguments)
        assert result.exit_code == 1 and "[E485]" in result.stderr and not result.stdout
    for command in ("evaluate", "diff"):  # the second would read nothing
        assert "[E455] Standard input (-) needs to be GOLD or TEST" in run(command, "-", "-").stderr


def test_documents_are_for_files_to_compare(run: Run, treebank: Path, pipeline: Path, tmp_path: Path) -> None:
    data, other = tmp_path / "data.spacy", tmp_path / "other.mrg"
    run("convert", treebank, data)
    other.write_text(TREES)
    assert run("evaluate", treebank, treebank, other, "--documents", treebank, "--samples", 9).exit_code == 0
    for arguments in ((treebank, other), (pipeline, data), (pipeline, tmp_path / "second", data)):
        result = run("evaluate", *arguments, "--documents", treebank)
        assert result.exit_code == 1 and "--documents needs several bracket files" in result.stderr


def test_tables_name_the_parameters(run: Run, treebank: Path) -> None:
    assert "Scores (spmrl), " in run("evaluate", treebank, treebank, "--by", "label", "--params", "spmrl").stdout
    assert json.loads(run("evaluate", treebank, treebank, "--by", "label", "--json").stdout)["params"] == "collins"


def test_latex_of_odd_names(run: Run, tmp_path: Path) -> None:
    """In TeX's old fonts `>` is another character."""
    path = tmp_path / "long.mrg"
    path.write_text(f"(TOP (A^B|C {'(NN a) ' * 81}))\n(TOP ([ (NN a)))\n(TOP (* (NN a)))\n")
    result = run("evaluate", path, path, "--tables", "latex", "--by", "label", "--by", "length")
    assert r"A\textasciicircum{}B\textbar{}C & 1 " in result.stdout and r"\textgreater{}80 & 1 " in result.stdout
    assert "\n{}[ & 1 " in result.stdout and "\n{}* & 1 " in result.stdout  # which would belong to the row above


def test_compressed_docs(run: Run, treebank: Path, pipeline: Path, tmp_path: Path) -> None:
    run("convert", treebank, tmp_path / "data.spacy")
    path = tmp_path / "data.spacy.gz"
    path.write_bytes(gzip.compress((tmp_path / "data.spacy").read_bytes()))
    result = run("evaluate", pipeline, path)
    assert result.exit_code == 0 and "3 sentences" in result.stdout
    assert run("show", path).stdout == run("show", tmp_path / "data.spacy").stdout != ""


def test_pipes(run: Run, treebank: Path, pipe: Callable[[str], Path], tmp_path: Path) -> None:
    """A pipe of GOLD is read once, for all parsers."""
    (tmp_path / "other.mrg").write_text(TREES)
    assert "F 100.00" in run("evaluate", treebank, pipe(TREES), "--summary").stdout
    several = run("evaluate", pipe(TREES), treebank, tmp_path / "other.mrg", "--samples", 9)
    assert several.exit_code == 0 and several.stdout.count("100.00") > 4
    assert "0 of 3 sentences differ" in run("diff", pipe(TREES), pipe(TREES)).stdout
    assert "F 100.00" in run("evaluate", treebank, "-", "--summary", stdin=TREES).stdout
    assert "0 of 3 sentences differ" in run("diff", "-", treebank, stdin=TREES).stdout


def test_each_file_in_its_encoding(run: Run, tmp_path: Path) -> None:
    """A parser's output is in UTF-8, whatever the encoding of its treebank."""
    gold, test = tmp_path / "gold.mrg", tmp_path / "test.mrg"
    tree = "(TOP (NP (NN teoría)))\n"
    for encoding in ("latin-1", "utf-16"):
        gold.write_text(tree, encoding=encoding)
        test.write_text(tree, encoding="utf-8")
        result = run("evaluate", gold, test, "--encoding", encoding, "--summary")
        assert "F 100.00" in result.stdout and not result.stderr


@pytest.mark.parametrize("encoding, word", [("latin-1", "café"), ("utf-16-le", "dog"), ("iso2022_jp", "犬")])
def test_the_encoding_that_was_given(
    run: Run, pipe: Callable[[str | bytes], Path], tmp_path: Path, encoding: str, word: str
) -> None:
    """Neither a pipe, which can be read once only, nor a file that is valid ASCII, too, is taken for UTF-8."""
    gold, tree = tmp_path / "gold.mrg", f"(TOP (NP (NN {word})))\n".encode(encoding)
    gold.write_bytes(tree)
    for command, found in (("evaluate", "F 100.00"), ("diff", "0 of 1 sentences differ")):
        options = ["--encoding", encoding, *(["--summary"] if command == "evaluate" else [])]
        assert found in run(command, gold, pipe(tree), *options).stdout
        assert found in run(command, "-", gold, *options, stdin=tree).stdout


@pytest.mark.parametrize("encoding", ["utf-16-le", "utf-16-be", "utf-32-le"])
def test_ascii_beside_an_encoding_without_a_mark(run: Run, treebank: Path, tmp_path: Path, encoding: str) -> None:
    gold = tmp_path / "gold.mrg"
    gold.write_bytes(TREES.encode(encoding))
    assert "F 100.00" in run("evaluate", gold, treebank, "--summary", "--encoding", encoding).stdout


@pytest.mark.parametrize("encoding", ["utf-16", "utf-32"])
def test_an_encoding_with_a_mark(run: Run, treebank: Path, tmp_path: Path, encoding: str) -> None:
    """A file without the mark is in UTF-8, even where it is ASCII."""
    gold = tmp_path / "gold.mrg"
    gold.write_text(TREES, encoding=encoding)
    assert "F 100.00" in run("evaluate", gold, treebank, "--encoding", encoding, "--summary").stdout
