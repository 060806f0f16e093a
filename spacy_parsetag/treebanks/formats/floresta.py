"""Floresta sintá(c)tica: labels have function and form, `SUBJ+np`; the form is kept.

    #1 CP1-1 O dinheiro falta.
    (STA+fcl (SUBJ+np (>N+art O) (H+n dinheiro)) (P+v-fin falta) (.))

Lines that begin with `#` are comments, which may hold brackets. Punctuation stands without a tag, `(,)`, and becomes
its own tag. The source writes `{` and `}` for parentheses, and leaves out the last bracket of most trees of one word.
The halves of a discontinuous phrase, `np-` and `-np`, become two phrases. The file that NLTK distributes is in Latin 1.
"""

import re
from collections.abc import Iterator
from itertools import chain, pairwise

from ...trees.clean import CleanOptions
from ...trees.escape import BRACKETS
from ..lines import Line
from .base import TreebankFormat, each_line

_MARK = re.compile(r"\(([^\s()]+)\)")
_ONE_WORD = re.compile(r"\s*\([^\s()]+[ \t]+[^\s()]+\s*")
_PARENTHESES = {"{": BRACKETS["("], "}": BRACKETS[")"]}


def rewrite_lines(lines: Iterator[Line]) -> Iterator[Line]:
    """Empty comments, give punctuation its tag, and close trees of one word."""
    tag_marks = each_line(lambda text: "\n" if text.startswith("#") else _MARK.sub(_tag_mark, text))
    after_blank = True
    for line, following in pairwise(chain(tag_marks(lines), [Line(0, "")])):
        if after_blank and _ONE_WORD.fullmatch(line.text) and not following.text.strip():
            yield line._replace(text=line.text.rstrip() + ")\n")
        else:
            yield line
        after_blank = not line.text.strip()


def _tag_mark(match: "re.Match[str]") -> str:
    mark = _PARENTHESES.get(match.group(1), match.group(1))
    return f"({mark} {mark})"


def form_of(label: str) -> str:
    """Take the form of a label: `SUBJ+np` and `SUBJ+np-` become `np`; `P+v-fin` becomes `v-fin`; marks stay."""
    form = label.rpartition("+")[2] or label
    if not any(letter.isalpha() for letter in form) or form in BRACKETS.values():
        return form
    return form.strip("-")


FLORESTA = TreebankFormat(
    suffixes=(".ptb",),
    encoding="latin-1",
    clean=CleanOptions(functions=False),
    lines=rewrite_lines,
    phrase=form_of,
    tag=form_of,
)
