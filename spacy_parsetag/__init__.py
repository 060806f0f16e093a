"""Constituency parsing as tagging, for spaCy.

    nlp.add_pipe("parsetag")

scores two tags per token, finds the best tree among all valid tag sequences, and sets it as
`doc.spans["constituents"]`. `spacy_parsetag.render(doc)` draws it; `spacy_parsetag.explain("SBAR")` says what a label
means; `spacy_parsetag.TreeMatcher(nlp.vocab)` searches docs.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .draw.docs import render
    from .draw.labels import explain
    from .search.docs import TreeMatcher

__version__ = "0.1.0"
__all__ = ["TreeMatcher", "explain", "render"]
_HOMES = {"TreeMatcher": ".search.docs", "explain": ".draw.labels", "render": ".draw.docs"}


if not TYPE_CHECKING:  # a type checker would take any name for one of this package

    def __getattr__(name: str) -> Any:
        """Import what is public when it is used: spaCy imports this package whenever it starts, and must not wait."""
        if name in _HOMES:
            return getattr(import_module(_HOMES[name], __name__), name)
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
