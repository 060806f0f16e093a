"""EVALB: counts on trees, its tables and its parameter files."""

from .counts import EvalbResult, SentenceCounts, Summary, evalb, evalb_counts
from .flat import fill_unparsed, flat_tree
from .params import COLLINS, NEW, SPMRL, EvalbParams, get_params, read_params
from .read import read_scored_trees
from .table import format_summary, format_table

__all__ = [
    "COLLINS",
    "NEW",
    "SPMRL",
    "EvalbParams",
    "EvalbResult",
    "SentenceCounts",
    "Summary",
    "evalb",
    "evalb_counts",
    "fill_unparsed",
    "flat_tree",
    "format_summary",
    "format_table",
    "get_params",
    "read_params",
    "read_scored_trees",
]
