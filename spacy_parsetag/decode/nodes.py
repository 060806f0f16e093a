"""From a decoder's tag ids to labelled nodes, a batch a call."""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..errors import Errors
from ..linearize.base import make_tag, node_classes
from ..trees.binarize import node_bounds
from ._nodes import batch_nodes
from .scores import ORDER_CODES, TagScores


class Nodes(NamedTuple):
    """The labelled nodes of a batch of trees, sentence after sentence, each in pre-order.

    start, end (np.ndarray): (K,) int32, word indices within the sentence, end exclusive.
    tag (np.ndarray): (K,) int32, id of the node's tag; its label may be a unary chain.
    counts (np.ndarray): (S,) int32, nodes of each sentence.
    """

    start: NDArray[Any]
    end: NDArray[Any]
    tag: NDArray[Any]
    counts: NDArray[Any]


def labelled_nodes(ids: NDArray[Any], batch: TagScores, *, bare: bool = False) -> Nodes:
    """The labelled nodes of the trees that tag sequences stand for.

    ids (np.ndarray): (R,) int32 tag ids, as a decoder gives them.
    batch (TagScores): The batch that was decoded. Orders other than the three of this package go through their own
        `delinearize`.
    bare (bool): The nodes without a label too, so that all 2N-1 nodes of a tree are there.
    RETURNS (Nodes): The nodes.
    RAISES (ValueError): If the ids of a sentence are not those of a tree.
    """
    ids = np.ascontiguousarray(ids, dtype=np.int32)
    _check_ids(ids, batch)
    tags = batch.tags
    code = ORDER_CODES.get(batch.linearizer.order)
    if code is not None:
        start, end, tag = (np.empty(len(ids), dtype=np.int32) for _ in range(3))
        counts = np.empty(len(batch.n_words), dtype=np.int32)
        wanted = np.ones_like(tags.labelled) if bare else tags.labelled
        total = batch_nodes(ids, batch.starts, batch.n_words, code, tags.classes, wanted, start, end, tag, counts)
        if total >= 0:
            return Nodes(start[:total], end[:total], tag[:total], counts)
    # A user's own order; and where ids are not a tree, the slow way says what is wrong.
    return _collect(ids, batch, bare)


def _check_ids(ids: NDArray[Any], batch: TagScores) -> None:
    """Raises if a sentence lies outside the ids, or one of its ids is not that of a tag."""
    outside = np.flatnonzero(batch.stops > len(ids))
    if len(outside):
        s = int(outside[0])
        n, start = int(batch.n_words[s]), int(batch.starts[s])
        raise ValueError(Errors.E157.format(n=len(ids), s=s, words=n, row=start))
    strange = (ids < 0) | (ids >= len(batch.tags))
    if strange.any():
        owned = batch.rows
        rows = owned[strange[owned]]
        if len(rows):
            row = int(rows[0])
            raise ValueError(Errors.E156.format(id=int(ids[row]), row=row, n=len(batch.tags)))


def _collect(ids: NDArray[Any], batch: TagScores, bare: bool) -> Nodes:
    """The same nodes from binary trees, whose tags are found by class and label."""
    start, end, tag, counts = [], [], [], []
    for first, stop in zip(batch.starts.tolist(), batch.stops.tolist(), strict=True):
        tree = batch.linearizer.delinearize(batch.tags.decode(ids[first:stop].tolist()))
        n = 0
        for bounds, node_class, label in zip(node_bounds(tree), node_classes(tree.leaf), tree.label, strict=True):
            if label or bare:
                start.append(bounds[0])
                end.append(bounds[1])
                tag.append(batch.tags.id(make_tag(node_class, label)))
                n += 1
        counts.append(n)
    return Nodes(*(np.asarray(column, dtype=np.int32) for column in (start, end, tag, counts)))
