// Tregex's relations between the nodes of trees in pre-order, and semi-joins over them (Yannakakis 1981).
//
// A node is its index; `up` is the distance to its parent (0 for a root), `size` the number of nodes below it, `head`
// the distance to its head child. So columns can be cut between any two trees, and joined, as they are.
#pragma once
#include <algorithm>
#include <cstdint>
#include <cstring>
#include <vector>
#ifdef _MSC_VER
#include <intrin.h>
#endif

namespace search {

struct Trees {
    const int32_t *up, *size, *head;
    int64_t n;

    int64_t last(int64_t x) const { return x + size[x]; }
    int64_t root(int64_t x) const {
        while (up[x]) x -= up[x];
        return x;
    }
    bool is_first(int64_t x) const { return up[x] == 1; }
    bool is_last(int64_t x) const { return up[x] && last(x) == last(x - up[x]); }
    bool is_head(int64_t x) const { return up[x] && head[x - up[x]] == up[x]; }
};

// Each relation stands beside its inverse, which differs in the last bit. The numbers are the same as in `match.RELATIONS`.
enum Relation {
    PARENT, CHILD, DOMINATES, DOMINATED, NTH_CHILD_IS, IS_NTH_CHILD, ONLY_CHILD_IS, IS_ONLY_CHILD, UNARY_OVER, UNARY_UNDER,
    LEFTMOST_IS, IS_LEFTMOST, RIGHTMOST_IS, IS_RIGHTMOST, LEFT_SISTER, RIGHT_SISTER, NEXT_LEFT, NEXT_RIGHT, JUST_BEFORE,
    JUST_AFTER, BEFORE, AFTER, HEAD_IS, IS_HEAD, HEADS_DOWN, HEADS_UP, SAME, SAME_TOO, SAME_TREE, SAME_TREE_TOO,
    DOWN_THROUGH, UP_THROUGH
};

// Call f(y) for each y with "x relation y", until it returns false. `nth` counts children from 1, from the last one if it
// is negative; `through` marks the nodes that a chain may run through.
template <class F>
inline void visit(const Trees &t, int relation, int nth, const uint8_t *through, int64_t x, F f) {
    const int64_t end = t.last(x), parent = x - t.up[x];
    int64_t y = x;
    switch (relation) {
    case PARENT:
        for (y = x + 1; y <= end && f(y); y = t.last(y) + 1) {}
        return;
    case CHILD:
        if (t.up[x]) f(parent);
        return;
    case DOMINATES:
        for (y = x + 1; y <= end && f(y); ++y) {}
        return;
    case DOMINATED:
        while (t.up[y] && f(y -= t.up[y])) {}
        return;
    case NTH_CHILD_IS:
        if (nth > 0) {
            for (y = x + 1; y <= end && --nth; y = t.last(y) + 1) {}
            if (y <= end) f(y);
            return;
        }
        for (y = end; y > x; --y) {
            while (y - t.up[y] != x) y -= t.up[y];
            if (!++nth) { f(y); return; }
        }
        return;
    case IS_NTH_CHILD:
        if (!t.up[x]) return;
        if (nth > 0) {
            for (y = parent + 1; y < x; y = t.last(y) + 1) --nth;
            if (nth == 1) f(parent);
            return;
        }
        for (y = x; y <= t.last(parent); y = t.last(y) + 1) ++nth;
        if (!nth) f(parent);
        return;
    case ONLY_CHILD_IS:
        if (end > x && t.last(x + 1) == end) f(x + 1);
        return;
    case IS_ONLY_CHILD:
        if (t.is_first(x) && t.is_last(x)) f(parent);
        return;
    case UNARY_OVER:
        while (y < end && t.last(y + 1) == end && f(++y)) {}
        return;
    case UNARY_UNDER:
        while (t.is_first(y) && t.is_last(y) && f(--y)) {}
        return;
    case LEFTMOST_IS:
        while (t.size[y] && f(++y)) {}
        return;
    case IS_LEFTMOST:
        while (t.is_first(y) && f(--y)) {}
        return;
    case RIGHTMOST_IS:
        for (y = end; y != x && f(y); y -= t.up[y]) {}
        return;
    case IS_RIGHTMOST:
        while (t.is_last(y) && f(y -= t.up[y])) {}
        return;
    case LEFT_SISTER:
        for (y = end + 1; y <= t.last(parent) && f(y); y = t.last(y) + 1) {}
        return;
    case RIGHT_SISTER:
    case NEXT_RIGHT:
        while (t.up[x] && y > parent + 1) {
            for (--y; y - t.up[y] != parent; y -= t.up[y]) {}
            if (!f(y) || relation == NEXT_RIGHT) return;
        }
        return;
    case NEXT_LEFT:
        if (end < t.last(parent)) f(end + 1);
        return;
    case JUST_BEFORE:
        if (end < t.last(t.root(x)))
            for (y = end + 1; f(y) && t.size[y]; ++y) {}
        return;
    case JUST_AFTER:
        while (t.is_first(y)) --y;
        if (t.up[y]) {
            const int64_t leaf = y - 1;  // all nodes that end with this word
            for (y = leaf; f(y) && t.is_last(y); y -= t.up[y]) {}
        }
        return;
    case BEFORE:
        for (y = end + 1; y <= t.last(t.root(x)) && f(y); ++y) {}
        return;
    case AFTER:
        for (const int64_t top = t.root(x); --y > top;)
            if (t.last(y) < x && !f(y)) return;
        return;
    case HEAD_IS:
        if (t.size[x]) f(x + t.head[x]);
        return;
    case IS_HEAD:
        if (t.is_head(x)) f(parent);
        return;
    case HEADS_DOWN:
        while (t.size[y] && f(y += t.head[y])) {}
        return;
    case HEADS_UP:
        while (t.is_head(y) && f(y -= t.up[y])) {}
        return;
    case SAME:
    case SAME_TOO:
        f(x);
        return;
    case SAME_TREE:
    case SAME_TREE_TOO:
        y = t.root(x);
        for (const int64_t stop = t.last(y); y <= stop && f(y); ++y) {}
        return;
    case DOWN_THROUGH:
        for (y = x + 1; y <= end && f(y); y = through[y] ? y + 1 : t.last(y) + 1) {}
        return;
    case UP_THROUGH:
        while (t.up[y] && f(y -= t.up[y]) && through[y]) {}
        return;
    }
}

inline int first_bit(uint64_t bits) {
#ifdef _MSC_VER
    unsigned long place;
    _BitScanForward64(&place, bits);
    return static_cast<int>(place);
#else
    return __builtin_ctzll(bits);
#endif
}

// Call f(x) for each node that is marked, in order. Eight nodes are passed over at once where none is.
template <class F>
inline void each(const uint8_t *mask, int64_t n, F f) {
    int64_t x = 0;
    for (; x + 8 <= n; x += 8) {
        uint64_t bits;
        std::memcpy(&bits, mask + x, 8);
        for (; bits; bits &= bits - 1) f(x + first_bit(bits) / 8);
    }
    for (; x < n; ++x)
        if (mask[x]) f(x);
}

// The same as below in one pass over all nodes, for four relations. Returns whether this is one of them.
inline bool sweep(const Trees &t, int relation, const uint8_t *in, uint8_t *out) {
    switch (relation) {
    case CHILD:
        for (int64_t x = 0; x < t.n; ++x) out[x] = in[x - t.up[x]] & (t.up[x] != 0);
        return true;
    case DOMINATES:  // is the next one that is marked below x?
        for (int64_t next = t.n, x = t.n; x-- > 0; next = in[x] ? x : next) out[x] = next <= t.last(x);
        return true;
    case DOMINATED:
        for (int64_t x = 0; x < t.n; ++x) out[x] = (in[x - t.up[x]] | out[x - t.up[x]]) & (t.up[x] != 0);
        return true;
    case LEFT_SISTER:
        for (int64_t x = t.n; x-- > 0;)
            if (const int64_t y = t.last(x) + 1; y < t.n) out[x] = (in[y] | out[y]) & (t.up[y] == y - x + t.up[x]);
        return true;
    default:
        return false;
    }
}

// Mark in `out`, which is empty, each x with "x relation y" for some y in `in`: a semi-join.
//
// What is marked below a node, above it or beside it is marked as far as the relation goes, so a walk ends at the first
// node that is marked already, and the whole takes time linear in the nodes. BEFORE needs the last y first. Where one of
// 16 nodes is marked, as the first 256 tell, a pass over all nodes is faster than to go from node to node.
inline void image(const Trees &t, int relation, int nth, const uint8_t *through, const uint8_t *in, uint8_t *out) {
    const int64_t n_seen = std::min<int64_t>(t.n, 256);
    if (std::count(in, in + n_seen, 1) * 16 > n_seen && sweep(t, relation, in, out)) return;
    auto mark = [&](int64_t y) {
        visit(t, relation ^ 1, nth, through, y, [&](int64_t x) { return out[x] ? false : (out[x] = 1); });
    };
    if (relation != BEFORE) return each(in, t.n, mark);
    for (int64_t y = t.n; y-- > 0;)
        if (in[y]) mark(y);
}

// All pairs "x relation y" of an x in a list and a y in `in`: places in the list, and nodes.
inline void pairs(const Trees &t, int relation, int nth, const uint8_t *through, const int64_t *xs, int64_t n_xs,
                  const uint8_t *in, std::vector<int64_t> &places, std::vector<int64_t> &ys) {
    for (int64_t i = 0; i < n_xs; ++i)
        visit(t, relation, nth, through, xs[i], [&](int64_t y) {
            if (in[y]) {
                places.push_back(i);
                ys.push_back(y);
            }
            return true;
        });
}

// A step makes a mask of earlier masks. LEAF marks words, TOP roots, SEMI_JOIN what stands in relation `a` to mask `b`.
enum Kind { ALL, LEAF, TOP, NOT, AND, OR, SEMI_JOIN };
struct Step {
    int32_t kind, a, b, nth, through;
};
struct Program {
    const Step *steps;
    int64_t n_steps;
    const uint8_t *labels;  // rows of a bit for each of 8 labels: whether a string passes as it
    int64_t n_strings, n_labels;
};

// Make all masks, one below the other: first masks of labels, then masks of steps.
inline void fill(const Trees &t, const int32_t *label, const Program &program, uint8_t *masks) {
    const int64_t n = t.n;
    std::vector<uint8_t> bits(n);
    for (int64_t k = 0; k < program.n_labels; ++k) {
        if (k % 8 == 0)
            for (int64_t x = 0; x < n; ++x) bits[x] = program.labels[k / 8 * program.n_strings + label[x]];
        const uint8_t bit = 1 << k % 8;  // a comparison of bytes becomes vectors; shifts do not
        for (int64_t x = 0; x < n; ++x) masks[k * n + x] = (bits[x] & bit) != 0;
    }
    uint8_t *out = masks + program.n_labels * n;
    for (const Step *step = program.steps; step < program.steps + program.n_steps; ++step, out += n) {
        const uint8_t *a = masks + step->a * n, *b = masks + step->b * n;
        switch (step->kind) {
        case ALL:
            std::memset(out, 1, n);
            break;
        case TOP:
            for (int64_t x = 0; x < n; ++x) out[x] = !t.up[x];
            break;
        case LEAF:
            for (int64_t x = 0; x < n; ++x) out[x] = !t.size[x];
            break;
        case NOT:
            for (int64_t x = 0; x < n; ++x) out[x] = !a[x];
            break;
        case AND:
            for (int64_t x = 0; x < n; ++x) out[x] = a[x] & b[x];
            break;
        case OR:
            for (int64_t x = 0; x < n; ++x) out[x] = a[x] | b[x];
            break;
        case SEMI_JOIN:
            std::memset(out, 0, n);
            image(t, step->a, step->nth, step->through < 0 ? nullptr : masks + step->through * n, b, out);
            break;
        }
    }
}

// The nodes that some masks mark, over any number of trees: block by block, so that all masks stay in a cache.
inline void find(const Trees &t, const int32_t *label, const Program &program, const int64_t *starts, int64_t n_trees,
                 int64_t block, const int64_t *results, int64_t n_results, std::vector<std::vector<int64_t>> &found) {
    std::vector<uint8_t> masks;
    found.resize(n_results);
    for (int64_t tree = 0; tree < n_trees;) {
        const int64_t first = starts[tree];
        while (++tree < n_trees && starts[tree] < first + block) {}
        const Trees part{t.up + first, t.size + first, t.head ? t.head + first : nullptr,
                         (tree < n_trees ? starts[tree] : t.n) - first};
        masks.resize(std::max<size_t>(masks.size(), (program.n_labels + program.n_steps) * part.n));
        fill(part, label + first, program, masks.data());
        for (int64_t k = 0; k < n_results; ++k) {
            std::vector<int64_t> &nodes = found[k];
            const size_t most = nodes.size() + part.n;
            if (nodes.capacity() < most)  // room for as many as there are at this rate, so that little is copied
                nodes.reserve(most + static_cast<size_t>(1.1 * nodes.size() / (first + part.n) * t.n));
            each(masks.data() + results[k] * part.n, part.n, [&](int64_t x) { nodes.push_back(first + x); });
        }
    }
}

}  // namespace search
