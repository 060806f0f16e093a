"""Finds out that a pipe listens to an encoder that is not in its pipeline.

A listener has no vectors of its own: it takes what a `tok2vec` or `transformer` component before it leaves on the docs.
Where that component is missing, spaCy's listeners give zeros, and with them any pipe gives nonsense.
"""

from collections.abc import Iterable
from typing import Any

from spacy.pipeline.tok2vec import Tok2VecListener
from spacy.tokens import Doc
from thinc.api import Model

from ..errors import Errors


def require_upstream(model: Model[Any, Any], docs: Iterable[Doc], *, name: str) -> None:
    """Check that the encoder that a model listens to, if it does, has run on docs.

    model (Model): The model of a pipe.
    docs (Iterable[Doc]): The docs it is about to process.
    name (str): The component, for the message.
    RAISES (ValueError): If a doc lacks the vectors, or has vectors of another width.
    """
    # Listeners have the name of what they listen to; those to transformers read the extension `trf_data`.
    listeners = [(node, found) for node in model.walk() if (found := _upstream_of(node)) is not None]
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


def _upstream_of(node: Model[Any, Any]) -> str | None:
    """The component that a listener listens to, "*" for any; None for other layers. In spacy-curated-transformers it
    is one of the attributes."""
    found: str | None = getattr(node, "upstream_name", node.attrs.get("_upstream_name"))
    return found
