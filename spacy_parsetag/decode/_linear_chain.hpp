// Viterbi over the lattice where successive tags score (a linear chain): a state is (lattice state, stack size, last tag).
//
// The tags that lead into a lattice state are its columns. One step is, for each lattice state, a product of (stack sizes,
// tags into it) with (tags into it, tags out of it) in the semiring, and then an addition of scores.
#pragma once

#include <vector>

#include "_lattice.hpp"
#include "_simd.hpp"
#include "_tape.hpp"

namespace parsetag {

template <class Real, class T> class LinearChain {
  public:
    LinearChain(const Batch<T> &batch, Reach &reach) : b(batch), reach_(reach), parity_(reach.parity()) {
        const int slots = reach.places();
        for (int c = 0; c < 4; ++c) {
            std::vector<int> &into = tags_into_[b.lattice.target[c]], &out_of = tags_out_of_[b.lattice.source[c]];
            into_[c] = (int)into.size();
            out_of_[c] = (int)out_of.size();
            for (int tag = b.offsets[c]; tag < b.offsets[c + 1]; ++tag) {
                into.push_back(tag);
                out_of.push_back(tag);
            }
        }
        block_ = PAD;  // the first number of a block is its shift
        for (int g = 0; g < 2; ++g) {
            n_into_[g] = (int)tags_into_[g].size();
            n_out_[g] = (int)tags_out_of_[g].size();
            wide_into_[g] = padded(n_into_[g]);
            wide_out_[g] = padded(n_out_[g]);
            base_[g] = block_;
            block_ += (size_t)slots * wide_into_[g];
            pairs_[g] = Buffer<Real>((size_t)n_into_[g] * wide_out_[g]);
            std::fill_n(pairs_[g].data(), (size_t)n_into_[g] * wide_out_[g], Real(-INF));
            for (int i = 0; i < n_into_[g]; ++i)
                for (int j = 0; j < n_out_[g]; ++j) pairs_[g][(size_t)i * wide_out_[g] + j] = Real(b.pairs[pair_at(g, i, j)]);
        }
        product_ = Buffer<Real>((size_t)slots * std::max(wide_out_[0], wide_out_[1]));
        shifted_ = Buffer<Real>(b.n_tags);
    }

    size_t block() const { return block_; }
    void start(Real *states) { states[0] = 0; }
    bool again() const { return false; }

  protected:
    // From the states after p tags to those after p + 1, less `shift`: multiply(g, rows, n) fills `product_` from n rows of
    // state g.
    template <class Multiply> void advance(int p, const Real *old, Real *states, Real shift, Multiply multiply) {
        const T *scores = scores_ + (size_t)p * b.n_tags;
        for (int i = 0; i < b.n_tags; ++i) shifted_[i] = Real(scores[i]) - shift;
        for (int g = 0; g < 2; ++g) {
            const Range from = live(p, g);
            if (p && !from.empty()) multiply(g, row(old, g, from.low), from.slots(parity_));
            for (int c = 0; c < 4; ++c) {
                if (b.lattice.source[c] != g || !b.count(c)) continue;
                const int target = b.lattice.target[c], n = b.count(c);
                const Range to = live(p + 1, target), by_c = b.lattice.after(c, from);
                for (int s = to.low; s <= to.high; s += 1 << parity_) {
                    Real *__restrict out = row(states, target, s) + into_[c];
                    if (!by_c.has(s)) {
                        std::fill_n(out, n, Real(-INF));
                        continue;
                    }
                    const Real *own = shifted_.data() + b.offsets[c];
                    if (p) {
                        const int r = (s - b.lattice.delta[c] - from.low) >> parity_;
                        const Real *before = product_.data() + (size_t)r * wide_out_[g] + out_of_[c];
                        for (int i = 0; i < n; ++i) out[i] = before[i] + own[i];
                    } else {
                        for (int i = 0; i < n; ++i) out[i] = Real(b.start[b.offsets[c] + i]) + own[i];
                    }
                }
            }
        }
    }

    // The first of n numbers row[i] + more(i) that is the greatest, which `top` takes.
    template <class More> static int first_greatest(const Real *row, int n, Real &top, More more) {
        int place = 0;
        top = Real(-INF);
        for (int i = 0; i < n; ++i) {
            const Real value = row[i] + more(i);
            if (!(value > top)) continue;
            top = value;
            place = i;
        }
        return place;
    }

    // The greatest state after p tags.
    Real greatest_state(int p, const Real *states) const {
        Real top = Real(-INF), ignored = 0;
        for (int g = 0; g < 2; ++g)
            for (int s = live(p, g).low; s <= live(p, g).high; s += 1 << parity_)
                top = greater(top, greatest(row(states, g, s), n_into_[g], ignored));
        return top;
    }

    bool read(int s, int length) {
        scores_ = b.scores + b.starts[s] * b.n_tags;
        length_ = length;
        live_ = reach_.live(length);
        T check = 0;
        greatest(scores_, (std::ptrdiff_t)length * b.n_tags, check);
        return !std::isnan(check);
    }

    Range live(int p, int g) const { return live_[2 * p + g]; }
    Real *row(Real *states, int g, int size) const { return states + base_[g] + (size_t)(size >> parity_) * wide_into_[g]; }
    const Real *row(const Real *states, int g, int size) const { return row(const_cast<Real *>(states), g, size); }
    // The place of the i-th tag into g and the j-th out of it among the batch's pairs.
    size_t pair_at(int g, int i, int j) const { return (size_t)tags_into_[g][i] * b.n_tags + tags_out_of_[g][j]; }

    const Batch<T> &b;
    Reach &reach_;
    int parity_, length_ = 0;
    const Range *live_ = nullptr;
    const T *scores_ = nullptr;
    std::vector<int> tags_into_[2], tags_out_of_[2];  // of a state
    int into_[4], out_of_[4];  // where a class begins among them
    int n_into_[2], n_out_[2], wide_into_[2], wide_out_[2];
    size_t base_[2], block_;
    Buffer<Real> pairs_[2];  // (tags into, tags out of) scores of successive tags
    Buffer<Real> product_;   // (stack sizes, tags out of)
    Buffer<Real> shifted_;   // scores of a position
};

// Viterbi. Every few positions the best score so far is taken off all states, so that in float32 long sentences lose no
// precision; the total is added up in double along the best path.
template <class T> class LinearChainViterbi : public LinearChain<T, T> {
  public:
    LinearChainViterbi(const Batch<T> &batch, Reach &reach, int32_t *ids) : LinearChain<T, T>(batch, reach), ids_(ids) {}

    bool read(int s, int length) {
        own_ids_ = ids_ + this->b.starts[s];
        return LinearChain<T, T>::read(s, length);
    }

    void step(int p, const T *old, T *states) {
        this->advance(p, old, states, old[0], [this](int g, const T *rows, int n) {
            product<MaxPlus>(rows, n, this->wide_into_[g], 1, this->pairs_[g].data(), this->n_into_[g],
                                   this->product_.data(), this->wide_out_[g]);
        });
        const T top = p % 8 == 0 ? this->greatest_state(p + 1, states) : 0;
        states[0] = std::isfinite(top) ? top : 0;
    }

    double finish(const T *states) {
        const Batch<T> &b = this->b;
        g_ = b.lattice.end_state;
        s_ = b.lattice.end_stack;
        column_ = -1;
        sum_ = 0;
        if (!this->live(this->length_, g_).has(s_)) return -INF;
        T top;
        column_ = this->first_greatest(this->row(states, g_, s_), this->n_into_[g_], top,
                                       [&](int i) { return T(b.end[this->tags_into_[g_][i]]); });
        return top;
    }

    void back(int p, const T *old, const T *) {
        const Batch<T> &b = this->b;
        const int tag = this->tags_into_[g_][column_];
        int c = 0;
        while (tag >= b.offsets[c + 1]) ++c;
        own_ids_[p] = tag;
        sum_ += this->scores_[(size_t)p * b.n_tags + tag];
        if (p == this->length_ - 1) sum_ += b.end[tag];
        if (!p) {
            sum_ += b.start[tag];
            return;
        }
        const int g = b.lattice.source[c];
        s_ -= b.lattice.delta[c];
        const T *pair = this->pairs_[g].data() + this->out_of_[c] + tag - b.offsets[c];
        const auto score = [&](int i) { return pair[(size_t)i * this->wide_out_[g]]; };
        T top;
        column_ = this->first_greatest(this->row(old, g, s_), this->n_into_[g], top, score);
        sum_ += score(column_);
        g_ = g;
    }
    Status end(double &total) {
        total = sum_;
        return FOUND;
    }

  private:
    int32_t *ids_, *own_ids_ = nullptr;
    int g_ = 0, s_ = 0, column_ = -1;
    double sum_ = 0;
};

}  // namespace parsetag
