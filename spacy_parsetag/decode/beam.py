"""Beam search: an approximate decoder that keeps the best few tag sequences at each step (paper section 5.2)."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..errors import Errors
from ._passes import beam_search
from .batch import BEAM_EMPTY, FOUND, Decoded, arguments_of
from .constraints import is_whole
from .distribution import Distribution
from .repair import check_status


class BeamDecoder:
    """Keeps the `beam` best tag sequences at each step, whatever their stack, and takes the best one that is a tree.

    A sequence is kept if it is the beginning of some tree; as in the paper, that tree may have more or fewer words than
    the sentence. So a beam may end without a tree. It is then doubled and the sentence searched again; after a few
    times the exact decoder takes over. Every sentence that has a tree gets one.

    beam (int): Sequences kept at each step, h in the paper, which has 10.
    lookahead (bool): Keep only sequences from whose state the end can be reached in the steps that are left, which the
        paper does not do. Such a beam hardly ever ends without a tree, so it is quick; but it is not widened either
        where it has lost the best tree.
    RAISES (ValueError): If the beam is below 1 or above 4,194,304.
    """

    # How often a beam is doubled before the exact decoder takes over.
    doublings = 4
    # Beyond it memory is at risk, and the exact decoder costs less.
    widest = 1 << 22

    def __init__(self, beam: int = 10, lookahead: bool = False) -> None:
        if not is_whole(beam, 1, self.widest):
            raise ValueError(Errors.E160.format(value=beam, widest=self.widest))
        self.beam = beam
        self.lookahead = lookahead

    def __call__(self, distribution: Distribution) -> Decoded:
        """Find a tree of each sentence; see `Decoder`.

        RETURNS (Decoded): Its `beam_widths` are `beam`, more where the search had to be widened, 0 where the exact
            decoder took over.
        """
        batch = distribution.batch
        if batch.spans is not None or batch.constraints is not None:
            raise ValueError(Errors.E165.format(what="Beam search"))
        ids: NDArray[Any] = np.full(len(batch.scores), -1, dtype=np.int32)
        totals = np.zeros(len(batch.n_words))
        status = np.where(batch.n_words > 0, BEAM_EMPTY, FOUND).astype(np.uint8)
        widths = np.full(len(batch.n_words), self.beam, dtype=np.int32)
        empty = status == BEAM_EMPTY
        for doubling in range(self.doublings + 1):
            widths[empty] = width = min(self.beam << doubling, self.widest)
            beam_search(*arguments_of(batch), width, self.lookahead, ids, totals, status)
            empty = status == BEAM_EMPTY
            if not empty.any() or width == self.widest:
                break
        check_status(batch, np.where(empty, FOUND, status))
        if empty.any():
            exact = distribution.select(empty).argmax
            ids = np.where(exact.ids >= 0, exact.ids, ids)
            totals[empty], widths[empty] = exact.scores, 0
        return Decoded(ids, totals, widths)
