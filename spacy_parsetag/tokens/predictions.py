"""The prediction for each sentence of a doc: written to `doc.spans` and its attrs, and read from there."""

from collections.abc import Iterable, Sequence
from itertools import islice
from typing import Any, NamedTuple

from spacy.tokens import Doc

from ..errors import Errors
from ..trees import Constituent, Parse
from .groups import SPANS_KEY, SentenceParse, parses_from_doc, set_parses

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


def set_predictions(doc: Doc, predictions: Sequence[Prediction], *, spans_key: str = SPANS_KEY, k: int = 0) -> None:
    """Write predictions to a doc, in place of the constituents that it has.

    doc (Doc): The doc.
    predictions (Sequence[Prediction]): One for each sentence with words, in order.
    spans_key (str): Key of the group in `doc.spans`. Its attrs get "probs", one for each span, and for each sentence
        "log_probs", "entropies", "expected_f", "k_best", "rivals", "beam_widths" and "dropped_constraints", where
        there are any.
    k (int): Number of best trees that were asked for, which attrs keep as "k".
    RAISES (ValueError): If a constituent lies outside its sentence.
    """
    attrs: dict[str, Any] = {"k": k} if k and predictions else {}
    for field, key in _ATTRS.items():
        values = [getattr(one, field) for one in predictions]
        if any(value is not None for value in values):
            attrs[key] = values
    # Lists, as they come back from bytes.
    if "rivals" in attrs:
        attrs["rivals"] = [[list(rival) for rival in own] for own in attrs["rivals"]]
    if "k_best" in attrs:
        attrs["k_best"] = [[[p, [list(span) for span in own]] for p, own in trees] for trees in attrs["k_best"]]
    if any(one.probs is not None for one in predictions):
        attrs["probs"] = [prob for one in predictions for prob in one.probs or ()]
    set_parses(doc, [one[:2] for one in predictions], spans_key=spans_key, attrs=attrs)


def predictions_from_doc(doc: Doc, spans_key: str = SPANS_KEY) -> list[tuple[Prediction, Parse]]:
    """Read the prediction for each sentence of a doc, and its parse.

    doc (Doc): The doc.
    spans_key (str): Key of the group in `doc.spans`.
    RETURNS (list[tuple[Prediction, Parse]]): In the order of the sentences that have words.
    RAISES (ValueError): As `parses_from_doc`; and if attrs do not fit these sentences and constituents.
    """
    sentences = parses_from_doc(doc, spans_key)
    attrs: dict[str, Any] = doc.spans[spans_key].attrs
    known = {field: attrs[key] for field, key in _ATTRS.items() if key in attrs}
    n_spans = sum(len(parse.spans) for _, parse in sentences)
    expected = [(len(sentences), values) for values in known.values()]
    if any(len(values) != n for n, values in [*expected, (n_spans, attrs.get("probs", range(n_spans)))]):
        raise ValueError(Errors.E321.format(key=spans_key))
    probs = iter(attrs.get("probs", ()))
    found = []
    for s, (tokens, parse) in enumerate(sentences):
        values = {field: own[s] for field, own in known.items()}
        if "probs" in attrs:
            values["probs"] = list(islice(probs, len(parse.spans)))
        found.append((Prediction(tokens, parse.spans, **values), parse))
    return found


def with_spans(parse: Parse, spans: Iterable[Sequence[Any]]) -> Parse:
    """Put other constituents over the words of a parse: (start, end, label) each, as attrs have them."""
    return Parse(parse.words, parse.pos, tuple(Constituent(*span) for span in spans))


def sentence_with(sentence: SentenceParse, spans: Iterable[Sequence[Any]]) -> SentenceParse:
    """Put other constituents over the words of a sentence."""
    return SentenceParse(sentence.tokens, with_spans(sentence.parse, spans))
