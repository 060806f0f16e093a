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


cdef inline void read_lattice(table, Lattice *lattice) except *:
    cdef int c
    lattice.start_stack, lattice.start_state = table.start_stack, table.start_state
    lattice.end_stack, lattice.end_state = table.end_stack, table.end_state
    for c in range(4):
        lattice.delta[c], lattice.need[c] = table.delta[c], table.need[c]
        lattice.source[c], lattice.target[c] = table.source[c], table.target[c]
    lattice.link()
