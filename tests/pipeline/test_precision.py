"""bfloat16 and int8 in place of float32, and threads that share a pipeline on PyTorch."""

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

from spacy_parsetag.ml.lstm import bilstm
from spacy_parsetag.ml.precision import Predictor, make_train_precision, set_precision
from spacy_parsetag.training.callbacks import in_turn

pytest.importorskip("torch", reason="torch is not installed")

CALLBACKS = {
    "@callbacks": "spacy-parsetag.InTurn.v1",
    "*": {
        "blas": {"@callbacks": "spacy-parsetag.NumPyBLAS.v1"},
        "precision": {"@callbacks": "spacy-parsetag.PredictPrecision.v1", "precision": "bfloat16"},
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


def test_low_precision_is_near_float32(nlp: Language, tmp_path: Path) -> None:
    exact = scores_of(nlp)
    before = nlp.to_bytes()
    found = {}
    for precision in ("bfloat16", "int8", "float32"):
        assert set_precision(nlp, precision) is nlp
        found[precision] = scores_of(nlp)
        assert found[precision].dtype == np.float32
        np.testing.assert_array_equal(scores_of(nlp), found[precision])
        difference = np.abs(found[precision] - exact).max() / np.abs(exact).max()
        if precision == "float32":
            assert difference < 1e-6, difference
        else:
            assert 0 < difference < 0.1, (precision, difference)
        # What is saved are the weights as they were trained.
        assert nlp.to_bytes() == before
        nlp.to_disk(tmp_path / precision)
        np.testing.assert_array_equal(scores_of(spacy.load(tmp_path / precision)), exact)
        np.testing.assert_array_equal(scores_of(pickle.loads(pickle.dumps(nlp))), found[precision])


@pytest.mark.parametrize("precision", ["float32", "int8"])
def test_weights_that_change(nlp: Language, precision: str) -> None:
    """The second copy of the weights follows what is trained, put in place for a while, or loaded later."""
    set_precision(nlp, precision)
    before, first = nlp.to_bytes(), scores_of(nlp)
    train(nlp, make_examples(nlp), nlp.resume_training())
    trained = scores_of(nlp)
    assert np.abs(trained - first).max() > 0.01
    exact = scores_of(load_model_from_config(nlp.config).from_bytes(nlp.to_bytes()))
    assert np.abs(trained - exact).max() < 0.1 * np.abs(exact).max()
    (shim,) = (shim for node in nlp.get_pipe("parsetag").model.walk() for shim in node.shims)  # type: ignore[attr-defined]
    averages = {(shim.id, name): weight.numpy() / 2 for name, weight in shim._model.state_dict().items()}
    with shim.use_params(averages):
        assert np.abs(scores_of(nlp) - trained).max() > 0.01
    np.testing.assert_array_equal(scores_of(nlp), trained)
    nlp.from_bytes(before)
    np.testing.assert_array_equal(scores_of(nlp), first)


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
    for own in (copy, pickle.loads(pickle.dumps(copy))):
        low = gradients(own)
        assert low.dtype == exact.dtype == torch.float32
        assert 1e-4 < (low - exact).norm() / exact.norm() < 0.05
    loaded = load_model_from_config(nlp.config).from_bytes(copy.to_bytes())
    torch.testing.assert_close(gradients(loaded), exact)


@pytest.mark.parametrize(("precision", "most"), [("float32", 1e-6), ("bfloat16", 0.02)])
@pytest.mark.parametrize("lengths", [(7, 1, 0, 30, 7, 2), (5, 5, 5), (4,), (1, 1)])
@pytest.mark.parametrize("depth", [1, 2, 3])
def test_lstm_as_exact(depth: int, lengths: tuple[int, ...], precision: str, most: float) -> None:
    """Products with weights laid out for prediction give what PyTorch gives, whatever the lengths of sequences: of one
    length, too, where PyTorch's own LSTM in bfloat16 fails on CPUs without such products."""
    rng = np.random.default_rng(0)
    layer = bilstm(depth, 24)
    X = [rng.normal(size=(n, 40)).astype("f") for n in lengths]
    layer.initialize(X=X)
    expected = layer.predict(X)
    (shim,) = layer.shims
    shim.predict = Predictor(shim, precision)
    for found in (layer.predict(X), layer.predict(X[::-1])[::-1]):
        for own, other in zip(found, expected, strict=True):
            assert own.dtype == np.float32
            np.testing.assert_allclose(own, other, atol=most)


def test_by_config(encoder: Path, tmp_path: Path) -> None:
    config = make_nlp(encoder).config.copy()
    config["nlp"]["after_pipeline_creation"] = CALLBACKS
    nlp = load_model_from_config(config)
    examples = make_examples(nlp)
    nlp.initialize(lambda: examples)
    nlp.to_disk(tmp_path)
    loaded = spacy.load(tmp_path)
    low = scores_of(loaded)
    np.testing.assert_array_equal(scores_of(nlp), low)
    assert (scores_of(set_precision(loaded, "float32")) != low).any()
    # Without the components that PyTorch computes, there is nothing to set.
    assert "parsetag" not in spacy.load(tmp_path, exclude=["transformer", "parsetag"]).pipe_names


@pytest.mark.parametrize("precision", ["float32", "bfloat16", "int8"])
def test_lstm_of_others(precision: str) -> None:
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
    low = set_precision(nlp, precision)("The old dog sings").tensor
    assert exact.shape == (4, 16)
    np.testing.assert_allclose(low, exact, atol=1e-6 if precision == "float32" else 0.05)


def test_callbacks_in_turn() -> None:
    seen = []

    def note(name: str) -> Any:
        return lambda nlp: seen.append(name) or nlp

    nlp = spacy.blank("en")
    assert in_turn(note("a"), note("b"))(nlp) is nlp and seen == ["a", "b"]
    assert in_turn()(nlp) is nlp


def test_errors(nlp: Language) -> None:
    with pytest.raises(ValueError, match=r"\[E211\].*float16"):
        set_precision(nlp, "float16")
    with pytest.raises(ValueError, match=r"\[E212\].*sentencizer"):
        blank = spacy.blank("en")
        blank.add_pipe("sentencizer")
        set_precision(blank, "int8")


@pytest.mark.parametrize("precision", ["float32", "bfloat16", "int8"])
def test_threads_share_a_pipeline(nlp: Language, precision: str) -> None:
    """A module that predicts in one thread is not put into training mode, with dropout, by another."""
    set_precision(nlp, precision)
    docs = [words_only(nlp, eg.reference) for eg in make_examples(nlp)]
    expected = [spans_of(nlp(doc.copy())) for doc in docs]

    def parse(_: int) -> list[Any]:
        return [spans_of(nlp(doc.copy())) for _ in range(5) for doc in docs]

    with ThreadPoolExecutor(4) as pool:
        for found in pool.map(parse, range(8)):
            assert found == expected * 5
