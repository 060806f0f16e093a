"""What the commands share: messages, errors without a traceback, progress, output that appears whole or not at all."""

import io
import math
import os
import signal
import sys
import threading
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType
from typing import IO, Annotated, NoReturn, TypeVar

import typer
from tqdm import tqdm

from ..errors import Errors

ItemT = TypeVar("ItemT")
STANDARD = Path("-")
LONGEST_MESSAGE = 2000  # characters; a message may quote a word, and a damaged file has words of any length

MaxBad = Annotated[
    float,
    typer.Option(
        "--max-bad", min=0, max=1, help="With --skip-bad: the largest share of malformed trees that may be left out"
    ),
]

_KINDS = {
    "info": ("ℹ", typer.colors.BLUE),
    "good": ("✔", typer.colors.GREEN),
    "warn": ("⚠", typer.colors.YELLOW),
    "fail": ("✘", typer.colors.RED),
}


def note(text: str, kind: str = "info") -> None:
    """Tell the user something on standard error, so that standard output holds nothing but data.

    wasabi's printer writes to standard output and wraps lines. Here a message stays on its line, so that editors and
    scripts find `file:line: reason`.

    text (str): The message.
    kind (str): "info", "good", "warn" or "fail".
    """
    icon, color = _KINDS[kind]
    typer.secho(f"{icon} {shorten(text)}", fg=color, err=True)


def shorten(text: str) -> str:
    """Cut the middle out of a message that is too long to read."""
    if len(text) <= LONGEST_MESSAGE:
        return text
    half = LONGEST_MESSAGE // 2
    return f"{text[:half]} [... {len(text) - 2 * half:,} characters ...] {text[-half:]}"


def fail(text: str) -> NoReturn:
    """Say what is wrong, and exit with code 1."""
    note(text, "fail")
    raise typer.Exit(1)


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
        fail(str(err))
    finally:
        if in_main_thread:
            signal.signal(signal.SIGTERM, previous)


def _terminate(number: int, frame: FrameType | None) -> NoReturn:
    raise SystemExit(128 + number)


def progress_bar(unit: str) -> "tqdm[NoReturn]":
    """A count of items, with their rate, on a terminal. Shows nothing where standard error goes elsewhere.

    unit (str): What the items are.
    RETURNS (tqdm): The bar: call `update(n)`; it is a context manager.
    """
    return tqdm(unit=f" {unit}", disable=None)


@contextmanager
def counting(unit: str) -> Iterator[Callable[[Iterable[ItemT]], Iterator[ItemT]]]:
    """Show on a terminal how many items have gone by.

    unit (str): What the items are.
    YIELDS (Callable[[Iterable], Iterator]): Passes items through and counts them. It can be called many times.
    """
    with progress_bar(unit) as bar:

        def count(items: Iterable[ItemT]) -> Iterator[ItemT]:
            for item in items:
                bar.update()
                yield item

        yield count


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
            raise ValueError(Errors.E396.format(n=self.n, total=total, share=self.max_share, enough=enough))

    def __call__(self, error: object) -> None:
        self.n += 1
        typer.echo(f"skipped {shorten(str(error))}", err=True)

    def summarize(self) -> None:
        """Say how many, if there are any."""
        if self.n:
            note(f"Skipped {self.n:,} {self.what}{'s' * (self.n != 1)} (listed above)", "warn")


@contextmanager
def text_output(path: Path) -> Iterator[IO[str]]:
    """Open a text file to write in UTF-8, or standard output for "-". A file appears whole or not at all.

    Standard output is in UTF-8 whatever the locale, as input is. Half a surrogate pair, which a JSON file may have as
    an escape, is written as the escape it was.
    """
    from ..treebanks.atomic import atomic_path

    if path == STANDARD:
        sys.stdout.flush()
        file = io.TextIOWrapper(sys.stdout.buffer, "utf-8", "backslashreplace", newline="\n")
        try:
            yield file
        finally:
            file.detach()  # which flushes; closing would close standard output
        return
    path.parent.mkdir(parents=True, exist_ok=True)
    with (
        atomic_path(path) as temporary,
        temporary.open("w", encoding="utf-8", errors="backslashreplace", newline="\n") as file,
    ):
        yield file
