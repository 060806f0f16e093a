"""Which tag sequences are trees: the inverses, the lattice table and plain enumeration agree."""

from functools import cache
from itertools import pairwise, product
from math import comb

import pytest
from hypothesis import given, strategies as st
from nltk import Tree

from spacy_parsetag.linearize import CLASS_NAMES, ORDERS, Lattice, delinearize, linearize
from spacy_parsetag.linearize.base import TagClass
from spacy_parsetag.trees import BinaryTree

Classes = tuple[int, ...]


@cache
def shapes(n_words: int) -> tuple[tuple[bool, ...], ...]:
    """All binary trees over n words, as `BinaryTree.leaf`."""
    if n_words == 1:
        return ((True,),)
    return tuple(
        (False, *left, *right)
        for middle in range(1, n_words)
        for left in shapes(middle)
        for right in shapes(n_words - middle)
    )


def lattice_sequences(lattice: Lattice, length: int) -> set[Classes]:
    """All class sequences that lead from the table's start to its end."""
    paths: list[tuple[int, int, Classes]] = [(lattice.start_stack, lattice.start_state, ())]
    for _ in range(length):
        paths = [
            (size + lattice.delta[c], lattice.target[c], (*path, c))
            for size, state, path in paths
            for c in range(4)
            if lattice.source[c] == state and size >= lattice.need[c]
        ]
    return {path for size, state, path in paths if (size, state) == (lattice.end_stack, lattice.end_state)}


def written(classes: Classes) -> list[str]:
    return [CLASS_NAMES[c] for c in classes]


@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("n_words", range(1, 7))
def test_trees_and_lattice(order: str, n_words: int) -> None:
    """As many sequences as binary trees, which is Catalan(N-1), and the same ones."""
    linearizer = ORDERS[order]
    trees = [BinaryTree(leaf, ("",) * len(leaf)) for leaf in shapes(n_words)]
    sequences = {tuple(CLASS_NAMES.index(tag) for tag in linearizer.linearize(tree)) for tree in trees}
    n = n_words - 1
    assert len(sequences) == len(trees) == comb(2 * n, n) // (n + 1)
    assert lattice_sequences(linearizer.lattice, 2 * n_words - 1) == sequences
    assert {linearizer.delinearize(written(classes)) for classes in sequences} == set(trees)


@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("length", range(8))
def test_everything_else_is_refused(order: str, length: int) -> None:
    """All 4^length sequences, even lengths too."""
    linearizer = ORDERS[order]
    valid = lattice_sequences(linearizer.lattice, length) if length % 2 else set()
    for classes in product(range(4), repeat=length):
        if classes in valid:
            linearizer.delinearize(written(classes))
        else:
            with pytest.raises(ValueError, match=r"\[E050\]"):
                linearizer.delinearize(written(classes))


@pytest.mark.parametrize("order", ORDERS)
@given(data=st.data())
def test_one_wrong_tag(order: str, data: st.DataObject) -> None:
    """A valid sequence with tags changed is a tree that has these tags, or an error that names order and place."""
    leaf = data.draw(st.sampled_from(shapes(6)))
    tags = ORDERS[order].linearize(BinaryTree(leaf, ("A",) * len(leaf)))
    for _ in range(data.draw(st.integers(1, 3))):
        position = data.draw(st.integers(0, len(tags) - 1))
        tags[position] = data.draw(st.sampled_from(["l", "r", "L", "R", "l/A+B", "R/A"]))
    try:
        tree = ORDERS[order].delinearize(tags)
    except ValueError as err:
        assert f"[E050] Not a valid {order}-order tag sequence for 6 words" in str(err)
    else:
        assert ORDERS[order].linearize(tree) == tags


@pytest.mark.parametrize("order", ORDERS)
@given(
    tags=st.lists(st.one_of(st.sampled_from(["l", "r/A", "L/B+C", "R"]), st.text("lrLR/+\\A", max_size=3)), max_size=7)
)
def test_any_strings(order: str, tags: list[str]) -> None:
    words = [("w", "T")] * ((len(tags) + 1) // 2)
    try:
        tree = delinearize(tags, words, order)
    except ValueError as err:
        assert str(err).startswith("[E0")
        return
    # The tree is n-ary: nodes without a label are gone, so another binary tree may be the one that is written.
    again = linearize(tree, order)
    back = delinearize(again, words, order)
    assert isinstance(back, Tree) and linearize(back, order) == again


@pytest.mark.parametrize("tag", ["", "x", "/", "l/", "LL", "l NP", "S", "/NP", "R+VP"])
def test_no_tags(tag: str) -> None:
    with pytest.raises(ValueError, match=r"\[E052\]"):
        delinearize([tag], [("w", "T")])


@pytest.mark.parametrize("order", ORDERS)
def test_wrong_number_of_words(order: str) -> None:
    tags = ORDERS[order].linearize(BinaryTree((False, True, True), ("S", "", "")))
    for n_words in (0, 1, 3):
        with pytest.raises(ValueError, match=r"\[E004\]"):
            delinearize(tags, [("w", "T")] * n_words, order)


@pytest.mark.parametrize("order", ORDERS)
def test_may_follow(order: str) -> None:
    """Classes that follow one another in some tree over five words are those of the table."""
    lattice = ORDERS[order].lattice
    seen = {pair for classes in lattice_sequences(lattice, 9) for pair in pairwise(classes)}
    assert seen == {(a, b) for a in TagClass for b in TagClass if lattice.target[a] == lattice.source[b]}
