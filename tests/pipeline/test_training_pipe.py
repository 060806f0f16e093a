"""Initialization, updates and labels of the pipe."""

import json
import warnings
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
import spacy
from spacy.cli import app
from spacy.language import Language
from spacy.tokens import Doc, DocBin
from spacy.training import Example
from spacy.training.initialize import init_nlp
from tiny import ORDERS, TINY_MODEL, TREES, gold_doc, make_examples, make_nlp, spans_of, train, words_only
from typer.testing import CliRunner

from spacy_parsetag.linearize import ORDERS as LINEARIZERS
from spacy_parsetag.ml.resize import RESIZE


@pytest.mark.parametrize("order", ORDERS)
def test_initialize_examples(order: str) -> None:
    nlp = make_nlp(order)
    examples = make_examples(nlp)
    nlp.initialize(lambda: examples)
    pipe = nlp.get_pipe("parsetag")
    assert pipe.labels == tuple(pipe.tag_set.tags) and {"l", "r", "L", "R", "L/S", "R/S+VP"} <= set(pipe.labels)
    assert pipe.constituent_labels == ("ADVP", "FRAG", "INTJ", "NP", "PP", "PRN", "S", "VP")
    assert pipe.model.get_dim("nO") == 2 * len(pipe.labels)
    assert pipe.label_data["order"] == order and pipe.label_data["max_stack"] >= 3
    json.dumps(pipe.cfg)
    # Again, with the same data.
    nlp.initialize(lambda: examples)
    with pytest.raises(TypeError, match=r"E978.*ParseTagger\.initialize.*Example"):
        nlp.initialize(lambda: examples[0])  # type: ignore[arg-type,return-value]
    with pytest.raises(TypeError, match=r"E930.*list"):
        nlp.initialize(examples)  # type: ignore[arg-type]


def test_label_data_do_not_depend_on_the_order_of_examples() -> None:
    """Ids of tags, and the largest stack, which not the last tree needs."""
    data = []
    for trees in (TREES, TREES[::-1]):
        nlp = make_nlp()
        examples = make_examples(nlp, trees)
        nlp.initialize(lambda examples=examples: examples)
        data.append(nlp.get_pipe("parsetag").label_data)
    assert data[0] == data[1] and data[0]["max_stack"] > 1


def test_more_labels_than_the_model_has() -> None:
    nlp = make_nlp()
    few, all_of_them = make_examples(nlp, TREES[:2]), make_examples(nlp)
    nlp.initialize(lambda: few)
    pipe = nlp.get_pipe("parsetag")
    before = pipe.labels
    del next(node for node in pipe.model.walk() if RESIZE in node.attrs).attrs[RESIZE]  # as a learner of somebody's own
    with pytest.raises(ValueError, match=r"\[E256\].*'parsetag' scores \d+ tags.*PRN"):
        nlp.initialize(lambda: all_of_them)
    assert pipe.labels == before


@pytest.mark.parametrize("order", ORDERS)
def test_initialize_from_label_files(order: str, tmp_path: Path) -> None:
    """`spacy init labels` writes what `spacy.read_labels.v1` gives back to `initialize`."""
    nlp = make_nlp(order)
    docs = [gold_doc(nlp, tree) for tree in TREES]
    DocBin(docs=docs).to_disk(tmp_path / "train.spacy")
    config = nlp.config.copy()
    config["paths"].update({"train": str(tmp_path / "train.spacy"), "dev": str(tmp_path / "train.spacy")})
    config.to_disk(tmp_path / "config.cfg")
    done = CliRunner().invoke(app, ["init", "labels", str(tmp_path / "config.cfg"), str(tmp_path)])
    assert done.exit_code == 0, done.output
    from_data = init_nlp(spacy.util.load_config(tmp_path / "config.cfg"), use_gpu=-1)
    reader = {"@readers": "spacy.read_labels.v1", "path": str(tmp_path / "parsetag.json"), "require": True}
    config["initialize"]["components"] = {"parsetag": {"labels": reader}}
    config.to_disk(tmp_path / "config.cfg")
    from_labels = init_nlp(spacy.util.load_config(tmp_path / "config.cfg"), use_gpu=-1)
    first, second = (made.get_pipe("parsetag") for made in (from_data, from_labels))
    assert first.label_data == second.label_data and first.cfg == second.cfg
    assert first.model.get_dim("nO") == second.model.get_dim("nO")


@pytest.mark.parametrize(
    "labels",
    [
        ["l", "r"],
        {"labels": []},
        "l",
        {"tags": None},
        {"tags": [], "order": "in"},
        {"tags": ["L/S"], "order": None},
        {"tags": "l"},
        {"tags": [1]},
        {"tags": ["l"], "max_stack": -4},  # what no saved pipe may have: it could not be loaded
        {"tags": ["l"], "max_stack": "3"},
        {"tags": ["l"], "max_stack": None},
    ],
)
def test_wrong_label_data(labels: object) -> None:
    nlp = make_nlp()
    examples = make_examples(nlp)
    with pytest.raises(ValueError, match=r"\[E252\]"):
        nlp.get_pipe("parsetag").initialize(lambda: examples, nlp=nlp, labels=labels)


def test_label_data_of_another_order() -> None:
    nlp = make_nlp("in")
    examples = make_examples(nlp)
    with pytest.raises(ValueError, match=r"\[E258\].* are post-order tags, and its linearizer is in-order"):
        nlp.get_pipe("parsetag").initialize(lambda: examples, nlp=nlp, labels={"tags": ["L/S"], "order": "post"})


@pytest.mark.parametrize("tag", ["S", "l/", "R/S++VP", "L/S\\"])
def test_label_data_that_are_no_tags(tag: str) -> None:
    nlp = make_nlp()
    examples = make_examples(nlp)
    with pytest.raises(ValueError, match=r"\[E005\]|\[E052\]"):
        nlp.get_pipe("parsetag").initialize(lambda: examples, nlp=nlp, labels={"tags": [tag]})
    assert nlp.get_pipe("parsetag").labels == ()


def test_no_data() -> None:
    nlp = make_nlp()
    no_trees = [Example(nlp.make_doc(text), nlp.make_doc(text)) for text in ("Some words", "and more")]
    with pytest.raises(ValueError, match=r"\[E251\].*'constituents'\]; they have no groups of spans\."):
        nlp.initialize(lambda: no_trees)
    no_trees[1].reference.spans["phrases"] = [no_trees[1].reference[:1]]
    with pytest.raises(ValueError, match=r"\[E251\].*they have 'phrases'\. .*spans_key"):
        nlp.initialize(lambda: no_trees)
    with pytest.raises(ValueError, match=r"\[E251\]"):
        nlp.initialize()
    with pytest.raises(ValueError, match=r"E143"):
        make_nlp()("Not initialized")
    with pytest.raises(ValueError, match=r"E143"):
        nlp.update(make_examples(nlp))


def test_incomplete_data() -> None:
    """Docs without constituents train nothing, and hurt nothing."""
    nlp = make_nlp()
    examples = make_examples(nlp)
    plain = [Example(nlp.make_doc(text), nlp.make_doc(text)) for text in ("No tree here", "", "Nor here .")]
    mixed = [plain[0], *examples, *plain[1:]]
    losses = train(nlp, mixed)
    assert 0 < losses["parsetag"] < 1
    gold = examples[0].reference
    assert spans_of(nlp(words_only(nlp, gold))) == spans_of(gold)


def test_update_without_gold() -> None:
    nlp = make_nlp()
    examples = make_examples(nlp)
    optimizer = nlp.initialize(lambda: examples)
    plain = [Example(nlp.make_doc(text), nlp.make_doc(text)) for text in ("No tree here", "")]
    before = nlp.get_pipe("parsetag").model.to_bytes()
    for batch in ([], plain, plain[1:]):
        losses = nlp.update(batch, sgd=False, losses={})
        assert losses.get("parsetag", 0.0) == 0.0
    for node in nlp.get_pipe("parsetag").model.walk():
        assert not any(node.get_grad(name).any() for name in node.grad_names)
    assert nlp.get_pipe("parsetag").model.to_bytes() == before
    nlp.update(plain, sgd=optimizer)


def test_unknown_tags_in_update() -> None:
    """Labels that appear after initialization are left out of the loss."""
    nlp = make_nlp()
    few, all_of_them = make_examples(nlp, TREES[:1]), make_examples(nlp)
    optimizer = nlp.initialize(lambda: few)
    labels = nlp.get_pipe("parsetag").labels
    for _ in range(3):
        losses = nlp.update(all_of_them, sgd=optimizer, losses={})
        assert np.isfinite(losses["parsetag"]) and losses["parsetag"] > 0
    assert nlp.get_pipe("parsetag").labels == labels
    parsed = [nlp(eg.reference.text) for eg in all_of_them]
    found = {span.label_ for doc in parsed for span in doc.spans["constituents"]}
    assert found <= {span.label_ for span in few[0].reference.spans["constituents"]}


def test_add_label() -> None:
    nlp = make_nlp()
    pipe = nlp.get_pipe("parsetag")
    assert pipe.add_label("NP") == 1
    assert pipe.labels == ("l", "l/NP", "r", "r/NP", "L", "L/NP", "R", "R/NP")
    assert pipe.add_label("NP") == 0 and pipe.add_label("R/NP") == 0 and pipe.add_label("R") == 0
    assert pipe.add_label("R/S+VP") == 1 and "R/S+VP" in pipe.labels and "L/S+VP" not in pipe.labels
    assert pipe.add_label("A+B\\C") == 1 and r"l/A\+B\\C" in pipe.labels
    assert "A+B\\C" in pipe.constituent_labels
    for label in (3, None, ("NP",)):
        with pytest.raises(ValueError, match=r"\[E255\]"):
            pipe.add_label(label)
    for label in ("", "l/"):
        with pytest.raises(ValueError, match=r"\[E052\]"):
            pipe.add_label(label)
    with pytest.raises(ValueError, match=r"\[E005\]"):
        pipe.add_label("R/S+")
    examples = make_examples(nlp, TREES[:1])
    optimizer = nlp.initialize(lambda: examples)
    assert {r"l/A\+B\\C", "L/S"} <= set(pipe.labels)
    assert pipe.model.get_dim("nO") == 2 * len(pipe.labels)
    nlp.update(examples, sgd=optimizer)
    # To a model that is there, too.
    assert pipe.add_label("NP") == 0 and pipe.add_label("QP") == 1 and "L/QP" in pipe.labels
    assert pipe.model.get_dim("nO") == 2 * len(pipe.labels)
    nlp.update(examples, sgd=nlp.resume_training())
    nlp("Still works .")


def test_changed_linearizer(trained: Callable[[str], Language]) -> None:
    """Scores for the tags of one order mean nothing in another."""
    source = trained("in")
    nlp = make_nlp("in")
    examples = make_examples(nlp)
    nlp.initialize(lambda: examples)
    nlp.from_bytes(source.to_bytes())
    nlp.get_pipe("parsetag").linearizer = LINEARIZERS["post"]
    for run in (lambda: nlp("Any text ."), lambda: nlp.update(examples), lambda: nlp.evaluate(examples)):
        with pytest.raises(ValueError, match=r"\[E253\].*trained with in-order tags.*now post-order"):
            run()


def test_wrong_parts() -> None:
    nlp = make_nlp()
    pipe = nlp.get_pipe("parsetag")
    parts = {"linearizer": pipe.linearizer, "decoder": pipe.decoder, "loss": pipe.loss}
    for name in parts:
        with pytest.raises(ValueError, match=rf"\[E254\].*not a {name}"):
            type(pipe)(nlp.vocab, pipe.model, **{**parts, name: "in"})
    for name in ("decoder", "loss"):  # a class, where someone forgot the parentheses
        with pytest.raises(ValueError, match=rf"\[E254\].*not a {name}"):
            setattr(pipe, name, type(parts[name]))
    # A decoder and a loss are both called, with other arguments.
    for name, other in (("decoder", "loss"), ("loss", "decoder"), ("linearizer", "loss")):
        with pytest.raises(ValueError, match=rf"\[E254\].*not a {name}"):
            type(pipe)(nlp.vocab, pipe.model, **{**parts, name: parts[other]})
    functions = {"decoder": lambda trees: pipe.decoder(trees), "loss": lambda batch, gold: pipe.loss(batch, gold)}
    assert type(pipe)(nlp.vocab, pipe.model, **{**parts, **functions}).loss is functions["loss"]


def test_the_model_of_another_component() -> None:
    nlp = make_nlp(model={"@architectures": "spacy.Tagger.v2", "tok2vec": TINY_MODEL["tok2vec"]})
    examples = make_examples(nlp)
    nlp.initialize(lambda: examples)
    for run in (lambda: nlp("Any text ."), lambda: nlp.update(examples)):
        with pytest.raises(ValueError, match=r"\[E217\].*'parsetag' gives list, .*spacy-parsetag\.Tags\.v1"):
            run()


def test_other_spans_key(tmp_path: Path) -> None:
    nlp = make_nlp(spans_key="phrases")
    docs = []
    for tree in TREES:
        doc = gold_doc(nlp, tree)
        doc.spans["phrases"] = list(doc.spans["constituents"])
        del doc.spans["constituents"]
        docs.append(doc)
    examples = [Example(words_only(nlp, doc), doc) for doc in docs]
    nlp.config["training"]["score_weights"] = {"parsetag_f": 1.0}  # as the shipped configs have it
    with pytest.warns(UserWarning, match=r"\[W258\].*'phrases'.*parsetag_phrases_f = 1\.0"):
        nlp.initialize(lambda: examples)
    unscored = make_nlp(spans_key="phrases", scorer=None)
    unscored.config["training"]["score_weights"] = {"tag_acc": 1.0}
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        unscored.initialize(lambda: examples)
    nlp.config["training"]["score_weights"] = {"parsetag_phrases_f": 1.0}
    train(nlp, examples)
    nlp.to_disk(tmp_path)
    for pipeline in (nlp, spacy.load(tmp_path)):
        parsed = pipeline(words_only(pipeline, docs[0]))
        assert list(parsed.spans) == ["phrases"] and spans_of(parsed, "phrases") == spans_of(docs[0], "phrases")
        assert pipeline.evaluate([Example(words_only(nlp, doc), doc) for doc in docs])["parsetag_phrases_f"] == 1.0
    # It is a setting: the config's counts, not that of the pipeline that was saved.
    renamed = spacy.load(tmp_path, config={"components.parsetag.spans_key": "mine"})
    parsed = renamed(words_only(renamed, docs[0]))
    assert list(parsed.spans) == ["mine"] and spans_of(parsed, "mine") == spans_of(docs[0], "phrases")
    renamed.get_pipe("parsetag").from_bytes(nlp.get_pipe("parsetag").to_bytes())
    assert list(renamed(words_only(renamed, docs[0])).spans) == ["mine"]


@pytest.mark.parametrize("other", ["parsetag", "parsetag_ensemble"])
def test_two_parsers_of_one_group(other: str) -> None:
    nlp = make_nlp()
    nlp.add_pipe(other, name="second")
    with nlp.select_pipes(disable="second"):  # as spaCy does where it is frozen
        with pytest.warns(UserWarning, match=r"\[W260\].*'constituents'.*: 'parsetag', 'second'"):
            nlp.initialize(lambda: make_examples(nlp))
        nlp.get_pipe("second").spans_key = "mine"
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            nlp.initialize(lambda: make_examples(nlp))


def test_frozen_and_annotating_components(monkeypatch: pytest.MonkeyPatch) -> None:
    """A frozen parser does not move; an annotating one sets its trees on the predicted docs."""
    nlp = make_nlp()
    examples = make_examples(nlp)
    optimizer = nlp.initialize(lambda: examples)
    pipe = nlp.get_pipe("parsetag")
    before = pipe.model.to_bytes()
    nlp.update(examples, sgd=optimizer, exclude=["parsetag"])
    assert pipe.model.to_bytes() == before
    annotated: list[Doc] = []
    set_annotations = pipe.set_annotations
    monkeypatch.setattr(
        pipe, "set_annotations", lambda docs, parsed: [set_annotations(docs, parsed), annotated.extend(docs)]
    )
    nlp.update(examples, sgd=optimizer, annotates=["one_sentence", "parsetag"])
    assert pipe.model.to_bytes() != before
    assert len(annotated) == len(examples) and all("constituents" in doc.spans for doc in annotated)


def test_use_params(trained: Callable[[str], Language]) -> None:
    nlp = trained("in")
    gold = gold_doc(nlp, TREES[0])
    model = nlp.get_pipe("parsetag").model
    zeros = {(node.id, name): node.get_param(name) * 0 for node in model.walk() for name in node.param_names}
    right = spans_of(nlp(words_only(nlp, gold)))
    with nlp.use_params(zeros):
        assert spans_of(nlp(words_only(nlp, gold))) != right
    assert spans_of(nlp(words_only(nlp, gold))) == right == spans_of(gold)


def test_changed_bound(trained: Callable[[str], Language], tmp_path: Path) -> None:
    source = trained("in")
    source.to_disk(tmp_path)
    largest = source.get_pipe("parsetag").label_data["max_stack"]
    nlp = spacy.load(tmp_path, config={"components": {"parsetag": {"max_stack": largest}}})
    gold, pipe = gold_doc(nlp, TREES[0]), nlp.get_pipe("parsetag")
    for bound, number in ((largest, largest), (None, None), ("train", largest)):
        pipe.max_stack = bound
        assert pipe.bound == number
        assert spans_of(nlp(words_only(nlp, gold))) == spans_of(gold)
    pipe.max_stack = 0
    with pytest.raises(ValueError, match=r"\[E152\].*stack bound of 0"):
        nlp(words_only(nlp, gold))


def test_label_data_survive_a_blank_doc() -> None:
    """Examples may hold empty docs."""
    nlp = make_nlp()
    examples = [Example(Doc(nlp.vocab), Doc(nlp.vocab)), *make_examples(nlp)]
    optimizer = nlp.initialize(lambda: examples)
    assert nlp.update(examples, sgd=optimizer)["parsetag"] > 0
