"""`download`: the table of pipelines is that of their packages; pip gets a wheel, sources or an address."""

import json
import re
import subprocess
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from spacy_parsetag.cli import download, parsetag_app

ROOT = Path(__file__).resolve().parents[2]
NAME = "en_parsetag_sm"
VERSION = download.TABLE["pipelines"][NAME]["version"]
WHEEL = f"{NAME}-{VERSION}-py3-none-any.whl"


@pytest.fixture
def calls(monkeypatch: pytest.MonkeyPatch) -> list[list[str]]:
    """What pip was called with. It leaves a wheel where it is to download one."""
    calls = []

    def run(command: list[str]) -> subprocess.CompletedProcess[bytes]:
        calls.append(command[3:])
        if command[3] == "download":
            (Path(command[command.index("-d") + 1]) / WHEEL).touch()
        return subprocess.CompletedProcess(command, int(command[-1].endswith("broken.whl")))

    monkeypatch.setattr(download.subprocess, "run", run)
    monkeypatch.setattr(download, "find_spec", lambda name: True)  # also where the tests run without pip
    return calls


def run(*arguments: object) -> Any:
    return CliRunner().invoke(parsetag_app, ["download", *map(str, arguments)])


def test_table() -> None:
    metas = [json.loads(path.read_text(encoding="utf8")) for path in (ROOT / "models").glob("*_*/meta.json")]
    made = {f"{meta['lang']}_{meta['name']}": meta for meta in metas}
    assert set(download.TABLE["pipelines"]) == set(made)
    for name, row in download.TABLE["pipelines"].items():
        [needed] = [line for line in made[name]["requirements"] if line.startswith("spacy-parsetag")]
        assert row == {"version": made[name]["version"], "spacy-parsetag": re.sub(r"^[a-z-]+(\[onnx\])?", "", needed)}


def test_from_a_folder(calls: list[list[str]], tmp_path: Path) -> None:
    assert run(NAME, "--from", ROOT / "models").exit_code == 0
    (tmp_path / WHEEL).touch()
    assert run(NAME, "--from", tmp_path).exit_code == 0
    assert calls == [["install", str(ROOT / "models" / NAME)], ["install", str(tmp_path / WHEEL)]]


def test_from_an_index(calls: list[list[str]]) -> None:
    result = run(NAME, "--from", "https://index.example/simple")
    assert result.exit_code == 0 and f"spacy.load('{NAME}')" in result.stderr
    asked, installed = calls
    assert asked[0] == "download" and "--no-deps" in asked and asked[-1] == f"{NAME}=={VERSION}"
    assert asked[asked.index("--index-url") + 1] == "https://index.example/simple"
    assert installed[0] == "install" and installed[-1].endswith(WHEEL)


def test_where_they_are_published(calls: list[list[str]], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(download.TABLE, "address", "https://example.org/releases")
    assert run(NAME).exit_code == 0
    assert calls == [["install", f"https://example.org/releases/{NAME}-{VERSION}/{WHEEL}"]]


def test_errors(calls: list[list[str]], monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    def message(*arguments: object) -> str:
        result = run(*arguments)
        assert result.exit_code == 1 and not isinstance(result.exception, (KeyError, AttributeError))
        return result.stderr

    assert "E478" in message("en_other") and "id_parsetag_sm" in message("en_other")
    assert "E480" in message(NAME) and f"./models/{NAME}" in message(NAME)
    assert "E482" in message(NAME, "--from", tmp_path)
    (tmp_path / NAME).mkdir()
    (tmp_path / NAME / "setup.py").touch()
    (tmp_path / NAME / "meta.json").write_text('{"version": "9.9.9"}')  # of another version of the pipeline
    assert f"[E482] {tmp_path} has neither" in message(NAME, "--from", tmp_path)
    assert calls == []
    (tmp_path / f"{NAME}-{VERSION}-broken.whl").touch()
    assert "E483" in message(NAME, "--from", tmp_path) and calls
    monkeypatch.setattr(download, "find_spec", lambda name: None)
    assert "E481" in message(NAME, "--from", tmp_path)
    monkeypatch.setattr(download, "version", lambda name: "0.9.0")
    assert "E479" in message(NAME, "--from", tmp_path)
