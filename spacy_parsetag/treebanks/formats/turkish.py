"""The Turkish annotated trees: each leaf has layers, from which word and analysis are taken.

(NP {morphologicalAnalysis=yasa+NOUN}{turkish=yasada}{english=law})        becomes        (NP yasada)

The analysis becomes lemma (yasa) and morphology (Analysis=NOUN), unless it has what separates features: `|` or `=`.
A word with `*`, as `*NONE*` where the Turkish sentence has no counterpart of an English word, is a trace.
"""

import re

from ...errors import Errors
from ...trees.escape import escape_token
from ...trees.tree import Word
from .base import LEMMA, TreebankFormat, each_line

_LAYERS = re.compile(r"(?:\{[^{}=]+=[^{}]*\})+")
_LAYER_START = re.compile(r"\{[^{}=]+=")
_LAYER = re.compile(r"\{([^{}=]+)=([^{}]*)\}")


def take_word(line: str) -> str:
    """Replace the layers of each leaf by its word and its analysis."""

    def word(match: "re.Match[str]") -> str:
        layers = dict(_LAYER.findall(match.group()))
        text, analysis = (layers.get(name, "").strip() for name in ("turkish", "morphologicalAnalysis"))
        if not analysis:
            return escape_token(text.replace(" ", "_"))
        return (escape_token(text.replace(" ", "_")) if text else "") + LEMMA + escape_token(analysis)

    return _LAYERS.sub(word, line)


def split_analysis(text: str) -> Word:
    """Split the analysis off a word: `yasa+NOUN+A3SG` is the lemma `yasa` and its features.

    RAISES (ValueError): If a layer is left in the word.
    """
    if _LAYER_START.search(text):
        raise ValueError(Errors.E126.format(leaf=text, reason="a leaf is {NAME=TEXT}..., without other braces"))
    word, _, analysis = text.partition(LEMMA)
    lemma, _, features = analysis.partition("+")
    return Word(word, lemma, f"Analysis={features}" if re.fullmatch("[^|=]+", features) else "")


def read_leaf(label: str, text: str) -> tuple[str, Word]:
    """Split word and analysis, and give a trace the tag `-NONE-`, whatever label is over it.

    RAISES (ValueError): As `split_analysis`.
    """
    word = split_analysis(text)
    return "-NONE-" if "*" in word else label, word


TURKISH = TreebankFormat(
    suffixes=(".txt", ".train", ".dev", ".test"),
    lines=each_line(take_word),
    leaf=read_leaf,
    attrs=("LEMMA", "MORPH"),
)
