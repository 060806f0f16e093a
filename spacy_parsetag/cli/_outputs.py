"""What `parsetag parse` writes: brackets, JSON, docs."""

from collections.abc import Iterable
from pathlib import Path
from typing import Any

from spacy.tokens import Doc, DocBin

from ._util import text_output


def write_texts(texts: Iterable[str], output: Path, *, as_list: bool) -> None:
    """Write a text a line.

    texts (Iterable[str]): The texts.
    output (Path): The file, or - for standard output.
    as_list (bool): The texts are JSON; put them into one JSON list.
    """
    with text_output(output) as file:
        if not as_list:
            file.writelines(text + "\n" for text in texts)
            return
        separator = "[\n"
        for text in texts:
            file.write(separator + text)
            separator = ",\n"
        file.write("\n]\n" if separator == ",\n" else "[]\n")


def write_docs(parts: Iterable[DocBin], output: Path) -> None:
    """Write docs as one .spacy file, which appears whole or not at all."""
    from ..treebanks.atomic import atomic_path

    docs = DocBin()
    for part in parts:
        docs.merge(part)
    output.parent.mkdir(parents=True, exist_ok=True)
    with atomic_path(output) as temporary:
        docs.to_disk(temporary)


def to_json(doc: Doc, spans_key: str) -> dict[str, Any]:
    """A parsed doc as JSON.

    doc (Doc): The doc.
    spans_key (str): Key of the constituents.
    RETURNS (dict[str, Any]): "text", and "sents": for each sentence "start" and "end" (characters of the text),
        "words", "pos", "constituents" (in pre-order; "start" and "end" count the words of the sentence) and "tree".
    """
    from ..tokens import parse_string, parses_from_doc

    sents: list[dict[str, Any]] = []
    for tokens, parse in parses_from_doc(doc, spans_key):
        first, last = doc[tokens[0]], doc[tokens[-1]]
        sents.append(
            {
                "start": first.idx,
                "end": last.idx + len(last),
                "words": parse.words,
                "pos": parse.pos,
                "constituents": [{"label": label, "start": start, "end": end} for start, end, label in parse.spans],
                "tree": parse_string(parse),
            }
        )
    return {"text": doc.text, "sents": sents}
