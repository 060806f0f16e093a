"""Guess the encoding of a treebank's file: UTF-8 if it is that, else the one that its language was written in."""

import codecs
from pathlib import Path

# SPMRL's languages, by what stands in their files' names (train.French.gold.ptb).
OLD_ENCODINGS = {
    "arabic": "cp1256",
    "hebrew": "cp1255",
    "hungarian": "iso8859-2",
    "korean": "cp949",
    "polish": "iso8859-2",
}


def guess_encoding(path: Path, otherwise: str = "latin-1") -> str:
    """Read a file through to see whether it is UTF-8.

    path (Path): The file.
    otherwise (str): The encoding if it is not.
    RETURNS (str): The encoding: UTF-16 if there is its byte order mark, UTF-8 if all bytes are that, else the other.
    """
    decoder = codecs.getincrementaldecoder("utf-8")()
    with path.open("rb") as file:
        if file.read(2) in (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE):
            return "utf-16"
        file.seek(0)
        try:
            while data := file.read(1 << 20):
                decoder.decode(data)
            decoder.decode(b"", final=True)
        except UnicodeDecodeError:
            return otherwise
    return "utf-8"


def guess_spmrl(path: Path) -> str:
    """The encoding of one of SPMRL's files."""
    name = path.name.lower()
    return guess_encoding(path, next((old for language, old in OLD_ENCODINGS.items() if language in name), "latin-1"))


def guess_ctb(path: Path) -> str:
    """The encoding of one of the Chinese Treebank's files: GB 18030 contains GB 2312 and GBK."""
    return guess_encoding(path, "gb18030")
