"""README's Python runs as it stands; its commands, configs and folders exist."""

import re
from pathlib import Path
from typing import Any

import pytest
from thinc.api import fix_random_seed

from spacy_parsetag.cli import parsetag_app

ROOT = Path(__file__).resolve().parent.parent
README = (ROOT / "README.md").read_text(encoding="utf8")


def test_the_tour(capsys: pytest.CaptureFixture[str]) -> None:
    [tour] = re.findall(r"^```python\n(.*?)^```", README, re.MULTILINE | re.DOTALL)
    fix_random_seed(0)
    session: dict[str, Any] = {}
    exec(tour, session)  # as a reader would paste it
    printed = capsys.readouterr().out.splitlines()
    assert printed[:2] == [
        "(S (NP (X She)) (VP (X enjoys) (S (VP (X reading) (NP (X papers))))) (X .))",
        "(S (NP (X The) (X old) (X dog)) (VP (X barked) (ADVP (X loudly))) (X .))",
    ]
    assert len(printed) == 2 + len(session["doc"].spans["constituents"])
    assert printed[2] == "S She enjoys reading papers. ['She', 'enjoys reading papers', '.']"


def test_commands() -> None:
    known = {command.name for command in parsetag_app.registered_commands} | {"analyze"}
    assert set(re.findall(r"^\| `parsetag ([a-z-]+)`", README, re.MULTILINE)) == known


def test_folders_and_configs() -> None:
    table = README[README.index("| folder of `spacy_parsetag/`") : README.index("MIT licence")]
    named = set(re.findall(r"`([a-z]+)/`", table)) - {"tools"}
    rooms = {path.name for path in (ROOT / "spacy_parsetag").iterdir() if path.is_dir() and path.name[0] != "_"}
    assert named - {"spacy_parsetag"} == rooms
    configs = {path.name for path in (ROOT / "configs").glob("*.cfg")}
    assert set(re.findall(r"^\| `configs/([a-z_]+\.cfg)`", README, re.MULTILINE)) == configs
    for link in re.findall(r"\]\(([^)#:]+)\)", README):
        assert (ROOT / link).exists(), link


def test_pip_resolves_what_is_printed() -> None:
    """Pip before 23.3 finds no spacy-parsetag for a model's package where only one with extras was asked for."""
    pages = [ROOT / "README.md", *ROOT.glob("docs/**/*.md"), *(ROOT / "models").glob("*.*")]
    lines = [line for page in pages for line in page.read_text(encoding="utf8").splitlines() if "pip install" in line]
    with_model = [line for line in lines if "./models/" in line]
    assert with_model and all(" . " in line for line in with_model)
