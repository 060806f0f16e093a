"""The tag inventory: tags and their ids, sorted by class so that each class is one range of columns."""

from collections import Counter
from collections.abc import Iterable, Sequence
from functools import cached_property, lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..errors import Errors
from ..trees import join_chain, split_chain
from .base import CLASS_NAMES, make_tag, split_tag


class TagSet:
    """The tags a model scores, each with an id: its column.

    Sorted by class (l, r, L, R), then by label. The four bare tags are added, so that a tree exists for any number of
    words.

    tags (Iterable[str]): The tags, in any order, duplicates allowed.
    complete (bool): Whether to add the bare tags.
    RAISES (ValueError): If one is not written as a tag.
    """

    def __init__(self, tags: Iterable[str] = (), *, complete: bool = True) -> None:
        unique = set(tags) | set(CLASS_NAMES if complete else ())
        self.tags: tuple[str, ...] = tuple(sorted(unique, key=lambda tag: (*split_tag(tag), tag)))
        self._ids: dict[str, int] = {tag: i for i, tag in enumerate(self.tags)}

    def __len__(self) -> int:
        return len(self.tags)

    def __getitem__(self, i: int) -> str:
        return self.tags[i]

    def __eq__(self, other: object) -> bool:
        return isinstance(other, TagSet) and self.tags == other.tags

    def __hash__(self) -> int:
        return hash(self.tags)

    def id(self, tag: str) -> int:
        """Id of a tag.

        RAISES (ValueError): If the tag is not in the set.
        """
        try:
            return self._ids[tag]
        except KeyError:
            raise ValueError(Errors.E054.format(tag=tag, n=len(self.tags))) from None

    def encode(self, tags: Sequence[str]) -> NDArray[Any]:
        """Ids of tags as int32; -1 for a tag that is not in the set, which losses leave out."""
        id_of = self._ids.get
        return np.asarray([id_of(tag, -1) for tag in tags], dtype=np.int32)

    def decode(self, ids: Iterable[int]) -> list[str]:
        """Tags of ids.

        RAISES (ValueError): If one is no tag's id, as -1, which stands for an unknown tag or for none.
        """
        ids = list(ids)
        if unknown := [i for i in ids if not 0 <= i < len(self.tags)]:
            raise ValueError(Errors.E055.format(id=unknown[0], n=len(self.tags)))
        return [self.tags[i] for i in ids]

    @cached_property
    def offsets(self) -> NDArray[Any]:
        """(5,) int32: tags of class c have the ids offsets[c] to offsets[c+1] (exclusive)."""
        return np.searchsorted(self.classes, np.arange(5)).astype(np.int32)

    @property
    def n_leaves(self) -> int:
        """The number of tags of leaves, which come before those of internal nodes."""
        return int(self.offsets[2])

    @cached_property
    def classes(self) -> NDArray[Any]:
        """(T,) uint8: class of each tag."""
        return np.asarray([split_tag(tag)[0] for tag in self.tags], dtype=np.uint8)

    @cached_property
    def unaries(self) -> tuple[tuple[str, ...], ...]:
        """The unary chain each tag stands for, top first; empty for a bare tag."""
        return tuple(split_chain(split_tag(tag)[1]) for tag in self.tags)

    @cached_property
    def chain_of(self) -> NDArray[Any]:
        """(T,) int16: number of the unary chain of each tag; bare tags have 0."""
        numbers = {chain: i for i, chain in enumerate(sorted({(), *self.unaries}))}
        return np.asarray([numbers[chain] for chain in self.unaries], dtype=np.int16)

    @cached_property
    def chain_masks(self) -> NDArray[Any]:
        """(K + 1, T) uint8: all tags, then those of each of the K unary chains of `chain_of`."""
        chains = np.arange(self.chain_of.max(initial=0) + 1)[:, None] == self.chain_of
        return np.concatenate([np.ones((1, len(self.tags)), dtype=np.uint8), chains])

    @cached_property
    def constituent_labels(self) -> tuple[str, ...]:
        """The labels that constituents can have, sorted."""
        return tuple(sorted({label for chain in self.unaries for label in chain}))

    @cached_property
    def reordered_chains(self) -> tuple[tuple[str, ...], ...]:
        """The unary chains with the same labels as another chain in another order, as S+SBAR and SBAR+S; sorted."""
        chains = set(self.unaries)
        n_orders = Counter(tuple(sorted(chain)) for chain in chains)
        return tuple(sorted(chain for chain in chains if n_orders[tuple(sorted(chain))] > 1))

    @cached_property
    def node_labels(self) -> tuple[str, ...]:
        """Labels of internal tags on either side, sorted; "" comes first."""
        return tuple(sorted({split_tag(tag)[1] for tag in self.tags[self.n_leaves :]}))

    @cached_property
    def node_ids(self) -> NDArray[Any]:
        """(2, L) int32: tag of each of `node_labels` as a left and as a right child; -1 for a tag not in the set."""
        return np.stack([self.encode([make_tag(c, label) for label in self.node_labels]) for c in (2, 3)])

    @cached_property
    def label_of(self) -> NDArray[Any]:
        """(T,) int32: place of the label of each tag of an internal node among `node_labels`; 0 for tags of leaves."""
        places = np.zeros(len(self.tags), dtype=np.int32)
        for ids in self.node_ids:
            places[ids[ids >= 0]] = np.flatnonzero(ids >= 0)
        return places

    @cached_property
    def labelled(self) -> NDArray[Any]:
        """(T,) uint8: whether a tag has a label."""
        return np.asarray([len(tag) > 1 for tag in self.tags], dtype=np.uint8)


make_tag_set = lru_cache(maxsize=16)(TagSet)  # pipes and learners ask for theirs once a batch


def tags_of_label(label: str) -> set[str]:
    """List the tags to add for a label: the label itself if it is written as a tag, otherwise its four tags."""
    try:
        split_tag(label)
    except ValueError:
        if label[1:2] == "/" and label[0] in CLASS_NAMES:  # a tag without the label that it should have
            raise
        return {f"{name}/{join_chain([label])}" for name in CLASS_NAMES}
    return {label}
