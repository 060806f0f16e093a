"""An exported pipeline becomes one of PyTorch again, with the weights that it had."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any, Literal

import numpy as np
import pytest
import spacy
from spacy.language import Language
from test_transformer import make_examples, make_nlp

from spacy_parsetag.ml.lstm import LSTMShim
from spacy_parsetag.pipeline.export import export_pipeline

for package in ("torch", "transformers", "spacy_transformers", "onnx", "onnxruntime", "tokenizers"):
    pytest.importorskip(package, reason=f"{package} is not installed")

MODEL = {
    "@architectures": "spacy-parsetag.Spans.v1",
    "tok2vec": {
        "@architectures": "spacy-transformers.TransformerListener.v1",
        "grad_factor": 1.0,
        "upstream": "transformer",
        "pooling": {"@layers": "spacy-parsetag.LastSubword.v1"},
    },
    "encoder": {"@layers": "spacy-parsetag.TorchBiLSTM.v1", "hidden_width": 8, "depth": 2},
    "hidden_width": 16,
    "span_width": 16,
}


restore = pytest.importorskip("tools.restore").restore


def weights(nlp: Language) -> Iterator[tuple[str, Any]]:
    """All that a pipeline has learned, but the pooler, which is not exported."""
    yield from nlp.get_pipe("transformer").model.transformer.state_dict().items()  # type: ignore[attr-defined]
    for i, node in enumerate(nlp.get_pipe("parsetag").model.walk()):  # type: ignore[attr-defined]
        yield from ((f"{i} {name}", node.get_param(name)) for name in node.param_names)
        for shim in node.shims:
            if isinstance(shim, LSTMShim):
                arrays = shim._model.state_dict()
                yield from ((f"lstm {name}", array) for name, array in arrays.items())
                biases = [name for name in arrays if name.startswith("bias_ih")]
                yield from ((f"sum {name}", arrays[name] + arrays[name.replace("ih", "hh")]) for name in biases)


@pytest.mark.parametrize("precision", ["float32", "int8"])
def test_weights_come_back(tmp_path: Path, encoder: Path, precision: Literal["float32", "int8"]) -> None:
    nlp = make_nlp(encoder, model=MODEL)
    nlp.initialize(lambda: make_examples(nlp))
    exported = spacy.load(export_pipeline(nlp, tmp_path / "exported", precision))
    restored = restore(exported, nlp.config)
    learned = {name: np.asarray(array) for name, array in weights(nlp) if not name.startswith("pooler.")}
    found = {name: np.asarray(array) for name, array in weights(restored)}
    assert any(name.startswith("lstm") for name in learned)
    assert sum(name.startswith("sum bias") for name in learned) == 4
    for name, array in learned.items():
        if precision == "int8" and name.startswith("lstm bias"):
            continue  # an int8 graph has their sums
        step = np.abs(array).max() / 127 if precision == "int8" else 0
        assert np.abs(array - found[name]).max() <= step / 2 + 1e-7, name
    if precision == "float32":
        texts = ["She enjoys reading papers .", "The old dog barked"]
        trees = [
            [[span.label_ for span in doc.spans["constituents"]] for doc in p.pipe(texts)] for p in (nlp, restored)
        ]
        assert trees[0] == trees[1]
    restored.update(make_examples(restored), sgd=restored.resume_training())


def test_another_pipeline_is_refused(tmp_path: Path, encoder: Path) -> None:
    nlp = make_nlp(encoder, model=MODEL)
    nlp.initialize(lambda: make_examples(nlp))
    exported = spacy.load(export_pipeline(nlp, tmp_path / "exported", "int8"))
    wider = {**MODEL, "encoder": {**MODEL["encoder"], "hidden_width": 12}}  # type: ignore[dict-item]
    with pytest.raises(ValueError, match="shape"):
        restore(exported, make_nlp(encoder, model=wider).config)
