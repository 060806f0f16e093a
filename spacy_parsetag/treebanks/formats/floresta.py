"""Floresta sintá(c)tica: labels of function and form, `SUBJ+np`, of which the form is kept.

    (STA+fcl (SUBJ+np (>N+art O) (H+n dinheiro)) (P+v-fin falta) (.))

Punctuation stands without a tag, `(,)`, and becomes its own tag. The source writes `{` and `}` for parentheses. The
halves of a discontinuous phrase, `np-` and `-np`, become two phrases.
"""

import re

from ...trees.escape import BRACKETS
from .rewrite import RewrittenBrackets

_MARK = re.compile(r"\(([^\s()]+)\)")
_PARENTHESES = {"{": BRACKETS["("], "}": BRACKETS[")"]}


def rewrite_line(line: str) -> str:
    """Give punctuation its tag."""

    def leaf(found: "re.Match[str]") -> str:
        mark = _PARENTHESES.get(found.group(1), found.group(1))
        return f"({mark} {mark})"

    return _MARK.sub(leaf, line)


def form_of(label: str) -> str:
    """`SUBJ+np` and `SUBJ+np-` become `np`; `P+v-fin` becomes `v-fin`, and marks stay as they are."""
    form = label.rpartition("+")[2] or label
    if not any(letter.isalpha() for letter in form) or form in BRACKETS.values():
        return form
    return form.strip("-")


read_floresta = RewrittenBrackets(line=rewrite_line, phrase=form_of, tag=form_of)
