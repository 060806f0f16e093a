"""Exact decoding with scores between tags, against enumeration and the conformance vectors."""

import json
from dataclasses import replace

import numpy as np
import pytest
from batches import ALL_ORDERS, TAGS, check_tree
from hypothesis import given, settings, strategies as st
from oracle import STACK, best_by_enumeration, score_of
from strategies import n_examples

from spacy_parsetag.decode import Distribution, ExactDecoder, TagScores, Transitions, decode
from spacy_parsetag.decode._passes import limit_registers, viterbi
from spacy_parsetag.decode.batch import arguments_of
from spacy_parsetag.linearize import ORDERS
from spacy_parsetag.linearize.tagset import TagSet

INVENTORY = ["l", "l/NP", "l/S+VP", "r", "r/NP", "L", "L/S", "L/VP", "R", "R/VP", "R/S+VP"]


def test_conformance(conformance):
    passed = 0
    for line in (conformance / "decode.jsonl").read_text(encoding="utf8").splitlines():
        row = json.loads(line)
        transitions = [np.asarray(row[name]) if name in row else None for name in ("transitions", "start", "end")]
        for dtype in (np.float64, np.float32):
            scores = np.asarray(row["scores"], dtype=dtype)
            ids, score = decode(scores, row["vocab"], row["order"], *transitions, max_stack=row["max_stack"])
            check_tree(ids, row["vocab"], row["order"], row["words"], row["max_stack"])
            precision = 1e-4 if dtype == np.float32 else 1e-9
            assert score == pytest.approx(row["best_score"], abs=precision)
            assert score_of(ids, scores, *transitions) == pytest.approx(score, abs=precision)
        passed += 1
    assert passed == 240


@pytest.mark.parametrize("beam", [None, 3])
def test_scores_near_the_limit_of_float32(beam):
    """Their sums lie beyond it, and so do some transitions; they are what they are in double."""
    tags, rng = ["l", "l/A", "r", "L", "R", "R/B"], np.random.default_rng(5)
    scores, pairs = (rng.uniform(-1, 1, size=(n, 6)).astype("f") * np.float32(1e38) for n in (7, 6))
    found, expected = (
        decode(scores, tags, transitions=pairs, beam=beam),
        decode(scores.astype(float), tags, transitions=pairs, beam=beam),
    )
    assert found[0].tolist() == expected[0].tolist() and found[1] == expected[1]
    for size in (1e39, -1e39):
        _, score = decode(np.zeros((3, 4), "f"), ["l", "r", "L", "R"], transitions=np.full((4, 4), size), beam=beam)
        assert score == 2 * size


@settings(deadline=None, max_examples=n_examples(150))
@given(
    order=st.sampled_from(sorted(STACK)),
    n=st.integers(1, 7),
    bound=st.one_of(st.none(), st.integers(0, 5)),
    tags=st.lists(st.sampled_from(INVENTORY), min_size=1, unique=True),
    seed=st.integers(0, 2**32 - 1),
    levels=st.sampled_from([0, 1, 3, 1000]),
    dtype=st.sampled_from([np.float32, np.float64]),
    shut=st.floats(0, 0.7),
    absent=st.sampled_from([(), ("start",), ("start", "end"), ("transitions",)]),
)
def test_equals_enumeration(order, n, bound, tags, seed, levels, dtype, shut, absent):
    """Any inventory, some classes missing, some pairs of tags shut out; few levels of score make ties."""
    rng = np.random.default_rng(seed)
    t = len(tags)
    scores = rng.integers(-levels, levels + 1, size=(2 * n - 1, t)).astype(dtype)
    transitions = {}
    for name, shape in (("transitions", (t, t)), ("start", (t,)), ("end", (t,))):
        transitions[name] = rng.integers(-levels, levels + 1, size=shape).astype(np.float64)
        if name == "transitions":
            transitions[name][rng.random(shape) < shut] = -np.inf
        if name in absent:
            transitions[name] = None
    expected = best_by_enumeration(scores, tags, order, **transitions, max_stack=bound)
    if expected is None or expected == -np.inf:
        with pytest.raises(ValueError, match="E152"):
            decode(scores, tags, order, **transitions, max_stack=bound)
        return
    ids, score = decode(scores, tags, order, **transitions, max_stack=bound)
    check_tree(ids, tags, order, n, bound)
    assert score == expected == score_of(ids, scores, **transitions)
    again, _ = decode(scores, tags, order, **transitions, max_stack=bound)
    np.testing.assert_array_equal(ids, again)


@ALL_ORDERS
def test_without_dependence_equals_the_independent_decoder(order):
    """Scores between tags that are all 0 change nothing."""
    rng = np.random.default_rng(0)
    words = np.asarray([40, 0, 1, 17], dtype=np.int32)
    rows = np.asarray([0, 79, 79, 90])
    scores = rng.normal(size=(123, len(TAGS))).astype(np.float32)
    decoder = ExactDecoder()
    batch = TagScores(scores, rows, words, TAGS, ORDERS[order], max_stack=6)
    plain, totals, _ = decoder(Distribution(batch))
    zeros = Transitions(np.zeros((len(TAGS), len(TAGS))), np.zeros(len(TAGS)), np.zeros(len(TAGS)))
    ids, totals_with_zeros, _ = decoder(Distribution(replace(batch, transitions=zeros)))
    np.testing.assert_array_equal(ids, plain)
    np.testing.assert_allclose(totals_with_zeros, totals)
    assert (ids[80:90] == -1).all()


@ALL_ORDERS
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_memory_budget_changes_nothing(order, dtype):
    """Keeping the states of few positions and running stretches again gives the same trees."""
    rng = np.random.default_rng(1)
    words = np.asarray([30, 3, 1, 2, 44], dtype=np.int32)
    lengths = 2 * words - 1
    rows = (np.cumsum(lengths) - lengths).astype(np.int64)
    scores = rng.normal(size=(lengths.sum(), len(TAGS))).astype(dtype)
    shapes = ((len(TAGS), len(TAGS)), len(TAGS), len(TAGS))
    transitions = Transitions(*(rng.normal(size=shape).astype(dtype) for shape in shapes))
    batch = TagScores(scores, rows, words, TAGS, ORDERS[order], transitions)
    results = []
    for budget in (0, 1 << 40):
        ids = np.full(len(scores), -1, dtype=np.int32)
        totals, status = np.zeros(len(words)), np.zeros(len(words), dtype=np.uint8)
        viterbi(*arguments_of(batch), ids, totals, status, budget)
        assert not status.any()
        results.append((ids, totals))
    np.testing.assert_array_equal(results[0][0], results[1][0])
    np.testing.assert_array_equal(results[0][1], results[1][1])


@ALL_ORDERS
@pytest.mark.parametrize("bound", [None, 6])
def test_2000_words(order, bound):
    rng = np.random.default_rng(2)
    scores = rng.normal(size=(3999, len(TAGS)))
    transitions = rng.normal(size=(len(TAGS), len(TAGS)))
    ids, score = decode(scores.astype(np.float32), TAGS.tags, order, transitions, max_stack=bound)
    check_tree(ids, TAGS, order, 2000, bound)
    # float32 loses nothing to the length: sums are kept relative to the best state.
    exact_ids, exact = decode(scores, TAGS.tags, order, transitions, max_stack=bound)
    assert score == pytest.approx(exact, abs=1e-3)
    assert (ids == exact_ids).mean() > 0.99


@ALL_ORDERS
def test_great_sums_keep_precision(order):
    """2,000 scores around 1,000 add up to 2 million, where float32 has steps of 0.25; sums are kept near 0."""
    rng = np.random.default_rng(1)
    scores = (rng.normal(size=(1999, len(TAGS))) + 1000).astype(np.float32)
    transitions = rng.normal(size=(len(TAGS), len(TAGS))).astype(np.float32)
    score = decode(scores, TAGS.tags, order, transitions, max_stack=6)[1]
    exact = decode(scores.astype(np.float64), TAGS.tags, order, transitions.astype(np.float64), max_stack=6)[1]
    assert score == pytest.approx(exact, abs=0.05)


@ALL_ORDERS
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_extreme_but_finite(order, dtype):
    rng = np.random.default_rng(3)
    for size in (1e30, 3e38):  # the sum of a few of the latter is more than float32 holds
        scores = rng.choice([-size, 0.0], size=(13, len(TAGS))).astype(dtype)
        transitions = rng.choice([-size, 0.0], size=(len(TAGS), len(TAGS))).astype(dtype)
        ids, score = decode(scores, TAGS.tags, order, transitions)
        check_tree(ids, TAGS, order, 7)
        assert score == pytest.approx(
            best_by_enumeration(scores, TAGS.tags, order, transitions.astype(float)), rel=1e-6
        )


def test_columns_in_any_order():
    rng = np.random.default_rng(4)
    t = len(TAGS)
    scores, transitions = rng.normal(size=(11, t)), rng.normal(size=(t, t))
    start, end = rng.normal(size=t), rng.normal(size=t)
    turn = rng.permutation(t)
    ids, score = decode(scores, TAGS.tags, "pre", transitions, start, end)
    turned, same = decode(
        scores[:, turn], [TAGS[i] for i in turn], "pre", transitions[np.ix_(turn, turn)], start[turn], end[turn]
    )
    assert score == pytest.approx(same)
    np.testing.assert_array_equal(turn[turned], ids)


def test_refuses_bad_input():
    t = len(TAGS)
    scores, transitions = np.zeros((9, t)), np.zeros((t, t))
    with pytest.raises(ValueError, match=r"E158.*'transitions'"):
        decode(scores, TAGS.tags, "in", transitions[1:])
    with pytest.raises(ValueError, match=r"E158.*'end'"):
        decode(scores, TAGS.tags, "in", transitions, end=np.zeros(t + 1))
    for value in (np.nan, np.inf):
        transitions[2, 3] = value
        with pytest.raises(ValueError, match=r"E159.*'pairs'"):
            decode(scores, TAGS.tags, "in", transitions)
    scores[4, 0] = np.nan
    with pytest.raises(ValueError, match=r"E151.*at word 3"):
        decode(scores, TAGS.tags, "in", np.zeros((t, t)))


@ALL_ORDERS
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("n_tags", [1, 9, 30, 90])
def test_registers_of_any_width(order, dtype, n_tags):
    """Products in narrower registers give the same trees; tiles of all shapes take part."""
    rng = np.random.default_rng(n_tags)
    tags = TagSet([f"{name}/X{i}" for name in "lrLR" for i in range(n_tags)])
    shapes = ((len(tags), len(tags)), len(tags), len(tags))
    transitions = Transitions(*(rng.normal(size=shape).astype(dtype) for shape in shapes))
    n_words = np.asarray([9, 1, 2, 14], dtype=np.int32)
    starts = 2 * (np.cumsum(n_words) - n_words)
    batch = TagScores(rng.normal(size=(52, len(tags))).astype(dtype), starts, n_words, tags, ORDERS[order], transitions)
    widest = limit_registers(0)
    try:
        results = []
        for n_bytes in (64, 32, 16):
            limit_registers(n_bytes)
            results.append(ExactDecoder()(Distribution(batch)))
    finally:
        limit_registers(-widest)
    for other in results[1:]:
        np.testing.assert_array_equal(other.ids, results[0].ids)
        np.testing.assert_array_equal(other.scores, results[0].scores)


@ALL_ORDERS
def test_one_sentence_that_float32_cannot_add_up(order):
    """It is searched again in double; the sentences around it are as they would be without it."""
    rng = np.random.default_rng(8)
    n_words = np.asarray([3, 7, 4], dtype=np.int32)
    starts = np.asarray([0, 5, 18])
    scores = rng.normal(size=(25, len(TAGS))).astype(np.float32)
    scores[5:18] = -3e38
    t = len(TAGS)
    transitions = Transitions(*(np.zeros(shape, dtype=np.float32) for shape in ((t, t), t, t)))
    found = ExactDecoder()(Distribution(TagScores(scores, starts, n_words, TAGS, ORDERS[order], transitions)))
    for s, (start, stop) in enumerate(((0, 5), (5, 18), (18, 25))):
        check_tree(found.ids[start:stop], TAGS, order, int(n_words[s]))
        one = decode(scores[start:stop], TAGS.tags, order, transitions.pairs)
        np.testing.assert_array_equal(found.ids[start:stop], one[0])
        assert found.scores[s] == pytest.approx(one[1])
