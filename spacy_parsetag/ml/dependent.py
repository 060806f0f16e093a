"""Scores of tags that depend on the tag before: how the learner hands them to the pipe, and what trees allow."""

from collections.abc import Callable

import numpy as np
from thinc.api import Model, get_array_module
from thinc.types import Floats2d
from thinc.util import get_width

from ..decode.batch import Dependencies
from ..linearize import Lattice
from ..linearize.tags import TagSet


class DependentScores(list[Floats2d]):
    """Scores of tags, one (tokens, 2 |T|) array per doc, with the scores of pairs of tags that go with them.

    A gradient of such scores is one of these as well; its dependencies are the gradient of the dependencies. So the
    parameters of a chain get their gradient through the model's own backward pass.

    arrays (List[Floats2d]): One array per doc.
    dependencies (Dependencies): Scores of pairs, of first and of last tags, on the device of the arrays.
    masked (bool): Whether pairs that are in no tree are to be shut out, in training too.
    """

    def __init__(self, arrays: list[Floats2d], dependencies: Dependencies, *, masked: bool = False) -> None:
        super().__init__(arrays)
        self.dependencies = dependencies
        self.masked = masked


def mask_dependencies(dependencies: Dependencies, tags: TagSet, lattice: Lattice) -> Dependencies:
    """Shut out, with -inf, the pairs of tags that are in no tree, and the tags that begin or end none.

    dependencies (Dependencies): The scores.
    tags (TagSet): The tags.
    lattice (Lattice): The table of the order.
    RETURNS (Dependencies): New arrays, on the same device.
    """
    xp = get_array_module(dependencies.transitions)
    source, target = (np.asarray(table)[tags.classes] for table in (lattice.source, lattice.target))  # (T,)
    first = (source == lattice.start_state) & (np.asarray(lattice.need)[tags.classes] <= lattice.start_stack)
    allowed = (target[:, None] == source[None, :], first, target == lattice.end_state)
    return Dependencies(
        *(xp.where(xp.asarray(ok), scores, -xp.inf) for ok, scores in zip(allowed, dependencies, strict=True))
    )


def tag_chain(
    nO: int | None = None, *, rate_scale: float = 1.0, masked: bool = True
) -> Model[list[Floats2d], list[Floats2d]]:
    """Add scores of successive tags to scores of single ones: the parameters of a linear chain, which start at zero.

    Input: one (words, nO) array per doc, where nO = 2 |T|. Output: the same, as `DependentScores`.

    nO (Optional[int]): 2 |T|; None until the labels are known.
    rate_scale (float): How much faster than the rest of the network the parameters are learned (see `tag_heads`).
    masked (bool): Whether pairs that are in no tree are shut out in training.
    RETURNS (Model): The layer.
    """
    return Model(
        "tag_chain",
        _forward,
        init=_init,
        dims={"nO": nO},
        params=dict.fromkeys(Dependencies._fields),
        attrs={"rate_scale": rate_scale, "masked": masked},
    )


def _init(model: Model, X: list[Floats2d] | None = None, Y: list[Floats2d] | None = None) -> None:
    for data in (Y, X):
        if data is not None and model.has_dim("nO") is None:
            model.set_dim("nO", get_width(data))
    n_tags = model.get_dim("nO") // 2
    model.set_param("transitions", model.ops.alloc2f(n_tags, n_tags))
    model.set_param("start", model.ops.alloc1f(n_tags))
    model.set_param("end", model.ops.alloc1f(n_tags))


def _forward(
    model: Model, X: list[Floats2d], is_train: bool
) -> tuple[DependentScores, Callable[[list[Floats2d]], list[Floats2d]]]:
    scale = model.attrs["rate_scale"]
    scores = Dependencies(*(model.get_param(name) * scale for name in Dependencies._fields))

    def backprop(dY: list[Floats2d]) -> list[Floats2d]:
        if isinstance(dY, DependentScores):
            for name, gradient in zip(Dependencies._fields, dY.dependencies, strict=True):
                model.inc_grad(name, gradient * scale)
        return dY

    return DependentScores(X, scores, masked=model.attrs["masked"]), backprop
