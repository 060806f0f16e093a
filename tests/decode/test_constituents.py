"""Probabilities of constituents, k-best and MBR trees of a batch: those of each sentence alone, and their mean."""

from dataclasses import replace

import numpy as np
import pytest
from batches import ALL_ORDERS, TAGS, random_batch, with_spans
from oracle import STACK
from own_order import LeftCorner

from spacy_parsetag.decode import (
    BeamDecoder,
    Decoder,
    ExactDecoder,
    MBRDecoder,
    Transitions,
    TreeDistribution,
    constituent_marginals,
    k_best,
    k_best_parses,
    log_partition,
    mean_constituents,
    most_expected,
)
from spacy_parsetag.trees.binarize import node_bounds


@ALL_ORDERS
@pytest.mark.parametrize("bound", [None, 4])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_batch_equals_single_sentences(order, bound, dtype):
    words = [3, 0, 1, 7, 5]
    constraints = ((), (), (), ((2, 4, None, "must"), (4, 6, None, "uncrossed")), ())
    batch = random_batch(words, order, dtype, constraints=constraints)
    found, sums = constituent_marginals(batch, bound), log_partition(batch, bound)
    trees, parses, mbr = k_best(batch, 5, bound), k_best_parses(batch, 5, bound), MBRDecoder(bound)(batch)
    exact = ExactDecoder(bound)(batch)
    assert found.probs.dtype == dtype and len(found.probs) == sum(n * (n + 1) // 2 for n in words)
    for s, n in enumerate(words):
        assert len(trees[s].scores) == len(trees[s].ids) and trees[s].ids.shape[1] == max(2 * n - 1, 0)
        if not n:
            continue
        one = TreeDistribution.from_batch(batch, s, bound)
        assert found.sentence(s) == pytest.approx(one.constituents, abs=1e-6)
        assert sums.log_z[s] == pytest.approx(one.log_partition)
        assert [score for _, score in one.topk(5)] == trees[s].scores.tolist()
        assert trees[s].scores[0] == exact.scores[s]
        own = slice(batch.starts[s], batch.stops[s])
        np.testing.assert_array_equal(one.mbr(0.5), mbr.ids[own])
        seen = set()
        for ids in parses[s].ids:
            tree = batch.linearizer.delinearize(TAGS.decode(ids.tolist()))
            seen.add(tuple(x for x in zip(node_bounds(tree), tree.label, strict=True) if x[1]))
        assert len(seen) == len(parses[s].ids)
        row = found.rows(s, np.asarray([0]), np.asarray([n]))[0]
        assert found.probs[row, found.labels.index("S")] == pytest.approx(one.constituents.get((0, n, "S"), 0))
    assert (mbr.ids[len(batch.scores) - 3 :] == -1).all()


@pytest.mark.parametrize("unscored", [[0], [1], [0, 1, 2]])
def test_sentences_without_scores_of_spans(unscored):
    """A batch may have long sentences of which only tags are scored; they are parsed by these."""
    batch = with_spans(random_batch([4, 6, 3]))
    starts = batch.spans.starts.copy()
    starts[unscored] = -1
    batch = replace(batch, spans=replace(batch.spans, starts=starts))
    found, mbr = constituent_marginals(batch), MBRDecoder()(batch)
    for s, start in enumerate(starts):
        one = replace(batch.select(np.asarray([s])), spans=None) if start < 0 else batch
        alone = TreeDistribution.from_batch(one, 0 if start < 0 else s)
        assert found.sentence(s) == pytest.approx(alone.constituents, abs=1e-9)
        np.testing.assert_array_equal(mbr.ids[batch.starts[s] : batch.stops[s]], alone.mbr(0.5))


@pytest.mark.parametrize("spans", [False, True])
def test_long_sentences_get_the_likeliest_tree(spans):
    """Above max_words there are too many spans: the exact decoder's tree, whose score is that of the tree."""
    batch = random_batch([4, 0, 6, 3, 6], seed=5)
    batch = with_spans(batch) if spans else batch
    found, exact, expected = MBRDecoder(max_words=5)(batch), ExactDecoder()(batch), MBRDecoder(max_words=None)(batch)
    assert not np.array_equal(exact.ids, expected.ids)
    for s, n in enumerate(batch.n_words):
        own, source = slice(batch.starts[s], batch.stops[s]), exact if n > 5 else expected
        np.testing.assert_array_equal(found.ids[own], source.ids[own])
        assert found.scores[s] == source.scores[s]
    for least in (6, 100):
        np.testing.assert_array_equal(MBRDecoder(max_words=least)(batch).ids, expected.ids)
    np.testing.assert_array_equal(MBRDecoder(max_words=0)(batch).ids, exact.ids)


def test_a_very_long_sentence():
    """10,000 words have 50 million spans; none of them is looked at."""
    batch = random_batch([10_000, 5])
    np.testing.assert_array_equal(
        MBRDecoder()(batch).ids[: batch.stops[0]], ExactDecoder()(batch).ids[: batch.stops[0]]
    )


def test_the_mean_of_several():
    """Constituents of several models are averaged by their probabilities; the tree is in the order of any."""
    models = [random_batch([6, 3], order, seed=seed) for seed, order in enumerate(STACK)]
    found = [constituent_marginals(batch) for batch in models]
    mean = mean_constituents(found)
    np.testing.assert_allclose(mean.probs, sum(one.probs for one in found) / 3)
    fewer = found[2]._replace(labels=("NP", "Q"), probs=found[2].probs[:, :2])
    assert mean_constituents([found[0], fewer]).labels == ("NP", "Q", "S", "VP")
    with pytest.raises(ValueError, match="E172"):
        mean_constituents([found[0], constituent_marginals(random_batch([6]))])
    trees = [most_expected(batch, mean) for batch in models]
    assert all(trees[0].scores == pytest.approx(one.scores) for one in trees)


def test_a_decoder_as_the_others():
    assert isinstance(MBRDecoder(), Decoder)
    with pytest.raises(ValueError, match="E161"):
        MBRDecoder(-1)
    with pytest.raises(ValueError, match=r"E200.*max_words must be at least 0; got -1"):
        MBRDecoder(max_words=-1)


def test_refuses_what_does_not_fit():
    with pytest.raises(ValueError, match="E170"):
        random_batch([3, 2], constraints=((),))
    with pytest.raises(ValueError, match="E167"):
        random_batch([3], constraints=((),), linearizer=LeftCorner())
    with pytest.raises(ValueError, match="E167"):
        constituent_marginals(random_batch([3], linearizer=LeftCorner()))
    for passes in (constituent_marginals, lambda batch: k_best(batch, 2), MBRDecoder()):  # they need a chart
        batch = random_batch([3], linearizer=LeftCorner())
        zeros = (np.zeros(shape) for shape in ((len(batch.tags),) * 2, len(batch.tags), len(batch.tags)))
        with pytest.raises(ValueError, match="E167"):
            passes(replace(batch, transitions=Transitions(*zeros)))
    assert k_best(random_batch([3]).select(np.zeros(1, dtype=bool)), 2) == []  # a batch of no sentence
    with pytest.raises(ValueError, match="E171"):
        k_best(random_batch([3]), 0)
    with pytest.raises(ValueError, match="E004"):
        TreeDistribution.from_batch(random_batch([3]), 0).log_prob([0, 0, 0])
    with pytest.raises(ValueError, match="E151"):
        _ = TreeDistribution(
            [[np.nan, 0, 0, 0]], ["l", "r", "L", "R"], transitions=np.zeros((4, 4)), constraints=[(0, 1, None, "must")]
        ).entropy
    with pytest.raises(ValueError, match=r"E165.*Beam search"):
        BeamDecoder()(random_batch([3], constraints=((),)))
