"""A small pipeline whose parser knows a few labels and no language."""

import os
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
import spacy
from command_data import TREES
from tiny import add_untrained_parser


@pytest.fixture
def treebank(tmp_path: Path) -> Path:
    path = tmp_path / "trees.mrg"
    path.write_text(TREES, encoding="utf-8")
    return path


@pytest.fixture(scope="session")
def pipeline(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An untrained pipeline on disk: its trees are valid and wrong."""
    nlp = spacy.blank("en")
    nlp.add_pipe("one_sentence")
    add_untrained_parser(nlp, TREES)
    path = tmp_path_factory.mktemp("pipelines") / "untrained"
    nlp.to_disk(path)
    return path


@pytest.fixture
def pipe() -> Iterator[Callable[[str | bytes], Path]]:
    """Makes pipes, as a shell does for `<(zcat trees.gz)`: what is in one can be read once."""
    if not Path("/dev/fd").is_dir():
        pytest.skip("no /dev/fd")
    opened: list[int] = []

    def make(text: str | bytes) -> Path:
        out, into = os.pipe()
        opened.append(out)
        os.write(into, text.encode() if isinstance(text, str) else text)
        os.close(into)
        return Path(f"/dev/fd/{out}")

    yield make
    for out in opened:
        os.close(out)
