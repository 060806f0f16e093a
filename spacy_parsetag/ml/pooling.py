"""Pooling of subword vectors into word vectors."""

from collections.abc import Callable

from thinc.api import Model
from thinc.types import Floats2d, Ragged


def last_subword() -> Model[Ragged, Floats2d]:
    """The vector of each word's last subword, zeros for a token that has none, such as whitespace.

    The paper pools so (section 4.2). Thinc's `reduce_last.v1` does the same, and raises an error for tokens without a
    subword.

    RETURNS (Model[Ragged, Floats2d]): (subwords, width) with lengths in, (tokens, width) out.
    """
    return Model("last_subword", _forward)


def _forward(
    model: Model[Ragged, Floats2d], Xr: Ragged, is_train: bool
) -> tuple[Floats2d, Callable[[Floats2d], Ragged]]:
    present = Xr.lengths > 0
    lasts = Xr.lengths.cumsum()[present] - 1
    shape = Xr.dataXd.shape
    Y = model.ops.alloc2f(len(Xr.lengths), shape[-1])
    Y[present] = Xr.dataXd[lasts]

    def backprop(dY: Floats2d) -> Ragged:
        dX = model.ops.alloc2f(*shape)
        dX[lasts] = dY[present]
        return Ragged(dX, Xr.lengths)

    return Y, backprop
