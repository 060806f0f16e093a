"""Does a parser do worse the further its tags stray? Pearson's correlation of F with the mean deviation, over
treebanks and orders (paper section 6.2, where it is -0.77 with p = 0.0001)."""

from collections.abc import Sequence
from math import isfinite
from statistics import correlation
from typing import Any, NamedTuple

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
    p (float): Probability of one at least as far from 0, if there were none.
    """

    n: int
    r: float
    p: float

    def to_dict(self) -> dict[str, Any]:
        return self._asdict()


def pearson(first: Sequence[float], second: Sequence[float]) -> Correlation:
    """Pearson's correlation, with the two-sided p of the t distribution with n - 2 degrees of freedom. Needs SciPy.

    first, second (Sequence[float]): (n,) each.
    RETURNS (Correlation): The coefficient and its p.
    RAISES (ValueError): If there are fewer than 3 points, or one of the two is the same everywhere, or not a number.
    RAISES (ImportError): If SciPy is not installed.
    """
    n = len(first)
    if n < 3 or len(second) != n:
        raise ValueError(Errors.E368.format(reason=f"at least 3 points, got {n} and {len(second)} values"))
    if not all(map(isfinite, [*first, *second])):
        raise ValueError(Errors.E368.format(reason="finite numbers"))
    if min(first) == max(first) or min(second) == max(second):
        raise ValueError(Errors.E368.format(reason="values that differ"))
    special = require("scipy.special", "The p of a correlation")
    r = max(-1.0, min(1.0, correlation(first, second)))
    # With t^2 = (n - 2) r^2 / (1 - r^2), the two tails of the t distribution are this incomplete beta function.
    return Correlation(n, r, float(special.betainc((n - 2) / 2, 0.5, (1 - r) * (1 + r))))


def correlate(points: Sequence[Point]) -> Correlation:
    """Correlation of F with the mean deviation.

    points (Sequence[Point]): The parsers.
    RETURNS (Correlation): The coefficient and its p.
    RAISES (ValueError): As `pearson`.
    RAISES (ImportError): If SciPy is not installed.
    """
    return pearson([point.f for point in points], [point.deviation for point in points])
