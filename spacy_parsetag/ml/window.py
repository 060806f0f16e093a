"""A convolution over the words of each doc, without padding between docs."""

from collections.abc import Callable

from thinc.api import Maxout, Model, chain, clone, expand_window, residual, with_array, with_ragged
from thinc.types import Floats2d, Ragged

from .words import Arrays, SequenceModel, check_sizes


def build_window_encoder(width: int, window_size: int, maxout_pieces: int, depth: int) -> SequenceModel:
    """Convolve words in layers, each added to its input: spacy-parsetag.WindowEncoder.v1.

    Layers and settings are those of spaCy's MaxoutWindowEncoder. spaCy's puts `window_size * depth` rows of padding
    between docs, which go through all layers: half of its work where docs have ten words. Here there is no padding.
    Each layer sees zeros beyond the ends of a doc; in spaCy's only the first layer does, so weights do not carry over.

    width (int): Of input and output.
    window_size (int): Words on either side that a layer sees.
    RAISES (ValueError): If a setting is below 1.
    """
    check_sizes(width=width, window_size=window_size, maxout_pieces=maxout_pieces, depth=depth)
    maxout: Model[Floats2d, Floats2d] = Maxout(
        nO=width, nI=width * (2 * window_size + 1), nP=maxout_pieces, dropout=0.0, normalize=True
    )
    layer: Model[Ragged, Ragged] = residual(chain(expand_window(window_size), with_array(maxout)))
    dims: dict[str, int | None] = {"nI": width, "nO": width}
    return Model("window_encoder", _forward, init=_init, layers=[with_ragged(clone(layer, depth))], dims=dims)


def _init(model: SequenceModel, X: Arrays | None = None, Y: Arrays | None = None) -> None:
    model.layers[0].initialize()


def _forward(model: SequenceModel, X: Arrays, is_train: bool) -> tuple[Arrays, Callable[[Arrays], Arrays]]:
    if not any(map(len, X)):  # arrays of no rows have no width either, once they are put together
        return X, lambda dY: dY
    return model.layers[0](X, is_train)
