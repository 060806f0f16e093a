"""Read what parsers scored, from tables that anything may have written.

treebank,order,f,deviation            [{"treebank": "wsj", "order": "pre", "f": 85.2, "deviation": 0.9}, ...]
wsj,pre,85.2,0.9
"""

import csv
import io
import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from ..errors import Errors
from ..linearize import ORDERS
from .correlation import Point

# (treebank, order): mean deviation
Means = Mapping[tuple[str, str], float]


def read_points(paths: Iterable[Path], means: Means) -> list[Point]:
    """Read results: a CSV file with a header, a JSON file with a list of objects or one object, or JSON lines.

    paths (Iterable[Path]): The files. Other columns than treebank, order, f and deviation are ignored.
    means (Means): The mean deviations of rows that have none.
    RETURNS (list[Point]): The results.
    RAISES (ValueError): If a file is not a table of results, or a mean deviation is missing.
    """
    points = []
    for path in paths:
        for row in _read_rows(path):
            try:
                treebank, order, f = str(row["treebank"]), str(row["order"]), float(row["f"])
                deviation = row.get("deviation")
                mean = None if deviation in (None, "") else float(deviation)
            except KeyError as err:
                raise ValueError(Errors.E371.format(path=path, reason=f"no {err} in {row}")) from err
            except (TypeError, ValueError, OverflowError) as err:
                raise ValueError(Errors.E371.format(path=path, reason=f"{err} in {row}")) from err
            if order not in ORDERS:
                raise ValueError(Errors.E006.format(order=order))
            if mean is None:
                mean = means.get((treebank, order))
            if mean is None:
                hint = (
                    "Give deviations in the table, or those that `analyze deviation --json` writes, with --deviation."
                )
                raise ValueError(Errors.E372.format(treebank=treebank, order=order, hint=hint))
            points.append(Point(treebank, order, f, mean))
    return points


def read_means(path: Path) -> dict[tuple[str, str], float]:
    """Read the mean deviations that `analyze deviation --json` wrote.

    path (Path): The file.
    RETURNS (dict[tuple[str, str], float]): By treebank and order.
    RAISES (ValueError): If the file is something else.
    """
    try:
        content = json.loads(path.read_text(encoding="utf-8-sig"))
        treebanks = content["treebanks"]
        return {
            (name, order): float(figures["mean"])
            for name, found in treebanks.items()
            for order, figures in found["orders"].items()
        }
    except (KeyError, TypeError, AttributeError, ValueError, RecursionError, OverflowError) as err:
        raise ValueError(
            Errors.E371.format(path=path, reason=f"not what analyze deviation --json writes ({err})")
        ) from err


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
        raise ValueError(Errors.E371.format(path=path, reason=str(err))) from err
    if not all(isinstance(row, dict) for row in rows):
        raise ValueError(Errors.E371.format(path=path, reason="a row is not an object"))
    return rows
