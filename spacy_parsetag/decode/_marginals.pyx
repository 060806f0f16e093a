# cython: language_level=3, boundscheck=False, wraparound=False, cdivision=True, initializedcheck=False
"""Log-partition and marginals of the independent model over the valid tag sequences: the lattice with sums for maxima.

Labels are summed first within each class. The forward pass works in logarithms and keeps, for every state, which part of
its sum came by which of the two classes that lead there. The backward pass then needs no logarithms: it starts with
probability 1 at the end and hands each state's probability back to its predecessors in those parts, as the exact decoder
follows its choices back. So probabilities of a position add up to 1, whatever the scores.
"""
from libc.math cimport INFINITY, isnan
from libc.stdint cimport int32_t, int64_t, uint8_t
from libc.stdlib cimport free, malloc

from ._lattice cimport (
    FOUND, NO_MEMORY, NO_TREE, NOT_FINITE, Range, Table, backward_ranges, forward_ranges, meet, read_table,
)

cdef extern from "_sums.h" nogil:
    float parsetag_class_max_f32(const float *x, int rows, int n_tags, const int32_t *offsets, double *best)
    double parsetag_class_max_f64(const double *x, int rows, int n_tags, const int32_t *offsets, double *best)
    void parsetag_class_sums_f32(const float *x, int rows, int n_tags, const int32_t *offsets, const double *best,
                                 float *e, double *sums, double *logs)
    void parsetag_class_sums_f64(const double *x, int rows, int n_tags, const int32_t *offsets, const double *best,
                                 double *e, double *sums, double *logs)
    int parsetag_widest()
    void parsetag_class_sums_f32_as(int variant, const float *x, int rows, int n_tags, const int32_t *offsets,
                                    const double *best, float *e, double *sums, double *logs)
    void parsetag_scale_f32(float *e, int rows, int n_tags, const int32_t *offsets, const double *share)
    void parsetag_scale_f64(double *e, int rows, int n_tags, const int32_t *offsets, const double *share)
    void parsetag_sum_step(const double *first, double first_score, const double *second, double second_score,
                           double *out, double *share, int n)

ctypedef fused real:
    float
    double


cdef int class_marginals(const Table *t, const double *logs, int length, int row, const Range *forward,
                         const Range *backward, double *states, double *share, double *total,
                         double *posterior) noexcept nogil:
    """The lattice of one sentence.

    logs: (length, 4) log-sum of each class. row: width of a row of states, with margins of 1 on both sides.
    states: (2, 2, row), share: (length, 2, row) scratch.
    total, posterior: the log-partition, and (length, 4) probability of each class at each position.
    """
    cdef double *old = states
    cdef double *new = states + 2 * row
    cdef double *swap
    cdef double *part
    cdef double mass, by_second, sum_first, sum_second
    cdef int p, g, i, first, second
    cdef Range r
    for i in range(2 * row):
        old[i] = -INFINITY
    old[t.start_state * row + 1 + t.start_stack] = 0
    for p in range(length):
        for i in range(2 * row):
            new[i] = -INFINITY
        for g in range(2):
            r = meet(forward[2 * (p + 1) + g], backward[2 * (length - p - 1) + g])
            if r.high < r.low:
                continue
            first, second = t.entry[g][0], t.entry[g][1]
            parsetag_sum_step(
                old + t.source[first] * row + 1 + r.low - t.delta[first], logs[4 * p + first],
                old + t.source[second] * row + 1 + r.low - t.delta[second], logs[4 * p + second],
                new + g * row + 1 + r.low, share + <size_t>(2 * p + g) * row + 1 + r.low, r.high - r.low + 1)
        swap = old; old = new; new = swap
    total[0] = old[t.end_state * row + 1 + t.end_stack]
    if not total[0] > -INFINITY:
        return NO_TREE
    for i in range(2 * row):
        old[i] = 0
    old[t.end_state * row + 1 + t.end_stack] = 1
    for p in range(length - 1, -1, -1):
        for i in range(2 * row):
            new[i] = 0
        for g in range(2):
            first, second = t.entry[g][0], t.entry[g][1]
            sum_first = sum_second = 0
            r = meet(forward[2 * (p + 1) + g], backward[2 * (length - p - 1) + g])
            part = share + <size_t>(2 * p + g) * row + 1
            for i in range(r.low, r.high + 1):
                mass = old[g * row + 1 + i]
                by_second = mass * part[i]
                new[t.source[first] * row + 1 + i - t.delta[first]] += mass - by_second
                new[t.source[second] * row + 1 + i - t.delta[second]] += by_second
                sum_first += mass - by_second
                sum_second += by_second
            posterior[4 * p + first], posterior[4 * p + second] = sum_first, sum_second
        swap = old; old = new; new = swap
    return FOUND


cdef int marginals(const Table *t, const real *scores, int n_tags, const int32_t *offsets, int length, int width,
                   const Range *forward, const Range *backward, double *total, real *out) noexcept nogil:
    """One sentence of `length` tags; `width` is the greatest stack size plus 1."""
    cdef int i, status, row = width + 2
    cdef double *best = <double *>malloc((16 * <size_t>length + (4 + 2 * <size_t>length) * row) * sizeof(double))
    cdef double *sums = best + 4 * length
    cdef double *logs = sums + 4 * length
    cdef double *posterior = logs + 4 * length
    cdef double *states = posterior + 4 * length
    cdef double *share = states + 4 * row
    cdef real check
    if best == NULL:
        return NO_MEMORY
    if real is float:
        check = parsetag_class_max_f32(scores, length, n_tags, offsets, best)
    else:
        check = parsetag_class_max_f64(scores, length, n_tags, offsets, best)
    if isnan(check):
        free(best)
        return NOT_FINITE
    if real is float:
        parsetag_class_sums_f32(scores, length, n_tags, offsets, best, out, sums, logs)
    else:
        parsetag_class_sums_f64(scores, length, n_tags, offsets, best, out, sums, logs)
    status = class_marginals(t, logs, length, row, forward, backward, states, share, total, posterior)
    if status == FOUND:
        for i in range(4 * length):
            posterior[i] = posterior[i] / sums[i] if sums[i] > 0 else 0
        if real is float:
            parsetag_scale_f32(out, length, n_tags, offsets, posterior)
        else:
            parsetag_scale_f64(out, length, n_tags, offsets, posterior)
    free(best)
    return status


def sum_paths(const real[:, ::1] scores, const int64_t[::1] rows, const int32_t[::1] words, const int32_t[::1] offsets,
              lattice, int bound, double[::1] totals, real[:, ::1] out, uint8_t[::1] status):
    """Log-partition and marginals of a batch; see `spacy_parsetag.decode.marginals` for the public function.

    scores (real[R, T]): Scores, tags sorted by class; a sentence's 2N-1 rows lie together.
    rows (int64[S]), words (int32[S]): First row and number of words of each sentence.
    offsets (int32[5]): Columns of class c are offsets[c] to offsets[c + 1].
    lattice (Lattice): The table.
    bound (int): Largest stack after any tag; -1 for none.
    totals, out, status: Outputs. out has the shape of scores; only rows of sentences are written.
    """
    cdef Table t
    cdef int n, longest = 0, s, limit, width
    cdef Py_ssize_t n_sents = words.shape[0]
    for s in range(n_sents):
        longest = max(longest, words[s])
    if not longest:
        return
    read_table(lattice, &t)
    limit = longest + 1 if bound < 0 else min(bound, longest + 1)
    cdef int length = 2 * longest - 1
    cdef Range *forward = <Range *>malloc(2 * (length + 1) * sizeof(Range))
    cdef Range *backward = <Range *>malloc(2 * (length + 1) * sizeof(Range))
    cdef int n_tags = scores.shape[1]
    if forward == NULL or backward == NULL:
        free(forward); free(backward)
        raise MemoryError
    with nogil:
        forward_ranges(&t, length, limit, forward)
        backward_ranges(&t, length, limit, backward)
        for s in range(n_sents):
            n = words[s]
            if n < 1:
                continue
            width = max(min(limit, n + 1), t.start_stack) + 1
            status[s] = marginals(&t, &scores[rows[s], 0], n_tags, &offsets[0], 2 * n - 1, width, forward, backward,
                                  &totals[s], &out[rows[s], 0])
    free(forward); free(backward)


def class_sums(const float[:, ::1] scores, const int32_t[::1] offsets, int variant, const double[:, ::1] best,
               float[:, ::1] e, double[:, ::1] sums, double[:, ::1] logs):
    """Run one variant of the loop over the labels, for tests.

    scores (float[R, T]), offsets (int32[5]): As in `sum_paths`; R and T at least 1.
    variant (int): 0 portable, 1 AVX2, 2 AVX-512; one wider than the CPU's is lowered.
    best (double[R, 4]): The greatest score of each class.
    e (float[R, T]), sums, logs (double[R, 4]): Outputs.
    """
    parsetag_class_sums_f32_as(min(variant, parsetag_widest()), &scores[0, 0], scores.shape[0], scores.shape[1],
                               &offsets[0], &best[0, 0], &e[0, 0], &sums[0, 0], &logs[0, 0])
