// Top-down sampling of trees from the inside of the chart (Johnson, Griffiths and Goldwater 2007): each node draws its split and
// its label in proportion to what they hold of the sum. Exact and independent samples.
#pragma once

#include <random>

#include "_chart.hpp"

namespace parsetag {

template <class T> class Sampler : public Chart<LogSum, T> {
  public:
    using Chart<LogSum, T>::Chart;

    void write(std::mt19937_64 &random, int32_t *ids) {
        struct Item { int side, i, j, t; };
        std::vector<Item> open{{LEFT, 0, this->layout_.n, 0}};
        while (!open.empty()) {
            const Item item = open.back();
            const int i = item.i, j = item.j, set = this->set_of(i, j);
            open.pop_back();
            if (j == i + 1) {
                const int p = this->layout_.leaf(i, item.t);
                ids[p] = tag(set, this->joint_ ? 2 * i : p, item.side, random);
                continue;
            }
            const double top = this->splits(set, item.side, i, j, item.t);
            const double sum = exp_splits(this->x_.data(), j - i - 1, top);
            const int k = i + 1 + draw(j - i - 1, sum, random, [this](int at) { return this->x_[at]; });
            const int p = this->layout_.node(i, k, j, item.t);
            ids[p] = this->joint_ ? label(set, item.side, i, j, random) : tag(set, p, 2 + item.side, random);
            open.push_back({RIGHT, k, j, this->layout_.right_plane(item.side, item.t)});
            open.push_back({LEFT, i, k, this->layout_.left_plane(item.t)});
        }
    }

  private:
    // One of n by weights that add up to `sum`, and never one of weight 0.
    template <class Weight> static int draw(int n, double sum, std::mt19937_64 &random, Weight weight) {
        double left = double(random() >> 11) * 0x1p-53 * sum;
        int last = 0;
        for (int at = 0; at < n; ++at) {
            const double own = weight(at);
            if (!(own > 0)) continue;
            last = at;
            if ((left -= own) < 0) break;
        }
        return last;
    }
    int tag(int set, int p, int c, std::mt19937_64 &random) const {
        const T *soft = this->soft(set, p) + this->b.offsets[c];
        return this->b.offsets[c] + draw(this->b.count(c), 1, random, [soft](int at) { return double(soft[at]); });
    }
    int label(int set, int side, int i, int j, std::mt19937_64 &random) {
        const size_t span = this->span_of(i, j);
        const T *own = this->own_spans_ + span * this->spans_.n_labels, *has = this->mask(set, side);
        const double sum = this->label_[side][span];
        const int at = draw(this->spans_.n_labels, 1, random, [=](int l) { return has[l] > 0 ? std::exp(own[l] - sum) : 0; });
        return this->spans_.ids[side * this->spans_.n_labels + at];
    }
};

// n trees of each sentence, drawn by their probabilities: ids (n, rows).
template <class T>
void chart_samples(const Batch<T> &b, const Spans<T> &spans, const LabelSets &sets, const ChartOptions &options, int n, uint64_t seed,
                   int32_t *ids, int64_t n_rows, uint8_t *status) {
    Sampler<T> chart(b, spans, sets, options);
    std::mt19937_64 random(seed);
    for (int s = 0; s < b.n_sentences; ++s) {
        if (b.n_words[s] < 1) continue;
        status[s] = NOT_FINITE;
        if (!chart.read(s)) continue;
        status[s] = chart.total() > -INF ? FOUND : NO_TREE;
        for (int sample = 0; sample < n && status[s] == FOUND; ++sample) chart.write(random, ids + sample * n_rows + b.starts[s]);
    }
}

}  // namespace parsetag
