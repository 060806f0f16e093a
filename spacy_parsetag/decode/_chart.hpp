// Inside-outside (Baker 1979) and its Viterbi (CKY) over the spans of a sentence: what a stack cannot see. Scores of tags alone
// in the three orders, or of tags and spans together; with a bound on the stack, with sets of labels that a span may have.
//
// An item is a span, its side (left or right child) and, where it counts, a level: how many partial trees lie before it on the
// stack. Where a tag stands depends on it in pre- and post-order, and a bound on the stack is a bound on levels. A node over
// words i to j with the level t splits at k, so that
//
//     inside[side][t][i][j] = node(side, t, i, j) * sum over k of gap(side, k) * inside[left][t + a][i][k] * inside[right][t + b][k][j]
//
// in the semiring: O(N^3) for N words without levels, O(dN^3) with d of them. Labels come first: they are reduced by side in one
// read of the scores, then the chart runs over numbers. The inside of left children is kept by rows and that of right ones by
// columns, so that the loop over k reads memory in its order. Going back, nothing but the inside is needed: Viterbi finds the
// winner again along the best tree, the sums hand probability back in the parts in which it came.
#pragma once
#include <cmath>
#include <type_traits>
#include <vector>

#include "_lattice.hpp"
#include "_layout.hpp"
#include "_semirings.hpp"
#include "_simd.hpp"

namespace parsetag {

// The weights of a sentence and the inside of its items, in the semiring: Max or LogSum.
template <class Semiring, class T> class Chart {
  public:
    Chart(const Batch<T> &batch, const Spans<T> &spans, const LabelSets &sets, const ChartOptions &options)
        : b(batch), spans_(spans), sets_(sets), options_(options), bare_{-1, -1} {
        if (!spans.starts) return;
        masks_.resize((size_t)sets.n * 2 * spans.n_labels);
        for (int set = 0; set < sets.n; ++set)
            for (int side = 0; side < 2; ++side)
                for (int label = 0; label < spans.n_labels; ++label) {
                    const int id = spans.ids[side * spans.n_labels + label];
                    const bool has = id >= 0 && (!sets.has || sets.has[(size_t)set * b.n_tags + id]);
                    masks_[(size_t)(2 * set + side) * spans.n_labels + label] = is_max() ? T(has ? 0 : -INF) : T(has);
                }
        for (int side = 0; side < 2; ++side) bare_[side] = b.offsets[2 + side];  // "L" and "R" sort first
    }

    // Reads the scores of sentence s, whose exponentials over the sums of their classes go to `soft`, and those of the labels
    // of its spans to `parts`, unless they are NULL. Returns whether all are finite.
    bool read(int s, T *parts = nullptr) {
        const int n = b.n_words[s], length = 2 * n - 1;
        layout_.set(n, options_);
        scores_ = b.scores + b.starts[s] * b.n_tags;
        read_sets(s);
        own_spans_ = spans_.starts && spans_.starts[s] >= 0 ? spans_.scores + spans_.starts[s] * spans_.n_labels : nullptr;
        joint_ = spans_.starts && spans_.starts[s] >= 0;
        weights_.assign((size_t)n_sets_ * length * 4, -INF);
        gap_.assign((size_t)n_sets_ * 2 * (n + 1), -INF);
        if (!is_max()) soft_.resize((size_t)n_sets_ * length * b.n_tags);
        x_.resize(n + 1);
        if (!read_tags(length) || (joint_ && !read_labels(n, parts))) return false;
        left_.resize(layout_.size());
        right_.resize(layout_.size());
        inside();
        return true;
    }

    double total() const { return left_[layout_.row(0, 0) + layout_.n]; }

  protected:
    static constexpr bool is_max() { return std::is_same<Semiring, Max>::value; }
    // Sets are numbered by sentence, those that it uses; `used_` has their numbers in the batch.
    T *mask(int set, int side) { return masks_.data() + (size_t)(2 * used_[set] + side) * spans_.n_labels; }
    bool has(int set, int tag) const { return !set || sets_.has[(size_t)used_[set] * b.n_tags + tag]; }
    int set_of(int i, int j) const {
        return cells_.empty() ? 0 : cells_[(size_t)i * layout_.n - (size_t)i * (i - 1) / 2 + (j - i - 1)];
    }
    size_t span_of(int i, int j) const { return (size_t)i * (layout_.n - 1) - (size_t)i * (i - 1) / 2 + (j - i - 2); }
    double weight(int set, int p, int c) const { return weights_[((size_t)set * (2 * layout_.n - 1) + p) * 4 + c]; }
    const T *soft(int set, int p) const { return soft_.data() + ((size_t)set * (2 * layout_.n - 1) + p) * b.n_tags; }
    // The score of gap k as the split of a node: gap(set, side)[k]; NULL where tags of nodes do not stand at gaps.
    const double *gap(int set, int side) const {
        return joint_ || options_.order == IN_ORDER ? gap_.data() + (size_t)(2 * (joint_ ? 0 : set) + side) * (layout_.n + 1) : nullptr;
    }
    // What a node over i to j weighs wherever it splits. The set is one that the span may have.
    double node(int set, int side, int i, int j, int t) const {
        if (joint_) return label_[side][span_of(i, j)];
        return options_.order == IN_ORDER ? 0 : weight(set, layout_.node(i, 0, j, t), 2 + side);
    }
    double leaf(int set, int side, int i, int t) const { return weight(set, joint_ ? 2 * i : layout_.leaf(i, t), side); }

    // x_[k - i - 1] for split points k of an item, without the weight of the node; returns the greatest.
    double splits(int set, int side, int i, int j, int t) {
        const double *g = gap(set, side);
        return add_splits(left_.data() + layout_.row(layout_.left_plane(t), i) + i + 1,
                          right_.data() + layout_.column(layout_.right_plane(side, t), j) + i + 1, g ? g + i + 1 : nullptr, j - i - 1, x_.data());
    }
    double inside(int side, int i, int j, int t) const {
        return side == LEFT ? left_[layout_.row(t, i) + j] : right_[layout_.column(t, j) + i];
    }

    const Batch<T> &b;
    Spans<T> spans_;
    LabelSets sets_;
    ChartOptions options_;
    int32_t bare_[2];
    Layout layout_;
    bool joint_ = false;
    int n_sets_ = 1;
    const T *scores_ = nullptr, *own_spans_ = nullptr;
    std::vector<int16_t> cells_;  // set of each span, empty if all may have any tag
    std::vector<int> used_, local_;
    std::vector<double> weights_, gap_;      // (sets, length, 4) and (sets, 2, n + 1)
    std::vector<double> label_[2], sums_[2];  // (spans) weight of the labels of a side; sum of their exponentials
    std::vector<T> soft_, masks_;            // (sets, length, tags) and (sets, 2, labels)
    std::vector<double> left_, right_, x_;

  private:
    void read_sets(int s) {
        used_.assign(1, 0);
        cells_.clear();
        if (sets_.starts && sets_.starts[s] >= 0) {
            local_.assign(sets_.n, -1);
            local_[0] = 0;
            const int16_t *given = sets_.cells + sets_.starts[s];
            cells_.assign(given, given + (size_t)layout_.n * (layout_.n + 1) / 2);
            for (int16_t &set : cells_) {
                if (set < 0) continue;
                if (local_[set] < 0) {
                    local_[set] = (int)used_.size();
                    used_.push_back(set);
                }
                set = (int16_t)local_[set];
            }
        }
        n_sets_ = (int)used_.size();
    }

    bool read_tags(int length) {
        double tops[4], sums[4];
        T check = 0;
        for (int p = 0; p < length; ++p) {
            const T *own = scores_ + (size_t)p * b.n_tags;
            if (joint_ && p % 2) {
                for (int side = 0; side < 2; ++side) {
                    double *out = gap_.data() + side * (layout_.n + 1);
                    out[(p + 1) / 2] = greatest(own + bare_[side], 1, check);
                }
                continue;
            }
            // Joint scores have no labels of nodes at tags.
            int32_t columns[5];
            for (int c = 0; c < 5; ++c) columns[c] = b.offsets[joint_ ? std::min(c, 2) : c];
            check += class_max(own, 1, b.n_tags, columns, tops);
            if (!is_max()) {
                T *e = soft_.data() + (size_t)p * b.n_tags;
                class_sums(own, 1, b.n_tags, columns, tops, e, sums, weights_.data() + 4 * (size_t)p);
                for (int c = 0; c < 4; ++c)
                    for (int i = columns[c]; i < columns[c + 1]; ++i) e[i] = T(e[i] / sums[c]);
            } else std::copy_n(tops, 4, weights_.data() + 4 * (size_t)p);
            for (int set = 1; set < n_sets_; ++set) read_set(set, p, length, columns);
        }
        if (std::isnan(check)) return false;
        if (!joint_ && options_.order == IN_ORDER)
            for (int set = 0; set < n_sets_; ++set)
                for (int side = 0; side < 2; ++side)
                    for (int k = 1; k < layout_.n; ++k)
                        gap_[(size_t)(2 * set + side) * (layout_.n + 1) + k] = weight(set, 2 * k - 1, 2 + side);
        return true;
    }

    // The weights of the classes at one position where a set leaves some of their tags.
    void read_set(int set, int p, int length, const int32_t *columns) {
        const T *own = scores_ + (size_t)p * b.n_tags;
        const uint8_t *has = sets_.has + (size_t)used_[set] * b.n_tags;
        double *out = weights_.data() + ((size_t)set * length + p) * 4;
        for (int c = 0; c < 4; ++c) {
            double top = -INF, sum = 0;
            for (int i = columns[c]; i < columns[c + 1]; ++i)
                if (has[i]) top = greater(double(own[i]), top);
            out[c] = top;
            if (is_max()) continue;
            T *e = soft_.data() + ((size_t)set * length + p) * b.n_tags;
            for (int i = columns[c]; i < columns[c + 1]; ++i) sum += has[i] ? std::exp(own[i] - top) : 0;
            for (int i = columns[c]; i < columns[c + 1]; ++i) e[i] = T(has[i] ? std::exp(own[i] - top) / sum : 0);
            out[c] = top > -INF ? top + std::log(sum) : -INF;
        }
    }

    bool read_labels(int n, T *parts) {
        const int n_labels = spans_.n_labels;
        const size_t n_spans = (size_t)n * (n - 1) / 2;
        const T *own = own_spans_;
        T check = 0;
        for (int side = 0; side < 2; ++side) {
            label_[side].assign(n_spans, -INF);
            if (!is_max()) sums_[side].assign(n_spans, 0);
        }
        std::vector<T> scratch(parts ? 0 : n_labels);
        for (int i = 0; i < n; ++i)
            for (int j = i + 2; j <= n; ++j, own += n_labels) {
                const size_t span = span_of(i, j);
                const int set = set_of(i, j);
                double two[2];
                const T top = greatest(own, n_labels, check);
                if (set < 0) continue;
                if (is_max()) {
                    label_tops(own, n_labels, mask(set, LEFT), mask(set, RIGHT), two);
                    for (int side = 0; side < 2; ++side) label_[side][span] = two[side];
                    continue;
                }
                label_sums(own, n_labels, top, mask(set, LEFT), mask(set, RIGHT), parts ? parts + span * n_labels : scratch.data(), two);
                for (int side = 0; side < 2; ++side) {
                    label_[side][span] = two[side] > 0 ? top + std::log(two[side]) : -INF;
                    sums_[side][span] = two[side];
                    if (!(two[side] > T(1e-20))) far_labels(own, set, side, span);
                }
            }
        return !std::isnan(check);
    }

    // The labels of one side are all far below the greatest of both: their own sum, in logarithms.
    void far_labels(const T *own, int set, int side, size_t span) {
        double top = -INF, sum = 0;
        const T *has = mask(set, side);
        for (int i = 0; i < spans_.n_labels; ++i)
            if (has[i] > 0) top = greater(double(own[i]), top);
        if (!(top > -INF)) return;
        for (int i = 0; i < spans_.n_labels; ++i)
            if (has[i] > 0) sum += std::exp(own[i] - top);
        label_[side][span] = top + std::log(sum);
        sums_[side][span] = 0;  // says that the exponentials are of no use
    }

    void inside() {
        const int n = layout_.n;
        for (int j = 1; j <= n; ++j)
            for (int i = j - 1; i >= 0; --i)
                for (int t = 0; t < layout_.levels(i, j); ++t) {
                    double &left = left_[layout_.row(t, i) + j], &right = right_[layout_.column(t, j) + i];
                    const int set = set_of(i, j);
                    left = right = -INF;
                    if (set < 0) continue;
                    if (j == i + 1) {
                        if (layout_.allows_leaf(LEFT, t)) left = leaf(set, LEFT, i, t);
                        if (layout_.allows_leaf(RIGHT, t)) right = leaf(set, RIGHT, i, t);
                    } else {
                        const double sum = layout_.allows_node(LEFT, t) ? reduce(set, LEFT, i, j, t) : -INF;
                        left = sum + node(set, LEFT, i, j, t);
                        if (gap(set, RIGHT)) right = layout_.allows_node(RIGHT, t) ? reduce(set, RIGHT, i, j, t) : -INF;
                        else right = sum;  // without gaps a split is worth the same on both sides
                        right += node(set, RIGHT, i, j, t);
                    }
                }
    }

    double reduce(int set, int side, int i, int j, int t) {
        const double top = splits(set, side, i, j, t);
        if (is_max() || !(top > -INF)) return top;
        return top + std::log(exp_splits(x_.data(), j - i - 1, top));
    }
};

}  // namespace parsetag
