"""Parse tables of texts: what an actor of Ray and a worker of Spark do. Rows go in and rows come out."""

from pathlib import Path
from typing import Any

from ..compat import require
from ..errors import Errors
from .input import Record, make_record
from .output import to_table
from .parser import Settings, in_batches, load_parser

ADDED = ("sents", "error")  # the columns of `row_schema` that a table gets


class TableParser:
    """Adds two columns to tables of texts: "sents", the sentences with their constituents and trees, and "error".

    column (str): The column with the texts: strings, or lists of strings for texts in tokens.
    """

    def __init__(self, settings: Settings, column: str) -> None:
        self.parser = load_parser(settings)
        self.column = column

    def __call__(self, table: Any) -> Any:
        """Parse a `pyarrow.Table`, or a `pyarrow.RecordBatch`.

        RETURNS (pyarrow.Table): Its columns and the new ones. A text that failed has no sentences, and its error.
        RAISES (ValueError): If the table lacks the column of texts, holds something else in it, or has one of the new
            ones.
        """
        names = table.schema.names
        if self.column not in names or set(ADDED) & set(names):
            raise ValueError(Errors.E567.format(column=self.column, added=" and ".join(ADDED), names=", ".join(names)))
        texts = table.column(self.column).to_pylist()
        values = (value for text in texts for value in (text if isinstance(text, list) else [text]))
        if not isinstance(next((value for value in values if value is not None), ""), str):
            raise ValueError(Errors.E579.format(column=self.column, kind=table.column(self.column).type))
        records = [_make_record(f"row {i}", text) for i, text in enumerate(texts)]
        rows = [row for batch in in_batches(records, None) for row in self.parser(batch).rows]
        parsed = to_table(rows).select(ADDED)
        pa = require("pyarrow", "A table")
        schema = pa.schema([*table.schema, *parsed.schema])
        return pa.Table.from_arrays([*table.columns, *parsed.columns], schema=schema)


def _make_record(where: str, text: str | list[str] | None) -> Record:
    if text is None:
        return Record(where, {"text": ""}, Errors.E580)
    return make_record(where, {"tokens" if isinstance(text, list) else "text": text})


def table_settings(model: str | Path, gpu_id: int, code: str | Path | None, one_sentence: bool) -> Settings:
    """Make the settings to parse tables. A folder or file gets its full path: workers run in other folders."""
    name = model if isinstance(model, str) else str(model.resolve())  # a `Path` is never a package
    return Settings(name, gpu_id, None if code is None else Path(code), one_sentence, "parquet").absolute()
