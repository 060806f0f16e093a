"""CESS-ESP and CESS-CAT: brackets whose leaves are tag, word and lemma.

    (sn-SUJ (espec.fs (da0fs0 la el)) (grup.nom.fs (ncfs000 suerte suerte)))

Labels are cut at the first dot, which leaves `sn`, `grup`, `S`: what follows is agreement or a kind of clause.
"""

import re

from .rewrite import RewrittenBrackets

_LEAF = re.compile(r"\(([^\s()]+)[ \t]+([^\s()]+)[ \t]+[^\s()]+[ \t]*\)")
_BRACKET = re.compile(r"\(([^\s()]+)[ \t]+([()])[ \t]+\2[ \t]*\)")


def rewrite_line(line: str) -> str:
    """Drop lemmas, and name the brackets among the words."""
    line = _BRACKET.sub(lambda found: f"({found.group(1)} {'-LRB-' if found.group(2) == '(' else '-RRB-'})", line)
    return _LEAF.sub(r"(\1 \2)", line)


def cut_label(label: str) -> str:
    """`grup.nom.fs` becomes `grup`, and `S*`, an elliptic sentence, `S`."""
    return label.partition(".")[0].rstrip("*") or label


read_cess = RewrittenBrackets(line=rewrite_line, phrase=cut_label)
