"""Constituency parsing as tagging, for spaCy.

    nlp.add_pipe("parsetag")

scores two tags per token, finds the best tree among all valid tag sequences, and sets it as
`doc.spans["constituents"]`. `spacy_parsetag.render(doc)` draws it; `spacy_parsetag.explain("SBAR")` says what a label
means.
"""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .draw.docs import render
    from .draw.labels import explain

__version__ = "0.1.0"
__all__ = ["explain", "render"]


def __getattr__(name: str) -> Any:
    """Import what is asked for: spaCy imports this package whenever it starts, and must not pay for ours."""
    if name == "render":
        from .draw.docs import render

        return render
    if name == "explain":
        from .draw.labels import explain

        return explain
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
