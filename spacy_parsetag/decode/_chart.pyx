# cython: language_level=3, boundscheck=False, wraparound=False, initializedcheck=False
# distutils: language = c++
"""Inside-outside, Viterbi, k-best trees and sampling over spans: what `_chart_passes.hpp`, `_kbest.hpp` and `_sampling.hpp`
do for a batch. Callers pass a valid `TagScores`, on the CPU."""
from libc.stdint cimport int16_t, int32_t, int64_t, uint8_t, uint64_t
from libcpp.vector cimport vector

from ._batch cimport Batch, read_batch, real

cdef extern from "_layout.hpp" namespace "parsetag" nogil:
    cdef cppclass Spans[T]:
        const T *scores
        const int64_t *starts
        int n_labels
        const int32_t *ids

    cdef cppclass LabelSets:
        int n
        const uint8_t *has
        const int16_t *cells
        const int64_t *starts

    cdef cppclass ChartOptions:
        int order
        bint levels
        int bound

    cdef cppclass ChartBatch[T](Batch[T]):
        Spans[T] spans
        LabelSets sets
        ChartOptions options

cdef extern from "_chart_passes.hpp" namespace "parsetag" nogil:
    void c_viterbi "parsetag::chart_viterbi"[T](const ChartBatch[T] &, int32_t *, double *, uint8_t *) except +
    void c_sums "parsetag::chart_sums"[T](const ChartBatch[T] &, const int32_t *, int, const int64_t *, const int64_t *,
                                          double *, T *, T *, T *, uint8_t *) except +

cdef extern from "_kbest.hpp" namespace "parsetag" nogil:
    void c_k_best "parsetag::chart_k_best"[T](const ChartBatch[T] &, int, vector[int32_t] &, vector[double] &, int64_t *,
                                              uint8_t *) except +

cdef extern from "_sampling.hpp" namespace "parsetag" nogil:
    void c_samples "parsetag::chart_samples"[T](const ChartBatch[T] &, int, uint64_t, int32_t *, int64_t, uint8_t *) except +


cdef ChartBatch[real] read_chart(const real[:, ::1] scores, tuple others) except *:
    """The batch as `read_batch` fills it, with what only a chart reads. The others after `bound` are:

    order (int): 0 in-order, 1 pre-order, 2 post-order.
    levels (bool): Whether an item has a level.
    spans (real[K, L]), span_starts (int64[S]), span_ids (int32[2, L]): As in `SpanScores` and `TagSet.node_ids`; None if
        tags alone are scored.
    has (uint8[C, T]), cells (int16[M]), cell_starts (int64[S]): Sets of tags that spans may have, as `LabelSets` in
        `_layout.hpp`; None if any span may have any.
    """
    cdef const int64_t[::1] starts, span_starts, cell_starts
    cdef const int32_t[::1] n_words, offsets
    cdef const int32_t[:, ::1] span_ids
    cdef const real[:, ::1] spans
    cdef const uint8_t[:, ::1] has
    cdef const int16_t[::1] cells
    cdef int bound, order
    cdef bint levels
    cdef ChartBatch[real] b
    starts, n_words, offsets, lattice, bound, order, levels, spans, span_starts, span_ids, has, cells, cell_starts = others
    read_batch[real](&b, scores, starts, n_words, offsets, lattice, bound)
    b.options.order, b.options.levels, b.options.bound = order, levels, bound
    if spans is not None and b.n_sentences:
        b.spans.scores = &spans[0, 0] if spans.shape[0] else NULL
        b.spans.starts, b.spans.n_labels, b.spans.ids = &span_starts[0], spans.shape[1], &span_ids[0, 0]
    if has is not None and b.n_sentences:
        b.sets.n, b.sets.has, b.sets.starts = has.shape[0], &has[0, 0], &cell_starts[0]
        b.sets.cells = &cells[0] if cells.shape[0] else NULL
    return b


def viterbi(const real[:, ::1] scores, tuple others, int32_t[::1] ids, double[::1] totals, uint8_t[::1] status):
    """The best tree of each sentence. For the scores and the others see `read_chart`.

    ids (int32[R]), totals (float64[S]), status (uint8[S]): Outputs; status is 0, or what went wrong.
    """
    cdef ChartBatch[real] b = read_chart[real](scores, others)
    if b.n_sentences and b.scores:
        with nogil:
            c_viterbi(b, &ids[0], &totals[0], &status[0])


def log_sums(const real[:, ::1] scores, tuple others, const int32_t[::1] label_of, const int64_t[::1] label_starts,
             const int64_t[::1] leaf_starts, double[::1] totals, real[:, ::1] marginals, real[:, ::1] labels,
             real[:, ::1] leaves, uint8_t[::1] status):
    """The log-partition of each sentence and its gradient. For the scores and the others see `read_chart`.

    label_of (int32[T]): Column of each tag of an internal node among the labels.
    label_starts (int64[S]), leaf_starts (int64[S]): First row of each sentence's spans in `labels`, or -1; and of its
        words in `leaves`.
    totals (float64[S]), marginals (real[R, T]), status (uint8[S]): Outputs; only rows that a sentence owns are written.
    labels (real[K, L]), leaves (real[W, T]): Outputs, zeros before: probability of each label of each span, and of each
        leaf tag of each word; None if they are not asked for.
    """
    cdef ChartBatch[real] b = read_chart[real](scores, others)
    cdef real *out = NULL
    cdef real *words = NULL
    cdef int n_labels = 0
    if b.n_sentences and b.scores:
        if labels is not None and labels.shape[0]:
            out, n_labels = &labels[0, 0], labels.shape[1]
        if leaves is not None:
            words = &leaves[0, 0]
        with nogil:
            c_sums(b, &label_of[0], n_labels, &label_starts[0], &leaf_starts[0], &totals[0], &marginals[0, 0], out, words,
                   &status[0])


def k_best(const real[:, ::1] scores, tuple others, int k, int64_t[::1] counts, uint8_t[::1] status):
    """The k best trees of each sentence, best first. For the scores and the others see `read_chart`.

    k (int): How many, at least 1.
    counts (int64[S]), status (uint8[S]): Outputs; how many trees a sentence has, at most k.
    RETURNS (tuple[bytes, bytes]): int32 tag ids of all trees, one after another, and their float64 scores.
    """
    cdef ChartBatch[real] b = read_chart[real](scores, others)
    cdef vector[int32_t] ids
    cdef vector[double] totals
    if b.n_sentences and b.scores:
        with nogil:
            c_k_best(b, k, ids, totals, &counts[0], &status[0])
    return (<char *>ids.data())[:ids.size() * sizeof(int32_t)], (<char *>totals.data())[:totals.size() * sizeof(double)]


def samples(const real[:, ::1] scores, tuple others, uint64_t seed, int32_t[:, ::1] ids, uint8_t[::1] status):
    """Trees of each sentence, drawn by their probabilities. For the scores and the others see `read_chart`.

    seed (int): Seed of the random numbers.
    ids (int32[n, R]), status (uint8[S]): Outputs: n trees of each sentence.
    """
    cdef ChartBatch[real] b = read_chart[real](scores, others)
    if b.n_sentences and b.scores and ids.shape[0]:
        with nogil:
            c_samples(b, ids.shape[0], seed, &ids[0, 0], ids.shape[1], &status[0])
