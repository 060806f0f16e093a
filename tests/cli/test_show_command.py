"""`parsetag show`: texts, brackets and docs are drawn."""

import gzip
import sys
from collections.abc import Callable
from pathlib import Path
from xml.etree.ElementTree import fromstring

import pytest
import spacy
from command_data import TREES, Run
from spacy.tokens import Doc, DocBin
from spacy.vocab import Vocab

from spacy_parsetag.tokens import docs_from_trees
from spacy_parsetag.treebanks.penn import read_string

SVG = "{http://www.w3.org/2000/svg}"


def words_of(svg: Path) -> list[str]:
    return [text.text or "" for text in fromstring(svg.read_text(encoding="utf-8")).iter(f"{SVG}text")]


def docs_of(path: Path, docs: list[Doc]) -> Path:
    DocBin(docs=docs).to_disk(path)
    return path


def test_brackets(run: Run, treebank: Path) -> None:
    result = run("show", treebank)
    assert result.exit_code == 0 and not result.stderr
    assert len(result.stdout.split("\n\n")) == 3
    assert result.stdout.splitlines()[-1].split() == ["No", "(", "really", ")"]
    assert run("show", "-", stdin=TREES).stdout == result.stdout
    assert run("show", TREES).stdout == result.stdout
    untold = treebank.rename(treebank.with_suffix(".txt"))  # which begins with a tree
    assert run("show", untold).stdout == result.stdout


def test_options_of_the_terminal(run: Run, treebank: Path) -> None:
    assert "PRP" not in run("show", treebank, "--no-tags").stdout
    assert "\x1b[38;5;33mNP\x1b[0m" in run("show", treebank, "--color").stdout
    narrow = run("show", treebank, "--width", 20).stdout
    assert max(map(len, narrow.splitlines())) <= 20 and "├─ NP She/PRP" in narrow
    assert run("show", treebank, "--width", 19).exit_code == 2
    explained = run("show", treebank, "--explain").stdout.split("\n\n")[-1].splitlines()
    assert explained[:2] == ["S      sentence or clause", "NP     noun phrase"]
    assert "PRP    pronoun, personal" in explained and not any(line.startswith("No ") for line in explained)
    icon = run("show", "(S (NP (PRN Dia)) (VP (VBP didenda)) (RPN (PRR yang) (ADJ lama)) (PUN .))", "--explain").stdout
    assert "VBP  passive verb\n" in icon and "PRN  pronoun\n" in icon and "RPN  relative clause\n" in icon


def test_files(run: Run, treebank: Path, tmp_path: Path) -> None:
    svg, html = tmp_path / "new" / "trees.svg", tmp_path / "trees.html"
    result = run("show", treebank, "--svg", svg, "--html", html)
    assert result.exit_code == 0 and not result.stdout
    assert "Wrote 3 trees to" in result.stderr
    assert "Wrote 1 tree to" in run("show", "(NP (NN a))", "--svg", svg).stderr
    assert run("show", treebank, "--svg", svg).exit_code == 0
    assert words_of(svg).count("NP") == 4 and "(" in words_of(svg)
    assert html.read_text(encoding="utf-8").count("<section") == 3
    latex = tmp_path / "trees.tex"
    assert "Wrote 3 trees to" in run("show", treebank, "--latex", latex).stderr
    assert run("show", treebank, "--latex", "-").stdout == latex.read_text(encoding="utf-8")
    assert latex.read_text(encoding="utf-8").count("[NP [PRP [She]]]") == 1
    plain = tmp_path / "plain.svg"
    assert run("show", treebank, "--svg", plain, "--no-tags").exit_code == 0
    assert "PRP" in words_of(svg) and "PRP" not in words_of(plain)
    for path in (treebank, svg.parent):
        before = treebank.read_text(encoding="utf-8")
        assert run("show", treebank, "--html", path).exit_code != 0
        assert treebank.read_text(encoding="utf-8") == before
    assert "[E032]" in run("show", treebank, "--svg", treebank).stderr
    assert "[E032]" in run("show", treebank, "--svg", svg, "--html", svg).stderr


def test_docs(run: Run, tmp_path: Path, pipeline: Path) -> None:
    docs = list(docs_from_trees(Vocab(), read_string(TREES), n_sents=2))
    path = docs_of(tmp_path / "docs.spacy", docs)
    assert run("show", path).stdout == run("show", tmp_path).stdout == run("show", TREES).stdout
    parsed = run("show", path, "--model", pipeline)
    assert parsed.exit_code == 0 and "She" in parsed.stdout and parsed.stdout != run("show", path).stdout
    result = run("show", docs_of(tmp_path / "plain.spacy", [Doc(Vocab(), words=["a"])]))
    assert result.exit_code == 1 and "[E300]" in result.stderr


def test_text(run: Run, pipeline: Path, tmp_path: Path) -> None:
    """The pipeline parses and splits; a line without words is passed over."""
    text = "She reads. The dog barks.\n\n(He left.)\n"
    result = run("show", text, "--model", pipeline)
    assert result.exit_code == 0 and "no splitter" in result.stderr
    assert len(result.stdout.rstrip().split("\n\n")) == 3
    (tmp_path / "text.txt").write_text(text)
    assert run("show", tmp_path / "text.txt", "-m", pipeline).stdout == result.stdout
    assert run("show", "-", "-m", pipeline, stdin=text).stdout == result.stdout
    for sentence in ("Stop!", "私は本を読む。"):  # no blank in it
        assert sentence[:-1] in run("show", sentence, "-m", pipeline).stdout
    assert run("show", TREES, "-m", pipeline, "--format", "text").stdout != run("show", TREES).stdout


def test_the_pipeline_that_comes_with_it(
    run: Run, pipeline: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "en_parsetag_sm").symlink_to(pipeline)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("spacy_parsetag.cli._inputs.is_package", lambda name: False)
    assert "[E468]" in run("show", "She reads papers.").stderr
    monkeypatch.setattr("spacy_parsetag.cli._inputs.is_package", lambda name: True)
    monkeypatch.setattr("spacy.util.is_package", lambda name: False)  # the folder, also where the package is installed
    assert run("show", "She reads papers.").stdout == run("show", "She reads papers.", "-m", pipeline).stdout


def test_lines_of_a_stream_end_where_those_of_a_file_do(run: Run, pipeline: Path, tmp_path: Path) -> None:
    path = tmp_path / "text.txt"
    path.write_text("She reads\u2028books\x0cand papers .\n", encoding="utf-8")
    drawn = run("show", path, "--model", pipeline).stdout
    assert drawn and run("show", "-", "--model", pipeline, stdin=path.read_text(encoding="utf-8")).stdout == drawn


def test_a_pipeline_with_another_key(run: Run, pipeline: Path, tmp_path: Path) -> None:
    nlp = spacy.load(pipeline)
    nlp.get_pipe("parsetag").cfg["spans_key"] = "other"  # type: ignore[attr-defined]
    nlp.to_disk(tmp_path / "other")
    result = run("show", "She reads papers.", "-m", tmp_path / "other")
    assert result.exit_code == 0 and "She" in result.stdout


@pytest.mark.parametrize(
    "arguments, code",
    [
        (["absent.txt"], "[E484] No such file or folder: 'absent.txt'."),
        (["my absent trees.mrg"], "[E030] No such file or folder: my absent trees.mrg."),
        (["absent/私は本を読む。"], "[E484]"),
        (["-", "--format", "brackets"], "[E106]"),
        (["-", "--format", "spacy"], "[E455]"),
        ([".", "--format", "brackets"], "[E455] --format"),
        (["(S (NN a))", "--svg", "-", "--explain"], "[E455] --explain"),
        (["(S (NN a))", "--svg", "-", "--latex", "-"], "[E032] - is one of the inputs, or written twice."),
        (["(S (NN a))", "--svg", "-", "--latex", "a.tex"], ""),
        (["(S (NN a))", "--svg", "a.svg", "--width", 30], "[E455] --width"),
        (["(S (NN a))", "--svg", "a.pdf"], "[E455] --svg needs a name that ends in .svg, not a.pdf"),
        (["(S (NN a))", "--html", "a.svg"], "[E455] --html needs a name that ends in .html or .htm, not a.svg"),
        (["(S (NN a))", "--latex", "a.pdf"], "[E455] --latex needs a name that ends in .tex, not a.pdf"),
        (["(S (NN a))", "--html", "a.HTM"], ""),
        (["(S (NN a))", "--html", "-"], ""),
        (["(S (NN a))", "--latex", "a.tex", "--width", 30], "[E455] --width"),
        (["(S (NN a))", "--html", "a.html", "--no-color"], "[E455] --no-color needs the terminal"),
        (["(S (NN a))", "--model", "en_parsetag_sm"], "[E455] --model"),
        (["(S (NN a))", "--gpu-id", 0], "[E455] --gpu-id"),
        (["(S (NN a))", "--spans-key", "other"], "[E455] --spans-key"),
        (["(see (a) above) The dog barked."], "--format text"),
        (["(He (the boss) left.)"], "--format text"),
        (["((a) b", "--format", "brackets"], "<stream>:1"),
        (["a b" * 2000, "--format", "brackets"], "<stream>:1"),
        (["(S (NP (NN a)))", "--svg", "absent"], ""),
    ],
)
def test_errors(run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, arguments: list[str], code: str) -> None:
    monkeypatch.chdir(tmp_path)
    result = run("show", *arguments)
    assert result.exit_code == (1 if code else 0) and code in result.stderr


@pytest.mark.skipif(sys.platform == "darwin", reason="PyTorch uses the GPU there")
def test_a_gpu_without_cupy(run: Run, pipeline: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "cupy", None)
    result = run("show", "She reads.", "--model", pipeline, "--gpu-id", 0)
    assert result.exit_code == 1 and "[E500]" in result.stderr and "spacy-parsetag[cuda12x]" in result.stderr


def test_pipes(run: Run, pipe: Callable[[str], Path]) -> None:
    assert run("show", pipe(TREES)).stdout == run("show", "-", stdin=TREES).stdout != ""


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-le"])
def test_encodings(run: Run, pipeline: Path, tmp_path: Path, encoding: str) -> None:
    """They are those of files whose names do not say that they hold brackets, and of streams, too."""
    path = tmp_path / "trees.txt"
    path.write_text(TREES, encoding=encoding)
    drawn = run("show", TREES).stdout
    assert run("show", path, "--encoding", encoding).stdout == drawn != ""
    assert run("show", "-", "--encoding", encoding, stdin=path.read_bytes()).stdout == drawn
    assert run("show", "-", "--encoding", encoding, "--format", "brackets", stdin=path.read_bytes()).stdout == drawn
    path.write_text(TREES, encoding="utf-32")
    for source in (path, "-"):
        result = run("show", source, "--model", pipeline, stdin=path.read_bytes())
        assert "iconv -f utf32 " in result.stderr
    for source in (path, "-"):
        result = run("show", source, "--encoding", "nonsense", stdin="")
        assert result.exit_code == 1 and "[E101]" in result.stderr


def test_comments_of_other_formats_are_text(run: Run) -> None:
    for text in ("%% of people like it.", "<!-- a page --> She sings."):
        assert run("show", "-", "--model", "nonsense", stdin=text).stderr.count("E124") == 0


def test_comments_before_trees(run: Run) -> None:
    assert run("show", "-", stdin="%% Sent 1\n" + TREES).stdout == run("show", "-", stdin=TREES).stdout != ""


@pytest.mark.parametrize("text", ["%% a comment\n#BOS 1\n", "\n#FORMAT 4\n", '<?xml version="1.0"?>\n<corpus>\n'])
def test_discontinuous_trees_are_no_text(run: Run, tmp_path: Path, text: str) -> None:
    path = tmp_path / "trees.export"
    path.write_text(text)
    for result in (run("show", path), run("show", "-", stdin=text)):
        assert result.exit_code == 1 and "[E124]" in result.stderr and not result.stdout


def test_sentences_without_a_parse_are_passed_over(run: Run, tmp_path: Path) -> None:
    """`parse` writes (TOP) for a line without words; other malformed trees stay errors."""
    path = tmp_path / "trees.mrg"
    path.write_text("(TOP)\n" + TREES + "(TOP)\n", encoding="utf-8")
    assert run("show", path).stdout == run("show", "-", stdin=TREES).stdout != ""
    path.write_text("(TOP)\n", encoding="utf-8")
    for alone in (run("show", path), run("show", "-", stdin="(TOP)\n")):
        assert alone.stdout == "" and alone.exit_code == 1 and "No trees" in alone.stderr
    path.write_text(TREES + "(TOP (NP the (NN dog)))\n", encoding="utf-8")
    result = run("show", path)
    assert result.exit_code == 1 and f"{path}:4: [E117]" in result.stderr


@pytest.mark.parametrize("name", ["a.jsonl", "a.json.gz", "a.parquet"])
def test_files_that_are_no_text_by_their_name(run: Run, tmp_path: Path, name: str) -> None:
    """Their lines would be parsed and drawn as sentences."""
    (tmp_path / name).write_bytes(gzip.compress(b"{}") if name.endswith(".gz") else b"{}")
    result = run("show", tmp_path / name)
    assert result.exit_code == 1 and "[E486]" in result.stderr and not result.stdout


@pytest.mark.parametrize("name", ["a.csv", "a.html.gz", "a.conllu"])
def test_files_of_tables_and_markup(run: Run, pipeline: Path, tmp_path: Path, name: str) -> None:
    (tmp_path / name).write_bytes(gzip.compress(b"a,b\n") if name.endswith(".gz") else b"a,b\n")
    result = run("show", tmp_path / name, "--model", pipeline)
    assert result.exit_code == 1 and "[E574]" in result.stderr and not result.stdout
    assert run("show", tmp_path / name, "--model", pipeline, "--format", "text").exit_code == 0
