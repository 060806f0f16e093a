"""`parsetag convert`: files in, docs out, whole or not at all."""

import random
import re
from collections.abc import Callable
from pathlib import Path

import pytest
from command_data import TREES, Run
from spacy.tokens import Doc, DocBin
from spacy.vocab import Vocab

from spacy_parsetag.tokens import doc_to_strings
from tools.mutate import make_treebank, mutate

N_MUTATIONS = 500


def load(path: Path) -> list[Doc]:
    return list(DocBin().from_disk(path).get_docs(Vocab()))


def test_a_file_becomes_docs(run: Run, treebank: Path, tmp_path: Path) -> None:
    out = tmp_path / "new" / "out.spacy"
    result = run("convert", treebank, out)
    assert result.exit_code == 0
    assert result.stdout == ""
    assert f"3 sentences, 12 words: {out}" in result.stderr and "--detokenize" not in result.stderr
    docs = load(out)
    assert [line for doc in docs for line in doc_to_strings(doc)] == treebank.read_text().splitlines()
    assert docs[2].text.split() == ["No", "(", "really", ")"]
    assert [token.tag_ for token in docs[1]] == ["DT", "NN", "VBZ", "."]
    assert all(doc.has_unknown_spaces and doc.has_annotation("SENT_START") for doc in docs)


def test_the_same_input_gives_the_same_bytes(run: Run, treebank: Path, tmp_path: Path) -> None:
    for name in ("a.spacy", "b.spacy"):
        assert run("convert", treebank, tmp_path / name).exit_code == 0
    assert (tmp_path / "a.spacy").read_bytes() == (tmp_path / "b.spacy").read_bytes()


def test_a_folder_becomes_a_folder(run: Run, treebank: Path, tmp_path: Path) -> None:
    source, out = tmp_path / "in", tmp_path / "out"
    for name in ("dev.mrg", "wsj/02/wsj_0201.MRG", ".hidden/x.mrg", "readme.txt"):
        (source / name).parent.mkdir(parents=True, exist_ok=True)
        (source / name).write_text(treebank.read_text())
    assert run("convert", source, out).exit_code == 0
    made = {str(path.relative_to(out)): len(load(path)) for path in out.rglob("*.spacy")}
    assert made == {"dev.spacy": 3, "wsj/02/wsj_0201.spacy": 3}
    assert run("convert", source, tmp_path / "all.spacy").exit_code == 0
    assert len(load(tmp_path / "all.spacy")) == 6
    assert run("convert", source, tmp_path / "some.spacy", "--glob", "d*").exit_code == 0
    assert len(load(tmp_path / "some.spacy")) == 3
    assert run("convert", f"{source}/*/*/*.MRG", source / "readme.txt", tmp_path / "two.spacy").exit_code == 0
    assert len(load(tmp_path / "two.spacy")) == 6


def test_a_script_without_spaces(run: Run, tmp_path: Path) -> None:
    source, out = tmp_path / "zh.mrg", tmp_path / "zh.spacy"
    source.write_text("(S (NP (N 巡撫)) (V 放下) (NP (N 信)) (PU 。))\n" * 2, encoding="utf-8")
    result = run("convert", source, out)
    assert "--detokenize makes docs" in " ".join(result.stderr.split()) and load(out)[0].has_unknown_spaces
    result = run("convert", source, out, "--detokenize", "--n-sents", 2)
    assert "--detokenize" not in result.stderr and [doc.text for doc in load(out)] == ["巡撫放下信。巡撫放下信。"]


def test_options_for_docs(run: Run, treebank: Path, tmp_path: Path) -> None:
    out = tmp_path / "out.spacy"
    result = run("convert", treebank, out, "--n-sents", 2, "--spans-key", "gold", "--detokenize")
    assert result.exit_code == 0 and f"3 sentences in 2 docs, 12 words: {out}" in result.stderr
    docs = load(out)
    assert [len(list(doc.sents)) for doc in docs] == [2, 1]
    assert docs[1].text == "No (really)"
    assert "gold" in docs[0].spans
    for n_sents, n_docs in ((1, 2), (2, 1)):  # the limit is of sentences
        assert run("convert", treebank, out, "--limit", 2, "--n-sents", n_sents).exit_code == 0
        assert len(load(out)) == n_docs
    assert run("convert", treebank, out, "--max-length", 4).exit_code == 0
    assert [len(doc) for doc in load(out)] == [4, 4, 4]
    result = run("convert", treebank, out, "--max-length", 3)
    assert result.exit_code == 1
    assert "[E451] No sentence has --max-length 3 words or fewer" in result.stderr
    assert len(load(out)) == 3  # what was there stays


def test_nothing_is_read_past_the_limit(run: Run, tmp_path: Path) -> None:
    """Neither the rest of a file nor the next file: a large treebank gives its first trees at once."""
    good, bad = "(TOP (S (NP (PRP She)) (VP (VBZ reads))))\n", "(TOP (S\n"
    for name, text in (("a.mrg", 2 * good + bad), ("b.mrg", bad)):
        (tmp_path / name).write_text(text)
    files = (tmp_path / "a.mrg", tmp_path / "b.mrg")
    assert run("convert", *files, tmp_path / "out.spacy", "--limit", 2).exit_code == 0
    assert len(load(tmp_path / "out.spacy")) == 2
    assert run("convert", *files, tmp_path / "out.spacy", "--limit", 3).exit_code == 1


def test_cleaning_options(run: Run, tmp_path: Path) -> None:
    source, out = tmp_path / "in.mrg", tmp_path / "out.spacy"
    source.write_text("( (S (NP-SBJ-1 (PRP-2 She)) (VP (VP (VB go))) (NP (-NONE- *-1)) (CODE (X <1>))))\n")

    def brackets(*options: str) -> str:
        assert run("convert", source, out, *options).exit_code == 0
        return doc_to_strings(load(out)[0])[0]

    assert brackets() == "(TOP (S (NP (PRP-2 She)) (VP (VB go)) (CODE (X <1>))))"
    kept = brackets(*(f"--clean={key}=no" for key in ("functions", "indices", "traces", "repeats")))
    assert kept == "(TOP (S (NP-SBJ-1 (PRP-2 She)) (VP (VP (VB go))) (NP (-NONE- *-1)) (CODE (X <1>))))"
    assert brackets("--clean", "tag-functions=yes", "--clean", "remove=CODE VB") == "(TOP (S (NP (PRP She))))"
    historical = ("--format", "historical")
    assert brackets(*historical) == "(TOP (S (NP (PRP She)) (VP (VB go))))"
    assert brackets(*historical, "--clean=remove=VB", "--clean=remove=XX") == "(TOP (S (NP (PRP She))))"
    assert brackets(*historical, "--clean=remove=VB", "--clean=remove=").endswith("(VP (VB go)) (CODE (X <1>))))")
    assert brackets("--clean", "trace-words=She|<.*", "--clean", "trace-tags=VB") == "(TOP (S (NP (-NONE- *-1))))"


def test_lines_that_were_rewritten_are_counted(run: Run, tmp_path: Path) -> None:
    """Not "nothing to clean": roles and marks were cut."""
    (tmp_path / "in.txt").write_text("#1 S(agent:NP(Head:Nhaa:我們)|Head:VA4:上學)#，\n", encoding="utf-8")
    result = run("convert", tmp_path / "in.txt", tmp_path / "out.spacy", "--format", "sinica")
    assert result.exit_code == 0 and "1 tree read; 1 line rewritten as brackets" in result.stderr


def test_what_parse_writes_for_a_text_without_a_parse_is_counted(run: Run, tmp_path: Path) -> None:
    source, out = tmp_path / "parsed.mrg", tmp_path / "out.spacy"
    source.write_text("(TOP (NP (NN a)))\n(TOP)\n(TOP (NP (NN b)))\n")
    result = run("convert", source, out)
    assert result.exit_code == 0 and "2 trees read; 1 text without a parse left out" in result.stderr
    assert [doc.text.strip() for doc in load(out)] == ["a", "b"]
    for text, options in (("(TOP (NP))", []), ("(TOP)", ["--format", "ptb"])):  # which no parser writes
        source.write_text(f"(TOP (NP (NN a)))\n{text}\n")
        result = run("convert", source, out, *options)
        assert result.exit_code == 1 and f"{source}:2: [E114]" in result.stderr
    source.write_text("(TOP)\n(TOP)\n")
    result = run("convert", source, out)
    assert result.exit_code == 1 and "[E106]" in result.stderr


def test_docs_of_a_split_are_of_successive_sentences(run: Run, tmp_path: Path) -> None:
    """A doc ends where the next sentence of the file is in another part."""
    source, out = tmp_path / "trees.mrg", tmp_path / "out"
    source.write_text("".join(f"(TOP (S (NP (NN w{i})) (VP (VBZ x))))\n" for i in range(40)), encoding="utf8")
    words = ["convert", source, out, "--split", "a=0.5,b=0.5", "--split-block", "6", "--n-sents", "4"]
    assert run(*words).exit_code == 0
    docs = [doc for part in "ab" for doc in DocBin().from_disk(out / f"{part}.spacy").get_docs(Vocab())]
    numbers = [[int(token.text[1:]) for token in [*doc][::2]] for doc in docs]
    assert sorted(i for of_doc in numbers for i in of_doc) == [*range(40)] and max(map(len, numbers)) == 4
    assert all(of_doc == list(range(of_doc[0], of_doc[0] + len(of_doc))) for of_doc in numbers)


def test_split(run: Run, treebank: Path, tmp_path: Path) -> None:
    source, out = tmp_path / "in", tmp_path / "out"
    source.mkdir()
    for i in range(10):
        (source / f"wsj_{i:04}.mrg").write_text(treebank.read_text())
    spec = "train=wsj_0000..wsj_0006,dev=wsj_0007,test=wsj_0008..wsj_0009"
    assert run("convert", source, out, "--split", spec).exit_code == 0
    assert [len(load(out / f"{part}.spacy")) for part in ("train", "dev", "test")] == [21, 3, 6]
    (source / "empty.mrg").touch()
    result = run("convert", source, out, "--split", "train=wsj_0000..wsj_0006,dev=wsj_0007")
    assert result.exit_code == 0 and "6 sentences in no part of --split left out" in result.stderr
    assert f"[E106] No trees in {source / 'empty.mrg'}." in result.stderr
    (source / "empty.mrg").unlink()
    assert run("convert", source, out, "--split", "a=0.8,b=0.2", "--split-block", "1").exit_code == 0
    assert [len(load(out / f"{part}.spacy")) for part in "ab"] == [24, 6]


@pytest.mark.parametrize(
    "args, message",
    [
        (["missing.mrg", "out.spacy"], "E030"),
        (["empty", "out.spacy"], "E031"),
        (["empty", "out.spacy", "--glob", "/x"], "E031"),
        (["trees.mrg", "-"], "E455"),
        (["trees.mrg", "out.spacy", "--spans-key", ""], "E455"),
        (["trees.mrg", "out.spacy", "--max-length", "2"], "E451"),
        (["trees.mrg", "out.spacy", "--format", "nonsense"], "E102"),
        (["trees.mrg", "out.spacy", "--encoding", "nonsense"], "E101"),
        (["trees.mrg", "out.spacy", "--clean", "trace-words=("], "E454"),
        (["trees.mrg", "out.spacy", "--clean", "root=ROOT"], "E470"),
        (["trees.mrg", "out.spacy", "--clean", "indices=no"], "E455"),
        (["trees.mrg", "out.spacy", "--clean", "tag-functions=yes", "--clean", "tag-indices=no"], "E455"),
        (["trees.mrg", "out.spacy", "--clean", "trace-words=.*"], "E465"),
        (["trees.mrg", "out.spacy", "--split", "a=0.5,b=0.5"], "E107"),
        (["trees.mrg", "trees.mrg"], "E107"),
        (["trees.mrg", "out", "--split", "a=0.9,b=0.2"], "E105"),
        (["trees.mrg", "out", "--split", "a=0.9,b=dev"], "E105"),
        (["trees.mrg", "out", "--split", "../a=0.9"], "E108"),
        (["trees.mrg", "trees.mrg", "out"], None),
        (["trees.mrg", "copy/trees.mrg", "out"], "E109"),
    ],
)
def test_what_users_get_wrong(
    run: Run, treebank: Path, monkeypatch: pytest.MonkeyPatch, args: list[str], message: str
) -> None:
    monkeypatch.chdir(treebank.parent)
    for name in ("empty", "copy"):
        Path(name).mkdir()
    Path("copy/trees.mrg").write_text(treebank.read_text())
    result = run("convert", *args)
    assert result.exit_code == (0 if message is None else 1)
    assert message is None or f"[{message}]" in result.stderr
    assert message is None or not list(Path().rglob("*.spacy"))


def test_bad_trees_are_named_and_skipped(run: Run, treebank: Path, tmp_path: Path) -> None:
    good = treebank.read_text().splitlines()
    treebank.write_text("\n".join([good[0], "(TOP (S (NP the (NN dog))))", "(TOP (S (NN \\e)))", good[1]]))
    out = tmp_path / "out.spacy"
    result = run("convert", treebank, out)
    assert result.exit_code == 1
    assert f"{treebank}:2: [E117] The word 'the' under 'NP'" in result.stderr
    assert sorted(path.name for path in tmp_path.iterdir()) == ["trees.mrg"]
    result = run("convert", treebank, out, "--skip-bad", "all")
    assert result.exit_code == 0
    assert f"skipped {treebank}:2: " in result.stderr
    assert f"skipped {treebank}:3: [E008]" in result.stderr
    assert "Skipped 2 malformed trees" in result.stderr
    assert len(load(out)) == 2
    assert run("convert", treebank, out, "--skip-bad", "all", "--default-tag", "XX").exit_code == 0
    assert len(load(out)) == 3


@pytest.mark.parametrize("block", range(5))
def test_mutated_files_give_docs_or_named_errors(run: Run, block: int, tmp_path: Path) -> None:
    """Never a traceback, never a file that is not whole."""
    source, out = tmp_path / "mutated.mrg", tmp_path / "out.spacy"
    size = N_MUTATIONS // 5
    outcomes = set()
    for seed in range(block * size, (block + 1) * size):
        rng = random.Random(seed)
        source.write_bytes(mutate(make_treebank(rng).encode("utf8"), rng))
        for options in ([], ["--skip-bad", "all"]):
            result = run("convert", source, out, *options)
            outcomes.add((result.exit_code, bool(options)))
            if result.exit_code:
                named = re.search(rf"{re.escape(str(source))}:\d+: \S", result.stderr)
                assert named or "[E106]" in result.stderr, (seed, result.stderr)
                assert [path.name for path in tmp_path.iterdir()] == ["mutated.mrg"], seed
            else:
                assert all(doc_to_strings(doc) for doc in load(out)), seed
                out.unlink()
    assert {(0, False), (1, False), (0, True)} <= outcomes


def test_too_many_bad_trees(run: Run, tmp_path: Path) -> None:
    source, out = tmp_path / "trees.mrg", tmp_path / "out.spacy"
    source.write_text("(TOP (NP (NN a)))\n" * 97 + "(TOP (NP))\n" * 2)
    result = run("convert", source, out, "--skip-bad", "1%")
    assert result.exit_code == 1 and "[E456] 2 of 99 " in result.stderr and " 3%" in result.stderr
    assert not out.exists()
    assert run("convert", source, out, "--skip-bad", "3%").exit_code == 0 and out.exists()
    source.write_text("(TOP (NP (NN a)))\n" * 71 + "(TOP (NP))\n" * 29)  # 0.29 * 100 is less than 29 in floats
    assert run("convert", source, tmp_path / "more.spacy", "--skip-bad", "29%").exit_code == 0
    result = run("convert", source, tmp_path / "none.spacy", "--skip-bad", "28.9%")
    assert result.exit_code == 1 and "Else --skip-bad 29%" in result.stderr


def test_outputs_that_are_refused(run: Run, tmp_path: Path) -> None:
    """An unknown suffix, a file that is read, and a split with a part that gets nothing."""
    source = tmp_path / "trees.mrg"
    source.write_text("(TOP (NP (NN a)))\n" * 20)
    assert "E110" in run("convert", source, tmp_path / "out.conll").stderr
    same = tmp_path / "same.spacy"
    same.write_text(source.read_text())
    assert "E032" in run("convert", same, same).stderr and same.read_text() == source.read_text()
    result = run("convert", source, tmp_path / "out", "--split", "train=0.8,dev=0.1,test=0.1")
    assert result.exit_code == 1 and "E111" in result.stderr and "'test'" in result.stderr
    assert "--split-block (it is 10)" in result.stderr
    whole = run("convert", source, tmp_path / "out", "--split", "train=0.8,dev=0.2", "--split-block", "0")
    assert whole.exit_code == 1 and "say --split-block 10." in whole.stderr
    for spec in ("train=80%,dev=20%", "train=00..01", "train=trees,dev=other"):
        result = run("convert", source, tmp_path / "out", "--split", spec)
        pattern = spec.rpartition("=")[2] if "other" in spec else spec.partition("=")[2].partition(",")[0]
        assert result.exit_code == 1 and "E111" in result.stderr and f" called {pattern}. " in result.stderr
        assert "block" not in result.stderr
    nothing = run("convert", source, tmp_path / "out", "--split", "train=trees", "--split-block", "1")
    assert nothing.exit_code == 1 and "--split-block needs a --split by shares" in nothing.stderr
    assert not (tmp_path / "out").exists()
    fewer = ("--split", "train=0.8,dev=0.1,test=0.1", "--split-block", "1")
    assert "The split has" not in run("convert", source, tmp_path / "out", *fewer).stderr
    coarse = run("convert", source, tmp_path / "coarse", "--split", "train=0.9,dev=0.1")
    assert "The split has train 50% of the trees, not 90%, dev 50% of the trees, not 10%" in coarse.stderr
    limited = run("convert", source, tmp_path / "some", "--split", "train=0.9,dev=0.1", "--limit", "1")
    assert "The split has" not in limited.stderr  # as reading ends where each part is full


def test_names_and_temporary_names(run: Run, tmp_path: Path) -> None:
    source = tmp_path / "trees.mrg"
    source.write_text("(TOP (NP (NN a)))\n")
    out = tmp_path / f"{'語' * 82}.spacy"  # 252 bytes, of at most 255
    assert run("convert", source, out).exit_code == 0 and out.exists()


def test_pipes(run: Run, pipe: Callable[[str], Path], tmp_path: Path) -> None:
    """What a look at the encoding takes from a pipe would be lost. So the bytes are UTF-8, or an error."""
    trees = "".join(f"( (S (NP (NN chien{i})) (VP (VB est))))\n" for i in range(3))
    for format in ("penn", "spmrl"):
        result = run("convert", pipe(trees), tmp_path / "out.spacy", "--format", format)
        assert result.exit_code == 0 and "3 sentences" in result.stderr


def test_many_files_are_summed_up(run: Run, tmp_path: Path) -> None:
    """A line for each of a thousand files would say less than their sum; those without a tree are named."""
    source = tmp_path / "in"
    source.mkdir()
    for i in range(21):
        (source / f"{i:02}.mrg").write_text(TREES if i else "")
    result = run("convert", source, tmp_path / "out", "--n-sents", "2")
    assert result.exit_code == 0
    assert "21 files, 60 sentences in 40 docs, 240 words: " in result.stderr
    assert f"No trees in {source / '00.mrg'}." in result.stderr
    assert len(result.stderr.splitlines()) == 3


def test_a_folder_of_other_files_says_what_it_holds(run: Run, tmp_path: Path) -> None:
    source = tmp_path / "in"
    source.mkdir()
    for name in ("a.prd", "b.PRD", "c.onf", ".hidden.txt", "README"):
        (source / name).write_text(TREES)
    result = run("convert", source, tmp_path / "out.spacy")
    assert result.exit_code == 1 and "[E031]" in result.stderr
    assert "which holds 2 *.prd, 1 *.onf, 1 without a suffix." in result.stderr and "--glob='*.prd'" in result.stderr
    (source / "d.parse").write_text(TREES)  # as OntoNotes has them
    assert run("convert", source, tmp_path / "out.spacy").exit_code == 0


@pytest.mark.parametrize("command", ["convert", "linearize", "evaluate", "diff"])
def test_docs_are_not_brackets(run: Run, treebank: Path, tmp_path: Path, command: str) -> None:
    """The message says how their trees come as brackets, and so they do."""
    docs, out = tmp_path / "docs.spacy", tmp_path / "out.spacy"
    assert run("convert", treebank, docs).exit_code == 0
    others = {"convert": [out], "linearize": ["-"], "evaluate": [treebank], "diff": [treebank]}
    result = run(command, docs, *others[command])
    assert result.exit_code == 1 and f"[E125] By its name {docs} " in result.stderr and not out.exists()
    assert run("search", "ROOT", docs, "--mrg").stdout == TREES
    texts = docs.with_name("texts.jsonl")
    texts.touch()
    assert f"[E125] By its name {texts} " in run(command, texts, *others[command]).stderr
