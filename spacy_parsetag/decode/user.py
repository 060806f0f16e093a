"""One sentence, a batch of one: `decode` and `TreeDistribution`, for users who bring scores of their own."""

from collections.abc import Sequence
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..errors import Errors
from ..linearize import TagSet, get_linearizer, largest_stack
from .batch import TagScores, Transitions, as_floats, span_row
from .beam import BeamDecoder
from .constraints import is_whole, label_sets, read_constraints
from .distribution import Distribution
from .trees import labelled_nodes


def decode(
    scores: Any,
    tags: Sequence[str],
    order: str = "in",
    transitions: Any = None,
    start: Any = None,
    end: Any = None,
    max_stack: int | None = None,
    beam: int | None = None,
) -> tuple[NDArray[Any], float]:
    """Find the best tree of one sentence.

    scores (np.ndarray): (2N-1, T) scores of T tags at each position, for N words.
    tags (Sequence[str]): The T tags, in the order of the columns.
    order (str): "in", "pre" or "post".
    transitions (np.ndarray | None): (T, T); [a, b] is the score of tag b right after tag a.
    start, end (np.ndarray | None): (T,) score of a tag as the first and as the last one.
    max_stack (int | None): Largest stack size after any tag; None for no bound.
    beam (int | None): Sequences kept at each step of a beam search; None for the exact decoder.
    RETURNS (tuple[np.ndarray, float]): (2N-1,) int32 columns of the best valid tag sequence, and its score.
    RAISES (ValueError): If shapes disagree, a score is not finite, or no tree exists within the bound.

    >>> import numpy as np
    >>> ids, score = decode(np.zeros((3, 4)), ["l", "r", "L/S", "R/VP"])
    >>> [["l", "r", "L/S", "R/VP"][i] for i in ids]
    ['l', 'L/S', 'r']
    """
    sentence = TreeDistribution(scores, tags, order, transitions, start, end, max_stack)
    distribution = sentence._distribution
    best = distribution.argmax if beam is None else BeamDecoder(beam)(distribution)
    return sentence._columns[best.ids], float(best.scores[0])


class TreeDistribution:
    """The trees of one sentence, each with the probability exp(score - log_partition): a `Distribution` of one.

    Trees are given by the caller's columns, as `decode` gives them.

    scores, tags, order, transitions, start, end, max_stack: As `decode` takes them.
    constraints (Sequence[tuple[int, int, str | None, str]]): Constraints on the constituents, each as (start, end,
        label or None, kind); see `Constraint`. Trees that do not agree have no probability.
    RAISES (ValueError): If shapes disagree, or a constraint is invalid. Asking for a result raises it if a score is
        not finite; if no tree within the bound agrees with the constraints, naming those in conflict; or, with
        transitions, if the result needs the chart, as all but sums, `argmax`, `log_prob` and `entropy` do.

    >>> import numpy as np
    >>> d = TreeDistribution(np.zeros((5, 6)), ["l", "r", "L", "R", "L/S", "R/VP"])
    >>> round(float(np.exp(d.log_partition)))  # two trees over three words, two labels for each of two nodes
    8
    >>> round(d.constituents[1, 3, "VP"], 9)
    0.25
    """

    def __init__(
        self,
        scores: Any,
        tags: Sequence[str],
        order: str = "in",
        transitions: Any = None,
        start: Any = None,
        end: Any = None,
        max_stack: int | None = None,
        constraints: Sequence[Sequence[Any]] = (),
    ) -> None:
        scores = as_floats(scores)
        n_tags = len(tags)
        if scores.ndim != 2 or scores.shape[0] % 2 == 0 or scores.shape[1] != n_tags:
            raise ValueError(Errors.E150.format(rows="2N-1", tags=n_tags, shape=scores.shape))
        tag_set, n_words = TagSet(tags, complete=False), (len(scores) + 1) // 2
        if len(tag_set) != n_tags:
            twice = next(tag for i, tag in enumerate(tags) if tag in tags[:i])
            raise ValueError(Errors.E153.format(tag=twice))
        places = {tag: i for i, tag in enumerate(tags)}
        columns = np.asarray([places[tag] for tag in tag_set.tags], dtype=np.int32)
        batch = TagScores(
            np.ascontiguousarray(scores[:, columns]),
            np.zeros(1, dtype=np.int64),
            np.asarray([n_words], dtype=np.int32),
            tag_set,
            get_linearizer(order),
            _read_transitions(transitions, start, end, columns),
            constraints=(read_constraints(constraints, n_words),) if constraints else None,
            max_stack=max_stack,
        )
        self._distribution, self._columns = Distribution(batch), columns

    @classmethod
    def from_batch(cls, batch: TagScores, s: int) -> "TreeDistribution":
        """Take sentence s of a batch, with its bound and constraints; columns are ids of the batch's tags."""
        sentence = cls.__new__(cls)
        sentence._distribution = Distribution(batch.select(np.asarray([s])).trim())
        sentence._columns = np.arange(len(batch.tags), dtype=np.int32)
        return sentence

    @property
    def log_partition(self) -> float:
        """The log of the sum of exp(score) over all trees."""
        return float(self._distribution.log_partition[0])

    @property
    def entropy(self) -> float:
        """The entropy, in nats: 0 where one tree has all the probability."""
        return float(self._distribution.entropy[0])

    def log_prob(self, ids: Sequence[int]) -> float:
        """Find the log-probability of a tree.

        ids (Sequence[int]): (2N-1,) columns of its tags.
        RETURNS (float): -inf if the tree is outside the bound or does not agree with the constraints.
        RAISES (ValueError): If the columns form no tree.
        """
        batch = self._distribution.batch
        if len(ids) != len(batch.scores):
            raise ValueError(Errors.E004.format(n_tags=len(ids), n_words=int(batch.n_words[0])))
        if not all(is_whole(column, 0, len(self._columns) - 1) for column in ids):
            raise ValueError(Errors.E174.format(columns=list(ids), last=len(self._columns) - 1))
        tag_ids = np.argsort(self._columns)[np.asarray(ids, dtype=np.int64)]
        tags = batch.tags.decode(tag_ids.tolist())
        if tags:  # a sentence without words has one sequence, and no tree
            batch.linearizer.delinearize(tags)  # raises if they form no tree
        outside = batch.max_stack is not None and largest_stack(tags, batch.linearizer.lattice) > batch.max_stack
        if outside or not _agrees(batch, tag_ids):
            return -np.inf
        return float(self._distribution.log_prob(tag_ids)[0])

    @property
    def argmax(self) -> tuple[NDArray[Any], float]:
        """The best tree, (2N-1,) columns, and its score: the exact decoder's."""
        best = self._distribution.argmax
        return self._columns[best.ids], float(best.scores[0])

    def topk(self, k: int) -> list[tuple[NDArray[Any], float]]:
        """Find the (2N-1,) columns and scores of the k best trees, best first; see `Distribution.topk`."""
        ids_of_trees, scores = self._distribution.topk(k)[0]
        return [(self._columns[ids], float(score)) for ids, score in zip(ids_of_trees, scores, strict=True)]

    def sample(self, n: int, seed: int) -> NDArray[Any]:
        """Draw the (n, 2N-1) int32 columns of n trees by their probabilities; see `Distribution.sample`."""
        return self._columns.take(self._distribution.sample(n, seed))

    @cached_property
    def tag_marginals(self) -> NDArray[Any]:
        """(2N-1, T) probability of each tag at each position.

        Where spans are scored, the positions of gaps have the probability that a left or a right child splits there, in
        the columns of the bare tags.
        """
        return self._distribution.sums().marginals.take(np.argsort(self._columns), axis=1)

    @cached_property
    def constituents(self) -> dict[tuple[int, int, str], float]:
        """The probability of each constituent that is possible, as {(start, end, label): probability}.

        A unary chain gives one entry for each of its labels. Nodes that binarization added give none.
        """
        return self._distribution.constituents.sentence(0)

    def mbr(self, cost: float = 0.5) -> NDArray[Any]:
        """Find the (2N-1,) columns of the tree whose constituents are right most often.

        cost (float): The cost of a constituent; see `MBRDecoder`.
        """
        return self._columns.take(self._distribution.mbr(cost).ids)


def _read_transitions(pairs: Any, start: Any, end: Any, columns: NDArray[Any]) -> Transitions | None:
    """Check a user's scores of successive tags, zeros where some are not given, and bring their columns in order."""
    if pairs is None and start is None and end is None:
        return None
    n, arrays = len(columns), []
    for name, given, shape in (("transitions", pairs, (n, n)), ("start", start, (n,)), ("end", end, (n,))):
        array = np.zeros(shape) if given is None else np.asarray(given)
        if array.shape != shape:
            raise ValueError(Errors.E158.format(name=name, expected=shape, shape=array.shape))
        arrays.append(array[np.ix_(*[columns] * array.ndim)])
    return Transitions(*arrays)


def _agrees(batch: TagScores, ids: NDArray[Any]) -> bool:
    """Check whether the tree of a batch of one sentence agrees with its constraints."""
    if not batch.constraints or not batch.constraints[0]:
        return True
    masks, cells, _ = label_sets(batch.constraints, batch.n_words, batch.tags)
    nodes = labelled_nodes(ids, batch, bare=True)
    sets = cells[span_row(int(batch.n_words[0]), nodes.start, nodes.end, shortest=1)]
    return bool((sets >= 0).all() and masks[sets, nodes.tag].all())
