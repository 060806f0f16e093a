"""The learner that scores tags: two for each word, by its vector, and pairs of successive tags if asked to.

Without scores of successive tags each tag depends on the words alone (paper section 4.2). With them it is a
linear-chain conditional random field (section 4.1). The paper scores a rule X -> Y Z by a part of it that stands
together in the tag sequence:

    left-dependent     X -> Y •    pre-order: right after an internal node comes its left child
    right-dependent    X -> • Z    post-order: right after a right child comes its parent

A linear chain over the tags has one score for each pair of successive tags. It is undirected: `pairs[a, b]` says how
well a and b go together, not that b is drawn given a. So the same parameters cover both cases, and which one it is
follows from the order of the tags alone. Pairs of tags that are not parent and child, such as those around a leaf in
pre-order, get a score too. With in-order, where a node stands between its children, the pairs are a node and the last
leaf of its left subtree or the first one of its right subtree; the paper has no name for that.
"""

from collections.abc import Callable
from typing import Any

from spacy.tokens import Doc
from thinc.api import Dropout, Linear, Maxout, Model, chain, with_array
from thinc.util import get_width

from ..decode import Transitions
from ..linearize.tagset import TagSet
from .resize import RESIZE, resize_rows
from .words import Arrays, SentenceScores, SequenceModel, check_sizes, encode_words, initialize_words

_TRANSITIONS = Transitions._fields


def build_tags(
    tok2vec: Model[list[Doc], Arrays],
    encoder: SequenceModel | None = None,
    hidden_width: int | None = None,
    transitions: bool = False,
    nO: int | None = None,
) -> Model[list[Doc], SentenceScores]:
    """Score two tags of each word by two linear heads (paper section 4.2: W1 and W2): spacy-parsetag.Tags.v1.

    Dropout before the heads, and before the encoder, is at the rate that the training loop passes.

    tok2vec (Model[list[Doc], list[Floats2d]]): The encoder of docs: any tok2vec, or a listener to a tok2vec or
        transformer component.
    encoder (Model[list[Floats2d], list[Floats2d]] | None): A layer over the words of each sentence on top of it, such
        as spacy-parsetag.TorchBiLSTM.v1, through which tags depend on each other. A doc without sentence boundaries is
        one sentence.
    hidden_width (int | None): Width of a maxout layer before the heads; None for no such layer.
    transitions (bool): Score successive tags too: |T|^2 + 2 |T| parameters. There is no chart with them; see
        `TreeDistribution`.
    nO (int | None): Twice the number of tags; set when the component is initialized.
    RAISES (ValueError): If hidden_width is below 1.
    """
    check_sizes(hidden_width=hidden_width)
    layers: list[Model[Any, Any]] = []
    if encoder is not None:
        layers += [with_array(Dropout()), encoder]
    if hidden_width is not None:
        layers.append(with_array(Maxout(nO=hidden_width, nP=3, normalize=True)))
    layers.append(with_array(Dropout()))
    words = chain(*layers) if len(layers) > 1 else layers[0]
    return Model(
        # With the encoder's name in it: by that `spacy debug model` knows a transformer's listener.
        f"tags({tok2vec.name})",
        _forward,
        init=_init,
        layers=[tok2vec, words, Linear(nO=nO)],
        refs={"tok2vec": tok2vec},
        dims={"nO": nO},
        params=dict.fromkeys(_TRANSITIONS) if transitions else {},
        attrs={RESIZE: _resize},
    )


def _init(model: Model[list[Doc], SentenceScores], X: list[Doc] | None = None, Y: Arrays | None = None) -> None:
    if X is not None:
        sample = initialize_words(model, X, Y)
        if Y is not None and model.has_dim("nO") is None:
            model.set_dim("nO", get_width(Y))
        heads = model.layers[2]
        heads.set_dim("nO", model.get_dim("nO"), force=True)
        heads.initialize(X=sample)
    if model.param_names:
        n_tags = model.get_dim("nO") // 2
        for name, shape in zip(_TRANSITIONS, ((n_tags, n_tags), (n_tags,), (n_tags,)), strict=True):
            model.set_param(name, model.ops.alloc(shape))


def _resize(model: Model[list[Doc], SentenceScores], old: TagSet, new: TagSet) -> None:
    old_rows, new_rows = ([(slot, tag) for slot in (0, 1) for tag in tags.tags] for tags in (old, new))
    resize_rows(model.layers[2], old_rows, new_rows, {"W": 1, "b": 1})
    if model.param_names:
        resize_rows(model, old.tags, new.tags, {"pairs": 2, "start": 1, "end": 1})
    model.set_dim("nO", 2 * len(new), force=True)


def _forward(
    model: Model[list[Doc], SentenceScores], docs: list[Doc], is_train: bool
) -> tuple[SentenceScores, Callable[[SentenceScores], list[Doc]]]:
    heads, n_tags = model.layers[2], model.get_dim("nO") // 2
    words, X, backprop_words = encode_words(model, docs, is_train)
    transitions = Transitions(*(model.get_param(name) for name in _TRANSITIONS)) if model.param_names else None
    if X is None:
        return SentenceScores(model.ops.alloc2f(0, n_tags), words, transitions), lambda dY: backprop_words(None)
    scores, backprop_heads = heads(X, is_train)  # (W, 2T)

    def backprop(dY: SentenceScores) -> list[Doc]:
        for name, gradient in zip(model.param_names, dY.transitions or (), strict=True):
            model.inc_grad(name, gradient)
        return backprop_words(backprop_heads(dY.rows.reshape(scores.shape)))

    return SentenceScores(scores.reshape((-1, n_tags)), words, transitions), backprop
