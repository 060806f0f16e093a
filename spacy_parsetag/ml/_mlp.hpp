// Linear layers, and scores of hidden vectors in prediction: layer normalization, ReLU and a linear layer, of a few vectors at a
// time, which stay in the cache.
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

// The weights (n_out, depth) of a linear layer, for products. They are in blocks of columns that registers hold, as rows of a
// wide matrix would fall into the same lines of the cache.
class LinearWeights {
  public:
    static constexpr int PIECE = 64; // vectors that are multiplied at a time

    LinearWeights(const float *weights, int n_out, int depth)
        : n_out_(n_out), depth_(depth), blocks_((size_t)depth * padded(n_out)), sums_((size_t)PIECE * WIDEST) {
        for (int first = 0, wide; first < n_out; first += wide) {
            wide = width_from(first);
            float *block = blocks_.data() + (size_t)first * depth;
            for (int j = 0; j < std::min(wide, n_out - first); ++j)
                for (int i = 0; i < depth; ++i) block[(size_t)i * wide + j] = weights[(size_t)(first + j) * depth + i];
        }
    }

    // out (n, n_out) = vectors (n, depth) times the weights + bias, for at most PIECE vectors, `stride` numbers apart.
    void multiply(const float *vectors, int n, std::ptrdiff_t stride, const float *bias, float *out) {
        for (int first = 0, wide; first < n_out_; first += wide) {
            wide = width_from(first);
            const int width = std::min(wide, n_out_ - first);
            const float *block = blocks_.data() + (size_t)first * depth_;
            product<SumProduct>(vectors, n, stride, 1, block, depth_, sums_.data(), wide, false);
            for (int r = 0; r < n; ++r)
                for (int j = 0; j < width; ++j)
                    out[(size_t)r * n_out_ + first + j] = sums_[(size_t)r * wide + j] + (bias ? bias[first + j] : 0);
        }
    }

  private:
    static constexpr int WIDEST = 64;
    // The columns of the block that begins with one, with padding: at most four registers, five as three and two.
    int width_from(int first) const {
        const int left = padded(n_out_ - first);
        return left == WIDEST + PAD ? WIDEST - PAD : std::min(left, WIDEST);
    }

    int n_out_, depth_;
    std::vector<float> blocks_, sums_;
};

// out (n, n_out) = vectors (n, depth) times weights (n_out, depth).
inline void multiply(const float *vectors, int64_t n, int depth, const float *weights, int n_out, float *out) {
    LinearWeights layer(weights, n_out, depth);
    for (int64_t row = 0; row < n; row += layer.PIECE)
        layer.multiply(vectors + row * depth, int(std::min<int64_t>(layer.PIECE, n - row)), depth, nullptr, out + row * n_out);
}

// Scores (n, n_scores) of vectors: k is row last[k] minus row first[k] of a matrix whose rows have the mean 0; row k itself
// if these are NULL.
inline void score_hidden(const HiddenScorer &layer, const float *matrix, int64_t n_rows, const int32_t *first, const int32_t *last,
                         int64_t n, float *scores) {
    const int width = layer.width, stride = padded(width);
    const std::vector<float> vectors = pad_rows(matrix, n_rows, width), zeros(stride), scale = pad_rows(layer.scale, 1, width),
                             shift = pad_rows(layer.shift, 1, width);
    LinearWeights weights(layer.weights, layer.n_scores, width);
    std::vector<float> active((size_t)weights.PIECE * stride);
    for (int64_t start = 0; start < n; start += weights.PIECE) {
        const int size = int(std::min<int64_t>(weights.PIECE, n - start));
        for (int r = 0; r < size; ++r) {
            const float *to = vectors.data() + (last ? last[start + r] : start + r) * stride;
            const float *from = first ? vectors.data() + (int64_t)first[start + r] * stride : zeros.data();
            normalize(to, from, width, stride, layer.epsilon, scale.data(), shift.data(), active.data() + (size_t)r * stride);
        }
        weights.multiply(active.data(), size, stride, layer.bias, scores + start * layer.n_scores);
    }
}

} // namespace parsetag
