"""Opens files that may be compressed."""

import bz2
import gzip
import lzma
import sys
import zlib
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import IO, Any

from ..errors import Errors
from .write import STANDARD

OPENERS: dict[str, Any] = {".gz": gzip.open, ".bz2": bz2.open, ".xz": lzma.open}


def without_compression(path: Path) -> Path:
    """Take the suffix of a compressed file away: news.jsonl of news.jsonl.gz."""
    return path.with_suffix("") if path.suffix.lower() in OPENERS else path


def suffix_of(path: Path) -> str:
    """Find the suffix that says what a file holds, in lower case: ".jsonl" of news.jsonl.gz."""
    return without_compression(path).suffix.lower()


@contextmanager
def open_binary(path: Path) -> Iterator[IO[bytes]]:
    """Open a file, or standard input for "-", and decompress it if its name ends in .gz, .bz2 or .xz.

    RAISES (ValueError): If what is read cannot be decompressed.
    """
    with ExitStack() as stack:
        opener = OPENERS.get(path.suffix.lower(), open)
        file: IO[bytes] = sys.stdin.buffer if path == STANDARD else stack.enter_context(opener(path, "rb"))
        try:
            yield file
        except (EOFError, lzma.LZMAError, zlib.error, OSError) as err:
            if isinstance(err, OSError) and err.errno is not None:  # the file, not what is in it
                raise
            raise ValueError(Errors.E033.format(path=path, reason=err)) from err
