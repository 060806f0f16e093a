/* The inner loops of beam search: candidates of a list one by one, best first. */
#ifndef PARSETAG_BEAM_H
#define PARSETAG_BEAM_H

#include "_kernels.h"

#define PARSETAG_CHUNK 16

/* Take the greatest of n numbers out of x: its index, the first one if several are equal, and -inf in its place. Returns
 * -1 if there is none but -inf. n is a multiple of PARSETAG_CHUNK. */
#define PARSETAG_POP_MAX(NAME, T)                                                                           \
    static int NAME(T *x, int n, T *value) {                                                                \
        T lane[PARSETAG_CHUNK];                                                                             \
        int i;                                                                                              \
        for (int j = 0; j < PARSETAG_CHUNK; ++j) lane[j] = x[j];                                            \
        for (i = PARSETAG_CHUNK; i < n; i += PARSETAG_CHUNK)                                                \
            for (int j = 0; j < PARSETAG_CHUNK; ++j) lane[j] = x[i + j] > lane[j] ? x[i + j] : lane[j];     \
        for (int half = PARSETAG_CHUNK / 2; half; half /= 2)                                                \
            for (int j = 0; j < half; ++j) lane[j] = lane[j + half] > lane[j] ? lane[j + half] : lane[j];   \
        const T top = lane[0];                                                                              \
        if (!(top > -INFINITY)) return -1;                                                                  \
        for (i = 0; x[i] != top;) ++i;                                                                      \
        x[i] = -INFINITY;                                                                                   \
        *value = top;                                                                                       \
        return i;                                                                                           \
    }

PARSETAG_POP_MAX(parsetag_pop_max_f64, double)
PARSETAG_POP_MAX(parsetag_pop_max_f32_portable, float)

#if PARSETAG_X86
__attribute__((target("avx512f,avx512dq,avx512vl"))) static int parsetag_pop_max_f32_avx512(float *x, int n,
                                                                                             float *value) {
    __m512 top = _mm512_loadu_ps(x);
    for (int i = 16; i < n; i += 16) top = _mm512_max_ps(top, _mm512_loadu_ps(x + i));
    *value = _mm512_reduce_max_ps(top);
    if (!(*value > -INFINITY)) return -1;
    top = _mm512_set1_ps(*value);
    for (int i = 0;; i += 16) {
        __mmask16 hits = _mm512_cmp_ps_mask(_mm512_loadu_ps(x + i), top, _CMP_EQ_OQ);
        if (hits) {
            i += __builtin_ctz(hits);
            x[i] = -INFINITY;
            return i;
        }
    }
}

__attribute__((target("avx2,fma"))) static int parsetag_pop_max_f32_avx2(float *x, int n, float *value) {
    __m256 top = _mm256_loadu_ps(x);
    for (int i = 8; i < n; i += 8) top = _mm256_max_ps(top, _mm256_loadu_ps(x + i));
    __m128 half = _mm_max_ps(_mm256_castps256_ps128(top), _mm256_extractf128_ps(top, 1));
    half = _mm_max_ps(half, _mm_movehl_ps(half, half));
    *value = _mm_cvtss_f32(_mm_max_ss(half, _mm_movehdup_ps(half)));
    if (!(*value > -INFINITY)) return -1;
    top = _mm256_set1_ps(*value);
    for (int i = 0;; i += 8) {
        int hits = _mm256_movemask_ps(_mm256_cmp_ps(_mm256_loadu_ps(x + i), top, _CMP_EQ_OQ));
        if (hits) {
            i += __builtin_ctz((unsigned)hits);
            x[i] = -INFINITY;
            return i;
        }
    }
}
#endif

static inline int parsetag_pop_max_f32(int variant, float *x, int n, float *value) {
#if PARSETAG_X86
    if (variant == 2) return parsetag_pop_max_f32_avx512(x, n, value);
    if (variant == 1) return parsetag_pop_max_f32_avx2(x, n, value);
#endif
    (void)variant;
    return parsetag_pop_max_f32_portable(x, n, value);
}

#endif
