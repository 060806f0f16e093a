"""EVALB: counts on trees, its tables and its parameter files."""

from .breakdown import Breakdown, break_down
from .counts import SentenceCounts
from .lines import fill_unparsed, join_lines, read_tree_lines
from .params import EvalbParams, get_params, read_params
from .result import EvalbResult, Summary, evalb, format_summary, format_table
from .significance import Difference, compare_parsers

__all__ = [
    "Breakdown",
    "Difference",
    "EvalbParams",
    "EvalbResult",
    "SentenceCounts",
    "Summary",
    "break_down",
    "compare_parsers",
    "evalb",
    "fill_unparsed",
    "format_summary",
    "format_table",
    "get_params",
    "join_lines",
    "read_params",
    "read_tree_lines",
]
