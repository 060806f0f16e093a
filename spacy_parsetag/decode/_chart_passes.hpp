// Runs the chart for a batch: the best tree of each sentence (CKY), log-partition and marginals (inside-outside), and samples.
#pragma once

#include <random>
#include <vector>

#include "_chart_scores.hpp"

namespace parsetag {

// Writes a tree: its splits and labels by pick(x, n, greatest), which chooses one of n by their scores.
template <class Reader, class Pick> void write_tree(Reader &reader, Pick pick, int32_t *ids) {
    std::vector<double> x;
    reader.chart.descend(pick, [&](const Item &item, int k) {
        const auto labels = reader.choice(item, k);
        x.assign(labels.n, -INF);
        for (int l = 0; l < labels.n; ++l)
            if (labels.has(l)) x[l] = labels.scores[l];
        ids[reader.place(item, k)] = labels.id(pick(x.data(), labels.n, *std::max_element(x.begin(), x.end())));
    });
}

// Log-sum-exp: the log-partition, the marginal of each tag and of each label of a span.
template <class T> class ChartSums : public ChartScores<LogSum, T> {
  public:
    ChartSums(const Batch<T> &batch, const int32_t *label_of)
        : ChartScores<LogSum, T>(batch), label_of_(label_of), of_span_(batch.n_tags) {}

    // marginals (length, tags). spans (spans, labels): probability of the labels of each span, or NULL; for joint
    // scores it holds the exponentials that `read` wrote. leaves (words, tags): probability of the tags of each word,
    // or NULL.
    void write(T *marginals, T *spans, int n_labels, T *leaves) {
        const int n_tags = this->b.n_tags, length = this->length;
        classes_.assign((size_t)this->n_sets_ * length * 4, 0);
        std::fill_n(marginals, (size_t)length * n_tags, T(0));
        const auto leaf = [&](int i, int t, double left, double right) {
            const int set = this->set_of(i, i + 1), p = this->leaf_row(i, t);
            double *own = classes_.data() + this->row(set, p) * 4;
            own[0] += left;
            own[1] += right;
            if (leaves) add(leaves + (size_t)i * n_tags, set, p, 0, left), add(leaves + (size_t)i * n_tags, set, p, 1, right);
        };
        if (this->joint) {
            label_mass_.assign((size_t)this->n * (this->n - 1), 0);
            this->chart.outside(leaf, [&](const Item &item, double mass, double) { label_mass_[2 * this->span_of(item.i, item.j) + item.side] += mass; });
            for (int k = 1; k < this->n; ++k)
                for (int side = 0; side < 2; ++side)  // bare tags sort first
                    marginals[(size_t)(2 * k - 1) * n_tags + this->b.offsets[2 + side]] = T(this->chart.gap_mass[(size_t)side * (this->n + 1) + k]);
            if (spans) write_labels(spans);
        } else {
            size_t last = 0;
            const auto close = [&](size_t span) {  // adds up what `of_span_` has of the span before
                if (last)
                    for (int tag = this->b.offsets[2]; tag < n_tags; ++tag) spans[(last - 1) * n_labels + label_of_[tag]] += T(of_span_[tag]);
                std::fill(of_span_.begin(), of_span_.end(), 0);
                last = span;
            };
            this->chart.outside(leaf, [&](const Item &item, double mass, double share) {
                const int i = item.i, j = item.j, set = this->set_of(i, j), c = 2 + item.side;
                if (spans && last != this->span_of(i, j) + 1) close(this->span_of(i, j) + 1);
                if (this->chart.gaps.empty()) {
                    const int p = this->chart.layout.node(i, 0, j, item.t);
                    classes_[this->row(set, p) * 4 + c] += mass;
                    if (spans) add(of_span_.data(), set, p, c, mass);
                } else if (spans) {
                    for (int k = i + 1; k < j; ++k) {
                        const double part = share * this->chart.splits()[k - i - 1];
                        if (part > this->chart.LEAST) add(of_span_.data(), set, 2 * k - 1, c, part);
                    }
                }
            });
            if (spans) close(0);
            for (size_t set = 0; set < this->chart.gap_mass.size() / (2 * (this->n + 1)); ++set)
                for (int k = 1; k < this->n; ++k)
                    for (int side = 0; side < 2; ++side)
                        classes_[this->row((int)set, 2 * k - 1) * 4 + 2 + side] = this->chart.gap_mass[(2 * set + side) * (this->n + 1) + k];
        }
        for (int set = 0; set < this->n_sets_; ++set)
            for (int p = 0; p < length; ++p)
                for (int c = 0; c < 4; ++c)
                    if (const double mass = classes_[this->row(set, p) * 4 + c]; mass > 0) add(marginals + (size_t)p * n_tags, set, p, c, mass);
    }

  private:
    // Adds the probability of a class at a row, by tag.
    template <class Out> void add(Out *out, int set, int p, int c, double mass) const {
        const T *soft = this->soft(set, p);
        for (int tag = this->b.offsets[c]; tag < this->b.offsets[c + 1]; ++tag) out[tag] += Out(mass * double(soft[tag]));
    }

    void write_labels(T *spans) {
        const int n = this->n, n_labels = this->b.n_labels;
        for (int i = 0; i < n; ++i)
            for (int j = i + 2; j <= n; ++j) {
                const size_t span = this->span_of(i, j);
                const int set = this->set_of(i, j);
                T *own = spans + span * n_labels;
                const double *masses = label_mass_.data() + 2 * span;
                if (set < 0 || !(masses[LEFT] > 0 || masses[RIGHT] > 0)) {
                    std::fill_n(own, n_labels, T(0));
                    continue;
                }
                T share[2];
                for (int side = 0; side < 2; ++side) share[side] = T(this->sums_[2 * span + side] > 0 ? masses[side] / this->sums_[2 * span + side] : 0);
                const T *left = this->mask(set, LEFT), *right = this->mask(set, RIGHT);
                for (int l = 0; l < n_labels; ++l) own[l] *= share[LEFT] * left[l] + share[RIGHT] * right[l];
                for (int side = 0; side < 2; ++side)
                    if (masses[side] > 0 && !(this->sums_[2 * span + side] > 0)) {
                        const T *scores = this->label_scores(span), *has = this->mask(set, side);
                        const auto far = this->far_labels(scores, has);
                        for (int l = 0; l < n_labels; ++l)
                            if (has[l] > 0) own[l] += T(masses[side] * std::exp(scores[l] - far.top) / far.sum);
                    }
            }
    }

    const int32_t *label_of_;  // (tags) the label of each tag of a node
    std::vector<double> classes_, label_mass_, of_span_;
};

// The best tree of each sentence, as `viterbi`.
template <class T> void chart_viterbi(const Batch<T> &b, int32_t *ids, double *totals, uint8_t *status) {
    if (!b.waits(status, CHART)) return;
    ChartScores<MaxPlus, T> reader(b);
    const auto first_best = [](const double *x, int n, double top) { return int(std::find(x, x + n, top) - x); };
    each_sentence(b, reader, status, [&](int s) {
        totals[s] = reader.total();
        write_tree(reader, first_best, ids + b.starts[s]);
    });
}

// Log-partition (sentences) and marginals (rows, tags) of each sentence, as `log_sums`; and, unless `labels` is NULL, the
// probability (spans, labels) of each label of each span, sentence s from row label_starts[s] on, which joint scores need; and,
// unless `leaves` is NULL, that (words, tags) of each leaf tag of each word, from row leaf_starts[s] on.
template <class T>
void chart_sums(const Batch<T> &b, const int32_t *label_of, int n_labels, const int64_t *label_starts,
                const int64_t *leaf_starts, double *totals, T *marginals, T *labels, T *leaves, uint8_t *status) {
    ChartSums<T> reader(b, label_of);
    const auto own = [&](int s) { return labels && label_starts[s] >= 0 ? labels + label_starts[s] * n_labels : nullptr; };
    each_sentence(b, reader, status, [&](int s) {
        totals[s] = reader.total();
        reader.write(marginals + b.starts[s] * b.n_tags, own(s), n_labels, leaves ? leaves + leaf_starts[s] * b.n_tags : nullptr);
    }, own);
}

// n trees of each sentence, drawn by their probabilities: ids (n, rows). Top-down from the inside of the chart (Johnson, Griffiths
// and Goldwater 2007): each node draws its split and its label in proportion to what they hold of the sum. Samples are exact and
// independent.
template <class T>
void chart_samples(const Batch<T> &b, int n, uint64_t seed, int32_t *ids, int64_t n_rows, uint8_t *status) {
    ChartScores<LogSum, T> reader(b);
    std::mt19937_64 random(seed);
    // One of n by the exponentials of x, and never one of weight 0.
    const auto pick = [&random](double *x, int n, double top) {
        double left = exp_splits(x, n, top) * (double(random() >> 11) * 0x1p-53);
        int last = 0;
        for (int i = 0; i < n; ++i) {
            if (!(x[i] > 0)) continue;
            last = i;
            if ((left -= x[i]) < 0) break;
        }
        return last;
    };
    each_sentence(b, reader, status, [&](int s) {
        for (int sample = 0; sample < n; ++sample) write_tree(reader, pick, ids + sample * n_rows + b.starts[s]);
    });
}

}  // namespace parsetag
