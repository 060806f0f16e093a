"""Damaged bracket files give trees or a named error, and cost a broken tree's neighbours as little as possible."""

import random
from pathlib import Path

import pytest

from spacy_parsetag.errors import TreebankError
from spacy_parsetag.treebanks.penn import read_string, read_trees
from spacy_parsetag.trees import from_nltk
from spacy_parsetag.trees.brackets import format_tree
from tools.mutate import LAYOUTS, format_layout, make_tree, make_treebank, mutate

N_MUTATIONS = 500


@pytest.mark.parametrize("block", range(10))
def test_mutated_files_give_trees_or_named_errors(block: int, tmp_path: Path) -> None:
    path = tmp_path / "mutated.mrg"
    size = N_MUTATIONS // 10
    for seed in range(block * size, (block + 1) * size):
        rng = random.Random(seed)
        path.write_bytes(mutate(make_treebank(rng).encode("utf8"), rng))
        strict = []
        first = None
        try:
            for tree in read_trees(path):
                strict.append(format_tree(tree))
        except TreebankError as err:
            first = err
        errors: list[TreebankError] = []
        lenient = [format_tree(tree) for tree in read_trees(path, on_error=errors.append)]
        n_lines = path.read_bytes().count(b"\n") + path.read_bytes().count(b"\r") + 1
        for error in errors:
            assert error.reason.startswith("[E1"), seed
            assert error.path == str(path), seed
            assert 1 <= error.tree_line <= error.line <= n_lines, seed
            assert f"{path}:{error.line}: " in str(error), seed
        # Both ways of reading see the same first problem, and the same trees before it.
        assert str(first) == str(errors[0] if errors else None), seed
        assert lenient[: len(strict)] == strict, seed
        # What was read can be written and read again.
        assert [format_tree(tree) for tree in read_string("\n".join(lenient))] == lenient, seed


@pytest.mark.parametrize("root", ["TOP", "", "bare"])
@pytest.mark.parametrize("layout", LAYOUTS)
def test_one_bracket_costs_one_tree(root: str, layout: str) -> None:
    """Delete, add or turn a bracket somewhere in one tree of seven: what of the others is lost, what comes instead?"""
    n_trees, n_cases = 7, 150
    lost = wrong = reports = 0
    for seed in range(n_cases):
        rng = random.Random(seed)
        trees = [make_tree(rng, f"w{i}", rng.randint(2, 8), root) for i in range(n_trees)]
        texts = [format_layout([tree], layout) for tree in trees]
        expected = [format_tree(from_nltk(tree)) for tree in trees]
        victim = rng.randrange(n_trees)
        brackets = [i for i, char in enumerate(texts[victim]) if char in "()"]
        at = rng.choice(brackets)
        edit = rng.choice(["", "((", "))", ")" if texts[victim][at] == "(" else "("])
        texts[victim] = texts[victim][:at] + edit + texts[victim][at + 1 :]
        errors: list[TreebankError] = []
        separator = "\n" if layout == "pretty" else " " if layout == "joined" else ""
        found = [format_tree(tree) for tree in read_string(separator.join(texts), on_error=errors.append)]
        assert errors or found != expected
        lost += len(set(expected) - set(found) - {expected[victim]})
        wrong += len(set(found) - set(expected))
        reports += len(errors)
    # Half a tree is never given out for a whole one.
    assert wrong == 0
    # Of 900 neighbours. A bracket too many at the start of a line is taken to belong to the tree before it; and among
    # trees on one line without wrappers nothing tells where the next one starts.
    assert lost <= {"joined": 30}.get(layout, 10) or (layout == "joined" and root == "bare")
    assert reports <= 250
