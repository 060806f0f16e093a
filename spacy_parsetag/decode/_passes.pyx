# cython: language_level=3, boundscheck=False, wraparound=False, initializedcheck=False
# distutils: language = c++
"""The compiled passes over a batch: Viterbi and log-sum-exp in lattice and chart, beam search, k-best trees and sampling.

Each pass takes the sentences whose status says that they wait for it, and leaves the others alone. Callers pass a valid
`TagScores`, on the CPU, as `arguments_of` gives it; see `read_batch`.
"""
from libc.stddef cimport size_t
from libc.stdint cimport int32_t, int64_t, uint8_t, uint64_t
from libcpp.vector cimport vector

cdef extern from "_lattice.hpp" namespace "parsetag" nogil:
    cdef cppclass Lattice:
        int start_stack, start_state, end_stack, end_state
        int delta[4]
        int need[4]
        int source[4]
        int target[4]
        void link()

    cdef cppclass Batch[T]:
        const T *scores
        const int64_t *starts
        const int32_t *n_words
        int n_sentences, n_tags
        const int32_t *offsets
        Lattice lattice
        int bound
        const T *pairs
        const T *start
        const T *end
        int order
        bint levels
        const T *span_scores
        const int64_t *span_starts
        const int32_t *shared
        int n_labels
        const int32_t *span_ids
        int n_sets
        const uint8_t *sets
        const int32_t *cells
        const int64_t *cell_starts

cdef extern from "_passes.hpp" namespace "parsetag" nogil:
    const size_t BUDGET
    int c_limit_registers "parsetag::limit_registers"(int)
    void c_viterbi "parsetag::viterbi"[T](const Batch[T] &, size_t, int32_t *, double *, uint8_t *) except +
    void c_log_sums "parsetag::log_sums"[T](const Batch[T] &, size_t, double *, T *, double *, double *, double *,
                                            uint8_t *) except +

cdef extern from "_beam.hpp" namespace "parsetag" nogil:
    void c_beam_search "parsetag::beam_search"[T](const Batch[T] &, int, bint, int32_t *, double *, uint8_t *) except +

cdef extern from "_chart_passes.hpp" namespace "parsetag" nogil:
    void c_chart_viterbi "parsetag::chart_viterbi"[T](const Batch[T] &, int32_t *, double *, uint8_t *) except +
    void c_chart_sums "parsetag::chart_sums"[T](const Batch[T] &, const int32_t *, int, const int64_t *, const int64_t *,
                                                double *, T *, T *, T *, uint8_t *) except +
    void c_samples "parsetag::chart_samples"[T](const Batch[T] &, int, uint64_t, int32_t *, int64_t, uint8_t *) except +

cdef extern from "_kbest.hpp" namespace "parsetag" nogil:
    void c_k_best "parsetag::chart_k_best"[T](const Batch[T] &, int, vector[int32_t] &, vector[double] &, int64_t *,
                                              uint8_t *) except +

ctypedef fused real:
    float
    double


cdef Batch[real] read_batch(const real[:, ::1] scores, tuple others) except *:
    """The batch as C++ reads it: pointers into arrays that the caller holds.

    others: The arguments that `arguments_of` gives after the scores. Arrays that `Batch` may lack may be None.
    """
    cdef const int64_t[::1] starts, span_starts, cell_starts
    cdef const int32_t[::1] n_words, offsets, shared
    cdef const int32_t[:, ::1] span_ids
    cdef const real[:, ::1] pairs, spans
    cdef const real[::1] start, end
    cdef const uint8_t[:, ::1] sets
    cdef const int32_t[::1] cells
    cdef int c
    cdef Batch[real] b
    (starts, n_words, offsets, table, bound, pairs, start, end, order, levels, spans, span_starts, span_ids, shared, sets,
     cells, cell_starts) = others
    b.n_sentences, b.n_tags = starts.shape[0], scores.shape[1]
    b.scores = &scores[0, 0] if scores.shape[0] and scores.shape[1] else NULL
    b.offsets = &offsets[0]
    b.lattice.start_stack, b.lattice.start_state = table.start_stack, table.start_state
    b.lattice.end_stack, b.lattice.end_state = table.end_stack, table.end_state
    for c in range(4):
        b.lattice.delta[c], b.lattice.need[c] = table.delta[c], table.need[c]
        b.lattice.source[c], b.lattice.target[c] = table.source[c], table.target[c]
    b.lattice.link()
    b.bound, b.order, b.levels = bound, order, levels
    if pairs is not None and pairs.shape[0]:
        b.pairs, b.start, b.end = &pairs[0, 0], &start[0], &end[0]
    if b.n_sentences:
        b.starts, b.n_words = &starts[0], &n_words[0]
        if spans is not None:
            b.span_scores = &spans[0, 0] if spans.shape[0] else NULL
            b.span_starts, b.n_labels, b.span_ids = &span_starts[0], spans.shape[1], &span_ids[0, 0]
            b.shared = &shared[0] if shared is not None and shared.shape[0] else NULL
        if sets is not None:
            b.n_sets, b.sets, b.cell_starts = sets.shape[0], &sets[0, 0], &cell_starts[0]
            b.cells = &cells[0] if cells.shape[0] else NULL
    return b


def viterbi(const real[:, ::1] scores, tuple others, int32_t[::1] ids, double[::1] totals, uint8_t[::1] status,
            size_t budget=BUDGET):
    """The best tree of each sentence: in the lattice where the status is 0, in the chart where it is 5.

    ids (int32[R]), totals (float64[S]), status (uint8[S]): Outputs; status is 0, or what went wrong.
    budget (int): Bytes that the states of a sentence may take in the lattice before checkpointing.
    """
    cdef Batch[real] b = read_batch[real](scores, others)
    if b.n_sentences and b.scores:
        with nogil:
            c_viterbi(b, budget, &ids[0], &totals[0], &status[0])
            c_chart_viterbi(b, &ids[0], &totals[0], &status[0])


def log_sums(const real[:, ::1] scores, tuple others, double[::1] totals, real[:, ::1] marginals,
             double[:, ::1] d_pairs, double[::1] d_start, double[::1] d_end, uint8_t[::1] status, size_t budget=BUDGET):
    """The log-partition of each sentence whose status is 0, and its gradient, in the lattice.

    totals (float64[S]), marginals (real[R, T]): Outputs; only rows that a sentence owns are written.
    d_pairs (float64[T, T]), d_start, d_end (float64[T]): Outputs, added to: expected counts over all sentences; None
        without transitions.
    status, budget: As for `viterbi`.
    """
    cdef Batch[real] b = read_batch[real](scores, others)
    cdef double *counts[3]
    counts[0] = counts[1] = counts[2] = NULL
    if b.n_sentences and b.scores:
        if b.pairs:
            counts[0], counts[1], counts[2] = &d_pairs[0, 0], &d_start[0], &d_end[0]
        with nogil:
            c_log_sums(b, budget, &totals[0], &marginals[0, 0], counts[0], counts[1], counts[2], &status[0])


def chart_sums(const real[:, ::1] scores, tuple others, const int32_t[::1] label_of, const int64_t[::1] label_starts,
               const int64_t[::1] leaf_starts, double[::1] totals, real[:, ::1] marginals, real[:, ::1] labels,
               real[:, ::1] leaves, uint8_t[::1] status):
    """The log-partition of each sentence whose status is 5, and its gradient, in the chart.

    label_of (int32[T]): Column of each tag of an internal node among the labels.
    label_starts (int64[S]), leaf_starts (int64[S]): First row of each sentence's spans in `labels`, or -1; and of its
        words in `leaves`.
    totals, marginals, status: As for `log_sums`.
    labels (real[K, L]), leaves (real[W, T]): Outputs, zeros before: probability of each label of each span, and of each
        leaf tag of each word; None if they are not asked for.
    """
    cdef Batch[real] b = read_batch[real](scores, others)
    cdef real *out = NULL
    cdef real *words = NULL
    cdef int n_labels = 0
    if b.n_sentences and b.scores:
        if labels is not None and labels.shape[0]:
            out, n_labels = &labels[0, 0], labels.shape[1]
        if leaves is not None:
            words = &leaves[0, 0]
        with nogil:
            c_chart_sums(b, &label_of[0], n_labels, &label_starts[0], &leaf_starts[0], &totals[0], &marginals[0, 0], out,
                         words, &status[0])


def beam_search(const real[:, ::1] scores, tuple others, int beam, bint lookahead, int32_t[::1] ids, double[::1] totals,
                uint8_t[::1] status):
    """Search the sentences whose status is 3, for an empty beam.

    beam (int): Sequences kept at each step.
    lookahead (bool): Whether to keep only sequences from whose state the end can be reached.
    ids, totals, status: As for `viterbi`; status 3 again: sequences fell out of the beam and none left is a tree.
    """
    cdef Batch[real] b = read_batch[real](scores, others)
    if b.n_sentences and b.scores:
        with nogil:
            c_beam_search(b, beam, lookahead, &ids[0], &totals[0], &status[0])


def k_best(const real[:, ::1] scores, tuple others, int k, int64_t[::1] counts, uint8_t[::1] status):
    """The k best trees of each sentence whose status is 5, best first.

    k (int): How many, at least 1.
    counts (int64[S]), status (uint8[S]): Outputs; how many trees a sentence has, at most k.
    RETURNS (tuple[bytes, bytes]): int32 tag ids of all trees, one after another, and their float64 scores.
    """
    cdef Batch[real] b = read_batch[real](scores, others)
    cdef vector[int32_t] ids
    cdef vector[double] totals
    if b.n_sentences and b.scores:
        with nogil:
            c_k_best(b, k, ids, totals, &counts[0], &status[0])
    return (<char *>ids.data())[:ids.size() * sizeof(int32_t)], (<char *>totals.data())[:totals.size() * sizeof(double)]


def samples(const real[:, ::1] scores, tuple others, uint64_t seed, int32_t[:, ::1] ids, uint8_t[::1] status):
    """Trees of each sentence whose status is 5, drawn by their probabilities.

    seed (int): Seed of the random numbers.
    ids (int32[n, R]), status (uint8[S]): Outputs: n trees of each sentence.
    """
    cdef Batch[real] b = read_batch[real](scores, others)
    cdef int32_t *out = &ids[0, 0] if ids.shape[0] and ids.shape[1] else NULL
    if b.n_sentences and b.scores:
        with nogil:
            c_samples(b, ids.shape[0], seed, out, ids.shape[1], &status[0])


def limit_registers(int n_bytes):
    """Let products use registers of at most 64, 32 or 16 bytes, for tests; 0 changes nothing, below 0 sets the width.

    RETURNS (int): What they used before.
    """
    return c_limit_registers(n_bytes)
