"""Simple Recurrent Units in NumPy, step by step: what the compiled passes are compared with."""

from collections.abc import Iterator
from typing import Any

import numpy as np


def forward_steps(U: Any, X: Any, v: Any, b: Any, lengths: Any) -> tuple[Any, Any, Any]:
    """What `_sru.forward` gives, all sentences at once, word by word."""
    n, units = len(U), v.shape[2]
    parts = U.reshape((n, 2, -1, units))
    highway = parts[:, :, 3] if parts.shape[2] == 4 else X.reshape((n, 2, units))
    states, outputs = np.empty((n, 2, units), dtype=U.dtype), np.empty((n, 2, units), dtype=U.dtype)
    gates = np.empty((n, 2, 2, units), dtype=U.dtype)
    for direction in (0, 1):
        c = np.zeros((len(lengths), units), dtype=U.dtype)
        for rows in _steps(lengths, direction):
            c = c[: len(rows)]
            u, x = parts[rows, direction], highway[rows, direction]
            gate = 1 / (1 + np.exp(-(u[:, 1:3] + v[direction] * c[:, None] + b[direction])))
            c = u[:, 0] + gate[:, 0] * (c - u[:, 0])
            states[rows, direction], gates[rows, direction] = c, gate
            outputs[rows, direction] = x + gate[:, 1] * (c - x)
    return states.reshape((n, -1)), outputs.reshape((n, -1)), gates.reshape((n, -1))


def backward_steps(
    U: Any, X: Any, v: Any, b: Any, lengths: Any, states: Any, gates: Any, d_outputs: Any
) -> tuple[Any, Any, Any, Any]:
    """What `_sru.backward` gives."""
    n, units = len(U), v.shape[2]
    dU, dX, dv, db = np.zeros_like(U), np.zeros_like(X), np.zeros_like(v), np.zeros_like(b)
    parts, d_parts = U.reshape((n, 2, -1, units)), dU.reshape((n, 2, -1, units))
    is_projected = parts.shape[2] == 4
    highway = parts[:, :, 3] if is_projected else X.reshape((n, 2, units))
    d_highway = d_parts[:, :, 3] if is_projected else dX.reshape((n, 2, units))
    states, dh = states.reshape((n, 2, units)), d_outputs.reshape((n, 2, units))
    gates = gates.reshape((n, 2, 2, units))
    for direction in (0, 1):
        carried = np.zeros((0, units), dtype=U.dtype)
        steps = list(_steps(lengths, direction))
        for t in reversed(range(len(steps))):
            rows = steps[t]
            n_new = len(rows) - len(carried)
            carried = np.concatenate([carried, np.zeros((n_new, units), dtype=U.dtype)])
            previous = states[steps[t - 1][: len(rows)], direction] if t else np.zeros_like(carried)
            u, x, gate, d_out = (array[rows, direction] for array in (parts, highway, gates, dh))
            d_state = carried + d_out * gate[:, 1]
            d_gate = np.stack([d_state * (previous - u[:, 0]), d_out * (states[rows, direction] - x)], axis=1)
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
