"""`search` and `complexity`: what they print of all kinds of files, and what they refuse."""

import gzip
import json
import re
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest
import spacy
from spacy.tokens import Doc, DocBin
from spacy.vocab import Vocab

from spacy_parsetag.texts.output import to_table
from spacy_parsetag.texts.search import Hits, TableSearcher, search_file
from spacy_parsetag.texts.shards import MANIFEST
from spacy_parsetag.tokens import docs_from_trees
from spacy_parsetag.treebanks.penn import read_string
from spacy_parsetag.trees.parse import Parse

# Both worked out by hand below.
ESSAY = """(ROOT (S (NP (PRP I)) (VP (VBP know) (SBAR (IN that) (S (NP (PRP she)) (VP (VBZ sings))))) (. .)))
(ROOT (S (NP (NP (DT the) (NN man)) (PP (IN in) (NP (NN town)))) (VP (VBZ sings) (CC and) (VP (VBZ reads))) (. .)))
"""
NOTES = """(ROOT (SQ (VBZ Is) (NP (PRP it)) (ADJP (JJ late)) (. ?)))
(ROOT (FRAG (NP (DT a) (JJ late) (NN start)) (. .)))
(ROOT (S (S (NP (PRP She)) (VP (VBZ came))) (, ,) (CC and) (S (NP (PRP he)) (VP (VBD went))) (. .)))
"""
HEADER = "file,line,id,sentence,label,start,end,text,left,right,"


def row(line: str, **more: Any) -> dict[str, Any]:
    parse = Parse.from_tree(read_string(line)[0])
    spans = [{"label": label, "start": start, "end": end} for start, end, label in parse.spans]
    sent = {"start": 0, "end": 0, "words": parse.words, "pos": parse.pos, "constituents": spans, "tree": line}
    return {"text": "", "sents": [sent], **more}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    lines = NOTES.splitlines()
    (tmp_path / "a.mrg").write_text(ESSAY, encoding="utf-8")
    with gzip.open(tmp_path / "b.mrg.gz", "wt", encoding="utf-8") as file:
        file.write(NOTES)
    rows = [row(line, id=f"n{i}") for i, line in enumerate(lines)]
    (tmp_path / "c.jsonl").write_text("\n".join(map(json.dumps, rows)) + "\n", encoding="utf-8")
    docs = docs_from_trees(spacy.blank("en").vocab, read_string(NOTES))
    DocBin(docs=list(docs)).to_disk(tmp_path / "d.spacy")
    if find_spec("pyarrow"):
        import pyarrow.parquet

        pyarrow.parquet.write_table(to_table(rows), tmp_path / "e.parquet")
    return tmp_path


def test_inputs_without_a_tree(run: Callable[..., Any], tmp_path: Path) -> None:
    """Docs without constituents, such as those that have them under another key, and files with other content."""
    docs = docs_from_trees(spacy.blank("en").vocab, read_string(NOTES), spans_key="mine")
    DocBin(docs=list(docs)).to_disk(tmp_path / "mine.spacy")
    (tmp_path / "empty.mrg").write_text("")
    (tmp_path / "folder").mkdir()
    (tmp_path / "folder" / "notes.txt.gz").write_bytes(gzip.compress(b"not trees"))
    said = {"mine.spacy": "[E106] No trees in", "empty.mrg": "[E106] No trees in", "folder": "[E031] No files"}
    for name, message in said.items():
        for command in (("search", "NP"), ("search", "NP", "--count"), ("complexity",)):
            result = run(*command, tmp_path / name)
            assert result.exit_code == 1 and message in result.stderr and name in result.stderr
    # Beside a file with trees they are named too, and what holds no tree is not saved.
    (tmp_path / "notes.mrg").write_text(NOTES, encoding="utf-8")
    for options in ((), ("--workers", 2), ("--save", tmp_path / "saved.columns")):
        result = run("search", "SQ", tmp_path / "mine.spacy", tmp_path / "notes.mrg", *options)
        assert result.exit_code == 0 and result.stderr.count(f"No trees in {tmp_path / 'mine.spacy'}.\n") == 1
    refused = run("search", "NP", tmp_path / "empty.mrg", "--save", tmp_path / "none.columns")
    assert refused.exit_code == 1 and "[E106]" in refused.stderr and not (tmp_path / "none.columns").exists()


@pytest.mark.parametrize("rows", [1, 16])
def test_places(run: Callable[..., Any], folder: Path, monkeypatch: pytest.MonkeyPatch, rows: int) -> None:
    """Rows and docs are counted as lines are, from 1, in whatever batches they are read."""
    monkeypatch.setattr("spacy_parsetag.texts.tree_files.ROWS", rows)
    files = [folder / name for name in ("b.mrg.gz", "c.jsonl", "d.spacy", "e.parquet") if (folder / name).exists()]
    found = [run("search", "_ROOT_", file, "--quiet").stdout.splitlines() for file in files]
    places = [
        [line.removeprefix(f"{file}:").partition(":")[0] for line in lines]
        for file, lines in zip(files, found, strict=True)
    ]
    assert places == [[str(n) for n in range(1, 1 + len(NOTES.splitlines()))]] * len(files)


@pytest.mark.parametrize("space", ["", " "])
def test_docs_with_identifiers(run: Callable[..., Any], tmp_path: Path, space: str) -> None:
    docs = list(
        docs_from_trees(
            spacy.blank("en").vocab, read_string(f"(TOP (NP (NN a){space and ' (NN b)'}))(TOP (NP (NN c)))")
        )
    )
    docs[0].user_data["id"] = "first"
    DocBin(docs=docs, store_user_data=True).to_disk(tmp_path / "x.spacy")
    rows = run("search", "NP", tmp_path / "x.spacy", "--csv").stdout.splitlines()
    assert [row.split(",")[2] for row in rows] == ["id", "first", ""]
    docs[1].user_data["meta"] = {"author": "Kim"}
    DocBin(docs=docs, store_user_data=True).to_disk(tmp_path / "x.spacy")
    for key, is_known in (("meta.author", True), ("meta.autor", False)):
        for options in (("--by", "id"), ("--save", tmp_path / f"{key}.columns")):
            stderr = run("search", "NP", tmp_path / "x.spacy", "--id", key, *options).stderr
            assert (f"No text has {key} (--id)" in stderr) != is_known


def test_docs_with_another_key(run: Callable[..., Any], tmp_path: Path) -> None:
    docs = docs_from_trees(spacy.blank("en").vocab, read_string(NOTES), spans_key="mine")
    path = tmp_path / "mine.spacy"
    DocBin(docs=list(docs)).to_disk(path)
    (tmp_path / "notes.mrg").write_text(NOTES, encoding="utf-8")
    key = ("--spans-key", "mine")
    assert run("search", "NP < PRP", path, *key).stdout.splitlines()[0] == f"{path}:1: Is [NP it] late ?"
    counts = run("search", "SQ", path, *key, "--save", tmp_path / "saved.columns", "--count").stdout
    assert counts.endswith("1\tmatches\n")
    figures = [
        run("complexity", each, *key, "--csv").stdout.partition(",W")[2].partition("\n")[2].partition(",")[2]
        for each in (path, tmp_path / "notes.mrg")
    ]
    assert figures[0] == figures[1] != ""
    assert "late" in run("show", path, *key).stdout


def test_docs_without_the_key(run: Callable[..., Any], tmp_path: Path) -> None:
    """Beside docs that have it, or alone: they are counted, and what they have instead is named."""
    vocab, path = spacy.blank("en").vocab, tmp_path / "mixed.spacy"
    good, others = (docs_from_trees(vocab, read_string(NOTES), spans_key=key) for key in ("constituents", "mine"))
    DocBin(docs=[*good, *others, Doc(vocab), Doc(vocab, words=["a"])]).to_disk(path)
    for command in (("search", "NP"), ("search", "NP", "--save", tmp_path / "saved.columns"), ("complexity",)):
        assert "no 'x' (--spans-key), but 'constituents', 'mine': 7." in run(*command, path, "--spans-key", "x").stderr
        result = run(*command, path)
        said = "Texts left out because doc.spans has no 'constituents' (--spans-key), but 'mine': 4."
        assert result.exit_code == 0 and said in result.stderr


def test_docs_of_a_later_version(run: Callable[..., Any], tmp_path: Path) -> None:
    docs = list(docs_from_trees(spacy.blank("en").vocab, read_string(NOTES)))
    docs[1].spans["constituents"].attrs["format"] = 2
    DocBin(docs=docs).to_disk(tmp_path / "later.spacy")
    for command in (("search", "NP"), ("complexity",)):
        result = run(*command, tmp_path / "later.spacy")
        assert result.exit_code == 1 and "later.spacy:2: [E306]" in result.stderr


def test_docs_that_hold_no_trees_are_named(
    run: Callable[..., Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """By their number in the file, whichever batch they are in."""
    monkeypatch.setattr("spacy_parsetag.texts.tree_files.ROWS", 2)
    docs = list(docs_from_trees(spacy.blank("en").vocab, read_string(NOTES)))
    path = tmp_path / "crossing.spacy"
    DocBin(docs=docs).to_disk(path)
    assert f"{path}:3: She came , and [NP he] went ." in run("search", "NP", path).stdout.splitlines()
    docs[2].spans["constituents"] = [docs[2][0:3], docs[2][2:4]]
    DocBin(docs=docs).to_disk(path)
    for words in (("search", "NP"), ("show",), ("analyze", "labels")):
        result = run(*words, path)
        assert result.exit_code == 1 and f"{path}:3: [E301]" in result.stderr


def test_a_file_that_is_named_twice(run: Callable[..., Any], tmp_path: Path) -> None:
    """A folder and a file in it: its trees count once."""
    (tmp_path / "a.mrg").write_text("(TOP (S (NP (NN a)) (VP (VBZ b))))\n")
    counts = run("search", "NP", tmp_path, tmp_path / "a.mrg", "--count").stdout
    assert counts.splitlines() == ["1\ttrees", "1\ttrees with a match", "1\tmatches"]
    assert "1 tree, 1 tree with a match, 1 match\n" in run("search", "NP", tmp_path / "a.mrg").stderr
    rows = run("complexity", tmp_path / "a.mrg", tmp_path, "--csv").stdout.splitlines()
    assert rows[1].startswith(f"{tmp_path / 'a.mrg'},2,1,")


def test_damaged_json(run: Callable[..., Any], tmp_path: Path) -> None:
    (tmp_path / "cut.jsonl").write_text('{"sents": []}\n\n{"sents": [')
    for command in (("search", "NP"), ("complexity",)):
        result = run(*command, tmp_path / "cut.jsonl")
        assert result.exit_code == 1 and "cut.jsonl:3: [E556]" in result.stderr


def test_texts_that_are_not_parsed(run: Callable[..., Any], tmp_path: Path) -> None:
    """The option that the message names is the one that writes such files."""
    (tmp_path / "texts.jsonl").write_text('{"text": "She reads."}\n')
    result = run("search", "NP", tmp_path / "texts.jsonl")
    assert result.exit_code == 1 and "texts.jsonl:1" in result.stderr
    assert "parse --output-format jsonl" in " ".join(result.stderr.split())


def test_all_kinds_of_files(run: Callable[..., Any], folder: Path) -> None:
    result = run("search", "NP < PRP=p", folder)
    lines = result.stdout.splitlines()
    n_kinds = 4 if find_spec("pyarrow") else 3
    assert result.exit_code == 0 and len(lines) == 2 + 3 * n_kinds
    assert lines[0] == f"{folder / 'a.mrg'}:1: [NP I] know that she sings ."
    assert f"{folder / 'c.jsonl'}:3: (n2) She came , and [NP he] went ." in lines
    assert f"{folder / 'd.spacy'}:3: She came , and [NP he] went ." in lines
    assert f"{len(lines)} matches" in result.stderr
    both = run("search", "NP < PRP=p", folder, "--workers", 2)
    assert both.stdout == result.stdout


def test_reports(run: Callable[..., Any], folder: Path) -> None:
    path = folder / "a.mrg"
    assert run("search", "NP < PRP", path, "--count").stdout == "2\ttrees\n1\ttrees with a match\n2\tmatches\n"
    by_head = run("search", "VP < /^VB/=v", path, "--by", "v.head").stdout.splitlines()
    assert by_head == ["count  v.head", "    2  sings", "    1  know", "    1  reads"]
    by_lower = run("search", "NP=np !<< NP", path, "--by", "np.lower", "--by", "np.head", "--csv").stdout.splitlines()
    assert {line.split(",")[1] for line in by_lower[1:]} == {line.split(",")[2].lower() for line in by_lower[1:]}
    assert any(line.split(",")[1] != line.split(",")[2] for line in by_lower[1:])
    assert run("search", "XP=x", path, "--by", "x").stdout == "count  x\n"
    bare = folder / "bare.mrg"  # a root without a label counts with the matches that have no x
    bare.write_text("( (S (NP (NN a)) (S (NN b))))\n", encoding="utf-8")
    assert run("search", "S ?> ROOT=x", bare, "--by", "x", "--csv").stdout == "count,x\n2,\n"
    table = run("search", "VP=x < /^VB/=v", path, "--by", "v", "--by", "match", "--csv").stdout
    assert table.splitlines() == ["count,v,match", "3,VBZ,VP", "1,VBP,VP"]
    rows = run("search", "NP < DT=d", path, "--csv").stdout.splitlines()
    assert rows == [HEADER + "d,d.text", f"{path},2,,1,NP,0,2,the man,,in town sings and reads .,DT,the"]
    rows = run("search", "NN ?>: NP=x", path, "--csv").stdout.splitlines()[1:]  # in its context, with and without an x
    assert rows == [
        f"{path},2,,1,NN,1,2,man,the,in town sings and reads .,,",
        f"{path},2,,1,NN,3,4,town,the man in,sings and reads .,NP,town",
    ]
    rows = run("search", "ROOT", path, "--csv").stdout.splitlines()[1:]
    assert rows[0] == f"{path},1,,1,ROOT,0,6,I know that she sings .,,"
    assert run("search", "town", path).stdout == f"{path}:2: the man in [town] sings and reads .\n"  # a word, once
    assert run("search", "CC", path, "--mrg").stdout == ESSAY.splitlines(keepends=True)[1]
    assert len(run("search", "NP", path, "--limit", 2).stdout.splitlines()) == 2


@pytest.mark.parametrize("rows", [1, 1 << 14])
def test_counts_by_text(run: Callable[..., Any], folder: Path, monkeypatch: pytest.MonkeyPatch, rows: int) -> None:
    """Texts without a match have a row, unless a node is counted too. A text may have trees in several files."""
    monkeypatch.setattr("spacy_parsetag.texts.tree_files.ROWS", rows)
    a, c, more = (folder / name for name in ("a.mrg", "c.jsonl", "more.jsonl"))
    more.write_text(json.dumps(row(NOTES.splitlines()[2], id="n2")) + "\n", encoding="utf-8")
    (folder / "empty.mrg").write_text("", encoding="utf-8")
    files = [a, c, more, folder / "empty.mrg"]
    run("search", "NP", *files, "--save", folder / "saved.columns", "--count")
    tables = {
        ("NP < PRP=p", "file"): ["3,{c}", "2,{a}", "2,{more}"],
        ("FRAG=x < NP", "id"): ["1,n1", "0,", "0,n0", "0,n2"],
        ("NP < PRP", "file", "id"): ["2,{a},", "2,{c},n2", "2,{more},n2", "1,{c},n0", "0,{c},n1"],
        ("XX=x", "id"): ["0,", "0,n0", "0,n1", "0,n2"],
        ("XX=x", "id", "x"): [],
        ("S < (NP=np < PRP) < VP", "id", "np.head"): ["2,n2,She", "2,n2,he", "1,,I", "1,,she"],
    }
    for (pattern, *by), expected in tables.items():
        lines = [",".join(("count", *by)), *(line.format(a=a, c=c, more=more) for line in expected)]
        options = [option for key in by for option in ("--by", key)]
        workers = [[*files, "--workers", 2]] if by == ["id", "np.head"] else []  # which take seconds to start
        for inputs in (files, *workers, [folder / "saved.columns"]):
            assert run("search", pattern, *inputs, *options, "--csv").stdout.splitlines() == lines
        top = run("search", pattern, *files, *options, "--csv", "--limit", 1).stdout.splitlines()
        assert top == lines[:2]


def test_no_more_is_made_than_is_shown(run: Callable[..., Any], folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Over batches too; everything is counted all the same."""
    made: list[list[Hits]] = []
    monkeypatch.setattr("spacy_parsetag.texts.tree_files.ROWS", 1)
    monkeypatch.setattr(
        "spacy_parsetag.texts.search.search_file", lambda *given: made.append([*search_file(*given)]) or made[-1]
    )
    for options in ([], ["--csv"], ["--mrg"], ["--html", folder / "page.html"]):
        assert run("search", "NP", folder / "c.jsonl", *options, "--limit", 2).exit_code == 0
    of_batches = [[(len(hits.items), hits.totals["matches"]) for hits in batches] for batches in made]
    assert of_batches == [[(1, 1), (1, 1), (0, 2), (0, 0)]] * 4


def test_batches_are_searched_and_written_one_by_one(
    run: Callable[..., Any], folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path, pattern = folder / "c.jsonl", "NP=x | FRAG | XX < PRP|JJ|YY"
    options: list[list[str]] = [[], ["--csv"], ["--by", "x"], ["--count"]]
    whole = [run("search", pattern, path, *more) for more in options]
    monkeypatch.setattr("spacy_parsetag.texts.tree_files.ROWS", 1)
    for result, more in zip(whole, options, strict=True):
        by_batches = run("search", pattern, path, *more)
        assert (by_batches.stdout, by_batches.stderr) == (result.stdout, result.stderr)
    with path.open("a", encoding="utf-8") as file:
        file.write("{}\n")
    result = run("search", pattern, path)
    assert result.exit_code == 1 and result.stdout == whole[0].stdout != ""


def test_labels_that_no_node_has(run: Callable[..., Any], folder: Path) -> None:
    """A word of warning, for they may be misspelt."""
    (folder / "empty.mrg").write_text("", encoding="utf-8")
    files = [folder / name for name in ("a.mrg", "b.mrg.gz", "empty.mrg")]
    result = run("search", "@NPP|NX < /^Q/=q !< FRAG < NP", *files)
    assert result.exit_code == 0 and "No node of these trees is called /^Q/ or @NPP or @NX\n" in result.stderr
    assert "is called VPP\n" in run("search", "!NP|VPP|ROOT < VBZ|NN", *files).stderr
    assert "No node" not in run("search", "FRAG < PP", *files).stderr
    assert "No node" not in run("search", "XX", folder / "empty.mrg").stderr


@pytest.mark.parametrize("options", [["NP <# NN"], ["NP=x", "--by", "x.head"], ["NP=x", "--by", "x.lower"]])
def test_whose_head_rules_count(run: Callable[..., Any], folder: Path, options: list[str]) -> None:
    """Files do not say what language they are in."""
    said = "Heads by the rules for the Penn Treebank's labels; --heads takes others"
    assert said in run("search", *options, folder / "a.mrg").stderr
    for more in (["--heads", "penn"], ["--quiet"]):
        assert said not in run("search", *options, folder / "a.mrg", *more).stderr
    assert said not in run("search", "NP=x", folder / "a.mrg", "--by", "x").stderr


def test_some_files_of_a_folder(run: Callable[..., Any], folder: Path) -> None:
    assert len(run("search", "NP < PRP", folder, "--glob", "a*").stdout.splitlines()) == 2
    assert len(run("complexity", folder, "--glob", "[ab].mrg*").stdout.splitlines()) == 3
    assert "No files named x*" in run("search", "NP", folder, "--glob", "x*").stderr


@pytest.mark.parametrize("command", [["search", "NP"], ["complexity"]])
def test_runs_that_have_not_ended(run: Callable[..., Any], tmp_path: Path, command: list[str]) -> None:
    """Their folders may lack shards, which nobody would notice. Others' manifests say nothing."""
    parts: dict[str, Any] = {"format": 1, "sources": [], "model": {}, "options": {}, "versions": {}}
    manifests = {"ended": {**parts, "shards": []}, "killed": parts, "other": {}, "none": None}
    manifests["newer"] = {**parts, "format": 2}
    for name, manifest in manifests.items():
        (tmp_path / name).mkdir()
        (tmp_path / name / "000000.mrg").write_text("(S (NP (PRP She)) (VP (VBZ sings)))\n")
        if manifest is not None:
            (tmp_path / name / MANIFEST).write_text(json.dumps(manifest))
    result = run(*command, tmp_path)
    assert result.exit_code == 0 and result.stderr.count("W551") == 1
    assert f"[W551] The run of 'parsetag parse' that writes to {tmp_path / 'killed'} has not ended" in result.stderr
    assert "W551" not in run(*command, tmp_path / "killed" / "000000.mrg", tmp_path / "ended").stderr


def test_standard_input(run: Callable[..., Any], folder: Path, tmp_path: Path) -> None:
    """A file that is named <stdin>, but only this process can read it."""
    named = folder / "a.mrg"
    for command in (
        ("search", "NP"),
        ("search", "NP=x", "--csv"),
        ("complexity", "--text", "row", "--csv"),
        ("complexity", "--csv"),
    ):
        expected = run(*command, named).stdout
        for given in (["-"], ["-", "-"]):
            assert run(*command, *given, stdin=ESSAY).stdout.replace("<stdin>", str(named)) == expected != ""
    counts = run("search", "NP", "-", "--save", tmp_path / "saved.columns", "--count", stdin=ESSAY).stdout
    assert counts.startswith("2\ttrees")
    assert "3\ttrees\n" in run("search", "NP", "-", named, "--count", stdin=NOTES.splitlines()[0]).stdout
    assert run("search", "NP", "-", "--workers", 2, stdin=ESSAY).exit_code == 0  # one file, so one process
    for arguments, text, message in [
        (["-", named, "--workers", 2], ESSAY, "[E455] --workers needs files"),
        (["-"], "", "[E106] No trees in -."),
        (["-"], ESSAY + "(TOP (NP the (NN dog)))", "<stdin>:3: [E117]"),
        (["-"], '{"sents": []}', "<stdin>:1: [E120] Text outside of brackets"),
    ]:
        result = run("search", "NP", *arguments, stdin=text)
        assert result.exit_code == 1 and message in result.stderr


def test_words_that_would_move_the_cursor(run: Callable[..., Any], tmp_path: Path) -> None:
    text = "(TOP (NP (DT the\x1b[2J) (JJ a\\u000ab\\u0009c) (NN \u202eb)))\n"
    (tmp_path / "a.mrg").write_text(text, encoding="utf-8")
    assert run("search", "NN", tmp_path / "a.mrg", "--quiet").stdout == (
        f"{tmp_path / 'a.mrg'}:1: the\ufffd[2J a\ufffdb\ufffdc [NN b]\n"
    )
    assert "the\ufffd[2J" in run("search", "DT=d", tmp_path / "a.mrg", "--by", "d.head").stdout
    named = tmp_path / "a\x1b[2J.mrg"
    named.write_text(text, encoding="utf-8")
    assert "a\ufffd[2J.mrg" in run("complexity", named).stdout


def test_page(run: Callable[..., Any], folder: Path, tmp_path: Path) -> None:
    page = tmp_path / "page.html"
    assert run("search", "NP < PRP", folder / "a.mrg", "--html", page).exit_code == 0
    assert page.read_text(encoding="utf-8").count("#e6007a") == 2
    assert run("search", "ROOT < S", folder / "a.mrg", "--html", page).exit_code == 0  # the root, or nothing is marked
    assert re.search(r'fill="#e6007a"[^>]*>(<title>[^<]*</title>)?ROOT<', page.read_text(encoding="utf-8"))


def test_saved_columns(run: Callable[..., Any], folder: Path, tmp_path_factory: pytest.TempPathFactory) -> None:
    other = tmp_path_factory.mktemp("other")
    saved, notes = other / "saved.columns", other / "notes.columns"
    first = run("search", "NP < PRP", folder, "--save", saved)
    assert run("search", "NP < PRP", saved).stdout == first.stdout != ""
    assert run("search", "NP < PRP", folder, "--save", saved).stdout == first.stdout  # in the place of the first
    notes.write_text(NOTES, encoding="utf-8")
    needs = "[E455] --save needs a name that ends in .columns"
    for target, error in ((notes, "[E036]"), (folder / "x.columns", "[E032]"), (other / "saved", needs)):
        assert error in run("search", "NP", folder, "--save", target).stderr
    assert notes.read_text(encoding="utf-8") == NOTES and len([*other.iterdir()]) == 2


def test_saved_columns_leave_out_what_is_malformed(run: Callable[..., Any], folder: Path, tmp_path: Path) -> None:
    """`--skip-bad` holds for what is saved, and nothing is saved where it is too much."""
    bad = tmp_path / "some.mrg"
    bad.write_text(ESSAY + "(TOP (NP the (NN dog)))\n" + NOTES, encoding="utf-8")
    plain = run("search", "NP < PRP", bad, "--skip-bad", "1")
    saved = run("search", "NP < PRP", bad, "--skip-bad", "1", "--save", tmp_path / "saved.columns")
    assert saved.exit_code == 0 and saved.stdout == plain.stdout != ""
    assert saved.stderr.count("some.mrg:3: [E117]") == 1 and saved.stderr == plain.stderr
    refused = run("search", "NP < PRP", bad, "--skip-bad", "10%", "--save", tmp_path / "none.columns")
    assert refused.exit_code == 1 and "[E456] 1 of 6" in refused.stderr and not (tmp_path / "none.columns").exists()


@pytest.mark.parametrize("name", ["bad.spacy", "bad.jsonl", "bad.parquet"])
def test_what_parse_writes_is_skipped_too(run: Callable[..., Any], tmp_path: Path, name: str) -> None:
    """Of texts and docs: constituents that cross, lines that are no JSON or have no parse."""
    path, rows, missing = tmp_path / name, [row(line) for line in NOTES.splitlines()], 0
    rows.insert(1, json.loads(json.dumps(rows[0])))
    spans = rows[1]["sents"][0]["constituents"]
    spans[:] = [{"label": "X", "start": 0, "end": 2}, {"label": "Y", "start": 1, "end": 3}]
    if name.endswith(".jsonl"):
        path.write_text("\n".join([*map(json.dumps, rows), '{"text": "a"}', "not JSON"]), encoding="utf-8")
        missing = 2
    elif name.endswith(".spacy"):
        docs = list(docs_from_trees(spacy.blank("en").vocab, read_string(NOTES + NOTES.splitlines()[0])))
        docs.insert(1, docs.pop())
        docs[1].spans["constituents"] = [docs[1][0:2], docs[1][1:3]]
        for span, label in zip(docs[1].spans["constituents"], "XY", strict=True):
            span.label_ = label
        DocBin(docs=docs).to_disk(path)
    else:
        pytest.importorskip("pyarrow.parquet").write_table(to_table(rows), path)
    refused = run("search", "NP", path)
    assert refused.exit_code == 1 and f"{name}:" in refused.stderr
    found = run("search", "NP", path, "--count", "--skip-bad", "all")
    assert found.exit_code == 0 and found.stdout.startswith("3\ttrees\n")
    assert f"{name}:2" in found.stderr and f"Skipped {1 + missing} malformed item" in found.stderr
    assert "more" in run("search", "NP", path, "--save", tmp_path / "saved.columns", "--skip-bad", "10%").stderr


def test_a_file_that_is_given_twice_counts_once(run: Callable[..., Any], folder: Path) -> None:
    path = folder / "a.mrg"
    once = run("search", "NP", path, "--count").stdout
    assert run("search", "NP", path, path, folder / ".." / folder.name / "a.mrg", "--count").stdout == once
    assert run("search", "NP", folder, path, "--count").stdout == run("search", "NP", folder, "--count").stdout
    assert run("complexity", path, folder / "." / "a.mrg").stdout == run("complexity", path).stdout


def test_a_table_without_a_row_has_its_header(run: Callable[..., Any], folder: Path) -> None:
    header = HEADER + "x,x.text"
    assert run("search", "XP < NP=x", folder, "--csv").stdout == header + "\n"
    assert run("search", "FRAG < NP=x", folder, "--csv").stdout.splitlines()[0] == header


def test_what_is_refused(run: Callable[..., Any], folder: Path) -> None:
    bad = folder / "bad.mrg"
    bad.write_text("(TOP (NP the (NN dog)))\n(TOP (NN a))\n", encoding="utf-8")
    for arguments, message in [
        (["NP <", folder], "expected a node"),
        (["NP", folder, "--count", "--mrg"], "--count, --mrg"),
        (["NP", folder, "--count", "--limit", 1], "[E455] --limit needs matches to show"),
        (["NP", "-", "--glob", "*"], "[E455] --glob needs a folder"),
        (["NP", folder, "--save", folder / "saved.columns", "--workers", 2], "[E455] --workers needs no --save"),
        (["NP", folder, "--count", "--id", "meta.genre"], "[E455] --id needs --by id, or matches to show"),
        (["NP", folder, "--by", "file", "--id", "meta.genre"], "[E455] --id needs --by id, or matches to show"),
        (["NP", folder, "--html", folder / "page.pdf"], "[E455] --html needs a name that ends in .html or .htm"),
        (["NP", folder, "--by", "x"], "names no node 'x'"),
        (["NP", folder / "none"], "No such file"),
        (["NP", folder, "--workers", 0], "--workers"),
        (["NP", folder, "--workers", -2], "--workers"),
        (["NN", bad], "bad.mrg:1:"),
        (["NP=label < PRP", folder, "--csv"], "[E573] No node can be named 'label'"),
        (["NP=left < PRP", folder, "--csv"], "[E573] No node can be named 'left'"),
        (["S < NP=match", folder, "--by", "match"], "[E573] No node can be named 'match'"),
        (["S < NP=id", folder, "--by", "id"], "[E573] No node can be named 'id'"),
        (["S < NP=file", folder, "--by", "file.head"], "[E573] No node can be named 'file'"),
        (["NP", folder, "--by", "file.head"], "[E572] The pattern names no node 'file.head'"),
    ]:
        result = run("search", *arguments)
        assert result.exit_code == 1 and message in result.stderr
    bad.write_text(2 * bad.read_text(encoding="utf-8"), encoding="utf-8")
    stopped = run("search", "NP", folder / "a.mrg", bad, "--skip-bad", "1")  # after some were printed
    assert stopped.stdout != "" and "[E469]" in stopped.stderr and "nothing is written" not in stopped.stderr
    skipped = run("search", "NN", bad, "--skip-bad", "all")
    assert skipped.exit_code == 0 and "bad.mrg:2: [NN a]" in skipped.stdout and "Skipped 2" in skipped.stderr


@pytest.mark.skipif(find_spec("pyarrow") is None, reason="pyarrow is not installed")
def test_tables() -> None:
    table = to_table([row(line, id=f"n{i}") for i, line in enumerate(NOTES.splitlines())])
    found = TableSearcher("S < (NP < PRP=p) $ CC")(table).to_pylist()
    names = json.dumps({"p": "PRP", "p.text": "She"})
    for name in ("line", "row", "names", "sentence"):
        with pytest.raises(ValueError, match=rf"\[E573\] No node can be named '{name}'"):
            TableSearcher(f"S < NP={name}")
    heads = {
        rules: TableSearcher("SQ <# VBZ", heads=rules)(table).column("text").to_pylist() for rules in ("penn", "ctb")
    }
    assert heads == {"penn": ["Is it late ?"], "ctb": []}
    assert found[0].pop("sentence") == 1
    context = {"left": "", "right": ", and he went ."}
    match = {"id": "n2", "row": 3, "label": "S", "start": 0, "end": 2, "text": "She came"}
    assert found[0] == {**match, **context, "names": names}


def test_complexity(run: Callable[..., Any], folder: Path) -> None:
    """Two texts, by hand.

    ESSAY: "I know that she sings" has 5 words, S > ROOT: a clause (know), a T-unit, and that is complex, since the SBAR
    is a dependent clause with a finite verb. "the man in town sings and reads": 7 words, one clause, one T-unit, a VP
    with CC (coordinate phrase), and an NP with a PP (complex nominal). Verb phrases right below S: 3.
    The SBAR follows IN that as its head and stands under VP: a complex nominal.

    NOTES: "Is it late": 3 words, a clause, a T-unit, and VBZ in an SQ without VP is a verb phrase; "a late start": 3
    words, a fragment, which counts as clause and T-unit, with a complex nominal (JJ). "She came, and he went": 5 words;
    S with S below is headed by an S: no clause, but the two are; T-units: the upper S, and the second of the sisters.
    """
    for name, text in (("essay", ESSAY), ("notes", NOTES)):
        (folder / f"{name}.mrg").write_text(text, encoding="utf-8")
    result = run("complexity", folder / "essay.mrg", folder / "notes.mrg", "--json")
    essay, notes = json.loads(result.stdout)
    assert [essay["file"], notes["file"]] == [str(folder / "essay.mrg"), str(folder / "notes.mrg")]
    structures = ["W", "S", "VP", "C", "T", "DC", "CT", "CP", "CN"]
    assert [essay[name] for name in structures] == [12, 2, 3, 3, 2, 1, 1, 1, 2]
    assert [notes[name] for name in structures] == [11, 3, 3, 4, 4, 0, 0, 0, 1]
    ratios = ["MLS", "MLT", "MLC", "C/S", "VP/T", "C/T", "DC/C", "DC/T", "T/S", "CT/T", "CP/T", "CP/C", "CN/T", "CN/C"]
    assert [essay[name] for name in ratios] == pytest.approx(
        [6, 6, 4, 1.5, 1.5, 1.5, 1 / 3, 0.5, 1, 0.5, 0.5, 1 / 3, 1, 2 / 3]
    )
    assert [notes[name] for name in ratios] == pytest.approx(
        [11 / 3, 11 / 4, 11 / 4, 4 / 3, 3 / 4, 1, 0, 0, 4 / 3, 0, 0, 0, 1 / 4, 1 / 4]
    )


def test_hyphens_are_no_words(run: Callable[..., Any]) -> None:
    text = "(TOP (NP (PRP$ its) (ADJP (RB well) (HYPH -) (VBN known)) (NN man) (NFP *) (. .)))"
    assert run("complexity", "-", "--csv", stdin=text).stdout.splitlines()[1].startswith("<stdin>,4,1,")


def test_complexity_of_other_labels_and_tags(run: Callable[..., Any]) -> None:
    """Its patterns pass over S-TPC, and count as words what has a tag in capitals. Marks in words do not matter."""

    def warned_of(text: str) -> str | None:
        found = re.search(r"\[W450\].* others: (.*?)\. Where", run("complexity", "-", stdin=text).stderr)
        return found and found[1]

    text = "( (S (S-TPC-1 (NP (PRP he)) (VP (VBZ sings))) (NP (PRP he)) (VP (VBZ says) (S (-NONE- *T*-1)))))"
    assert warned_of(text) == "-NONE-, S-TPC-1"
    text = "(TOP (PRT|ADVP (-LRB- -LRB-) (`` ``) ($ $) (PRP$ a-b=c) (S (NP=2 (NNPS a)))))"
    assert warned_of(text) == "NP=2"
    assert warned_of(text.replace("=2", "")) is None
    assert warned_of("(TOP (S (NP (AT0 The) (NN1 dog)) (VP (VVD barked)) (PUN .)))") == "AT0, NN1, PUN"


def test_complexity_names_files_without_trees(run: Callable[..., Any], folder: Path) -> None:
    (folder / "b2.mrg").write_text("(TOP)\n", encoding="utf-8")
    result = run("complexity", folder / "a.mrg", folder / "b2.mrg", "--csv")
    assert result.exit_code == 0 and len(result.stdout.splitlines()) == 2
    assert f"No trees in {folder / 'b2.mrg'}" in result.stderr
    assert run("complexity", folder / "a.mrg").stderr == ""


def test_complexity_of_rows(run: Callable[..., Any], folder: Path) -> None:
    lines = run("complexity", folder / "c.jsonl", "--text", "row", "--csv").stdout.splitlines()
    assert lines[0].startswith("file,line,id,W,S,VP,C,T") and len(lines) == 4
    assert lines[1].startswith(f"{folder / 'c.jsonl'},1,n0,3,1,1,1,1")
    (folder / "many.mrg").write_text(NOTES * 4, encoding="utf-8")
    lines = run("complexity", folder / "many.mrg", "--text", "row", "--csv").stdout.splitlines()
    assert [line.split(",")[1:3] for line in lines[1:]] == [[str(line), ""] for line in range(1, 13)]
    text = run("complexity", folder / "c.jsonl").stdout
    assert text.splitlines()[1].split()[:3] == [str(folder / "c.jsonl"), "11", "3"]
    assert run("complexity", folder / "c.jsonl", "--csv", "--json").exit_code == 1


def test_complexity_of_identifiers(run: Callable[..., Any], folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A text may have several rows, in several batches and files; the figures are those of one file with its trees."""
    monkeypatch.setattr("spacy_parsetag.texts.tree_files.ROWS", 2)
    lines = [*NOTES.splitlines(), *ESSAY.splitlines()]
    for name, ids in (("p", "abaca"), ("q", "ddaba")):
        rows = [row(line, id=identifier) for line, identifier in zip(lines, ids, strict=True)]
        (folder / f"{name}.jsonl").write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    inputs = [folder / "p.jsonl", folder / "q.jsonl"]
    table = run("complexity", *inputs, "--text", "id", "--csv").stdout
    assert [line[0] for line in table.splitlines()] == [*"iabcd"] and table.startswith("id,W,S,VP,C,T")
    (folder / "of_a.mrg").write_text("\n".join(lines[number] for number in (0, 2, 4, 2, 4)), encoding="utf-8")
    (of_file,) = json.loads(run("complexity", folder / "of_a.mrg", "--json").stdout)
    of_id, *_ = json.loads(run("complexity", *inputs, "--text", "id", "--json").stdout)
    assert of_file.pop("file") and of_id.pop("id") == "a" and of_id == of_file
    run("search", "NP", *inputs, "--save", folder / "saved.columns", "--count")
    assert run("complexity", folder / "saved.columns", "--text", "id", "--csv").stdout == table
    result = run("complexity", *inputs, folder / "a.mrg", "--text", "id")
    assert result.exit_code == 1 and f"[E471] {folder / 'a.mrg'}:1: this tree has no identifier" in result.stderr


def test_complexity_of_rows_with_identifiers_of_sentences(run: Callable[..., Any], tmp_path: Path) -> None:
    """A row is one text all the same, called as its first sentence."""
    sents = [each["sents"][0] for each in map(row, NOTES.splitlines())]
    rows = [{"sents": sents[:2], "id": ["a", "b"]}, {"sents": sents[2:], "id": "c"}]
    (tmp_path / "r.jsonl").write_text("\n".join(map(json.dumps, rows)))
    table = run("complexity", tmp_path / "r.jsonl", "--text", "row", "--csv").stdout
    found = [line.split(",")[1:5] for line in table.splitlines()]
    assert found == [["line", "id", "W", "S"], ["1", "a", "6", "2"], ["2", "c", "5", "1"]]


def test_complexity_counts_rows_without_words(run: Callable[..., Any], folder: Path) -> None:
    """They have no line of their own. Where a text is a file they say nothing, nor in a search but by identifiers."""
    path, rows = folder / "c.jsonl", [{"sents": [], "text": text} for text in ("", " \n")]
    path.write_text("\n".join([*path.read_text().splitlines(), *map(json.dumps, rows)]))
    docs = [*docs_from_trees(spacy.blank("en").vocab, read_string(NOTES)), Doc(Vocab()), Doc(Vocab())]
    docs[0].spans["constituents"].attrs["partial"] = True
    DocBin(docs=docs).to_disk(folder / "d.spacy")
    for each, workers in ((path, []), (folder / "d.spacy", [["--workers", 2]])):  # which take seconds to start
        assert (
            "Texts left out because they have no words, as blank lines, or could not be parsed: 2.\n"
            in run("complexity", each, "--text", "row").stderr
        )
        for options in ([], *workers, ["--save", folder / f"by_id_{each.stem}.columns"]):
            stated = run("search", "NP", each, folder / "a.mrg", "--by", "id", "--by", "file", *options).stderr
            assert stated.count(" no words, as blank lines, or could not be parsed: 2.\n") == 1
        searches = (), ("--by", "file"), ("--csv",), ("--save", folder / f"{each.stem}.columns")
        for command in (("complexity",), *(("search", "NP", *options) for options in searches)):
            assert "no words" not in run(*command, each).stderr


def test_texts_of_one_name(run: Callable[..., Any], folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Columns keep the names of the files that were saved, which may be those of other texts."""
    texts = {"A": ESSAY, "B": NOTES}
    for name, text in texts.items():
        (folder / name).mkdir()
        monkeypatch.chdir(folder / name)
        Path("dev.mrg").write_text(text, encoding="utf-8")
        run("search", "NP", "dev.mrg", "--save", folder / f"s{name}.columns", "--count")
    inputs = [folder / "sA.columns", folder / "sB.columns", "dev.mrg"]  # the last one that of B
    rows = [line.split(",")[:3] for line in run("complexity", *inputs, "--csv").stdout.splitlines()]
    named = [f"{path}: dev.mrg" for path in inputs]
    assert rows[1:] == [[name, *row] for name, row in zip(named, [["12", "2"], ["11", "3"], ["11", "3"]], strict=True)]
    for options in ([], ["--workers", 2], ["--save", folder / "joined.columns"]):
        lines = run("search", "ROOT", *inputs, "--by", "file", "--csv", *options).stdout.splitlines()
        assert sorted(lines[1:], key=lambda line: line[2:]) == [
            f"{n},{name}" for n, name in zip("233", named, strict=True)
        ]
    assert run("search", "ROOT", *inputs, "--by", "file", "--csv", "--limit", 1).stdout.splitlines() == lines[:2]
    lines = run("complexity", folder / "joined.columns", "--csv").stdout.splitlines()
    assert [line.split(",")[:3] for line in lines] == rows
    lines = run("complexity", *inputs, "--text", "row", "--csv").stdout.splitlines()
    places = [",".join(line.split(",")[:3]) for line in lines]
    assert len(places) == len({*places}) == 9 and places[1] == f"{inputs[0]}: dev.mrg,1,"
    assert run("complexity", inputs[0], "--csv").stdout.splitlines()[1].startswith("dev.mrg,12,2,")


def test_a_word_that_is_called_as_the_root_is(run: Callable[..., Any]) -> None:
    result = run("search", "NN < ROOT", "-", stdin="(TOP (NP (NN TOP) (CC and) (NN S1)))")
    assert result.stdout == "" and "called" not in result.stderr


def test_sentences_of_a_text(run: Callable[..., Any], folder: Path) -> None:
    """Their numbers start again in each row, and in each file of saved columns."""
    rows = [row(line) for line in NOTES.splitlines()]
    texts = [{"text": "", "sents": [r["sents"][0] for r in of_text]} for of_text in (rows[:2], rows[:0], rows)]
    path = folder / "texts.jsonl"
    path.write_text("\n".join(map(json.dumps, texts)) + "\n", encoding="utf-8")
    found = [line.split(",") for line in run("search", "ROOT", path, "--csv").stdout.splitlines()]
    places = [["1", "1"], ["1", "2"], ["3", "1"], ["3", "2"], ["3", "3"]]
    assert [[line, number] for _, line, _, number, *_ in found[1:]] == places
    run("search", "ROOT", path, folder / "a.mrg", "--save", folder / "saved.columns", "--count")
    rows = [line.split(",")[3] for line in run("search", "ROOT", folder / "saved.columns", "--csv").stdout.splitlines()]
    assert rows[1:] == ["1", "2", "1", "2", "3", "1", "1"]
    if find_spec("pyarrow"):
        assert TableSearcher("ROOT")(to_table(texts)).column("sentence").to_pylist() == [1, 2, 1, 2, 3]


def test_docs_with_partial_trees(run: Callable[..., Any], tmp_path: Path) -> None:
    """What else is in their sentences nobody knows: they are left out, and the others keep their numbers."""
    docs = list(docs_from_trees(spacy.blank("en").vocab, read_string(NOTES)))
    docs[1].spans["constituents"].attrs["partial"] = True
    path = tmp_path / "some.spacy"
    DocBin(docs=docs).to_disk(path)
    said = "Texts left out because only some of their constituents are known: 1."
    commands = {
        ("search", "ROOT !< S", path): f"{path}:1: [TOP Is it late ?]\n",
        ("search", "ROOT", path, "--count", "--workers", 2): "2\ttrees\n2\ttrees with a match\n2\tmatches\n",
        ("search", "FRAG", path, "--count", "--save", tmp_path / "saved.columns"): "2\ttrees\n",
        ("complexity", path, "--csv"): f"{path},8,2,",
        ("analyze", "labels", path, "--csv"): "",
    }
    for command, expected in commands.items():
        result = run(*command)
        assert result.exit_code == 0 and result.stderr.count(said) == 1, command
        assert expected in result.stdout and "FRAG" not in result.stdout
    for doc in docs:
        doc.spans["constituents"].attrs["partial"] = True
    DocBin(docs=docs).to_disk(path)
    assert "[E106]" in run("search", "NP", path).stderr and "[E458]" in run("analyze", "labels", path).stderr


def test_columns_in_folders(run: Callable[..., Any], folder: Path) -> None:
    """Beside other files or alone; `--glob` chooses among the files."""
    (folder / "cols").mkdir()
    run("search", "NP", folder / "a.mrg", "--save", folder / "cols" / "one.columns", "--count")
    run("search", "NP", folder / "b.mrg.gz", "--save", folder / "cols" / "two.columns", "--count")
    assert run("search", "NP", folder / "cols", "--count").stdout.startswith("5\ttrees\n")
    before = len(run("search", "ROOT", folder, "--quiet", "--glob", "?.*").stdout.splitlines())
    assert len(run("search", "ROOT", folder, "--quiet").stdout.splitlines()) == before + 5


def test_a_document_of_json(run: Callable[..., Any], tmp_path: Path) -> None:
    (tmp_path / "t.json").write_text(json.dumps([row(NOTES.splitlines()[0])]))
    for command in (("search", "NP"), ("complexity",)):
        result = run(*command, tmp_path / "t.json")
        assert result.exit_code == 1 and "[E578]" in result.stderr and ".jsonl" in result.stderr


def test_texts_by_their_meta(run: Callable[..., Any], folder: Path) -> None:
    """--id names texts by a key of their meta, in every kind of file that has it; saved columns keep it."""
    rows = [
        row(line, id=f"n{i}", meta=meta)
        for i, (line, meta) in enumerate(zip(NOTES.splitlines(), [{"a.b": "x"}, {"a.b": 7}, "x"], strict=True))
    ]
    paths = [folder / "f.jsonl", folder / "f.spacy"]
    paths[0].write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    docs = list(docs_from_trees(spacy.blank("en").vocab, read_string(NOTES)))
    for doc, each in zip(docs, rows, strict=True):
        doc.user_data["meta"] = each["meta"]
    DocBin(docs=docs, store_user_data=True).to_disk(paths[1])
    if find_spec("pyarrow"):
        import pyarrow.parquet

        paths += [folder / "f.parquet", folder / "g.parquet"]
        pyarrow.parquet.write_table(to_table(rows), paths[2])
        metas = [{"a.b": "x"}, {"a.b": "7"}, None]  # a struct, as other programs write it
        sents = to_table(rows).column("sents")
        pyarrow.parquet.write_table(pyarrow.table({"sents": sents, "meta": metas}), paths[3])
    for path in paths:
        by_id = run("search", "NP", path, "--id", "meta.a.b", "--by", "id", "--csv")
        assert by_id.stdout.splitlines() == ["count,id", "2,", "1,x", "1,7"]
        target = folder / f"{path.name[:3]}.columns"
        saved = run("search", "NP", path, "--id", "meta.a.b", "--by", "id", "--csv", "--save", target)
        assert saved.stdout == by_id.stdout
        assert run("search", "SQ", path, "--id", "meta.a.b").stdout == f"{path}:1: (x) [SQ Is it late ?]\n"
        assert run("search", "SQ", path, "--id", "meta.x").stdout == f"{path}:1: [SQ Is it late ?]\n"
        assert "[E471]" in run("complexity", path, "--text", "id", "--id", "meta.a.b").stderr  # one has none
    paths[0].write_text("\n".join(map(json.dumps, rows[:2])), encoding="utf-8")
    table = run("complexity", paths[0], "--text", "id", "--id", "meta.a.b", "--csv").stdout
    assert [line.split(",")[:3] for line in table.splitlines()[1:]] == [["x", "3", "1"], ["7", "3", "1"]]
    for path in (folder / "a.mrg", folder / "f.s.columns"):
        assert f"[E582] {path} has no 'meta.a'" in run("search", "NP", path, "--id", "meta.a").stderr
    assert "[E583] Nothing identifies a text as 'genre'" in run("search", "NP", paths[0], "--id", "genre").stderr
