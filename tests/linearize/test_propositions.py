"""Propositions 1 to 3 (paper section 3.3): how far a tag can be from its word."""

import pytest
from hypothesis import given, strategies as st
from oracle import enumerate_trees
from strategies import parses

from spacy_parsetag.linearize import ORDERS, deviations
from spacy_parsetag.trees import BinaryTree, Parse, binarize


def all_deviations(tree: BinaryTree) -> dict[str, list[int]]:
    return {order: deviations(linearizer.linearize(tree)) for order, linearizer in ORDERS.items()}


def branching(n: int, *, right: bool) -> BinaryTree:
    leaf = (False, True) * (n - 1) + (True,) if right else (False,) * (n - 1) + (True,) * n
    return BinaryTree(leaf, ("",) * len(leaf))


def worst(n: int) -> dict[str, int]:
    """The largest deviation over n words. For pre-order the paper has floor(n / 2), which is one too many where n is
    even: n - 1 reduces before the first word put it at tag n, which belongs to word ceil(n / 2)."""
    return {"in": 0, "pre": (n - 1) // 2, "post": n // 2}


@given(parse=parses(max_words=12))
def test_proposition_1(parse: Parse) -> None:
    """In-order tags are shift-aligned, whatever the tree."""
    assert all_deviations(binarize(parse))["in"] == [0] * len(parse)


@given(parse=parses(max_words=12))
def test_propositions_2_and_3_bounds(parse: Parse) -> None:
    """About half the sentence for the first word in pre-order and the last one in post-order; less for the others."""
    n = len(parse)
    found = all_deviations(binarize(parse))
    for i in range(n):
        assert found["pre"][i] <= (n + i - 1) // 2 - i <= worst(n)["pre"]
        assert found["post"][i] <= i - i // 2 <= worst(n)["post"]
        # Bottom-up, every word but the first is shifted early; top-down, words may be just where their tags are.
        assert (found["post"][i] == 0) == (i == 0)


@given(n=st.integers(1, 300))
def test_propositions_2_and_3_worst_trees(n: int) -> None:
    """The bounds are reached: pre-order on left-branching trees, post-order on right-branching ones."""
    left, right = all_deviations(branching(n, right=False)), all_deviations(branching(n, right=True))
    assert max(left["pre"]) == left["pre"][0] == worst(n)["pre"]
    assert max(right["post"]) == right["post"][-1] == worst(n)["post"]
    # And the same trees are the best ones for the other order.
    assert max(right["pre"]) == 0
    assert max(left["post"]) == (1 if n > 1 else 0)


@pytest.mark.parametrize("n", range(1, 9))
def test_bounds_over_every_tree(n: int) -> None:
    found = [all_deviations(tree) for tree in enumerate_trees(n)]
    assert {order: max(max(one[order]) for one in found) for order in worst(n)} == worst(n)
