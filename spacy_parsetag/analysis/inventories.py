"""Counts over a treebank: deviations, stack sizes, tags, labels and productions.

>>> from spacy_parsetag.trees import BinaryTree, Constituent, Parse
>>> tree = BinaryTree((False, True, False, True, False, True, True), ("S", "", "VP", "", "VP", "", ""))
>>> word_deviations(tree)
{'in': [0, 0, 0, 0], 'pre': [0, 0, 0, 0], 'post': [0, 1, 1, 2]}
>>> stack_needed(tree)
{'in': 2, 'pre': 2, 'post': 4}
>>> spans = (Constituent(0, 2, "S"), Constituent(0, 1, "NP"), Constituent(1, 2, "VP"))
>>> productions(Parse(("She", "sleeps"), ("PRP", "VBZ"), spans))
['S → NP VP', 'NP → PRP', 'VP → VBZ']
"""

import random
from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, field
from itertools import accumulate, groupby
from typing import Any, ClassVar, TypeVar

from ..linearize import CLASS_NAMES, ORDERS, deviations, largest_stack, split_tag
from ..linearize.base import preorder_tags
from ..trees import BinaryTree, Parse, Tree, join_chain
from ..trees.tree import preorder

ItemT = TypeVar("ItemT")


def sample(items: Sequence[ItemT], limit: int, seed: int | None = None) -> Sequence[ItemT]:
    """Take some items, in their order. Treebanks begin with one text or one year, so the first trees would not do.

    >>> sample("abcdefgh", 3)
    ['a', 'c', 'f']

    seed (int | None): Draw them at random by this seed. None takes them at even distances.
    """
    n = len(items)
    if not limit or limit >= n:
        return items
    if seed is None:
        return [items[i * n // limit] for i in range(limit)]
    return [items[i] for i in sorted(random.Random(seed).sample(range(n), limit))]


def word_deviations(tree: BinaryTree) -> dict[str, list[int]]:
    """Deviation of each word, in words, for each order (paper sections 3.3 and 6.2)."""
    return {order: deviations(linearizer.linearize(tree)) for order, linearizer in ORDERS.items()}


def stack_needed(tree: BinaryTree) -> dict[str, int]:
    """The largest stack after any tag, which is what decoders bound, for each order (paper appendix E)."""
    return {
        order: largest_stack(linearizer.linearize(tree), linearizer.lattice) for order, linearizer in ORDERS.items()
    }


@dataclass
class _Sizes:
    """Whole numbers counted over a treebank, for each order."""

    trees: int = 0
    counts: dict[str, Counter[int]] = field(default_factory=lambda: {order: Counter() for order in ORDERS})

    def largest(self, order: str) -> int:
        """The largest number; 0 if there is none."""
        return max(self.counts[order], default=0)

    def histogram(self, order: str) -> list[int]:
        """Count how often 0, 1, 2, ... occur, up to the largest number."""
        return [self.counts[order][k] for k in range(self.largest(order) + 1)]


@dataclass
class Deviations(_Sizes):
    """Deviations over a treebank.

    counts (dict[str, Counter]): For each order, how many words deviate by each distance.
    """

    words: int = 0

    def mean(self, order: str) -> float:
        """Mean deviation over all words, in words."""
        return sum(k * n for k, n in self.counts[order].items()) / max(1, self.words)

    def distribution(self, order: str) -> list[float]:
        """Share of the words that deviate by 0, 1, 2, ... words, up to the largest deviation."""
        return [n / max(1, self.words) for n in self.histogram(order)]

    def to_dict(self) -> dict[str, Any]:
        """As JSON: "trees", "words" and for each order "mean", "max" and "counts", a list over distances."""
        orders = {
            order: {"mean": round(self.mean(order), 6), "max": self.largest(order), "counts": self.histogram(order)}
            for order in self.counts
        }
        return {"trees": self.trees, "words": self.words, "orders": orders}


def count_deviations(trees: Iterable[BinaryTree]) -> Deviations:
    """Count how far the words of a treebank are from their leaf tags, one tree at a time."""
    total = Deviations()
    for tree in trees:
        total.trees += 1
        total.words += tree.n_words
        for order, distances in word_deviations(tree).items():
            total.counts[order].update(distances)
    return total


class Stacks(_Sizes):
    """Stack sizes over a treebank.

    counts (dict[str, Counter]): For each order, how many trees need each size.
    """

    def coverage(self, order: str) -> list[float]:
        """Share of the trees that a stack of 0, 1, 2, ... covers, up to the first size that covers all."""
        return [covered / max(1, self.trees) for covered in accumulate(self.histogram(order))]

    def needed(self, order: str, share: float = 1.0) -> int:
        """The smallest stack that covers a share of the trees, 0 to 1."""
        # In whole trees: 0.99 of 100 trees are 99, whatever floats make of it.
        least = max(1, share * self.trees - 1e-9)
        return next((size for size, n in enumerate(accumulate(self.histogram(order))) if n >= least), 0)

    def to_dict(self) -> dict[str, Any]:
        """As JSON: "trees" and for each order "needed" for all trees and "counts", a list over sizes."""
        orders = {order: {"needed": self.largest(order), "counts": self.histogram(order)} for order in self.counts}
        return {"trees": self.trees, "orders": orders}


def count_stacks(trees: Iterable[BinaryTree]) -> Stacks:
    """Count the stack sizes that the trees of a treebank need, one tree at a time."""
    total = Stacks()
    for tree in trees:
        total.trees += 1
        for order, size in stack_needed(tree).items():
            total.counts[order][size] += 1
    return total


@dataclass
class Inventory:
    """The items of one kind in a treebank, such as its labels.

    trees (int): How many trees it has.
    counts (Counter[str]): How often each item stands in them.
    train (Inventory | None): The same of the training part, to compare with.
    unseen_trees (int): Trees with at least one item that the training part does not have.
    always_known (frozenset[str]): Items that every model has.
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
        """Count the items that occur once."""
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
    """The tags of a treebank, which are the same in all orders. Every model knows the bare ones. A tree with an unseen
    tag cannot be found."""

    always_known = frozenset(CLASS_NAMES)

    def by_class(self) -> dict[str, int]:
        """Count the different tags of each class: l, r, L, R."""
        classes = Counter(CLASS_NAMES[split_tag(tag)[0]] for tag in self.counts)
        return {name: classes[name] for name in CLASS_NAMES}

    def to_dict(self) -> dict[str, Any]:
        """As JSON: also "by_class"."""
        return {**super().to_dict(), "by_class": self.by_class()}


def count_tags(trees: Iterable[BinaryTree], train: Tags | None = None) -> Tags:
    """Count the tags of a treebank, one tree at a time, and compare them with a training part."""
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
            **{name: inventory.to_dict() for name, inventory in self.kinds().items()},
        }


def count_labels(parses: Iterable[Parse], train: Labels | None = None) -> Labels:
    """Count the labels of a treebank, one parse at a time, and compare them with a training part."""
    total = Labels()
    for name, inventory in total.kinds().items():
        inventory.train = None if train is None else train.kinds()[name]
    for parse in parses:
        total.lengths[len(parse.words)] += 1
        for start, end, label in parse.spans:
            total.widths[label] += end - start
        total.labels.add([span.label for span in parse.spans])
        chains = [[span.label for span in chain] for _, chain in groupby(parse.spans, key=lambda span: span[:2])]
        total.unaries.add([join_chain(chain) for chain in chains if len(chain) > 1])
        total.productions.add(productions(parse))
    return total


def productions(parse: Parse) -> list[str]:
    """Each constituent with its children, in pre-order, such as "NP → DT NN". A word is its part-of-speech tag."""
    nodes = [node for node in preorder(parse.to_tree()) if not node.is_preterminal]
    below = [[child.label for child in node.children if isinstance(child, Tree)] for node in nodes]
    return [f"{node.label} → {' '.join(labels)}" for node, labels in zip(nodes[1:], below[1:], strict=True)]
