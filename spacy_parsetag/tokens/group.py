"""Read a span group as constituents: over words instead of tokens, in pre-order, and checked to nest.

A span over tokens becomes one over words by counting the words before each of its ends, which also trims white space
off both:

    tokens   She  enjoys  \\n  reading  papers  \\n         span over tokens  (0, 6)
    words    0    1           2        3                   the same, words   (0, 4)
"""

from collections.abc import Callable
from typing import Generic, TypeVar
from weakref import WeakKeyDictionary

from spacy.tokens import Doc, SpanGroup

from ..errors import Errors
from ..trees.parse import Constituent
from .sentences import WordMap

SPANS_KEY = "constituents"
FORMAT_VERSION = 1
ValueT = TypeVar("ValueT")
# First word, minus one past the last word, place in the group, label: these sort into pre-order, chains as they are.
_Row = tuple[int, int, int, str]


def get_group(doc: Doc, spans_key: str = SPANS_KEY) -> SpanGroup:
    """The group that holds a doc's constituents.

    doc (Doc): The doc.
    spans_key (str): Key of the group in `doc.spans`.
    RETURNS (SpanGroup): The group. It is empty if the doc was parsed and no word stands under a label.
    RAISES (ValueError): If there is no such group, or a later version of this package wrote it.
    """
    group: SpanGroup | None = doc.spans.get(spans_key)
    if group is None:
        raise ValueError(Errors.E300.format(key=spans_key, known=", ".join(map(repr, doc.spans)) or "none"))
    # Groups that users make, and those that come from JSON, have no attrs.
    found = group.attrs.get("format", FORMAT_VERSION)
    if not isinstance(found, int) or found > FORMAT_VERSION:
        raise ValueError(Errors.E306.format(key=spans_key, found=found, known=FORMAT_VERSION))
    return group


def read_group(doc: Doc, spans_key: str, words: WordMap) -> list[Constituent]:
    """Read a doc's constituents in pre-order, whatever the order of the group.

    Spans with equal bounds keep the group's order, which is that of their unary chain. If the group lists constituents
    before those that contain them, that order cannot be trusted.

    doc (Doc): The doc.
    spans_key (str): Key of the group in `doc.spans`.
    words (WordMap): From `map_words(doc)`.
    RETURNS (list[Constituent]): The constituents of all sentences, over the words of the doc.
    RAISES (ValueError): If there are no constituents (see `get_group`), if one covers no word, if two cross, if the
        order of a unary chain is unknown, or if the doc was retokenized since.
    """
    before = words.before
    first_chars, lengths = doc.to_array(["IDX", "LENGTH"]).T.tolist()
    names: dict[int, str] = {}
    rows: list[_Row] = []
    group = get_group(doc, spans_key)
    try:
        for position, span in enumerate(group):
            start, end, label = span.start, span.end, span.label
            name = names.get(label)
            if name is None:
                name = names[label] = span.label_
            if before[start] >= before[end]:
                raise ValueError(Errors.E303.format(key=spans_key, label=name, start=start, end=end))
            if span.start_char != first_chars[start] or span.end_char != first_chars[end - 1] + lengths[end - 1]:
                raise ValueError(Errors.E310.format(key=spans_key))
            rows.append((before[start], -before[end], position, name))
    except IndexError as err:  # spaCy's retokenizer leaves groups as they are, with spans beyond the end of the doc
        raise ValueError(Errors.E310.format(key=spans_key)) from err
    rows.sort()
    _check_nesting(doc, spans_key, words, rows)
    return [Constituent(start, -minus_end, label) for start, minus_end, _, label in rows]


def text_of(doc: Doc, words: WordMap, start: int, end: int) -> str:
    """The text of the words start..end, cut in the middle where it is long, for messages."""
    text = str(doc[words.tokens[start] : words.tokens[end - 1] + 1].text)
    return text if len(text) <= 80 else f"{text[:50]} ... {text[-25:]}"


def _check_nesting(doc: Doc, spans_key: str, words: WordMap, rows: list[_Row]) -> None:
    """Raise if constituents in pre-order cross, or if a chain among them may be upside down."""

    def text(row: _Row) -> str:
        return text_of(doc, words, row[0], -row[1])

    above: list[_Row] = []  # the open constituents
    bottom_up: tuple[_Row, _Row] | None = None  # a constituent that the group lists before one that contains it
    chain: tuple[_Row, _Row] | None = None  # two labels over the same words
    for row in rows:
        while above and -above[-1][1] <= row[0]:
            above.pop()
        if above:
            upper = above[-1]
            if row[1] < upper[1]:
                raise ValueError(Errors.E301.format(key=spans_key, first=text(upper), second=text(row)))
            if row[:2] == upper[:2]:
                if row[3] != upper[3]:
                    chain = chain or (upper, row)
            elif upper[2] > row[2]:
                bottom_up = bottom_up or (row, upper)
        above.append(row)
    if bottom_up and chain:
        (lower, around), labels = bottom_up, f"{chain[0][3]} and {chain[1][3]}"
        raise ValueError(
            Errors.E304.format(key=spans_key, lower=text(lower), upper=text(around), chain=labels, text=text(chain[0]))
        )


class GroupCache(Generic[ValueT]):
    """Keeps what was made of the constituents of docs, outside the docs and for as long as they live.

    A value is made anew when `doc.spans[key]` is another group than it was, and when the number of its spans or of the
    doc's tokens has changed. That is all: spans replaced within the group (`group[i] = span`) and sentence boundaries
    moved later are not noticed. `doc.spans[key] = list(doc.spans[key])` makes another group.
    """

    def __init__(self) -> None:
        self._kept: WeakKeyDictionary[Doc, dict[str, tuple[SpanGroup, tuple[int, int], ValueT]]] = WeakKeyDictionary()

    def __len__(self) -> int:
        return len(self._kept)

    def __reduce__(self) -> tuple[Callable[[], "GroupCache[ValueT]"], tuple[()]]:
        return GroupCache, ()  # a copy in another process starts empty

    def get(self, doc: Doc, spans_key: str, make: Callable[[], ValueT]) -> ValueT:
        """The value for a doc.

        doc (Doc): The doc.
        spans_key (str): Key of the group in `doc.spans`.
        make (Callable[[], ValueT]): Makes the value. It must not refer to the doc, which would then never be freed.
        RETURNS (ValueT): The value.
        RAISES (ValueError): If there are no constituents (see `get_group`).
        """
        group = get_group(doc, spans_key)  # refers to its doc weakly
        size = (len(group), len(doc))
        by_key = self._kept.setdefault(doc, {})
        kept = by_key.get(spans_key)
        if kept is None or kept[0] is not group or kept[1] != size:
            kept = by_key[spans_key] = (group, size, make())
        return kept[2]

    def clear(self) -> None:
        self._kept.clear()
