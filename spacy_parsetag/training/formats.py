"""Kinds of treebank files. A new kind is a new entry of `FORMATS`; commands take its name."""

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Dict, Iterator, Optional, Protocol, Tuple

from ..errors import Errors
from ..trees.clean import HISTORICAL, CleanOptions
from ..trees.penn import read_trees

if TYPE_CHECKING:
    from nltk import Tree

    from ..trees.reader import OnError


PENN = CleanOptions()


class ReadTrees(Protocol):
    """Reads the trees of a file, one at a time; see `trees.penn.read_trees` for what is asked of it."""

    def __call__(
        self, source: Path, *, encoding: str, on_error: "Optional[OnError]", default_tag: Optional[str]
    ) -> "Iterator[Tree]": ...


@dataclass(frozen=True)
class TreebankFormat:
    """A kind of treebank files.

    read (ReadTrees): Reads a file.
    suffixes (Tuple[str, ...]): Which files of a folder to read, in lower case.
    encoding (str): The usual encoding.
    clean (CleanOptions): The usual cleaning.
    """

    read: ReadTrees
    suffixes: Tuple[str, ...]
    encoding: str = "utf-8"
    clean: CleanOptions = PENN


_PENN_SUFFIXES = (".mrg", ".ptb", ".psd", ".tree", ".trees", ".bracket", ".brackets", ".bra", ".cparse")

FORMATS: Dict[str, TreebankFormat] = {
    "penn": TreebankFormat(read_trees, _PENN_SUFFIXES),
    "historical": TreebankFormat(read_trees, _PENN_SUFFIXES, clean=HISTORICAL),
}


def get_format(name: str) -> TreebankFormat:
    """The format of a name.

    name (str): One of `FORMATS`.
    RETURNS (TreebankFormat): The format.
    RAISES (ValueError): If there is none of that name.
    """
    if name not in FORMATS:
        raise ValueError(Errors.E350.format(name=name, known=", ".join(FORMATS)))
    return FORMATS[name]
