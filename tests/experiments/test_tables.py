"""The experiments: runs are known again by their settings, and tables come from their files alone."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from command_treebank import write_treebank
from weasel.util.config import load_project_config

EXPERIMENTS = Path(__file__).resolve().parent.parent.parent / "experiments"
sys.path.insert(0, str(EXPERIMENTS))

import report  # noqa: E402
import run  # noqa: E402
import spec  # noqa: E402


def make_runs(table: str, folder: Path, *words: str) -> list[spec.Run]:
    arguments = run.parse_arguments([table, "--treebanks", str(folder), *words])
    settings = spec.read_spec(EXPERIMENTS / f"{table}.yml", arguments)
    return spec.build_runs(settings, [spec.Treebank.find(str(folder), "train.mrg", "dev.mrg")], arguments)


@pytest.fixture
def treebank(tmp_path: Path) -> Path:
    return write_treebank(tmp_path / "bank")


def test_rows_of_the_paper(treebank: Path) -> None:
    runs = make_runs("decoders", treebank)
    assert [(run.settings["order"], run.settings["learner"]) for run in runs] == [
        ("in", "independent"), ("pre", "independent"), ("pre", "CRF"), ("pre", "LSTM"),
        ("post", "independent"), ("post", "CRF"), ("post", "LSTM"),
    ]  # fmt: skip
    assert len({run.settings["config"] for run in runs}) == 7
    assert len(make_runs("languages", treebank)) == 3


def test_settings_have_no_folders(treebank: Path) -> None:
    encoder = treebank / "encoder"
    encoder.mkdir()
    (first, *_) = make_runs("decoders", treebank, "--encoder", str(encoder))
    assert str(treebank.parent) not in json.dumps(first.settings)
    moved = treebank.rename(treebank.parent / "elsewhere")
    (second, *_) = make_runs("decoders", moved, "--encoder", str(moved / "encoder"))
    assert first.settings == {**second.settings, "treebank": first.settings["treebank"]}


@pytest.mark.parametrize(
    "words", [["--limit", "7"], ["--epochs", "2"], ["--seed", "1"], ["--set", "training.dropout=0.3"]]
)
def test_what_changes_a_run(words: list[str], treebank: Path) -> None:
    assert make_runs("decoders", treebank)[0].settings != make_runs("decoders", treebank, *words)[0].settings


def test_length_of_training(treebank: Path) -> None:
    arguments = run.parse_arguments(["decoders", "--treebanks", str(treebank), "--epochs", "4"])
    settings = spec.read_spec(EXPERIMENTS / "decoders.yml", arguments)
    config = spec.build_config(settings, settings["rows"][0], None)
    spec.set_length(config, settings, 1000)
    training = config["training"]
    assert (training["max_steps"], training["eval_frequency"]) == (128, 32)
    assert training["optimizer"]["learn_rate"]["total_steps"] == 128


def fake_run(order: str, f: float, deviation: float) -> dict[str, Any]:
    counts = {"deviations": {"0": 3, "1": 1}, "stacks": {"2": 2}, "mean_deviation": deviation, "max_stack": 2}
    data = {"sentences": 2, "words": 4, "tags": 9, "orders": dict.fromkeys(("in", "pre", "post"), counts)}
    settings = {
        "table": "languages", "treebank": "bank", "order": order, "learner": "independent", "encoder": "small",
        "limit": 0, "dev_limit": 0, "max_length": 0, "epochs": 0, "steps": 1, "checks": 1, "seed": 0,
        "params": "collins",
    }  # fmt: skip
    scores = {"f": f, "precision": f, "recall": f, "exact_match": 1.0, "failures": 0, "sentences": 2}
    return {
        "settings": settings,
        "data": {"train": data},
        "training": {"seconds": 1.0},
        "results": {"exact": {**scores, "sentences_per_second": 1.0, "decoding_sentences_per_second": 9.0}},
    }


def test_table_from_files(tmp_path: Path) -> None:
    assert report.write_report(tmp_path) == "no runs yet"
    for order, f, deviation in (("in", 80.0, 0.0), ("pre", 70.0, 1.0), ("post", 61.0, 2.0)):
        run.write_json(tmp_path / "runs" / f"{order}.json", fake_run(order, f, deviation))
    text = report.write_report(tmp_path)
    assert [row.split()[1] for row in text.splitlines() if row.startswith("bank")] == ["in", "pre", "post"]
    content = json.loads((tmp_path / "table.json").read_text(encoding="utf-8"))
    if content["correlations"]:
        assert content["correlations"]["all"]["r"] == pytest.approx(-1, abs=0.01)
    assert len((tmp_path / "table.csv").read_text(encoding="utf-8").splitlines()) == 4
    first = (tmp_path / "table.txt").read_bytes()
    report.write_report(tmp_path)
    assert (tmp_path / "table.txt").read_bytes() == first


def test_done(tmp_path: Path) -> None:
    path = tmp_path / "run.json"
    assert not run.is_done(path, {"seed": 0})
    path.write_text('{"settings": {"seed"', encoding="utf-8")  # cut off
    assert not run.is_done(path, {"seed": 0})
    run.write_json(path, {"settings": {"seed": 0}})
    assert run.is_done(path, {"seed": 0})
    assert not run.is_done(path, {"seed": 1})


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
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    (path,) = (tmp_path / "languages" / "runs").glob("*.json")
    written = path.read_text(encoding="utf-8")
    assert str(tmp_path) not in written
    done = subprocess.run(command, capture_output=True, text=True)
    assert "1 runs, 1 of them done" in done.stdout
    assert path.read_text(encoding="utf-8") == written
