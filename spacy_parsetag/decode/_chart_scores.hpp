// The scores of a sentence as the weights of a chart: of tags alone in the three orders, or of tags and spans together; with sets
// of labels that a span may have. Labels come first: they are reduced by side in one read of the scores.
#pragma once
#include <cmath>
#include <utility>

#include "_chart.hpp"

namespace parsetag {

template <class Semiring, class T> class ChartScores {
  public:
    Chart<Semiring> chart;

    ChartScores(const Batch<T> &batch) : b(batch), reach_(batch.lattice, batch.longest(), batch.bound) {
        if (!b.span_starts) return;
        for (int set = 0; set < b.n_sets; ++set)
            for (int side = 0; side < 2; ++side)
                for (int label = 0; label < b.n_labels; ++label) {
                    const int id = b.span_ids[side * b.n_labels + label];
                    const bool has = id >= 0 && (!b.sets || b.sets[(size_t)set * b.n_tags + id]);
                    masks_.push_back(is_max() ? T(has ? 0 : -INF) : T(has));
                }
    }

    // Fills the chart of sentence s. Exponentials of the labels of its spans go to `parts`, unless it is NULL. Returns whether all
    // scores are finite.
    bool read(int s, T *parts = nullptr) {
        n = b.n_words[s];
        length = 2 * n - 1;
        joint = b.span_starts && b.span_starts[s] >= 0;
        rows_ = b.scores + b.starts[s] * b.n_tags;
        shift_ = Shift();
        label_shift_ = 0;
        chart.set(n, b.order, b.levels, b.bound);
        read_sets(s);
        if (joint) {
            shared_ = b.shared ? b.shared + b.span_starts[s] : nullptr;
            own_spans_ = b.span_scores + (shared_ ? 0 : b.span_starts[s] * b.n_labels);
        }
        if (!read_tags() || (joint && !read_labels(parts))) return false;
        weigh();
        chart.inside();
        return true;
    }

    double total() const { return shift_.plus(chart.total()); }
    Status status() {
        const Status status = status_of(chart.total(), shift_, length);
        return status != FOUND || is_max() || decided() ? status : TOO_GREAT;
    }

    // The tags that an item may have, a node that splits at k.
    struct Choice {
        const T *scores;
        int n, first;
        const int32_t *ids;  // NULL: from `first` on
        const uint8_t *set;  // the tags that the span may have; NULL for all
        int id(int label) const { return ids ? ids[label] : first + label; }
        bool has(int label) const { return id(label) >= 0 && (!set || set[id(label)]); }
    };
    Choice choice(const Item &item, int k) const {
        const bool leaf = item.j == item.i + 1;
        const int set = set_of(item.i, item.j), c = item.side + (leaf ? 0 : 2);
        const uint8_t *has = set ? b.sets + (size_t)used_[set] * b.n_tags : nullptr;
        if (joint && !leaf)
            return {label_scores(span_of(item.i, item.j)), b.n_labels, 0, b.span_ids + item.side * b.n_labels, has};
        const int p = leaf ? leaf_row(item.i, item.t) : chart.layout.node(item.i, k, item.j, item.t);
        return {rows_ + (size_t)p * b.n_tags + b.offsets[c], b.count(c), b.offsets[c], nullptr, has};
    }
    // Where the tag of an item stands.
    int place(const Item &item, int k) const {
        return item.j == item.i + 1 ? chart.layout.leaf(item.i, item.t) : chart.layout.node(item.i, k, item.j, item.t);
    }

  protected:
    static constexpr bool is_max() { return std::is_same<Semiring, MaxPlus>::value; }
    // A sentence numbers the sets that it uses; `used_` has their numbers in the batch.
    T *mask(int set, int side) { return masks_.data() + (size_t)(2 * used_[set] + side) * b.n_labels; }
    int set_of(int i, int j) const { return cells_.empty() ? 0 : cells_[chart.cell(i, j)]; }
    size_t span_of(int i, int j) const { return triangle(n - 1, i, j - 1); }
    const T *label_scores(size_t span) const { return own_spans_ + (shared_ ? shared_[span] : span) * b.n_labels; }
    size_t row(int set, int p) const { return (size_t)set * length + p; }
    int leaf_row(int i, int t) const { return joint ? 2 * i : chart.layout.leaf(i, t); }
    // What items over i to j weigh as left and as right children, whatever their split.
    const double *weights(int set, int i, int j, int t) const {
        static const double none[2] = {-INF, -INF}, one[2] = {0, 0};
        if (set < 0) return none;
        if (j == i + 1) return weights_.data() + row(set, leaf_row(i, t)) * 4;
        if (joint) return labels_.data() + 2 * span_of(i, j);
        return b.order == IN_ORDER ? one : weights_.data() + row(set, chart.layout.node(i, 0, j, t)) * 4 + 2;
    }
    // For a side whose labels all score far below the greatest of both sides: the greatest score of its labels, and the
    // sum of their exponentials relative to that score.
    struct Far { double top, sum; };
    Far far_labels(const T *own, const T *has) const {
        Far far{-INF, 0};
        for (int i = 0; i < b.n_labels; ++i)
            if (has[i] > 0) far.top = std::max<double>(far.top, own[i]);
        for (int i = 0; i < b.n_labels; ++i)
            if (has[i] > 0) far.sum += std::exp(own[i] - far.top);
        return far;
    }
    const T *soft(int set, int p) const { return soft_.data() + row(set, p) * b.n_tags; }

    const Batch<T> b;
    int n = 0, length = 0, n_sets_ = 1;
    bool joint = false;  // spans are scored
    // What all trees share. Sums subtract it from the weights, so that great scores leave precision for the
    // differences. shift_: in all (a tree has a tag in each row, and n - 1 labels of spans); label_shift_: for each
    // label of a span.
    Shift shift_;
    double label_shift_ = 0;
    const T *rows_ = nullptr, *own_spans_ = nullptr;
    const int32_t *shared_ = nullptr;
    std::vector<int32_t> cells_;  // set of each span, empty if all may have any tag
    std::vector<int> used_, local_;
    std::vector<double> weights_;             // (sets, length, 4) of the classes; of joint scores, the last two belong to gaps
    std::vector<double> labels_, sums_;       // (spans, 2) weight of the labels of a side; sum of their exponentials
    std::vector<T> soft_, masks_;             // (sets, length, tags) and (sets, 2, labels)

  private:
    Reach reach_;

    void read_sets(int s) {
        used_.assign(1, 0);
        cells_.clear();
        if (b.cell_starts && b.cell_starts[s] >= 0) {
            local_.assign(b.n_sets, -1);
            local_[0] = 0;
            const int32_t *given = b.cells + b.cell_starts[s];
            cells_.assign(given, given + (size_t)n * (n + 1) / 2);
            for (int32_t &set : cells_) {
                if (set < 0) continue;
                if (local_[set] < 0) {
                    local_[set] = (int)used_.size();
                    used_.push_back(set);
                }
                set = local_[set];
            }
        }
        n_sets_ = (int)used_.size();
    }

    bool read_tags() {
        const double *mask = reach_.masks(length);
        double tops[4], sums[4];
        T check = 0;
        weights_.assign((size_t)n_sets_ * length * 4, -INF);
        if (!is_max()) soft_.resize((size_t)n_sets_ * length * b.n_tags);
        // With joint scores, tags do not score labels of nodes: the bare tag of a class, which sorts first, scores
        // splits.
        int32_t columns[5];
        for (int c = 0; c < 5; ++c) columns[c] = b.offsets[joint ? std::min(c, 2) : c];
        for (int p = 0; p < length; ++p, mask += 4) {
            const T *own = rows_ + (size_t)p * b.n_tags;
            double *out = weights_.data() + row(0, p) * 4;
            if (joint && p % 2) {
                for (int c = 2; c < 4; ++c) out[c] = greatest(own + b.offsets[c], 1, check);
                const double most = greater(out[2] + mask[2], out[3] + mask[3]), top = !is_max() && most > -INF ? most : 0;
                for (int c = 2; c < 4; ++c) out[c] -= top;
                shift_.add(top);
                continue;
            }
            check += class_max(own, 1, b.n_tags, columns, is_max() ? out : tops);
            Shift shift;
            if (!is_max()) {
                T *e = soft_.data() + row(0, p) * b.n_tags;
                class_sums(own, 1, b.n_tags, columns, tops, mask, e, sums, out, &shift);
                shift_.add(shift.high);
                for (int c = 0; c < 4; ++c)
                    for (int i = columns[c]; i < columns[c + 1]; ++i) e[i] = T(e[i] / sums[c]);
            }
            for (int set = 1; set < n_sets_; ++set) read_set(set, p, columns, shift.high);
        }
        return !std::isnan(check);
    }

    // The weights of the classes at one position where a set leaves some of their tags.
    void read_set(int set, int p, const int32_t *columns, double shift) {
        const T *own = rows_ + (size_t)p * b.n_tags;
        const uint8_t *has = b.sets + (size_t)used_[set] * b.n_tags;
        for (int c = 0; c < 4; ++c) {
            double &out = weights_[row(set, p) * 4 + c], sum = 0;
            for (int i = columns[c]; i < columns[c + 1]; ++i)
                if (has[i]) out = greater(double(own[i]), out);
            if (is_max()) continue;
            T *e = soft_.data() + row(set, p) * b.n_tags;
            for (int i = columns[c]; i < columns[c + 1]; ++i) sum += has[i] ? std::exp(own[i] - out) : 0;
            for (int i = columns[c]; i < columns[c + 1]; ++i) e[i] = T(has[i] ? std::exp(own[i] - out) / sum : 0);
            if (out > -INF) out = out - shift + std::log(sum);
        }
    }

    bool read_labels(T *parts) {
        const int n_labels = b.n_labels;
        T check = 0;
        labels_.assign((size_t)n * (n - 1), -INF);
        sums_.assign(labels_.size(), 0);
        std::vector<T> scratch(parts ? 0 : n_labels), tops(labels_.size() / 2);
        // Most spans that share a row come one after another.
        const auto as_before = [this](size_t span) { return shared_ && span > 0 && shared_[span] == shared_[span - 1]; };
        for (size_t span = 0; span < tops.size(); ++span) tops[span] = as_before(span) ? tops[span - 1] : greatest(label_scores(span), n_labels, check);
        if (!is_max() && n > 1) label_shift_ = *std::max_element(tops.begin(), tops.end());
        if (!std::isfinite(label_shift_)) label_shift_ = 0;
        for (int k = 1; k < n; ++k) shift_.add(label_shift_);
        for (int i = 0, set = -1; i < n; ++i)
            for (int j = i + 2; j <= n; ++j) {
                const size_t span = span_of(i, j);
                const T *own = label_scores(span);
                const int set_before = std::exchange(set, set_of(i, j));
                double *two = sums_.data() + 2 * span, *out = labels_.data() + 2 * span;
                const T top = tops[span];
                if (set < 0) continue;
                if (!parts && set == set_before && as_before(span)) {
                    std::copy_n(two - 2, 2, two);
                    std::copy_n(out - 2, 2, out);
                    continue;
                }
                if (is_max()) label_tops(own, n_labels, mask(set, LEFT), mask(set, RIGHT), two);
                else label_sums(own, n_labels, top, mask(set, LEFT), mask(set, RIGHT), parts ? parts + span * n_labels : scratch.data(), two);
                for (int side = 0; side < 2; ++side) {
                    out[side] = is_max() ? two[side] : two[side] > 0 ? top - label_shift_ + std::log(two[side]) : -INF;
                    if (is_max() || two[side] > T(1e-20)) continue;
                    const Far far = far_labels(own, mask(set, side));
                    if (!(far.top > -INF)) continue;
                    out[side] = far.top - label_shift_ + std::log(far.sum);
                    two[side] = 0;  // says that the exponentials are of no use
                }
            }
        return !std::isnan(check);
    }

    // Tells if probabilities are right though their sum is great: one tree has nearly all, and rounding has not chosen it.
    bool decided() {
        const double total = chart.total();
        if (!(error_of(total, length) > LARGEST_ERROR)) return true;
        const std::vector<double> weights = weights_, labels = labels_;
        for (std::vector<double> *own : {&weights_, &labels_})
            for (double &weight : *own) weight *= temper(total, length);
        bool decided = true;
        weigh();
        chart.inside();
        chart.outside([&](int, int, double left, double right) { decided &= !in_doubt(left) && !in_doubt(right); },
                      [&](const Item &, double mass, double) { decided &= !in_doubt(mass); });
        weights_ = weights;
        labels_ = labels;
        weigh();
        chart.inside();
        return decided;
    }

    void weigh() {
        const int kinds = joint ? 1 : b.order == IN_ORDER ? n_sets_ : 0;
        chart.gaps.resize((size_t)kinds * 2 * (n + 1));
        for (int kind = 0; kind < kinds; ++kind)
            for (int side = 0; side < 2; ++side)
                for (int k = 1; k < n; ++k) chart.gaps[(size_t)(2 * kind + side) * (n + 1) + k] = weights_[row(kind, 2 * k - 1) * 4 + 2 + side];
        if (joint) chart.kinds.clear();
        else chart.kinds = cells_;
        for (int j = 1; j <= n; ++j)
            for (int i = 0; i < j; ++i) {
                const int set = set_of(i, j), levels = chart.layout.levels(i, j);
                for (int t = 0; t < levels; ++t) {
                    const double *own = weights(set, i, j, t);
                    chart.left[chart.layout.row(t, i) + j] = own[LEFT];
                    chart.right[chart.layout.column(t, j) + i] = own[RIGHT];
                }
            }
    }
};

// Reads each sentence of a batch that waits for the chart, and writes the ones that have a tree. The reader gets parts(s) too, if
// there are any.
template <class T, class Reader, class Write, class... Parts>
void each_sentence(const Batch<T> &b, Reader &reader, uint8_t *status, Write write, Parts... parts) {
    for (int s = 0; s < b.n_sentences; ++s) {
        if (status[s] != CHART) continue;
        status[s] = NOT_FINITE;
        if (!reader.read(s, parts(s)...)) continue;
        status[s] = reader.status();
        if (status[s] == FOUND) write(s);
    }
}

}  // namespace parsetag
