// Simple Recurrent Unit (Lei et al. 2018, equations 3 to 6): its recurrence from word to word, forward and back.
// The loops over units are plain, so that any compiler makes vectors of them.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

#include "../decode/_simd.hpp"

namespace parsetag {

// Two directions over sentences that are stored one after another. Each row of an array is a word. A row holds the
// parts of the forward direction, then those of the backward direction; each part has `units` numbers.
template <class T> struct Sru {
    const int64_t *lengths; // (sentences)
    int n_sentences, units;
    int parts;      // of U: candidate, forget gate, reset gate, and the highway if it is not the input itself
    const T *U;     // (words, 2, parts, units), the matrix product of the inputs
    const T *X;     // (words, 2, units), the inputs, where they are the highway
    const T *v, *b; // (2, 2, units): of each direction, forget gate and reset gate

    int row() const { return 2 * parts * units; }
    const T *highway(int64_t word, int direction) const {
        return parts == 4 ? U + word * row() + (direction * 4 + 3) * units : X + (word * 2 + direction) * units;
    }
};

inline double sigmoid(double x) { return 1 / (1 + std::exp(-x)); }

// With `expf` the compiler would not make vectors of the loop.
inline float sigmoid(float x) { return 1 / (1 + exp_of(std::min(-x, 30.0f))); }

// The loops over units, of one word. Pointers are to arrays that do not overlap, which the compiler has to know to make
// vectors of the loops.
template <class T>
void sru_gate(int d, const T *__restrict u, const T *__restrict v, const T *__restrict b, const T *__restrict previous,
              T *__restrict gate) {
    for (int j = 0; j < d; ++j) gate[j] = sigmoid(u[j] + v[j] * previous[j] + b[j]);
}

template <class T>
void sru_mix(int d, const T *__restrict gate, const T *__restrict on, const T *__restrict off, T *__restrict mixed) {
    for (int j = 0; j < d; ++j) mixed[j] = off[j] + gate[j] * (on[j] - off[j]);
}

// States and outputs, both (words, 2, units), and the gates (words, 2, 2, units).
template <class T> void sru_forward(const Sru<T> &sru, T *states, T *outputs, T *gates) {
    const int d = sru.units;
    const std::vector<T> zeros(d, T(0));
    int64_t first = 0;
    for (int s = 0; s < sru.n_sentences; first += sru.lengths[s++])
        for (int direction = 0; direction < 2; ++direction) {
            const T *v = sru.v + direction * 2 * d, *b = sru.b + direction * 2 * d, *previous = zeros.data();
            for (int64_t i = 0; i < sru.lengths[s]; ++i) {
                const int64_t word = first + (direction ? sru.lengths[s] - 1 - i : i), row = word * 2 + direction;
                const T *u = sru.U + word * sru.row() + direction * sru.parts * d;
                T *forget = gates + row * 2 * d, *reset = forget + d;
                sru_gate(d, u + d, v, b, previous, forget);
                sru_gate(d, u + 2 * d, v + d, b + d, previous, reset);
                sru_mix(d, forget, previous, u, states + row * d);
                previous = states + row * d;
                sru_mix(d, reset, previous, sru.highway(word, direction), outputs + row * d);
            }
        }
}

// Sets the gradients of `sru_mix`: of the gate before its sigmoid, and of `off` and `on`.
template <class T>
void sru_mix_back(int d, const T *__restrict gate, const T *__restrict on, const T *__restrict off,
                  const T *__restrict d_mixed, T *__restrict d_gate, T *__restrict d_off, T *__restrict d_on) {
    for (int j = 0; j < d; ++j) {
        d_gate[j] = d_mixed[j] * (on[j] - off[j]) * gate[j] * (1 - gate[j]);
        d_off[j] = d_mixed[j] * (1 - gate[j]);
        d_on[j] = d_mixed[j] * gate[j];
    }
}

template <class T>
void sru_gate_back(int d, const T *__restrict d_gate, const T *__restrict v, const T *__restrict previous, T *__restrict dv,
                   T *__restrict db, T *__restrict carried) {
    for (int j = 0; j < d; ++j) {
        dv[j] += d_gate[j] * previous[j];
        db[j] += d_gate[j];
        carried[j] += d_gate[j] * v[j];
    }
}

// Sets dU, the gradient of the product, and dX, that of the highway where it is the input (else dX is unused); adds to
// the gradients of v and b.
template <class T>
void sru_backward(const Sru<T> &sru, const T *states, const T *gates, const T *d_outputs, T *dU, T *dX, T *dv, T *db) {
    const int d = sru.units;
    const std::vector<T> zeros(d, T(0));
    std::vector<T> carried(d), d_state(d); // gradients of the states, the first handed on to the word before
    int64_t first = 0;
    for (int s = 0; s < sru.n_sentences; first += sru.lengths[s++])
        for (int direction = 0; direction < 2; ++direction) {
            const T *v = sru.v + direction * 2 * d;
            T *dv_own = dv + direction * 2 * d, *db_own = db + direction * 2 * d;
            std::fill(carried.begin(), carried.end(), T(0));
            for (int64_t i = sru.lengths[s] - 1; i >= 0; --i) {
                const int64_t word = first + (direction ? sru.lengths[s] - 1 - i : i), row = word * 2 + direction;
                const T *previous = i ? states + (direction ? row + 2 : row - 2) * d : zeros.data();
                const int64_t place = word * sru.row() + direction * sru.parts * d;
                const T *u = sru.U + place, *forget = gates + row * 2 * d, *reset = forget + d;
                T *du = dU + place, *dx = sru.parts == 4 ? du + 3 * d : dX + row * d;
                sru_mix_back(d, reset, states + row * d, sru.highway(word, direction), d_outputs + row * d, du + 2 * d,
                             dx, d_state.data());
                for (int j = 0; j < d; ++j) d_state[j] += carried[j];
                sru_mix_back(d, forget, previous, u, d_state.data(), du + d, du, carried.data());
                sru_gate_back(d, du + d, v, previous, dv_own, db_own, carried.data());
                sru_gate_back(d, du + 2 * d, v + d, previous, dv_own + d, db_own + d, carried.data());
            }
        }
}

} // namespace parsetag
