// Viterbi and log-sum-exp over the lattice where tags are independent: a state is (lattice state, stack size). A tag's label never
// changes the state. So each class of tags is first reduced to one number, in a single read of the scores, and the
// lattice runs over four numbers per position.
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
        : b(batch), reach_(reach), parity_(reach.parity()), places_(reach.places()), of_length_(batch.longest() + 1),
          tops_(4 * (size_t)batch.longest()) {}

    size_t block() const { return 2 * (size_t)places_; }

    void start(double *states) { states[at(b.lattice.start_state, b.lattice.start_stack)] = 0; }

    void step(int p, const double *old, double *states) {
        // Fetches the scores that follow this sentence, most often the next one's, while memory would otherwise be
        // idle.
        for (int i = 0; i < b.n_tags; i += 64 / (int)sizeof(T)) PARSETAG_PREFETCH(scores_ + (size_t)(length_ + p) * b.n_tags + i);
        for (int g = 0; g < 2; ++g) {
            const Move &move = moves_[2 * p + g];
            const double *x = old + move.from[0], *y = old + move.from[1];
            const double u = weights_[4 * p + b.lattice.into[g][0]], v = weights_[4 * p + b.lattice.into[g][1]];
            double *__restrict out = states + move.to;
            for (int i = move.both.low; i <= move.both.high; ++i) out[i] = Semiring::plus(x[i] + u, y[i] + v);
            for (int i = 0; i < move.n; ++i) {
                if (i == move.both.low) i = move.both.high + 1;
                if (i < move.n) out[i] = move.by[0].has(i) ? x[i] + u : move.by[1].has(i) ? y[i] + v : -INF;
            }
        }
    }

    double finish(const double *states) const {
        return reach_.live(length_)[2 * length_ + b.lattice.end_state].has(b.lattice.end_stack) ? states[end_place()] : -INF;
    }

  protected:
    const Batch<T> &b;

    bool read(int s, int length) {
        scores_ = b.scores + b.starts[s] * b.n_tags;
        length_ = length;
        if (of_length_[length].empty()) {
            if ((n_moves_ += length) > MOST_MOVES) {
                n_moves_ = length;
                for (std::vector<Move> &moves : of_length_) moves = {};
            }
            of_length_[length] = moves(length);
        }
        moves_ = of_length_[length].data();
        return !std::isnan(class_max(scores_, length, b.n_tags, b.offsets, tops_.data()));
    }
    // Where a state stands in a block.
    int at(int g, int s) const { return g * places_ + (s >> parity_); }

    int end_place() const { return at(b.lattice.end_state, b.lattice.end_stack); }

    // The steps into a lattice state g, whose `n` states begin at place `to` of a block. The class into[g][k] leads to
    // state i, counted from `to`, if i is in by[k]: it comes from place from[k] + i. To states in `both`, both classes
    // lead.
    struct Move {
        int to, n, from[2];
        Range by[2], both;
    };
    // The score of state i of a move into g if the tag at position p is of the k-th class into g; -inf if that cannot
    // be.
    double coming(const Move &move, int k, int g, int p, const double *old, int i) const {
        return move.by[k].has(i) ? old[move.from[k] + i] + weights_[4 * p + b.lattice.into[g][k]] : -INF;
    }

    Reach &reach_;

  private:
    static constexpr int MOST_MOVES = 1 << 19;  // that are kept, over all lengths

    std::vector<Move> moves(int length) const {
        std::vector<Move> moves(2 * length);
        const Range *live = reach_.live(length);
        for (int p = 0; p < length; ++p)
            for (int g = 0; g < 2; ++g) {
                const Range to = live[2 * (p + 1) + g];
                Move &move = moves[2 * p + g];
                move.to = at(g, to.low);
                move.n = to.slots(parity_);
                for (int k = 0; k < 2; ++k) {
                    const int c = b.lattice.into[g][k], source = b.lattice.source[c];
                    const Range by = meet(to, b.lattice.after(c, live[2 * p + source]));
                    move.from[k] = at(source, to.low - b.lattice.delta[c]);
                    if (!by.empty()) move.by[k] = {(by.low - to.low) >> parity_, (by.high - to.low) >> parity_};
                }
                move.both = meet(move.by[0], move.by[1]);
                if (move.both.empty()) move.both = {move.n, move.n - 1};
            }
        return moves;
    }

    int parity_, places_, n_moves_ = 0;
    std::vector<std::vector<Move>> of_length_;  // made when first asked for

  protected:
    int length_ = 0;
    const Move *moves_ = nullptr;  // (length, 2) of the lattice states after each tag
    const T *scores_ = nullptr;
    std::vector<double> tops_;         // (length, 4) greatest score of each class
    const double *weights_ = nullptr;  // (length, 4) what a class adds to the score of a sequence
};

// Viterbi: the best tree.
template <class T> class IndependentViterbi : public Independent<MaxPlus, T> {
  public:
    IndependentViterbi(const Batch<T> &batch, Reach &reach, int32_t *ids)
        : Independent<MaxPlus, T>(batch, reach), ids_(ids), classes_(batch.longest()) {}

    bool read(int s, int length) {
        own_ids_ = ids_ + this->b.starts[s];
        g_ = this->b.lattice.end_state;
        s_ = this->b.lattice.end_stack;
        this->weights_ = this->tops_.data();
        return Independent<MaxPlus, T>::read(s, length);
    }

    void back(int p, const double *old, const double *states) {
        const Batch<T> &b = this->b;
        const auto &move = this->moves_[2 * p + g_];
        const int place = this->at(g_, s_);
        int c = b.lattice.into[g_][0];
        if (this->coming(move, 0, g_, p, old, place - move.to) != states[place]) c = b.lattice.into[g_][1];
        classes_[p] = uint8_t(c);
        s_ -= b.lattice.delta[c];
        g_ = b.lattice.source[c];
    }
    bool again() const { return false; }
    Status end(double &) {
        const Batch<T> &b = this->b;
        first_of(this->scores_, this->length_, b.n_tags, b.offsets, this->weights_, classes_.data(), own_ids_);
        return FOUND;
    }

  private:
    int32_t *ids_, *own_ids_ = nullptr;
    int g_ = 0, s_ = 0;
    std::vector<uint8_t> classes_;  // of the best tree's tags
};

// Log-sum-exp: the log-partition and the marginal of each tag.
template <class T> class IndependentSums : public Independent<LogSum, T> {
  public:
    IndependentSums(const Batch<T> &batch, Reach &reach, T *marginals)
        : Independent<LogSum, T>(batch, reach), marginals_(marginals), sums_(this->tops_.size()), logs_(sums_.size()), classes_(sums_.size()), mass_(this->block()),
          mass_before_(this->block()) {}

    bool read(int s, int length) {
        const Batch<T> &b = this->b;
        own_ = marginals_ + b.starts[s] * b.n_tags;
        if (!Independent<LogSum, T>::read(s, length)) return false;
        shift_ = Shift();
        class_sums(this->scores_, length, b.n_tags, b.offsets, this->tops_.data(), this->reach_.masks(length), own_,
                   sums_.data(), logs_.data(), &shift_);
        tempered_ = false;
        this->weights_ = logs_.data();
        return true;
    }

    double finish(const double *states) {
        if (!tempered_) total_ = Independent<LogSum, T>::finish(states);
        std::fill(mass_.begin(), mass_.end(), 0);
        if (total_ > -INF) mass_[this->end_place()] = 1;
        return shift_.plus(total_);
    }

    bool again() {
        if (!(error_of(total_, this->length_) > LARGEST_ERROR)) return false;
        for (int i = 0; i < 4 * this->length_; ++i) logs_[i] *= temper(total_, this->length_);
        return tempered_ = true;
    }

    // From the probability of each state after position p to that before it, and the probability of each class.
    void back(int p, const double *old, const double *) {
        const Lattice &lattice = this->b.lattice;
        double *of_class = classes_.data() + 4 * (size_t)p;
        std::fill_n(of_class, 4, 0);
        std::fill(mass_before_.begin(), mass_before_.end(), 0);
        for (int g = 0; g < 2; ++g) {
            const auto &move = this->moves_[2 * p + g];
            for (int i = 0; i < move.n; ++i) {
                const double mass = mass_[move.to + i];
                if (mass == 0) continue;
                const double x = this->coming(move, 0, g, p, old, i), y = this->coming(move, 1, g, p, old, i);
                const double difference = y > x ? x - y : y - x;
                const double ratio = difference > LogSum::LOWEST ? std::exp(difference) : 0;
                const double by_d = mass * ((y > x ? 1 : ratio) / (1 + ratio)), by_c = mass - by_d;
                if (by_c > 0) mass_before_[move.from[0] + i] += by_c;
                if (by_d > 0) mass_before_[move.from[1] + i] += by_d;
                of_class[lattice.into[g][0]] += by_c;
                of_class[lattice.into[g][1]] += by_d;
            }
        }
        std::swap(mass_, mass_before_);
    }

    // A class shares its probability among its tags by their exponentials, which the marginals hold so far.
    Status end(double &) {
        const Batch<T> &b = this->b;
        Status status = status_of(total_, shift_, this->length_);
        for (int p = 0; p < this->length_; ++p)
            for (int c = 0; c < 4; ++c) {
                if (tempered_ && in_doubt(classes_[4 * p + c])) status = TOO_GREAT;
                const double sum = sums_[4 * p + c];
                const T share = T(sum > 0 ? classes_[4 * p + c] / sum : 0);
                T *own = own_ + (size_t)p * b.n_tags;
                for (int i = b.offsets[c]; i < b.offsets[c + 1]; ++i) own[i] *= share;
            }
        return status;
    }

  private:
    T *marginals_, *own_ = nullptr;
    Shift shift_;
    double total_ = 0;  // less the shift
    bool tempered_ = false;
    std::vector<double> sums_, logs_, classes_;  // (length, 4) sum of exponentials, its log, and probability of each class
    std::vector<double> mass_, mass_before_;
};

}  // namespace parsetag
