"""Every learner with every order and decoder learns a handful of trees by heart, and is the same when loaded."""

import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import spacy
from spacy.tokens import Doc
from spacy.training import Example
from thinc.api import fix_random_seed
from tiny import (
    LEARNERS as SETTINGS,
    ORDERS,
    TINY_MODEL,
    TREES,
    check_gradient,
    make_examples,
    make_learner,
    make_nlp,
    needs_torch,
    outputs,
    random_scores,
    spans_of,
    train,
    words_only,
)

from spacy_parsetag.decode import BeamDecoder
from spacy_parsetag.ml.losses import TagLoss
from spacy_parsetag.tokens import parses_from_doc

LEARNERS = ["Tags", "CRF", pytest.param("BiLSTM", marks=needs_torch)]
DECODERS: list[dict[str, Any]] = [
    {"decoder": {"@misc": "spacy-parsetag.ExactDecoder.v1"}, "max_stack": "train"},
    {"decoder": {"@misc": "spacy-parsetag.BeamDecoder.v1", "beam": 10}},
    {"decoder": {"@misc": "spacy-parsetag.BeamDecoder.v1", "beam": 2, "lookahead": True}, "max_stack": "train"},
]
LOSSES = ["Tag", "Tree"]


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("learner", LEARNERS)
def test_overfitting_IO(learner: str, order: str, loss: str, tmp_path: Path) -> None:
    nlp = make_learner(learner, order, loss=loss)
    examples = make_examples(nlp)
    losses = train(nlp, examples, steps=40)
    assert losses["parsetag"] / sum(len(eg.reference) for eg in examples) < 0.1
    expected = [spans_of(eg.reference) for eg in examples]
    assert outputs(nlp) == expected
    nlp.to_disk(tmp_path)
    for decoder in DECODERS:
        loaded = spacy.load(tmp_path, config={"components": {"parsetag": decoder}})
        assert outputs(loaded) == expected
        assert loaded.evaluate(make_examples(loaded))["parsetag_f"] == 1.0
    again = make_learner(learner, order, loss=loss).from_bytes(nlp.to_bytes())
    copy = pickle.loads(pickle.dumps(again))
    assert outputs(again) == outputs(copy) == expected
    for node, other in zip(nlp.get_pipe("parsetag").model.walk(), copy.get_pipe("parsetag").model.walk(), strict=True):
        for name in node.param_names:
            np.testing.assert_array_equal(node.get_param(name), other.get_param(name))
    optimizer = copy.resume_training()
    assert copy.update(make_examples(copy), sgd=optimizer)["parsetag"] < losses["parsetag"] * 2 + 0.1


def test_learning_rates_of_parts() -> None:
    """The pipe's own layers move `learn_rate_scale` times as far; the encoder that it listens to does not."""
    moved = []
    for scale in (1.0, 10.0):
        nlp = spacy.blank("en")
        nlp.add_pipe("tok2vec", config={"model": TINY_MODEL["tok2vec"]})
        listener = {"@architectures": "spacy.Tok2VecListener.v1", "width": 32}
        model = {**TINY_MODEL, "tok2vec": listener}
        nlp.add_pipe("parsetag", config={"model": model, "learn_rate_scale": scale})
        examples = make_examples(nlp)
        fix_random_seed(0)
        optimizer = nlp.initialize(lambda: examples)  # noqa: B023
        optimizer.L2 = 0.0
        before = [weights(pipe.model) for _, pipe in nlp.pipeline]
        nlp.update(examples, sgd=optimizer)
        after = [weights(pipe.model) for _, pipe in nlp.pipeline]
        moved.append(
            [max(np.abs(new[key] - old[key]).max() for key in old) for old, new in zip(before, after, strict=True)]
        )
    np.testing.assert_allclose(moved[1], [moved[0][0], 10 * moved[0][1]], rtol=1e-3)


@pytest.mark.parametrize("learner", [*LEARNERS, "Spans"])
def test_parameters_learn_and_averages_apply(learner: str) -> None:
    """Every parameter of the learner moves, and `use_params` reaches all of them."""
    nlp = make_learner(learner)
    examples = make_examples(nlp)
    optimizer = nlp.initialize(lambda: examples)
    model = nlp.get_pipe("parsetag").model
    start = weights(model)
    for _ in range(3):
        nlp.update(examples, sgd=optimizer)
    moved = weights(model)
    assert set(start) == set(moved)
    for key, value in moved.items():
        assert not np.array_equal(value, start[key]), key
    with nlp.use_params({key: value * 0 for key, value in moved.items()}):
        assert not any(value.any() for value in weights(model).values())
    for key, value in weights(model).items():
        np.testing.assert_array_equal(value, moved[key])


def weights(model: Any) -> dict[tuple[int, str], np.ndarray]:
    """Parameters by the key that the optimizer knows them by; those of PyTorch too."""
    found = {}
    for node in model.walk():
        for name in node.param_names:
            if name not in {"E"}:  # tables of embeddings: few rows are used
                found[(node.id, name)] = np.array(node.get_param(name))
        for shim in node.shims:
            found.update({(shim.id, name): value.numpy().copy() for name, value in shim._model.state_dict().items()})
    return found


@pytest.mark.parametrize("masked", [True, False])
def test_loss_of_the_linear_chain_through_the_pipe(masked: bool) -> None:
    """Gradients of scores and transitions of a batch, by finite differences; nothing changes without gold."""
    nlp = make_learner("CRF", "pre")
    examples = make_examples(nlp)[:3]
    space = Doc(nlp.vocab, words=["\n", *(token.text for token in examples[1].reference)])
    examples = [examples[0], Example(space, examples[1].reference), examples[2]]
    nlp.initialize(lambda: examples)
    pipe = nlp.get_pipe("parsetag")
    pipe.loss = TagLoss(masked=masked)
    check_gradient(pipe, examples, random_scores(pipe, examples, seed=0))
    plain = [Example(nlp.make_doc("No tree here"), nlp.make_doc("No tree here"))]
    loss, gradients = pipe.get_loss(plain, random_scores(pipe, plain, seed=0))
    assert loss == 0.0
    assert not any(array.any() for array in (gradients.rows, *gradients.transitions))


def test_transitions_are_decoded_with() -> None:
    nlp = make_learner("CRF")
    examples = make_examples(nlp)
    train(nlp, examples)
    chain = nlp.get_pipe("parsetag").model
    tags = nlp.get_pipe("parsetag").tag_set
    favoured = tags.id("R/VP")
    transitions = np.zeros_like(chain.get_param("pairs"))
    transitions[:, favoured] = 100.0
    chain.set_param("pairs", transitions)
    doc = words_only(nlp, examples[0].reference)
    # All internal tags but the first one, which has to be an L.
    assert [label for _, _, label in spans_of(nlp(doc))].count("VP") >= len(doc) - 2 > 2


@pytest.mark.parametrize("order", ORDERS)
def test_bound_of_the_training_data(order: str) -> None:
    """A number after `initialize` and when loaded; it lets any sentence have a tree."""
    nlp = make_nlp(order, max_stack="train")
    pipe = nlp.get_pipe("parsetag")
    assert pipe.bound is None
    nlp.initialize(lambda: make_examples(nlp))
    largest = pipe.cfg["max_stack"]
    assert pipe.bound == largest > 0
    loaded = make_nlp(order, max_stack="train").from_bytes(nlp.to_bytes()).get_pipe("parsetag")
    assert loaded.bound == largest
    for bound in (70, None):
        loaded.max_stack = bound
        assert loaded.bound == bound
    with pytest.raises(ValueError, match=r"\[E263\].*'trained'"):
        make_nlp(order, max_stack="trained")
    small = make_nlp(order, max_stack=largest - 1)
    with pytest.warns(UserWarning, match=rf"\[W257\].*max_stack = {largest - 1}.* a stack of {largest}"):
        small.initialize(lambda: make_examples(small))
    labels = {"tags": list(pipe.labels)}
    fresh = make_nlp(order, max_stack="train")
    fresh.get_pipe("parsetag").initialize(lambda: make_examples(fresh), nlp=fresh, labels=labels)
    assert fresh.get_pipe("parsetag").bound is None
    # A pipe that has seen the flattest of trees parses any sentence within the least bound.
    for kind in ("Exact", "Beam"):
        decoder, loss = {"@misc": f"spacy-parsetag.{kind}Decoder.v1"}, {"@misc": "spacy-parsetag.TreeLoss.v1"}
        nlp = make_nlp(order, decoder=decoder, loss=loss, max_stack="train")
        examples = make_examples(nlp, [TREES[3]])
        train(nlp, examples, steps=2)
        assert nlp.get_pipe("parsetag").bound == {"in": 1, "pre": None, "post": 2}[order]
        (sentence,) = parses_from_doc(nlp("one two three four five six seven"))
        assert len(sentence.parse) == 7


def test_the_width_of_a_beam_is_told() -> None:
    nlp = make_nlp("post", decoder={"@misc": "spacy-parsetag.BeamDecoder.v1", "beam": 1})
    examples = make_examples(nlp)
    nlp.initialize(lambda: examples)
    pipe = nlp.get_pipe("parsetag")
    output = pipe.model.layers[2]
    bias = np.zeros_like(output.get_param("b"))
    bias.reshape(2, -1)[:, pipe.tag_set.classes == 0] = 9  # it wants to shift for ever
    output.set_param("b", bias)
    words = ["a"] * 9 + ["b"]
    doc = Doc(nlp.vocab, words=words, sent_starts=[i in {0, 9} for i in range(10)])
    widths = nlp(doc).spans["constituents"].attrs["beam_widths"]
    assert len(widths) == 2 and widths[0] != 1 and widths[1] == 1
    assert [len(sentence.parse) for sentence in parses_from_doc(doc)] == [9, 1]
    pipe.decoder = BeamDecoder(1, lookahead=True)
    plain = nlp(Doc(nlp.vocab, words=words, sent_starts=[i in {0, 9} for i in range(10)]))
    assert plain.spans["constituents"].attrs["beam_widths"] == [1, 1]


def test_settings_of_the_learner_of_tags() -> None:
    """The maxout layer has its width, and the dropout that the training loop passes reaches the heads."""
    for width in (None, 7):
        nlp = make_learner("Tags", hidden_width=width)
        examples = make_examples(nlp)
        nlp.initialize(lambda: examples)  # noqa: B023
        model = nlp.get_pipe("parsetag").model
        assert model.layers[2].get_dim("nI") == (width or 32)
        docs = [eg.predicted for eg in examples]
        expected = model.predict(docs).rows
        np.testing.assert_array_equal(model(docs, True)[0].rows, expected)
        for node in model.walk():
            if node.name == "dropout" and node not in model.get_ref("tok2vec").walk():
                node.attrs["dropout_rate"] = 0.5
        assert not np.allclose(model(docs, True)[0].rows, expected)


@pytest.mark.parametrize("learner", [*LEARNERS, "Spans"])
def test_shared_encoder(learner: str, tmp_path: Path) -> None:
    """Behind a tok2vec of the pipeline, which can be copied into the learner afterwards."""
    nlp = spacy.blank("en")
    nlp.add_pipe("one_sentence")
    nlp.add_pipe("tok2vec", config={"model": TINY_MODEL["tok2vec"]})
    listener = {"@architectures": "spacy.Tok2VecListener.v1", "width": 32}
    learner_name = "Spans" if learner == "Spans" else "Tags"
    model = {**SETTINGS[learner], "@architectures": f"spacy-parsetag.{learner_name}.v1", "tok2vec": listener}
    nlp.add_pipe("parsetag", config={"model": model})
    examples = make_examples(nlp)
    train(nlp, examples)
    expected = [spans_of(eg.reference) for eg in examples]
    assert outputs(nlp) == expected
    nlp.replace_listeners("tok2vec", "parsetag", ["model.tok2vec"])
    nlp.remove_pipe("tok2vec")
    assert outputs(nlp) == expected
    nlp.to_disk(tmp_path)
    assert outputs(spacy.load(tmp_path)) == expected
