"""The learner with a BiLSTM between encoder and heads: tags depend on each other through it (paper section 4.2)."""

from collections.abc import Callable
from typing import cast

from spacy.tokens import Doc
from thinc.api import ArgsKwargs, Dropout, Model, chain, torch2xp, with_array, xp2torch
from thinc.types import Floats2d
from thinc.util import get_width

from ..compat import require
from ..errors import Errors
from .heads import tag_heads
from .lstm_shim import LSTMShim
from .sentences import by_sentence, split


def build_bilstm(
    tok2vec: Model[list[Doc], list[Floats2d]],
    nO: int | None = None,
    depth: int = 2,
    hidden_width: int | None = None,
    rate_scale: float = 1.0,
) -> Model[list[Doc], list[Floats2d]]:
    """Heads over a BiLSTM over a tok2vec: spacy-parsetag.BiLSTM.v1. It needs PyTorch.

    Tags are scored one by one given the words, so losses and decoders are those of the independent learner. The LSTM
    runs over each sentence on its own; over a whole doc if that has no sentence boundaries, as in training, where a doc
    should be one sentence.

    tok2vec (Model[List[Doc], List[Floats2d]]): The encoder.
    nO (Optional[int]): Twice the number of tags; set when the component is initialized.
    depth (int): Layers of the LSTM; the paper has 2, and tried 3.
    hidden_width (Optional[int]): Cells in each direction; None for as many as there are tags, as in the paper.
    rate_scale (float): How much faster than the rest the heads learn.
    RETURNS (Model[List[Doc], List[Floats2d]]): One (tokens, 2 |T|) array of scores per doc.
    RAISES (ImportError): Without PyTorch, with the install line.
    """
    require("torch", "spacy-parsetag.BiLSTM.v1")
    for what, value in (("depth", depth), ("hidden_width", hidden_width)):
        if value is not None and value < 1:
            raise ValueError(Errors.E159.format(what=what, least=1, value=value))
    heads = tag_heads(nO, rate_scale=rate_scale)
    encoder: Model[list[Doc], list[Floats2d]] = by_sentence(
        tok2vec, chain(with_array(Dropout()), bilstm(depth, hidden_width))
    )
    dropout: Model[list[Floats2d], list[Floats2d]] = with_array(Dropout())
    model: Model[list[Doc], list[Floats2d]] = chain(encoder, dropout, heads)
    model.set_ref("tok2vec", tok2vec)
    model.set_ref("output_layer", heads.get_ref("linear"))
    return model


def bilstm(depth: int = 2, hidden_width: int | None = None) -> Model[list[Floats2d], list[Floats2d]]:
    """A BiLSTM over sequences of vectors.

    Input: (words, nI) arrays. Output: (words, 2 hidden) arrays.

    depth (int): Layers.
    hidden_width (Optional[int]): Cells in each direction; None for half the width of the sample of outputs that
        `initialize` gets: these are scores of |T| tags for two slots.
    RETURNS (Model): The layer.
    """
    return Model(
        "bilstm",
        _lstm_forward,
        init=_lstm_init,
        dims={"nI": None, "nO": None},
        attrs={"depth": depth, "hidden_width": hidden_width},
        shims=[LSTMShim()],
    )


def _lstm_init(model: Model, X: list[Floats2d] | None = None, Y: list[Floats2d] | None = None) -> None:
    hidden = model.attrs["hidden_width"]
    if X is not None:
        model.set_dim("nI", get_width(X))
    if hidden is not None:
        model.set_dim("nO", 2 * hidden)
    elif Y is not None:
        model.set_dim("nO", 2 * (get_width(Y) // 2))
    model.shims[0].build(model.get_dim("nI"), model.get_dim("nO") // 2, model.attrs["depth"])  # type: ignore[attr-defined]


def _lstm_forward(
    model: Model, X: list[Floats2d], is_train: bool
) -> tuple[list[Floats2d], Callable[[list[Floats2d]], list[Floats2d]]]:
    xp, width = model.ops.xp, model.get_dim("nO")
    lengths = [len(x) for x in X]
    present = [n for n in lengths if n]
    if not present:
        return [model.ops.alloc2f(0, width) for _ in X], lambda dY: [xp.zeros_like(x) for x in X]
    shim = model.shims[0]
    flat = xp2torch(xp.concatenate(X), requires_grad=is_train, device=shim.device)  # type: ignore[attr-defined]
    Y, torch_backprop = shim(ArgsKwargs(args=(flat, present), kwargs={}), is_train)

    def backprop(dY: list[Floats2d]) -> list[Floats2d]:
        gradient = xp2torch(xp.concatenate(dY), device=shim.device)  # type: ignore[attr-defined]
        inputs = torch_backprop(ArgsKwargs(args=((Y,),), kwargs={"grad_tensors": (gradient,)}))
        return split(cast(Floats2d, torch2xp(inputs.args[0])), lengths)

    return split(cast(Floats2d, torch2xp(Y)), lengths), backprop
