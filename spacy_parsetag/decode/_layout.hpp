// Where the items of a chart lie in memory, and where their tags stand in the sequence. A plane holds the items of a
// level in a triangle: plane t is over all words but the first t, or in pre-order over all but the last t.
#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

#include "_lattice.hpp"

namespace parsetag {

// Where the item of i and j > i stands in a triangle of n rows, which row i begins with j = i + 1.
inline size_t triangle(int n, int i, int j) { return (size_t)i * n - (size_t)i * (i - 1) / 2 + (j - i - 1); }

class Layout {
  public:
    int n = 0, planes = 1;

    // As in `Batch`: the order, whether items have levels, and the bound on the stack.
    void set(int n_words, int order, bool has_levels, int bound) {
        n = n_words;
        order_ = order;
        has_levels_ = has_levels;
        bound_ = bound;
        planes = has_levels ? n : 1;
        if (has_levels && bound >= 0) planes = std::min(n, std::max(1, std::min(bound, n) + (order == IN_ORDER)));
        base_.assign(planes + 1, 0);
        for (int t = 0; t < planes; ++t) base_[t + 1] = base_[t] + (size_t)words(t) * (words(t) + 1) / 2;
    }

    size_t size() const { return base_[planes]; }
    // Levels that an item over i to j can have: 0 to levels(i, j) - 1.
    int levels(int i, int j) const { return !has_levels_ ? 1 : std::min(planes, 1 + (order_ == PRE_ORDER ? n - j : i)); }
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
        if (!has_levels_ || bound_ < 0 || order_ == PRE_ORDER) return true;
        return t < bound_ || (order_ == IN_ORDER && side == RIGHT);
    }
    bool allows_node(int side, int t) const { return left_plane(t) < planes && right_plane(side, t) < planes; }

    // The place of a tag, given the level.
    int leaf(int i, int t) const { return 2 * i + (order_ == PRE_ORDER ? t : order_ == POST_ORDER ? -t : 0); }
    int node(int i, int k, int j, int t) const {
        return order_ == IN_ORDER ? 2 * k - 1 : order_ == PRE_ORDER ? 2 * i + t : 2 * j - t - 2;
    }
    // The levels of the children of a node. In in-order, the tag of a node that is a right child takes off the stack
    // what the node's left child put there.
    int left_level(int t) const { return t + (order_ == PRE_ORDER); }
    int right_level(int side, int t) const { return t + (order_ == POST_ORDER || (order_ == IN_ORDER && side == LEFT)); }
    int plane(int t) const { return has_levels_ ? t : 0; }
    int left_plane(int t) const { return plane(left_level(t)); }
    int right_plane(int side, int t) const { return plane(right_level(side, t)); }

  private:
    int words(int t) const { return n - (has_levels_ ? t : 0); }
    int first(int t) const { return has_levels_ && order_ != PRE_ORDER ? t : 0; }

    int order_ = IN_ORDER, bound_ = -1;
    bool has_levels_ = false;
    std::vector<size_t> base_;
};

}  // namespace parsetag
