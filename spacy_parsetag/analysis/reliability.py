"""Reliability of probabilities: of what is 90 % probable, is 90 % right?"""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

N_BINS = 10  # ranges from 0 to 1


class Reliability(NamedTuple):
    """Probabilities against the share that is right.

    n (int): How many probabilities there are.
    ece (float): Expected calibration error: the mean difference between probability and the share that is right,
        over ranges of equal width, weighted by the number of probabilities in each (Guo et al. 2017).
    chance (float): The mean ECE that chance alone would give these probabilities if they held exactly.
    ece_sweep (float): The same error by an estimator that chance affects less (Roelofs et al. 2022): ranges hold equal
        numbers of probabilities, and grow in number until the share that is right would fall from one to the next.
    confidence (float): The mean of the probabilities.
    accuracy (float): The share that is right.
    bins (list[dict[str, Any]]): The ranges that have anything in them, from low to high: "n", "confidence", "accuracy".
    """

    n: int
    ece: float
    chance: float
    ece_sweep: float
    confidence: float
    accuracy: float
    bins: list[dict[str, Any]]

    def to_dict(self) -> dict[str, Any]:
        """As JSON takes it."""
        return self._asdict()


def measure_reliability(probs: Sequence[float], right: Sequence[bool]) -> Reliability:
    """Compare probabilities with what is right.

    >>> measure_reliability([0.5, 0.5, 1.0, 1.0], [True, False, True, True]).ece
    0.0
    """
    p, truth = np.asarray(probs, dtype=np.float64), np.asarray(right, dtype=np.float64)
    n, bin_ids = max(len(p), 1), _bins_of(p)
    rng = np.random.default_rng(0)
    chance = float(np.mean([plain_error(p, rng.random(len(p)) < p) for _ in range(100)]))
    counts = np.bincount(bin_ids, minlength=N_BINS)
    used = counts > 0
    means = (np.bincount(bin_ids, values, N_BINS)[used] / counts[used] for values in (p, truth))
    rows = zip(counts[used].tolist(), *(mean.tolist() for mean in means), strict=True)
    bins = [{"n": count, "confidence": mean, "accuracy": share} for count, mean, share in rows]
    errors = plain_error(p, truth), chance, sweep_error(p, truth)
    return Reliability(len(p), *errors, float(p.sum() / n), float(truth.sum() / n), bins)


def plain_error(probs: NDArray[Any], right: NDArray[Any]) -> float:
    """`Reliability.ece`."""
    return float(np.abs(np.bincount(_bins_of(probs), probs - right, N_BINS)).sum() / max(len(probs), 1))


def sweep_error(probs: NDArray[Any], right: NDArray[Any]) -> float:
    """`Reliability.ece_sweep`, of Roelofs et al. (2022), "Mitigating Bias in Calibration Error Estimation"."""
    if len(np.unique(right)) == 1:  # then any bins will do, and the finest have one probability each
        return float(np.abs(probs - right).mean())
    order, n = np.argsort(probs, kind="stable"), len(probs)
    expected, true = (np.concatenate([[0.0], np.cumsum(values[order])]) for values in (probs, right))
    error = 0.0
    for n_bins in range(1, n + 1):
        edges = np.arange(n_bins + 1) * n // n_bins
        if np.any(np.diff(np.diff(true[edges]) / np.diff(edges)) < 0):
            break
        error = float(np.abs(np.diff(expected[edges]) - np.diff(true[edges])).sum() / n)
    return error


def _bins_of(probs: NDArray[Any]) -> NDArray[np.int64]:
    return np.minimum((probs * N_BINS).astype(np.int64), N_BINS - 1)
