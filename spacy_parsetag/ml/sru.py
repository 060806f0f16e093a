"""Simple Recurrent Units: a layer that sees the whole sentence, trains and runs on the CPU, and needs no PyTorch.

Lei et al. (2018), "Simple Recurrent Units for Highly Parallelizable Recurrence". One matrix product does all that words
do on their own; what runs from word to word is element by element:

    f_t = sigmoid(W_f x_t + v_f * c_{t-1} + b_f)        forget gate
    r_t = sigmoid(W_r x_t + v_r * c_{t-1} + b_r)        reset gate
    c_t = f_t * c_{t-1} + (1 - f_t) * W x_t             state
    h_t = r_t * c_t + (1 - r_t) * x_t                   output, with the highway x_t

Where the input is not as wide as the output, the highway is W_h x_t.
"""

from collections.abc import Callable, Iterator
from typing import Any, cast

import numpy as np
from thinc.api import Dropout, Model, chain, get_array_module, with_array
from thinc.types import Floats2d
from thinc.util import get_width

from ..errors import Errors
from ._sru import backward, forward
from .words import cut


def sru_layers(depth: int = 2, hidden_width: int = 128) -> Model[list[Floats2d], list[Floats2d]]:
    """Layers of SRUs in both directions over sequences of vectors, with dropout between them: spacy-parsetag.SRU.v1.

    Input: (words, nI) arrays, one for each sequence; no sequence sees another one. Output: (words, 2 hidden_width)
    arrays, first the forward units, which know the words before.

    depth (int): Layers.
    hidden_width (int): Units in each direction.
    RETURNS (Model): The layers.
    RAISES (ValueError): If a size is below 1.
    """
    for what, value in (("depth", depth), ("hidden_width", hidden_width)):
        if value < 1:
            raise ValueError(Errors.E200.format(what=what, least=1, value=value))
    layers: list[Model[Any, Any]] = [sru_layer(hidden_width)]
    for _ in range(depth - 1):
        layers += [with_array(Dropout()), sru_layer(hidden_width)]
    return chain(*layers) if depth > 1 else layers[0]


def sru_layer(hidden_width: int) -> Model[list[Floats2d], list[Floats2d]]:
    """One such layer."""
    return Model(
        "sru", _forward, init=_init, dims={"nI": None, "nO": 2 * hidden_width}, params={"W": None, "v": None, "b": None}
    )


def _init(
    model: Model[list[Floats2d], list[Floats2d]], X: list[Floats2d] | None = None, Y: list[Floats2d] | None = None
) -> None:
    if X is not None:
        model.set_dim("nI", get_width(X))
    nI, nO = model.get_dim("nI"), model.get_dim("nO")
    n_parts = 3 if nI == nO else 4
    # So that products vary as much as the inputs (Lei et al., section 3.2).
    for name, shape, width in (("W", (n_parts * nO, nI), nI), ("v", (2, 2, nO // 2), nO // 2)):
        bound = (3.0 / width) ** 0.5
        model.set_param(name, model.ops.xp.asarray(np.random.uniform(-bound, bound, shape).astype("f")))
    model.set_param("b", model.ops.xp.zeros((2, 2, nO // 2), dtype="f"))


def _forward(
    model: Model[list[Floats2d], list[Floats2d]], X: list[Floats2d], is_train: bool
) -> tuple[list[Floats2d], Callable[[list[Floats2d]], list[Floats2d]]]:
    ops = model.ops
    lengths = np.asarray([len(x) for x in X], dtype=np.int64)
    if not lengths.any():
        return [ops.alloc2f(0, model.get_dim("nO")) for _ in X], lambda dY: [ops.xp.zeros_like(x) for x in X]
    W, v, b = cast(Floats2d, model.get_param("W")), model.get_param("v"), model.get_param("b")
    x = ops.xp.ascontiguousarray(ops.xp.concatenate(X))
    U = ops.gemm(x, W, trans2=True)
    # Compiled for the CPU; on a GPU step by step, all sentences at once.
    run, run_back = (forward, backward) if isinstance(x, np.ndarray) else (forward_steps, backward_steps)
    states, outputs, gates = run(U, x, v, b, lengths)

    def backprop(dY: list[Floats2d]) -> list[Floats2d]:
        d_outputs = ops.xp.ascontiguousarray(ops.xp.concatenate(dY))
        dU, dX, dv, db = run_back(U, x, v, b, lengths, states, gates, d_outputs)
        model.inc_grad("W", ops.gemm(dU, x, trans1=True))
        model.inc_grad("v", dv)
        model.inc_grad("b", db)
        return cut(dX + ops.gemm(dU, W), lengths.tolist())

    return cut(outputs, lengths.tolist()), backprop


def forward_steps(U: Any, X: Any, v: Any, b: Any, lengths: Any) -> tuple[Any, Any, Any]:
    """Run `forward` step by step, for arrays of any library, and slower."""
    xp, n, units = get_array_module(U), len(U), v.shape[2]
    parts = U.reshape((n, 2, -1, units))
    highway = parts[:, :, 3] if parts.shape[2] == 4 else X.reshape((n, 2, units))
    states, outputs = xp.empty((n, 2, units), dtype=U.dtype), xp.empty((n, 2, units), dtype=U.dtype)
    gates = xp.empty((n, 2, 2, units), dtype=U.dtype)
    for direction in (0, 1):
        c = xp.zeros((len(lengths), units), dtype=U.dtype)
        for rows in map(xp.asarray, _steps(lengths, direction)):
            c = c[: len(rows)]
            u, x = parts[rows, direction], highway[rows, direction]
            gate = 1 / (1 + xp.exp(-(u[:, 1:3] + v[direction] * c[:, None] + b[direction])))
            c = u[:, 0] + gate[:, 0] * (c - u[:, 0])
            states[rows, direction], gates[rows, direction] = c, gate
            outputs[rows, direction] = x + gate[:, 1] * (c - x)
    return states.reshape((n, -1)), outputs.reshape((n, -1)), gates.reshape((n, -1))


def backward_steps(
    U: Any, X: Any, v: Any, b: Any, lengths: Any, states: Any, gates: Any, d_outputs: Any
) -> tuple[Any, Any, Any, Any]:
    """Run `backward` step by step, for arrays of any library, and slower."""
    xp, n, units = get_array_module(U), len(U), v.shape[2]
    dU, dX, dv, db = xp.zeros_like(U), xp.zeros_like(X), xp.zeros_like(v), xp.zeros_like(b)
    parts, d_parts = U.reshape((n, 2, -1, units)), dU.reshape((n, 2, -1, units))
    own = parts.shape[2] == 4
    highway = parts[:, :, 3] if own else X.reshape((n, 2, units))
    d_highway = d_parts[:, :, 3] if own else dX.reshape((n, 2, units))
    states, dh = states.reshape((n, 2, units)), d_outputs.reshape((n, 2, units))
    gates = gates.reshape((n, 2, 2, units))
    for direction in (0, 1):
        carried = xp.zeros((0, units), dtype=U.dtype)
        steps = [xp.asarray(rows) for rows in _steps(lengths, direction)]
        for t in reversed(range(len(steps))):
            rows = steps[t]
            n_new = len(rows) - len(carried)
            carried = xp.concatenate([carried, xp.zeros((n_new, units), dtype=U.dtype)])
            previous = states[steps[t - 1][: len(rows)], direction] if t else xp.zeros_like(carried)
            u, x, gate, d_out = (array[rows, direction] for array in (parts, highway, gates, dh))
            d_state = carried + d_out * gate[:, 1]
            d_gate = xp.stack([d_state * (previous - u[:, 0]), d_out * (states[rows, direction] - x)], axis=1)
            d_gate *= gate * (1 - gate)
            d_parts[rows, direction, 0] = d_state * (1 - gate[:, 0])
            d_parts[rows, direction, 1:3] = d_gate
            d_highway[rows, direction] = d_out * (1 - gate[:, 1])
            dv[direction] += (d_gate * previous[:, None]).sum(axis=0)
            db[direction] += d_gate.sum(axis=0)
            carried = d_state * gate[:, 0] + (d_gate * v[direction]).sum(axis=1)
    return dU, dX, dv, db


def _steps(lengths: Any, direction: int) -> Iterator[Any]:
    """The rows of the first words of all sentences, longest sentence first, of their second words, and so on; from the
    end in direction 1."""
    order = np.argsort(-lengths, kind="stable")
    first, longest = (np.cumsum(lengths) - lengths)[order], lengths[order]
    for t in range(int(longest[0])):
        n = int((longest > t).sum())
        yield first[:n] + (longest[:n] - 1 - t if direction else t)
