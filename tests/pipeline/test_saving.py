"""What a trained pipe says stays the same when it is saved, copied, sourced or spread over processes."""

import pickle
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import spacy
import srsly
from spacy.language import Language
from spacy.tokens import Doc, DocBin
from tiny import ORDERS, TREES, gold_doc, make_examples, make_nlp, spans_of, train, words_only

from spacy_parsetag.tokens import doc_to_strings

TEXTS = ["She enjoys reading papers .", "a cat on the mat", "Rain", "The old dog sings and barked on papers ( badly )"]


def outputs(nlp: Language) -> list[list[object]]:
    return [spans_of(doc) for doc in nlp.pipe(TEXTS)]


@pytest.mark.parametrize("order", ORDERS)
def test_overfitting_IO(order: str, tmp_path: Path) -> None:
    nlp = make_nlp(order)
    examples = make_examples(nlp)
    losses = train(nlp, examples)
    assert losses["parsetag"] < 0.1
    for tree in TREES:
        gold = gold_doc(nlp, tree)
        assert spans_of(nlp(words_only(nlp, gold))) == spans_of(gold)
    scores = nlp.evaluate(make_examples(nlp))
    assert scores["parsetag_f"] == scores["parsetag_em"] == scores["parsetag_tag_acc"]["all"] == 1.0
    expected = outputs(nlp)

    nlp.to_disk(tmp_path)
    loaded = spacy.load(tmp_path)
    assert outputs(loaded) == expected
    assert loaded.get_pipe("parsetag").label_data == nlp.get_pipe("parsetag").label_data
    assert loaded.get_pipe("parsetag").linearizer.order == order

    again = make_nlp(order).from_bytes(loaded.to_bytes())
    assert outputs(again) == expected
    pickled = pickle.loads(pickle.dumps(again))
    assert outputs(pickled) == expected
    assert pickled.evaluate(make_examples(pickled))["parsetag_f"] == 1.0

    pipe = nlp.get_pipe("parsetag")
    other = make_nlp(order).get_pipe("parsetag").from_bytes(pipe.to_bytes())
    assert other.cfg == pipe.cfg and other.tag_set == pipe.tag_set
    # A pipe that goes on training after all this.
    optimizer = pickled.resume_training()
    assert pickled.update(make_examples(pickled), sgd=optimizer)["parsetag"] < 0.1


@pytest.mark.parametrize("pipe", ["parsetag", "parsetag_ensemble"])
def test_pickled_for_another_process(pipe: str, clean_extensions: None) -> None:
    """Unpickling registers the extensions."""
    nlp = spacy.blank("en")
    nlp.add_pipe(pipe)
    data = pickle.dumps(nlp)
    Doc.remove_extension("parse_strings")
    pickle.loads(data)
    assert Doc.has_extension("parse_strings")


def test_source(trained: Callable[[str], Language], tmp_path: Path) -> None:
    source = trained("pre")
    expected = outputs(source)
    nlp = spacy.blank("en")
    nlp.add_pipe("one_sentence")
    nlp.add_pipe("parsetag", source=source, name="constituency")
    assert outputs(nlp) == expected
    assert nlp.get_pipe("constituency").linearizer.order == "pre"
    nlp.to_disk(tmp_path)
    assert outputs(spacy.load(tmp_path)) == expected


@pytest.mark.parametrize("order", ORDERS)
def test_two_processes(order: str, trained: Callable[[str], Language]) -> None:
    nlp = trained(order)
    texts = TEXTS * 5
    one_by_one = [spans_of(nlp(text)) for text in texts]
    assert [spans_of(doc) for doc in nlp.pipe(texts, n_process=2, batch_size=3)] == one_by_one


def test_select_pipes(trained: Callable[[str], Language]) -> None:
    nlp = trained("in")
    with nlp.select_pipes(disable=["parsetag"]):
        assert "constituents" not in nlp(TEXTS[0]).spans
    with nlp.select_pipes(enable=["one_sentence", "parsetag"]):
        assert len(nlp(TEXTS[0]).spans["constituents"])
    assert "constituents" not in nlp(TEXTS[0], disable=["parsetag"]).spans


def test_predictions_travel(trained: Callable[[str], Language]) -> None:
    nlp = trained("in")
    docs = list(nlp.pipe(TEXTS))
    expected = [spans_of(doc) for doc in docs]
    strings = [doc_to_strings(doc) for doc in docs]
    stored = list(DocBin(docs=docs).get_docs(nlp.vocab))
    through_bytes = list(DocBin().from_bytes(DocBin(docs=docs).to_bytes()).get_docs(spacy.blank("en").vocab))
    as_json = [Doc(nlp.vocab).from_json(doc.to_json()) for doc in docs]
    for group in (stored, through_bytes, as_json, [doc.copy() for doc in docs], pickle.loads(pickle.dumps(docs))):
        assert [spans_of(doc) for doc in group] == expected
        assert [doc_to_strings(doc) for doc in group] == strings
    merged = Doc.from_docs(docs)
    assert merged is not None
    assert doc_to_strings(merged) == [string for doc in docs for string in doc_to_strings(doc)]


def test_memory_zone(trained: Callable[[str], Language]) -> None:
    """Strings of a zone are forgotten; labels of the pipe are there in the next one, and after it."""
    nlp = make_nlp("in").from_bytes(trained("in").to_bytes())
    expected = outputs(nlp)
    for _ in range(2):
        with nlp.memory_zone():
            assert outputs(nlp) == expected
            assert [spans_of(doc) for doc in nlp.pipe(["Unseenword enjoys Otherword .", *TEXTS])][1:] == expected
    assert outputs(nlp) == expected


def test_predict_sets_nothing(trained: Callable[[str], Language]) -> None:
    nlp = trained("in")
    pipe = nlp.get_pipe("parsetag")
    doc = nlp.get_pipe("one_sentence")(nlp.make_doc(TEXTS[0]))
    parsed = pipe.predict([doc])
    assert not doc.spans
    pipe.set_annotations([doc], parsed)
    assert spans_of(doc) == outputs(nlp)[0]
    assert pipe.predict([]) == []
    pipe.set_annotations([doc], parsed)  # anew, in place of the first
    assert spans_of(doc) == outputs(nlp)[0]


TAMPERED: list[tuple[dict[str, Any], str]] = [
    ({"tags": None}, "'tags' must be a list of strings"),
    ({"tags": "l"}, "'tags' must be a list of strings"),
    ({"tags": ["l", 3]}, "'tags' must be a list of strings"),
    ({"tags": ["L", "R", "l", "r"]}, "'tags' must be sorted"),
    ({"tags": ["l", "r", "L", "L/NP"]}, "'tags' must be sorted, without duplicates, and have the four bare tags"),
    ({"tags": ["l", "r", "L", "R", "Q/NP"]}, r"\[E052\] Not a tag: 'Q/NP'"),
    ({"tags": ["l", "r", "L", "R"]}, "the model scores [0-9]+ tags, and 'tags' has 4"),
    ({"tags": []}, "the model scores [0-9]+ tags, and 'tags' has 0"),
    ({"order": "pre"}, "'order' is 'pre', but the config has the linearizer 'in'"),
    ({"max_stack": -1}, "'max_stack' must be a whole number"),
    ({"max_stack": 2.5}, "'max_stack' must be a whole number"),
    ({"max_stack": None}, "'max_stack' must be a whole number"),
    ({"max_stack": True}, "'max_stack' must be a whole number"),
    ({"temperature": 0}, "'temperature' and 'tree_temperature' must be numbers"),
    ({"tree_temperature": True}, "'temperature' and 'tree_temperature' must be numbers"),
    ({"spans_key": 7}, "'spans_key' must be a string"),
]


@pytest.mark.parametrize(("change", "problem"), TAMPERED)
def test_settings_that_do_not_fit_the_weights(
    change: dict[str, Any], problem: str, trained: Callable[[str], Language], tmp_path: Path
) -> None:
    """Better an error when the pipeline is loaded than at its first doc."""
    trained("in").to_disk(tmp_path)
    folder = tmp_path / "parsetag"
    srsly.write_json(folder / "cfg", {**srsly.read_json(folder / "cfg"), **change})
    with pytest.raises(ValueError, match=rf"\[E257\].*'parsetag'.*{re.escape(str(folder))}: {problem}"):
        spacy.load(tmp_path)
    data = srsly.msgpack_loads(trained("in").get_pipe("parsetag").to_bytes())
    data["cfg"] = srsly.json_dumps({**srsly.json_loads(data["cfg"]), **change})
    with pytest.raises(ValueError, match=rf"\[E257\].*the bytes of the component: {problem}"):
        make_nlp("in").get_pipe("parsetag").from_bytes(srsly.msgpack_dumps(data))


def test_settings_that_are_null(trained: Callable[[str], Language], tmp_path: Path) -> None:
    trained("in").to_disk(tmp_path)
    (tmp_path / "parsetag" / "cfg").write_text("null")
    with pytest.raises(ValueError, match=rf"\[E257\].*{re.escape(str(tmp_path / 'parsetag'))}: .*damaged"):
        spacy.load(tmp_path)


@pytest.mark.parametrize("name", ["cfg", "model"])
def test_a_file_cut_off(name: str, trained: Callable[[str], Language], tmp_path: Path) -> None:
    trained("in").to_disk(tmp_path)
    path = tmp_path / "parsetag" / name
    path.write_bytes(path.read_bytes()[:50])
    with pytest.raises(ValueError, match=rf"\[E257\].*{re.escape(str(path.parent))}: .*damaged"):
        spacy.load(tmp_path)


@pytest.mark.parametrize("order", ORDERS)
def test_the_bound_of_the_training_data_is_loaded(order: str, tmp_path: Path) -> None:
    """`"train"` is a number again in a loaded pipeline."""
    nlp = make_nlp(order, max_stack="train")
    examples = make_examples(nlp)
    nlp.initialize(lambda: examples)
    largest = nlp.get_pipe("parsetag").label_data["max_stack"]
    nlp.to_disk(tmp_path)
    for loaded in (spacy.load(tmp_path), make_nlp(order, max_stack="train").from_bytes(nlp.to_bytes())):
        pipe = loaded.get_pipe("parsetag")
        assert pipe.bound == largest > 0
        loaded("She enjoys papers")
