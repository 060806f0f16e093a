"""Shared by the commands: options, messages, errors without a traceback, progress, text and JSON out."""

import json
import math
import os
import re
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from datetime import timedelta
from fractions import Fraction
from pathlib import Path
from typing import Annotated, Any, Literal, TypeVar

import typer
from tqdm import tqdm
from typer import Argument as Arg, Option as Opt

from ..analysis.tables import Table, format_csv, format_text
from ..errors import Errors, shorten, showable
from ..files.write import STANDARD, text_output

ItemT = TypeVar("ItemT")
LOG_SECONDS = 60.0  # between lines of progress where there is no terminal
LONGEST_MESSAGE = 2000  # characters; a message may quote a word, and a damaged file has words of any length

AsCsv = Annotated[bool, Opt("--csv", help="Print CSV")]
AsJson = Annotated[bool, Opt("--json", "-j", help="Print JSON")]
BatchSize = Annotated[int | None, Opt("--batch-size", "-b", min=1, help="Texts per batch. Default: the pipeline's own")]
Code = Annotated[Path | None, Opt("--code", "-c", help="Python file with registered functions that the pipeline needs")]
Encoding = Annotated[str, Opt("--encoding", "-e", help="Encoding of bracket files")]
EncodingOrUtf8 = Annotated[
    str, Opt("--encoding", "-e", help="Encoding of bracket files and pipes; a file in UTF-8 is read as such")
]
# With "=", as on Windows Typer expands an argument that is a pattern, here to files of the folder of work.
Glob = Annotated[str | None, Opt("--glob", help="Which files of a folder to read, as in --glob='train*.mrg'")]
GpuId = Annotated[int, Opt("--gpu-id", "-g", min=-1, help="GPU to use, or -1 for the CPU")]
Multiline = Annotated[bool, Opt("--multiline", help="Trees run over several lines, and empty lines mean nothing")]
Params = Annotated[str, Opt("--params", "-p", help="EVALB's parameters: collins, new, spmrl, or a parameter file")]
SkipBad = Annotated[
    str,
    Opt(
        "--skip-bad",
        metavar="LIMIT",
        help="List what cannot be read or parsed and go on: at most a number (10), a share (1%), or all",
    ),
]
IdKey = Annotated[
    str, Opt("--id", metavar="KEY", help="What identifies a text: id, or a key of its meta, such as meta.genre")
]
SpansKey = Annotated[str, Opt("--spans-key", "-k", help="Key of the constituents in doc.spans")]
Output = Annotated[
    Path, Arg(metavar="OUTPUT", allow_dash=True, dir_okay=False, help="File to write, or - for standard output")
]
OrderOption = Annotated[
    Literal["in", "pre", "post"], Opt("--order", help="in (tetratags), pre (top-down) or post (bottom-up)")
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
    scripts find `file:line: reason`. The kind is "info", "good", "warn" or "fail".
    """
    icon, color = _KINDS[kind]
    typer.secho(f"{icon} {shorten(showable(text), LONGEST_MESSAGE)}", fg=color, err=True)


def counted(n: int, noun: str) -> str:
    """Write a number and a noun, given in the singular: "1 tree", "2 matches"."""
    return f"{n:,} {noun}" if n == 1 else f"{n:,} {noun}{'es' if noun.endswith('ch') else 's'}"


@contextmanager
def stated_errors() -> Iterator[None]:
    """Turn what users can cause (bad data, missing files or packages) into a message and exit code 1.

    It decorates each command. On SIGTERM it raises SystemExit, so that temporary files are removed.
    """
    sys.stdin = sys.stdin or open(os.devnull)  # noqa: SIM115  # None where it was closed: it has nothing
    in_main_thread = threading.current_thread() is threading.main_thread()
    if in_main_thread:
        previous = signal.signal(signal.SIGTERM, lambda number, frame: sys.exit(128 + number))
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


def refuse(when: object, option: object, needs: str) -> None:
    """Raise a ValueError that says what an option needs, when it lacks that."""
    if when:
        raise ValueError(Errors.E455.format(option=option, needs=needs))


def refuse_glob(glob: str | None, inputs: Iterable[str | Path]) -> None:
    """Raise a ValueError if --glob is given where all inputs are files, among which there is nothing to choose."""
    are_files = all(str(path) == str(STANDARD) or os.path.isfile(path) for path in inputs)
    refuse(glob is not None and are_files, "--glob", "a folder among the inputs")


def refuse_suffix(option: str, path: Path | None, *suffixes: str) -> None:
    """Raise a ValueError if the name of a file to write says that it holds something else. A name may have no suffix.

    suffixes (str): Those that fit.
    """
    is_other = path is not None and path.suffix and path.suffix.lower() not in suffixes
    refuse(is_other, option, f"a name that ends in {' or '.join(suffixes)}, not {path}")


def count_processes(n: int) -> int:
    """Give the number of processes that a user wants, -1 for one per core. Raises a ValueError for 0 and below -1."""
    if n == 0 or n < -1:
        raise ValueError(Errors.E464.format(n=n))
    return (os.cpu_count() or 1) if n == -1 else n


@contextmanager
def progress(
    unit: str, *, total: int | None = None, done: int = 0, quiet: bool = False
) -> Iterator[Callable[[int], object]]:
    """Yields a function to call with how many more are done. A terminal shows a bar, with the rate and, where the total
    is known, the time left. Where standard error is no terminal, it gets a line a minute.

    done (int): How many an earlier run has done. They do not count for the rate.
    """
    if quiet:
        yield lambda n: None
    elif sys.stderr.isatty():
        with tqdm(unit=f" {unit}", total=total, initial=done) as bar:
            yield bar.update
    else:
        done_before, started = done, time.monotonic()
        last_logged = started

        def log(n: int) -> None:
            nonlocal done, last_logged
            done, now = done + n, time.monotonic()
            if now - last_logged < LOG_SECONDS:
                return
            last_logged, rate = now, (done - done_before) / (now - started)
            text = f"{done:,} {unit}, {rate:,.1f} a second"
            if total is not None:
                time_left = timedelta(seconds=round((total - done) / rate))
                text = f"{done:,} of {total:,} {unit}, {rate:,.1f} a second, {time_left} left"
            note(text)

        yield log


class Skipped:
    """Lists skipped items as they come up, and raises an error when there are too many.

    limit (str): How much may be skipped: a number ("10"), a share ("1%"), or "all". With "0" the first is an error.
    RAISES (ValueError): If the limit is none of these.
    """

    def __init__(self, what: str = "malformed tree", limit: str = "0") -> None:
        match = re.fullmatch(r"(\d+)|(\d+(?:\.\d+)?)%|all", limit)
        if match is None or float(match[2] or 0) > 100:
            raise ValueError(Errors.E460.format(limit=limit))
        self.what = what
        self.limit = limit
        self.max_number = float(match[1] or "inf")
        self.max_share = Fraction(match[2] or 100) / 100  # exact: 29 of 100 are not more than 29%
        self.n = 0
        self.n_good = 0

    def count_good(self, items: Iterable[ItemT], bar: tqdm) -> Iterator[ItemT]:
        """Pass on what was not skipped, and count it, also on a progress bar."""
        for item in items:
            self.n_good += 1
            bar.update()
            yield item

    def check(self) -> None:
        """Raise a ValueError if too large a share was skipped. Call it before anything is written."""
        total = self.n + self.n_good
        if self.n > self.max_share * total:
            enough = math.ceil(Fraction(100 * self.n, total))
            raise ValueError(Errors.E456.format(n=self.n, total=total, what=self.what, limit=self.limit, enough=enough))

    def __call__(self, error: str | ValueError) -> None:
        """List an error. Raises it, or a ValueError, if it is one more than the limit."""
        if not self.max_number:
            raise error if isinstance(error, ValueError) else ValueError(error)
        self.list(error)
        if self.n > self.max_number:
            raise ValueError(Errors.E469.format(n=self.limit, what=self.what))

    def list(self, error: str | ValueError) -> None:
        """List and count an error, whatever the limit."""
        self.n += 1
        typer.echo(f"skipped {shorten(showable(str(error)), LONGEST_MESSAGE)}", err=True)

    def summarize(self) -> None:
        """Say how many, if there are any."""
        if self.n:
            note(f"Skipped {counted(self.n, self.what)} (listed above)", "warn")


def warn_of_empty(n_trees: Mapping[Path, int]) -> None:
    """Warn of files without a tree, which the output does not mention. If no file has a tree, the caller says so."""
    empty = [str(path) for path, n in n_trees.items() if not n]
    if 0 < len(empty) < len(n_trees):
        note(Errors.E106.format(inputs=", ".join(empty)), "warn")


def note_left_out(left_out: Mapping[str, int]) -> None:
    """State how many texts are left out, by the reason; "" for partial docs."""
    for why, n in left_out.items():
        if n:
            note(f"Texts left out because {why or 'only some of their constituents are known'}: {n:,}.", "warn")


def write_text(text: str, path: Path = STANDARD) -> None:
    """Write a text to a file, or to standard output, as `text_output` does."""
    with text_output(path) as file:
        file.write(text)


def format_json(data: Any) -> str:
    """Write JSON that people read."""
    return json.dumps(data, indent=2, ensure_ascii=False) + "\n"


def show(table: Table, as_csv: bool, content: Any = None) -> None:
    """Print a table for people or as CSV; or, if content is given, that as JSON."""
    if content is not None:
        write_text(format_json(content))
    else:
        write_text(format_csv([table.columns, *table.rows]) if as_csv else showable(format_text(table)))
