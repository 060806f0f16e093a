"""A lattice says which tag sequences are trees, and is refused where it cannot."""

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from own_order import LeftCorner
from strategies import parses
from test_valid_sequences import lattice_sequences, shapes

from spacy_parsetag.linearize import CLASS_NAMES, ORDERS, Lattice, Linearizer, largest_stack
from spacy_parsetag.trees import BinaryTree, Parse, binarize

OWN = LeftCorner()
PRE = ORDERS["pre"].lattice
IN = ORDERS["in"].lattice
POST = ORDERS["post"].lattice


@pytest.mark.parametrize("n_words", range(1, 7))
def test_own_order(n_words: int) -> None:
    """The sequences of its lattice are the trees over so many words."""
    trees = [BinaryTree(leaf, ("",) * len(leaf)) for leaf in shapes(n_words)]
    sequences = {tuple(CLASS_NAMES.index(tag) for tag in OWN.linearize(tree)) for tree in trees}
    assert lattice_sequences(OWN.lattice, 2 * n_words - 1) == sequences
    assert [OWN.delinearize(OWN.linearize(tree)) for tree in trees] == trees


@given(parse=parses())
def test_round_trip_of_own_order(parse: Parse) -> None:
    tree = binarize(parse)
    assert isinstance(OWN, Linearizer)
    assert OWN.delinearize(OWN.linearize(tree)) == tree
    assert largest_stack(OWN.linearize(tree), OWN.lattice) <= len(parse)


def test_equal_tables_are_equal() -> None:
    """Decoders may keep what they computed from a lattice by its value."""
    again = Lattice("pre", 1, 0, 0, 1, [-1, -1, 1, 1], [1, 1, 1, 1], [0, 1, 0, 1], [1, 1, 0, 0])  # type: ignore[arg-type]
    assert again == PRE and hash(again) == hash(PRE) and again != replace(PRE, order="mine")


def test_other_orders() -> None:
    """Pre-order with the root as a right child, and in-order with its states called 1 and 0."""
    turned = replace(PRE, order="turned", start_state=1)
    assert {(2 * (c // 2) + 1, *rest) for c, *rest in lattice_sequences(PRE, 7)} == lattice_sequences(turned, 7)
    Lattice("other", 0, 1, 1, 0, IN.delta, IN.need, (1, 1, 0, 0), (0, 0, 1, 1))


def test_needs_may_be_lax() -> None:
    """R without a left child below its two: no sequence with it reaches the end, so the trees are the same."""
    lax = replace(POST, order="lax", need=(0, 1, 2, 2))
    for length in range(1, 10, 2):
        assert lattice_sequences(lax, length) == lattice_sequences(POST, length)


@pytest.mark.parametrize(
    "lattice, changes, reason",
    [
        (PRE, {"order": ""}, "its order needs a name"),
        (PRE, {"order": None}, "its order needs a name"),
        (PRE, {"start_stack": -1}, "start_stack must be at least 0"),
        (PRE, {"end_stack": 0.5}, "end_stack must be at least 0, in whole numbers"),
        (PRE, {"start_state": 2}, "start_state must be from 0 to 1"),
        (PRE, {"end_state": -1}, "end_state must be from 0 to 1"),
        (PRE, {"delta": (-1, -1, 1)}, "delta needs 4 integers"),
        (PRE, {"need": 1}, "need needs 4 integers"),
        (PRE, {"delta": (-1, -1, 2, 1)}, "delta must be from -1 to 1"),
        (PRE, {"delta": (-1, -1, 1.0, 1)}, "delta must be from -1 to 1, in whole numbers"),
        (PRE, {"need": (1, 1, -1, 1)}, "need must be at least 0"),
        (PRE, {"need": (1, 0, 1, 1)}, "r takes more off the stack than it needs there"),
        (PRE, {"source": (0, 1, 0, 2)}, "source must be from 0 to 1"),
        (PRE, {"target": (1, 1, 0, 2)}, "target must be from 0 to 1"),
        (PRE, {"target": (1, 1, 1, 0)}, "two classes must lead into state 0; got R"),
        (PRE, {"target": (1, 1, 1, 1)}, "two classes must lead into state 0; got none"),
        # Counted over 1 to 4 words: too few sequences, too many, or some of an even length.
        (PRE, {"end_stack": 1}, "0 sequences of 1 tags and 0 of 0"),
        (PRE, {"need": (1, 1, 2, 1)}, "0 sequences of 3 tags"),
        (IN, {"end_state": 0}, "0 sequences of 1 tags and 0 of 0"),
        (IN, {"need": (0, 1, 1, 1), "delta": (1, 0, 0, 0)}, "lead from its start to its end"),
        (POST, {"need": (0, 1, 3, 3)}, "0 sequences of 3 tags"),
        (IN, {"source": (0, 0, 1, 0)}, "1 sequences of 7 tags and 1 of 6"),
        # Some of 2N-1 tags for each N, and some of 2N-2 too.
        (
            PRE,
            {"start_state": 1, "end_stack": 1, "delta": (0, 0, -1, -1), "target": (0, 1, 1, 0)},
            "1 sequences of 1 tags and 1 of 0",
        ),
    ],
)
def test_what_cannot_be_a_lattice(lattice: Lattice, changes: dict[str, Any], reason: str) -> None:
    with pytest.raises(ValueError, match=r"\[E053\]") as caught:
        replace(lattice, **changes)
    assert reason in str(caught.value), caught.value
