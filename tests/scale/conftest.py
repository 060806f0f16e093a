"""A small pipeline whose first component writes down what it sees, and a way to run commands in this process."""

from pathlib import Path

import pytest
import spacy
from scale_data import CODE, TREES, Run
from spacy.training import Example
from spacy.util import import_file
from typer.testing import CliRunner, Result

from spacy_parsetag.cli import parsetag_app
from spacy_parsetag.tokens import doc_from_tree
from spacy_parsetag.treebanks.penn import read_string


@pytest.fixture(scope="session")
def run() -> Run:
    """Run `python -m spacy parsetag ...`."""
    runner = CliRunner()

    def invoke(*args: object, stdin: str = "") -> Result:
        result = runner.invoke(parsetag_app, list(map(str, args)), input=stdin)
        assert result.exception is None or isinstance(result.exception, SystemExit), result.exception
        return result

    return invoke


@pytest.fixture(scope="session")
def code(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("code") / "code.py"
    path.write_text(CODE)
    return path


@pytest.fixture(scope="session")
def pipeline(tmp_path_factory: pytest.TempPathFactory, code: Path) -> Path:
    """An untrained pipeline on disk: its trees are valid and wrong."""
    import_file("scale_code", code)
    nlp = spacy.blank("en")
    nlp.add_pipe("scale_test_log")
    nlp.add_pipe("one_sentence")
    small = {"embed": {"width": 8, "rows": [50, 50, 50, 50]}, "encode": {"width": 8, "depth": 1}}
    nlp.add_pipe("parsetag", config={"model": {"tok2vec": small}})
    golds = [doc_from_tree(nlp.vocab, tree) for tree in read_string(TREES)]
    nlp.initialize(lambda: [Example(nlp.make_doc(gold.text), gold) for gold in golds])
    path = tmp_path_factory.mktemp("pipelines") / "untrained"
    nlp.to_disk(path)
    return path
