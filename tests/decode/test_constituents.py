"""Probabilities of constituents, k-best and MBR trees of a batch: those of each sentence alone, and their mean."""

from dataclasses import replace

import numpy as np
import pytest
from batches import ALL_ORDERS, TAGS, random_batch, with_spans
from oracle import STACK
from own_order import LeftCorner

from spacy_parsetag.decode import (
    BeamDecoder,
    Constituents,
    Decoder,
    Distribution,
    ExactDecoder,
    MBRDecoder,
    TagScores,
    Transitions,
    TreeDistribution,
    passes,
)
from spacy_parsetag.decode.trees import labelled_nodes
from spacy_parsetag.linearize import ORDERS
from spacy_parsetag.linearize.tagset import TagSet
from spacy_parsetag.pipeline.ensemble import union_of_tags


@ALL_ORDERS
def test_a_label_twice_over_the_same_words_is_no_gain(order):
    """S+S+VP has the constituents of S+VP and no others, and is the likelier tag here."""
    tags = TagSet(["l", "r", "L", "R", *(f"{c}/{chain}" for c in "lrLR" for chain in ("S+S+VP", "S+VP"))])
    n_words, rng = np.asarray([4, 1, 6]), np.random.default_rng(0)
    scores = rng.normal(size=((2 * n_words - 1).sum(), len(tags)))
    scores[:, [tag.endswith("S+S+VP") for tag in tags.tags]] += 2
    batch = TagScores(scores, [0, 7, 8], n_words, tags, ORDERS[order])
    found = [tags.tags[i] for i in MBRDecoder()(Distribution(batch)).ids]
    assert any(tag.endswith("/S+VP") for tag in found) and not any("S+S" in tag for tag in found)
    assert any("S+S" in tags.tags[i] for i in ExactDecoder()(Distribution(batch)).ids)


@pytest.mark.parametrize("order, scored", [("in", True), ("in", False), ("pre", False), ("post", False)])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("bound", [None, 3])
def test_the_likeliest_binarization(order, scored, dtype, bound):
    """Of all trees with the constituents of one that is found it is the likeliest, also where sides lack labels."""
    tags = TagSet(["l", "r", "L", "R", "l/NP", "r/NP", "L/S", "R/VP", "R/S"])
    n_words, rng = np.asarray([4, 3, 1, 0, 5, 5, 4, 4, 3, 3]), np.random.default_rng(0)
    n_tags = np.maximum(2 * n_words - 1, 0)
    scores = rng.normal(scale=3, size=(n_tags.sum(), len(tags))).astype(dtype)
    batch = TagScores(scores, np.cumsum(n_tags) - n_tags, n_words, tags, ORDERS[order], max_stack=bound)
    batch = with_spans(batch) if scored else batch
    trees = Distribution(batch)
    all_trees = trees.topk(20_000)
    worse = 0
    for cost in (-0.1, 0.2, 0.5):
        found, any_trees = trees.mbr(cost), MBRDecoder(cost)(trees)
        np.testing.assert_array_equal(trees.likeliest(any_trees.ids).ids, found.ids)
        np.testing.assert_array_equal(found.scores, any_trees.scores)
        log_probs = trees.log_prob(found.ids)
        worse += (log_probs > trees.log_prob(any_trees.ids) + 0.1).sum()
        found_spans = labelled_nodes(found.ids, batch).spans(tags)
        for s, (best, spans) in enumerate(zip(all_trees, found_spans, strict=True)):
            nodes = labelled_nodes(best.ids.reshape(-1), batch, sentences=np.full(len(best.ids), s))
            same = next(i for i, others in enumerate(nodes.spans(tags)) if others == spans)
            assert best.scores[same] - trees.log_partition[s] == pytest.approx(log_probs[s], abs=1e-3)
    assert worse


@ALL_ORDERS
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_chains_of_the_same_labels_have_the_likelier_order(order, dtype):
    """S over SBAR has the constituents of SBAR over S; also where the tags of another model lack one of them."""
    chains = ("S+SBAR", "SBAR+S")
    tags = TagSet(["l", "r", "L", "R", *(f"{c}/{chain}" for c in "lrLR" for chain in chains)])
    assert tags.reordered_chains == (("S", "SBAR"), ("SBAR", "S"))
    n_words, rng = np.asarray([4, 1, 6]), np.random.default_rng(0)
    for likely, other in (chains, chains[::-1]):
        scores = rng.normal(size=((2 * n_words - 1).sum(), len(tags))).astype(dtype)
        scores[:, [likely in tag for tag in tags.tags]] += 9
        scores[:, [other in tag for tag in tags.tags]] += 1
        batch = TagScores(scores, [0, 7, 8], n_words, tags, ORDERS[order])
        fewer = TagSet(["l", "r", "L", "R", *(f"{c}/{other}" for c in "lrLR")])
        second = TagScores(scores[:, : len(fewer)], [0, 7, 8], n_words, fewer, ORDERS[order])
        mean = Constituents.mean([Distribution(batch).constituents, Distribution(second).constituents])
        for trees in (MBRDecoder()(Distribution(batch)), mean.most_expected(batch, 0.5)):
            found = [tags.tags[i] for i in trees.ids]
            assert any(likely in tag for tag in found) and not any(other in tag for tag in found)


@ALL_ORDERS
@pytest.mark.parametrize("bound", [None, 4])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_batch_equals_single_sentences(order, bound, dtype):
    words = [3, 0, 1, 7, 5]
    constraints = ((), (), (), ((2, 4, None, "must"), (4, 6, None, "uncrossed")), ())
    batch = random_batch(words, order, dtype, constraints=constraints, max_stack=bound)
    all_trees = Distribution(batch)
    found, exact, mbr = all_trees.constituents, ExactDecoder()(all_trees), all_trees.mbr(0.5)
    trees, parses, drawn = all_trees.topk(5), all_trees.k_best_parses(5), all_trees.sample(3, 7)
    log_probs = all_trees.log_prob(exact.ids)
    assert found.probs.dtype == dtype and len(found.probs) == sum(n * (n + 1) // 2 for n in words)
    for s, n in enumerate(words):
        assert len(trees[s].scores) == len(trees[s].ids) and trees[s].ids.shape[1] == max(2 * n - 1, 0)
        if not n:
            assert parses[s] == [(0.0, [])] and log_probs[s] == all_trees.entropy[s] == 0
            continue
        sentence = TreeDistribution.from_batch(batch, s)
        assert found.sentence(s) == pytest.approx(sentence.constituents, abs=1e-6)
        assert all_trees.log_partition[s] == pytest.approx(sentence.log_partition)
        assert all_trees.entropy[s] == pytest.approx(sentence.entropy, abs=1e-5)
        assert [score for _, score in sentence.topk(5)] == trees[s].scores.tolist()
        assert trees[s].scores[0] == exact.scores[s]
        rows_of_s = slice(batch.starts[s], batch.stops[s])
        np.testing.assert_array_equal(sentence.mbr(0.5), mbr.ids[rows_of_s])
        assert log_probs[s] == pytest.approx(sentence.log_prob(exact.ids[rows_of_s]), abs=1e-5)
        for ids in drawn[:, rows_of_s]:
            assert sentence.log_prob(ids) > -np.inf
        # The best of the trees with the same constituents, among all trees, or among very many.
        alone, expected = batch.select(np.asarray([s])), {}
        for ids, score in sentence.topk(3000):
            rows = np.full(len(batch.scores), -1, dtype=np.int32)
            rows[rows_of_s] = ids
            spans = next(labelled_nodes(rows, alone).spans(TAGS))
            expected.setdefault(tuple(spans), score - sentence.log_partition)
        assert [tuple(spans) for _, spans in parses[s]] == list(expected)[:5]
        assert [p for p, _ in parses[s]] == pytest.approx(list(expected.values())[:5], abs=1e-4)
        row = found.rows(s, np.asarray([0]), np.asarray([n]))[0]
        assert found.probs[row, found.labels.index("S")] == pytest.approx(sentence.constituents.get((0, n, "S"), 0))
    for ids in (mbr.ids, exact.ids, *drawn):
        assert (ids[len(batch.scores) - 3 :] == -1).all()


@pytest.mark.parametrize("unscored", [[0], [1], [0, 1, 2]])
def test_sentences_without_scores_of_spans(unscored):
    """A batch may have long sentences of which only tags are scored; they are parsed by these."""
    batch = with_spans(random_batch([4, 6, 3]))
    starts = batch.spans.starts.copy()
    starts[unscored] = -1
    batch = replace(batch, spans=replace(batch.spans, starts=starts))
    trees = Distribution(batch)
    found, mbr = trees.constituents, trees.mbr(0.5)
    for s, start in enumerate(starts):
        scored = replace(batch.select(np.asarray([s])), spans=None) if start < 0 else batch
        alone = TreeDistribution.from_batch(scored, 0 if start < 0 else s)
        assert found.sentence(s) == pytest.approx(alone.constituents, abs=1e-9)
        np.testing.assert_array_equal(mbr.ids[batch.starts[s] : batch.stops[s]], alone.mbr(0.5))


@pytest.mark.parametrize("spans", [False, True])
def test_long_sentences_get_the_likeliest_tree(spans):
    """Above max_words there are too many spans: the exact decoder's tree, whose score is that of the tree."""
    batch = random_batch([4, 0, 6, 3, 6], seed=5)
    batch = with_spans(batch) if spans else batch
    trees = Distribution(batch)
    found, exact, expected = (
        decoder(trees) for decoder in (MBRDecoder(max_words=5), ExactDecoder(), MBRDecoder(max_words=None))
    )
    assert not np.array_equal(exact.ids, expected.ids)
    for s, n in enumerate(batch.n_words):
        rows, source = slice(batch.starts[s], batch.stops[s]), exact if n > 5 else expected
        np.testing.assert_array_equal(found.ids[rows], source.ids[rows])
        assert found.scores[s] == source.scores[s]
    for least in (6, 100):
        np.testing.assert_array_equal(MBRDecoder(max_words=least)(trees).ids, expected.ids)
    np.testing.assert_array_equal(MBRDecoder(max_words=0)(trees).ids, exact.ids)


def test_a_very_long_sentence():
    """10,000 words have 50 million spans; none of them is looked at."""
    batch = random_batch([10_000, 5])
    np.testing.assert_array_equal(
        MBRDecoder()(Distribution(batch)).ids[: batch.stops[0]],
        ExactDecoder()(Distribution(batch)).ids[: batch.stops[0]],
    )


def test_the_mean_of_several():
    """Constituents of several models are averaged by their probabilities; the tree is in the order of any."""
    models = [random_batch([6, 3], order, seed=seed) for seed, order in enumerate(STACK)]
    of_models = [Distribution(batch).constituents for batch in models]
    mean = Constituents.mean(of_models)
    np.testing.assert_allclose(mean.probs, sum(constituents.probs for constituents in of_models) / 3)
    fewer = of_models[2]._replace(labels=("NP", "Q"), probs=of_models[2].probs[:, :2])
    assert Constituents.mean([of_models[0], fewer]).labels == ("NP", "Q", "S", "VP")
    with pytest.raises(ValueError, match="E172"):
        Constituents.mean([of_models[0], Distribution(random_batch([6])).constituents])
    trees = [mean.most_expected(batch, 0.5) for batch in models]
    assert all(trees[0].scores == pytest.approx(decoded.scores) for decoded in trees)


@pytest.mark.parametrize("known", [("S+SBAR", "SBAR+S"), ("S+SBAR",)])
def test_the_mean_of_orders_that_one_model_knows(known):
    """A model that knows one order of labels alone takes it wherever it has them."""
    batches = []
    for chains, likely in ((known, "S+SBAR"), (("SBAR+S",), "SBAR+S")):
        tags = TagSet(["l", "r", "L", "R", *(f"{c}/{chain}" for c in "lrLR" for chain in chains)])
        scores = np.where([likely in tag for tag in tags.tags], 1.0 if likely == "S+SBAR" else 9.0, 0.0)
        batches.append(TagScores(np.tile(scores, (7, 1)), [0], [4], tags, ORDERS["in"]))
    tags = union_of_tags(batch.tags for batch in batches)
    chains = tags.reordered_chains
    mean = Constituents.mean(
        [Constituents.from_sums(batch, Distribution(batch).sums(labels=True), chains) for batch in batches]
    )
    assert mean.chains == (("S", "SBAR"), ("SBAR", "S"))
    # In all, the chains of a span are as likely as its constituents.
    np.testing.assert_allclose(mean.chain_probs.sum(axis=1), mean.probs[:, 0], atol=1e-6)
    union = TagScores(np.zeros((7, len(tags))), [0], [4], tags, ORDERS["in"])
    found = [tags.tags[i] for i in mean.most_expected(union, 0.5).ids]
    assert any("SBAR+S" in tag for tag in found) and not any("S+SBAR" in tag for tag in found)


@ALL_ORDERS
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("scale", [1, 4, 30])
def test_spans_without_a_worthy_constituent(order, dtype, scale):
    """Where none is worth its cost, gains are not computed; trees and sums are those of gains that all are."""
    n_words, rng = np.arange(12), np.random.default_rng(5)
    n_tags = np.maximum(2 * n_words - 1, 0)
    scores = rng.normal(scale=scale, size=(n_tags.sum(), len(TAGS))).astype(dtype)
    batch = TagScores(scores, np.cumsum(n_tags) - n_tags, n_words, TAGS, ORDERS[order])
    constituents = Distribution(batch).constituents
    free = batch.derive(constraints=((),) * len(n_words))  # all may have any tag, but all gains are computed
    for cost in (-1, 0, 1e-4, 0.1, 0.5, np.float16(0.5), 0.9, 1, 3):
        found, expected = (constituents.most_expected(trees, cost) for trees in (batch, free))
        np.testing.assert_array_equal(found.ids, expected.ids)
        np.testing.assert_array_equal(found.scores, expected.scores)


def test_a_decoder_as_the_others():
    assert isinstance(MBRDecoder(), Decoder) and MBRDecoder().max_words == 100
    for value in (-1, "3", 2.5, np.nan, True):
        with pytest.raises(ValueError, match=rf"E200.*max_words must be at least 0; got {value!r}"):
            MBRDecoder(max_words=value)


def test_refuses_what_does_not_fit():
    with pytest.raises(ValueError, match="E170"):
        random_batch([3, 2], constraints=((),))
    with pytest.raises(ValueError, match="E167"):
        random_batch([3], constraints=((),), linearizer=LeftCorner())
    with pytest.raises(ValueError, match="E167"):
        _ = Distribution(random_batch([3], linearizer=LeftCorner())).constituents
    none = Distribution(random_batch([3]).select(np.zeros(1, dtype=bool)))  # a batch of no sentence
    assert none.topk(2) == none.k_best_parses(2) == []
    assert none.constituents.probs.shape == (0, 3) and none.sample(2, 0).shape == (2, 8)
    with pytest.raises(ValueError, match="E004"):
        TreeDistribution.from_batch(random_batch([3]), 0).log_prob([0, 0, 0])
    with pytest.raises(ValueError, match="E151"):
        _ = TreeDistribution([[np.nan, 0, 0, 0]], ["l", "r", "L", "R"], constraints=[(0, 1, None, "must not")]).entropy
    with pytest.raises(ValueError, match="E151"):
        _ = TreeDistribution([[np.nan, 0, 0, 0]], ["l", "r", "L", "R"], transitions=np.zeros((4, 4))).entropy
    with pytest.raises(ValueError, match=r"E165.*Beam search"):
        BeamDecoder()(Distribution(random_batch([3], constraints=((),))))


NEEDS_CHART = {
    "constituents": lambda trees: trees.constituents,
    "topk": lambda trees: trees.topk(2),
    "k_best_parses": lambda trees: trees.k_best_parses(2),
    "sample": lambda trees: trees.sample(2, 0),
    "mbr": lambda trees: trees.mbr(0.5),
    "MBRDecoder": MBRDecoder(),
}
NEEDS_NONE = {
    "log_partition": lambda trees: trees.log_partition,
    "entropy": lambda trees: trees.entropy,
    "argmax": lambda trees: trees.argmax.scores,
    "log_prob": lambda trees: trees.log_prob(trees.argmax.ids),
}


def with_transitions(batch, seed=2):
    rng, t = np.random.default_rng(seed), len(batch.tags)
    return replace(batch, transitions=Transitions(*(rng.normal(size=shape) for shape in ((t, t), t, t))))


@pytest.mark.parametrize("asked", [*NEEDS_CHART, *NEEDS_NONE])
@ALL_ORDERS
def test_without_a_chart(order, asked):
    """Scores of successive tags leave what the lattice knows, and an order of one's own leaves as much."""
    for batch, code in (
        (with_transitions(random_batch([5, 3], order)), "E175"),
        (random_batch([5, 3], linearizer=LeftCorner()), "E167"),
        (with_transitions(random_batch([5, 3], linearizer=LeftCorner())), "E167"),
    ):
        if asked in NEEDS_CHART:
            with pytest.raises(ValueError, match=code):
                NEEDS_CHART[asked](Distribution(batch))
        else:
            together = NEEDS_NONE[asked](Distribution(batch))
            alone = [NEEDS_NONE[asked](Distribution(batch.select(np.asarray([s]))))[0] for s in (0, 1)]
            assert np.isfinite(together).all() and together == pytest.approx(alone)


def test_a_sentence_without_words_beside_transitions():
    trees = Distribution(with_transitions(random_batch([2, 0])))
    assert trees.entropy[0] > 0 and trees.entropy[1] == trees.log_partition[1] == 0


def test_the_expected_f_where_nothing_was_found():
    """It is the least probability that there is nothing: hardly 1 or hardly 0, as the parser is sure or not."""
    scores = np.zeros((1, len(TAGS)))
    for bare, expected in ((30, 1 - 2 * np.exp(-30)), (0, 1 - 3 / 3), (np.log(6), 1 - 3 / 8)):
        scores[0, TAGS.id("l")] = bare
        batch = TagScores(scores, np.zeros(1), np.ones(1), TAGS, ORDERS["in"])
        assert Distribution(batch).constituents.expected_f(0, [], []) == pytest.approx(expected)
    assert Distribution(random_batch([0])).constituents.expected_f(0, [], []) == 1


def test_a_label_twice_over_the_same_words_in_the_expected_f():
    """It counts once, as in the number of constituents that are expected."""
    constituents = Distribution(random_batch([3])).constituents
    span, other = (0, 3, "S"), (1, 3, "VP")
    once, twice = (constituents.describe(0, spans, 1.0)["expected_f"] for spans in ([span, other], [span, span, other]))
    assert 0 < once == twice < 1


def test_probabilities_are_not_above_1():
    """A label that all tags have is as good as certain, whatever rounding makes of the sum over its chains."""
    tags = TagSet([f"{side}/A+X{i}" for side in "lrLR" for i in range(40)])
    scores = np.random.default_rng(0).normal(size=(40 * 7, len(tags))).astype(np.float32)
    scores[:, tags.offsets[:4]] = -100  # tags without a label
    batch = TagScores(scores, np.arange(40) * 7, np.full(40, 4), tags, ORDERS["in"])
    constituents = Distribution(batch).constituents
    certain = [constituents.of_spans(s, [(0, 4, "A")])[0] for s in range(40)]
    assert constituents.probs.dtype == np.float32 and max(certain) == 1.0 and min(certain) > 1 - 1e-6
    assert Constituents.mean([constituents] * 10).probs.max() == 1.0


@pytest.mark.parametrize("case", ["tags", "spans", "constraints", "bound"])
def test_one_inside_outside_pass(case, monkeypatch):
    """Whatever is asked about the trees of a batch, and however often, its chart is summed over once."""
    calls = []

    def counted(*arguments):
        calls.append(arguments)
        return chart_sums(*arguments)

    chart_sums = passes.chart_sums
    monkeypatch.setattr(passes, "chart_sums", counted)
    batch = random_batch([5, 0, 3], constraints=((), (), ((0, 2, None, "must"),)) if case == "constraints" else None)
    if case == "spans":
        batch = with_spans(batch)
    batch = replace(batch, max_stack=3 if case == "bound" else None)
    trees = Distribution(batch)
    for _ in range(2):
        constituents, decoded = trees.constituents, MBRDecoder()(trees)
        found = (trees.log_prob(decoded.ids), trees.entropy, trees.log_partition)
        assert constituents is trees.constituents
        assert len(calls) == 1
    for values, name in zip(found, ("log_prob", "entropy", "log_partition"), strict=True):
        again = getattr(Distribution(batch), name)
        np.testing.assert_allclose(values, again(decoded.ids) if name == "log_prob" else again, atol=1e-9)


def test_kept_sums_are_those_of_the_batch():
    """What is derived from a batch has sums of its own."""
    batch = random_batch([4, 6])
    log_z = Distribution(batch).log_partition
    assert Distribution(batch.select(np.asarray([1]))).log_partition.tolist() == log_z[1:].tolist()
    assert (Distribution(batch.with_arrays([batch.scores + 1])).log_partition > log_z + 6).all()
    assert (Distribution(replace(batch, max_stack=1)).log_partition < log_z).all()
