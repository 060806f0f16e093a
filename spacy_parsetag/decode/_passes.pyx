# cython: language_level=3, boundscheck=False, wraparound=False, initializedcheck=False
# distutils: language = c++
"""Viterbi, log-sum-exp and beam search over the lattice of valid tag sequences: what `_passes.hpp` and `_beam.hpp` do for a
batch. Callers pass a valid `TagScores`, on the CPU."""
from libc.stdint cimport int32_t, int64_t, uint8_t
from libc.stddef cimport size_t

from ._batch cimport Batch, read_batch, real

cdef extern from "_passes.hpp" namespace "parsetag" nogil:
    const size_t BUDGET
    int &register_bytes()
    void c_viterbi "parsetag::viterbi"[T](const Batch[T] &, size_t, int32_t *, double *, uint8_t *) except +
    void c_log_sums "parsetag::log_sums"[T](const Batch[T] &, size_t, double *, T *, double *, double *, double *,
                                            uint8_t *) except +

cdef extern from "_beam.hpp" namespace "parsetag" nogil:
    void c_beam_search "parsetag::beam_search"[T](const Batch[T] &, int, bint, int32_t *, double *, uint8_t *) except +


cdef Batch[real] read_chain(const real[:, ::1] scores, tuple others) except *:
    """The batch as `read_batch` fills it, with transitions, the others after `bound`: pairs (real[T, T]), start (real[T]),
    end (real[T]), or None."""
    cdef const int64_t[::1] starts
    cdef const int32_t[::1] n_words, offsets
    cdef const real[:, ::1] pairs
    cdef const real[::1] start, end
    cdef int bound
    cdef Batch[real] b
    starts, n_words, offsets, lattice, bound, pairs, start, end = others
    read_batch[real](&b, scores, starts, n_words, offsets, lattice, bound)
    if pairs is not None and pairs.shape[0]:
        b.pairs, b.start, b.end = &pairs[0, 0], &start[0], &end[0]
    return b


def viterbi(const real[:, ::1] scores, tuple others, int32_t[::1] ids, double[::1] totals, uint8_t[::1] status,
            size_t budget=BUDGET):
    """The best tree of each sentence. For the scores and the others see `read_chain`.

    ids (int32[R]), totals (float64[S]), status (uint8[S]): Outputs; status is 0, or what went wrong.
    budget (int): Bytes that the states of a sentence may take before checkpointing.
    """
    cdef Batch[real] b = read_chain[real](scores, others)
    if b.n_sentences and b.scores:
        with nogil:
            c_viterbi(b, budget, &ids[0], &totals[0], &status[0])


def log_sums(const real[:, ::1] scores, tuple others, double[::1] totals, real[:, ::1] marginals,
             double[:, ::1] d_pairs, double[::1] d_start, double[::1] d_end, uint8_t[::1] status, size_t budget=BUDGET):
    """The log-partition of each sentence and its gradient. For the scores and the others see `read_chain`.

    totals (float64[S]), marginals (real[R, T]): Outputs; only rows that a sentence owns are written.
    d_pairs (float64[T, T]), d_start, d_end (float64[T]): Outputs, added to: expected counts over all sentences; None
        without transitions.
    status (uint8[S]): Output; 0, or what went wrong.
    budget (int): As for `viterbi`.
    """
    cdef Batch[real] b = read_chain[real](scores, others)
    cdef double *counts[3]
    counts[0] = counts[1] = counts[2] = NULL
    if b.n_sentences and b.scores:
        if b.pairs:
            counts[0], counts[1], counts[2] = &d_pairs[0, 0], &d_start[0], &d_end[0]
        with nogil:
            c_log_sums(b, budget, &totals[0], &marginals[0, 0], counts[0], counts[1], counts[2], &status[0])


def beam_search(const real[:, ::1] scores, tuple others, int beam, bint lookahead, int32_t[::1] ids, double[::1] totals,
                uint8_t[::1] status):
    """Search the sentences whose status is 3, for an empty beam. For the scores and the others see `read_chain`.

    beam (int): Sequences kept at each step.
    lookahead (bool): Whether to keep only sequences from whose state the end can be reached.
    ids, totals, status: As for `viterbi`; status 3 again: sequences fell out of the beam and none left is a tree.
    """
    cdef Batch[real] b = read_chain[real](scores, others)
    if b.n_sentences and b.scores:
        with nogil:
            c_beam_search(b, beam, lookahead, &ids[0], &totals[0], &status[0])


def limit_registers(int n_bytes):
    """Let products use registers of at most 64, 32 or 16 bytes, for tests; 0 changes nothing, below 0 sets the width.

    RETURNS (int): What they used before.
    """
    cdef int before = register_bytes()
    if n_bytes:
        (&register_bytes())[0] = -n_bytes if n_bytes < 0 else min(n_bytes, before)
    return before
