"""The README is short, and what it and the pages name exists. (tests/test_pages.py runs what they print.)"""

import re
from pathlib import Path

from tools.snippets import pages

ROOT = Path(__file__).resolve().parent.parent
README = (ROOT / "README.md").read_text(encoding="utf8")


def test_short() -> None:
    assert len(README.splitlines()) <= 110


def test_folders_and_configs() -> None:
    page = (ROOT / "docs" / "explanation" / "how-it-works.md").read_text(encoding="utf8")
    named = set(re.findall(r"`([a-z]+)/`", page[page.index("| folder of `spacy_parsetag/`") :]))
    rooms = {path.name for path in (ROOT / "spacy_parsetag").iterdir() if path.is_dir() and path.name[0] != "_"}
    assert named == rooms
    configs = {path.name for path in (ROOT / "configs").glob("*.cfg")}
    page = (ROOT / "docs" / "tutorials" / "your-treebank.md").read_text(encoding="utf8")
    assert set(re.findall(r"^\| `configs/([a-z_]+\.cfg)`", page, re.MULTILINE)) == configs
    for link in re.findall(r"\]\(([^)#:]+)\)", README):
        assert (ROOT / link).exists(), link


def test_nothing_comes_from_an_index_before_a_release() -> None:
    changelog = (ROOT / "CHANGELOG.md").read_text(encoding="utf8")
    newest = next(line for line in changelog.splitlines() if line.startswith("## "))
    if newest == "## 0.1.0, not released yet":
        lines = [line for page in pages() for line in page.read_text(encoding="utf8").splitlines()]
        assert not [line for line in lines if re.search(r"pip install.* [\"']?spacy-parsetag", line)]


def test_pip_resolves_what_is_printed() -> None:
    """Pip before 23.3 finds no spacy-parsetag for a model's package where only one with extras was asked for."""
    named = [*pages(), *(ROOT / "models").glob("*.*")]
    lines = [line for page in named for line in page.read_text(encoding="utf8").splitlines() if "pip install" in line]
    with_model = [line for line in lines if "./models/" in line]
    assert with_model and all(" . " in line for line in with_model)
