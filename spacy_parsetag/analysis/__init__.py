"""Analyses of treebanks and parsers: deviation, stack, tags and labels, and what deviation has to do with F."""

from .correlation import Correlation, Point, correlate, pearson
from .deviation import Deviations, count_deviations, word_deviations
from .inventory import Inventory, Labels, Tags, count_labels, count_tags, productions
from .stack import Stacks, count_stacks, stack_needed

__all__ = [
    "Correlation",
    "Deviations",
    "Inventory",
    "Labels",
    "Point",
    "Stacks",
    "Tags",
    "correlate",
    "count_deviations",
    "count_labels",
    "count_stacks",
    "count_tags",
    "pearson",
    "productions",
    "stack_needed",
    "word_deviations",
]
