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
#include <vector>

#include "_passes.hpp"

namespace parsetag {

enum Order { IN_ORDER = 0, PRE_ORDER = 1, POST_ORDER = 2 };
enum Side { LEFT = 0, RIGHT = 1 };

// Scores of spans, as `SpanScores`; `ids` (2, n_labels) are the tags of the labels as left and as right children, or -1.
template <class T> struct Spans {
    const T *scores = nullptr;
    const int64_t *starts = nullptr;  // NULL if the batch scores tags alone
    int n_labels = 0;
    const int32_t *ids = nullptr;
};

// Which tags a span may have: `has` (n, n_tags) has a row for each set, all tags in the first. `cells` has the set of each span
// (0, 1), (0, 2) to (0, N), (1, 2) to (N - 1, N), or -1 for a span that is none; sentence s begins at starts[s], -1 for one
// whose spans may have any tag.
struct LabelSets {
    int n = 1;
    const uint8_t *has = nullptr;
    const int16_t *cells = nullptr;
    const int64_t *starts = nullptr;
};

struct ChartOptions {
    int order = IN_ORDER;
    bool levels = false;
    int bound = -1;  // the largest stack after any tag; below 0 for none
};

// Where the items of a sentence lie in memory, and their tags among the tags. A plane holds the items of a level, each in a
// triangle: the first words of plane t have t words before them, or in pre-order the last ones after them.
class Layout {
  public:
    int n = 0, planes = 1;

    void set(int n_words, const ChartOptions &options) {
        n = n_words;
        options_ = options;
        planes = 1;
        if (options.levels) {
            planes = n;
            if (options.bound >= 0) planes = std::min(n, std::max(1, options.bound + (options.order == IN_ORDER)));
        }
        base_.assign(planes + 1, 0);
        for (int t = 0; t < planes; ++t) base_[t + 1] = base_[t] + (size_t)words(t) * (words(t) + 1) / 2;
    }

    size_t size() const { return base_[planes]; }
    // Levels that an item over i to j can have: 0 to levels(i, j) - 1.
    int levels(int i, int j) const { return !options_.levels ? 1 : std::min(planes, 1 + (options_.order == PRE_ORDER ? n - j : i)); }
    // Left items over i to k are at row(t, i) + k, right items over k to j at column(t, j) + k.
    std::ptrdiff_t row(int t, int i) const {
        const std::ptrdiff_t a = i - first(t), m = words(t);
        return (std::ptrdiff_t)base_[t] + a * m - a * (a - 1) / 2 - (i + 1);
    }
    std::ptrdiff_t column(int t, int j) const {
        const std::ptrdiff_t a = j - first(t);
        return (std::ptrdiff_t)base_[t] + a * (a - 1) / 2 - first(t);
    }

    bool allows_leaf(int side, int t) const {
        if (!options_.levels || options_.bound < 0 || options_.order == PRE_ORDER) return true;
        return t < options_.bound || (options_.order == IN_ORDER && side == RIGHT);
    }
    bool allows_node(int side, int t) const { return left_plane(t) < planes && right_plane(side, t) < planes; }

    // The place of a tag, given the level.
    int leaf(int i, int t) const { return 2 * i + (options_.order == PRE_ORDER ? t : options_.order == POST_ORDER ? -t : 0); }
    int node(int i, int k, int j, int t) const {
        return options_.order == IN_ORDER ? 2 * k - 1 : options_.order == PRE_ORDER ? 2 * i + t : 2 * j - t - 2;
    }
    // The levels of the children of a node. In in-order the tag of a right child takes from the stack what its left child put
    // there.
    int left_level(int t) const { return t + (options_.order == PRE_ORDER); }
    int right_level(int side, int t) const { return t + (options_.order == POST_ORDER || (options_.order == IN_ORDER && side == LEFT)); }
    int plane(int t) const { return options_.levels ? t : 0; }
    int left_plane(int t) const { return plane(left_level(t)); }
    int right_plane(int side, int t) const { return plane(right_level(side, t)); }

  private:
    int words(int t) const { return n - (options_.levels ? t : 0); }
    int first(int t) const { return options_.levels && options_.order != PRE_ORDER ? t : 0; }

    ChartOptions options_;
    std::vector<size_t> base_;
};

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

// Viterbi: the best tree.
template <class T> class ChartViterbi : public Chart<Max, T> {
  public:
    using Chart<Max, T>::Chart;

    // Writes the best tree, which there is.
    void write(int32_t *ids) {
        struct Item { int side, i, j, t; };
        std::vector<Item> open{{LEFT, 0, this->layout_.n, 0}};
        while (!open.empty()) {
            const Item item = open.back();
            const int i = item.i, j = item.j, plane = this->layout_.plane(item.t), set = this->set_of(i, j);
            open.pop_back();
            if (j == i + 1) {
                const int p = this->layout_.leaf(i, item.t), row = this->joint_ ? 2 * i : p;
                ids[p] = first(set, row, item.side);
                continue;
            }
            const double top = this->splits(set, item.side, i, j, plane);
            int k = i + 1;
            while (this->x_[k - i - 1] != top) ++k;
            const int p = this->layout_.node(i, k, j, item.t);
            ids[p] = this->joint_ ? label(set, item.side, i, j) : first(set, p, 2 + item.side);
            open.push_back({RIGHT, k, j, this->layout_.right_level(item.side, item.t)});
            open.push_back({LEFT, i, k, this->layout_.left_level(item.t)});
        }
    }

  private:
    int first(int set, int p, int c) const {
        const T *own = this->scores_ + (size_t)p * this->b.n_tags;
        const double top = this->weight(set, p, c);
        int id = this->b.offsets[c];
        while (own[id] != top || !this->has(set, id)) ++id;
        return id;
    }
    int label(int set, int side, int i, int j) {
        const size_t span = this->span_of(i, j);
        const T *own = this->own_spans_ + span * this->spans_.n_labels, *mask = this->mask(set, side);
        int label = 0;
        while (T(own[label] + mask[label]) != this->label_[side][span]) ++label;
        return this->spans_.ids[side * this->spans_.n_labels + label];
    }
};

// Log-sum-exp: the log-partition, the marginal of each tag and of each label of a span.
template <class T> class ChartSums : public Chart<LogSum, T> {
  public:
    ChartSums(const Batch<T> &batch, const Spans<T> &spans, const LabelSets &sets, const ChartOptions &options, const int32_t *label_of)
        : Chart<LogSum, T>(batch, spans, sets, options), label_of_(label_of), of_span_(batch.n_tags) {}

    // marginals (length, tags). spans (spans, labels): NULL if the caller does not ask for it; for joint scores it holds what
    // `read` left in it.
    // leaves (words, tags): probability of the tags of each word, or NULL.
    void outside(T *marginals, T *spans, int n_labels, T *leaves) {
        const Layout &layout = this->layout_;
        const int n = layout.n, length = 2 * n - 1;
        mass_[LEFT].assign(layout.size(), 0);
        mass_[RIGHT].assign(layout.size(), 0);
        classes_.assign((size_t)this->n_sets_ * length * 4, 0);
        gaps_.assign((size_t)this->n_sets_ * 2 * (n + 1), 0);
        for (int side = 0; side < 2 && this->joint_; ++side) label_mass_[side].assign((size_t)n * (n - 1) / 2, 0);
        mass_[LEFT][layout.row(0, 0) + n] = 1;
        for (int j = n; j > 0; --j)
            for (int i = 0; i < j; ++i) {
                const int set = this->set_of(i, j);
                if (set < 0) continue;
                T *out = spans && j > i + 1 && !this->joint_ ? spans + this->span_of(i, j) * n_labels : nullptr;
                bool seen = false;
                for (int t = 0; t < layout.levels(i, j); ++t) {
                    const double left = mass_[LEFT][layout.row(t, i) + j], right = mass_[RIGHT][layout.column(t, j) + i];
                    if (!(left > LEAST || right > LEAST)) continue;
                    if (j == i + 1) {
                        double *own = of_class(set, this->joint_ ? 2 * i : layout.leaf(i, t));
                        own[0] += left;
                        own[1] += right;
                        if (leaves) add_leaf(set, this->joint_ ? 2 * i : layout.leaf(i, t), left, right, leaves + (size_t)i * this->b.n_tags);
                        continue;
                    }
                    if (out && !seen) std::fill(of_span_.begin(), of_span_.end(), 0);
                    seen = true;
                    if (this->gap(set, LEFT)) {
                        if (left > LEAST) share(set, LEFT, i, j, t, left, out);
                        if (right > LEAST) share(set, RIGHT, i, j, t, right, out);
                        continue;
                    }
                    // In pre- and post-order the split does not depend on the side.
                    const int p = layout.node(i, 0, j, t), side = left > right ? LEFT : RIGHT;
                    of_class(set, p)[2] += left;
                    of_class(set, p)[3] += right;
                    if (out) add_labels(set, p, LEFT, left), add_labels(set, p, RIGHT, right);
                    share(set, side, i, j, t, left + right, nullptr);
                }
                if (out && seen)
                    for (int tag = this->b.offsets[2]; tag < this->b.n_tags; ++tag) out[label_of_[tag]] += T(of_span_[tag]);
            }
        write(marginals);
        if (spans && this->joint_) write_labels(spans);
    }

  private:
    static constexpr double LEAST = 1e-20;  // items of less probability hand nothing on

    double *of_class(int set, int p) { return classes_.data() + ((size_t)set * (2 * this->layout_.n - 1) + p) * 4; }
    void add_labels(int set, int p, int side, double mass) {
        const T *soft = this->soft(set, p);
        for (int tag = this->b.offsets[2 + side]; tag < this->b.offsets[3 + side]; ++tag) of_span_[tag] += mass * double(soft[tag]);
    }

    void add_leaf(int set, int p, double left, double right, T *out) const {
        const T *soft = this->soft(set, p);
        const int32_t *offsets = this->b.offsets;
        for (int tag = offsets[0]; tag < offsets[1]; ++tag) out[tag] += T(left * soft[tag]);
        for (int tag = offsets[1]; tag < offsets[2]; ++tag) out[tag] += T(right * soft[tag]);
    }

    // Hands the probability of an item on to its children.
    void share(int set, int side, int i, int j, int t, double mass, const T *out) {
        const Layout &layout = this->layout_;
        const double sum = this->inside(side, i, j, t) - this->node(set, side, i, j, t);
        double *gaps = this->gap(set, side) ? gaps_.data() + (size_t)(2 * (this->joint_ ? 0 : set) + side) * (layout.n + 1) : nullptr;
        this->splits(set, side, i, j, t);
        exp_splits(this->x_.data(), j - i - 1, sum);
        share_splits(this->x_.data(), j - i - 1, mass, mass_[LEFT].data() + layout.row(layout.left_plane(t), i) + i + 1,
                     mass_[RIGHT].data() + layout.column(layout.right_plane(side, t), j) + i + 1, gaps ? gaps + i + 1 : nullptr);
        if (this->joint_) label_mass_[side][this->span_of(i, j)] += mass;
        for (int k = i + 1; k < j && out; ++k)
            if (mass * this->x_[k - i - 1] > LEAST) add_labels(set, 2 * k - 1, side, mass * this->x_[k - i - 1]);
    }

    void write(T *marginals) {
        const int n = this->layout_.n, n_tags = this->b.n_tags, length = 2 * n - 1;
        const int32_t *offsets = this->b.offsets;
        std::fill_n(marginals, (size_t)length * n_tags, T(0));
        for (int k = 1; k < n; ++k)
            for (int set = 0; set < this->n_sets_ && this->gap(0, LEFT); ++set)
                for (int side = 0; side < 2; ++side) {
                    const double mass = gaps_[(size_t)(2 * set + side) * (n + 1) + k];
                    if (this->joint_) marginals[(size_t)(2 * k - 1) * n_tags + this->bare_[side]] += T(mass);
                    else of_class(set, 2 * k - 1)[2 + side] += mass;
                }
        for (int set = 0; set < this->n_sets_; ++set)
            for (int p = 0; p < length; ++p)
                for (int c = 0; c < 4; ++c) {
                    const double mass = of_class(set, p)[c];
                    if (!(mass > 0)) continue;
                    const T *soft = this->soft(set, p);
                    T *own = marginals + (size_t)p * n_tags;
                    for (int i = offsets[c]; i < offsets[c + 1]; ++i) own[i] += T(mass * soft[i]);
                }
    }

    void write_labels(T *spans) {
        const int n = this->layout_.n, n_labels = this->spans_.n_labels;
        for (int i = 0; i < n; ++i)
            for (int j = i + 2; j <= n; ++j) {
                const size_t span = this->span_of(i, j);
                const int set = this->set_of(i, j);
                T *own = spans + span * n_labels;
                const double masses[2] = {label_mass_[LEFT][span], label_mass_[RIGHT][span]};
                if (set < 0 || !(masses[LEFT] > LEAST || masses[RIGHT] > LEAST)) {
                    std::fill_n(own, n_labels, T(0));
                    continue;
                }
                T share[2];
                for (int side = 0; side < 2; ++side) share[side] = T(this->sums_[side][span] > 0 ? masses[side] / this->sums_[side][span] : 0);
                const T *left = this->mask(set, LEFT), *right = this->mask(set, RIGHT);
                for (int l = 0; l < n_labels; ++l) own[l] *= share[LEFT] * left[l] + share[RIGHT] * right[l];
                for (int side = 0; side < 2; ++side)
                    if (masses[side] > LEAST && !(this->sums_[side][span] > 0)) {
                        const T *scores = this->own_spans_ + span * n_labels;
                        for (int l = 0; l < n_labels; ++l)
                            if (this->mask(set, side)[l] > 0) own[l] += T(masses[side] * std::exp(scores[l] - this->label_[side][span]));
                    }
            }
    }

    const int32_t *label_of_;  // (tags) the label of each tag of a node
    std::vector<double> mass_[2], classes_, gaps_, label_mass_[2], of_span_;
};

// The best tree of each sentence, as `viterbi`.
template <class T>
void chart_viterbi(const Batch<T> &b, const Spans<T> &spans, const LabelSets &sets, const ChartOptions &options, int32_t *ids,
                   double *totals, uint8_t *status) {
    ChartViterbi<T> chart(b, spans, sets, options);
    for (int s = 0; s < b.n_sentences; ++s) {
        if (b.n_words[s] < 1) continue;
        status[s] = NOT_FINITE;
        if (!chart.read(s)) continue;
        totals[s] = chart.total();
        status[s] = totals[s] > -INF ? FOUND : NO_TREE;
        if (status[s] == FOUND) chart.write(ids + b.starts[s]);
    }
}

// Log-partition (sentences) and marginals (rows, tags) of each sentence, as `log_sums`; and, unless `labels` is NULL, the
// probability (spans, labels) of each label of each span, sentence s from row label_starts[s] on, which joint scores need; and,
// unless `leaves` is NULL, that (words, tags) of each leaf tag of each word, from row leaf_starts[s] on.
template <class T>
void chart_sums(const Batch<T> &b, const Spans<T> &spans, const LabelSets &sets, const ChartOptions &options, const int32_t *label_of,
                int n_labels, const int64_t *label_starts, const int64_t *leaf_starts, double *totals, T *marginals, T *labels,
                T *leaves, uint8_t *status) {
    ChartSums<T> chart(b, spans, sets, options, label_of);
    for (int s = 0; s < b.n_sentences; ++s) {
        if (b.n_words[s] < 1) continue;
        T *own = labels && label_starts[s] >= 0 ? labels + label_starts[s] * n_labels : nullptr;
        status[s] = NOT_FINITE;
        if (!chart.read(s, own)) continue;
        totals[s] = chart.total();
        status[s] = totals[s] > -INF ? FOUND : NO_TREE;
        if (status[s] == FOUND) chart.outside(marginals + b.starts[s] * b.n_tags, own, n_labels, leaves ? leaves + leaf_starts[s] * b.n_tags : nullptr);
    }
}

}  // namespace parsetag
