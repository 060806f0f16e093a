"""The one error of the synthetic treebank, a grammar or lexicon file that cannot be used, and the reading of lines."""

from collections.abc import Iterator
from pathlib import Path

from ..errors import Errors


class GrammarError(ValueError):
    """A mistake in a grammar or lexicon file.

    path (str): The file.
    line (int): Line of the mistake, from 1.
    reason (str): What is wrong.
    """

    def __init__(self, path: str, line: int, reason: str) -> None:
        self.path = path
        self.line = line
        self.reason = reason
        super().__init__(f"{path}:{line}: {reason}")


def read_lines(path: Path) -> Iterator[tuple[int, str]]:
    """Lines of a grammar or lexicon file, without comments (from `#`) and blank lines.

    path (Path): The file, in UTF-8.
    YIELDS (Tuple[int, str]): Line number, from 1, and the line without what trails.
    RAISES (GrammarError): A line is not UTF-8.
    """
    for number, raw in enumerate(path.read_bytes().splitlines(), start=1):
        try:
            text = raw.decode("utf-8")
        except UnicodeDecodeError as error:
            raise GrammarError(str(path), number, Errors.E278.format(byte=raw[error.start])) from error
        text = text.split("#", 1)[0].rstrip()
        if text:
            yield number, text
