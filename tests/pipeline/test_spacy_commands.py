"""spaCy's own commands work with the pipe: init labels and fill-config, train, evaluate, package, debug data."""

import json
from pathlib import Path
from typing import Any

import pytest
import spacy
from spacy.cli import app
from spacy.tokens import DocBin
from tiny import TREES, gold_doc, make_nlp, spans_of
from typer.testing import CliRunner

CONFIG = """
[paths]
train = null
dev = null

[nlp]
lang = "en"
pipeline = ["one_sentence","tok2vec","parsetag"]

[components]

[components.one_sentence]
factory = "one_sentence"

[components.tok2vec]
factory = "tok2vec"

[components.tok2vec.model]
@architectures = "spacy.HashEmbedCNN.v2"
width = 4
depth = 1
embed_size = 50
window_size = 1
maxout_pieces = 2
subword_features = true
pretrained_vectors = null

[components.parsetag]
factory = "parsetag"

[components.parsetag.model]
@architectures = "spacy-parsetag.Independent.v1"

[components.parsetag.model.tok2vec]
@architectures = "spacy.Tok2VecListener.v1"
width = 4

[corpora]

[corpora.train]
@readers = "spacy.Corpus.v1"
path = ${paths.train}

[corpora.dev]
@readers = "spacy.Corpus.v1"
path = ${paths.dev}

[training]
max_steps = 3
eval_frequency = 2
"""


def spacy_command(*arguments: Any, ok: bool = True) -> str:
    """Run a command of spaCy's; returns what it prints."""
    done = CliRunner().invoke(app, [str(argument) for argument in arguments])
    if ok:
        assert done.exit_code == 0, f"{done.output}\n{done.exception!r}"
    return done.output


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A config, gold docs, and the model trained with them for three steps."""
    path = tmp_path_factory.mktemp("project")
    nlp = make_nlp()
    docs = [gold_doc(nlp, tree) for tree in TREES * 3]
    DocBin(docs=docs).to_disk(path / "gold.spacy")
    (path / "base.cfg").write_text(CONFIG, encoding="utf8")
    spacy_command("init", "fill-config", path / "base.cfg", path / "config.cfg")
    paths: list[Any] = ["--paths.train", path / "gold.spacy", "--paths.dev", path / "gold.spacy"]
    printed = spacy_command("train", path / "config.cfg", "--output", path / "model", *paths)
    assert "PARSETAG_F" in printed and "Saved pipeline to output directory" in printed
    return path


def test_filled_config(folder: Path) -> None:
    config = spacy.util.load_config(folder / "config.cfg")
    pipe = config["components"]["parsetag"]
    assert pipe["linearizer"] == {"@misc": "spacy-parsetag.InOrder.v1"} and pipe["spans_key"] == "constituents"
    weights = config["training"]["score_weights"]
    assert weights["parsetag_f"] == 1.0 and weights["parsetag_per_type"] is None


def test_trained_pipeline(folder: Path) -> None:
    for name in ("model-best", "model-last"):
        nlp = spacy.load(folder / "model" / name)
        assert spans_of(nlp("She enjoys reading papers .")) is not None
        assert nlp.meta["labels"]["parsetag"] == list(nlp.get_pipe("parsetag").labels)
        assert 0.0 <= nlp.meta["performance"]["parsetag_f"] <= 1.0


def test_evaluate(folder: Path) -> None:
    model, output = folder / "model" / "model-last", folder / "scores.json"
    spacy_command("evaluate", model, folder / "gold.spacy", "--output", output)
    scores = json.loads(output.read_text(encoding="utf8"))
    assert {"parsetag_f", "parsetag_p", "parsetag_r", "parsetag_em", "parsetag_per_type"} <= set(scores)
    assert set(scores["parsetag_tag_acc"]) == {"l", "r", "L", "R", "all"}


def test_package(folder: Path) -> None:
    """The package says that it needs ours."""
    (folder / "packages").mkdir()
    model = folder / "model" / "model-last"
    spacy_command("package", model, folder / "packages", "--build", "none", "--name", "trees", "--version", "1.0.0")
    (meta,) = folder.glob("packages/*/meta.json")
    requirements = json.loads(meta.read_text(encoding="utf8"))["requirements"]
    assert any(requirement.startswith(("spacy-parsetag>=", "spacy_parsetag>=")) for requirement in requirements)
    packaged = next(folder.glob("packages/*/*/*/config.cfg")).parent
    text = "She enjoys reading papers ."
    assert spans_of(spacy.load(packaged)(text)) == spans_of(spacy.load(model)(text))


def test_init_labels(folder: Path) -> None:
    paths: list[Any] = ["--paths.train", folder / "gold.spacy", "--paths.dev", folder / "gold.spacy"]
    spacy_command("init", "labels", folder / "config.cfg", folder / "labels", *paths)
    labels = json.loads((folder / "labels" / "parsetag.json").read_text(encoding="utf8"))
    assert labels == spacy.load(folder / "model" / "model-last").get_pipe("parsetag").label_data


def test_debug_data(folder: Path) -> None:
    """Its generic checks; so few docs are too few for it."""
    paths: list[Any] = ["--paths.train", folder / "gold.spacy", "--paths.dev", folder / "gold.spacy"]
    printed = spacy_command("debug", "data", folder / "config.cfg", *paths, ok=False)
    assert "Pipeline can be initialized with data" in printed and "Low number of examples" in printed
