/* The inner loops of the log-partition: what labels add up to within each tag class, and one step of the lattice.
 *
 * Plain C that compilers vectorize. With GCC or Clang on x86-64 the loops over labels are also compiled for AVX2 and
 * AVX-512 and chosen when they run. */
#ifndef PARSETAG_SUMS_H
#define PARSETAG_SUMS_H

#include <string.h>

#include "_kernels.h"

/* exp(x) for x <= 0 in float32, within 2 units in the last place; 0 below -87, where float32 has no normal numbers left.
 * x = k ln 2 + r with |r| <= ln 2 / 2; adding 1.5 * 2^23 rounds to an integer and leaves it in the low bits. */
static inline float parsetag_expf(float x) {
    float shifted = x * 1.44269504f + 12582912.0f, k = shifted - 12582912.0f, power;
    float r = (x - k * 0.693359375f) + k * 2.12194440e-4f;
    float p = 1.98756915e-4f;
    uint32_t bits;
    p = p * r + 1.39819995e-3f;
    p = p * r + 8.33345205e-3f;
    p = p * r + 4.16657962e-2f;
    p = p * r + 1.66666657e-1f;
    p = p * r + 0.5f;
    p = p * (r * r) + r + 1.0f;
    memcpy(&bits, &shifted, sizeof bits);
    bits = (bits + 127u) << 23;
    memcpy(&power, &bits, sizeof power);
    return x < -87.0f ? 0.0f : p * power;
}

/* For each of `rows` rows of x (n_tags wide), given the greatest score of each class (`best`, from parsetag_class_max):
 * e[i] = exp(x[i] - greatest of its class), and for each class the sum of its e, and the log of the sum of its exp(x). */
#define PARSETAG_CLASS_SUMS(NAME, T, EXP, TARGET)                                                           \
    TARGET static void NAME(const T *x, int rows, int n_tags, const int32_t *offsets, const double *best,   \
                            T *e, double *sums, double *logs) {                                             \
        const size_t size = (size_t)rows * n_tags;                                                          \
        for (int row = 0; row < rows; ++row)                                                                \
            for (int c = 0; c < 4; ++c) {                                                                   \
                const T top = (T)best[4 * row + c];                                                         \
                const size_t first = (size_t)row * n_tags;                                                  \
                for (size_t i = first + offsets[c]; i < first + offsets[c + 1]; ++i) e[i] = x[i] - top;     \
            }                                                                                               \
        for (size_t i = 0; i < size; ++i) e[i] = EXP(e[i]);                                                 \
        for (int row = 0; row < rows; ++row)                                                                \
            for (int c = 0; c < 4; ++c) {                                                                   \
                T lane[8] = {0, 0, 0, 0, 0, 0, 0, 0};                                                       \
                const T *own = e + (size_t)row * n_tags;                                                    \
                int i = offsets[c], end = offsets[c + 1];                                                   \
                for (; i + 8 <= end; i += 8)                                                                \
                    for (int j = 0; j < 8; ++j) lane[j] += own[i + j];                                      \
                for (int j = 0; i < end; ++i, ++j) lane[j] += own[i];                                       \
                double sum = 0;                                                                             \
                for (int j = 0; j < 8; ++j) sum += (double)lane[j];                                         \
                sums[4 * row + c] = sum;                                                                    \
                logs[4 * row + c] = best[4 * row + c] + log(sum);                                           \
            }                                                                                               \
    }

/* Turn e into marginals: share[4 * row + c] is what one unit of e is worth in a class. */
#define PARSETAG_SCALE(NAME, T, TARGET)                                                                     \
    TARGET static void NAME(T *e, int rows, int n_tags, const int32_t *offsets, const double *share) {      \
        for (int row = 0; row < rows; ++row, e += n_tags)                                                   \
            for (int c = 0; c < 4; ++c) {                                                                   \
                const T s = (T)share[4 * row + c];                                                          \
                for (int i = offsets[c]; i < offsets[c + 1]; ++i) e[i] *= s;                                \
            }                                                                                               \
    }

PARSETAG_CLASS_SUMS(parsetag_class_sums_f64, double, exp, )
PARSETAG_SCALE(parsetag_scale_f64, double, )
PARSETAG_CLASS_SUMS(parsetag_class_sums_f32_portable, float, parsetag_expf, )
PARSETAG_SCALE(parsetag_scale_f32, float, )
#if PARSETAG_X86
PARSETAG_CLASS_SUMS(parsetag_class_sums_f32_avx2, float, parsetag_expf, __attribute__((target("avx2,fma"))))
PARSETAG_CLASS_SUMS(parsetag_class_sums_f32_avx512, float, parsetag_expf,
                    __attribute__((target("avx512f,avx512dq,avx512vl,fma"))))
#endif

static void parsetag_class_sums_f32_as(int variant, const float *x, int rows, int n_tags, const int32_t *offsets,
                                       const double *best, float *e, double *sums, double *logs) {
#if PARSETAG_X86
    if (variant == 2) {
        parsetag_class_sums_f32_avx512(x, rows, n_tags, offsets, best, e, sums, logs);
        return;
    }
    if (variant == 1) {
        parsetag_class_sums_f32_avx2(x, rows, n_tags, offsets, best, e, sums, logs);
        return;
    }
#endif
    parsetag_class_sums_f32_portable(x, rows, n_tags, offsets, best, e, sums, logs);
}

static void parsetag_class_sums_f32(const float *x, int rows, int n_tags, const int32_t *offsets, const double *best,
                                    float *e, double *sums, double *logs) {
    parsetag_class_sums_f32_as(parsetag_widest(), x, rows, n_tags, offsets, best, e, sums, logs);
}

/* One step of the lattice into one group, for n stack sizes: out[d] is the log of the sum over the two classes that lead
 * there, and share[d] the part of it that comes by the second one. */
static inline void parsetag_sum_step(const double *first, double first_score, const double *second,
                                     double second_score, double *out, double *share, int n) {
    for (int d = 0; d < n; ++d) {
        double a = first[d] + first_score, b = second[d] + second_score;
        double high = b > a ? b : a, low = b > a ? a : b;
        /* Below e^-37 the lower one changes nothing in double; it is -inf where no path comes from that side. */
        double ratio = low - high > -37.0 ? exp(low - high) : 0.0;
        out[d] = ratio > 0.0 ? high + log1p(ratio) : high;
        share[d] = (b > a ? 1.0 : ratio) / (1.0 + ratio);
    }
}

#endif
