// Loops for registers of PARSETAG_WIDTH bytes. `_simd.hpp` includes this file once for each width, because a compiler cuts
// vectors to the registers of the function that they are written in.

template <class T, int BYTES> struct FirstOf;
template <class T, int BYTES> struct ClassSums;
template <class S, class T, int BYTES> struct Product;
template <int BYTES> struct Splits;
template <class T, int BYTES> struct Labels;

template <class T> struct FirstOf<T, PARSETAG_WIDTH> {
    typedef typename Vector<T, PARSETAG_WIDTH>::type V;
    typedef typename Vector<typename IntegerOf<T>::type, PARSETAG_WIDTH>::type I;
    static const int W = Vector<T, PARSETAG_WIDTH>::lanes;

    // Without a branch that depends on the scores: one that the CPU predicts wrongly costs more than a few vectors.
    PARSETAG_TARGET static void run(const T *x, int rows, int n_tags, const int32_t *offsets, const double *best,
                                    const uint8_t *classes, int32_t *ids) {
        for (int row = 0; row < rows; ++row, x += n_tags) {
            const int first = offsets[classes[row]], n = offsets[classes[row] + 1] - first;
            const T top = T(best[4 * row + classes[row]]);
            const T *own = x + first;
            int id = 0;
            if (n < W) {
                while (own[id] != top) ++id;
            } else {
                typename IntegerOf<T>::type places[W];
                for (int j = 0; j < W; ++j) places[j] = j;
                I lanes;
                std::memcpy(&lanes, places, sizeof lanes);
                I least = lanes + n;
                for (int i = 0; i < n; i += W) {
                    const int at = std::min(i, n - W);
                    const I place = lanes + at, found = *(const V *)(own + at) == top ? place : least;
                    least = found < least ? found : least;
                }
                std::memcpy(places, &least, sizeof places);
                for (int half = W / 2; half; half /= 2)
                    for (int j = 0; j < half; ++j) places[j] = std::min(places[j], places[j + half]);
                id = int(places[0]);
            }
            ids[row] = first + id;
        }
    }
};

template <class T> struct ClassSums<T, PARSETAG_WIDTH> {
    PARSETAG_TARGET static void run(const T *x, int rows, int n_tags, const int32_t *offsets, const double *best, T *e,
                                    double *sums, double *logs) {
        const size_t size = (size_t)rows * n_tags;
        for (int row = 0; row < rows; ++row)
            for (int c = 0; c < 4; ++c) {
                const T top = T(best[4 * row + c]);
                const size_t first = (size_t)row * n_tags;
                for (size_t i = first + offsets[c]; i < first + offsets[c + 1]; ++i) e[i] = x[i] - top;
            }
        for (size_t i = 0; i < size; ++i) e[i] = exp_of(e[i]);
        for (int row = 0; row < rows; ++row)
            for (int c = 0; c < 4; ++c) {
                T lane[8] = {0, 0, 0, 0, 0, 0, 0, 0};
                const T *own = e + (size_t)row * n_tags;
                int i = offsets[c], end = offsets[c + 1];
                for (; i + 8 <= end; i += 8)
                    for (int j = 0; j < 8; ++j) lane[j] += own[i + j];
                for (int j = 0; i < end; ++i, ++j) lane[j] += own[i];
                double sum = 0;
                for (int j = 0; j < 8; ++j) sum += double(lane[j]);
                sums[4 * row + c] = sum;
                logs[4 * row + c] = best[4 * row + c] + std::log(sum);
            }
    }
};

template <class S, class T> struct Product<S, T, PARSETAG_WIDTH> {
    typedef typename Vector<T, PARSETAG_WIDTH>::type V;
    static const int W = Vector<T, PARSETAG_WIDTH>::lanes;

    PARSETAG_TARGET static PARSETAG_INLINE V add_product(MaxPlus, V sum, V a, V b) {
        const V product = a + b;
        return product > sum ? product : sum;
    }
    PARSETAG_TARGET static PARSETAG_INLINE V add_product(SumProduct, V sum, V a, V b) { return sum + a * b; }
    static T zero(MaxPlus) { return T(-INF); }
    static T zero(SumProduct) { return T(0); }

    // One tile of R rows and C vectors of out, which lives in registers while k runs.
    template <int R, int C>
    PARSETAG_TARGET static PARSETAG_INLINE void tile(const T *a, std::ptrdiff_t a_row, std::ptrdiff_t a_column, const T *b,
                                                     int depth, T *out, int stride, bool add) {
        V sum[R][C];
#pragma GCC unroll 4
        for (int i = 0; i < R; ++i)
#pragma GCC unroll 4
            for (int j = 0; j < C; ++j) sum[i][j] = add ? *(const V *)(out + i * stride + j * W) : zero(S()) + V{};
        for (int k = 0; k < depth; ++k, b += stride) {
            V row[C];
#pragma GCC unroll 4
            for (int j = 0; j < C; ++j) row[j] = *(const V *)(b + j * W);
#pragma GCC unroll 4
            for (int i = 0; i < R; ++i) {
                const V x = a[i * a_row + k * a_column] - V{};
#pragma GCC unroll 4
                for (int j = 0; j < C; ++j) sum[i][j] = add_product(S(), sum[i][j], x, row[j]);
            }
        }
#pragma GCC unroll 4
        for (int i = 0; i < R; ++i)
#pragma GCC unroll 4
            for (int j = 0; j < C; ++j) *(V *)(out + i * stride + j * W) = sum[i][j];
    }

    template <int C>
    PARSETAG_TARGET static void tiles(const T *a, int rows, std::ptrdiff_t a_row, std::ptrdiff_t a_column, const T *b, int depth,
                                      T *out, int stride, bool add) {
        int left = rows;
        for (; left >= 4; left -= 4, a += 4 * a_row, out += 4 * (std::ptrdiff_t)stride)
            tile<4, C>(a, a_row, a_column, b, depth, out, stride, add);
        if (left == 3) tile<3, C>(a, a_row, a_column, b, depth, out, stride, add);
        if (left == 2) tile<2, C>(a, a_row, a_column, b, depth, out, stride, add);
        if (left == 1) tile<1, C>(a, a_row, a_column, b, depth, out, stride, add);
    }

    PARSETAG_TARGET static void run(const T *a, int rows, std::ptrdiff_t a_row, std::ptrdiff_t a_column, const T *b, int depth,
                                    T *out, int stride, bool add) {
        for (int j = 0; j < stride;) {
            const int left = (stride - j) / W;
            // Five vectors go as three and two: one alone would wait for its own sums.
            const int c = PARSETAG_WIDTH < 64 ? std::min(left, 2) : left == 5 ? 3 : std::min(left, 4);
            if (c == 4) tiles<4>(a, rows, a_row, a_column, b + j, depth, out + j, stride, add);
            if (c == 3) tiles<3>(a, rows, a_row, a_column, b + j, depth, out + j, stride, add);
            if (c == 2) tiles<2>(a, rows, a_row, a_column, b + j, depth, out + j, stride, add);
            if (c == 1) tiles<1>(a, rows, a_row, a_column, b + j, depth, out + j, stride, add);
            j += c * W;
        }
    }
};

// Loops over the split points of a span.
template <> struct Splits<PARSETAG_WIDTH> {
    PARSETAG_TARGET static double add(const double *a, const double *b, const double *g, int n, double *x) {
        double lane[8];
        for (int j = 0; j < 8; ++j) lane[j] = -INF;
        if (g)
            for (int k = 0; k < n; ++k) x[k] = a[k] + b[k] + g[k];
        else
            for (int k = 0; k < n; ++k) x[k] = a[k] + b[k];
        int k = 0;
        for (; k + 8 <= n; k += 8)
            for (int j = 0; j < 8; ++j) lane[j] = greater(x[k + j], lane[j]);
        for (int j = 0; k < n; ++k, ++j) lane[j] = greater(x[k], lane[j]);
        for (int half = 4; half; half /= 2)
            for (int j = 0; j < half; ++j) lane[j] = greater(lane[j], lane[j + half]);
        return lane[0];
    }

    PARSETAG_TARGET static double exp_sum(double *x, int n, double top) {
        double lane[8] = {0, 0, 0, 0, 0, 0, 0, 0}, sum = 0;
        for (int k = 0; k < n; ++k) x[k] = exp_of(x[k] - top);
        int k = 0;
        for (; k + 8 <= n; k += 8)
            for (int j = 0; j < 8; ++j) lane[j] += x[k + j];
        for (int j = 0; k < n; ++k, ++j) lane[j] += x[k];
        for (int j = 0; j < 8; ++j) sum += lane[j];
        return sum;
    }

    PARSETAG_TARGET static void share(const double *__restrict x, int n, double mass, double *__restrict left,
                                      double *__restrict right, double *__restrict gap) {
        for (int k = 0; k < n; ++k) left[k] += mass * x[k];
        for (int k = 0; k < n; ++k) right[k] += mass * x[k];
        if (gap)
            for (int k = 0; k < n; ++k) gap[k] += mass * x[k];
    }
};

// Loops over the labels of a span.
template <class T> struct Labels<T, PARSETAG_WIDTH> {
    PARSETAG_TARGET static void tops(const T *x, int n, const T *left, const T *right, double *tops) {
        T lane[2][8];
        for (int j = 0; j < 8; ++j) lane[0][j] = lane[1][j] = T(-INF);
        int i = 0;
        for (; i + 8 <= n; i += 8) {
            for (int j = 0; j < 8; ++j) lane[0][j] = greater(T(x[i + j] + left[i + j]), lane[0][j]);
            for (int j = 0; j < 8; ++j) lane[1][j] = greater(T(x[i + j] + right[i + j]), lane[1][j]);
        }
        for (int j = 0; i < n; ++i, ++j) {
            lane[0][j] = greater(T(x[i] + left[i]), lane[0][j]);
            lane[1][j] = greater(T(x[i] + right[i]), lane[1][j]);
        }
        for (int side = 0; side < 2; ++side) {
            tops[side] = -INF;
            for (int j = 0; j < 8; ++j) tops[side] = greater(double(lane[side][j]), tops[side]);
        }
    }

    PARSETAG_TARGET static void sums(const T *x, int n, T top, const T *left, const T *right, T *e, double *sums) {
        T lane[2][8] = {{0, 0, 0, 0, 0, 0, 0, 0}, {0, 0, 0, 0, 0, 0, 0, 0}};
        for (int i = 0; i < n; ++i) e[i] = exp_of(T(x[i] - top));
        int i = 0;
        for (; i + 8 <= n; i += 8) {
            for (int j = 0; j < 8; ++j) lane[0][j] += e[i + j] * left[i + j];
            for (int j = 0; j < 8; ++j) lane[1][j] += e[i + j] * right[i + j];
        }
        for (int j = 0; i < n; ++i, ++j) {
            lane[0][j] += e[i] * left[i];
            lane[1][j] += e[i] * right[i];
        }
        for (int side = 0; side < 2; ++side) {
            sums[side] = 0;
            for (int j = 0; j < 8; ++j) sums[side] += double(lane[side][j]);
        }
    }
};

#undef PARSETAG_WIDTH
#undef PARSETAG_TARGET
