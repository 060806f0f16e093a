"""Treebanks of Japanese in the brackets of the Penn historical corpora: Keyaki, and ONCOJ of Old Japanese.

(NP;*SBJ* (N 男))                                  Keyaki: what follows the semicolon is a function
(N (L050046 (PHON pito)))                          ONCOJ: lexeme and script stand between tag and word
"""

import re

from .base import LEMMA, TreebankFormat, each_line, split_lemma
from .english import HISTORICAL_CLEAN

_LEXEME = re.compile(r"\((L[0-9][^\s()]*)[ \t]+\([^\s()]+[ \t]+([^\s()]+)\)\)")


def cut_function(label: str) -> str:
    """Cut the function off a label: `NP;*SBJ*` becomes `NP`."""
    return label.partition(";")[0] or label


def mark_lexemes(line: str) -> str:
    """Mark lexemes: `(N (L050046 (PHON pito)))` becomes `(N pito)`, with the lexeme for its lemma."""
    return _LEXEME.sub(rf"\2{LEMMA}\1", line)


def is_lexeme(label: str) -> bool:
    """Tell whether a node is a lexeme, such as L050046: of a compound it stands over the parts."""
    return re.match(r"L[0-9]+", label) is not None


KEYAKI = TreebankFormat(suffixes=(".psd",), clean=HISTORICAL_CLEAN, phrase=cut_function, tag=cut_function)
ONCOJ = TreebankFormat(
    suffixes=(".psd",),
    clean=HISTORICAL_CLEAN,
    lines=each_line(mark_lexemes),
    word=split_lemma,
    dissolve=is_lexeme,
    attrs=("LEMMA",),
)
