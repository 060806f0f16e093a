"""The paper's schedule: warm up, and halve the learning rate when the score does not improve.

The paper stops after three such checks in a row, which in spaCy is up to `training.patience`.

spaCy 3.8 does not tell a schedule how training goes. So the logger, which gets the score of each check, passes it on;
`configs/transformer_paper.cfg` names both.

spaCy makes several schedules from one config, and does not say which of them the optimizer holds. But its training loop
asks the optimizer's schedule for the next rate right before it checks the model and calls the logger. So the logger
tells the score only to the schedule that last gave a rate in the logger's thread, not to a schedule of an earlier run
or of another thread. The rate changes one step after the check. spaCy itself keeps the best model.
"""

import sys
from collections.abc import Callable
from contextvars import ContextVar
from numbers import Real
from typing import IO, Any

from spacy.language import Language
from spacy.util import registry

from ..errors import Errors

LogStep = Callable[[dict[str, Any] | None], None]
SetupLogger = Callable[[Language, IO[str], IO[str]], tuple[LogStep, Callable[[], None]]]


class Plateau:
    """Learning rates, one a step: spacy-parsetag.Plateau.v1. An optimizer can have one of them.

    The rate rises evenly over the warm-up and then stays, until `patience` checks in a row do not beat the best score
    so far: then it is multiplied by `factor`.

    initial_rate (float): The rate after warm-up.
    warmup_steps (int): Steps of warm-up. Checks during warm-up set the best score and do not lower the rate.
    factor (float): What the rate is multiplied with.
    patience (int): Checks in a row without a new best score that lower the rate; the count then starts again.
    RAISES (ValueError): If a setting is out of range.
    """

    def __init__(self, initial_rate: float, warmup_steps: int = 160, factor: float = 0.5, patience: int = 1) -> None:
        are_numbers = all(isinstance(each, Real) for each in (initial_rate, warmup_steps, factor, patience))
        if not (are_numbers and initial_rate > 0 and warmup_steps >= 0 and 0 < factor < 1 and patience >= 1):
            raise ValueError(Errors.E225)
        self.rate = initial_rate
        self.warmup_steps = warmup_steps
        self.factor = factor
        self.patience = patience
        self.step = 0  # rates given out; the optimizer holds one for the update to come
        self.best: float | None = None
        self.failures = 0

    def __iter__(self) -> "Plateau":
        return self

    def __next__(self) -> float:
        """The rate of the next step."""
        _last_asked.set(self)
        warmth = min(1.0, (self.step + 1) / self.warmup_steps) if self.warmup_steps else 1.0
        self.step += 1
        return self.rate * warmth

    def observe(self, score: float) -> bool:
        """Take the score of a check on the development set; return whether the rate was lowered."""
        if self.best is None or score > self.best:
            self.best, self.failures = score, 0
        elif self.step - 1 > self.warmup_steps:
            self.failures += 1
        if self.failures < self.patience:
            return False
        self.rate *= self.factor
        self.failures = 0
        return True


_last_asked: ContextVar[Plateau | None] = ContextVar("last_asked", default=None)


def make_plateau_logger(logger: SetupLogger | None = None) -> SetupLogger:
    """spacy-parsetag.PlateauLogger.v1: tells the Plateau schedule the score of each check, and logs as another.

    logger (Callable | None): The other logger; None for spaCy's console logger.
    RETURNS (Callable): What spaCy calls when training starts. What that returns raises a ValueError at the first check
        if the optimizer has no Plateau schedule.
    """
    inner: SetupLogger = registry.get("loggers", "spacy.ConsoleLogger.v1")() if logger is None else logger

    def setup(nlp: Language, stdout: IO[str] = sys.stdout, stderr: IO[str] = sys.stderr) -> Any:
        log_inner, finalize = inner(nlp, stdout, stderr)
        _last_asked.set(None)  # that of an earlier run

        def log_step(info: dict[str, Any] | None) -> None:
            if info is not None:
                schedule = _last_asked.get()
                if schedule is None:
                    raise ValueError(Errors.E226)
                if schedule.observe(info["score"]):
                    stdout.write(f"Learning rate after warm-up lowered to {schedule.rate:g}\n")
            log_inner(info)

        return log_step, finalize

    return setup
