"""What the commands read: texts to parse, one per line; trees; docs."""

import io
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, TextIO

import typer
from spacy.language import Language
from spacy.tokens import Doc, DocBin
from spacy.vocab import Vocab

from ..errors import Errors, TreebankError
from ._util import STANDARD, Skipped, check_text, load_json, name_of, read_lines

if TYPE_CHECKING:
    from ..trees import Parse, Tree

READ = ("text", "tokens", "tags", "id", "meta")  # what a JSON line may say; the rest is left out


class Record(NamedTuple):
    """One text to parse. It becomes a doc when its turn comes, in whatever process that is.

    where (str): File and line of the text, for messages.
    data (dict[str, Any]): What a line of JSON says: "text", or "tokens" and optionally "tags"; "id" and "meta" go to
        the output. In place of these, "doc" is a DocBin with one doc.
    error (str): Why the line cannot be read, else "".
    """

    where: str
    data: dict[str, Any]
    error: str = ""

    def make_doc(self, nlp: Language) -> Doc:
        """Make the doc. Raises a ValueError if the text could not be read, or is longer than the pipeline takes."""
        if self.error:
            raise ValueError(self.error)
        if "doc" in self.data:
            (doc,) = DocBin.get_docs(self.data["doc"], nlp.vocab)
            return doc
        if "tokens" not in self.data:
            return nlp.make_doc(self.data["text"])
        words = self.data["tokens"]
        spaces = [True] * (len(words) - 1) + [False] * bool(words)
        return Doc(nlp.vocab, words=words, spaces=spaces, tags=self.data.get("tags"))


def read_records(path: Path, format: str) -> Iterator[Record]:
    """Read one text per line, in the format "text", "tokens" (separated as in a bracket file) or "jsonl" (objects, and
    blank lines between them). A line that cannot be read gives a record that says so."""
    for where, line in read_lines(path):
        if format == "jsonl" and not line.strip():
            continue
        try:
            record = Record(where, _read_line(line, format))
        except ValueError as err:
            record = Record(where, {}, str(err))
        yield record


def _read_line(line: str, format: str) -> dict[str, Any]:
    from ..trees.escape import split_tokens

    if format != "jsonl":
        check_text(line)
        return {"tokens": split_tokens(line)} if format == "tokens" else {"text": line.strip()}
    data = load_json(line)
    if not isinstance(data, dict):
        raise ValueError(Errors.E467.format(reason="it is not an object"))
    data = {key: data[key] for key in READ if key in data}
    if "tokens" not in data:
        if not isinstance(data.get("text"), str):
            raise ValueError(Errors.E467.format(reason='it has neither "tokens" nor a string "text"'))
        check_text(data["text"])
        return data
    words = _check_strings(data, "tokens")
    if not all(words):
        raise ValueError(Errors.E467.format(reason="a token is empty"))
    if data.get("tags") is not None and len(_check_strings(data, "tags")) != len(words):
        raise ValueError(Errors.E467.format(reason=f"{len(words)} tokens have {len(data['tags'])} tags"))
    return data


def _check_strings(data: dict[str, Any], key: str) -> list[str]:
    strings: list[str] = data[key]
    if not isinstance(strings, list) or not all(isinstance(string, str) for string in strings):
        raise ValueError(Errors.E467.format(reason=f'"{key}" is not a list of strings'))
    for string in strings:
        check_text(string)
    return strings


def read_trees(
    path: Path, encoding: str, skipped: Skipped | None, text: str | None = None
) -> Iterator[tuple[str, "Tree", "Parse"]]:
    """Read a bracket file, or standard input for "-": file and line of each tree, the tree, and its parse.

    A text stands for what was read already, or came in quotes. Malformed trees go to `skipped`. If that is None, the
    first one is a TreebankError.
    """
    from ..treebanks import penn
    from ..trees import Parse

    stream: TextIO | Path = typer.get_text_stream("stdin", encoding=encoding) if path == STANDARD else path
    for tree in penn.read_trees(stream if text is None else io.StringIO(text), encoding=encoding, on_error=skipped):
        try:
            parse = Parse.from_tree(tree)
            if not parse.words:
                raise ValueError(Errors.E001.format(reason="it has no words"))
        except ValueError as err:
            error = TreebankError(name_of(path), tree.line, str(err))
            if skipped is None:
                raise error from err
            skipped(error)
        else:
            yield f"{name_of(path)}:{tree.line}", tree, parse


def read_docs(path: Path, nlp: Language) -> Iterator[Doc]:
    """Read the docs of a .spacy file, or of all .spacy files in a folder, with the vocabulary of a pipeline."""
    for _, docs in _doc_bins(path):
        yield from docs.get_docs(nlp.vocab)


def doc_records(path: Path, spans_key: str) -> Iterator[Record]:
    """Read docs as records, without the constituents under this key in `doc.spans`: the parser replaces them."""
    for file, docs in _doc_bins(path):
        for number, doc in enumerate(docs.get_docs(Vocab()), start=1):
            doc.spans.pop(spans_key, None)
            content = DocBin(docs=[doc], store_user_data=True)
            yield Record(f"{file}: doc {number}", {"text": doc.text, "doc": content})


def _doc_bins(path: Path) -> Iterator[tuple[Path, DocBin]]:
    from ..treebanks.files import find_files

    for file in find_files([path], suffixes=(".spacy",)):
        try:
            docs = DocBin(store_user_data=True).from_disk(file.path)
        except (ValueError, KeyError, TypeError) as err:
            raise ValueError(Errors.E451.format(path=file.path, reason=str(err).rstrip("."))) from err
        yield file.path, docs
