// Viterbi and log-sum-exp over the lattice where tags are independent: a state is (lattice state, stack size). A tag's label never
// changes the state. So labels are reduced first, in the one read of the scores, and the lattice runs over four numbers a
// position.
#pragma once

#include <vector>

#include "_lattice.hpp"
#include "_semirings.hpp"
#include "_simd.hpp"
#include "_tape.hpp"

namespace parsetag {

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
    using Result = BestTree;

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

}  // namespace parsetag
