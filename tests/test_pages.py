"""Every snippet of every page runs as it stands, in the order of its page, in the folder that pages speak of."""

import contextlib
import io
import json
import os
import re
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import spacy
from shell import Shell
from spacy.training import Corpus
from spacy.util import registry
from thinc.api import Config, fix_random_seed

from tools.snippets import ROOT, Snippet, pages, snippets
from tools.synthetic import write_parts

PAGES = {path.relative_to(ROOT).as_posix(): path for path in pages()}
# Why a snippet is left out: it needs one of these.
NEEDS = {
    "a GPU",
    "hours",
    "a licensed treebank",
    "a cluster",
    "a fresh environment",
    "a pipeline with PyTorch",
    "another pipeline",
    "a jar of Stanford's",
}
# Their snippets train, or draw each tree in a process of its own: a minute or more.
LONG = ("explanation/scoring", "how-to/correcting", "how-to/drawing", "how-to/your-pipeline")
NEWS = """\
The committee approved the plan on Friday. Its chairman, who had opposed it, said nothing.
Prices fell because the harvest was good. Few people expected that.
She saw the woman with the telescope.
"""


@pytest.fixture(scope="module")
def packages(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A folder of packages with the English pipeline, as pip would install it."""
    folder, name = tmp_path_factory.mktemp("packages"), "en_parsetag_sm"
    version = json.loads((ROOT / "models" / name / "meta.json").read_text(encoding="utf8"))["version"]
    package = ROOT / "models" / name
    (folder / name).mkdir()
    for path in (package / "meta.json", package / name / "__init__.py", package / name / f"{name}-{version}"):
        (folder / name / path.name).symlink_to(path)
    info = folder / f"{name}-{version}.dist-info"
    info.mkdir()
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n", encoding="utf8")
    sys.path.insert(0, str(folder))
    yield folder
    sys.path.remove(str(folder))


@pytest.fixture(scope="module")
def shell(tmp_path_factory: pytest.TempPathFactory, packages: Path) -> Iterator[Shell]:
    shell = Shell(tmp_path_factory.mktemp("shell"), [packages, ROOT])
    yield shell
    shell.close()


@pytest.fixture(scope="module")
def workshop(tmp_path_factory: pytest.TempPathFactory, shell: Shell) -> Path:
    """The folder that docs/index.md describes."""
    folder = tmp_path_factory.mktemp("workshop")
    write_parts(folder / "treebank", {"train": 300, "dev": 60, "test": 60})
    for name in ("configs", "tools"):
        (folder / name).symlink_to(ROOT / name)
    shutil.copy(ROOT / "project.yml", folder)
    parts = (
        "for part in train dev test; do python -m spacy parsetag convert treebank/$part.mrg corpus/$part.spacy; done"
    )
    shell.run(parts, folder)
    (folder / "news.txt").write_text(NEWS, encoding="utf8")
    shell.run("python -m spacy parsetag parse en_parsetag_sm news.txt trees.mrg --sents model", folder)
    for name in ("model-best", "model-last"):
        model = ROOT / "models" / "en_parsetag_sm" / "en_parsetag_sm"
        shutil.copytree(next(model.glob("en_parsetag_sm-*")), folder / "training" / name)
    return folder


def check_config(text: str) -> None:
    """Read a piece of a config, and fill in and check the arguments of each function that it names."""
    names = re.findall(r"^\[(.+)\]$", text, re.MULTILINE)
    above = {name.rpartition(".")[0] for name in names if "." in name}
    above |= {name.rpartition(".")[0] for name in above if "." in name}
    missing = "\n".join(f"[{name}]" for name in sorted(above - set(names)))
    config = Config().from_str(f"{missing}\n{text}", interpolate=False)
    assert config
    for section in config.values():
        for block in (section, *(value for value in section.values() if isinstance(value, dict))):
            if any(key.startswith("@") for key in block):
                registry.fill({"block": block}, validate=False)


def expected(snippet: Snippet) -> list[str]:
    """What a page says that a block of Python prints: the block below it, or its lines that are comments."""
    comments = [line[2:] for line in snippet.text.splitlines() if line.startswith("# ")]
    return snippet.prints.splitlines() or comments


def check_your_pipeline(folder: Path, shell: Shell) -> None:
    """Fifty trees more make its pipeline better, and each sentence of the silver trees has five of them."""
    scores = []
    for name in ("pipeline", "tuned"):
        shell.run(f"python -m spacy parsetag evaluate {name} dev.spacy --json > {name}.json", folder)
        scores.append(json.loads((folder / f"{name}.json").read_text(encoding="utf8"))["scores"]["parsetag_f"])
    assert 0.2 < scores[0] < scores[1]
    first = next(iter(Corpus(folder / "silver.spacy")(spacy.load(folder / "tuned"))))
    assert len(first.reference.spans["constituents"].attrs["k_best"][0]) == 5


CHECKS = {"docs/how-to/your-pipeline.md": check_your_pipeline}  # of what the snippets of a page have made


def run_python(snippet: Snippet, session: dict[str, Any]) -> None:
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        exec(compile(snippet.text, f"line {snippet.line}", "exec"), session)  # as a reader would paste it
    lines = expected(snippet)
    if lines:
        assert printed.getvalue().splitlines() == lines, snippet.text


@pytest.mark.slow
@pytest.mark.usefixtures("clean_extensions")
@pytest.mark.parametrize(
    "name",
    [
        pytest.param(name, marks=pytest.mark.release if name[5:-3] in LONG else ())
        for name, path in PAGES.items()
        if any(True for _ in snippets(path))
    ],
)
def test_page(name: str, workshop: Path, shell: Shell, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    if name.endswith("serving.md"):
        pytest.importorskip("fastapi", reason="fastapi is not installed: extra docs")
    folder = tmp_path / "own"
    shutil.copytree(workshop, folder, symlinks=True)
    monkeypatch.chdir(folder)
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join(map(str, shell.paths)))
    fix_random_seed(0)
    session: dict[str, Any] = {"__name__": "__main__"}
    for snippet in snippets(PAGES[name]):
        if snippet.needs:
            continue
        if snippet.kind == "python":
            run_python(snippet, session)
        elif snippet.kind == "ini":
            check_config(snippet.text)
        else:
            printed = shell.run(snippet.text, folder)
            assert not snippet.prints or printed.splitlines() == snippet.prints.splitlines(), snippet.text
    if name in CHECKS:
        CHECKS[name](folder, shell)


def test_what_is_left_out_says_why() -> None:
    found = [snippet for path in PAGES.values() for snippet in snippets(path)]
    assert {snippet.needs for snippet in found} - {""} <= NEEDS
    assert not [snippet for snippet in found if "pip install" in snippet.text and not snippet.needs]
    left_out = sum(bool(snippet.needs) for snippet in found)
    assert left_out < len(found) / 3, f"{left_out} of {len(found)} are left out"
