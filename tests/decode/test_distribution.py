"""TreeDistribution against enumeration of all trees, with and without constraints."""

import json
import threading
from itertools import pairwise, product

import numpy as np
import pytest
from batches import ALL_ORDERS, TAGS, random_batch, with_spans
from hypothesis import given, settings, strategies as st
from oracle import STACK, enumerate_classes, score_of
from strategies import n_examples

from spacy_parsetag.decode import Distribution, TreeDistribution
from spacy_parsetag.linearize import get_linearizer
from spacy_parsetag.trees import split_chain
from spacy_parsetag.trees.binary import node_bounds

INVENTORY = ["R/VP", "l", "r/NP", "L", "L/S+VP", "r", "R", "L/S", "l/NP"]


def every_tree(n, tags, order, max_stack=None):
    """Columns of every tree with all its labels, and its constituents as {(start, end, label)}."""
    columns = [[i for i, tag in enumerate(tags) if tag[0] == name] for name in "lrLR"]
    for classes in enumerate_classes(n, order, max_stack):
        for ids in product(*(columns[c] for c in classes)):
            tree = get_linearizer(order).delinearize([tags[i] for i in ids])
            nodes = zip(node_bounds(tree), tree.label, strict=True)
            yield ids, {(i, j, label) for (i, j), chain in nodes for label in split_chain(chain)}


def agrees(constituents, constraint):
    """Whether a tree has what a constraint asks for."""
    start, end, label, kind = constraint
    if kind == "uncrossed":
        return not any(i < start < j < end or start < i < end < j for i, j, _ in constituents)
    has = any((i, j) == (start, end) and label in (None, node_label) for i, j, node_label in constituents)
    return has == (kind == "must")


@st.composite
def constraint_lists(draw, n):
    constraints = []
    for _ in range(draw(st.integers(0, 3))):
        start = draw(st.integers(0, n - 1))
        end = draw(st.integers(start + 1, n))
        label = draw(st.sampled_from([None, "NP", "VP", "S", "X"]))
        constraints.append((start, end, label, draw(st.sampled_from(["must", "must not", "uncrossed"]))))
    return constraints


def compare(distribution, trees, scores, transitions=False):
    """Everything that a distribution says, given every tree that counts and its score."""
    log_z = np.logaddexp.reduce(scores)
    probs = np.exp(scores - log_z)
    assert distribution.log_partition == pytest.approx(log_z, abs=1e-8)
    assert distribution.entropy == pytest.approx(-(probs * (scores - log_z)).sum(), abs=1e-7)
    marginals = np.zeros_like(distribution.tag_marginals)
    constituents = {}
    for (ids, spans), p in zip(trees, probs, strict=True):
        marginals[np.arange(len(ids)), ids] += p
        for span in spans:
            constituents[span] = constituents.get(span, 0) + p
    np.testing.assert_allclose(distribution.tag_marginals, marginals, atol=1e-8)
    ids, score = distribution.argmax
    score_by_ids = {tree[0]: score for tree, score in zip(trees, scores, strict=True)}
    assert score == pytest.approx(max(scores), abs=1e-9)
    assert score_by_ids[tuple(ids)] == pytest.approx(score, abs=1e-9)
    for tree_ids, _ in trees[:10]:
        assert distribution.log_prob(tree_ids) == pytest.approx(score_by_ids[tree_ids] - log_z, abs=1e-8)
    if transitions:  # there is no chart
        for ask in (lambda: distribution.constituents, lambda: distribution.topk(2), distribution.mbr):
            with pytest.raises(ValueError, match="E175"):
                ask()
        with pytest.raises(ValueError, match="E175"):
            distribution.sample(1, 0)
        return
    found = distribution.constituents
    assert all(found.get(key, 0) == pytest.approx(p, abs=1e-8) for key, p in constituents.items())
    assert set(found) <= set(constituents)
    best = distribution.topk(7)
    order = np.argsort(-scores)[:7]
    np.testing.assert_array_equal(best[0][0], ids)
    np.testing.assert_allclose([score for _, score in best], scores[order], atol=1e-9)
    assert best[0][1] == score and all(a[1] >= b[1] for a, b in pairwise(best))
    assert len({tuple(ids) for ids, _ in best}) == len(best) == min(7, len(trees))
    for tree_ids, score in best:
        assert score_by_ids[tuple(tree_ids)] == pytest.approx(score, abs=1e-9)
        assert distribution.log_prob(tree_ids) == pytest.approx(score - log_z, abs=1e-8)
    for tree_ids in distribution.sample(3, 0):
        assert tuple(tree_ids) in score_by_ids
    right = [sum(constituents[span] for span in spans) for _, spans in trees]
    right_by_ids = {tree[0]: r for tree, r in zip(trees, right, strict=True)}
    assert right_by_ids[tuple(distribution.mbr(0))] == pytest.approx(max(right), abs=1e-7)
    cost = [r - 0.5 * len(spans) for r, (_, spans) in zip(right, trees, strict=True)]
    chosen = tuple(distribution.mbr())
    assert right_by_ids[chosen] - 0.5 * len(dict(trees)[chosen]) == pytest.approx(max(cost), abs=1e-7)


@settings(deadline=None, max_examples=n_examples(60))
@given(
    data=st.data(),
    order=st.sampled_from(sorted(STACK)),
    n=st.integers(1, 6),
    bound=st.one_of(st.none(), st.integers(1, 4)),
    tags=st.lists(st.sampled_from(INVENTORY), min_size=4, unique=True),
    dependent=st.booleans(),
    seed=st.integers(0, 2**32 - 1),
)
def test_equals_enumeration(data, order, n, bound, tags, dependent, seed):
    if n > 4:  # one label a class: enough of shapes, few enough trees
        tags = ["R/VP", "l", "r", "L/S", "l/NP"]
    constraints = [] if dependent else data.draw(constraint_lists(n))
    rng = np.random.default_rng(seed)
    scores = rng.normal(scale=2, size=(2 * n - 1, len(tags)))
    arguments = {"order": order, "max_stack": bound, "constraints": constraints}
    transitions = {}
    if dependent:
        pairs = rng.normal(size=(len(tags), len(tags)))
        pairs[rng.random(pairs.shape) < 0.1] = -np.inf
        transitions = {"transitions": pairs, "start": rng.normal(size=len(tags)), "end": rng.normal(size=len(tags))}
    trees = [tree for tree in every_tree(n, tags, order, bound) if all(agrees(tree[1], c) for c in constraints)]
    totals = np.asarray([score_of(ids, scores, **transitions) for ids, _ in trees])
    trees, totals = (
        [tree for tree, total in zip(trees, totals, strict=True) if total > -np.inf],
        totals[totals > -np.inf],
    )
    distribution = TreeDistribution(scores, tags, **arguments, **transitions)
    if not trees:
        unknown = any(kind == "must" and label and label not in "".join(tags) for _, _, label, kind in constraints)
        excluded = "E169|E178" if unknown else "E169"
        code = excluded if constraints and any(every_tree(n, tags, order, bound)) else "E152"
        for ask in (lambda: distribution.topk(2), lambda: distribution.log_partition):
            with pytest.raises(ValueError, match=code):
                ask()
        return
    compare(distribution, trees, totals, transitions=dependent)


def test_conformance(conformance):
    """Of the lines with transitions hold sums, marginals of tags and the best tree: there is no chart."""
    passed, with_chart = 0, 0
    for line in (conformance / "distribution.jsonl").read_text(encoding="utf8").splitlines():
        row = json.loads(line)
        others = {key: np.asarray(row[key]) for key in ("transitions", "start", "end") if key in row}
        arguments = {"order": row["order"], "max_stack": row["max_stack"], **others}
        distribution = TreeDistribution(row["scores"], row["vocab"], **arguments)
        assert distribution.log_partition == pytest.approx(row["log_partition"], abs=1e-5)
        assert distribution.entropy == pytest.approx(row["entropy"], abs=1e-5)
        np.testing.assert_allclose(distribution.tag_marginals, row["tag_marginals"], atol=1e-5)
        assert distribution.argmax[1] == pytest.approx(row["topk"][0], abs=1e-5)
        passed += 1
        if others:
            with pytest.raises(ValueError, match="E175"):
                _ = distribution.constituents
            continue
        with_chart += 1
        expected = {(start, end, label): p for start, end, label, p in row["constituents"]}
        found = distribution.constituents
        for key in {*expected, *found}:
            assert found.get(key, 0) == pytest.approx(expected.get(key, 0), abs=1e-5)
        scores = [score for _, score in distribution.topk(len(row["topk"]))]
        np.testing.assert_allclose(scores, row["topk"], atol=1e-5)
        for entry in row["constraints"]:
            constrained = TreeDistribution(row["scores"], row["vocab"], constraints=[entry["constraint"]], **arguments)
            if entry["log_prob"] is None:
                with pytest.raises(ValueError, match="E169"):
                    _ = constrained.log_partition
                continue
            assert constrained.log_partition - distribution.log_partition == pytest.approx(entry["log_prob"], abs=1e-5)
            assert constrained.argmax[1] == pytest.approx(entry["best_score"], abs=1e-5)
    assert passed == 120 and with_chart == 90


@pytest.mark.parametrize("max_stack", [None, 2])
@pytest.mark.parametrize("constraints", [(), ((1, 3, None, "must"), (0, 2, "NP", "must not"))])
def test_tags_and_spans(max_stack, constraints):
    batch = with_spans(random_batch([4, 1], constraints=(constraints, ()), max_stack=max_stack))
    from test_spans import trees_of

    trees, scores = [], []
    by_ids = dict(every_tree(4, TAGS.tags, "in", max_stack))
    for ids, _, score in trees_of(batch, 0, max_stack):
        if all(agrees(by_ids[ids], constraint) for constraint in constraints):
            trees.append((ids, by_ids[ids]))
            scores.append(score)
    distribution = TreeDistribution.from_batch(batch, 0)
    scores = np.asarray(scores)
    log_z = np.logaddexp.reduce(scores)
    probs = np.exp(scores - log_z)
    assert distribution.log_partition == pytest.approx(log_z)
    assert distribution.entropy == pytest.approx(-(probs * (scores - log_z)).sum())
    constituents = {}
    for (_, spans), p in zip(trees, probs, strict=True):
        for span in spans:
            constituents[span] = constituents.get(span, 0) + p
    assert distribution.constituents == pytest.approx(constituents)
    best = distribution.topk(20)
    np.testing.assert_allclose([score for _, score in best], np.sort(scores)[::-1][:20])
    assert len({tuple(ids) for ids, _ in best}) == 20
    for ids, score in best:
        assert distribution.log_prob(ids) == pytest.approx(score - log_z)
    right = {ids: sum(constituents[span] for span in spans) for ids, spans in trees}
    assert right[tuple(distribution.mbr(0))] == pytest.approx(max(right.values()))
    drawn = distribution.sample(4000, seed=3)
    counts = {}
    for ids in map(tuple, drawn):
        counts[ids] = counts.get(ids, 0) + 1
    assert counts.get(tuple(best[0][0]), 0) / 4000 == pytest.approx(np.exp(best[0][1] - log_z), abs=0.03)
    assert set(counts) <= {ids for ids, _ in trees}


@ALL_ORDERS
def test_all_trees_that_agree(order):
    """A label that one span may not have is left to the others, also where they share a row of scores."""
    constraint = (1, 3, "VP", "must not")
    batch = random_batch([4], order, constraints=((constraint,),))
    expected = {ids for ids, spans in every_tree(4, TAGS.tags, order) if agrees(spans, constraint)}
    assert {tuple(ids) for ids, _ in TreeDistribution.from_batch(batch, 0).topk(9999)} == expected


@ALL_ORDERS
@pytest.mark.parametrize("side", "LR")
def test_a_label_that_children_of_one_side_have(order, side):
    """So that on the other side a span has no weight."""
    tags, constraint = ["l", "r", "L", "R", f"{side}/X"], (1, 3, "X", "must")
    scores = np.random.default_rng(3).normal(size=(9, len(tags)))
    trees = [tree for tree in every_tree(5, tags, order) if agrees(tree[1], constraint)]
    distribution = TreeDistribution(scores, tags, order=order, constraints=[constraint])
    compare(distribution, trees, np.asarray([score_of(ids, scores) for ids, _ in trees]))


@ALL_ORDERS
def test_samples_have_the_marginals(order):
    batch = random_batch([5], order, max_stack=3)
    distribution = TreeDistribution.from_batch(batch, 0)
    drawn = distribution.sample(20000, seed=1)
    found = np.stack([(drawn == tag).mean(axis=0) for tag in range(len(TAGS))], axis=1)
    np.testing.assert_allclose(found, distribution.tag_marginals, atol=0.02)
    np.testing.assert_array_equal(drawn, distribution.sample(20000, seed=1))
    assert (drawn != distribution.sample(20000, seed=2)).any()
    twins = random_batch([5, 5], order)
    twins.scores[9:18] = twins.scores[:9]
    drawn = Distribution(twins).sample(9, seed=1)
    assert (drawn[:, :9] != drawn[:, 9:18]).any()


@ALL_ORDERS
def test_long_sentences(order):
    batch = random_batch([60], order, np.float32)
    distribution = TreeDistribution.from_batch(batch, 0)
    assert distribution.log_partition == pytest.approx(Distribution(batch).log_partition[0])
    assert all(0 <= p <= 1 + 1e-4 for p in distribution.constituents.values())
    assert len(distribution.topk(50)) == 50
    assert distribution.log_prob(distribution.argmax[0]) == pytest.approx(
        distribution.argmax[1] - distribution.log_partition
    )
    distribution.sample(2, 0)
    distribution.mbr()


def test_deep_trees_in_a_thread_with_a_small_stack():
    """Each word is a level of the best tree, and of the next ones: none is a call in a call."""
    n, found = 900, []
    scores = np.random.default_rng(0).normal(scale=0.01, size=(2 * n - 1, 6))
    scores[1::2, [2, 4]] += 5  # only to the left
    distribution = TreeDistribution(scores, ["l", "r", "L", "R", "L/A", "R/A"])
    before = threading.stack_size(2**17)
    thread = threading.Thread(target=lambda: found.extend(distribution.topk(3)))
    thread.start()
    thread.join()
    threading.stack_size(before)
    np.testing.assert_array_equal(found[0][0], distribution.argmax[0])
    assert len({tuple(ids) for ids, _ in found}) == 3


def test_ties():
    """Where all trees score the same, the first is still the exact decoder's, and no tree comes twice."""
    distribution = TreeDistribution(np.zeros((7, 4)), ["l", "r", "L", "R"])
    best = distribution.topk(10)
    assert len(best) == 5 == len({tuple(ids) for ids, _ in best})
    np.testing.assert_array_equal(best[0][0], distribution.argmax[0])
    assert distribution.entropy == pytest.approx(np.log(5))


def test_log_prob_of_no_tree():
    distribution = TreeDistribution(
        np.zeros((5, 4)), ["l", "r", "L", "R"], max_stack=1, constraints=[(0, 2, None, "uncrossed")]
    )
    with pytest.raises(ValueError, match="E050"):
        distribution.log_prob([0, 0, 2, 3, 1])
    for column in (-2, 4):
        with pytest.raises(ValueError, match=r"E174.*0 to 3"):
            distribution.log_prob([0, column, 0, 3, 1])
    assert distribution.log_prob([0, 2, 0, 3, 1]) == -np.inf
    assert distribution.log_prob([0, 2, 1, 2, 1]) == 0


def test_log_prob_of_no_tree_in_a_batch():
    """Also of the ids that stand for unknown tags, and of tags that are one sentence's too few."""
    distribution = Distribution(random_batch([3, 2]))
    best = distribution.argmax.ids
    for wrong, code in ((np.zeros_like(best), "E050"), (np.full_like(best, -1), "E156"), (best[:7], "E157")):
        with pytest.raises(ValueError, match=rf"\[{code}\]"):
            distribution.log_prob(wrong)


def test_log_prob_without_words():
    distribution = TreeDistribution.from_batch(random_batch([0]), 0)
    assert distribution.log_prob([]) == distribution.log_prob(distribution.argmax[0]) == 0


def test_log_prob_of_a_tree_that_crosses():
    """Bare nodes and labelled ones: no tree with them has the constituent that must be there."""
    tags = ["l", "r", "L", "R", "L/S", "R/S"]
    distribution = TreeDistribution(np.zeros((5, 6)), tags, constraints=[(0, 2, None, "must")])
    assert distribution.log_prob([0, 4, 1, 2, 1]) == pytest.approx(-np.log(2))  # ((a b):S c)
    assert distribution.log_prob([0, 4, 1, 4, 1]) == pytest.approx(-np.log(2))
    for crossing in ([0, 2, 0, 3, 1], [0, 4, 0, 3, 1], [0, 2, 0, 5, 1], [0, 4, 0, 5, 1]):  # (a (b c))
        assert distribution.log_prob(crossing) == -np.inf
    assert distribution.log_prob([0, 2, 1, 2, 1]) == -np.inf  # it fits, but without the constituent
    must_not = TreeDistribution(np.zeros((5, 6)), tags, constraints=[(0, 2, "S", "must not")])
    assert must_not.log_prob([0, 4, 1, 2, 1]) == -np.inf and must_not.log_prob([0, 2, 0, 3, 1]) > -np.inf
