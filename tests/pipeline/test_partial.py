"""Partial trees: the likelihood sums over all trees that have the known constituents."""

import warnings
from typing import Any

import pytest
from spacy.language import Language
from spacy.tokens import Doc, Span
from spacy.training import Example
from tiny import (
    ORDERS,
    TINY_MODEL,
    TREES,
    check_gradient,
    gold_doc,
    make_examples,
    make_learner,
    make_nlp,
    random_scores,
    spans_of,
    train,
)

from spacy_parsetag.linearize import TagSet
from spacy_parsetag.pipeline.align import set_gold_sentences
from spacy_parsetag.pipeline.encode import encode_partial, partial_tags
from spacy_parsetag.trees import Parse

CHART = {**TINY_MODEL, "@architectures": "spacy-parsetag.Spans.v1", "hidden_width": 32, "span_width": 32}
KNOWN = {"NP"}


def partial_doc(nlp: Language, tree: str, labels: Any = KNOWN) -> Doc:
    """The doc of a tree with constituents of some labels only, marked as partial."""
    doc = gold_doc(nlp, tree)
    doc.spans["constituents"] = [span for span in doc.spans["constituents"] if span.label_ in labels]
    doc.spans["constituents"].attrs["partial"] = True
    return doc


def partial_examples(nlp: Language, trees: Any = TREES) -> list[Example]:
    golds = [partial_doc(nlp, tree) for tree in trees]
    return [Example(Doc(nlp.vocab, words=[token.text for token in gold]), gold) for gold in golds]


@pytest.mark.parametrize("config", [*({"order": order} for order in ORDERS), {"model": CHART}], ids=str)
def test_gradient(config: dict[str, Any]) -> None:
    """Of a batch of whole and partial trees, against finite differences."""
    nlp = make_nlp(**config)
    examples = [*make_examples(nlp, TREES[:2]), *partial_examples(nlp, TREES[1:4])]
    nlp.initialize(lambda: make_examples(nlp))
    pipe = nlp.get_pipe("parsetag")
    for eg in examples:
        set_gold_sentences(eg)
    scores = random_scores(pipe, examples, seed=0)
    assert pipe.get_loss(examples, scores)[0] > 0
    check_gradient(pipe, examples, scores)


def test_no_gradient_where_nothing_is_known() -> None:
    nlp = make_nlp()
    nlp.initialize(lambda: make_examples(nlp))
    gold = partial_doc(nlp, TREES[0], labels=())
    eg = Example(Doc(nlp.vocab, words=[token.text for token in gold]), gold)
    pipe = nlp.get_pipe("parsetag")
    loss, gradient = pipe.get_loss([eg], pipe.model.predict([eg.predicted]))
    assert loss == 0 and not gradient.rows.any()


def test_training() -> None:
    """A parser of whole trees learns from noun phrases, and does not unlearn the rest."""
    nlp = make_nlp()
    examples = [*make_examples(nlp, TREES[:3]), *partial_examples(nlp, TREES[3:])]
    losses = train(nlp, examples, steps=40)
    assert losses["parsetag"] < 1.0
    for eg in make_examples(nlp, TREES[:3]):
        assert spans_of(nlp(Doc(nlp.vocab, words=[t.text for t in eg.predicted]))) == spans_of(eg.reference)
    for eg in examples[3:]:
        found = spans_of(nlp(Doc(nlp.vocab, words=[t.text for t in eg.predicted])))
        assert set(spans_of(eg.reference)) <= set(found)


def test_only_partial_trees() -> None:
    nlp = make_nlp()
    examples = partial_examples(nlp)
    losses = train(nlp, examples, steps=40)
    assert losses["parsetag"] < 1.0
    assert nlp.get_pipe("parsetag").constituent_labels == ("NP",)
    with pytest.warns(
        UserWarning, match=r"\[W259\] All docs to score on .*'constituents'.*, 6, .* partial.*scorer = null"
    ):
        assert nlp.evaluate(examples)["parsetag_f"] is None  # nothing says what else is right


@pytest.mark.parametrize("from_labels", [False, True])
def test_transitions_do_not_go_with_partial_trees(from_labels: bool) -> None:
    """Better said before a training than at its first partial tree, but with label data nobody reads them before."""
    nlp = make_learner("CRF")
    examples = [*make_examples(nlp), *partial_examples(nlp)]
    if from_labels:
        other = make_nlp()
        other.initialize(lambda: examples)
        nlp.config["initialize"]["components"]["parsetag"] = {"labels": other.get_pipe("parsetag").label_data}
        nlp.initialize(lambda: examples)
    with pytest.raises(ValueError, match=r"\[E272\].*'parsetag'.* partial: 'She enjoys.*transitions = false"):
        if from_labels:
            nlp.update(examples)
        else:
            nlp.initialize(lambda: examples)


def test_partial_trees_add_no_labels_where_transitions_are_scored() -> None:
    nlp = make_learner("CRF")
    nlp.initialize(lambda: make_examples(nlp, TREES[:1]))
    pipe = nlp.get_pipe("parsetag")
    labels = pipe.labels
    with pytest.raises(ValueError, match=r"\[E272\].*'parsetag'.* partial"):
        pipe.add_labels_of([*make_examples(nlp), *partial_examples(nlp)])
    assert pipe.labels == labels


def test_an_unknown_label_is_counted() -> None:
    nlp = make_nlp()
    nlp.initialize(lambda: make_examples(nlp))
    gold = partial_doc(nlp, TREES[0])
    gold.spans["constituents"] = [Span(gold, 0, 2, label="XP")]
    gold.spans["constituents"].attrs["partial"] = True
    eg = Example(Doc(nlp.vocab, words=[token.text for token in gold]), gold)
    pipe = nlp.get_pipe("parsetag")
    examples = [eg, *make_examples(nlp)]
    with pytest.warns(UserWarning, match=r"W250.*XP in 'She enjoys"):
        pipe.get_loss(examples, pipe.model.predict([eg.predicted for eg in examples]))


@pytest.mark.parametrize("span, tag, n_left", [((0, 2), "LR", 1), ((1, 2), "lr", 1), ((0, 3), "LR", 0)])
def test_a_label_that_one_child_alone_may_have(span: tuple[int, int], tag: str, n_left: int) -> None:
    """Whether a known span is a left child or a right one is open: its label must be there for both. The root has the
    tag of a left child."""
    parse = Parse(("The", "dog", "barks"), ("DT", "NN", "VBZ"), ((*span, "NP"),))
    assert partial_tags(parse) == {f"{kind}/NP" for kind in tag[: n_left + 1]}
    for labels, n_unknown in ((tag[0], n_left), (tag[1], 1), (tag, 0)):
        tags = TagSet([*"lrLR", *(f"{kind}/NP" for kind in labels)], complete=False)
        (found,) = encode_partial([((0, 1, 2), parse)], tags)
        assert len(found.constraints) == 1 - n_unknown
        assert found.unknown == ("NP in 'The dog barks'" if n_unknown else "")


@pytest.mark.filterwarnings("ignore:.*W258")
def test_flat_trees_are_noticed() -> None:
    """Docs with nothing but noun phrases, not marked as partial."""
    nlp = make_nlp(spans_key="phrases")
    flat = partial_examples(nlp, TREES * 10)
    for eg in flat:
        del eg.reference.spans["constituents"].attrs["partial"]
        eg.reference.spans["phrases"] = list(eg.reference.spans["constituents"])
    with pytest.warns(UserWarning, match=r"\[W254\].*doc\.spans\['phrases'\]\.attrs\['partial'\]"):
        nlp.initialize(lambda: flat)
    for value in (False, True):
        for eg in flat:
            eg.reference.spans["constituents"].attrs["partial"] = value
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            make_nlp().initialize(lambda: flat)
        assert not any("W254" in str(warning.message) for warning in caught)
