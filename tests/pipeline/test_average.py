"""The mean of pipelines: of each weight, of PyTorch or Thinc, also where one has more labels."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from spacy.language import Language
from test_restore import MODEL, weights
from test_transformer import make_examples, make_nlp

for package in ("torch", "transformers", "spacy_transformers"):
    pytest.importorskip(package, reason=f"{package} is not installed")

average = pytest.importorskip("tools.average").average


def trained(encoder: Path, steps: int, *more: str) -> Language:
    nlp = make_nlp(encoder, model=MODEL)
    optimizer = nlp.initialize(lambda: make_examples(nlp))
    for _ in range(steps):
        nlp.update(make_examples(nlp), sgd=optimizer)
    pipe: Any = nlp.get_pipe("parsetag")
    for label in more:
        pipe.add_label(label)
    return nlp


def arrays(nlp: Language) -> dict[str, Any]:
    return {name: np.asarray(array).copy() for name, array in weights(nlp)}


def test_each_weight_is_the_mean(encoder: Path) -> None:
    pipelines = [trained(encoder, steps) for steps in (1, 3)]
    one, two = map(arrays, pipelines)
    found = arrays(average(pipelines))
    assert any(not np.array_equal(one[name], two[name]) for name in one if name.startswith("lstm"))
    for name, array in found.items():
        assert np.allclose(array, (one[name] + two[name]) / 2, atol=1e-7), name


def test_labels_that_only_the_first_has(encoder: Path) -> None:
    pipelines = [trained(encoder, 1, "WHADVP"), trained(encoder, 2)]
    labels = pipelines[0].pipe_labels["parsetag"]
    assert len(labels) > len(pipelines[1].pipe_labels["parsetag"])
    merged = average(pipelines)
    assert merged.pipe_labels["parsetag"] == labels
    assert len(merged("She enjoys reading papers.").spans["constituents"])


def test_labels_that_only_the_second_has(encoder: Path) -> None:
    with pytest.raises(ValueError, match="parsetag: the pipelines have other labels"):
        average([trained(encoder, 1), trained(encoder, 1, "WHADVP")])
