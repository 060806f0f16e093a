"""The experiments: runs are known again by their settings, and tables come from their files alone."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from command_treebank import write_treebank
from spacy.util import registry
from tiny import TREES, gold_doc, make_examples, make_nlp, train
from weasel.util.config import load_project_config

from spacy_parsetag.decode import BeamDecoder, Decoder, ExactDecoder

EXPERIMENTS = Path(__file__).resolve().parent.parent.parent / "experiments"
sys.path.insert(0, str(EXPERIMENTS))

import evaluate  # noqa: E402
import record  # noqa: E402
import report  # noqa: E402
import run  # noqa: E402
import spec  # noqa: E402


def make_runs(table: str, folder: Path, *words: str) -> list[spec.Run]:
    arguments = run.parse_arguments([table, "--treebanks", str(folder), *words])
    settings = spec.read_spec(arguments)
    return spec.build_runs(settings, [spec.Treebank.find(str(folder), "train.mrg", "dev.mrg")], arguments)


@pytest.fixture
def treebank(tmp_path: Path) -> Path:
    return write_treebank(tmp_path / "bank")


@pytest.mark.usefixtures("spacy_transformers")
def test_rows_of_the_paper(treebank: Path) -> None:
    runs = make_runs("decoders", treebank)
    assert [(run.settings["order"], run.settings["learner"]) for run in runs] == [
        ("in", "independent"), ("pre", "independent"), ("pre", "CRF"), ("pre", "LSTM"), ("pre", "LSTM-3"),
        ("post", "independent"), ("post", "CRF"), ("post", "LSTM"),
    ]  # fmt: skip
    assert len({run.settings["config"] for run in runs}) == 8
    assert len(make_runs("languages", treebank)) == 3


def test_treebanks_whose_folders_have_one_name(tmp_path: Path) -> None:
    """Their runs would replace each other's, so they need names."""
    for language in ("basque", "french"):
        (tmp_path / language).mkdir()
        write_treebank(tmp_path / language / "ptb")
    words = ["languages", f"--output={tmp_path}", "--treebanks"]
    folders = [str(tmp_path / language / "ptb") for language in ("basque", "french")]
    with pytest.raises(SystemExit, match=r"called ptb-in-independent, .*NAME=FOLDER"):
        run.run_table(run.parse_arguments([*words, *folders]))
    named = run.parse_arguments([*words, *(f"{Path(folder).parent.name}={folder}" for folder in folders)])
    treebanks = [spec.Treebank.find(text, "train.mrg", "dev.mrg") for text in named.treebanks]
    names = [made.name for made in spec.build_runs(spec.read_spec(named), treebanks, named)]
    assert names[::3] == ["basque-in-independent", "french-in-independent"]


@pytest.mark.parametrize("config", ["transformer_paper.cfg", "transformer.cfg"])
@pytest.mark.usefixtures("spacy_transformers")
def test_each_row_has_its_own_learner(config: str, treebank: Path) -> None:
    for row in make_runs("decoders", treebank, "--config", config):
        order, learner = row.settings["order"], row.settings["learner"]
        parser = row.config["components"]["parsetag"]
        assert parser["linearizer"]["@misc"] == f"spacy-parsetag.{order.capitalize()}Order.v1"
        assert parser["model"]["@architectures"] == "spacy-parsetag.Tags.v1"
        assert bool(parser["model"].get("transitions")) == (learner == "CRF")
        encoder = parser["model"].get("encoder")
        assert (encoder and encoder.get("depth", 2)) == {"LSTM": 2, "LSTM-3": 3}.get(learner)


@pytest.mark.usefixtures("spacy_transformers")
def test_settings_have_no_folders(treebank: Path) -> None:
    encoder = treebank / "encoder"
    encoder.mkdir()
    (first, *_) = make_runs("decoders", treebank, "--encoder", str(encoder))
    assert str(treebank.parent) not in json.dumps(first.settings)
    moved = treebank.rename(treebank.parent / "elsewhere")
    (second, *_) = make_runs("decoders", moved, "--encoder", str(moved / "encoder"))
    assert first.settings == {**second.settings, "treebank": first.settings["treebank"]}


@pytest.mark.parametrize(
    "words", [["--limit", "7"], ["--epochs", "2"], ["--seeds", "1"], ["--set", "training.dropout=0.3"]]
)
@pytest.mark.usefixtures("spacy_transformers")
def test_what_changes_a_run(words: list[str], treebank: Path) -> None:
    assert make_runs("decoders", treebank)[0].settings != make_runs("decoders", treebank, *words)[0].settings


@pytest.mark.usefixtures("spacy_transformers")
def test_length_of_training(treebank: Path) -> None:
    words = ["--config", "transformer.cfg", "--epochs", "4", "--checks", "1"]
    arguments = run.parse_arguments(["decoders", "--treebanks", str(treebank), *words])
    settings = spec.read_spec(arguments)
    config = spec.build_config(settings, settings["rows"][0], None)
    spec.set_length(config, settings, 1000)
    training = config["training"]
    assert (training["max_steps"], training["eval_frequency"]) == (128, 32)
    assert training["optimizer"]["learn_rate"]["total_steps"] == 128 and training["patience"] == 0


@pytest.mark.parametrize("table, config", [("decoders", None), ("languages", "transformer_paper.cfg")])
@pytest.mark.usefixtures("spacy_transformers")
def test_the_papers_training_stays_as_it_is(table: str, config: str | None, treebank: Path, tmp_path: Path) -> None:
    """The rate is halved when F stalls, which the logger tells the schedule; the third time in a row ends training."""
    words = [table, "--treebanks", str(treebank), "--epochs", "20", *(["--config", config] if config else [])]
    settings = spec.read_spec(run.parse_arguments(words))
    made = spec.build_config(settings, settings["rows"][0], None)
    spec.set_length(made, settings, 39_832)
    spec.set_logger(made, tmp_path / "steps.jsonl")
    training = made.interpolate()["training"]
    assert training["eval_frequency"] == 311 and training["patience"] == 3 * 311
    assert training["max_steps"] == 20 * 1245
    rate = training["optimizer"]["learn_rate"]
    assert rate == {
        "@schedules": "spacy-parsetag.Plateau.v1", "initial_rate": 3e-5, "warmup_steps": 160, "factor": 0.5,
        "patience": 1,
    }  # fmt: skip
    assert training["logger"]["@loggers"] == "spacy-parsetag.PlateauLogger.v1"
    inner = training["logger"]["logger"]
    assert inner["@loggers"] == "spacy.ConsoleLogger.v3" and inner["output_file"].endswith("steps.jsonl")
    registry.resolve({"logger": training["logger"], "rate": rate})


def test_another_logger_writes_to_the_file(treebank: Path, tmp_path: Path) -> None:
    config = make_runs("languages", treebank)[0].config
    spec.set_logger(config, tmp_path / "steps.jsonl")
    assert config["training"]["logger"]["logger"]["output_file"] == str(tmp_path / "steps.jsonl")


@pytest.mark.usefixtures("spacy_transformers")
def test_resolved_config(treebank: Path) -> None:
    """What a run file shows: no variables left, and no folders of the machine it ran on."""
    encoder = treebank / "encoder"
    encoder.mkdir()
    config = make_runs("decoders", treebank, "--encoder", str(encoder))[0].config
    found = spec.resolved(config, None)
    assert found["components"]["transformer"]["model"]["name"] == "encoder"
    assert "${" not in json.dumps(found) and str(treebank) not in json.dumps(found)


def fake_run(order: str, f: float, deviation: float) -> dict[str, Any]:
    by_order = dict.fromkeys(("in", "pre", "post"), deviation)
    data = {"sentences": 2, "words": 4, "tags": 9, "deviation": by_order, "stack": dict.fromkeys(by_order, 2)}
    settings = {
        "table": "languages", "treebank": "bank", "order": order, "learner": "independent", "encoder": "small",
        "limit": 0, "dev_limit": 0, "max_length": 0, "epochs": 0, "steps": 1, "checks": 1, "seed": 0,
        "params": "collins",
    }  # fmt: skip
    scores = {"f": f, "precision": f, "recall": f, "exact_match": 1.0, "failures": 0, "sentences": 2}
    return {
        "run": f"bank-{order}",
        "settings": settings,
        "data": {"train": data, "dev": data},
        "config": {"training": {"patience": 0}},
        "training": {"seconds": 1.0},
        "results": {"exact": {**scores, "sentences_per_second": 1.0, "decoding_sentences_per_second": 9.0}},
        "made": {"commit": "abc", "command": "python experiments/run.py", "versions": {}},
    }


RUNS = [fake_run("in", 80.0, 0.0), fake_run("pre", 70.0, 1.0), fake_run("post", 61.0, 2.0)]


def test_table_from_its_file(tmp_path: Path) -> None:
    assert report.write_report(tmp_path) == "no runs yet"
    record.write_runs(tmp_path, RUNS[::-1])
    text = report.write_report(tmp_path)
    assert [row.split()[1] for row in text.splitlines() if row.startswith("bank")] == ["in", "pre", "post"]
    assert "commit: abc;" in text
    # Two of the six permutations are as far from 0.
    assert "F and mean deviation, all: r = -1.000, p = 0.33 by permutations within treebanks, n = 3" in text
    first = (tmp_path / "table.txt").read_bytes()
    report.write_report(tmp_path)
    assert (tmp_path / "table.txt").read_bytes() == first


def test_folders_without_runs(tmp_path: Path) -> None:
    """An error in the terminal, where a name may be wrong; runs of trials lie one folder below."""
    command = [sys.executable, str(EXPERIMENTS / "report.py"), str(tmp_path)]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 2 and f"No runs.jsonl in {tmp_path}" in done.stderr
    record.write_runs(tmp_path, RUNS)
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert "commit: abc;" in done.stdout


def test_runs_come_back(tmp_path: Path) -> None:
    """A line a run; what runs share stands there once."""
    record.write_runs(tmp_path, RUNS)
    assert report.read_table(tmp_path) == RUNS
    lines = (tmp_path / "runs.jsonl").read_text(encoding="utf-8").splitlines()
    assert len(lines) == 3 + 3 + 1 + 1  # runs; data of each; one config; one "made"
    record.write_runs(tmp_path, report.read_table(tmp_path))
    assert (tmp_path / "runs.jsonl").read_text(encoding="utf-8").splitlines() == lines


def test_committed_tables() -> None:
    """The tables in the repository are what their runs give."""
    for folder in sorted((EXPERIMENTS / "results").iterdir()):
        if (folder / "runs.jsonl").exists():
            runs = report.read_table(folder)
            rows = report.language_rows(runs) if folder.name == "languages" else report.decoder_rows(runs)
            text = (folder / "table.txt").read_text(encoding="utf-8")
            assert report.caption(runs) in text
            assert all(f"{row['F']:.2f}" in text for row in rows)


@pytest.mark.parametrize("decoder", [ExactDecoder(), BeamDecoder(2)], ids=["exact", "beam"])
def test_score(decoder: Decoder) -> None:
    """One trained pipeline, a decoder put into it: the bound becomes a number, and a beam says how often it widened."""
    nlp = make_nlp()
    train(nlp, make_examples(nlp), steps=3)
    golds = [gold_doc(nlp, tree) for tree in TREES]
    figures, found = evaluate.score(nlp, golds, decoder, "collins", repeats=1, max_stack="train")
    assert figures["sentences"] == len(found) == len(TREES)
    assert figures["max_stack"] == nlp.get_pipe("parsetag").cfg["max_stack"] > 0
    assert figures["decoding_sentences_per_second"] > figures["sentences_per_second"] > 0
    if isinstance(decoder, BeamDecoder):
        assert 0 <= figures["widened"] <= len(TREES) and figures["f_without_widening"] <= figures["strict_f"] + 1e-9


def test_project_names_what_is_there() -> None:
    config = load_project_config(EXPERIMENTS)
    names = {command["name"] for command in config["commands"]}
    assert set(config["workflows"]) == {"table-decoders", "table-languages"}
    assert all(set(steps) <= names for steps in config["workflows"].values())
    for command in config["commands"][:2]:
        words = command["script"][0].split()
        arguments = run.parse_arguments(words[2:])
        assert (EXPERIMENTS / f"{arguments.table}.yml").is_file()


@pytest.mark.slow
def test_a_table_is_made_and_not_made_again(treebank: Path, tmp_path: Path) -> None:
    command = [sys.executable, str(EXPERIMENTS / "run.py"), "languages", "--treebanks", str(treebank), "--steps", "2"]
    command += ["--checks", "1", "--repeats", "1", "--rows", "in", f"--output={tmp_path}", f"--work={tmp_path / 'w'}"]
    env = {**os.environ, "PARSETAG_TEST": str(tmp_path), "PYTHONPATH": str(EXPERIMENTS.parent)}
    done = subprocess.run(command, capture_output=True, text=True, env=env)
    assert done.returncode == 0, done.stdout + done.stderr
    path = tmp_path / "languages" / "runs.jsonl"
    written = path.read_text(encoding="utf-8")
    assert str(tmp_path) not in written
    (made,) = report.read_table(path.parent)
    assert made["made"]["command"].startswith(
        'python experiments/run.py languages --treebanks "$PARSETAG_TEST"/bank --steps 2'
    )
    assert made["config"]["training"]["max_steps"] == 2 and made["made"]["versions"]["spacy"]
    done = subprocess.run(command, capture_output=True, text=True, env=env)
    assert "1 runs, 1 of them done" in done.stdout
    assert path.read_text(encoding="utf-8") == written
