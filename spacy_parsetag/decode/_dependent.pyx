# cython: language_level=3, boundscheck=False, wraparound=False, cdivision=True, initializedcheck=False
"""Best tree where the score of a tag depends on the tag before it: O(dN|T|^2), paper section 5.1.

A state is (group, stack size, last tag). Only tags that lead into a group are states of it, and only tags that leave it
may follow, so one step is, for each group, a product of (stack sizes x tags into it) with (tags into it x tags out of it)
in which sums are maxima and products are sums; together half of |T| x |T|. Only stack sizes from which a tree can still be
had take part; where every tag changes the stack by one, as in pre- and post-order, that is every other size.

The product keeps no choices. Scores of states are kept instead, and choices are found again along the best path alone.
For long sentences not even those: they are kept at every so many positions, and the stretches between, from the last to
the first, are run once more.
"""
from libc.math cimport INFINITY, isnan
from libc.stdint cimport int32_t, int64_t, uint8_t, uintptr_t
from libc.stdlib cimport free, malloc
from libc.string cimport memcpy

from ._lattice cimport (
    FOUND, NO_MEMORY, NO_TREE, NOT_FINITE, Range, Table, backward_ranges, forward_ranges, meet, read_table,
)

cdef extern from "_maxplus.h" nogil:
    int PARSETAG_PAD
    int parsetag_widest()
    float parsetag_class_max_f32(const float *x, int rows, int n_tags, const int32_t *offsets, double *best)
    double parsetag_class_max_f64(const double *x, int rows, int n_tags, const int32_t *offsets, double *best)
    void parsetag_maxplus_f32(int variant, const float *v, int rows, int v_stride, const float *m, int depth, float *out,
                              int stride)
    void parsetag_maxplus_f64(int variant, const double *v, int rows, int v_stride, const double *m, int depth,
                              double *out, int stride)
    float parsetag_add_f32(int variant, const float *a, const float *b, float *out, int n, float top)
    double parsetag_add_f64(const double *a, const double *b, double *out, int n, double top)
    void parsetag_rate(const float *x, float *out, int64_t rounds)

ctypedef fused real:
    float
    double


cdef struct Model:
    Table t
    const Range *forward
    const Range *backward
    int n_tags
    int parity           # 1 if the parity of the stack alternates, so that every other size is skipped
    int slots            # stack sizes kept per group
    int count[4]         # tags of a class
    int column[4]        # their first column
    int target[4]        # the group they lead into
    int into[4]          # their first place among the tags that lead into their group
    int out_of[4]        # their first place among the tags that leave their group
    int n_into[2]
    int n_out[2]         # padded
    int state[2]         # numbers in one state row: n_into, padded
    size_t base[2]       # where a group's rows begin in a block
    size_t block         # numbers in the states of one position


cdef inline int padded(int n) noexcept nogil:
    return (n + PARSETAG_PAD - 1) // PARSETAG_PAD * PARSETAG_PAD


cdef inline Range sizes(const Model *m, int length, int p, int g) noexcept nogil:
    """Stack sizes of group g after p of `length` tags that lie on the way to a tree."""
    cdef Range r = meet(m.forward[2 * p + g], m.backward[2 * (length - p) + g])
    if m.parity and r.high >= r.low:
        r.low += (r.low - m.t.start_stack - p) & 1
        r.high -= (r.high - m.t.start_stack - p) & 1
    return r


cdef inline int slots(const Model *m, Range r) noexcept nogil:
    """How many sizes a range has."""
    return ((r.high - r.low) >> m.parity) + 1 if r.high >= r.low else 0


cdef inline real *state_row(const Model *m, real *block, int g, int stack) noexcept nogil:
    return block + m.base[g] + <size_t>(stack >> m.parity) * m.state[g]


cdef real step(const Model *m, int variant, int length, int p, const real *scores, real shift, const real *weights[2],
               const real *start, real *old, real *new, real *product, real *shifted) noexcept nogil:
    """From the states after p tags to those after p + 1; before p = 0 there is no tag, and `start` has its scores.

    `shift` is taken off all scores, to keep numbers small. Returns the greatest new score.
    """
    cdef int g, k, c, i, n, stack, target
    cdef real top = -INFINITY
    cdef const real *before
    cdef real *out
    cdef Range r, into
    for i in range(m.n_tags):
        shifted[i] = scores[i] - shift
    for g in range(2):
        if p:
            r = sizes(m, length, p, g)
        else:
            r.low, r.high = m.t.start_stack, m.t.start_stack if g == m.t.start_state else m.t.start_stack - 1
        n = slots(m, r)
        if p and n:
            if real is float:
                parsetag_maxplus_f32(variant, state_row(m, old, g, r.low), n, m.state[g], weights[g], m.n_into[g],
                                     product, m.n_out[g])
            else:
                parsetag_maxplus_f64(variant, state_row(m, old, g, r.low), n, m.state[g], weights[g], m.n_into[g],
                                     product, m.n_out[g])
        for c in range(4):
            if m.t.source[c] != g:
                continue
            target = m.target[c]
            into = sizes(m, length, p + 1, target)
            for k in range(slots(m, into)):
                # Each state has the tags of a class from one stack size only.
                stack = into.low + (k << m.parity)
                out = state_row(m, new, target, stack) + m.into[c]
                stack -= m.t.delta[c]
                if not (n and r.low <= stack <= r.high):
                    for i in range(m.count[c]):
                        out[i] = -INFINITY
                    continue
                if p:
                    before = product + <size_t>((stack - r.low) >> m.parity) * m.n_out[g] + m.out_of[c]
                else:
                    before = start + m.column[c]
                if real is float:
                    top = parsetag_add_f32(variant, before, shifted + m.column[c], out, m.count[c], top)
                else:
                    top = parsetag_add_f64(before, shifted + m.column[c], out, m.count[c], top)
    return top


cdef int best_path(const Model *m, int variant, const real *scores, int length, int stretch, const real *weights[2],
                   const real *start, const real *end, real *kept, real *marks, real *shifts, real *product,
                   real *shifted, double *best, const int32_t *offsets, int32_t *ids, double *total) noexcept nogil:
    """Decode one sentence of `length` tags.

    kept: stretch + 1 blocks of states; marks, shifts: a block and a shift for each stretch of the sentence.
    """
    cdef int n_stretches = (length + stretch - 1) // stretch
    cdef int i, j, g, c, p, stack, source, place, winner, first, last
    cdef real check, value, top, shift = 0
    cdef real *row
    cdef const real *column
    cdef double sum = 0
    if real is float:
        check = parsetag_class_max_f32(scores, length, m.n_tags, offsets, best)
    else:
        check = parsetag_class_max_f64(scores, length, m.n_tags, offsets, best)
    if isnan(check):
        return NOT_FINITE
    for j in range(n_stretches):
        if j:
            memcpy(kept, kept + stretch * m.block, m.block * sizeof(real))
            memcpy(marks + j * m.block, kept, m.block * sizeof(real))
            shifts[j] = shift
        last = min(length, (j + 1) * stretch)
        for p in range(j * stretch, last):
            i = p - j * stretch
            shift = step(m, variant, length, p, scores + <size_t>p * m.n_tags, shift, weights, start, kept + i * m.block,
                         kept + (i + 1) * m.block, product, shifted)
            if not shift > -INFINITY:
                return NO_TREE
    g, stack, place, top = m.t.end_state, m.t.end_stack, -1, -INFINITY
    row = state_row(m, kept + (length - (n_stretches - 1) * stretch) * m.block, g, stack)
    for i in range(m.n_into[g]):
        c = m.t.entry[g][0] if i < m.count[m.t.entry[g][0]] else m.t.entry[g][1]
        value = row[i] + end[m.column[c] + i - m.into[c]]
        if value > top:
            top, place = value, i
    if place < 0:
        return NO_TREE
    for j in range(n_stretches - 1, -1, -1):
        first, last = j * stretch, min(length, (j + 1) * stretch)
        if j < n_stretches - 1:
            if j:
                memcpy(kept, marks + j * m.block, m.block * sizeof(real))
            shift = shifts[j] if j else 0
            for p in range(first, last):
                i = p - first
                shift = step(m, variant, length, p, scores + <size_t>p * m.n_tags, shift, weights, start,
                             kept + i * m.block, kept + (i + 1) * m.block, product, shifted)
        for p in range(last - 1, first - 1, -1):
            # The tag at position p is at `place` in the state (g, stack); find the one before it.
            c = m.t.entry[g][0] if place < m.count[m.t.entry[g][0]] else m.t.entry[g][1]
            place -= m.into[c]
            ids[p] = m.column[c] + place
            sum += scores[<size_t>p * m.n_tags + ids[p]]
            if p == 0:
                break
            source = m.t.source[c]
            stack -= m.t.delta[c]
            row = state_row(m, kept + (p - first) * m.block, source, stack)
            column = weights[source] + m.out_of[c] + place
            top, winner = -INFINITY, -1
            for i in range(m.n_into[source]):
                value = row[i] + column[<size_t>i * m.n_out[source]]
                if value > top:
                    top, winner = value, i
            sum += column[<size_t>winner * m.n_out[source]]
            g, place = source, winner
    total[0] = sum + start[ids[0]] + end[ids[length - 1]]
    return FOUND


cdef void *aligned(void *memory) noexcept nogil:
    """The first whole cache line."""
    return <void *>((<uintptr_t>memory + 63) & ~<uintptr_t>63)


def best_paths(const real[:, ::1] scores, const int64_t[::1] rows, const int32_t[::1] words, const int32_t[::1] offsets,
               lattice, int bound, const real[:, ::1] transitions, const real[::1] start, const real[::1] end,
               int64_t budget, int32_t[::1] ids, double[::1] totals, uint8_t[::1] status):
    """Decode a batch of sentences; see `spacy_parsetag.decode.exact` for the public functions.

    scores (real[R, T]): Scores, tags sorted by class; a sentence's 2N-1 rows lie together.
    rows (int64[S]), words (int32[S]): First row and number of words of each sentence.
    offsets (int32[5]): Columns of class c are offsets[c] to offsets[c + 1].
    lattice (Lattice): The table.
    bound (int): Largest stack after any tag; -1 for none.
    transitions (real[T, T]), start (real[T]), end (real[T]): Scores of a tag right after another, first and last.
    budget (int): Memory for the states of one sentence, in bytes, before stretches are run twice.
    ids, totals, status: Outputs, as in the independent decoder.
    """
    cdef Model m
    cdef int c, g, k, a, b, n, s, i, j, ca, cb, longest = 0, limit, width, length, stretch
    cdef Py_ssize_t n_sents = words.shape[0]
    cdef int variant = parsetag_widest()
    cdef size_t size, n_weights, n_marks
    for s in range(n_sents):
        longest = max(longest, words[s])
    if not longest or not scores.shape[1]:
        for s in range(n_sents):
            status[s] = NO_TREE if words[s] else FOUND
        return
    read_table(lattice, &m.t)
    limit = longest + 1 if bound < 0 else min(bound, longest + 1)
    length = 2 * longest - 1
    m.n_tags = scores.shape[1]
    m.parity = m.t.delta[0] & m.t.delta[1] & m.t.delta[2] & m.t.delta[3] & 1
    width = max(limit, m.t.start_stack) + 1
    m.slots = (width >> m.parity) + 1
    cdef int filled[2]
    filled[0] = filled[1] = 0
    for c in range(4):
        m.column[c] = offsets[c]
        m.target[c] = lattice.target[c]
        m.count[c] = offsets[c + 1] - offsets[c]
        m.out_of[c] = filled[m.t.source[c]]
        filled[m.t.source[c]] += m.count[c]
    m.block = 0
    for g in range(2):
        m.n_out[g] = padded(filled[g])
        m.into[m.t.entry[g][0]] = 0
        m.into[m.t.entry[g][1]] = m.count[m.t.entry[g][0]]
        m.n_into[g] = m.count[m.t.entry[g][0]] + m.count[m.t.entry[g][1]]
        m.state[g] = padded(m.n_into[g])
        m.base[g] = m.block
        m.block += <size_t>m.slots * m.state[g]
    # One stretch if its states fit into the budget, else about as many as each has positions.
    stretch = length
    if <double>(length + 1) * m.block * sizeof(real) > budget:
        stretch = 1
        while stretch * stretch < length:
            stretch += 1
    n_marks = 0 if stretch == length else (length + stretch - 1) // stretch
    n_weights = <size_t>m.n_into[0] * m.n_out[0] + <size_t>m.n_into[1] * m.n_out[1]
    size = n_weights + (stretch + 1 + n_marks) * m.block + <size_t>m.slots * max(m.n_out[0], m.n_out[1]) + n_marks + m.n_tags
    cdef void *memory = malloc(size * sizeof(real) + 64)
    cdef double *best = <double *>malloc(4 * <size_t>length * sizeof(double))
    cdef Range *ranges = <Range *>malloc(4 * (length + 1) * sizeof(Range))
    cdef real *weights[2]
    cdef real *kept
    cdef real *marks
    cdef real *product
    cdef real *shifts
    cdef real *shifted
    if memory == NULL or best == NULL or ranges == NULL:
        free(memory); free(best); free(ranges)
        raise MemoryError
    m.forward, m.backward = ranges, ranges + 2 * (length + 1)
    weights[0] = <real *>aligned(memory)
    weights[1] = weights[0] + <size_t>m.n_into[0] * m.n_out[0]
    kept = weights[0] + n_weights
    marks = kept + (stretch + 1) * m.block
    product = marks + n_marks * m.block
    shifts = product + <size_t>m.slots * max(m.n_out[0], m.n_out[1])
    shifted = shifts + n_marks
    with nogil:
        forward_ranges(&m.t, length, limit, ranges)
        backward_ranges(&m.t, length, limit, ranges + 2 * (length + 1))
        for i in range(<int>n_weights):
            weights[0][i] = -INFINITY
        for g in range(2):
            for k in range(2):
                ca = m.t.entry[g][k]
                for cb in range(4):
                    if m.t.source[cb] != g:
                        continue
                    for a in range(m.count[ca]):
                        for b in range(m.count[cb]):
                            weights[g][<size_t>(m.into[ca] + a) * m.n_out[g] + m.out_of[cb] + b] = (
                                transitions[m.column[ca] + a, m.column[cb] + b])
        for s in range(n_sents):
            n = words[s]
            if n < 1:
                continue
            status[s] = best_path[real](
                &m, variant, &scores[rows[s], 0], 2 * n - 1, min(stretch, 2 * n - 1), <const real **>weights, &start[0],
                &end[0], kept, marks, shifts, product, shifted, best, &offsets[0], &ids[rows[s]], &totals[s])
    free(memory); free(best); free(ranges)


def maxplus(const real[:, ::1] v, const real[:, ::1] m, int variant, real[:, ::1] out):
    """Run one variant of the inner loop, for tests: out[i, j] = max over k of v[i, k] + m[k, j].

    v (real[I, K]), m (real[K, J]): Factors; J is a multiple of 16.
    variant (int): 0 portable, 1 AVX2, 2 AVX-512; one wider than the CPU's is lowered.
    out (real[I, J]): Output.
    """
    if real is float:
        parsetag_maxplus_f32(min(variant, parsetag_widest()), &v[0, 0], v.shape[0], v.shape[1], &m[0, 0], m.shape[0],
                             &out[0, 0], m.shape[1])
    else:
        parsetag_maxplus_f64(min(variant, parsetag_widest()), &v[0, 0], v.shape[0], v.shape[1], &m[0, 0], m.shape[0],
                             &out[0, 0], m.shape[1])


def maxplus_rate(int64_t rounds, const float[::1] x, float[::1] out):
    """Do `rounds` times 1,024 float32 maxima of sums as fast as this machine can, for benchmarks.

    x (float[1024]), out (float[128]): Input and scratch.
    """
    with nogil:
        parsetag_rate(&x[0], &out[0], rounds)
