"""Checks of the parts and settings of a component, of its label data, of docs, and of the encoder that it listens to.

A listener has no vectors of its own: it takes what a `tok2vec` or `transformer` component before it leaves on the docs.
Where that component is missing, spaCy's listeners give zeros, and with them any pipe gives nonsense.
"""

import inspect
from collections.abc import Iterable
from typing import Any

from spacy.pipeline.tok2vec import Tok2VecListener
from spacy.tokens import Doc
from thinc.api import Model

from ..errors import Errors, shorten
from ..linearize import Linearizer, max_stack
from ..linearize.tagset import TagSet
from ..tokens.sentences import has_sentences
from ..trees import BinaryTree

_TWO_WORDS = BinaryTree((False, True, True), ("", "", ""))


def check_parts(name: str, linearizer: object, decoder: object, loss: object) -> None:
    """Check the parts that a config names.

    RAISES (ValueError): If one of them is something else.
    """
    parts = (
        ("linearizer", linearizer, isinstance(linearizer, Linearizer)),
        ("decoder", decoder, _takes(decoder, 1)),
        ("loss", loss, _takes(loss, 2)),
    )
    for kind, part, fits in parts:
        if not fits:
            raise ValueError(Errors.E254.format(name=name, kind=kind, part=part))


def _takes(part: object, n_arguments: int) -> bool:
    """Check whether a part takes a number of arguments: all that the protocols of decoders and losses differ in."""
    try:
        inspect.signature(part).bind(*range(n_arguments))  # type: ignore[arg-type]
    except TypeError:
        return False
    return True


def least_bound(linearizer: Linearizer) -> int:
    """Find the least bound on the stack with which any sentence has a tree."""
    return max_stack(linearizer.linearize(_TWO_WORDS), linearizer.lattice)


def read_label_data(labels: Any, order: str, name: str) -> tuple[set[str], int]:
    """Read label data as `spacy init labels` writes it.

    labels (Any): The label data: the "tags", and where known their "order" and the largest stack, "max_stack".
    RETURNS (tuple[set[str], int]): The tags, and the largest stack in the training trees; 0 if it is not known.
    RAISES (ValueError): If it is something else, or of another order.
    """
    if not isinstance(labels, dict) or "tags" not in labels:
        raise ValueError(Errors.E252.format(name=name))
    if labels.get("order", order) != order:
        raise ValueError(Errors.E253.format(name=name, trained=labels["order"], order=order))
    return set(labels["tags"]), int(labels.get("max_stack", 0))


def find_problem(cfg: dict[str, Any], order: str, n_scores: int | None) -> str:
    """Find what is wrong with the settings of a saved pipe.

    n_scores (int | None): The width of the model's output, twice the number of tags; None before it is known.
    RETURNS (str): What is wrong, for a message; empty if nothing is.
    """
    tags, bound = cfg.get("tags"), cfg.get("max_stack")
    if not isinstance(tags, list) or not all(isinstance(tag, str) for tag in tags):
        return "'tags' must be a list of strings"
    if tags and list(TagSet(tags).tags) != tags:
        return "'tags' must be sorted, without duplicates, and have the four bare tags"
    if cfg.get("order") != order:
        return f"'order' is {cfg.get('order')!r}, but the config has the linearizer {order!r}"
    if not isinstance(bound, int) or bound < 0:
        return "'max_stack' must be a whole number of at least 0"
    if not isinstance(cfg.get("spans_key"), str):
        return "'spans_key' must be a string"
    temperatures = (cfg.get("temperature"), cfg.get("tree_temperature"))
    if not all(isinstance(t, (int, float)) and 0 < t < float("inf") for t in temperatures):
        return "'temperature' and 'tree_temperature' must be numbers above 0"
    if n_scores is not None and n_scores != 2 * len(tags):
        return f"the model scores {n_scores // 2} tags, and 'tags' has {len(tags)}"
    return ""


def require_sentences(docs: Iterable[Doc], *, name: str) -> None:
    """Check that docs have sentence boundaries.

    RAISES (ValueError): If one has none.
    """
    for doc in docs:
        if not has_sentences(doc):
            raise ValueError(Errors.E250.format(name=name, text=shorten(doc.text, 50)))


def require_upstream(model: Model[Any, Any], docs: Iterable[Doc], *, name: str) -> None:
    """Check that the encoder that a model listens to, if it does, has run on docs.

    RAISES (ValueError): If a doc lacks the vectors, or has vectors of another width.
    """
    # Listeners have the name of what they listen to, "*" for any; in spacy-curated-transformers it is one of the
    # attributes. Listeners to transformers read the extension `trf_data`.
    named = [(node, getattr(node, "upstream_name", node.attrs.get("_upstream_name"))) for node in model.walk()]
    listeners = [(node, upstream) for node, upstream in named if upstream is not None]
    if not listeners:
        return
    for doc in docs:
        for listener, listened_to in listeners if len(doc) else ():
            upstream, found = "transformer", "no vectors"
            fits = doc.has_extension("trf_data") and doc._.trf_data is not None
            if isinstance(listener, Tok2VecListener):
                upstream, width = "tok2vec", listener.get_dim("nO")
                fits = bool(doc.tensor.size) and doc.tensor.shape[-1] == width
                if doc.tensor.size:
                    found = f"vectors of width {doc.tensor.shape[-1]}, not {width}"
            if not fits:
                upstream = upstream if listened_to == "*" else listened_to
                raise ValueError(Errors.E258.format(name=name, upstream=upstream, found=found))
