"""Lines of a bracket file, with what cannot be decoded marked, so that the reader can name the tree it damages."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple, TextIO

from ..errors import Errors
from .penn_errors import UndecodableBytes

# A line longer than this is handed on in pieces, so that memory stays bounded when a file has no line breaks.
MAX_PIECE = 1 << 17
# Bytes that the encoding does not have come as lone surrogates U+DC00 + byte, which no valid text contains.
UNDECODABLE = re.compile("[\ud800-\udfff]+")
_SEPARATOR = re.compile("[ \t\r\n\f\v()](?=[^ \t\r\n\f\v()]*$)")
# Byte order marks of other encodings, as they look when they are undecodable, and when they are read as latin-1.
_FOREIGN_MARKS = (
    ("\udcff\udcfe", "ff fe", "utf-16"),
    ("\udcfe\udcff", "fe ff", "utf-16"),
    ("ÿþ", "ff fe", "utf-16"),
    ("þÿ", "fe ff", "utf-16"),
    ("ï»¿", "ef bb bf", "utf-8"),
)


class Line(NamedTuple):
    """A line, or a piece of a long one: number from 1, the text, whether it is the line's beginning."""

    number: int
    text: str
    fresh: bool


def undecodable_bytes(text: str) -> str:
    """The first undecodable bytes in a text, in hexadecimal, for a message."""
    found = UNDECODABLE.search(text)
    marks = found.group() if found else ""
    return " ".join(f"{ord(mark) & 0xFF:02x}" for mark in marks[:8])


def source_name(source: str | Path | TextIO) -> str:
    """How a source is called in messages."""
    if isinstance(source, (str, Path)):
        return str(source)
    return str(getattr(source, "name", "<stream>"))


def read_lines(source: str | Path | TextIO, encoding: str, path: str) -> Iterator[Line]:
    """Read a file's lines, or a stream's.

    source (str | Path | TextIO): Path, or a stream of text, which is not closed.
    encoding (str): Encoding of a file. A stream has its own.
    path (str): Name for messages.
    YIELDS (Line): The lines, without a byte order mark. Line breaks of all kinds are read.
    RAISES (UndecodableBytes): If decoding cannot go on.
    RAISES (ValueError): If there is no such encoding.
    """
    if isinstance(source, (str, Path)):
        try:
            file = open(source, encoding=encoding, errors="surrogateescape")  # noqa: SIM115 (closed below)
        except LookupError as err:
            raise ValueError(Errors.E011.format(encoding=encoding)) from err
        with file:
            yield from _pieces(file, encoding, path)
    else:
        yield from _pieces(source, getattr(source, "encoding", None) or encoding, path)


def _pieces(stream: TextIO, encoding: str, path: str) -> Iterator[Line]:
    number = 1
    rest = ""
    fresh = True
    while True:
        try:
            text = stream.readline(MAX_PIECE)
        except UnicodeError as err:
            # Only streams that others opened, and codecs that know no error handlers, come here.
            data = err.object[err.start : err.end].hex(" ") if isinstance(err, UnicodeDecodeError) else "here"
            raise UndecodableBytes.at(path, number, number, data=data, encoding=encoding, hint="latin-1") from err
        if not text:
            break
        if fresh and not rest:
            if number == 1:
                for mark, data, hint in _FOREIGN_MARKS:
                    if text.startswith(mark):
                        raise UndecodableBytes.at(path, 1, 1, data=data, encoding=encoding, hint=hint)
            # A mark inside a file comes from files joined without removing it.
            text = text.removeprefix("\ufeff")
        ended = text.endswith("\n")
        text = rest + text
        rest = ""
        if not ended:
            # A piece ends after a separator, so that no word is cut in two.
            found = _SEPARATOR.search(text)
            cut = found.end() if found else len(text) if len(text) > 8 * MAX_PIECE else 0
            text, rest = text[:cut], text[cut:]
        if text or ended:
            yield Line(number, text, fresh)
            fresh = ended
        if ended:
            number += 1
    if rest:
        yield Line(number, rest, fresh)
