"""The constituents of a doc as linked nodes, behind the extensions: each question is then a walk of a step or two.

A unary chain is one node with several labels, as benepar's users know it, and a bare word is a node without any, so
that *Kim sings loudly* with S[0:3] NP[0:1] VP[1:3] has five:

    ("S",) 0:3      ("NP",) 0:1      ("VP",) 1:3      () 1:2      () 2:3

A sentence with several nodes at the top gets one more, without a label, over them.

Making the nodes takes 8 microseconds a word, and reading an answer off them 1 to 5. So they are kept for each doc: see
`GroupCache` for which changes are noticed.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Optional

from spacy.tokens import Doc, Span

from ..errors import Errors
from ..trees.parse import Parse
from .group import SPANS_KEY, GroupCache
from .sentences import map_words
from .spans import parses_from_doc


@dataclass(slots=True, eq=False)
class Node:
    """A constituent, a bare word, or the top of a sentence that has several nodes there.

    start (int): Its first word, among the words of the doc.
    end (int): One past its last word.
    parent (Node | None): The smallest constituent that contains it and more.
    labels (list[str]): Its labels, top first.
    children (list[Node]): The nodes right below, from left to right.
    """

    start: int
    end: int
    parent: Optional["Node"] = None
    labels: list[str] = field(default_factory=list)
    children: list["Node"] = field(default_factory=list)

    def subtree(self) -> Iterator["Node"]:
        """The node and all nodes within, in pre-order."""
        stack = [self]
        while stack:
            node = stack.pop()
            yield node
            stack.extend(reversed(node.children))


class DocNodes:
    """The nodes of a doc.

    doc (Doc): The doc, which must have constituents. It is not kept.
    spans_key (str): Key of the group in `doc.spans`.
    RAISES (ValueError): If they do not nest (see `parses_from_doc`).
    """

    def __init__(self, doc: Doc, spans_key: str) -> None:
        self.words = map_words(doc)
        self.tops: list[Node] = []  # one a sentence
        self.at: dict[tuple[int, int], Node] = {}  # by their bounds
        offset = 0
        for _, parse in parses_from_doc(doc, spans_key):
            self._add_sentence(parse, offset)
            offset += len(parse)

    def _add_sentence(self, parse: Parse, offset: int) -> None:
        stack = [Node(offset, offset + len(parse))]  # the open nodes
        self.tops += stack
        word = offset  # the first word that has no node yet
        for start, end, label in ((start + offset, end + offset, label) for start, end, label in parse.spans):
            while stack[-1].end <= start:
                word = self._close(stack.pop(), word)
            if (start, end) != (stack[-1].start, stack[-1].end):
                word = self._add_words(stack[-1], word, start)
                stack.append(self._add(stack[-1], start, end))
            stack[-1].labels.append(label)
        while stack:
            word = self._close(stack.pop(), word)

    def _close(self, node: Node, word: int) -> int:
        self.at[node.start, node.end] = node
        return self._add_words(node, word, node.end) if node.end - node.start > 1 else node.end

    def _add_words(self, above: Node, start: int, end: int) -> int:
        for word in range(start, end):
            self.at[word, word + 1] = self._add(above, word, word + 1)
        return end

    @staticmethod
    def _add(above: Node, start: int, end: int) -> Node:
        above.children.append(Node(start, end, above if above.labels else None))
        return above.children[-1]

    def bounds(self, span: Span) -> tuple[int, int]:
        """The words of a span: first, and one past the last."""
        return self.words.before[span.start], self.words.before[span.end]

    def span(self, doc: Doc, node: Node) -> Span:
        """The slice of the doc over a node."""
        return doc[self.words.tokens[node.start] : self.words.tokens[node.end - 1] + 1]

    def find(self, span: Span) -> Node | None:
        """The node over a span; None for white space.

        RAISES (ValueError): If the span is not a constituent, a word or a sentence.
        """
        start, end = self.bounds(span)
        node = self.at.get((start, end))
        if node is None and start < end:
            around = self.smallest_around(start, end)
            hint = "No constituent contains it."
            if around is not None:
                text = self.span(span.doc, around).text
                hint = f"The smallest constituent around it is {text!r} ({', '.join(around.labels)})."
            raise ValueError(Errors.E307.format(text=span.text, start=span.start, end=span.end, hint=hint))
        return node

    def smallest_around(self, start: int, end: int) -> Node | None:
        """The smallest constituent with these words and more; with start == end, one with words on both sides."""
        node = self.at.get((start, start + 1))
        while node is not None and (not node.labels or node.end < end or (start == end and node.start == start)):
            node = node.parent
        return node


_CACHE: GroupCache[DocNodes] = GroupCache()


def get_nodes(doc: Doc, spans_key: str = SPANS_KEY) -> DocNodes:
    """The nodes of a doc, made when first asked for and after changes that `GroupCache` notices.

    doc (Doc): The doc.
    spans_key (str): Key of the group in `doc.spans`.
    RETURNS (DocNodes): The nodes.
    RAISES (ValueError): If the doc has no constituents, or they do not nest (see `parses_from_doc`).
    """
    return _CACHE.get(doc, spans_key, lambda: DocNodes(doc, spans_key))
