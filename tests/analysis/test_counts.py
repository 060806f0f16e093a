"""Deviation, stack and tags equal what the linearizers say."""

from collections import Counter

import pytest
from hypothesis import given, strategies as st
from nltk import Tree
from strategies import parses

from spacy_parsetag.analysis.inventories import (
    Deviations,
    Stacks,
    count_deviations,
    count_labels,
    count_stacks,
    count_tags,
    productions,
    stack_needed,
    word_deviations,
)
from spacy_parsetag.analysis.tables import tags_summary
from spacy_parsetag.linearize import ORDERS, deviations, largest_stack
from spacy_parsetag.trees import BinaryTree, Parse, binarize, from_nltk

DEPTH = 5000


def tree_of(brackets: str) -> BinaryTree:
    return binarize(Parse.from_tree(from_nltk(Tree.fromstring(brackets))))


SHE_READS = tree_of("(TOP (S (NP (PRP She)) (VP (VBZ reads) (NP (NNS papers))) (. .)))")
BARKS = tree_of("(TOP (S (NP (DT The) (NN dog)) (VP (VBZ barks))))")


def check(tree: BinaryTree) -> None:
    found, stacks = word_deviations(tree), stack_needed(tree)
    assert list(found) == list(stacks) == list(ORDERS)
    for order, linearizer in ORDERS.items():
        tags = linearizer.linearize(tree)
        assert found[order] == deviations(tags)
        assert stacks[order] == largest_stack(tags, linearizer.lattice)
        assert count_tags([tree]).counts == Counter(tags)


@given(parse=parses(max_words=12))
def test_as_the_linearizers(parse: Parse) -> None:
    check(binarize(parse))


@pytest.mark.parametrize("right", [True, False], ids=["right", "left"])
def test_deep_trees(right: bool) -> None:
    leaf = (False, True) * (DEPTH - 1) + (True,) if right else (False,) * (DEPTH - 1) + (True,) * DEPTH
    tree = BinaryTree(leaf, ("",) * len(leaf))
    check(tree)
    assert stack_needed(tree) == {"in": 2 if right else 1, "pre": 2 if right else DEPTH, "post": DEPTH if right else 2}


@given(some=st.lists(parses(max_words=8), min_size=1, max_size=6))
def test_totals(some: list[Parse]) -> None:
    trees = [binarize(parse) for parse in some]
    measured, stacks = count_deviations(iter(trees)), count_stacks(iter(trees))
    assert measured.trees == stacks.trees == len(trees)
    assert measured.words == sum(map(len, some))
    for order, linearizer in ORDERS.items():
        tags = [linearizer.linearize(tree) for tree in trees]
        every = [k for sequence in tags for k in deviations(sequence)]
        assert measured.mean(order) == pytest.approx(sum(every) / len(every))
        assert measured.largest(order) == max(every)
        assert sum(measured.distribution(order)) == pytest.approx(1)
        assert measured.to_dict()["orders"][order]["counts"] == [every.count(k) for k in range(max(every) + 1)]
        sizes = [largest_stack(sequence, linearizer.lattice) for sequence in tags]
        assert stacks.needed(order) == max(sizes)
        coverage = stacks.coverage(order)
        assert len(coverage) == max(sizes) + 1 and coverage[-1] == 1 and coverage == sorted(coverage)
        for share in (0.25, 0.5, 0.9, 1.0):
            size = stacks.needed(order, share)
            assert coverage[size] >= share - 1e-9 and all(less < share for less in coverage[:size])


def test_stack_shares() -> None:
    stacks = Stacks(trees=100)
    stacks.counts["in"].update({1: 90, 3: 9, 5: 1})
    assert [stacks.needed("in", share) for share in (0, 0.9, 0.91, 0.99, 0.991, 1)] == [1, 1, 3, 3, 5, 5]
    assert stacks.coverage("in") == pytest.approx([0, 0.9, 0.9, 0.99, 0.99, 1])


def test_nothing() -> None:
    assert count_deviations([]).to_dict()["orders"]["pre"] == {"mean": 0, "max": 0, "counts": [0]}
    assert Deviations().distribution("in") == [0]
    assert Stacks().needed("post") == 0 and Stacks().coverage("post") == [0]
    assert count_tags([]).covered() == []


def test_tags() -> None:
    train = count_tags([BARKS])
    assert train.counts == {"L/S": 1, "L/NP": 1, "l": 1, "r": 1, "r/VP": 1}
    assert train.by_class() == {"l": 1, "r": 2, "L": 2, "R": 0}
    assert not train.unseen and train.once == 5 and "unseen" not in train.to_dict()
    found = count_tags([SHE_READS, BARKS, SHE_READS], train)
    # The bare R of binarization is always known, seen or not; its VP is a left child here.
    assert found.unseen == {"l/NP": 2, "L/VP": 2, "r/NP": 2}
    assert found.unseen_trees == 2
    assert found.covered()[-1] == 1
    content = found.to_dict()
    assert content["unseen"] == {"trees": 2, "types": 3, "tokens": 6, "counts": {"L/VP": 2, "l/NP": 2, "r/NP": 2}}
    assert next(iter(content["counts"])) == "L/S" and content["tokens"] == 19


def test_the_table_of_tags() -> None:
    train = count_tags([BARKS])
    first, second = tags_summary({"train": train, "dev": count_tags([SHE_READS, BARKS, SHE_READS], train)}).rows
    assert first[:3] == ("train", 1, 5) and first[-4:] == (5, "", "", "")
    # Six of 19 tags, in two of three trees.
    assert second[-3:] == (3, pytest.approx(100 * 6 / 19), pytest.approx(100 * 2 / 3))


def parse_of(brackets: str) -> Parse:
    return Parse.from_tree(from_nltk(Tree.fromstring(brackets)))


def test_labels() -> None:
    train = [
        parse_of("(TOP (S (NP (DT The) (NN dog)) (VP (VBZ barks))))"),
        parse_of("(TOP (S (VP (VB Run) (NP (NP (NN home))))) (. .))"),
    ]
    found = count_labels(train)
    assert found.lengths == {3: 2} and found.words == 6
    assert found.labels.counts == {"S": 2, "NP": 3, "VP": 2} and found.widths == {"S": 5, "NP": 4, "VP": 3}
    assert found.unaries.counts == {"S+VP": 1, "NP+NP": 1}
    assert found.productions.counts == {
        "S → NP VP": 1, "NP → DT NN": 1, "VP → VBZ": 1, "S → VP": 1, "VP → VB NP": 1, "NP → NP": 1, "NP → NN": 1,
    }  # fmt: skip
    dev = count_labels([*train, parse_of("(TOP (SQ (NP (NN dog)) (VP (VBZ barks))))"), parse_of("(TOP (R r))")], found)
    assert dev.labels.unseen == {"SQ": 1} and dev.labels.unseen_trees == 1 and dev.labels.trees == 4
    assert dev.productions.unseen == {"SQ → NP VP": 1} and not dev.unaries.unseen
    content = dev.to_dict()
    assert content["trees"] == 4 and content["words"] == 9 and content["lengths"] == {"1": 1, "2": 1, "3": 2}
    assert content["mean_width"] == {"NP": 1.25, "VP": 1.333, "S": 2.5, "SQ": 2.0}
    assert content["labels"]["unseen"] == {"trees": 1, "types": 1, "tokens": 1, "counts": {"SQ": 1}}
    assert count_labels([]).to_dict()["mean_width"] == {}


def test_labels_called_as_tag_classes_can_be_unseen() -> None:
    dev = count_labels([parse_of("(TOP (R (L (X x))))")], count_labels([]))
    assert dev.labels.unseen == {"R": 1, "L": 1}


@given(parse=parses(max_words=10))
def test_productions_of_the_tree(parse: Parse) -> None:
    """Each span and each word is a child of the last span in pre-order that is around it."""
    spans = [(start, end, i, label) for i, (start, end, label) in enumerate(parse.spans)]
    words = [(word, word + 1, len(spans), pos) for word, pos in enumerate(parse.pos)]
    expected = [f"{label} →" for *_, label in spans]
    for start, end, i, label in sorted([*spans, *words], key=lambda node: (node[0], node[2])):
        around = [j for j, span in enumerate(spans[:i]) if span[0] <= start and end <= span[1]]
        if around:
            expected[around[-1]] += f" {label}"
    assert productions(parse) == expected
