"""Trees from the chart of a linear chain: drawn by their probabilities, and the k best."""

from heapq import heappop, heappush
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from .chain_chart import ChainChart, Floats, Inside, Item, Part
from .scores import StackBound, TagScores


class State(NamedTuple):
    """An item with its first and its last tag."""

    item: Item
    first: int
    last: int


class Edge(NamedTuple):
    """One way to make a tree over a state: the node's tag at its place, and the states of its parts; none of a leaf."""

    place: int
    tag: int
    left: State | None
    right: State | None


class Edges:
    """The edges into a state, with the score of each: that of the node, of transitions, and the inside of its parts."""

    def __init__(self, inside: Inside, state: State) -> None:
        self.state, self.order = state, inside.chart.order
        self.parts: list[Part] = []
        values: list[Floats] = []
        item, first, last = state
        pairs = inside.chart.pairs
        for part in inside.chart.parts(item):
            node = inside.node(item, part)
            if part.left is None or part.right is None:
                value = np.full((1, 1, 1), node[first] if first == last else -np.inf)
            elif part.left not in inside.of or part.right not in inside.of:
                continue
            else:
                left, right = inside.of[part.left], inside.of[part.right]
                # The tags that the edge leaves open, in the order of the sequence.
                if self.order == "in":
                    value = (left[first][:, None] + pairs + node)[:, :, None] + (pairs + right[:, last])
                elif self.order == "pre":
                    value = node[first] + (pairs[first][:, None] + left)[:, :, None] + (pairs + right[:, last])
                else:
                    value = node[last] + (left[first][:, None] + pairs)[:, :, None] + (right + pairs[:, last])
            self.parts.append(part)
            values.append(value)
        self.shape = values[0].shape if values else (1, 1, 1)
        self.values = np.stack(values).reshape(-1) if values else np.zeros(0)

    def edge(self, i: int) -> Edge:
        """The edge of the i-th value."""
        number, a, b, c = (int(x) for x in np.unravel_index(i, (len(self.parts), *self.shape)))
        part, (_, first, last) = self.parts[number], self.state
        if part.left is None or part.right is None:
            return Edge(part.place, first, None, None)
        if self.order == "in":
            return Edge(part.place, b, State(part.left, first, a), State(part.right, c, last))
        if self.order == "pre":
            return Edge(part.place, first, State(part.left, a, b), State(part.right, c, last))
        return Edge(part.place, last, State(part.left, first, a), State(part.right, b, c))


def chain_samples(batch: TagScores, max_stack: StackBound, n: int, seed: int) -> NDArray[np.int32] | None:
    """(n, 2N-1) tag ids of trees of a batch of one sentence, drawn by their probabilities; None if it has no tree."""
    inside = Inside(ChainChart(batch, max_stack))
    total = inside.total()
    if not np.isfinite(total).any():
        return None
    random = np.random.default_rng(seed)
    edges: dict[State, tuple[Edges, Floats]] = {}

    def shares(values: Floats) -> Floats:
        weights = np.cumsum(np.exp(values - values.max()))
        share: Floats = weights / weights[-1]
        return share

    roots = shares(total.reshape(-1))
    ids = np.full((n, len(inside.chart.scores)), -1, dtype=np.int32)
    for sample in ids:
        first, last = divmod(int(np.searchsorted(roots, random.random(), side="right")), len(total))
        states = [State(inside.chart.root, first, last)]
        while states:
            state = states.pop()
            if state not in edges:
                own = Edges(inside, state)
                edges[state] = own, shares(own.values)
            own, weights = edges[state]
            edge = own.edge(int(np.searchsorted(weights, random.random(), side="right")))
            sample[edge.place] = edge.tag
            states.extend(child for child in (edge.right, edge.left) if child is not None)
    return ids


class Tree(NamedTuple):
    """A tree over a state: its last edge, and the ranks of its parts among the trees over theirs."""

    score: float
    edge: Edge
    left: int
    right: int


class ChainKBest:
    """The best trees over states, by lazy k-best (Huang and Chiang 2005, algorithm 3).

    inside (Inside): The inside of maxima.
    k (int): How many trees of the sentence are asked for.
    """

    def __init__(self, inside: Inside, k: int) -> None:
        self.inside, self.k = inside, k
        self.best: dict[State, list[Tree]] = {}
        self.heaps: dict[State, list[tuple[float, int, int, int]]] = {}
        self.edges: dict[State, list[tuple[float, Edge]]] = {}  # best first, no more than can be among the k best

    def begin(self, state: State) -> None:
        """Sort the edges into a state, and put its best tree on its heap."""
        own = Edges(self.inside, state)
        order = np.argsort(-own.values, kind="stable")[: self.k]
        self.edges[state] = [(float(own.values[i]), own.edge(int(i))) for i in order if own.values[i] > -np.inf]
        self.best[state], self.heaps[state] = [], []
        if self.edges[state]:
            heappush(self.heaps[state], (-self.edges[state][0][0], 0, 0, 0))

    def has(self, state: State, rank: int) -> bool:
        """Whether a state has a tree of this rank, which is then known."""
        if state not in self.best:
            self.begin(state)
        best, heap = self.best[state], self.heaps[state]
        while len(best) <= rank and heap:
            score, number, left, right = heappop(heap)
            value, edge = self.edges[state][number]
            best.append(Tree(-score, edge, left, right))
            if left == right == 0 and number + 1 < len(self.edges[state]):
                heappush(heap, (-self.edges[state][number + 1][0], number + 1, 0, 0))
            if edge.left is None or edge.right is None:
                continue
            # Each pair of ranks comes once: those of the left part grow while that of the right one is 0.
            if right == 0 and self.has(edge.left, left + 1):
                heappush(heap, (-(value + self.behind(edge.left, left + 1)), number, left + 1, 0))
            if self.has(edge.right, right + 1):
                behind = self.behind(edge.left, left) + self.behind(edge.right, right + 1)
                heappush(heap, (-(value + behind), number, left, right + 1))
        return len(best) > rank

    def behind(self, state: State, rank: int) -> float:
        """The score of a tree over a state less that of the best one: at most 0, -inf if there is no such tree."""
        return self.best[state][rank].score - self.best[state][0].score if self.has(state, rank) else -np.inf

    def write(self, state: State, rank: int, ids: NDArray[np.int32]) -> None:
        """Write the tags of a tree."""
        self.has(state, rank)
        tree = self.best[state][rank]
        ids[tree.edge.place] = tree.edge.tag
        for child, own in ((tree.edge.left, tree.left), (tree.edge.right, tree.right)):
            if child is not None:
                self.write(child, own, ids)


def chain_k_best(batch: TagScores, max_stack: StackBound, k: int) -> tuple[NDArray[np.int32], Floats]:
    """(m, 2N-1) tag ids and (m,) scores of the k best trees of a batch of one sentence, fewer if there are fewer."""
    inside = Inside(ChainChart(batch, max_stack), best=True)
    total = inside.total()
    search = ChainKBest(inside, k)
    heap: list[tuple[float, int, State]] = []
    for first, last in np.argwhere(total > -np.inf).tolist():
        heappush(heap, (-float(total[first, last]), 0, State(inside.chart.root, first, last)))
    rows: list[NDArray[np.int32]] = []
    scores: list[float] = []
    while heap and len(rows) < k:
        score, rank, state = heappop(heap)
        ids = np.full(len(inside.chart.scores), -1, dtype=np.int32)
        search.write(state, rank, ids)
        rows.append(ids)
        scores.append(-score)
        if search.has(state, rank + 1):
            outer = float(total[state.first, state.last])
            heappush(heap, (-(outer + search.behind(state, rank + 1)), rank + 1, state))
    return np.asarray(rows, dtype=np.int32).reshape(len(rows), len(inside.chart.scores)), np.asarray(scores)
