"""Constraints on trees that cannot hold together are named, or left out in order."""

from itertools import combinations

import numpy as np
import pytest
from batches import random_batch

from spacy_parsetag.decode import Constraint, Distribution, ExactDecoder, TreeDistribution
from spacy_parsetag.decode.constraints import label_sets
from spacy_parsetag.decode.repair import find_conflict, keep_possible
from spacy_parsetag.linearize.tagset import TagSet


def test_conflicts_are_named():
    tags = ["R/VP", "l", "r/NP", "L", "L/S+VP", "r", "R", "L/S", "l/NP"]
    scores = np.zeros((9, len(tags)))
    free = (0, 2, None, "uncrossed")

    def error(*constraints, **others):
        with pytest.raises(ValueError, match="E169") as caught:
            _ = TreeDistribution(scores, tags, constraints=constraints, **others).argmax
        return str(caught.value)

    crossing = error(free, (1, 3, None, "must"), (3, 4, "NP", "must"), (2, 5, None, "must"))
    assert "must (1, 3); must (2, 5)." in crossing and "NP" not in crossing
    assert "must (1, 3, 'VP'); must not (1, 3, 'VP')" in error((1, 3, "VP", "must"), free, (1, 3, "VP", "must not"))
    assert "must (0, 2); uncrossed (1, 4)" in error((0, 2, None, "must"), (1, 4, None, "uncrossed"))
    with pytest.raises(ValueError, match=r"E178.*must \(0, 2, 'X'\).*the label 'X'. It knows NP, S, VP\."):
        _ = TreeDistribution(scores, tags, constraints=[(0, 2, "X", "must"), free]).argmax
    assert "(1)" in error((0, 5, None, "must"), (1, 5, None, "must"), (2, 4, None, "must"), max_stack=1)
    with pytest.raises(ValueError, match="E152"):
        _ = TreeDistribution(scores[:, :2], ["l", "r"], constraints=[free]).argmax


def test_constraints_need_a_chart():
    """Where successive tags score there is none."""
    tags = ["l", "r", "L", "R"]
    for asked in ("argmax", "constituents", "log_partition", "entropy"):
        distribution = TreeDistribution(
            np.zeros((5, 4)), tags, transitions=np.zeros((4, 4)), constraints=[(0, 2, None, "must")]
        )
        with pytest.raises(ValueError, match="E175"):
            getattr(distribution, asked)


@pytest.mark.parametrize(
    "bad", [(0, 6, None, "must"), (2, 2, None, "must"), (-1, 2, None, "must"), (0, 2, None, "should"), (0, 2)]
)
def test_refuses_bad_constraints(bad):
    with pytest.raises(ValueError, match="E168"):
        TreeDistribution(np.zeros((9, 4)), ["l", "r", "L", "R"], constraints=[bad])


def test_constraints_in_order_of_priority():
    constraints = (
        (1, 3, None, "must"),
        (2, 4, None, "must"),
        (0, 1, "NP", "must"),
        (1, 3, "VP", "must not"),
        (3, 5, None, "must"),
    )
    batch = random_batch([5, 3], constraints=(constraints, ((0, 2, None, "must"),)))
    kept, dropped = keep_possible(batch)
    assert dropped == [[1], []]
    assert kept.constraints[0] == tuple(Constraint(*constraint) for i, constraint in enumerate(constraints) if i != 1)
    ExactDecoder()(Distribution(kept))
    sentence = batch.select(np.asarray([0]))
    assert find_conflict(sentence) == [1, 4]
    assert keep_possible(random_batch([5, 3]))[1] == [[], []]  # nothing to leave out


def test_what_is_in_the_way_is_not_always_a_constraint():
    """No tree over five words stays within a stack of 0; and scores that are no numbers are for others to name."""
    constraints = ((0, 2, None, "must"),)
    assert find_conflict(random_batch([5], constraints=(constraints,), max_stack=0)) == []
    batch = random_batch([5, 3], constraints=(constraints, ((0, 2, None, "must"), (1, 3, None, "must"))))
    batch.scores[0, 0] = np.nan
    kept, dropped = keep_possible(batch)
    assert dropped == [[], [1]] and kept.constraints[0] == batch.constraints[0]


def test_more_sets_of_tags_than_16_bits_number():
    """Each span of a batch may have labels of its own."""
    labels = [f"L{i}" for i in range(258)]
    tags = TagSet([f"R/{label}" for label in labels])
    n_sentences, n = 79, 30
    spans = [(i, j) for i in range(n) for j in range(i + 2, n + 1)]
    pairs = combinations(labels, 2)
    constraints = [
        tuple(Constraint(i, j, label, "must not") for i, j in spans for label in next(pairs, ()))
        for _ in range(n_sentences)
    ]
    masks, cells, starts = label_sets(constraints, np.full(n_sentences, n), tags)
    assert len(masks) > 2**15 and cells[:2].tolist() == [0, 2]
    forbidden = [[tags[tag] for tag in np.flatnonzero(1 - mask)] for mask in masks[cells]]
    assert forbidden[cells.argmax()] == ["R/L256", "R/L257"] and forbidden[starts[1] + 1] == ["R/L1", "R/L180"]
