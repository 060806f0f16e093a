"""`Parse` and `doc.spans`, both ways.

*She enjoys reading papers* on a `Doc`, pre-order, chains top first:

    doc.spans["constituents"]           S[0:4] NP[0:1] VP[1:4] S[2:4] VP[2:4] NP[3:4]
    doc.spans["constituents"].attrs     {"format": 1}

The group survives `DocBin`, `to_bytes`, `to_json`, `Doc.from_docs`, copying and pickling (JSON and `Doc.from_docs` keep
the spans, not the attrs). `Span.as_doc` drops all of `doc.spans`, so keep one sentence per `Doc` where docs get split.
"""

from bisect import bisect_right
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from spacy.tokens import Doc, Span, SpanGroup

from ..errors import Errors
from ..trees.parse import Constituent, Parse
from .group import FORMAT_VERSION, SPANS_KEY, read_group, text_of
from .sentences import map_words, sentence_words

NO_TAG = "X"


class SentenceParse(NamedTuple):
    """The parse of one sentence of a doc.

    tokens (Sequence[int]): The token of each word, as an index into the doc. White space tokens are left out.
    parse (Parse): The parse, its words as text.
    """

    tokens: Sequence[int]
    parse: Parse


def set_parses(
    doc: Doc,
    parses: Iterable[tuple[Sequence[int], Iterable[tuple[int, int, str]]]],
    *,
    spans_key: str = SPANS_KEY,
    attrs: Mapping[str, Any] | None = None,
) -> SpanGroup:
    """Write the constituents of a doc's sentences, in place of those it has.

    Nearly all of its time goes into making spaCy's `Span` objects, about 0.4 microseconds each. spaCy has no public
    way to fill a group without them but `SpanGroup.from_bytes`, which is no faster and takes 0.2 milliseconds a call.
    Labels are interned anew for each doc: inside `nlp.memory_zone()` strings are forgotten.

    doc (Doc): The doc.
    parses (Iterable[tuple[Sequence[int], Iterable[tuple[int, int, str]]]]): For each sentence, in the order of the
        doc, the token of each of its words (see `sentence_words`) and its constituents over these words in pre-order.
    spans_key (str): Key of the group in `doc.spans`.
    attrs (Mapping[str, Any] | None): What belongs to the parse as a whole; it must be fit for msgpack. The key
        "format" is ours.
    RETURNS (SpanGroup): The group, now in `doc.spans`.
    RAISES (ValueError): If a constituent lies outside its sentence.
    """
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


def has_parses(doc: Doc, spans_key: str = SPANS_KEY) -> bool:
    """Whether a doc has constituents; those of an empty doc, or of one without any label, are an empty group."""
    return spans_key in doc.spans


def parses_from_doc(doc: Doc, spans_key: str = SPANS_KEY) -> list[SentenceParse]:
    """Read the parse of each sentence of a doc.

    The group may be in any order in which constituents come before those within them: it is sorted into pre-order, and
    spans with equal bounds keep their order. Sentences without any word are left out.

    doc (Doc): The doc. If it has no sentence boundaries it is one sentence.
    spans_key (str): Key of the group in `doc.spans`.
    RETURNS (list[SentenceParse]): The parses. Tags are `token.tag_`, else `token.pos_`, else "X".
    RAISES (ValueError): If the doc has no constituents; if one leaves its sentence or covers no word; if two cross; if
        the order of a unary chain is unknown.
    """
    words = map_words(doc)
    sentences = sentence_words(doc)
    offsets = [words.before[tokens[0]] for tokens in sentences]  # the first word of each sentence
    spans: list[list[Constituent]] = [[] for _ in sentences]
    for start, end, label in read_group(doc, spans_key, words):
        i = bisect_right(offsets, start) - 1
        first = offsets[i]
        if end > first + len(sentences[i]):
            tokens = words.tokens[start], words.tokens[end - 1] + 1
            text = text_of(doc, words, start, end)
            raise ValueError(Errors.E302.format(key=spans_key, text=text, label=label, start=tokens[0], end=tokens[1]))
        spans[i].append(Constituent(start - first, end - first, label))
    return [
        SentenceParse(tokens, Parse(*words_and_tags(doc, tokens), tuple(constituents)))
        for tokens, constituents in zip(sentences, spans, strict=True)
    ]


def words_and_tags(doc: Doc, tokens: Sequence[int]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The text and the part of speech of some tokens, the latter `tag_`, else `pos_`, else "X"."""
    chosen = [doc[i] for i in tokens]
    return tuple(token.text for token in chosen), tuple(token.tag_ or token.pos_ or NO_TAG for token in chosen)
