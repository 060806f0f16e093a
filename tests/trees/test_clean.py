"""Cleaning: each option alone, and the Penn Treebank sample as a whole."""

from pathlib import Path

import pytest

from spacy_parsetag.treebanks.formats.bracketed import HISTORICAL
from spacy_parsetag.treebanks.penn import read_string, read_trees
from spacy_parsetag.trees import Tree
from spacy_parsetag.trees.brackets import format_tree
from spacy_parsetag.trees.clean import (
    CleanCounts,
    CleanOptions,
    clean_tree,
    strip_functions,
    strip_indices,
)

NOTHING = CleanOptions(root=None, functions=False, indices=False, traces=False, repeats=False)


def clean(text: str, options: CleanOptions | None = None, counts: CleanCounts | None = None) -> str | None:
    [tree] = read_string(text)
    before = format_tree(tree)
    cleaned = clean_tree(tree, options, counts)
    assert format_tree(tree) == before
    return None if cleaned is None else format_tree(cleaned)


@pytest.mark.parametrize(
    "label, stripped",
    [
        ("NP-SBJ-1", "NP"),
        ("NP=2", "NP"),
        ("NP-SBJ=2", "NP"),
        ("-LRB-", "-LRB-"),
        ("-NONE-", "-NONE-"),
        ("-LRB--1", "-LRB--1"),
        ("PRT|ADVP", "PRT|ADVP"),
        ("PRT|ADVP-2", "PRT|ADVP"),
        ("", ""),
        ("NP", "NP"),
    ],
)
def test_strip_functions(label: str, stripped: str) -> None:
    assert strip_functions(label) == stripped


def test_strip_indices() -> None:
    assert [strip_indices(label) for label in ("VB-1", "N-A", "N-A-12", "VB=2", "-1", "P-CASE-GEN")] == [
        "VB", "N-A", "N-A", "VB", "-1", "P-CASE-GEN",
    ]  # fmt: skip


def test_example() -> None:
    counts = CleanCounts()
    text = "( (S (NP-SBJ-1 (PRP She)) (VP (VBZ seems) (S (NP (-NONE- *-1)) (VP (TO to) (VP (VP (VB read))))))))"
    assert clean(text, counts=counts) == "(TOP (S (NP (PRP She)) (VP (VBZ seems) (S (VP (TO to) (VP (VB read)))))))"
    assert counts == CleanCounts(trees=1, words=4, traces=1, emptied=1, repeats=1, labels=1)


@pytest.mark.parametrize(
    "options, text, cleaned",
    [
        (NOTHING, "( (S-X (NP (-NONE- *)) (VP (VP (VB-1 go)))))", "( (S-X (NP (-NONE- *)) (VP (VP (VB-1 go)))))"),
        (CleanOptions(), "(NN dog)", "(TOP (NN dog))"),
        (CleanOptions(), "(S (NN dog))", "(TOP (S (NN dog)))"),
        (CleanOptions(), "(ROOT (S (NN dog)))", "(TOP (S (NN dog)))"),
        (CleanOptions(), "( (ROOT (TOP (S (NN dog)))))", "(TOP (S (NN dog)))"),
        (CleanOptions(), "(TOP (ROOT (S1 (S (NN dog))) (X (ROOT x))) (. .))", "(TOP (S (NN dog)) (X (ROOT x)) (. .))"),
        (CleanOptions(), "( (S (NN a)) (. .))", "(TOP (S (NN a)) (. .))"),
        (CleanOptions(root=None), "( (S (NN dog)))", "( (S (NN dog)))"),
        (CleanOptions(root=None), "(S (NN dog))", "(S (NN dog))"),
        (CleanOptions(), "(TOP (NP (NP-1 (NP=2 (NN a)))))", "(TOP (NP (NN a)))"),
        (CleanOptions(repeats=False), "(TOP (NP (NP-1 (NN a))))", "(TOP (NP (NP (NN a))))"),
        (CleanOptions(functions=False, indices=False), "(TOP (NP (NP-1 (NN a))))", "(TOP (NP (NP-1 (NN a))))"),
        (CleanOptions(functions=False), "(TOP (S (NP-SBJ-1 (A a)) (X=2 (B b))))", "(TOP (S (NP-SBJ (A a)) (X (B b))))"),
        (CleanOptions(), "(TOP (NP (NP a)))", "(TOP (NP (NP a)))"),  # the lower one is a part-of-speech tag
        (CleanOptions(), "(TOP (VP (VB-1 go)))", "(TOP (VP (VB-1 go)))"),
        (CleanOptions(tag_functions=True), "(TOP (VP (VB-X go) (-LRB- -LRB-)))", "(TOP (VP (VB go) (-LRB- -LRB-)))"),
        (CleanOptions(tag_indices=True), "(TOP (VP (VB-1 go) (N-A it)))", "(TOP (VP (VB go) (N-A it)))"),
        (CleanOptions(), "(TOP (S (NP (-NONE- *))) (X (-NONE- 0)))", None),
        (CleanOptions(), "(TOP (S (NP (X (-NONE- *)) (NN a))))", "(TOP (S (NP (NN a))))"),
        (CleanOptions(), "(TOP (S (NP (-NONE- *)) (S (VB go))))", "(TOP (S (VB go)))"),
        (CleanOptions(trace_tags=frozenset({"XX"})), "(TOP (-NONE- *) (XX *))", "(TOP (-NONE- *))"),
        (CleanOptions(trace_words=r"\*.*|0"), "(TOP (NP *pro*) (C 0) (CD 01))", "(TOP (CD 01))"),
        (CleanOptions(trace_words=r"\*.*|0"), "(TOP (NUM-N 0) (SYM \\*) (WNP-2 0))", "(TOP (NUM-N 0) (SYM *))"),
        (CleanOptions(remove=frozenset({"ID", "CODE"})), "( (S (CODE-1 (X y)) (NN a)) (ID z))", "(TOP (S (NN a)))"),
        (HISTORICAL.clean, "( (IP-MAT (NP-SBJ *con*) (CODE x) (VB-1 go)) (ID z))", "(TOP (IP (VB go)))"),
    ],
)
def test_options(options: CleanOptions, text: str, cleaned: str | None) -> None:
    assert clean(text, options) == cleaned


@pytest.mark.parametrize("name", ["remove", "trace_tags"])
def test_a_string_is_no_set(name: str) -> None:
    """All labels that are part of it would be in it, and so would "", that of a wrapper."""
    with pytest.raises(ValueError, match=rf"\[E010\] {name} takes several strings; got one, 'VP'"):
        CleanOptions(**{name: "VP"})  # type: ignore[arg-type]


def test_counts() -> None:
    counts = CleanCounts()
    options = CleanOptions(remove=frozenset({"ID"}))
    clean("( (TOP (S-X (NP-1 (-NONE- *)) (S (NN a) (NN b)))) (ID z))", options, counts)
    clean("( (TOP (S (NN a))))", options, counts)
    clean("(TOP (NP (-NONE- *)))", options, counts)
    assert counts == CleanCounts(
        trees=3, emptied_trees=1, words=3, traces=2, removed=1, emptied=3, repeats=1, labels=1, wrappers=2
    )


def test_deep_trees() -> None:
    tree = Tree("NN", ("deep",))
    for i in range(5000):
        tree = Tree("NP-SBJ" if i % 2 else "VP", (Tree("NP", (Tree("-NONE-", ("*",)),)), tree))
    cleaned = clean_tree(Tree("", (tree,)))
    assert cleaned is not None
    assert format_tree(cleaned).startswith("(TOP (NP (VP (NP (VP ")
    chain = Tree("NN", ("deep",))
    for _ in range(5000):
        chain = Tree("NP", (chain,))
    cleaned = clean_tree(chain)
    assert cleaned is not None
    assert format_tree(cleaned) == "(TOP (NP (NN deep)))"


def clean_files(folder: Path, first: int, last: int) -> list[Tree]:
    trees = []
    for number in range(first, last + 1):
        for tree in read_trees(folder / f"wsj_{number:04}.mrg"):
            cleaned = clean_tree(tree)
            assert cleaned is not None
            trees.append(cleaned)
    return trees


def test_penn_treebank_sample(treebanks: Path) -> None:
    folder = treebanks / "wsj_sample"
    dev = list(read_trees(folder / "dev.mrg"))
    assert clean_files(folder / "raw_combined", 160, 179) == dev


@pytest.mark.slow
def test_penn_treebank_sample_train(treebanks: Path) -> None:
    folder = treebanks / "wsj_sample"
    train = list(read_trees(folder / "train.mrg"))
    assert clean_files(folder / "raw_combined", 1, 159) == train


@pytest.mark.parametrize("name", ["mcvf_ppchf", "ppchy"])
def test_historical_samples(name: str, treebanks: Path) -> None:
    folder = treebanks / name
    expected = {*read_trees(folder / "train.mrg"), *read_trees(folder / "dev.mrg")}
    cleaned = [clean_tree(tree, HISTORICAL.clean) for tree in read_trees(folder / "raw" / "sample.psd")]
    assert cleaned
    assert all(tree in expected for tree in cleaned)
