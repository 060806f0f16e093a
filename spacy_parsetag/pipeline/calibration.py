"""A temperature for the scores of a trained pipe, so that its probabilities mean what they say."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray
from spacy.language import Language
from spacy.tokens import Doc
from spacy.training import Example
from spacy.util import minibatch

from ..decode import StackBound, TagScores
from ..ml.losses import negative_log_likelihood
from ..tokens.sentences import sentence_starts
from ..tokens.spans import is_partial, parses_from_doc
from ..trees import Parse, binarize
from .parsetag import ParseTagger
from .probabilities import Spans, probability_notes, scale_scores, spans_of_ids

_WIDEST = 3.0  # temperatures from exp(-3) to exp(3)
_STEPS = 16  # halvings of that range


@dataclass
class Judged:
    """What was found in some sentences: how probable it is, and whether it is right.

    probs, right (list): Of each constituent that was found.
    tree_probs, trees_right (list): Of each sentence's tree.
    """

    probs: list[float] = field(default_factory=list)
    right: list[bool] = field(default_factory=list)
    tree_probs: list[float] = field(default_factory=list)
    trees_right: list[bool] = field(default_factory=list)


@dataclass
class GoldBatch:
    """Scores of sentences with gold trees, at a temperature of 1.

    batch (TagScores): The scores.
    ids (np.ndarray): (R,) gold tag ids, -1 for one that the model does not know.
    trees (list[Spans]): The gold constituents of each sentence.
    parses (list[Parse]): The gold trees.
    """

    batch: TagScores
    ids: NDArray[Any]
    trees: list[Spans]
    parses: list[Parse]


def score_gold_docs(
    nlp: Language, pipe: ParseTagger, golds: Iterable[Doc], batch_size: int = 32
) -> Iterator[GoldBatch]:
    """Score the sentences of gold docs, on their own words and sentence boundaries.

    nlp (Language): The pipeline; its components before the parser run.
    pipe (ParseTagger): The parser.
    golds (Iterable[Doc]): Docs with gold trees; partial ones, and those without trees, are left out.
    batch_size (int): Docs in a batch.
    YIELDS (GoldBatch): Batch after batch.
    """
    key = pipe.cfg["spans_key"]
    first = [other for _, other in nlp.pipeline].index(pipe)
    whole = (doc for doc in golds if len(doc) and key in doc.spans and not is_partial(doc, key))
    with nlp.select_pipes(disable=nlp.pipe_names[first:]):
        for references in minibatch(whole, size=batch_size):
            examples = []
            for gold in references:
                is_start = np.zeros(len(gold), dtype=bool)
                is_start[sentence_starts(gold)] = True
                words, spaces = [token.text for token in gold], [bool(token.whitespace_) for token in gold]
                predicted = Doc(nlp.vocab, words=words, spaces=spaces, sent_starts=is_start.tolist())
                examples.append(Example(predicted, gold))
            for eg, doc in zip(examples, nlp.pipe([eg.predicted for eg in examples]), strict=True):
                eg.predicted = doc
            yield score_gold(pipe, examples)


def score_gold(pipe: ParseTagger, examples: Sequence[Example]) -> GoldBatch:
    """Score the sentences of reference docs, whose words the predicted docs have too.

    pipe (ParseTagger): The parser; its temperature does not count.
    examples (Sequence[Example]): Predicted docs that the components before the parser have seen.
    RETURNS (GoldBatch): The scores and the gold trees.
    """
    parses = [parses_from_doc(eg.reference, pipe.cfg["spans_key"]) for eg in examples]
    docs: list[Doc] = [eg.predicted for eg in examples]
    kept = pipe.cfg["temperature"]
    pipe.cfg["temperature"] = 1.0
    try:
        batch, _ = pipe.score_docs(docs, [[tokens for tokens, _ in own] for own in parses])
    finally:
        pipe.cfg["temperature"] = kept
    golds = [parse for own in parses for _, parse in own]
    ids = [np.append(pipe.tag_set.encode(pipe.linearizer.linearize(binarize(gold))), np.int32(-1)) for gold in golds]
    trees = [[(start, end, label) for start, end, label in gold.spans] for gold in golds]
    return GoldBatch(batch.on_cpu(), np.concatenate([np.zeros(0, dtype=np.int32), *ids]), trees, golds)


def fit_temperature(golds: Iterable[GoldBatch], max_stack: StackBound) -> float:
    """The temperature with the greatest likelihood of the gold trees; scores are divided by it.

    The log-likelihood is concave in 1 / temperature, and its slope is the score of the gold trees less the mean score
    of all trees. So halving finds where the slope is 0.

    golds (Iterable[GoldBatch]): The sentences; those with tags that the model does not know are left out.
    max_stack (int | None): The bound on the stack.
    RETURNS (float): The temperature.
    """
    golds = list(golds)
    low, high = -_WIDEST, _WIDEST
    for _ in range(_STEPS):
        middle = (low + high) / 2
        # With sharper scores the gold trees lose: the temperature is too low.
        if sum(_slope(gold, float(np.exp(-middle)), max_stack) for gold in golds) > 0:
            low = middle
        else:
            high = middle
    return round(float(np.exp((low + high) / 2)), 4)


def _slope(gold: GoldBatch, factor: float, max_stack: StackBound) -> float:
    """Mean score of all trees less that of the gold trees, where scores count `factor` times."""
    batch = gold.batch
    _, gradient = negative_log_likelihood(scale_scores(batch, factor), gold.ids, max_stack)
    slope = _sum_of_products(gradient.scores, batch.scores)
    if batch.spans is not None and gradient.spans is not None:
        slope += _sum_of_products(gradient.spans.scores, batch.spans.scores)
    if batch.transitions is not None and gradient.transitions is not None:
        pairs = zip(gradient.transitions[:3], batch.transitions[:3], strict=True)
        slope += sum(_sum_of_products(*pair) for pair in pairs)
    return slope


def _sum_of_products(gradient: NDArray[Any], scores: NDArray[Any]) -> float:
    """What nothing reads has no gradient, and may be no number."""
    return float(np.where(gradient != 0, gradient.astype(np.float64) * scores, 0.0).sum())


def judge(pipe: ParseTagger, golds: Iterable[GoldBatch], temperature: float) -> Judged:
    """Decode at a temperature, and compare with the gold trees.

    pipe (ParseTagger): The parser, for its decoder.
    golds (Iterable[GoldBatch]): The sentences.
    temperature (float): What scores are divided by.
    RETURNS (Judged): Probabilities of what was found, and what of it is right.
    """
    judged = Judged()
    for gold in golds:
        batch = scale_scores(gold.batch, 1.0 / temperature)
        ids = pipe.decoder(batch).ids
        trees = spans_of_ids(ids, batch)
        notes = probability_notes(batch, ids, trees, pipe.max_stack)
        for found, true, probs, log_prob in zip(trees, gold.trees, notes["probs"], notes["log_probs"], strict=True):
            judged.probs.extend(probs)
            judged.right.extend(span in true for span in found)
            judged.tree_probs.append(float(np.exp(log_prob)))
            judged.trees_right.append(found == true)
    return judged
