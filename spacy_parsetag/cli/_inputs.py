"""What `parsetag parse` reads: lines of text, JSON lines, docs."""

import json
import sys
from collections.abc import Iterable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, NamedTuple

from ..errors import Errors
from ._util import STANDARD

if TYPE_CHECKING:
    from spacy.language import Language
    from spacy.tokens import Doc

# What of a JSON line is passed on to the output.
PASSED_ON = ("id", "meta")


class Record(NamedTuple):
    """A text to parse. Made into a doc only when its turn comes.

    text (str): The text; not used if there are words.
    words (Optional[List[str]]): Its words, if they are known.
    tags (Optional[List[str]]): Their part-of-speech tags, if they are known.
    passed_on (Dict[str, Any]): What goes with it to the output.
    """

    text: str = ""
    words: list[str] | None = None
    tags: list[str] | None = None
    passed_on: dict[str, Any] = {}  # noqa: RUF012 (never changed)

    def make_doc(self, nlp: "Language", one_sentence: bool) -> "Doc":
        """Make the doc.

        nlp (Language): The pipeline, for its tokenizer.
        one_sentence (bool): Whether the text is one sentence; otherwise the pipeline finds sentences.
        RETURNS (Doc): The doc, empty for a text without words.
        """
        from spacy.tokens import Doc

        words = self.words
        if words is not None:
            doc = Doc(nlp.vocab, words=words, spaces=[True] * (len(words) - 1) + [False] * bool(words), tags=self.tags)
        else:
            doc = nlp.make_doc(self.text)
        if one_sentence:
            mark_one_sentence(doc)
        return doc


def mark_one_sentence(doc: "Doc") -> None:
    """Make the doc one sentence."""
    for token in doc:
        token.is_sent_start = token.i == 0


def read_lines(path: Path, *, tokens: bool) -> Iterator[Record]:
    """Read a line of text each; an empty or blank line is a record without words.

    path (Path): The file, or - for standard input.
    tokens (bool): Whether the lines are words with spaces between.
    YIELDS (Record): The lines.
    """
    for _, line in numbered_lines(path):
        yield Record(words=line.split()) if tokens else Record(text=line.strip())


def read_jsonl(path: Path) -> Iterator[Record]:
    """Read a JSON object a line: {"text": "..."} or {"tokens": [...], "tags": [...]}; "id" and "meta" are passed on.

    path (Path): The file, or - for standard input.
    YIELDS (Record): The records. Empty lines are none.
    RAISES (ValueError): With file and line, if a line is not such.
    """
    for number, line in numbered_lines(path):
        if line.strip():
            try:
                yield to_record(json.loads(line))
            except ValueError as err:
                what = 'JSON with "text" or "tokens"'
                raise ValueError(Errors.E356.format(path=path, line=number, what=what, reason=err)) from err


def to_record(data: Any) -> Record:
    """Check one JSON object.

    data (Any): What was read.
    RETURNS (Record): The record.
    RAISES (ValueError): If it is not as in `read_jsonl`.
    """
    if not isinstance(data, dict):
        raise ValueError("it is no object")
    passed_on = {key: data[key] for key in PASSED_ON if key in data}
    if "tokens" not in data:
        if not isinstance(data.get("text"), str):
            raise ValueError('it has neither "tokens" nor a string "text"')
        return Record(text=data["text"], passed_on=passed_on)
    words, tags = data["tokens"], data.get("tags")
    for name, strings in (("tokens", words), ("tags", [] if tags is None else tags)):
        if not isinstance(strings, list) or not all(isinstance(string, str) for string in strings):
            raise ValueError(f'"{name}" is no list of strings')
    if not all(words):
        raise ValueError("a token is empty")
    if tags is not None and len(tags) != len(words):
        raise ValueError(f"{len(words)} tokens have {len(tags)} tags")
    return Record(words=words, tags=tags, passed_on=passed_on)


def read_docs(path: Path, nlp: "Language") -> "Iterator[Doc]":
    """Read the docs of a .spacy file, or of all of a folder.

    path (Path): The file or folder.
    nlp (Language): The pipeline, for its vocabulary.
    YIELDS (Doc): The docs.
    RAISES (ValueError): If a file is not as spaCy writes it.
    """
    from spacy.tokens import DocBin

    from ..treebanks.files import find_files

    for file in find_files([path], suffixes=(".spacy",)):
        try:
            docs = DocBin().from_disk(file.path)
        except (ValueError, KeyError, TypeError) as err:
            raise ValueError(Errors.E354.format(path=file.path, reason=str(err).rstrip("."))) from err
        yield from docs.get_docs(nlp.vocab)


def numbered_lines(path: Path) -> Iterator[tuple[int, str]]:
    """Read a text file in UTF-8, or standard input for "-", whatever the locale.

    path (Path): The file.
    YIELDS (Tuple[int, str]): Number of the line, from 1, and the line. A byte order mark is left out.
    RAISES (ValueError): With file and line, if it is not in UTF-8.
    """
    with ExitStack() as stack:
        file: IO[bytes] = sys.stdin.buffer if path == STANDARD else stack.enter_context(path.open("rb"))
        for number, line in enumerate(file, start=1):
            try:
                yield number, line.decode("utf-8-sig" if number == 1 else "utf-8")
            except UnicodeDecodeError as err:
                raise ValueError(Errors.E356.format(path=path, line=number, what="text in UTF-8", reason=err)) from err


def with_context(docs: "Iterable[Doc]") -> "Iterator[tuple[Doc, dict[str, Any]]]":
    """Docs as `nlp.pipe` takes them with something to pass on, which is nothing."""
    return ((doc, {}) for doc in docs)
