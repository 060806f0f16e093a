"""The independent learner: each tag's score depends on its word's vector alone (paper section 4.2)."""

from typing import Any

from spacy.tokens import Doc
from thinc.api import Dropout, Maxout, Model, chain, with_array
from thinc.types import Floats2d

from .heads import DocScores, tag_heads


def build_independent(
    tok2vec: Model[list[Doc], list[Floats2d]],
    nO: int | None = None,
    hidden_width: int | None = None,
    rate_scale: float = 1.0,
) -> Model[list[Doc], DocScores]:
    """Two linear heads over a tok2vec: spacy-parsetag.Independent.v1.

    tok2vec (Model[list[Doc], list[Floats2d]]): The encoder: any tok2vec, or a listener to a tok2vec or transformer
        component.
    nO (int | None): Twice the number of tags; set when the component is initialized.
    hidden_width (int | None): Width of a maxout layer between encoder and heads; None for no such layer.
    rate_scale (float): How much faster than the encoder the heads learn.
    RETURNS (Model[list[Doc], DocScores]): (tokens, 2 |T|) scores of each doc.
    """
    layers: list[Model[Any, Any]] = [tok2vec]
    if hidden_width is not None:
        layers.append(with_array(Maxout(nO=hidden_width, nP=3, normalize=True)))
    layers.append(with_array(Dropout()))  # at the rate the training loop passes
    heads = tag_heads(nO, rate_scale=rate_scale)
    model: Model[list[Doc], DocScores] = chain(*layers, heads)
    model.set_ref("tok2vec", tok2vec)
    model.set_ref("output_layer", heads.get_ref("linear"))
    return model
