"""Training in bfloat16, and threads that share a pipeline on PyTorch."""

import pickle
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import spacy
from spacy.language import Language
from spacy.training import Example
from spacy.util import load_model_from_config
from test_transformer import make_examples, make_nlp
from tiny import spans_of, words_only

from spacy_parsetag.training.callbacks import in_turn, make_evaluation_mode, make_train_precision

pytest.importorskip("torch", reason="torch is not installed")

CALLBACKS = {
    "@callbacks": "spacy-parsetag.InTurn.v1",
    "*": {
        "blas": {"@callbacks": "spacy-parsetag.NumPyBLAS.v1"},
        "mode": {"@callbacks": "spacy-parsetag.EvaluationMode.v1"},
    },
}


LSTM = {"@layers": "spacy-parsetag.TorchBiLSTM.v1", "depth": 2, "hidden_width": 16}


@pytest.fixture
def nlp(encoder: Path) -> Language:
    """A pipeline that has learned a little: a transformer, and a BiLSTM over it."""
    listener = {
        "@architectures": "spacy-transformers.TransformerListener.v1",
        "upstream": "transformer",
        "grad_factor": 1.0,
        "pooling": {"@layers": "spacy-parsetag.LastSubword.v1"},
    }
    model = {"@architectures": "spacy-parsetag.Tags.v1", "tok2vec": listener, "encoder": LSTM}
    nlp = make_nlp(encoder, model=model)
    examples = make_examples(nlp)
    optimizer = nlp.initialize(lambda: examples)
    train(nlp, examples, optimizer)
    return nlp


def train(nlp: Language, examples: list[Example], optimizer: Any) -> None:
    for _ in range(3):
        nlp.update(examples, sgd=optimizer, drop=0.5)


def scores_of(nlp: Language) -> np.ndarray[Any, Any]:
    docs = [eg.predicted for eg in make_examples(nlp) if len(eg.predicted)]
    with nlp.select_pipes(disable="parsetag"):
        docs = list(nlp.pipe(docs))
    return nlp.get_pipe("parsetag").model.predict(docs).rows  # type: ignore[attr-defined]


def test_matmul_precision() -> None:
    import torch

    before = torch.get_float32_matmul_precision()
    nlp = spacy.blank("en")
    try:
        assert make_train_precision("medium")(nlp) is nlp
        assert torch.get_float32_matmul_precision() == "medium"
        assert make_train_precision("bfloat16")(nlp) is nlp
        assert torch.get_float32_matmul_precision() == "medium"
    finally:
        torch.set_float32_matmul_precision(before)


def test_training_in_bfloat16(nlp: Language) -> None:
    """Gradients are near those of float32, and are float32. A copy trains so, too; a loaded pipeline does not."""
    import torch

    def gradients(nlp: Language) -> torch.Tensor:
        models = [nlp.get_pipe(name).model for name in ("transformer", "parsetag")]  # type: ignore[attr-defined]
        modules = [shim._model for model in models for node in model.walk() for shim in node.shims]
        for layer in (layer for module in modules for layer in module.modules()):
            for name in {"p", "dropout_prob"} & set(vars(layer)):  # dropout of the encoder's own
                setattr(layer, name, 0.0)
        for module in modules:
            module.zero_grad()
        nlp.update(make_examples(nlp), sgd=False, drop=0.0)
        found = [
            weight.grad.flatten() for module in modules for weight in module.parameters() if weight.grad is not None
        ]
        return torch.cat(found)

    exact = gradients(nlp)
    copy = load_model_from_config(nlp.config).from_bytes(nlp.to_bytes())
    make_train_precision("bfloat16")(copy)
    for pipeline in (copy, pickle.loads(pickle.dumps(copy))):
        low = gradients(pipeline)
        assert low.dtype == exact.dtype == torch.float32
        assert 1e-4 < (low - exact).norm() / exact.norm() < 0.05
    loaded = load_model_from_config(nlp.config).from_bytes(copy.to_bytes())
    torch.testing.assert_close(gradients(loaded), exact)


def test_by_config(encoder: Path, tmp_path: Path) -> None:
    config = make_nlp(encoder).config.copy()
    config["nlp"]["after_pipeline_creation"] = CALLBACKS
    nlp = load_model_from_config(config)
    examples = make_examples(nlp)
    nlp.initialize(lambda: examples)
    nlp.to_disk(tmp_path)
    loaded = spacy.load(tmp_path)
    np.testing.assert_array_equal(scores_of(nlp), scores_of(loaded))
    models = [loaded.get_pipe(name).model for name in ("transformer", "parsetag")]  # type: ignore[attr-defined]
    shims = [shim for model in models for node in model.walk() for shim in node.shims]
    assert shims and not any(shim._model.training for shim in shims)
    loaded.update(make_examples(loaded), sgd=False)
    assert all(shim._model.training for shim in shims)
    # Without the components that PyTorch computes, there is nothing to do.
    assert "parsetag" not in spacy.load(tmp_path, exclude=["transformer", "parsetag"]).pipe_names


def test_lstm_of_others() -> None:
    """spaCy's own LSTM is given states, or None in their place, and sequences that are not packed."""
    listener = {"@architectures": "spacy.Tok2VecListener.v1", "width": 16}
    embed = {"@architectures": "spacy.MultiHashEmbed.v2", "width": 16, "attrs": ["NORM"], "rows": [100]}
    encode = {"@architectures": "spacy.TorchBiLSTMEncoder.v1", "width": 16, "depth": 1, "dropout": 0.0}
    nlp = spacy.blank("en")
    tok2vec = {"@architectures": "spacy.Tok2Vec.v2", "embed": {**embed, "include_static_vectors": False}}
    nlp.add_pipe("tok2vec", config={"model": {**tok2vec, "encode": encode}})
    nlp.add_pipe("tagger", config={"model": {"@architectures": "spacy.Tagger.v2", "tok2vec": listener}})
    nlp.get_pipe("tagger").add_label("X")  # type: ignore[attr-defined]
    nlp.initialize()
    exact = nlp("The old dog sings").tensor
    np.testing.assert_array_equal(make_evaluation_mode()(nlp)("The old dog sings").tensor, exact)


def test_callbacks_in_turn() -> None:
    seen = []

    def note(name: str) -> Any:
        return lambda nlp: seen.append(name) or nlp

    nlp = spacy.blank("en")
    assert in_turn(note("a"), note("b"))(nlp) is nlp and seen == ["a", "b"]
    assert in_turn()(nlp) is nlp


def test_threads_share_a_pipeline(nlp: Language) -> None:
    """A module that predicts in one thread is not put into training mode, with dropout, by another."""
    make_evaluation_mode()(nlp)
    docs = [words_only(nlp, eg.reference) for eg in make_examples(nlp)]
    expected = [spans_of(nlp(doc.copy())) for doc in docs]

    def parse(_: int) -> list[Any]:
        return [spans_of(nlp(doc.copy())) for _ in range(5) for doc in docs]

    with ThreadPoolExecutor(4) as pool:
        for found in pool.map(parse, range(8)):
            assert found == expected * 5
