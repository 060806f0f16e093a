"""Word vectors that travel with the component that reads them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from spacy.attrs import IDS, LEMMA, LOWER, NORM, ORTH, PREFIX, SHAPE, SUFFIX
from spacy.tokens import Doc
from spacy.vectors import Mode
from spacy.vocab import Vocab
from thinc.api import Model, glorot_uniform_init
from thinc.types import Floats2d, Ragged

from ..errors import Errors

_STRINGS = {ORTH, LOWER, NORM, SHAPE, PREFIX, SUFFIX, LEMMA}


def build_own_vectors(
    embed: Model[list[Doc], list[Floats2d]], attr: str | None = None
) -> Model[list[Doc], list[Floats2d]]:
    """An embedding layer with a table of word vectors of its own: spacy-parsetag.OwnVectors.v1.

    spaCy's layers read the vectors of the doc's vocabulary, so a component that was trained on some is of no use in a
    pipeline with others, or none. This one copies them when it is initialized, and saves them with its weights.

    embed (Model[list[Doc], list[Floats2d]]): The layer, such as spacy.MultiHashEmbed.v2 with include_static_vectors.
    attr (str | None): What of a word to look up: "ORTH", "LOWER", "NORM", "SHAPE", "PREFIX", "SUFFIX" or "LEMMA".
        Without it, what the vectors say. Those that were loaded say "ORTH": spaCy saves the attribute with floret
        vectors only.
    RAISES (ValueError): If it reads no vectors, or `attr` is none of these.
    """
    if attr is not None and IDS.get(attr) not in _STRINGS:
        raise ValueError(Errors.E220.format(attr=attr))
    readers = [node for node in embed.walk() if node.name == "static_vectors"]
    if not readers:
        raise ValueError(Errors.E214.format(name=embed.name))
    for node in readers:
        embed.replace_node(node, _own_table(node.get_dim("nO"), attr))
    return embed


def _own_table(n_out: int, attr: str | None) -> Model[list[Doc], Ragged]:
    """A table, and a linear layer over its vectors. `keys` are sorted hashes of what `attr` says of words, as ORTH or
    LOWER; `table` has their rows."""
    return Model(
        "static_vectors",
        _forward,
        init=_init,
        params={"W": None},
        dims={"nO": n_out, "nM": None},
        attrs={
            "keys": np.zeros(0, dtype=np.uint64),
            "table": np.zeros((0, 0), dtype=np.float32),
            "attr": ORTH if attr is None else IDS[attr],
            "attr_is_set": attr is not None,
        },
    )


def copy_table(model: Model[Any, Any], vocab: Vocab) -> None:
    """Give the layers of a model that have tables (`OwnVectors.v1`) the vectors of a vocabulary.

    RAISES (ValueError): If it has no vectors, or other ones than a row for each word.
    """
    vectors = vocab.vectors
    if vectors.mode != Mode.default or not vectors.n_keys:
        raise ValueError(Errors.E215)
    keys = np.fromiter(vectors.key2row, dtype=np.uint64, count=len(vectors.key2row))
    rows = np.fromiter(vectors.key2row.values(), dtype=np.int64, count=len(keys))
    order = np.argsort(keys)
    table = np.asarray(model.ops.to_numpy(vectors.data), dtype=np.float32)[rows[order]]
    for node in model.walk():
        if "table" in node.attrs:
            attr = node.attrs["attr"] if node.attrs["attr_is_set"] else vectors.attr
            node.attrs.update(keys=keys[order], table=table, attr=attr)


def _init(model: Model[list[Doc], Ragged], X: list[Doc] | None = None, Y: Any = None) -> None:
    if X:
        if X[0].vocab.vectors.n_keys or not model.attrs["table"].size:  # else what it came with
            copy_table(model, X[0].vocab)
        model.set_dim("nM", model.attrs["table"].shape[1])
    if model.has_dim("nM"):
        model.set_param("W", glorot_uniform_init(model.ops, (model.get_dim("nO"), model.get_dim("nM"))))


def _forward(
    model: Model[list[Doc], Ragged], docs: list[Doc], is_train: bool
) -> tuple[Ragged, Callable[[Ragged], Any]]:
    keys, table = model.attrs["keys"], model.attrs["table"]
    words = np.concatenate([np.zeros(0, dtype=np.uint64), *(doc.to_array(model.attrs["attr"]) for doc in docs)])
    rows = np.searchsorted(keys, words)
    rows[rows == len(keys)] = 0
    looked_up = table[rows]
    looked_up[keys[rows] != words] = 0
    vectors: Any = model.ops.asarray(looked_up)
    W: Any = model.get_param("W")

    def backprop(dY: Ragged) -> list[Any]:
        d_output: Any = dY.data  # (words, nO)
        model.inc_grad("W", model.ops.gemm(d_output, vectors, trans1=True))
        return []

    lengths = model.ops.asarray1i([len(doc) for doc in docs])
    return Ragged(model.ops.gemm(vectors, W, trans2=True), lengths), backprop
