"""Analyses of treebanks and parsers: deviation, stack, tags, and what they have to do with F."""

from .correlation import Correlation, Point, correlate, pearson
from .deviation import Deviations, count_deviations, word_deviations
from .inventory import Inventory, Unseen, count_tags
from .stack import Stacks, count_stacks, stack_needed

__all__ = [
    "Correlation",
    "Deviations",
    "Inventory",
    "Point",
    "Stacks",
    "Unseen",
    "correlate",
    "count_deviations",
    "count_stacks",
    "count_tags",
    "pearson",
    "stack_needed",
    "word_deviations",
]
