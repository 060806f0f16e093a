"""Flat trees for sentences without a parse."""

from pathlib import Path

import pytest
from nltk import Tree

from spacy_parsetag.evalb import evalb, fill_unparsed, flat_tree, read_scored_trees
from spacy_parsetag.treebanks.penn import format_tree, read_string

GOLD, OTHER, THIRD = read_string(
    "(TOP (S (NP (PRP She)) (VP (VBZ sleeps)) (. .)))\n"
    "(ROOT (NP (DT The) (NN dog)))\n"
    "(TOP (S (NP (PRP I)) (VP (VBP go))))\n"
)


def test_flat_tree() -> None:
    assert format_tree(flat_tree(GOLD)) == "(TOP (PRP She) (VBZ sleeps) (. .))"
    assert format_tree(flat_tree(OTHER)) == "(ROOT (DT The) (NN dog))"
    assert format_tree(flat_tree(Tree("S", [Tree("VB", ["go"])]))) == "(TOP (VB go))"
    assert format_tree(flat_tree(Tree("VB", ["go"]))) == "(TOP (VB go))"


def test_fill() -> None:
    shorter = Tree("TOP", [Tree("NP", [Tree("NN", ["dog"])])])
    filled = list(fill_unparsed([GOLD, OTHER, THIRD], [None, shorter, THIRD]))
    assert [flat for _, flat in filled] == [True, True, False]
    assert filled[2][0] is THIRD


@pytest.mark.parametrize("params", ["collins", "spmrl"])
def test_filled_trees_score_as_strict_counts_say(params: str) -> None:
    # Under parameters that do not delete ROOT it is a bracket, which every tree of such a file has.
    other = Tree("TOP", list(OTHER))
    gold, test = [GOLD, other, THIRD, GOLD], [None, Tree("TOP", [Tree("NN", ["dog"])]), THIRD, GOLD]
    filled = [tree for tree, _ in fill_unparsed(gold, test)]
    strict = evalb(gold, test, params).strict
    result = evalb(gold, filled, params)
    assert result.failures == 0
    assert (result.all.matched, result.all.gold, result.all.test) == (strict.matched, strict.gold, strict.test)


def test_numbers_must_agree() -> None:
    with pytest.raises(ValueError, match="E203"):
        list(fill_unparsed([GOLD, GOLD], [GOLD]))
    with pytest.raises(ValueError, match="E391"):
        list(fill_unparsed([None], [GOLD]))  # type: ignore[list-item]


def test_deep_trees() -> None:
    tree = Tree("NN", ["dog"])
    for _ in range(5000):
        tree = Tree("NP", [tree])
    assert [flat for _, flat in fill_unparsed([tree], [tree])] == [False]
    assert format_tree(flat_tree(tree)) == "(TOP (NN dog))"


def test_written_and_read(tmp_path: Path) -> None:
    path = tmp_path / "test.mrg"
    path.write_text("(TOP)\n" + format_tree(OTHER) + "\n", encoding="utf-8")
    filled = list(fill_unparsed([GOLD, OTHER], read_scored_trees(path)))
    assert [flat for _, flat in filled] == [True, False]
