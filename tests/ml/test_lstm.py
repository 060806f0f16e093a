"""The LSTM's dropout; its sizes, gradients and processes are in the tests of the pipe."""

import numpy as np
from differences import check_gradients
from thinc.api import fix_random_seed, set_dropout_rate
from tiny import needs_torch


@needs_torch
def test_dropout_between_layers() -> None:
    """In training the second layer misses some of what the first one gives it; in prediction nothing is missing."""
    from spacy_parsetag.ml.lstm import bilstm

    X = [np.random.default_rng(0).normal(size=(n, 4)).astype("f") for n in (5, 0, 2)]
    for depth, drops in ((1, False), (2, True), (3, True)):
        fix_random_seed(0)
        layer = bilstm(depth=depth, hidden_width=6)
        layer.initialize(X=X)
        plain = layer(X, True)[0]
        set_dropout_rate(layer, 0.5)
        dropped = [layer(X, True)[0] for _ in range(2)]
        for i in (0, 2):
            assert np.allclose(dropped[0][i], plain[i], atol=1e-6) != drops
            assert np.allclose(dropped[0][i], dropped[1][i], atol=1e-6) != drops
            np.testing.assert_allclose(layer.predict(X)[i], plain[i], atol=1e-6)
        # Another thread may train between what puts the module into the mode of prediction and its run.
        module = layer.shims[0]._model.train()
        module.eval = lambda module=module: module
        for found, expected in zip(layer.predict(X), plain, strict=True):
            np.testing.assert_allclose(found, expected, atol=1e-6)


@needs_torch
def test_gradient_through_dropout() -> None:
    """What was dropped teaches nothing: finite differences with the same random numbers."""
    import torch

    from spacy_parsetag.ml.lstm import bilstm

    rng = np.random.default_rng(0)
    X = [rng.normal(size=(4, 3)).astype("f")]
    weights = [rng.normal(size=(4, 8)).astype("f")]
    fix_random_seed(0)
    layer = bilstm(depth=2, hidden_width=4)
    layer.initialize(X=X)
    set_dropout_rate(layer, 0.5)

    def run():
        torch.manual_seed(1)
        return layer(X, True)

    dX = run()[1](weights)
    check_gradients(lambda: (run()[0][0].astype("d") * weights[0]).sum(), zip(X, dX, strict=True), atol=2e-3, step=1e-2)
