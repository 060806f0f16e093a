"""Reads texts to parse from files of lines, JSON, docs and Parquet, compressed or not."""

import io
import json
import math
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from functools import partial
from itertools import chain, groupby
from pathlib import Path
from typing import Any, NamedTuple, NoReturn

from spacy.language import Language
from spacy.tokens import Doc, DocBin
from spacy.vocab import Vocab

from ..compat import cache_msgpack_plugins, require
from ..errors import Errors
from ..files.find import find_files
from ..files.read import is_wide, likely_encoding, open_binary, suffix_of
from ..files.write import STANDARD
from ..trees.escape import split_tokens, unescape_penn

FIELDS = ("text", "tokens", "tags", "id", "meta")  # what a JSON line or a row may say; the rest is left out
FORMATS = {".txt": "text", ".jsonl": "jsonl", ".spacy": "spacy", ".parquet": "parquet"}  # what a suffix stands for
# Suffixes of files whose lines are no text: what such a file holds, and how it becomes text.
NOT_TEXT = {
    ".json": ("one JSON document", "Write its objects a line each, as .jsonl."),
    **dict.fromkeys((".csv", ".tsv"), ("a table", "Write its texts a line each, or as .jsonl with an id.")),
    **dict.fromkeys((".conll", ".conllu"), ("a word a line", "Make docs of them first: python -m spacy convert.")),
    **dict.fromkeys((".xml", ".html", ".htm"), ("markup", "Take the text out of it first.")),
    **dict.fromkeys((".pdf", ".doc", ".docx", ".odt", ".rtf"), ("pages", "Take the text out of them first.")),
}


class Record(NamedTuple):
    """Holds a text to parse. It becomes a doc when its turn comes, in whatever process that is.

    where (str): File and line of the text, for messages.
    data (dict[str, Any]): What a line of JSON says: "text", or "tokens" and optionally "tags"; "id" and "meta" go to
        the output. For a doc there are also "doc", a DocBin with that doc alone, and its "user_data".
    error (str): Why the line cannot be read, else "". If it cannot, the data hold what could be read.
    """

    where: str
    data: dict[str, Any]
    error: str = ""

    @property
    def text(self) -> str:
        """The text; tokens are joined by spaces."""
        return " ".join(self.data["tokens"]) if "tokens" in self.data else str(self.data.get("text", ""))

    @property
    def extra(self) -> dict[str, Any]:
        """The "id" and "meta" of the input, which go to the output as they are."""
        return {key: self.data[key] for key in ("id", "meta") if key in self.data}

    def make_doc(self, nlp: Language) -> Doc:
        """Make the doc. Raises a ValueError if the text could not be read, or is longer than the pipeline takes."""
        if self.error:
            raise ValueError(self.error)
        if "doc" in self.data:
            (doc,) = DocBin.get_docs(self.data["doc"], nlp.vocab)
            return doc
        if "tokens" not in self.data:
            text = self.data["text"]
            if len(text) > nlp.max_length:
                raise ValueError(Errors.E584.format(n=len(text), most=nlp.max_length))
            return nlp.make_doc(text)
        words = self.data["tokens"]
        spaces = [True] * (len(words) - 1) + [False] * bool(words)
        return Doc(nlp.vocab, words=words, spaces=spaces, tags=self.data.get("tags"))


class Source(NamedTuple):
    """Names a file of texts.

    format (str): What it holds: "text" (one per line), "paragraphs" (texts of several lines, blank lines between them),
        "tokens" (as the Penn Treebank writes words), "jsonl" (objects, and blank lines between them), "spacy" (docs) or
        "parquet" (rows with the columns that a JSON object has as keys).
    name (str): What the messages on its texts call it; "" for its path.
    id (str): The "id" of texts that are lines or paragraphs, or "".
    """

    path: Path
    format: str
    name: str = ""
    id: str = ""

    def read(self) -> Iterator[Record]:
        """Read the texts. A text that cannot be read gives a record that says so.

        RAISES (ValueError): If the file is not of its format.
        """
        return (make() for make in self.prepare())

    def prepare(self) -> Iterator[Callable[[], Record]]:
        """Give for each text a function that makes its record, so that skipping texts costs little."""
        if self.format == "spacy":
            docs = enumerate(read_doc_file(self.path, Vocab()), start=1)
            return (partial(_doc_record, f"{self.name or self.path}: doc {number}", doc) for number, doc in docs)
        if self.format == "paragraphs":
            paragraphs = split_paragraphs(read_lines(self.path, self.name))
            return (partial(self._with_id, partial(join_lines, lines)) for lines in paragraphs)
        return self._prepare_rows() if self.format == "parquet" else self._prepare_lines()

    def n_texts(self) -> int:
        """Count the texts."""
        if self.format == "spacy":
            return len(read_doc_bin(self.path))
        if self.format == "parquet":
            with open_parquet(self.path) as file:
                return int(file.metadata.num_rows)
        return sum(1 for _ in self.prepare())

    def _prepare_lines(self) -> Iterator[Callable[[], Record]]:
        readers: dict[str, Callable[[str], dict[str, Any]]] = {
            "text": lambda line: {"text": line.strip()},
            "tokens": lambda line: {"tokens": [unescape_penn(word) for word in split_tokens(line)]},
            "jsonl": _read_json,
        }
        read = readers[self.format]
        for where, line in read_lines(self.path, self.name):
            if self.format != "jsonl" or line.strip():
                yield partial(self._with_id, partial(make_record, where, line, read))

    def _with_id(self, make: Callable[[], Record]) -> Record:
        """Make a record that is called by the name of the file, if that is its id."""
        record = make()
        return record._replace(data={**record.data, "id": self.id}) if self.id else record

    def _prepare_rows(self) -> Iterator[Callable[[], Record]]:
        with open_parquet(self.path) as file:
            names = [name for name in file.schema_arrow.names if name in FIELDS]
            if twice := sorted(name for name, n in Counter(names).items() if n > 1):
                raise ValueError(Errors.E570.format(path=self.path, name=twice[0]))
            if not {"text", "tokens"} & set(names):
                raise ValueError(Errors.E552.format(path=self.path, names=", ".join(file.schema_arrow.names) or "none"))
            batches = file.iter_batches(batch_size=1000, columns=names)
            rows = chain.from_iterable(batch.to_pylist() for batch in batches)
            for number, row in enumerate(rows, start=1):
                data = {key: value for key, value in row.items() if value is not None and value == value}  # not NaN
                meta = data.get("meta")
                if isinstance(meta, str) and meta.startswith(("{", "[", '"')):
                    with suppress(ValueError):  # `parse` writes JSON; what another program wrote may be any text
                        data["meta"] = load_json(meta)
                yield partial(make_record, f"{self.name or self.path}: row {number}", data)


def find_sources(path: Path, format: str | None) -> tuple[Source, ...]:
    """Find the files to parse: a file, or the files of a folder, by name.

    path (Path): The file or folder, or "-" for standard input.
    format (str | None): What they hold. If None, the suffix says it; a file with another suffix holds text.
    RETURNS (tuple[Source, ...]): The files. Those of a folder that hold lines are called by their paths there (`id`).
    RAISES (ValueError): If there are none, if a folder holds several formats, or if no format is given and the suffix
        is that of trees or one of `NOT_TEXT`, whose lines would be parsed as text.
    """
    if not path.is_dir():
        if format is None:
            from ..treebanks.formats.table import FORMATS as TREE_FORMATS

            of_trees = {suffix for kind in TREE_FORMATS.values() for suffix in kind.suffixes}
            of_trees |= {".discbracket", ".export"}
            of_trees -= {*FORMATS, ".train", ".dev", ".test"}  # text has these too
            held = ("trees", "Make docs of them first: convert TREES DOCS.spacy.")
            check_suffix(path, {**dict.fromkeys(of_trees, held), **NOT_TEXT})
        return (Source(path, format or FORMATS.get(suffix_of(path), "text")),)
    suffixes = [suffix for suffix in FORMATS if format in {None, FORMATS[suffix]}] or [".txt"]
    files = [file.path for file in find_files([path], suffixes=suffixes)]
    formats = sorted({format or FORMATS[suffix_of(file)] for file in files})
    if len(formats) > 1:
        raise ValueError(Errors.E566.format(path=path, formats=", ".join(formats)))
    holds_lines = formats[0] in ("text", "paragraphs", "tokens")
    ids = [file.relative_to(path).as_posix() if holds_lines else "" for file in files]
    return tuple(Source(file, formats[0], id=name) for file, name in zip(files, ids, strict=True))


def check_suffix(path: Path, held: Mapping[str, tuple[str, str]] = NOT_TEXT) -> None:
    """Raise a ValueError if the suffix of a file says that it holds something else than text."""
    if suffix_of(path) in held:
        what, how = held[suffix_of(path)]
        raise ValueError(Errors.E574.format(path=path, what=what, how=how))


def make_record(where: str, raw: Any, read: Callable[[Any], dict[str, Any]] = dict) -> Record:
    """Make the record of a row, or of data that `read` turns into a row. For an invalid text the record says why."""
    data = {"text": raw.strip()} if isinstance(raw, str) else {}
    try:
        if isinstance(raw, str):
            check_text(raw)
        data = read(raw)
        _check_fields(data)
        return Record(where, data)
    except ValueError as err:
        # The output still says which text failed.
        text = data.get("text")
        if not isinstance(text, str):
            tokens = data.get("tokens")
            text = " ".join(map(str, tokens)) if isinstance(tokens, list) else ""
        return Record(where, {"text": text, **Record(where, data).extra}, str(err))


def _doc_record(where: str, doc: Doc) -> Record:
    extra: dict[str, Any] = {key: doc.user_data[key] for key in ("id", "meta") if key in doc.user_data}
    if not len(doc) and "error" in doc.user_data:  # a text that failed, which is kept there
        return make_record(where, {"text": doc.user_data.get("text"), **extra})
    data = {"text": doc.text, "doc": DocBin(docs=[doc], store_user_data=True), "user_data": dict(doc.user_data)}
    return Record(where, {**data, **extra})


def _read_json(line: str) -> dict[str, Any]:
    data = load_json(line)
    if not isinstance(data, dict):
        raise ValueError(Errors.E553.format(reason="it is not an object"))
    return {key: data[key] for key in FIELDS if data.get(key) is not None}


def _check_fields(data: dict[str, Any]) -> None:
    if "tokens" not in data:
        if not isinstance(data.get("text"), str):
            raise ValueError(Errors.E553.format(reason='it has neither "tokens" nor a string "text"'))
        check_text(data["text"], decoded=True)
        return
    words = _check_strings(data, "tokens")
    if not all(words):
        raise ValueError(Errors.E553.format(reason="a token is empty"))
    if not words and data.get("text"):
        raise ValueError(Errors.E553.format(reason='it has a "text", and "tokens" without one'))
    if data.get("tags") is not None and len(_check_strings(data, "tags")) != len(words):
        raise ValueError(Errors.E553.format(reason=f"{len(words)} tokens have {len(data['tags'])} tags"))


def _check_strings(data: dict[str, Any], key: str) -> list[str]:
    strings: list[str] = data[key]
    if not isinstance(strings, list) or not all(isinstance(string, str) for string in strings):
        raise ValueError(Errors.E553.format(reason=f'"{key}" is not a list of strings'))
    for string in strings:
        check_text(string, decoded=True)
    return strings


@contextmanager
def open_parquet(path: Path) -> Iterator[Any]:
    """Open a Parquet file. Raises a ValueError if it is not one, an ImportError without pyarrow."""
    parquet, arrow = require("pyarrow.parquet", "Parquet"), require("pyarrow", "Parquet")
    with open_binary(path) as file:
        # A compressed stream cannot be read from its end, where Parquet begins.
        stream = file if isinstance(file, io.BufferedReader) else io.BytesIO(file.read())
        try:
            yield parquet.ParquetFile(stream)
        except (arrow.ArrowException, UnicodeDecodeError, OSError) as err:  # also of a writer that took bytes for text
            if getattr(err, "errno", None) is not None:
                raise
            reason = " ".join(str(err).split()).rstrip(".")
            raise ValueError(Errors.E554.format(path=path, reason=reason)) from err


def read_doc_file(path: Path, vocab: Vocab) -> Iterator[Doc]:
    """Read the docs of a .spacy file. Raises a ValueError if it is not one, or damaged."""
    docs = read_doc_bin(path).get_docs(vocab)
    with _refuse_damaged(path):
        yield from docs


def read_doc_bin(path: Path) -> DocBin:
    """Read a .spacy file. Raises a ValueError if it is not one. `read_doc_file` also sees if its docs are whole."""
    with open_binary(path) as file:
        data = file.read()
    cache_msgpack_plugins()
    with _refuse_damaged(path):
        return DocBin(store_user_data=True).from_bytes(data)


@contextmanager
def _refuse_damaged(path: Path) -> Iterator[None]:
    try:
        yield
    except (ValueError, KeyError, TypeError) as err:  # some of msgpack's have no message
        raise ValueError(Errors.E550.format(path=path, reason=str(err).rstrip(".") or type(err).__name__)) from err


def read_lines(path: Path, name: str = "") -> Iterator[tuple[str, str]]:
    """Read a text file in UTF-8, or standard input for "-", whatever the locale. Lines end in LF, CR LF or CR.

    Yields file and line number, for messages, and the line, without a byte order mark. Each byte that is not UTF-8
    becomes half a surrogate pair; `check_text` names it.
    """
    name = name or name_of(path)
    with open_binary(path) as file, ExitStack() as stack:
        lines = io.TextIOWrapper(file, "utf-8-sig", "surrogateescape")
        if path == STANDARD:
            stack.callback(lines.detach)  # otherwise it would be closed with it
        is_little_endian = False
        for number, line in enumerate(lines, start=1):
            if number == 1:
                is_little_endian = line.startswith("\udcff\udcfe") or (is_wide(line) and line[0] not in "\0\udcfe")
            # In UTF-16 and UTF-32 of this order, lines other than the first begin with zeros of the line break. Files
            # that were joined may have marks of byte order inside.
            yield f"{name}:{number}", line.lstrip("\0") if is_little_endian else line.removeprefix("\ufeff")


def split_paragraphs(lines: Iterable[tuple[str, str]]) -> Iterator[list[tuple[str, str]]]:
    """Split lines, each with its place, into paragraphs: blank lines end one."""
    for is_blank, paragraph in groupby(lines, lambda line: not line[1].strip()):
        if not is_blank:
            yield list(paragraph)


def join_lines(lines: list[tuple[str, str]]) -> Record:
    """Make the record of a paragraph. Its lines are joined by spaces, or by nothing after a hyphen that ends a word."""
    joined = "\n".join(line.strip() for _, line in lines)
    data = {"text": re.sub(r"(?<=\w-)\n(?=[^\W\d_])", "", joined).replace("\n", " ")}
    for where, line in lines:
        try:
            check_text(line)
        except ValueError as err:
            return Record(where, data, str(err))
    return Record(lines[0][0], data)


def name_of(path: Path) -> str:
    """Name an input in messages."""
    return "<stdin>" if path == STANDARD else str(path)


def check_text(text: str, *, decoded: bool = False) -> None:
    """Raise a ValueError that names the first character that is NUL, half a surrogate pair or a byte not in UTF-8.

    decoded (bool): The text is decoded, as from JSON: what looks like a bad byte was an escape, not another encoding.
    """
    if match := re.search("[\0\ud800-\udfff]", text):
        code = ord(match[0])
        what, hint = f"half a surrogate pair, U+{code:X},", ""
        if code == 0 and (decoded or not is_wide(text)):
            what = "the character U+0000"
        elif not decoded and (code == 0 or 0xDC80 <= code <= 0xDCFF):
            what = f"the byte 0x{code & 0xFF:02x}"
            hint = f" Convert the file first, such as: iconv -f {likely_encoding(text).replace('-', '')} -t utf-8."
        raise ValueError(Errors.E555.format(what=what, position=match.start() + 1, hint=hint))


def load_json(line: str) -> Any:
    """Read JSON. Raises a ValueError if it is not text, not JSON (as NaN is not), or nested too deeply.

    srsly's reader refuses integers over 64 bits, and its writer rounds floats to 10 digits and escapes all that is not
    ASCII: "meta" would change between input and output. So the commands use Python's own.
    """
    check_text(line)
    try:
        return json.loads(line, parse_constant=_refuse, parse_float=_read_float)
    except (ValueError, RecursionError) as err:  # of an integer, too: Python reads no more than some thousand digits
        reason = "it is nested too deeply" if isinstance(err, RecursionError) else err
        if isinstance(err, json.JSONDecodeError):  # its own message counts lines, from the start of this one
            reason = f"{err.msg} at character {err.pos + 1}"
        raise ValueError(Errors.E556.format(reason=reason)) from err


def _read_float(number: str) -> float:
    return value if math.isfinite(value := float(number)) else _refuse(number)


def _refuse(constant: str) -> NoReturn:
    reason = f"it has no number {constant}"
    raise ValueError(reason)
