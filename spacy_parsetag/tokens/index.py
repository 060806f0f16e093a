"""Find constituents of a doc without reading all of its spans: the structure behind the extensions.

Unary chains are one *node* here, as benepar's users know it: (S (VP ...)) over the same words is a node labelled
("S", "VP"). Nodes are numbered in pre-order, so the nodes within node k are k+1 .. last[k]-1.

**Cost.** The first question to a doc reads its spans once, O(spans + words). After that finding a node and its parent
is O(1), its children O(children), its constituents O(constituents), whatever the length of the doc and the depth of
its trees. Each node that an answer rests on is compared with the span group, at the price of reading one span.

**Never stale.** An index lives outside the doc, so nothing of it is serialised, and dies with the doc. It is made anew
when `doc.spans[key]` is another group, when spans were appended or deleted, and when the number of tokens changed.
Labels are always read from the group itself. A span replaced within the group (`group[i] = span`) is noticed as soon as
it takes part in an answer. Only replacing it by one with other bounds may go unnoticed in answers about its neighbours;
`doc.spans[key] = list(group)` makes sure.
"""

from bisect import bisect_left
from collections.abc import Callable, Iterable
from typing import TypeVar
from weakref import WeakKeyDictionary

from spacy.tokens import Doc

from .group import SPANS_KEY, get_group, map_words, read_group

Bounds = tuple[int, int]
AnswerT = TypeVar("AnswerT")


class ConstituentIndex:
    """The nodes of a doc's trees. Bounds are first and one past last word, over the words of the whole doc.

    start, end (List[int]): The bounds of each node.
    parent (List[int]): The node above, or -1.
    last (List[int]): One past the last node within.
    chain (List[List[int]]): Positions in the span group of the node's labels, top first.
    """

    def __init__(self, doc: Doc, spans_key: str = SPANS_KEY) -> None:
        # The group refers to its doc weakly, so holding it does not keep the doc alive.
        self.group = get_group(doc, spans_key)
        self.n_tokens = len(doc)
        self.words = map_words(doc)
        spans = read_group(doc, spans_key, self.words)
        self.n_spans = len(spans)
        self.start: list[int] = []
        self.end: list[int] = []
        self.parent: list[int] = []
        self.last: list[int] = []
        self.chain: list[list[int]] = []
        self.node_at: dict[Bounds, int] = {}
        open_nodes: list[int] = []
        for start, end, _, position in spans:
            if (start, end) in self.node_at:  # in pre-order a chain's spans are consecutive: this is the newest node
                self.chain[-1].append(position)
                continue
            node = len(self.start)
            while open_nodes and self.end[open_nodes[-1]] <= start:
                self.last[open_nodes.pop()] = node
            self.node_at[start, end] = node
            self.start.append(start)
            self.end.append(end)
            self.parent.append(open_nodes[-1] if open_nodes else -1)
            self.last.append(-1)
            self.chain.append([position])
            open_nodes.append(node)
        for node in open_nodes:
            self.last[node] = len(self.start)
        self.innermost = self._find_innermost(len(self.words.tokens))

    def is_current(self, doc: Doc, spans_key: str) -> bool:
        """Whether the doc's group and tokens are still those that were read, so far as can be told at once."""
        return doc.spans.get(spans_key) is self.group and len(self.group) == self.n_spans and len(doc) == self.n_tokens

    def holds(self, nodes: Iterable[int]) -> bool:
        """Whether nodes are in the group as they are here."""
        before = self.words.before
        for node in nodes:
            for position in self.chain[node]:
                span = self.group[position]
                if span.end > self.n_tokens:
                    return False
                if before[span.start] != self.start[node] or before[span.end] != self.end[node]:
                    return False
        return True

    def labels(self, node: int) -> tuple[str, ...]:
        """The labels of a node, top of the chain first, as the group has them now."""
        return tuple(self.group[position].label_ for position in self.chain[node])

    def smallest_around(self, start: int, end: int) -> int:
        """The smallest node that contains these words and more than them, or -1.

        With start == end it is the one with words on both sides of that place.
        """
        if start == end and not 0 < start < len(self.innermost):
            return -1
        node = self.innermost[start]
        while node != -1 and (
            self.end[node] < end or (self.start[node] == start and (start == end or self.end[node] == end))
        ):
            node = self.parent[node]
        return node

    def children(self, start: int, end: int) -> tuple[list[Bounds], list[int]]:
        """The children of the node with these bounds, or of a sentence: nodes, and words outside them.

        RETURNS (Tuple[List[Bounds], List[int]]): The bounds of the children, and which nodes are among them.
        """
        if end - start <= 1:
            return [], []
        first, last = self._nodes_within(start, end)
        node = first + 1 if (start, end) in self.node_at else first
        bounds: list[Bounds] = []
        nodes: list[int] = []
        position = start
        while node < last:
            bounds.extend((word, word + 1) for word in range(position, self.start[node]))
            bounds.append((self.start[node], self.end[node]))
            nodes.append(node)
            position = self.end[node]
            node = self.last[node]
        bounds.extend((word, word + 1) for word in range(position, end))
        return bounds, nodes

    def constituents(self, start: int, end: int) -> tuple[list[Bounds], list[int]]:
        """The node with these bounds, or a sentence, and all nodes and words within, in pre-order; nothing twice.

        RETURNS (Tuple[List[Bounds], List[int]]): Their bounds, and which nodes are among them.
        """
        if end <= start:
            return [], []
        first, last = self._nodes_within(start, end)
        bounds: list[Bounds] = [] if end - start == 1 or (start, end) in self.node_at else [(start, end)]
        position = start  # the first word that has not been listed
        for node in range(first, last):
            bounds.extend((word, word + 1) for word in range(position, self.start[node]))
            bounds.append((self.start[node], self.end[node]))
            position = self.end[node] if self.end[node] - self.start[node] == 1 else self.start[node]
        bounds.extend((word, word + 1) for word in range(position, end))
        return bounds, list(range(first, last))

    def _nodes_within(self, start: int, end: int) -> tuple[int, int]:
        """The nodes within a node (itself the first), a word or a sentence, as a range."""
        node = self.node_at.get((start, end))
        if node is not None:
            return node, self.last[node]
        if end - start == 1:
            return 0, 0
        return bisect_left(self.start, start), bisect_left(self.start, end)

    def _find_innermost(self, n_words: int) -> list[int]:
        """The smallest node that contains each word, or -1."""
        innermost = [-1] * n_words
        node = -1  # the node that is open at `word`
        following = 0
        for word in range(n_words):
            while node != -1 and self.end[node] <= word:
                node = self.parent[node]
            while following < len(self.start) and self.start[following] == word:
                node = following
                following += 1
            innermost[word] = node
        return innermost


_INDICES: "WeakKeyDictionary[Doc, dict[str, ConstituentIndex]]" = WeakKeyDictionary()


def get_index(doc: Doc, spans_key: str = SPANS_KEY) -> ConstituentIndex:
    """The index of a doc, made when first asked for and after changes.

    doc (Doc): The doc.
    spans_key (str): Key of the group in `doc.spans`.
    RETURNS (ConstituentIndex): The index.
    RAISES (ValueError): If the doc has no constituents, or they do not nest (see `read_group`).
    """
    indices = _INDICES.get(doc)
    if indices is None:
        indices = _INDICES[doc] = {}
    index = indices.get(spans_key)
    if index is None or not index.is_current(doc, spans_key):
        indices.pop(spans_key, None)
        index = indices[spans_key] = ConstituentIndex(doc, spans_key)
    return index


def ask(doc: Doc, spans_key: str, question: Callable[[ConstituentIndex], tuple[AnswerT, Iterable[int]]]) -> AnswerT:
    """Ask the index of a doc, and again after reading the doc anew if the answer rests on nodes that have changed.

    doc (Doc): The doc.
    spans_key (str): Key of the group in `doc.spans`.
    question (Callable[[ConstituentIndex], Tuple[AnswerT, Iterable[int]]]): Gives the answer and the nodes it rests on.
    RETURNS (AnswerT): The answer.
    """
    index = get_index(doc, spans_key)
    answer, nodes = question(index)
    if index.holds(nodes):
        return answer
    _INDICES[doc].pop(spans_key, None)
    return question(get_index(doc, spans_key))[0]
