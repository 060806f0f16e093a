"""Do two parsers differ? Differences in F with a paired bootstrap and with approximate randomization.

Both resample EVALB's counts by units, sentences or documents, and compute F over all units each time. Efron and
Tibshirani (1993), chapter 13, has the percentile interval; Berg-Kirkpatrick, Burkett and Klein (2012) the bootstrap's
p; Noreen (1989) approximate randomization, which Bikel's comparator does for EVALB.
"""

from collections.abc import Hashable, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..errors import Errors
from .counts import SentenceCounts

N_SAMPLES = 10_000
_CHUNK = 1 << 22  # random numbers drawn at a time


@dataclass(frozen=True)
class Difference:
    """Difference in F of two parsers, in percent. Sentences without a usable parse count as zero.

    first, second (float): F of each.
    difference (float): The second's less the first's.
    low, high (float): The interval of the difference.
    level (float): How often such an interval holds the true difference.
    p_bootstrap (float): The share of samples whose difference is as far from the observed one as the observed one is
        from 0; at least 2^(1 - units that differ), the least that exchanges of signs can give.
    p_randomization (float): The share of random exchanges that make a difference as large, two-sided.
    units (int): Sentences, or documents.
    samples (int): Samples, and exchanges.
    """

    first: float
    second: float
    difference: float
    low: float
    high: float
    level: float
    p_bootstrap: float
    p_randomization: float
    units: int
    samples: int

    def to_dict(self) -> dict[str, Any]:
        """The same, ready for JSON."""
        return asdict(self)


def compare_parsers(
    first: Sequence[SentenceCounts],
    second: Sequence[SentenceCounts],
    *,
    documents: Sequence[Hashable] | None = None,
    samples: int = N_SAMPLES,
    level: float = 0.95,
    seed: int = 0,
) -> Difference:
    """Compare two parsers on the same sentences.

    first, second (Sequence[SentenceCounts]): The rows of `evalb` for each, over the same gold trees.
    documents (Sequence[Hashable] | None): The document of each sentence. Then documents are resampled: sentences of one
        document are alike, and an interval that takes them for independent is too narrow. A single document, like a
        single sentence, says nothing: the interval is then -100 to 100, and p is 1.
    samples (int): How many samples to draw, and exchanges to make.
    level (float): How often the interval is to hold the true difference, between 0 and 1.
    seed (int): Seed of samples and exchanges: the same seed, the same result.
    RAISES (ValueError): If the numbers of sentences differ, or there are none; if `samples` is below 1, or `level` is
        not between 0 and 1.
    """
    if samples < 1 or not 0 < level < 1:
        raise ValueError(Errors.E357.format(samples=samples, level=level))
    n_documents = len(first) if documents is None else len(documents)
    if not len(first) == len(second) == n_documents or not first:
        raise ValueError(Errors.E356.format(first=len(first), second=len(second), documents=n_documents))
    pairs = ((a.as_missed(), b.as_missed()) for a, b in zip(first, second, strict=True))
    counts = np.array([[n for row in pair for n in (row.matched, row.gold, row.test)] for pair in pairs], np.float64)
    if documents is not None:
        numbers: dict[Hashable, int] = {}
        units = np.array([numbers.setdefault(document, len(numbers)) for document in documents])
        counts = np.stack([np.bincount(units, column) for column in counts.T], axis=1)
    n_units = len(counts)
    rng = np.random.default_rng(seed)
    total = counts.sum(0)
    f_first, f_second = (float(_f(total[None, i : i + 3])[0]) for i in (0, 3))
    difference = f_second - f_first
    changes = counts[:, 3:] - counts[:, :3]
    drawn, exchanged = [], []
    chunk = max(1, _CHUNK // n_units)
    for size in (min(chunk, samples - start) for start in range(0, samples, chunk)):
        sums = rng.multinomial(n_units, np.full(n_units, 1 / n_units), size) @ counts
        drawn.append(_f(sums[:, 3:]) - _f(sums[:, :3]))
        swapped = rng.integers(0, 2, (size, n_units), np.int8) @ changes
        exchanged.append(_f(total[3:] - swapped) - _f(total[:3] + swapped))
    bootstrap, randomization = np.concatenate(drawn), np.concatenate(exchanged)
    tail = 100 * (1 - level) / 2
    low, high = np.percentile(bootstrap, [tail, 100 - tail]).tolist()
    # Both counts are raised by 1: the observed sample could have been drawn, too.
    p_bootstrap, p_randomization = (
        float((1 + np.sum(np.abs(values) >= abs(difference) - 1e-9)) / (samples + 1))
        for values in (bootstrap - difference, randomization)
    )
    # If few units differ, all in one direction, hardly any sample has a difference of 0. Signs give the least p.
    n_changed = int(changes.any(axis=1).sum())
    p_bootstrap = max(p_bootstrap, min(1.0, 2.0 ** (1 - n_changed)))
    if n_units == 1:  # samples of it cannot differ: nothing is known
        low, high, p_bootstrap, p_randomization = -100.0, 100.0, 1.0, 1.0
    return Difference(f_first, f_second, difference, low, high, level, p_bootstrap, p_randomization, n_units, samples)


def _f(sums: NDArray[np.float64]) -> NDArray[np.float64]:
    """F in percent of rows of matched, gold and test brackets."""
    matched, brackets = sums[:, 0], sums[:, 1] + sums[:, 2]
    return np.divide(200 * matched, brackets, out=np.zeros(len(sums)), where=brackets > 0)
