"""Times programs side by side. Each round runs all of them, so other work on the machine slows all alike."""

from __future__ import annotations

import gc
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from statistics import median
from typing import Any


@dataclass(frozen=True)
class Times:
    """Seconds of each run of a program.

    cpu (tuple[float, ...]): CPU time of the process, all threads.
    wall (tuple[float, ...]): Time by the clock.
    """

    cpu: tuple[float, ...]
    wall: tuple[float, ...]

    @property
    def best(self) -> float:
        """CPU seconds of the fastest run."""
        return min(self.cpu)

    @property
    def best_wall(self) -> float:
        """Wall seconds of the fastest run."""
        return min(self.wall)

    def over(self, other: Times) -> float:
        """The fastest run over the fastest one of another program, in CPU time."""
        return self.best / other.best

    def median_over(self, other: Times) -> float:
        """The median, over the rounds, of a run over that of another program in the same round, in CPU time."""
        return median(a / b for a, b in zip(self.cpu, other.cpu, strict=True))

    def figures(self, digits: int = 4) -> dict[str, float]:
        """Both times of the fastest runs, for a result file."""
        return {"cpu_seconds": round(self.best, digits), "wall_seconds": round(self.best_wall, digits)}


def seconds_of(run: Callable[[], Any]) -> tuple[float, float]:
    """Run a program of this process; return its CPU and wall seconds."""
    cpu, wall = time.process_time(), time.perf_counter()
    run()
    return time.process_time() - cpu, time.perf_counter() - wall


def in_turn(
    runs: Mapping[str, Callable[[], Any]],
    repeats: int,
    measure: Callable[[Callable[[], Any]], tuple[float, float]] = seconds_of,
) -> dict[str, Times]:
    """Time programs in turn, A B A B, after one run of each to warm up.

    runs (Mapping[str, Callable[[], Any]]): The programs by name.
    repeats (int): Rounds.
    measure (Callable): Runs a program and returns its CPU and wall seconds.
    RETURNS (dict[str, Times]): The times of each.
    """
    for run in runs.values():
        run()
    gc.collect()
    gc.freeze()  # the garbage collector does not look through what is loaded
    rounds: dict[str, list[tuple[float, float]]] = {name: [] for name in runs}
    for _ in range(max(1, repeats)):
        for name, run in runs.items():
            rounds[name].append(measure(run))
    gc.unfreeze()
    return {name: Times(*zip(*seconds, strict=True)) for name, seconds in rounds.items()}


def timed(run: Callable[[], Any], repeats: int) -> Times:
    """Time one program, which has nothing to stand beside."""
    return in_turn({"": run}, repeats)[""]
