"""Several processes learn together: after each exchange all have the mean of their weights."""

from pathlib import Path

import numpy as np
import pytest
import spacy
from spacy.tokens import DocBin
from thinc.api import Config
from tiny import make_examples, spans_of

for package in ("torch", "spacy_transformers"):
    pytest.importorskip(package, reason=f"{package} is not installed")

local_sgd = pytest.importorskip("tools.local_sgd")

CONFIG = """
[paths]
train = null

[nlp]
lang = "en"
pipeline = ["one_sentence","parsetag"]

[components]

[components.one_sentence]
factory = "one_sentence"

[components.parsetag]
factory = "parsetag"

[corpora]

[corpora.train]
@readers = "spacy.Corpus.v1"
path = ${paths.train}

[corpora.dev]
@readers = "spacy.Corpus.v1"
path = ${paths.train}

[training]

[training.optimizer]
@optimizers = "Adam.v1"
learn_rate = 0.001
use_averages = false
"""


def run(folder: Path, steps: int, rate: float, processes: int = 2) -> spacy.Language:
    nlp = spacy.blank("en")
    DocBin(docs=[eg.reference for eg in make_examples(nlp)] * 2).to_disk(folder / "train.spacy")
    filled = spacy.util.load_model_from_config(Config().from_str(CONFIG, interpolate=False), auto_fill=True).config
    filled.to_disk(folder / "config.cfg")
    options = {"--paths.train": folder / "train.spacy", "--training.max_steps": steps, "--every": 5}
    options |= {"--training.optimizer.learn_rate": rate, "--processes": processes}
    arguments = [str(argument) for option in options.items() for argument in option]
    local_sgd.main([str(folder / "config.cfg"), str(folder / "out"), *arguments])
    return spacy.load(folder / "out")


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("optimizer.use_averages", "true"), ("accumulate_gradient", "2"), ("frozen_components", '["parsetag"]'),
        ("annotating_components", '["one_sentence"]'), ("before_update", '{"@callbacks":"x"}'), ("max_steps", "0"),
    ],
)  # fmt: skip
def test_settings_that_are_not_heeded(tmp_path: Path, name: str, value: str) -> None:
    Config().from_str(CONFIG, interpolate=False).to_disk(tmp_path / "config.cfg")
    options = ["--paths.train", "x.spacy", f"--training.{name}", value]
    with pytest.raises(SystemExit, match=rf"do without {name} of \[training\]"):
        local_sgd.main([str(tmp_path / "config.cfg"), str(tmp_path / "out"), *options])


@pytest.mark.parametrize("name", ["models/en_parsetag_trf_second.cfg", "configs/transformer.cfg"])
def test_configs_of_the_workflow(name: str) -> None:
    assert local_sgd.left_undone(spacy.util.load_config(Path(__file__).parent.parent / name)["training"]) == []


def weights(nlp: spacy.Language) -> list[np.ndarray]:
    nodes = nlp.get_pipe("parsetag").model.walk()
    return [node.get_param(name) for node in nodes for name in node.param_names if node.has_param(name)]


@pytest.mark.release
def test_both_learn(tmp_path: Path, capfd: pytest.CaptureFixture) -> None:
    nlp = run(tmp_path, 30, 0.01)
    examples = make_examples(nlp)
    assert [spans_of(nlp(eg.predicted)) for eg in examples] == [spans_of(eg.reference) for eg in examples]
    assert "Step 30 of 30: parsetag" in capfd.readouterr().out


@pytest.mark.release
def test_mean_of_what_is_equal(tmp_path: Path) -> None:
    """Processes that learn nothing keep the weights with which each of them began."""
    folders = [tmp_path / str(n) for n in (1, 2)]
    for folder in folders:
        folder.mkdir()
    of_one, of_two = (weights(run(folder, 1, 0.0, n)) for n, folder in enumerate(folders, 1))
    for weight, expected in zip(of_one, of_two, strict=True):
        np.testing.assert_allclose(weight, expected, atol=1e-7)
