"""An order of a user's own, with another lattice than the three: everything that walks it equals enumeration.

Its two classes into a state leave stacks of unequal least size; see `own_order`.
"""

import numpy as np
import pytest
from oracle import enumerate_trees, score_of
from own_order import LeftCorner

from spacy_parsetag.decode import BeamDecoder, Distribution, ExactDecoder, TagScores, Transitions
from spacy_parsetag.linearize import Lattice, largest_stack, split_tag
from spacy_parsetag.linearize.tagset import TagSet
from spacy_parsetag.trees import BinaryTree

OWN = LeftCorner()
TAGS = TagSet(["l/A", "r/A", "L/S", "R/S"])


def sequences(n_words: int) -> list[tuple[int, ...]]:
    """Ids of every tree over so many words with every choice of tags of the right class."""
    found: list[tuple[int, ...]] = []
    of_class = [[i for i, tag in enumerate(TAGS.tags) if split_tag(tag)[0] == c] for c in range(4)]
    for tree in enumerate_trees(n_words):
        partial: list[tuple[int, ...]] = [()]
        for tag in OWN.linearize(tree):
            partial = [(*ids, i) for ids in partial for i in of_class[split_tag(tag)[0]]]
        found += partial
    return found


def test_a_bound_below_a_high_start() -> None:
    """A stack may be larger than the sentence."""

    class High(LeftCorner):
        lattice = Lattice("high", 10, 0, 11, 1, (1, 0, 0, -1), (10, 11, 11, 12), (0, 0, 1, 1), (1, 1, 0, 0))

    scores = np.zeros((5, len(TAGS)))
    for bound in range(14):
        trees = Distribution(TagScores(scores, [0], [3], TAGS, High(), max_stack=bound))
        if bound < 11:
            with pytest.raises(ValueError, match="E152"):
                _ = trees.argmax
        else:
            assert largest_stack(TAGS.decode(trees.argmax.ids), High.lattice) <= bound


@pytest.mark.parametrize("with_transitions", [False, True], ids=["independent", "transitions"])
@pytest.mark.parametrize("n_words", [1, 2, 3, 4])
@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("max_stack", [None, 0, 1, 2])
def test_as_enumeration(n_words: int, with_transitions: bool, seed: int, max_stack: int | None) -> None:
    rng = np.random.default_rng(seed)
    scores = rng.normal(size=(2 * n_words - 1, len(TAGS))) * 2
    extra = [rng.normal(size=shape) for shape in ((len(TAGS), len(TAGS)), len(TAGS), len(TAGS))]
    transitions = Transitions(*extra) if with_transitions else None
    batch = TagScores(
        scores, np.zeros(1, dtype=np.int64), np.full(1, n_words), TAGS, OWN, transitions, max_stack=max_stack
    )
    within = [
        ids for ids in sequences(n_words)
        if max_stack is None or largest_stack(TAGS.decode(ids), OWN.lattice) <= max_stack
    ]  # fmt: skip
    totals = [score_of(ids, scores, *(extra if with_transitions else ())) for ids in within]
    if not within:
        for decoder in (ExactDecoder(), BeamDecoder(beam=2000), lambda trees: trees.log_partition):
            with pytest.raises(ValueError, match="E152"):
                decoder(Distribution(batch))
        return
    for decoder in (ExactDecoder(), BeamDecoder(beam=2000)):
        found = decoder(Distribution(batch))
        ids = found.ids.tolist()
        assert found.scores[0] == pytest.approx(max(totals), abs=1e-4)
        assert score_of(ids, scores, *(extra if with_transitions else ())) == pytest.approx(max(totals), abs=1e-4)
        assert OWN.linearize(OWN.delinearize(TAGS.decode(ids))) == TAGS.decode(ids)
    assert Distribution(batch).log_partition[0] == pytest.approx(np.logaddexp.reduce(totals), abs=1e-4)


class Uneven(LeftCorner):
    """A lattice with three classes out of one state and one out of the other. Its sequences are no trees of ours."""

    lattice = Lattice("uneven", 1, 0, 0, 1, (-1, 1, -1, -1), (1, 1, 1, 2), (0, 0, 0, 0), (0, 0, 1, 1))


@pytest.mark.parametrize("n_words", [1, 2, 3, 4])
def test_a_state_that_other_than_two_classes_leave(n_words: int) -> None:
    scores = np.random.default_rng(n_words).normal(size=(2 * n_words - 1, len(TAGS)))
    batch = TagScores(scores, np.zeros(1, dtype=np.int64), np.full(1, n_words), TAGS, Uneven())
    exact, beam = ExactDecoder()(Distribution(batch)), BeamDecoder(beam=2000)(Distribution(batch))
    assert beam.ids.tolist() == exact.ids.tolist()
    assert beam.scores == pytest.approx(exact.scores)


def test_long_sentences() -> None:
    """The scores favour one tree, and exact decoding finds it, whatever its shape."""
    rng = np.random.default_rng(0)
    for _ in range(100):
        n_words = int(rng.integers(1, 30))
        leaf: list[bool] = []
        todo = [n_words]
        while todo:
            n = todo.pop()
            leaf.append(n == 1)
            if n > 1:
                middle = int(rng.integers(1, n))
                todo += [n - middle, middle]
        tree = BinaryTree(tuple(leaf), ("",) * len(leaf))
        gold = TAGS.encode(OWN.linearize(tree))
        scores = np.zeros((len(gold), len(TAGS)), dtype=np.float32)
        scores[np.arange(len(gold)), gold] = 1
        batch = TagScores(scores, np.zeros(1, dtype=np.int64), np.full(1, n_words), TAGS, OWN)
        assert ExactDecoder()(Distribution(batch)).ids.tolist() == gold.tolist()
