"""Temperatures for the scores of a trained pipe, so that its probabilities mean what they say.

There are two temperatures, for constituents and for whole trees. Mistakes cluster in sentences more than the scores
say, so whole trees are right more often than the probabilities of their constituents imply, and one temperature does
not fit both. Each is fit to the events that its probabilities are about (Kuleshov and Liang 2015): whether a
constituent that was found is right, or whether a tree is right.
"""

from collections.abc import Callable, Iterable, Iterator
from functools import cache
from typing import Any, NamedTuple

import numpy as np
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
    """Scores of sentences with gold trees, at a temperature of 1."""

    batch: TagScores
    parses: list[Parse]


def score_gold_docs(nlp: Language, pipe: ParseTagger, golds: Iterable[Doc]) -> Iterator[GoldBatch]:
    """Score the sentences of gold docs, on their own words and sentence boundaries.

    Components before the parser run; its temperatures do not count. Docs with partial trees, and those without trees,
    are left out.

    RAISES (ValueError): If the pipe scores successive tags.
    """
    key = pipe.cfg["spans_key"]
    whole = (doc for doc in golds if len(doc) and key in doc.spans and not is_marked(doc, "partial", key))
    for references in minibatch(whole, size=32):
        batch, _, _ = pipe.score_docs(run_before(nlp, pipe, references), temperature=1.0)
        if batch.transitions is not None:
            raise ValueError(Errors.E273.format(name=pipe.name, nlp=nlp.path or nlp.meta["name"]))
        yield GoldBatch(batch.on_cpu(), [parse for gold in references for _, parse in parses_from_doc(gold, key)])


def cut_golds(golds: Iterable[GoldBatch], n: int) -> tuple[list[GoldBatch], list[GoldBatch]]:
    """Cut batches into their first n sentences and the others."""
    parts: tuple[list[GoldBatch], list[GoldBatch]] = ([], [])
    for gold in golds:
        n_first = min(n, len(gold.parses))
        n -= n_first
        for part, sentences in zip(parts, np.split(np.arange(len(gold.parses)), [n_first]), strict=True):
            if len(sentences):
                part.append(GoldBatch(gold.batch.select(sentences).trim(), [gold.parses[s] for s in sentences]))
    return parts


def judge_constituents(pipe: ParseTagger, golds: Iterable[GoldBatch], temperature: float) -> Judged:
    """Decode at a temperature, and compare the constituents that were found with the gold trees."""
    judged = Judged([], [])
    for distribution, _, pairs in _decode(pipe, golds, temperature):
        for s, (spans, gold_spans) in enumerate(pairs):
            judged.probs.extend(distribution.constituents.of_spans(s, spans))
            judged.right.extend(span in gold_spans for span in spans)
    return judged


def judge_trees(pipe: ParseTagger, golds: Iterable[GoldBatch], temperature: float) -> Judged:
    """Decode at the temperature of constituents, which is fit first, and compare whole trees with the gold trees."""
    judged = Judged([], [])
    of_constituents: float = pipe.cfg["temperature"]
    for distribution, ids, pairs in _decode(pipe, golds, of_constituents):
        of_trees = Distribution(distribution.batch.scaled(of_constituents / temperature))
        judged.probs.extend(np.exp(of_trees.log_prob(of_trees.likeliest(ids).ids)).tolist())
        judged.right.extend(spans == gold_spans for spans, gold_spans in pairs)
    return judged


def _decode(
    pipe: ParseTagger, golds: Iterable[GoldBatch], temperature: float
) -> Iterator[tuple[Distribution, Any, list[tuple[Spans, Spans]]]]:
    """Yield each batch's distribution, the ids that the decoder finds, and each sentence's spans, found and gold."""
    for gold in golds:
        batch = gold.batch.scaled(1.0 / temperature)
        distribution = Distribution(batch)
        ids = pipe.decoder(distribution).ids
        gold_spans: list[Spans] = [[*parse.spans] for parse in gold.parses]
        yield distribution, ids, list(zip(labelled_nodes(ids, batch).spans(batch.tags), gold_spans, strict=True))


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
