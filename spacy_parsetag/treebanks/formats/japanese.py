"""Treebanks of Japanese in the brackets of the Penn historical corpora: Keyaki, and ONCOJ of Old Japanese.

(NP;*SBJ* (N 男))                                  Keyaki: what follows the semicolon is a function
(N (L050046 (PHON pito)))                          ONCOJ: lexeme and script stand between tag and word
"""

import re

from ...errors import Errors
from ...trees.tree import Tree, Word
from .base import TreebankFormat
from .bracketed import HISTORICAL_CLEAN


def cut_function(label: str) -> str:
    """Cut the function off a label: `NP;*SBJ*` becomes `NP`."""
    return label.partition(";")[0] or label


def read_lexeme(node: Tree, children: list[Tree | str]) -> list[Tree | str] | None:
    """Make a word of a lexeme: `(N (L050046 (PHON pito)))` becomes `(N pito)`, with the lexeme for its lemma.

    Scripts that write a part of the word each are joined. Of a compound the lexeme stands over words, which stay.

    RETURNS (list[Tree | str] | None): What takes the node's place; None if it is no lexeme.
    RAISES (ValueError): If scripts and words stand below one lexeme.
    """
    if not re.match("L[0-9]", node.label):
        return None
    scripts = [str(child.children[0]) for child in node.children if isinstance(child, Tree) and child.is_preterminal]
    if not scripts:
        return children
    if len(scripts) < len(node.children):
        raise ValueError(Errors.E126.format(leaf=scripts[0], reason=f"the lexeme {node.label} has other words, too"))
    return [Word("".join(scripts), node.label)]


KEYAKI = TreebankFormat(suffixes=(".psd",), clean=HISTORICAL_CLEAN, phrase=cut_function, tag=cut_function)
ONCOJ = TreebankFormat(
    suffixes=(".psd",),
    clean=HISTORICAL_CLEAN,
    substitute=read_lexeme,
    attrs=("LEMMA",),
)
