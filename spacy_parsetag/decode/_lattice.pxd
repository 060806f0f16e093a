# cython: language_level=3
"""What every decoder needs of the `Lattice` table, as inline C: the table itself and the stack sizes worth visiting."""

# What happened to a sentence.
cdef enum:
    FOUND = 0
    NOT_FINITE = 1
    NO_TREE = 2
    NO_MEMORY = 3


cdef struct Table:
    int start_stack, start_state, end_stack, end_state
    int delta[4]
    int source[4]
    # The two classes that lead into each group, and the smallest stack they can leave.
    int entry[2][2]
    int least[2]


cdef struct Range:
    int low, high  # inclusive; empty if high < low


cdef inline Range meet(Range a, Range b) noexcept nogil:
    cdef Range r
    r.low = max(a.low, b.low)
    r.high = min(a.high, b.high)
    return r


cdef inline void forward_ranges(const Table *t, int length, int bound, Range *ranges) noexcept nogil:
    """Stack sizes that can be reached: ranges[2 * p + g] after p tags in group g, p = 0..length."""
    cdef int p, g, k, c
    cdef Range before, r
    for g in range(2):
        ranges[g].low, ranges[g].high = 1, 0
    ranges[t.start_state].low = ranges[t.start_state].high = t.start_stack
    for p in range(1, length + 1):
        for g in range(2):
            r.low, r.high = bound + 1, -1
            for k in range(2):
                c = t.entry[g][k]
                before = ranges[2 * (p - 1) + t.source[c]]
                if before.high >= before.low:
                    r.low = min(r.low, before.low + t.delta[c])
                    r.high = max(r.high, before.high + t.delta[c])
            r.low = max(r.low, t.least[g])
            r.high = min(r.high, bound)
            ranges[2 * p + g] = r


cdef inline void backward_ranges(const Table *t, int length, int bound, Range *ranges) noexcept nogil:
    """Stack sizes from which the end can be reached: ranges[2 * p + g] with p tags to come in group g, p = 0..length."""
    cdef int p, g, k, c, target
    cdef Range after
    for g in range(2):
        ranges[g].low, ranges[g].high = 1, 0
    ranges[t.end_state].low = ranges[t.end_state].high = t.end_stack
    for p in range(1, length + 1):
        for g in range(2):
            ranges[2 * p + g].low, ranges[2 * p + g].high = bound + 1, -1
        for target in range(2):
            after = ranges[2 * (p - 1) + target]
            after.low = max(after.low, t.least[target])
            if after.high < after.low:
                continue
            for k in range(2):
                c = t.entry[target][k]
                g = t.source[c]
                ranges[2 * p + g].low = min(ranges[2 * p + g].low, after.low - t.delta[c])
                ranges[2 * p + g].high = max(ranges[2 * p + g].high, after.high - t.delta[c])
        for g in range(2):
            ranges[2 * p + g].low = max(ranges[2 * p + g].low, 0)
            # The start of pre-order lies above a bound of 0, and is no size after a tag.
            ranges[2 * p + g].high = min(ranges[2 * p + g].high, max(bound, t.start_stack))


cdef inline void read_table(lattice, Table *t) except *:
    """Copy a `Lattice` into C."""
    cdef int c, g
    cdef int filled[2]
    filled[0] = filled[1] = 0
    t.start_stack, t.start_state = lattice.start_stack, lattice.start_state
    t.end_stack, t.end_state = lattice.end_stack, lattice.end_state
    for c in range(4):
        t.delta[c] = lattice.delta[c]
        t.source[c] = lattice.source[c]
        g = lattice.target[c]
        t.entry[g][filled[g]] = c
        t.least[g] = lattice.need[c] + lattice.delta[c]
        filled[g] += 1
