"""Writes parses and predictions to `doc.spans` and reads them back.

*She enjoys reading papers* on a `Doc`, pre-order, chains top first:

    doc.spans["constituents"]           S[0:4] NP[0:1] VP[1:4] S[2:4] VP[2:4] NP[3:4]
    doc.spans["constituents"].attrs     {"format": 1}

The group survives `DocBin`, `to_bytes`, `to_json`, `Doc.from_docs`, copying and pickling (JSON and `Doc.from_docs` keep
the spans, not the attrs). `Span.as_doc` drops all of `doc.spans`, so keep one sentence per `Doc` where docs get split.

A span over tokens becomes one over words by counting the words before each of its ends, which also trims white space
off both:

    tokens   She  enjoys  \\n  reading  papers  \\n         span over tokens  (0, 6)
    words    0    1           2        3                   the same, words   (0, 4)
"""

from bisect import bisect_right
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from itertools import islice
from operator import itemgetter
from typing import Any, Generic, Literal, NamedTuple, TypeVar
from weakref import WeakKeyDictionary

from numpy.typing import NDArray
from spacy.tokens import Doc, Span, SpanGroup

from ..errors import Errors, shorten
from ..trees.parse import Constituent, Parse
from ..trees.tree import NO_TAG
from .sentences import WordMap, map_words, sentence_words

SPANS_KEY = "constituents"
FORMAT_VERSION = 1
ValueT = TypeVar("ValueT")
# A constituent over a doc's words: first word, end, label, and its place in the group.
_Row = tuple[int, int, str, int]
# The attrs that have a value for each sentence, by the name of the field.
_ATTRS = {
    "log_prob": "log_probs",
    "entropy": "entropies",
    "expected_f": "expected_f",
    "k_best": "k_best",
    "rivals": "rivals",
    "beam_width": "beam_widths",
    "dropped_constraints": "dropped_constraints",
}


class SentenceParse(NamedTuple):
    """The parse of one sentence of a doc.

    tokens (Sequence[int]): The token of each word, as an index into the doc. White space tokens are left out.
    parse (Parse): The parse, its words as text.
    """

    tokens: Sequence[int]
    parse: Parse


class Prediction(NamedTuple):
    """The prediction for one sentence. What the pipe was not told to find is None.

    tokens (Sequence[int]): The token of each word, as an index into the doc.
    spans (list[tuple[int, int, str]]): The constituents over the words in pre-order: first word, end, label.
    probs (list[float] | None): The probability of each of them.
    log_prob (float | None): The log-probability of the tree.
    entropy (float | None): The entropy of all trees, in nats.
    expected_f (float | None): The expected F of the constituents, 0 to 1.
    k_best (list[tuple[float, list[tuple[int, int, str]]]] | None): Log-probability and constituents of the best trees,
        best first.
    rivals (list[tuple[int, int, str, float]] | None): Other constituents that are likely: first word, end, label and
        probability.
    beam_width (int | None): Sequences that a beam search kept at each step, 0 where the exact decoder took over.
    dropped_constraints (list[str] | None): The constraints that could not hold.
    """

    tokens: Sequence[int]
    spans: Sequence[tuple[int, int, str]]
    probs: Sequence[float] | None = None
    log_prob: float | None = None
    entropy: float | None = None
    expected_f: float | None = None
    k_best: Sequence[tuple[float, Sequence[Any]]] | None = None
    rivals: Sequence[Sequence[Any]] | None = None
    beam_width: int | None = None
    dropped_constraints: Sequence[str] | None = None

    @property
    def values(self) -> dict[str, float]:
        """Log-probability, entropy and expected F by name, as far as they are there."""
        named = {"log_prob": self.log_prob, "entropy": self.entropy, "expected_f": self.expected_f}
        return {name: value for name, value in named.items() if value is not None}


def set_parses(
    doc: Doc,
    parses: Iterable[tuple[Sequence[int], Iterable[tuple[int, int, str]]]],
    *,
    spans_key: str = SPANS_KEY,
    attrs: Mapping[str, Any] | None = None,
) -> SpanGroup:
    """Write the constituents of a doc's sentences, in place of those it has.

    parses (Iterable[tuple[Sequence[int], Iterable[tuple[int, int, str]]]]): For each sentence, in the order of the
        doc, the token of each of its words (see `sentence_words`) and its constituents over these words in pre-order.
    attrs (Mapping[str, Any] | None): Values for the parse as a whole, fit for msgpack. The key "format" is ours.
    RETURNS (SpanGroup): The group, now in `doc.spans`.
    RAISES (ValueError): If a constituent lies outside its sentence.
    """
    # Labels are interned anew for each doc: inside `nlp.memory_zone()` strings are forgotten. Nearly all of the time
    # goes into making spaCy's `Span` objects; its only other public way, `SpanGroup.from_bytes`, is no faster.
    ids: dict[str, int] = {}
    spans: list[Span] = []
    for tokens, constituents in parses:
        n_words = len(tokens)
        for start, end, label in constituents:
            if not 0 <= start < end <= n_words:
                raise ValueError(Errors.E003.format(span=(start, end, label), n=n_words))
            if label not in ids:
                ids[label] = doc.vocab.strings.add(label)
            spans.append(Span(doc, tokens[start], tokens[end - 1] + 1, ids[label]))
    group = SpanGroup(doc, name=spans_key, attrs={**(attrs or {}), "format": FORMAT_VERSION}, spans=spans)
    doc.spans[spans_key] = group
    return group


def set_predictions(
    doc: Doc,
    predictions: Sequence[Prediction],
    *,
    spans_key: str = SPANS_KEY,
    k: int = 0,
    fields: Collection[str] = (),
) -> None:
    """Write predictions to a doc, in place of the constituents that it has.

    predictions (Sequence[Prediction]): One for each sentence with words, in order.
    spans_key (str): Key of the group in `doc.spans`. Its attrs get "probs", one for each span, and for each sentence
        "log_probs", "entropies", "expected_f", "k_best", "rivals", "beam_widths" and "dropped_constraints", where
        there are any.
    k (int): Number of best trees that were asked for, which attrs keep as "k".
    fields (Collection[str]): Names of the fields that each prediction has, so that their lists are there, empty, where
        a doc has no sentence with words.
    RAISES (ValueError): If a constituent lies outside its sentence.
    """
    attrs: dict[str, Any] = {"k": k} if k else {}
    for field, key in _ATTRS.items():
        values = [getattr(prediction, field) for prediction in predictions]
        if any(value is not None for value in values) or (field in fields and not predictions):
            attrs[key] = values
    # Lists, as they come back from bytes.
    if "rivals" in attrs:
        attrs["rivals"] = [[list(rival) for rival in rivals] for rivals in attrs["rivals"]]
    if "k_best" in attrs:
        attrs["k_best"] = [[[p, [list(span) for span in spans]] for p, spans in trees] for trees in attrs["k_best"]]
    if any(prediction.probs is not None for prediction in predictions) or ("probs" in fields and not predictions):
        attrs["probs"] = [prob for prediction in predictions for prob in prediction.probs or ()]
    set_parses(doc, [prediction[:2] for prediction in predictions], spans_key=spans_key, attrs=attrs)


def has_parses(doc: Doc, spans_key: str = SPANS_KEY) -> bool:
    """Tell whether a doc has constituents; an empty doc, or one without any label, has an empty group."""
    return spans_key in doc.spans


def is_marked(doc: Doc, mark: Literal["partial", "soft"], spans_key: str) -> bool:
    """Tell whether a doc's group has a mark, set as in `doc.spans[spans_key].attrs["partial"] = True`. "partial" means
    that only some constituents are known, "soft" that the best trees are to be learned, by their probabilities."""
    group = doc.spans.get(spans_key)
    return group is not None and bool(group.attrs.get(mark))


def parses_from_doc(doc: Doc, spans_key: str = SPANS_KEY) -> list[SentenceParse]:
    """Read the parse of each sentence of a doc.

    The group may be in any order in which constituents come before those within them: it is sorted into pre-order, and
    spans with equal bounds keep their order. Sentences without any word are left out.

    doc (Doc): The doc. If it has no sentence boundaries it is one sentence.
    RETURNS (list[SentenceParse]): The parses. Tags are `token.tag_`, else `token.pos_`, else "X".
    RAISES (ValueError): If the doc has no constituents, or a later version of this package wrote them; if one leaves
        its sentence, covers no word or has no label; if two cross; if the order of a unary chain is unknown; if the doc
        was retokenized since.
    """
    return _read_sentences(doc, spans_key)[0]


def _read_sentences(doc: Doc, spans_key: str) -> tuple[list[SentenceParse], list[int]]:
    """Read the parse of each sentence of a doc, and the place of each of their constituents in the group."""
    words = map_words(doc)
    sentences = sentence_words(doc)
    offsets = [words.before[tokens[0]] for tokens in sentences]  # the first word of each sentence
    spans: list[list[Constituent]] = [[] for _ in sentences]
    rows = _read_group(doc, spans_key, words)
    for row in rows:
        start, end, label, _ = row
        i = bisect_right(offsets, start) - 1
        first = offsets[i]
        if end > first + len(sentences[i]):
            raise ValueError(Errors.E302.format(key=spans_key, **_describe(doc, words, row)))
        spans[i].append(Constituent(start - first, end - first, label))
    parses = [
        SentenceParse(tokens, Parse(*words_and_tags(doc, tokens), tuple(constituents)))
        for tokens, constituents in zip(sentences, spans, strict=True)
    ]
    return parses, [place for _, _, _, place in rows]


def predictions_from_doc(doc: Doc, spans_key: str = SPANS_KEY) -> list[tuple[Prediction, Parse]]:
    """Read the prediction for each sentence of a doc, and its parse.

    RETURNS (list[tuple[Prediction, Parse]]): In the order of the sentences that have words.
    RAISES (ValueError): As `parses_from_doc`; and if attrs do not fit these sentences and constituents.
    """
    sentences, places = _read_sentences(doc, spans_key)
    attrs: dict[str, Any] = doc.spans[spans_key].attrs
    by_sentence = {field: attrs[key] for field, key in _ATTRS.items() if key in attrs}
    n_spans = len(places)
    expected = [(len(sentences), values) for values in by_sentence.values()]
    if any(len(values) != n for n, values in [*expected, (n_spans, attrs.get("probs", range(n_spans)))]):
        raise ValueError(Errors.E321.format(key=spans_key))
    probs = iter([attrs["probs"][place] for place in places] if "probs" in attrs else ())
    predictions = []
    for s, (tokens, parse) in enumerate(sentences):
        fields = {field: values[s] for field, values in by_sentence.items()}
        if "probs" in attrs:
            fields["probs"] = list(islice(probs, len(parse.spans)))
        predictions.append((Prediction(tokens, parse.spans, **fields), parse))
    return predictions


def with_spans(parse: Parse, spans: Iterable[Sequence[Any]]) -> Parse:
    """Put other constituents over the words of a parse: (start, end, label) each, as attrs have them."""
    return Parse(parse.words, parse.pos, tuple(Constituent(*span) for span in spans))


def words_and_tags(doc: Doc, tokens: Sequence[int]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Read the text and the part of speech of some tokens, the latter `tag_`, else `pos_`, else "X"."""
    chosen = [doc[i] for i in tokens]
    return tuple(token.text for token in chosen), tuple(token.tag_ or token.pos_ or NO_TAG for token in chosen)


class GroupCache(Generic[ValueT]):
    """Keeps what was made of the constituents of docs, outside the docs and for as long as they live.

    A value is made anew when `doc.spans[key]` is another group than it was, and when the number of its spans or of the
    doc's tokens, its marks "partial" and "soft", or the list `attrs["k_best"]` have changed. No other change is
    noticed: spans replaced within the group (`group[i] = span`), trees replaced within that list, sentence boundaries
    moved later, or tokens merged and split so that their number stays. To check each token of a long doc would take
    many times as long as a getter. `doc.spans[key] = list(doc.spans[key])` makes another group.
    """

    def __init__(self) -> None:
        self._values: WeakKeyDictionary[Doc, dict[str, tuple[SpanGroup, tuple[Any, ...], ValueT]]] = WeakKeyDictionary()

    def __reduce__(self) -> tuple[Callable[[], "GroupCache[ValueT]"], tuple[()]]:
        return GroupCache, ()  # a copy in another process starts empty

    def get(self, doc: Doc, spans_key: str, make: Callable[[], ValueT]) -> ValueT:
        """Get the value for a doc, or make it. It must not refer to the doc, which would never be freed.

        RAISES (ValueError): If the doc has no constituents.
        """
        group = get_group(doc, spans_key)  # refers to its doc weakly
        # The list of trees itself: comparing a list with itself does not look at its items.
        state = (len(group), len(doc), *map(group.attrs.get, ("partial", "soft", "k_best")))
        by_key = self._values.setdefault(doc, {})
        entry = by_key.get(spans_key)
        if entry is None or entry[0] is not group or entry[1] != state:
            entry = by_key[spans_key] = (group, state, make())
        return entry[2]


def spans_of_group(doc: Doc, key: str, changed: str = Errors.E310) -> list[Span]:
    """Make the spans of a doc's group; a doc without it has none.

    spaCy's retokenizer does not update groups: their spans may then cover other characters, or lie beyond the end of
    the doc, where spaCy raises an error.

    changed (str): The message of the error.
    RAISES (ValueError): If the tokens of the doc have changed since the group was written.
    """
    if key not in doc.spans:
        return []
    try:
        spans = list(doc.spans[key])
    except IndexError:
        raise ValueError(changed.format(key=key)) from None
    table: NDArray[Any] = doc.to_array(["IDX", "LENGTH"])
    first_chars, lengths = table.T.tolist()
    for span in spans:
        start, end = span.start, span.end
        if start < end and (
            span.start_char != first_chars[start] or span.end_char != first_chars[end - 1] + lengths[end - 1]
        ):
            raise ValueError(changed.format(key=key))
    return spans


def get_group(doc: Doc, spans_key: str) -> SpanGroup:
    """Get the group of a doc's constituents.

    RAISES (ValueError): If there is none, or a later version of this package wrote it.
    """
    group: SpanGroup | None = doc.spans.get(spans_key)
    if group is None:
        raise ValueError(Errors.E300.format(key=spans_key, known=", ".join(map(repr, doc.spans)) or "none"))
    # Groups that users make, or that come from JSON, have no attrs.
    version = group.attrs.get("format", FORMAT_VERSION)
    if not isinstance(version, int) or version > FORMAT_VERSION:
        raise ValueError(Errors.E306.format(key=spans_key, found=version, known=FORMAT_VERSION))
    return group


def list_groups(docs: Iterable[Doc]) -> str:
    """List the keys of the groups of spans that some docs have, for a message."""
    keys = sorted({key for doc in docs for key in doc.spans})
    return shorten(", ".join(map(repr, keys)), 200) or "no groups of spans"


def _read_group(doc: Doc, spans_key: str, words: WordMap) -> list[_Row]:
    """Read a doc's constituents in pre-order, over the words of the doc, and check that they nest."""
    before = words.before
    get_group(doc, spans_key)  # raises if there is none
    rows: list[_Row] = []
    for place, span in enumerate(spans_of_group(doc, spans_key)):
        start, end, label = span.start, span.end, span.label_
        if before[start] >= before[end]:
            raise ValueError(Errors.E303.format(key=spans_key, label=label, start=start, end=end))
        rows.append((before[start], before[end], label, place))
    # Into pre-order: by first word, those of one by end, backward, and chains as they are.
    rows.sort(key=itemgetter(1), reverse=True)
    rows.sort(key=itemgetter(0))
    above: list[_Row] = []  # the open constituents
    bottom_up: tuple[_Row, _Row] | None = None  # a constituent that the group lists before one that contains it
    chain: tuple[_Row, _Row] | None = None  # two labels over the same words
    for row in rows:
        start, end, label, place = row
        while above and above[-1][1] <= start:
            above.pop()
        if above:
            upper = above[-1]
            upper_start, upper_end, upper_label, upper_place = upper
            if end > upper_end:
                first, second = (_describe(doc, words, each)["text"] for each in (upper, row))
                raise ValueError(Errors.E301.format(key=spans_key, first=first, second=second))
            if (start, end) == (upper_start, upper_end):
                if label != upper_label:
                    chain = chain or (upper, row)
            elif upper_place > place:
                bottom_up = bottom_up or (row, upper)
        above.append(row)
    if bottom_up and chain:
        lower, around, top, bottom = (_describe(doc, words, each) for each in (*bottom_up, *chain))
        labels = f"{top['label']} and {bottom['label']}"
        texts = {"lower": lower["text"], "upper": around["text"], "text": top["text"]}
        raise ValueError(Errors.E304.format(key=spans_key, chain=labels, **texts))
    for row in rows:
        if not row[2]:
            raise ValueError(Errors.E305.format(key=spans_key, **_describe(doc, words, row)))
    return rows


def _describe(doc: Doc, words: WordMap, row: _Row) -> dict[str, Any]:
    """Give the text, the label and the tokens of a constituent, for messages."""
    first, end = words.tokens[row[0]], words.tokens[row[1] - 1] + 1
    return {"text": shorten(doc[first:end].text, 80), "label": row[2], "start": first, "end": end}
