"""Search: trees as columns, Tregex patterns over them, heads, and syntactic complexity."""

from .columns import TreeColumns
from .heads import HeadRules, get_head_rules
from .match import Matches, Tregex, find_all
from .read import read_brackets, read_rows, read_table

__all__ = [
    "HeadRules",
    "Matches",
    "TreeColumns",
    "Tregex",
    "find_all",
    "get_head_rules",
    "read_brackets",
    "read_rows",
    "read_table",
]
