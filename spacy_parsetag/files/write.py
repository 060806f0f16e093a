"""Writes files that appear whole or not at all, and that never replace what is still to be read."""

import errno
import io
import os
import re
import secrets
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import IO

from ..errors import Errors, shorten

STANDARD = Path("-")  # standard input or output
TEMPORARY = ".*.tmp"  # names of files that are being written, or were when their writers were killed
COMPRESSED = (".gz", ".bz2", ".xz")  # suffixes of compressed files, which are read and not written


@contextmanager
def atomic_path(path: str | Path, *, sync: bool = False) -> Iterator[Path]:
    """Give a temporary path in the same folder, which replaces `path` when the block ends well.

    When the block raises, or is interrupted, the temporary file is removed and what stood at `path` stays. Symbolic
    links are followed. What is not a regular file (a pipe, /dev/stdout) is written to directly.

    sync (bool): Wait until the file, under its name, is on the disk, so that it outlives a power cut.
    RAISES (OSError): If it cannot be written; the error names the file.
    """
    target = Path(os.path.realpath(path))  # of a pipe that is no place
    is_device = os.path.exists(path) and not os.path.isfile(path)
    temporary = Path(path) if is_device else target.with_name(f".{secrets.token_hex(8)}.tmp")
    try:
        yield temporary
        if is_device:
            return
        if sync:
            _sync(temporary)
        if target.exists():
            temporary.chmod(target.stat().st_mode & 0o777)
        os.replace(temporary, target)
        if sync:
            _sync(target.parent)
    except OSError as err:
        if err.errno is not None and err.filename in (None, str(temporary)):  # a full disk, a folder that is not ours
            err.filename = str(path)
        raise
    finally:
        if not is_device:
            with suppress(OSError):  # of a file that was never made; a disk that is read-only says so even then
                temporary.chmod(0o600)  # Windows keeps files that are read-only
                temporary.unlink()


@contextmanager
def atomic_folder(path: Path) -> Iterator[Path]:
    """Give the path of a folder to make, which becomes `path`, in place of what is there, when the block ends well."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with TemporaryDirectory(dir=path.parent, prefix=f".{path.name}-") as temporary:
        folder = Path(temporary, "made")
        yield folder
        before = Path(temporary, "before")
        if path.exists():
            path.rename(before)
        try:
            folder.rename(path)
        except BaseException:
            if before.exists():
                before.rename(path)
            raise


def _sync(path: Path) -> None:
    if path.is_dir() and os.name == "nt":
        return  # where folders cannot be opened
    descriptor = os.open(path, os.O_RDONLY if path.is_dir() else os.O_RDWR)  # Windows syncs no file that it only reads
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


@contextmanager
def text_output(path: Path, *, sync: bool = False) -> Iterator[IO[str]]:
    """Open a text file to write in UTF-8, or standard output for "-". A file appears whole or not at all.

    Standard output is in UTF-8 whatever the locale, as input is. Half a surrogate pair, which a JSON file may have as
    an escape, is written as the escape it was.
    """
    if path == STANDARD:
        if sys.stdout is None:  # where it was closed
            raise OSError(errno.EBADF, os.strerror(errno.EBADF), "<stdout>")
        sys.stdout.flush()
        file = io.TextIOWrapper(sys.stdout.buffer, "utf-8", "backslashreplace", newline="\n")
        try:
            yield file
        finally:
            file.detach()  # this flushes; closing would close standard output
        return
    path.parent.mkdir(parents=True, exist_ok=True)
    with (
        atomic_path(path, sync=sync) as temporary,
        temporary.open("w", encoding="utf-8", errors="backslashreplace", newline="\n") as file,
    ):
        yield file


def refuse_overwrite(outputs: Iterable[Path | None], inputs: Iterable[Path]) -> None:
    """Raise before anything is lost if a file to write is an input, lies in a folder of inputs, is written twice, or
    has the suffix of a compressed file: output is never compressed.

    outputs (Iterable[Path | None]): Files to write. None and devices are passed over; "-" may occur once.
    """
    outputs = list(outputs)
    if outputs.count(STANDARD) > 1:
        raise ValueError(Errors.E032.format(path=STANDARD))
    taken = {Path(os.path.realpath(path)) for path in inputs}
    for path in outputs:
        if path is None or str(path) == "-" or (path.exists() and not path.is_file()):
            continue
        if path.suffix.lower() in COMPRESSED:
            raise ValueError(Errors.E034.format(path=path, suffix=path.suffix))
        target = Path(os.path.realpath(path))
        # Names that differ may be those of one file: where case does not matter, or by a hard link.
        same = (other for other in taken if other.exists() and target.samefile(other))
        if target in taken or (target.exists() and (taken.intersection(target.parents) or any(same))):
            raise ValueError(Errors.E032.format(path=path))
        taken.add(target)


def refuse_other(path: Path, own: bytes) -> None:
    """Raise if a file to write exists and holds something else: a pattern of the shell's may have put an input there.

    own (bytes): A regular expression, found in the first line of whatever is written that is not empty.
    """
    if path.is_file():
        with path.open("rb") as file:
            line = next(filter(bytes.strip, file), b"").strip()
        if line and not re.search(own, line):
            raise ValueError(Errors.E036.format(path=path, text=shorten(line.decode("utf-8", "replace"), 50)))
