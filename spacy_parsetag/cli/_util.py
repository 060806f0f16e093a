"""What the commands share: options, messages, errors without a traceback, progress, lines in and out."""

import io
import json
import math
import os
import signal
import sys
import threading
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack, contextmanager
from enum import Enum
from pathlib import Path
from types import FrameType
from typing import IO, Annotated, Any, NoReturn, TypeVar

import typer
from tqdm import tqdm
from typer import Argument as Arg
from typer import Option as Opt

from ..errors import Errors

ItemT = TypeVar("ItemT")
STANDARD = Path("-")
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
Output = Annotated[
    Path, Arg(metavar="OUTPUT", allow_dash=True, dir_okay=False, help="File to write, or - for standard output")
]


class Order(str, Enum):
    inside = "in"
    pre = "pre"
    post = "post"


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


def read_lines(path: Path) -> Iterator[tuple[str, str]]:
    """Read a text file in UTF-8, or standard input for "-", whatever the locale. Lines end in LF, CR LF or CR.

    Yields file and line number, for messages, and the line, without a byte order mark. Each byte that is not UTF-8
    becomes half a surrogate pair; `check_text` names it.
    """
    name = name_of(path)
    with ExitStack() as stack:
        file: IO[bytes] = sys.stdin.buffer if path == STANDARD else stack.enter_context(path.open("rb"))
        lines = io.TextIOWrapper(file, "utf-8-sig", "surrogateescape")
        stack.callback(lines.detach)  # otherwise standard input would be closed with it
        for number, line in enumerate(lines, start=1):
            yield f"{name}:{number}", line


def name_of(path: Path) -> str:
    """How messages call an input."""
    return "<stdin>" if path == STANDARD else str(path)


def check_text(text: str) -> None:
    """Raise a ValueError that names the first character, if one is half a surrogate pair or a byte not in UTF-8."""
    try:
        text.encode()
    except UnicodeEncodeError as err:
        code = ord(text[err.start])
        what = f"the byte 0x{code - 0xDC00:02x}" if 0xDC80 <= code <= 0xDCFF else f"half a surrogate pair, U+{code:X},"
        raise ValueError(Errors.E465.format(what=what, position=err.start + 1)) from err


def load_json(line: str) -> Any:
    """Read JSON. Raises a ValueError if it is not text, not JSON, or nested too deeply.

    srsly's reader refuses integers over 64 bits, and its writer rounds floats to 10 digits and escapes all that is not
    ASCII: "meta" would not leave as it came. So the commands use Python's own.
    """
    check_text(line)
    try:
        return json.loads(line)
    except (json.JSONDecodeError, RecursionError) as err:
        reason = "it is nested too deeply" if isinstance(err, RecursionError) else err
        raise ValueError(Errors.E466.format(reason=reason)) from err


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


def write_text(text: str, path: Path = STANDARD) -> None:
    """Write a text to a file, or to standard output, as `text_output` does."""
    with text_output(path) as file:
        file.write(text)


def format_json(data: Any) -> str:
    """JSON to look at."""
    return json.dumps(data, indent=2, ensure_ascii=False) + "\n"
