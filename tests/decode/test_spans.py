"""Scores of tags and spans together, against enumeration of all trees and finite differences."""

from dataclasses import replace
from itertools import product

import numpy as np
import pytest
from batches import check_sums
from oracle import enumerate_classes
from sums import sums_of

from spacy_parsetag.decode import (
    BeamDecoder,
    Constraint,
    Distribution,
    ExactDecoder,
    SpanScores,
    TagScores,
    Transitions,
)
from spacy_parsetag.decode.passes import best_trees
from spacy_parsetag.decode.trees import labelled_nodes
from spacy_parsetag.linearize import CLASS_NAMES, ORDERS
from spacy_parsetag.linearize.base import preorder_tags
from spacy_parsetag.linearize.tagset import TagSet
from spacy_parsetag.trees.binary import node_bounds

TAGS = TagSet(["l/NP", "l/S+VP", "r/NP", "L/S", "L/VP", "R/VP", "R/S+VP"])
LABELS = ("", "S", "S+VP", "VP")


def make_batch(words, rng, tags=TAGS, dtype=np.float64, scale=1.0, **changes):
    """A batch of random scores of tags and spans, with rows between sentences that nobody owns."""
    words = np.asarray(words)
    rows, spans = np.maximum(2 * words - 1, 0) + 1, words * (words - 1) // 2 + 2
    arguments = {
        "scores": rng.normal(size=(rows.sum() + 1, len(tags)), scale=scale).astype(dtype),
        "starts": np.cumsum(rows) - rows + 1,
        "n_words": words,
        "tags": tags,
        "linearizer": ORDERS["in"],
        "spans": SpanScores(
            rng.normal(size=(spans.sum() + 1, len(tags.node_labels)), scale=scale).astype(dtype),
            np.cumsum(spans) - spans,
        ),
        **changes,
    }
    return TagScores(**arguments)


def test_labels_of_nodes():
    assert TAGS.node_labels == LABELS
    names = [["L", "L/S", None, "L/VP"], ["R", None, "R/S+VP", "R/VP"]]
    assert TAGS.node_ids.tolist() == [[-1 if name is None else TAGS.id(name) for name in side] for side in names]
    bare = TagSet(["l", "r"], complete=False)
    assert bare.node_labels == () and bare.node_ids.shape == (2, 0)


def test_a_batch_with_spans():
    rng = np.random.default_rng(0)
    batch = make_batch([4, 0, 1, 6], rng, dtype=np.float32)
    assert batch.on_cpu() is batch
    assert batch.spans.stops(batch.n_words).tolist() == [6, 8, 10, 27]
    some = batch.select(np.asarray([False, False, True, True]))
    assert some.spans.starts.tolist() == [10, 12] and some.spans.scores is batch.spans.scores
    wide = make_batch([4], rng, spans=SpanScores(np.zeros((6, 4), dtype=np.float16), [0])).on_cpu()
    assert wide.scores.dtype == wide.spans.scores.dtype == np.float64


@pytest.mark.parametrize("n_rows", [1, 9, 12, 1000])
@pytest.mark.parametrize("starts", [None, [-1, -1, -1, 4, -1, 30]])
def test_parts_are_the_batch(n_rows, starts):
    """Sentences without words, spans that are not scored, constraints: all of it is in the part of its sentence."""
    n_words = [4, 0, 1, 6, 3, 5]
    constraints = ((), (), (), (Constraint(1, 4, None, "must"),), (), ())
    batch = make_batch(n_words, np.random.default_rng(3), constraints=constraints, max_stack=5)
    if starts is not None:
        batch = replace(batch, spans=SpanScores(batch.spans.scores, starts))
    parts = list(batch.parts(n_rows))
    assert [n for part in parts for n in part.n_words] == n_words
    assert len(parts) == (1 if n_rows == 1000 else len({start // n_rows for start in batch.starts.tolist()}))
    for part in parts:
        assert np.shares_memory(part.scores, batch.scores) or not part.scores.size
        assert len(part.scores) == (part.stops - part.starts).sum() + len(part.n_words) - 1  # and a row in between
    found = np.concatenate([Distribution(part).log_partition for part in parts])
    np.testing.assert_allclose(found, Distribution(batch).log_partition)
    found = np.concatenate([Distribution(part).entropy for part in parts])
    np.testing.assert_allclose(found, Distribution(batch).entropy)
    best = iter(labelled_nodes(Distribution(batch).mbr(0.5).ids, batch).spans(TAGS))
    for part in parts:
        for spans in labelled_nodes(Distribution(part).mbr(0.5).ids, part).spans(TAGS):
            assert spans == next(best)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("constraints", [None, ((), (), (), (Constraint(1, 4, None, "must"),), (), ())])
def test_spans_that_share_rows(dtype, constraints):
    """They have the best trees that they have with a row for each."""
    rng = np.random.default_rng(4)
    few = rng.normal(size=(5, len(LABELS))).astype(dtype)
    batch = make_batch([4, 0, 1, 6, 3, 9], rng, dtype=dtype, constraints=constraints)
    n_spans = len(batch.spans.scores)
    shared = np.sort(rng.integers(5, size=(9, n_spans // 9 + 1)), axis=1).ravel()[:n_spans].astype(np.int32)
    starts = np.where(np.arange(6) == 4, -1, batch.spans.starts)
    own, fewer = (batch.derive(spans=SpanScores(scores, starts)) for scores in (few[shared], few))
    (expected, _), (found, status) = best_trees(own), best_trees(fewer, shared=shared)
    assert not status.any()
    np.testing.assert_array_equal(found.ids, expected.ids)
    np.testing.assert_array_equal(found.scores, expected.scores)


@pytest.mark.parametrize(
    "changes, reason",
    [
        ({"linearizer": ORDERS["pre"]}, "in-order tags, not with 'pre'"),
        ({"transitions": Transitions(np.zeros((11, 11)), np.zeros(11), np.zeros(11))}, "transitions"),
        ({"spans": SpanScores(np.zeros((9, 3)), [0, 6])}, "3 columns, but internal nodes have 4 labels"),
        ({"spans": SpanScores(np.zeros((9, 4)), [0])}, "1 first rows, but 2 sentences"),
        ({"spans": SpanScores(np.zeros((9, 4)), [0, 7])}, "sentence 1, 3 words from row 7 on"),
        ({"spans": SpanScores(np.zeros((9, 4)), [-2, 6])}, "sentence 0, 4 words from row -2 on"),
    ],
)
def test_refuses_what_does_not_fit(changes, reason):
    with pytest.raises(ValueError, match=f"E164.*{reason}"):
        make_batch([4, 3], np.random.default_rng(0), **changes)


def test_refuses_other_shapes():
    with pytest.raises(ValueError, match="E164"):
        SpanScores(np.zeros(3), [0])
    with pytest.raises(ValueError, match=r"E164.*lacks the tag L or R"):
        make_batch([2], np.random.default_rng(0), tags=TagSet(["l", "r", "L/S"], complete=False))


def test_spans_in_float64_beside_tags_in_float32():
    batch = make_batch([3], np.random.default_rng(0))
    large = replace(batch.spans, scores=batch.spans.scores.astype(np.float64) * 1e39)
    mixed = replace(batch, scores=batch.scores.astype(np.float32), spans=large)
    assert np.abs(Distribution(mixed).argmax.scores).max() > 1e38


def test_beam_search_reads_tags_alone():
    with pytest.raises(ValueError, match=r"E165.*Beam search"):
        BeamDecoder()(Distribution(make_batch([3], np.random.default_rng(0))))


def trees_of(batch, s, max_stack=None):
    """Every tree of a sentence with all its labels: tag ids, the nodes' columns of spans (row, label), and scores."""
    n, tags, scores = int(batch.n_words[s]), batch.tags, batch.scores[batch.starts[s] :]
    spans = batch.spans.scores[batch.spans.starts[s] :]
    rows = {span: i for i, span in enumerate((i, j) for i in range(n) for j in range(i + 2, n + 1))}
    for classes in enumerate_classes(n, "in", max_stack):
        tree = batch.linearizer.delinearize([CLASS_NAMES[c] for c in classes])
        # Nodes in pre-order, put in in-order: nodes split where their right child begins.
        place = dict(zip(node_bounds(tree), map(CLASS_NAMES.index, preorder_tags(tree)), strict=True))
        options = []
        for p, c in enumerate(classes):
            if p % 2 == 0:
                choices = [(float(scores[p, t]), t, None) for t in range(*tags.offsets[c : c + 2])]
            else:
                k = (p + 1) // 2
                split = [
                    (i, j) for i, j in place
                    if j - i > 1 and i < k < j and (i, k) in place and (k, j) in place and place[i, j] == c
                ]  # fmt: skip
                assert len(split) == 1
                gap, row = float(scores[p, tags.id(CLASS_NAMES[c])]), rows[split[0]]
                choices = [
                    (gap + float(spans[row, label]), int(t), (row, label))
                    for label, t in enumerate(tags.node_ids[c - 2]) if t >= 0
                ]  # fmt: skip
            options.append(choices)
        for chosen in product(*options):
            yield tuple(t for _, t, _ in chosen), [c for *_, c in chosen if c], sum(score for score, *_ in chosen)


SMALL = TagSet(["l/NP", "L/S", "R/VP"])
ONE_SIDED = TagSet(["L/A", "L/B", "R/C"])


@pytest.mark.parametrize("tags", [SMALL, ONE_SIDED, TagSet([])])
@pytest.mark.parametrize("max_stack", [None, 1, 2, 3])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_equals_enumeration(tags, max_stack, dtype):
    words = [1, 2, 3, 4] if len(tags) > 4 else [1, 2, 3, 4, 5, 6]
    batch = make_batch(words, np.random.default_rng(1), tags=tags, dtype=dtype, scale=2)
    tolerance = {"abs": 1e-5 if dtype == np.float32 else 1e-11}
    for s in range(len(words)):
        sentence = replace(batch.select(np.asarray([s])), max_stack=max_stack)
        trees = list(trees_of(batch, s, max_stack))
        if not trees:
            with pytest.raises(ValueError, match="E152"):
                sums_of(sentence)
            with pytest.raises(ValueError, match="E152"):
                ExactDecoder()(Distribution(sentence))
            continue
        scores = np.asarray([score for *_, score in trees])
        log_z, marginals, _, labels, *_ = sums_of(sentence)
        assert log_z[0] == pytest.approx(np.logaddexp.reduce(scores), **tolerance)
        expected, expected_labels = np.zeros_like(batch.scores), np.zeros_like(batch.spans.scores)
        for (ids, nodes, _), p in zip(trees, np.exp(scores - log_z[0]), strict=True):
            for row, tag in enumerate(ids):
                bare = tags.id(tags[tag][0]) if row % 2 else tag
                expected[batch.starts[s] + row, bare] += p
            for row, label in nodes:
                expected_labels[batch.spans.starts[s] + row, label] += p
        np.testing.assert_allclose(marginals, expected, atol=tolerance["abs"])
        np.testing.assert_allclose(labels, expected_labels, atol=tolerance["abs"])
        assert marginals.dtype == labels.dtype == dtype
        ids, totals, _ = ExactDecoder()(Distribution(sentence))
        best = max(trees, key=lambda tree: tree[2])
        assert totals[0] == pytest.approx(best[2], **tolerance)
        assert tuple(ids[batch.starts[s] : batch.stops[s]]) == best[0]


@pytest.mark.parametrize("max_stack", [None, 3])
def test_gradient_by_finite_differences(max_stack):
    batch = make_batch([5, 2], np.random.default_rng(2), scale=2, max_stack=max_stack)
    check_sums(batch)


@pytest.mark.parametrize("max_stack", [None, 4])
def test_batch_equals_single_sentences(max_stack):
    """Sentences of any length, some without scores of spans, in one call and one by one."""
    batch = make_batch([3, 0, 1, 12, 7, 2, 1], np.random.default_rng(3), dtype=np.float32, max_stack=max_stack)
    batch.spans.starts[[4, 6]] = -1
    found, decoded = sums_of(batch), ExactDecoder()(Distribution(batch))
    owned, owned_spans = np.zeros(len(batch.scores), dtype=bool), np.zeros(len(batch.spans.scores), dtype=bool)
    for s in range(len(batch.n_words)):
        sentence = batch.select(np.asarray([s]))
        single, tree = sums_of(sentence), ExactDecoder()(Distribution(sentence))
        assert single.log_z[0] == found.log_z[s] and tree.scores[0] == decoded.scores[s]
        rows = slice(batch.starts[s], batch.stops[s])
        np.testing.assert_array_equal(single.marginals[rows], found.marginals[rows])
        np.testing.assert_array_equal(tree.ids[rows], decoded.ids[rows])
        owned[rows] = True
        if batch.spans.starts[s] >= 0:
            span_rows = slice(batch.spans.starts[s], batch.spans.stops(batch.n_words)[s])
            np.testing.assert_array_equal(single.spans[span_rows], found.spans[span_rows])
            owned_spans[span_rows] = True
    alone = replace(batch, spans=None)
    assert found.log_z[4] == sums_of(alone).log_z[4]
    assert decoded.scores[4] == ExactDecoder()(Distribution(alone)).scores[4]
    assert not found.marginals[~owned].any() and not found.spans[~owned_spans].any()
    assert (decoded.ids[~owned] == -1).all() and decoded.scores[1] == found.log_z[1] == 0
    labelled_nodes(decoded.ids, batch)


def test_labelled_columns_of_gaps_are_not_read():
    batch = make_batch([4], np.random.default_rng(4))
    found = sums_of(batch)
    gaps, leaves = batch.starts[0] + np.arange(1, 7, 2), batch.starts[0] + np.arange(0, 7, 2)
    inner = np.flatnonzero((TAGS.classes >= 2) & (TAGS.labelled > 0))
    batch.scores[np.ix_(gaps, inner)] = np.nan
    batch.scores[np.ix_(leaves, TAGS.classes >= 2)] = np.nan
    again = sums_of(batch)
    np.testing.assert_array_equal(found.log_z, again.log_z)
    np.testing.assert_array_equal(found.marginals, again.marginals)
    assert not found.marginals[np.ix_(gaps, inner)].any()
    batch.scores[gaps[1], TAGS.id("R")] = np.inf
    with pytest.raises(ValueError, match=r"E151.*'R' at word 2 is inf"):
        ExactDecoder()(Distribution(batch))


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
def test_refuses_spans_that_are_not_finite(value):
    batch = make_batch([2, 5], np.random.default_rng(5), dtype=np.float32)
    batch.spans.scores[batch.spans.starts[1] + 5, 2] = value  # (1, 4)
    for run in (lambda batch: Distribution(batch).argmax, sums_of):
        with pytest.raises(ValueError, match=r"E166.*'S\+VP' for the span of words 2 to 4"):
            run(batch)


@pytest.mark.parametrize("words", [[3], [4, 3]])
def test_sums_of_spans_with_and_without_labels(words):
    """They are the same, and in the rows of the scores, also where some of these belong to no sentence."""
    batch = make_batch(words, np.random.default_rng(8))
    labelled = replace(batch)
    assert Distribution(labelled).constituents.probs.any()
    assert Distribution(labelled).sums().spans.shape == batch.spans.scores.shape
    np.testing.assert_allclose(Distribution(labelled).sums().spans, Distribution(batch).sums().spans, atol=1e-12)
    np.testing.assert_allclose(Distribution(labelled).entropy, Distribution(batch).entropy)


def test_batches_are_keys():
    """A batch equals itself alone: arrays would have neither a yes or no nor a hash."""
    batch = make_batch([3], np.random.default_rng(8))
    other = replace(batch)
    assert batch == batch and batch != other and len({batch, other, batch}) == 2


def test_refuses_sums_over_all_tag_sequences():
    with pytest.raises(ValueError, match="E165"):
        sums_of(make_batch([3], np.random.default_rng(0)), trees=False)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("max_stack", [None, 6])
def test_long_sentences_and_extreme_scores(dtype, max_stack):
    batch = make_batch([120], np.random.default_rng(6), dtype=dtype, scale=30, max_stack=max_stack)
    batch.spans.scores[:, 1] -= 1000  # S, which only left children have; now far below the others
    log_z, marginals, _, labels, *_ = sums_of(batch)
    decoded = ExactDecoder()(Distribution(batch))
    assert decoded.scores[0] < log_z[0] < decoded.scores[0] + 500
    rows = slice(batch.starts[0], batch.stops[0])
    np.testing.assert_allclose(marginals[rows].sum(axis=1), 1, rtol=1e-4)
    assert labels.sum() == pytest.approx(119, rel=1e-4)
    check = np.asarray([TAGS.classes[i] for i in decoded.ids[rows]])
    assert (np.cumsum(np.asarray([1, 0, 0, -1])[check]) <= (max_stack or 120)).all()


def test_a_side_whose_labels_are_all_far_below():
    """The labels of right children score so low that their exponentials vanish beside those of left children."""
    tags = TagSet(["L/A", "R/C"])
    batch = make_batch([3], np.random.default_rng(7), tags=tags, dtype=np.float32)
    batch.spans.scores[:] = [0, 5000, -4000]
    batch.spans.scores[:, 0] = -4000
    found = sums_of(batch)
    trees = list(trees_of(batch, 0))
    scores = np.asarray([score for *_, score in trees])
    assert found.log_z[0] == pytest.approx(np.logaddexp.reduce(scores), rel=1e-6)
    expected = np.zeros_like(found.spans)
    for (_, nodes, _), p in zip(trees, np.exp(scores - np.logaddexp.reduce(scores)), strict=True):
        for row, label in nodes:
            expected[batch.spans.starts[0] + row, label] += p
    np.testing.assert_allclose(found.spans, expected, atol=1e-3)
    np.testing.assert_allclose(found.spans.sum(), 2, rtol=1e-5)
