"""The learner with a BiLSTM between encoder and heads: tags depend on each other through it (paper section 4.2)."""

from typing import Any, Callable, List, Optional, Tuple, cast

from spacy.tokens import Doc
from thinc.api import ArgsKwargs, Dropout, Model, chain, torch2xp, with_array, xp2torch
from thinc.types import Floats2d
from thinc.util import get_width

from ..compat import require
from ..errors import Errors
from .heads import tag_heads
from .lstm_shim import LSTMShim


def build_bilstm(
    tok2vec: Model[List[Doc], List[Floats2d]],
    nO: Optional[int] = None,
    depth: int = 2,
    hidden_width: Optional[int] = None,
    rate_scale: float = 1.0,
) -> Model[List[Doc], List[Floats2d]]:
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
    encoder: Model[List[Doc], List[Floats2d]] = by_sentence(tok2vec, bilstm(depth, hidden_width))
    dropout: Model[List[Floats2d], List[Floats2d]] = with_array(Dropout())
    model: Model[List[Doc], List[Floats2d]] = chain(encoder, dropout, heads)
    model.set_ref("tok2vec", tok2vec)
    model.set_ref("output_layer", heads.get_ref("linear"))
    return model


def bilstm(depth: int = 2, hidden_width: Optional[int] = None) -> Model[List[Floats2d], List[Floats2d]]:
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


def _lstm_init(model: Model, X: Optional[List[Floats2d]] = None, Y: Optional[List[Floats2d]] = None) -> None:
    hidden = model.attrs["hidden_width"]
    if X is not None:
        model.set_dim("nI", get_width(X))
    if hidden is not None:
        model.set_dim("nO", 2 * hidden)
    elif Y is not None:
        model.set_dim("nO", 2 * (get_width(Y) // 2))
    model.shims[0].build(model.get_dim("nI"), model.get_dim("nO") // 2, model.attrs["depth"])  # type: ignore[attr-defined]


def _lstm_forward(
    model: Model, X: List[Floats2d], is_train: bool
) -> Tuple[List[Floats2d], Callable[[List[Floats2d]], List[Floats2d]]]:
    xp, width = model.ops.xp, model.get_dim("nO")
    lengths = [len(x) for x in X]
    present = [n for n in lengths if n]
    if not present:
        return [model.ops.alloc2f(0, width) for _ in X], lambda dY: [xp.zeros_like(x) for x in X]
    shim = model.shims[0]
    flat = xp2torch(xp.concatenate(X), requires_grad=is_train, device=shim.device)  # type: ignore[attr-defined]
    Y, torch_backprop = shim(ArgsKwargs(args=(flat, present), kwargs={}), is_train)

    def backprop(dY: List[Floats2d]) -> List[Floats2d]:
        gradient = xp2torch(xp.concatenate(dY), device=shim.device)  # type: ignore[attr-defined]
        inputs = torch_backprop(ArgsKwargs(args=((Y,),), kwargs={"grad_tensors": (gradient,)}))
        return _split(cast(Floats2d, torch2xp(inputs.args[0])), lengths)

    return _split(cast(Floats2d, torch2xp(Y)), lengths), backprop


def by_sentence(
    tok2vec: Model[List[Doc], List[Floats2d]], layer: Model[List[Floats2d], List[Floats2d]]
) -> Model[List[Doc], List[Floats2d]]:
    """Apply a layer to the vectors of each sentence on its own, with dropout before it.

    tok2vec (Model[List[Doc], List[Floats2d]]): The encoder, which sees whole docs.
    layer (Model[List[Floats2d], List[Floats2d]]): The layer.
    RETURNS (Model[List[Doc], List[Floats2d]]): One (tokens, nO) array per doc.
    """
    inner: Model[List[Floats2d], List[Floats2d]] = chain(with_array(Dropout()), layer)
    return Model("by_sentence", _sentence_forward, init=_sentence_init, layers=[tok2vec, inner], dims={"nO": None})


def _sentence_init(model: Model, X: Optional[List[Doc]] = None, Y: Optional[List[Floats2d]] = None) -> None:
    tok2vec, inner = model.layers
    tok2vec.initialize(X=X)
    inner.initialize(X=None if X is None else tok2vec.predict(X), Y=Y)
    model.set_dim("nO", inner.layers[-1].get_dim("nO"))


def _sentence_forward(
    model: Model, docs: List[Doc], is_train: bool
) -> Tuple[List[Floats2d], Callable[[List[Floats2d]], List[Doc]]]:
    tok2vec, inner = model.layers
    xp = model.ops.xp
    vectors, backprop_vectors = tok2vec(docs, is_train)
    lengths = [_sentence_lengths(doc) for doc in docs]
    counts = [len(own) for own in lengths]
    sentences = [piece for x, own in zip(vectors, lengths, strict=True) for piece in _split(x, own)]
    outputs, backprop_outputs = inner(sentences, is_train)

    def backprop(dY: List[Floats2d]) -> List[Doc]:
        pieces = [piece for dy, own in zip(dY, lengths, strict=True) for piece in _split(dy, own)]
        return backprop_vectors(_join(xp, backprop_outputs(pieces), counts))

    return _join(xp, outputs, counts), backprop


def _sentence_lengths(doc: Doc) -> List[int]:
    if "sents" in doc.user_hooks or doc.has_annotation("SENT_START"):
        return [len(sent) for sent in doc.sents] or [0]
    return [len(doc)]


def _split(x: Floats2d, lengths: List[int]) -> List[Floats2d]:
    """Cut an array into pieces of so many rows; they are views."""
    pieces = []
    start = 0
    for n in lengths:
        pieces.append(x[start : start + n])
        start += n
    return pieces


def _join(xp: Any, pieces: List[Floats2d], counts: List[int]) -> List[Floats2d]:
    """Put so many pieces together into each array."""
    joined = []
    start = 0
    for n in counts:
        joined.append(pieces[start] if n == 1 else xp.concatenate(pieces[start : start + n]))
        start += n
    return joined
