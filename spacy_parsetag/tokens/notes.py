"""What a pipe said of each sentence beside its tree: probabilities, and the best trees."""

from itertools import islice
from typing import Any, NamedTuple

from spacy.tokens import Doc

from .convert import parse_string
from .extensions import with_spans
from .spans import SPANS_KEY, parses_from_doc

_VALUES = {"log_probs": "log_prob", "entropies": "entropy", "expected_f": "expected_f"}


class SentenceNotes(NamedTuple):
    """What there is to say of a sentence; nothing where the pipe was not told to find it.

    spans (list[tuple[int, int, str]]): Its constituents.
    probs (list[float]): The probability of each.
    values (dict[str, float]): "log_prob", "entropy" and "expected_f" of the sentence.
    k_best (list[tuple[float, str]]): Log-probability and brackets of each of the best trees.
    """

    spans: list[tuple[int, int, str]]
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
    for s, (_, parse) in enumerate(parses_from_doc(doc, spans_key)):
        spans = [(start, end, label) for start, end, label in parse.spans]
        values = {name: attrs[key][s] for key, name in _VALUES.items() if key in attrs}
        trees = attrs["k_best"][s] if "k_best" in attrs else ()
        k_best = [(log_prob, parse_string(with_spans(parse, own))) for log_prob, own in trees]
        found.append(SentenceNotes(spans, list(islice(probs, len(spans))), values, k_best))
    return found
