"""An encoder that also sees how words are spelled."""

from spacy.tokens import Doc
from thinc.api import Dropout, LayerNorm, Maxout, Model, chain, concatenate, expand_window, residual, with_array
from thinc.types import Floats2d

from ..errors import Errors
from .sentences import by_sentence


def build_with_features(
    tok2vec: Model[list[Doc], list[Floats2d]],
    features: Model[list[Doc], list[Floats2d]],
    depth: int = 1,
    window_size: int = 1,
    maxout_pieces: int = 3,
) -> Model[list[Doc], list[Floats2d]]:
    """Two encoders side by side, and a small convolution over both: spacy-parsetag.WithFeatures.v1.

    Pretrained encoders are often uncased, and see a word in the pieces that they cut it into. Hashed features of the
    word as it is written (spacy.MultiHashEmbed.v2) bring back capitals, digits and endings. The convolution stays
    within each sentence.

    tok2vec (Model[list[Doc], list[Floats2d]]): An encoder, such as a listener to a transformer.
    features (Model[list[Doc], list[Floats2d]]): Another one.
    depth (int): Layers of the convolution; each is as wide as the two encoders together, and added to its input. 0 for
        no convolution.
    window_size (int): Words on either side that a layer sees.
    maxout_pieces (int): Pieces of its maxout units.
    RETURNS (Model[list[Doc], list[Floats2d]]): One array per doc, as wide as the two encoders together.
    RAISES (ValueError): If maxout_pieces is below 1, or depth or window_size below 0.
    """
    for what, least, value in (
        ("depth", 0, depth),
        ("window_size", 0, window_size),
        ("maxout_pieces", 1, maxout_pieces),
    ):
        if value < least:
            raise ValueError(Errors.E200.format(what=what, least=least, value=value))
    words: Model[list[Doc], list[Floats2d]] = concatenate(tok2vec, features)
    if not depth:
        return words
    layers = [window_layer(window_size, maxout_pieces) for _ in range(depth)]
    # Padding, so that no sentence of a batch sees the next one.
    convolution: Model[list[Floats2d], list[Floats2d]] = with_array(
        layers[0] if depth == 1 else chain(*layers), pad=depth * window_size
    )
    return by_sentence(words, convolution)


def window_layer(window_size: int, maxout_pieces: int) -> Model[Floats2d, Floats2d]:
    """A convolution as wide as its input, which may be known only when the layer is initialized, added to its input.

    Input and output: (words, width).

    window_size (int): Words on either side.
    maxout_pieces (int): Pieces of the maxout units.
    RETURNS (Model[Floats2d, Floats2d]): The layer.
    """
    maxout: Model[Floats2d, Floats2d] = Maxout(nP=maxout_pieces)
    layer = residual(chain(expand_window(window_size), maxout, LayerNorm(), Dropout(0.0)))
    layer.set_ref("maxout", maxout)
    layer.init = _init
    return layer


def _init(model: Model[Floats2d, Floats2d], X: Floats2d | None = None, Y: Floats2d | None = None) -> None:
    if X is not None:
        for layer in (model, model.get_ref("maxout")):
            layer.set_dim("nO", X.shape[1])
    model.layers[0].initialize(X=X)
