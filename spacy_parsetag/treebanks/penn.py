"""Penn brackets: read as a stream, and write.

    >>> from spacy_parsetag.treebanks.penn import format_tree, read_string
    >>> [format_tree(tree) for tree in read_string("( (S (NP (PRP She)) (VP (VBZ reads))) )")]
    ['( (S (NP (PRP She)) (VP (VBZ reads))))']

Trees may run over several lines or stand several to a line, under a root label (`(TOP ...)`) or none (`( (S ...))`).
Each malformation is an exception class of its own, with file and line: see `penn_errors`.
"""

import io
from collections.abc import Iterator
from pathlib import Path
from typing import TextIO

from ..trees.tree import Tree
from .lines import read_lines, source_name
from .penn_errors import (
    EmptyLabel,
    EmptyNode,
    EmptyTree,
    ExtraBracket,
    MissingTag,
    NulByte,
    OversizedTree,
    PennError,
    StrayText,
    UnclosedTree,
    UndecodableBytes,
    UnterminatedTree,
)
from .reader import BracketReader, OnError
from .write import format_tree, write_trees

__all__ = [
    "EmptyLabel",
    "EmptyNode",
    "EmptyTree",
    "ExtraBracket",
    "MissingTag",
    "NulByte",
    "OversizedTree",
    "PennError",
    "StrayText",
    "UnclosedTree",
    "UndecodableBytes",
    "UnterminatedTree",
    "format_tree",
    "read_string",
    "read_trees",
    "write_trees",
]


def read_trees(
    source: str | Path | TextIO,
    *,
    encoding: str = "utf-8",
    on_error: OnError | None = None,
    default_tag: str | None = None,
) -> Iterator[Tree]:
    """Read the trees of a bracket file, one at a time.

    Words and labels become text: `-LRB-` is `(`. An empty file has no trees,
    which is no error. A whole tree without words, `(())`, is the malformation `EmptyTree`.

    source (Union[str, Path, TextIO]): Path of a file, or a stream of text, which is not closed.
    encoding (str): Encoding of the file, for instance "latin-1". A byte order mark is left out.
    on_error (Optional[Callable[[TreebankError], None]]): Called with each malformation; reading then goes on with the
        next tree. Without it, the first malformation is raised, after the trees that are whole beyond doubt.
    default_tag (Optional[str]): Part-of-speech tag for words that have none: `(NP the (NN dog))`.
    YIELDS (Tree): The trees, in order.
    RAISES (TreebankError): The malformation's subclass, with file and line.
    RAISES (ValueError): If there is no such encoding.
    """
    path = source_name(source)
    return iter(BracketReader(read_lines(source, encoding, path), path, encoding, on_error, default_tag))


def read_string(
    text: str,
    name: str = "<string>",
    *,
    on_error: OnError | None = None,
    default_tag: str | None = None,
) -> list[Tree]:
    """Read the trees in a string.

    text (str): Brackets.
    name (str): What messages call it.
    on_error (Optional[Callable[[TreebankError], None]]): As in `read_trees`.
    default_tag (Optional[str]): As in `read_trees`.
    RETURNS (list[Tree]): The trees.
    RAISES (TreebankError): The malformation's subclass, with the line.
    """
    lines = read_lines(io.StringIO(text, newline=None), "utf-8", name)
    return list(BracketReader(lines, name, "utf-8", on_error, default_tag))
