// Loops for registers of PARSETAG_WIDTH bytes. `_simd.hpp` includes this file once for each width, because a compiler cuts
// vectors to the registers of the function that they are written in.

#if PARSETAG_WIDTH == 16
template <int BYTES> struct Kernels;
#endif

template <> struct Kernels<PARSETAG_WIDTH> {
    // The greatest score of each class of each row: best[4 * row + c]; -inf for a class without tags. Returns NaN if any score
    // is not finite, or too great to add up, else 0.
    template <class T>
    PARSETAG_TARGET static T class_max(const T *x, int rows, int n_tags, const int32_t *offsets, double *best) {
        typedef typename Vector<T, PARSETAG_WIDTH>::type V;
        typedef typename Vector<T, 16>::type Quarter;
        const int W = Vector<T, PARSETAG_WIDTH>::lanes, Q = Vector<T, 16>::lanes;
        V sum = V{};
        T check = 0;
        for (int row = 0; row < rows; ++row, x += n_tags, best += 4)
            for (int c = 0; c < 4; ++c) {
                const T *own = x + offsets[c];
                const int n = offsets[c + 1] - offsets[c];
                if (n < W) {
                    best[c] = greatest(own, n, check);
                    continue;
                }
                V tops = *(const V *)own;
                sum += tops * LARGE<T> * T(0);
                for (int i = W; i < n; i += W) {
                    // The last vector may overlap the one before it, which changes no maximum.
                    const V v = *(const V *)(own + std::min(i, n - W));
                    tops = v > tops ? v : tops;
                    sum += v * LARGE<T> * T(0);
                }
                Quarter quarters[W / Q];
                T lanes[Q];
                std::memcpy(quarters, &tops, sizeof tops);
                for (int i = 1; i < W / Q; ++i) quarters[0] = quarters[i] > quarters[0] ? quarters[i] : quarters[0];
                std::memcpy(lanes, quarters, sizeof lanes);
                for (int i = 1; i < Q; ++i) lanes[0] = greater(lanes[i], lanes[0]);
                best[c] = lanes[0];
            }
        T sums[W];
        std::memcpy(sums, &sum, sizeof sums);
        for (int i = 0; i < W; ++i) check += sums[i];
        return check;
    }

    // The first tag of a class with the greatest score of the class (`best`, from class_max), given a class for each row.
    // Without a branch that depends on the scores: one that the CPU predicts wrongly costs more than a few vectors.
    template <class T>
    PARSETAG_TARGET static void first_of(const T *x, int rows, int n_tags, const int32_t *offsets, const double *best,
                                         const uint8_t *classes, int32_t *ids) {
        typedef typename IntegerOf<T>::type Integer;
        typedef typename Vector<T, PARSETAG_WIDTH>::type V;
        typedef typename Vector<Integer, PARSETAG_WIDTH>::type I;
        const int W = Vector<T, PARSETAG_WIDTH>::lanes;
        Integer first_places[W];
        for (int j = 0; j < W; ++j) first_places[j] = j;
        I lanes;
        std::memcpy(&lanes, first_places, sizeof lanes);
        for (int row = 0; row < rows; ++row, x += n_tags, best += 4) {
            const int first = offsets[classes[row]], n = offsets[classes[row] + 1] - first;
            const T *own = x + first, top = T(best[classes[row]]);
            int id = 0;
            if (n < W) {
                while (own[id] != top) ++id;
            } else {
                I least = lanes + n;
                for (int i = 0; i < n; i += W) {
                    const int at = std::min(i, n - W);
                    const I place = lanes + at, found = *(const V *)(own + at) == top ? place : least;
                    least = found < least ? found : least;
                }
                Integer places[W];
                std::memcpy(places, &least, sizeof places);
                id = int(places[0]);
                for (int j = 1; j < W; ++j) id = std::min(id, int(places[j]));
            }
            ids[row] = first + id;
        }
    }

    // Given the greatest score of each class (`best`, from class_max), finds e = exp(x - greatest of its class); for
    // each class `sums`, the sum of its e, and `logs`, the log of the sum of its exp(x - greatest of the row). The
    // greatest of a row is over the classes that can stand there: `masks` has 0 for these and -INF for others. Adds it
    // to `shift`.
    template <class T>
    PARSETAG_TARGET static void class_sums(const T *x, int rows, int n_tags, const int32_t *offsets, const double *best,
                                           const double *masks, T *e, double *sums, double *logs, Shift *shift) {
        for (int row = 0; row < rows; ++row)
            for (int c = 0; c < 4; ++c) {
                const T top = T(best[4 * row + c]);
                const size_t first = (size_t)row * n_tags;
                for (size_t i = first + offsets[c]; i < first + offsets[c + 1]; ++i) e[i] = x[i] - top;
            }
        for (size_t i = 0; i < (size_t)rows * n_tags; ++i) e[i] = exp_of(e[i]);
        for (int row = 0; row < rows; ++row, e += n_tags) {
            const double *tops = best + 4 * row, *mask = masks + 4 * row;
            const double top = greater(greater(tops[0] + mask[0], tops[1] + mask[1]), greater(tops[2] + mask[2], tops[3] + mask[3]));
            const double own_shift = top > -INF ? top : 0;
            shift->add(own_shift);
            for (int c = 0; c < 4; ++c) {
                const T *own = e + offsets[c];
                const double sum = sum_of<T>(offsets[c + 1] - offsets[c], [own](int i) { return own[i]; });
                sums[4 * row + c] = sum;
                logs[4 * row + c] = tops[c] - own_shift + std::log(sum);
            }
        }
    }

    // Split points of a span: x[k] = a[k] + b[k] + g[k], without g if it is NULL; returns the greatest, -INF of none.
    PARSETAG_TARGET static double add_splits(const double *a, const double *b, const double *g, int n, double *x) {
        if (g)
            for (int k = 0; k < n; ++k) x[k] = a[k] + b[k] + g[k];
        else
            for (int k = 0; k < n; ++k) x[k] = a[k] + b[k];
        return greatest_of<double>(n, [x](int k) { return x[k]; });
    }

    // x[k] = exp(x[k] - top), each at most a little above 1; returns their sum.
    PARSETAG_TARGET static double exp_splits(double *x, int n, double top) {
        for (int k = 0; k < n; ++k) x[k] = exp_of(x[k] - top);
        return sum_of<double>(n, [x](int k) { return x[k]; });
    }

    // Each x times mass is added to left and to right, and to gap unless it is NULL.
    PARSETAG_TARGET static void share_splits(const double *__restrict x, int n, double mass, double *__restrict left,
                                             double *__restrict right, double *__restrict gap) {
        for (int k = 0; k < n; ++k) left[k] += mass * x[k];
        for (int k = 0; k < n; ++k) right[k] += mass * x[k];
        if (gap)
            for (int k = 0; k < n; ++k) gap[k] += mass * x[k];
    }

    // The greatest of x + mask on each side, where a mask has 0 for the labels of a side and -INF for others.
    template <class T>
    PARSETAG_TARGET static void label_tops(const T *x, int n, const T *left, const T *right, double *tops) {
        tops[0] = greatest_of<T>(n, [=](int i) { return T(x[i] + left[i]); });
        tops[1] = greatest_of<T>(n, [=](int i) { return T(x[i] + right[i]); });
    }

    // e = exp(x - top), and their sums on each side, where `has` is 1 for the labels of a side and 0 for others.
    template <class T>
    PARSETAG_TARGET static void label_sums(const T *x, int n, T top, const T *left, const T *right, T *e, double *sums) {
        for (int i = 0; i < n; ++i) e[i] = exp_of(T(x[i] - top));
        sums[0] = sum_of<T>(n, [=](int i) { return T(e[i] * left[i]); });
        sums[1] = sum_of<T>(n, [=](int i) { return T(e[i] * right[i]); });
    }

    // Layer normalization and ReLU of to - from, n numbers whose mean is 0. What is not a number stays so. Rows are `stride`
    // numbers long, a multiple of PAD, with zeros at the end.
    PARSETAG_TARGET static void normalize(const float *to, const float *from, int n, int stride, float epsilon, const float *scale,
                                          const float *shift, float *out) {
        typedef typename Vector<float, PARSETAG_WIDTH>::type V;
        const int W = Vector<float, PARSETAG_WIDTH>::lanes;
        V sum = V{};
        for (int i = 0; i < stride; i += W) {
            const V x = *(const V *)(to + i) - *(const V *)(from + i);
            sum += x * x;
            *(V *)(out + i) = x;
        }
        float lanes[W], squares = 0;
        std::memcpy(lanes, &sum, sizeof sum);
        for (int i = 0; i < W; ++i) squares += lanes[i];
        const float factor = 1 / std::sqrt(squares / n + epsilon);
        for (int i = 0; i < stride; i += W) {
            const V x = *(const V *)(out + i) * factor * *(const V *)(scale + i) + *(const V *)(shift + i);
            *(V *)(out + i) = x < 0 ? V{} : x;
        }
    }

    // out[i][j] = sum over k of a[i][k] b[k][j] in the semiring S, plus what out holds if `add`. Element (i, k) of a is
    // a[i * a_row + k * a_column]; rows of b and out are `stride` numbers long, a multiple of PAD.
    template <class S, class T>
    PARSETAG_TARGET static void product(const T *a, int rows, std::ptrdiff_t a_row, std::ptrdiff_t a_column, const T *b, int depth,
                                        T *out, int stride, bool add = false) {
        const int W = Vector<T, PARSETAG_WIDTH>::lanes;
        for (int j = 0, c; j < stride; j += c * W) {
            const int left = (stride - j) / W;
            // Five vectors go as three and two: one alone would wait for its own sums.
            c = PARSETAG_WIDTH < 64 ? std::min(left, 2) : left == 5 ? 3 : std::min(left, 4);
            const auto run = c == 4 ? tiles<S, T, 4> : c == 3 ? tiles<S, T, 3> : c == 2 ? tiles<S, T, 2> : tiles<S, T, 1>;
            run(a, rows, a_row, a_column, b + j, depth, out + j, stride, add);
        }
    }

  private:
    // One tile of R rows and C vectors of out, which lives in registers while k runs.
    template <class S, class T, int R, int C>
    PARSETAG_TARGET static PARSETAG_INLINE void tile(const T *a, std::ptrdiff_t a_row, std::ptrdiff_t a_column, const T *b,
                                                     int depth, T *out, int stride, bool add) {
        typedef typename Vector<T, PARSETAG_WIDTH>::type V;
        const int W = Vector<T, PARSETAG_WIDTH>::lanes;
        const bool max = std::is_same<S, MaxPlus>::value;
        V sum[R][C];
        PARSETAG_UNROLL for (int i = 0; i < R; ++i)
            PARSETAG_UNROLL for (int j = 0; j < C; ++j) sum[i][j] = add ? *(const V *)(out + i * stride + j * W) : (max ? T(-INF) : T(0)) + V{};
        for (int k = 0; k < depth; ++k, b += stride) {
            V row[C];
            PARSETAG_UNROLL for (int j = 0; j < C; ++j) row[j] = *(const V *)(b + j * W);
            PARSETAG_UNROLL for (int i = 0; i < R; ++i) {
                const V x = a[i * a_row + k * a_column] - V{};
                PARSETAG_UNROLL for (int j = 0; j < C; ++j) {
                    const V part = max ? x + row[j] : x * row[j] + sum[i][j];
                    if (max) sum[i][j] = part > sum[i][j] ? part : sum[i][j];
                    else sum[i][j] = part;
                }
            }
        }
        PARSETAG_UNROLL for (int i = 0; i < R; ++i)
            PARSETAG_UNROLL for (int j = 0; j < C; ++j) *(V *)(out + i * stride + j * W) = sum[i][j];
    }

    template <class S, class T, int C>
    PARSETAG_TARGET static void tiles(const T *a, int rows, std::ptrdiff_t a_row, std::ptrdiff_t a_column, const T *b, int depth,
                                      T *out, int stride, bool add) {
        for (; rows >= 4; rows -= 4, a += 4 * a_row, out += 4 * (std::ptrdiff_t)stride)
            tile<S, T, 4, C>(a, a_row, a_column, b, depth, out, stride, add);
        if (rows == 3) tile<S, T, 3, C>(a, a_row, a_column, b, depth, out, stride, add);
        if (rows == 2) tile<S, T, 2, C>(a, a_row, a_column, b, depth, out, stride, add);
        if (rows == 1) tile<S, T, 1, C>(a, a_row, a_column, b, depth, out, stride, add);
    }
};

#undef PARSETAG_WIDTH
#undef PARSETAG_TARGET
