# cython: language_level=3, boundscheck=False, wraparound=False, cdivision=True, initializedcheck=False
"""Best tree by dynamic programming over (stack size, group): paper section 5.1, with labels reduced first.

The label of a tag never changes the state, so the maximum over labels within each class is taken in the one read of the
scores; the lattice then runs over four class scores a position. O(N|T| + dN) for N words, |T| tags and stack bound d.

`_kernels.h` has the two inner loops. Everything else a decoder knows of an order is in the `Lattice` table.
"""
from libc.math cimport INFINITY, isnan
from libc.stdint cimport int32_t, int64_t, uint8_t
from libc.stdlib cimport free, malloc

from ._lattice cimport (
    FOUND, NO_MEMORY, NO_TREE, NOT_FINITE, Range, Table, backward_ranges, forward_ranges, meet, read_table,
)

cdef extern from "_kernels.h" nogil:
    float parsetag_class_max_f32(const float *x, int rows, int n_tags, const int32_t *offsets, double *best)
    double parsetag_class_max_f64(const double *x, int rows, int n_tags, const int32_t *offsets, double *best)
    int parsetag_widest()
    float parsetag_class_max_f32_as(int variant, const float *x, int rows, int n_tags, const int32_t *offsets,
                                    double *best)
    void parsetag_step(const double *first, double first_score, const double *second, double second_score, double *out,
                       uint8_t *which, int n)

ctypedef fused real:
    float
    double

cdef int best_path(const Table *t, const real *scores, int n_tags, const int32_t *offsets, int length, int width,
                   const Range *forward, const Range *backward, int32_t *ids, double *total) noexcept nogil:
    """Decode one sentence of `length` tags; `width` is the greatest stack size plus 1."""
    # States live in rows of `width` sizes with a margin of 1 below and above: a class shifts by at most 1.
    cdef int row = width + 2
    cdef double *best = <double *>malloc(4 * length * sizeof(double))
    cdef double *states = <double *>malloc(4 * row * sizeof(double))
    cdef uint8_t *which = <uint8_t *>malloc(<size_t>2 * length * row)
    cdef double *old = states
    cdef double *new = states + 2 * row
    cdef double *swap
    cdef double top
    cdef real check
    cdef int p, g, c, i, first, second, stack, status = FOUND
    cdef const real *x
    cdef real greatest
    cdef Range r
    cdef Range empty
    cdef Range held_old[2]
    cdef Range held_new[2]
    empty.low, empty.high = 1, 0
    if best == NULL or states == NULL or which == NULL:
        free(best); free(states); free(which)
        return NO_MEMORY
    if real is float:
        check = parsetag_class_max_f32(scores, length, n_tags, offsets, best)
    else:
        check = parsetag_class_max_f64(scores, length, n_tags, offsets, best)
    if isnan(check):
        status = NOT_FINITE
    else:
        # Every state outside what `held_*` says of its buffer is -inf, so a step may read past a range.
        for i in range(4 * row):
            states[i] = -INFINITY
        old[t.start_state * row + 1 + t.start_stack] = 0
        for g in range(2):
            held_old[g], held_new[g] = empty, empty
        held_old[t.start_state].low = held_old[t.start_state].high = t.start_stack
        for p in range(length):
            for g in range(2):
                r = meet(forward[2 * (p + 1) + g], backward[2 * (length - p - 1) + g])
                if r.high < r.low:
                    r = empty
                for i in range(held_new[g].low, min(held_new[g].high + 1, r.low)):
                    new[g * row + 1 + i] = -INFINITY
                for i in range(max(r.high + 1, held_new[g].low), held_new[g].high + 1):
                    new[g * row + 1 + i] = -INFINITY
                held_new[g] = r
                if r.high >= r.low:
                    first, second = t.entry[g][0], t.entry[g][1]
                    parsetag_step(
                        old + t.source[first] * row + 1 + r.low - t.delta[first], best[4 * p + first],
                        old + t.source[second] * row + 1 + r.low - t.delta[second], best[4 * p + second],
                        new + g * row + 1 + r.low, which + <size_t>(2 * p + g) * row + 1 + r.low, r.high - r.low + 1)
            for g in range(2):
                r = held_old[g]; held_old[g] = held_new[g]; held_new[g] = r
            swap = old; old = new; new = swap
        top = old[t.end_state * row + 1 + t.end_stack]
        total[0] = top
        if not top > -INFINITY:
            status = NO_TREE
        else:
            # Back along the choices; then each tag is the first one in its class with the greatest score.
            g, stack = t.end_state, t.end_stack
            for p in range(length - 1, -1, -1):
                c = t.entry[g][which[<size_t>(2 * p + g) * row + 1 + stack]]
                stack -= t.delta[c]
                g = t.source[c]
                x = scores + <size_t>p * n_tags
                greatest = <real>best[4 * p + c]
                i = offsets[c]
                while x[i] != greatest:
                    i += 1
                ids[p] = i
    free(best); free(states); free(which)
    return status


def best_paths(const real[:, ::1] scores, const int64_t[::1] rows, const int32_t[::1] words, const int32_t[::1] offsets,
               lattice, int bound, int32_t[::1] ids, double[::1] totals, uint8_t[::1] status):
    """Decode a batch of sentences; see `spacy_parsetag.decode.exact` for the public functions.

    scores (real[R, T]): Scores, tags sorted by class; a sentence's 2N-1 rows lie together.
    rows (int64[S]): First row of each sentence.
    words (int32[S]): Number of words of each, at least 1.
    offsets (int32[5]): Columns of class c are offsets[c] to offsets[c + 1].
    lattice (Lattice): The table.
    bound (int): Largest stack after any tag; -1 for none.
    ids, totals, status: Outputs. ids[rows[s] + p] is the tag at position p; status is 0, or what went wrong.
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
                status[s] = FOUND
                totals[s] = 0
                continue
            width = max(min(limit, n + 1), t.start_stack) + 1
            status[s] = best_path(&t, &scores[rows[s], 0], n_tags, &offsets[0], 2 * n - 1, width, forward, backward,
                                  &ids[rows[s]], &totals[s])
    free(forward); free(backward)


# Names of the variants of the inner loops, narrowest first.
VARIANTS = ("portable", "avx2", "avx512")


def variants():
    """Variants of the inner loops that this CPU runs; the last one is what the decoders use."""
    return VARIANTS[:parsetag_widest() + 1]


def class_maxima(const float[:, ::1] scores, const int32_t[::1] offsets, variant, double[:, ::1] best):
    """Run one variant of the loop over the scores, for tests.

    scores (float[R, T]), offsets (int32[5]): As in `best_paths`.
    variant (str): One of `variants()`.
    best (double[R, 4]): Output, the greatest score of each class.
    RETURNS (float): NaN if a score is not finite, else 0.
    """
    cdef int number = variants().index(variant)
    if not scores.shape[0] or not scores.shape[1]:
        return 0.0
    return parsetag_class_max_f32_as(number, &scores[0, 0], scores.shape[0], scores.shape[1], &offsets[0], &best[0, 0])
