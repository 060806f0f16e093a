"""Tags, largest stacks and deviations equal those of an independent implementation."""

import json
from pathlib import Path

import pytest
from nltk import Tree

from spacy_parsetag.linearize import ORDERS, delinearize, deviations, linearize, max_stack
from spacy_parsetag.trees import Parse, from_nltk


@pytest.mark.parametrize("order", ORDERS)
def test_conformance(order: str, conformance: Path) -> None:
    rows = [json.loads(line) for line in (conformance / "linearize.jsonl").read_text(encoding="utf8").splitlines()]
    assert len(rows) == 155
    for row in rows:
        tree = Tree.fromstring(row["tree"])
        tags = linearize(tree, order)
        back = delinearize(tags, tree.pos(), order)
        assert tags == row[order]
        assert Parse.from_tree(from_nltk(back)) == Parse.from_tree(from_nltk(tree))
        assert max_stack(tags, ORDERS[order].lattice) == row["max_stack"][order]
        assert deviations(tags) == row["deviation"][order]
