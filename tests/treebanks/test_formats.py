"""Treebank formats: what each reader makes of a small piece written for the test, and of real samples where at hand."""

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from spacy.tokens import DocBin
from spacy.vocab import Vocab

from spacy_parsetag.errors import TreebankError
from spacy_parsetag.evalb.lines import join_lines, read_tree_lines
from spacy_parsetag.files.find import SourceFile, find_files
from spacy_parsetag.search.columns import TreeColumns
from spacy_parsetag.search.read import read_brackets
from spacy_parsetag.tokens import doc_from_parses
from spacy_parsetag.treebanks.docfiles import DocFile
from spacy_parsetag.treebanks.formats.base import guess_encoding
from spacy_parsetag.treebanks.formats.pahc import cut_lemma, cut_lemma_of_mark
from spacy_parsetag.treebanks.formats.table import FORMATS, get_format
from spacy_parsetag.treebanks.penn import read_string, read_trees
from spacy_parsetag.treebanks.split import read_split
from spacy_parsetag.trees import Parse
from spacy_parsetag.trees.brackets import format_tree
from spacy_parsetag.trees.clean import CleanCounts, clean_tree
from tools.pieces import PIECES


def read(path: Path, name: str) -> Iterator[str]:
    format = get_format(name)
    for tree in format.read(path):
        cleaned = clean_tree(tree, format.clean)
        if cleaned is not None:
            yield format_tree(cleaned)


@pytest.mark.parametrize("name", PIECES)
def test_pieces(name: str, tmp_path: Path) -> None:
    text, expected = PIECES[name]
    path = tmp_path / "piece.txt"
    path.write_text(text, encoding="utf-8")
    assert list(read(path, name)) == [expected]


def test_every_format_has_a_piece() -> None:
    assert set(FORMATS) - {"penn"} == set(PIECES)


@pytest.mark.parametrize("root", ["VROOT", "ROOT", "TOP", ""])
def test_spmrl_roots(root: str, tmp_path: Path) -> None:
    path = tmp_path / "train.French.gold.ptb"
    path.write_text(f"({root} (S (V##a## va)))\n", encoding="utf-8")
    assert list(read(path, "spmrl")) == ["(TOP (S (V va)))"]


@pytest.mark.parametrize(
    "file, word, encoding",
    [
        ("train.French.gold.ptb", "été", "latin-1"),
        ("train.Polish.gold.ptb", "łódź", "iso8859-2"),
        ("train.Hebrew.gold.ptb", "ספר", "cp1255"),
        ("train.Korean.gold.ptb", "책을", "cp949"),
    ],
)
def test_spmrl_encodings(file: str, word: str, encoding: str, tmp_path: Path) -> None:
    path = tmp_path / file
    for written in ("utf-8", "utf-16", encoding):
        path.write_text(f"(TOP (S (N##x## {word})))\n", encoding=written)
        assert guess_encoding(path, encoding) == written
        assert list(read(path, "spmrl")) == [f"(TOP (S (N {word})))"]


@pytest.mark.parametrize("encoding", ["utf-16", "utf-32"])
def test_encodings_by_their_marks(encoding: str, tmp_path: Path) -> None:
    path = tmp_path / "trees.mrg"
    path.write_text("(TOP (NN été))\n", encoding=encoding)
    assert list(read(path, "penn")) == ["(TOP (NN été))"]


def test_files_come_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """However often they are named; as what they were found first."""
    for name in "ab":
        (tmp_path / f"{name}.mrg").write_text("(TOP (NN a))\n")
    a, b = tmp_path / "a.mrg", tmp_path / "b.mrg"
    assert find_files([tmp_path, a], suffixes=[".mrg"]) == [SourceFile(a, tmp_path), SourceFile(b, tmp_path)]
    assert find_files([b, tmp_path], suffixes=[".mrg"]) == [SourceFile(b), SourceFile(a, tmp_path)]
    monkeypatch.chdir(tmp_path)
    assert find_files(["a.mrg", a, "*.mrg", tmp_path / "." / "b.mrg"]) == [
        SourceFile(Path("a.mrg")),
        SourceFile(Path("b.mrg")),
    ]


def test_linked_folders(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """They are folders as others are. One that has a place of its own is found there, and a loop ends."""
    for name in ("tb/01/a", "tb/01/d/.b", "tb/.hidden/c", "ext/02/d", "ext/03/e"):
        path = tmp_path / f"{name}.mrg"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("(TOP (NN a))\n")
    try:
        for name, target in {
            "tb/00": "01", "tb/02": "../ext/02", "tb/03": "../ext/02", "tb/04": ".hidden", "tb/01/up": "..",
            "tb/05": "nowhere", "ext/02/03": "../03", "ext/03/02": "../02", "top": "tb",
        }.items():  # fmt: skip
            (tmp_path / name).symlink_to(target, target_is_directory=True)
    except OSError:
        pytest.skip("no symbolic links")
    names = ["01/a.mrg", "02/03/e.mrg", "02/d.mrg", "04/c.mrg"]
    monkeypatch.chdir(tmp_path / "tb")
    for folder in (tmp_path / "tb", tmp_path / "top", Path(".")):
        for options in ({"suffixes": [".mrg"]}, {"pattern": "*.mrg"}, {"pattern": "*/*.mrg"}):
            found = find_files([folder], **options)  # type: ignore[arg-type]
            assert found == [SourceFile(folder / name, folder) for name in names]
        assert [file.path for file in find_files([folder], pattern="02/*.mrg")] == [folder / "02" / "d.mrg"]


def test_what_cannot_be_read_is_not_passed_over(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A file whose content was not fetched, as of git-annex, and a folder that is another user's."""
    (tmp_path / "a").mkdir()
    (tmp_path / "a" / "a.mrg").write_text("(TOP (NN a))\n")
    try:
        (tmp_path / "b.mrg").symlink_to("nowhere")
    except OSError:
        pytest.skip("no symbolic links")
    assert [file.path.name for file in find_files([tmp_path], suffixes=[".mrg"])] == ["a.mrg", "b.mrg"]
    with pytest.raises(ValueError, match="E031"):
        find_files([tmp_path], pattern="./")

    def scan(path: Any) -> Any:
        if Path(path).name == "a":
            raise PermissionError(13, "Permission denied", path)
        return scandir(path)

    scandir = os.scandir
    monkeypatch.setattr(os, "scandir", scan)
    with pytest.raises(PermissionError, match="Permission denied"):
        find_files([tmp_path], suffixes=[".mrg"])


def test_files_come_once_however_many_links_lead_to_them(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of folders as of patterns, where two links that go in a circle would be followed billions of times."""
    file = Path("tb/2024/a.mrg")
    (tmp_path / file).parent.mkdir(parents=True)
    (tmp_path / file).write_text("(TOP (NN a))\n")
    try:
        for name, target in {"2024/b.mrg": "a.mrg", "latest": "2024", "loop": "../tb", "round": "../tb"}.items():
            (tmp_path / "tb" / name).symlink_to(target, target_is_directory=name in {"latest", "loop", "round"})
    except OSError:
        pytest.skip("no symbolic links")
    monkeypatch.chdir(tmp_path)
    for source in ("tb", "tb/**", "tb/**/*.mrg", "**/*.mrg", "t*/**/20*/?.mrg", str(tmp_path / "tb" / "**")):
        found = find_files([source], suffixes=[".mrg"])
        assert [os.path.relpath(path) for path, *_ in found] == [str(file)], source
    for pattern in ("**", "**/*.mrg", "2024/**"):
        assert [path for path, *_ in find_files(["tb"], pattern=pattern)] == [file]


def test_ctb_encodings(tmp_path: Path) -> None:
    path = tmp_path / "chtb_001.fid"
    for encoding in ("gb18030", "utf-8"):
        path.write_text("<S ID=1>\n( (IP (NN 上海浦东开发与法制建设同步)))\n</S>\n", encoding=encoding)
        assert list(read(path, "ctb")) == ["(TOP (IP (NN 上海浦东开发与法制建设同步)))"]


def test_ctb_markup_beside_trees(tmp_path: Path) -> None:
    path = tmp_path / "chtb_001.fid"
    path.write_text(
        "<DOC><S ID=1>( (IP (NN 猫)))</S>\n<P>text</P>\n<S ID=2>( (IP\n (NN 狗)))</S></DOC>\n", encoding="utf-8"
    )
    assert list(read(path, "ctb")) == ["(TOP (IP (NN 猫)))", "(TOP (IP (NN 狗)))"]


@pytest.mark.parametrize("before", ["<DATE>1 (May)</DATE>", "<DOC><DOCID>1</DOCID>", "<DOC>\n<HEADER>\n(x</HEADER>"])
@pytest.mark.parametrize("first_line", ["", '<?xml version="1.0"?>\n', "<!-- a ( b\nc -->\n"])
def test_ctb_markup_before_trees(before: str, first_line: str, tmp_path: Path) -> None:
    """A header or a comment may end on the line of a tree. What else stands there is an error, and no loss."""
    path = tmp_path / "chtb_001.fid"
    path.write_text(f"{first_line}{before}<S ID=2>( (IP (NN 猫)))</S>\n", encoding="utf-8")
    assert list(read(path, "ctb")) == ["(TOP (IP (NN 猫)))"]
    path.write_text(f"{first_line}{before}<S ID=2> x ( (IP (NN 猫)))</S>\n", encoding="utf-8")
    with pytest.raises(TreebankError, match=r"\[E120\].*'x'"):
        list(read(path, "ctb"))


def test_ctb_headers_must_be_closed(tmp_path: Path) -> None:
    path = tmp_path / "chtb_001.fid"
    for end in ("", "<S ID=1>\n( (IP (NN 猫)))\n</S>\n"):
        path.write_text(f"( (IP (NN 狗)))\n<DATE> 1999 (May)\n{end}", encoding="utf-8")
        with pytest.raises(TreebankError, match=r"chtb_001\.fid:2: \[E120\].*<DATE>"):
            list(read(path, "ctb"))


def test_ctb_says_where_a_tree_is_broken(tmp_path: Path) -> None:
    path = tmp_path / "chtb_001.fid"
    path.write_text("<S ID=1>\n( (IP (NN 猫)))\n</S>\n<S ID=2>\n( (IP (NN 猫))\n</S>\n", encoding="utf-8")
    with pytest.raises(TreebankError, match=r"chtb_001\.fid:[56]"):
        list(read(path, "ctb"))


@pytest.mark.parametrize(
    "name, file, part",
    [
        ("ptb", "wsj/02/wsj_0201.mrg", "train"),
        ("ptb", "wsj/21/wsj_2172.mrg", "train"),
        ("ptb", "wsj/22/wsj_2200.mrg", "dev"),
        ("ptb", "wsj/23/wsj_2300.mrg", "test"),
        ("ptb", "wsj/00/wsj_0001.mrg", None),
        ("ptb", "wsj/24/wsj_2400.mrg", None),
        ("ptb", "brown/cf/cf01.mrg", None),
        ("ctb", "bracketed/chtb_001.fid", "train"),
        ("ctb", "bracketed/chtb_270.fid", "train"),
        ("ctb", "bracketed/chtb_271.fid", "test"),
        ("ctb", "bracketed/chtb_300.fid", "test"),
        ("ctb", "bracketed/chtb_301.fid", "dev"),
        ("ctb", "bracketed/chtb_325.fid", "dev"),
        ("ctb", "bracketed/chtb_326.fid", None),
        ("ctb", "bracketed/chtb_439.fid", None),
        ("ctb", "bracketed/chtb_440.fid", "train"),
        ("ctb", "bracketed/chtb_1151.fid", "train"),
        ("ctb", "bracketed/chtb_0301.nw", "dev"),
        ("ctb", "bracketed/chtb_1000.nw", "train"),
        ("ctb", "bracketed/chtb_400.fid", None),
        ("ctb", "bracketed/chtb_2000.nw", None),
    ],
)
def test_standard_splits(name: str, file: str, part: str) -> None:
    split = get_format(name).split
    assert split is not None
    assert read_split(split).next_part(SourceFile(Path("root") / file, Path("root")), 0) == part


@pytest.mark.parametrize("leaf, word", [("tungu-tunga", "tungu"), ("a-b-a-c", "a-b"), ("---", "-"), ("hús", "hús")])
def test_lemmas(leaf: str, word: str) -> None:
    assert cut_lemma(leaf) == word


def test_lemmas_are_kept() -> None:
    """Of three parts the middle one is the word's: a lemma has as many dashes as its word, or one fewer."""
    found = [cut_lemma(leaf) for leaf in ("tungu-tunga", "a-b-c", "a-b-a-c", "hús", "-x")]
    assert [(word, word.lemma) for word in found] == [
        ("tungu", "tunga"), ("a-b", "c"), ("a-b", "a-c"), ("hús", ""), ("-x", ""),
    ]  # fmt: skip


# What formats say of words beside their tags: words, lemmas, morphology.
WORDS = {
    "icepahc": ("( (IP (NP (N tungu-tunga)) (VB er-vera)) (ID 1150.X.SCI-LIN,.1))", ["tunga", "vera"], ["", ""]),
    "cess": ("(S (sn (nc gatos gato)) (vm duermen dormir))", ["gato", "dormir"], ["", ""]),
    "spmrl": ("(TOP (S (NC##lem=chat|g=m|n=s## chats) (V##t=pst|_## va)))", ["chat", ""], ["g=m|n=s", "t=pst"]),
    "spmrl, a key twice": ("(TOP (S (V##gen=F|gen=M|num=S|gen=F## va)))", [""], ["gen=F,M|num=S"]),
    "spmrl, lemmas": (
        "(TOP (S (PU##lem=-LRB-|s=W## -LRB-) (CC##lem=et\\/ou## et\\/ou) (PU##lem=### #) (SYM##s=#|lem=### #)))",
        ["(", "et/ou", "#", "#"],
        ["s=W", "", "", "s=#"],
    ),
    "spmrl, no features": ("(TOP (S (NN##gloss=x=y|n=s## b) (SYM##gloss==## =)))", ["", ""], ["n=s", ""]),
    "turkish, no features": ("( (S (NP {morphologicalAnalysis=a+N=X}{turkish=a})) )", ["a"], [""]),
    "turkish": (
        "( (S (NP {morphologicalAnalysis=yasa+NOUN+A3SG}{turkish=yasada}) (. {turkish=.})) )",
        ["yasa", ""],
        ["Analysis=NOUN+A3SG", ""],
    ),
    "oncoj": ("( (IP (N (L05 (PHON pito))) (VB (L06 (PHON ku)))) (ID M.1))", ["L05", "L06"], ["", ""]),
    "oncoj, other spaces": ("( (IP (N (L05\n (PHON pito))) (VB (L06  (PHON\tku) ))))", ["L05", "L06"], ["", ""]),
}


@pytest.mark.parametrize("name", WORDS)
def test_what_is_said_of_words(name: str, tmp_path: Path) -> None:
    """It goes into docs and .spacy files, with the sentence's id; and all that was cut is counted."""
    text, lemmas, morphs = WORDS[name]
    path, form, counts = tmp_path / "trees.txt", get_format(name.partition(",")[0]), CleanCounts()
    path.write_text(text, encoding="utf-8")
    [parse] = form.read_parses(path, counts=counts)
    doc_file = DocFile(tmp_path / "out.spacy", Vocab(), attrs=form.attrs)
    doc_file.add(parse)
    doc_file.write(doc_file.path)
    [doc] = DocBin(store_user_data=True).from_disk(doc_file.path).get_docs(Vocab())
    assert [token.lemma_ for token in doc] == lemmas
    assert [str(token.morph) for token in doc] == morphs
    ids = {"icepahc": "1150.X.SCI-LIN,.1", "oncoj": "M.1"}
    assert parse.id == ids.get(name, "") == doc.user_data.get("id", "")
    assert counts.lines or counts.labels or counts.removed
    two = doc_from_parses(Vocab(), [parse, Parse(("a",), ("X",), ())])
    assert two.user_data.get("id") == ([parse.id, ""] if parse.id else None)


def test_what_was_cut_is_counted(tmp_path: Path) -> None:
    for name in ("sinica", "turkish", "floresta", "spmrl", "keyaki", "cess"):
        path, counts = tmp_path / name, CleanCounts()
        path.write_text(PIECES[name][0], encoding="utf-8")
        assert list(get_format(name).read_parses(path, counts=counts))
        assert counts.lines or counts.labels, name


def test_escapes_of_sinica(tmp_path: Path) -> None:
    path = tmp_path / "clauses.txt"
    words = ("{", "a\\b", "a\\/b", "-LRB-", "\\*")  # what Penn files escape says something else here
    pieces = "|".join(f"role:Nh:{word}" for word in words)
    path.write_text(f"#1 S({pieces})#\n", encoding="utf-8")
    [parse] = get_format("sinica").read_parses(path)
    assert parse.words == words


@pytest.mark.parametrize(
    "name, good, bad, leaf",
    [
        ("sinica", "#1 S(Head:V:x)#", "#2 S(agent:NP(Head:Nh:a)|time:Nd:12:30)#", "Nd:12:30"),
        ("turkish", "( (S (V {turkish=a}{english=x})))", "( (S (V {turkish=a{b}}{english=x})))", "{turkish=a{b}}"),
        ("oncoj", "( (N (L1 (LOG a) (PHON b))))", "( (NP (L1 (LOG a) (N (L2 (PHON b))))))", "a"),
    ],
)
def test_leaves_of_another_form(name: str, good: str, bad: str, leaf: str, tmp_path: Path) -> None:
    path = tmp_path / "trees.txt"
    path.write_text(f"{good}\n{bad}\n{good}\n", encoding="utf-8")
    errors: list[TreebankError] = []
    trees = list(get_format(name).read(path, on_error=errors.append))
    assert [tree.line for tree in trees] == [1, 3] and [error.line for error in errors] == [2]
    assert "[E126]" in str(errors[0]) and f"leaf '{leaf}" in str(errors[0])
    with pytest.raises(TreebankError, match=r"trees\.txt:2: \[E126\]"):
        list(get_format(name).read(path))


def test_scripts_of_a_lexeme(tmp_path: Path) -> None:
    path = tmp_path / "trees.psd"
    path.write_text("( (IP (N (L1 (LOG a) (PHON b)))))\n", encoding="utf-8")
    [parse] = get_format("oncoj").read_parses(path)
    assert parse.words == ("ab",) and parse.pos == ("N",)


@pytest.mark.parametrize("layers", ["{turkish=}{english=x}", "{turkish=}{morphologicalAnalysis=a+NOUN}"])
def test_words_of_turkish_that_are_empty(layers: str, tmp_path: Path) -> None:
    path = tmp_path / "trees.txt"
    path.write_text(f"( (S (NP {layers}) (VP {{turkish=gel}})) )\n", encoding="utf-8")
    with pytest.raises(TreebankError, match=r"trees\.txt:1: \[E008\]"):
        list(get_format("turkish").read_parses(path))


def test_traces_of_turkish(tmp_path: Path) -> None:
    """Leaves without a Turkish counterpart go, whatever their label, with the phrases that they leave empty."""
    path = tmp_path / "trees.txt"
    path.write_text(
        "( (S (NP (DT {turkish=*NONE*}{english=the}) (CD {turkish=*U*})) (-NONE- {turkish=0}) "
        "(NP (CD {turkish=0}) (NN {turkish=puan})) (. {turkish=.})) )\n",
        encoding="utf-8",
    )
    counts = CleanCounts()
    [parse] = get_format("turkish").read_parses(path, counts=counts)
    assert format_tree(parse.to_tree("TOP")) == "(TOP (S (NP (CD 0) (NN puan)) (. .)))"
    assert (counts.traces, counts.emptied) == (3, 1)


def test_halves_of_phrases_in_floresta(tmp_path: Path) -> None:
    path = tmp_path / "trees.ptb"
    path.write_text("(STA+fcl (P+vp- (V+v-fin vai)) (-P+-vp (V+v-inf -se)) (--))\n", encoding="utf-8")
    [tree] = get_format("floresta").read(path)
    assert format_tree(tree) == "(fcl (vp (v-fin vai)) (vp (v-inf -se)) (-- --))"


@pytest.mark.parametrize(
    "text, kind",
    [
        ("#FORMAT 4\n#BOS 1 1 1 0\nEs\t--\tPPER\t--\tEP\t500\n#EOS 1\n", "NEGRA"),
        ("%% word\ttag\n#BOS 1\n", "NEGRA"),
        ("%% word\ttag\n%%\n\n# one\n#BOT ORIGIN\n", "NEGRA"),
        ("%% made by hand\n#FORMAT 3\n", "NEGRA"),
        ("#BOT ORIGIN\n", "NEGRA"),
        ("<!-- one -->\n<corpus>\n", "TigerXML"),
        ('<?xml version="1.0"?>\n<corpus id="x">\n</corpus>\n', "TigerXML"),
        ("(S (VP (PP 0=Darauf) (VV 2=reagiert)) (VM 1=hat))\n", "disco-dop"),
    ],
)
def test_discontinuous_trees_are_refused_by_name(text: str, kind: str, tmp_path: Path) -> None:
    path = tmp_path / "trees.mrg"
    path.write_text(text, encoding="utf-8")
    for read_all in (lambda: list(read_trees(path)), lambda: list(get_format("spmrl").read(path))):
        with pytest.raises(TreebankError, match=rf"trees\.mrg:1: \[E124\].*{kind}"):
            read_all()


@pytest.mark.parametrize(
    "text",
    [
        "%% Sent 1\n( (S (NN a)) )\n\n%% Sent 2\n( (S (NN b)) )\n%%\n",
        "*x*x*x*x*x*\n*x*  Copyright (C) 1995 (  *x*\n*x*x*x*\n\n\n( (S\n  (NN a)) )\n*x*x*x*\n( (S (NN b)) )\n",
        "( (S (NN a)) )\n\n( END_OF_TEXT_UNIT )\n\n( (S (NN b)) )\n( END_OF_TEXT_UNIT )\n",
    ],
)
def test_lines_between_trees(text: str, tmp_path: Path) -> None:
    """Other readers of brackets, `search` and `evaluate`, take the same lines as comments."""
    path = tmp_path / "trees.mrg"
    path.write_text(text, encoding="utf-8")
    expected = [format_tree(tree) for tree in read_string("( (S (NN a)) )( (S (NN b)) )")]
    trees = list(read_trees(path))
    assert [format_tree(tree) for tree in trees] == expected
    for name in ("penn", "ptb"):
        assert list(map(format_tree, get_format(name).read(path))) == expected
    columns = TreeColumns.join(read_brackets(text.encode(), "trees.mrg"))
    assert columns.line.tolist() == [tree.line for tree in trees]
    assert len(list(join_lines(read_tree_lines(path)))) == 2


def test_numbers_are_words(tmp_path: Path) -> None:
    path = tmp_path / "trees.mrg"
    path.write_text("(S (NN 2=x) (NN y))\n(S (X 1=a) (X 2=b))\n(S (X 7))\n", encoding="utf-8")
    assert len(list(read_trees(path))) == 3


def test_comments(tmp_path: Path) -> None:
    path = tmp_path / "trees.mrg"
    path.write_text(
        "# log_prob -1\n#\n# tree 1 log_prob -1\n(S (NN a))\n# tree 2 log_prob -2\n(S (NN b))\n"
        "( (S\n# within a tree\n (# #)\n(CD 5)))\n# tree 12 log_prob -3\n(S (NN c))\n(S (NN d)\n#\n"
    )
    errors: list[TreebankError] = []
    assert [format_tree(tree) for tree in read_trees(path, on_error=errors.append)] == [
        "(S (NN a))",
        "( (S (# #) (CD 5)))",
    ]
    assert [error.line for error in errors] == [13] or [error.tree_line for error in errors] == [13]


@pytest.mark.parametrize("leaf, word", [(",-,", ","), ("faðir-in", "faðir-in"), ("a-a", "a-a"), ("-", "-")])
def test_lemmas_of_marks(leaf: str, word: str) -> None:
    assert cut_lemma_of_mark(leaf) == word


@pytest.mark.parametrize("text", ["", "S(", "S(Head:V:x))", "S(Head:V:x)Na:y", "S()", "NP(x)", "S(a:B:c)(d:E:f)"])
def test_no_clause(text: str, tmp_path: Path) -> None:
    path = tmp_path / "clauses.txt"
    path.write_text(f"#1 S(Head:V:x)#\n#2 {text}#\n#3 S(Head:V:y)#\n", encoding="utf-8")
    errors: list[TreebankError] = []
    trees = list(get_format("sinica").read(path, on_error=errors.append))
    assert [tree.line for tree in trees] == [1, 3]
    assert len(errors) == 1 and 2 <= errors[0].line <= 3


def test_deep_clause(tmp_path: Path) -> None:
    depth = 5000
    path = tmp_path / "clauses.txt"
    path.write_text("#1 " + "Head:S(" * depth + "Head:V:x" + ")" * depth + "#\n", encoding="utf-8")
    (line,) = read(path, "sinica")
    assert line == "(TOP (S (V x)))"


FLORESTA = """\
#Comentário, 7/9/2006 (com parênteses
#1 CP1-1 É (um) teste
(STA+fcl (P+v-fin É)
         (SC+np (>N+art um)
                (H+n teste))
         ({)
         (}))

#2 CP1-2 Março
(UTT+n Março

#3 CP1-3 Página :-)
(UTT+n Página
(.))
#4 CP1-4 Fim
  (UTT+n Fim
"""


@pytest.mark.parametrize("encoding", ["latin-1", "utf-8"])
def test_floresta_as_distributed(encoding: str, tmp_path: Path) -> None:
    """Comments with brackets in them, old encodings, and one-word trees that lack their bracket."""
    path = tmp_path / "Floresta.ptb"
    path.write_text(FLORESTA, encoding=encoding)
    errors: list[TreebankError] = []
    form = get_format("floresta")
    trees = [format_tree(tree) for tree in form.read(path, on_error=errors.append)]
    assert trees == [
        "(fcl (v-fin É) (np (art um) (n teste)) (-LRB- -LRB-) (-RRB- -RRB-))",
        "(n Março)",
        "(n Fim)",
    ]
    assert [error.line for error in errors] == [13]


def test_cess_as_distributed(tmp_path: Path) -> None:
    path = tmp_path / "1.tbf"
    path.write_bytes("\n(\n (S\n  (sn (nc año año))\n  (Fpa ( ()\n  (vm es ser)))\n".encode("latin-1"))
    assert list(read(path, "cess")) == ["(TOP (S (sn (nc año)) (Fpa -LRB-) (vm es)))"]


def test_sinica_as_distributed(tmp_path: Path) -> None:
    """A folder with a file `parsed`, beside others that are not trees."""
    (tmp_path / "README").write_text("Sinica")
    (tmp_path / "raw").write_text("一。\n", encoding="utf-8")
    (tmp_path / "parsed").write_text("#1:1.[1] NP(Head:Neu:一)#。(PERIOD)\r\n", encoding="utf-8")
    form = get_format("sinica")
    [file] = find_files([tmp_path], suffixes=form.suffixes)
    assert list(read(file.path, "sinica")) == ["(TOP (NP (Neu 一)))"]
    file.path.write_text("#1:1.[1] NP(Head:Neu:一)#。(PERIOD)\r\n", encoding="big5")
    assert list(read(file.path, "sinica")) == ["(TOP (NP (Neu 一)))"]


def test_a_bad_clause_is_skipped(tmp_path: Path) -> None:
    path = tmp_path / "trees.txt"
    path.write_text("#1:1.[1] S(Head:V:x)#\nnonsense\n#2:2.[2] S(Head:V:y)#\n", encoding="utf-8")
    errors: list[TreebankError] = []
    trees = list(get_format("sinica").read(path, on_error=errors.append))
    assert [tree.line for tree in trees] == [1, 3]
    assert [error.line for error in errors] == [2]


# Trees of each sample that are in the cleaned train or dev file; the rest of a sample is in parts that are not at hand.
SAMPLES = {
    "farpahc": ("farpahc", 12),
    "floresta": ("floresta", 18),
    "icepahc": ("icepahc", 20),
    "keyaki_ja": ("keyaki", 20),
    "mcvf_ppchf": ("historical", 20),
    "oncoj": ("oncoj", 20),
    "ppchy": ("historical", 20),
    "sinica": ("sinica", 20),
}


@pytest.mark.slow
@pytest.mark.parametrize("folder", SAMPLES)
def test_samples_equal_the_cleaned_trees(folder: str, treebanks: Path) -> None:
    name, expected = SAMPLES[folder]
    (sample,) = (treebanks / folder / "raw").glob("sample.*")
    found = set(read(sample, name))
    for part in ("train.mrg", "dev.mrg"):
        found -= {format_tree(tree) for tree in read_trees(treebanks / folder / part)}
    assert len(list(read(sample, name))) - len(found) == expected


@pytest.mark.slow
def test_wsj_files_equal_the_cleaned_trees(treebanks: Path) -> None:
    files = sorted((treebanks / "wsj_sample" / "raw_combined").glob("*.mrg"))
    for part, first, last in (("train", "wsj_0001", "wsj_0159"), ("dev", "wsj_0160", "wsj_0179")):
        ours = [line for file in files if first <= file.stem <= last for line in read(file, "ptb")]
        assert ours == [format_tree(tree) for tree in read_trees(treebanks / "wsj_sample" / f"{part}.mrg")]
