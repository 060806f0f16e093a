"""CESS-ESP and CESS-CAT: brackets whose leaves are tag, word and lemma.

    (sn-SUJ (espec.fs (da0fs0 la el)) (grup.nom.fs (ncfs000 suerte suerte)))

Labels are cut at the first dot, which leaves `sn`, `grup`, `S`: what follows is agreement or a kind of clause. Files
that are not in UTF-8 are in Latin 1.
"""

import re

from ...trees.clean import CleanOptions
from ...trees.tree import Word
from .base import LEMMA, TreebankFormat, each_line

_LEAF = re.compile(r"\(([^\s()]+)[ \t]+([^\s()]+)[ \t]+([^\s()]+)[ \t]*\)")
_BRACKET = re.compile(r"\(([^\s()]+)[ \t]+([()])[ \t]+\2[ \t]*\)")


def rewrite_line(line: str) -> str:
    """Mark lemmas, and name the brackets among the words."""
    line = _BRACKET.sub(lambda match: f"({match.group(1)} {'-LRB-' if match.group(2) == '(' else '-RRB-'})", line)
    return _LEAF.sub(rf"(\1 \2{LEMMA}\3)", line)


def split_lemma(text: str) -> Word:
    """Split a word from its lemma, which `rewrite_line` marks."""
    word, _, lemma = text.partition(LEMMA)
    return Word(word, lemma)


def cut_label(label: str) -> str:
    """Cut a label: `grup.nom.fs` becomes `grup`, and `S*`, an elliptic sentence, `S`."""
    return label.partition(".")[0].rstrip("*") or label


CESS = TreebankFormat(
    suffixes=(".tbf",),
    encoding="latin-1",
    clean=CleanOptions(trace_words=r"\*0\*"),
    lines=each_line(rewrite_line),
    phrase=cut_label,
    word=split_lemma,
    attrs=("LEMMA",),
)
