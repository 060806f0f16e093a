# cython: language_level=3, boundscheck=False, wraparound=False, cdivision=True, initializedcheck=False
# distutils: language = c++
"""Columns of trees and semi-joins over them, in C++: see _columns.hpp and _relations.hpp. Callers check shapes and types."""
from libc.stdint cimport int32_t, int64_t, uint8_t, uint64_t
from libcpp.string_view cimport string_view
from libcpp.vector cimport vector

import numpy as np


cdef extern from "_columns.hpp" namespace "search" nogil:
    cdef cppclass Numbers[Key]:
        vector[Key] all
        int32_t number(Key)
    cdef cppclass Columns:
        vector[int32_t] label, up, size
        vector[int64_t] starts, lines
        bint any_bare
        Numbers[string_view] labels, words
    int64_t c_read "search::read_brackets"(string_view, int64_t, int64_t *, int64_t, Columns &)
    int64_t c_lay_out "search::lay_out"(
        int64_t, const int64_t *, const int64_t *, const int32_t *, const int32_t *, const int32_t *, const int32_t *,
        const int32_t *, const int32_t *, int32_t *, int32_t *, int32_t *)
    bint c_are_trees "search::are_trees"(
        const int32_t *, const int32_t *, const int32_t *, int64_t, int64_t, const int64_t *, int64_t)
    void c_heads "search::find_heads"(
        const int32_t *, const int32_t *, int64_t, const int32_t *, const int32_t *, const uint8_t *, int32_t, int32_t *)


cdef extern from "_relations.hpp" namespace "search" nogil:
    cdef struct Trees:
        const int32_t *up
        const int32_t *size
        const int32_t *head
        int64_t n
    cdef struct Step:
        pass
    cdef struct Program:
        const Step *steps
        int64_t n_steps
        const uint8_t *labels
        int64_t n_strings, n_labels
    cdef struct Mask:
        uint64_t *words
    void c_fill "search::fill"(const Trees &, const int32_t *, const Program &, uint64_t *)
    void c_find "search::find"(
        const Trees &, const int32_t *, const Program &, const int64_t *, int64_t, int64_t, const int64_t *, int64_t,
        vector[vector[int64_t]] &)
    void c_pairs "search::pairs"(
        const Trees &, int, int, Mask, const int64_t *, int64_t, Mask, vector[int64_t] &, vector[int64_t] &)


cdef object ints(vector[int32_t] &found):
    return np.array(<int32_t[:found.size()]>found.data()) if found.size() else np.empty(0, np.int32)


cdef object longs(vector[int64_t] &found):
    return np.array(<int64_t[:found.size()]>found.data()) if found.size() else np.empty(0, np.int64)


cdef list strings(const Numbers[string_view] &found):
    return [found.all[i].data()[:found.all[i].size()] for i in range(found.all.size())]


def scan_brackets(const uint8_t[::1] text, int64_t at, int64_t line, int64_t most):
    """Read plain trees from a text: columns, what the labels and the words are, whether a tree had no root wrapper, and
    where and at which line it stopped."""
    cdef Columns out
    cdef string_view view = string_view(<const char *>&text[0], text.shape[0]) if text.shape[0] else string_view()
    with nogil:
        at = c_read(view, at, &line, most, out)
    columns = ints(out.label), ints(out.up), ints(out.size), longs(out.starts), longs(out.lines)
    return columns, strings(out.labels), strings(out.words), out.any_bare, at, line


def number_keys(const uint64_t[::1] keys):
    """Number keys of strings in the order in which they come: the number of each one, and the distinct ones."""
    cdef Numbers[uint64_t] found
    numbers = np.empty(keys.shape[0], np.int32)
    cdef int32_t[::1] out = numbers
    for i in range(keys.shape[0]):
        out[i] = found.number(keys[i])
    return numbers, found.all


def read_spans(groups, uint64_t[:, ::1] out):
    """Read the spans of spaCy's groups: rows of start, end, label, start_char and end_char."""
    cdef int64_t i = 0
    for group in groups:
        for span in group:
            out[0, i], out[1, i], out[2, i] = span.start, span.end, span.label
            out[3, i], out[4, i] = span.start_char, span.end_char
            i += 1


def lay_out_nodes(const int64_t[::1] n_words, const int64_t[::1] n_spans, const int32_t[::1] roots, const int32_t[::1] words,
            const int32_t[::1] tags, const int32_t[:, ::1] spans, int32_t[:, ::1] out):
    """Lay out sentences in `out`, the rows label, up and size; returns the first sentence that is not a tree, or -1."""
    return c_lay_out(
        n_words.shape[0], &n_words[0], &n_spans[0], &roots[0], &words[0], &tags[0], &spans[0, 0], &spans[1, 0],
        &spans[2, 0], &out[0, 0], &out[1, 0], &out[2, 0])


def are_trees(const int32_t[::1] label, const int32_t[::1] up, const int32_t[::1] size, int64_t n_strings,
              const int64_t[::1] starts):
    """Tell whether columns are trees, one after another, whose labels are among some strings."""
    cdef bint found
    with nogil:
        found = c_are_trees(&label[0], &up[0], &size[0], label.shape[0], n_strings, &starts[0], starts.shape[0])
    return found


def find_heads(const int32_t[::1] label, const int32_t[::1] size, const int32_t[::1] kind, const int32_t[:, ::1] rank,
               const uint8_t[::1] mark, int32_t[::1] out):
    """Find the head child of each node."""
    with nogil:
        c_heads(&label[0], &size[0], label.shape[0], &kind[0], &rank[0, 0], &mark[0], <int32_t>rank.shape[0], &out[0])


cdef Trees trees(const int32_t[::1] up, const int32_t[::1] size, const int32_t[::1] head) noexcept:
    cdef Trees found = Trees(&up[0], &size[0], NULL, up.shape[0])
    if head is not None:
        found.head = &head[0]
    return found


cdef Program program(const int32_t[:, ::1] steps, const uint8_t[:, ::1] labels, int64_t n_labels) noexcept:
    return Program(<const Step *>&steps[0, 0], steps.shape[0], &labels[0, 0], labels.shape[1], n_labels)


def fill_masks(const int32_t[::1] label, const int32_t[::1] up, const int32_t[::1] size, const int32_t[::1] head,
         const int32_t[:, ::1] steps, const uint8_t[:, ::1] labels, int64_t n_labels, uint64_t[:, ::1] masks):
    """Make the masks of a program over some trees, one a row, a bit for each node: first masks of labels, then masks of steps."""
    c_fill(trees(up, size, head), &label[0], program(steps, labels, n_labels), &masks[0, 0])


def find_nodes(const int32_t[::1] label, const int32_t[::1] up, const int32_t[::1] size, const int32_t[::1] head,
         const int32_t[:, ::1] steps, const uint8_t[:, ::1] labels, int64_t n_labels, const int64_t[::1] starts,
         int64_t block, const int64_t[::1] results):
    """The nodes that some masks of a program mark, over any number of trees, in blocks of about `block` nodes."""
    cdef vector[vector[int64_t]] found
    cdef Trees all_trees = trees(up, size, head)
    cdef Program steps_and_labels = program(steps, labels, n_labels)
    with nogil:
        c_find(all_trees, &label[0], steps_and_labels, &starts[0], starts.shape[0], block, &results[0], results.shape[0],
               found)
    return [longs(found[i]) for i in range(found.size())]


def node_pairs(const int32_t[::1] up, const int32_t[::1] size, const int32_t[::1] head, int relation, int nth,
          uint64_t[::1] through, const int64_t[::1] left, uint64_t[::1] nodes):
    """All pairs of a node of a list and one of some nodes in a relation: places in the list, and nodes."""
    cdef vector[int64_t] places, found
    cdef Mask none = Mask(NULL)
    c_pairs(trees(up, size, head), relation, nth, none if through is None else Mask(&through[0]), &left[0],
            left.shape[0], Mask(&nodes[0]), places, found)
    return longs(places), longs(found)
