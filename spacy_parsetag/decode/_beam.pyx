# cython: language_level=3, boundscheck=False, wraparound=False, cdivision=True, initializedcheck=False
"""Beam search: the h best tag sequences at each step, no matter their stack (paper section 5.2).

A sequence in the beam has a state of the lattice, and two classes of tag may follow it. Each of the two is a list of
candidates, read best first and only as far as needed: a heap over the lists gives the h best of all. Where tags stand for
themselves a class has one list a position, which all sequences share, and a sequence joins the heap only once the one
before it, which the class continues too, has given its best (sequences are sorted). Where a tag depends on the one before
it, each sequence has its own lists, and all of them are in the heap from the beginning.
"""
from libc.limits cimport INT_MAX
from libc.math cimport INFINITY, isnan
from libc.stdint cimport int32_t, int64_t, uint8_t
from libc.stdlib cimport free, malloc

from ._lattice cimport FOUND, NO_TREE, NOT_FINITE, Range, Table, backward_ranges, read_table

cdef extern from "_beam.h" nogil:
    int PARSETAG_CHUNK
    int parsetag_widest()
    float parsetag_class_max_f32(const float *x, int rows, int n_tags, const int32_t *offsets, double *best)
    double parsetag_class_max_f64(const double *x, int rows, int n_tags, const int32_t *offsets, double *best)
    int parsetag_pop_max_f32(int variant, float *x, int n, float *value)
    int parsetag_pop_max_f64(double *x, int n, double *value)

ctypedef fused real:
    float
    double

# Beside what the other decoders say of a sentence: no sequence in the beam is a tree, but some fell out of it.
cdef enum:
    NO_END = 4


cdef struct Sequence:
    double score
    int32_t stack, group, tag
    int32_t next  # the next sequence of its group, -1 for none


cdef struct Candidate:
    double score
    int32_t list  # 2 * (sequence it continues) + (0 or 1: which of the two classes)
    int32_t rank


cdef struct Search:
    Table t
    const Range *backward  # NULL: whether the end can still be reached is not asked
    int variant
    int n_tags
    int bound
    int beam
    int shared             # whether all sequences share a class's list
    int widest             # tags of the largest class, in whole chunks
    int exits[2][2]        # the two classes that leave a group
    int target[4]
    int column[4]
    int count[4]


cdef struct Lists:
    # Of each list: `widest` scores not read yet, and those read, best first, with their tags.
    double *read_scores
    int32_t *read_tags
    int32_t *n_read        # -1: not filled


cdef inline bint before(const Candidate *a, const Candidate *b) noexcept nogil:
    return a.score > b.score or (a.score == b.score and a.list < b.list)


cdef inline void sift_down(Candidate *heap, int n, int i) noexcept nogil:
    cdef Candidate moved = heap[i]
    cdef int child
    while True:
        child = 2 * i + 1
        if child >= n:
            break
        if child + 1 < n and before(&heap[child + 1], &heap[child]):
            child += 1
        if not before(&heap[child], &moved):
            break
        heap[i] = heap[child]
        i = child
    heap[i] = moved


cdef inline void sift_up(Candidate *heap, int i) noexcept nogil:
    cdef Candidate moved = heap[i]
    cdef int parent
    while i > 0:
        parent = (i - 1) // 2
        if not before(&moved, &heap[parent]):
            break
        heap[i] = heap[parent]
        i = parent
    heap[i] = moved


cdef inline bint may_follow(const Search *m, const Sequence *sequence, int k, int left) noexcept nogil:
    """Whether a sequence can go on with the first or second class that leaves its group. left: positions after this."""
    cdef int c = m.exits[sequence.group][k]
    cdef int stack = sequence.stack + m.t.delta[c]
    cdef const Range *reach
    if stack < m.t.least[m.target[c]] or stack > m.bound:
        return False
    if m.backward != NULL:
        reach = m.backward + 2 * left + m.target[c]
        return reach.low <= stack and stack <= reach.high
    return True


cdef inline bint candidate(const Search *m, Lists *lists, real *rest, const real *scores, const real *transitions,
                           const real *first, const real *last, const Sequence *beam, int which, int rank,
                           double *score) noexcept nogil:
    """Score of the candidate of a list at a rank, at most one behind the last one read; False if there is none.

    rest: `widest` scores of each list that are not read yet. first, last: scores of tags as the first or last one, where
    this is the first or last position; else NULL.
    """
    cdef const Sequence *sequence = beam + (which >> 1)
    cdef int c = m.exits[sequence.group][which & 1]
    cdef int slot = c if m.shared else which
    cdef size_t at = <size_t>slot * m.widest
    cdef int i, place
    cdef real value
    cdef const real *own
    if lists.n_read[slot] < 0:
        own = scores + m.column[c]
        for i in range(m.count[c]):
            rest[at + i] = own[i]
        for i in range(m.count[c], m.widest):
            rest[at + i] = -INFINITY
        if sequence.tag >= 0 and not m.shared:
            own = transitions + <size_t>sequence.tag * m.n_tags + m.column[c]
            for i in range(m.count[c]):
                rest[at + i] += own[i]
        if first != NULL:
            for i in range(m.count[c]):
                rest[at + i] += first[m.column[c] + i]
        if last != NULL:
            for i in range(m.count[c]):
                rest[at + i] += last[m.column[c] + i]
        lists.n_read[slot] = 0
    if rank >= lists.n_read[slot]:
        if real is float:
            place = parsetag_pop_max_f32(m.variant, rest + at, m.widest, &value)
        else:
            place = parsetag_pop_max_f64(rest + at, m.widest, &value)
        if place < 0:
            return False
        lists.read_scores[at + rank] = value
        lists.read_tags[at + rank] = m.column[c] + place
        lists.n_read[slot] = rank + 1
    score[0] = sequence.score + lists.read_scores[at + rank]
    return True


cdef int search(const Search *m, const real *scores, const real *transitions, const real *start, const real *end,
                int length, Lists *lists, real *rest, Sequence *old, Sequence *new, Candidate *heap, int32_t *parents,
                int32_t *tags, const int32_t *offsets, double *best, int32_t *ids, double *total) noexcept nogil:
    """Decode one sentence of `length` tags. parents, tags: (length, beam) what each sequence continues, and with what."""
    cdef int p, i, k, c, n_old = 1, n_new, n_heap, n_lists, which, slot
    cdef int heads[2]
    cdef bint dropped = False, best_of_list
    cdef int32_t tag
    cdef real check
    cdef const real *own
    cdef const real *first = start
    cdef const real *last = NULL
    cdef const Sequence *sequence
    cdef Sequence *swap
    if real is float:
        check = parsetag_class_max_f32(scores, length, m.n_tags, offsets, best)
    else:
        check = parsetag_class_max_f64(scores, length, m.n_tags, offsets, best)
    if isnan(check):
        return NOT_FINITE
    old[0].score, old[0].stack, old[0].group, old[0].tag = 0, m.t.start_stack, m.t.start_state, -1
    for p in range(length):
        own = scores + <size_t>p * m.n_tags
        if p == length - 1:
            last = end
        n_heap = 0
        n_lists = 4 if m.shared else 2 * n_old
        for i in range(n_lists):
            lists.n_read[i] = -1
        # Of each group: its first sequence, and of each sequence the next one of its group.
        heads[0] = heads[1] = -1
        for i in range(n_old - 1, -1, -1):
            old[i].next = heads[old[i].group]
            heads[old[i].group] = i
        for which in range(2):
            for k in range(2):
                i = heads[which]
                while i >= 0:
                    if may_follow(m, old + i, k, length - p - 1):
                        heap[n_heap].list, heap[n_heap].rank = 2 * i + k, 0
                        if candidate[real](m, lists, rest, own, transitions, first, last, old, 2 * i + k, 0,
                                           &heap[n_heap].score):
                            n_heap += 1
                        if m.shared:
                            break
                    i = old[i].next
        for i in range(n_heap // 2 - 1, -1, -1):
            sift_down(heap, n_heap, i)
        n_new = 0
        while n_heap and n_new < m.beam:
            which = heap[0].list
            c = m.exits[old[which >> 1].group][which & 1]
            slot = c if m.shared else which
            tag = lists.read_tags[<size_t>slot * m.widest + heap[0].rank]
            new[n_new].score = heap[0].score
            new[n_new].stack = old[which >> 1].stack + m.t.delta[c]
            new[n_new].group = m.target[c]
            new[n_new].tag = tag
            parents[<size_t>p * m.beam + n_new] = which >> 1
            tags[<size_t>p * m.beam + n_new] = tag
            n_new += 1
            best_of_list = heap[0].rank == 0
            heap[0].rank += 1
            if not candidate[real](m, lists, rest, own, transitions, first, last, old, which, heap[0].rank,
                                   &heap[0].score):
                n_heap -= 1
                heap[0] = heap[n_heap]
            sift_down(heap, n_heap, 0)
            if m.shared and best_of_list:
                k = which & 1
                i = old[which >> 1].next
                while i >= 0 and not may_follow(m, old + i, k, length - p - 1):
                    i = old[i].next
                if i >= 0:
                    heap[n_heap].list, heap[n_heap].rank = 2 * i + k, 0
                    candidate[real](m, lists, rest, own, transitions, first, last, old, 2 * i + k, 0,
                                    &heap[n_heap].score)
                    n_heap += 1
                    sift_up(heap, n_heap - 1)
        first = NULL
        dropped |= n_heap > 0
        swap = old; old = new; new = swap
        n_old = n_new
    # Sequences come out best first.
    for i in range(n_old):
        if old[i].group == m.t.end_state and old[i].stack == m.t.end_stack:
            total[0] = old[i].score
            for p in range(length - 1, -1, -1):
                ids[p] = tags[<size_t>p * m.beam + i]
                i = parents[<size_t>p * m.beam + i]
            return FOUND
    return NO_END if dropped else NO_TREE


def beam_paths(const real[:, ::1] scores, const int64_t[::1] rows, const int32_t[::1] words, const int32_t[::1] offsets,
               lattice, int bound, int beam, bint lookahead, const real[:, ::1] transitions, const real[::1] start,
               const real[::1] end, int32_t[::1] ids, double[::1] totals, uint8_t[::1] status):
    """Search a batch of sentences; see `spacy_parsetag.decode.beam` for the public class.

    scores (real[R, T]): Scores, tags sorted by class; a sentence's 2N-1 rows lie together.
    rows (int64[S]), words (int32[S]): First row and number of words of each sentence.
    offsets (int32[5]): Columns of class c are offsets[c] to offsets[c + 1].
    lattice (Lattice): The table.
    bound (int): Largest stack after any tag; -1 for none.
    beam (int): Sequences kept at each step.
    lookahead (bool): Whether to keep only sequences from whose state a tree can still be reached.
    transitions (real[T, T]), start (real[T]), end (real[T]): Scores of tags after others, first and last; without rows
        if tags stand for themselves.
    ids, totals, status: Outputs; status 4: some sequences fell out of the beam and none that is left is a tree.
    """
    cdef Search m
    cdef Lists lists
    cdef int c, g, n, s, longest = 0, limit, length
    cdef Py_ssize_t n_sents = words.shape[0]
    cdef int filled[2]
    for s in range(n_sents):
        longest = max(longest, words[s])
    if not longest:
        return
    read_table(lattice, &m.t)
    limit = longest + 1 if bound < 0 else min(bound, longest + 1)
    length = 2 * longest - 1
    m.variant = parsetag_widest()
    m.n_tags = scores.shape[1]
    # Not `limit`: what the beam keeps must not hang on the other sentences of the batch.
    m.bound = INT_MAX if bound < 0 else bound
    m.beam = beam
    m.shared = transitions.shape[0] == 0
    m.widest = 1
    filled[0] = filled[1] = 0
    for c in range(4):
        m.column[c] = offsets[c]
        m.count[c] = offsets[c + 1] - offsets[c]
        m.widest = max(m.widest, m.count[c])
        m.target[c] = lattice.target[c]
        g = m.t.source[c]
        m.exits[g][filled[g]] = c
        filled[g] += 1
    m.widest = (m.widest + PARSETAG_CHUNK - 1) // PARSETAG_CHUNK * PARSETAG_CHUNK
    cdef size_t n_lists = 4 if m.shared else 2 * <size_t>beam
    cdef Range *backward = <Range *>malloc(2 * (length + 1) * sizeof(Range))
    cdef double *best = <double *>malloc(4 * <size_t>length * sizeof(double))
    cdef Sequence *beams = <Sequence *>malloc(2 * <size_t>beam * sizeof(Sequence))
    cdef Candidate *heap = <Candidate *>malloc(2 * <size_t>beam * sizeof(Candidate))
    cdef int32_t *back = <int32_t *>malloc(2 * <size_t>length * beam * sizeof(int32_t))
    cdef real *rest = <real *>malloc(n_lists * m.widest * sizeof(real))
    cdef const real *pair = NULL
    cdef const real *first = NULL
    cdef const real *last = NULL
    lists.read_scores = <double *>malloc(n_lists * m.widest * sizeof(double))
    lists.read_tags = <int32_t *>malloc(n_lists * m.widest * sizeof(int32_t))
    lists.n_read = <int32_t *>malloc(n_lists * sizeof(int32_t))
    cdef bint enough = (
        backward != NULL and best != NULL and beams != NULL and heap != NULL and back != NULL
        and rest != NULL and lists.read_scores != NULL and lists.read_tags != NULL and lists.n_read != NULL
    )
    if enough:
        if not m.shared:
            pair, first, last = &transitions[0, 0], &start[0], &end[0]
        with nogil:
            m.backward = NULL
            if lookahead:
                backward_ranges(&m.t, length, limit, backward)
                m.backward = backward
            for s in range(n_sents):
                n = words[s]
                if n < 1:
                    continue
                status[s] = search[real](&m, &scores[rows[s], 0], pair, first, last, 2 * n - 1, &lists, rest, beams,
                                         beams + beam, heap, back, back + <size_t>length * beam, &offsets[0], best,
                                         &ids[rows[s]], &totals[s])
    free(backward); free(best); free(beams); free(heap); free(back); free(rest)
    free(lists.read_scores); free(lists.read_tags); free(lists.n_read)
    if not enough:
        raise MemoryError


def sort_by_popping(float[::1] x, int variant, int32_t[::1] order):
    """Empty a list from the best on with one variant of the inner loop, for tests.

    x (float[n]): Scores, n a multiple of 16; left as -inf.
    variant (int): 0 portable, 1 AVX2, 2 AVX-512; one wider than the CPU's is lowered.
    order (int32[n]): Output, the indices in the order taken.
    RETURNS (int): How many there were before all was -inf.
    """
    cdef float value
    cdef int i, n = 0
    while True:
        i = parsetag_pop_max_f32(min(variant, parsetag_widest()), &x[0], x.shape[0], &value)
        if i < 0:
            return n
        order[n] = i
        n += 1
