// Inside-outside (Baker 1979) and its Viterbi (CKY) over the spans of a sentence, which a stack does not show. The code
// has three parts: `_chart_scores.hpp` turns scores into weights, this file has the recursion, without tags or labels,
// and `_chart_passes.hpp` writes the results.
//
// An item is a span, its side (left or right child) and, where it counts, a level: how many partial trees lie before it on the
// stack. In pre- and post-order the position of a tag depends on the level, and a bound on the stack is a bound on
// levels. For a node over words i to j on level t, with its split at k,
//
//     inside[side][t][i][j] = weight[side][t][i][j] * sum over k of gap[side][k] * inside[left][t + a][i][k] * inside[right][t + b][k][j]
//
// in the semiring: O(N^3) for N words without levels, O(dN^3) with d of them. The inside of left children is kept by rows and
// that of right ones by columns, so that the loop over k reads memory in its order. The way back needs only the inside:
// Viterbi recomputes the best split of each node of the best tree; the sums divide the probability of an item among its
// splits, in proportion to what each contributed.
#pragma once
#include <type_traits>
#include <vector>

#include "_layout.hpp"
#include "_semirings.hpp"
#include "_simd.hpp"

namespace parsetag {

struct Item { int side, i, j, t; };

template <class Semiring> class Chart {
  public:
    static constexpr double LEAST = 1e-20;  // items of less probability hand nothing on

    Layout layout;
    std::vector<double> left, right;  // the weight of each item; after `inside`, its inside
    // gaps: (kinds, 2, n + 1) weight of a split at each gap, by kind of span and by side; empty if splits weigh
    // nothing. kinds: the kind of each span, in the order of `cell`; empty if all spans are of the first kind.
    std::vector<double> gaps;
    std::vector<int32_t> kinds;
    std::vector<double> gap_mass;  // as `gaps`; after `outside`, the probability that a node splits there

    // Makes room for a sentence of n words.
    void set(int n, int order, bool has_levels, int bound) {
        layout.set(n, order, has_levels, bound);
        left.resize(layout.size());
        right.resize(layout.size());
        x_.resize(n + 1);
    }

    size_t cell(int i, int j) const { return triangle(layout.n, i, j); }
    size_t gap(const Item &item) const {
        return (size_t)(2 * (kinds.empty() ? 0 : kinds[cell(item.i, item.j)]) + item.side) * (layout.n + 1);
    }
    double inside(const Item &item) const {
        return item.side == LEFT ? left[layout.row(item.t, item.i) + item.j] : right[layout.column(item.t, item.j) + item.i];
    }
    double total() const { return inside({LEFT, 0, layout.n, 0}); }

    // splits()[k - i - 1] for split points k of an item, without its weight; returns the greatest.
    double split(const Item &item) {
        const int i = item.i, j = item.j;
        const double *g = gaps.empty() ? nullptr : gaps.data() + gap(item) + i + 1;
        return add_splits(left.data() + layout.row(layout.left_plane(item.t), i) + i + 1,
                          right.data() + layout.column(layout.right_plane(item.side, item.t), j) + i + 1,
                          g, j - i - 1, x_.data());
    }
    double *splits() { return x_.data(); }

    // From the weights of items to their inside.
    void inside() {
        for (int j = 1; j <= layout.n; ++j)
            for (int i = j - 1; i >= 0; --i)
                for (int t = 0; t < layout.levels(i, j); ++t) {
                    double &l = left[layout.row(t, i) + j], &r = right[layout.column(t, j) + i];
                    if (j == i + 1) {
                        if (!layout.allows_leaf(LEFT, t)) l = -INF;
                        if (!layout.allows_leaf(RIGHT, t)) r = -INF;
                    } else if (l > -INF || r > -INF) {
                        const double sum = reduce({LEFT, i, j, t});
                        l += sum;
                        r += gaps.empty() ? sum : reduce({RIGHT, i, j, t});  // without gaps a split is worth the same on both sides
                    }
                }
    }

    // Finds the probability of each item, from the whole sentence down, given its inside by log-sum-exp. For each word
    // it calls leaf(i, t, left, right), with the probability on either side, and for each side of a longer span
    // node(item, mass, share), where a split at k has the probability share * splits()[k - i - 1].
    template <class Leaf, class Node> void outside(Leaf leaf, Node node) {
        mass_[LEFT].assign(layout.size(), 0);
        mass_[RIGHT].assign(layout.size(), 0);
        gap_mass.assign(gaps.size(), 0);
        mass_[LEFT][layout.row(0, 0) + layout.n] = 1;
        for (int j = layout.n; j > 0; --j)
            for (int i = 0; i < j; ++i)
                for (int t = 0; t < layout.levels(i, j); ++t) {
                    const double l = mass_[LEFT][layout.row(t, i) + j], r = mass_[RIGHT][layout.column(t, j) + i];
                    if (!(l > LEAST || r > LEAST)) continue;
                    if (j == i + 1) {
                        leaf(i, t, l, r);
                    } else if (gaps.empty()) {
                        const double share = hand_on({LEFT, i, j, t}, l + r) / (l + r);
                        node(Item{LEFT, i, j, t}, l, l * share);
                        node(Item{RIGHT, i, j, t}, r, r * share);
                    } else {
                        if (l > LEAST) node(Item{LEFT, i, j, t}, l, hand_on({LEFT, i, j, t}, l));
                        if (r > LEAST) node(Item{RIGHT, i, j, t}, r, hand_on({RIGHT, i, j, t}, r));
                    }
                }
    }

    // Goes down from the whole sentence: pick(splits, n, greatest) chooses one of n splits; place(item, k) is called
    // for each node, with its level, and for each leaf.
    template <class Pick, class Place> void descend(Pick pick, Place place) {
        std::vector<Item> open{{LEFT, 0, layout.n, 0}};
        while (!open.empty()) {
            const Item item = open.back();
            open.pop_back();
            int k = item.j;
            if (item.j > item.i + 1) {
                const double top = split(item);
                k = item.i + 1 + pick(x_.data(), item.j - item.i - 1, top);
                open.push_back({RIGHT, k, item.j, layout.right_level(item.side, item.t)});
                open.push_back({LEFT, item.i, k, layout.left_level(item.t)});
            }
            place(item, k);
        }
    }

  private:
    double reduce(const Item &item) {
        if (!layout.allows_node(item.side, item.t)) return -INF;
        const double top = split(item);
        if (std::is_same<Semiring, MaxPlus>::value || !(top > -INF)) return top;
        return top + std::log(exp_splits(x_.data(), item.j - item.i - 1, top));
    }

    // Hands the probability of an item on to its children; returns the `share` by which `outside` multiplies splits.
    // Divides by the sum as computed here, not by the inside, so that rounding of great scores adds no probability.
    double hand_on(const Item &item, double mass) {
        const int i = item.i, n = item.j - item.i - 1;
        const double share = mass / exp_splits(x_.data(), n, split(item));
        share_splits(x_.data(), n, share, mass_[LEFT].data() + layout.row(layout.left_plane(item.t), i) + i + 1,
                     mass_[RIGHT].data() + layout.column(layout.right_plane(item.side, item.t), item.j) + i + 1,
                     gaps.empty() ? nullptr : gap_mass.data() + gap(item) + i + 1);
        return share;
    }

    std::vector<double> x_, mass_[2];
};

}  // namespace parsetag
