// Tregex's relations between the nodes of trees in pre-order, and semi-joins over them (Yannakakis 1981).
//
// A node is its index; `up` is the distance to its parent (0 for a root), `size` the number of nodes below it, `head`
// the distance to its head child. As these are relative, columns can be cut between trees, and joined, unchanged.
#pragma once
#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>
#ifdef _MSC_VER
#include <intrin.h>
#endif

namespace search {

struct Trees {
    const int32_t *up, *size, *head;
    int64_t n;

    int64_t last(int64_t x) const { return x + size[x]; }
    bool is_last(int64_t x) const { return up[x] && last(x) == last(x - up[x]); }
};

// A bit for each node, 64 to a word; those past the last node are 0.
struct Mask {
    uint64_t *words;

    bool operator[](int64_t x) const { return words[x >> 6] >> (x & 63) & 1; }
    void mark(int64_t x) const { words[x >> 6] |= uint64_t{1} << (x & 63); }

    // Mark all nodes from one to another, the last included.
    void mark(int64_t first, int64_t last) const {
        const uint64_t from = ~uint64_t{0} << (first & 63), to = ~uint64_t{0} >> (63 - (last & 63));
        if (first >> 6 == last >> 6) {
            words[first >> 6] |= from & to;
            return;
        }
        words[first >> 6] |= from;
        std::fill(words + (first >> 6) + 1, words + (last >> 6), ~uint64_t{0});
        words[last >> 6] |= to;
    }
};
inline int64_t words_for(int64_t n_nodes) { return (n_nodes + 63) / 64; }

// Each relation stands beside its inverse, which differs in the last bit; the last two are their own inverses.
// `RELATIONS` in pattern.py has the same order.
enum Relation {
    PARENT, CHILD, DOMINATES, DOMINATED, NTH_CHILD_IS, IS_NTH_CHILD, ONLY_CHILD_IS, IS_ONLY_CHILD, UNARY_OVER, UNARY_UNDER,
    LEFTMOST_IS, IS_LEFTMOST, RIGHTMOST_IS, IS_RIGHTMOST, LEFT_SISTER, RIGHT_SISTER, NEXT_LEFT, NEXT_RIGHT, JUST_BEFORE,
    JUST_AFTER, BEFORE, AFTER, HEAD_IS, IS_HEAD, HEADS_DOWN, HEADS_UP, DOWN_THROUGH, UP_THROUGH, SAME, SAME_TREE
};
constexpr int inverse(int relation) { return relation < SAME ? relation ^ 1 : relation; }

// Most relations are one move from node to node, or any number of such moves.
enum Move { UP, UP_IF_FIRST, UP_IF_LAST, UP_IF_ONLY, UP_IF_HEAD, LEFT, RIGHT, FIRST_CHILD, ONLY_CHILD, HEAD_CHILD };

// The node that a move leads to, or -1.
inline int64_t go(const Trees &t, Move move, int64_t x) {
    const int64_t parent = x - t.up[x], next = t.last(x) + 1;
    int64_t y = x - 1;
    switch (move) {
    case UP: return t.up[x] ? parent : -1;
    case UP_IF_FIRST: return t.up[x] == 1 ? parent : -1;
    case UP_IF_LAST: return t.is_last(x) ? parent : -1;
    case UP_IF_ONLY: return t.up[x] == 1 && t.is_last(x) ? parent : -1;
    case UP_IF_HEAD: return t.up[x] && t.head[parent] == t.up[x] ? parent : -1;
    case RIGHT: return next < t.n && t.up[next] && next - t.up[next] == parent ? next : -1;
    case FIRST_CHILD: return t.size[x] ? x + 1 : -1;
    case ONLY_CHILD: return t.size[x] && t.is_last(x + 1) ? x + 1 : -1;
    case HEAD_CHILD: return t.size[x] ? x + t.head[x] : -1;
    case LEFT:
        if (t.up[x] <= 1) return -1;
        while (y - t.up[y] != parent) y -= t.up[y];
        return y;
    }
    return -1;
}

// Call f(y) for each y with "x relation y", until it returns false. `nth` counts children from 1, from the last one if it
// is negative; `through` marks the nodes that a chain may run through.
template <int relation, class F>
inline void visit(const Trees &t, int nth, Mask through, int64_t x, F f) {
    const int64_t end = t.last(x), parent = x - t.up[x];
    int64_t y = x;
    auto once = [&](Move move) {
        if ((y = go(t, move, y)) >= 0) f(y);
    };
    auto walk = [&](Move move) {
        while ((y = go(t, move, y)) >= 0 && f(y)) {}
    };
    switch (relation) {
    case CHILD: return once(UP);
    case DOMINATED: return walk(UP);
    case ONLY_CHILD_IS: return once(ONLY_CHILD);
    case IS_ONLY_CHILD: return once(UP_IF_ONLY);
    case UNARY_OVER: return walk(ONLY_CHILD);
    case UNARY_UNDER: return walk(UP_IF_ONLY);
    case LEFTMOST_IS: return walk(FIRST_CHILD);
    case IS_LEFTMOST: return walk(UP_IF_FIRST);
    case IS_RIGHTMOST: return walk(UP_IF_LAST);
    case LEFT_SISTER: return walk(RIGHT);
    case RIGHT_SISTER: return walk(LEFT);
    case NEXT_LEFT: return once(RIGHT);
    case NEXT_RIGHT: return once(LEFT);
    case HEAD_IS: return once(HEAD_CHILD);
    case IS_HEAD: return once(UP_IF_HEAD);
    case HEADS_DOWN: return walk(HEAD_CHILD);
    case HEADS_UP: return walk(UP_IF_HEAD);
    case PARENT:
        for (y = x + 1; y <= end && f(y); y = t.last(y) + 1) {}
        return;
    case DOMINATES:
        for (y = x + 1; y <= end && f(y); ++y) {}
        return;
    case NTH_CHILD_IS:
        if (nth < 0)  // the same from 1
            for (++nth, y = x + 1; y <= end; y = t.last(y) + 1) ++nth;
        for (y = x + 1; y <= end && nth > 0; y = t.last(y) + 1)
            if (!--nth) f(y);
        return;
    case IS_NTH_CHILD:
        if (nth < 0)
            for (nth += 2, y = end + 1; y <= t.last(parent) && nth <= 1; y = t.last(y) + 1) ++nth;
        else
            for (y = parent + 1; y < x && nth > 0; y = t.last(y) + 1) --nth;
        if (t.up[x] && nth == 1) f(parent);
        return;
    case RIGHTMOST_IS:
        for (y = end; y != x && f(y); y -= t.up[y]) {}
        return;
    case JUST_BEFORE:
        if ((y = end + 1) < t.n && t.up[y] && f(y)) walk(FIRST_CHILD);
        return;
    case JUST_AFTER:  // all nodes that end with the word before
        while (t.up[y] == 1) --y;
        if (t.up[y] && f(--y)) walk(UP_IF_LAST);
        return;
    case BEFORE:
        for (y = end + 1; y < t.n && t.up[y] && f(y); ++y) {}
        return;
    case AFTER:
        while (t.up[y])
            if (t.last(--y) < x && !f(y)) return;
        return;
    case DOWN_THROUGH:
        for (y = x + 1; y <= end && f(y); y = through[y] ? y + 1 : t.last(y) + 1) {}
        return;
    case UP_THROUGH:
        while (t.up[y] && f(y -= t.up[y]) && through[y]) {}
        return;
    case SAME:
        f(x);
        return;
    case SAME_TREE:
        while (t.up[y]) y -= t.up[y];
        for (const int64_t stop = t.last(y); y <= stop && f(y); ++y) {}
        return;
    }
}

inline int lowest_bit(uint64_t word) {
#ifdef _MSC_VER
    unsigned long place;
    _BitScanForward64(&place, word);
    return static_cast<int>(place);
#else
    return __builtin_ctzll(word);
#endif
}

// Call f(x) for each node that is marked, in order.
template <class F>
inline void each(Mask mask, int64_t n, F f) {
    for (int64_t i = 0; i < words_for(n); ++i)
        for (uint64_t word = mask.words[i]; word; word &= word - 1) f(64 * i + lowest_bit(word));
}

// Mark in `out`, which is empty, each x with "x relation y" for some y in `in`: a semi-join.
//
// Each walk marks nodes as far as the relation reaches, so a later walk ends at the first node that is marked already.
// The whole takes time linear in the nodes, times n for the n-th child and, for BEFORE and JUST_BEFORE, times the longest
// chain of first children. BEFORE must start at the last y.
template <int relation>
inline void image(const Trees &t, int nth, Mask through, Mask in, Mask out) {
    int64_t done = -1;
    auto mark = [&](int64_t y) {
        visit<inverse(relation)>(t, nth, through, y, [&](int64_t x) { return out[x] ? false : (out.mark(x), true); });
    };
    auto mark_below = [&](int64_t y) {
        if (t.last(y) > std::max(y, done)) out.mark(y + 1, done = t.last(y));
    };
    auto mark_tree = [&](int64_t y) {
        if (y <= done) return;
        while (t.up[y]) y -= t.up[y];
        out.mark(y, done = t.last(y));
    };
    if (relation == DOMINATED)
        each(in, t.n, mark_below);
    else if (relation == SAME_TREE)
        each(in, t.n, mark_tree);
    else if (relation == BEFORE)
        for (int64_t y = t.n; y-- > 0;) in[y] ? mark(y) : void();
    else
        each(in, t.n, mark);
}

// Call f with the number of a relation as a constant, so that loops are compiled for each relation.
template <class F, int... all>
inline void with_constant(int relation, F f, std::integer_sequence<int, all...>) {
    ((relation == all ? f(std::integral_constant<int, all>{}) : void()), ...);
}
template <class F>
inline void with_constant(int relation, F f) {
    with_constant(relation, f, std::make_integer_sequence<int, SAME_TREE + 1>{});
}

// All pairs "x relation y" of an x in a list and a y in `in`: places in the list, and nodes.
inline void pairs(const Trees &t, int relation, int nth, Mask through, const int64_t *xs, int64_t n_xs, Mask in,
                  std::vector<int64_t> &places, std::vector<int64_t> &ys) {
    with_constant(relation, [&](auto constant) {
        for (int64_t i = 0; i < n_xs; ++i)
            visit<decltype(constant)::value>(t, nth, through, xs[i], [&](int64_t y) {
                if (in[y]) {
                    places.push_back(i);
                    ys.push_back(y);
                }
                return true;
            });
    });
}

// A step makes a mask of earlier masks. LEAF marks words, TOP roots, SEMI_JOIN nodes in relation `a` to mask `b`.
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

// Pack the values of f into masks: bit k of f(x), for each node x, goes into the k-th mask.
template <class F>
inline void pack(int64_t n_nodes, int64_t n_bits, F f, uint64_t *out) {
    uint8_t bytes[64] = {};
    for (int64_t i = 0; i < words_for(n_nodes); ++i) {
        const int64_t first = 64 * i, n_left = n_nodes - first;
        if (n_left >= 64)
            for (int j = 0; j < 64; ++j) bytes[j] = f(first + j);
        else
            for (int j = 0; j < 64; ++j) bytes[j] = j < n_left ? f(first + j) : 0;
        for (int64_t k = 0; k < n_bits; ++k) {
            uint64_t word = 0;
            for (int j = 0; j < 64; j += 8) {
                uint64_t eight = 0;
                for (int byte = 0; byte < 8; ++byte) eight |= static_cast<uint64_t>(bytes[j + byte]) << 8 * byte;
                // The product has the lowest bits of eight bytes beside each other.
                word |= ((eight >> k & 0x0101010101010101) * 0x0102040810204080 >> 56) << j;
            }
            out[k * words_for(n_nodes) + i] = word;
        }
    }
}

// Make the mask of a step of those before it.
inline void run_step(const Trees &t, const Step &step, uint64_t *masks, uint64_t *out) {
    const int64_t n = words_for(t.n);
    const uint64_t *a = masks + step.a * n, *b = masks + step.b * n;
    switch (step.kind) {
    case ALL: return pack(t.n, 1, [&](int64_t) { return 1; }, out);
    case TOP: return pack(t.n, 1, [&](int64_t x) { return !t.up[x]; }, out);
    case LEAF: return pack(t.n, 1, [&](int64_t x) { return !t.size[x]; }, out);
    case NOT:
        for (int64_t i = 0; i < n; ++i) out[i] = ~a[i];
        if (t.n % 64) out[n - 1] &= (uint64_t{1} << t.n % 64) - 1;
        return;
    case AND:
        for (int64_t i = 0; i < n; ++i) out[i] = a[i] & b[i];
        return;
    case OR:
        for (int64_t i = 0; i < n; ++i) out[i] = a[i] | b[i];
        return;
    case SEMI_JOIN:
        std::fill(out, out + n, 0);
        with_constant(step.a, [&](auto relation) {
            const Mask through{step.through < 0 ? nullptr : masks + step.through * n};
            image<decltype(relation)::value>(t, step.nth, through, Mask{masks + step.b * n}, Mask{out});
        });
    }
}

// Make all masks, one below the other: first masks of labels, then masks of steps.
inline void fill(const Trees &t, const int32_t *label, const Program &program, uint64_t *masks) {
    const int64_t n = words_for(t.n);
    for (int64_t k = 0; k < program.n_labels; k += 8) {
        const uint8_t *passes = program.labels + k / 8 * program.n_strings;
        pack(t.n, std::min<int64_t>(program.n_labels - k, 8), [&](int64_t x) { return passes[label[x]]; }, masks + k * n);
    }
    for (int64_t k = 0; k < program.n_steps; ++k)
        run_step(t, program.steps[k], masks, masks + (program.n_labels + k) * n);
}

// The nodes that some masks mark, over any number of trees: block by block, so that all masks stay in a cache.
inline void find(const Trees &t, const int32_t *label, const Program &program, const int64_t *starts, int64_t n_trees,
                 int64_t block, const int64_t *results, int64_t n_results, std::vector<std::vector<int64_t>> &found) {
    std::vector<uint64_t> masks;
    found.resize(n_results);
    for (int64_t tree = 0; tree < n_trees;) {
        const int64_t first = starts[tree];
        while (++tree < n_trees && starts[tree] < first + block) {}
        const Trees part{t.up + first, t.size + first, t.head ? t.head + first : nullptr,
                         (tree < n_trees ? starts[tree] : t.n) - first};
        masks.resize(std::max<size_t>(masks.size(), (program.n_labels + program.n_steps) * words_for(part.n)));
        fill(part, label + first, program, masks.data());
        for (int64_t k = 0; k < n_results; ++k) {
            std::vector<int64_t> &nodes = found[k];
            const size_t most = nodes.size() + part.n;
            if (nodes.capacity() < most)  // room for as many as there are at this rate, so that little is copied
                nodes.reserve(most + static_cast<size_t>(1.1 * nodes.size() / (first + part.n) * t.n));
            const Mask mask{masks.data() + results[k] * words_for(part.n)};
            each(mask, part.n, [&](int64_t x) { nodes.push_back(first + x); });
        }
    }
}

}  // namespace search
