# cython: language_level=3, boundscheck=False, wraparound=False, initializedcheck=False
# distutils: language = c++
"""Linear layers, and scores of hidden vectors in prediction, without the GIL: `_mlp.hpp`. Callers pass arrays that fit."""
from libc.stdint cimport int32_t, int64_t

import numpy as np

cdef extern from "_mlp.hpp" namespace "parsetag" nogil:
    cdef cppclass HiddenScorer:
        int width, n_scores
        float epsilon
        const float *scale
        const float *shift
        const float *weights
        const float *bias

    void score_hidden(const HiddenScorer &, const float *, int64_t, const int32_t *, const int32_t *, int64_t,
                      float *) except +
    void c_multiply "parsetag::multiply"(const float *, int64_t, int, const float *, int, float *) except +
    int c_limit_registers "parsetag::limit_registers"(int)


def limit_registers(int n_bytes):
    """Let products here use registers of at most 64, 32 or 16 bytes, for tests; 0 changes nothing, below 0 sets the width.

    RETURNS (int): What they used before.
    """
    return c_limit_registers(n_bytes)


def score(const float[:, ::1] vectors, const int32_t[::1] first, const int32_t[::1] last, const float[::1] scale,
          const float[::1] shift, const float[:, ::1] weights, const float[::1] bias, float epsilon):
    """Scores, float32[K, L], of differences of rows, or of the rows themselves.

    vectors (float32[R, H]): Vectors, each with the mean 0.
    first, last (int32[K] | None): Vector k is vectors[last[k]] - vectors[first[k]]; both None for the rows.
    scale, shift (float32[H]): Of layer normalization.
    weights, bias (float32[L, H], float32[L]): Of the linear layer.
    epsilon (float): What is added to variances.
    """
    cdef int64_t n = vectors.shape[0] if last is None else last.shape[0]
    scores = np.empty((n, weights.shape[0]), dtype=np.float32)
    cdef float[:, ::1] out = scores
    cdef HiddenScorer layer
    cdef const int32_t *first_rows = NULL
    cdef const int32_t *last_rows = NULL
    if scores.size:
        layer.width, layer.n_scores, layer.epsilon = <int>vectors.shape[1], <int>weights.shape[0], epsilon
        layer.scale, layer.shift, layer.weights, layer.bias = &scale[0], &shift[0], &weights[0, 0], &bias[0]
        if last is not None:
            first_rows, last_rows = &first[0], &last[0]
        with nogil:
            score_hidden(layer, &vectors[0, 0], vectors.shape[0], first_rows, last_rows, n, &out[0, 0])
    return scores


def multiply(const float[:, ::1] vectors, const float[:, ::1] weights):
    """Multiply vectors (float32[N, I]) by the weights (float32[O, I]) of a linear layer: float32[N, O]."""
    products = np.empty((vectors.shape[0], weights.shape[0]), dtype=np.float32)
    cdef float[:, ::1] out = products
    cdef int depth = <int>vectors.shape[1], n_out = <int>weights.shape[0]
    if products.size and depth:
        with nogil:
            c_multiply(&vectors[0, 0], vectors.shape[0], depth, &weights[0, 0], n_out, &out[0, 0])
    else:
        products[:] = 0
    return products
