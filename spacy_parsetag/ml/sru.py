"""Simple Recurrent Units: a layer that sees the whole sentence, trains and runs on the CPU, and needs no PyTorch.

Lei et al. (2018), "Simple Recurrent Units for Highly Parallelizable Recurrence". One matrix product does all that words
do on their own; what runs from word to word is element by element:

    f_t = sigmoid(W_f x_t + v_f * c_{t-1} + b_f)        forget gate
    r_t = sigmoid(W_r x_t + v_r * c_{t-1} + b_r)        reset gate
    c_t = f_t * c_{t-1} + (1 - f_t) * W x_t             state
    h_t = r_t * c_t + (1 - r_t) * x_t                   output, with the highway x_t

Where the input is not as wide as the output, the highway is W_h x_t.
"""

from collections.abc import Callable
from itertools import pairwise
from typing import Any, cast

import numpy as np
from thinc.api import Dropout, Model, chain, with_array
from thinc.types import Floats2d
from thinc.util import get_width

from ..errors import Errors
from ._sru import backward, forward
from .words import Arrays, SequenceModel, check_sizes, cut

_PIECE = 1000  # words at a time in prediction


def sru_layers(depth: int = 2, hidden_width: int = 128) -> SequenceModel:
    """Layers of SRUs in both directions over sequences of vectors, with dropout between them: spacy-parsetag.SRU.v1.

    Input: (words, nI) arrays, one for each sequence; no sequence sees another one. Output: (words, 2 hidden_width)
    arrays, first the forward units, which know the words before.

    hidden_width (int): Units in each direction.
    RAISES (ValueError): If a size is below 1.
    """
    check_sizes(depth=depth, hidden_width=hidden_width)
    layers: list[Model[Any, Any]] = [sru_layer(hidden_width)]
    for _ in range(depth - 1):
        layers += [with_array(Dropout()), sru_layer(hidden_width)]
    return chain(*layers) if depth > 1 else layers[0]


def sru_layer(hidden_width: int) -> SequenceModel:
    """Make one layer of SRUs in both directions; see `sru_layers`."""
    return Model(
        "sru", _forward, init=_init, dims={"nI": None, "nO": 2 * hidden_width}, params={"W": None, "v": None, "b": None}
    )


def _init(model: SequenceModel, X: Arrays | None = None, Y: Arrays | None = None) -> None:
    if X is not None:
        model.set_dim("nI", get_width(X))
    shapes = _shapes(model)
    # Products then vary as much as the inputs (Lei et al., section 3.2).
    for name in ("W", "v"):
        bound = (3.0 / shapes[name][-1]) ** 0.5
        model.set_param(name, model.ops.xp.asarray(np.random.uniform(-bound, bound, shapes[name]).astype("f")))
    model.set_param("b", model.ops.xp.zeros(shapes["b"], dtype="f"))


def _shapes(model: SequenceModel) -> dict[str, tuple[int, ...]]:
    nI, nO = model.get_dim("nI"), model.get_dim("nO")
    return {"W": ((3 if nI == nO else 4) * nO, nI), "v": (2, 2, nO // 2), "b": (2, 2, nO // 2)}


def _forward(model: SequenceModel, X: Arrays, is_train: bool) -> tuple[Arrays, Callable[[Arrays], Arrays]]:
    if is_train:
        return _apply(model, X)
    piece = np.cumsum([len(x) for x in X]) // _PIECE  # a CPU's cache holds each, and memory need not hold all
    cuts = [0, *(np.flatnonzero(np.diff(piece)) + 1).tolist(), len(X)]
    return [y for start, end in pairwise(cuts) for y in _apply(model, X[start:end])[0]], lambda dY: dY


def _apply(model: SequenceModel, X: Arrays) -> tuple[Arrays, Callable[[Arrays], Arrays]]:
    ops = model.ops
    lengths = np.asarray([len(x) for x in X], dtype=np.int64)
    if not lengths.any():
        return [ops.alloc2f(0, model.get_dim("nO")) for _ in X], lambda dY: [ops.xp.zeros_like(x) for x in X]
    W, v, b = cast(Floats2d, model.get_param("W")), model.get_param("v"), model.get_param("b")
    found = {"W": W.shape, "v": v.shape, "b": b.shape}
    if found != _shapes(model):  # damaged files; compiled code would read outside the arrays
        raise ValueError(Errors.E218.format(layer=model.name, found=found, expected=_shapes(model)))
    x = ops.xp.ascontiguousarray(ops.xp.concatenate(X))
    U = ops.gemm(x, W, trans2=True)
    # What runs from word to word is compiled for the CPU: from a GPU, arrays are copied there and back.
    args: list[Any] = [*(ops.to_numpy(array) for array in (U, x, v, b)), lengths]
    states, outputs, gates = forward(*args)

    def backprop(dY: Arrays) -> Arrays:
        d_outputs = ops.to_numpy(ops.xp.ascontiguousarray(ops.xp.concatenate(dY)))
        gradients: list[Any] = [ops.asarray(array) for array in backward(*args, states, gates, d_outputs)]
        dU, dX, dv, db = gradients
        model.inc_grad("W", ops.gemm(dU, x, trans1=True))
        model.inc_grad("v", dv)
        model.inc_grad("b", db)
        return cut(dX + ops.gemm(dU, W), lengths.tolist())

    Y: Any = ops.asarray(outputs)
    return cut(Y, lengths.tolist()), backprop
