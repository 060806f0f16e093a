"""Inside-outside over spans where successive tags score: an item also keeps its first and its last tag.

The same recursion as `_chart.hpp`, in NumPy: a cell of the chart is a matrix (first tag, last tag), and what an item is
made of is a product of matrices in the semiring, over transitions T between neighbours:

    in-order     left T node T right        the node's tag stands between its parts
    pre-order    node T left T right
    post-order   left T right T node

That takes O(d N^3 |T|^3) for N words, |T| tags and d stack sizes (in in-order without a bound d = 1): some seconds for
20 words and 50 tags. Best tree, log-partition and tag marginals without constraints do not come here: they take the
lattice, O(d N |T|^2).
"""

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..errors import Errors
from .constraints import label_sets
from .scores import ORDER_CODES, StackBound, TagScores, Transitions, bound_of, span_row

Floats = NDArray[np.float64]
LEFT, RIGHT = 0, 1


class Item(NamedTuple):
    """A subtree over words start to end, as a left or right child, on a stack of some level."""

    side: int
    start: int
    end: int
    level: int


class Part(NamedTuple):
    """How a subtree is made: where its node splits, the place of its tag, and its children; none of a leaf."""

    place: int
    left: Item | None
    right: Item | None


class ChainChart:
    """The items of one sentence and what they are made of.

    batch (TagScores): A batch of one sentence on the CPU, with transitions.
    max_stack (int | None): Largest stack size after any tag; None for no bound.
    RAISES (ValueError): If the order is another than in, pre and post.
    """

    def __init__(self, batch: TagScores, max_stack: StackBound) -> None:
        if batch.linearizer.order not in ORDER_CODES:
            raise ValueError(Errors.E167.format(order=batch.linearizer.order))
        first, stop = int(batch.starts[0]), int(batch.stops[0])
        self.scores = batch.scores[first:stop].astype(np.float64)
        pairs, start, end = (array.astype(np.float64) for array in (batch.transitions or ())[:3])
        self.pairs, self.first, self.last = pairs, start, end
        self.n, self.order, self.bound = int(batch.n_words[0]), batch.linearizer.order, bound_of(max_stack)
        self.levels = self.order != "in" or self.bound >= 0
        self.classes = [np.arange(*batch.tags.offsets[c : c + 2]) for c in range(4)]
        self.masks: NDArray[Any] = np.ones((1, len(batch.tags)), dtype=bool)
        self.cells: NDArray[Any] = np.zeros((self.n + 1, self.n + 1), dtype=int)
        if batch.constraints is not None and batch.constraints[0]:
            sets = label_sets(batch.constraints, batch.n_words, batch.tags)
            self.masks = sets.has.astype(bool)
            self.cells[np.triu_indices(self.n + 1, k=1)] = sets.cells

    @property
    def root(self) -> Item:
        return Item(LEFT, 0, self.n, 0)

    def items(self) -> Iterator[Item]:
        """Items, each after those that it is made of."""
        for end in range(1, self.n + 1):
            for start in range(end - 1, -1, -1):
                most = 1 if not self.levels else (self.n - end if self.order == "pre" else start) + 1
                for level in range(most):
                    for side in (LEFT, RIGHT):
                        yield Item(side, start, end, level)

    def tags(self, item: Item) -> NDArray[np.int64]:
        """Ids of the tags that the node of an item may have."""
        number = int(self.cells[item.start, item.end])
        if number < 0:
            return self.classes[0][:0]
        own = self.classes[item.side + (0 if item.end == item.start + 1 else 2)]
        tags: NDArray[np.int64] = own[self.masks[number][own]]
        return tags

    def parts(self, item: Item) -> Iterator[Part]:
        """What an item can be made of, within the bound; see `Layout` in `_layout.hpp` for places and levels."""
        side, start, end, level = item
        pre, post = self.order == "pre", self.order == "post"
        # The stack after a leaf, and after the node.
        if end == start + 1:
            size = level if pre else level + 1 if post or side == LEFT else level
            if self.bound < 0 or size <= self.bound:
                yield Part(2 * start + (level if pre else -level if post else 0), None, None)
            return
        if pre and 0 <= self.bound < level + 2:
            return
        left, right = level + pre, level + (post or (not pre and side == LEFT))
        if not self.levels:
            left = right = 0
        for k in range(start + 1, end):
            place = 2 * start + level if pre else 2 * end - level - 2 if post else 2 * k - 1
            yield Part(place, Item(LEFT, start, k, left), Item(RIGHT, k, end, right))


def _log_product(a: Floats, b: Floats) -> Floats:
    """The product of matrices in the log-sum-exp semiring."""
    tops, columns = _tops(a, 1), _tops(b, 0)
    with np.errstate(divide="ignore"):
        product: Floats = np.log(np.exp(a - tops) @ np.exp(b - columns)) + tops + columns
    return product


def _max_product(a: Floats, b: Floats) -> Floats:
    """The same in the tropical semiring."""
    product: Floats = np.stack([(row[:, None] + b).max(axis=0) for row in a])
    return product


def _tops(a: Floats, axis: int) -> Floats:
    tops: Floats = a.max(axis=axis, keepdims=True, initial=-np.inf)
    return np.where(np.isfinite(tops), tops, 0.0)


class Inside:
    """The inside of each item in a semiring: (T, T) matrices by first and last tag.

    chart (ChainChart): The sentence.
    best (bool): Whether to take maxima in place of sums.
    """

    def __init__(self, chart: ChainChart, best: bool = False) -> None:
        self.chart = chart
        self.product = _max_product if best else _log_product
        self.plus = np.maximum if best else np.logaddexp
        self.of: dict[Item, Floats] = {}
        self.before: dict[Item, Floats] = {}  # transitions into the item, and it
        self.after: dict[Item, Floats] = {}  # it, and transitions out of it
        shape = chart.pairs.shape
        for item in chart.items():
            inside = np.full(shape, -np.inf)
            for part in chart.parts(item):
                made = self.made(item, part)
                if made is not None:
                    inside = self.plus(inside, made)
            if np.isfinite(inside).any():
                self.of[item] = inside
                self.before[item] = self.product(chart.pairs, inside)
                self.after[item] = self.product(inside, chart.pairs)

    def node(self, item: Item, part: Part) -> Floats:
        """(T,) scores of the tags that a node may have there; -inf of others."""
        scores = np.full(len(self.chart.first), -np.inf)
        tags = self.chart.tags(item)
        scores[tags] = self.chart.scores[part.place, tags]
        return scores

    def factors(self, item: Item, part: Part) -> tuple[Floats, Floats] | None:
        """The two matrices whose product an item is; in pre- and post-order without the node's scores."""
        left, right = part.left, part.right
        if left not in self.of or right not in self.of or left is None or right is None:
            return None
        if self.chart.order == "in":
            return self.after[left] + self.node(item, part), self.before[right]
        if self.chart.order == "pre":
            return self.before[left], self.before[right]
        return self.after[left], self.after[right]

    def made(self, item: Item, part: Part) -> Floats | None:
        """(T, T) what an item is, made of one part."""
        node = self.node(item, part)
        if part.left is None:
            leaf = np.full(self.chart.pairs.shape, -np.inf)
            np.fill_diagonal(leaf, node)
            return leaf
        factors = self.factors(item, part)
        if factors is None:
            return None
        product = self.product(*factors)
        if self.chart.order == "in":
            return product
        return product + (node[:, None] if self.chart.order == "pre" else node)

    def total(self) -> Floats:
        """(T, T) scores of whole trees by first and last tag."""
        root = self.of.get(self.chart.root)
        if root is None:
            return np.full(self.chart.pairs.shape, -np.inf)
        total: Floats = self.chart.first[:, None] + root + self.chart.last
        return total


class ChainSums(NamedTuple):
    """Sums over the trees of a sentence.

    log_z (float): The log-partition.
    marginals (np.ndarray): (2N-1, T) probability of each tag at each position.
    leaves (np.ndarray): (N, T) probability of each tag of each word.
    nodes (np.ndarray): (N(N-1)/2, T) probability that a span is a node with each tag; rows as in `SpanScores`.
    expected (Transitions): Expected number of each pair of successive tags, first and last tag.
    """

    log_z: float
    marginals: Floats
    leaves: Floats
    nodes: Floats
    expected: Transitions


def chain_sums(batch: TagScores, max_stack: StackBound) -> ChainSums:
    """Inside-outside over the trees of a batch of one sentence; log_z is -inf if there are none."""
    chart = ChainChart(batch, max_stack)
    inside = Inside(chart)
    n_tags = len(chart.first)
    marginals = np.zeros_like(chart.scores)
    leaves, nodes = np.zeros((chart.n, n_tags)), np.zeros((chart.n * (chart.n - 1) // 2, n_tags))
    total = inside.total()
    top = float(total.max(initial=-np.inf))
    counts = Transitions(np.zeros((n_tags, n_tags)), np.zeros(n_tags), np.zeros(n_tags))
    if not np.isfinite(top):
        return ChainSums(-np.inf, marginals, leaves, nodes, counts)
    log_z = top + float(np.log(np.exp(total - top).sum()))
    mass: dict[Any, NDArray[Any]] = {item: np.zeros((n_tags, n_tags)) for item in inside.of}
    before, after = ({item: np.zeros((n_tags, n_tags)) for item in inside.of} for _ in range(2))
    mass[chart.root] = np.exp(total - log_z)
    counts.start[:], counts.end[:] = mass[chart.root].sum(axis=1), mass[chart.root].sum(axis=0)
    for item in reversed(list(inside.of)):
        own = mass[item]
        # What came back to the item with transitions on either side.
        to_pairs, to_item = _back(before[item], chart.pairs, inside.of[item], inside.before[item])
        own += to_item
        counts.pairs[:] += to_pairs
        to_item, to_pairs = _back(after[item], inside.of[item], chart.pairs, inside.after[item])
        own += to_item
        counts.pairs[:] += to_pairs
        if not (own > 0).any():
            continue
        is_leaf = item.end == item.start + 1
        of_node = leaves[item.start] if is_leaf else nodes[span_row(chart.n, item.start, item.end)]
        for part in chart.parts(item):
            made = inside.made(item, part)
            if made is None:
                continue
            share = own * np.exp(np.where(own > 0, made, 0) - np.where(own > 0, inside.of[item], 0))
            factors = None if part.left is None else inside.factors(item, part)
            if factors is None:
                of_tags = np.diagonal(share)
            else:
                product = made if chart.order == "in" else inside.product(*factors)
                to_left, to_right = _back(share, *factors, product)
                into = {"in": (after, before), "pre": (before, before), "post": (after, after)}[chart.order]
                for masses, child, back in zip(into, (part.left, part.right), (to_left, to_right), strict=True):
                    if child is not None:
                        masses[child] += back
                of_tags = (
                    to_left.sum(axis=0) if chart.order == "in" else share.sum(axis=1 if chart.order == "pre" else 0)
                )
            marginals[part.place] += of_tags
            of_node += of_tags
    return ChainSums(log_z, marginals, leaves, nodes, counts)


def _back(mass: Floats, a: Floats, b: Floats, product: Floats) -> tuple[Floats, Floats]:
    """Hands the probability of a product of two matrices back to them, in the parts in which it came."""
    if not (mass > 0).any():
        return np.zeros_like(a), np.zeros_like(b)
    tops, columns = _tops(a, 1), _tops(b, 0)
    ratio = mass * np.exp(np.where(mass > 0, tops + columns, 0) - np.where(mass > 0, product, 0))
    exp_a, exp_b = np.exp(a - tops), np.exp(b - columns)
    return exp_a * (ratio @ exp_b.T), exp_b * (exp_a.T @ ratio)
