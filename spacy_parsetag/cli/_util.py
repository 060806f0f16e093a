"""What the commands share: options, messages, errors without a traceback, progress, lines in and out."""

import json
import math
import os
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from datetime import timedelta
from enum import Enum
from pathlib import Path
from types import FrameType
from typing import Annotated, Any, NoReturn, TypeVar

import typer
from tqdm import tqdm
from typer import Argument as Arg
from typer import Option as Opt

from ..errors import Errors
from ..treebanks.atomic import STANDARD, text_output

ItemT = TypeVar("ItemT")
LOG_SECONDS = 60.0  # between lines of progress where there is no terminal
LONGEST_MESSAGE = 2000  # characters; a message may quote a word, and a damaged file has words of any length

AsJson = Annotated[bool, Opt("--json", "-j", help="Print JSON")]
BatchSize = Annotated[int | None, Opt("--batch-size", "-b", min=1, help="Texts per batch. Default: the pipeline's own")]
Code = Annotated[Path | None, Opt("--code", "-c", help="Python file with registered functions that the pipeline needs")]
Encoding = Annotated[str, Opt("--encoding", "-e", help="Encoding of bracket files")]
Glob = Annotated[str | None, Opt("--glob", help="Which files of a folder to read, such as 'train*.mrg'")]
GpuId = Annotated[int, Opt("--gpu-id", "-g", help="GPU to use, or -1 for the CPU")]
MaxBad = Annotated[
    float, Opt("--max-bad", min=0, max=1, help="With --skip-bad: the largest share of malformed trees to leave out")
]
Multiline = Annotated[bool, Opt("--multiline", "-m", help="Trees run over several lines, and empty lines mean nothing")]
Params = Annotated[str, Opt("--params", "-p", help="EVALB's parameters: collins, new, spmrl, or a parameter file")]
SkipBad = Annotated[
    bool, Opt("--skip-bad", help="List malformed trees and leave them out, instead of stopping at the first")
]
SpansKey = Annotated[str, Opt("--spans-key", "-k", help="Key of the constituents in doc.spans")]
Output = Annotated[
    Path, Arg(metavar="OUTPUT", allow_dash=True, dir_okay=False, help="File to write, or - for standard output")
]


class Order(str, Enum):
    inside = "in"
    pre = "pre"
    post = "post"


OrderOption = Annotated[Order, Opt("--order", "-o", help="in (tetratags), pre (top-down) or post (bottom-up)")]

_KINDS = {
    "info": ("ℹ", typer.colors.BLUE),
    "good": ("✔", typer.colors.GREEN),
    "warn": ("⚠", typer.colors.YELLOW),
    "fail": ("✘", typer.colors.RED),
}


def note(text: str, kind: str = "info") -> None:
    """Tell the user something on standard error, so that standard output holds nothing but data.

    wasabi's printer writes to standard output and wraps lines. Here a message stays on its line, so that editors and
    scripts find `file:line: reason`. The kind is "info", "good", "warn" or "fail".
    """
    icon, color = _KINDS[kind]
    typer.secho(f"{icon} {shorten(text)}", fg=color, err=True)


def shorten(text: str) -> str:
    """Cut the middle out of a message that is too long to read."""
    if len(text) <= LONGEST_MESSAGE:
        return text
    half = LONGEST_MESSAGE // 2
    return f"{text[:half]} [... {len(text) - 2 * half:,} characters ...] {text[-half:]}"


@contextmanager
def stated_errors() -> Iterator[None]:
    """Turn what users can cause (bad data, missing files or packages) into a message and exit code 1.

    SIGTERM ends the command the way an exception does, so that no temporary file stays behind.
    """
    in_main_thread = threading.current_thread() is threading.main_thread()
    previous = signal.signal(signal.SIGTERM, _terminate) if in_main_thread else None
    try:
        yield
    except BrokenPipeError:
        # The reader of our output, such as `head`, has seen enough. Python would complain when it flushes at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        raise typer.Exit(1) from None
    except (ValueError, OSError, ImportError) as err:
        note(str(err), "fail")
        raise typer.Exit(1) from err
    finally:
        if in_main_thread:
            signal.signal(signal.SIGTERM, previous)


def _terminate(number: int, frame: FrameType | None) -> NoReturn:
    raise SystemExit(128 + number)


@contextmanager
def counting(unit: str) -> Iterator[Callable[[Iterable[ItemT]], Iterator[ItemT]]]:
    """Yields a function that passes items through, and shows on a terminal how many have gone by."""
    with tqdm(unit=f" {unit}", disable=None) as bar:

        def count(items: Iterable[ItemT]) -> Iterator[ItemT]:
            for item in items:
                bar.update()
                yield item

        yield count


@contextmanager
def progress(
    unit: str, *, total: int | None = None, done: int = 0, quiet: bool = False
) -> Iterator[Callable[[int], object]]:
    """Yields a function to call with how many more are done. A terminal shows a bar, with the rate and, where the total
    is known, the time left. Where standard error is no terminal, it gets a line a minute.

    unit (str): What is counted, in the plural.
    total (int | None): How many there are, if that is known.
    done (int): How many an earlier run has done. They do not count for the rate.
    quiet (bool): Show nothing.
    """
    if quiet:
        yield lambda n: None
    elif sys.stderr.isatty():
        with tqdm(unit=f" {unit}", total=total, initial=done) as bar:
            yield bar.update
    else:
        yield _MinuteLog(unit, total, done)


class _MinuteLog:
    def __init__(self, unit: str, total: int | None, done: int) -> None:
        self.unit = unit
        self.total = total
        self.before = self.done = done
        self.begin = self.last = time.monotonic()

    def __call__(self, n: int) -> None:
        self.done += n
        now = time.monotonic()
        if now - self.last < LOG_SECONDS:
            return
        self.last = now
        rate = (self.done - self.before) / (now - self.begin)
        text = f"{self.done:,} {self.unit}, {rate:,.1f} a second"
        if self.total is not None:
            left = timedelta(seconds=round((self.total - self.done) / rate))
            text = f"{self.done:,} of {self.total:,} {self.unit}, {rate:,.1f} a second, {left} left"
        note(text)


class Skipped:
    """Lists what is skipped as it comes up, and counts it.

    what (str): What is skipped, in the singular.
    max_share (float): The largest share that may be skipped, from 0 to 1.
    """

    def __init__(self, what: str = "malformed tree", max_share: float = 1) -> None:
        self.what = what
        self.max_share = max_share
        self.n = 0
        self.n_good = 0

    def count_good(self, items: Iterable[ItemT]) -> Iterator[ItemT]:
        """Pass on what was not skipped, and count it."""
        for item in items:
            self.n_good += 1
            yield item

    def check(self) -> None:
        """Raise a ValueError if too large a share was skipped. Call it before anything is written."""
        total = self.n + self.n_good
        if self.n > self.max_share * total:
            enough = math.ceil(100 * self.n / total) / 100
            raise ValueError(Errors.E456.format(n=self.n, total=total, share=self.max_share, enough=enough))

    def __call__(self, error: object) -> None:
        self.n += 1
        typer.echo(f"skipped {shorten(str(error))}", err=True)

    def summarize(self) -> None:
        """Say how many, if there are any."""
        if self.n:
            note(f"Skipped {self.n:,} {self.what}{'s' * (self.n != 1)} (listed above)", "warn")


def write_text(text: str, path: Path = STANDARD) -> None:
    """Write a text to a file, or to standard output, as `text_output` does."""
    with text_output(path) as file:
        file.write(text)


def format_json(data: Any) -> str:
    """JSON to look at."""
    return json.dumps(data, indent=2, ensure_ascii=False) + "\n"
