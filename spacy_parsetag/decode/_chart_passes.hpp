// What the chart is read for, for a batch: the best tree of each sentence (CKY), and log-partition and marginals (outside).
#pragma once

#include <vector>

#include "_chart.hpp"

namespace parsetag {

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
