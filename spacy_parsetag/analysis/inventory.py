"""The tags of a treebank, and those that another part of it has and it has not.

Each node has the same tag in the three orders, so an inventory belongs to all of them.
"""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from itertools import accumulate
from typing import Any

from ..linearize import CLASS_NAMES, make_tag, split_tag
from ..linearize.base import node_classes
from ..trees.binarize import BinaryTree


@dataclass
class Unseen:
    """What a tagger trained on another treebank cannot predict.

    trees (int): Trees with at least one unseen tag, which cannot be found as they are.
    counts (Counter): How often each unseen tag stands in the trees.
    """

    trees: int = 0
    counts: "Counter[str]" = field(default_factory=Counter)

    def to_dict(self) -> dict[str, Any]:
        """As JSON: "trees", "types", "tokens" and "counts"."""
        return {
            "trees": self.trees,
            "types": len(self.counts),
            "tokens": self.counts.total(),
            "counts": dict(sort_counts(self.counts)),
        }


@dataclass
class Inventory:
    """Tags of a treebank.

    trees (int): How many trees.
    counts (Counter): How often each tag stands in them.
    unseen (Optional[Unseen]): Those that a training part does not have, if it was compared with one.
    """

    trees: int = 0
    counts: "Counter[str]" = field(default_factory=Counter)
    unseen: Unseen | None = None

    @property
    def known(self) -> frozenset[str]:
        """What a tagger trained on it can predict: its tags, and the bare ones, which are always there."""
        return frozenset(self.counts) | frozenset(CLASS_NAMES)

    @property
    def once(self) -> int:
        """How many tags occur once."""
        return sum(n == 1 for n in self.counts.values())

    def by_class(self) -> dict[str, int]:
        """How many different tags there are of each class: l, r, L, R."""
        classes = Counter(CLASS_NAMES[split_tag(tag)[0]] for tag in self.counts)
        return {name: classes[name] for name in CLASS_NAMES}

    def covered(self) -> list[float]:
        """Share of all tags in the trees that the 1, 2, 3, ... most frequent ones make up."""
        total = self.counts.total()
        return [n / total for n in accumulate(n for _, n in self.counts.most_common())]

    def to_dict(self) -> dict[str, Any]:
        """As JSON: "trees", "types", "tokens", "by_class", "once", "counts" and, if it was compared, "unseen"."""
        content: dict[str, Any] = {
            "trees": self.trees,
            "types": len(self.counts),
            "tokens": self.counts.total(),
            "by_class": self.by_class(),
            "once": self.once,
            "counts": dict(sort_counts(self.counts)),
        }
        return content if self.unseen is None else {**content, "unseen": self.unseen.to_dict()}


def tags_of(tree: BinaryTree) -> list[str]:
    """The tags of a tree, in pre-order."""
    return [make_tag(*node) for node in zip(node_classes(tree.leaf), tree.label, strict=True)]


def count_tags(trees: Iterable[BinaryTree], train: Inventory | None = None) -> Inventory:
    """Count the tags of a treebank, one tree at a time.

    trees (Iterable[BinaryTree]): The trees.
    train (Optional[Inventory]): Tags of a training part to compare with.
    RETURNS (Inventory): The counts.
    """
    total = Inventory()
    known = train.known if train is not None else frozenset()
    new = Unseen()
    for tree in trees:
        tags = tags_of(tree)
        total.trees += 1
        total.counts.update(tags)
        if train is not None and not known.issuperset(tags):
            new.trees += 1
            new.counts.update(tag for tag in tags if tag not in known)
    if train is not None:
        total.unseen = new
    return total


def sort_counts(counts: "Counter[str]") -> list[tuple[str, int]]:
    """The most frequent first, and equally frequent ones by name."""
    return sorted(counts.items(), key=lambda item: (-item[1], item[0]))
