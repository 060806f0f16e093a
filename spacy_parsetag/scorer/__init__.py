"""Scoring: EVALB's counts on trees, and the scorer of the pipeline."""

from .evalb import EvalbResult, SentenceCounts, Summary, evalb, evalb_counts
from .flat import fill_unparsed, flat_tree
from .params import COLLINS, NEW, SPMRL, EvalbParams, get_params, read_params
from .read import read_scored_trees
from .spacy_scorer import make_evalb_scorer
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
    "make_evalb_scorer",
    "read_params",
    "read_scored_trees",
]
