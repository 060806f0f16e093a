/* The two inner loops of the exact decoder: the greatest score in each tag class of a row, and one step of the lattice.
 *
 * Both exist in portable C, which compilers vectorize as the build allows. On x86-64 with GCC or Clang the first one also
 * exists for AVX2 and AVX-512, chosen when it runs, so that one wheel is portable and fast. */
#ifndef PARSETAG_KERNELS_H
#define PARSETAG_KERNELS_H

#include <math.h>
#include <stdint.h>

#if defined(__x86_64__) && defined(__GNUC__)
#define PARSETAG_X86 1
#include <immintrin.h>
#else
#define PARSETAG_X86 0
#endif

/* For each of `rows` rows of x (n_tags wide), the greatest score in each tag class: best[4 * row + c]. The classes are
 * ranges of columns, offsets[c] to offsets[c + 1]; an empty one gives -inf. Returns NaN if any score is infinite or NaN,
 * else 0: x * 0 is NaN for just those, and a sum keeps it. */
#define PARSETAG_CLASS_MAX(NAME, T)                                                                         \
    static T NAME(const T *x, int rows, int n_tags, const int32_t *offsets, double *best) {                 \
        T check = 0;                                                                                        \
        for (int row = 0; row < rows; ++row, x += n_tags)                                                   \
            for (int c = 0; c < 4; ++c) {                                                                   \
                T lane[4] = {-INFINITY, -INFINITY, -INFINITY, -INFINITY}, sum[4] = {0, 0, 0, 0};            \
                int i = offsets[c], end = offsets[c + 1];                                                   \
                for (; i + 4 <= end; i += 4)                                                                \
                    for (int j = 0; j < 4; ++j) {                                                           \
                        lane[j] = x[i + j] > lane[j] ? x[i + j] : lane[j];                                  \
                        sum[j] += x[i + j] * (T)0;                                                          \
                    }                                                                                       \
                for (; i < end; ++i) {                                                                      \
                    lane[0] = x[i] > lane[0] ? x[i] : lane[0];                                              \
                    sum[0] += x[i] * (T)0;                                                                  \
                }                                                                                           \
                for (int j = 1; j < 4; ++j) lane[0] = lane[j] > lane[0] ? lane[j] : lane[0];                \
                check += (sum[0] + sum[1]) + (sum[2] + sum[3]);                                             \
                best[4 * row + c] = (double)lane[0];                                                        \
            }                                                                                               \
        return check;                                                                                       \
    }

PARSETAG_CLASS_MAX(parsetag_class_max_f64, double)
PARSETAG_CLASS_MAX(parsetag_class_max_f32_portable, float)

#if PARSETAG_X86

/* Maxima within four vectors of four, as four doubles. */
#define PARSETAG_STORE_MAXIMA(q, out)                                                                       \
    do {                                                                                                    \
        __m128 ab = _mm_max_ps(_mm_unpacklo_ps(q[0], q[1]), _mm_unpackhi_ps(q[0], q[1]));                   \
        __m128 cd = _mm_max_ps(_mm_unpacklo_ps(q[2], q[3]), _mm_unpackhi_ps(q[2], q[3]));                   \
        _mm256_storeu_pd(out, _mm256_cvtps_pd(_mm_max_ps(_mm_movelh_ps(ab, cd), _mm_movehl_ps(cd, ab))));   \
    } while (0)

__attribute__((target("avx512f,avx512dq"))) static float parsetag_class_max_f32_avx512(
    const float *x, int rows, int n_tags, const int32_t *offsets, double *best) {
    const __m512 lowest = _mm512_set1_ps(-INFINITY), zero = _mm512_setzero_ps();
    __m512 check = zero;
    for (int row = 0; row < rows; ++row, x += n_tags) {
        __m128 q[4];
        for (int c = 0; c < 4; ++c) {
            int i = offsets[c], end = offsets[c + 1];
            __m512 top = lowest;
            for (; i + 16 <= end; i += 16) {
                __m512 v = _mm512_loadu_ps(x + i);
                top = _mm512_max_ps(top, v);
                check = _mm512_fmadd_ps(v, zero, check);
            }
            if (i < end) {
                __mmask16 tail = (__mmask16)((1u << (end - i)) - 1);
                __m512 v = _mm512_mask_loadu_ps(lowest, tail, x + i);
                top = _mm512_max_ps(top, v);
                check = _mm512_mask3_fmadd_ps(v, zero, check, tail);
            }
            __m256 half = _mm256_max_ps(_mm512_castps512_ps256(top), _mm512_extractf32x8_ps(top, 1));
            q[c] = _mm_max_ps(_mm256_castps256_ps128(half), _mm256_extractf128_ps(half, 1));
        }
        PARSETAG_STORE_MAXIMA(q, best + 4 * row);
    }
    return _mm512_reduce_add_ps(check);
}

__attribute__((target("avx2,fma"))) static float parsetag_class_max_f32_avx2(
    const float *x, int rows, int n_tags, const int32_t *offsets, double *best) {
    const __m256 lowest = _mm256_set1_ps(-INFINITY), zero = _mm256_setzero_ps();
    const __m256i lanes = _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7);
    __m256 check = zero;
    for (int row = 0; row < rows; ++row, x += n_tags) {
        __m128 q[4];
        for (int c = 0; c < 4; ++c) {
            int i = offsets[c], end = offsets[c + 1];
            __m256 top = lowest;
            for (; i + 8 <= end; i += 8) {
                __m256 v = _mm256_loadu_ps(x + i);
                top = _mm256_max_ps(top, v);
                check = _mm256_fmadd_ps(v, zero, check);
            }
            if (i < end) {
                __m256i tail = _mm256_cmpgt_epi32(_mm256_set1_epi32(end - i), lanes);
                __m256 v = _mm256_maskload_ps(x + i, tail);  /* 0 outside the tail */
                check = _mm256_fmadd_ps(v, zero, check);
                top = _mm256_max_ps(top, _mm256_blendv_ps(lowest, v, _mm256_castsi256_ps(tail)));
            }
            q[c] = _mm_max_ps(_mm256_castps256_ps128(top), _mm256_extractf128_ps(top, 1));
        }
        PARSETAG_STORE_MAXIMA(q, best + 4 * row);
    }
    __m128 half = _mm_add_ps(_mm256_castps256_ps128(check), _mm256_extractf128_ps(check, 1));
    return half[0] + half[1] + half[2] + half[3];
}

#endif

/* Widest variant of the loops that this CPU runs: 0 portable, 1 AVX2, 2 AVX-512. */
static int parsetag_widest(void) {
#if PARSETAG_X86
    if (__builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl")) return 2;
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) return 1;
#endif
    return 0;
}

static float parsetag_class_max_f32_as(int variant, const float *x, int rows, int n_tags, const int32_t *offsets,
                                       double *best) {
#if PARSETAG_X86
    if (variant == 2) return parsetag_class_max_f32_avx512(x, rows, n_tags, offsets, best);
    if (variant == 1) return parsetag_class_max_f32_avx2(x, rows, n_tags, offsets, best);
#endif
    return parsetag_class_max_f32_portable(x, rows, n_tags, offsets, best);
}

static float parsetag_class_max_f32(const float *x, int rows, int n_tags, const int32_t *offsets, double *best) {
    return parsetag_class_max_f32_as(parsetag_widest(), x, rows, n_tags, offsets, best);
}

/* One step of the lattice into one group: the better of the two classes that lead there, for n stack sizes.
 * first[d], second[d]: scores of the states that each class comes from; which[d]: 1 where the second one wins. */
static inline void parsetag_step(const double *first, double first_score, const double *second, double second_score,
                                 double *out, uint8_t *which, int n) {
    for (int d = 0; d < n; ++d) {
        double a = first[d] + first_score, b = second[d] + second_score;
        which[d] = b > a;
        out[d] = b > a ? b : a;
    }
}

#endif
