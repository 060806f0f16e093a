// The lattice of tag classes: its table, and the stack sizes that lie on a path from its start to its end. And the batch, as all
// passes over lattice and chart read it.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include "_semirings.hpp"

namespace parsetag {

// After a pass, its outcome for a sentence. Before the pass, the status says which pass the sentence waits for: FOUND
// for the lattice, BEAM_EMPTY for a beam, CHART for the chart.
enum Status : uint8_t { FOUND = 0, NOT_FINITE = 1, NO_TREE = 2, BEAM_EMPTY = 3, TOO_GREAT = 4, CHART = 5 };

// Bound on the rounding error of a sum over trees of `length` tags. After what all trees share has been subtracted, no
// part of a tree weighs much more than 0, so no number on the way is greater in size than the sum of a tree's parts.
inline double error_of(double total, int length) { return length * std::numeric_limits<double>::epsilon() * std::abs(total); }

const double LARGEST_ERROR = 0.01;  // in differences between trees; callers check for sums that are too great

// The status of a sum over trees of `length` tags, computed less what they share. TOO_GREAT if rounding may have lost
// the differences between trees although the sum is too small to show it; if the sum shows it, only where not even
// the sum is right to a millionth.
inline Status status_of(double total, const Shift &shift, int length) {
    if (!(total > -INF)) return NO_TREE;
    const double log_z = shift.plus(total), own = error_of(log_z, length);
    const double error = error_of(total, length) + error_of(error_of(shift.size, length), length);
    return error > (own > LARGEST_ERROR ? 1e-6 * std::abs(log_z) : LARGEST_ERROR) ? TOO_GREAT : FOUND;
}

// The factor that makes weights so small that rounding moves their sum by at most a quarter. If one tree still has
// nearly all probability with these weights, it was not chosen by rounding.
inline double temper(double total, int length) { return 1 / std::max(1.0, 4 * error_of(total, length)); }
inline bool in_doubt(double mass) { return mass > 0.01 && mass < 0.99; }

// Stack sizes low to high, both included; empty if high < low.
struct Range {
    int low = 1, high = 0;
    bool empty() const { return high < low; }
    bool has(int size) const { return low <= size && size <= high; }
    // How many there are, where every size counts (parity 0) or every other one does (1).
    int slots(int parity) const { return empty() ? 0 : ((high - low) >> parity) + 1; }
};

inline Range meet(Range a, Range b) { return {std::max(a.low, b.low), std::min(a.high, b.high)}; }

// The table of `spacy_parsetag.linearize.Lattice`, by tag class (l, r, L, R). Two classes lead into each state.
struct Lattice {
    int start_stack, start_state, end_stack, end_state;
    int delta[4], need[4], source[4], target[4];
    int into[2][2], out_of[2][4];  // the classes that lead into a state, and the ones that leave it
    int n_out_of[2];

    void link() {
        int n_into[2] = {0, 0};
        n_out_of[0] = n_out_of[1] = 0;
        for (int c = 0; c < 4; ++c) {
            into[target[c]][n_into[target[c]]++ & 1] = c;
            out_of[source[c]][n_out_of[source[c]]++] = c;
        }
    }

    // 1 if every class changes the size by one, so that sizes alternate between even and odd.
    int parity() const { return delta[0] & delta[1] & delta[2] & delta[3] & 1; }

    // The largest size that a path of `length` tags can have on its way, whatever the bound.
    int largest(int length) const { return std::max(start_stack, (length + start_stack + end_stack) / 2 + 1); }

    // Sizes after a tag of class c that comes in its source state with sizes `before`.
    Range after(int c, Range before) const {
        before.low = std::max(before.low, need[c]);
        return before.empty() ? Range() : Range{before.low + delta[c], before.high + delta[c]};
    }
};

// Stack sizes on the way: reachable from the start and leading to the end, for sentences of up to `longest` tags.
class Reach {
  public:
    // bound: the largest size after any tag; below 0 for none.
    Reach(const Lattice &lattice, int longest, int bound)
        : lattice_(lattice), parity_(lattice.parity()), forward_(2 * (longest + 1)), backward_(2 * (longest + 1)),
          live_(longest + 1), masks_(longest + 1) {
        const int most = lattice.largest(longest);
        limit_ = bound < 0 ? most : std::min(bound, most);
        forward_[lattice.start_state] = {lattice.start_stack, lattice.start_stack};
        backward_[lattice.end_state] = {lattice.end_stack, lattice.end_stack};
        for (int p = 1; p <= longest; ++p)
            for (int c = 0; c < 4; ++c) {
                Range r = lattice.after(c, forward_[2 * (p - 1) + lattice.source[c]]);
                widen(forward_[2 * p + lattice.target[c]], meet(r, {0, limit_}));
                r = meet(backward_[2 * (p - 1) + lattice.target[c]], {lattice.need[c] + lattice.delta[c], limit_});
                if (!r.empty()) widen(backward_[2 * p + lattice.source[c]], {r.low - lattice.delta[c], r.high - lattice.delta[c]});
            }
    }

    // Sizes on the way of sentences of `length` tags: element 2 * p + g is for state g after p tags.
    const Range *live(int length) {
        std::vector<Range> &ranges = live_[length];
        if (ranges.empty()) {
            ranges.resize(2 * (length + 1));
            for (int p = 0; p <= length; ++p)
                for (int g = 0; g < 2; ++g) {
                    Range r = meet(forward_[2 * p + g], backward_[2 * (length - p) + g]);
                    r.low += (r.low - lattice_.start_stack - p) & parity_;
                    r.high -= (r.high - lattice_.start_stack - p) & parity_;
                    ranges[2 * p + g] = r;
                }
        }
        return ranges.data();
    }

    // 0 if a tag of class c can stand at place p of `length` tags, else -infinity: element 4 * p + c.
    const double *masks(int length) {
        std::vector<double> &masks = masks_[length];
        if (masks.empty()) {
            const Range *own = live(length);
            for (int p = 0; p < length; ++p)
                for (int c = 0; c < 4; ++c) {
                    const Range after = lattice_.after(c, own[2 * p + lattice_.source[c]]);
                    const bool stands = !meet(own[2 * (p + 1) + lattice_.target[c]], after).empty();
                    masks.push_back(stands ? 0 : -INF);
                }
        }
        return masks.data();
    }

    // Tells if a state of this size can reach the end in `left` tags.
    bool leads_to_end(int left, int g, int size) const { return backward_[2 * left + g].has(size); }

    // A size has the place size >> parity, because every other size cannot occur; places run from 0 to places() - 1.
    int parity() const { return parity_; }
    int places() const { return (std::max(limit_, lattice_.start_stack) >> parity_) + 1; }

  private:
    static void widen(Range &r, Range by) {
        if (by.empty()) return;
        r = r.empty() ? by : Range{std::min(r.low, by.low), std::max(r.high, by.high)};
    }

    Lattice lattice_;
    int parity_, limit_;
    std::vector<Range> forward_, backward_;  // [2 * p + g], with p tags done, or to come
    std::vector<std::vector<Range>> live_;    // by length, made when first asked for
    std::vector<std::vector<double>> masks_;
};

enum Order { IN_ORDER = 0, PRE_ORDER = 1, POST_ORDER = 2 };
enum Side { LEFT = 0, RIGHT = 1 };

// A batch of sentences as the passes read it. Tags are sorted by class: class c has the columns offsets[c] to
// offsets[c + 1]. Sentence s owns the rows starts[s] to starts[s] + 2 * n_words[s] - 1 of (rows, n_tags) scores.
template <class T> struct Batch {
    const T *scores = nullptr;
    const int64_t *starts = nullptr;
    const int32_t *n_words = nullptr;
    int n_sentences = 0, n_tags = 0;
    const int32_t *offsets = nullptr;
    Lattice lattice;
    int bound = -1;  // the largest stack after any tag; below 0 for none
    // Scores of successive tags (n_tags, n_tags), and of first and last tags; NULL if the tags are independent.
    const T *pairs = nullptr, *start = nullptr, *end = nullptr;

    // The rest is for the chart alone: whether items have levels, and scores of spans, as `SpanScores`; `span_ids` (2, n_labels)
    // are the tags of the labels as left and as right children, or -1. `span_starts` is NULL if the batch scores tags alone,
    // `shared` if each span has a row of its own.
    int order = IN_ORDER;
    bool levels = false;
    const T *span_scores = nullptr;
    const int64_t *span_starts = nullptr;
    const int32_t *shared = nullptr;
    int n_labels = 0;
    const int32_t *span_ids = nullptr;
    // Which tags a span may have: `sets` (n_sets, n_tags) has a row for each set, all tags in the first. `cells` has the set of
    // each span (0, 1), (0, 2) to (0, N), (1, 2) to (N - 1, N), or -1 for a span that is none; sentence s begins at
    // cell_starts[s], -1 for one whose spans may have any tag.
    int n_sets = 1;
    const uint8_t *sets = nullptr;
    const int32_t *cells = nullptr;
    const int64_t *cell_starts = nullptr;

    int count(int c) const { return offsets[c + 1] - offsets[c]; }
    // Tells if a sentence waits for a pass.
    bool waits(const uint8_t *status, Status pass) const { return std::count(status, status + n_sentences, pass) > 0; }
    int longest() const {
        int most = 0;
        for (int s = 0; s < n_sentences; ++s) most = std::max(most, 2 * n_words[s] - 1);
        return most;
    }
};

}  // namespace parsetag
