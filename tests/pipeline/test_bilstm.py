"""The BiLSTM: its sizes, its gradient, one sentence at a time, and processes that are forked after it."""

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from differences import check_gradients
from spacy.tokens import Doc
from tiny import make_examples, make_learner, needs_torch, train

from spacy_parsetag.ml.words import encode_words

LSTM = {"@layers": "spacy-parsetag.TorchBiLSTM.v1", "depth": 2}


@needs_torch
def test_bilstm_sizes() -> None:
    for depth, hidden in ((3, None), (2, 7), (1, 3)):
        nlp = make_learner("BiLSTM", encoder={**LSTM, "depth": depth, "hidden_width": hidden})
        examples = make_examples(nlp)
        nlp.initialize(lambda: examples)  # noqa: B023
        pipe = nlp.get_pipe("parsetag")
        lstm = next(node for node in pipe.model.walk() if node.name == "bilstm")
        module = lstm.shims[0]._model
        assert module.hidden_size == (hidden or len(pipe.labels)) and module.num_layers == depth
        assert lstm.get_dim("nO") == 2 * module.hidden_size and lstm.get_dim("nI") == 32
        assert pipe.model.get_ref("tok2vec").get_dim("nO") == 32
        loaded = make_learner("BiLSTM", encoder={**LSTM, "depth": depth, "hidden_width": hidden}).from_bytes(
            nlp.to_bytes()
        )
        shims = [shim for node in loaded.get_pipe("parsetag").model.walk() for shim in node.shims]
        assert [shim._model.num_layers for shim in shims] == [depth]
    for wrong in ({"depth": 0}, {"hidden_width": 0}):
        with pytest.raises(ValueError, match=r"\[E200\]"):
            make_learner("BiLSTM", encoder={**LSTM, **wrong})


@needs_torch
@pytest.mark.parametrize("lengths", [(1,), (4, 1, 0, 3, 4), (1, 2, 9)])
def test_gradient_is_that_of_pytorch(lengths: tuple[int, ...]) -> None:
    """What is trained through on a CPU is the LSTM that predicts, in its values and its gradients."""
    import torch

    from spacy_parsetag.ml.lstm import bilstm

    rng = np.random.default_rng(0)
    layer = bilstm(depth=3, hidden_width=5)
    X = [rng.normal(size=(n, 6)).astype("f") for n in lengths]
    layer.initialize(X=X)
    Y, backprop = layer(X, True)
    for y, expected in zip(Y, layer.predict(X), strict=True):
        np.testing.assert_allclose(y, expected, atol=1e-6)
    dY = [rng.normal(size=y.shape).astype("f") for y in Y]
    dX = backprop(dY)
    module = layer.shims[0]._model
    found = [weight.grad.clone() for weight in module.parameters()]
    module.zero_grad()
    for x, dy, dx in zip(X, dY, dX, strict=True):
        if len(x):
            inputs = torch.tensor(x, requires_grad=True)
            module(inputs)[0].backward(torch.tensor(dy))
            np.testing.assert_allclose(dx, inputs.grad, atol=1e-5)
    for gradient, weight in zip(found, module.parameters(), strict=True):
        torch.testing.assert_close(gradient, weight.grad, atol=1e-4, rtol=1e-4)


@needs_torch
def test_bilstm_sees_one_sentence() -> None:
    """Scores do not depend on the batch, and through the LSTM not on other sentences of the doc."""
    nlp = make_learner("BiLSTM")
    examples = make_examples(nlp)
    train(nlp, examples, steps=2)
    model = nlp.get_pipe("parsetag").model
    inner = model.layers[1]
    rng = np.random.default_rng(0)
    X = [rng.normal(size=(n, 32)).astype("f") for n in (3, 0, 7, 1)]
    together = inner.predict(X)
    for x, y in zip(X, together, strict=True):
        np.testing.assert_allclose(inner.predict([x])[0], y, atol=1e-6)
    assert together[1].shape == (0, inner.layers[1].get_dim("nO"))
    starts = [True, False, False, True, False]
    words = ["She", "enjoys", "papers", "a", "cat"]
    doc = Doc(nlp.vocab, words=words, sent_starts=starts)
    vectors = model.get_ref("tok2vec").predict([doc])[0]
    expected = np.concatenate([inner.predict([vectors[:3]])[0], inner.predict([vectors[3:]])[0]])
    _, found, _ = encode_words(model, [doc], False)
    np.testing.assert_allclose(found, expected, atol=1e-6)
    # The same the way back.
    docs = [doc, nlp.make_doc(""), Doc(nlp.vocab, words=words)]
    _, Y, backprop = encode_words(model, docs, True)
    assert len(Y) == 10
    backprop(np.ones_like(Y))
    parameters = dict(inner.layers[1].shims[0]._model.named_parameters())
    assert all(value.grad is not None and value.grad.abs().sum() > 0 for value in parameters.values())


@needs_torch
def test_bilstm_gradient() -> None:
    from spacy_parsetag.ml.lstm import bilstm

    rng = np.random.default_rng(0)
    X = [rng.normal(size=(n, 3)).astype("f") for n in (2, 0, 4)]
    model = bilstm(depth=2, hidden_width=2)
    model.initialize(X=X)
    Y, backprop = model(X, True)
    dY = [rng.normal(size=y.shape).astype("f") for y in Y]
    dX = backprop(dY)

    def value() -> float:
        return sum(float((y * dy).sum()) for y, dy in zip(model.predict(X), dY, strict=True))

    check_gradients(value, zip(X, dX, strict=True), atol=2e-3, step=1e-2)


def test_bilstm_without_torch(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "torch", None)
    with pytest.raises(ImportError, match=r'TorchBiLSTM.v1 needs the package .torch.*pip install "spacy-parsetag\['):
        make_learner("BiLSTM")


FORKED = """
import os, sys
import spacy, torch
from spacy.language import Language

big = torch.ones(400, 400)

@Language.component("torch_user")
def torch_user(doc):
    big @ big
    return doc

torch.set_num_threads(2)
nlp = spacy.load(sys.argv[1])
nlp.add_pipe("torch_user", first=True)
texts = ["She enjoys reading papers .", "Rain"] * 8
expected = [doc._.parse_strings for doc in nlp.pipe(texts)]
big @ big  # now PyTorch has a second thread, which no worker inherits
assert [doc._.parse_strings for doc in nlp.pipe(texts, n_process=2, batch_size=4)] == expected
assert torch.get_num_threads() == 2
pid = os.fork()
if not pid:  # a process of somebody else's, which keeps its threads as long as it does not parse
    os._exit(torch.get_num_threads())
assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 2
pid = os.fork()
if not pid:
    nlp.remove_pipe("torch_user")
    os._exit(nlp(texts[0])._.parse_strings != expected[0])
assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 0
"""


@needs_torch
@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork")
def test_workers_do_not_wait_for_threads_of_their_parent(tmp_path: Path) -> None:
    nlp = make_learner("BiLSTM", encoder={**LSTM, "hidden_width": 100})
    train(nlp, make_examples(nlp), steps=1)
    nlp.to_disk(tmp_path)
    subprocess.run([sys.executable, "-c", FORKED, str(tmp_path)], check=True, timeout=300)
