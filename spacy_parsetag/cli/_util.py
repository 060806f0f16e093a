"""What the commands share: errors without traceback, progress, output that appears whole or not at all.

spaCy loads every plugin's commands whenever `python -m spacy` runs, so modules of this folder import little, and
commands import what they need when they run.
"""

import os
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, TYPE_CHECKING, NoReturn, TypeVar

import typer

if TYPE_CHECKING:
    from ..errors import TreebankError

ItemT = TypeVar("ItemT")
STANDARD = Path("-")


_KINDS = {
    "info": ("ℹ", typer.colors.BLUE),
    "good": ("✔", typer.colors.GREEN),
    "warn": ("⚠", typer.colors.YELLOW),
    "fail": ("✘", typer.colors.RED),
}


def note(text: str, kind: str = "info") -> None:
    """Tell the user something, on the standard error stream, so that data can be piped from the other.

    Like wasabi's messages, but a line stays a line, so that `file:line: reason` can be found by programs.

    text (str): The message.
    kind (str): "info", "good", "warn" or "fail".
    """
    icon, color = _KINDS[kind]
    typer.secho(f"{icon} {text}", fg=color, err=True)


def fail(text: str) -> NoReturn:
    """State what is wrong, and exit with code 1."""
    note(text, "fail")
    raise typer.Exit(1)


@contextmanager
def stated_errors() -> Iterator[None]:
    """Turn what users can cause into a message and exit code 1: bad data, missing files, missing packages."""
    try:
        yield
    except BrokenPipeError:
        # The reader of our output, such as `head`, has seen enough. Python would complain when it flushes at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        raise typer.Exit(1) from None
    except (ValueError, OSError, ImportError) as err:
        fail(str(err))


@contextmanager
def counting(unit: str) -> Iterator[Callable[[Iterable[ItemT]], Iterator[ItemT]]]:
    """Show on a terminal how many items have gone by, and nothing where the error stream goes elsewhere.

    unit (str): What the items are.
    YIELDS (Callable[[Iterable], Iterator]): Passes items through and counts them. It can be called many times.
    """
    from tqdm import tqdm

    with tqdm(unit=f" {unit}", disable=None, unit_scale=False) as bar:

        def count(items: Iterable[ItemT]) -> Iterator[ItemT]:
            for item in items:
                bar.update()
                yield item

        yield count


class Skipped:
    """Lists malformed trees as they come up, and counts them."""

    def __init__(self) -> None:
        self.n = 0

    def __call__(self, error: "TreebankError") -> None:
        self.n += 1
        typer.echo(f"skipped {error}", err=True)

    def summarize(self) -> None:
        """State the number, if there is any."""
        if self.n:
            note(f"Skipped {self.n:,} malformed {'tree' if self.n == 1 else 'trees'} (listed above)", "warn")


@contextmanager
def text_output(path: Path) -> Iterator[IO[str]]:
    """Open a text file to write, which appears whole or not at all, or the standard output stream for "-"."""
    if path == STANDARD:
        yield sys.stdout
        sys.stdout.flush()
        return
    from ..treebanks.atomic import atomic_path

    path.parent.mkdir(parents=True, exist_ok=True)
    with atomic_path(path) as temporary, temporary.open("w", encoding="utf-8", newline="\n") as file:
        yield file
