"""What parsing writes: brackets, JSON, docs and Parquet. A file appears whole or not at all."""

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import chain, repeat
from pathlib import Path
from typing import Any

from spacy.tokens import DocBin

from ..compat import require
from ..treebanks.atomic import atomic_path, text_output
from .batches import Parsed


@contextmanager
def open_output(path: Path, format: str) -> Iterator[Callable[[Parsed], None]]:
    """Open a file to write, or standard output for "-" where the format is text.

    path (Path): The file.
    format (str): "brackets", "jsonl", "json", "spacy" or "parquet".
    YIELDS (Callable[[Parsed], None]): Writes a batch.
    """
    if format == "spacy":
        docs = DocBin()
        yield lambda parsed: docs.merge(parsed.docs)
        path.parent.mkdir(parents=True, exist_ok=True)
        with atomic_path(path) as temporary:
            docs.to_disk(temporary)
    elif format == "parquet":
        path.parent.mkdir(parents=True, exist_ok=True)
        parquet = require("pyarrow.parquet", "Parquet")
        with atomic_path(path) as temporary, parquet.ParquetWriter(temporary, row_schema()) as writer:
            yield lambda parsed: writer.write_table(to_table(parsed.rows))
    else:
        with text_output(path) as file:
            if format != "json":
                yield lambda parsed: file.writelines(line + "\n" for line in parsed.lines)
                return
            separators = chain(["\n"], repeat(",\n"))
            file.write("[")
            yield lambda parsed: file.writelines(next(separators) + line for line in parsed.lines)
            file.write("\n]\n")


def row_schema() -> Any:
    """The columns of Parquet, as a `pyarrow.Schema`: those that JSON has as keys. "meta", and an "id" that is no
    string, are written as JSON; "error" is null unless the text failed."""
    pa = require("pyarrow", "Parquet")
    number = pa.int32()
    constituent = pa.struct([("label", pa.string()), ("start", number), ("end", number)])
    sent = [("start", number), ("end", number), ("words", pa.list_(pa.string())), ("pos", pa.list_(pa.string()))]
    sents = pa.list_(pa.struct([*sent, ("constituents", pa.list_(constituent)), ("tree", pa.string())]))
    return pa.schema(
        [("text", pa.string()), ("sents", sents), *((name, pa.string()) for name in ("error", "id", "meta"))]
    )


def to_table(rows: list[dict[str, Any]]) -> Any:
    """Rows, as `to_json` makes them, as a `pyarrow.Table`."""
    return require("pyarrow", "Parquet").Table.from_pylist([_to_row(row) for row in rows], schema=row_schema())


def _to_row(row: dict[str, Any]) -> dict[str, Any]:
    row = {**row, "text": _plain(row["text"])}
    if "id" in row:
        row["id"] = _plain(row["id"]) if isinstance(row["id"], str) else json.dumps(row["id"], default=str)
    if "meta" in row:
        row["meta"] = json.dumps(row["meta"], default=str)
    return row


def _plain(text: str) -> str:
    """Text without half a surrogate pair, which Parquet cannot hold, and which may be why a text failed."""
    return text.encode("utf-8", "backslashreplace").decode()
