"""`TagScores`, the one batch: what a learner gives, and what every loss and distribution takes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..errors import Errors
from ..linearize import Linearizer, TagSet
from .constraints import Constraint, is_whole, label_sets, read_constraints

# The orders whose trees the compiled passes over spans and nodes know.
ORDER_CODES = {"in": 0, "pre": 1, "post": 2}

Arguments = tuple[NDArray[Any], tuple[Any, ...]]  # of the compiled passes: the scores, and the others

_LARGEST_FLOAT32 = 1e30  # largest size of scores that float32 adds up where successive tags score

# After a compiled pass, its outcome for a sentence. Before the pass, the status says which pass the sentence waits for:
# the lattice (FOUND), the chart (CHART) or a beam search (BEAM_EMPTY).
FOUND, NOT_FINITE, NO_TREE, BEAM_EMPTY, TOO_GREAT, CHART = range(6)


class Transitions(NamedTuple):
    """Scores of successive tags, beside the scores of each position.

    pairs (np.ndarray): (T, T); [a, b] is the score of tag b right after tag a. -inf shuts a pair out.
    start, end (np.ndarray): (T,) score of a tag as the first and as the last one.
    """

    pairs: Any
    start: Any
    end: Any


@dataclass(frozen=True, eq=False)
class SpanScores:
    """Scores of the labels of spans, beside the scores of tags: how well a label fits a node, by both its ends.

    A sentence of N words owns N(N-1)/2 rows, one for each span of two words or more: (0, 2), (0, 3) to (0, N), (1, 3)
    to (N-2, N), ends exclusive. A start of -1 says that the spans of a sentence are not scored: its trees come from
    its tags alone.

    scores (np.ndarray): (K, L) scores on any device, columns in the order of the tag set's `node_labels`. A label
        counts for a left or a right child only if the tag set has that tag.
    starts (np.ndarray): (S,) int64, first row of each sentence, or -1.
    RAISES (ValueError): If the arrays do not have the shapes of rows and starts, or starts are no whole numbers.
    """

    scores: Any
    starts: NDArray[Any]

    def __post_init__(self) -> None:
        object.__setattr__(self, "starts", _as_whole(self.starts, np.int64, "first rows"))
        if self.scores.ndim != 2 or self.starts.ndim != 1:
            shapes = f"scores of shape {self.scores.shape} with starts of shape {self.starts.shape}"
            raise ValueError(Errors.E164.format(reason=f"{shapes}, not (K, L) and (S,)"))

    def stops(self, n_words: NDArray[Any]) -> NDArray[Any]:
        """(S,) int64, one past the last row of each sentence; -1 where spans are not scored."""
        n_words = n_words.astype(np.int64)
        return np.where(self.starts < 0, -1, self.starts + n_words * (n_words - 1) // 2)


def span_row(n_words: Any, start: Any, end: Any, shortest: int = 2) -> Any:
    """Find the row of a span among the spans of `shortest` words or more of its sentence; integers or arrays.

    >>> [span_row(4, start, end) for start, end in [(0, 2), (0, 3), (0, 4), (1, 3), (1, 4), (2, 4)]]
    [0, 1, 2, 3, 4, 5]
    """
    return start * (n_words - shortest + 1) - start * (start - 1) // 2 + end - start - shortest


def first_spans(n_words: NDArray[Any], shortest: int = 2) -> NDArray[Any]:
    """Find the first row of each sentence if each span has a row: (S + 1,) int64, at the end the number of rows."""
    n = n_words.astype(np.int64) - shortest + 1
    rows: NDArray[Any] = np.concatenate([[0], np.cumsum(np.maximum(n * (n + 1) // 2, 0))])
    return rows


def list_spans(n_words: NDArray[Any]) -> tuple[NDArray[Any], NDArray[Any], NDArray[Any]]:
    """List the spans of two words or more of all sentences, row after row: (K,) sentence, start and end."""
    sentence, start = np.repeat(np.arange(len(n_words)), n_words), ranges(np.zeros_like(n_words), n_words)
    counts = n_words[sentence] - start - 1
    return np.repeat(sentence, counts), np.repeat(start, counts), ranges(start + 2, counts)


@dataclass(frozen=True, eq=False)
class TagScores:
    """Scores of the tags of a batch of sentences, and which of their trees count.

    It is checked when it is made, and never changed: what is derived from it is valid too.

    scores (np.ndarray): (R, T) scores on any device, columns in the order of `tags`. A sentence of N words owns 2N-1
        rows, in the order of its tags; nothing reads the rows between sentences.
    starts (np.ndarray): (S,) int64, first row of each sentence.
    n_words (np.ndarray): (S,) int32, number of words of each sentence. A sentence may be empty.
    tags (TagSet): The T tags.
    linearizer (Linearizer): The order.
    transitions (Transitions | None): Scores of successive tags, where the learner has any.
    spans (SpanScores | None): Scores of spans, where the learner has any; in-order only, without transitions. An
        internal node over words i to j that splits at k then scores the sum of two: the bare tag in the row of gap k,
        `L` for a left child and `R` for a right one, and the node's label in the row of span (i, j). Columns of
        internal tags with labels are not read.
    constraints (tuple[tuple[Constraint, ...], ...] | None): Constraints on the trees of each sentence: only trees that
        agree count. In the three orders of this package, without transitions.
    max_stack (int | None): Largest stack size after any tag: only trees within it count. None for no bound.
    numbers (np.ndarray | None): (S,) int64, what messages call the sentences; None counts them from 0. Sentences that
        are chosen from a batch keep their numbers.
    RAISES (ValueError): If shapes disagree, there is no tag, a row or number of words is not whole, a sentence lies
        outside the scores, a constraint outside its sentence, or the bound is below 0.
    """

    scores: Any
    starts: NDArray[Any]
    n_words: NDArray[Any]
    tags: TagSet
    linearizer: Linearizer
    transitions: Transitions | None = None
    spans: SpanScores | None = None
    constraints: tuple[tuple[Constraint, ...], ...] | None = None
    max_stack: int | None = None
    numbers: Any = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "starts", _as_whole(self.starts, np.int64, "first rows"))
        object.__setattr__(self, "n_words", _as_whole(self.n_words, np.int32, "numbers of words"))
        numbers = np.arange(self.starts.size) if self.numbers is None else self.numbers
        object.__setattr__(self, "numbers", _as_whole(numbers, np.int64, "numbers of sentences"))
        if self.max_stack is not None and not is_whole(self.max_stack, 0):
            raise ValueError(Errors.E161.format(least=0, value=self.max_stack))
        if not (n_tags := len(self.tags)):
            raise ValueError(Errors.E162)
        if self.scores.ndim != 2 or self.scores.shape[1] != n_tags:
            raise ValueError(Errors.E150.format(rows="R", tags=n_tags, shape=self.scores.shape))
        shapes = {"rows": self.starts.shape, "words": self.n_words.shape, "numbers": self.numbers.shape}
        if self.starts.ndim != 1 or len(set(shapes.values())) > 1:
            raise ValueError(Errors.E154.format(**shapes))
        outside = (self.starts < 0) | (self.n_words < 0) | (self.stops > len(self.scores))
        if outside.any():
            s = outside.argmax()
            raise ValueError(Errors.E155.format(s=s, row=self.starts[s], n=self.n_words[s], total=len(self.scores)))
        if self.transitions is not None:
            for name, expected in (("pairs", (n_tags, n_tags)), ("start", (n_tags,)), ("end", (n_tags,))):
                shape = getattr(self.transitions, name).shape
                if shape != expected:
                    raise ValueError(Errors.E158.format(name=name, expected=expected, shape=shape))
        if self.spans is not None and (reason := self._misfit(self.spans)):
            raise ValueError(Errors.E164.format(reason=reason))
        if self.constraints is not None:
            if self.linearizer.order not in ORDER_CODES:
                raise ValueError(Errors.E167.format(order=self.linearizer.order))
            if len(self.constraints) != len(self.n_words):
                raise ValueError(Errors.E170.format(n=len(self.constraints), sentences=len(self.n_words)))
            checked = map(read_constraints, self.constraints, self.n_words.tolist())
            object.__setattr__(self, "constraints", tuple(checked))

    def _misfit(self, spans: SpanScores) -> str | None:
        """Say why the scores of spans do not fit the scores of tags; None if they do."""
        labels = self.tags.node_labels
        rows = len(spans.scores)
        if self.linearizer.order != "in":
            return f"they go with in-order tags, not with {self.linearizer.order!r}"
        if self.transitions is not None:
            return "they do not go with transitions"
        if not {"L", "R"} <= set(self.tags.tags):
            return "the tag set lacks the tag L or R, which scores split points"
        if spans.scores.shape[1] != len(labels):
            return f"{spans.scores.shape[1]} columns, but internal nodes have {len(labels)} labels"
        if spans.starts.shape != self.n_words.shape:
            return f"{len(spans.starts)} first rows, but {len(self.n_words)} sentences"
        outside = (spans.starts < -1) | (spans.stops(self.n_words) > rows)
        if outside.any():
            s = outside.argmax()
            return f"sentence {s}, {self.n_words[s]} words from row {spans.starts[s]} on, does not fit into {rows} rows"
        return None

    @property
    def arrays(self) -> tuple[Any, ...]:
        """All scores: of tags, then, where there are any, of transitions (pairs, start, end) and of spans."""
        return (self.scores, *(self.transitions or ()), *(() if self.spans is None else (self.spans.scores,)))

    def with_arrays(self, arrays: Iterable[Any]) -> TagScores:
        """Put other arrays of the same shapes in place of `arrays`: other scores, or their gradients."""
        scores, *rest = arrays
        transitions = None if self.transitions is None else Transitions(*rest[:3])
        spans = None if self.spans is None else SpanScores(rest[-1], self.spans.starts)
        return self.derive(scores=scores, transitions=transitions, spans=spans)

    def scaled(self, factor: float) -> TagScores:
        """Multiply all scores by a factor, which is 1 / temperature. Trees keep their order, best to worst."""
        return self if factor == 1.0 else self.with_arrays(array * factor for array in self.arrays)

    def derive(self, **changes: Any) -> TagScores:
        """Change fields without checking the rest again: the caller's changes keep it valid."""
        if unknown := changes.keys() - self.__dict__.keys():
            raise TypeError(unknown)
        derived = object.__new__(TagScores)
        derived.__dict__.update(self.__dict__, **changes)
        return derived

    @property
    def lengths(self) -> NDArray[Any]:
        """(S,) int64, the number of tags, and so of rows, of each sentence."""
        return numbers_of_tags(self.n_words)

    @property
    def stops(self) -> NDArray[Any]:
        """(S,) int64, one past the last row of each sentence."""
        stops: NDArray[Any] = self.starts + self.lengths
        return stops

    @property
    def rows(self) -> NDArray[Any]:
        """(R',) int64, the rows that sentences own, one sentence after another."""
        return ranges(self.starts, self.lengths)

    def select(self, sentences: NDArray[Any]) -> TagScores:
        """Choose sentences, by index or by a mask, over the same scores."""
        spans = None if self.spans is None else replace(self.spans, starts=self.spans.starts[sentences])
        constraints = self.constraints and tuple(self.constraints[s] for s in np.arange(len(self.starts))[sentences])
        chosen = {name: getattr(self, name)[sentences] for name in ("starts", "n_words", "numbers")}
        return self.derive(**chosen, spans=spans, constraints=constraints)

    def parts(self, n_rows: int) -> Iterator[TagScores]:
        """Cut the batch into runs of successive sentences with about `n_rows` rows of scores, or one longer sentence.

        What is computed over a few thousand rows stays in the cache of a CPU. Parts are views of the same scores.
        """
        cuts = np.flatnonzero(np.diff(self.starts // n_rows)) + 1
        for sentences in np.split(np.arange(len(self.starts)), cuts):
            yield self.select(sentences).trim()

    def trim(self) -> TagScores:
        """Leave out the scores before the first row of its sentences and after the last; views of the same arrays."""
        first_row, spans = self.starts.min(initial=len(self.scores)), self.spans
        if spans is not None:
            scored = spans.starts >= 0
            start = spans.starts.min(where=scored, initial=len(spans.scores))
            stop = spans.stops(self.n_words).max(initial=start)
            spans = SpanScores(spans.scores[start:stop], np.where(scored, spans.starts - start, -1))
        scores = self.scores[first_row : self.stops.max(initial=first_row)]
        return self.derive(scores=scores, starts=self.starts - first_row, spans=spans)

    def on_cpu(self) -> TagScores:
        """Turn the scores into contiguous NumPy arrays of one type, the largest of their own (see `as_floats`); with
        transitions float64 where sums could leave the range of float32.

        Arrays on a GPU are copied here, once; a batch that is in this form is returned as it is.

        RAISES (ValueError): If a transition is not a number or is infinite, other than -inf.
        """
        scores, *others = map(as_floats, self.arrays)
        dtype = np.result_type(scores, *others)
        if self.transitions is not None and dtype != np.float64:
            parts = (scores, *(np.where(array == -np.inf, 0, array) for array in others))
            if any(max(part.max(initial=0), -part.min(initial=0)) > _LARGEST_FLOAT32 for part in parts):
                dtype = np.dtype(np.float64)
        scores, *others = (np.ascontiguousarray(array, dtype=dtype) for array in (scores, *others))
        limit = 1e300 if dtype == np.float64 else np.inf
        for name, array in zip(Transitions._fields, others if self.transitions else (), strict=False):
            if not ((array < limit) & ((array > -limit) | (array == -np.inf))).all():
                raise ValueError(Errors.E159.format(name=name))
        if all(new is old for new, old in zip((scores, *others), self.arrays, strict=True)):
            return self
        return self.with_arrays((scores, *others))


class Decoded(NamedTuple):
    """The trees that a decoder found.

    ids (np.ndarray): (R,) int32 tag ids, -1 in rows that no sentence owns.
    scores (np.ndarray): (S,) float64 score of each tree.
    beam_widths (np.ndarray | None): (S,) int32 sequences that a beam search kept at each step, 0 where the exact
        decoder took over; None from other decoders.
    """

    ids: NDArray[Any]
    scores: NDArray[Any]
    beam_widths: NDArray[Any] | None = None


def as_floats(array: Any) -> NDArray[Any]:
    """Convert to C-contiguous floats on the CPU: float32, float16 and bool to float32, anything else to float64."""
    array = np.asarray(array.get() if hasattr(array, "get") else array)
    is_small = array.dtype.kind in "fb" and array.dtype.itemsize <= 4
    return np.ascontiguousarray(array, dtype=np.float32 if is_small else np.float64)


def _as_whole(given: Any, dtype: type[np.signedinteger[Any]], what: str) -> NDArray[Any]:
    """Convert what is of sentences to an integer type; raise a ValueError if that changes a value."""
    given = np.asarray(given)
    with np.errstate(invalid="ignore"):
        array = np.ascontiguousarray(given.astype(dtype, copy=False))
    if (wrong := array != given).any():
        raise ValueError(Errors.E181.format(what=what, n_bits=8 * array.itemsize, value=given[wrong].tolist()[0]))
    return array


def ranges(starts: NDArray[Any], counts: NDArray[Any]) -> NDArray[Any]:
    """Join ranges of integers: counts[0] integers from starts[0] on, then counts[1] from starts[1] on, as int64."""
    shift = np.repeat(starts - (np.cumsum(counts) - counts), counts)
    joined: NDArray[Any] = np.arange(len(shift), dtype=np.int64) + shift
    return joined


def numbers_of_tags(n_words: NDArray[Any]) -> NDArray[Any]:
    """Find how many tags the trees of sentences have, as int64: 2N-1 over N words, and none over none."""
    n_tags: NDArray[Any] = np.maximum(2 * n_words.astype(np.int64) - 1, 0)
    return n_tags


def needs_chart(batch: TagScores) -> NDArray[Any]:
    """Find the sentences whose trees the lattice does not know, (S,) bool: spans are scored, or constrained."""
    needs = np.zeros(len(batch.n_words), dtype=bool) if batch.spans is None else batch.spans.starts >= 0
    if batch.constraints is not None:
        needs |= np.asarray([len(constraints) > 0 for constraints in batch.constraints], dtype=bool)
    return needs


def arguments_of(batch: TagScores) -> Arguments:
    """Give the scores, and the other arguments with which compiled passes read a batch on the CPU."""
    bound, lattice = -1, batch.linearizer.lattice  # -1: no bound, or one that no sentence reaches
    largest = 2 * int(batch.n_words.max(initial=0)) + max(lattice.start_stack, lattice.end_stack)
    if batch.max_stack is not None and batch.max_stack < largest + 2:
        bound = int(batch.max_stack)
    order = ORDER_CODES.get(batch.linearizer.order, -1)  # of a user's own order there is no chart
    # Where tags alone are scored in pre- and post-order, their places depend on the stack.
    levels = bound >= 0 or (order != ORDER_CODES["in"] and batch.spans is None)
    none = (None, None, None)
    spans = none if batch.spans is None else (batch.spans.scores, batch.spans.starts, batch.tags.node_ids)
    shared = None  # each span has a row of its own: see `best_trees`
    sets = none if batch.constraints is None else label_sets(batch.constraints, batch.n_words, batch.tags)
    sentences = (batch.starts, batch.n_words, batch.tags.offsets, lattice, bound)
    return batch.scores, (*sentences, *(batch.transitions or none), order, levels, *spans, shared, *sets)
