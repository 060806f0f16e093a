"""A handful of trees, and small pipelines that learn them by heart, for the tests of the pipe."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import spacy
from differences import slope
from nltk import Tree
from spacy.language import Language
from spacy.tokens import Doc
from spacy.training import Example
from thinc.api import fix_random_seed
from thinc.compat import has_torch

from spacy_parsetag.decode import SpanScores, Transitions
from spacy_parsetag.ml.words import SentenceScores
from spacy_parsetag.tokens import doc_from_tree
from spacy_parsetag.treebanks.penn import read_string

needs_torch = pytest.mark.skipif(not has_torch, reason="torch is not installed")

LETTERS = "abcdefghijklmnopqrstuvwxyz.,()-"
# The vocabulary of tiny encoders.
PIECES = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *LETTERS, *(f"##{c}" for c in LETTERS), "the", "##ing", "read"]
TREES = (
    "(TOP (S (NP (PRP She)) (VP (VBZ enjoys) (S (VP (VBG reading) (NP (NNS papers))))) (. .)))",
    "(TOP (S (NP (DT The) (JJ old) (NN dog)) (VP (VBD barked) (ADVP (RB loudly)))))",
    "(TOP (NP (NP (DT a) (NN cat)) (PP (IN on) (NP (DT the) (NN mat)))))",
    "(TOP (FRAG (NP (NN Rain))))",
    "(TOP (S (NP (NNP Kim)) (VP (VP (VBZ sings)) (CC and) (VP (VBZ dances))) (PRN (-LRB- -LRB-) (ADVP (RB badly)) "
    "(-RRB- -RRB-))))",
    "(TOP (UH Yes) (, ,) (INTJ (UH please)))",
)
ORDERS: dict[str, str] = {"in": "InOrder", "pre": "PreOrder", "post": "PostOrder"}
TINY_MODEL: dict[str, Any] = {
    "@architectures": "spacy-parsetag.Tags.v1",
    "tok2vec": {
        "@architectures": "spacy.HashEmbedCNN.v2",
        "width": 32,
        "depth": 1,
        "embed_size": 200,
        "window_size": 2,
        "maxout_pieces": 2,
        "subword_features": True,
        "pretrained_vectors": None,
    },
}


LEARNERS: dict[str, dict[str, Any]] = {
    "Tags": {},
    "CRF": {"transitions": True},
    "BiLSTM": {"encoder": {"@layers": "spacy-parsetag.TorchBiLSTM.v1", "depth": 2}},
    "Spans": {"hidden_width": 32, "span_width": 32},
}


def make_nlp(order: str = "in", **config: Any) -> Language:
    """An English pipeline with a small, untrained parser."""
    nlp = spacy.blank("en")
    nlp.add_pipe("one_sentence")
    linearizer = {"@misc": f"spacy-parsetag.{ORDERS[order]}.v1"}
    nlp.add_pipe("parsetag", config={"model": TINY_MODEL, "linearizer": linearizer, **config})
    return nlp


def add_untrained_parser(nlp: Language, trees: str) -> None:
    """Add a parser that knows the labels of some trees in Penn brackets, and no language."""
    small = {"embed": {"width": 8, "rows": [50, 50, 50, 50]}, "encode": {"width": 8, "depth": 1}}
    nlp.add_pipe("parsetag", config={"model": {"tok2vec": small}})
    golds = [doc_from_tree(nlp.vocab, tree) for tree in read_string(trees)]
    nlp.initialize(lambda: [Example(nlp.make_doc(gold.text), gold) for gold in golds])


def make_learner(learner: str, order: str = "in", *, loss: str = "Tag", **settings: Any) -> Language:
    """The same with one of the learners by name, or the learner of tags with transitions or with an LSTM."""
    settings = {**LEARNERS[learner], **settings}
    if learner == "Spans":
        loss = "Tree" if settings["span_width"] else loss
    model = {
        **TINY_MODEL,
        **settings,
        "@architectures": f"spacy-parsetag.{'Spans' if learner == 'Spans' else 'Tags'}.v1",
    }
    return make_nlp(order, model=model, loss={"@misc": f"spacy-parsetag.{loss}Loss.v1"})


def gold_doc(nlp: Language, text: str) -> Doc:
    """A doc with the constituents of a tree in brackets."""
    return doc_from_tree(nlp.vocab, Tree.fromstring(text))


def make_examples(nlp: Language, trees: Any = TREES) -> list[Example]:
    """Examples whose predicted docs have the words of the gold ones, and nothing else."""
    golds = [gold_doc(nlp, tree) for tree in trees]
    return [Example(Doc(nlp.vocab, words=[token.text for token in gold]), gold) for gold in golds]


def train(nlp: Language, examples: list[Example], steps: int = 30) -> dict[str, float]:
    """Train until the pipeline knows the examples."""
    fix_random_seed(0)
    optimizer = nlp.initialize(lambda: examples)
    optimizer.learn_rate = 0.01
    losses: dict[str, float] = {}
    for _ in range(steps):
        losses = {}
        nlp.update(examples, sgd=optimizer, losses=losses)
    return losses


def spans_of(doc: Doc, key: str = "constituents") -> list[Any]:
    return [(span.start, span.end, span.label_) for span in doc.spans[key]]


def words_only(nlp: Language, gold: Doc) -> Doc:
    return Doc(nlp.vocab, words=[token.text for token in gold])


def outputs(nlp: Language) -> list[Any]:
    return [spans_of(nlp(words_only(nlp, gold_doc(nlp, tree)))) for tree in TREES]


def random_scores(pipe: Any, examples: list[Example], seed: int) -> SentenceScores:
    """Draw scores from a normal distribution, in the form in which the pipe's learner gives them."""
    random = np.random.default_rng(seed)
    predicted = pipe.model.predict([eg.predicted for eg in examples])
    spans, transitions = predicted.spans, predicted.transitions
    if spans is not None:
        spans = SpanScores(random.normal(size=spans.scores.shape), spans.starts)
    if transitions is not None:
        transitions = Transitions(*(random.normal(size=array.shape) for array in transitions))
    return replace(predicted, rows=random.normal(size=predicted.rows.shape), transitions=transitions, spans=spans)


def arrays_of(scores: SentenceScores) -> list[Any]:
    """List all that a learner scores: tags, transitions and spans."""
    spans = [] if scores.spans is None else [scores.spans.scores]
    return [scores.rows, *(scores.transitions or ()), *spans]


def check_gradient(pipe: Any, examples: list[Example], scores: SentenceScores, step: float = 1e-5) -> None:
    """Compare the gradient of a pipe's loss with finite differences, at some places of each array."""
    _, gradient = pipe.get_loss(examples, scores)
    random = np.random.default_rng(1)
    for array, d_array in zip(arrays_of(scores), arrays_of(gradient), strict=True):
        for _ in range(20):
            place = tuple(random.integers(size) for size in array.shape)
            found = slope(lambda: pipe.get_loss(examples, scores)[0], array, place, step)
            assert found == pytest.approx(d_array[place], abs=1e-6)
