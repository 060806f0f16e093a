"""Writes parses: brackets, JSON, docs and Parquet. A file appears whole or not at all."""

import json
import math
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from itertools import chain, repeat
from pathlib import Path
from typing import Any

import srsly
from spacy.tokens import Doc, DocBin

from ..compat import require
from ..files.write import atomic_path, text_output
from ..tokens import parse_string
from ..tokens.groups import predictions_from_doc, with_spans

ROW_GROUP = 1 << 24  # bytes in memory of what Parquet compresses together: a batch alone would be too little
# The sentences of `to_json` where they are rows: names and types, [type] for lists, dicts for records.
_CONSTITUENT = {"label": str, "start": int, "end": int}
SENTS = [
    {
        "start": int, "end": int, "words": [str], "offsets": [int], "pos": [str], "constituents": [_CONSTITUENT],
        "tree": str,
    }
]  # fmt: skip
# Texts that look like several sentences and were parsed as one; that have an id or meta that is not written, because
# brackets cannot hold it; that seem to go on in the next one, as lines of running text do; whose tokens have the Penn
# Treebank's names of brackets among them.
COUNTS = ("n_several", "n_ids", "n_wrapped", "n_escaped")


@dataclass
class Parsed:
    """Holds the result of a batch of texts.

    lines (list[str]): The lines to write: trees in brackets, or JSON.
    rows (list[dict[str, Any]]): The rows to write, as `to_json` makes them, where rows are asked for.
    docs (DocBin): The docs to write, where docs are asked for.
    failures (list[str]): For each text that failed file, line and reason.
    counts (Counter[str]): Of how many texts a user is warned, by each of the `COUNTS`.
    """

    n_texts: int
    lines: list[str] = field(default_factory=list)
    rows: list[dict[str, Any]] = field(default_factory=list)
    docs: DocBin = field(default_factory=lambda: DocBin(store_user_data=True))
    failures: list[str] = field(default_factory=list)
    counts: Counter[str] = field(default_factory=Counter)


def to_json(doc: Doc, spans_key: str) -> dict[str, Any]:
    """Write a parsed doc as JSON: "text", and "sents" with "start" and "end" (characters of the text), "words",
    "offsets" (of each word its first character in the text), "pos", "constituents" (in pre-order; "start" and "end"
    count the words of the sentence) and "tree". Where the doc has them there are also "prob" of each constituent,
    "log_prob", "entropy" and "expected_f", "rivals": other constituents that are likely, and "k_best": a list of
    objects with "log_prob" and "tree"."""
    sents: list[dict[str, Any]] = []
    for prediction, parse in predictions_from_doc(doc, spans_key):
        first, last = doc[prediction.tokens[0]], doc[prediction.tokens[-1]]
        sents.append(
            {
                "start": first.idx,
                "end": last.idx + len(last),
                "words": parse.words,
                "offsets": [doc[i].idx for i in prediction.tokens],
                "pos": parse.pos,
                "constituents": [{"label": label, "start": start, "end": end} for start, end, label in parse.spans],
                "tree": parse_string(parse),
                **prediction.values,
            }
        )
        for constituent, prob in zip(sents[-1]["constituents"], prediction.probs or (), strict=False):
            constituent["prob"] = prob
        if prediction.rivals:
            names = ("start", "end", "label", "prob")
            sents[-1]["rivals"] = [dict(zip(names, rival, strict=True)) for rival in prediction.rivals]
        if prediction.k_best:
            trees = ((log_prob, parse_string(with_spans(parse, spans))) for log_prob, spans in prediction.k_best)
            sents[-1]["k_best"] = [{"log_prob": log_prob, "tree": tree} for log_prob, tree in trees]
    return {"text": doc.text, "sents": sents}


def to_line(data: Any) -> str:
    """Write JSON on one line. Numbers that JSON lacks (NaN, infinities) become null, keys that it lacks strings."""
    try:
        return json.dumps(data, ensure_ascii=False, default=str, allow_nan=False)
    except (TypeError, ValueError):
        return json.dumps(_with_nulls(data), ensure_ascii=False, default=str)


def _with_nulls(value: Any) -> Any:
    if isinstance(value, dict):
        return {key if isinstance(key, (int, str)) else str(key): _with_nulls(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_with_nulls(item) for item in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value


def _as_text(value: Any) -> str:
    """Write a value as JSON; a string, or what JSON has as one, such as a date, without quotes."""
    line = to_line(value)
    return json.loads(line) if line.startswith('"') else line


def plain(text: str) -> str:
    """Write half a surrogate pair, which Parquet and docs cannot hold, as an escape."""
    return text.encode("utf-8", "backslashreplace").decode()


def fit_msgpack(value: Any) -> Any:
    """Give a value as it is if msgpack can hold it, as docs need, else as JSON; a string stays one."""
    try:
        srsly.msgpack_dumps(value)
    except (TypeError, ValueError, OverflowError):
        return plain(_as_text(value))
    return value


def _merge(docs: DocBin, parsed: Parsed) -> None:
    parsed.docs.store_user_data = True  # this is lost on the way from another process; the data are not
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
        pyarrow, parquet = require("pyarrow", "Parquet"), require("pyarrow.parquet", "Parquet")
        with atomic_path(path, sync=sync) as temporary, parquet.ParquetWriter(temporary, row_schema()) as writer:
            pending: list[Any] = []  # tables of batches, which become one row group

            def write_rows(parsed: Parsed) -> None:
                pending.append(to_table(parsed.rows))
                if sum(table.nbytes for table in pending) >= ROW_GROUP:
                    flush()

            def flush() -> None:
                writer.write_table(pyarrow.concat_tables(pending))
                pending.clear()

            yield write_rows
            if pending:
                flush()
    else:
        with text_output(path, sync=sync) as file:

            def write(lines: Iterable[str]) -> None:
                file.writelines(lines)
                file.flush()  # for who reads batch by batch, through a pipe

            if format != "json":
                yield lambda parsed: write(line + "\n" for line in parsed.lines)
                return
            separators = chain(["\n"], repeat(",\n"))
            file.write("[")
            yield lambda parsed: write(next(separators) + line for line in parsed.lines)
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
    if to_line(row.get("id")) == "null":  # NaN, an infinity: none, as in JSON
        row = {**row, "id": None}
    extra = {name: row[name] for name in ("id", "meta") if row.get(name) is not None}
    texts = {name: _as_text(item) if name == "id" else to_line(item) for name, item in extra.items()}
    return {**row, "text": plain(row["text"]), **{name: plain(text) for name, text in texts.items()}}
