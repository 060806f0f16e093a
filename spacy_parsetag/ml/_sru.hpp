// Simple Recurrent Unit (Lei et al. 2018, equations 3 to 6): the part of it that runs from word to word, forward and back.
// The loops over units are plain, so that any compiler makes vectors of them.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <vector>

namespace parsetag {

// Two directions over sentences that lie one after another. A row of each array is a word; in it come the forward
// direction, then the backward one, each with its parts, each of `units` numbers.
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

// As a polynomial without branches, exact to two units in the last place: `expf` would keep the loop from being vectors.
inline float sigmoid(float x) {
    x = std::min(std::max(-x, -30.0f), 30.0f);
    const float scaled = x * 1.44269504f;
    const int32_t n = int32_t(scaled + (scaled < 0 ? -0.5f : 0.5f));
    const float r = (x - float(n) * 0.693359375f) + float(n) * 2.12194440e-4f; // x = n ln 2 + r
    float p = 1.9875691500e-4f;
    p = p * r + 1.3981999507e-3f;
    p = p * r + 8.3334519073e-3f;
    p = p * r + 4.1665795894e-2f;
    p = p * r + 1.6666665459e-1f;
    p = p * r + 5.0000001201e-1f;
    const int32_t bits = (n + 127) << 23; // 2^n
    float power;
    std::memcpy(&power, &bits, sizeof power);
    return 1 / (1 + power * (p * r * r + r + 1));
}

// States and outputs, both (words, 2, units), and the gates (words, 2, 2, units).
template <class T> void sru_forward(const Sru<T> &sru, T *states, T *outputs, T *gates) {
    const int d = sru.units;
    const std::vector<T> zeros(d, T(0));
    int64_t first = 0;
    for (int s = 0; s < sru.n_sentences; first += sru.lengths[s++])
        for (int direction = 0; direction < 2; ++direction) {
            const T *v = sru.v + direction * 2 * d, *b = sru.b + direction * 2 * d;
            const T *previous = zeros.data();
            for (int64_t i = 0; i < sru.lengths[s]; ++i) {
                const int64_t word = first + (direction ? sru.lengths[s] - 1 - i : i);
                const T *u = sru.U + word * sru.row() + direction * sru.parts * d, *x = sru.highway(word, direction);
                T *state = states + (word * 2 + direction) * d, *output = outputs + (word * 2 + direction) * d;
                T *gate = gates + (word * 2 + direction) * 2 * d;
                for (int j = 0; j < d; ++j) {
                    const T c = previous[j];
                    const T forget = sigmoid(u[d + j] + v[j] * c + b[j]);
                    const T reset = sigmoid(u[2 * d + j] + v[d + j] * c + b[d + j]);
                    const T next = u[j] + forget * (c - u[j]);
                    gate[j] = forget;
                    gate[d + j] = reset;
                    state[j] = next;
                    output[j] = x[j] + reset * (next - x[j]);
                }
                previous = state;
            }
        }
}

// The gradient dU of the product, dX of the highway where it is the input (else null), and those of v and b, which are
// added to.
template <class T>
void sru_backward(const Sru<T> &sru, const T *states, const T *gates, const T *d_outputs, T *dU, T *dX, T *dv, T *db) {
    const int d = sru.units;
    const std::vector<T> zeros(d, T(0));
    std::vector<T> carried(d); // the gradient of the state, handed to the word before
    int64_t first = 0;
    for (int s = 0; s < sru.n_sentences; first += sru.lengths[s++])
        for (int direction = 0; direction < 2; ++direction) {
            const T *v = sru.v + direction * 2 * d;
            T *dv_own = dv + direction * 2 * d, *db_own = db + direction * 2 * d;
            std::fill(carried.begin(), carried.end(), T(0));
            for (int64_t i = sru.lengths[s] - 1; i >= 0; --i) {
                const int64_t word = first + (direction ? sru.lengths[s] - 1 - i : i);
                const int64_t before = direction ? word + 1 : word - 1;
                const T *previous = i ? states + (before * 2 + direction) * d : zeros.data();
                const T *u = sru.U + word * sru.row() + direction * sru.parts * d, *x = sru.highway(word, direction);
                const T *state = states + (word * 2 + direction) * d, *gate = gates + (word * 2 + direction) * 2 * d;
                const T *dh = d_outputs + (word * 2 + direction) * d;
                T *du = dU + word * sru.row() + direction * sru.parts * d;
                T *dx = sru.parts == 4 ? du + 3 * d : dX + (word * 2 + direction) * d;
                T *carry = carried.data();
                for (int j = 0; j < d; ++j) {
                    const T forget = gate[j], reset = gate[d + j];
                    const T d_state = carry[j] + dh[j] * reset;
                    const T d_reset = dh[j] * (state[j] - x[j]) * reset * (1 - reset);
                    const T d_forget = d_state * (previous[j] - u[j]) * forget * (1 - forget);
                    dx[j] = dh[j] * (1 - reset);
                    du[j] = d_state * (1 - forget);
                    du[d + j] = d_forget;
                    du[2 * d + j] = d_reset;
                    dv_own[j] += d_forget * previous[j];
                    dv_own[d + j] += d_reset * previous[j];
                    db_own[j] += d_forget;
                    db_own[d + j] += d_reset;
                    carry[j] = d_state * forget + d_forget * v[j] + d_reset * v[d + j];
                }
            }
        }
}

} // namespace parsetag
