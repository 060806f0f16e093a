"""Writes parses: brackets, JSON, docs and Parquet. A file appears whole or not at all."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from itertools import chain, repeat
from pathlib import Path
from typing import Any

from spacy.tokens import DocBin

from ..compat import require
from ..files.write import atomic_path, text_output
from .parser import SENTS, Parsed, plain, to_line


def _merge(docs: DocBin, parsed: Parsed) -> None:
    parsed.docs.store_user_data = True  # which is lost on the way from another process; the data are not
    docs.merge(parsed.docs)


@contextmanager
def open_output(path: Path, format: str, *, sync: bool = False) -> Iterator[Callable[[Parsed], None]]:
    """Open a file to write, or standard output for "-" where the format is text.

    sync (bool): Wait until the file is on the disk.
    YIELDS (Callable[[Parsed], None]): Writes a batch.
    """
    if format == "spacy":
        docs = DocBin(store_user_data=True)
        path.parent.mkdir(parents=True, exist_ok=True)
        with atomic_path(path, sync=sync) as temporary:
            temporary.touch()  # where that is impossible, the user learns it before hours of parsing
            yield partial(_merge, docs)
            docs.to_disk(temporary)
    elif format == "parquet":
        path.parent.mkdir(parents=True, exist_ok=True)
        parquet = require("pyarrow.parquet", "Parquet")
        with atomic_path(path, sync=sync) as temporary, parquet.ParquetWriter(temporary, row_schema()) as writer:
            yield lambda parsed: writer.write_table(to_table(parsed.rows))
    else:
        with text_output(path, sync=sync) as file:
            if format != "json":
                yield lambda parsed: file.writelines(line + "\n" for line in parsed.lines)
                return
            separators = chain(["\n"], repeat(",\n"))
            file.write("[")
            yield lambda parsed: file.writelines(next(separators) + line for line in parsed.lines)
            file.write("\n]\n")


def row_schema() -> Any:
    """Make the columns of Parquet, a `pyarrow.Schema`: the keys of JSON. "meta", and an "id" that is no
    string, are written as JSON; "error" is null unless the text failed."""
    pa = require("pyarrow", "Parquet")
    names = ("error", "id", "meta")
    return pa.schema([("text", pa.string()), ("sents", arrow_type(SENTS)), *((name, pa.string()) for name in names)])


def arrow_type(kind: Any) -> Any:
    """Make Arrow's type of a kind: `str`, `int`, a list of one kind, or a dict of kinds by name."""
    pa = require("pyarrow", "Parquet")
    if isinstance(kind, list):
        return pa.list_(arrow_type(kind[0]))
    if isinstance(kind, dict):
        return pa.struct([(name, arrow_type(each)) for name, each in kind.items()])
    return pa.int32() if kind is int else pa.string()


def to_table(rows: list[dict[str, Any]]) -> Any:
    """Make a `pyarrow.Table` of rows that `to_json` made."""
    return require("pyarrow", "Parquet").Table.from_pylist([_to_row(row) for row in rows], schema=row_schema())


def _to_row(row: dict[str, Any]) -> dict[str, Any]:
    extra = {name: row[name] for name in ("id", "meta") if row.get(name) is not None}
    texts = {name: item if name == "id" and isinstance(item, str) else to_line(item) for name, item in extra.items()}
    return {**row, "text": plain(row["text"]), **{name: plain(text) for name, text in texts.items()}}
