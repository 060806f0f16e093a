"""Opens files that may be compressed."""

import bz2
import gzip
import io
import lzma
import re
import sys
import zlib
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import IO, Any

from ..errors import Errors
from .write import COMPRESSED, STANDARD

OPENERS: dict[str, Any] = dict(zip(COMPRESSED, (gzip.open, bz2.open, lzma.open), strict=True))
_BEGINNINGS = dict(zip(COMPRESSED, (b"\x1f\x8b\x08", b"BZh[1-9]1AY&SY", b"\xfd7zXZ\0"), strict=True))


def without_compression(path: Path) -> Path:
    """Take the suffix of a compressed file away: news.jsonl of news.jsonl.gz."""
    return path.with_suffix("") if path.suffix.lower() in OPENERS else path


def suffix_of(path: Path) -> str:
    """Find the suffix that says what a file holds, in lower case: ".jsonl" of news.jsonl.gz."""
    return without_compression(path).suffix.lower()


def is_stream(path: Path) -> bool:
    """Tell whether a path is standard input, or a pipe such as `<(zcat trees.gz)`: what can be read once only."""
    return path == STANDARD or (path.exists() and not path.is_file() and not path.is_dir())


def likely_encoding(text: str) -> str:
    """Guess the encoding of a Western text in which each byte that is not UTF-8 became half a surrogate pair. Byte
    order marks, or zeros beside letters, show UTF-16 and UTF-32. Bytes that are control characters in Latin 1 show
    Windows-1252, where they are quotes and dashes."""
    text = text.replace("\udc00", "\0")
    if text.startswith(("\udcff\udcfe\0\0", "\0\0\udcfe\udcff")):
        return "utf-32"
    if text.startswith(("\udcff\udcfe", "\udcfe\udcff")):
        return "utf-16"
    if is_wide(text):
        name = "utf-32" if "\0\0\0" in text else "utf-16"
        return f"{name}-be" if text[0] == "\0" else f"{name}-le"
    return "cp1252" if re.search("[\udc80-\udc9f]", text) else "latin-1"


def is_wide(text: str) -> bool:
    """Tell whether a text has the many NULs of UTF-16 or UTF-32, and not one that strayed."""
    return 4 * text.count("\0") > len(text)


def why_misread(error: UnicodeError, encoding: str) -> str:
    """Write an error message that asks whether the file is in another encoding."""
    return f"{error}. --encoding is {encoding}: is it another one?"


@contextmanager
def open_binary(path: Path) -> Iterator[IO[bytes]]:
    """Open a file, or standard input for "-", and decompress it if its name ends in .gz, .bz2 or .xz, or it begins as
    such files do.

    RAISES (ValueError): If what is read cannot be decompressed.
    """
    with ExitStack() as stack:
        file: IO[bytes] = sys.stdin.buffer if path == STANDARD else stack.enter_context(path.open("rb"))
        suffix = path.suffix.lower()
        if suffix not in OPENERS and isinstance(file, io.BufferedReader):
            start = file.peek(10)
            suffix = next((suffix for suffix, bytes_ in _BEGINNINGS.items() if re.match(bytes_, start)), "")
        try:
            yield stack.enter_context(OPENERS[suffix](file)) if suffix in OPENERS else file
        except (EOFError, lzma.LZMAError, zlib.error, OSError) as err:
            # Of the file or of who reads it, not of how it is compressed.
            if suffix not in OPENERS or (isinstance(err, OSError) and err.errno is not None):
                raise
            raise ValueError(Errors.E033.format(path=path, reason=err)) from err
