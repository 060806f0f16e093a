// The inner loops over labels and transitions, on the compiler's own vectors (GCC, Clang), elsewhere on single numbers. No
// intrinsics: vector types compile for every CPU.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <type_traits>

#include "_semirings.hpp"

// Without GNU's vectors, or where PARSETAG_PORTABLE is defined, a vector is one number.
#if defined(__GNUC__) && !defined(PARSETAG_PORTABLE)
#define PARSETAG_GNU 1
#define PARSETAG_INLINE inline __attribute__((always_inline))
#define PARSETAG_UNROLL _Pragma("GCC unroll 4")
#define PARSETAG_PREFETCH(place) __builtin_prefetch(place)
#else
#define PARSETAG_GNU 0
#define PARSETAG_INLINE inline
#define PARSETAG_UNROLL
#define PARSETAG_PREFETCH(place) (void)(place)
#endif
#if PARSETAG_GNU && defined(__x86_64__) && !defined(_WIN32)  // GCC aligns no stack to 32 bytes there
#define PARSETAG_X86 1
#else
#define PARSETAG_X86 0
#endif

namespace parsetag {

// Rows of a product are padded to whole vectors of this many numbers.
const int PAD = 16;
inline int padded(int n) { return (n + PAD - 1) / PAD * PAD; }

// Bytes of the registers that loops use: 64, 32 or 16. Tests lower it to run the narrower ones, as the environment variable
// PARSETAG_REGISTERS does.
inline int &register_bytes() {
    static int bytes = [] {
        int widest = 16;
#if PARSETAG_X86
        if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) widest = 32;
        if (__builtin_cpu_supports("avx512f")) widest = 64;
#endif
        const char *most = std::getenv("PARSETAG_REGISTERS");
        return most ? std::min(widest, std::atoi(most)) : widest;
    }();
    return bytes;
}

// Makes the registers at most so wide; 0 changes nothing, below 0 sets the width. Returns what it was.
inline int limit_registers(int bytes) {
    const int before = register_bytes();
    if (bytes) register_bytes() = bytes < 0 ? -bytes : std::min(bytes, before);
    return before;
}

template <class T> struct IntegerOf;
template <> struct IntegerOf<float> { typedef int32_t type; };
template <> struct IntegerOf<double> { typedef int64_t type; };

template <class T> PARSETAG_INLINE T greater(T a, T b) { return a > b ? a : b; }

template <class T, int BYTES> struct Vector {
#if PARSETAG_GNU
    typedef T type __attribute__((vector_size(BYTES), aligned(sizeof(T)), may_alias));
    static const int lanes = BYTES / int(sizeof(T));
#else
    typedef T type;
    static const int lanes = 1;
#endif
};

// A number times LARGE times 0 is NaN if it is not finite, or beyond 1e300: sums of such numbers would overflow. Sums keep it.
template <class T> constexpr T LARGE = sizeof(T) == 8 ? T(1e8) : T(1);

// The greatest of n numbers. `check` becomes NaN if one is not finite.
template <class T> PARSETAG_INLINE T greatest(const T *x, std::ptrdiff_t n, T &check) {
    typedef typename Vector<T, 16>::type V;
    const std::ptrdiff_t W = Vector<T, 16>::lanes;
    T top = T(-INF);
    std::ptrdiff_t i = 0;
    if (n >= W) {
        V tops = *(const V *)x, sum = tops * LARGE<T> * T(0);
        for (i = W; i < n; i += W) {
            // The last vector may overlap the one before it, which changes no maximum.
            const V v = *(const V *)(x + std::min(i, n - W));
            tops = v > tops ? v : tops;
            sum += v * LARGE<T> * T(0);
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
        check += x[i] * LARGE<T> * T(0);
    }
    return top;
}

// The polynomial p r^n + c1 r^(n - 1) + ... + cn.
template <class T, class... C> PARSETAG_INLINE T polynomial(T r, T p, C... c) {
    ((p = p * r + T(c)), ...);
    return p;
}

// exp(x) for x <= 30, within 2 units in the last place; 0 below -87 in float32 and -708 in double, where there are no normal
// numbers left. x = k ln 2 + r with |r| <= ln 2 / 2; adding 1.5 * 2^23, or 2^52, rounds to an integer and leaves it in the low bits. In
// float32 the parts of ln 2 and the polynomial are those of expf in the Cephes Math Library by S. L. Moshier (BSD); see
// LICENSES/Cephes.txt. In double the polynomial is the series.
template <class T> PARSETAG_INLINE T exp_of(T x) {
    constexpr bool wide = sizeof(T) == 8;
    constexpr T to_integer = wide ? T(6755399441055744.0) : T(12582912.0f), base = wide ? T(1.4426950408889634) : T(1.44269504f);
    constexpr T high = wide ? T(0.693147180369123816490) : T(0.693359375f), low = wide ? T(1.90821492927058770002e-10) : T(-2.12194440e-4f);
    const T shifted = x * base + to_integer, k = shifted - to_integer, r = (x - k * high) - k * low;
    T p, power;
    if constexpr (wide) {
        p = polynomial(r, 1.0 / 6227020800, 1.0 / 479001600, 1.0 / 39916800, 1.0 / 3628800, 1.0 / 362880, 1.0 / 40320, 1.0 / 5040,
                       1.0 / 720, 1.0 / 120, 1.0 / 24, 1.0 / 6, 0.5);
    } else {
        p = polynomial(r, 1.98756915e-4f, 1.39819995e-3f, 8.33345205e-3f, 4.16657962e-2f, 1.66666657e-1f, 0.5f);
    }
    typename std::make_unsigned<typename IntegerOf<T>::type>::type bits;
    std::memcpy(&bits, &shifted, sizeof bits);
    bits = (bits + (wide ? 1023 : 127)) << (wide ? 52 : 23);
    std::memcpy(&power, &bits, sizeof power);
    return x < T(wide ? -708 : -87) ? T(0) : (p * (r * r) + r + T(1)) * power;
}

// value(0) to value(n - 1) joined, in eight lanes, so that compilers make vectors of them.
template <class T, class Value, class Join> PARSETAG_INLINE T fold(int n, T none, Value value, Join join) {
    T lane[8];
    for (int j = 0; j < 8; ++j) lane[j] = none;
    int i = 0;
    for (; i + 8 <= n; i += 8)
        for (int j = 0; j < 8; ++j) lane[j] = join(lane[j], value(i + j));
    for (; i < n; ++i) lane[i & 7] = join(lane[i & 7], value(i));
    return join(join(join(lane[0], lane[4]), join(lane[2], lane[6])), join(join(lane[1], lane[5]), join(lane[3], lane[7])));
}
template <class T, class Value> PARSETAG_INLINE T greatest_of(int n, Value value) {
    return fold<T>(n, T(-INF), value, [](T a, T b) { return greater(b, a); });
}
template <class T, class Value> PARSETAG_INLINE T sum_of(int n, Value value) {
    return fold<T>(n, T(0), value, [](T a, T b) { return a + b; });
}

// ---- Loops that gain from wide registers: `_kernels.hpp` has them once for each width ----

struct SumProduct {};  // the semiring of the real numbers, beside MaxPlus

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
#define PARSETAG_CALL(call) (register_bytes() >= 64 ? Kernels<64>::call : register_bytes() >= 32 ? Kernels<32>::call : Kernels<16>::call)
#else
#define PARSETAG_CALL(call) Kernels<16>::call
#endif

// The widest of the loops that the CPU has.
template <class... A> auto class_max(A... a) { return PARSETAG_CALL(class_max(a...)); }
template <class... A> void first_of(A... a) { PARSETAG_CALL(first_of(a...)); }
template <class... A> void class_sums(A... a) { PARSETAG_CALL(class_sums(a...)); }
template <class... A> double add_splits(A... a) { return PARSETAG_CALL(add_splits(a...)); }
template <class... A> double exp_splits(A... a) { return PARSETAG_CALL(exp_splits(a...)); }
template <class... A> void share_splits(A... a) { PARSETAG_CALL(share_splits(a...)); }
template <class... A> void label_tops(A... a) { PARSETAG_CALL(label_tops(a...)); }
template <class... A> void label_sums(A... a) { PARSETAG_CALL(label_sums(a...)); }
template <class... A> void normalize(A... a) { PARSETAG_CALL(normalize(a...)); }
template <class S, class... A> void product(A... a) { PARSETAG_CALL(product<S>(a...)); }

}  // namespace parsetag
