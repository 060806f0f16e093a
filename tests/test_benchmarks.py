"""What benchmark scripts record of how a figure was made."""

import argparse
import json
import sys
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "benchmarks"))

import record  # noqa: E402


@pytest.fixture
def in_root(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)


def test_command_runs_as_it_stands(monkeypatch: pytest.MonkeyPatch, in_root: None, tmp_path: Path) -> None:
    monkeypatch.setenv("PARSETAG_DATA", str(tmp_path))
    outside, inside = tmp_path / "a b" / "train.mrg", ROOT / "configs" / "cnn.cfg"
    arguments = ["benchmarks/x.py", "it's", str(outside), f"--set=vars.encoder={outside}", f"{inside}", "--n", "3"]
    monkeypatch.setattr(sys, "argv", arguments)
    assert record.command() == (
        "python benchmarks/x.py 'it'\"'\"'s' \"$PARSETAG_DATA\"/'a b/train.mrg' "
        "--set=vars.encoder=\"$PARSETAG_DATA\"/'a b/train.mrg' configs/cnn.cfg --n 3"
    )
    monkeypatch.delenv("PARSETAG_DATA")
    with pytest.raises(SystemExit, match="outside the repository"):
        record.command()
    monkeypatch.chdir(tmp_path)
    with pytest.raises(SystemExit, match="root of the repository"):
        record.command()


def test_no_speed_beside_other_processes(
    monkeypatch: pytest.MonkeyPatch, in_root: None, capsys: pytest.CaptureFixture[str]
) -> None:
    def parse(load: float, *options: str) -> argparse.Namespace:
        monkeypatch.setattr(record.os, "getloadavg", lambda: (load, load, load), raising=False)
        monkeypatch.setattr(sys, "argv", ["benchmarks/x.py", *options])
        return record.parse_arguments(argparse.ArgumentParser())

    assert parse(0.2, "--output", "x.json").made_by["machine"]["load_average"] == 0.2
    assert parse(3.0).output is None  # figures that are only printed
    with pytest.raises(SystemExit):
        parse(3.0, "--output", "x.json")
    assert "load average is 3.0" in capsys.readouterr().err
    assert parse(3.0, "--output", "x.json", "--force").made_by["command"].endswith("--output x.json --force")


def test_result_file(monkeypatch: pytest.MonkeyPatch, in_root: None, tmp_path: Path) -> None:
    monkeypatch.setattr(sys, "argv", ["benchmarks/x.py"])
    config = tmp_path / "config.cfg"
    config.write_text('[paths]\ntrain = "/somewhere/train"\n', encoding="utf-8")
    made = record.made_by()
    assert set(made) == {"command", "commit", "date", "machine", "versions"}
    assert {"python", "spacy", "thinc"} <= set(made["versions"]) and made["machine"]["cores"] > 0
    record.write_result({"f": 0.5, "counts": [1, 2, -3]}, tmp_path / "x.json", made, config=config)
    text = (tmp_path / "x.json").read_text(encoding="utf-8")
    found: dict[str, Any] = json.loads(text)
    assert found["f"] == 0.5 and '"counts": [1, 2, -3]' in text
    digest = found["made_by"].pop("config_sha256")
    assert found["made_by"] == made
    config.write_text('[paths]\ntrain = "/elsewhere/train"\n', encoding="utf-8")
    assert record.config_hash(config) == digest  # folders do not count
    config.write_text('[paths]\ntrain = "/elsewhere/dev"\n', encoding="utf-8")
    assert record.config_hash(config) != digest
    record.write_result({}, None, None)


def test_table_of_the_readme_is_that_of_the_files(in_root: None) -> None:
    import table

    text = (ROOT / "README.md").read_text(encoding="utf-8")
    for line in (*table.accuracy(), *table.decoding()):
        assert line in text
