"""The paper's schedule: warm up, halve the learning rate when the score fails to improve, stop after three in a row.

spaCy 3.8 does not tell a schedule how training goes. So the logger, which hears of each evaluation, tells it:

    [training]
    eval_frequency = 311                   steps of a quarter of an epoch
    patience = 933                         three of them, so that the third decay in a row ends training
    max_epochs = 20

    [training.logger]
    @loggers = "spacy-parsetag.PlateauLogger.v1"

    [training.optimizer.learn_rate]
    @schedules = "spacy-parsetag.Plateau.v1"
    initial_rate = 0.00003

Every schedule of the process is told, for the one that the optimizer holds cannot be found: spaCy makes several from
one config. The rate changes one step after the evaluation. spaCy itself keeps the best model.
"""

import sys
from collections.abc import Callable
from typing import IO, Any
from weakref import WeakSet

from spacy import util
from spacy.language import Language
from spacy.util import registry

from ..errors import Errors

_schedules: "WeakSet[Plateau]" = WeakSet()


class Plateau:
    """Learning rates, one a step: spacy-parsetag.Plateau.v1.

    The rate rises evenly over the warm-up and then stays, until `patience` checks in a row do not beat the best score
    so far: then it is multiplied by `factor`.

    initial_rate (float): The rate after warm-up.
    warmup_steps (int): Steps of warm-up. Checks during warm-up set the best score and lower nothing.
    factor (float): What the rate is multiplied with.
    patience (int): Checks in a row without a new best score that lower the rate; the count then starts anew.
    """

    def __init__(self, initial_rate: float, warmup_steps: int = 160, factor: float = 0.5, patience: int = 1) -> None:
        if not (initial_rate > 0 and warmup_steps >= 0 and 0 < factor < 1 and patience >= 1):
            raise ValueError(Errors.E160)
        self.rate = initial_rate
        self.warmup_steps = warmup_steps
        self.factor = factor
        self.patience = patience
        self.step = 0  # rates given out; the optimizer holds one for the update to come
        self.decays = 0
        self.best: float | None = None
        self.failures = 0
        _schedules.add(self)

    def __iter__(self) -> "Plateau":
        return self

    def __next__(self) -> float:
        """The rate of the next step."""
        warmth = min(1.0, (self.step + 1) / self.warmup_steps) if self.warmup_steps else 1.0
        self.step += 1
        return self.rate * warmth

    def observe(self, score: float) -> bool:
        """Hear the score of a check.

        score (float): The score on the development set.
        RETURNS (bool): Whether the rate was lowered.
        """
        if self.best is None or score > self.best:
            self.best, self.failures = score, 0
            return False
        if self.step - 1 <= self.warmup_steps:
            return False
        self.failures += 1
        if self.failures < self.patience:
            return False
        self.rate *= self.factor
        self.decays += 1
        self.failures = 0
        return True


def observe(score: float) -> None:
    """Tell all schedules the score of a check."""
    for schedule in list(_schedules):
        if schedule.observe(score):
            util.logger.info("Learning rate after warm-up lowered to %g", schedule.rate)


SetupLogger = Callable[[Language, IO, IO], tuple[Callable[[dict[str, Any] | None], None], Callable[[], None]]]


def make_plateau_logger(logger: SetupLogger | None = None) -> SetupLogger:
    """spacy-parsetag.PlateauLogger.v1: tells the schedules the score of each evaluation, and logs as another.

    logger (Optional[Callable]): The other logger; None for spaCy's console logger.
    RETURNS (Callable): What spaCy calls when training starts.
    """
    inner = registry.loggers.get("spacy.ConsoleLogger.v1")() if logger is None else logger

    def setup(nlp: Language, stdout: IO = sys.stdout, stderr: IO = sys.stderr) -> Any:
        log_inner, finalize = inner(nlp, stdout, stderr)

        def log_step(info: dict[str, Any] | None) -> None:
            if info is not None:
                observe(info["score"])
            log_inner(info)

        return log_step, finalize

    return setup
