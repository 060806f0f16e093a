"""project.yml: what it names exists, and its workflow runs where `init-project` wrote it."""

import json
import shlex
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from spacy.util import load_config, registry
from weasel.util.config import load_project_config

from spacy_parsetag.cli import parsetag_app
from tools.synthetic import write_parts

ROOT = Path(__file__).resolve().parent.parent


def load(**variables: str) -> dict[str, Any]:
    return load_project_config(ROOT, overrides={f"vars.{name}": value for name, value in variables.items()})


def scripts(config: dict[str, Any]) -> list[list[str]]:
    return [shlex.split(line) for command in config["commands"] for line in command["script"]]


def test_the_repository_has_what_init_project_writes() -> None:
    """As files: an archive or Windows turns links into text. After a change: `cp -r spacy_parsetag/project/. .`"""
    source = ROOT / "spacy_parsetag" / "project"
    names = sorted(path.relative_to(source) for path in source.rglob("*.*"))
    folders = [path for folder in ("configs", "scripts") for path in sorted((ROOT / folder).iterdir())]
    assert names == sorted([*(path.relative_to(ROOT) for path in folders), Path("project.yml")])
    for name in names:
        assert (ROOT / name).read_bytes() == (source / name).read_bytes(), name
    assert not any((ROOT / name).resolve().is_relative_to(source) for name in names)


def test_commands_exist() -> None:
    config = load()
    names = {command["name"] for command in config["commands"]}
    assert all(set(steps) <= names for steps in config["workflows"].values())
    registered = {command.name for command in parsetag_app.registered_commands}
    used = {words[4] for words in scripts(config) if words[2:4] == ["spacy", "parsetag"]}
    assert used <= registered
    assert (ROOT / config["vars"]["config"]).is_file()


def test_dependencies_are_made_by_earlier_commands_or_there() -> None:
    config = load()
    commands = {command["name"]: command for command in config["commands"]}
    sources = {asset["dest"] for asset in config["assets"]} | {
        f"treebank/{part}.mrg" for part in ("train", "dev", "test")
    }
    for steps in config["workflows"].values():
        outputs = set(sources)
        for step in steps:
            for path in commands[step].get("deps", []):
                assert path in outputs or (ROOT / path).exists(), (step, path)
            outputs.update(commands[step].get("outputs", []))


def test_only_the_treebank_asked_for_is_used() -> None:
    """With a treebank of one's own no other one is drawn, fetched or parsed."""
    config = load(treebank="my/trees", name="mine", test="dev", lang="zh")
    commands = {command["name"]: command for command in config["commands"]}
    steps = config["workflows"]["all"]
    assert steps[:2] == ["check", "convert"]
    assert commands["convert"]["deps"] == ["my/trees/train.mrg", "my/trees/dev.mrg", "my/trees/dev.mrg"]
    assert commands["parse"]["deps"] == ["training/mine/model-best", "corpus/mine/dev.spacy"]
    paths = [path for step in steps for path in (*commands[step].get("deps", []), *commands[step].get("outputs", []))]
    assert all("mine" in path or path.startswith(("my/trees/", "configs/")) for path in paths)
    assert all(asset["extra"] for asset in config["assets"])


@pytest.mark.parametrize("posix", [True, False])  # as spaCy splits a command here, and on Windows
def test_a_run_is_checked_before_it_begins(posix: bool, tmp_path: Path) -> None:
    def check(**variables: str) -> subprocess.CompletedProcess[str]:
        (line,) = next(command["script"] for command in load(**variables)["commands"] if command["name"] == "check")
        command = [sys.executable, *shlex.split(line, posix=posix)[1:]]
        return subprocess.run(command, capture_output=True, text=True, cwd=ROOT)

    treebank = tmp_path.as_posix()
    (tmp_path / "dev.mrg").touch()
    for test, missing in (("test", "train.mrg, test.mrg"), ("dev", "train.mrg")):
        done = check(treebank=treebank, test=test)
        assert done.returncode == 1 and f"No {missing} in {tmp_path.resolve()}" in done.stderr
        assert ("--vars.test dev" in done.stderr) == (test == "test")
    (tmp_path / "train.mrg").touch()
    assert check(treebank=treebank, test="dev").returncode == 0
    for name in ("two words", "l'arbre", "wsj-2", "my.1"):
        done = check(name=name)
        assert done.returncode == 1 and f"and _, which no package may have: {name}" in done.stderr
    for treebank in ("two words", "l'arbre"):
        done = check(treebank=treebank)
        assert done.returncode == 1 and f"with blanks, which no command takes: {treebank}" in done.stderr


@pytest.mark.parametrize("name, schedule", [("transformer", {}), ("transformer_paper", {"schedule": ""})])
def test_the_schedule_fits_the_config(name: str, schedule: dict[str, str]) -> None:
    config = load(config=f"configs/{name}.cfg", max_steps="7", **schedule)
    (words,) = (words for words in scripts(config) if words[3:4] == ["train"])
    changed = {key[2:]: value for key, value in zip(words[5::2], words[6::2], strict=True) if "." in key}
    changed = {key: int(value) if value.isdigit() else value for key, value in changed.items()}
    taken = load_config(ROOT / words[4], overrides=changed, interpolate=True)
    assert taken["training"]["max_steps"] == 7
    registry.resolve({"rate": taken["training"]["optimizer"]["learn_rate"]})


@pytest.mark.slow
def test_the_workflow_runs(tmp_path: Path) -> None:
    """All of it, on a folder of one's own."""
    run([sys.executable, "-m", "spacy", "parsetag", "init-project", str(tmp_path / "project")])
    write_parts(tmp_path / "mine", {"train": 60, "dev": 10, "test": 10})
    variables = {"max_steps": 4, "eval_frequency": 2, "name": "mine", "treebank": tmp_path / "mine"}
    options = [word for name, value in variables.items() for word in (f"--vars.{name}", str(value))]
    run([sys.executable, "-m", "spacy", "project", "run", "all", str(tmp_path / "project"), *options])
    assert len((tmp_path / "project" / "parsed" / "mine.mrg").read_text(encoding="utf8").splitlines()) == 10
    scores = json.loads((tmp_path / "project" / "metrics" / "mine_evalb.json").read_text(encoding="utf8"))
    assert scores["evalb"]["all"]["sentences"] == 10
    (package,) = tmp_path.glob("project/packages/*/")
    assert (package / "dist" / "en_parsetag_mine-0.1.0.tar.gz").is_file()
    readme = (package / "README.md").read_text(encoding="utf8")
    assert "PARSETAG_F" in readme and "SENTS_F" not in readme and "POS_ACC" not in readme  # nobody measured these


def run(command: list[str]) -> None:
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
