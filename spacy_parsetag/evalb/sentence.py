"""A sentence as EVALB reads it from its line: the words that count, and labelled brackets over them.

Words tagged with a deleted label are gone and the brackets close over the gap. Brackets keep their raw labels, in
pre-order, with the root. Malformed lines are read as the C program reads them.
"""

import re
from functools import cache
from typing import NamedTuple

from .params import EvalbParams

Bracket = tuple[int, int, str]  # start, end (exclusive), label

# With ASCII, \s is what C's isspace() knows. The groups: a label, the word where it is a tag, a closing bracket.
_PIECE = re.compile(r"\(([^\s()]*)(?:\s+([^\s()]*)\))?|(\))|[^\s()]+", re.ASCII)
_LABEL, _WORD, _CLOSE = 1, 2, 3
_QUOTES = frozenset("'\"/")


class Quote(NamedTuple):
    """A quote-like word, deleted or not, and where it hangs.

    word (str): The word.
    tag (str): Its part-of-speech tag.
    position (int): Number of words that count before it.
    n_before (int): Number of brackets that open before it.
    around (list[int]): The brackets open at it.
    """

    word: str
    tag: str
    position: int
    n_before: int
    around: list[int]


class Sentence(NamedTuple):
    """A sentence after deletions.

    words (list[str]): The words that count.
    tags (list[str]): Their part-of-speech tags.
    brackets (list[Bracket]): All brackets over these words, in pre-order. Those with start == end cover deleted words;
        one that is never closed ends at -1.
    length (int): Number of words for the cut-off: all but those in `delete_labels_for_length`.
    quotes (list[Quote]): Words that may be quotes under `quote_labels`.
    errors (list[str]): What is wrong with the brackets, in the words of the C program.
    """

    words: list[str]
    tags: list[str]
    brackets: list[Bracket]
    length: int
    quotes: list[Quote]
    errors: list[str]


class Rules:
    """What parameters say about labels, tags and words.

    params (EvalbParams): The parameters.
    """

    def __init__(self, params: EvalbParams) -> None:
        self.params = params
        self._equal_labels = {pair for a, b in params.eq_labels for pair in ((a, b), (b, a))}
        self._equal_words = {pair for a, b in params.eq_words for pair in ((a, b), (b, a))}
        self._cut_or_none = cache(self._cut_or_none_of)
        self._names: dict[str, str] = {}
        for first, second in params.eq_labels:
            self._names.setdefault(second, self._names.get(first, first))

    def cut(self, label: str) -> str:
        """Drop a label's function tags and indices: NP-SBJ-1 is NP. As in C, -LRB- is the empty label."""
        for mark in self.params.label_cuts:
            label = label.partition(mark)[0]
        return label

    def name(self, label: str) -> str:
        """The name of a label in figures by label: labels held equal share the first one's."""
        return self._names.get(label, label)

    def same_label(self, first: str, second: str) -> bool:
        return first == second or (first, second) in self._equal_labels

    def same_tag(self, first: str, second: str) -> bool:
        if self.params.cut_tags:
            first, second = self.cut(first), self.cut(second)
        return self.same_label(first, second)

    def same_word(self, first: str, second: str) -> bool:
        return first == second or (first, second) in self._equal_words

    def counted(self, brackets: list[Bracket]) -> list[Bracket]:
        """Drop brackets over no word and those with deleted labels; cut the labels of the others."""
        kept = ((start, end, self._cut_or_none(label)) for start, end, label in brackets if start != end)
        return [(start, end, label) for start, end, label in kept if label is not None]

    def _cut_or_none_of(self, label: str) -> str | None:
        label = self.cut(label)
        return None if any(self.same_label(label, deleted) for deleted in self.params.delete_labels) else label


def read_sentence(line: str, rules: Rules) -> Sentence:
    """Read a line of brackets. All brackets on it are one sentence; on an empty line there is none.

    line (str): The line.
    rules (Rules): The rules.
    RETURNS (Sentence): What counts of it.
    RAISES (ValueError): If there is text that is not alone in a bracket with its tag. The C program never gets past it.
    """
    deleted, no_length = rules.params.delete_labels, rules.params.delete_labels_for_length
    quote_labels = rules.params.quote_labels
    words: list[str] = []
    tags: list[str] = []
    brackets: list[Bracket] = []
    quotes: list[Quote] = []
    errors: list[str] = []
    length = 0
    # The open brackets. Like C's array it can be popped when it is empty: what lies below it is 0, the first bracket.
    stack: dict[int, int] = {}
    top = 0
    for match in _PIECE.finditer(line):
        kind = match.lastindex
        if kind == _WORD:
            tag, word = match.group(_LABEL, _WORD)
            length += tag not in no_length
            if tag in quote_labels and word in _QUOTES:
                quotes.append(Quote(word, tag, len(words), len(brackets), [stack[i] for i in range(top)]))
            if tag not in deleted:
                words.append(word)
                tags.append(tag)
        elif kind == _LABEL:
            stack[top] = len(brackets)
            top += 1
            brackets.append((len(words), -1, match[_LABEL]))
        elif kind == _CLOSE:
            top -= 1
            if top < -1:
                errors.append("Bracketing unbalance (too many close bracket)")
            if brackets:
                which = stack.get(top, 0)
                start, _, label = brackets[which]
                brackets[which] = (start, len(words), label)
        else:
            raise ValueError(f"Reading sentence ({match.group()[:100]!r} is not alone in a bracket with its tag)")
    if top:
        errors.append("Bracketing is unbalanced (too many open bracket)")
    return Sentence(words, tags, brackets, length, quotes, errors)


def fix_quotes(gold: Sentence, test: Sentence, rules: Rules) -> None:
    """Put back quotes that only one of the two deletes, as EVALB does where the numbers of words differ.

    A tagger may call the quote ' a possessive (POS, which counts) and the treebank '' (deleted). The order of steps,
    and what is compared with what, is the C program's.

    gold (Sentence): The gold sentence, changed in place.
    test (Sentence): The test sentence, changed in place.
    rules (Rules): The rules.
    """
    deleted = rules.params.delete_labels
    for i in range(len(test.quotes)):
        position = test.quotes[i].position
        for j in range(len(gold.quotes)):
            # Both may change within the loop; the position of the test word is the one it had before.
            ours, theirs = gold.quotes[j], test.quotes[i]
            if ours.position == position and (ours.tag in deleted) != (theirs.tag in deleted):
                sentence, which = (gold, j) if ours.tag in deleted else (test, i)
                _reinsert(sentence, which)


def _reinsert(sentence: Sentence, which: int) -> None:
    """Insert a deleted quote; the brackets opened after it move, those around it grow."""
    quote = sentence.quotes[which]
    sentence.words.insert(quote.position, quote.word)
    sentence.tags.insert(quote.position, quote.tag)
    for k, (start, end, label) in enumerate(sentence.brackets):
        after = k >= quote.n_before
        sentence.brackets[k] = (start + after, end + after + (k in quote.around), label)
    for k, other in enumerate(sentence.quotes[which:], start=which):
        sentence.quotes[k] = other._replace(position=other.position + 1)
