"""Self-attention for trials: padding counts for nothing, gradients are those of finite differences."""

import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from thinc.api import fix_random_seed

pytest.importorskip("torch", reason="torch is not installed")
sys.path.insert(0, str(Path(__file__).resolve().parent.parent.parent / "experiments"))

from attention import self_attention

LENGTHS = (5, 1, 0, 9)
WEIGHTS = np.arange(16, dtype="f")


@pytest.fixture
def inputs() -> list[Any]:
    rng = np.random.default_rng(0)
    return [rng.normal(size=(n, 12)).astype("f") for n in LENGTHS]


def test_attention(inputs: list[Any]) -> None:
    fix_random_seed(0)
    model = self_attention(width=16, heads=2, inner_width=32, dropout=0.0)
    model.initialize(X=inputs)
    together = model.predict(inputs)
    assert [y.shape for y in together] == [(n, 16) for n in LENGTHS]
    for x, y in zip(inputs, together, strict=True):
        if len(x):
            np.testing.assert_allclose(model.predict([x])[0], y, atol=1e-5)
    other = self_attention(width=16, heads=2, inner_width=32, dropout=0.0)
    other.initialize(X=inputs)
    other.from_bytes(model.to_bytes())
    for y, again in zip(together, other.predict(inputs), strict=True):
        np.testing.assert_array_equal(again, y)

    outputs, backprop = model.begin_update(inputs)
    gradients = backprop([np.ones_like(y) * WEIGHTS for y in outputs])

    def total(step: float) -> float:
        moved: NDArray[Any] = inputs[3].copy()
        moved[2, 3] += step
        return float((model.predict([moved])[0] * WEIGHTS).sum(dtype=np.float64))

    assert (total(0.01) - total(-0.01)) / 0.02 == pytest.approx(gradients[3][2, 3], rel=1e-2)
