"""Trees given by their tags: their labelled nodes, the scores that they add up, and gold trees with weights."""

from collections.abc import Iterable, Iterator
from itertools import islice
from math import fsum
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..errors import Errors
from ..linearize import Linearizer, TagSet
from ..linearize.base import split_tag
from ..trees.binary import node_bounds
from ._nodes import batch_nodes
from .batch import ORDER_CODES, TagScores, numbers_of_tags, ranges, span_row

Spans = list[tuple[int, int, str]]
# Cells of one of a batch's arrays, an index array for each axis; and for each cell the tree that adds up its score.
Cells = tuple[tuple[NDArray[Any], ...], NDArray[Any]]


class Nodes(NamedTuple):
    """The labelled nodes of several trees, tree after tree, each in pre-order.

    start, end (np.ndarray): (K,) int32, word indices within the sentence, end exclusive.
    tag (np.ndarray): (K,) int32, id of the node's tag; its label may be a unary chain.
    counts (np.ndarray): (M,) int32, nodes of each tree.
    """

    start: NDArray[Any]
    end: NDArray[Any]
    tag: NDArray[Any]
    counts: NDArray[Any]

    def spans(self, tags: TagSet) -> Iterator[Spans]:
        """Yield the constituents of each tree in pre-order, unary chains from the top."""
        nodes = zip(self.start.tolist(), self.end.tolist(), self.tag.tolist(), strict=True)
        chains = tags.unaries
        for n_nodes in self.counts.tolist():
            yield [(start, end, label) for start, end, tag in islice(nodes, n_nodes) for label in chains[tag]]


def labelled_nodes(
    ids: NDArray[Any], batch: TagScores, *, sentences: NDArray[Any] | None = None, bare: bool = False
) -> Nodes:
    """Find the labelled nodes of trees of a batch.

    ids (np.ndarray): (R,) int32 tag ids of a tree of each sentence, as a decoder gives them.
    sentences (np.ndarray | None): (M,) sentences whose trees `ids` has, one after another; any number of each.
    bare (bool): Find the nodes without a label too, so that all 2N-1 nodes of a tree are there.
    RAISES (ValueError): If a tree lies outside the ids, one of its ids belongs to no tag, or they form no tree.
    """
    ids = np.ascontiguousarray(ids, dtype=np.int32)
    tags, n_words = batch.tags, batch.n_words if sentences is None else batch.n_words[sentences]
    lengths = numbers_of_tags(n_words)
    starts = batch.starts if sentences is None else np.cumsum(lengths) - lengths
    outside = starts + lengths > len(ids)
    if outside.any():
        s = outside.argmax()
        raise ValueError(Errors.E157.format(n=len(ids), s=s, words=n_words[s], row=starts[s]))
    unknown = (ids < 0) | (ids >= len(tags))
    if unknown.any():
        owned = ranges(starts, lengths)
        rows = owned[unknown[owned]]
        if len(rows):
            raise ValueError(Errors.E156.format(id=ids[rows[0]], row=rows[0], n=len(tags)))
    order_code = ORDER_CODES.get(batch.linearizer.order)
    if order_code is not None:
        # One place for each tag of each tree, not for each row of scores: trees may share rows.
        start, end, tag = (np.empty(int(lengths.sum()), dtype=np.int32) for _ in range(3))
        counts = np.empty(len(n_words), dtype=np.int32)
        included = np.ones_like(tags.labelled) if bare else tags.labelled
        total = batch_nodes(ids, starts, n_words, order_code, tags.classes, included, start, end, tag, counts)
        if total >= 0:
            return Nodes(start[:total], end[:total], tag[:total], counts)
    # A user's own order needs its `delinearize`, which also raises the error where ids are not a tree.
    ids_of_trees = (ids[start : start + length] for start, length in zip(starts, lengths, strict=True))
    return _collect(ids_of_trees, tags, batch.linearizer, bare)


def _collect(ids_of_trees: Iterable[NDArray[Any]], tags: TagSet, linearizer: Linearizer, bare: bool) -> Nodes:
    """Find the nodes by building each binary tree from its tags, in any order."""
    # An order of one's own may write a node as the child of another side than the tree has it.
    id_of = {split_tag(tag)[1]: i for i, tag in enumerate(tags.tags)}
    nodes, counts = [], []
    for ids in ids_of_trees:
        tree = linearizer.delinearize(tags.decode(ids.tolist()))
        labelled = zip(node_bounds(tree), tree.label, strict=True)
        of_tree = [(*bounds, id_of[label]) for bounds, label in labelled if bare or label]
        nodes += of_tree
        counts.append(len(of_tree))
    start, end, tag = np.asarray(nodes, dtype=np.int32).reshape(-1, 3).T
    return Nodes(start, end, tag, np.asarray(counts, dtype=np.int32))


class WeightedTrees(NamedTuple):
    """Trees of a batch's sentences with weights: gold trees, or a teacher's.

    sentence (np.ndarray): (M,) int64 sentence of each tree, ascending. A sentence without a tree teaches nothing.
    weight (np.ndarray): (M,) float64; the weights of a sentence's trees sum to 1.
    ids (np.ndarray): (P,) int32 tag ids of all trees, one after another; -1 for a tag that is not in the tag set.
    """

    sentence: NDArray[Any]
    weight: NDArray[Any]
    ids: NDArray[Any]

    @classmethod
    def of_batch(cls, batch: TagScores, ids: NDArray[Any]) -> "WeightedTrees":
        """Take one tree for each sentence of a batch, with weight 1, from the (R,) ids of its tags."""
        n = len(batch.n_words)
        return cls(np.arange(n), np.ones(n), ids[batch.rows])


def cells_of(batch: TagScores, trees: WeightedTrees) -> list[Cells]:
    """Find the scores that trees add up.

    trees (WeightedTrees): The trees, without unknown tags.
    RETURNS (list[Cells]): The cells in each of `batch.arrays`. An internal node whose span is scored has the bare tag's
        cell among the scores of tags.
    """
    tags, n_words = batch.tags, batch.n_words.astype(np.int64)[trees.sentence]
    lengths = numbers_of_tags(n_words)
    tree = np.repeat(np.arange(len(n_words)), lengths)
    rows, columns = ranges(batch.starts[trees.sentence], lengths), trees.ids
    others: list[Cells] = []
    if batch.transitions is not None:
        nonempty = np.flatnonzero(lengths)
        last = np.cumsum(lengths)[nonempty] - 1
        first = last + 1 - lengths[nonempty]
        pairs = (np.delete(columns, last), np.delete(columns, first))
        others = [(pairs, np.delete(tree, first)), ((columns[first],), nonempty), ((columns[last],), nonempty)]
    if batch.spans is not None:
        span_starts = batch.spans.starts[trees.sentence]
        nodes = labelled_nodes(columns, batch, sentences=trees.sentence, bare=True)
        inner = (span_starts[tree] >= 0) & (tags.classes[columns] >= 2)
        columns = np.where(inner, tags.offsets[tags.classes[columns]], columns)  # bare tags are the first of a class
        scored = (span_starts[tree] >= 0) & (nodes.end - nodes.start > 1)  # of a tree there are as many nodes as tags
        tree_of_span = tree[scored]
        start, end = (bounds[scored].astype(np.int64) for bounds in (nodes.start, nodes.end))
        span_rows = span_starts[tree_of_span] + span_row(n_words[tree_of_span], start, end)
        others.append(((span_rows, tags.label_of[nodes.tag[scored]]), tree_of_span))
    return [((rows, columns), tree), *others]


def tree_scores(batch: TagScores, trees: WeightedTrees) -> NDArray[np.float64]:
    """Add up the scores of trees of a batch on the CPU: (M,), one for each tree, rounded once."""
    cells = [(tree, scores[at]) for scores, (at, tree) in zip(batch.arrays, cells_of(batch, trees), strict=True)]
    owner = np.concatenate([tree for tree, _ in cells])
    values = np.concatenate([of_array.astype(np.float64) for _, of_array in cells])[np.argsort(owner, kind="stable")]
    ends = np.cumsum(np.bincount(owner, minlength=len(trees.sentence)))
    return np.asarray([fsum(of_tree) for of_tree in np.split(values, ends)[: len(trees.sentence)]], dtype=np.float64)
