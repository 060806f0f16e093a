"""A small pipeline whose first component writes down what it sees."""

from pathlib import Path

import pytest
import spacy
from spacy.util import import_file
from texts_data import CODE, TREES
from tiny import add_untrained_parser


@pytest.fixture(scope="session")
def code(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("code") / "code.py"
    path.write_text(CODE)
    return path


@pytest.fixture(scope="session")
def pipeline(tmp_path_factory: pytest.TempPathFactory, code: Path) -> Path:
    """An untrained pipeline on disk: its trees are valid and wrong."""
    import_file("texts_code", code)
    nlp = spacy.blank("en")
    nlp.add_pipe("texts_test_log")
    nlp.add_pipe("one_sentence")
    add_untrained_parser(nlp, TREES)
    path = tmp_path_factory.mktemp("pipelines") / "untrained"
    nlp.to_disk(path)
    return path
