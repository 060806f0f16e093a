# cython: language_level=3, boundscheck=False, wraparound=False, initializedcheck=False
# distutils: language = c++
"""Simple Recurrent Unit: the recurrence of `_sru.hpp` over a batch, without the GIL. Callers pass arrays that fit."""
from libc.stdint cimport int64_t

import numpy as np

cdef extern from "_sru.hpp" namespace "parsetag" nogil:
    cdef cppclass Sru[T]:
        const int64_t *lengths
        int n_sentences, units, parts
        const T *U
        const T *X
        const T *v
        const T *b

    void sru_forward[T](const Sru[T] &, T *, T *, T *) except +
    void sru_backward[T](const Sru[T] &, const T *, const T *, const T *, T *, T *, T *, T *) except +

ctypedef fused real:
    float
    double


cdef Sru[real] read_sru(const real[:, ::1] U, const real[:, ::1] X, const real[:, :, ::1] v, const real[:, :, ::1] b,
                        const int64_t[::1] lengths):
    cdef Sru[real] sru
    sru.lengths, sru.n_sentences, sru.units = &lengths[0], <int>lengths.shape[0], <int>v.shape[2]
    sru.parts = <int>(U.shape[1] // (2 * v.shape[2]))
    sru.U, sru.X, sru.v, sru.b = &U[0, 0], &X[0, 0], &v[0, 0, 0], &b[0, 0, 0]
    return sru


def forward(const real[:, ::1] U, const real[:, ::1] X, const real[:, :, ::1] v, const real[:, :, ::1] b,
            const int64_t[::1] lengths):
    """States (W, 2d), outputs (W, 2d) and gates (W, 4d) of W > 0 words in sentences of these lengths, in a row.

    U (real[W, 2 P d]): Of each direction, P = 3 or 4 parts of d units; see `Sru`.
    X (real[W, n]): The inputs; with P = 3, n = 2d.
    v, b (real[2, 2, d]): Weights of the state and biases: of each direction, forget gate and reset gate.
    """
    dtype = np.float32 if real is float else np.float64
    n, units = U.shape[0], v.shape[2]
    states, outputs = np.empty((n, 2 * units), dtype=dtype), np.empty((n, 2 * units), dtype=dtype)
    gates = np.empty((n, 4 * units), dtype=dtype)
    cdef real[:, ::1] c = states, h = outputs, g = gates
    cdef Sru[real] sru = read_sru[real](U, X, v, b, lengths)
    with nogil:
        sru_forward(sru, &c[0, 0], &h[0, 0], &g[0, 0])
    return states, outputs, gates


def backward(const real[:, ::1] U, const real[:, ::1] X, const real[:, :, ::1] v, const real[:, :, ::1] b,
             const int64_t[::1] lengths, const real[:, ::1] states, const real[:, ::1] gates,
             const real[:, ::1] d_outputs):
    """Compute gradients of U, of X through the highway alone (zeros if P = 4), of v and of b; see `forward`."""
    dU, dX = np.empty_like(U), np.zeros_like(X)
    dv, db = np.zeros_like(v), np.zeros_like(b)
    cdef real[:, ::1] du = dU, dx = dX
    cdef real[:, :, ::1] dv_, db_
    dv_, db_ = dv, db
    cdef Sru[real] sru = read_sru[real](U, X, v, b, lengths)
    with nogil:
        sru_backward(sru, &states[0, 0], &gates[0, 0], &d_outputs[0, 0], &du[0, 0], &dx[0, 0], &dv_[0, 0, 0],
                           &db_[0, 0, 0])
    return dU, dX, dv, db
