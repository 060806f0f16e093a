"""The constituents of a doc as linked nodes, which the extensions walk."""

from collections.abc import Iterator
from dataclasses import dataclass, field

from spacy.tokens import Doc, Span, Token

from ..errors import Errors
from ..trees.tree import preorder
from .groups import GroupCache, parses_from_doc
from .sentences import map_words


@dataclass(slots=True, eq=False)
class DocNode:
    """A constituent, a bare word, or the top of a sentence that has several nodes there.

    A unary chain is one node with several labels; a bare word, and such a top, has none. *Kim sings loudly* with
    S[0:3] NP[0:1] VP[1:3] has the nodes ("S",) 0:3, ("NP",) 0:1, ("VP",) 1:3, () 1:2, () 2:3.

    start, end (int): Its first word, among the words of the doc, and one past its last.
    parent (DocNode | None): The smallest constituent that contains it and more.
    labels (list[str]): Its labels, top first.
    children (list[DocNode]): The nodes right below, from left to right.
    """

    start: int
    end: int
    parent: "DocNode | None"
    labels: list[str] = field(default_factory=list)
    children: "list[DocNode]" = field(default_factory=list)


class DocNodes:
    """The constituents of a doc as linked nodes.

    doc (Doc): The doc, which must have constituents. It is not kept.
    RAISES (ValueError): If they do not nest (see `parses_from_doc`).
    """

    def __init__(self, doc: Doc, spans_key: str) -> None:
        self.words = map_words(doc)
        self.tops: list[DocNode] = []  # one a sentence
        self.at: dict[tuple[int, int], DocNode] = {}  # by their bounds
        offset = 0
        for _, parse in parses_from_doc(doc, spans_key):
            n = len(parse)
            # Sorted by their bounds into pre-order; of equal ones the constituents, top first, stay in this order.
            rows = [(0, n, ""), *parse.spans, *((i, i + 1, "") for i in range(n))]
            rows.sort(key=lambda row: (row[0], -row[1]))
            stack: list[DocNode] = []  # the open nodes
            for start, end, label in rows:
                bounds = (offset + start, offset + end)
                while stack and stack[-1].end <= bounds[0]:
                    stack.pop()
                if not stack or bounds != (stack[-1].start, stack[-1].end):
                    node = self.at[bounds] = DocNode(*bounds, stack[-1] if stack and stack[-1].labels else None)
                    (stack[-1].children if stack else self.tops).append(node)
                    stack.append(node)
                if label:
                    stack[-1].labels.append(label)
            offset += n

    def bounds(self, span: Span | Token) -> tuple[int, int]:
        """Find the words of a span or token: first, and one past the last."""
        start, end = (span.i, span.i + 1) if isinstance(span, Token) else (span.start, span.end)
        return self.words.before[start], self.words.before[end]

    def span(self, doc: Doc, node: DocNode) -> Span:
        """Make the span of a constituent, labelled as the top of its unary chain."""
        return Span(doc, self.words.tokens[node.start], self.words.tokens[node.end - 1] + 1, node.labels[0])

    def spans(self, doc: Doc, top: DocNode) -> Iterator[Span]:
        """Make the spans of a node and of all nodes within that are constituents, in pre-order."""
        return (self.span(doc, node) for node in preorder(top) if node.labels)

    def find(self, span: Span | Token) -> DocNode | None:
        """Find the node over a span; None for white space.

        RAISES (ValueError): If the span is not a constituent, a word or a sentence.
        """
        start, end = self.bounds(span)
        node = self.at.get((start, end))
        if node is None and start < end and isinstance(span, Span):  # each word has a node
            around = self.smallest_around(start, end)
            hint = "No constituent contains it."
            if around is not None:
                text = self.span(span.doc, around).text
                hint = f"The smallest constituent around it is {text!r} ({', '.join(around.labels)})."
            raise ValueError(Errors.E307.format(text=span.text, start=span.start, end=span.end, hint=hint))
        return node

    def smallest_around(self, start: int, end: int) -> DocNode | None:
        """Find the smallest constituent with these words and more; with start == end, one with words on both sides."""
        node = self.at.get((start, start + 1))
        while node is not None and (not node.labels or node.end < end or (start == end and node.start == start)):
            node = node.parent
        return node


_CACHE: GroupCache[DocNodes] = GroupCache()


def get_nodes(doc: Doc, spans_key: str) -> DocNodes:
    """Get the nodes of a doc, which are kept for as long as it lives; see `GroupCache`."""
    return _CACHE.get(doc, spans_key, lambda: DocNodes(doc, spans_key))
