"""Find files of trees, and read them as columns: brackets, what `parse` writes, docs, and columns on the disk."""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import spacy
from spacy.tokens import Doc
from spacy.util import minibatch

from ..errors import Errors, TreebankError, Warnings
from ..files.find import each_once, find_files
from ..files.read import open_binary, suffix_of
from ..search import TreeColumns, read_brackets, read_rows, read_table
from ..search.columns import SUFFIX
from ..search.docs import columns_of_docs
from ..tokens.groups import SPANS_KEY, has_parses, is_marked, list_groups
from ..treebanks.formats.table import FORMATS
from .input import load_json, name_of, open_parquet, read_doc_file, read_lines
from .shards import is_unfinished

ROWS = 1 << 14  # rows or lines that become one batch of columns
NO_TREE = "they have no words, as blank lines, or could not be parsed"  # a reason to leave out a text


class TreeFile(NamedTuple):
    """Identifies a file of trees in the rows of a table.

    path (str): The input: the file itself, or columns in which it was saved.
    name (str): What the trees call it.
    """

    path: str
    name: str


def name_files(rows: Iterable[Sequence[Any]]) -> list[tuple[Any, ...]]:
    """Write each `TreeFile` of some rows as its name, after its input if files of several inputs have that name."""
    rows = list(rows)
    n_inputs = Counter(name for _, name in {cell for row in rows for cell in row if isinstance(cell, TreeFile)})

    def named(cell: Any) -> Any:
        if not isinstance(cell, TreeFile):
            return cell
        return cell.name if n_inputs[cell.name] == 1 else f"{cell.path}: {cell.name}"

    return [tuple(map(named, row)) for row in rows]


def places_of(columns: TreeColumns, path: Path, kind: str) -> Sequence[Any]:
    """List for each tree a part of its place: its "file" (a `TreeFile`), "line" or "id", or "" if it has none.

    path (Path): The input that the trees are of.
    """
    if kind == "file":
        files = [TreeFile(str(path), name) for name in columns.names]
        return [files[source] for source in columns.source.tolist()]
    return columns.line.tolist() if kind == "line" else columns.ids or [""] * len(columns)


def find_trees(inputs: Iterable[Path], glob: str | None, warn: Callable[[str], object]) -> list[Path]:
    """List the files of trees that some inputs stand for, each once. An input is a file, a folder of them
    (only those that match `glob`, if given), or "-" for standard input.

    warn (Callable[[str], object]): Told of each folder of shards that may lack some, as its run has not ended.
    """
    sources = []
    folders: set[Path] = set()
    suffixes = (*FORMATS["penn"].suffixes, ".jsonl", ".parquet", ".spacy", SUFFIX)
    for path in inputs:
        found = find_files([path], suffixes=suffixes, pattern=glob)
        folders.update(file.path.parent for file in found if file.folder is not None)
        sources += [file.path for file in found]
    for folder in sorted(filter(is_unfinished, folders)):
        warn(Warnings.W551.format(path=folder))
    return each_once(sources)


def read_columns(
    path: Path,
    encoding: str = "utf-8",
    on_error: Any = None,
    spans_key: str = SPANS_KEY,
    left_out: Counter[str] | None = None,
    id_key: str = "id",
) -> Iterator[TreeColumns]:
    """Read a file of trees batch by batch: brackets, what `parse` writes as JSON lines or Parquet, docs, or columns.

    path (Path): The file, or "-" for brackets from standard input.
    on_error (Callable[[ValueError], object] | None): Called with the error of each malformed tree in brackets, text or
        doc; without it the first one is raised.
    left_out (Counter[str] | None): Counts rows and docs that are left out, by the reason; "" for partial docs.
    id_key (str): What identifies a text: "id", or "meta.KEY" for a key of its meta.
    YIELDS (TreeColumns): Batches. Lines of Parquet and docs are rows, from 1.
    RAISES (ValueError): If the file is not of its format, or has no such key.
    """
    suffix, name = suffix_of(path), name_of(path)
    left_out = Counter() if left_out is None else left_out
    if id_key != "id" and not id_key.startswith("meta."):
        raise ValueError(Errors.E583.format(key=id_key))
    if id_key != "id" and suffix not in (".parquet", ".jsonl", ".spacy"):
        raise ValueError(Errors.E582.format(path=path, key=id_key))
    if suffix == SUFFIX:
        yield TreeColumns.from_disk(path)
    elif suffix == ".parquet":
        with open_parquet(path) as file:
            tables = file.iter_batches(batch_size=ROWS, columns=_needed_columns(file.schema, id_key))
            yield from _read_good(tables, lambda row, rows: read_table(rows, name, row, id_key), on_error, left_out)
    elif suffix == ".jsonl":
        objects = minibatch(_read_objects(path, on_error), ROWS)
        yield from _read_good(objects, lambda _, rows: read_rows(rows, name, id_key), on_error, left_out)
    elif suffix == ".spacy":

        def read_docs(number: int, docs: list[Doc]) -> TreeColumns:
            return columns_of_docs(docs, spans_key, name, number, id_key).columns

        yield from _read_good(_doc_batches(path, spans_key, left_out), read_docs, on_error, left_out)
    elif suffix == ".json":
        raise ValueError(Errors.E578.format(path=path))
    else:
        with open_binary(path) as file:
            data = file.read()
        yield from read_brackets(data, name, encoding=encoding, on_error=on_error)


def _read_good(
    batches: Iterable[Any], read: Callable[[int, Any], TreeColumns], on_error: Any, left_out: Counter[str], row: int = 1
) -> Iterator[TreeColumns]:
    """Read batches of rows. With `on_error`, halve a batch that cannot be read until each bad row is alone, and pass
    its error to `on_error`.

    read (Callable[[int, Any], TreeColumns]): Reads rows of a batch; it is told the number of the first one.
    """
    for rows in batches:
        try:
            columns = read(row, rows)
        except ValueError as err:
            if on_error is None:
                raise
            if half := len(rows) // 2:
                yield from _read_good([rows[:half], rows[half:]], read, on_error, left_out, row)
            else:
                on_error(err)
        else:
            left_out[NO_TREE] += len(rows) - len(np.unique(columns.line))
            yield columns
        row += len(rows)


def _read_objects(path: Path, on_error: Any) -> Iterator[tuple[int, Any]]:
    """Read the objects of a file of JSON lines, each with its line."""
    for number, (_, line) in enumerate(read_lines(path), start=1):
        if line.strip():
            try:
                data = load_json(line)
            except ValueError as err:
                error = TreebankError(str(path), number, str(err))
                if on_error is None:
                    raise error from err
                on_error(error)
            else:
                yield number, data


def _needed_columns(schema: Any, id_key: str) -> list[str]:
    """List the columns of a Parquet file that trees are made of, and the one that identifies texts."""
    names = (schema.column(i).path for i in range(len(schema)))
    column = id_key.partition(".")[0]
    parts = {"words", "pos", "constituents"}
    return [name for name in names if name.partition(".")[0] == column or parts & {*name.split(".")}]


def _doc_batches(path: Path, spans_key: str, left_out: Counter[str]) -> Iterator[list[Doc]]:
    """Read docs in batches, and count those that are left out; an empty doc stands for a partial one."""
    for batch in minibatch(read_doc_file(path, spacy.blank("xx").vocab), ROWS):
        are_partial = [is_marked(doc, "partial", spans_key) for doc in batch]
        left_out[""] += sum(are_partial)
        others = [doc for doc in batch if len(doc) and not has_parses(doc, spans_key)]
        left_out[f"doc.spans has no {spans_key!r} (--spans-key), but {list_groups(others)}"] += len(others)
        left_out[NO_TREE] -= sum(are_partial) + len(others)
        yield [Doc(doc.vocab) if is_partial else doc for doc, is_partial in zip(batch, are_partial, strict=True)]
