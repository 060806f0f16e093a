# cython: language_level=3, boundscheck=False, wraparound=False, cdivision=True, initializedcheck=False
"""Valid tag sequences to the labelled nodes of their trees, a batch a call: `delinearize` and `tree_spans` without an
object per tag. A sequence that is no tree is found out, since decoders are pluggable."""
from libc.stdint cimport int8_t, int32_t, int64_t, uint8_t
from libc.stdlib cimport free, malloc

cdef enum:
    IN = 0
    PRE = 1
    POST = 2


cdef struct Space:
    int *left
    int *right
    int *stack
    int *holes
    int *starts
    int *ends


cdef int link_in_order(const uint8_t *cls, int size, Space w) noexcept nogil:
    """Children of each node of an in-order sequence; returns the root, or -1 if it is no tree. See `InOrder.delinearize`.
    """
    cdef int i, top = -1
    for i in range(size):
        if (cls[i] >= 2) != (i % 2 == 1) or top < (0 if cls[i] == 1 else 1 if cls[i] == 3 else -1):
            return -1
        w.left[i] = w.right[i] = -1
        if cls[i] == 0:
            top += 1
            w.stack[top] = i
            w.holes[top] = -1
        elif cls[i] == 1:
            w.right[w.holes[top]] = i
            w.holes[top] = -1
        elif cls[i] == 2:
            w.left[i] = w.stack[top]
            w.stack[top] = i
            w.holes[top] = i
        else:
            w.left[i] = w.stack[top]
            top -= 1
            w.right[w.holes[top]] = i
            w.holes[top] = i
    return w.stack[0] if top == 0 and w.holes[0] < 0 else -1


cdef int link_pre_order(const uint8_t *cls, int size, Space w) noexcept nogil:
    cdef int i, top = -1
    for i in range(size):
        if (cls[i] % 2 == 1) != (i > 0 and cls[i - 1] < 2):
            return -1
        w.left[i] = w.right[i] = -1
        if i > 0:
            if cls[i - 1] >= 2:
                w.left[i - 1] = i
            elif top < 0:
                return -1
            else:
                w.right[w.stack[top]] = i
                top -= 1
        if cls[i] >= 2:
            top += 1
            w.stack[top] = i
    return 0 if top < 0 and cls[size - 1] < 2 else -1


cdef int link_post_order(const uint8_t *cls, int size, Space w) noexcept nogil:
    cdef int i, top = -1
    for i in range(size):
        # An internal node comes after a right child, and a right child has a left one beneath it.
        if (cls[i] >= 2) != (i > 0 and cls[i - 1] % 2 == 1):
            return -1
        w.left[i] = w.right[i] = -1
        if cls[i] >= 2:
            w.right[i] = w.stack[top]
            w.left[i] = w.stack[top - 1]
            top -= 2
        top += 1
        w.stack[top] = i
        if cls[i] % 2 == 1 and top < 1:
            return -1
    return w.stack[0] if top == 0 and cls[size - 1] % 2 == 0 else -1


cdef int labelled_nodes(const int32_t *ids, int size, int order, const uint8_t *class_of, const uint8_t *labelled,
                        uint8_t *cls, Space w, int32_t *start, int32_t *end, int32_t *tag) noexcept nogil:
    """Write the labelled nodes of one sentence in pre-order; returns how many, -1 if it is no tree."""
    cdef int i, node, root, top, seen = 0, n = 0, visited = 0
    for i in range(size):
        cls[i] = class_of[ids[i]]
    if order == IN:
        root = link_in_order(cls, size, w)
    elif order == PRE:
        root = link_pre_order(cls, size, w)
    else:
        root = link_post_order(cls, size, w)
    if root < 0:
        return -1
    # Pre-order walk; `holes` keeps the visiting order so that ends can be filled in backwards.
    top = 0
    w.stack[0] = root
    while top >= 0:
        node = w.stack[top]
        top -= 1
        w.holes[visited] = node
        visited += 1
        w.starts[node] = seen
        if w.left[node] < 0:
            seen += 1
            w.ends[node] = seen
        else:
            top += 1
            w.stack[top] = w.right[node]
            top += 1
            w.stack[top] = w.left[node]
    for i in range(size - 1, -1, -1):
        node = w.holes[i]
        if w.left[node] >= 0:
            w.ends[node] = w.ends[w.right[node]]
    for i in range(size):
        node = w.holes[i]
        if labelled[ids[node]]:
            start[n] = w.starts[node]
            end[n] = w.ends[node]
            tag[n] = ids[node]
            n += 1
    return n


def batch_nodes(const int32_t[::1] ids, const int64_t[::1] rows, const int32_t[::1] words, int order,
                const uint8_t[::1] class_of, const uint8_t[::1] labelled, int32_t[::1] start, int32_t[::1] end,
                int32_t[::1] tag, int32_t[::1] counts):
    """Labelled nodes of a batch of trees, sentence after sentence, each in pre-order.

    ids (int32[R]), rows (int64[S]), words (int32[S]): As the decoder returned and received them.
        Each sentence lies within ids, and its ids are those of tags.
    order (int): 0 in-order, 1 pre-order, 2 post-order.
    class_of, labelled (uint8[T]): Class of each tag, and whether it has a label.
    start, end, tag (int32[R]): Outputs: word indices within the sentence, and the tag.
    counts (int32[S]): Output: labelled nodes of each sentence.
    RETURNS (int): Labelled nodes in all; -1 - s if sentence s is the first that is no tree.
    """
    cdef int longest = 1, s, size
    cdef Py_ssize_t total = 0
    for s in range(words.shape[0]):
        longest = max(longest, words[s])
    size = 2 * longest
    cdef int *memory = <int *>malloc(6 * size * sizeof(int))
    cdef uint8_t *cls = <uint8_t *>malloc(size)
    if memory == NULL or cls == NULL:
        free(memory); free(cls)
        raise MemoryError
    cdef Space w
    w.left, w.right, w.stack = memory, memory + size, memory + 2 * size
    w.holes, w.starts, w.ends = memory + 3 * size, memory + 4 * size, memory + 5 * size
    with nogil:
        for s in range(words.shape[0]):
            counts[s] = 0
            if words[s] > 0:
                counts[s] = labelled_nodes(&ids[rows[s]], 2 * words[s] - 1, order, &class_of[0], &labelled[0], cls, w,
                                           &start[total], &end[total], &tag[total])
                if counts[s] < 0:
                    total = -1 - s
                    break
                total += counts[s]
    free(memory); free(cls)
    return total
