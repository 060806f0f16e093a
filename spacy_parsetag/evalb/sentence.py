"""A sentence as EVALB reads it from its line: the words that count, and labelled brackets over them.

Words tagged with a deleted label are gone and the brackets close over the gap. Brackets keep their raw labels, in
pre-order, with the root. Malformed lines are read as the C program reads them.
"""

import re
from typing import NamedTuple

from .params import Bracket, EvalbParams

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


def read_sentence(line: str, params: EvalbParams) -> Sentence:
    """Read a line of brackets. All brackets on it are one sentence; on an empty line there is none.

    RAISES (ValueError): If there is text that is not alone in a bracket with its tag. The C program never gets past it.
    """
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
            length += tag not in params.delete_labels_for_length
            if tag in params.quote_labels and word in _QUOTES:
                quotes.append(Quote(word, tag, len(words), len(brackets), [stack[i] for i in range(top)]))
            if tag not in params.delete_labels:
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


def fix_quotes(gold: Sentence, test: Sentence, deleted: frozenset[str]) -> None:
    """Put back quotes that only one of the two deletes, as EVALB does where the numbers of words differ.

    A tagger may call the quote ' a possessive (POS, which counts) and the treebank '' (deleted). The order of steps,
    and what is compared with what, is the C program's. Both sentences are changed in place.
    """
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
