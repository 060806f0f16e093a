# cython: language_level=3, boundscheck=False, wraparound=False, cdivision=True, initializedcheck=False
# distutils: language = c++
"""Finds the labelled nodes of the trees of a batch in one call: what `delinearize` and `tree_spans` do, without an
object per tag. Decoders are pluggable, so each sequence is also checked to be a tree."""
from libc.stdint cimport int32_t, int64_t, uint8_t
from libcpp.vector cimport vector

cdef enum:
    IN = 0
    PRE = 1
    POST = 2

# Both `bounds_` functions read the tag classes (0 to 3: l, r, L, R) of a sentence once, keep a stack of open nodes and
# write the bounds of every node; they return False if the sequence is not a tree. They check what `delinearize` checks.


cdef bint bounds_in_order(const uint8_t *cls, int size, int *stack, int *starts, int *ends, int *above) noexcept nogil:
    # The stack holds partial trees, each by its last node that waits for a right child (`above` links those further up), or
    # by -1 - first word if the tree is complete.
    cdef int i, node, word = 0, top = -1
    for i in range(size):
        if (cls[i] >= 2) != (i % 2 == 1) or top < (0 if cls[i] == 1 else 1 if cls[i] == 3 else -1):
            return False
        if cls[i] < 2:
            starts[i] = word
            word += 1
            ends[i] = word
        if cls[i] == 0:
            top += 1
            stack[top] = -1 - starts[i]
        elif cls[i] == 1:  # everything that waits on top ends here
            node = stack[top]
            while node >= 0:
                ends[node] = word
                stack[top] = -1 - starts[node]
                node = above[node]
        else:  # the complete tree on top becomes a left child, of a new tree or of one below
            starts[i] = -1 - stack[top]
            top -= cls[i] == 3
            above[i] = stack[top] if cls[i] == 3 else -1
            stack[top] = i
    return top == 0 and stack[0] < 0


cdef bint bounds_pre_order(const uint8_t *cls, int size, int *stack, int *starts, int *ends) noexcept nogil:
    cdef int i, node, word = 0, top = -1  # the stack holds the nodes that have not ended
    for i in range(size):
        if (cls[i] % 2 == 1) != (i > 0 and cls[i - 1] < 2) or (cls[i] % 2 == 1 and top < 0):
            return False
        starts[i] = word
        top += 1
        stack[top] = i
        if cls[i] < 2:  # it ends, and with a right child its parent
            word += 1
            while True:
                node = stack[top]
                top -= 1
                ends[node] = word
                if cls[node] % 2 == 0:
                    break
    return top < 0 and cls[size - 1] < 2


cdef int write_nodes(const int32_t *ids, int size, int order, const uint8_t *class_of, const uint8_t *labelled,
                     uint8_t *cls, int *memory, int32_t *start, int32_t *end, int32_t *tag) noexcept nogil:
    """Write the nodes of one sentence that have the tags asked for, in pre-order; returns how many, -1 if it is not a tree."""
    cdef int *stack = memory
    cdef int *starts = memory + size
    cdef int *ends = memory + 2 * size
    cdef int *above = memory + 3 * size
    cdef int *order_of = memory + 4 * size
    cdef int *place = memory + 5 * size  # of the next node that starts at a word
    cdef int i, node, n_words = (size + 1) // 2, n = 0
    for i in range(size):
        # Backwards, post-order is the pre-order of the mirror image, where left and right change places but at the root.
        cls[i] = class_of[ids[size - 1 - i]] ^ (i > 0) if order == POST else class_of[ids[i]]
    if order == IN:
        if not bounds_in_order(cls, size, stack, starts, ends, above):
            return -1
    elif not bounds_pre_order(cls, size, stack, starts, ends):
        return -1
    if order == POST:
        for i in range(size):
            starts[i], ends[i] = n_words - ends[i], n_words - starts[i]
    # Pre-order sorts nodes by first word, and longer nodes first. Of nodes with the same first word, in-order has the
    # longer ones last; pre-order, and post-order as it was read here, have them first.
    for i in range(n_words + 1):
        place[i] = 0
    for i in range(size):
        place[starts[i] + 1] += 1
    for i in range(n_words):
        place[i + 1] += place[i]
    for i in range(size):
        node = size - 1 - i if order == IN else i
        order_of[place[starts[node]]] = node
        place[starts[node]] += 1
    for i in range(size):
        node = order_of[i]
        tag[n] = ids[size - 1 - node if order == POST else node]
        if labelled[tag[n]]:
            start[n], end[n] = starts[node], ends[node]
            n += 1
    return n


def batch_nodes(const int32_t[::1] ids, const int64_t[::1] rows, const int32_t[::1] n_words, int order,
                const uint8_t[::1] class_of, const uint8_t[::1] labelled, int32_t[::1] start, int32_t[::1] end,
                int32_t[::1] tag, int32_t[::1] counts):
    """Nodes of a batch of trees that have the tags asked for, sentence after sentence, each in pre-order.

    ids (int32[R]), rows (int64[S]), n_words (int32[S]): Tag ids from a decoder, and the first row and number of words
        of each sentence. Sentences must lie within ids, and their ids must belong to tags.
    order (int): 0 in-order, 1 pre-order, 2 post-order.
    class_of, labelled (uint8[T]): Class of each tag, and whether its nodes are written.
    start, end, tag (int32[P]): Outputs, as long as the trees have tags in all: word indices within the sentence, and the
        tag. What follows the nodes is not written.
    counts (int32[S]): Output: nodes of each sentence that are written.
    RETURNS (int): How many nodes in all; -1 if one is not a tree.
    """
    cdef int longest = 1, s
    cdef Py_ssize_t total = 0
    for s in range(n_words.shape[0]):
        longest = max(longest, n_words[s])
    cdef vector[int] memory = vector[int](14 * longest)
    cdef vector[uint8_t] cls = vector[uint8_t](2 * longest)
    with nogil:
        for s in range(n_words.shape[0]):
            counts[s] = 0
            if n_words[s] > 0:
                counts[s] = write_nodes(&ids[rows[s]], 2 * n_words[s] - 1, order, &class_of[0], &labelled[0], cls.data(),
                                        memory.data(), &start[total], &end[total], &tag[total])
                if counts[s] < 0:
                    total = -1
                    break
                total += counts[s]
    return total
