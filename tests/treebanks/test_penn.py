"""Reading and writing Penn brackets: layouts, encodings, every malformation with its place, and no partial files."""

import io
import pickle
import random
import re
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from types import FrameType
from typing import Any

import pytest
from hypothesis import given, strategies as st

from spacy_parsetag.errors import TreebankError
from spacy_parsetag.treebanks import penn
from spacy_parsetag.treebanks.lines import read_file_lines
from spacy_parsetag.treebanks.penn import read_string, read_trees, write_trees
from spacy_parsetag.trees import Tree, from_nltk, to_nltk
from spacy_parsetag.trees.brackets import format_tree
from tools.mutate import LAYOUTS, format_layout, make_tree

SHE = "(TOP (S (NP (PRP She)) (VP (VBZ reads))))"
HE = "(TOP (S (NP (PRP He)) (VP (VBZ writes))))"


def read(text: str, **options: Any) -> list[str]:
    return [format_tree(tree) for tree in read_string(text, **options)]


def code_of(error: TreebankError) -> str:
    return error.reason[1:5]


def nested(depth: int) -> Tree:
    tree = Tree("NN", ("deep",))
    for _ in range(depth):
        tree = Tree("NP", (Tree("DT", ("the",)), tree))
    return Tree("TOP", (tree,))


# Layouts and encodings


@pytest.mark.parametrize(
    "text, trees",
    [
        ("", []),
        (" \n\n\t\n", []),
        (SHE, [SHE]),
        (f"{SHE} {HE}\n{SHE}{HE}", [SHE, HE, SHE, HE]),
        ("( (S (NN dog) ))", ["( (S (NN dog)))"]),
        ("((S (NN dog)))", ["( (S (NN dog)))"]),
        ("(\n  (S\n    (NN dog)\n  )\n)", ["( (S (NN dog)))"]),
        ("(\nS (NN\ndog\n))", ["(S (NN dog))"]),
        ("(NN dog)", ["(NN dog)"]),
        ("(S\n(NP\n(DT a)\n(NN b))\n(VP\n(VB c)))\n(S\n(NN x))", ["(S (NP (DT a) (NN b)) (VP (VB c)))", "(S (NN x))"]),
        ("   (TOP (NN a))\n   (TOP (NN b))", ["(TOP (NN a))", "(TOP (NN b))"]),
        (SHE.replace(" (", "\r\n\t("), [SHE]),
        (SHE + "\r" + HE + "\r", [SHE, HE]),
        ("\ufeff" + SHE + "\n\ufeff" + HE, [SHE, HE]),
        ("(TOP (CD 1\u00a00) (NN \u3000\u2028\x85\x1c))", ["(TOP (CD 1\\u00a00) (NN \\u3000\\u2028\\u0085\\u001c))"]),
        ("( (ROOT (S (NN a))) (ID x,1.2))", ["( (ROOT (S (NN a))) (ID x,1.2))"]),
        ("(TOP (NN a) (TOP (NN b)))" + SHE, ["(TOP (NN a) (TOP (NN b)))", SHE]),
        ("(TOP (-LRB- -LRB-) (NP=2 (-NONE- *T*-1)))", ["(TOP (-LRB- -LRB-) (NP=2 (-NONE- *T*-1)))"]),
    ],
)  # fmt: skip
def test_layouts(text: str, trees: list[str]) -> None:
    assert read(text) == trees


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("root", ["TOP", "", "bare"])
def test_random_trees_in_layouts(layout: str, root: str) -> None:
    rng = random.Random(0)
    trees = [make_tree(rng, f"w{i}", rng.randint(1, 20), root) for i in range(50)]
    assert read_string(format_layout(trees, layout)) == list(map(from_nltk, trees))


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "latin-1", "cp1252", "utf-16", "utf-16-le", "utf-32"])
def test_encodings(encoding: str, tmp_path: Path) -> None:
    path = tmp_path / "trees.mrg"
    path.write_bytes("(TOP (NN naïve))\r\n(TOP (NN é))".encode(encoding))
    assert [format_tree(tree) for tree in read_trees(path, encoding=encoding)] == ["(TOP (NN naïve))", "(TOP (NN é))"]


def test_sources(tmp_path: Path) -> None:
    path = tmp_path / "trees.mrg"
    path.write_text(SHE)
    for source in (path, str(path), io.StringIO(SHE)):
        assert [format_tree(tree) for tree in read_trees(source)] == [SHE]
    with path.open() as stream:
        assert len(list(read_trees(stream))) == 1
        assert not stream.closed
    with pytest.raises(ValueError, match="E101"):
        list(read_trees(path, encoding="klingon"))
    with pytest.raises(FileNotFoundError):
        list(read_trees(tmp_path / "none.mrg"))
    with path.open("rb") as stream, pytest.raises(ValueError, match=r"\[E127\].*trees\.mrg gives bytes"):
        list(read_trees(stream))  # type: ignore[arg-type]


def test_numbers_before_words() -> None:
    """A file of numbered words is refused by its first tree of several words; later ones may just look like that."""
    with pytest.raises(TreebankError, match="E124"):
        read_string("(S (NN 0=a) (NN 1=b))")
    assert len(read_string("(S (NN a) (NN b))\n(S (NN 0=a) (NN 1=b))")) == 2
    with pytest.raises(TreebankError, match=r":2: \[E124\]"):  # one word says nothing
        read_string("(TOP (NN 0=Hello))\n(S (VP (VB 0=is) (JJ 2=rich)) (NP (PRP 1=he)))")


def test_whole_trees_say_where_they_start() -> None:
    """What is in them has no line of its own."""

    def lines(tree: Tree) -> list[int]:
        return [tree.line, *(line for child in tree.children if isinstance(child, Tree) for line in lines(child))]

    trees = read_string(f"\n{SHE}\n\n{HE.replace('(VP', chr(10) + '(VP')}{SHE}")
    assert [lines(tree) for tree in trees] == [[line, 0, 0, 0, 0, 0] for line in (2, 4, 5)]


def test_no_line_breaks() -> None:
    n_trees = 10_000
    assert read(" ".join([SHE] * n_trees)) == [SHE] * n_trees
    word = "x" * 1_000_000
    assert read(f"\n(TOP (NN {word}) (NN b))") == [f"(TOP (NN {word}) (NN b))"]
    with pytest.raises(TreebankError, match="E120") as info:
        read(f"\n{' '.join([SHE] * n_trees)} stray")
    assert info.value.line == 2


def test_streaming() -> None:
    """Trees come before the file ends."""

    def lines() -> Iterator[str]:
        yield from [SHE, HE, SHE]
        raise KeyboardInterrupt

    class Stream(io.StringIO):
        source = lines()

        def readline(self, size: int = -1) -> str:  # type: ignore[override]
            return next(self.source) + "\n"

    assert format_tree(next(read_trees(Stream()))) == SHE


# Malformations

MALFORMED: dict[str, Any] = {
    # name: (text, code, line, line where the tree starts)
    "whole_tree_empty": (f"{SHE}\n(())\n{HE}", "E114", 2, 2),
    "empty_brackets": (f"{SHE}\n()\n{HE}", "E114", 2, 2),
    "only_labels": (f"{SHE}\n(TOP\n (S (NP)))\n{HE}", "E114", 3, 2),
    "empty_node": (f"{SHE}\n(TOP (S\n (NP) (NN a)))\n{HE}", "E115", 3, 2),
    "empty_label": (f"{SHE}\n(TOP (S ((NN a))))\n{HE}", "E116", 2, 2),
    "empty_label_over_lines": (f"{SHE}\n(TOP (S (\n (NN a))))\n{HE}", "E116", 2, 2),
    "word_beside_node": (f"{SHE}\n(TOP (NP the\n (NN dog)))\n{HE}", "E117", 2, 2),
    "two_words": (f"{SHE}\n(TOP (NP\n the dog))\n{HE}", "E117", 3, 2),
    "word_under_root": (f"{SHE}\n(TOP dog)\n{HE}", "E117", 2, 2),
    "bracket_missing": (f"{SHE}\n\n{HE[:-1]}\n{HE}\n{SHE}", "E121", 4, 3),
    "brackets_missing_on_a_line": (f"{SHE}\n{HE[:-2]} {HE}\n{SHE}", "E121", 2, 2),
    "bracket_missing_no_wrapper": ("(S (NN a))\n(S (NN b)\n(S (NN c))\n(S (NN d))", "E121", 3, 2),
    "margin_of_the_first_alone": ("  (S (NN a)\n(S (NN b))\n(S (NN c))", "E121", 2, 1),
    "file_ends": (f"{SHE}\n{HE}\n(TOP (S\n (NN a)\n", "E122", 4, 3),
    "file_ends_in_label": (f"{SHE}\n{HE}\n(TOP (", "E122", 3, 3),
    "extra_bracket": (f"{SHE}\n{HE})\n{HE}", "E119", 2, 2),
    "extra_bracket_first": (f") {SHE}\n{HE}", "E119", 1, 1),
    "closed_early": (f"{SHE}\n(TOP (S (NN a)))) (VP (VB b)))\n{HE}", "E119", 2, 2),
    "stray_text": (f"{SHE}\nsome text\nand more\n{HE}", "E120", 2, 2),
    "nul": (f"{SHE}\n(TOP (S\n (NN a\0)))\n{HE}", "E118", 3, 2),
    "nul_outside": (f"{SHE}\n\0\0\n{HE}", "E118", 2, 2),
    "undecodable": (f"{SHE}\n(TOP (S\n (NN a\udce9)))\n{HE}", "E113", 3, 2),
    "undecodable_outside": (f"{SHE}\n\udce9 \udce9\n{HE}", "E113", 2, 2),
}  # fmt: skip


@pytest.mark.parametrize("case", MALFORMED)
def test_malformations(case: str, tmp_path: Path) -> None:
    text, code, line, tree_line = MALFORMED[case]
    path = tmp_path / "bad.mrg"
    path.write_bytes(text.encode("utf8", errors="surrogateescape"))
    with pytest.raises(TreebankError) as info:
        list(read_trees(path))
    error = info.value
    assert code_of(error) == code
    assert (error.path, error.line, error.tree_line) == (str(path), line, tree_line)
    assert str(error).startswith(f"{path}:{line}: ")
    if tree_line != line:
        assert f"starts on line {tree_line}" in error.reason
    # Going on: one report, and the sound trees around the problem come, each as often as it is there.
    errors: list[TreebankError] = []
    trees = [format_tree(tree) for tree in read_trees(path, on_error=errors.append)]
    assert [str(err) for err in errors] == [str(error)]
    sound = [line for line in text.splitlines() if line in (SHE, HE) or re.fullmatch(r"\(S \(NN .\)\)", line)]
    assert len(trees) >= 2 and sound and not Counter(sound) - Counter(trees)
    assert all(tree in (SHE, HE) or tree.startswith("(S (NN") for tree in trees)
    again = pickle.loads(pickle.dumps(error))
    assert vars(again) == vars(error) and str(again) == str(error)


@pytest.mark.parametrize(
    "data, encoding, hint",
    [
        ("(TOP (NN é))".encode("latin-1"), "utf-8", "latin-1"),
        ("(TOP (NN é))".encode("utf-16"), "utf-8", "utf-16"),
        ("(TOP (NN é))".encode("utf-16"), "latin-1", "utf-16"),
        ("(TOP (NN é))".encode("utf-16-le"), "utf-8", "utf-16"),
        ("(TOP (NN é))".encode("utf-8-sig"), "latin-1", "utf-8"),
        ("(TOP (NN é))".encode("utf-16")[:-1], "utf-16", "latin-1"),
        ("(TOP (NN \u20ac))".encode(), "ascii", "latin-1"),
        (b"(TOP (NN \xff\xff))", "gbk", "latin-1"),
    ],
)
def test_wrong_encoding(data: bytes, encoding: str, hint: str, tmp_path: Path) -> None:
    path = tmp_path / "bad.mrg"
    path.write_bytes(data)
    with pytest.raises(TreebankError, match=f"--encoding {hint}") as info:
        list(read_trees(path, encoding=encoding))
    assert info.value.line == 1
    errors: list[TreebankError] = []
    assert list(read_trees(path, encoding=encoding, on_error=errors.append)) == []
    assert errors


@pytest.mark.parametrize("layout", ["(TOP (NN é))\n", "\n (TOP\n (NN é))\n"])
@pytest.mark.parametrize("encoding", ["utf-16-le", "utf-16-be", "utf-32-le", "utf-32-be", "utf-16", "utf-32"])
def test_the_encoding_that_is_named_is_right(encoding: str, layout: str, tmp_path: Path) -> None:
    path = tmp_path / "trees.mrg"
    path.write_text(layout, encoding=encoding)
    with pytest.raises(TreebankError, match=f"--encoding {encoding}[).]"):
        list(read_trees(path))
    assert [format_tree(tree) for tree in read_trees(path, encoding=encoding)] == ["(TOP (NN é))"]


def test_undecodable_stream(tmp_path: Path) -> None:
    """A stream that others opened cannot be read past such bytes; that is a named error too."""
    path = tmp_path / "bad.mrg"
    path.write_bytes(b"(TOP (NN \xe9))\n")
    for on_error in (None, [].append):
        with path.open(encoding="utf8") as stream:
            if on_error is None:
                with pytest.raises(TreebankError, match="E113"):
                    list(read_trees(stream))
            else:
                assert list(read_trees(stream, on_error=on_error)) == []


def test_default_tag() -> None:
    assert read("(TOP (NP the (NN dog)))", default_tag="X") == ["(TOP (NP (X the) (NN dog)))"]
    assert read("(TOP (NP the big dog))", default_tag="X") == ["(TOP (NP (X the) (X big) (X dog)))"]
    assert read("(TOP dog)", default_tag="X") == ["(TOP (X dog))"]
    assert read("(NP dog)", default_tag="X") == ["(NP dog)"]


def test_trees_before_the_error_are_given() -> None:
    trees = read_trees(io.StringIO(f"{SHE}\n{HE}\n(TOP (S (NN a)\n"))
    assert [format_tree(next(trees)), format_tree(next(trees))] == [SHE, HE]
    with pytest.raises(TreebankError, match="E122"):
        next(trees)


def test_unclosed_tree_in_a_long_file() -> None:
    """Without wrappers the reader must notice soon, and lose nothing but the tree itself."""
    lines = [f"(S (NN a{i}))" for i in range(5000)]
    expected = lines[:10] + lines[11:2000] + lines[2001:]
    lines[10] = "(S (NN a10)"
    lines[2000] = "(S (NP (NN a2000)"
    errors: list[TreebankError] = []
    assert read("\n".join(lines), on_error=errors.append) == expected
    assert [(err.tree_line, err.line) for err in errors] == [(11, 12), (2001, 2002)]


@pytest.mark.parametrize("begin", ["((S (NN a4))", "(TOP (S (NN a4))", "(TOP (S\n(NN a4))"])
def test_an_unclosed_wrapper_where_trees_have_none(begin: str) -> None:
    """It loses only itself, too."""
    lines = [f"(S (NN a{i}))" for i in range(1000)]
    expected = lines[:4] + lines[5:]
    lines[4] = begin
    errors: list[TreebankError] = []
    found = read("\n".join(lines), on_error=errors.append)
    assert [tree for tree in found if tree.startswith("(S")] == expected and len(found) <= 1000
    assert (code_of(errors[0]), errors[0].tree_line, errors[0].line) == ("E121", 5, 6)


def test_oversized_tree() -> None:
    """A tree that never ends does not fill the memory."""
    text = "\n".join([SHE, "(TOP (S", *[" (NN a) (NN b)"] * 110_000, HE])
    errors: list[TreebankError] = []
    assert read(text, on_error=errors.append) == [SHE, HE]
    assert [code_of(error) for error in errors] == ["E123"]
    assert (errors[0].tree_line, errors[0].line) == (2, 100_003)


def test_words_after_a_tree_without_words() -> None:
    """Its brackets are as they should be, so that what follows is no part of it, and wrong by itself."""
    errors: list[TreebankError] = []
    assert read(f"{SHE}\n(NP ())\nfoo bar\n{HE}", on_error=errors.append) == [SHE, HE]
    assert [(code_of(error)[0], error.line) for error in errors] == [("E", 2), ("E", 3)]
    assert code_of(errors[1]) == "E120"
    errors.clear()
    assert read(f"(NP ()))\n{HE}", on_error=errors.append) == [HE]  # a bracket too many is part of what was reported
    assert len(errors) == 1


def test_a_tree_after_an_oversized_one_without_a_wrapper() -> None:
    errors: list[TreebankError] = []
    assert read("(S" + " (NN a)" * 200_000 + "\n(S (NN b))", on_error=errors.append) == ["(S (NN b))"]
    assert [(code_of(error), error.tree_line, error.line) for error in errors] == [("E121", 1, 2)]


def test_a_bracket_alone_in_its_line_after_a_broken_tree() -> None:
    """The root that begins the next line is its child, not another tree."""
    errors: list[TreebankError] = []
    trees = list(read_string(f"{SHE[:-1]}\n(\n{HE})\n{SHE}", on_error=errors.append))
    assert [format_tree(tree) for tree in trees] == [f"( {HE})", SHE] and [tree.line for tree in trees] == [2, 4]
    assert [(code_of(error), error.tree_line, error.line) for error in errors] == [("E121", 1, 2)]


def test_a_wrapped_tree_after_a_broken_one_without() -> None:
    """What is read again goes up to the line that ended it, and this one is not lost."""
    sound = ["(S (NN b))", "(TOP (NN c))", "(TOP (NN d))"]
    errors: list[TreebankError] = []
    assert read("\n".join(["(S (NN a)", *sound]), on_error=errors.append) == sound
    assert [(code_of(error), error.tree_line, error.line) for error in errors] == [("E121", 1, 2)]


def test_nodes_in_the_first_column_are_no_trees() -> None:
    """Where a broken tree's nodes begin lines, they are not given out as trees."""
    tree = SHE.replace(" (", "\n(")
    errors: list[TreebankError] = []
    assert read(f"{tree}\n{tree[:-1]}\n{tree}\n{tree[:-3]}", on_error=errors.append) == [SHE, SHE]
    assert [code_of(error) for error in errors] == ["E121", "E122"]


PIECES = [
    "( (S (NN a) ",
    "(",
    "()",
    "(()",
    "(TOP (NN a))) ",
    "(S (NN a)\n",
    "( (S (NN a)\n",
    "(S\n\n",
    "(S (X\n(NN a))\n",
]


class Passed:
    """A regular expression that counts the characters it passes over."""

    def __init__(self, pattern: re.Pattern[str]) -> None:
        self.pattern = pattern
        self.n_chars = 0

    def search(self, text: str, start: int) -> re.Match[str] | None:
        found = self.pattern.search(text, start)
        self.n_chars += (len(text) if found is None else found.end()) - start
        return found


def steps(text: str, monkeypatch: pytest.MonkeyPatch) -> int:
    """What reading a text takes, the same on every machine: lines of code run, and characters searched."""
    n_lines = 0

    def count_lines(frame: FrameType, event: str, arg: object) -> Callable[..., Any]:
        nonlocal n_lines
        n_lines += event == "line"
        return count_lines

    patterns = {name: Passed(getattr(penn, name)) for name in ("_TOKEN", "_WRAPPER_START")}
    with monkeypatch.context() as patch:
        for name, pattern in patterns.items():
            patch.setattr(penn, name, pattern)
        before = sys.gettrace()
        sys.settrace(count_lines)
        try:
            read(text, on_error=lambda error: None)
        finally:
            sys.settrace(before)
    return n_lines + sum(pattern.n_chars for pattern in patterns.values())


@pytest.mark.parametrize("piece", PIECES)
def test_time_is_linear(piece: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Sixteen times as much text takes about sixteen times as many steps, whatever is wrong with it."""
    small, large = (steps(piece * (size // len(piece)), monkeypatch) for size in (1_000, 16_000))
    # With quadratic time this would be 256 times as much.
    assert small < large < 20 * small


def test_messages_are_short() -> None:
    word = "x" * 1_000_000
    for text in (f"(TOP {word} (NN a))", f"({word} )", word, f"(TOP ({word} (NN)))"):
        with pytest.raises(TreebankError) as info:
            read(text)
        assert len(str(info.value)) < 400


def test_a_label_that_is_empty_as_text_is_named() -> None:
    r"""`\e` is an empty label, which no constituent can have."""
    with pytest.raises(TreebankError, match="E116"):
        read("(TOP (\\e (NN a)))")


# Writing


def test_deep_trees(tmp_path: Path) -> None:
    path = tmp_path / "deep.mrg"
    tree = nested(5000)
    assert write_trees(path, [tree, tree]) == 2
    first, second = (format_tree(found) for found in read_trees(path))
    assert first == second == format_tree(tree)
    assert read(first.replace(" (", "\n("))[0] == first
    assert sys.getrecursionlimit() < 5000


def test_trees_of_nltk_are_written(tmp_path: Path) -> None:
    path = tmp_path / "out.mrg"
    (tree,) = read_string(SHE)
    assert write_trees(path, [tree, to_nltk(tree)]) == 2
    assert path.read_text() == f"{SHE}\n" * 2
    for no_trees in (to_nltk(tree), SHE, [SHE]):
        with pytest.raises(TypeError, match=r"\[E0(09|11)\]"):
            write_trees(path, no_trees)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "tree",
    [
        Tree("TOP", (Tree("NP", ()),)),
        Tree("TOP", (Tree("", (Tree("NN", ("dog",)),)),)),
        Tree("", ()),
        Tree("", ("dog",)),
        Tree("ROOT", ("dog",)),
    ],
)
def test_unwritable_trees_are_refused(tree: Tree, tmp_path: Path) -> None:
    path = tmp_path / "out.mrg"
    with pytest.raises(ValueError, match="E007"):
        write_trees(path, [tree])
    assert list(tmp_path.iterdir()) == []


def test_failing_generator_leaves_the_old_file(tmp_path: Path) -> None:
    path = tmp_path / "out.mrg"
    path.write_text("old")
    path.chmod(0o640)

    def trees(error: BaseException) -> Iterator[Tree]:
        yield nested(3)
        raise error

    for error in (RuntimeError("midway"), KeyboardInterrupt()):
        with pytest.raises(type(error)):
            write_trees(path, trees(error))
        assert path.read_text() == "old"
        assert list(tmp_path.iterdir()) == [path]
    assert write_trees(path, [nested(1)]) == 1
    assert path.read_text() == "(TOP (NP (DT the) (NN deep)))\n"
    assert path.stat().st_mode & 0o777 == 0o640
    link = tmp_path / "link.mrg"
    link.symlink_to(path)
    assert write_trees(link, []) == 0
    assert link.is_symlink() and path.read_text() == "" and list(read_trees(path)) == []


def test_trees_are_not_compressed(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="E034"):
        write_trees(tmp_path / "out.mrg.gz", [nested(1)])
    assert list(tmp_path.iterdir()) == []


words = st.text(st.characters(exclude_categories=()))
labels = st.sampled_from(["NP", "S", "-LRB-", "PRT|ADVP", "S\\NP", "``", "語"])
preterminals = st.builds(lambda label, word: Tree(label, (word,)), labels, words)
children = {"min_size": 1, "max_size": 4}
nodes = st.recursive(
    preterminals, lambda inner: st.builds(Tree, labels, st.lists(inner, **children).map(tuple)), max_leaves=12
)
trees = st.builds(Tree, st.sampled_from(["TOP", "", "S"]), st.lists(nodes, min_size=1, max_size=3).map(tuple))


@given(st.lists(trees, max_size=4), st.sampled_from(["\n", " ", "\r\n", ""]))
def test_round_trip(given_trees: list[Tree], separator: str) -> None:
    assert read_string(separator.join(format_tree(tree) for tree in given_trees)) == given_trees


# Treebanks


@pytest.mark.parametrize("name", ["gum", "mcvf_ppchf", "oncoj", "sinica", "wsj_sample"])
def test_treebanks_come_back(name: str, treebanks: Path) -> None:
    lines = (treebanks / name / "dev.mrg").read_text(encoding="utf8").splitlines()[:200]
    assert read("\n".join(lines)) == [line.replace("\\/", "/").replace("\\*", "*") for line in lines]


@pytest.mark.slow
def test_all_treebanks_come_back(treebanks: Path, tmp_path: Path) -> None:
    for path in sorted(treebanks.glob("*/*.mrg")):
        write_trees(tmp_path / "out.mrg", read_trees(path))
        written = path.read_text(encoding="utf8").replace("\\/", "/").replace("\\*", "*")
        # Square brackets of words are written as they are, curly ones are escaped, whatever the file did.
        for before, after in ((r"(?<!\()-LSB-", "["), (r"(?<!\()-RSB-", "]"), ("{", "-LCB-"), ("}", "-RCB-")):
            written = re.sub(before, after, written)
        assert (tmp_path / "out.mrg").read_text(encoding="utf8") == written, path


def test_reader_whose_file_was_closed_before(tmp_path: Path) -> None:
    """As where Python collects what an error left behind, in any order, and would print a second error."""
    path = tmp_path / "trees.mrg"
    path.write_text("(TOP (NN a))\n" * 2)
    lines: Any = read_file_lines(path, "utf-8", str(path))
    next(lines)
    lines.gi_frame.f_locals["file"].close()
    lines.close()
