"""Beam search: equal to the exact decoder when nothing falls out, valid always, and never without a tree."""

from dataclasses import replace

import numpy as np
import pytest
from batches import ALL_ORDERS, TAGS, check_tree
from hypothesis import given, settings, strategies as st
from oracle import STACK, best_by_enumeration, score_of
from strategies import n_examples

from spacy_parsetag.decode import BeamDecoder, Distribution, ExactDecoder, TagScores, Transitions, decode
from spacy_parsetag.linearize import ORDERS, get_linearizer

INVENTORY = ["l", "l/NP", "r", "r/NP", "L", "L/S", "R", "R/VP"]


def make_batch(scores, starts, n_words, order, pairs=None, bound=None):
    t = len(TAGS)
    transitions = None if pairs is None else Transitions(pairs, np.zeros(t), np.zeros(t))
    return TagScores(scores, starts, n_words, TAGS, ORDERS[order], transitions, max_stack=bound)


def search(decoder, batch):
    decoded = decoder(Distribution(batch))
    return decoded.ids, decoded.scores, decoded.beam_widths


def brute_beam(scores, tags, order, beam, transitions, bound):
    """The definition: at each step continue all sequences by all tags, drop what begins no tree, keep the best."""
    lattice = get_linearizer(order).lattice
    classes = ["lrLR".index(tag[0]) for tag in tags]
    alive = [(0.0, (), lattice.start_stack, lattice.start_state)]
    for p in range(len(scores)):
        longer = []
        for score, ids, stack, group in alive:
            for t, c in enumerate(classes):
                after = stack + lattice.delta[c]
                if lattice.source[c] != group or stack < lattice.need[c] or (bound is not None and after > bound):
                    continue
                gain = scores[p, t] + (transitions[ids[-1], t] if transitions is not None and ids else 0.0)
                longer.append((score + float(gain), (*ids, t), after, lattice.target[c]))
        alive = sorted(longer, key=lambda sequence: -sequence[0])[:beam]
    ends = [
        (score, ids) for score, ids, stack, group in alive if (stack, group) == (lattice.end_stack, lattice.end_state)
    ]
    return max(ends) if ends else None


@settings(deadline=None, max_examples=n_examples(100))
@given(
    order=st.sampled_from(sorted(STACK)),
    n=st.integers(1, 4),
    bound=st.one_of(st.none(), st.integers(0, 4)),
    tags=st.lists(st.sampled_from(INVENTORY), min_size=1, unique=True),
    seed=st.integers(0, 2**32 - 1),
    levels=st.sampled_from([0, 1, 1000]),
    dependent=st.booleans(),
)
def test_wide_enough_equals_exact(order, n, bound, tags, seed, levels, dependent):
    """A beam that holds every sequence finds what enumeration finds, with ties and with classes missing."""
    rng = np.random.default_rng(seed)
    t = len(tags)
    scores = rng.integers(-levels, levels + 1, size=(2 * n - 1, t)).astype(np.float32)
    transitions = {}
    if dependent:
        for name, shape in (("transitions", (t, t)), ("start", t), ("end", t)):
            transitions[name] = rng.integers(-levels, levels + 1, size=shape)
    expected = best_by_enumeration(scores, tags, order, **transitions, max_stack=bound)
    beam = 8**7 if n == 4 else 8**5
    if expected is None:
        with pytest.raises(ValueError, match="E152"):
            decode(scores, tags, order, **transitions, max_stack=bound, beam=beam)
        return
    ids, score = decode(scores, tags, order, **transitions, max_stack=bound, beam=beam)
    assert score == expected == score_of(ids, scores, **transitions)
    check_tree(ids, tags, order, n, bound)


@settings(deadline=None, max_examples=n_examples(100))
@given(
    order=st.sampled_from(sorted(STACK)),
    n=st.integers(1, 7),
    bound=st.one_of(st.none(), st.integers(2, 4)),
    beam=st.integers(1, 12),
    dependent=st.booleans(),
    dtype=st.sampled_from([np.float32, np.float64]),
    seed=st.integers(0, 2**32 - 1),
)
def test_follows_the_definition(order, n, bound, beam, dependent, dtype, seed):
    """Same tree and same width as the plain program gives, also when the beam has to be widened."""
    rng = np.random.default_rng(seed)
    scores = rng.normal(size=(2 * n - 1, len(TAGS))).astype(dtype)
    transitions = rng.normal(size=(len(TAGS), len(TAGS))).astype(dtype) if dependent else None
    ids, totals, widths = search(BeamDecoder(beam), make_batch(scores, [0], [n], order, transitions, bound))
    check_tree(ids, TAGS, order, n, bound)
    width = beam
    while (expected := brute_beam(scores, TAGS, order, width, transitions, bound)) is None and width < beam << 4:
        width *= 2
    if expected is None:
        assert widths[0] == 0
        return
    assert widths[0] == width
    assert totals[0] == pytest.approx(expected[0], abs=1e-4)
    assert tuple(ids) == expected[1]


@ALL_ORDERS
@pytest.mark.parametrize("lookahead", [False, True])
@pytest.mark.parametrize("dependent", [False, True])
def test_always_a_tree_never_better_than_exact(order, lookahead, dependent):
    rng = np.random.default_rng(0)
    words = rng.integers(0, 30, 40)
    lengths = np.maximum(2 * words - 1, 0)
    rows = np.cumsum(lengths) - lengths
    scores = rng.normal(size=(int(lengths.sum()), len(TAGS))).astype(np.float32)
    transitions = rng.normal(size=(len(TAGS), len(TAGS))) if dependent else None
    batch = make_batch(scores, rows, words, order, transitions)
    _, best, _ = ExactDecoder()(Distribution(batch))
    for beam in (1, 10):
        decoder = BeamDecoder(beam, lookahead=lookahead)
        ids, totals, widths = search(decoder, batch)
        for row, n, total in zip(rows, words, totals, strict=True):
            if n:
                tree = ids[row : row + 2 * n - 1]
                check_tree(tree, TAGS, order, n)
                assert score_of(tree, scores[row : row + 2 * n - 1], transitions) == pytest.approx(total, abs=1e-3)
        assert (totals <= best + 1e-3).all()
        assert set(widths) <= {0, beam, *(beam << k for k in range(1, 5))}
        if lookahead:
            assert (widths == beam).all()
    decoder.widest = 15
    assert set(search(decoder, batch)[2]) <= {0, 10, 15}


@ALL_ORDERS
def test_lookahead_keeps_within_the_bound(order):
    """With lookahead a beam of one is never widened: what it keeps can always become a tree within the bound."""
    rng = np.random.default_rng(4)
    n_words = np.arange(1, 40, dtype=np.int32)
    starts = np.cumsum(2 * n_words - 1) - (2 * n_words - 1)
    scores = rng.normal(size=((2 * n_words - 1).sum(), len(TAGS)))
    batch = TagScores(scores, starts, n_words, TAGS, ORDERS[order])
    for bound in (3, 4, 6):
        bounded = replace(batch, max_stack=bound)
        decoded = BeamDecoder(1, lookahead=True)(Distribution(bounded))
        assert (decoded.beam_widths == 1).all()
        assert (decoded.scores <= ExactDecoder()(Distribution(bounded)).scores + 1e-9).all()
        for start, n in zip(starts, n_words, strict=True):
            check_tree(decoded.ids[start : start + 2 * n - 1], TAGS, order, n, bound)


@ALL_ORDERS
def test_widens_then_gives_way_to_the_exact_decoder(order):
    """All score on growing the stack: no sequence that a beam keeps comes back in time."""
    scores = np.zeros((39, len(TAGS)), dtype=np.float32)
    up = {"in": (0, 2), "pre": (2,), "post": (0,)}[order]
    scores[:, np.isin(TAGS.classes, up)] = 100 + np.arange(np.isin(TAGS.classes, up).sum())
    ids, totals, widths = search(BeamDecoder(1), make_batch(scores, [0], [20], order))
    check_tree(ids, TAGS, order, 20)
    _, best, _ = ExactDecoder()(Distribution(make_batch(scores, [0], [20], order)))
    if order != "in":
        assert widths[0] == 0
        np.testing.assert_allclose(totals, best)
    _, _, widths = search(BeamDecoder(1, lookahead=True), make_batch(scores, [0], [20], order))
    assert widths[0] == 1


def test_2000_words():
    rng = np.random.default_rng(1)
    scores = rng.normal(size=(3999, len(TAGS))).astype(np.float32)
    for order, lookahead in (("in", False), ("pre", True), ("post", True)):
        decoder = BeamDecoder(10, lookahead=lookahead)
        ids = decoder(Distribution(make_batch(scores, [0], [2000], order))).ids
        check_tree(ids, TAGS, order, 2000)


def test_refuses_bad_input():
    BeamDecoder(1 << 22)
    assert BeamDecoder().beam == 10
    for beam in (0, 2.5, (1 << 22) + 1, 2**31):
        with pytest.raises(ValueError, match="E160"):
            BeamDecoder(beam)
    with pytest.raises(ValueError, match="E161"):
        decode(np.zeros((9, len(TAGS))), TAGS.tags, max_stack=-1, beam=10)
    scores = np.zeros((9, len(TAGS)), dtype=np.float32)
    with pytest.raises(ValueError, match="E158"):
        decode(scores, TAGS.tags, "in", np.zeros((2, 2)), beam=10)
    scores[3, 3] = np.inf
    with pytest.raises(ValueError, match=r"E151.*at word 2"):
        decode(scores, TAGS.tags, "in", beam=10)
    with pytest.raises(ValueError, match="E152"):
        decode(np.zeros((3, 2)), ["l", "r"], "in", beam=10)
    ids, totals, widths = search(BeamDecoder(), make_batch(np.zeros((0, len(TAGS))), [], [], "in"))
    assert ids.shape == totals.shape == widths.shape == (0,)
