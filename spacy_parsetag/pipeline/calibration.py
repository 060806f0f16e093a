"""Temperatures for the scores of a trained pipe, so that its probabilities mean what they say.

Scores are divided by a temperature wherever a probability is stated. Trees are decoded without it, so that calibration
changes none: at a temperature above 1 minimum Bayes risk would leave out constituents that are right nearly half of the
time, and F would fall. There are two temperatures, for constituents and for whole trees. Mistakes cluster in sentences
more than the scores say, so whole trees are right more often than the probabilities of their constituents imply, and
one temperature does not fit both. Each is fit to the events that its probabilities are about (Kuleshov and Liang 2015):
whether a constituent that was found is right, or whether a tree is right.
"""

from collections.abc import Callable, Iterable, Iterator
from functools import cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from spacy.language import Language
from spacy.tokens import Doc
from spacy.util import minibatch

from ..decode import Distribution, TagScores
from ..decode.trees import Spans, labelled_nodes
from ..errors import Errors
from ..tokens.groups import is_marked, parses_from_doc
from ..tokens.sentences import run_before
from ..trees import Parse
from .component import ParseTagger

_WIDEST = 2.0  # temperatures from exp(-2) to exp(2)
_NARROWEST = 0.01  # of their logarithm
_LEAST = 1e-7  # of a probability: in float32 those next to 1 are 1


class Judged(NamedTuple):
    """Things that were found: the probability of each, and whether it is right."""

    probs: list[float]
    right: list[bool]

    def loss(self) -> float:
        """The mean negative log-likelihood of what is right and what is not."""
        p = np.clip(np.asarray(self.probs, dtype=np.float64), _LEAST, 1 - _LEAST)
        return float(-np.log(np.where(self.right, p, 1 - p)).mean()) if len(p) else 0.0


class GoldBatch(NamedTuple):
    """Sentences with gold trees.

    batch (TagScores): Their scores.
    ids (np.ndarray): (R,) int32 tag ids of the trees that the pipe's decoder finds, as in `Decoded`.
    parses (list[Parse]): The gold trees.
    """

    batch: TagScores
    ids: NDArray[np.int32]
    parses: list[Parse]

    def pairs(self) -> list[tuple[Spans, Spans]]:
        """The constituents of each sentence, found and gold."""
        found = labelled_nodes(self.ids, self.batch).spans(self.batch.tags)
        return [(spans, [*parse.spans]) for spans, parse in zip(found, self.parses, strict=True)]


def score_gold_docs(nlp: Language, pipe: ParseTagger, golds: Iterable[Doc]) -> Iterator[GoldBatch]:
    """Score and parse the sentences of gold docs, on their own words and sentence boundaries.

    Components before the parser run. Docs with partial trees, and those without trees, are left out.

    RAISES (ValueError): If the pipe scores successive tags.
    """
    key = pipe.cfg["spans_key"]
    whole = (doc for doc in golds if len(doc) and key in doc.spans and not is_marked(doc, "partial", key))
    for references in minibatch(whole, size=32):
        batch, _, _ = pipe.score_docs(run_before(nlp, pipe, references))
        if batch.transitions is not None:
            raise ValueError(Errors.E273.format(name=pipe.name, nlp=nlp.path or nlp.meta["name"]))
        distribution = Distribution(batch)
        parses = [parse for gold in references for _, parse in parses_from_doc(gold, key)]
        yield GoldBatch(distribution.batch, pipe.decoder(distribution).ids, parses)


def cut_golds(golds: Iterable[GoldBatch], n: int) -> tuple[list[GoldBatch], list[GoldBatch]]:
    """Cut batches into their first n sentences and the others."""
    parts: tuple[list[GoldBatch], list[GoldBatch]] = ([], [])
    for gold in golds:
        n_first = min(n, len(gold.parses))
        n -= n_first
        for part, sentences in zip(parts, np.split(np.arange(len(gold.parses)), [n_first]), strict=True):
            if len(sentences):
                batch = gold.batch.select(sentences)
                ids = gold.ids[batch.starts.min() : batch.stops.max()]  # those of the rows that `trim` leaves
                part.append(GoldBatch(batch.trim(), ids, [gold.parses[s] for s in sentences]))
    return parts


def judge_constituents(golds: Iterable[GoldBatch], temperature: float) -> Judged:
    """Compare the constituents that were found with the gold trees; probabilities are those at a temperature."""
    judged = Judged([], [])
    for gold in golds:
        constituents = Distribution(gold.batch).at(temperature).constituents
        for s, (spans, gold_spans) in enumerate(gold.pairs()):
            judged.probs.extend(constituents.of_spans(s, spans))
            judged.right.extend(span in gold_spans for span in spans)
    return judged


def judge_trees(golds: Iterable[GoldBatch], temperature: float) -> Judged:
    """Compare the whole trees that were found with the gold trees, as `judge_constituents` does with constituents."""
    judged = Judged([], [])
    for gold in golds:
        distribution = Distribution(gold.batch).at(temperature)
        judged.probs.extend(np.exp(distribution.log_prob(distribution.likeliest(gold.ids).ids)).tolist())
        judged.right.extend(spans == gold_spans for spans, gold_spans in gold.pairs())
    return judged


def is_bound(temperature: float) -> bool:
    """Tell whether a temperature is at an end of the search range, as when all or none of the found are right."""
    return bool(abs(np.log(temperature)) > _WIDEST - 2 * _NARROWEST)


def fit_temperature(judge: Callable[[float], Judged]) -> float:
    """Find the temperature with the least negative log-likelihood, by golden-section search."""

    @cache
    def loss(log_temperature: float) -> float:
        return judge(float(np.exp(log_temperature))).loss()

    golden = (5**0.5 - 1) / 2
    low, high = -_WIDEST, _WIDEST
    while high - low > _NARROWEST:
        lower, upper = high - golden * (high - low), low + golden * (high - low)
        # One of the two was judged before: rounded, it is found in the cache.
        low, high = (low, upper) if loss(round(lower, 9)) < loss(round(upper, 9)) else (lower, high)
    return round(float(np.exp((low + high) / 2)), 3)
