"""An encoder on which linear layers learn faster."""

import math
from collections.abc import Callable
from numbers import Real

from spacy.tokens import Doc
from thinc.api import Model, chain, with_array
from thinc.types import Floats2d

from ..errors import Errors
from .words import Arrays, SequenceModel, WithSettings


def build_scaled(tok2vec: Model[list[Doc], Arrays], factor: float) -> Model[list[Doc], Arrays]:
    """An encoder with its vectors multiplied: spacy-parsetag.Scaled.v1.

    An optimizer such as Adam steps by the learning rate whatever the size of a gradient. So a linear layer on vectors
    that are `factor` times as large, such as that of spaCy's tagger, learns `factor` times as fast. The gradient that
    the encoder gets for the same scores stays the same.

    RAISES (ValueError): If the factor is no number above 0.
    """
    if not isinstance(factor, Real) or not 0 < factor < math.inf:
        raise ValueError(Errors.E219.format(value=factor))
    scale: SequenceModel = with_array(Model("scale", WithSettings(_forward, factor=factor)))
    model: Model[list[Doc], Arrays] = chain(tok2vec, scale)
    model.set_ref("tok2vec", tok2vec)
    return model


def _forward(
    model: Model[Floats2d, Floats2d], X: Floats2d, is_train: bool, *, factor: float
) -> tuple[Floats2d, Callable[[Floats2d], Floats2d]]:
    return X * factor, lambda dY: dY * factor
