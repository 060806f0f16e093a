"""Scores of tags and spans together, against enumeration of all trees and finite differences."""

import numpy as np
import pytest

from spacy_parsetag.decode import BeamDecoder, SpanScores, TagScores, Transitions
from spacy_parsetag.linearize import ORDERS
from spacy_parsetag.linearize.tags import TagSet

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


def test_beam_search_reads_tags_alone():
    with pytest.raises(ValueError, match=r"E165.*Beam search"):
        BeamDecoder()(make_batch([3], np.random.default_rng(0)))
