"""What a pipe says of its trees beside the trees: probabilities, entropies, expected F, the k best."""

from itertools import islice
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..decode import (
    Constituents,
    StackBound,
    TagScores,
    TreeDistribution,
    constituent_marginals,
    k_best_parses,
    log_partition,
)
from ..decode.nodes import labelled_nodes
from ..decode.places import tree_scores
from .parsed import Spans


def scale_scores(batch: TagScores, factor: float) -> TagScores:
    """The batch with all scores times a factor, which is 1 / temperature. Trees keep their order, best to worst."""
    return batch.with_arrays(array * factor for array in batch.arrays)


def spans_of_ids(ids: NDArray[Any], batch: TagScores) -> list[Spans]:
    """The constituents that the tags of each sentence stand for, in pre-order, unary chains from the top."""
    nodes = labelled_nodes(ids, batch)
    found = zip(nodes.start.tolist(), nodes.end.tolist(), nodes.tag.tolist(), strict=True)
    unaries = batch.tags.unaries
    return [
        [(start, end, label) for start, end, tag in islice(found, n_nodes) for label in unaries[tag]]
        for n_nodes in nodes.counts.tolist()
    ]


def log_probs_and_entropies(
    batch: TagScores, ids: NDArray[Any], max_stack: StackBound
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """(S,) log-probability of the tree of each sentence, and (S,) entropy of all its trees, in nats."""
    batch = batch.on_cpu()
    if batch.transitions is not None:
        each = [TreeDistribution.from_batch(batch, s, max_stack) for s in range(len(batch.n_words))]
        own = [ids[start:stop].tolist() for start, stop in zip(batch.starts, batch.stops, strict=True)]
        log_probs = [one.log_prob(tree) for one, tree in zip(each, own, strict=True)]
        return np.asarray(log_probs), np.asarray([one.entropy for one in each])
    sums = log_partition(batch, max_stack)
    n_sents, rows = len(batch.n_words), batch.rows
    owner = np.repeat(np.arange(n_sents), batch.stops - batch.starts)
    expected = np.bincount(owner, _dot(sums.marginals, batch.scores)[rows], n_sents)
    if batch.spans is not None and sums.spans is not None:
        for_rows = _dot(sums.spans, batch.spans.scores)
        stops = batch.spans.stops(batch.n_words)
        for s in np.flatnonzero(batch.spans.starts >= 0):
            expected[s] += for_rows[batch.spans.starts[s] : stops[s]].sum()
    # Rounding may leave a little below 0 where one tree has all of the probability.
    return np.minimum(tree_scores(batch, ids) - sums.log_z, 0.0), np.maximum(sums.log_z - expected, 0.0)


def _dot(probs: NDArray[Any], scores: NDArray[Any]) -> NDArray[np.float64]:
    """Row by row. What nothing reads has no probability, and may be no number."""
    products: NDArray[np.float64] = np.where(probs > 0, probs.astype(np.float64) * scores, 0.0).sum(axis=1)
    return products


def probs_of_spans(constituents: Constituents, s: int, spans: Spans) -> list[float]:
    """The probability of each of some constituents of sentence s; 0 for labels that are not known."""
    place = {label: c for c, label in enumerate(constituents.labels)}
    start, end = (np.asarray([span[i] for span in spans], dtype=np.int64) for i in (0, 1))
    rows = constituents.rows(s, start, end)
    found = zip(rows.tolist(), (place.get(label) for _, _, label in spans), strict=True)
    return [0.0 if column is None else float(constituents.probs[row, column]) for row, column in found]


def expected_f(constituents: Constituents, s: int, spans: Spans, probs: list[float]) -> float:
    """Expected number of right constituents, doubled, over those found and those expected: close to the expected F."""
    n = int(constituents.n_words[s])
    there = constituents.probs[constituents.starts[s] : constituents.starts[s] + n * (n + 1) // 2].sum(dtype=np.float64)
    unique = dict(zip(spans, probs, strict=True))  # a label twice over the same words counts once on both sides
    return float(2 * sum(unique.values()) / (len(unique) + there)) if unique else float(there == 0)


def constituent_notes(batch: TagScores, spans: list[Spans], max_stack: StackBound) -> dict[str, list[Any]]:
    """What there is to say of the constituents of each sentence.

    batch (TagScores): The scores.
    spans (list[Spans]): The constituents that were found.
    max_stack (int | None): Largest stack size after any tag; None for no bound.
    RETURNS (dict[str, list[Any]]): For each sentence "probs" (one for each of its constituents) and "expected_f" (0 to
        1).
    """
    constituents = constituent_marginals(batch, max_stack)
    probs = [probs_of_spans(constituents, s, own) for s, own in enumerate(spans)]
    expected = [
        expected_f(constituents, s, own, found) for s, (own, found) in enumerate(zip(spans, probs, strict=True))
    ]
    return {"probs": probs, "expected_f": expected}


def tree_notes(batch: TagScores, ids: NDArray[Any], max_stack: StackBound) -> dict[str, list[Any]]:
    """What there is to say of the tree of each sentence.

    batch (TagScores): The scores.
    ids (np.ndarray): (R,) tag ids of the trees that were found.
    max_stack (int | None): Largest stack size after any tag; None for no bound.
    RETURNS (dict[str, list[Any]]): For each sentence "log_probs" and "entropies" (in nats).
    """
    log_probs, entropies = log_probs_and_entropies(batch, ids, max_stack)
    return {"log_probs": log_probs.tolist(), "entropies": entropies.tolist()}


def best_parses(batch: TagScores, k: int, max_stack: StackBound) -> list[list[list[Any]]]:
    """The k best trees of each sentence, best first: the log-probability and the constituents of each, in lists."""
    batch = batch.on_cpu()
    log_z = log_partition(batch, max_stack).log_z
    found = []
    for s, trees in enumerate(k_best_parses(batch, k, max_stack)):
        same = TagScores.blank(np.repeat(batch.n_words[s], len(trees.scores)), batch.tags, batch.linearizer)
        log_probs = np.minimum(trees.scores - log_z[s], 0.0).tolist()
        parses = spans_of_ids(trees.ids.reshape(-1), same)
        found.append([[p, [list(span) for span in own]] for p, own in zip(log_probs, parses, strict=True)])
    return found
