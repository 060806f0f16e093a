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
