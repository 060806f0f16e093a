"""Beam search: an approximate decoder that keeps the best few tag sequences at each step (paper section 5.2)."""

from typing import Any, NamedTuple

import numpy as np

from ..errors import Errors
from ..linearize import Linearizer
from ..linearize.tags import TagSet
from ._beam import beam_paths
from .batch import (
    Dependencies,
    StackBound,
    check_batch,
    check_bound,
    check_dependencies,
    raise_failure,
    stack_bound,
)
from .exact import ExactDecoder

NO_END = 4  # what the search says of a sentence whose beam ends without a tree


class BeamResult(NamedTuple):
    """Trees of a batch, and the beam each was found with.

    ids, totals (np.ndarray): As `decode_batch` returns them.
    widths (np.ndarray): (S,) int32, sequences kept at each step: the decoder's `beam`, more where it had to be widened,
        0 where the exact decoder stepped in.
    """

    ids: np.ndarray
    totals: np.ndarray
    widths: np.ndarray


class BeamDecoder:
    """Keeps the `beam` best tag sequences at each step, no matter their stack, and takes the best one that is a tree.

    A sequence is kept if it is the beginning of some tree; as in the paper, whether that tree has as many words as the
    sentence is not asked. So a beam may end without a tree. It is then doubled and the sentence searched again; after a
    few times the exact decoder takes over. No sentence fails that has a tree.

    beam (int): Sequences kept at each step, h in the paper, which has 10.
    max_stack (Union[int, "train", None]): Largest stack size allowed after any tag; None for no bound; "train" for the
        largest stack in the training trees, which the pipe resolves.
    lookahead (bool): Keep only sequences from whose state the end can be reached in the steps that are left, which the
        paper does not do. Such a beam hardly ever ends without a tree, so it is quick; but neither is it widened where
        it has lost the best tree.
    """

    # How often a beam is doubled before the exact decoder takes over.
    doublings = 4

    def __init__(self, beam: int = 10, max_stack: StackBound = None, *, lookahead: bool = False) -> None:
        if beam < 1:
            raise ValueError(Errors.E112.format(value=beam))
        self.beam = beam
        self.max_stack = check_bound(max_stack)
        self.lookahead = lookahead

    def decode_batch(
        self,
        scores: Any,
        rows: Any,
        words: Any,
        tags: TagSet,
        linearizer: Linearizer,
        transitions: Any | None = None,
        start: Any | None = None,
        end: Any | None = None,
    ) -> tuple[np.ndarray, np.ndarray]:
        """Decode many sentences in one call; the same contract as `ExactDecoder.decode_batch`."""
        ids, totals, _ = self.search_batch(scores, rows, words, tags, linearizer, transitions, start, end)
        return ids, totals

    def search_batch(
        self,
        scores: Any,
        rows: Any,
        words: Any,
        tags: TagSet,
        linearizer: Linearizer,
        transitions: Any | None = None,
        start: Any | None = None,
        end: Any | None = None,
    ) -> BeamResult:
        """Decode many sentences in one call, and say how wide a beam each took.

        scores, rows, words, tags, linearizer, transitions, start, end: As `ExactDecoder.decode_batch` takes them.
        RETURNS (BeamResult): Tag ids, scores and widths.
        RAISES (ValueError): If a score is not finite, naming word and tag, or if no tree exists within the bound.
        """
        scores, rows, words = check_batch(scores, rows, words, len(tags))
        dependencies = check_dependencies(transitions, start, end, len(tags), scores.dtype)
        independent = Dependencies(*(np.zeros(shape, dtype=scores.dtype) for shape in ((0, 0), (0,), (0,))))
        ids = np.full(len(scores), -1, dtype=np.int32)
        totals = np.zeros(len(words), dtype=np.float64)
        status = np.zeros(len(words), dtype=np.uint8)
        widths = np.zeros(len(words), dtype=np.int32)
        bound = stack_bound(self.max_stack)
        todo = np.arange(len(words))
        width = self.beam
        for _ in range(self.doublings + 1):
            some_totals, some_status = np.zeros(len(todo)), np.zeros(len(todo), dtype=np.uint8)
            beam_paths(
                scores, rows[todo], words[todo], tags.offsets, linearizer.lattice, bound, width, self.lookahead,
                *(dependencies or independent), ids, some_totals, some_status,
            )  # fmt: skip
            totals[todo], status[todo], widths[todo] = some_totals, some_status, width
            todo = todo[some_status == NO_END]
            if not len(todo):
                break
            width *= 2
        failed = (status != 0) & (status != NO_END)
        if failed.any():
            raise_failure(scores, rows, words, tags, linearizer, self.max_stack, np.where(failed, status, 0))
        if len(todo):
            given = (transitions, start, end)
            exact_ids, exact_totals = ExactDecoder(self.max_stack).decode_batch(
                scores, rows[todo], words[todo], tags, linearizer, *given
            )
            ids = np.where(exact_ids >= 0, exact_ids, ids)
            totals[todo], widths[todo] = exact_totals, 0
        return BeamResult(ids, totals, widths)
