"""`python -m spacy parsetag calibrate`."""

import json
import re
import shutil
import sys
from collections.abc import Callable
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import spacy
from hypothesis import given
from hypothesis.strategies import floats
from spacy.language import Language
from spacy.tokens import Doc, DocBin
from spacy.training import Example
from tiny import TREES, gold_doc, make_examples, make_learner, make_nlp, spans_of, train, words_only
from typer.testing import CliRunner

from spacy_parsetag.analysis.reliability import measure_reliability
from spacy_parsetag.cli import parsetag_app
from spacy_parsetag.decode import MBRDecoder
from spacy_parsetag.pipeline.calibration import (
    Judged,
    fit_temperature,
    judge_constituents,
    judge_trees,
    score_gold_docs,
)
from spacy_parsetag.tokens.sentences import copy_words


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
    output, figure = tmp_path / "new" / "folder" / "calibrated", tmp_path / "reliability.svg"
    options = ["--figure", figure] if find_spec("matplotlib") else []
    result = run(folder / "model", folder / "dev.spacy", output, "--json", *options)
    assert result.exit_code == 0, result.output
    report = json.loads(result.stdout)
    assert report["sentences"] == {"fit": 50, "measured": 50}
    for kind in ("constituents", "whole_trees"):
        before, after = report[kind]["before"], report[kind]["after"]
        assert after["temperature"] > 1 == before["temperature"]  # it was too sure
        assert before["accuracy"] == after["accuracy"] < before["confidence"]
        errors = [abs(found["confidence"] - found["accuracy"]) for found in (before, after)]
        assert errors[1] < errors[0]
        assert sum(found["n"] for found in after["bins"]) == after["n"]
    assert not options or "<svg" in figure.read_text(encoding="utf8")
    loaded = spacy.load(output)
    cfg = loaded.get_pipe("parsetag").cfg
    kept = []
    for kind, setting in (("constituents", "temperature"), ("whole_trees", "tree_temperature")):
        kept.append(report[kind]["kept"])
        assert cfg[setting] == report[kind]["after" if kept[-1] else "before"]["temperature"]
        assert kept[-1] <= (report[kind]["after"]["ece"] <= report[kind]["before"]["ece"])
    assert sorted(kept) == [False, True]  # in these few trees the errors of constituents grow on the held-out half
    result = run(folder / "model", folder / "dev.spacy")
    assert (
        result.exit_code == 0
        and "not saved" in result.output
        and "It does not help" in result.output
        and "expected calibration error" in result.output
    )
    assert run(folder / "model", folder / "dev.spacy", output).exit_code == 1  # it exists
    again = run(output, folder / "dev.spacy", output, "--force")
    assert again.exit_code == 0 and "It is the pipeline's already" in again.output
    assert spacy.load(output).get_pipe("parsetag").cfg == cfg
    shutil.copy(folder / "dev.spacy", output)  # which a pipeline in its place would not have
    assert "E450" in run(output, output / "dev.spacy", output, "--force").output
    assert "E450" in run(output, folder / "dev.spacy", output, "--force", "--figure", output / "x.svg").output
    (output / "meta.json").rename(output / "meta.txt")
    assert "E450" in run(folder / "model", folder / "dev.spacy", output, "--force").output
    (output / "meta.txt").rename(output / "meta.json")
    (output / "config.cfg").unlink()
    assert "E450" in run(folder / "model", folder / "dev.spacy", output, "--force").output
    shares = [f"{report[kind]['after']['accuracy']:.1%}" for kind in ("constituents", "whole_trees")]
    assert re.findall(r"; ([\d.]+%) are right", result.output) == shares
    words = [words_only(loaded, gold) for gold in DocBin().from_disk(folder / "dev.spacy").get_docs(loaded.vocab)]
    before = spacy.load(folder / "model")
    assert [spans_of(loaded(doc)) for doc in words] == [spans_of(before(words_only(before, doc))) for doc in words]
    assert "E475" in run(folder / "model", folder / "dev.spacy", "--fit-share", 1).output


def test_a_single_doc(folder: Path, tmp_path: Path) -> None:
    """Its sentences are divided, not docs."""
    docs = [*DocBin().from_disk(folder / "dev.spacy").get_docs(spacy.blank("en").vocab)][:7]
    DocBin(docs=[Doc.from_docs(docs)]).to_disk(tmp_path / "dev.spacy")
    result = run(folder / "model", tmp_path / "dev.spacy", "--json", "--fit-share", 0.3)
    assert json.loads(result.stdout)["sentences"] == {"fit": 2, "measured": 5}


def test_trees_of_which_none_is_right(folder: Path, tmp_path: Path) -> None:
    """The likelier a temperature, the higher it is, to the end of what is tried: it is not kept."""
    nlp = make_nlp()
    wrong = [gold_doc(nlp, "(TOP (S (NP (DT The) (NN dog)) (VP (VBZ sings))))") for _ in range(20)]
    DocBin(docs=wrong).to_disk(tmp_path / "dev.spacy")
    result = run(folder / "model", tmp_path / "dev.spacy", tmp_path / "calibrated")
    assert result.exit_code == 0 and "It is the end of what is tried: take more trees. 1.000 stays" in result.output
    assert spacy.load(tmp_path / "calibrated").get_pipe("parsetag").tree_temperature == 1.0  # type: ignore[attr-defined]


def test_trees_of_which_all_are_right(folder: Path, tmp_path: Path) -> None:
    """The lower a temperature, the likelier, until float32 has the probabilities as 1: no end is reached, none kept."""
    nlp = make_nlp()
    DocBin(docs=[gold_doc(nlp, tree) for tree in TREES[:3]] * 20).to_disk(tmp_path / "dev.spacy")
    result = run(folder / "model", tmp_path / "dev.spacy", "--json")
    report = json.loads(result.stdout)
    for kind in ("constituents", "whole_trees"):
        assert report[kind]["before"]["accuracy"] == 1.0
        assert report[kind]["at_end"] and not report[kind]["kept"]


def test_without_matplotlib(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Only figures need it."""
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    assert run(folder / "model", folder / "dev.spacy").exit_code == 0
    assert "[E500]" in run(folder / "model", folder / "dev.spacy", "--figure", folder / "new.svg").output


@pytest.mark.parametrize("judge", [judge_constituents, judge_trees])
def test_the_temperature_is_the_likeliest(folder: Path, judge: Any) -> None:
    nlp = spacy.load(folder / "model")
    golds = list(DocBin().from_disk(folder / "dev.spacy").get_docs(nlp.vocab))[:5]
    found = partial(judge, list(score_gold_docs(nlp, nlp.get_pipe("parsetag"), golds)))
    best = fit_temperature(found)
    assert found(best).loss() <= min(found(best * factor).loss() for factor in (0.9, 0.97, 1.03, 1.1))


def test_what_is_judged_is_what_is_predicted(folder: Path) -> None:
    nlp = spacy.load(folder / "model")
    pipe: Any = nlp.get_pipe("parsetag")
    golds = [*DocBin().from_disk(folder / "dev.spacy").get_docs(nlp.vocab)][:5]
    pipe.decoder, pipe.probs = MBRDecoder(0.0), True
    scored = [*score_gold_docs(nlp, pipe, golds)]
    pipe.cfg.update(temperature=0.5, tree_temperature=20.0)
    docs = [*nlp.pipe(copy_words(gold, nlp.vocab) for gold in golds)]
    attrs = [doc.spans["constituents"].attrs for doc in docs]
    expected = [p for of_doc in attrs for p in of_doc["probs"]], [np.exp(of_doc["log_probs"][0]) for of_doc in attrs]
    judged = judge_constituents(scored, 0.5), judge_trees(scored, 20.0)
    for found, probs in zip(judged, expected, strict=True):
        assert found.probs == pytest.approx(probs, rel=1e-4)


def test_docs_without_trees_are_named(folder: Path, tmp_path: Path) -> None:
    docs = list(DocBin().from_disk(folder / "dev.spacy").get_docs(spacy.blank("en").vocab))
    del docs[0].spans["constituents"]
    DocBin(docs=docs).to_disk(tmp_path / "dev.spacy")
    result = run(folder / "model", tmp_path / "dev.spacy", "--figure", tmp_path / "dev.spacy" / "x.svg")
    assert "doc.spans has no 'constituents', but no groups of spans: 1." in result.stderr
    assert not find_spec("matplotlib") or (result.exit_code == 1 and "Temperatures from 50 sentences" in result.stdout)


def merge_two(doc: Doc) -> Doc:
    with doc.retokenize() as retokenizer:
        retokenizer.merge(doc[:2])
    return doc


def test_what_is_scored(folder: Path) -> None:
    """A pipe that is calibrated already, by its scores as they are; and whole trees alone."""
    nlp = spacy.load(folder / "model")
    pipe: Any = nlp.get_pipe("parsetag")
    golds = list(DocBin().from_disk(folder / "dev.spacy").get_docs(nlp.vocab))[:5]
    (plain,) = score_gold_docs(nlp, pipe, golds)
    pipe.cfg.update(temperature=3.0, tree_temperature=4.0)
    golds[1].spans["constituents"].attrs["partial"] = True
    del golds[3].spans["constituents"]
    (again,) = score_gold_docs(nlp, pipe, golds)
    assert again.parses == [plain.parses[i] for i in (0, 2, 4)]
    for i, s in enumerate((0, 2, 4)):
        scores = again.batch.scores[again.batch.starts[i] : again.batch.stops[i]]
        np.testing.assert_allclose(scores, plain.batch.scores[plain.batch.starts[s] : plain.batch.stops[s]], atol=1e-5)
    # Sentences of spaCy's dependency parser cannot be set anew; it keeps those that it finds.
    parser: Any = nlp.add_pipe("parser", first=True)
    parser.add_label("dep")
    words = Example.from_dict(nlp.make_doc("a b c d"), {"heads": [1, 1, 3, 3], "deps": ["dep", "ROOT"] * 2})
    parser.initialize(lambda: [words], nlp=nlp)
    (parsed,) = score_gold_docs(nlp, pipe, golds)
    assert parsed.parses == again.parses
    # What changes the tokens of a doc leaves no words to compare.
    Language.component("merge_two", func=merge_two)
    nlp.add_pipe("merge_two", before="parsetag")
    with pytest.raises(ValueError, match=r"\[E323\].*'merge_two'"):
        list(score_gold_docs(nlp, pipe, golds))


def test_what_stands_in_the_wrong_place(run: Callable[..., Any], pipeline: Path, treebank: Path) -> None:
    """A file in place of the pipeline, and brackets in place of docs: the messages say what is wanted."""
    result = run("calibrate", treebank, treebank)
    assert result.exit_code == 1 and f"[E575] {treebank} is a file, and a pipeline is" in result.stderr
    result = run("calibrate", pipeline, treebank)
    assert result.exit_code == 1 and f"parsetag convert {treebank} NAME.spacy" in result.stderr


def test_scores_of_successive_tags(folder: Path, tmp_path: Path) -> None:
    """They have no probabilities of constituents: the message names component and pipeline."""
    crf = make_learner("CRF")
    crf.initialize(lambda: make_examples(crf))
    crf.to_disk(tmp_path / "crf")
    result = run(tmp_path / "crf", folder / "dev.spacy")
    assert (
        result.exit_code == 1
        and f"[E273] The component 'parsetag' of the pipeline {tmp_path / 'crf'} " in result.output
    )


@given(minimum=floats(-1.9, 1.9))
def test_the_search_finds_a_minimum(minimum: float) -> None:
    def judge(temperature: float) -> Judged:
        # The loss of p where half is right is least at p = 1/2.
        p = 1 / (1 + np.exp(np.log(temperature) - minimum))
        return Judged([p, p], [True, False])

    assert np.log(fit_temperature(judge)) == pytest.approx(minimum, abs=0.01)


def test_reliability() -> None:
    random = np.random.default_rng(1)  # seed 0 is that of `chance`, which would then draw what is drawn here
    probs = random.random(20_000)
    right = random.random(20_000) < probs
    found = measure_reliability(probs.tolist(), right.tolist())
    # By chance ten ranges of 2,000 each are off by sqrt(2 p (1 - p) / (pi 2000)), whose mean over p is 0.0070.
    assert found.chance == pytest.approx(0.0070, abs=0.0005) and 0.003 < found.ece < 0.012
    assert found.ece_sweep < 0.02
    squared = random.random(20_000) < probs**2
    found = measure_reliability(probs.tolist(), squared.tolist())
    assert (found.ece, found.ece_sweep) == pytest.approx((1 / 6, 1 / 6), abs=0.01)  # the integral of p - p²
    found = measure_reliability([0.9] * 10, [True] * 5 + [False] * 5)
    assert (found.ece, found.ece_sweep) == pytest.approx((0.4, 0.4)) and found.accuracy == 0.5 and found.n == 10
    # Two ranges that are right as often as each other are in order; of three, the last is right less often.
    assert measure_reliability([0.1, 0.2, 0.8, 0.9], [False, True, False, True]).ece_sweep == pytest.approx(0.35)
    # Of equal probabilities the first stay the first: ranges of one each are in order, too.
    right_last = [True, False] * 250 + [True] * 500
    assert measure_reliability([0.75, 0.25] * 500, right_last).ece_sweep == pytest.approx(0.375)
    # Where all are right, each has a bin: there is nothing to search, in any number of them.
    assert measure_reliability([0.5, 0.9] * 50_000, [True] * 100_000).ece_sweep == pytest.approx(0.3)
    assert measure_reliability([], []).to_dict() == {
        "n": 0,
        "ece": 0,
        "chance": 0,
        "ece_sweep": 0,
        "confidence": 0,
        "accuracy": 0,
        "bins": [],
    }
