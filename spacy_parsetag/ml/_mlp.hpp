// Scores of hidden vectors, in prediction: layer normalization, ReLU and a linear layer, of a few vectors at a time, which
// stay in the cache.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "../decode/_simd.hpp"

namespace parsetag {

struct HiddenScorer {
    int width, n_scores;
    float epsilon;              // that is added to variances
    const float *scale, *shift; // (width)
    const float *weights;       // (n_scores, width)
    const float *bias;          // (n_scores)
};

// The rows of a matrix, with zeros behind each, as products and vectors want them.
inline std::vector<float> pad_rows(const float *rows, int64_t n, int width) {
    std::vector<float> found(n * padded(width));
    for (int64_t k = 0; k < n; ++k) std::copy_n(rows + k * width, width, found.begin() + k * padded(width));
    return found;
}

// Scores (n, n_scores) of vectors: k is row last[k] minus row first[k] of a matrix whose rows have the mean 0; row k itself
// if these are NULL.
inline void score_hidden(const HiddenScorer &layer, const float *matrix, int64_t n_rows, const int32_t *first, const int32_t *last,
                         int64_t n, float *scores) {
    const int PIECE = 32, width = layer.width, n_scores = layer.n_scores, stride = padded(width), wide = padded(n_scores);
    const std::vector<float> vectors = pad_rows(matrix, n_rows, width), zeros(stride), bias = pad_rows(layer.bias, 1, n_scores),
                             scale = pad_rows(layer.scale, 1, width), shift = pad_rows(layer.shift, 1, width);
    std::vector<float> columns((size_t)width * wide), active((size_t)PIECE * stride), sums((size_t)PIECE * wide);
    for (int j = 0; j < n_scores; ++j)
        for (int i = 0; i < width; ++i) columns[(size_t)i * wide + j] = layer.weights[(size_t)j * width + i];
    for (int64_t start = 0; start < n; start += PIECE) {
        const int size = int(std::min<int64_t>(PIECE, n - start));
        for (int r = 0; r < size; ++r) {
            const float *to = vectors.data() + (last ? last[start + r] : start + r) * stride;
            const float *from = first ? vectors.data() + (int64_t)first[start + r] * stride : zeros.data();
            normalize(to, from, width, stride, layer.epsilon, scale.data(), shift.data(), active.data() + (size_t)r * stride);
            std::copy(bias.begin(), bias.end(), sums.begin() + (size_t)r * wide);
        }
        product<SumProduct>((const float *)active.data(), size, stride, 1, (const float *)columns.data(), width, sums.data(), wide, true);
        for (int r = 0; r < size; ++r, scores += n_scores) std::copy_n(sums.begin() + (size_t)r * wide, n_scores, scores);
    }
}

} // namespace parsetag
