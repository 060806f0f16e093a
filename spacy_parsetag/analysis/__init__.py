"""Analyses of treebanks and parsers: deviation, stack, tags and labels, and what deviation has to do with F."""

from .counts import (
    Deviations,
    Inventory,
    Labels,
    Stacks,
    Tags,
    count_deviations,
    count_labels,
    count_stacks,
    count_tags,
    productions,
    stack_needed,
    word_deviations,
)
from .results import Correlation, Point, correlate

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
    "productions",
    "stack_needed",
    "word_deviations",
]
