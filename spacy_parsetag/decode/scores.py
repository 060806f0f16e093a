"""`TagScores`, the one batch: what a learner gives, and what every decoder, loss and distribution takes."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any, Literal, NamedTuple, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from ..errors import Errors
from ..linearize import Linearizer
from ..linearize.tags import TagSet
from .constraints import Constraint, read_constraints

# The largest stack size allowed after any tag: a number, None for any size, or "train", which the pipe turns into the
# largest stack of its training trees.
StackBound = int | Literal["train"] | None

# The orders whose trees the compiled passes over spans and nodes know.
ORDER_CODES = {"in": 0, "pre": 1, "post": 2}

# What the passes say of a sentence.
FOUND, NOT_FINITE, NO_TREE, BEAM_EMPTY = range(4)

# A C int holds the bound; no sentence has a stack as large.
_UNBOUNDED, _LARGEST_BOUND = -1, 2**31 - 1


class Transitions(NamedTuple):
    """Scores of successive tags, beside the scores of each position.

    pairs (np.ndarray): (T, T); [a, b] is the score of tag b right after tag a. -inf shuts a pair out.
    start, end (np.ndarray): (T,) score of a tag as the first and as the last one.
    masked (bool): Whether a loss over all tag sequences shuts out the pairs that no tree has.
    """

    pairs: Any
    start: Any
    end: Any
    masked: bool = False

    def replace(self, arrays: Iterable[Any]) -> Transitions:
        """The same with other arrays for pairs, start and end."""
        pairs, start, end = arrays
        return Transitions(pairs, start, end, self.masked)


@dataclass(frozen=True, eq=False)
class SpanScores:
    """Scores of labels of spans, beside those of tags: what an internal node is called, given both its ends.

    A sentence of N words owns N(N-1)/2 rows, one for each span of two words or more: (0, 2), (0, 3) to (0, N), (1, 3)
    to (N-2, N), ends exclusive. A start of -1 says that the spans of a sentence are not scored: its trees are those of
    its tags alone.

    scores (np.ndarray): (K, L) scores on any device, columns in the order of the tag set's `node_labels`. A label
        counts for a left or a right child only if the tag set has that tag.
    starts (np.ndarray): (S,) int64, first row of each sentence, or -1.
    RAISES (ValueError): If the shapes are not those of rows and starts.
    """

    scores: Any
    starts: NDArray[Any]

    def __post_init__(self) -> None:
        object.__setattr__(self, "starts", np.ascontiguousarray(self.starts, dtype=np.int64))
        if self.scores.ndim != 2 or self.starts.ndim != 1:
            shapes = f"scores of shape {self.scores.shape} with starts of shape {self.starts.shape}"
            raise ValueError(Errors.E164.format(reason=f"{shapes}, not (K, L) and (S,)"))

    def stops(self, n_words: NDArray[Any]) -> NDArray[Any]:
        """(S,) int64, one past the last row of each sentence; -1 where spans are not scored."""
        n_words = n_words.astype(np.int64)
        return np.where(self.starts < 0, -1, self.starts + n_words * (n_words - 1) // 2)


def span_row(n_words: Any, start: Any, end: Any) -> Any:
    """The row of a span among those of its sentence; integers or arrays of them.

    >>> [span_row(4, start, end) for start, end in [(0, 2), (0, 3), (0, 4), (1, 3), (1, 4), (2, 4)]]
    [0, 1, 2, 3, 4, 5]
    """
    return start * (n_words - 1) - start * (start - 1) // 2 + end - start - 2


@dataclass(frozen=True, eq=False)
class TagScores:
    """Scores of the tags of a batch of sentences.

    scores (np.ndarray): (R, T) scores on any device, columns in the order of `tags`. A sentence of N words owns 2N-1
        rows, in the order of its tags; nothing reads the rows between sentences.
    starts (np.ndarray): (S,) int64, first row of each sentence.
    n_words (np.ndarray): (S,) int32, number of words of each sentence. A sentence may be empty.
    tags (TagSet): The T tags.
    linearizer (Linearizer): The order.
    transitions (Transitions | None): Scores of successive tags, where the learner has any.
    spans (SpanScores | None): Scores of spans, where the learner has any; in-order only, without transitions. An
        internal node over words i to j that splits at k, a left child, then scores what the bare tag `L` has in the row
        of gap k plus what its label has in the row of (i, j); a right child the same with `R`. Columns of internal tags
        with labels are not read.
    constraints (tuple[tuple[Constraint, ...], ...] | None): What is known of the trees of each sentence: only those
        that agree count. In the three orders of this package.
    RAISES (ValueError): If shapes disagree, a sentence lies outside the scores, or a constraint outside its sentence.
    """

    scores: Any
    starts: NDArray[Any]
    n_words: NDArray[Any]
    tags: TagSet
    linearizer: Linearizer
    transitions: Transitions | None = None
    spans: SpanScores | None = None
    constraints: tuple[tuple[Constraint, ...], ...] | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "starts", np.ascontiguousarray(self.starts, dtype=np.int64))
        object.__setattr__(self, "n_words", np.ascontiguousarray(self.n_words, dtype=np.int32))
        n_tags = len(self.tags)
        if self.scores.ndim != 2 or self.scores.shape[1] != n_tags:
            raise ValueError(Errors.E150.format(rows="R", tags=n_tags, shape=self.scores.shape))
        if self.starts.ndim != 1 or self.starts.shape != self.n_words.shape:
            raise ValueError(Errors.E154.format(rows=self.starts.shape, words=self.n_words.shape))
        outside = (self.starts < 0) | (self.n_words < 0) | (self.stops > len(self.scores))
        if outside.any():
            s = int(np.flatnonzero(outside)[0])
            start, n = int(self.starts[s]), int(self.n_words[s])
            raise ValueError(Errors.E155.format(s=s, row=start, n=n, total=len(self.scores)))
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
            own = (read_constraints(*one) for one in zip(self.constraints, self.n_words.tolist(), strict=True))
            object.__setattr__(self, "constraints", tuple(own))

    def _misfit(self, spans: SpanScores) -> str | None:
        """Why the scores of spans do not fit to those of tags."""
        labels = self.tags.node_labels
        total = len(spans.scores)
        if self.linearizer.order != "in":
            return f"they go with in-order tags, not with {self.linearizer.order!r}"
        if self.transitions is not None:
            return "they do not go with transitions"
        if not {"L", "R"} <= set(self.tags.tags):
            return "the tag set lacks the tag L or R, whose scores are those of split points"
        if spans.scores.shape[1] != len(labels):
            return f"{spans.scores.shape[1]} columns, but internal nodes have {len(labels)} labels"
        if spans.starts.shape != self.n_words.shape:
            return f"{len(spans.starts)} first rows, but {len(self.n_words)} sentences"
        outside = (spans.starts < -1) | (spans.stops(self.n_words) > total)
        if outside.any():
            s = int(np.flatnonzero(outside)[0])
            row, n = int(spans.starts[s]), int(self.n_words[s])
            return f"sentence {s}, {n} words from row {row} on, does not fit into {total} rows"
        return None

    @classmethod
    def blank(cls, n_words: NDArray[Any], tags: TagSet, linearizer: Linearizer) -> TagScores:
        """A batch whose scores are 0, one sentence after another: for what reads its sentences and tags alone."""
        rows = np.maximum(2 * n_words.astype(np.int64) - 1, 0)
        scores = np.zeros((int(rows.sum()), len(tags)), dtype=np.float32)
        return cls(scores, np.cumsum(rows) - rows, n_words, tags, linearizer)

    @property
    def arrays(self) -> tuple[Any, ...]:
        """All scores: those of tags, then, where there are any, of transitions (pairs, start, end) and of spans."""
        transitions = () if self.transitions is None else self.transitions[:3]
        return (self.scores, *transitions, *(() if self.spans is None else (self.spans.scores,)))

    def with_arrays(self, arrays: Iterable[Any]) -> TagScores:
        """The same batch with others in place of its `arrays`: other scores, or gradients for them."""
        scores, *rest = arrays
        transitions = None if self.transitions is None else self.transitions.replace(rest[:3])
        spans = None if self.spans is None else replace(self.spans, scores=rest[-1])
        return replace(self, scores=scores, transitions=transitions, spans=spans)

    @property
    def stops(self) -> NDArray[Any]:
        """(S,) int64, one past the last row of each sentence."""
        stops: NDArray[Any] = self.starts + np.maximum(2 * self.n_words.astype(np.int64) - 1, 0)
        return stops

    @property
    def rows(self) -> NDArray[Any]:
        """(R',) int64, the rows that sentences own, one sentence after another."""
        ranges = [np.arange(start, stop) for start, stop in zip(self.starts, self.stops, strict=True)]
        return np.concatenate([np.zeros(0, dtype=np.int64), *ranges])

    def select(self, sentences: NDArray[Any]) -> TagScores:
        """Some of the sentences, by index or by a mask, over the same scores."""
        spans = None if self.spans is None else replace(self.spans, starts=self.spans.starts[sentences])
        constraints = self.constraints
        if constraints is not None:
            constraints = tuple(constraints[s] for s in np.arange(len(constraints))[sentences])
        return replace(
            self, starts=self.starts[sentences], n_words=self.n_words[sentences], spans=spans, constraints=constraints
        )

    def on_cpu(self) -> TagScores:
        """The same batch as contiguous NumPy arrays of one type: float64 if the scores are, else float32.

        Arrays on a GPU are copied here, once; a batch that is in this form is returned as it is.

        RAISES (ValueError): If a transition is not a number or is infinite, other than -inf.
        """
        scores = as_floats(self.scores)
        more = [np.ascontiguousarray(as_floats(array), dtype=scores.dtype) for array in self.arrays[1:]]
        limit = 1e300 if scores.dtype == np.float64 else np.inf
        for name, array in zip(Transitions._fields, more if self.transitions is not None else (), strict=False):
            if not ((array < limit) & ((array > -limit) | (array == -np.inf))).all():
                raise ValueError(Errors.E159.format(name=name))
        if all(new is old for new, old in zip((scores, *more), self.arrays, strict=True)):
            return self
        return self.with_arrays((scores, *more))


class Decoded(NamedTuple):
    """The trees that a decoder found.

    ids (np.ndarray): (R,) int32 tag ids, -1 in rows that no sentence owns.
    scores (np.ndarray): (S,) float64 score of each tree.
    notes (dict[str, NDArray[Any]]): What else there is to say of each sentence: arrays of S values, by name.
    """

    ids: NDArray[Any]
    scores: NDArray[Any]
    notes: dict[str, NDArray[Any]] = {}  # noqa: RUF012 (never changed)


@runtime_checkable
class Decoder(Protocol):
    """Finds a tree for each sentence of a batch."""

    def __call__(self, batch: TagScores) -> Decoded: ...


def as_floats(array: Any) -> NDArray[Any]:
    """An array as C-contiguous floats on the CPU; float64 stays, anything else becomes float32."""
    if hasattr(array, "get") and not isinstance(array, np.ndarray):
        array = array.get()
    array = np.asarray(array)
    return np.ascontiguousarray(array, dtype=np.float64 if array.dtype == np.float64 else np.float32)


def check_bound(max_stack: StackBound) -> StackBound:
    """Returns a bound on the stack that is one.

    RAISES (ValueError): If the bound is below 0, or not a whole number.
    """
    if max_stack is None or max_stack == "train":
        return max_stack
    if not isinstance(max_stack, (int, np.integer)) or isinstance(max_stack, bool) or max_stack < 0:
        raise ValueError(Errors.E161.format(least=0, value=max_stack))
    return int(max_stack)


def bound_of(max_stack: StackBound) -> int:
    """A bound as the compiled passes take it: -1 for none.

    RAISES (ValueError): If it is still "train".
    """
    if max_stack is None:
        return _UNBOUNDED
    if isinstance(max_stack, str):
        raise ValueError(Errors.E162)
    check_bound(max_stack)
    return min(max_stack, _LARGEST_BOUND)


def arguments_of(batch: TagScores, max_stack: StackBound) -> tuple[Any, ...]:
    """What the compiled passes read of a batch that is on the CPU."""
    arrays = (None, None, None) if batch.transitions is None else batch.transitions[:3]
    lattice = batch.linearizer.lattice
    return (batch.scores, batch.starts, batch.n_words, batch.tags.offsets, lattice, bound_of(max_stack), *arrays)
