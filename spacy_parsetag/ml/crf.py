"""The learner whose tags depend on each other: a linear-chain conditional random field (paper section 4.1).

The paper scores a rule X -> Y Z by a part of it that stands together in the tag sequence:

    left-dependent     X -> Y •    pre-order: right after an internal node comes its left child
    right-dependent    X -> • Z    post-order: right after a right child comes its parent

A linear chain over the tags has one score for each pair of successive tags. It is undirected: `pairs[a, b]` says how
well a and b go together, not that b is drawn given a. So the same parameters cover both cases, and which one it is
follows from the order of the tags alone. Pairs of tags that are not parent and child, such as those around a leaf in
pre-order, get a score too. With in-order, where a node stands between its children, the pairs are a node and the last
leaf of its left subtree or the first one of its right subtree; the paper has no name for that.
"""

from collections.abc import Callable
from dataclasses import replace

from spacy.tokens import Doc
from thinc.api import Model, chain
from thinc.types import Floats2d
from thinc.util import get_width

from ..decode import Transitions
from ..linearize.tags import TagSet
from .heads import DocScores
from .independent import build_independent
from .resize import RESIZE, resize_rows

_PARAMETERS = ("pairs", "start", "end")


def build_crf(
    tok2vec: Model[list[Doc], list[Floats2d]],
    nO: int | None = None,
    hidden_width: int | None = None,
    rate_scale: float = 1.0,
    masked: bool = True,
) -> Model[list[Doc], DocScores]:
    """Heads as of the independent learner, and scores of successive tags: spacy-parsetag.CRF.v1.

    It is trained by the likelihood of the gold sequence among all sequences (TagLoss) or all trees (LatticeLoss), and
    decoded with what was learned: |T|^2 + 2 |T| parameters beside those of the heads.

    tok2vec (Model[list[Doc], list[Floats2d]]): The encoder.
    nO (int | None): Twice the number of tags; set when the component is initialized.
    hidden_width (int | None): Width of a maxout layer between encoder and heads; None for no such layer.
    rate_scale (float): How much faster than the encoder heads and transitions learn.
    masked (bool): Whether TagLoss shuts out pairs of tags that no tree has. Otherwise their scores are learned as well,
        though no decoder uses them.
    RETURNS (Model[list[Doc], DocScores]): (tokens, 2 |T|) scores of each doc, and transitions.
    """
    independent = build_independent(tok2vec, nO, hidden_width, rate_scale)
    model: Model[list[Doc], DocScores] = chain(independent, linear_chain(nO, rate_scale=rate_scale, masked=masked))
    model.set_ref("tok2vec", tok2vec)
    model.set_ref("output_layer", independent.get_ref("output_layer"))
    return model


def linear_chain(nO: int | None = None, *, rate_scale: float = 1.0, masked: bool = True) -> Model[DocScores, DocScores]:
    """Add scores of successive tags, which start at zero, to scores of single ones.

    nO (int | None): 2 |T|; None until the labels are known.
    rate_scale (float): How much faster than the rest of the network the parameters are learned (see `tag_heads`).
    masked (bool): Whether TagLoss shuts out pairs that no tree has.
    RETURNS (Model[DocScores, DocScores]): The layer.
    """
    return Model(
        "linear_chain",
        _forward,
        init=_init,
        dims={"nO": nO},
        params=dict.fromkeys(_PARAMETERS),
        attrs={"rate_scale": rate_scale, "masked": masked, RESIZE: _resize},
    )


def _resize(model: Model[DocScores, DocScores], old: TagSet, new: TagSet) -> None:
    resize_rows(model, old.tags, new.tags, {"pairs": 2, "start": 1, "end": 1})


def _init(model: Model[DocScores, DocScores], X: DocScores | None = None, Y: list[Floats2d] | None = None) -> None:
    for data in (Y, None if X is None else X.arrays):
        if data is not None and model.has_dim("nO") is None:
            model.set_dim("nO", get_width(data))
    n_tags = model.get_dim("nO") // 2
    model.set_param("pairs", model.ops.alloc2f(n_tags, n_tags))
    model.set_param("start", model.ops.alloc1f(n_tags))
    model.set_param("end", model.ops.alloc1f(n_tags))


def _forward(
    model: Model[DocScores, DocScores], X: DocScores, is_train: bool
) -> tuple[DocScores, Callable[[DocScores], DocScores]]:
    scale = model.attrs["rate_scale"]
    pairs, start, end = (model.get_param(name) * scale for name in _PARAMETERS)
    transitions = Transitions(pairs, start, end, model.attrs["masked"])

    def backprop(dY: DocScores) -> DocScores:
        if dY.transitions is not None:
            for name, gradient in zip(_PARAMETERS, dY.transitions, strict=False):
                model.inc_grad(name, gradient * scale)
        return replace(dY, transitions=None)

    return replace(X, transitions=transitions), backprop
