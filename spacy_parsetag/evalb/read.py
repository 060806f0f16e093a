"""Read bracket files for scoring, where a sentence without a parse must keep its place."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, TextIO

from ..errors import TreebankError
from ..treebanks.lines import Line, read_lines, source_name
from ..treebanks.penn_errors import EmptyTree

if TYPE_CHECKING:
    from nltk import Tree


def read_scored_trees(source: str | Path | TextIO, *, encoding: str = "utf-8") -> Iterator[Tree | None]:
    """Read trees as `evalb` takes them: None for each tree without words, `(())` or `(TOP)`.

    `read_trees` calls these malformations, and whoever skips them shifts all later sentences. Trees may run over
    several lines. Unlike in the C program empty lines mean nothing, for they also separate trees.

    source (Union[str, Path, TextIO]): Path of a file, or a stream of text.
    encoding (str): Encoding of a file.
    YIELDS (Optional[nltk.Tree]): The trees, words in file form.
    RAISES (TreebankError): At any other malformation, with file and line: a sentence that cannot be read must be
        replaced by (TOP), not left out.
    """
    path = source_name(source)
    chunk: list[Line] = []  # lines up to where all brackets are closed
    depth = 0
    for line in read_lines(source, encoding, path):
        if not chunk and not line.text.strip():
            continue
        chunk.append(line)
        depth += line.text.count("(") - line.text.count(")")
        if depth <= 0 and line.text.endswith("\n"):
            yield from _read_chunk(chunk, path, encoding)
            chunk = []
            depth = 0
    if chunk:
        yield from _read_chunk(chunk, path, encoding)


def _read_chunk(lines: list[Line], path: str, encoding: str) -> list[Tree | None]:
    from ..treebanks.reader import BracketReader

    errors: list[TreebankError] = []
    trees: list[Tree | None] = list(BracketReader(iter(lines), path, encoding, errors.append, None))
    if len(errors) == 1 and isinstance(errors[0], EmptyTree) and not trees:
        return [None]
    if errors:
        raise errors[0]
    return trees
