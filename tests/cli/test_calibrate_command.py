"""`python -m spacy parsetag calibrate`."""

import json
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import spacy
from spacy.tokens import DocBin
from tiny import TREES, gold_doc, make_examples, make_nlp, train
from typer.testing import CliRunner

from spacy_parsetag.analysis.calibration import measure_reliability
from spacy_parsetag.cli import parsetag_app
from spacy_parsetag.ml.losses import negative_log_likelihood
from spacy_parsetag.pipeline.calibration import fit_temperature, score_gold
from spacy_parsetag.pipeline.probabilities import scale_scores


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A pipeline that is too sure: it knows a few trees by heart and sees others. And these, as DEV."""
    path = tmp_path_factory.mktemp("calibrate")
    nlp = make_nlp()
    train(nlp, make_examples(nlp, TREES[:3]), steps=40)
    nlp.to_disk(path / "model")
    swapped = [tree.replace("(RB loudly)", "(RB badly)").replace("cat", "dog") for tree in TREES[:3]]
    others = ["(TOP (NP (NP (DT The) (NN dog)) (VP (VBG reading) (NP (NNS papers)))))", "(TOP (S (VP (VBZ sings))))"]
    golds = [gold_doc(nlp, tree) for tree in [*swapped, *others] * 20]
    DocBin(docs=golds).to_disk(path / "dev.spacy")
    return path


def run(*arguments: Any) -> Any:
    return CliRunner().invoke(parsetag_app, ["calibrate", *map(str, arguments)])


def test_calibrate(folder: Path, tmp_path: Path) -> None:
    output, figure = tmp_path / "calibrated", tmp_path / "reliability.svg"
    options = ["--figure", figure] if find_spec("matplotlib") else []
    result = run(folder / "model", folder / "dev.spacy", output, "--json", *options)
    assert result.exit_code == 0, result.output
    report = json.loads(result.stdout)
    assert report["sentences"]["fit"] + report["sentences"]["measured"] == 100
    assert report["temperature"] > 1 == report["before_temperature"]  # it was too sure
    for kind in ("constituents", "whole_trees"):
        before, after = report["before"][kind], report["after"][kind]
        assert before["accuracy"] == after["accuracy"] < before["confidence"]
        assert after["ece"] < before["ece"]
        assert sum(found["n"] for found in after["bins"]) == after["n"]
    assert not options or "<svg" in figure.read_text(encoding="utf8")
    loaded = spacy.load(output)
    assert loaded.get_pipe("parsetag").cfg["temperature"] == report["temperature"]
    result = run(folder / "model", folder / "dev.spacy")
    assert result.exit_code == 0 and "not saved" in result.output and "expected calibration error" in result.output
    assert run(folder / "model", folder / "dev.spacy", output).exit_code == 1  # it exists
    assert "E475" in run(folder / "model", folder / "dev.spacy", "--fit-share", 1).output


def test_the_temperature_is_the_likeliest(folder: Path) -> None:
    nlp = spacy.load(folder / "model")
    pipe = nlp.get_pipe("parsetag")
    golds = list(DocBin().from_disk(folder / "dev.spacy").get_docs(nlp.vocab))[:5]
    examples = make_examples(nlp, [gold._.parse_strings[0] for gold in golds])
    gold = score_gold(pipe, examples)
    best = fit_temperature([gold], None)

    def loss(temperature: float) -> float:
        return negative_log_likelihood(scale_scores(gold.batch, 1 / temperature), gold.ids)[0]

    assert loss(best) <= min(loss(best * factor) for factor in (0.9, 0.99, 1.01, 1.1))


def test_reliability() -> None:
    random = np.random.default_rng(0)
    probs = random.random(20_000)
    right = random.random(20_000) < probs
    assert measure_reliability(probs.tolist(), right.tolist()).ece < 0.02
    found = measure_reliability([0.9] * 10, [True] * 5 + [False] * 5)
    assert found.ece == pytest.approx(0.4) and found.accuracy == 0.5 and found.n == 10
    assert measure_reliability([], []).to_dict() == {"n": 0, "ece": 0, "confidence": 0, "accuracy": 0, "bins": []}
