"""The Sinica Treebank: a clause a line, with roles before the labels and children between bars.

    #6:6.[39032] S(agent:NP(Head:Nhaa:我們)|time:Dd:常常|Head:VA4:上學)#，(COMMACATEGORY)

becomes `( (S (NP (Nhaa 我們)) (Dd 常常) (VA4 上學)))`. Roles are dropped, and the mark after the clause, which is
outside the tree.
"""

import re

from ...errors import Errors
from ...trees.clean import CleanOptions
from ...trees.escape import escape_token
from .base import TreebankFormat, each_line

# After a closing bracket come another one, a bar, or the end.
_CLAUSE = re.compile(r"#\S*\s+((?:[^)]|\)(?=[)|#]))*)#.*", re.DOTALL)
_PIECE = re.compile(r"[^()|]+\(?|\|")


def rewrite_line(line: str) -> str:
    """Write a clause in Penn brackets. Any other line loses its brackets, so the reader reports it as stray text."""
    clause = _CLAUSE.match(line)
    if clause is None:
        return re.sub("[#()]", " ", line)
    return f"( {_PIECE.sub(_rewrite_piece, clause.group(1))})\n"


def _rewrite_piece(match: "re.Match[str]") -> str:
    """Rewrite a piece: `agent:NP(` becomes `(NP`, `time:Dd:常常` becomes `(Dd 常常)`. A colon more stays."""
    rest, _, last = match.group().rpartition(":")
    if last.endswith("("):
        return f"({last[:-1]} "
    return f"({rest.partition(':')[2] or rest} {escape_token(last)})" if last != "|" else " "


def check_leaf(tag: str, word: str) -> tuple[str, str]:
    """Raise a ValueError if a colon is left in a tag: of `time:Nd:12:30` nothing tells where the word begins."""
    if ":" in tag:
        leaf = f"{tag}:{word}"
        raise ValueError(Errors.E126.format(leaf=leaf, reason="after ROLE:TAG: a word has no colon"))
    return tag, word


# NLTK distributes the treebank as one file without a suffix.
SINICA = TreebankFormat(
    suffixes=(".txt", "parsed"),
    encoding="big5",
    clean=CleanOptions(functions=False),
    lines=each_line(rewrite_line),
    leaf=check_leaf,
)
