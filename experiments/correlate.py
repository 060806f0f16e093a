"""How F goes with the mean deviation over treebanks and orders: Pearson's r and its p (paper section 7)."""

import math
from typing import Any, Dict, List, Optional

Row = Dict[str, Any]


def correlate(rows: List[Row]) -> Dict[str, Any]:
    """Over all cells, as the paper has it, and over differences within each treebank.

    The second looks at how much F falls from in-order to the other orders of the same treebank: treebanks differ in F
    for many reasons, and these drop out.
    """
    found = {"all": pearson([row["mean deviation"] for row in rows], [row["F"] for row in rows])}
    base = {row["treebank"]: row for row in rows if row["order"] == "in"}
    others = [row for row in rows if row["order"] != "in" and row["treebank"] in base]
    found["differences to in-order"] = pearson(
        [row["mean deviation"] - base[row["treebank"]]["mean deviation"] for row in others],
        [row["F"] - base[row["treebank"]]["F"] for row in others],
    )
    return found


def pearson(x: List[float], y: List[float]) -> Dict[str, Optional[float]]:
    """Pearson's r, and the two-sided p of a t test with n-2 degrees of freedom.

    x, y (List[float]): The values.
    RETURNS (Dict[str, Optional[float]]): n, r and p; None where they are not defined.
    """
    n = len(x)
    if n < 3 or len(set(x)) < 2 or len(set(y)) < 2:
        return {"n": n, "r": None, "p": None}
    mean_x, mean_y = sum(x) / n, sum(y) / n
    cross = sum((a - mean_x) * (b - mean_y) for a, b in zip(x, y, strict=True))
    r = cross / math.sqrt(sum((a - mean_x) ** 2 for a in x) * sum((b - mean_y) ** 2 for b in y))
    r = max(-1.0, min(1.0, r))
    return {"n": n, "r": r, "p": _tail(r, n)}


def _tail(r: float, n: int, steps: int = 20_000) -> float:
    """p: the share of the density (1 - s^2)^(n/2 - 2) of r under no correlation that lies beyond |r|.

    With s = sin(a) the density is cos(a)^(n-3), smooth up to its ends; Simpson's rule is exact to ten digits.
    """

    def integral(low: float, high: float) -> float:
        width = (high - low) / steps
        values = [math.cos(low + i * width) ** (n - 3) for i in range(steps + 1)]
        return width / 3 * (values[0] + values[-1] + 4 * sum(values[1:-1:2]) + 2 * sum(values[2:-1:2]))

    return integral(math.asin(abs(r)), math.pi / 2) / integral(0, math.pi / 2)


def format_correlation(found: Dict[str, Any]) -> str:
    lines = []
    for name, value in found.items():
        if value["r"] is not None:
            lines.append(f"F and mean deviation, {name}: r = {value['r']:.3f}, p = {value['p']:.2g}, n = {value['n']}")
    return "\n".join(lines)
