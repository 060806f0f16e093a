"""Finds the pipeline of commands that are given none, and reads their input: trees, docs, and text in quotes."""

import io
import os
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path

from spacy.language import Language
from spacy.pipeline import Sentencizer
from spacy.tokens import Doc
from spacy.util import is_package

from ..errors import Errors, TreebankError
from ..files.find import find_files
from ..files.read import suffix_of
from ..files.write import STANDARD
from ..texts.input import FORMATS, NOT_TEXT, check_text, name_of, read_doc_file
from ..texts.parser import BatchParser, Settings
from ..tokens.groups import has_parses, is_marked, list_groups, parses_from_doc
from ..treebanks import penn
from ..treebanks.lines import read_file_lines
from ..trees import Parse, Tree
from ._util import note, note_left_out

_SUFFIXES = {*FORMATS, *NOT_TEXT, ".mrg"}
DEFAULT_MODEL = "en_parsetag_sm"  # the pipeline that comes with the project, as a package of its own


def default_model() -> str:
    """Name the pipeline of commands that are given none. Raises a ValueError if it is not installed."""
    if not is_package(DEFAULT_MODEL):
        raise ValueError(Errors.E468.format(name=DEFAULT_MODEL))
    return DEFAULT_MODEL


def is_pipeline(name: str) -> bool:
    """Tell whether there is a pipeline of this name, a package or a folder."""
    return is_package(name) or os.path.isfile(os.path.join(name, "config.cfg"))


def start_parser(settings: Settings) -> BatchParser:
    """Load a pipeline to parse with, and say so where it gets a splitter of sentences."""
    parser = BatchParser(settings)
    if parser.added_sentencizer:
        note("The pipeline has no splitter of sentences: text is split at sentence-final punctuation.", "warn")
    return parser


def is_text(source: str) -> bool:
    """Tell whether an argument that is no file is text: several words, or a sentence with its final punctuation."""
    is_sentence = source[-1:] in Sentencizer.default_punct_chars and os.path.basename(source) == source
    return is_sentence or len(source.split()) > 1


def find_input(source: str) -> tuple[Path, str | None]:
    """Find the file to read, or "-" for standard input; for a text in quotes, return "-" and the text.

    RAISES (ValueError): If `source` is no file or folder, nor like text, or a text that is not in UTF-8.
    """
    if source == str(STANDARD) or os.path.exists(source):  # unlike Path.exists, it knows that a long text is no file
        return Path(source), None
    if not is_text(source):
        raise ValueError(Errors.E484.format(source=source))
    if "\n" not in source and suffix_of(Path(source)) in _SUFFIXES:  # the name of a file, with spaces, and not a text
        raise ValueError(Errors.E030.format(path=source))
    try:
        source.encode()
    except UnicodeEncodeError:
        # Python has read the argument by the locale, some of its bytes as half surrogate pairs. Text is in UTF-8.
        source = os.fsencode(source).decode("utf-8", "surrogateescape")
        check_text(source)
    return STANDARD, source


def trees_and_parses(
    path: Path, encoding: str, skipped: Callable[[TreebankError], None], text: str | None = None
) -> Iterator[tuple[str, Tree, Parse]]:
    """Read a bracket file, or standard input for "-": file and line of each tree, the tree, and its parse.

    `text`, if given, replaces the file: it was read already, or came in quotes. Malformed trees go to `skipped`.
    """
    name = name_of(path)
    if text is None:
        trees = iter(penn.BracketReader(read_file_lines(path, encoding, name), name, encoding, skipped, None))
    else:
        trees = penn.read_trees(io.StringIO(text), on_error=skipped)
    for tree, parse in penn.make_of_each(trees, Parse.from_tree, name, skipped):
        yield f"{name}:{tree.line}", tree, parse


def read_gold_docs(path: Path, nlp: Language, spans_key: str, option: str = "") -> list[Doc]:
    """Read the docs that have words and constituents, and say how many others are left out.

    option (str): What names the key, for the message.
    RAISES (ValueError): If there are none.
    """
    docs: list[Doc] = []
    left_out: Counter[str] = Counter()
    for doc in read_docs(path, nlp, spans_key):
        if is_marked(doc, "partial", spans_key):
            left_out[""] += 1  # what is not known to be there may be right
        elif not doc.text.strip():
            continue
        elif has_parses(doc, spans_key):
            docs.append(doc)
        else:
            left_out[f"doc.spans has no {spans_key!r}{option}, but {list_groups([doc])}"] += 1
    note_left_out(left_out)
    if not docs:
        raise ValueError(Errors.E458.format(path=path, key=spans_key))
    return docs


def read_docs(path: Path, nlp: Language, spans_key: str) -> Iterator[Doc]:
    """Read the docs of a .spacy file, or of all .spacy files in a folder, with the vocabulary of a pipeline.

    RAISES (TreebankError): If the constituents of a doc are no trees (see `parses_from_doc`), with its number.
    """
    for file in find_files([path], suffixes=(".spacy",)):
        for number, doc in enumerate(read_doc_file(file.path, nlp.vocab), start=1):
            if has_parses(doc, spans_key) and not is_marked(doc, "partial", spans_key):
                try:
                    parses_from_doc(doc, spans_key)
                except ValueError as err:
                    raise TreebankError(str(file.path), number, str(err)) from err
            yield doc
