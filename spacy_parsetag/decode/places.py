"""Where the scores of given trees are in a batch, and what the trees score."""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from .nodes import labelled_nodes
from .scores import TagScores, span_row


class Places(NamedTuple):
    """Places in one of the arrays of a batch.

    at (tuple[np.ndarray, ...]): The places, an array for each dimension.
    sentence (np.ndarray): The sentence that each of them is of.
    """

    at: tuple[NDArray[Any], ...]
    sentence: NDArray[Any]


def places_of(batch: TagScores, ids: NDArray[Any]) -> list[Places]:
    """Find what the scores of trees are made of.

    batch (TagScores): The batch, each of whose sentences has a tree.
    ids (np.ndarray): (R,) ids of the trees' tags.
    RETURNS (list[Places]): The places in each of `batch.arrays`. An internal node whose span is scored has that of the
        bare tag among the scores of tags.
    """
    tags, n_words, rows = batch.tags, batch.n_words.astype(np.int64), batch.rows
    sentences = np.arange(len(n_words))
    own = np.repeat(sentences, batch.stops - batch.starts)
    columns = ids[rows]
    more = []
    if batch.transitions is not None:
        full = n_words > 0
        first, last = batch.starts[full], batch.stops[full] - 1
        followed = ~np.isin(rows, last)
        more = [
            Places((columns[followed], ids[rows[followed] + 1]), own[followed]),
            Places((ids[first],), sentences[full]),
            Places((ids[last],), sentences[full]),
        ]
    if batch.spans is not None:
        scored = batch.spans.starts >= 0
        inner = scored[own] & (tags.classes[columns] >= 2)
        columns[inner] = tags.offsets[tags.classes[columns[inner]]]  # the bare tag is the first of its class
        nodes = labelled_nodes(ids, batch.select(scored), bare=True)
        internal = nodes.end - nodes.start > 1
        start, end = (bounds[internal].astype(np.int64) for bounds in (nodes.start, nodes.end))
        of_span = np.repeat(np.flatnonzero(scored), nodes.counts)[internal]
        span_rows = batch.spans.starts[of_span] + span_row(n_words[of_span], start, end)
        more.append(Places((span_rows, tags.label_of[nodes.tag[internal]]), of_span))
    return [Places((rows, columns), own), *more]


def tree_scores(batch: TagScores, ids: NDArray[Any]) -> NDArray[np.float64]:
    """(S,) score of the tree of each sentence of a batch on the CPU, given (R,) ids of the trees' tags."""
    found = zip(batch.arrays, places_of(batch, ids), strict=True)
    totals = np.zeros(len(batch.n_words))
    for scores, (at, sentence) in found:
        totals += np.bincount(sentence, scores[at], len(totals))
    return totals
