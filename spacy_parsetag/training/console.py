"""A logger that says how far training is, also where there is no terminal."""

from __future__ import annotations

import sys
import time
from typing import IO, Any

from spacy.language import Language
from spacy.util import registry

from .plateau import SetupLogger

# Seconds between two lines. A check also prints one.
EVERY = 60.0


def make_progress_logger(logger: SetupLogger | None = None) -> SetupLogger:
    """spacy-parsetag.ProgressLogger.v1: logs as another, and prints the step once a minute off a terminal.

    On a terminal spaCy's progress bar shows the same.

    logger (Callable | None): The other logger; None for spaCy's console logger with its progress bar.
    """
    inner: SetupLogger = logger or registry.get("loggers", "spacy.ConsoleLogger.v3")(progress_bar="train")

    def setup(nlp: Language, stdout: IO[str] = sys.stdout, stderr: IO[str] = sys.stderr) -> Any:
        log_inner, finalize = inner(nlp, stdout, stderr)
        last: int = nlp.config.interpolate()["training"]["max_steps"]
        start = printed = time.monotonic()
        step = 0

        def log_step(info: dict[str, Any] | None) -> None:
            nonlocal step, printed
            log_inner(info)
            now = time.monotonic()
            if info is not None:
                printed = now
            elif not stderr.isatty() and now - printed >= EVERY:
                printed = now
                of, left = "", ""
                if last:
                    of, left = f" of {last:,}", f", at most {(now - start) / 60 * (last - step) / step:.0f} to go"
                print(f"Step {step:,}{of}: {(now - start) / 60:.0f} minutes{left}", file=stderr, flush=True)
            step += 1

        return log_step, finalize

    return setup
