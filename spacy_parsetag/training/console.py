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
        max_steps: int = nlp.config.interpolate()["training"]["max_steps"]
        started_at = printed_at = time.monotonic()
        step = 0

        def log_step(info: dict[str, Any] | None) -> None:
            nonlocal step, printed_at
            log_inner(info)
            now = time.monotonic()
            if info is not None:
                printed_at = now
            elif not stderr.isatty() and now - printed_at >= EVERY:
                printed_at = now
                minutes = (now - started_at) / 60
                total, remaining = "", ""
                if max_steps:
                    total = f" of {max_steps:,}"
                    remaining = f", at most {minutes * (max_steps - step) / step:.0f} to go"
                print(f"Step {step:,}{total}: {minutes:.0f} minutes{remaining}", file=stderr, flush=True)
            step += 1

        return log_step, finalize

    return setup
