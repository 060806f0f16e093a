"""The exact decoder against enumeration, the conformance vectors, and bad input."""

import json
import re
from dataclasses import replace

import numpy as np
import pytest
from batches import ALL_ORDERS, TAGS, check_tree
from hypothesis import given, settings, strategies as st
from oracle import STACK, best_by_enumeration, enumerate_classes, score_of
from strategies import n_examples

from spacy_parsetag.decode import Distribution, ExactDecoder, TagScores, Transitions, TreeDistribution, decode
from spacy_parsetag.linearize import ORDERS
from spacy_parsetag.linearize.tagset import TagSet

INVENTORY = ["l", "l/NP", "l/S+VP", "r", "r/NP", "L", "L/S", "L/VP", "R", "R/VP", "R/S+VP"]


def decode_rows(scores, words, order, bound=None, tags=TAGS):
    words = np.asarray(words, dtype=np.int32)
    lengths = np.maximum(2 * words - 1, 0)
    rows = (np.cumsum(lengths) - lengths).astype(np.int64)
    return ExactDecoder()(Distribution(TagScores(scores, rows, words, tags, ORDERS[order], max_stack=bound)))


def test_conformance(conformance):
    passed = 0
    for line in (conformance / "decode.jsonl").read_text(encoding="utf8").splitlines():
        row = json.loads(line)
        if "transitions" in row:
            continue
        for dtype in (np.float64, np.float32):
            scores = np.asarray(row["scores"], dtype=dtype)
            ids, score = decode(scores, row["vocab"], row["order"], max_stack=row["max_stack"])
            check_tree(ids, row["vocab"], row["order"], row["words"], row["max_stack"])
            assert score == pytest.approx(row["best_score"], abs=1e-4 if dtype == np.float32 else 1e-9)
            assert score_of(ids, scores) == pytest.approx(score, abs=1e-4 if dtype == np.float32 else 1e-9)
        passed += 1
    assert passed == 120


@settings(deadline=None, max_examples=n_examples(150))
@given(
    order=st.sampled_from(sorted(STACK)),
    n=st.integers(1, 7),
    bound=st.one_of(st.none(), st.integers(0, 5)),
    tags=st.lists(st.sampled_from(INVENTORY), min_size=1, unique=True),
    seed=st.integers(0, 2**32 - 1),
    levels=st.sampled_from([0, 1, 3, 1000]),
    dtype=st.sampled_from([np.float32, np.float64, np.int64]),
)
def test_equals_enumeration(order, n, bound, tags, seed, levels, dtype):
    """Any inventory, some classes missing; few levels of score make ties."""
    scores = np.random.default_rng(seed).integers(-levels, levels + 1, size=(2 * n - 1, len(tags))).astype(dtype)
    expected = best_by_enumeration(scores, tags, order, max_stack=bound)
    if expected is None:
        with pytest.raises(ValueError, match="E152"):
            decode(scores, tags, order, max_stack=bound)
        return
    ids, score = decode(scores, tags, order, max_stack=bound)
    check_tree(ids, tags, order, n, bound)
    assert score == expected == score_of(ids, scores)
    again, _ = decode(scores, tags, order, max_stack=bound)
    np.testing.assert_array_equal(ids, again)


@ALL_ORDERS
@pytest.mark.parametrize("n", [1, 2, 3, 4, 5, 6])
def test_every_tree_can_win(order, n):
    """Each valid sequence of classes, scored up, comes back: none is shut out."""
    bare = TagSet([])
    for classes in enumerate_classes(n, order):
        scores = np.zeros((2 * n - 1, 4), dtype=np.float32)
        scores[np.arange(2 * n - 1), classes] = 1
        ids, score = decode(scores, bare.tags, order)
        assert tuple(ids) == classes and score == 2 * n - 1


@ALL_ORDERS
def test_batch(order):
    """Sentences in any order of rows, gaps between them, empty and one-word ones, and no sentence at all."""
    rng = np.random.default_rng(0)
    scores = rng.normal(size=(60, len(TAGS))).astype(np.float32)
    rows, words = np.asarray([40, 0, 2, 4]), np.asarray([7, 0, 1, 12])
    ids, totals, _ = ExactDecoder()(Distribution(TagScores(scores, rows, words, TAGS, ORDERS[order])))
    owned = np.zeros(60, dtype=bool)
    for row, n, total in zip(rows, words, totals, strict=True):
        if n:
            sentence = slice(row, row + 2 * n - 1)
            owned[sentence] = True
            single, score = decode(scores[sentence], TAGS.tags, order)
            np.testing.assert_array_equal(ids[sentence], single)
            assert score == total
    assert (ids[~owned] == -1).all() and totals[1] == 0
    ids, totals, _ = decode_rows(np.zeros((0, len(TAGS)), dtype=np.float32), [], order)
    assert ids.shape == totals.shape == (0,)


@ALL_ORDERS
@pytest.mark.parametrize("bound", [None, 3])
def test_2000_words(order, bound):
    rng = np.random.default_rng(1)
    scores = rng.normal(size=(3999, len(TAGS))).astype(np.float32)
    ids, totals, _ = decode_rows(scores, [2000], order, bound)
    check_tree(ids, TAGS, order, 2000, bound)
    assert totals[0] == pytest.approx(score_of(ids, scores), rel=1e-9)


@ALL_ORDERS
def test_bound_is_on_sizes_after_tags(order):
    """One word needs a stack of 1 in in- and post-order and of 0 in pre-order, where the tag leaves nothing pending."""
    least = 0 if order == "pre" else 1
    scores = np.zeros((1, len(TAGS)), dtype=np.float32)
    ids, _ = decode(scores, TAGS.tags, order, max_stack=least)
    assert TAGS[ids[0]] == "l"
    if least:
        with pytest.raises(ValueError, match="E152"):
            decode(scores, TAGS.tags, order, max_stack=0)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize("row, column, word", [(0, 0, 1), (6, 4, 4), (7, 10, 4), (8, 10, 5)])
def test_scores_that_are_not_finite(dtype, value, row, column, word):
    scores = np.zeros((9, len(TAGS)), dtype=dtype)
    scores[row, column] = value
    with pytest.raises(ValueError, match=rf"E151.*'{TAGS[column]}' at word {word} is -?{abs(value)}"):
        decode(scores, TAGS.tags, "in")


@ALL_ORDERS
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_extreme_but_finite(order, dtype):
    rng = np.random.default_rng(2)
    scores = (rng.choice([-1e30, 0, 1e30], size=(13, len(TAGS)))).astype(dtype)
    ids, score = decode(scores, TAGS.tags, order)
    check_tree(ids, TAGS, order, 7)
    assert score == pytest.approx(best_by_enumeration(scores, TAGS.tags, order), rel=1e-6)


def test_refuses_what_does_not_fit():
    with pytest.raises(ValueError, match="E150"):
        decode(np.zeros((4, 4)), ["l", "r", "L", "R"])
    with pytest.raises(ValueError, match="E150"):
        decode(np.zeros((3, 3)), ["l", "r", "L", "R"])
    with pytest.raises(ValueError, match="E150"):
        decode(np.zeros(4), ["l", "r", "L", "R"])
    with pytest.raises(ValueError, match="E153"):
        decode(np.zeros((3, 4)), ["l", "r", "l", "R"])
    with pytest.raises(ValueError, match="E161"):
        decode_rows(np.zeros((3, len(TAGS))), [2], "in", -1)
    with pytest.raises(ValueError, match="E155"):
        decode_rows(np.zeros((4, len(TAGS)), dtype=np.float32), [3], "in")
    with pytest.raises(ValueError, match="E051"):
        decode(np.zeros((3, 4)), ["l", "r", "L", "R"], "sideways")


@ALL_ORDERS
def test_columns_in_any_order(order):
    rng = np.random.default_rng(3)
    scores = rng.normal(size=(11, len(TAGS)))
    turn = rng.permutation(len(TAGS))
    ids, score = decode(scores, TAGS.tags, order)
    turned, same = decode(scores[:, turn], [TAGS[i] for i in turn], order)
    assert score == same
    np.testing.assert_array_equal(turn[turned], ids)


@ALL_ORDERS
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("sizes", [(30, 40, 27, 53), (1, 1, 7, 8), (16, 17, 15, 32), (3, 4, 5, 2)])
def test_greatest_scores_of_classes_of_any_size(order, dtype, sizes):
    """The loop over labels takes vectors, the last of which may overlap the one before it."""
    tags = TagSet([f"{name}/X{i}" for name, n in zip("lrLR", sizes, strict=True) for i in range(n)])
    rng = np.random.default_rng(4)
    for _ in range(20):
        scores = rng.normal(size=(7, len(tags))).astype(dtype)
        _, score = decode(scores, tags.tags, order)
        assert score == pytest.approx(best_by_enumeration(scores, tags.tags, order), rel=1e-6)
        spoilt = scores.copy()
        row, column = rng.integers(7), rng.integers(len(tags))
        spoilt[row, column] = rng.choice([np.nan, np.inf, -np.inf])
        with pytest.raises(ValueError, match=rf"E151.*'{tags[column]}' at word {row // 2 + 1} "):
            decode(spoilt, tags.tags, order)


def test_numbers_too_great_to_add_up():
    """Sums of scores above 1e300 would be infinite: such scores are refused by name, not decoded into some tree."""
    scores = np.zeros((9, len(TAGS)))
    scores[4, 2] = 1e308
    for transitions in (None, np.zeros((len(TAGS), len(TAGS)))):
        with pytest.raises(ValueError, match=rf"E151.*'{re.escape(TAGS[2])}' at word 3 is 1e\+308"):
            decode(scores, TAGS.tags, "in", transitions)
    with pytest.raises(ValueError, match=r"E159.*'pairs'"):
        decode(np.zeros((9, len(TAGS))), TAGS.tags, "in", np.full((len(TAGS), len(TAGS)), -1e305))


@ALL_ORDERS
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("constraints", [(), ((0, 1, None, "uncrossed"),)], ids=["lattice", "chart"])
def test_the_first_of_tags_with_the_same_score(order, dtype, constraints):
    """Of labels; and from the last position on, or top-down from the first split on, of classes."""
    tags = TagSet([f"{name}/X{i:02}" for name in "lrLR" for i in range(41)])
    rng = np.random.default_rng(6)
    scores = np.repeat(rng.normal(size=(9, 4)), 41, axis=1).astype(dtype)
    bare = np.zeros((9, len(tags)), dtype=dtype) - 9
    for c in range(4):
        bare[:, tags.offsets[c] + 1 : tags.offsets[c + 1]] = scores[:, 41 * c : 41 * c + 41]
    ids, _ = TreeDistribution(bare, tags.tags, order, constraints=constraints).argmax
    assert {tags[i][1:] for i in ids} == {"/X00"}
    trees = enumerate_classes(5, order)  # those with the first splits come first
    expected = trees[0] if constraints else min(trees, key=lambda classes: classes[::-1])
    ids, _ = TreeDistribution(np.zeros((9, 4), dtype), TagSet([]).tags, order, constraints=constraints).argmax
    assert tuple(ids) == expected


def test_sentences_of_many_lengths():
    """What is kept for each length is dropped above half a million tags in all, and made again."""
    n_words, bare = np.asarray([*range(1, 726), 5, 725]), TagSet([])
    scores = np.random.default_rng(0).normal(size=((2 * n_words - 1).sum(), 4)).astype("f")
    ids, totals, _ = decode_rows(scores, n_words, "in", 2, bare)
    last_ids, last_totals, _ = decode_rows(scores[-1458:], n_words[-2:], "in", 2, bare)
    np.testing.assert_array_equal(ids[-1458:], last_ids)
    np.testing.assert_array_equal(totals[-2:], last_totals)


def test_a_batch_knows_its_rows():
    t = len(TAGS)
    batch = TagScores(np.zeros((10, t)), [1, 0, 4, 9], [2, 0, 3, 0], TAGS, ORDERS["in"])
    assert batch.stops.tolist() == [4, 0, 9, 9] and batch.rows.tolist() == [1, 2, 3, 4, 5, 6, 7, 8]
    some = batch.select(np.asarray([False, True, True, False]))
    assert some.rows.tolist() == [4, 5, 6, 7, 8] and some.n_words.tolist() == [0, 3]
    for shapes in (((t, t - 1), t, t), ((t, t), t + 1, t), ((t, t), t, (t, 1))):
        with pytest.raises(ValueError, match=r"\[E158\].*'(pairs|start|end)'"):
            replace(batch, transitions=Transitions(*map(np.zeros, shapes)))


@ALL_ORDERS
def test_threads(order, monkeypatch):
    """Threads that share a batch find what one finds, whatever their number."""
    rng = np.random.default_rng(0)
    words = [3, 0, 7, 1, 12, 5, 1]
    scores = rng.normal(size=(sum(max(2 * n - 1, 0) for n in words), len(TAGS))).astype("f")
    expected = decode_rows(scores, words, order)
    n_words = np.asarray(words, dtype=np.int32)
    lengths = np.maximum(2 * n_words - 1, 0)
    batch = TagScores(scores, (np.cumsum(lengths) - lengths).astype(np.int64), n_words, TAGS, ORDERS[order])
    monkeypatch.setenv("OMP_NUM_THREADS", "3")
    assert ExactDecoder(n_threads=None).n_threads == 3
    monkeypatch.setenv("OMP_NUM_THREADS", "3,2")  # of threads within threads
    assert ExactDecoder(n_threads=None).n_threads == 3
    for n_threads in (2, 3, 7, 20, None):
        found = ExactDecoder(n_threads=n_threads)(Distribution(batch))
        np.testing.assert_array_equal(found.ids, expected.ids)
        np.testing.assert_array_equal(found.scores, expected.scores)
    batch = replace(batch, scores=scores.copy())
    batch.scores[4] = np.nan
    with pytest.raises(ValueError) as alone:
        ExactDecoder()(Distribution(batch))
    with pytest.raises(ValueError) as together:
        ExactDecoder(n_threads=3)(Distribution(batch))
    assert str(alone.value) == str(together.value)
    with pytest.raises(ValueError, match=r"\[E173\]"):
        ExactDecoder(n_threads=0)
