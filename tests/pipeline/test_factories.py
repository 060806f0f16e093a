"""Configs of the components are checked when a pipeline is made."""

from typing import Any

import numpy as np
import pytest
import spacy
from confection import ConfigValidationError
from tiny import make_examples, make_nlp


@pytest.mark.parametrize(
    "config", [{"spans_key": ["a"]}, {"spans_key": 3}, {"model": 3}, {"scorer": "evalb"}, {"beam": 10}], ids=str
)
def test_a_wrong_config_is_an_error(config: dict[str, Any]) -> None:
    with pytest.raises(ConfigValidationError, match=next(iter(config))):
        spacy.blank("en").add_pipe("parsetag", config=config)


@pytest.mark.parametrize("part", ["linearizer", "decoder", "loss"])
def test_a_part_of_another_kind_is_an_error(part: str) -> None:
    other = "ExactDecoder" if part == "linearizer" else "InOrder"
    with pytest.raises(ValueError, match=rf"\[E254\].*'parsetag'.*{other}.*{part}"):
        spacy.blank("en").add_pipe("parsetag", config={part: {"@misc": f"spacy-parsetag.{other}.v1"}})


@pytest.mark.parametrize(
    "factory, setting, value",
    [
        ("parsetag", "spans_key", ""),
        ("parsetag", "spans_key", "parsetag_constraints"),
        ("parsetag", "learn_rate_scale", -1.0),
        ("parsetag", "learn_rate_scale", "2"),
        ("parsetag", "max_stack", -1),
        ("parsetag", "max_stack", "trained"),
        ("parsetag", "k_best", -1),
        ("parsetag", "k_best", 2**31),
        ("parsetag", "conflicts", "ignore"),
        ("parsetag_ensemble", "spans_key", ""),
        ("parsetag_ensemble", "conflicts", "ignore"),
        ("tree_matcher", "matches_key", ""),
        ("tree_matcher", "matches_key", "constituents"),  # the matches would take the place of the trees
    ],
)
def test_a_value_that_means_nothing_is_an_error(factory: str, setting: str, value: object) -> None:
    with pytest.raises(ValueError, match=rf"\[E(263|274)\].*'{factory}'") as caught:
        spacy.blank("en").add_pipe(factory, config={setting: value})
    assert setting in str(caught.value) and repr(value) in str(caught.value)


@pytest.mark.parametrize(
    "factory, setting, value",
    [
        *(("parsetag", setting, value) for setting in ("linearizer", "decoder", "loss") for value in ("in", None)),
        ("parsetag", "learn_rate_scale", None),
        ("parsetag", "learn_rate_scale", float("nan")),
        ("parsetag", "max_stack", 2.5),
        ("parsetag", "max_stack", True),
        ("parsetag", "probs", "yes"),
        ("parsetag", "probs", None),
        ("parsetag", "k_best", -1),
        ("parsetag", "k_best", 1.5),
        ("parsetag", "k_best", None),
        ("parsetag", "constraints", "entities"),
        ("parsetag", "conflicts", "ignore"),
        ("parsetag_ensemble", "conflicts", None),
        ("parsetag_ensemble", "cost", "high"),
        ("parsetag_ensemble", "cost", float("inf")),
    ],
)
def test_settings_of_a_pipe_are_checked_when_they_are_set(factory: str, setting: str, value: object) -> None:
    pipe = spacy.blank("en").add_pipe(factory, name="mine")
    before = getattr(pipe, setting)
    with pytest.raises(ValueError, match=rf"\[E(254|263)\].*'mine'.*{setting}|{setting} of the component 'mine'"):
        setattr(pipe, setting, value)
    assert getattr(pipe, setting) is before


def test_numbers_of_numpy_are_settings() -> None:
    pipe: Any = spacy.blank("en").add_pipe("parsetag")
    pipe.learn_rate_scale, pipe.k_best, pipe.max_stack = np.float32(2), np.int64(3), np.int32(4)
    assert (pipe.learn_rate_scale, pipe.k_best, pipe.max_stack) == (2, 3, 4)


def test_defaults() -> None:
    nlp = spacy.blank("en")
    nlp.add_pipe("parsetag")
    config = nlp.config["components"]["parsetag"]
    assert config["spans_key"] == "constituents" and config["decoder"]["@misc"] == "spacy-parsetag.ExactDecoder.v1"
    again = spacy.blank("en").from_config(nlp.config)
    assert again.config["components"] == nlp.config["components"]


def test_all_components_can_be_initialized() -> None:
    """spaCy looks up what they are annotated with, among names of its own."""
    nlp = make_nlp()
    nlp.add_pipe("parsetag_ensemble", config={"spans_key": "mean"})
    nlp.add_pipe("tree_matcher")
    nlp.initialize(lambda: make_examples(nlp))
    nlp.config["initialize"]["components"]["parsetag"] = {"labels": nlp.get_pipe("parsetag").label_data}
    nlp.initialize(lambda: make_examples(nlp))


def test_one_sentence_can_be_switched_off() -> None:
    nlp = spacy.blank("en")
    nlp.add_pipe("sentencizer")
    nlp.add_pipe("one_sentence", first=True)  # before: each text is one sentence, whatever comes after
    nlp.get_pipe("sentencizer").overwrite = False
    assert len(list(nlp("One. Two.").sents)) == 1
    with nlp.select_pipes(disable="one_sentence"):
        assert len(list(nlp("One. Two.").sents)) == 2
    assert len(list(nlp("One. Two.").sents)) == 1


@pytest.mark.parametrize("splitter", ["sentencizer", "senter", "one_sentence", "parser"])
@pytest.mark.parametrize("parser", ["parsetag", "parsetag_ensemble"])
def test_what_it_requires_is_what_splitters_assign(splitter: str, parser: str) -> None:
    """`nlp.analyze_pipes` finds no problem where there is none."""
    nlp = spacy.blank("en")
    nlp.add_pipe(parser)
    nlp.add_pipe("tree_matcher")
    assert nlp.analyze_pipes()["problems"][parser] == ["token.is_sent_start"]
    nlp.add_pipe(splitter, first=True)
    assert not any(nlp.analyze_pipes()["problems"].values())
