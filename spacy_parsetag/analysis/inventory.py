"""What a treebank is made of: its tags; its labels, unary chains and productions; and what a training part lacks of it.

>>> from spacy_parsetag.trees import Constituent, Parse
>>> spans = (Constituent(0, 2, "S"), Constituent(0, 1, "NP"), Constituent(1, 2, "VP"))
>>> parse = Parse(("She", "sleeps"), ("PRP", "VBZ"), spans)
>>> productions(parse)
['S → NP VP', 'NP → PRP', 'VP → VBZ']

Each node has the same tag in the three orders, so an inventory of tags belongs to all of them.
"""

from collections import Counter
from collections.abc import Collection, Iterable
from dataclasses import dataclass, field
from itertools import accumulate, groupby
from typing import Any, ClassVar

from ..linearize import CLASS_NAMES, split_tag
from ..linearize.base import preorder_tags
from ..trees import BinaryTree, Parse, join_chain


@dataclass
class Inventory:
    """The items of one kind in a treebank.

    trees (int): How many trees.
    counts (Counter[str]): How often each item stands in them.
    train (Inventory | None): That of a training part, if there is one to compare with.
    unseen_trees (int): Trees with at least one item that the training part does not have.
    """

    trees: int = 0
    counts: Counter[str] = field(default_factory=Counter)
    train: "Inventory | None" = None
    unseen_trees: int = 0
    always_known: ClassVar[frozenset[str]] = frozenset()

    def add(self, items: Collection[str]) -> None:
        """Count the items of a tree."""
        self.trees += 1
        self.counts.update(items)
        self.unseen_trees += any(map(self._is_unseen, items))

    def _is_unseen(self, item: str) -> bool:
        return self.train is not None and item not in self.train.counts and item not in self.always_known

    @property
    def unseen(self) -> Counter[str]:
        """The items that the training part does not have; none if there is no such part."""
        return Counter({item: n for item, n in self.counts.items() if self._is_unseen(item)})

    @property
    def once(self) -> int:
        """How many items occur once."""
        return sum(n == 1 for n in self.counts.values())

    def covered(self) -> list[float]:
        """Share of all occurrences that the 1, 2, 3, ... most frequent items make up."""
        return [n / self.counts.total() for n in accumulate(n for _, n in self.counts.most_common())]

    def to_dict(self) -> dict[str, Any]:
        """As JSON: "trees", "types", "tokens", "once", "counts" and, if there is a training part, "unseen"."""
        content: dict[str, Any] = {"trees": self.trees, **_summary(self.counts), "once": self.once}
        if self.train is not None:
            content["unseen"] = {"trees": self.unseen_trees, **_summary(self.unseen)}
        return content


def _summary(counts: Counter[str]) -> dict[str, Any]:
    return {"types": len(counts), "tokens": counts.total(), "counts": dict(rank(counts))}


def rank(counts: Counter[str]) -> list[tuple[str, int]]:
    """The most frequent items first, and equally frequent ones by name."""
    return sorted(counts.items(), key=lambda item: (-item[1], item[0]))


class Tags(Inventory):
    """The tags of a treebank. The bare ones are known to every model. A tree with an unseen tag cannot be found."""

    always_known = frozenset(CLASS_NAMES)

    def by_class(self) -> dict[str, int]:
        """How many different tags there are of each class: l, r, L, R."""
        classes = Counter(CLASS_NAMES[split_tag(tag)[0]] for tag in self.counts)
        return {name: classes[name] for name in CLASS_NAMES}

    def to_dict(self) -> dict[str, Any]:
        """As JSON: also "by_class"."""
        return {**super().to_dict(), "by_class": self.by_class()}


def count_tags(trees: Iterable[BinaryTree], train: Tags | None = None) -> Tags:
    """Count the tags of a treebank, one tree at a time.

    trees (Iterable[BinaryTree]): The trees.
    train (Tags | None): Tags of a training part to compare with.
    RETURNS (Tags): The counts.
    """
    total = Tags(train=train)
    for tree in trees:
        total.add(preorder_tags(tree))
    return total


@dataclass
class Labels:
    """Labels of a treebank, and how they stand together.

    lengths (Counter[int]): How many trees there are of each number of words.
    widths (Counter[str]): Words in the constituents of each label, in all.
    labels (Inventory): Labels, counted by constituent.
    unaries (Inventory): Unary chains of two labels or more, top first, written as in tags: "S+VP".
    productions (Inventory): Constituents with their children, such as "NP → DT NN".
    """

    lengths: Counter[int] = field(default_factory=Counter)
    widths: Counter[str] = field(default_factory=Counter)
    labels: Inventory = field(default_factory=Inventory)
    unaries: Inventory = field(default_factory=Inventory)
    productions: Inventory = field(default_factory=Inventory)

    @property
    def trees(self) -> int:
        return self.labels.trees

    @property
    def words(self) -> int:
        return sum(length * n for length, n in self.lengths.items())

    def kinds(self) -> dict[str, Inventory]:
        """The inventories by name."""
        return {"labels": self.labels, "unaries": self.unaries, "productions": self.productions}

    def to_dict(self) -> dict[str, Any]:
        """As JSON: "trees", "words", "lengths" (trees by number of words), "mean_width" (words in a constituent, by
        label), and each inventory by its name."""
        return {
            "trees": self.trees,
            "words": self.words,
            "lengths": {str(length): n for length, n in sorted(self.lengths.items())},
            "mean_width": {label: round(self.widths[label] / n, 3) for label, n in rank(self.labels.counts)},
            **{name: found.to_dict() for name, found in self.kinds().items()},
        }


def count_labels(parses: Iterable[Parse], train: Labels | None = None) -> Labels:
    """Count the labels of a treebank, one parse at a time.

    parses (Iterable[Parse]): The parses.
    train (Labels | None): Labels of a training part to compare with.
    RETURNS (Labels): The counts.
    """
    total = Labels()
    for name, inventory in total.kinds().items():
        inventory.train = None if train is None else train.kinds()[name]
    for parse in parses:
        total.lengths[len(parse.words)] += 1
        for start, end, label in parse.spans:
            total.widths[label] += end - start
        chains = [[span[2] for span in same] for _, same in groupby(parse.spans, key=lambda span: span[:2])]
        total.labels.add([label for chain in chains for label in chain])
        total.unaries.add([join_chain(chain) for chain in chains if len(chain) > 1])
        total.productions.add(productions(parse))
    return total


def productions(parse: Parse) -> list[str]:
    """Each constituent with its children, in pre-order. A word is its part-of-speech tag.

    parse (Parse): The parse.
    RETURNS (list[str]): Such as "NP → DT NN".
    """
    children: list[list[str]] = [[] for _ in parse.spans]
    open_spans: list[int] = []
    # Each span and each word with what stands for it above; a span comes before its first word.
    nodes = [(start, i, label) for i, (start, _, label) in enumerate(parse.spans)]
    nodes += [(word, len(parse.spans), tag) for word, tag in enumerate(parse.pos)]
    for start, i, label in sorted(nodes):
        while open_spans and parse.spans[open_spans[-1]][1] <= start:
            open_spans.pop()
        if open_spans:
            children[open_spans[-1]].append(label)
        if i < len(parse.spans):
            open_spans.append(i)
    return [f"{span[2]} → {' '.join(below)}" for span, below in zip(parse.spans, children, strict=True)]
