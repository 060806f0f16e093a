"""Soft references: cross-entropy with the best trees of another parser."""

from typing import Any

import numpy as np
import pytest
from spacy.language import Language
from spacy.tokens import Doc, DocBin
from spacy.training import Example
from tiny import (
    ORDERS,
    TINY_MODEL,
    TREES,
    arrays_of,
    check_gradient,
    gold_doc,
    make_examples,
    make_nlp,
    random_scores,
    train,
)

from spacy_parsetag.pipeline.align import set_gold_sentences
from spacy_parsetag.tokens.groups import parses_from_doc, set_parses

CHART = {**TINY_MODEL, "@architectures": "spacy-parsetag.Spans.v1", "hidden_width": 32, "span_width": 32}
CRF = {**TINY_MODEL, "@architectures": "spacy-parsetag.Tags.v1", "transitions": True}
CONFIGS: list[dict[str, Any]] = [
    *({"order": order} for order in ORDERS),
    {"model": CHART},
    {"model": CRF},
    {"loss": {"@misc": "spacy-parsetag.TagLoss.v1"}},
]
# Of "a cat on the mat".
OTHERS = ("(TOP (NP (DT a) (NN cat) (PP (IN on) (NP (DT the) (NN mat)))))", TREES[2], "(TOP (NP a cat on the mat))")
PROBS = (0.4, 0.15, 0.05)


def spans_of_tree(nlp: Language, tree: str) -> list[list[Any]]:
    tree = tree.replace("a cat on the mat", "(X a) (X cat) (X on) (X the) (X mat)")
    (found,) = parses_from_doc(gold_doc(nlp, tree))
    return [list(span) for span in found.parse.spans]


def soft_doc(nlp: Language) -> Doc:
    doc = gold_doc(nlp, TREES[2])
    trees = [[float(np.log(p)), spans_of_tree(nlp, tree)] for p, tree in zip(PROBS, OTHERS, strict=True)]
    doc.spans["constituents"].attrs.update(soft=True, k_best=[trees])
    return doc


def example(gold: Doc) -> Example:
    eg = Example(Doc(gold.vocab, words=[token.text for token in gold]), gold)
    set_gold_sentences(eg)
    return eg


@pytest.mark.parametrize("config", CONFIGS, ids=str)
def test_loss_and_gradient(config: dict[str, Any]) -> None:
    """They are those of the single trees, weighted; and the gradient is that of finite differences."""
    nlp = make_nlp(**config)
    examples = [example(gold_doc(nlp, TREES[0])), example(soft_doc(nlp)), example(gold_doc(nlp, TREES[3]))]
    hard = [example(gold_doc(nlp, TREES[2])) for _ in OTHERS]
    for eg, tree in zip(hard, OTHERS, strict=True):
        set_parses(eg.reference, [(range(5), spans_of_tree(nlp, tree))])
    nlp.initialize(lambda: [*make_examples(nlp), *examples])
    pipe: Any = nlp.get_pipe("parsetag")
    scores = random_scores(pipe, examples, seed=0)
    loss, gradient = pipe.get_loss(examples, scores)
    of_trees = [pipe.get_loss([examples[0], eg, examples[2]], scores) for eg in hard]
    weights = np.asarray(PROBS) / sum(PROBS)
    assert loss == pytest.approx(sum(w * value for w, (value, _) in zip(weights, of_trees, strict=True)))
    for i, d_array in enumerate(arrays_of(gradient)):
        expected = sum(w * arrays_of(d_tree)[i] for w, (_, d_tree) in zip(weights, of_trees, strict=True))
        np.testing.assert_allclose(d_array, expected, atol=1e-6)
    check_gradient(pipe, examples, scores)


def test_nothing_to_learn_from_oneself() -> None:
    """All trees of two words, with one's own probabilities: the loss is the entropy, the gradient is zero."""
    nlp = make_nlp(model=CHART, probs=True, k_best=100_000)
    nlp.initialize(lambda: make_examples(nlp))
    doc = nlp(Doc(nlp.vocab, words=["Dogs", "bark"]))
    attrs = doc.spans["constituents"].attrs
    assert sum(np.exp(log_prob) for log_prob, _ in attrs["k_best"][0]) == pytest.approx(1)
    attrs["soft"] = True
    eg = example(doc)
    pipe: Any = nlp.get_pipe("parsetag")
    loss, gradient = pipe.get_loss([eg], pipe.model.predict([eg.predicted]))
    assert loss == pytest.approx(attrs["entropies"][0], abs=1e-4)
    assert all(np.abs(array).max() < 1e-5 for array in arrays_of(gradient))


def test_training() -> None:
    """A pipeline learns another one's probabilities, from a file, on tokens of its own."""
    nlp = make_nlp(probs=True, k_best=3)
    gold = soft_doc(nlp)
    gold = next(DocBin(docs=[gold], store_user_data=True).get_docs(nlp.vocab))
    words = ["a", "cat", "\n", "on", "the", "mat"]
    eg = Example(Doc(nlp.vocab, words=words), gold)
    train(nlp, [eg], steps=60)
    doc = nlp(Doc(nlp.vocab, words=words))
    (first, p), (second, q), _ = [(spans, np.exp(p)) for p, spans in doc.spans["constituents"].attrs["k_best"][0]]
    assert [first, second] == [spans_of_tree(nlp, tree) for tree in OTHERS[:2]]
    # The rarest tree shares parts with the others, and tags are independent.
    np.testing.assert_allclose([p, q], np.asarray(PROBS[:2]) / sum(PROBS), atol=0.05)


def test_other_best_trees_are_noticed() -> None:
    """By a pipe that has learned the doc's before."""
    nlp = make_nlp()
    eg = example(soft_doc(nlp))
    nlp.initialize(lambda: [eg])
    pipe: Any = nlp.get_pipe("parsetag")
    scores = pipe.model.predict([eg.predicted])
    losses = []
    for attrs in ({}, {"k_best": [eg.reference.spans["constituents"].attrs["k_best"][0][:1]]}):
        eg.reference.spans["constituents"].attrs.update(attrs)
        fresh = Example(eg.predicted, eg.reference.copy())
        losses += [pipe.get_loss([each], scores)[0] for each in (eg, fresh)]
    assert losses[0] == losses[1] != losses[2] == losses[3]


@pytest.mark.parametrize("known", [False, True])
def test_trees_that_do_not_fit_are_left_out(known: bool) -> None:
    """They fit if they were there when the inventory was read, though the gold tree lacks their labels."""
    nlp = make_nlp()
    eg = example(soft_doc(nlp))
    k_best = eg.reference.spans["constituents"].attrs["k_best"]
    k_best[0][0][1][0][2] = "ANOTHER"
    nlp.initialize(lambda: [*make_examples(nlp), *[eg] * known])
    pipe: Any = nlp.get_pipe("parsetag")
    (gold,) = pipe._gold.encode(eg, "constituents", pipe.tag_set, pipe.linearizer)
    weights = [0.4 / 0.6, 0.15 / 0.6, 0.05 / 0.6] if known else [0.75, 0.25]
    assert [weight for weight, _ in gold.trees] == pytest.approx(weights)


def test_trees_of_a_long_sentence() -> None:
    """Each is so improbable that its probability is no number above 0; what counts is how they compare."""
    nlp = make_nlp()
    nlp.initialize(lambda: make_examples(nlp))
    eg = example(soft_doc(nlp))
    for tree in eg.reference.spans["constituents"].attrs["k_best"][0]:
        tree[0] -= 2000
    pipe: Any = nlp.get_pipe("parsetag")
    (gold,) = pipe._gold.encode(eg, "constituents", pipe.tag_set, pipe.linearizer)
    assert [weight for weight, _ in gold.trees] == pytest.approx([0.4 / 0.6, 0.15 / 0.6, 0.05 / 0.6])


def test_best_trees_are_needed() -> None:
    nlp = make_nlp()
    nlp.initialize(lambda: make_examples(nlp))
    eg = make_examples(nlp)[0]
    eg.reference.spans["constituents"].attrs["soft"] = True
    with pytest.raises(ValueError, match="E266"):
        nlp.update([eg])
