"""Constraints on constituents, compiled to the set of tags that each span may have."""

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..errors import Errors
from ..linearize.tagset import TagSet

LARGEST_COUNT = 2**31 - 1  # of the compiled passes
KINDS = ("must", "must not", "uncrossed")
_FORBIDDEN = -1

# The sets of tags that spans may have, as the compiled passes read them: (C, T) uint8, the tags in each set, all of
# them in the first; (M,) int32, the set of each span (0, 1), (0, 2) to (0, N), (1, 2) to (N-1, N) of each constrained
# sentence, -1 for a span that cannot be a node; (S,) int64, first cell of each sentence, -1 for one that may have any.
LabelSets = tuple[NDArray[Any], NDArray[Any], NDArray[Any]]


class Constraint(NamedTuple):
    """A constraint on the constituents of a tree. Nodes that binarization added are no constituents.

    start, end (int): Words of the span, within the sentence, end exclusive.
    label (str | None): A label, not a chain of them; None for any.
    kind (str): "must": the span is a constituent that has the label. "must not": it is not one that has it.
        "uncrossed": no constituent begins inside the span and ends outside, or the other way round; the label does not
        matter.
    """

    start: int
    end: int
    label: str | None
    kind: str

    def __str__(self) -> str:
        label = "" if self.label is None else f", {self.label!r}"
        return f"{self.kind} ({self.start}, {self.end}{label})"


def read_constraints(constraints: Iterable[Sequence[Any]], n_words: int) -> tuple[Constraint, ...]:
    """Check the constraints on a sentence.

    constraints (Iterable[Sequence[Any]]): Each as (start, end, label, kind); a `Constraint` stays what it is.
    RAISES (ValueError): If one is not a constraint, or lies outside the sentence.
    """
    checked = []
    for constraint in constraints if isinstance(constraints, Iterable) else [constraints]:
        if not _is_constraint(constraint, n_words):
            shown = tuple(constraint) if isinstance(constraint, Sequence) else constraint
            raise ValueError(Errors.E168.format(constraint=shown, n=n_words, kinds=", ".join(map(repr, KINDS))))
        checked.append(constraint if isinstance(constraint, Constraint) else Constraint(*constraint))
    return tuple(checked)


def _is_constraint(value: Sequence[Any], n_words: int) -> bool:
    if not isinstance(value, Sequence) or len(value) != 4:
        return False
    start, end, label, kind = value
    is_named = kind in KINDS and (label is None or isinstance(label, str))
    return is_named and is_whole(start, 0, n_words) and is_whole(end, start + 1, n_words)


def is_whole(value: Any, least: int, largest: int | None = None) -> bool:
    """Tell whether a value is a whole number from `least` to `largest` (None: no limit); True and False are not."""
    if not isinstance(value, (int, np.integer)) or isinstance(value, bool):
        return False
    return bool(least <= value and (largest is None or value <= largest))


def label_sets(constraints: Sequence[Sequence[Constraint]], n_words: NDArray[Any], tags: TagSet) -> LabelSets:
    """Find the sets of tags that constraints leave to each span."""
    sets, starts = _Sets(tags), np.full(len(n_words), -1, dtype=np.int64)
    constrained = [s for s in range(len(constraints)) if constraints[s]]
    cells = [_cells(constraints[s], int(n_words[s]), sets) for s in constrained]
    starts[constrained] = np.cumsum([0, *map(len, cells)])[:-1]
    masks = np.stack(sets.masks).astype(np.uint8)
    return masks, np.concatenate([np.zeros(0, dtype=np.int32), *cells]), starts


def sets_of_trees(
    start: NDArray[Any], end: NDArray[Any], tag: NDArray[Any], counts: NDArray[Any], n_words: NDArray[Any], tags: TagSet
) -> LabelSets:
    """Find the sets that leave to each sentence the binary trees with the unary chains of one tree, and no others.

    start, end, tag, counts (np.ndarray): The labelled nodes of a tree of each sentence; see `Nodes`.
    """
    n = n_words.astype(np.int64)
    sizes = n * (n + 1) // 2
    set_of = tags.chain_of[tag] + 1
    cells, stop = [np.zeros(0, dtype=np.int32)], 0
    for length, count in zip(n.tolist(), counts.tolist(), strict=True):
        nodes, stop = slice(stop, stop + count), stop + count
        grid = np.ones((length + 1, length + 1), dtype=np.int32)  # tags without a label have the first chain
        for i, j in zip(start[nodes].tolist(), end[nodes].tolist(), strict=True):
            grid[:i, i + 1 : j] = grid[i + 1 : j, j + 1 :] = _FORBIDDEN
        grid[start[nodes], end[nodes]] = set_of[nodes]
        cells.append(grid[np.triu_indices(length + 1, k=1)])
    return tags.chain_masks, np.concatenate(cells), np.cumsum(sizes) - sizes


class _Sets:
    """Sets of tags, each once, and their intersections."""

    def __init__(self, tags: TagSet) -> None:
        self.tags = tags
        self.masks = [np.ones(len(tags), dtype=bool)]
        self.index = {self.masks[0].tobytes(): 0}
        self.labelled = tags.labelled.astype(bool)
        self.labels: dict[str | None, NDArray[Any]] = {None: self.labelled}

    def with_label(self, label: str | None) -> NDArray[Any]:
        """(T,) bool: the tags whose chain has a label."""
        if label not in self.labels:
            self.labels[label] = np.asarray([label in chain for chain in self.tags.unaries], dtype=bool)
        return self.labels[label]

    def meet(self, region: NDArray[Any], mask: NDArray[Any]) -> None:
        """Leave to the spans of a region only the tags of a mask."""
        for old in np.unique(region[region >= 0]).tolist():
            common = self.masks[old] & mask
            new = self.index.setdefault(common.tobytes(), len(self.masks))
            if new == len(self.masks):
                self.masks.append(common)
            region[region == old] = new


def _cells(constraints: Sequence[Constraint], n: int, sets: _Sets) -> NDArray[Any]:
    """Find the index in `sets` of the tags that each span of a sentence may have; -1 if it cannot be a node."""
    grid = np.zeros((n + 1, n + 1), dtype=np.int32)  # by start and end
    for start, end, label, kind in constraints:
        cell = grid[start : start + 1, end : end + 1]
        # A span crosses another if it begins before it and ends inside, or begins inside and ends after it.
        crossing = (grid[:start, start + 1 : end], grid[start + 1 : end, end + 1 :])
        if kind == "must":
            sets.meet(cell, sets.with_label(label))
            for region in crossing:
                region[:] = _FORBIDDEN
        elif kind == "must not":
            sets.meet(cell, ~sets.with_label(label))
        else:
            for region in crossing:
                sets.meet(region, ~sets.labelled)
    return grid[np.triu_indices(n + 1, k=1)]
