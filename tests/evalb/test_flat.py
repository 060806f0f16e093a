"""Flat trees for sentences without a parse."""

import pytest
from nltk import Tree

from spacy_parsetag.evalb import evalb, fill_unparsed

GOLD = "(TOP (S (NP (PRP She)) (VP (VBZ sleeps)) (. .)))"
OTHER = "(ROOT (NP (DT The) (NN dog)))"
THIRD = "(TOP (S (NP (PRP I)) (VP (VBP go))))"


@pytest.mark.parametrize(
    "gold,flat",
    [
        (GOLD, "(TOP (PRP She) (VBZ sleeps) (. .))"),
        (OTHER, "(ROOT (DT The) (NN dog))"),
        ("( (S (NN dog)))", "( (NN dog))"),
        ("(S (VB go))", "(TOP (VB go))"),
        ("(VB go)", "(TOP (VB go))"),
        ("(TOP (VB go)) (TOP (RB on))", "(TOP (VB go) (RB on))"),
    ],
)
def test_flat_tree(gold: str, flat: str) -> None:
    assert list(fill_unparsed([gold], [None])) == [(flat, True)]


@pytest.mark.parametrize("test", [None, "", "(TOP)", "(TOP (NN dog))", "(TOP (S (NP (PRP I)) (VP (VBP go)))", "I go"])
def test_fill(test: str | None) -> None:
    filled = list(fill_unparsed([GOLD, THIRD, GOLD], [GOLD, test, Tree.fromstring(GOLD)]))
    assert filled == [(GOLD, False), ("(TOP (PRP I) (VBP go))", True), (GOLD, False)]


@pytest.mark.parametrize("params", ["collins", "spmrl"])
def test_filled_trees_score_as_strict_counts_say(params: str) -> None:
    # Under parameters that do not delete ROOT it is a bracket, which every tree of such a file has.
    gold = [GOLD, OTHER.replace("ROOT", "TOP"), THIRD, GOLD]
    test = [None, "(TOP (NN dog))", THIRD, GOLD]
    strict = evalb(gold, test, params).strict
    result = evalb(gold, (line for line, _ in fill_unparsed(gold, test)), params)
    assert result.failures == 0
    assert (result.all.matched, result.all.gold, result.all.test) == (strict.matched, strict.gold, strict.test)


@pytest.mark.parametrize("params", ["collins", "new", "spmrl"])
@pytest.mark.parametrize(
    "gold, test, n_flat",
    [
        ("( (S (NP (PRP She)) (VP (VBZ sleeps))))", "", 1),
        ("(ROOT (S (NP (PRP She)) (VP (VBZ sleeps))))", "", 1),
        ("(TOP (S (NN a) (. .)))", "(TOP (S (NN a) (NN .)))", None),  # flat where punctuation is deleted
        ("(TOP (S (NN a) (. .)))", "(TOP (S (NN a) (. !)))", None),  # flat where it is not
        ("(TOP (S (. .)))", "(TOP (S (. .)))", 0),
        ("(TOP (S (. .)))", "", 1),
    ],
)
def test_filled_trees_are_those_that_the_parameters_count(
    params: str, gold: str, test: str, n_flat: int | None
) -> None:
    strict = evalb([gold, gold], [gold, test], params).strict
    filled = list(fill_unparsed([gold, gold], [gold, test], params))
    result = evalb([gold, gold], [line for line, _ in filled], params)
    assert result.failures == 0 and result.f == strict.f
    assert n_flat is None or sum(is_flat for _, is_flat in filled) == n_flat


def test_lines_that_are_empty_on_both_sides() -> None:
    """There is no sentence to fill; the numbers of the others stay."""
    filled = [(GOLD, False), ("", False), (GOLD, False), ("", False)]
    assert list(fill_unparsed([GOLD, "\n", GOLD, ""], [GOLD, None, GOLD, "\n"])) == filled


def test_filled_trees_stand_on_one_line() -> None:
    assert list(fill_unparsed(["(S\n  (NN a)\n  (NN b\u2009))"], ["(S\n  (NN a)\n  (NN b\u2009))\n"])) == [
        ("(S (NN a) (NN b\u2009))", False)
    ]


def test_gold_trees_must_be_whole() -> None:
    with pytest.raises(ValueError, match="E353"):
        list(fill_unparsed([GOLD, GOLD], [GOLD]))
    with pytest.raises(ValueError, match=r"E355.*tree 2"):
        list(fill_unparsed([GOLD, ""], [GOLD, GOLD]))
    with pytest.raises(ValueError, match=r"E354.*sentence 1"):
        list(fill_unparsed(["(S x (NN b))"], [GOLD]))


def test_deep_trees() -> None:
    tree = Tree("NN", ["dog"])
    for _ in range(5000):
        tree = Tree("NP", [tree])
    assert [flat for _, flat in fill_unparsed([tree], [tree])] == [False]
    assert list(fill_unparsed([tree], [None])) == [("(TOP (NN dog))", True)]
