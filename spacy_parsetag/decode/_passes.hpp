// One forward and one backward pass over the lattice of valid tag sequences (paper section 5.1), for any semiring and with or
// without the last tag in the state:
//
//                  labels are independent                 the last tag counts (linear chain)
//     max, plus    Viterbi, O(N|T| + dN)                  Viterbi, O(dN|T|^2)
//     log-sum-exp  log-partition and marginals            the same, and expected transitions
//
// for N words, |T| tags and stack sizes up to d. `Tape` walks forward and backward; a model says what a step does. Going
// forward a model writes the states after each tag; going back it reads them, and needs no back-pointers: Viterbi finds the
// winner again along the best path, the sums hand probability back in the parts in which it came.
//
// A tag's label never changes the state. So where tags are independent, labels are reduced first, in the one read of the
// scores, and the lattice runs over four numbers a position.
#pragma once

#include <cmath>
#include <memory>
#include <vector>

#include "_lattice.hpp"
#include "_simd.hpp"

namespace parsetag {

// Numbers that begin at a cache line, not initialized.
template <class Real> class Buffer {
  public:
    explicit Buffer(size_t n = 0) : memory_(new char[n * sizeof(Real) + 64]) {}
    Real *data() const { return (Real *)(((uintptr_t)memory_.get() + 63) & ~(uintptr_t)63); }
    Real &operator[](size_t i) { return data()[i]; }

  private:
    std::unique_ptr<char[]> memory_;
};

// The states of a sentence, one block of numbers after each tag. Where all blocks would take more than `budget` bytes,
// checkpointing: about every sqrt(length)-th block stays, and the stretches between them are run again on the way back.
template <class Real> class Tape {
  public:
    Tape(int longest, size_t block, size_t budget) : block_(block), longest_(std::max(1, longest)) {
        if (double(longest_ + 1) * block * sizeof(Real) > double(budget)) longest_ = (int)std::ceil(std::sqrt(longest_));
        kept_ = Buffer<Real>((longest_ + 1) * block);
        marks_ = Buffer<Real>(longest_ < longest ? (longest / longest_ + 1) * block : 0);
    }

    // Runs the model over a sentence of `length` tags; returns the last block.
    template <class Model> const Real *forward(Model &model, int length) {
        stretch_ = std::min(longest_, length);
        model.start(kept_.data());
        for (int first = 0; first < length; first += stretch_) {
            if (first) {
                std::copy_n(block(stretch_), block_, block(0));
                std::copy_n(block(0), block_, mark(first));
            }
            run(model, first, std::min(length, first + stretch_));
        }
        return block((length - 1) % stretch_ + 1);
    }

    // After `forward`: hands each step to the model again, the last one first.
    template <class Model> void backward(Model &model, int length) {
        for (int first = (length - 1) / stretch_ * stretch_; first >= 0; first -= stretch_) {
            const int last = std::min(length, first + stretch_);
            if (last < length) {
                if (first) std::copy_n(mark(first), block_, block(0));
                else model.start(block(0));
                run(model, first, last);
            }
            for (int p = last - 1; p >= first; --p) model.back(p, block(p - first), block(p - first + 1));
        }
    }

  private:
    template <class Model> void run(Model &model, int first, int last) {
        for (int p = first; p < last; ++p) model.step(p, block(p - first), block(p - first + 1));
    }
    Real *block(int i) { return kept_.data() + (size_t)i * block_; }
    Real *mark(int first) { return marks_.data() + (size_t)(first / stretch_) * block_; }

    size_t block_;
    int longest_, stretch_ = 1;
    Buffer<Real> kept_, marks_;
};

// ---- Independent tags: a state is (lattice state, stack size) ----

struct Max {
    static double plus(double a, double b) { return b > a ? b : a; }
};

struct LogSum {
    static constexpr double LOWEST = -37;  // below e^-37 of the greater term the lower one changes nothing
    static double plus(double a, double b) {
        const double high = b > a ? b : a, low = b > a ? a : b;  // both may be -inf
        return low - high > LOWEST ? high + std::log1p(std::exp(low - high)) : high;
    }
};

template <class Semiring, class T> class Independent {
  public:
    Independent(const Batch<T> &batch, Reach &reach)
        : b(batch), reach_(reach), parity_(reach.parity()), places_(reach.places()), tops_(4 * (size_t)batch.longest()) {}

    size_t block() const { return 2 * (size_t)places_; }

    void start(double *states) { states[at(b.lattice.start_state, b.lattice.start_stack)] = 0; }

    void step(int p, const double *old, double *states) {
        const Range from[2] = {live(p, 0), live(p, 1)};
        for (int g = 0; g < 2; ++g) {
            const Range to = live(p + 1, g);
            if (to.empty()) continue;
            const int c = b.lattice.into[g][0], d = b.lattice.into[g][1];
            const Range by_c = meet(to, b.lattice.after(c, from[b.lattice.source[c]]));
            const Range by_d = meet(to, b.lattice.after(d, from[b.lattice.source[d]]));
            // Places, counted from that of the lowest size.
            const double *x = old + at(b.lattice.source[c], to.low - b.lattice.delta[c]);
            const double *y = old + at(b.lattice.source[d], to.low - b.lattice.delta[d]);
            const double u = weights_[4 * p + c], v = weights_[4 * p + d];
            double *__restrict out = states + at(g, to.low);
            const int n = ((to.high - to.low) >> parity_) + 1;
            const Range both = by_c.empty() || by_d.empty() ? Range() : meet(by_c, by_d);
            const int first = both.empty() ? n : (both.low - to.low) >> parity_;
            const int end = both.empty() ? n : ((both.high - to.low) >> parity_) + 1;
            for (int i = first; i < end; ++i) out[i] = Semiring::plus(x[i] + u, y[i] + v);
            for (int i = first ? 0 : end; i < n; i = i + 1 == first ? end : i + 1) {
                const int s = to.low + (i << parity_);
                out[i] = by_c.has(s) ? x[i] + u : by_d.has(s) ? y[i] + v : -INF;
            }
        }
    }

    double total(const double *states) const {
        const Lattice &l = b.lattice;
        return live(length_, l.end_state).has(l.end_stack) ? states[at(l.end_state, l.end_stack)] : -INF;
    }

  protected:
    const Batch<T> &b;

    bool read(const T *scores, int length) {
        scores_ = scores;
        length_ = length;
        live_ = reach_.live(length);
        return !std::isnan(class_max(scores, length, b.n_tags, b.offsets, tops_.data()));
    }
    Range live(int p, int g) const { return live_[2 * p + g]; }
    // Where a state stands in a block.
    int at(int g, int s) const { return g * places_ + (s >> parity_); }
    // The score of a state of size s if it comes by class c, which is at position p; -inf if it cannot.
    double coming(const double *old, int p, int c, int s) const {
        const int g = b.lattice.source[c], before = s - b.lattice.delta[c];
        return before >= b.lattice.need[c] && live(p, g).has(before) ? old[at(g, before)] + weights_[4 * p + c] : -INF;
    }

    Reach &reach_;
    int parity_, places_, length_ = 0;
    const Range *live_ = nullptr;
    const T *scores_ = nullptr;
    std::vector<double> tops_;         // (length, 4) greatest score of each class
    const double *weights_ = nullptr;  // (length, 4) what a class adds to the score of a sequence
};

// Viterbi: the best tree.
template <class T> class IndependentViterbi : public Independent<Max, T> {
  public:
    struct Result {
        int32_t *ids;
        double *total;
    };

    IndependentViterbi(const Batch<T> &batch, Reach &reach) : Independent<Max, T>(batch, reach), classes_(batch.longest()) {}

    bool read(const T *scores, int length, Result result) {
        result_ = result;
        g_ = this->b.lattice.end_state;
        s_ = this->b.lattice.end_stack;
        this->weights_ = this->tops_.data();
        return Independent<Max, T>::read(scores, length);
    }

    void finish(const double *states) { *result_.total = this->total(states); }

    void back(int p, const double *old, const double *states) {
        const Batch<T> &b = this->b;
        int c = b.lattice.into[g_][0];
        if (this->coming(old, p, c, s_) != states[this->at(g_, s_)]) c = b.lattice.into[g_][1];
        classes_[p] = c;
        s_ -= b.lattice.delta[c];
        g_ = b.lattice.source[c];
    }
    void end() {
        const Batch<T> &b = this->b;
        first_of(this->scores_, this->length_, b.n_tags, b.offsets, this->weights_, classes_.data(), result_.ids);
    }

  private:
    Result result_;
    int g_ = 0, s_ = 0;
    std::vector<uint8_t> classes_;  // of the best tree's tags
};

// Log-sum-exp: the log-partition and the marginal of each tag.
template <class T> class IndependentSums : public Independent<LogSum, T> {
  public:
    struct Result {
        T *marginals;
        double *total;
    };

    IndependentSums(const Batch<T> &batch, Reach &reach)
        : Independent<LogSum, T>(batch, reach), sums_(this->tops_.size()), logs_(sums_.size()), classes_(sums_.size()), mass_(this->block()),
          mass_before_(this->block()) {}

    bool read(const T *scores, int length, Result result) {
        const Batch<T> &b = this->b;
        result_ = result;
        if (!Independent<LogSum, T>::read(scores, length)) return false;
        class_sums(scores, length, b.n_tags, b.offsets, this->tops_.data(), result.marginals, sums_.data(), logs_.data());
        this->weights_ = logs_.data();
        return true;
    }

    void finish(const double *states) {
        *result_.total = this->total(states);
        std::fill(mass_.begin(), mass_.end(), 0);
        mass_[this->at(this->b.lattice.end_state, this->b.lattice.end_stack)] = 1;
    }

    // From the probability of each state after position p to that before it, and the probability of each class.
    void back(int p, const double *old, const double *states) {
        const Lattice &lattice = this->b.lattice;
        double *of_class = classes_.data() + 4 * (size_t)p;
        std::fill_n(of_class, 4, 0);
        std::fill(mass_before_.begin(), mass_before_.end(), 0);
        for (int g = 0; g < 2; ++g) {
            const Range to = this->live(p + 1, g);
            for (int s = to.low; s <= to.high; s += 1 << this->parity_) {
                const double mass = mass_[this->at(g, s)];
                if (mass == 0) continue;
                const int c = lattice.into[g][0], d = lattice.into[g][1];
                const double x = this->coming(old, p, c, s), y = this->coming(old, p, d, s);
                const double difference = y > x ? x - y : y - x;
                const double ratio = difference > LogSum::LOWEST ? std::exp(difference) : 0;
                const double by_d = mass * ((y > x ? 1 : ratio) / (1 + ratio)), by_c = mass - by_d;
                if (by_c > 0) mass_before_[this->at(lattice.source[c], s - lattice.delta[c])] += by_c;
                if (by_d > 0) mass_before_[this->at(lattice.source[d], s - lattice.delta[d])] += by_d;
                of_class[c] += by_c;
                of_class[d] += by_d;
            }
        }
        std::swap(mass_, mass_before_);
    }

    // A class shares its probability among its tags by their exponentials, which `marginals` holds so far.
    void end() {
        const Batch<T> &b = this->b;
        for (int p = 0; p < this->length_; ++p)
            for (int c = 0; c < 4; ++c) {
                const double sum = sums_[4 * p + c];
                const T share = T(sum > 0 ? classes_[4 * p + c] / sum : 0);
                T *own = result_.marginals + (size_t)p * b.n_tags;
                for (int i = b.offsets[c]; i < b.offsets[c + 1]; ++i) own[i] *= share;
            }
    }

  private:
    Result result_;
    std::vector<double> sums_, logs_, classes_;  // (length, 4) sum of exponentials, its log, and probability of each class
    std::vector<double> mass_, mass_before_;
};

// ---- A linear chain: a state is (lattice state, stack size, last tag) ----
//
// The tags that lead into a lattice state are its columns. One step is, for each lattice state, a product of (stack sizes,
// tags into it) with (tags into it, tags out of it) in the semiring, and then an addition of scores.

template <class Real, class T> class Chain {
  public:
    Chain(const Batch<T> &batch, Reach &reach) : b(batch), reach_(reach), parity_(reach.parity()) {
        const int slots = reach.places();
        int n_out[2] = {0, 0}, n_into[2] = {0, 0};
        for (int c = 0; c < 4; ++c) {
            into_[c] = n_into[b.lattice.target[c]];
            out_of_[c] = n_out[b.lattice.source[c]];
            n_into[b.lattice.target[c]] += b.count(c);
            n_out[b.lattice.source[c]] += b.count(c);
        }
        block_ = PAD;  // the first number of a block is its shift
        for (int g = 0; g < 2; ++g) {
            n_into_[g] = n_into[g];
            n_out_[g] = n_out[g];
            wide_into_[g] = padded(n_into[g]);
            wide_out_[g] = padded(n_out[g]);
            base_[g] = block_;
            block_ += (size_t)slots * wide_into_[g];
            pairs_[g] = Buffer<Real>((size_t)n_into[g] * wide_out_[g]);
            std::fill_n(pairs_[g].data(), (size_t)n_into[g] * wide_out_[g], Real(-INF));
            for (int i = 0; i < n_into[g]; ++i)
                for (int c = 0; c < 4; ++c)
                    if (b.lattice.source[c] == g)
                        for (int j = 0; j < b.count(c); ++j)
                            pairs_[g][(size_t)i * wide_out_[g] + out_of_[c] + j] =
                                Real(b.pairs[(size_t)tag_into(g, i) * b.n_tags + b.offsets[c] + j]);
        }
        product_ = Buffer<Real>((size_t)slots * std::max(wide_out_[0], wide_out_[1]));
        shifted_ = Buffer<Real>(b.n_tags);
    }

    size_t block() const { return block_; }
    void start(Real *states) { states[0] = 0; }

  protected:
    // From the states after p tags to those after p + 1, less `shift`: multiply(g, rows, n) fills `product_` from n rows of
    // state g.
    template <class Multiply> void advance(int p, const Real *old, Real *states, Real shift, Multiply multiply) {
        const T *scores = scores_ + (size_t)p * b.n_tags;
        for (int i = 0; i < b.n_tags; ++i) shifted_[i] = Real(scores[i]) - shift;
        for (int g = 0; g < 2; ++g) {
            const Range from = live(p, g);
            if (p && !from.empty()) multiply(g, row(old, g, from.low), slots(from));
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

    // The greatest state after p tags.
    Real greatest_state(int p, const Real *states) const {
        Real top = Real(-INF), ignored = 0;
        for (int g = 0; g < 2; ++g)
            for (int s = live(p, g).low; s <= live(p, g).high; s += 1 << parity_)
                top = greater(top, greatest(row(states, g, s), n_into_[g], ignored));
        return top;
    }

    bool read(const T *scores, int length) {
        scores_ = scores;
        length_ = length;
        live_ = reach_.live(length);
        T check = 0;
        greatest(scores, length * b.n_tags, check);
        return !std::isnan(check);
    }

    Range live(int p, int g) const { return live_[2 * p + g]; }
    int slots(Range r) const { return r.empty() ? 0 : ((r.high - r.low) >> parity_) + 1; }
    Real *row(Real *states, int g, int size) const { return states + base_[g] + (size_t)(size >> parity_) * wide_into_[g]; }
    const Real *row(const Real *states, int g, int size) const { return row(const_cast<Real *>(states), g, size); }
    // The class of the tag in a column of the states of g, and the tag.
    int class_into(int g, int i) const {
        const int first = b.lattice.into[g][0], second = b.lattice.into[g][1];
        return i >= into_[second] && i < into_[second] + b.count(second) ? second : first;
    }
    int tag_into(int g, int i) const {
        const int c = class_into(g, i);
        return b.offsets[c] + i - into_[c];
    }

    const Batch<T> &b;
    Reach &reach_;
    int parity_, length_ = 0;
    const Range *live_ = nullptr;
    const T *scores_ = nullptr;
    int into_[4], out_of_[4];  // where a class begins among the tags into, and out of, its state
    int n_into_[2], n_out_[2], wide_into_[2], wide_out_[2];
    size_t base_[2], block_;
    Buffer<Real> pairs_[2];  // (tags into, tags out of) scores of successive tags
    Buffer<Real> product_;   // (stack sizes, tags out of)
    Buffer<Real> shifted_;   // scores of a position
};

// Viterbi. Every few positions the best score so far is taken off all states, so that in float32 long sentences lose no
// precision; the total is added up in double along the best path.
template <class Real, class T> class ChainViterbi : public Chain<Real, T> {
  public:
    using Chain<Real, T>::Chain;
    using Result = typename IndependentViterbi<T>::Result;

    bool read(const T *scores, int length, Result result) {
        result_ = result;
        return Chain<Real, T>::read(scores, length);
    }

    void step(int p, const Real *old, Real *states) {
        this->advance(p, old, states, old[0], [this](int g, const Real *rows, int n) {
            product<MaxPlus, Real>(rows, n, this->wide_into_[g], 1, this->pairs_[g].data(), this->n_into_[g],
                                   this->product_.data(), this->wide_out_[g]);
        });
        const Real top = p % 8 == 0 ? this->greatest_state(p + 1, states) : 0;
        states[0] = std::isfinite(top) ? top : 0;
    }

    void finish(const Real *states) {
        const Batch<T> &b = this->b;
        g_ = b.lattice.end_state;
        s_ = b.lattice.end_stack;
        column_ = -1;
        sum_ = 0;
        if (!this->live(this->length_, g_).has(s_)) {
            *result_.total = -INF;
            return;
        }
        const Real *row = this->row(states, g_, s_);
        Real top = Real(-INF);
        for (int i = 0; i < this->n_into_[g_]; ++i) {
            const Real value = row[i] + Real(b.end[this->tag_into(g_, i)]);
            if (value > top) {
                top = value;
                column_ = i;
            }
        }
        *result_.total = top;
    }

    void back(int p, const Real *old, const Real *) {
        const Batch<T> &b = this->b;
        const int c = this->class_into(g_, column_), tag = this->tag_into(g_, column_);
        result_.ids[p] = tag;
        sum_ += this->scores_[(size_t)p * b.n_tags + tag];
        if (p == this->length_ - 1) sum_ += b.end[tag];
        if (!p) {
            sum_ += b.start[tag];
            return;
        }
        const int g = b.lattice.source[c];
        s_ -= b.lattice.delta[c];
        const Real *row = this->row(old, g, s_), *pair = this->pairs_[g].data() + this->out_of_[c] + tag - b.offsets[c];
        Real top = Real(-INF);
        int winner = 0;
        for (int i = 0; i < this->n_into_[g]; ++i) {
            const Real value = row[i] + pair[(size_t)i * this->wide_out_[g]];
            if (value > top) {
                top = value;
                winner = i;
            }
        }
        sum_ += pair[(size_t)winner * this->wide_out_[g]];
        g_ = g;
        column_ = winner;
    }
    void end() { *result_.total = sum_; }

  private:
    Result result_;
    int g_ = 0, s_ = 0, column_ = -1;
    double sum_ = 0;
};

// Log-sum-exp, in double. A product runs over exponentials relative to the greatest state of a row and the greatest
// transition; what comes out below e^-600 of both is added up again in logarithms. So any range of scores is exact, and
// only ranges that need it cost more.
template <class T> class ChainSums : public Chain<double, T> {
  public:
    struct Result {
        T *marginals;
        double *total;
        double *pairs, *start, *end;  // expected counts, added to
    };

    ChainSums(const Batch<T> &batch, Reach &reach) : Chain<double, T>(batch, reach) {
        const int slots = reach.places();
        const int into = std::max(this->wide_into_[0], this->wide_into_[1]), out = std::max(this->wide_out_[0], this->wide_out_[1]);
        most_ = std::max(slots, ROWS);
        exp_rows_ = Buffer<double>((size_t)slots * into);
        mass_back_ = Buffer<double>((size_t)slots * into);
        tops_.resize(slots);
        for (int g = 0; g < 2; ++g) {
            const int n = this->n_into_[g], m = this->n_out_[g], wide = this->wide_out_[g], wide_back = this->wide_into_[g];
            const double *pairs = this->pairs_[g].data();
            top_[g] = -INF;
            for (int i = 0; i < n; ++i)
                for (int j = 0; j < m; ++j) top_[g] = greater(top_[g], pairs[(size_t)i * wide + j]);
            if (!(top_[g] > -INF)) top_[g] = 0;
            exp_pairs_[g] = Buffer<double>((size_t)n * wide);
            exp_back_[g] = Buffer<double>((size_t)m * wide_back);
            counts_[g] = Buffer<double>((size_t)n * wide);
            std::fill_n(counts_[g].data(), (size_t)n * wide, 0);
            std::fill_n(exp_back_[g].data(), (size_t)m * wide_back, 0);
            for (int i = 0; i < n; ++i)
                for (int j = 0; j < wide; ++j) {
                    const double e = std::exp(pairs[(size_t)i * wide + j] - top_[g]);
                    exp_pairs_[g][(size_t)i * wide + j] = e;
                    if (j < m) exp_back_[g][(size_t)j * wide_back + i] = e;
                }
            n_waiting_[g] = 0;
            left_[g] = Buffer<double>((size_t)(most_ + slots) * wide_back);
            right_[g] = Buffer<double>((size_t)(most_ + slots) * wide);
        }
        mass_ = Buffer<double>(this->block_);
        mass_before_ = Buffer<double>(this->block_);
    }

    bool read(const T *scores, int length, Result result) {
        result_ = result;
        std::fill_n(result.marginals, (size_t)length * this->b.n_tags, T(0));
        return Chain<double, T>::read(scores, length);
    }

    void step(int p, const double *old, double *states) {
        this->advance(p, old, states, 0.0, [this](int g, const double *rows, int n) { multiply(g, rows, n); });
    }

    void finish(const double *states) {
        const Batch<T> &b = this->b;
        const int g = b.lattice.end_state;
        *result_.total = -INF;
        std::fill_n(mass_.data(), this->block_, 0);
        if (!this->live(this->length_, g).has(b.lattice.end_stack)) return;
        const double *row = this->row(states, g, b.lattice.end_stack);
        double *mass = this->row(mass_.data(), g, b.lattice.end_stack), top = -INF, sum = 0;
        for (int i = 0; i < this->n_into_[g]; ++i) {
            mass[i] = row[i] + b.end[this->tag_into(g, i)];
            top = greater(top, mass[i]);
        }
        if (!(top > -INF)) return;
        for (int i = 0; i < this->n_into_[g]; ++i) sum += mass[i] = std::exp(mass[i] - top);
        *result_.total = top + std::log(sum);
        for (int i = 0; i < this->n_into_[g]; ++i) result_.end[this->tag_into(g, i)] += mass[i] /= sum;
    }

    // From the probability of each state after position p to that before it; adds to marginals and expected counts.
    void back(int p, const double *old, const double *states) {
        const Batch<T> &b = this->b;
        const T *scores = this->scores_ + (size_t)p * b.n_tags;
        T *marginals = result_.marginals + (size_t)p * b.n_tags;
        for (int g = 0; g < 2; ++g) {
            const Range to = this->live(p + 1, g);
            for (int s = to.low; s <= to.high; s += 1 << this->parity_) {
                const double *mass = this->row(mass_.data(), g, s);
                for (int c : b.lattice.into[g])
                    for (int j = 0; j < b.count(c); ++j) {
                        marginals[b.offsets[c] + j] += T(mass[this->into_[c] + j]);
                        if (!p) result_.start[b.offsets[c] + j] += mass[this->into_[c] + j];
                    }
            }
        }
        if (!p) return;
        for (int g = 0; g < 2; ++g) {
            const Range from = this->live(p, g);
            const int n = this->slots(from), wide = this->wide_into_[g], wide_out = this->wide_out_[g];
            if (!n) continue;
            const double *rows = this->row(old, g, from.low);
            double *before = this->row(mass_before_.data(), g, from.low);
            exponentiate(g, rows, n);
            // Probability of each pair over the product that it is a part of: waits for a product of many rows.
            double *left = left_[g].data() + (size_t)n_waiting_[g] * wide, *right = right_[g].data() + (size_t)n_waiting_[g] * wide_out;
            std::copy_n(exp_rows_.data(), (size_t)n * wide, left);
            std::fill_n(right, (size_t)n * wide_out, 0);
            std::fill_n(before, (size_t)n * wide, 0);
            for (int c = 0; c < 4; ++c) {
                if (b.lattice.source[c] != g || !b.count(c)) continue;
                const int target = b.lattice.target[c];
                const Range reached = meet(this->live(p + 1, target), b.lattice.after(c, from));
                for (int r = 0; r < n; ++r) {
                    const int s = from.low + (r << this->parity_) + b.lattice.delta[c];
                    if (!reached.has(s)) continue;
                    const double *mass = this->row(mass_.data(), target, s) + this->into_[c];
                    const double *after = this->row(states, target, s) + this->into_[c];
                    for (int j = 0; j < b.count(c); ++j) {
                        if (!(mass[j] > 0)) continue;
                        const double sum = after[j] - scores[b.offsets[c] + j];  // log of the product
                        const double relative = sum - tops_[r] - top_[g];
                        const int column = this->out_of_[c] + j;
                        if (relative > LOWEST) right[(size_t)r * wide_out + column] = mass[j] / std::exp(relative);
                        else hand_back(g, rows + (size_t)r * wide, column, mass[j], sum, before + (size_t)r * wide);
                    }
                }
            }
            product<SumProduct, double>(right, n, wide_out, 1, exp_back_[g].data(), this->n_out_[g], mass_back_.data(), wide);
            for (size_t i = 0; i < (size_t)n * wide; ++i) before[i] += left[i] * mass_back_[i];
            if ((n_waiting_[g] += n) >= most_) count(g);
        }
        std::swap(mass_, mass_before_);
    }
    void end() {}

    // Adds the expected transitions of all sentences so far to the result.
    void close() {
        const Batch<T> &b = this->b;
        for (int g = 0; g < 2; ++g) {
            count(g);
            for (int i = 0; i < this->n_into_[g]; ++i)
                for (int c = 0; c < 4; ++c)
                    if (b.lattice.source[c] == g)
                        for (int j = 0; j < b.count(c); ++j) {
                            const size_t at = (size_t)i * this->wide_out_[g] + this->out_of_[c] + j;
                            result_.pairs[(size_t)this->tag_into(g, i) * b.n_tags + b.offsets[c] + j] += counts_[g][at] * exp_pairs_[g][at];
                        }
        }
    }

  private:
    static constexpr double LOWEST = -600;  // below e^-600 a product is added up in logarithms
    static constexpr int ROWS = 64;  // of the products that count pairs

    // exp_rows_ = exp(rows - tops_)
    void exponentiate(int g, const double *rows, int n) {
        const int wide = this->wide_into_[g];
        for (int r = 0; r < n; ++r) {
            const double *row = rows + (size_t)r * wide;
            double *out = exp_rows_.data() + (size_t)r * wide, top = -INF;
            for (int i = 0; i < this->n_into_[g]; ++i) top = greater(top, row[i]);
            tops_[r] = top = top > -INF ? top : 0;
            for (int i = 0; i < this->n_into_[g]; ++i) out[i] = std::exp(row[i] - top);
            std::fill(out + this->n_into_[g], out + wide, 0);
        }
    }

    void multiply(int g, const double *rows, int n) {
        const int wide = this->wide_into_[g], wide_out = this->wide_out_[g];
        exponentiate(g, rows, n);
        product<SumProduct, double>(exp_rows_.data(), n, wide, 1, exp_pairs_[g].data(), this->n_into_[g], this->product_.data(), wide_out);
        for (int r = 0; r < n; ++r) {
            double *out = this->product_.data() + (size_t)r * wide_out;
            for (int j = 0; j < this->n_out_[g]; ++j) {
                const double sum = std::log(out[j]);
                out[j] = sum > LOWEST ? sum + tops_[r] + top_[g] : log_product(g, rows + (size_t)r * wide, j);
            }
        }
    }

    // The same for one row and column, in logarithms.
    double log_product(int g, const double *row, int column) const {
        const double *pair = this->pairs_[g].data() + column;
        double top = -INF, sum = 0;
        for (int i = 0; i < this->n_into_[g]; ++i) top = greater(top, row[i] + pair[(size_t)i * this->wide_out_[g]]);
        if (!(top > -INF)) return -INF;
        for (int i = 0; i < this->n_into_[g]; ++i) sum += std::exp(row[i] + pair[(size_t)i * this->wide_out_[g]] - top);
        return top + std::log(sum);
    }

    // Hands the mass of one column back to the states of one row, in logarithms.
    void hand_back(int g, const double *row, int column, double mass, double sum, double *before) {
        const Batch<T> &b = this->b;
        const double *pair = this->pairs_[g].data() + column;
        int c = 0;
        while (b.lattice.source[c] != g || column < this->out_of_[c] || column >= this->out_of_[c] + b.count(c)) ++c;
        const int tag = b.offsets[c] + column - this->out_of_[c];
        for (int i = 0; i < this->n_into_[g]; ++i) {
            const double part = mass * std::exp(row[i] + pair[(size_t)i * this->wide_out_[g]] - sum);
            before[i] += part;
            result_.pairs[(size_t)this->tag_into(g, i) * b.n_tags + tag] += part;
        }
    }

    // Expected counts of pairs, over the exponentials of their scores, from the rows that wait.
    void count(int g) {
        product<SumProduct, double>(left_[g].data(), this->n_into_[g], 1, this->wide_into_[g], right_[g].data(), n_waiting_[g],
                                    counts_[g].data(), this->wide_out_[g], true);
        n_waiting_[g] = 0;
    }

    Result result_;
    double top_[2];
    std::vector<double> tops_;
    Buffer<double> exp_pairs_[2], exp_back_[2], counts_[2], left_[2], right_[2];
    Buffer<double> exp_rows_, mass_back_, mass_, mass_before_;
    int n_waiting_[2], most_;
};

// ---- Batches ----

// Bytes that the states of one sentence may take before checkpointing.
const size_t BUDGET = size_t(1) << 26;

// Runs a model over the sentences of a batch that have the status `only`: forward, then back.
template <class Real, class Model, class T, class ResultOf>
void run(Model &model, const Batch<T> &b, int longest, size_t budget, uint8_t only, ResultOf result_of, uint8_t *status) {
    Tape<Real> tape(longest, model.block(), budget);
    for (int s = 0; s < b.n_sentences; ++s) {
        const int length = 2 * b.n_words[s] - 1;
        if (length < 1 || status[s] != only) continue;
        auto result = result_of(s);
        status[s] = NOT_FINITE;
        if (!model.read(b.scores + b.starts[s] * b.n_tags, length, result)) continue;
        model.finish(tape.forward(model, length));
        status[s] = *result.total > -INF ? FOUND : NO_TREE;
        if (status[s] != FOUND) continue;
        tape.backward(model, length);
        model.end();
    }
}

// The best tree of each sentence: ids (rows), totals (sentences).
template <class T> void viterbi(const Batch<T> &b, size_t budget, int32_t *ids, double *totals, uint8_t *status) {
    const int longest = b.longest();
    if (!longest) return;
    Reach reach(b.lattice, longest, b.bound);
    const auto result_of = [&](int s) { return typename IndependentViterbi<T>::Result{ids + b.starts[s], totals + s}; };
    if (!b.pairs) {
        IndependentViterbi<T> model(b, reach);
        run<double>(model, b, longest, budget, FOUND, result_of, status);
        return;
    }
    ChainViterbi<T, T> model(b, reach);
    run<T>(model, b, longest, budget, FOUND, result_of, status);
    // Where float32 finds no tree, because scores are so far apart that sums overflow, double has the last word.
    if (sizeof(T) < sizeof(double) && std::count(status, status + b.n_sentences, NO_TREE)) {
        ChainViterbi<double, T> wide(b, reach);
        run<double>(wide, b, longest, budget, NO_TREE, result_of, status);
    }
}

// Log-partition (sentences) and marginals (rows, tags) of each sentence; with transitions also the expected number of each
// pair of successive tags, first tag and last tag, over all sentences.
template <class T>
void log_sums(const Batch<T> &b, size_t budget, double *totals, T *marginals, double *pairs, double *start, double *end,
              uint8_t *status) {
    const int longest = b.longest();
    if (!longest) return;
    Reach reach(b.lattice, longest, b.bound);
    if (!b.pairs) {
        IndependentSums<T> model(b, reach);
        run<double>(model, b, longest, budget, FOUND, [&](int s) {
            return typename IndependentSums<T>::Result{marginals + b.starts[s] * b.n_tags, totals + s};
        }, status);
        return;
    }
    ChainSums<T> model(b, reach);
    run<double>(model, b, longest, budget, FOUND, [&](int s) {
        return typename ChainSums<T>::Result{marginals + b.starts[s] * b.n_tags, totals + s, pairs, start, end};
    }, status);
    model.close();
}

}  // namespace parsetag
