/* The inner loops of the dependent decoder: a product of matrices in which sums are maxima and products are sums.
 *
 *     out[i][j] = max over k of v[i][k] + m[k][j]
 *
 * It keeps a tile of `out` in registers while k runs, as matrix products do. m and out are padded to whole vectors: rows
 * of m and out are `stride` long, a multiple of PARSETAG_PAD, and all of it is computed. On x86-64 with GCC or Clang it
 * exists for AVX2 and AVX-512 besides portable C, chosen when it runs. */
#ifndef PARSETAG_MAXPLUS_H
#define PARSETAG_MAXPLUS_H

#include "_kernels.h"

#define PARSETAG_PAD 16

#define PARSETAG_MAXPLUS_PORTABLE(NAME, T)                                                                  \
    static void NAME(const T *v, int rows, int v_stride, const T *m, int depth, T *out, int stride) {       \
        for (int i = 0; i < rows; ++i, v += v_stride, out += stride)                                        \
            for (int j = 0; j < stride; j += 8) {                                                           \
                T top[8];                                                                                   \
                for (int w = 0; w < 8; ++w) top[w] = -INFINITY;                                             \
                for (int k = 0; k < depth; ++k) {                                                           \
                    const T *row = m + (size_t)k * stride + j, x = v[k];                                    \
                    for (int w = 0; w < 8; ++w) top[w] = x + row[w] > top[w] ? x + row[w] : top[w];         \
                }                                                                                           \
                for (int w = 0; w < 8; ++w) out[j + w] = top[w];                                            \
            }                                                                                               \
    }

PARSETAG_MAXPLUS_PORTABLE(parsetag_maxplus_f32_portable, float)
PARSETAG_MAXPLUS_PORTABLE(parsetag_maxplus_f64_portable, double)

#if PARSETAG_X86

/* One tile of R rows and C vectors; R and C are constants where it is inlined, so that `top` lives in registers. */
#define PARSETAG_MAXPLUS_SIMD(NAME, T, V, WIDTH, WIDEST, TARGET, LOAD, STORE, SET1, ADD, MAX)               \
    __attribute__((target(TARGET), always_inline)) static inline void NAME##_tile(                          \
        const T *v, int v_stride, const T *m, int depth, T *out, int stride, const int R, const int C) {    \
        V top[4][4];                                                                                        \
        _Pragma("GCC unroll 4") for (int i = 0; i < R; ++i)                                                 \
            _Pragma("GCC unroll 4") for (int j = 0; j < C; ++j) top[i][j] = SET1(-INFINITY);                \
        for (int k = 0; k < depth; ++k, m += stride) {                                                      \
            V row[4];                                                                                       \
            _Pragma("GCC unroll 4") for (int j = 0; j < C; ++j) row[j] = LOAD(m + j * WIDTH);               \
            _Pragma("GCC unroll 4") for (int i = 0; i < R; ++i) {                                           \
                V x = SET1(v[i * v_stride + k]);                                                            \
                _Pragma("GCC unroll 4") for (int j = 0; j < C; ++j)                                         \
                    top[i][j] = MAX(top[i][j], ADD(x, row[j]));                                             \
            }                                                                                               \
        }                                                                                                   \
        _Pragma("GCC unroll 4") for (int i = 0; i < R; ++i)                                                 \
            _Pragma("GCC unroll 4") for (int j = 0; j < C; ++j) STORE(out + i * stride + j * WIDTH, top[i][j]); \
    }                                                                                                       \
    __attribute__((target(TARGET))) static void NAME(const T *v, int rows, int v_stride, const T *m,        \
                                                     int depth, T *out, int stride) {                       \
        for (int j = 0; j < stride;) {                                                                      \
            const int left = (stride - j) / WIDTH;                                                          \
            /* Five vectors go as three and two: one alone would wait for its own maxima. */                \
            const int c = left >= WIDEST + 2 || left == WIDEST ? WIDEST : left < WIDEST ? left : WIDEST - 1; \
            for (int i = 0; i < rows;) {                                                                    \
                const int r = rows - i >= 4 ? 4 : rows - i;                                                 \
                const T *x = v + (size_t)i * v_stride;                                                      \
                T *y = out + (size_t)i * stride + j;                                                        \
                switch (4 * r + c) {                                                                        \
                    PARSETAG_TILE(NAME, 1, 1) PARSETAG_TILE(NAME, 1, 2)                                     \
                    PARSETAG_TILE(NAME, 1, 3) PARSETAG_TILE(NAME, 1, 4)                                     \
                    PARSETAG_TILE(NAME, 2, 1) PARSETAG_TILE(NAME, 2, 2)                                     \
                    PARSETAG_TILE(NAME, 2, 3) PARSETAG_TILE(NAME, 2, 4)                                     \
                    PARSETAG_TILE(NAME, 3, 1) PARSETAG_TILE(NAME, 3, 2)                                     \
                    PARSETAG_TILE(NAME, 3, 3) PARSETAG_TILE(NAME, 3, 4)                                     \
                    PARSETAG_TILE(NAME, 4, 1) PARSETAG_TILE(NAME, 4, 2)                                     \
                    PARSETAG_TILE(NAME, 4, 3) PARSETAG_TILE(NAME, 4, 4)                                     \
                }                                                                                           \
                i += r;                                                                                     \
            }                                                                                               \
            j += c * WIDTH;                                                                                 \
        }                                                                                                   \
    }

#define PARSETAG_TILE(NAME, R, C)                                       \
    case 4 * R + C:                                                     \
        NAME##_tile(x, v_stride, m + j, depth, y, stride, R, C);        \
        break;

PARSETAG_MAXPLUS_SIMD(parsetag_maxplus_f32_avx512, float, __m512, 16, 4, "avx512f,avx512dq,avx512vl", _mm512_loadu_ps,
                      _mm512_storeu_ps, _mm512_set1_ps, _mm512_add_ps, _mm512_max_ps)
PARSETAG_MAXPLUS_SIMD(parsetag_maxplus_f64_avx512, double, __m512d, 8, 4, "avx512f,avx512dq,avx512vl", _mm512_loadu_pd,
                      _mm512_storeu_pd, _mm512_set1_pd, _mm512_add_pd, _mm512_max_pd)
PARSETAG_MAXPLUS_SIMD(parsetag_maxplus_f32_avx2, float, __m256, 8, 2, "avx2,fma", _mm256_loadu_ps, _mm256_storeu_ps,
                      _mm256_set1_ps, _mm256_add_ps, _mm256_max_ps)
PARSETAG_MAXPLUS_SIMD(parsetag_maxplus_f64_avx2, double, __m256d, 4, 2, "avx2,fma", _mm256_loadu_pd, _mm256_storeu_pd,
                      _mm256_set1_pd, _mm256_add_pd, _mm256_max_pd)

#define PARSETAG_MAXPLUS_WIDE(NAME)                                                                         \
    if (variant == 2) { NAME##_avx512(v, rows, v_stride, m, depth, out, stride); return; }                  \
    if (variant == 1) { NAME##_avx2(v, rows, v_stride, m, depth, out, stride); return; }
#else
#define PARSETAG_MAXPLUS_WIDE(NAME)
#endif

#define PARSETAG_MAXPLUS(NAME, T)                                                                           \
    static void NAME(int variant, const T *v, int rows, int v_stride, const T *m, int depth, T *out, int stride) { \
        PARSETAG_MAXPLUS_WIDE(NAME)                                                                         \
        (void)variant;                                                                                      \
        NAME##_portable(v, rows, v_stride, m, depth, out, stride);                                          \
    }

PARSETAG_MAXPLUS(parsetag_maxplus_f32, float)
PARSETAG_MAXPLUS(parsetag_maxplus_f64, double)

/* out = a + b, for n numbers; returns the greater of `top` and the greatest of them. */
#define PARSETAG_ADD(NAME, T, TARGET)                                                                       \
    TARGET static T NAME(const T *a, const T *b, T *out, int n, T top) {                                    \
        T lane[16];                                                                                         \
        int i = 0;                                                                                          \
        for (int j = 0; j < 16; ++j) lane[j] = top;                                                         \
        for (; i + 16 <= n; i += 16)                                                                        \
            for (int j = 0; j < 16; ++j) {                                                                  \
                T sum = a[i + j] + b[i + j];                                                                \
                out[i + j] = sum;                                                                           \
                lane[j] = sum > lane[j] ? sum : lane[j];                                                    \
            }                                                                                               \
        for (; i < n; ++i) {                                                                                \
            T sum = a[i] + b[i];                                                                            \
            out[i] = sum;                                                                                   \
            lane[i % 16] = sum > lane[i % 16] ? sum : lane[i % 16];                                         \
        }                                                                                                   \
        for (int half = 8; half; half /= 2)                                                                 \
            for (int j = 0; j < half; ++j) lane[j] = lane[j + half] > lane[j] ? lane[j + half] : lane[j];   \
        return lane[0];                                                                                     \
    }

PARSETAG_ADD(parsetag_add_f32_portable, float, )
PARSETAG_ADD(parsetag_add_f64, double, )

#if PARSETAG_X86
__attribute__((target("avx512f,avx512dq,avx512vl"))) static float parsetag_add_f32_avx512(
    const float *a, const float *b, float *out, int n, float top) {
    __m512 most = _mm512_set1_ps(top);
    for (int i = 0; i < n; i += 16) {
        __mmask16 own = n - i >= 16 ? (__mmask16)0xffff : (__mmask16)((1u << (n - i)) - 1);
        __m512 sum = _mm512_add_ps(_mm512_maskz_loadu_ps(own, a + i), _mm512_maskz_loadu_ps(own, b + i));
        _mm512_mask_storeu_ps(out + i, own, sum);
        most = _mm512_mask_max_ps(most, own, most, sum);
    }
    return _mm512_reduce_max_ps(most);
}
PARSETAG_ADD(parsetag_add_f32_avx2, float, __attribute__((target("avx2,fma"))))
#endif

static inline float parsetag_add_f32(int variant, const float *a, const float *b, float *out, int n, float top) {
#if PARSETAG_X86
    if (variant == 2) return parsetag_add_f32_avx512(a, b, out, n, top);
    if (variant == 1) return parsetag_add_f32_avx2(a, b, out, n, top);
#endif
    (void)variant;
    return parsetag_add_f32_portable(a, b, out, n, top);
}

/* The rate of this machine: maxima of sums over 1,024 numbers that lie in the first cache, eight at a time in registers;
 * each round does 1,024. For benchmarks. */
#define PARSETAG_RATE(NAME, V, WIDTH, TARGET, LOAD, STORE, SET1, ADD, MAX)                                  \
    TARGET static void NAME(const float *x, float *out, int64_t rounds) {                                   \
        V top[8];                                                                                           \
        _Pragma("GCC unroll 8") for (int j = 0; j < 8; ++j) top[j] = SET1(-INFINITY);                       \
        for (int64_t round = 0; round < rounds; ++round) {                                                  \
            V a = SET1((float)round);                                                                       \
            for (int i = 0; i < 1024; i += 8 * WIDTH)                                                       \
                _Pragma("GCC unroll 8") for (int j = 0; j < 8; ++j)                                         \
                    top[j] = MAX(top[j], ADD(a, LOAD(x + i + j * WIDTH)));                                  \
        }                                                                                                   \
        _Pragma("GCC unroll 8") for (int j = 0; j < 8; ++j) STORE(out + j * WIDTH, top[j]);                 \
    }

#define PARSETAG_LOAD1(p) (*(p))
#define PARSETAG_STORE1(p, x) (*(p) = (x))
#define PARSETAG_SAME1(x) (x)
#define PARSETAG_ADD1(x, y) ((x) + (y))
#define PARSETAG_MAX1(x, y) ((y) > (x) ? (y) : (x))
PARSETAG_RATE(parsetag_rate_portable, float, 1, , PARSETAG_LOAD1, PARSETAG_STORE1, PARSETAG_SAME1, PARSETAG_ADD1,
              PARSETAG_MAX1)
#if PARSETAG_X86
PARSETAG_RATE(parsetag_rate_avx512, __m512, 16, __attribute__((target("avx512f,avx512dq,avx512vl"))), _mm512_loadu_ps,
              _mm512_storeu_ps, _mm512_set1_ps, _mm512_add_ps, _mm512_max_ps)
PARSETAG_RATE(parsetag_rate_avx2, __m256, 8, __attribute__((target("avx2,fma"))), _mm256_loadu_ps, _mm256_storeu_ps,
              _mm256_set1_ps, _mm256_add_ps, _mm256_max_ps)
#endif

static void parsetag_rate(const float *x, float *out, int64_t rounds) {
#if PARSETAG_X86
    if (parsetag_widest() == 2) { parsetag_rate_avx512(x, out, rounds); return; }
    if (parsetag_widest() == 1) { parsetag_rate_avx2(x, out, rounds); return; }
#endif
    parsetag_rate_portable(x, out, rounds);
}

#endif
