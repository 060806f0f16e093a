"""The recipes for a pipeline of one's own run as they stand, on small treebanks."""

import json
import re
import shlex
from itertools import islice
from pathlib import Path
from typing import Any

import pytest
import spacy
from spacy.training import Corpus
from typer.testing import CliRunner

from spacy_parsetag.cli import parsetag_app
from spacy_parsetag.treebanks.penn import read_trees, write_trees
from tools.synthetic import write_parts

ROOT = Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs" / "how-to" / "your-pipeline.md"
(ENGLISH,) = ROOT.glob("models/en_parsetag_sm/en_parsetag_sm/en_parsetag_sm-*/")


@pytest.mark.slow
def test_recipes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "en_parsetag_sm").symlink_to(ENGLISH)  # as if it were installed
    write_parts(tmp_path / "treebank", {"train": 300, "dev": 60})
    write_trees("fifty.mrg", islice(read_trees("treebank/train.mrg"), 50))
    CliRunner().invoke(parsetag_app, ["convert", "fifty.mrg", "fifty.spacy"])
    blocks = re.findall(r"^```(python|bash)\n(.*?)^```", PAGE.read_text(encoding="utf8"), re.MULTILINE | re.DOTALL)
    assert [kind for kind, _ in blocks] == ["bash", "python", "bash", "python", "python", "python", "bash", "python"]
    session: dict[str, Any] = {}
    scores = []
    for kind, block in blocks:
        if kind == "python":
            exec(block, session)  # as a reader would paste it
            continue
        for line in block.splitlines():
            words = shlex.split(line)
            assert words[:4] == ["python", "-m", "spacy", "parsetag"]
            scoring = words[4] == "evaluate"
            result = CliRunner().invoke(parsetag_app, [*words[4:], *["--json"] * scoring])
            assert result.exit_code == 0, result.output
            if scoring:
                scores.append(json.loads(result.stdout)["scores"]["parsetag_f"])
    assert len(scores) == 2 and 0.2 < scores[0] < scores[1]
    (first, _) = Corpus("silver.spacy")(spacy.load("tuned"))
    assert len(first.reference.spans["constituents"].attrs["k_best"][0]) == 5
