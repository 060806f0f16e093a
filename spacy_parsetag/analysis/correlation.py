"""Does a parser do worse the further its tags stray? Pearson's correlation of F with the mean deviation, over
treebanks and orders (paper section 6.2, where it is -0.77 with p = 0.0001)."""

from collections.abc import Sequence
from math import isfinite
from typing import NamedTuple

from ..compat import require
from ..errors import Errors


class Point(NamedTuple):
    """One parser on one treebank.

    treebank (str): Name of the treebank.
    order (str): "in", "pre" or "post".
    f (float): Its F, in whatever unit.
    deviation (float): The mean deviation of that order on that treebank, in words.
    """

    treebank: str
    order: str
    f: float
    deviation: float


class Correlation(NamedTuple):
    """Pearson's correlation.

    n (int): Number of points.
    r (float): The coefficient, from -1 to 1.
    p (float): Probability of a coefficient at least as far from 0 if the two had nothing to do with each other.
    """

    n: int
    r: float
    p: float


def pearson(first: Sequence[float], second: Sequence[float]) -> Correlation:
    """Pearson's correlation with its two-sided p. Needs SciPy.

    first, second (Sequence[float]): (n,) each.
    RETURNS (Correlation): The coefficient and its p.
    RAISES (ValueError): If there are fewer than 3 points, a value is not finite, or one of the two never changes.
    RAISES (ImportError): If SciPy is not installed.
    """
    n = len(first)
    if n < 3 or len(second) != n:
        raise ValueError(Errors.E368.format(reason=f"at least 3 points, got {n} and {len(second)} values"))
    if not all(map(isfinite, [*first, *second])):
        raise ValueError(Errors.E368.format(reason="finite numbers"))
    if min(first) == max(first) or min(second) == max(second):
        raise ValueError(Errors.E368.format(reason="values that differ"))
    found = require("scipy.stats", "A correlation").pearsonr(first, second)
    return Correlation(n, float(found.statistic), float(found.pvalue))


def correlate(points: Sequence[Point]) -> Correlation:
    """Correlation of F with the mean deviation; see `pearson`."""
    return pearson([point.f for point in points], [point.deviation for point in points])
