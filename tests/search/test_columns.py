"""Columns equal the trees they are made of, whatever they are made from; heads equal the rules."""

import io
import sys
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from search_reference import Heads, link
from strategies import parses

import spacy_parsetag.search as search
from spacy_parsetag.errors import NoParse, TreebankError
from spacy_parsetag.search import TreeColumns, Tregex, get_head_rules, read_brackets, read_rows, read_table
from spacy_parsetag.search.columns import columns_of_parses
from spacy_parsetag.search.heads import HeadRules
from spacy_parsetag.treebanks.penn import read_trees
from spacy_parsetag.trees.brackets import format_tree
from spacy_parsetag.trees.parse import Parse
from spacy_parsetag.trees.tree import Tree

HEADS = Path(search.__file__).parent / "heads"


def trees_of(columns: TreeColumns) -> list[str]:
    return [format_tree(columns.tree(number)) for number in range(len(columns))]


@given(parse=parses())
def test_brackets_and_spans(parse: Parse) -> None:
    line = format_tree(parse.to_tree("TOP"))
    columns = TreeColumns.join(read_brackets(f"{line}\n\n{line}\n".encode(), "x.mrg"))
    assert trees_of(columns) == [line, line] and columns.line.tolist() == [1, 3]
    built = columns_of_parses([(parse, 7, "TOP", "seven")], "x")
    assert trees_of(built) == [line] and built.where(0) == "x:7" and built.ids == ["seven"]
    for name in ("up", "size"):
        assert getattr(built, name).tolist() == getattr(columns, name)[: len(built.up)].tolist()


@pytest.mark.parametrize("batch", [1, 2, 100])
def test_layouts(batch: int, tmp_path: Path) -> None:
    text = "\n(S1 (S (NP (-LRB- -LRB-)\r\n  (NN 1\\/2))))(S (X a))\n\n(TOP)\n((S (NN \\e)))\r(VROOT (NN c))"
    (tmp_path / "x.mrg").write_bytes(text.encode())
    batches = list(read_brackets(text.encode(), "x.mrg", batch=batch))
    columns = TreeColumns.join(batches)
    expected = [format_tree(tree) for tree in read_trees(tmp_path / "x.mrg", on_error=lambda error: None)]
    assert trees_of(columns) == [expected[0], "(TOP (S (X a)))", *expected[2:]]
    assert columns.line.tolist() == [2, 3, 6, 7] and max(map(len, batches)) <= batch


@pytest.mark.parametrize(
    "bad",
    [
        "(TOP (NP the (NN dog)))",
        "(TOP (S (NN a))",
        "(TOP (S (NN a))))",
        "(TOP (NN c d)",
        "(TOP (S ))",
        "stray",
        "(TOP (NN \xff))",
        "(TOP (S ((NN a))))",
        "(TOP (S (NN a))\n(TOP (NN b)))",
    ],
)
def test_malformed_trees(bad: str) -> None:
    data = f"(TOP (NN a))\n{bad}\n(TOP (NN b))\n".encode("latin-1")
    errors: list[TreebankError] = []
    columns = TreeColumns.join(read_brackets(data, "x.mrg", on_error=errors.append))
    assert {"(TOP (NN a))", "(TOP (NN b))"} <= set(trees_of(columns)) and errors
    assert errors[0].path == "x.mrg" and errors[0].line in (2, 3)
    assert len(columns.label) == len(columns.up) == len(columns.size)
    with pytest.raises(TreebankError, match=r"x\.mrg:[23]:"):
        list(read_brackets(data, "x.mrg"))


@pytest.mark.parametrize("text", ["# one", "# tree 2 log_prob -3", "%% one", "*x* one"])
def test_what_stands_behind_a_tree_is_no_comment(text: str, tmp_path: Path) -> None:
    data = f"(TOP (NN a)) {text}\n# two\n(TOP (NN b))\n".encode()
    errors: list[TreebankError] = []
    assert trees_of(TreeColumns.join(read_brackets(data, "x", on_error=errors.append))) == [
        "(TOP (NN a))",
        "(TOP (NN b))",
    ]
    assert ["x:1: [E120]" in str(error) for error in errors] == [True]


@pytest.mark.parametrize("batch", [1, 2, 100])
def test_a_bracket_too_many(batch: int, tmp_path: Path) -> None:
    """It spoils the same trees as for other commands."""
    text = "(S (NN a))\n(S (NN b)))\n(S (NN c))\n"
    (tmp_path / "x.mrg").write_text(text, encoding="utf-8")
    errors: list[list[TreebankError]] = [[], []]
    columns = TreeColumns.join(read_brackets(text.encode(), "x.mrg", on_error=errors[0].append, batch=batch))
    trees = list(read_trees(tmp_path / "x.mrg", on_error=errors[1].append))
    assert len(columns) == len(trees) == 2 and [len(own) for own in errors] == [1, 1]
    assert columns.line.tolist() == [tree.line for tree in trees]


GOOD = "(S (NP (NN a)) (VP (VB b)))\n"
LINES = "(S\n(NP (NN a))\n(VP (VB b)))\n"


@pytest.mark.parametrize(
    "text",
    [
        3 * f"  {GOOD}" + "  (S (NP (NN c)\n" + 3 * f"  {GOOD}",
        3 * LINES + "(S\n(NP (NN c)\n(VP (VB d)))\n" + 3 * LINES,
        f"(TOP {GOOD.strip()})\n#BOS 2\n<!-- 3 -->\n{GOOD}",
        f"{GOOD}#FORMAT 2\n{GOOD}",
        f"# one\n(TOP {GOOD})\n(TOP\u00a0)\n{GOOD}",
        f"# one\n(TOP (S (NP (NN a))\n()\n(VP (VB b))))\n{GOOD}",  # a bracket in a tree
        "(TOP (NN a))(TOP (NN b)\n(TOP (NN c))\n",
        "(TOP (NN a)) (NN b)) (TOP (NN c))\n",
    ],
)
def test_the_same_trees_as_other_commands(text: str, tmp_path: Path) -> None:
    """Also where what was read at once says how a file is laid out."""
    (tmp_path / "x.mrg").write_text(text, encoding="utf-8")
    errors: list[list[TreebankError]] = [[], []]
    columns = TreeColumns.join(read_brackets(text.encode(), "x.mrg", on_error=errors[0].append))
    trees = [*read_trees(tmp_path / "x.mrg", on_error=errors[1].append)]
    of_trees = [error.reason for error in errors[1] if not isinstance(error, NoParse)]
    assert [error.reason for error in errors[0]] == of_trees and columns.line.tolist() == [tree.line for tree in trees]
    assert trees_of(columns) == [format_tree(tree if tree.is_wrapper else Tree("TOP", (tree,))) for tree in trees]


@pytest.mark.parametrize("line_break", ["\n", "\r\n", "\r"])
def test_no_parse(line_break: str) -> None:
    """It is left out, whatever stands around it; what stands behind it is not."""
    text = line_break.join(["# one", "(TOP (NN a)) (TOP)", "(TOP )", "(TOP (NN b))", "()", "(TOP) stray"])
    errors: list[TreebankError] = []
    columns = TreeColumns.join(read_brackets(text.encode(), "x", on_error=errors.append))
    assert trees_of(columns) == ["(TOP (NN a))", "(TOP (NN b))"] and ["x:6: [E120]" in str(e) for e in errors] == [True]


def test_other_encodings() -> None:
    data = "(TOP (NN Käse))\n".encode("latin-1")
    assert trees_of(TreeColumns.join(read_brackets(data, "x", encoding="latin-1"))) == ["(TOP (NN Käse))"]
    with pytest.raises(ValueError, match=r"E101.*'none'"):
        list(read_brackets(data, "x", encoding="none"))
    with pytest.raises(TreebankError, match=r"x:1:.*--encoding is utf-16"):
        list(read_brackets(data[:-1], "x", encoding="utf-16"))


@pytest.mark.parametrize("line_break", ["\n", "\r", "\r\n"])
def test_byte_order_marks(line_break: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """They do not slow reading down, at the start of a file or of one that was joined to others; elsewhere they are
    what they are for other commands."""
    text = line_break.join(["\ufeff(TOP (NN a))", "\ufeff(TOP", "\ufeff(NN b)) (NN c)", ""])
    errors: list[TreebankError] = []
    for wrong in (text.replace(" (NN c)", "\ufeff(NN c)"), text.replace("\ufeff(TOP", "\ufeff\ufeff(TOP")):
        expected: list[TreebankError] = []
        trees = list(read_trees(io.StringIO(wrong, newline=None), on_error=expected.append))
        found = TreeColumns.join(read_brackets(wrong.encode(), "x", on_error=errors.append))
        assert found.line.tolist() == [tree.line for tree in trees]
        assert [error.line for error in errors] == [error.line for error in expected] != []
        errors.clear()
    monkeypatch.setattr("spacy_parsetag.search.read._read_rest", None)
    columns = TreeColumns.join(read_brackets(text.encode(), "x"))
    assert trees_of(columns) == ["(TOP (NN a))", "(TOP (NN b))", "(TOP (NN c))"]
    assert columns.line.tolist() == [1, 2, 3]


def test_rows_that_are_no_parses() -> None:
    sent = {"words": ["a", "b"], "pos": ["X", "X"], "constituents": [{"label": "S", "start": 0, "end": 2}]}
    assert trees_of(read_rows([(3, {"sents": [sent], "id": 5})], "x")) == ["(TOP (S (X a) (X b)))"]
    assert [read_rows([(3, {"sents": [sent], "id": one})], "x").ids for one in (0, None)] == [["0"], []]
    pair = {"sents": [sent] * 2, "meta": {"by": ["Kim", "Ann"]}}  # of the text, not one a sentence
    assert read_rows([(3, pair)], "x", "meta.by").ids == ['["Kim", "Ann"]'] * 2
    circle: list[Any] = []
    circle.append(circle)
    assert read_rows([(3, {"sents": [sent], "id": {"a": circle}})], "x").ids == ["{'a': [[...]]}"]
    with pytest.raises(ValueError, match="x:3: no parsed text"):
        read_rows([(3, {"text": "a"})], "x")
    sent = {**sent, "words": ["a", "b", "c"], "pos": ["X", "X", "X"]}
    for bounds in ([(0, 4)], [(0, 2), (1, 3)], [(1, 1)], [(3, 4)], [(1, 2), (0, 3)], [(-1, 2)]):
        sent["constituents"] = [{"label": "S", "start": start, "end": end} for start, end in bounds]
        with pytest.raises(ValueError, match="x:3: the constituents"):
            read_rows([(3, {"sents": [sent]})], "x")


@pytest.mark.parametrize(
    "part, value",
    [
        ("words", "ab"), ("pos", "XX"), ("constituents", "S"),
        ("words", ["a", 1]), ("words", None), ("pos", ["X"]), ("pos", ["X", None]), ("constituents", None),
        *(("constituents", [{"label": "S", "start": 0, "end": end}]) for end in ("2", 1.5, None, 10**20)),
        ("constituents", [{"label": None, "start": 0, "end": 2}]), ("constituents", [{"label": "S", "start": 0}]),
    ],
)  # fmt: skip
def test_rows_that_are_damaged(part: str, value: Any) -> None:
    """Tags or texts of other rows must not stand in for what a row lacks."""
    good = {"words": ["a", "b"], "pos": ["X", "X"], "constituents": [{"label": "S", "start": 0, "end": 2}]}
    with pytest.raises(ValueError, match=r"x:2: no parsed text"):
        read_rows([(1, {"sents": [good]}), (2, {"sents": [{**good, part: value}]})], "x")


@pytest.mark.skipif(find_spec("pyarrow") is None, reason="pyarrow is not installed")
def test_tables_that_are_damaged() -> None:
    """The same in a table, whose columns hold the words and the tags of all rows one after the other."""
    import pyarrow

    good = {"words": ["a", "b"], "pos": ["X", "Y"], "constituents": [{"label": "S", "start": 0, "end": 2}]}
    none = {"words": [], "pos": [], "constituents": []}
    rows: list[dict[str, Any]] = [{"sents": [good, none]}, {"sents": None}, {"sents": [good]}]
    columns = read_table(pyarrow.Table.from_pylist(rows), "x")
    assert trees_of(columns) == 2 * ["(TOP (S (X a) (Y b)))"] and columns.line.tolist() == [1, 3]
    for part, value in [("pos", ["X"]), ("words", ["a", None]), ("pos", None)]:
        rows[2] = {"sents": [{**good, part: value}]}
        with pytest.raises(ValueError, match=r"x:3: no parsed text"):
            read_table(pyarrow.Table.from_pylist(rows), "x")
    with pytest.raises(ValueError, match=r"x:1: no parsed text"):
        read_table(pyarrow.Table.from_pylist([{"sents": [{"words": ["a"]}]}]), "x")
    for part, value in [
        ("words", "ab"), ("words", [1, 2]), ("pos", "XX"), ("constituents", "S"), ("constituents", ["S"]),
        ("constituents", [{"label": "S", "start": 0, "end": 1.5}]),
        ("constituents", [{"label": "S", "start": 2**32, "end": 2**32 + 2}]),
        ("constituents", [{"label": 1, "start": 0, "end": 2}]),
    ]:  # fmt: skip
        with pytest.raises(ValueError, match=r"x:1: no parsed text"):
            read_table(pyarrow.Table.from_pylist([{"sents": [{**good, part: value}]}]), "x")
    with pytest.raises(ValueError, match=r"x:1: no parsed text"):
        read_table(pyarrow.Table.from_pylist([{"sents": "a b"}]), "x")


@pytest.mark.skipif(find_spec("pyarrow") is None, reason="pyarrow is not installed")
@pytest.mark.parametrize("n_unusual", [0, 1])
def test_identifiers_of_tables(n_unusual: int) -> None:
    """Each sentence has its own of a list, which `parse` writes as JSON; whatever other rows are like."""
    import pyarrow

    sent = {"words": ["a"], "pos": ["X"], "constituents": [{"label": "S", "start": 0, "end": 1}]}
    empty: dict[str, Any] = {"words": [], "pos": [], "constituents": []}
    texts = [("x", 1), ('["y", "z"]', 2), ('["y"]', 2), ("[y", 1), (None, 1), ('["y"]', 1), ("[1, 2]", 2)]
    rows: list[dict[str, Any]] = [{"sents": [sent] * n, "id": each} for each, n in texts]
    rows += [{"sents": [empty], "id": "w"}] * n_unusual
    wanted = ["x", "y", "z", '["y"]', '["y"]', "[y", "", '["y"]', "[1, 2]", "[1, 2]"]
    assert read_table(pyarrow.Table.from_pylist(rows), "t").ids == wanted
    lists = pyarrow.Table.from_pylist([{"sents": [sent] * 2, "id": ["y", "z"]}])
    assert read_table(lists.to_batches()[0], "t").ids == ["y", "z"]


@pytest.mark.skipif(find_spec("pyarrow") is None, reason="pyarrow is not installed")
def test_tables_without_a_constituent() -> None:
    """Their columns have no type."""
    import pyarrow

    bare = {"words": ["a"], "pos": ["NN"], "constituents": []}
    for sents, trees in (([bare], ["(TOP (NN a))"]), ([], []), (None, [])):
        assert trees_of(read_table(pyarrow.Table.from_pylist([{"sents": sents}]), "x")) == trees


def test_saved_and_joined(tmp_path: Path) -> None:
    path = tmp_path / "saved.columns"
    parts = [TreeColumns.join(read_brackets(f"(TOP (N{i} w{i}) (X x))".encode(), f"{i}.mrg")) for i in range(3)]
    columns = TreeColumns.join(parts)
    columns.to_disk(path)
    loaded = TreeColumns.from_disk(path)
    assert trees_of(loaded) == trees_of(columns) == [f"(TOP (N{i} w{i}) (X x))" for i in range(3)]
    # Mapped, and yet plain arrays: each slice of a `memmap` takes several times as long.
    assert type(loaded.label) is np.ndarray and isinstance(loaded.label.base, np.memmap)
    assert loaded.label.flags.aligned and loaded.starts.flags.aligned
    assert [loaded.where(i) for i in range(3)] == ["0.mrg:1", "1.mrg:1", "2.mrg:1"]
    assert loaded.nodes_of(np.array([0, 2])).tolist() == [*range(5), *range(10, 15)]
    TreeColumns.join([]).to_disk(tmp_path / "empty.columns")
    assert len(TreeColumns.from_disk(tmp_path / "empty.columns")) == 0
    saved = path.read_bytes()
    for damaged in (
        b"",
        b"{}",
        b"[]",
        b"null",
        b'{"format": 1}',
        b'{"format": 1}\n\x93NUMPY',
        saved[: len(saved) // 2],
    ):
        path.write_bytes(damaged)
        with pytest.raises(ValueError, match="holds no columns of trees, or damaged or compressed ones"):
            TreeColumns.from_disk(path)
    for missing in (tmp_path, tmp_path / "absent.columns"):
        with pytest.raises(ValueError, match="holds no columns"):
            TreeColumns.from_disk(missing)
    path.write_text('{"format": 2}')
    with pytest.raises(ValueError, match="columns of format 2; this version reads format 1"):
        TreeColumns.from_disk(path)


@pytest.mark.skipif(sys.platform == "win32", reason="Windows replaces no file that is mapped")
def test_saved_over_a_file_that_is_mapped(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What is mapped stays, and what cannot be saved leaves what is there."""
    path = tmp_path / "saved.columns"
    first, second = (TreeColumns.join(read_brackets(f"(TOP (N{i} w{i}))".encode(), "x")) for i in range(2))
    first.to_disk(path)
    mapped = TreeColumns.from_disk(path)
    mapped.to_disk(path)
    second.to_disk(path)
    assert trees_of(TreeColumns.from_disk(path)) == trees_of(second) and trees_of(mapped) == trees_of(first)

    def refuse(*args: object, **options: object) -> None:
        raise PermissionError(13, "Access is denied")

    monkeypatch.setattr("spacy_parsetag.search.columns.atomic_path", refuse)
    with pytest.raises(PermissionError):
        first.to_disk(path)
    assert trees_of(TreeColumns.from_disk(path)) == trees_of(second) and [*tmp_path.iterdir()] == [path]


def test_memory_of_many_labels() -> None:
    columns = TreeColumns.join(read_brackets(b"".join(b"(TOP (N w%d))" % i for i in range(1000)), "x"))
    for i in range(1000):
        assert len(Tregex(f"w{i}").find(columns)) == 1
    assert len(columns._passes) <= 256


@pytest.mark.parametrize(
    "name, place, value",
    [
        ("label", 5, 10**8), ("label", 5, -1), ("up", 5, -(10**8)), ("up", 5, 0), ("up", 5, 2), ("up", 0, 1),
        ("size", 3, 2 * 10**9), ("size", 3, -1), ("size", 3, 0), ("size", 3, 10), ("size", 0, 0), ("size", -1, 1),
        ("starts", 3, 10**12), ("starts", 3, -(10**9)), ("starts", 0, 1), ("starts", -1, 5), ("source", 3, 1),
        ("source", 3, -1), ("strings", 0, 1), ("names", 0, 1), ("ids", 0, 1), ("strings", None, ""), ("names", None, 7),
    ],
)  # fmt: skip
def test_numbers_that_are_no_trees(tmp_path: Path, name: str, place: Any, value: Any) -> None:
    """A search would read memory where they say."""
    columns = TreeColumns.join(read_brackets(b"(TOP (S (NP (PRP She)) (VP (VBZ sleeps))))" * 5, "x"))
    columns = replace(columns, ids=[*"abcde"])
    changed = getattr(columns, name).copy()
    if name in ("strings", "names", "ids"):
        changed = value if place is None else [value, *changed[1:]]
    else:
        changed[place] = value
    replace(columns, **{name: changed}).to_disk(tmp_path / "x.columns")
    with pytest.raises(ValueError, match="holds no columns of trees, or damaged or compressed ones"):
        TreeColumns.from_disk(tmp_path / "x.columns")


@pytest.mark.parametrize("name", ["penn", "ctb", "icon"])
@given(parse=parses(max_words=7))
def test_heads(name: str, parse: Parse) -> None:
    tree = parse.to_tree("TOP")
    rules = Heads(HEADS / f"{name}.txt")
    columns = TreeColumns.join(read_brackets(format_tree(tree).encode(), "x"))
    nodes = link(columns.tree(0))
    expected = [nodes.index(rules.head(node)) - i if node.children else 0 for i, node in enumerate(nodes)]
    assert columns.heads(get_head_rules(name)).tolist() == expected


@pytest.mark.parametrize(
    "label, children, head",
    [
        ("NP", "DT JJ NN", 2), ("NP", "NP PP", 0), ("NP", "NP , NP", 0), ("NP", "NP CC NP", 0), ("NP", "NNP POS", 1),
        ("VP", "MD VP", 0), ("VP", "VBD NP PP", 0), ("S", "NP VP .", 1), ("S", "`` S , '' NP VP .", 5), ("SBAR", "IN S",
        0), ("PP", "IN NP", 0), ("ADJP", "RB JJ", 1), ("QP", "CD CC CD", 0), ("UCP", "NP CC ADJP", 0), ("FRAG", "NP .",
        0), ("WHNP", "WP$ NN", 0), ("NP-SBJ", "DT NN", 1), ("XX", ". X", 1), ("PRN", ", S ,", 1), ("NP", ", CC NN", 2),
    ],
)  # fmt: skip
def test_heads_by_collins(label: str, children: str, head: int) -> None:
    assert get_head_rules("penn").head_child(label, children.split()) == head


@pytest.mark.parametrize(
    "label, children, head",
    [
        ("ADJP", "AD JJ", 1), ("ADJP", "JJ ADVP", 0), ("ADJP", "NN CS", 1), ("ADVP", "AD CS", 0),
        ("ADVP", "AD ADVP", 1), ("CLP", "CLP M", 1), ("CLP", "M ADJP", 0), ("CP", "IP DEC", 1), ("CP", "CS IP", 0),
        ("CP", "IP IP", 1), ("DNP", "NP DEG NP", 1), ("DNP", "DNP DEG", 1), ("DP", "DT CLP", 0), ("DP", "DT DP", 0),
        ("DVP", "VP DEV VP", 1), ("DVP", "DVP DEV", 1), ("FRAG", "NR NN", 1), ("FRAG", "NR ADVP", 0),
        ("INTJ", "IJ SP", 0), ("INTJ", "IJ IJ", 1), ("IP", "VP SP", 0), ("IP", "VP VP", 1), ("IP", "VV NP", 0),
        ("LCP", "LC ADVP", 0), ("LCP", "LCP LC", 1), ("LST", "CD PU OD", 0), ("NP", "NR NN", 1),
        ("NP", "NN PU NN ETC", 2), ("NP", "DNP QP", 1), ("PP", "P NP", 0), ("PP", "PP PP", 0), ("PRN", "NN CD", 0),
        ("PRN", "NP NP", 1), ("QP", "CD CLP", 1), ("QP", "CD ADJP", 0), ("VP", "ADVP VP VP", 1), ("VP", "VV NP", 0),
        ("VP", "BA IP", 0), ("VP", "ADVP VPT", 1), ("VCD", "VV VV", 1), ("VCD", "VCD AD", 0), ("VCP", "VV VC", 1),
        ("VCP", "VCP AD", 0), ("VNV", "VV AD VV", 2), ("VNV", "VNV AD", 0), ("VPT", "VV AD VA", 2), ("VPT", "VV AD", 0),
        ("VRD", "VV VA", 1), ("VRD", "VRD AD", 0), ("VSB", "VV VV", 1), ("VSB", "VV AD", 0), ("VSB", "VSB AD", 0),
        ("WHNP", "WHNP IP", 0), ("WHNP", "NN CP", 0), ("WHPP", "P WHNP", 0), ("WHPP", "WHPP PP", 0),
        ("UCP", "NP PU IP", 2), ("UCP", "IP PU", 0), ("NP-SBJ", "NN NN", 1),
    ],
)  # fmt: skip
def test_heads_of_chinese(label: str, children: str, head: int) -> None:
    """As in the table of Bikel (2004)."""
    assert get_head_rules("ctb").head_child(label, children.split()) == head


@pytest.mark.parametrize(
    "label, children, head",
    [
        ("NP", "NNO NNP", 0), ("NP", "NUM NNO", 1), ("NP", "NNO ART", 0), ("NP", "NP RPN", 0), ("NP", "ADJ ART", 0),
        ("PP", "PPO NP", 0), ("VP", "VBT NP", 0), ("VP", "TAME VP", 1), ("VP", "NEG VP", 1), ("VP", "ADV ADJ", 1),
        ("S", "NP VP PUN", 1), ("S", "PP PUN NP VP PUN", 3), ("S", "NP ADJP", 1), ("S", "S CCN S", 0),
        ("CP", "CSN VP", 0), ("CP", "NP VP", 1), ("RPN", "PRR VP", 0), ("SINV", "PUN S PUN PUN VP NP PUN", 4),
        ("ADJP", "ADV ADJ", 1), ("QP", "ADV NUM", 1), ("QP", "KUA KUA", 0), ("CONJP", "CCN CCN", 0),
        ("ADVP", "NEG ADV", 1), ("WHADVP", "PRI", 0), ("FRAG", "PUN NP PUN", 1), ("PRN", "VP NP", 0),
        ("INTJ", "PUN INT", 1), ("WHNP", "PRI PAR", 0),
    ],
)  # fmt: skip
def test_heads_of_indonesian(label: str, children: str, head: int) -> None:
    assert get_head_rules("icon").head_child(label, children.split()) == head


def test_own_rules(tmp_path: Path) -> None:
    path = tmp_path / "own.txt"
    path.write_text("*: right\nNP: left NN|N; right DT\n", encoding="utf-8")
    assert get_head_rules(path).head_child("NP", ["DT", "NN", "NN"]) == 1
    marked = tmp_path / "marked.txt"  # as Windows' editors write UTF-8
    marked.write_text("# Mine\nNP: right DT NN\n", encoding="utf-8-sig")
    assert get_head_rules(marked).head_child("NP", ["DT", "NN"]) == 0
    # What no rule names goes by that of *, wherever it stands; without one the first child is the head.
    for text, heads in (("NP: right DT\n*: left NN\n", [0, 1]), ("NP: right DT\n", [0, 0])):
        assert [HeadRules(text, "own").head_child(label, ["DT", "NN"]) for label in ("NP", "VP")] == heads
    with pytest.raises(ValueError, match="own:2: not a head rule"):
        HeadRules("*: left\nNP: NN\n", "own")
    with pytest.raises(ValueError, match="Unknown head rules 'none'"):
        get_head_rules("none")
    (tmp_path / "latin.txt").write_bytes("NP: left Nä\n".encode("latin-1"))
    with pytest.raises(ValueError, match=r"latin\.txt: not UTF-8 \(.*0xe4"):
        get_head_rules(tmp_path / "latin.txt")
