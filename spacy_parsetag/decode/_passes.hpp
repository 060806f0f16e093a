// One forward and one backward pass over the lattice of valid tag sequences (paper section 5.1), for any semiring and with or
// without the last tag in the state:
//
//                  labels are independent                 the last tag counts (linear chain)
//     max, plus    Viterbi, O(N|T| + dN)                  Viterbi, O(dN|T|^2)
//     log-sum-exp  log-partition and marginals            the same, and expected transitions
//
// for N words, |T| tags and stack sizes up to d. `Tape` walks forward and backward; a model says what a step does. Going
// forward a model writes the states after each tag; going back it reads them, and needs no back-pointers: Viterbi
// recomputes the best step along the best path; the sums divide probability among earlier states, by what each
// contributed.
#pragma once

#include "_independent.hpp"
#include "_linear_chain_sums.hpp"

namespace parsetag {

// Bytes that the states of one sentence may take before checkpointing.
const size_t BUDGET = size_t(1) << 26;

// Runs a model over the sentences of a batch that wait for the lattice: forward, then back.
template <class Real, class Model, class T>
void run(Model &model, const Batch<T> &b, size_t budget, double *totals, uint8_t *status) {
    Tape<Real> tape(b.longest(), model.block(), budget);
    for (int s = 0; s < b.n_sentences; ++s) {
        const int length = 2 * b.n_words[s] - 1;
        if (length < 1 || status[s] != FOUND) continue;
        status[s] = NOT_FINITE;
        if (!model.read(s, length)) continue;
        totals[s] = model.finish(tape.forward(model, length));
        status[s] = totals[s] > -INF ? FOUND : NO_TREE;
        if (status[s] != FOUND) continue;
        if (model.again()) model.finish(tape.forward(model, length));
        tape.backward(model, length);
        status[s] = model.end(totals[s]);
    }
}

// The best tree of each sentence that waits for the lattice: ids (rows), totals (sentences).
template <class T> void viterbi(const Batch<T> &b, size_t budget, int32_t *ids, double *totals, uint8_t *status) {
    const int longest = b.longest();
    if (!longest || !b.waits(status, FOUND)) return;
    Reach reach(b.lattice, longest, b.bound);
    if (!b.pairs) {
        IndependentViterbi<T> model(b, reach, ids);
        run<double>(model, b, budget, totals, status);
        return;
    }
    LinearChainViterbi<T> model(b, reach, ids);
    run<T>(model, b, budget, totals, status);
}

// Log-partition (sentences) and marginals (rows, tags) of each sentence; with transitions also the expected number of each
// pair of successive tags, first tag and last tag, over all sentences.
template <class T>
void log_sums(const Batch<T> &b, size_t budget, double *totals, T *marginals, double *pairs, double *start, double *end,
              uint8_t *status) {
    const int longest = b.longest();
    if (!longest || !b.waits(status, FOUND)) return;
    Reach reach(b.lattice, longest, b.bound);
    if (!b.pairs) {
        IndependentSums<T> model(b, reach, marginals);
        run<double>(model, b, budget, totals, status);
        return;
    }
    LinearChainSums<T> model(b, reach, marginals, pairs, start, end);
    run<double>(model, b, budget, totals, status);
    model.close();
}

}  // namespace parsetag
