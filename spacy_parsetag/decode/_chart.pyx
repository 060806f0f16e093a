# cython: language_level=3, boundscheck=False, wraparound=False, initializedcheck=False
# distutils: language = c++
"""Inside-outside, Viterbi, k-best trees and sampling over spans: what `_chart_passes.hpp`, `_kbest.hpp` and `_sampling.hpp`
do for a batch. Callers pass a valid `TagScores`, on the CPU."""
from libc.stdint cimport int16_t, int32_t, int64_t, uint8_t, uint64_t
from libcpp.vector cimport vector

from ._batch cimport Batch, Lattice, read_lattice, real

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

cdef extern from "_chart_passes.hpp" namespace "parsetag" nogil:
    void c_viterbi "parsetag::chart_viterbi"[T](const Batch[T] &, const Spans[T] &, const LabelSets &, const ChartOptions &,
                                                int32_t *, double *, uint8_t *) except +
    void c_sums "parsetag::chart_sums"[T](const Batch[T] &, const Spans[T] &, const LabelSets &, const ChartOptions &,
                                          const int32_t *, int, const int64_t *, const int64_t *, double *, T *, T *, T *,
                                          uint8_t *) except +

cdef extern from "_kbest.hpp" namespace "parsetag" nogil:
    void c_k_best "parsetag::chart_k_best"[T](const Batch[T] &, const Spans[T] &, const LabelSets &, const ChartOptions &, int,
                                              vector[int32_t] &, vector[double] &, int64_t *, uint8_t *) except +

cdef extern from "_sampling.hpp" namespace "parsetag" nogil:
    void c_samples "parsetag::chart_samples"[T](const Batch[T] &, const Spans[T] &, const LabelSets &, const ChartOptions &,
                                                int, uint64_t, int32_t *, int64_t, uint8_t *) except +


cdef class Chart:
    """A batch as the passes read it; it holds the arrays.

    scores (real[R, T]), starts (int64[S]), n_words (int32[S]): As in `TagScores`.
    offsets (int32[5]): Columns of class c are offsets[c] to offsets[c + 1].
    spans (real[K, L]), span_starts (int64[S]), ids (int32[2, L]): As in `SpanScores` and `TagSet.node_ids`; the first two are
        None if tags alone are scored.
    has (uint8[C, T]), cells (int16[M]), cell_starts (int64[S]): Sets of tags that spans may have, as `LabelSets` in
        `_layout.hpp`; None if any span may have any.
    lattice (Lattice): The table.
    order (int): 0 in-order, 1 pre-order, 2 post-order.
    levels (bool): Whether an item has a level.
    bound (int): The largest stack after any tag; -1 for none.
    """
    cdef readonly object scores, spans
    cdef const int64_t[::1] starts, span_starts, cell_starts
    cdef const int32_t[::1] n_words, offsets
    cdef const int32_t[:, ::1] ids
    cdef const uint8_t[:, ::1] has
    cdef const int16_t[::1] cells
    cdef ChartOptions options
    cdef LabelSets sets
    cdef Lattice lattice

    def __init__(self, scores, const int64_t[::1] starts, const int32_t[::1] n_words, const int32_t[::1] offsets, spans,
                 const int64_t[::1] span_starts, const int32_t[:, ::1] ids, const uint8_t[:, ::1] has,
                 const int16_t[::1] cells, const int64_t[::1] cell_starts, lattice, int order, bint levels, int bound):
        self.scores, self.starts, self.n_words, self.offsets = scores, starts, n_words, offsets
        self.spans, self.span_starts, self.ids = spans, span_starts, ids
        self.has, self.cells, self.cell_starts = has, cells, cell_starts
        read_lattice(lattice, &self.lattice)
        self.options.order, self.options.levels, self.options.bound = order, levels, bound
        if has is not None and starts.shape[0]:
            self.sets.n, self.sets.has, self.sets.starts = has.shape[0], &has[0, 0], &cell_starts[0]
            self.sets.cells = &cells[0] if cells.shape[0] else NULL

    @property
    def n_sentences(self):
        return self.starts.shape[0]


cdef Batch[real] batch_of(Chart chart, const real[:, ::1] scores) except *:
    cdef Batch[real] b
    b.scores = &scores[0, 0] if scores.shape[0] else NULL
    b.starts, b.n_words = &chart.starts[0], &chart.n_words[0]
    b.n_sentences, b.n_tags = chart.starts.shape[0], scores.shape[1]
    b.offsets = &chart.offsets[0]
    b.lattice, b.bound = chart.lattice, chart.options.bound
    b.pairs = b.start = b.end = NULL
    return b


cdef Spans[real] spans_of(Chart chart, const real[:, ::1] scores) except *:
    cdef Spans[real] spans
    if scores is not None:
        spans.scores = &scores[0, 0] if scores.shape[0] else NULL
        spans.starts = &chart.span_starts[0]
        spans.n_labels = scores.shape[1]
        spans.ids = &chart.ids[0, 0]
    return spans


def viterbi(Chart chart, const real[:, ::1] scores, const real[:, ::1] spans, int32_t[::1] ids, double[::1] totals,
            uint8_t[::1] status):
    """The best tree of each sentence.

    scores, spans: Those of the chart.
    ids (int32[R]), totals (float64[S]), status (uint8[S]): Outputs; status is 0, or what went wrong.
    """
    cdef Batch[real] b
    cdef Spans[real] own
    if chart.n_sentences and scores.shape[0]:
        b, own = batch_of[real](chart, scores), spans_of[real](chart, spans)
        with nogil:
            c_viterbi(b, own, chart.sets, chart.options, &ids[0], &totals[0], &status[0])


def log_sums(Chart chart, const real[:, ::1] scores, const real[:, ::1] spans, const int32_t[::1] label_of,
             const int64_t[::1] label_starts, const int64_t[::1] leaf_starts, double[::1] totals, real[:, ::1] marginals,
             real[:, ::1] labels, real[:, ::1] leaves, uint8_t[::1] status):
    """The log-partition of each sentence and its gradient.

    scores, spans: Those of the chart.
    label_of (int32[T]): Column of each tag of an internal node among the labels.
    label_starts (int64[S]), leaf_starts (int64[S]): First row of each sentence's spans in `labels`, or -1; and of its
        words in `leaves`.
    totals (float64[S]), marginals (real[R, T]), status (uint8[S]): Outputs; only rows that a sentence owns are written.
    labels (real[K, L]), leaves (real[W, T]): Outputs, zeros before: probability of each label of each span, and of each
        leaf tag of each word; None if they are not asked for.
    """
    cdef Batch[real] b
    cdef Spans[real] own
    cdef real *out = NULL
    cdef real *words = NULL
    cdef int n_labels = 0
    if chart.n_sentences and scores.shape[0]:
        b, own = batch_of[real](chart, scores), spans_of[real](chart, spans)
        if labels is not None and labels.shape[0]:
            out, n_labels = &labels[0, 0], labels.shape[1]
        if leaves is not None:
            words = &leaves[0, 0]
        with nogil:
            c_sums(b, own, chart.sets, chart.options, &label_of[0], n_labels, &label_starts[0], &leaf_starts[0], &totals[0],
                   &marginals[0, 0], out, words, &status[0])


def k_best(Chart chart, const real[:, ::1] scores, const real[:, ::1] spans, int k, int64_t[::1] counts, uint8_t[::1] status):
    """The k best trees of each sentence, best first.

    scores, spans: Those of the chart.
    k (int): How many, at least 1.
    counts (int64[S]), status (uint8[S]): Outputs; how many trees a sentence has, at most k.
    RETURNS (tuple[bytes, bytes]): int32 tag ids of all trees, one after another, and their float64 scores.
    """
    cdef Batch[real] b
    cdef Spans[real] own
    cdef vector[int32_t] ids
    cdef vector[double] totals
    if chart.n_sentences and scores.shape[0]:
        b, own = batch_of[real](chart, scores), spans_of[real](chart, spans)
        with nogil:
            c_k_best(b, own, chart.sets, chart.options, k, ids, totals, &counts[0], &status[0])
    return (<char *>ids.data())[:ids.size() * sizeof(int32_t)], (<char *>totals.data())[:totals.size() * sizeof(double)]


def samples(Chart chart, const real[:, ::1] scores, const real[:, ::1] spans, uint64_t seed, int32_t[:, ::1] ids,
            uint8_t[::1] status):
    """Trees of each sentence, drawn by their probabilities.

    scores, spans: Those of the chart.
    seed (int): Seed of the random numbers.
    ids (int32[n, R]), status (uint8[S]): Outputs: n trees of each sentence.
    """
    cdef Batch[real] b
    cdef Spans[real] own
    if chart.n_sentences and scores.shape[0] and ids.shape[0]:
        b, own = batch_of[real](chart, scores), spans_of[real](chart, spans)
        with nogil:
            c_samples(b, own, chart.sets, chart.options, ids.shape[0], seed, &ids[0, 0], ids.shape[1], &status[0])
