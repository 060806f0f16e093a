"""What `parsetag parse` writes: brackets, JSON, docs."""

import json
from collections.abc import Iterable
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

from ._util import text_output

if TYPE_CHECKING:
    from spacy.tokens import Doc

Parsed = Iterable[tuple["Doc", dict[str, Any]]]
NO_PARSE = "(TOP)"


def write_brackets(parsed: Parsed, output: Path, spans_key: str, *, keep_empty: bool) -> None:
    """Write a line of brackets for each sentence.

    parsed (Iterable[Tuple[Doc, Dict[str, Any]]]): The docs.
    output (Path): The file, or - for standard output.
    spans_key (str): Key of the constituents.
    keep_empty (bool): Write (TOP) for a doc without words, so that lines keep their numbers.
    """
    from ..tokens.strings import doc_to_strings

    with text_output(output) as file:
        for doc, _ in parsed:
            lines = doc_to_strings(doc, spans_key)
            if not lines and keep_empty:
                lines = [NO_PARSE]
            file.writelines(line + "\n" for line in lines)


def write_json(parsed: Parsed, output: Path, spans_key: str, *, as_lines: bool) -> None:
    """Write a JSON object for each doc, see `to_json`.

    parsed (Iterable[Tuple[Doc, Dict[str, Any]]]): The docs and what goes with them.
    output (Path): The file, or - for standard output.
    spans_key (str): Key of the constituents.
    as_lines (bool): A line each; otherwise one list.
    """
    with text_output(output) as file:
        objects = (json.dumps({**to_json(doc, spans_key), **rest}, ensure_ascii=False) for doc, rest in parsed)
        if as_lines:
            file.writelines(text + "\n" for text in objects)
        else:
            _write_list(objects, file)


def _write_list(objects: Iterable[str], file: IO[str]) -> None:
    separator = "[\n"
    for text in objects:
        file.write(separator + text)
        separator = ",\n"
    file.write("\n]\n" if separator != "[\n" else "[]\n")


def to_json(doc: "Doc", spans_key: str) -> dict[str, Any]:
    """A parsed doc as JSON.

    doc (Doc): The doc.
    spans_key (str): Key of the constituents.
    RETURNS (Dict[str, Any]): "text", and "sents": for each sentence "start" and "end" (characters of the text),
        "words", "pos", "constituents" (in pre-order; "start" and "end" count the words of the sentence) and "tree".
    """
    from ..tokens.spans import parses_from_doc
    from ..tokens.strings import parse_string

    sents: list[dict[str, Any]] = []
    for tokens, parse in parses_from_doc(doc, spans_key):
        first, last = doc[tokens[0]], doc[tokens[-1]]
        sents.append(
            {
                "start": first.idx,
                "end": last.idx + len(last),
                "words": parse.words,
                "pos": parse.tags,
                "constituents": [{"label": label, "start": start, "end": end} for start, end, label in parse.spans],
                "tree": parse_string(parse),
            }
        )
    return {"text": doc.text, "sents": sents}


def write_docs(parsed: Parsed, output: Path) -> None:
    """Write docs as a .spacy file.

    parsed (Iterable[Tuple[Doc, Dict[str, Any]]]): The docs.
    output (Path): The file, which appears whole or not at all.
    """
    from spacy.tokens import DocBin

    from ..treebanks.atomic import atomic_path

    docs = DocBin()
    for doc, _ in parsed:
        docs.add(doc)
    output.parent.mkdir(parents=True, exist_ok=True)
    with atomic_path(output) as temporary:
        docs.to_disk(temporary)
