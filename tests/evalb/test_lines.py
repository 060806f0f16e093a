"""A line is a sentence, as in the C program: malformed lines, and files.

The expected rows of malformed lines are what the C program prints, each line in a run of its own.
"""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from nltk import Tree

from spacy_parsetag.evalb import (
    EvalbParams,
    break_down,
    evalb,
    fill_unparsed,
    format_table,
    get_params,
    join_lines,
    read_tree_lines,
)
from spacy_parsetag.evalb.lines import tree_line
from spacy_parsetag.trees import from_nltk

GOLD = "(S (NN a) (NN b))"
OPEN = "Bracketing is unbalanced (too many open bracket)"
CLOSE = "Bracketing unbalance (too many close bracket)"


@pytest.mark.parametrize(
    "gold,test,row,error",
    [
        # A row is: length, status, matched, gold and test brackets, crossing, words, right tags.
        (GOLD, "(S (NN a) (NN b)))", (2, 1, 1, 1, 1, 0, 2, 2), OPEN),
        (GOLD, "(S (NN a) (NN b)", (2, 1, 0, 1, 1, 0, 2, 2), OPEN),
        (GOLD, "(S (NN a)) (X (NN b))", (2, 0, 0, 1, 2, 0, 2, 2), ""),
        (GOLD, "(S (NN a))) (X (NN b))", (2, 1, 0, 1, 2, 0, 2, 2), OPEN),
        (GOLD, "(S (NN a))) (X (NN b)))", (2, 1, 1, 1, 2, 0, 2, 2), f"{CLOSE}; {OPEN}"),
        (GOLD, "(S (NN a))) (X (NN b)", (2, 0, 0, 1, 2, 0, 2, 2), ""),
        (GOLD, "(S (X (NN a) (NN b))", (2, 1, 0, 1, 2, 0, 2, 2), OPEN),
        ("(S (A (NN a)) (NN b))", "(S (B (C (NN a)) (NN b)", (2, 1, 0, 2, 3, 0, 2, 2), OPEN),
        ("(S (NN a) (NN b)", GOLD, (2, 1, 0, 1, 1, 0, 2, 2), OPEN),
        ("(S (NN a) (NN b)", "", (2, 2, 0, 0, 0, 0, 0, 0), OPEN),
        ("(S (NN a)", GOLD, (1, 1, 0, 0, 0, 0, 0, 0), f"{OPEN}; Length unmatch (1|2)"),
        ("", "", (0, 2, 0, 0, 0, 0, 0, 0), ""),
        ("", GOLD, (0, 1, 0, 0, 0, 0, 0, 0), "Length unmatch (0|2)"),
        (GOLD, " \t", (2, 2, 0, 0, 0, 0, 0, 0), ""),
        (GOLD, ")", (2, 2, 0, 0, 0, 0, 0, 0), OPEN),
        (GOLD, "(NN a) (NN b)", (2, 0, 0, 1, 0, 0, 2, 2), ""),
        (GOLD, "(S(NN a)(X)(NN\t b))", (2, 0, 1, 1, 1, 0, 2, 2), ""),
        ("(S (NP ) (NN b))", "(S (NP ) (NN b))", (2, 0, 1, 1, 1, 0, 2, 2), ""),
        ("((NN a)( b))", "((NN a)( b))", (2, 0, 1, 1, 1, 0, 2, 2), ""),
        ("( )", "( )", (1, 0, 0, 0, 0, 0, 1, 1), ""),
    ],
)
def test_malformed_lines(gold: str, test: str, row: tuple[int, ...], error: str) -> None:
    found = evalb([gold], [test], EvalbParams()).rows[0]
    counts = (found.length, found.status, found.matched, found.gold, found.test, found.crossing)
    assert (*counts, found.words, found.correct_tags, found.error) == (*row, error)


def test_printed_table() -> None:
    """Lines of all kinds, and what the C program prints for them under Collins' parameters."""
    gold = ["(TOP (S (NP (DT the) (NN dog)) (VP (VBZ barks)) (. .)))"] * 6
    test = [
        gold[0],
        "(TOP (S (NP (DT the)) (VP (NN dog) (VBZ barks)) (. .)))",
        "",
        "(NP (DT the) (NN dog)) (VP (VBZ barks)) (. .)",
        "(TOP (S (NP (DT the) (NN dog)) (VP (VBZ bites)) (. .)))",
        "(TOP (S (NP (DT the) (NN dog)) (VP (VBZ barks)) (. .))",
    ]
    table = format_table(evalb(gold, test, "collins"))
    assert table.splitlines()[3:12] == [
        "   1    4    0  100.00 100.00     3      3    3      0      3     3   100.00",
        "   2    4    0   33.33  33.33     1      3    3      1      3     3   100.00",
        "   3    4    2    0.00   0.00     0      0    0      0      0     0     0.00",
        "   4    4    0   66.67 100.00     2      3    2      0      3     3   100.00",
        "   5    4    1    0.00   0.00     0      0    0      0      0     0     0.00",
        "   6    4    1  100.00 100.00     3      3    3      0      3     3   100.00",
        "=" * 76,
        "                 66.67  75.00      6     9     8      1      9     9   100.00",
        "=== Summary ===",
    ]
    assert "\n".join(table.splitlines()[13:19]) == (
        "-- All --\n"
        "Number of sentence        =      6\n"
        "Number of Error sentence  =      2\n"
        "Number of Skip  sentence  =      1\n"
        "Number of Valid sentence  =      3\n"
        "Bracketing Recall         =  66.67"
    )


@pytest.mark.parametrize("text", ["S", "(S (NN a) b)", "(S (NN a b))", "(NP the (NN dog))", "(NN a)x"])
def test_text_outside_of_brackets(text: str) -> None:
    with pytest.raises(ValueError, match=r"E354.*Gold sentence 2.*Reading sentence \('"):
        evalb([GOLD, text], [GOLD, GOLD])
    row = evalb([GOLD], [text]).rows[0]
    assert row.status == 1 and row.error.startswith("Reading sentence")


def test_trees_of_all_kinds() -> None:
    line = "(TOP (S (NP (PRP She)) (-LRB- -LRB-) (X 1\\/2)))"
    tree = Tree.fromstring(line)
    assert tree_line(tree) == tree_line(line) == line and tree_line(None) == ""
    assert evalb([tree, line], [line, tree]).all.complete == 2


@pytest.mark.parametrize("single", [Tree.fromstring(GOLD), from_nltk(Tree.fromstring(GOLD)), GOLD, Path("gold.mrg")])
def test_one_tree_where_trees_are_due(single: Any) -> None:
    """NLTK's tree is a list: of its children, which are no sentences."""
    scorers: tuple[Callable[..., Any], ...] = (evalb, break_down, lambda gold, test: list(fill_unparsed(gold, test)))
    for score in scorers:
        for gold, test in ((single, [GOLD]), ([GOLD], single)):
            with pytest.raises(TypeError, match=r"E011.*got one (Tree|str|\w*Path)"):
                score(gold, test)


def test_words_of_nltk_that_no_file_has() -> None:
    """A raw bracket or a space in a leaf is text, as for `from_nltk`; what is no string is an error there and here."""
    gold, test = (
        Tree("TOP", [Tree("S", [Tree("(", ["("]), Tree("NN", ["New York"]), Tree(label, [Tree("VB", ["y"])])])])
        for label in ("VP", "XP")
    )
    result = evalb([gold], [test], EvalbParams())
    assert result.rows == evalb([from_nltk(gold)], [from_nltk(test)], EvalbParams()).rows
    assert result.rows[0].words == 3 and tree_line(gold).startswith(r"(TOP (S (\u0028 -LRB-) (NN New\u0020York)")
    for word in (1, ("a", "NN")):
        with pytest.raises(TypeError, match=r"E009.* a word in it that is no string: "):
            evalb([Tree("TOP", [Tree("NN", [word])])], [GOLD])
    with pytest.raises(TypeError, match="E009"):
        from_nltk("(TOP (NN a))")  # type: ignore[arg-type]


def test_lines_at_the_end() -> None:
    """Empty lines that one file has more are no sentences; those that both have are."""
    assert evalb([GOLD, ""], [GOLD]).all.sentences == 1
    assert evalb([GOLD], [GOLD, "\n", " \n"]).all.sentences == 1
    assert evalb([GOLD, ""], [GOLD, ""]).all.skipped == 1
    with pytest.raises(ValueError, match="E353"):
        evalb([GOLD, "", GOLD], [GOLD])


def test_files(tmp_path: Path) -> None:
    path = tmp_path / "test.mrg"
    path.write_bytes("\ufeff(NN a)\r\n\r\n(NN é)\r(NN c)".encode())
    assert read_tree_lines(path) == ["(NN a)\n", "\n", "(NN é)\n", "(NN c)"]
    with pytest.raises(ValueError, match=r"E101.*'nonsense'"):
        list(read_tree_lines(path, encoding="nonsense"))
    for text, number, wide in (
        ("(NN a)\n(NN b)\n", 1, "utf-16-le"),
        ("(NN a)\n(NN b)\n", 1, "utf-16-be"),
        ("(NN a)\n(NN b)\n", 1, "utf-32-be"),
        ("\n(NN a)\n", 2, "utf-16-le"),
        ("\n(NN a)\n", 1, "utf-16-be"),
    ):
        path.write_text(text, encoding=wide)
        with pytest.raises(ValueError, match=rf"test\.mrg:{number}: \[E118\].*--encoding {wide}\)"):
            list(read_tree_lines(path))
    path.write_bytes(b"(NN a)\n" * 3000 + "(NN é)\n".encode("latin-1"))
    with pytest.raises(ValueError, match=r"test\.mrg:3001: .E113. Bytes e9 are not valid utf-8"):
        list(read_tree_lines(path))
    assert list(read_tree_lines(path, encoding="latin-1"))[-1] == "(NN é)\n"
    path.write_text("\n(S (VP (PP 0=Darauf) (VV 2=reagiert )) (VM 1=hat))\n", encoding="utf-8")
    with pytest.raises(ValueError, match=r"test\.mrg:2: \[E124\].*disco-dop"):
        list(read_tree_lines(path))
    path.write_text("(S (VV 1=a) (VM 2=b))\n(S (VV 0=a) (VM 1=b))\n", encoding="utf-8")  # words that look like places
    assert len(list(read_tree_lines(path))) == 2


def test_trees_over_several_lines() -> None:
    text = "(TOP (NN a))\n(())\n\n( (S (NN -LRB-)\n  (NN c)))\n(TOP\n)\n(TOP (NN d)) (TOP (NN e))\n(S ("
    trees = join_lines(text.splitlines(keepends=True))
    assert trees[:3] == ["(TOP (NN a))", "(())", "( (S (NN -LRB-)\n  (NN c)))"]
    assert trees[3:] == ["(TOP\n)", "(TOP (NN d))", "(TOP (NN e))", "(S ("]
    # Nothing is lost: what belongs to no tree stays with the next one, whose sentence is then an error.
    assert join_lines(["(NN a))\n", "(NN b)", " c "]) == ["(NN a)", ")\n(NN b)", "c"]
    assert join_lines(["(S (NN", "a) (NN b))"]) == ["(S (NN\na) (NN b))"]
    assert evalb([GOLD, *trees[3:4]], [GOLD, None]).failures == 0


def test_places_of_lines(tmp_path: Path) -> None:
    path = tmp_path / "gold.mrg"
    path.write_text(f"# a comment\n{GOLD}\n\n(S\n (NN a) b)\n")
    with pytest.raises(ValueError, match=r"E354.*\(.*gold\.mrg:5\).*Each word needs"):
        evalb(read_tree_lines(path), read_tree_lines(path))
    with pytest.raises(ValueError, match=r"E354.*sentence 2.*\(.*gold\.mrg:4\)"):
        evalb(join_lines(read_tree_lines(path)), [GOLD, GOLD])
    path.write_text(f"{GOLD}\n(S\n(NN a)\n" + f"{GOLD}\n" * 5)
    with pytest.raises(ValueError, match=r"E353.*gold trees end after sentence 2 .*gold\.mrg:2\) is not closed"):
        evalb(join_lines(read_tree_lines(path)), [GOLD] * 7)


def test_trees_over_several_lines_are_not_to_be_edited(tmp_path: Path) -> None:
    """Whichever side has them, and wherever the shorter side ends; one unclosed tree is no tree over several lines."""
    one, several = tmp_path / "one.mrg", tmp_path / "several.mrg"
    for n in (1, 3):
        one.write_text("(TOP (S (NN a) (NN b)))\n" * n)
        several.write_text("(TOP (S\n(NN a)\n(NN b)))\n" * n)
        for gold, test in ((one, several), (several, one)):
            with pytest.raises(ValueError, match=r"E353.*open at the end of a line \(.*several\.mrg:1\).*--multiline"):
                evalb(read_tree_lines(gold), read_tree_lines(test))
            assert evalb(*(join_lines(read_tree_lines(path)) for path in (gold, test))).f == 100
    with pytest.raises(ValueError, match=r"E353.*go on\. Where there is no parse write \(TOP\)"):
        evalb([GOLD[:-1], GOLD, GOLD], [GOLD, GOLD])


def test_numbered_words_after_one_word(tmp_path: Path) -> None:
    path = tmp_path / "test.mrg"
    path.write_text("(TOP (NN 0=Hello))\n(S (VP (VB 0=is) (JJ 2=rich)) (NP (PRP 1=he)))\n")
    with pytest.raises(ValueError, match=r"test\.mrg:2: \[E124\]"):
        list(read_tree_lines(path))


def test_gold_errors() -> None:
    broken = GOLD[:-1]
    rows = evalb([broken, GOLD, broken], [GOLD, broken, broken]).rows
    assert [row.gold_error for row in rows] == [OPEN, "", OPEN]


def test_cutoff_includes_its_length() -> None:
    """A sentence of just the longest length counts as short; punctuation counts for the length, traces do not."""
    params = get_params("collins")
    words = [f"(NN w{i})" for i in range(params.cutoff_len - 1)]
    exact = "(TOP (S " + " ".join([*words, "(. .)", "(-NONE- *)"]) + "))"
    longer = "(TOP (S " + " ".join([*words, "(NN x)", "(. .)"]) + "))"
    result = evalb([exact, longer, GOLD], [exact, longer, GOLD])
    assert [row.length for row in result.rows] == [40, 41, 2]
    assert result.short.sentences == 2 and result.short.gold == 2
    assert "-- len<=40 --\nNumber of sentence        =      2\n" in format_table(result)
