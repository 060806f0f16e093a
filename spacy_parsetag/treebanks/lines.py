"""Reads the lines of text files: decodes them, and says what cannot be decoded."""

import io
import re
from collections.abc import Iterator
from contextlib import ExitStack
from itertools import count
from pathlib import Path
from typing import NamedTuple, TextIO

from ..errors import Errors, TreebankError
from ..files.read import is_wide, likely_encoding, open_binary, suffix_of, why_misread

# Bytes that the encoding does not have come as lone surrogates U+DC00 + byte, which no valid text contains.
_UNDECODABLE = re.compile("[\ud800-\udfff]+")
# Byte order marks of other encodings, as undecodable bytes and as Latin 1.
_FOREIGN_MARK = re.compile("[\udcffÿ][\udcfeþ](?:\0\0)?|(?:\0\0)?[\udcfeþ][\udcffÿ]|ï»¿")
_MARKS = {
    "ff fe": "utf-16",
    "fe ff": "utf-16",
    "ff fe 00 00": "utf-32",
    "00 00 fe ff": "utf-32",
    "ef bb bf": "utf-8",
}


class Line(NamedTuple):
    """Holds a line of a file: its number, from 1, and its text with the line break."""

    number: int
    text: str


def read_file_lines(source: str | Path | TextIO, encoding: str, path: str) -> Iterator[Line]:
    """Read a file's lines, or a stream's. Line breaks of all kinds are read; byte order marks are left out.

    Where decoding cannot go on, the last line holds only the bytes that stopped it, as lone surrogates.

    source (str | Path | TextIO): Path of a file, compressed or not, or a stream of text, which is not closed.
    encoding (str): Encoding of a file. A stream has its own.
    RAISES (TreebankError): If the file is not in this encoding from the start.
    RAISES (ValueError): If there is no such encoding, by its name the file holds docs or a table, or a stream gives
        bytes.
    """
    with ExitStack() as stack:
        if isinstance(source, (str, Path)):
            if suffix_of(Path(source)) in (".spacy", ".parquet", ".jsonl"):
                raise ValueError(Errors.E125.format(path=path))
            file = stack.enter_context(open_binary(Path(source)))
            try:
                source = io.TextIOWrapper(file, encoding, "surrogateescape")
            except LookupError as err:
                raise ValueError(Errors.E101.format(encoding=encoding)) from err
            stack.callback(_detach, source)  # or standard input would be closed with it
        for number in count(1):
            try:
                text = source.readline()
            except UnicodeDecodeError as err:
                # Only streams that others opened, and codecs that know no error handlers, come here.
                yield Line(number, _as_surrogates(err.object[err.start : err.end]))
                return
            except UnicodeError as err:
                raise TreebankError(path, number, why_misread(err, encoding)) from err
            if not text:
                return
            if number == 1 and isinstance(text, bytes):
                raise ValueError(Errors.E127.format(path=path))
            if number == 1 and (mark := _FOREIGN_MARK.match(text)):
                yield Line(number, _as_surrogates(bytes(ord(char) & 0xFF for char in mark.group())))
                return
            # A mark inside a file comes from files joined without removing it.
            yield Line(number, text.removeprefix("\ufeff"))


def _detach(wrapper: io.TextIOWrapper) -> None:
    if not wrapper.closed:  # as where Python collects what an error left behind, in any order
        wrapper.detach()


def undecodable(text: str, encoding: str, around: str = "") -> str:
    """Say what is wrong with a text that has NUL, or bytes that are not valid in the encoding of its file; else empty.

    around (str): The text that it stands in, whose start says more about the encoding.
    """
    if "\0" in text:
        sample = around[:1000]
        return Errors.E118.format(hint=likely_encoding(sample) if is_wide(sample) else "utf-16-le")
    match = _UNDECODABLE.search(text)
    if match is None:
        return ""
    data = " ".join(f"{ord(char) & 0xFF:02x}" for char in match.group()[:8])
    hint = _MARKS.get(data) or (likely_encoding(text) if encoding == "utf-8" else "latin-1")
    return Errors.E113.format(data=data, encoding=encoding, hint=hint)


def _as_surrogates(data: bytes) -> str:
    return "".join(chr(0xDC00 + byte) for byte in data)
