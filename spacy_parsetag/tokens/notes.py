"""What a pipe said of each sentence: its tree, probabilities, and the best trees."""

from itertools import islice
from typing import Any, NamedTuple

from spacy.tokens import Doc

from .convert import parse_string
from .extensions import with_spans
from .spans import SPANS_KEY, SentenceParse, parses_from_doc

_VALUES = {"log_probs": "log_prob", "entropies": "entropy", "expected_f": "expected_f"}


class SentenceNotes(NamedTuple):
    """What there is to say of a sentence; nothing where the pipe was not told to find it.

    sentence (SentenceParse): Its tokens and its tree.
    probs (list[float]): The probability of each of its constituents.
    values (dict[str, float]): "log_prob", "entropy" and "expected_f" of the sentence.
    k_best (list[tuple[float, str]]): Log-probability and brackets of each of the best trees.
    """

    sentence: SentenceParse
    probs: list[float]
    values: dict[str, float]
    k_best: list[tuple[float, str]]


def notes_from_doc(doc: Doc, spans_key: str = SPANS_KEY) -> list[SentenceNotes]:
    """Read what the pipe said of each sentence of a doc.

    doc (Doc): The doc, parsed.
    spans_key (str): Key of the group in `doc.spans`.
    RETURNS (list[SentenceNotes]): In the order of the sentences that have words.
    """
    attrs: dict[str, Any] = doc.spans[spans_key].attrs
    probs = iter(attrs.get("probs", ()))
    found = []
    for s, sentence in enumerate(parses_from_doc(doc, spans_key)):
        values = {name: attrs[key][s] for key, name in _VALUES.items() if key in attrs}
        trees = attrs["k_best"][s] if "k_best" in attrs else ()
        k_best = [(log_prob, parse_string(with_spans(sentence.parse, own))) for log_prob, own in trees]
        found.append(SentenceNotes(sentence, list(islice(probs, len(sentence.parse.spans))), values, k_best))
    return found
