"""The Turkish annotated trees: each leaf has layers, of which the word is taken.

(NP {morphologicalAnalysis=yasa+NOUN}{turkish=yasada}{english=law})        becomes        (NP yasada)
"""

import re

from ...trees.escape import escape_token
from .base import TreebankFormat, each_line

_LAYERS = re.compile(r"(?:\{[^{}=]+=[^{}]*\})+")
_WORD = re.compile(r"\{turkish=([^{}]*)\}")


def take_word(line: str) -> str:
    """Replace the layers of each leaf by its word."""

    def word(found: "re.Match[str]") -> str:
        layer = _WORD.search(found.group())
        text = layer.group(1).strip() if layer is not None else ""
        return escape_token(text.replace(" ", "_"))

    return _LAYERS.sub(word, line)


TURKISH = TreebankFormat(suffixes=(".txt", ".train", ".dev", ".test"), lines=each_line(take_word))
