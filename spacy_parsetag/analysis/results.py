"""Does a parser do worse the further its tags stray? Pearson's correlation of F with the mean deviation, over
treebanks and orders (paper section 6.2, where it is -0.77 with p = 0.0001), from tables that anything may have written:

treebank,order,f,deviation            [{"treebank": "wsj", "order": "pre", "f": 85.2, "deviation": 0.9}, ...]
wsj,pre,85.2,0.9
"""

import csv
import io
import json
from collections.abc import Iterable, Mapping, Sequence
from math import isfinite
from pathlib import Path
from typing import Any, NamedTuple

from ..compat import require
from ..errors import Errors
from ..linearize import ORDERS


class Point(NamedTuple):
    """One parser on one treebank.

    f (float): Its F, in whatever unit.
    deviation (float): The mean deviation of that order on that treebank, in words.
    """

    treebank: str
    order: str
    f: float
    deviation: float


class Correlation(NamedTuple):
    """Pearson's correlation.

    r (float): The coefficient, from -1 to 1.
    p (float): Two-sided probability of a coefficient at least as far from 0 if the two had nothing to do with each
        other.
    """

    n: int
    r: float
    p: float


def correlate(points: Sequence[Point]) -> Correlation:
    """Pearson's correlation of F with the mean deviation. Needs SciPy.

    RAISES (ValueError): If there are fewer than 3 points, a value is not finite, or one of the two never changes.
    RAISES (ImportError): If SciPy is not installed.
    """
    if len(points) < 3:
        raise ValueError(Errors.E401.format(reason=f"at least 3 points, got {len(points)}"))
    columns = [point.f for point in points], [point.deviation for point in points]
    for column in columns:
        if not all(map(isfinite, column)):
            raise ValueError(Errors.E401.format(reason="finite numbers"))
        if min(column) == max(column):
            raise ValueError(Errors.E401.format(reason="values that differ"))
    result = require("scipy.stats", "A correlation").pearsonr(*columns)
    return Correlation(len(points), float(result.statistic), float(result.pvalue))


def read_points(paths: Iterable[Path], means: Mapping[tuple[str, str], float]) -> list[Point]:
    """Read results: a CSV file with a header, a JSON file with a list of objects or one object, or JSON lines.

    paths (Iterable[Path]): The files. Other columns than treebank, order, f and deviation are ignored.
    means (Mapping[tuple[str, str], float]): By treebank and order, the mean deviations of rows that have none.
    RAISES (ValueError): If a file is not a table of results, or a mean deviation is missing.
    """
    points = []
    for path in paths:
        for row in _read_rows(path):
            try:
                treebank, order, f = str(row["treebank"]), str(row["order"]), float(row["f"])
                deviation = row.get("deviation")
                mean = means.get((treebank, order)) if deviation in (None, "") else float(deviation)
            except KeyError as err:
                raise ValueError(Errors.E403.format(path=path, reason=f"no {err} in {row}")) from err
            except (TypeError, ValueError, OverflowError) as err:
                raise ValueError(Errors.E403.format(path=path, reason=f"{err} in {row}")) from err
            if order not in ORDERS:
                reason = Errors.E051.format(order=order).rstrip(".")
                raise ValueError(Errors.E403.format(path=path, reason=reason))
            if mean is None:
                raise ValueError(Errors.E404.format(path=path, treebank=treebank, order=order))
            points.append(Point(treebank, order, f, mean))
    return points


def read_means(path: Path) -> dict[tuple[str, str], float]:
    """Read the mean deviations that `analyze deviation --json` wrote.

    RAISES (ValueError): If the file is something else.
    """
    try:
        treebanks = json.loads(path.read_text(encoding="utf-8-sig"))["treebanks"]
        return {
            (name, order): float(figures["mean"])
            for name, deviations in treebanks.items()
            for order, figures in deviations["orders"].items()
        }
    except (KeyError, TypeError, AttributeError, ValueError, RecursionError, OverflowError) as err:
        reason = f"not what analyze deviation --json writes ({err})"
        raise ValueError(Errors.E403.format(path=path, reason=reason)) from err


def _read_rows(path: Path) -> list[dict[str, Any]]:
    try:
        text = path.read_text(encoding="utf-8-sig")
        if path.suffix.lower() == ".jsonl":
            rows = [json.loads(line) for line in io.StringIO(text) if line.strip()]
        elif path.suffix.lower() == ".json":
            rows = json.loads(text)
            rows = rows if isinstance(rows, list) else [rows]
        else:
            rows = list(csv.DictReader(io.StringIO(text)))
    except (ValueError, RecursionError, csv.Error) as err:
        raise ValueError(Errors.E403.format(path=path, reason=str(err))) from err
    if not all(isinstance(row, dict) for row in rows):
        raise ValueError(Errors.E403.format(path=path, reason="a row is not an object"))
    return rows
