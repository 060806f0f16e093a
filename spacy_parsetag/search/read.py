"""Reads trees as columns: from brackets, from what `parse` writes as JSON lines, and from tables such as Parquet's."""

import io
import json
import math
import re
from collections.abc import Generator, Iterable, Iterator, Mapping
from contextlib import suppress
from itertools import count, islice
from typing import TYPE_CHECKING, Any, NamedTuple, TextIO

import numpy as np

from ..errors import Errors, NoParse, TreebankError
from ..files.read import why_misread
from ..trees import Constituent, Parse
from ..trees.escape import unescape_label, unescape_token
from ..trees.tree import ROOT
from ._kernel import scan_brackets
from .columns import Ints, Longs, Row, TreeColumns, columns_of_parses, lay_out

if TYPE_CHECKING:
    from ..treebanks.penn import OnError

BATCH = 1 << 16  # trees
_ANY_MARK = b"\xef\xbb\xbf"
_MARK = re.compile(rb"\xef\xbb\xbf(?<![^\r\n]\xef\xbb\xbf)(?!\xef\xbb\xbf)")  # one of byte order that begins a line
_CLOSING = re.compile(rb"\s*\)")
_AT_MARGIN = re.compile(rb"(?m)\s*^\S")


def read_brackets(
    data: bytes, name: str, *, encoding: str = "utf-8", on_error: "OnError | None" = None, batch: int = BATCH
) -> Iterator[TreeColumns]:
    """Read the trees of a bracket file, without an object for a node.

    If a tree is not in plain form, the text goes to `treebanks.penn.BracketReader`, from that tree on or, where the
    layout of what stands before it may count, from its start: so other forms and errors are treated as in the other
    commands. `(TOP)`, a sentence without a parse, is left out.

    on_error (OnError | None): Called with each malformed tree, which is left out. Without it the first one is raised.
    RAISES (TreebankError): The first malformed tree, with file and line; or if the file is not in this encoding.
    RAISES (ValueError): If there is no such encoding.
    """
    data, errors = _to_utf8(data, name, encoding)
    rest = yield from _read_plain(data, name, batch)
    if rest is not None:
        text = io.StringIO(data[rest.start :].decode("utf-8", errors), newline=None)
        rows = _read_rest(text, rest.line, name, encoding, on_error, is_head=rest.start == 0)
        rows = islice(rows, rest.n_read, None)
        while len(columns := columns_of_parses(islice(rows, batch), name)):
            yield columns


def _to_utf8(data: bytes, name: str, encoding: str) -> tuple[bytes, str]:
    """Encode a text in UTF-8, without marks of byte order that begin lines, and say how to decode what is none."""
    errors = "surrogateescape"
    if encoding.lower().replace("_", "-") not in ("utf-8", "utf8"):
        try:
            data = data.decode(encoding, errors).encode("utf-8", "surrogatepass")
        except LookupError as err:
            raise ValueError(Errors.E101.format(encoding=encoding)) from err
        except UnicodeError as err:
            raise TreebankError(name, 1, why_misread(err, encoding)) from err
        errors = "surrogatepass"
    return _MARK.sub(b"", data), errors


class _Rest(NamedTuple):
    """Says what `BracketReader` is to read: the text from a place on, with its line, less trees that were read."""

    start: int
    line: int
    n_read: int


def _read_plain(data: bytes, name: str, batch: int) -> Generator[TreeColumns, None, _Rest | None]:
    """Read trees up to the first that is not in plain form. RETURNS (_Rest | None): The rest, if there is any."""
    start, line, n_read = 0, 1, 0
    is_wrapped = _AT_MARGIN.match(data) is not None

    def rest() -> _Rest:
        # The layout of the trees so far may tell where a broken one ends, unless each had a wrapper and the first stood
        # at the margin (see `treebanks.pieces`).
        is_apart = is_wrapped and _AT_MARGIN.match(data, start)
        return _Rest(start, line, 0) if is_apart else _Rest(0, 1, n_read)

    if _ANY_MARK in data:
        return rest()
    while start < len(data):
        arrays, labels, words, any_bare, end, end_line = scan_brackets(data, start, line, batch)
        label, up, size, starts, lines = arrays
        is_plain = len(starts) == batch or end == len(data)
        is_wrapped = is_wrapped and not any_bare
        # Not plain are an empty label, which only a root may have; numbered words, as in discontinuous trees; and a
        # closing bracket without an opening one, which may spoil the tree before it.
        is_numbered = start == 0 and words and re.match(rb"[0-9]+=.", words[0])
        if b"\\e" in labels or is_numbered or _CLOSING.match(data, end):
            return rest()
        if not is_plain and not (is_wrapped and _AT_MARGIN.match(data, end)):
            return rest()
        codes: dict[str, int] = {}
        try:
            numbers = [codes.setdefault(unescape_label(label.decode()), len(codes)) for label in labels]
            # A word has a negative number, and so is counted from the end.
            numbers += [codes.setdefault(unescape_token(word.decode()), len(codes)) for word in words][::-1]
        except UnicodeDecodeError:
            return rest()
        if len(starts):
            source = np.zeros(len(starts), np.int32)
            yield TreeColumns(np.array(numbers, np.int32)[label], up, size, starts, list(codes), source, lines, [name])
        start, line, n_read = end, end_line, n_read + len(starts)
        if not is_plain:
            return rest()
    return None


def _read_rest(
    text: TextIO, line: int, name: str, encoding: str, on_error: "OnError | None", *, is_head: bool
) -> Iterator[Row]:
    # `treebanks.penn` takes as long to import as all else.
    from ..treebanks.lines import Line, read_file_lines
    from ..treebanks.penn import BracketReader, make_of_each

    def report(error: TreebankError) -> None:
        if isinstance(error, NoParse):
            return
        if on_error is None:
            raise error
        on_error(error)

    numbered = (Line(each.number + line - 1, each.text) for each in read_file_lines(text, encoding, name))
    trees = BracketReader(numbered, name, encoding, report, None, is_head)
    for tree, parse in make_of_each(trees, Parse.from_tree, name, on_error):
        if parse.words:
            yield parse, tree.line, tree.label if tree.is_wrapper else ROOT, ""


def read_rows(rows: Iterable[tuple[int, Any]], name: str, id_key: str = "id") -> TreeColumns:
    """Make columns of parsed texts as `parse --output-format jsonl` writes them.

    rows (Iterable[tuple[int, Any]]): For each text its line and the object.
    id_key (str): What identifies a text, see `ids_of`.
    RAISES (ValueError): If a line has no parse, or constituents cross.
    """

    def parses() -> Iterator[Row]:
        for line, row in rows:
            try:
                sents = row["sents"] or ()
                for sent, identifier in zip(sents, ids_of(row, id_key, len(sents)), strict=True):
                    yield _parse_of(sent), line, ROOT, identifier
            except (KeyError, TypeError) as err:
                raise ValueError(Errors.E603.format(where=f"{name}:{line}")) from err

    return columns_of_parses(parses(), name)


def _parse_of(sent: Any) -> Parse:
    """Read a sentence of a parsed text. RAISES (KeyError, TypeError): If it is none."""
    spans = [Constituent(span["start"], span["end"], span["label"]) for span in sent["constituents"]]
    parse = Parse(tuple(sent["words"]), tuple(sent["pos"]), tuple(spans))
    are_lists = not isinstance(sent["words"], str) and not isinstance(sent["pos"], str)
    are_texts = all(isinstance(text, str) for text in (*parse.words, *parse.pos, *(span.label for span in spans)))
    are_places = all(isinstance(n, int) and n.bit_length() < 32 for span in spans for n in span[:2])
    if not (are_lists and are_texts and are_places and len(parse.words) == len(parse.pos)):
        raise TypeError
    return parse


def _from_json(value: Any) -> Any:
    """Read a list or an object, which `parse` writes to tables as JSON; anything else stays as it is."""
    if isinstance(value, str) and value.startswith(("[", "{")):
        with suppress(ValueError, RecursionError):
            return json.loads(value)
    return value


def ids_of(text: Mapping[str, Any], key: str, n_sentences: int) -> list[str]:
    """Write the identifier of each sentence of a text: the text's "id", or its own of a list of them, or by "meta.KEY"
    that key of the text's "meta"; "" for none."""
    name, _, part = key.partition(".")
    identifier = text.get(name)
    if part:
        meta = _from_json(identifier)
        return [text_of(meta.get(part)) if isinstance(meta, Mapping) else ""] * n_sentences
    if identifier is None or (isinstance(identifier, str) and not identifier.startswith("[")):
        return [identifier or ""] * n_sentences
    own = _from_json(identifier)
    has_own = isinstance(own, list | tuple) and len(own) == n_sentences
    if own is not identifier:  # the id of a text may be "[12]"
        has_own = has_own and n_sentences > 1 and all(isinstance(each, str) for each in own)
    return [text_of(each) for each in own] if has_own else [text_of(identifier)] * n_sentences


def text_of(identifier: Any) -> str:
    """Write an identifier, as Parquet has it: what is no string as JSON; "" for none."""
    if isinstance(identifier, (bool, dict, list, tuple)):
        with suppress(TypeError, ValueError, RecursionError):  # for what no JSON holds
            return json.dumps(identifier, ensure_ascii=False, default=str)
    is_none = identifier is None or (isinstance(identifier, float) and not math.isfinite(identifier))
    return "" if is_none else str(identifier)


def read_table(table: Any, name: str, first: int = 1, id_key: str = "id") -> TreeColumns:
    """Make columns of a `pyarrow.Table` or `RecordBatch` of parsed texts, as `parse --output-format parquet` writes
    it: a column "sents", and perhaps "id" and "meta". Strings are compared once each.

    first (int): The number of the first row.
    id_key (str): What identifies a text, see `ids_of`.
    RAISES (ValueError): If it has no such column, a row has no parse, or constituents cross.
    """

    def by_rows() -> TreeColumns:  # it leaves out texts that failed, and says where an error is
        return read_rows(zip(count(first), table.to_pylist(), strict=False), name, id_key)

    try:
        column = table.column("sents")
        column = column.combine_chunks() if hasattr(column, "combine_chunks") else column
        sents = column.flatten()
        lists = [sents.field(key) for key in ("words", "pos", "constituents")]
        texts = [*(each.flatten() for each in lists[:2]), lists[2].flatten().field("label")]
        bounds = [lists[2].flatten().field(key) for key in ("start", "end")]
    except KeyError as err:
        raise ValueError(Errors.E603.format(where=f"{name}:{first}")) from err
    except AttributeError:  # of columns that have other types, or none, as there is nothing in them
        return by_rows()
    types = [str(each.type) for each in (*texts, *bounds)]
    if not {*types[:3]} <= {"string", "large_string"} or not all("int" in kind for kind in types[3:]):
        return by_rows()
    n_sents = column.value_lengths().fill_null(0).to_numpy(zero_copy_only=False)
    n_words, n_tags, n_spans = (each.value_lengths().to_numpy(zero_copy_only=False) for each in lists)
    if any(each.null_count for each in (sents, *lists, *texts, *bounds)) or (n_words != n_tags).any() or 0 in n_words:
        return by_rows()
    bounds = [each.to_numpy(zero_copy_only=False) for each in bounds]
    if any((each >> 31).any() for each in bounds):  # or they would wrap
        return by_rows()
    codes: dict[str, int] = {ROOT: 0}

    def encode(strings: Any) -> Ints:
        encoded = strings.dictionary_encode()
        numbers = [codes.setdefault(text, len(codes)) for text in encoded.dictionary.to_pylist()]
        places: Longs = encoded.indices.to_numpy(zero_copy_only=False)
        return np.array(numbers, np.int32)[places]

    words, tags, labels = map(encode, texts)
    line = np.repeat(np.arange(first, first + len(n_sents)), n_sents)
    place = id_key.partition(".")[0]
    cells = table.column(place) if place in table.schema.names else None
    found = [] if cells is None or cells.null_count == len(cells) else cells.to_pylist()
    ids = [text for each, n in zip(found, n_sents.tolist(), strict=False) for text in ids_of({place: each}, id_key, n)]
    spans = np.stack([*bounds, labels]).astype(np.int32)
    return lay_out(n_words, n_spans, words, tags, spans, list(codes), roots=0, line=line, name=name, ids=ids)
