// The inner loops over labels and transitions, on the compiler's own vectors (GCC, Clang), elsewhere on single numbers. No
// intrinsics: vector types compile for every CPU.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <type_traits>

#if defined(__GNUC__)
#define PARSETAG_INLINE inline __attribute__((always_inline))
#else
#define PARSETAG_INLINE inline
#endif
#if defined(__GNUC__) && defined(__x86_64__)
#define PARSETAG_X86 1
#else
#define PARSETAG_X86 0
#endif

namespace parsetag {

const double INF = std::numeric_limits<double>::infinity();
// Rows of a product are padded to whole vectors of this many numbers.
const int PAD = 16;
inline int padded(int n) { return (n + PAD - 1) / PAD * PAD; }

// Bytes of the registers that products use: 64, 32 or 16. Tests lower it to run the narrower ones.
inline int &register_bytes() {
#if PARSETAG_X86
    static int bytes = __builtin_cpu_supports("avx512f") ? 64 : __builtin_cpu_supports("avx2") ? 32 : 16;
#else
    static int bytes = 16;
#endif
    return bytes;
}

template <class T> struct IntegerOf;
template <> struct IntegerOf<float> { typedef int32_t type; };
template <> struct IntegerOf<double> { typedef int64_t type; };

template <class T> PARSETAG_INLINE T greater(T a, T b) { return a > b ? a : b; }

#if defined(__GNUC__)
template <class T, int BYTES> struct Vector {
    typedef T type __attribute__((vector_size(BYTES), aligned(sizeof(T)), may_alias));
    static const int lanes = BYTES / int(sizeof(T));
};
#else
template <class T, int BYTES> struct Vector {
    typedef T type;
    static const int lanes = 1;
};
#endif

// ---- Labels: one read of the scores ----

// The greatest of n scores. `check` becomes NaN if one is not finite. Vectors of 16 bytes, which every CPU has, are as fast
// here as wider ones: the loop waits for memory.
template <class T> PARSETAG_INLINE T greatest(const T *x, int n, T &check) {
    typedef typename Vector<T, 16>::type V;
    const int W = Vector<T, 16>::lanes;
    // Numbers beyond 1e300 count as infinite: sums of them would overflow.
    const T zero = 0, large = sizeof(T) == 8 ? T(1e8) : T(1);
    T top = T(-INF);
    int i = 0;
    if (n >= W) {
        V tops = *(const V *)x, sum = tops * large * zero;
        for (i = W; i < n; i += W) {
            // The last vector may overlap the one before it, which changes no maximum.
            const V v = *(const V *)(x + std::min(i, n - W));
            tops = v > tops ? v : tops;
            sum += v * large * zero;
        }
        T own[W], sums[W];
        std::memcpy(own, &tops, sizeof own);
        std::memcpy(sums, &sum, sizeof sums);
        for (int j = 0; j < W; ++j) {
            top = greater(own[j], top);
            check += sums[j];
        }
    }
    for (; i < n; ++i) {
        top = greater(x[i], top);
        check += x[i] * large * zero;
    }
    return top;
}

// The greatest score of each class of each row: best[4 * row + c]; -inf for a class without tags. Returns NaN if any score
// is not finite, or too great to add up, else 0: x * 0 is NaN for just those, and a sum keeps it.
template <class T> T class_max(const T *x, int rows, int n_tags, const int32_t *offsets, double *best) {
    T check = 0;
    for (int row = 0; row < rows; ++row, x += n_tags)
        for (int c = 0; c < 4; ++c) best[4 * row + c] = greatest(x + offsets[c], offsets[c + 1] - offsets[c], check);
    return check;
}

// exp(x) for x <= 0 in float32, within 2 units in the last place; 0 below -87, where float32 has no normal numbers left.
// x = k ln 2 + r with |r| <= ln 2 / 2; adding 1.5 * 2^23 rounds to an integer and leaves it in the low bits.
PARSETAG_INLINE float exp_of(float x) {
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
    std::memcpy(&bits, &shifted, sizeof bits);
    bits = (bits + 127u) << 23;
    std::memcpy(&power, &bits, sizeof power);
    return x < -87.0f ? 0.0f : p * power;
}
// The same in double, within 2 units in the last place; 0 below -708.
PARSETAG_INLINE double exp_of(double x) {
    double shifted = x * 1.4426950408889634 + 6755399441055744.0, k = shifted - 6755399441055744.0, power;
    double r = (x - k * 0.693147180369123816490) - k * 1.90821492927058770002e-10;
    double p = 1.0 / 6227020800;
    uint64_t bits;
    p = p * r + 1.0 / 479001600;
    p = p * r + 1.0 / 39916800;
    p = p * r + 1.0 / 3628800;
    p = p * r + 1.0 / 362880;
    p = p * r + 1.0 / 40320;
    p = p * r + 1.0 / 5040;
    p = p * r + 1.0 / 720;
    p = p * r + 1.0 / 120;
    p = p * r + 1.0 / 24;
    p = p * r + 1.0 / 6;
    p = p * r + 0.5;
    p = p * (r * r) + r + 1.0;
    std::memcpy(&bits, &shifted, sizeof bits);
    bits = (bits + 1023u) << 52;
    std::memcpy(&power, &bits, sizeof power);
    return x < -708.0 ? 0.0 : p * power;
}

// ---- Loops that gain from wide registers: sums over labels, and products of matrices in a semiring ----

// The tropical semiring: sums are maxima, products are sums. And the real numbers.
struct MaxPlus {};
struct SumProduct {};

#define PARSETAG_WIDTH 16
#define PARSETAG_TARGET
#include "_kernels.hpp"
#if PARSETAG_X86
#define PARSETAG_WIDTH 32
#define PARSETAG_TARGET __attribute__((target("avx2,fma")))
#include "_kernels.hpp"
#define PARSETAG_WIDTH 64
#define PARSETAG_TARGET __attribute__((target("avx512f")))
#include "_kernels.hpp"
#endif

// Calls a function with the widest of the widths above that the CPU has.
template <class F> auto with_width(F run) {
#if PARSETAG_X86
    if (register_bytes() == 64) return run(std::integral_constant<int, 64>());
    if (register_bytes() == 32) return run(std::integral_constant<int, 32>());
#endif
    return run(std::integral_constant<int, 16>());
}

// The first tag of a class with the greatest score of the class (`best`, from class_max), given a class for each row.
template <class T>
void first_of(const T *x, int rows, int n_tags, const int32_t *offsets, const double *best, const uint8_t *classes,
              int32_t *ids) {
    return with_width([&](auto width) { return FirstOf<T, width>::run(x, rows, n_tags, offsets, best, classes, ids); });
}

// Given the greatest score of each class (`best`, from class_max): e = exp(x - greatest of its class), for each class the
// sum of its e, and the log of the sum of its exp(x).
template <class T>
void class_sums(const T *x, int rows, int n_tags, const int32_t *offsets, const double *best, T *e, double *sums,
                double *logs) {
    return with_width([&](auto width) { return ClassSums<T, width>::run(x, rows, n_tags, offsets, best, e, sums, logs); });
}

// x[k] = a[k] + b[k] + g[k], without g if it is NULL; returns the greatest, -INF of none.
inline double add_splits(const double *a, const double *b, const double *g, int n, double *x) {
    return with_width([&](auto width) { return Splits<width>::add(a, b, g, n, x); });
}

// x[k] = exp(x[k] - top), none of which is much above 1; returns their sum.
inline double exp_splits(double *x, int n, double top) {
    return with_width([&](auto width) { return Splits<width>::exp_sum(x, n, top); });
}

// Each x times mass is added to left and to right, and to gap unless it is NULL.
inline void share_splits(const double *x, int n, double mass, double *left, double *right, double *gap) {
    return with_width([&](auto width) { return Splits<width>::share(x, n, mass, left, right, gap); });
}

// The greatest of x + mask on each side, where a mask has 0 for the labels of a side and -INF for others.
template <class T> void label_tops(const T *x, int n, const T *left, const T *right, double *tops) {
    return with_width([&](auto width) { return Labels<T, width>::tops(x, n, left, right, tops); });
}

// e = exp(x - top), and their sums on each side, where `has` is 1 for the labels of a side and 0 for others.
template <class T> void label_sums(const T *x, int n, T top, const T *left, const T *right, T *e, double *sums) {
    return with_width([&](auto width) { return Labels<T, width>::sums(x, n, top, left, right, e, sums); });
}

// out[i][j] = sum over k of a[i][k] b[k][j] in the semiring S, plus what out holds if `add`. Element (i, k) of a is
// a[i * a_row + k * a_column]; rows of b and out are `stride` numbers long, a multiple of PAD.
template <class S, class T>
void product(const T *a, int rows, std::ptrdiff_t a_row, std::ptrdiff_t a_column, const T *b, int depth, T *out, int stride,
             bool add = false) {
    return with_width([&](auto width) { return Product<S, T, width>::run(a, rows, a_row, a_column, b, depth, out, stride, add); });
}

}  // namespace parsetag
