"""EVALB: counts on trees, its tables and its parameter files."""

from .counts import SentenceCounts
from .lines import fill_unparsed, join_lines, read_lines
from .params import EvalbParams, get_params, read_params
from .result import EvalbResult, Summary, evalb, format_summary, format_table

__all__ = [
    "EvalbParams",
    "EvalbResult",
    "SentenceCounts",
    "Summary",
    "evalb",
    "fill_unparsed",
    "format_summary",
    "format_table",
    "get_params",
    "join_lines",
    "read_lines",
    "read_params",
]
