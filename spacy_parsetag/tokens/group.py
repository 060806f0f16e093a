"""Read a span group as constituents: over words instead of tokens, in pre-order, and checked to nest.

White space tokens are no words. A span over tokens becomes one over words by counting the words before each of its
ends, which also trims white space off both:

    tokens   She  enjoys  \\n  reading  papers  \\n         span over tokens  (0, 6)
    words    0    1           2        3                   the same, words   (0, 4)
"""

from collections.abc import Iterator
from typing import NamedTuple

import numpy
from spacy.tokens import Doc, Span, SpanGroup

from ..errors import Errors

SPANS_KEY = "constituents"
FORMAT_VERSION = 1


class WordMap(NamedTuple):
    """Tokens and words of a doc, each by the other's index.

    before (List[int]): How many words precede each token; one more entry for the end of the doc.
    tokens (List[int]): The token of each word.
    """

    before: list[int]
    tokens: list[int]


class WordSpan(NamedTuple):
    """A constituent over the words of a whole doc.

    start (int): Its first word.
    end (int): One past its last word.
    label (str): Its label.
    position (int): Where it stands in the span group.
    """

    start: int
    end: int
    label: str
    position: int


def map_words(doc: Doc) -> WordMap:
    """Count the words of a doc, that is its tokens other than white space.

    doc (Doc): The doc.
    RETURNS (WordMap): The indices, both ways.
    """
    is_word = doc.to_array("IS_SPACE") == 0  # (tokens,)
    before = [0, *numpy.cumsum(is_word).tolist()]
    return WordMap(before, numpy.flatnonzero(is_word).tolist())


def get_group(doc: Doc, spans_key: str = SPANS_KEY) -> SpanGroup:
    """The group that holds a doc's constituents.

    doc (Doc): The doc.
    spans_key (str): Key of the group in `doc.spans`.
    RETURNS (SpanGroup): The group. It is empty if the doc was parsed and no word stands under a label.
    RAISES (ValueError): If there is no such group, or a later version of this package wrote it.
    """
    group = doc.spans.get(spans_key)
    if group is None:
        raise ValueError(Errors.E300.format(key=spans_key, known=", ".join(map(repr, doc.spans)) or "none"))
    # Groups that users make, and those that come from JSON, have no attrs.
    found = group.attrs.get("format", FORMAT_VERSION)
    if not isinstance(found, int) or found > FORMAT_VERSION:
        raise ValueError(Errors.E306.format(key=spans_key, found=found, known=FORMAT_VERSION))
    return group


def read_group(doc: Doc, spans_key: str, words: WordMap) -> list[WordSpan]:
    """Read a doc's constituents in pre-order, whatever the order of the group.

    Spans with equal bounds keep the group's order, which is that of their unary chain. A group that lists constituents
    before those that contain them gives no reason to trust that order, and is refused if it holds such a chain.

    doc (Doc): The doc.
    spans_key (str): Key of the group in `doc.spans`.
    words (WordMap): From `map_words(doc)`.
    RETURNS (List[WordSpan]): The constituents of all sentences, over the words of the doc.
    RAISES (ValueError): If there are no constituents (see `get_group`), if one covers no word, if two cross, if the
        order of a unary chain is unknown, or if the doc was retokenized since.
    """
    before = words.before
    offsets, lengths = doc.to_array(["IDX", "LENGTH"]).T.tolist()
    spans: list[WordSpan] = []
    names: dict[int, str] = {}
    for position, span in enumerate(iterate_spans(get_group(doc, spans_key), spans_key)):
        start, end, label = span.start, span.end, span.label
        name = names.get(label)
        if name is None:
            name = names[label] = span.label_
        first, last = before[start], before[end]
        if first >= last:
            raise ValueError(Errors.E303.format(key=spans_key, label=name, start=start, end=end))
        if span.start_char != offsets[start] or span.end_char != offsets[end - 1] + lengths[end - 1]:
            raise ValueError(Errors.E310.format(key=spans_key))
        spans.append(WordSpan(first, last, name, position))
    spans.sort(key=lambda span: (span.start, -span.end))
    _check_nesting(doc, spans_key, words, spans)
    return spans


def text_of(doc: Doc, words: WordMap, start: int, end: int) -> str:
    """The text of the words start..end, cut in the middle where it is long, for messages."""
    text = str(doc[words.tokens[start] : words.tokens[end - 1] + 1].text)
    return text if len(text) <= 80 else f"{text[:50]} ... {text[-25:]}"


def iterate_spans(group: SpanGroup, spans_key: str) -> Iterator[Span]:
    """The spans of a group. spaCy's retokenizer leaves span groups as they are, with spans beyond the doc's end."""
    try:
        yield from group
    except IndexError as err:
        raise ValueError(Errors.E310.format(key=spans_key)) from err


def _check_nesting(doc: Doc, spans_key: str, words: WordMap, spans: list[WordSpan]) -> None:
    """Raise if spans, which are in pre-order, cross, or if a chain among them may be upside down."""
    above: list[WordSpan] = []  # the open constituents
    bottom_up: dict[str, str] | None = None  # a constituent that the group lists before one that contains it
    chain: dict[str, str] | None = None  # two labels over the same words
    for span in spans:
        while above and above[-1].end <= span.start:
            above.pop()
        if above:
            upper = above[-1]
            if span.end > upper.end:
                raise ValueError(
                    Errors.E301.format(
                        key=spans_key,
                        first=text_of(doc, words, upper.start, upper.end),
                        second=text_of(doc, words, span.start, span.end),
                    )
                )
            if span[:2] == upper[:2]:
                if chain is None and span.label != upper.label:
                    names = f"{upper.label} and {span.label}"
                    chain = {"chain": names, "text": text_of(doc, words, span.start, span.end)}
            elif bottom_up is None and upper.position > span.position:
                bottom_up = {
                    "lower": text_of(doc, words, span.start, span.end),
                    "upper": text_of(doc, words, upper.start, upper.end),
                }
        above.append(span)
    if bottom_up is not None and chain is not None:
        raise ValueError(Errors.E304.format(key=spans_key, **bottom_up, **chain))
