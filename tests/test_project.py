"""project.yml: what it names exists, and its workflow runs."""

import shlex
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from weasel.util.config import load_project_config

from spacy_parsetag.cli import parsetag_app

ROOT = Path(__file__).resolve().parent.parent


def load(**variables: str) -> dict[str, Any]:
    return load_project_config(ROOT, overrides={f"vars.{name}": value for name, value in variables.items()})


def scripts(config: dict[str, Any]) -> list[list[str]]:
    return [shlex.split(line) for command in config["commands"] for line in command["script"]]


def test_commands_exist() -> None:
    config = load()
    names = {command["name"] for command in config["commands"]}
    assert all(set(steps) <= names for steps in config["workflows"].values())
    known = {command.name for command in parsetag_app.registered_commands}
    used = {words[4] for words in scripts(config) if words[3] == "parsetag"}
    assert used <= known
    assert (ROOT / config["vars"]["config"]).is_file()
    assert (ROOT / config["vars"]["text"]).is_file()


def test_dependencies_are_made_by_earlier_commands_or_there() -> None:
    config = load()
    commands = {command["name"]: command for command in config["commands"]}
    assets = {asset["dest"] for asset in config["assets"]}
    for steps in config["workflows"].values():
        made = set(assets)
        for step in steps:
            for path in commands[step].get("deps", []):
                assert path in made or (ROOT / path).exists(), (step, path)
            made.update(commands[step].get("outputs", []))


def test_variables_lead_to_another_treebank() -> None:
    config = load(treebank="my/trees", name="mine", test="dev")
    convert = next(command for command in config["commands"] if command["name"] == "convert")
    assert convert["deps"] == ["my/trees/train.mrg", "my/trees/dev.mrg", "my/trees/dev.mrg"]
    assert all("synthetic" not in path for command in config["commands"][1:] for path in command.get("outputs", []))
    # Nothing of it is fetched unless asked for.
    assert all(asset["extra"] for asset in config["assets"])


@pytest.mark.slow
def test_the_workflow_runs(tmp_path: Path) -> None:
    for name in ("project.yml", "configs", "examples"):
        source = ROOT / name
        (shutil.copytree if source.is_dir() else shutil.copy)(source, tmp_path / name)
    small = {"n_train": 60, "n_dev": 10, "n_test": 10, "max_steps": 4, "eval_frequency": 2}
    options = [word for name, value in small.items() for word in (f"--vars.{name}", str(value))]
    for step in ("generate", "convert", "train", "evaluate", "parse"):
        command = [sys.executable, "-m", "spacy", "project", "run", step, str(tmp_path), *options]
        done = subprocess.run(command, capture_output=True, text=True)
        assert done.returncode == 0, done.stdout + done.stderr
    assert len((tmp_path / "parsed" / "synthetic.mrg").read_text().splitlines()) == 5
    assert (tmp_path / "metrics" / "synthetic_evalb.json").is_file()
