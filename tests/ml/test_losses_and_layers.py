"""Gradients of losses and layers are those that finite differences give."""

import warnings
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from differences import check_gradients
from hypothesis import given, settings, strategies as st
from spacy.tokens import Doc
from spacy.training import Example
from thinc.api import Ragged, get_current_ops
from tiny import make_examples, make_nlp

from spacy_parsetag.decode import Distribution, SpanScores, TagScores, Transitions, WeightedTrees
from spacy_parsetag.linearize import ORDERS, largest_stack
from spacy_parsetag.linearize.tagset import TagSet
from spacy_parsetag.ml.losses import Loss, TagLoss, TreeLoss, partial_likelihood
from spacy_parsetag.ml.pooling import last_subword
from spacy_parsetag.ml.words import SentenceScores


def tag_loss(scores: np.ndarray, gold: np.ndarray) -> tuple[float, np.ndarray]:
    """The loss of one sentence, which owns all rows but the last."""
    tags = TagSet([f"l/X{i}" for i in range(scores.shape[1] - 4)])
    batch = TagScores(scores, np.zeros(1), np.asarray([len(scores) // 2]), tags, ORDERS["in"])
    loss, gradient = TagLoss()(batch, WeightedTrees.of_batch(batch, gold))
    return loss, gradient.scores


def test_tag_loss() -> None:
    assert isinstance(TagLoss(), Loss)
    rng = np.random.default_rng(0)
    scores = rng.normal(size=(6, 5)) * 3
    gold = np.asarray([0, 4, -1, 2, 2, -1], dtype=np.int32)
    loss, gradient = tag_loss(scores, gold)
    used = gold >= 0
    log_p = scores - np.log(np.exp(scores).sum(axis=1, keepdims=True))
    assert loss == pytest.approx(-log_p[used, gold[used]].sum())
    check_gradients(lambda: tag_loss(scores, gold)[0], [(scores, gradient)], atol=1e-8)
    assert not gradient[~used].any()
    np.testing.assert_allclose(gradient.sum(axis=1), 0, atol=1e-12)


def test_tag_loss_of_great_scores() -> None:
    scores = np.full((4, 4), -1e4, dtype="f")
    scores[0, [0, 2]] = 1e4, 0.0
    loss, gradient = tag_loss(scores, np.asarray([1, 0, -1, -1], dtype=np.int32))
    assert loss == pytest.approx(2e4 + np.log(4)) and np.isfinite(gradient).all()
    assert tag_loss(scores, np.full(4, -1, dtype=np.int32))[0] == 0.0
    assert gradient.dtype == scores.dtype


@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("kind", ["Tag", "Tree"])
def test_get_loss(kind: str, order: str) -> None:
    """Through words, slots, several docs and white space."""
    nlp = make_nlp(order, loss={"@misc": f"spacy-parsetag.{kind}Loss.v1"})
    examples: list[Example] = make_examples(nlp)[:3]
    space = Doc(nlp.vocab, words=["\n", *(token.text for token in examples[1].reference), " "])
    examples = [
        examples[0],
        Example(space, examples[1].reference),
        Example(Doc(nlp.vocab), Doc(nlp.vocab)),
        examples[2],
    ]
    nlp.initialize(lambda: examples)
    pipe = nlp.get_pipe("parsetag")
    found = pipe.model.predict([eg.predicted for eg in examples])
    n_words = [len(eg.reference) for eg in examples if len(eg.reference)]
    assert found.words.n_words.tolist() == n_words  # no slots for white space
    rows = np.random.default_rng(0).normal(size=found.rows.shape)
    loss, gradient = pipe.get_loss(examples, replace(found, rows=rows))
    assert loss > 0 and gradient.rows.shape == rows.shape

    scores = SentenceScores(rows, found.words)
    check_gradients(lambda: pipe.get_loss(examples, scores)[0], [(rows, gradient.rows)], atol=1e-8)
    # The second slot of a sentence's last word has no tag.
    lasts = 2 * np.cumsum(n_words) - 1
    assert not gradient.rows[lasts].any() and gradient.rows[lasts - 2].any(axis=1).all()
    right = -gradient.rows[gradient.rows < 0].sum()
    assert 0 < right <= sum(2 * n - 1 for n in n_words)


@settings(deadline=None)
@given(lengths=st.lists(st.integers(0, 3), max_size=6), width=st.integers(1, 3))
def test_last_subword(lengths: list[int], width: int) -> None:
    """Values and gradient against a loop over words."""
    ops = get_current_ops()
    rng = np.random.default_rng(len(lengths))
    data = rng.normal(size=(sum(lengths), width)).astype("f")
    model = last_subword()
    Y, backprop = model(Ragged(data, ops.asarray1i(lengths)), is_train=True)
    dY = rng.normal(size=(len(lengths), width)).astype("f")
    dX = backprop(dY)
    expected, gradient = np.zeros_like(dY), np.zeros_like(data)
    end = 0
    for i, length in enumerate(lengths):
        end += length
        if length:
            expected[i] = data[end - 1]
            gradient[end - 1] = dY[i]
    np.testing.assert_array_equal(Y, expected)
    np.testing.assert_array_equal(dX.dataXd, gradient)
    assert dX.lengths.tolist() == lengths


def test_unknown_tags() -> None:
    """A sentence with a gold tag that is not in the set is left out as a whole, by the other loss only that tag."""
    tags = TagSet(["L/S"])
    ids = np.concatenate([tags.encode(["l", "L/S", "r"]), [-1], tags.encode(["l", "L/NP", "r"]), [-1]])
    scores = np.random.default_rng(0).normal(size=(8, len(tags)))
    batch = TagScores(scores, np.asarray([0, 4]), np.asarray([2, 2]), tags, ORDERS["in"])
    gold = WeightedTrees.of_batch(batch, ids)
    loss, gradient = TreeLoss()(batch, gold)
    one = batch.select(np.asarray([0]))
    alone, _ = TreeLoss()(one, WeightedTrees.of_batch(one, ids))
    # l and r are certain
    assert loss == alone > 0 and gradient.scores[1].any() and not gradient.scores[3:].any()
    _, gradient = TagLoss()(batch, gold)
    assert gradient.scores.any(axis=1).tolist() == [True, True, True, False, True, False, True, False]
    for get_loss in (TreeLoss(), TagLoss()):
        loss, gradient = get_loss(batch, WeightedTrees.of_batch(batch, np.full(8, -1)))
        assert loss == 0.0 and gradient.scores.shape == scores.shape and not gradient.scores.any()


@pytest.mark.parametrize("get_loss", [TreeLoss(), TagLoss()], ids=["tree", "tag"])
@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
def test_scores_that_are_not_finite(value: float, get_loss: Loss) -> None:
    """Those that teach something are an error, others nothing: between sentences, or where the gold tag is unknown."""
    tags = TagSet(["L/S"])
    ids = np.concatenate([tags.encode(["l", "L/S", "r"]), [-1], tags.encode(["l/X", "L/X", "r/X"]), [-1]])
    scores = np.random.default_rng(0).normal(size=(8, len(tags)))
    batch = TagScores(scores, np.asarray([0, 4]), np.asarray([2, 2]), tags, ORDERS["in"])
    gold = WeightedTrees.of_batch(batch, ids)
    expected, _ = get_loss(batch, gold)
    scores[3:] = value
    loss, gradient = get_loss(batch, gold)
    assert loss == expected > 0 and gradient.scores[:3].any() and not gradient.scores[3:].any()
    scores[1, ids[1]] = value
    with pytest.raises(ValueError, match=rf"\[E151\].*'L/S' at word 1 is {value}, in sentence 0 "):
        get_loss(batch, gold)


@pytest.mark.parametrize("get_loss", [TreeLoss(), TagLoss()], ids=["tree", "tag"])
@pytest.mark.parametrize("kind", ["tags", "transitions"])
def test_types_of_gradients(kind: str, get_loss: Loss) -> None:
    """That of the scores, if they are floats, though they may be added up in another one."""
    batch = make_batch(kind, [4, 2])
    gold = weighted(batch, [0, 1], [0.5, 1])
    batch = batch.with_arrays([np.round(array) for array in batch.arrays])
    expected, _ = get_loss(batch, gold)
    for dtype in (np.float16, np.float32, np.float64, int):
        loss, gradient = get_loss(batch.with_arrays([array.astype(dtype) for array in batch.arrays]), gold)
        assert loss == pytest.approx(expected, rel=1e-3 if dtype == np.float16 else 1e-5)
        assert gradient.scores.dtype == (np.float64 if dtype is int else dtype)
    great = batch.with_arrays([array.astype("f") * np.float32(1e35) for array in batch.arrays])
    assert get_loss(great, gold)[1].scores.dtype == np.float32


TAGS = TagSet(["l/NP", "r/NP", "L/S", "L/VP", "R/VP"])
KINDS = ["tags", "pre", "bounded", "transitions", "spans"]


def make_batch(kind: str, words: list[int]) -> TagScores:
    rng, n_words = np.random.default_rng(0), np.asarray(words)
    starts, t = 2 * (np.cumsum(n_words) - n_words), len(TAGS)
    batch = TagScores(
        rng.normal(size=(2 * n_words.sum(), t)), starts, n_words, TAGS, ORDERS["pre" if kind == "pre" else "in"]
    )
    if kind == "transitions":
        return replace(batch, transitions=Transitions(*(rng.normal(size=shape) for shape in ((t, t), t, t))))
    if kind == "spans":
        sizes = n_words * (n_words - 1) // 2
        starts = np.where(n_words == 3, -1, np.cumsum(sizes) - sizes)
        return replace(batch, spans=SpanScores(rng.normal(size=(sizes.sum(), len(TAGS.node_labels))), starts))
    return replace(batch, max_stack=4 if kind == "bounded" else None)


def weighted(batch: TagScores, sentences: list[int], weights: list[float]) -> WeightedTrees:
    """Random trees of sentences, with weights."""
    ids = []
    for i, s in enumerate(sentences):
        sharp = np.random.default_rng(i).normal(scale=50, size=batch.scores.shape)
        sentence = replace(batch.select(np.asarray([s])), scores=sharp, transitions=None, spans=None)
        ids.append(Distribution(sentence).argmax.ids[sentence.rows])
    return WeightedTrees(np.asarray(sentences), np.asarray(weights), np.concatenate(ids))


def some_of(batch: TagScores, gold: WeightedTrees, trees: list[int]) -> WeightedTrees:
    """Some of the trees."""
    n = batch.n_words[gold.sentence]
    rows = np.isin(np.repeat(np.arange(len(n)), 2 * n - 1), trees)
    return WeightedTrees(gold.sentence[trees], gold.weight[trees], gold.ids[rows])


SENTENCES, WEIGHTS = [0, 0, 0, 2, 3, 3], [0.5, 0.3, 0.2, 1.0, 0.75, 0.25]


@pytest.mark.parametrize("get_loss", [TreeLoss(), TagLoss()], ids=["tree", "tag"])
@pytest.mark.parametrize("kind", KINDS)
def test_weighted_trees(kind: str, get_loss: Loss) -> None:
    """The loss is the weighted sum of the losses of the trees, one by one, and so is its gradient."""
    batch = make_batch(kind, [4, 2, 1, 3])
    gold = weighted(batch, SENTENCES, WEIGHTS)
    if kind == "spans" and isinstance(get_loss, TagLoss):
        with pytest.raises(ValueError, match="E201"):
            get_loss(batch, gold)
        return
    loss, gradient = get_loss(batch, gold)
    expected, parts = 0.0, [np.zeros_like(array) for array in batch.arrays]
    for i, weight in enumerate(WEIGHTS):
        tree = some_of(batch, gold, [i])._replace(weight=np.ones(1))
        value, d_tree = get_loss(batch, tree)
        expected += weight * value
        for part, array in zip(parts, d_tree.arrays, strict=True):
            part += weight * array
    assert loss == pytest.approx(expected)
    for part, array in zip(parts, gradient.arrays, strict=True):
        np.testing.assert_allclose(array, part, atol=1e-12)
    assert not gradient.scores[8:12].any()  # a sentence without a tree


@pytest.mark.parametrize("get_loss", [TreeLoss(), TagLoss(masked=False)], ids=["tree", "tag"])
@pytest.mark.parametrize("kind", KINDS)
def test_gradient_of_weighted_trees(kind: str, get_loss: Loss) -> None:
    if kind == "spans" and isinstance(get_loss, TagLoss):
        return
    batch = make_batch(kind, [4, 2, 1, 3])
    gold = weighted(batch, SENTENCES, WEIGHTS)
    pairs = zip(batch.arrays, get_loss(batch, gold)[1].arrays, strict=True)
    check_gradients(lambda: get_loss(batch, gold)[0], pairs, atol=1e-8, every=3)


@pytest.mark.parametrize("kind", KINDS)
def test_one_unknown_tree_leaves_out_its_sentence(kind: str) -> None:
    """As the others of its trees alone would have other weights."""
    batch = make_batch(kind, [4, 2, 1, 3])
    gold = weighted(batch, SENTENCES, WEIGHTS)
    expected, _ = TreeLoss()(batch, some_of(batch, gold, [3, 4, 5]))
    gold.ids[8] = -1  # in the second tree of the first sentence
    loss, gradient = TreeLoss()(batch, gold)
    assert loss == pytest.approx(expected)
    assert not gradient.scores[:12].any() and gradient.scores[12:].any()


@pytest.mark.parametrize("kind", KINDS)
def test_a_tree_beyond_the_bound_leaves_out_its_sentence(kind: str) -> None:
    """No sum counts it: the more likely it got, the smaller its loss would be, without end."""
    free = replace(make_batch(kind, [4, 2, 1, 3]), max_stack=None)
    gold = weighted(free, [0, 1, 2, 3], [1.0] * 4)
    trees = [TAGS.decode(ids) for ids in np.split(gold.ids, np.cumsum(free.lengths)[:-1])]
    sizes = [largest_stack(tree, free.linearizer.lattice) for tree in trees]
    batch = replace(free, max_stack=max(sizes) - 1)
    small = [s for s, size in enumerate(sizes) if size < max(sizes)]
    with pytest.warns(UserWarning, match=rf"\[W200\].*more than {max(sizes) - 1}, "):
        loss, gradient = TreeLoss()(batch, gold)
    assert len(small) > 1 and loss == TreeLoss()(batch, some_of(batch, gold, small))[0] > 0
    taught = [bool(gradient.scores[start:stop].any()) for start, stop in zip(batch.starts, batch.stops, strict=True)]
    assert taught == [s in small for s in range(4)]
    fitting = replace(free, max_stack=max(sizes))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for i in range(len(gold.ids)):  # what size a tree with an unknown tag needs is not known
            TreeLoss()(fitting, gold._replace(ids=np.where(np.arange(len(gold.ids)) == i, -1, gold.ids)))


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.filterwarnings("error")
def test_trees_within_the_bound_share_the_weight_of_those_beyond(kind: str) -> None:
    free = replace(make_batch(kind, [4, 2, 1, 3]), max_stack=None)
    gold = weighted(free, SENTENCES, WEIGHTS)
    trees = np.split(gold.ids, np.cumsum(free.lengths[gold.sentence])[:-1])
    sizes = np.asarray([largest_stack(TAGS.decode(ids), free.linearizer.lattice) for ids in trees])
    batch = replace(free, max_stack=int(sizes.max()) - 1)
    inside = [i for i, size in enumerate(sizes) if size < sizes.max()]
    assert set(gold.sentence[inside]) == set(gold.sentence) and len(inside) < len(sizes)
    fitting = some_of(batch, gold, inside)
    fitting.weight[:] /= np.bincount(fitting.sentence, fitting.weight)[fitting.sentence]
    (loss, gradient), (expected, d_expected) = TreeLoss()(batch, gold), TreeLoss()(batch, fitting)
    assert loss == expected > 0
    for found, wanted in zip(gradient.arrays, d_expected.arrays, strict=True):
        np.testing.assert_array_equal(found, wanted)
    gold.weight[inside] = 0.0  # too small for a float
    with pytest.warns(UserWarning, match=r"\[W200\]"):
        assert TreeLoss()(batch, gold)[0] >= 0


KNOWN: Any = (
    ((1, 3, "VP", "must"), (1, 4, None, "uncrossed")),
    (),
    ((0, 1, "NP", "must"),),
    ((0, 2, None, "must not"),),
)


@pytest.mark.parametrize("kind", ["tags", "pre", "bounded", "spans"])
def test_partial_likelihood(kind: str) -> None:
    """The share of the trees that agree, whatever the bound; its gradient by finite differences."""
    batch = make_batch(kind, [4, 2, 1, 3])
    known = replace(batch, constraints=KNOWN).constraints or ()
    loss, gradient = partial_likelihood(batch, known)
    free = replace(batch, max_stack=None)
    shares = Distribution(free).log_partition - Distribution(replace(free, constraints=known)).log_partition
    assert loss == pytest.approx(shares.sum()) and shares[[0, 2, 3]].all() and not gradient.scores[8:12].any()
    pairs = zip(batch.arrays, gradient.arrays, strict=True)
    check_gradients(lambda: partial_likelihood(batch, known)[0], pairs, atol=1e-8, every=3)
    assert partial_likelihood(batch, ((),) * 4)[0] == 0


def test_partial_likelihood_needs_a_chart() -> None:
    batch = make_batch("transitions", [4, 2, 1, 3])
    with pytest.raises(ValueError, match="E175"):
        partial_likelihood(batch, KNOWN)
    with pytest.raises(ValueError, match="E169"):
        partial_likelihood(make_batch("tags", [3]), (((0, 2, "S", "must"), (1, 3, "VP", "must")),))
