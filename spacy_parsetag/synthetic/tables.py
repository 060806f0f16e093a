"""Weighted tables of words: what a grammar draws from.

A `Row` is one word with attributes (its forms, class, subcategorisation); a `Table` draws rows by weight, optionally
only those whose attributes fit. Draws use nothing but `rng.random()` and additions, multiplications and divisions,
so that the same seed gives the same words with every Python version and on every machine.
"""

from bisect import bisect_right
from collections.abc import Sequence
from itertools import accumulate
from random import Random
from typing import Union

Attribute = Union[str, "Table"]
Constraints = tuple[tuple[str, str], ...]
ANY = "any"


class Row:
    """One word of a table.

    attrs (Dict[str, Attribute]): Attributes by name: texts, or tables of what the word may take beside it.
    weight (float): Its weight in the table.
    """

    __slots__ = ("attrs", "weight")

    def __init__(self, attrs: dict[str, Attribute], weight: float) -> None:
        self.attrs = attrs
        self.weight = weight

    def fits(self, constraints: Constraints) -> bool:
        """Whether the row's attributes agree with constraints, each of which may name alternatives (`a|b`).

        constraints (Constraints): Attribute names and wanted values; `any`, on either side, agrees with all.
        RETURNS (bool): True if every constraint is met.
        """
        for name, wanted in constraints:
            value = self.attrs.get(name, "")
            if wanted == ANY or value == ANY:
                continue
            if not isinstance(value, str) or set(value.split("|")).isdisjoint(wanted.split("|")):
                return False
        return True


class Distribution:
    """Values with weights.

    values (Sequence): The values.
    weights (Sequence[float]): Their weights, none negative, some positive.
    """

    __slots__ = ("cumulative", "values")

    def __init__(self, values: Sequence, weights: Sequence[float]) -> None:
        self.values = values
        self.cumulative = list(accumulate(weights))

    def draw(self, rng: Random):
        """Draw a value.

        rng (Random): Source of chance.
        RETURNS (Any): One of the values.
        """
        index = bisect_right(self.cumulative, rng.random() * self.cumulative[-1])
        return self.values[min(index, len(self.values) - 1)]


class Table:
    """Rows with weights, drawn under constraints.

    name (str): The table's name.
    """

    __slots__ = ("_fitting", "name", "rows")

    def __init__(self, name: str) -> None:
        self.name = name
        self.rows: list[Row] = []
        self._fitting: dict[Constraints, Distribution | None] = {}

    def add(self, row: Row) -> None:
        """Append a row.

        row (Row): The row.
        """
        self.rows.append(row)
        self._fitting.clear()

    def draw(self, rng: Random, constraints: Constraints = ()) -> Row | None:
        """Draw a row that meets constraints.

        rng (Random): Source of chance.
        constraints (Constraints): See `Row.fits`.
        RETURNS (Optional[Row]): The row, or None if no row fits.
        """
        if constraints not in self._fitting:
            rows = [row for row in self.rows if row.weight > 0.0 and row.fits(constraints)]
            self._fitting[constraints] = Distribution(rows, [row.weight for row in rows]) if rows else None
        fitting = self._fitting[constraints]
        return None if fitting is None else fitting.draw(rng)
