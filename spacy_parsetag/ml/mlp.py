"""The last layers of a head: layer normalization, ReLU, dropout, linear; over vectors or differences of vectors."""

from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
from thinc.api import Model, NumpyOps, glorot_uniform_init
from thinc.types import Floats1d, Floats2d, Ints1d

from ..errors import Errors
from ._mlp import limit_registers, score

_EPSILON = 1e-5
# Rows at a time. There are about N/2 times as many spans as words, so span vectors are made piece by piece; on a CPU a
# piece stays in the cache.
_CPU_ROWS = 512
_GPU_ROWS = 2**16
_WIDE = 32  # bytes of the registers with which compiled products are at least as fast as those of a BLAS


class Hidden(NamedTuple):
    """Vectors to score: rows of a matrix, or differences of two rows.

    vectors (Floats2d): (R, width) vectors.
    first, last (Ints1d | None): (K,) int32 rows: vector k is vectors[last[k]] - vectors[first[k]]; None for the rows
        themselves.
    """

    vectors: Floats2d
    first: Ints1d | None = None
    last: Ints1d | None = None


def scores_of_hidden(nO: int | None = None) -> Model[Hidden, Floats2d]:
    """Score hidden vectors: layer normalization, ReLU, dropout, linear.

    Input: (K, nI) vectors, which are not made all at once where they are differences. Output: (K, nO) scores. Its
    dropout is at the rate that the training loop passes.
    """
    return Model(
        "scores_of_hidden",
        _forward,
        init=_init,
        dims={"nI": None, "nO": nO},
        params={"G": None, "beta": None, "W": None, "b": None},
        attrs={"dropout_rate": 0.0},
    )


def _init(model: Model[Hidden, Floats2d], X: Hidden | None = None, Y: Any = None) -> None:
    if X is not None:
        model.set_dim("nI", X.vectors.shape[1])
    nI, nO = model.get_dim("nI"), model.get_dim("nO")
    model.set_param("G", model.ops.alloc1f(nI) + 1)
    model.set_param("beta", model.ops.alloc1f(nI))
    model.set_param("W", glorot_uniform_init(model.ops, (nO, nI)))
    model.set_param("b", model.ops.alloc1f(nO))


def _forward(
    model: Model[Hidden, Floats2d], X: Hidden, is_train: bool
) -> tuple[Floats2d, Callable[[Floats2d], Floats2d]]:
    ops, xp = model.ops, model.ops.xp
    params: list[Any] = [model.get_param(name) for name in ("G", "beta", "W", "b")]
    scale, shift, weights, bias = params
    centred = X.vectors - X.vectors.mean(axis=1, keepdims=True)  # differences of these have the mean 0 too
    n_rows = len(centred) if X.last is None else len(X.last)
    rate = model.attrs["dropout_rate"] if is_train else 0.0
    masks: list[Any] = []
    Y: Floats2d
    if not is_train and isinstance(ops, NumpyOps) and limit_registers(0) >= _WIDE:
        _check_shapes(model, X.vectors.shape[1], params)
        rows_of_pairs = (None if rows is None else np.ascontiguousarray(rows, dtype=np.int32) for rows in X[1:])
        arrays = (np.ascontiguousarray(array, dtype=np.float32) for array in params)
        Y = score(np.ascontiguousarray(centred, dtype=np.float32), *rows_of_pairs, *arrays, _EPSILON)
    else:
        Y = ops.alloc2f(n_rows, len(bias), zeros=False)
        for rows in _pieces(ops, n_rows):
            active, _ = _normalize(xp, centred, X, rows)
            active *= scale
            active += shift
            xp.maximum(active, 0, out=active)
            if rate:
                masks.append(ops.get_dropout_mask(active.shape, rate))
                active *= masks[-1]
            ops.gemm(active, weights, trans2=True, out=Y[rows])
        Y += bias

    def backprop(dY: Floats2d) -> Floats2d:
        # What the forward pass computed of each piece is computed again, so that memory does not grow with spans.
        d_centred: Floats2d = xp.zeros_like(centred)
        d_weights, d_scale, d_shift = (xp.zeros_like(array) for array in (weights, scale, shift))
        for i, rows in enumerate(_pieces(ops, n_rows)):
            normed, inverse = _normalize(xp, centred, X, rows)
            active = normed * scale
            active += shift
            on = active > 0
            active *= on
            d_normed = ops.gemm(dY[rows], weights)
            d_normed *= on
            if masks:
                active *= masks[i]
                d_normed *= masks[i]
            d_weights += ops.gemm(dY[rows], active, trans1=True)
            d_shift += d_normed.sum(axis=0)
            d_scale += xp.einsum("kh,kh->h", d_normed, normed)
            d_normed *= scale
            normed *= (xp.einsum("kh,kh->k", d_normed, normed) / normed.shape[1])[:, None]
            d_normed -= normed
            d_normed *= inverse
            if X.first is None or X.last is None:
                d_centred[rows] = d_normed
            else:
                ops.scatter_add(d_centred, X.last[rows], d_normed)
                ops.scatter_add(d_centred, X.first[rows], xp.negative(d_normed, out=d_normed))
        for name, gradient in (("G", d_scale), ("beta", d_shift), ("W", d_weights), ("b", dY.sum(axis=0))):
            model.inc_grad(name, gradient)
        d_centred -= d_centred.mean(axis=1, keepdims=True)
        return d_centred

    return Y, backprop


def _check_shapes(model: Model[Hidden, Floats2d], nI: int, params: Sequence[Any]) -> None:
    """Raise an error if compiled code would read outside the parameters."""
    nO = model.get_dim("nO")
    found, expected = [array.shape for array in params], [(nI,), (nI,), (nO, nI), (nO,)]
    if found != expected:
        raise ValueError(Errors.E218.format(layer=model.name, found=found, expected=expected))


def _pieces(ops: Any, n_rows: int) -> Iterator[slice]:
    size = _CPU_ROWS if isinstance(ops, NumpyOps) else _GPU_ROWS
    return (slice(start, start + size) for start in range(0, n_rows, size))


def _normalize(xp: Any, centred: Floats2d, X: Hidden, rows: slice) -> tuple[Floats2d, Floats1d]:
    """Scale vectors to the variance 1; return them, (k, width), and their factors, (k, 1)."""
    if X.first is None or X.last is None:
        vectors = centred[rows].copy()
    else:
        vectors = centred[X.last[rows]]
        vectors -= centred[X.first[rows]]
    inverse = 1 / xp.sqrt(xp.einsum("kh,kh->k", vectors, vectors) / vectors.shape[1] + _EPSILON)[:, None]
    vectors *= inverse
    return vectors, inverse
