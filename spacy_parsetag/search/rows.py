"""Columns of parsed texts, as `parse` writes them in rows: JSON lines and Parquet."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import count
from typing import Any

import numpy as np

from ..errors import Errors
from ..trees.parse import Constituent, Parse
from .columns import ROOT, Ints, Longs, Row, TreeColumns, columns_of_parses, lay_out


def read_rows(rows: Iterable[tuple[int, Any]], name: str) -> TreeColumns:
    """Make columns of parsed texts as `parse --output-format jsonl` writes them.

    rows (Iterable[tuple[int, Any]]): For each text its line and the object.
    RAISES (ValueError): If a line has no parse, or constituents cross.
    """

    def parses() -> Iterator[Row]:
        for line, row in rows:
            try:
                for sent in row["sents"] or ():
                    yield _parse_of(sent), line, ROOT, _text_of(row.get("id"))
            except (KeyError, TypeError) as err:
                raise ValueError(Errors.E603.format(where=f"{name}:{line}")) from err

    return columns_of_parses(parses(), name)


def _parse_of(sent: Any) -> Parse:
    """Read a sentence of a parsed text. RAISES (KeyError, TypeError): If it is none."""
    spans = [Constituent(span["start"], span["end"], span["label"]) for span in sent["constituents"]]
    parse = Parse(tuple(sent["words"]), tuple(sent["pos"]), tuple(spans))
    are_texts = all(isinstance(text, str) for text in (*parse.words, *parse.pos, *(span.label for span in spans)))
    are_places = all(isinstance(n, int) and n.bit_length() < 32 for span in spans for n in span[:2])
    if not (are_texts and are_places and len(parse.words) == len(parse.pos)):
        raise TypeError
    return parse


def _text_of(identifier: Any) -> str:
    return "" if identifier is None else str(identifier)


def read_table(table: Any, name: str, first: int = 1) -> TreeColumns:
    """Make columns of a `pyarrow.Table` or `RecordBatch` of parsed texts, as `parse --output-format parquet` writes
    it: a column "sents", and perhaps "id". Strings are compared once each.

    RAISES (ValueError): If it has no such column, a row has no parse, or constituents cross.
    """
    try:
        column = table.column("sents")
        column = column.combine_chunks() if hasattr(column, "combine_chunks") else column
        sents = column.flatten()
        lists = [sents.field(key) for key in ("words", "pos", "constituents")]
        texts = [*(each.flatten() for each in lists[:2]), lists[2].flatten().field("label")]
        bounds = [lists[2].flatten().field(key) for key in ("start", "end")]
    except KeyError as err:
        raise ValueError(Errors.E603.format(where=f"{name}:{first}")) from err
    n_sents = column.value_lengths().fill_null(0).to_numpy(zero_copy_only=False)
    n_words, n_tags, n_spans = (each.value_lengths().to_numpy(zero_copy_only=False) for each in lists)
    if any(each.null_count for each in (sents, *lists, *texts, *bounds)) or (n_words != n_tags).any() or 0 in n_words:
        return read_rows(zip(count(first), table.to_pylist(), strict=False), name)  # which leaves out or says where
    codes: dict[str, int] = {ROOT: 0}

    def encode(strings: Any) -> Ints:
        encoded = strings.dictionary_encode()
        numbers = [codes.setdefault(text, len(codes)) for text in encoded.dictionary.to_pylist()]
        places: Longs = encoded.indices.to_numpy(zero_copy_only=False)
        return np.array(numbers, np.int32)[places]

    words, tags, labels = map(encode, texts)
    line = np.repeat(np.arange(first, first + len(n_sents)), n_sents)
    ids = [*map(_text_of, table.column("id").to_pylist())] if "id" in table.schema.names else []
    ids = [ids[row - first] for row in line.tolist()] if any(ids) else []
    spans = np.stack([*(each.to_numpy(zero_copy_only=False) for each in bounds), labels]).astype(np.int32)
    return lay_out(n_words, n_spans, 0 * n_words, words, tags, spans, line, list(codes), name, ids)
