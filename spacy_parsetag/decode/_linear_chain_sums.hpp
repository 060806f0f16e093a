// Log-sum-exp over the lattice where successive tags score: log-partition, marginals and expected transitions.
#pragma once

#include <cmath>
#include <vector>

#include "_linear_chain.hpp"

namespace parsetag {

// Log-sum-exp, in double. A product runs over exponentials relative to the greatest state of a row and the greatest
// transition; what comes out below e^-600 of both is added up again in logarithms. So any range of scores is exact, and
// only ranges that need it cost more.
template <class T> class LinearChainSums : public LinearChain<double, T> {
  public:
    // pairs, start, end: expected counts, added to.
    LinearChainSums(const Batch<T> &batch, Reach &reach, T *marginals, double *pairs, double *start, double *end)
        : LinearChain<double, T>(batch, reach), marginals_(marginals), d_pairs_(pairs), d_start_(start), d_end_(end) {
        const int slots = reach.places();
        const int into = std::max(this->wide_into_[0], this->wide_into_[1]);
        most_ = std::max(slots, ROWS);
        exp_rows_ = Buffer<double>((size_t)slots * into);
        mass_back_ = Buffer<double>((size_t)slots * into);
        tops_.resize(slots);
        for (int g = 0; g < 2; ++g) {
            const int n = this->n_into_[g], m = this->n_out_[g], wide = this->wide_out_[g], wide_back = this->wide_into_[g];
            const double *pairs = this->pairs_[g].data();
            double ignored = 0;
            const double top = greatest(pairs, (std::ptrdiff_t)n * wide, ignored);  // padding is -INF
            top_[g] = top > -INF ? top : 0;
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
            left_[g] = Buffer<double>((size_t)(most_ + slots) * wide_back);
            right_[g] = Buffer<double>((size_t)(most_ + slots) * wide);
        }
        mass_ = Buffer<double>(this->block_);
        mass_before_ = Buffer<double>(this->block_);
    }

    bool read(int s, int length) {
        own_ = marginals_ + this->b.starts[s] * this->b.n_tags;
        std::fill_n(own_, (size_t)length * this->b.n_tags, T(0));
        return LinearChain<double, T>::read(s, length);
    }

    void step(int p, const double *old, double *states) {
        this->advance(p, old, states, 0.0, [this](int g, const double *rows, int n) { multiply(g, rows, n); });
    }

    double finish(const double *states) {
        const Batch<T> &b = this->b;
        const int g = b.lattice.end_state;
        std::fill_n(mass_.data(), this->block_, 0);
        if (!this->live(this->length_, g).has(b.lattice.end_stack)) return -INF;
        const double *row = this->row(states, g, b.lattice.end_stack);
        double *mass = this->row(mass_.data(), g, b.lattice.end_stack), top = -INF, sum = 0;
        for (int i = 0; i < this->n_into_[g]; ++i) {
            mass[i] = row[i] + b.end[this->tags_into_[g][i]];
            top = greater(top, mass[i]);
        }
        if (!(top > -INF)) return -INF;
        for (int i = 0; i < this->n_into_[g]; ++i) sum += mass[i] = std::exp(mass[i] - top);
        for (int i = 0; i < this->n_into_[g]; ++i) d_end_[this->tags_into_[g][i]] += mass[i] /= sum;
        return top + std::log(sum);
    }

    // From the probability of each state after position p to that before it; adds to marginals and expected counts.
    void back(int p, const double *old, const double *states) {
        const Batch<T> &b = this->b;
        const T *scores = this->scores_ + (size_t)p * b.n_tags;
        T *marginals = own_ + (size_t)p * b.n_tags;
        for (int g = 0; g < 2; ++g) {
            const Range to = this->live(p + 1, g);
            for (int s = to.low; s <= to.high; s += 1 << this->parity_) {
                const double *mass = this->row(mass_.data(), g, s);
                for (int c : b.lattice.into[g])
                    for (int j = 0; j < b.count(c); ++j) {
                        marginals[b.offsets[c] + j] += T(mass[this->into_[c] + j]);
                        if (!p) d_start_[b.offsets[c] + j] += mass[this->into_[c] + j];
                    }
            }
        }
        if (!p) return;
        for (int g = 0; g < 2; ++g) {
            const Range from = this->live(p, g);
            const int n = from.slots(this->parity_), wide = this->wide_into_[g], wide_out = this->wide_out_[g];
            if (!n) continue;
            const double *rows = this->row(old, g, from.low);
            double *before = this->row(mass_before_.data(), g, from.low);
            exponentiate(g, rows, n);
            // The probability of each tag out of g, divided by its product, is collected in `right`, and the states in
            // `left`, until one product of many rows counts their pairs.
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
            product<SumProduct>(right, n, wide_out, 1, exp_back_[g].data(), this->n_out_[g], mass_back_.data(), wide);
            for (size_t i = 0; i < (size_t)n * wide; ++i) before[i] += left[i] * mass_back_[i];
            if ((n_waiting_[g] += n) >= most_) count(g);
        }
        std::swap(mass_, mass_before_);
    }
    Status end(double &) const { return FOUND; }

    // Adds the expected transitions of all sentences so far to the result.
    void close() {
        for (int g = 0; g < 2; ++g) {
            count(g);
            for (int i = 0; i < this->n_into_[g]; ++i)
                for (int j = 0; j < this->n_out_[g]; ++j) {
                    const size_t at = (size_t)i * this->wide_out_[g] + j;
                    d_pairs_[this->pair_at(g, i, j)] += counts_[g][at] * exp_pairs_[g][at];
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
        product<SumProduct>(exp_rows_.data(), n, wide, 1, exp_pairs_[g].data(), this->n_into_[g], this->product_.data(), wide_out);
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
        return LogSum::sum(this->n_into_[g], [&](int i) { return row[i] + pair[(size_t)i * this->wide_out_[g]]; });
    }

    // Hands the mass of one column back to the states of one row, in logarithms.
    void hand_back(int g, const double *row, int column, double mass, double sum, double *before) {
        const double *pair = this->pairs_[g].data() + column;
        for (int i = 0; i < this->n_into_[g]; ++i) {
            const double part = mass * std::exp(row[i] + pair[(size_t)i * this->wide_out_[g]] - sum);
            before[i] += part;
            d_pairs_[this->pair_at(g, i, column)] += part;
        }
    }

    // Expected counts of pairs, over the exponentials of their scores, from the rows that wait.
    void count(int g) {
        product<SumProduct>(left_[g].data(), this->n_into_[g], 1, this->wide_into_[g], right_[g].data(), n_waiting_[g],
                                    counts_[g].data(), this->wide_out_[g], true);
        n_waiting_[g] = 0;
    }

    T *marginals_, *own_ = nullptr;
    double *d_pairs_, *d_start_, *d_end_;
    double top_[2];
    std::vector<double> tops_;
    Buffer<double> exp_pairs_[2], exp_back_[2], counts_[2], left_[2], right_[2];
    Buffer<double> exp_rows_, mass_back_, mass_, mass_before_;
    int n_waiting_[2] = {0, 0}, most_;
};

}  // namespace parsetag
