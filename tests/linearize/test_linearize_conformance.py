"""Tags, largest stacks and deviations of trees: a few of our own, and those of an independent implementation."""

import json
from pathlib import Path
from typing import Any

import pytest
from derivations import (
    bottom_up_actions,
    in_order_by_right_corner,
    map_bottom_up,
    map_top_down,
    top_down_actions,
)
from nltk import Tree

from spacy_parsetag.linearize import ORDERS, delinearize, deviations, largest_stack, linearize
from spacy_parsetag.trees import Parse, binarize, from_nltk

OWN = Path(__file__).with_name("vectors.jsonl")


def read_rows(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text(encoding="utf8").splitlines()]


def check(row: dict[str, Any]) -> None:
    tree = Tree.fromstring(row["tree"])
    parse = Parse.from_tree(from_nltk(tree))
    for order in row["max_stack"]:
        tags = linearize(tree, order)
        assert tags == row[order]
        assert Parse.from_tree(from_nltk(delinearize(tags, tree.pos(), order))) == parse
        assert largest_stack(tags, ORDERS[order].lattice) == row["max_stack"][order]
        assert deviations(tags) == row["deviation"][order]
    binary = binarize(parse)
    assert in_order_by_right_corner(binary) == row["in"]
    assert map_top_down(top_down_actions(binary)) == row["pre"]
    assert map_bottom_up(bottom_up_actions(binary)) == row["post"]


@pytest.mark.parametrize("row", read_rows(OWN), ids=lambda row: row["tree"])
def test_own_vectors(row: dict[str, Any]) -> None:
    check(row)


def test_conformance(conformance: Path) -> None:
    rows = read_rows(conformance / "linearize.jsonl")
    assert len(rows) == 155
    for row in rows:
        check(row)
