# distutils: language = c++
"""The batch as C++ reads it; see `_lattice.hpp`."""
from libc.stdint cimport int32_t, int64_t

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

ctypedef fused real:
    float
    double


cdef inline void read_batch(Batch[real] *b, const real[:, ::1] scores, const int64_t[::1] starts, const int32_t[::1] n_words,
                            const int32_t[::1] offsets, table, int bound) except *:
    """Fill the batch as C++ sees it: pointers into arrays that the caller holds.

    scores (real[R, T]), starts (int64[S]), n_words (int32[S]): As in `TagScores`.
    offsets (int32[5]): Columns of class c are offsets[c] to offsets[c + 1].
    table (Lattice): The table.
    bound (int): The largest stack after any tag; -1 for none.
    """
    cdef int c
    b.scores = &scores[0, 0] if scores.shape[0] and scores.shape[1] else NULL
    b.starts = &starts[0] if starts.shape[0] else NULL
    b.n_words = &n_words[0] if starts.shape[0] else NULL
    b.n_sentences, b.n_tags = starts.shape[0], scores.shape[1]
    b.offsets, b.bound = &offsets[0], bound
    b.pairs = b.start = b.end = NULL
    b.lattice.start_stack, b.lattice.start_state = table.start_stack, table.start_state
    b.lattice.end_stack, b.lattice.end_state = table.end_stack, table.end_state
    for c in range(4):
        b.lattice.delta[c], b.lattice.need[c] = table.delta[c], table.need[c]
        b.lattice.source[c], b.lattice.target[c] = table.source[c], table.target[c]
    b.lattice.link()
