"""Files of trees: Penn brackets and the formats of other treebanks, read, cleaned, split and written."""

from collections.abc import Iterator
from pathlib import Path

from ..trees import Parse
from .formats.table import get_format
from .penn import read_string, read_trees, write_trees

__all__ = ["get_format", "read_parses", "read_string", "read_trees", "write_trees"]


def read_parses(path: str | Path, format: str = "penn") -> Iterator[Parse]:
    """Read the trees of a file as parses, with the usual cleaning and encoding of its format.

    format (str): The name of the format; see `get_format`.
    RAISES (ValueError): If the format is unknown. (TreebankError): If a tree is malformed, naming file and line.
    """
    return get_format(format).read_parses(Path(path))
