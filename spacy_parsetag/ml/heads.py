"""The heads: word vectors in, scores of both tag slots out."""

from collections.abc import Callable
from functools import partial
from typing import cast

from thinc.api import Linear, Model, Ops, chain, glorot_uniform_init, with_array
from thinc.types import Floats2d, Shape


def tag_heads(nO: int | None = None, *, rate_scale: float = 1.0) -> Model[list[Floats2d], list[Floats2d]]:
    """Two linear heads over each word's vector (paper section 4.2: W1 and W2), stored as one matrix.

    Input: one (words, width) array per doc. Output: one (words, nO) array per doc, where nO = 2 |T|: the scores of the
    tags at the word's first position, then those at its second.

    nO (Optional[int]): 2 |T|; None until the labels are known.
    rate_scale (float): How much faster than the rest of the network the heads learn. An optimizer such as Adam steps
        by the learning rate whatever the size of the gradient, so scores that are `rate_scale` times a linear layer
        move `rate_scale` times as far a step.
    RETURNS (Model): The layer.
    """
    # Not zeros: the encoder's first gradients would be next to nothing, and Adam makes full steps of their noise.
    linear = Linear(nO=nO, init_W=partial(_init_scaled, rate_scale))
    heads = linear if rate_scale == 1.0 else chain(linear, scale(rate_scale))
    model: Model[list[Floats2d], list[Floats2d]] = with_array(heads)
    model.set_ref("linear", linear)
    return model


def _init_scaled(factor: float, ops: Ops, shape: Shape) -> Floats2d:
    """Weights so small that the scores begin as large as those of a plain linear layer."""
    return cast(Floats2d, glorot_uniform_init(ops, shape) / factor)


def scale(factor: float) -> Model[Floats2d, Floats2d]:
    """Multiply by a constant."""
    return Model("scale", _scale_forward, attrs={"factor": factor})


def _scale_forward(
    model: Model[Floats2d, Floats2d], X: Floats2d, is_train: bool
) -> tuple[Floats2d, Callable[[Floats2d], Floats2d]]:
    factor: float = model.attrs["factor"]

    def backprop(dY: Floats2d) -> Floats2d:
        return dY * factor

    return X * factor, backprop
