"""Gradients by central differences, an independent check of those that are computed."""

from collections.abc import Callable, Iterable
from typing import Any

import numpy as np
import pytest


def slope(value: Callable[[], float], array: Any, at: tuple[int, ...], step: float = 1e-5) -> float:
    """Find the slope of a value at a place of an array that it is computed from."""
    before, values = array[at], []
    for sign in (1, -1):
        array[at] = before + sign * step
        values.append(float(value()))
    array[at] = before
    return (values[0] - values[1]) / (2 * step)


def check_gradients(
    value: Callable[[], float], pairs: Iterable[tuple[Any, Any]], *, atol: float, step: float = 1e-5, every: int = 1
) -> None:
    """Compare gradients with slopes.

    pairs (Iterable[tuple[np.ndarray, np.ndarray]]): Arrays that the value is computed from, each with its gradient.
    every (int): Distance of the places that are compared: 3 for every third.
    """
    for array, gradient in pairs:
        assert gradient.shape == array.shape and gradient.dtype == array.dtype
        for at in list(np.ndindex(array.shape))[::every]:
            assert slope(value, array, at, step) == pytest.approx(float(gradient[at]), abs=atol)
