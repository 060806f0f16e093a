"""Batches of random scores, their sums, and a check of trees, for the tests of decoders."""

from dataclasses import replace

import numpy as np
import pytest
from differences import check_gradients
from oracle import STACK
from sums import sums_of

from spacy_parsetag.decode import SpanScores, TagScores
from spacy_parsetag.linearize import ORDERS, get_linearizer, largest_stack
from spacy_parsetag.linearize.tagset import TagSet

TAGS = TagSet(["l/NP", "l/S+VP", "r/NP", "L/S", "L/VP", "R/VP", "R/S+VP"])
ALL_ORDERS = pytest.mark.parametrize("order", STACK)


def check_tree(ids, tags, order, n, bound=None):
    """That ids are a tree over n words within the bound."""
    names = [tags[i] for i in ids]
    linearizer = get_linearizer(order)
    assert linearizer.delinearize(names).n_words == n
    assert bound is None or largest_stack(names, linearizer.lattice) <= bound


def random_batch(words, order="in", dtype=np.float64, seed=0, **changes):
    rng, words = np.random.default_rng(seed), np.asarray(words)
    rows = np.maximum(2 * words - 1, 0)
    scores = rng.normal(scale=2, size=(rows.sum() + 3, len(TAGS))).astype(dtype)
    arguments = {"linearizer": ORDERS[order], **changes}
    return TagScores(scores, np.cumsum(rows) - rows, words, TAGS, **arguments)


def with_spans(batch, seed=1):
    rng, n = np.random.default_rng(seed), batch.n_words.astype(np.int64)
    sizes = n * (n - 1) // 2
    scores = rng.normal(scale=2, size=(sizes.sum(), len(batch.tags.node_labels))).astype(batch.scores.dtype)
    return replace(batch, spans=SpanScores(scores, np.cumsum(sizes) - sizes))


def check_sums(batch, every=1):
    """That what the sums say of each score is the slope of the log-partition."""
    pairs = zip(batch.arrays, sums_of(batch).arrays, strict=True)
    check_gradients(lambda: sums_of(batch).log_z.sum(), pairs, atol=1e-7, step=1e-6, every=every)
