// Top-down sampling of trees from the inside of the chart (Johnson, Griffiths and Goldwater 2007): each node draws its split and
// its label in proportion to what they hold of the sum. Exact and independent samples.
#pragma once

#include <random>

#include "_chart_passes.hpp"

namespace parsetag {

// n trees of each sentence, drawn by their probabilities: ids (n, rows).
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
