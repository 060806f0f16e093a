"""Arguments that are out of range get an error that says what the range is, and none reaches compiled code."""

import re
from dataclasses import replace

import numpy as np
import pytest
from batches import ALL_ORDERS, TAGS, random_batch, with_spans

from spacy_parsetag.decode import Distribution, ExactDecoder, MBRDecoder, TreeDistribution, decode
from spacy_parsetag.decode.trees import labelled_nodes


def one(**others):
    return TreeDistribution.from_batch(random_batch([4], **others), 0)


@pytest.mark.parametrize("dtype", [int, np.longdouble, ">f8", "<f8"])
def test_types_that_float32_cannot_hold(dtype):
    scores = np.asarray([[10**8, 10**8 + 1]], dtype=dtype)
    ids, score = decode(scores, ["l/A", "l/B"])
    assert ids.tolist() == [1] and score == 10**8 + 1


@pytest.mark.parametrize("dtype", ["<f4", ">f4", np.float16, bool])
def test_types_that_float32_holds(dtype):
    assert TreeDistribution(np.ones((3, 4), dtype), ["l", "r", "L", "R"]).tag_marginals.dtype == np.float32


@pytest.mark.parametrize(
    "name, value",
    [("n_words", [2.9]), ("n_words", [2**40]), ("starts", [0.9]), ("starts", [np.nan]), ("numbers", [0.5])],
)
def test_rows_and_words_that_are_not_whole(name, value):
    batch = with_spans(random_batch([2]))
    what = {"n_words": "numbers of words", "starts": "first rows", "numbers": "numbers of sentences"}[name]
    for part in (batch, batch.spans)[: 1 + (name == "starts")]:
        with pytest.raises(ValueError, match=rf"\[E181\] The {what} .*; got {value[0]}"):
            replace(part, **{name: value})
    assert replace(batch, n_words=[2.0]).n_words.dtype == np.int32
    assert replace(batch, numbers=[7]).select([0]).numbers.tolist() == [7]


@pytest.mark.parametrize("n", [0, -1, 1.5, 2.0, "2", True])
def test_threads(n):
    with pytest.raises(ValueError, match=rf"\[E173\].*got {n}"):
        ExactDecoder(n)


def test_no_tags():
    for ask in (TreeDistribution, decode):
        with pytest.raises(ValueError, match=r"\[E162\]"):
            ask(np.zeros((1, 0)), [])


@pytest.mark.parametrize("k", [0, -1, 2**31, 2**63, 2.0, "2", None, True])
def test_number_of_best_trees(k):
    for asked in (one().topk, Distribution(random_batch([4])).topk):
        with pytest.raises(ValueError, match=rf"\[E171\].*from 1 to {2**31 - 1}; got {k!r}"):
            asked(k)
    with pytest.raises(ValueError, match=r"\[E171\]"):
        Distribution(random_batch([4, 2])).k_best_parses(k)
    assert [len(found) for found in Distribution(random_batch([4, 2])).k_best_parses(np.int8(3))] == [3, 3]


def test_fields():
    with pytest.raises(TypeError, match="'score'"):
        random_batch([4]).derive(score=np.zeros((7, 4)))


def test_all_trees_there_are():
    """The largest number that is taken finds all trees, and asks for no more memory than they need."""
    distribution = TreeDistribution(np.zeros((7, 4)), ["l", "r", "L", "R"])
    assert len(distribution.topk(2**31 - 1)) == len(distribution.topk(np.int64(9))) == 5
    batch = random_batch([2, 1])
    assert [len(found) for found in Distribution(batch).k_best_parses(2**31 - 1)] == [3 * 2 * 3, 3]


def test_more_trees_than_memory_holds():
    """One tree without constituents, binarized in 208,012 ways, hides the next one. More words have billions."""
    batch = random_batch([13, 2])
    unlabelled = np.asarray(["/" not in tag for tag in batch.tags.tags])
    batch = replace(batch, scores=np.where(unlabelled, 0.0, -30.0) * np.ones_like(batch.scores))
    (_, first), (_, second), *_ = Distribution(batch).k_best_parses(2)[1]
    assert first == [] != second
    assert [spans for _, spans in Distribution(batch).k_best_parses(2)[0]] == [[]]


@pytest.mark.parametrize(
    "n, seed, named",
    [
        (2, -1, "seed"),
        (2, 2**64, "seed"),
        (2, 1.0, "seed"),
        (2, None, "seed"),
        (-1, 0, "number of samples"),
        (2**31, 0, "number of samples"),
        (1.5, 0, "number of samples"),
        (True, 0, "number of samples"),
    ],
)
def test_samples(n, seed, named):
    for asked in (one().sample, Distribution(random_batch([4])).sample):
        with pytest.raises(ValueError, match=rf"\[E177\].*{named} must be a whole number from 0 to \d+; got"):
            asked(n, seed)


def test_the_greatest_seed_and_no_sample():
    assert one().sample(2, 2**64 - 1).shape == (2, 7) and one().sample(0, 0).shape == (0, 7)


@pytest.mark.parametrize("cost", [float("nan"), float("inf"), -np.inf, 1e301, -1e39, None, "0.5", np.complex128(1)])
def test_costs(cost):
    for asked in (
        one().mbr,
        Distribution(random_batch([4])).mbr,
        MBRDecoder,
    ):
        with pytest.raises(ValueError, match=rf"\[E176\].* from -1e\+30 to 1e\+30; got {re.escape(repr(cost))}"):
            asked(cost)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("cost", [1e30, -1e30])
def test_the_greatest_costs(dtype, cost):
    """They find a tree that has as few constituents as can be, or as many."""
    batch = random_batch([5, 1], dtype=dtype)
    counts = labelled_nodes(Distribution(batch).mbr(cost).ids, batch).counts.tolist()
    assert counts == ([0, 0] if cost > 0 else [9, 1])


@pytest.mark.parametrize(
    "constraint",
    [
        (0.0, 2, None, "must"),
        (0, 2.0, None, "must"),
        (None, 2, None, "must"),
        (0, None, None, "must"),
        ("0", 2, None, "must"),
        (False, 2, None, "must"),
        (0, True, None, "must"),
        (0, 2, 3, "must"),
        (0, 2, None, None),
        None,
        1.5,
        "must",
    ],
)
def test_constraints(constraint):
    with pytest.raises(ValueError, match=r"\[E168\]"):
        random_batch([4], constraints=((constraint,),))
    with pytest.raises(ValueError, match=r"\[E168\]"):
        TreeDistribution(np.zeros((7, 4)), ["l", "r", "L", "R"], constraints=[constraint])


@pytest.mark.parametrize("constraints", [1.5, 7, np.float32(2)])
def test_no_list_of_constraints(constraints):
    with pytest.raises(ValueError, match=r"\[E168\]"):
        TreeDistribution(np.zeros((7, 4)), ["l", "r", "L", "R"], constraints=constraints)


@pytest.mark.parametrize("columns", [[0.0] * 7, [-1] * 7, [99] * 7, ["l"] * 7, [None] * 7])
def test_columns(columns):
    with pytest.raises(ValueError, match=r"\[E174\]"):
        one().log_prob(columns)


@ALL_ORDERS
@pytest.mark.parametrize("bound", [2**31 - 1, 2**31, 2**40, 2**64, np.int64(2**40)])
@pytest.mark.parametrize("beam", [None, 50])
def test_bounds_that_no_sentence_reaches(order, bound, beam):
    scores = np.random.default_rng(5).normal(size=(9, len(TAGS)))
    ids, score = decode(scores, TAGS.tags, order, max_stack=bound, beam=beam)
    free, free_score = decode(scores, TAGS.tags, order, beam=beam)
    assert ids.tolist() == free.tolist() and score == free_score
    if beam is None:
        high, none = (TreeDistribution(scores, TAGS.tags, order, max_stack=max_stack) for max_stack in (bound, None))
        assert high.log_partition == none.log_partition and high.constituents == none.constituents
        assert [s for _, s in high.topk(5)] == [s for _, s in none.topk(5)]
        np.testing.assert_array_equal(high.sample(5, 0), none.sample(5, 0))
        assert high.log_prob(ids) == none.log_prob(ids)


@ALL_ORDERS
def test_the_bound_that_a_sentence_just_reaches(order):
    """Over N words no stack is larger than N; the bounds just below count, and those from there on do not."""
    scores = np.zeros((9, 4))
    trees = [
        round(np.exp(TreeDistribution(scores, ["l", "r", "L", "R"], order, max_stack=bound).log_partition))
        for bound in range(3, 14)
    ]
    assert trees == sorted(trees) and trees[2:] == [14] * 9


@pytest.mark.parametrize("bound", [-1, -(2**40), True, False, 2.0, 2.5, "3"])
def test_bounds(bound):
    for beam in (None, 5):
        with pytest.raises(ValueError, match=r"\[E161\]"):
            decode(np.zeros((9, len(TAGS))), TAGS.tags, max_stack=bound, beam=beam)
    with pytest.raises(ValueError, match=r"\[E161\]"):
        random_batch([4], max_stack=bound)
    with pytest.raises(ValueError, match=r"\[E161\]"):
        TreeDistribution(np.zeros((7, 4)), ["l", "r", "L", "R"], max_stack=bound)


@pytest.mark.parametrize("name, shape", [("transitions", (5, 4)), ("start", (3,)), ("end", (4, 1))])
def test_shapes_of_transitions(name, shape):
    with pytest.raises(ValueError, match=rf"\[E158\].*'{name}'"):
        TreeDistribution(np.zeros((3, 4)), ["l", "r", "L", "R"], **{name: np.zeros(shape)})
