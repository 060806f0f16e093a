"""From a decoder's tag ids to labelled nodes, a batch a call."""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from ..errors import Errors
from ..linearize import CLASS_NAMES, Linearizer
from ..linearize.tags import TagSet
from ..trees import BinaryTree
from ._nodes import batch_nodes

_ORDER_CODES = {"in": 0, "pre": 1, "post": 2}


class Nodes(NamedTuple):
    """The labelled nodes of a batch of trees, sentence after sentence, each in pre-order.

    start, end (np.ndarray): (K,) int32, word indices within the sentence, end exclusive.
    tag (np.ndarray): (K,) int32, id of the node's tag; its label may be a unary chain.
    counts (np.ndarray): (S,) int32, nodes of each sentence.
    """

    start: np.ndarray
    end: np.ndarray
    tag: np.ndarray
    counts: np.ndarray


def labelled_nodes(ids: np.ndarray, rows: np.ndarray, words: np.ndarray, tags: TagSet, linearizer: Linearizer) -> Nodes:
    """The labelled nodes of the trees that tag sequences stand for.

    ids (np.ndarray): (R,) int32 tag ids, as `decode_batch` returns them.
    rows, words (np.ndarray): (S,) int64 and int32, as `decode_batch` takes them.
    tags (TagSet): The tags.
    linearizer (Linearizer): The order the ids are in. Orders other than the three of this package go through their own
        `delinearize`.
    RETURNS (Nodes): The nodes.
    RAISES (ValueError): If a decoder returned what is no tree.
    """
    ids = np.ascontiguousarray(ids, dtype=np.int32)
    _check_ids(ids, rows, words, len(tags))
    if linearizer.order not in _ORDER_CODES:
        return _collect(_trees(ids, rows, words, tags, linearizer), tags)
    start, end, tag = (np.empty(len(ids), dtype=np.int32) for _ in range(3))
    counts = np.empty(len(words), dtype=np.int32)
    total = batch_nodes(
        ids, rows, words, _ORDER_CODES[linearizer.order], tags.classes, tags.labelled, start, end, tag, counts
    )
    if total < 0:
        # The slow way says what is wrong.
        _collect(_trees(ids, rows, words, tags, linearizer), tags)
    return Nodes(start[:total], end[:total], tag[:total], counts)


def _check_ids(ids: np.ndarray, rows: np.ndarray, words: np.ndarray, n_tags: int) -> None:
    """Raise if a sentence lies outside the ids, or an id of one is that of no tag."""
    ends = rows + np.maximum(2 * words.astype(np.int64) - 1, 0)
    outside = np.flatnonzero(ends > len(ids))
    if len(outside):
        s = int(outside[0])
        raise ValueError(Errors.E109.format(n=len(ids), s=s, words=int(words[s]), row=int(rows[s])))
    strange = (ids < 0) | (ids >= n_tags)
    if strange.any():
        owned = np.zeros(len(ids) + 1, dtype=np.int32)
        np.add.at(owned, rows, 1)
        np.add.at(owned, ends, -1)
        strange &= owned.cumsum()[:-1] > 0
        if strange.any():
            row = int(np.flatnonzero(strange)[0])
            raise ValueError(Errors.E108.format(id=int(ids[row]), row=row, n=n_tags))


def _trees(
    ids: np.ndarray, rows: np.ndarray, words: np.ndarray, tags: TagSet, linearizer: Linearizer
) -> Iterator[BinaryTree]:
    for row, n in zip(rows.tolist(), words.tolist(), strict=True):
        yield linearizer.delinearize(tags.decode(ids[row : row + 2 * n - 1].tolist()))


def _collect(trees: Iterator[BinaryTree], tags: TagSet) -> Nodes:
    """The same nodes from binary trees, whose tags are found by class and label."""
    from ..linearize.base import node_classes
    from ..trees.binarize import node_bounds

    start, end, tag, counts = [], [], [], []
    for tree in trees:
        n = 0
        for bounds, node_class, label in zip(node_bounds(tree), node_classes(tree.leaf), tree.label, strict=True):
            if label:
                start.append(bounds[0])
                end.append(bounds[1])
                tag.append(tags.id(f"{CLASS_NAMES[node_class]}/{label}"))
                n += 1
        counts.append(n)
    return Nodes(*(np.asarray(column, dtype=np.int32) for column in (start, end, tag, counts)))
