"""The heads: word vectors in, scores of both tag slots out; and the type in which a learner gives them."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import cast

from thinc.api import Linear, Model, Ops, glorot_uniform_init, with_array
from thinc.types import Floats2d, Shape

from ..decode import Transitions
from ..linearize.tags import TagSet
from .resize import RESIZE, resize_rows
from .spans import DocSpans


@dataclass(frozen=True)
class DocScores:
    """What a learner gives for a batch of docs. The gradient of a loss has the same form.

    arrays (list[Floats2d]): One (tokens, 2 |T|) array per doc: the scores of the T tags at a word's first position,
        then those at its second.
    transitions (Transitions | None): Scores of successive tags, where the learner has any.
    spans (DocSpans | None): Scores of spans, where the learner has any.
    """

    arrays: list[Floats2d]
    transitions: Transitions | None = None
    spans: DocSpans | None = None


def tag_heads(nO: int | None = None, *, rate_scale: float = 1.0) -> Model[list[Floats2d], DocScores]:
    """Two linear heads over each word's vector (paper section 4.2: W1 and W2), stored as one matrix.

    Input: one (tokens, width) array per doc. Output: `DocScores`, a (tokens, nO) array per doc, where nO = 2 |T|.

    nO (int | None): 2 |T|; None until the labels are known.
    rate_scale (float): How much faster than the rest of the network the heads learn. An optimizer such as Adam steps
        by the learning rate whatever the size of the gradient, so scores that are `rate_scale` times a linear layer
        move `rate_scale` times as far a step.
    RETURNS (Model): The layer.
    """
    # Not zeros: the encoder's first gradients would be next to nothing, and Adam makes full steps of their noise. But
    # so small that the scores begin as large as those of a plain linear layer.
    linear = Linear(nO=nO, init_W=partial(_init_scaled, rate_scale))
    linear.attrs[RESIZE] = _resize
    return Model(
        "tag_heads",
        _forward,
        init=_init,
        layers=[with_array(linear)],
        refs={"linear": linear},
        dims={"nO": nO},
        attrs={"rate_scale": rate_scale},
    )


def _resize(linear: Model[Floats2d, Floats2d], old: TagSet, new: TagSet) -> None:
    was, now = ([(slot, tag) for slot in (0, 1) for tag in tags.tags] for tags in (old, new))
    resize_rows(linear, was, now, {"W": 1, "b": 1})


def _init_scaled(factor: float, ops: Ops, shape: Shape) -> Floats2d:
    return cast(Floats2d, glorot_uniform_init(ops, shape) / factor)


def _init(
    model: Model[list[Floats2d], DocScores], X: list[Floats2d] | None = None, Y: list[Floats2d] | None = None
) -> None:
    model.layers[0].initialize(X=X, Y=Y)
    model.set_dim("nO", model.get_ref("linear").get_dim("nO"))


def _forward(
    model: Model[list[Floats2d], DocScores], X: list[Floats2d], is_train: bool
) -> tuple[DocScores, Callable[[DocScores], list[Floats2d]]]:
    factor: float = model.attrs["rate_scale"]
    arrays, backprop_linear = model.layers[0](X, is_train)

    def backprop(dY: DocScores) -> list[Floats2d]:
        dX: list[Floats2d] = backprop_linear([d_scores * factor for d_scores in dY.arrays])
        return dX

    return DocScores([scores * factor for scores in arrays]), backprop
