"""A sentence as EVALB reads it: the words that count, and labelled brackets over them.

Words tagged with a deleted label are gone and the brackets close over the gap; brackets keep their raw labels, in
pre-order, with the root wrapper. `Rules` answers what parameters say about labels, each label once.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, NamedTuple

from ..errors import Errors
from ..trees.parse import Parse
from .params import EvalbParams

if TYPE_CHECKING:
    from nltk import Tree

Bracket = tuple[int, int, str]  # start, end (exclusive), label


class Quote(NamedTuple):
    """A quote-like word, deleted or not, and where it hangs.

    position (int): Number of words that count before it.
    bracket (int): Number of brackets opened before it.
    around (List[int]): The brackets open at it.
    """

    word: str
    tag: str
    position: int
    bracket: int
    around: list[int]


class Sentence(NamedTuple):
    """A tree after deletions.

    words (List[str]): The words that count.
    tags (List[str]): Their part-of-speech tags.
    brackets (List[Bracket]): All brackets over these words, in pre-order; those with start == end cover deleted words.
    length (int): Number of words for the cut-off: all but those in `delete_labels_for_length`.
    quotes (List[Quote]): Words that may be quotes under `quote_labels`.
    """

    words: list[str]
    tags: list[str]
    brackets: list[Bracket]
    length: int
    quotes: list[Quote]


class _Cache(dict[str, str | None]):
    """A dict that computes what it lacks."""

    def __init__(self, compute: Callable[[str], str | None]) -> None:
        super().__init__()
        self._compute = compute

    def __missing__(self, key: str) -> str | None:
        value = self[key] = self._compute(key)
        return value


class Rules:
    """What parameters say about labels, tags and words.

    bracket (Dict[str, Optional[str]]): For each raw label, the label that counts; None if the bracket is ignored.
    """

    def __init__(self, params: EvalbParams) -> None:
        self.params = params
        self._equal_labels = {pair for a, b in params.eq_labels for pair in ((a, b), (b, a))}
        self._equal_words = {pair for a, b in params.eq_words for pair in ((a, b), (b, a))}
        self.classes = _equivalence_classes(params.eq_labels)
        self.bracket = _Cache(self._bracket)

    def cut(self, label: str) -> str:
        """Drop a label's function tags and indices: NP-SBJ-1 is NP. As in C, -LRB- is the empty label."""
        for mark in self.params.label_cuts:
            label = label.split(mark, 1)[0]
        return label

    def _bracket(self, label: str) -> str | None:
        label = self.cut(label)
        if any(self.same_label(label, deleted) for deleted in self.params.delete_labels):
            return None
        return label if self.classes is None else self.classes.get(label, label)

    def same_label(self, first: str, second: str) -> bool:
        return first == second or (first, second) in self._equal_labels

    def same_tag(self, first: str, second: str) -> bool:
        if self.params.cut_tags:
            first, second = self.cut(first), self.cut(second)
        return self.same_label(first, second)

    def same_word(self, first: str, second: str) -> bool:
        return first == second or (first, second) in self._equal_words

    def is_quote(self, tag: str, word: str) -> bool:
        return word in ("'", '"', "/") and tag in self.params.quote_labels


def _equivalence_classes(pairs: Sequence[tuple[str, str]]) -> dict[str, str] | None:
    """Map each label to the first of those it equals; None if the pairs are no equivalence (A = B, B = C, not A = C),
    where the C program's matches depend on the order of the brackets."""
    equal: dict[str, dict[str, None]] = {}
    for first, second in pairs:
        for a, b in ((first, second), (second, first)):
            equal.setdefault(a, {a: None})[b] = None
    classes: dict[str, str] = {}
    for label, members in equal.items():
        if any(equal[other].keys() != members.keys() for other in members):
            return None
        classes[label] = next((classes[other] for other in members if other in classes), label)
    return classes


def sentence_from_tree(tree: Tree, rules: Rules) -> Sentence:
    """Read an nltk tree, with its root wrapper.

    tree (nltk.Tree): The tree; words in the form they have in the file.
    rules (Rules): The rules.
    RETURNS (Sentence): What counts of it. A tree without words has none.
    RAISES (ValueError): If a word stands beside other nodes.
    """
    from nltk import Tree

    deleted = rules.params.delete_labels
    no_length = rules.params.delete_labels_for_length
    quote_labels = rules.params.quote_labels
    words: list[str] = []
    tags: list[str] = []
    starts: list[int] = []
    ends: list[int] = []
    labels: list[str] = []
    quotes: list[Quote] = []
    length = 0
    stack: list[object] = [tree]  # nodes still to read; an integer closes the bracket of that index
    while stack:
        node = stack.pop()
        if type(node) is int:
            ends[node] = len(words)
            continue
        if not isinstance(node, Tree):
            raise ValueError(Errors.E001.format(reason=f"word {node!r} stands beside other nodes"))
        label = node.label()
        if len(node) == 1:
            (word,) = node
            if isinstance(word, str):
                length += label not in no_length
                if label in quote_labels and rules.is_quote(label, word):
                    around = [i for i, end in enumerate(ends) if end < 0]
                    quotes.append(Quote(word, label, len(words), len(starts), around))
                if label not in deleted:
                    words.append(word)
                    tags.append(label)
                continue
        stack.append(len(starts))
        starts.append(len(words))
        ends.append(-1)
        labels.append(label)
        stack.extend(reversed(node))
    return Sentence(words, tags, list(zip(starts, ends, labels, strict=True)), length, quotes)


def sentence_from_parse(parse: Parse, rules: Rules) -> Sentence:
    """Read a `Parse`, which has no root wrapper.

    parse (Parse): The parse.
    rules (Rules): The rules.
    RETURNS (Sentence): What counts of it.
    """
    words, tags, spans = parse.words, parse.tags, parse.spans
    before = positions_left([tag not in rules.params.delete_labels for tag in tags])
    no_length = rules.params.delete_labels_for_length
    quotes = [
        Quote(
            word,
            tag,
            before[i],
            sum(span[0] <= i for span in spans),
            [k for k, span in enumerate(spans) if span[0] <= i < span[1]],
        )
        for i, (word, tag) in enumerate(zip(words, tags, strict=True))
        if tag in rules.params.quote_labels and rules.is_quote(tag, word)
    ]
    return Sentence(
        [word for i, word in enumerate(words) if before[i + 1] > before[i]],
        [tag for i, tag in enumerate(tags) if before[i + 1] > before[i]],
        [(before[start], before[end], label) for start, end, label in spans],
        sum(tag not in no_length for tag in tags),
        quotes,
    )


def positions_left(keep: Iterable[bool]) -> list[int]:
    """For each of N+1 boundaries between N units, how many kept units lie before it."""
    before = [0]
    for kept in keep:
        before.append(before[-1] + kept)
    return before


def fix_quotes(gold: Sentence, test: Sentence, rules: Rules) -> tuple[Sentence, Sentence]:
    """Put back quotes that only one of the two deletes, as EVALB does where the numbers of words differ.

    A tagger may call the quote ' a possessive (POS, which counts) and the treebank '' (deleted). The order of steps,
    and what is compared with what, is the C program's.

    gold (Sentence): The gold sentence.
    test (Sentence): The test sentence.
    rules (Rules): The rules.
    RETURNS (Tuple[Sentence, Sentence]): Both, mended where that was possible.
    """
    deleted = rules.params.delete_labels
    gold, test = _copy(gold), _copy(test)
    for i in range(len(test.quotes)):
        position = test.quotes[i].position
        for j in range(len(gold.quotes)):
            # Both may change within the loop; the position of the test word is the one it had before.
            ours, theirs = gold.quotes[j], test.quotes[i]
            if ours.position != position or ours.tag == theirs.tag:
                continue
            if ours.tag in deleted and theirs.tag not in deleted:
                _reinsert(gold, j)
            elif theirs.tag in deleted and ours.tag not in deleted:
                _reinsert(test, i)
    return gold, test


def _copy(sentence: Sentence) -> Sentence:
    return Sentence(
        list(sentence.words), list(sentence.tags), list(sentence.brackets), sentence.length, list(sentence.quotes)
    )


def _reinsert(sentence: Sentence, which: int) -> None:
    """Insert a deleted quote; the brackets opened after it move, those around it grow."""
    quote = sentence.quotes[which]
    sentence.words.insert(quote.position, quote.word)
    sentence.tags.insert(quote.position, quote.tag)
    brackets = sentence.brackets
    for k in range(quote.bracket, len(brackets)):
        start, end, label = brackets[k]
        brackets[k] = (start + 1, end + 1, label)
    for k in quote.around:
        start, end, label = brackets[k]
        brackets[k] = (start, end + 1, label)
    for k in range(which, len(sentence.quotes)):
        sentence.quotes[k] = sentence.quotes[k]._replace(position=sentence.quotes[k].position + 1)
