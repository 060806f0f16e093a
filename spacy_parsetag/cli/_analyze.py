"""What the `parsetag analyze` commands share: their options, reading treebanks, and writing what was found."""

import json
from collections.abc import Callable, Iterator
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple, TypeVar

import typer
from spacy.cli._util import Arg, Opt

from ..errors import Errors, TreebankError
from ._inputs import read_docs
from ._util import Skipped, counting

if TYPE_CHECKING:
    from ..analysis.tables import Table
    from ..trees.binarize import BinaryTree

FoundT = TypeVar("FoundT")

Inputs = Annotated[
    list[str],
    Arg(
        metavar="[NAME=]INPUT...",
        help="Treebanks: each a bracket file, a .spacy file, a folder of such files or a quoted pattern. They are "
        "called by the names given, or by what of their paths tells them apart",
    ),
]
AsJson = Annotated[bool, Opt("--json", "-j", help="Print JSON, with all counts")]
AsCsv = Annotated[bool, Opt("--csv", help="Print the table as CSV")]
Figures = Annotated[
    list[Path] | None,
    Opt("--figure", "-f", dir_okay=False, help="Draw a figure into this file: .svg, .png or .pdf; may be repeated"),
]
Limit = Annotated[int, Opt("--limit", "-l", min=0, help="Read so many trees of each treebank; 0: all")]
Glob = Annotated[str | None, Opt("--glob", help="Which files of a folder to read, such as 'train*.mrg'")]
Encoding = Annotated[str, Opt("--encoding", "-e", help="Encoding of bracket files")]
SkipBad = Annotated[
    bool, Opt("--skip-bad", help="List and leave out malformed trees, instead of stopping at the first")
]
SpansKey = Annotated[str, Opt("--spans-key", "-k", help="Key of the constituents in doc.spans, in .spacy files")]


class Reading(NamedTuple):
    """How to read treebanks: the options of the same names."""

    limit: int = 0
    glob: str | None = None
    encoding: str = "utf-8"
    skip_bad: bool = False
    spans_key: str = "constituents"


def name_inputs(inputs: list[str]) -> dict[str, str]:
    """The treebanks by name.

    inputs (List[str]): Paths, some with a name before them: NAME=PATH.
    RETURNS (Dict[str, str]): Paths by name. Those without a name are called by the first of these that tells them
        apart: the name of the file, the name of its folder, both, the whole path.
    RAISES (ValueError): If two have the same name.
    """
    given: list[str | None] = []
    paths: list[str] = []
    for text in inputs:
        name, equals, path = text.partition("=")
        named = bool(equals and name and path) and not Path(text).exists()
        given.append(name if named else None)
        paths.append(path if named else text)
    unnamed = [Path(path) for path, name in zip(paths, given, strict=True) if name is None]
    ways: list[Callable[[Path], str]] = [
        lambda path: path.stem,
        lambda path: path.parent.name,
        lambda path: f"{path.parent.name}/{path.stem}",
    ]
    way = next((way for way in ways if len({way(path) for path in unnamed} - {""}) == len(unnamed)), str)
    found: dict[str, str] = {}
    for path, chosen in zip(paths, given, strict=True):
        name = way(Path(path)) if chosen is None else chosen
        if name in found:
            raise ValueError(Errors.E370.format(name=name))
        found[name] = path
    return found


def measure(
    inputs: list[str], reading: Reading, count: "Callable[[Iterator[BinaryTree]], FoundT]"
) -> dict[str, FoundT]:
    """Read each treebank once, a tree at a time.

    inputs (List[str]): The treebanks.
    reading (Reading): How to read them.
    count (Callable[[Iterator[BinaryTree]], FoundT]): What to do with the trees of one.
    RETURNS (Dict[str, FoundT]): What came out, by name.
    RAISES (ValueError): If a tree is malformed, or there is none.
    """
    skipped = Skipped()
    found = {}
    with counting("trees") as progress:
        for name, path in name_inputs(inputs).items():
            seen = 0

            def read(path: str = path) -> "Iterator[BinaryTree]":
                nonlocal seen
                all_trees = read_binary_trees(path, reading, skipped)
                for tree in progress(islice(all_trees, reading.limit or None)):
                    seen += 1
                    yield tree

            found[name] = count(read())
            if not seen:
                raise ValueError(Errors.E355.format(inputs=path))
    skipped.summarize()
    return found


def read_binary_trees(source: str, reading: Reading, skipped: Skipped) -> "Iterator[BinaryTree]":
    """The trees of a file, folder or pattern, binarized. Labels are text, as they are in docs.

    source (str): The file, folder or pattern.
    reading (Reading): How to read it.
    skipped (Skipped): Is told of malformed trees, if `reading` says so.
    YIELDS (BinaryTree): The trees.
    """
    from ..tokens.convert import parse_from_tree
    from ..treebanks.files import find_files
    from ..treebanks.formats.table import FORMATS
    from ..treebanks.penn import read_trees
    from ..trees.binarize import binarize

    on_error = skipped if reading.skip_bad else None
    for file in find_files([source], suffixes=(*FORMATS["penn"].suffixes, ".spacy"), pattern=reading.glob):
        if file.path.suffix == ".spacy":
            yield from _read_spacy(file.path, reading.spans_key)
            continue
        for tree in read_trees(file.path, encoding=reading.encoding, on_error=on_error):
            try:
                binary = binarize(parse_from_tree(tree))
            except ValueError as err:
                error = TreebankError(str(file.path), tree.line, str(err))
                if on_error is None:
                    raise error from err
                on_error(error)
                continue
            yield binary


def _read_spacy(path: Path, spans_key: str) -> "Iterator[BinaryTree]":
    import spacy

    from ..tokens.spans import has_parses, parses_from_doc
    from ..trees.binarize import binarize

    annotated = False
    for doc in read_docs(path, spacy.blank("xx")):
        if has_parses(doc, spans_key):
            annotated = True
            for _, parse in parses_from_doc(doc, spans_key):
                yield binarize(parse)
    if not annotated:
        raise ValueError(Errors.E373.format(path=path, key=spans_key))


def check_options(as_json: bool, as_csv: bool, figures: list[Path] | None) -> list[Path]:
    """Say what cannot be done before treebanks are read; returns the figures to draw."""
    from ..analysis.plots import check_paths

    if as_json and as_csv:
        raise ValueError(Errors.E362.format(option="--json", needs="that there is no --csv"))
    check_paths(figures or [])
    return figures or []


def show(content: dict[str, Any], table: "Table", as_json: bool, as_csv: bool, *, csv: "Table | None" = None) -> None:
    """Print what was found.

    content (Dict[str, Any]): For --json.
    table (Table): To look at.
    as_json, as_csv (bool): The options.
    csv (Optional[Table]): For --csv, if that is another table.
    """
    from ..analysis.tables import format_csv, format_text

    if as_json:
        text = json.dumps(content, indent=2, ensure_ascii=False) + "\n"
    elif as_csv:
        text = format_csv(csv or table)
    else:
        text = format_text(table)
    typer.echo(text, nl=False)
