"""What `parsetag parse` reads: lines of text, JSON lines, docs."""

import io
import json
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import IO, Any, NamedTuple

from spacy.language import Language
from spacy.tokens import Doc, DocBin
from spacy.vocab import Vocab

from ..errors import Errors
from ._util import STANDARD

PASSED_ON = ("id", "meta")  # what of a JSON line goes on to the output


class Record(NamedTuple):
    """One text to parse. It becomes a doc when its turn comes, in whatever process that is.

    where (str): File and line of the text, for messages.
    text (str): The text. Not used if there are words or a doc.
    words (list[str] | None): Its words, if they are known.
    tags (list[str] | None): Their part-of-speech tags, if they are known.
    doc (DocBin | None): The text as a doc, alone in a DocBin, if it came as one.
    passed_on (dict[str, Any]): What goes to the output as it is.
    error (str): Why the line cannot be read, else "".
    """

    where: str
    text: str = ""
    words: list[str] | None = None
    tags: list[str] | None = None
    doc: DocBin | None = None
    passed_on: dict[str, Any] = {}  # noqa: RUF012 (never changed)
    error: str = ""

    def make_doc(self, nlp: Language) -> Doc:
        """Make the doc.

        nlp (Language): The pipeline, for its tokenizer and vocabulary.
        RETURNS (Doc): The doc, without tokens for a text without words.
        RAISES (ValueError): If the text could not be read, or is longer than the pipeline takes.
        """
        if self.error:
            raise ValueError(self.error)
        if self.doc is not None:
            return next(self.doc.get_docs(nlp.vocab))
        if self.words is None:
            return nlp.make_doc(self.text)
        spaces = [True] * (len(self.words) - 1) + [False] * bool(self.words)
        return Doc(nlp.vocab, words=self.words, spaces=spaces, tags=self.tags)


def read_records(path: Path, make_record: Callable[[str, str], Record | None]) -> Iterator[Record]:
    """Read a text a line. A line that cannot be read gives a record that says so.

    path (Path): The file in UTF-8, or - for standard input.
    make_record (Callable[[str, str], Record | None]): Gets file and line, for messages, and the line: `text_record`,
        `tokens_record` or `json_record`.
    YIELDS (Record): The records, one for each line; none for a blank line between JSON lines.
    """
    for number, line in _split_lines(path):
        where = f"{name_of(path)}:{number}"
        try:
            check_text(line)
            record = make_record(where, line)
        except ValueError as err:
            record = Record(where, error=str(err))
        if record is not None:
            yield record


def text_record(where: str, line: str) -> Record:
    """A line of text; a blank line is a text without words."""
    return Record(where, line.strip())


def tokens_record(where: str, line: str) -> Record:
    """A line of words, separated as in a bracket file."""
    from ..trees.escape import split_tokens

    return Record(where, words=split_tokens(line))


def json_record(where: str, line: str) -> Record | None:
    """A line of JSON: {"text": "..."} or {"tokens": [...], "tags": [...]}. "id" and "meta" are passed on.

    where (str): File and line.
    line (str): The line.
    RETURNS (Record | None): The record; None if the line is blank.
    RAISES (ValueError): If the line is something else.
    """
    if not line.strip():
        return None
    data = load_json(line)
    if not isinstance(data, dict):
        raise ValueError("not a JSON object")
    passed_on = {key: data[key] for key in PASSED_ON if key in data}
    if "tokens" not in data:
        text = data.get("text")
        if not isinstance(text, str):
            raise ValueError('the object has neither "tokens" nor a string "text"')
        check_text(text)
        return Record(where, text, passed_on=passed_on)
    words = _strings(data, "tokens")
    tags = None if data.get("tags") is None else _strings(data, "tags")
    if not all(words):
        raise ValueError("a token is empty")
    if tags is not None and len(tags) != len(words):
        raise ValueError(f"{len(words)} tokens have {len(tags)} tags")
    return Record(where, words=words, tags=tags, passed_on=passed_on)


def load_json(text: str) -> Any:
    """Read JSON, with an error for users where it is nested too deeply.

    srsly's reader refuses integers over 64 bits, and its writer rounds floats to 10 digits and escapes all that is not
    ASCII: "meta" would not leave as it came. So JSON is Python's own here.

    RAISES (ValueError): If it cannot be read.
    """
    try:
        return json.loads(text)
    except RecursionError as err:
        raise ValueError("the JSON is nested too deeply") from err


def _strings(data: dict[str, Any], key: str) -> list[str]:
    strings = data[key]
    if not isinstance(strings, list) or not all(isinstance(string, str) for string in strings):
        raise ValueError(f'"{key}" is not a list of strings')
    for string in strings:
        check_text(string)
    return strings


def read_docs(path: Path, nlp: Language) -> Iterator[Doc]:
    """Read the docs of a .spacy file, or of all .spacy files in a folder.

    path (Path): The file or folder.
    nlp (Language): The pipeline, for its vocabulary.
    YIELDS (Doc): The docs.
    RAISES (ValueError): If a file is not as spaCy writes it.
    """
    for _, docs in _doc_bins(path):
        yield from docs.get_docs(nlp.vocab)


def doc_records(path: Path, spans_key: str) -> Iterator[Record]:
    """Read docs as records.

    path (Path): A .spacy file or a folder.
    spans_key (str): Constituents under this key in `doc.spans` are left out: the parser replaces them.
    YIELDS (Record): The records.
    RAISES (ValueError): If a file is not as spaCy writes it.
    """
    for file, docs in _doc_bins(path):
        for number, doc in enumerate(docs.get_docs(Vocab()), start=1):
            doc.spans.pop(spans_key, None)
            yield Record(f"{file}: doc {number}", doc.text, doc=DocBin(docs=[doc], store_user_data=True))


def _doc_bins(path: Path) -> Iterator[tuple[Path, DocBin]]:
    from ..treebanks.files import find_files

    for file in find_files([path], suffixes=(".spacy",)):
        try:
            docs = DocBin(store_user_data=True).from_disk(file.path)
        except (ValueError, KeyError, TypeError) as err:
            raise ValueError(Errors.E354.format(path=file.path, reason=str(err).rstrip("."))) from err
        yield file.path, docs


def numbered_lines(path: Path) -> Iterator[tuple[int, str]]:
    """Read a text file in UTF-8, or standard input for "-", whatever the locale. Lines end in LF, CR LF or CR.

    path (Path): The file.
    YIELDS (tuple[int, str]): Number of the line, from 1, and the line. A byte order mark is left out.
    RAISES (ValueError): With file and line, if it is not in UTF-8.
    """
    for number, line in _split_lines(path):
        try:
            check_text(line)
        except ValueError as err:
            raise ValueError(Errors.E356.format(path=name_of(path), line=number, what="UTF-8", reason=err)) from err
        yield number, line


def name_of(path: Path) -> str:
    """How messages call an input."""
    return "<stdin>" if path == STANDARD else str(path)


def _split_lines(path: Path) -> Iterator[tuple[int, str]]:
    """Lines with their numbers. Bytes that are not UTF-8 come as half a surrogate pair each; see `check_text`."""
    with ExitStack() as stack:
        file: IO[bytes] = sys.stdin.buffer if path == STANDARD else stack.enter_context(path.open("rb"))
        lines = io.TextIOWrapper(file, "utf-8-sig", "surrogateescape")
        stack.callback(lines.detach)  # or else standard input would be closed with it
        yield from enumerate(lines, start=1)


def check_text(text: str) -> None:
    """Refuse what is not text: half a surrogate pair, or a byte that was not UTF-8.

    RAISES (ValueError): With the character that it begins at.
    """
    try:
        text.encode()
    except UnicodeEncodeError as err:
        code = ord(text[err.start])
        what = f"the byte 0x{code - 0xDC00:02x}" if 0xDC80 <= code <= 0xDCFF else f"half a surrogate pair, U+{code:X},"
        raise ValueError(f"{what} at character {err.start + 1} is not text in UTF-8") from err
