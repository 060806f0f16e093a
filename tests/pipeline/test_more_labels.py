"""A trained parser takes more labels: it scores what it knew as before, and learns the rest."""

import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import spacy
from spacy.language import Language
from spacy.tokens import DocBin
from spacy.training.initialize import init_nlp
from thinc.api import Linear, fix_random_seed
from tiny import (
    TREES,
    gold_doc,
    make_examples,
    make_learner,
    make_nlp,
    needs_torch,
    outputs,
    spans_of,
    train,
    words_only,
)

from spacy_parsetag.ml.resize import resize_rows

LEARNERS: list[Any] = [
    ("Tags", {}),
    ("CRF", {}),
    pytest.param(("BiLSTM", {"hidden_width": 8}), marks=needs_torch),
    ("Spans", {}),
    ("Spans", {"span_width": None}),
]
FEW = TREES[:2]


def trained(learner: tuple[str, dict[str, Any]]) -> Language:
    nlp = make_learner(learner[0], loss="Tree", **learner[1])
    train(nlp, make_examples(nlp, FEW), steps=40)
    return nlp


def scores_by_name(nlp: Language) -> dict[Any, Any]:
    """All that the learner scores in a doc, by what it is of."""
    pipe = nlp.get_pipe("parsetag")
    tags, labels = pipe.tag_set.tags, pipe.tag_set.node_labels
    found = pipe.model.predict([words_only(nlp, gold_doc(nlp, TREES[0]))])
    named: dict[Any, Any] = {}
    for slot, scores in enumerate((found.rows[::2], found.rows[1::2])):
        named.update({(slot, tag): scores[:, i] for i, tag in enumerate(tags)})
    if found.transitions is not None:
        named.update({(a, b): found.transitions.pairs[i, j] for i, a in enumerate(tags) for j, b in enumerate(tags)})
        named.update({("start", tag): found.transitions.start[i] for i, tag in enumerate(tags)})
        named.update({("end", tag): found.transitions.end[i] for i, tag in enumerate(tags)})
    if found.spans is not None:
        named.update({("span", label): np.asarray(found.spans.scores)[:, i] for i, label in enumerate(labels)})
    return named


@pytest.mark.parametrize("learner", LEARNERS)
def test_what_was_learned_stays(learner: tuple[str, dict[str, Any]], tmp_path: Path) -> None:
    nlp = trained(learner)
    pipe = nlp.get_pipe("parsetag")
    before, labels = scores_by_name(nlp), set(pipe.labels)
    max_stack = pipe.label_data["max_stack"]
    examples = make_examples(nlp)
    added = pipe.add_labels_of(examples)
    assert added == sorted(set(pipe.labels) - labels) and {"R/PRN", "L/FRAG"} & set(added)
    assert pipe.label_data["max_stack"] >= max_stack
    after = scores_by_name(nlp)
    assert set(before) < set(after)
    for name, scores in before.items():
        np.testing.assert_array_equal(after[name], scores, err_msg=str(name))
    assert pipe.add_labels_of(examples) == []
    # It can be saved, and learns the other trees.
    nlp.to_disk(tmp_path)
    loaded = spacy.load(tmp_path)
    assert outputs(loaded) == outputs(nlp)
    fix_random_seed(0)
    optimizer = loaded.resume_training()
    optimizer.learn_rate = 0.01
    examples = make_examples(loaded)
    with warnings.catch_warnings():
        warnings.filterwarnings("error", message=".*W250")  # no tree has a label that is not known
        for _ in range(60):
            loaded.update(examples, sgd=optimizer)
    assert outputs(loaded) == [spans_of(eg.reference) for eg in examples]


def test_new_outputs_are_the_mean_of_the_old() -> None:
    layer: Any = Linear(2, 3).initialize()
    layer.set_param("b", layer.ops.asarray1f([1, 2]))
    old = {name: layer.get_param(name) for name in ("W", "b")}
    resize_rows(layer, "ab", "bca", dict.fromkeys(old, 1))
    for name, rows in old.items():
        np.testing.assert_allclose(layer.get_param(name), [rows[1], rows.mean(axis=0), rows[0]])


def test_between_updates() -> None:
    """Gradients of the old size are not added to those of the new one, and the optimizer goes on."""
    nlp = trained(("Spans", {}))
    pipe = nlp.get_pipe("parsetag")
    optimizer = nlp.resume_training()
    nlp.update(make_examples(nlp, FEW), sgd=optimizer)
    pipe.update(make_examples(nlp, FEW))  # gradients that no optimizer has taken yet
    pipe.add_labels_of(make_examples(nlp))
    losses = [nlp.update(make_examples(nlp), sgd=optimizer)["parsetag"] for _ in range(10)]
    assert losses[-1] < losses[0]


def test_bound_of_the_training_data() -> None:
    """The bound "train" is that of all trees, as if they had been there from the start."""
    nlp = make_nlp(max_stack="train")
    pipe = nlp.get_pipe("parsetag")
    flat, deep = TREES[3], TREES[4]
    nlp.initialize(lambda: make_examples(nlp, [flat]))
    assert pipe.bound < 4
    pipe.add_labels_of(make_examples(nlp, [deep]))
    assert pipe.bound == pipe.label_data["max_stack"] > 1
    nlp.initialize(lambda: make_examples(nlp, [flat]))  # from the start, with other trees
    assert pipe.bound < 4 and pipe.label_data["max_stack"] < 4
    pipe.max_stack = 2  # a number of one's own stays
    pipe.add_labels_of(make_examples(nlp))
    assert pipe.bound == 2


def test_labels_come_from_examples() -> None:
    nlp = trained(("Tags", {}))
    with pytest.raises(TypeError, match=r"E978.*ParseTagger\.add_labels_of.*Doc"):
        nlp.get_pipe("parsetag").add_labels_of([gold_doc(nlp, TREES[3])])


def test_examples_are_read_one_by_one(monkeypatch: pytest.MonkeyPatch) -> None:
    nlp = trained(("Tags", {}))
    taken: list[Any] = []

    def read(examples: Any, *_: Any, **__: Any) -> tuple[set[str], int]:
        assert next(examples) is taken[0]
        return set(), 0

    monkeypatch.setattr("spacy_parsetag.pipeline.component.read_inventory", read)
    nlp.get_pipe("parsetag").add_labels_of(taken.append(eg) or eg for eg in make_examples(nlp))
    assert len(taken) == 1


@pytest.mark.parametrize("frozen", [True, False])
def test_by_config(frozen: bool, tmp_path: Path) -> None:
    """`spacy train` with a component from another pipeline."""
    first = trained(("Spans", {}))
    first.to_disk(tmp_path / "first")
    DocBin(docs=[gold_doc(first, tree) for tree in TREES], store_user_data=True).to_disk(tmp_path / "train.spacy")
    reader = {"@readers": "spacy.Corpus.v1", "path": str(tmp_path / "train.spacy")}
    config: dict[str, Any] = {
        "nlp": {"lang": "en", "pipeline": ["parsetag"]},
        "components": {"parsetag": {"source": str(tmp_path / "first")}},
        "corpora": {"train": reader, "dev": reader},
        "initialize": {"after_init": {"@callbacks": "spacy-parsetag.AddLabels.v1", "corpus": "${corpora.train}"}},
        "training": {"train_corpus": "corpora.train", "dev_corpus": "corpora.dev"},
    }
    config["vars"] = {"frozen": ["parsetag"] * frozen}
    config["training"]["frozen_components"] = "${vars.frozen}"
    nlp = init_nlp(spacy.blank("en").config.merge(config))
    labels = nlp.get_pipe("parsetag").labels
    assert (labels == first.get_pipe("parsetag").labels) == frozen
    assert set(first.get_pipe("parsetag").labels) <= set(labels) and ("R/PRN" in labels) != frozen
    assert spans_of(nlp(gold_doc(nlp, FEW[0]))) == spans_of(first(gold_doc(first, FEW[0])))
