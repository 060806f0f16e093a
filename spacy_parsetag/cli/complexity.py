"""`python -m spacy parsetag complexity`: fourteen measures of the syntactic complexity of English texts."""

from collections import Counter, defaultdict
from functools import partial
from pathlib import Path
from typing import Annotated, Any, Literal

import numpy as np
from typer import Argument as Arg, Option as Opt

from ..analysis.tables import Table
from ..errors import Errors, Warnings
from ._util import (
    AsCsv,
    AsJson,
    Encoding,
    Glob,
    IdKey,
    SpansKey,
    note,
    note_left_out,
    refuse,
    refuse_glob,
    show,
    warn_of_empty,
)

Unit = Literal["file", "row", "id"]
# The columns that say which text a row is of.
PLACES: dict[Unit, tuple[str, ...]] = {"file": ("file",), "row": ("file", "line", "id"), "id": ("id",)}


def complexity_cli(
    inputs: Annotated[
        list[Path], Arg(metavar="INPUT...", help="Files of trees, folders of them, - for standard input")
    ],
    text: Annotated[
        Unit,
        Opt("--text", "-t", help="What a text is: a file; a row, line or doc of it; or all trees of one id"),
    ] = "file",
    as_json: AsJson = False,
    as_csv: AsCsv = False,
    glob: Glob = None,
    encoding: Encoding = "utf-8",
    spans_key: SpansKey = "constituents",
    id_key: IdKey = "id",
) -> None:
    """Measure the syntactic complexity of English texts as L2SCA does (Lu 2010): nine structures, fourteen ratios.

    W words, S sentences, VP verb phrases, C clauses, T T-units, DC dependent clauses, CT complex T-units, CP coordinate
    phrases, CN complex nominals; MLS, MLT and MLC are the mean lengths of sentences, T-units and clauses. Labels
    and tags are the Penn Treebank's, without function tags and empty elements, which `convert` strips. With --text id
    each tree must have an identifier, which may occur in several files.

    \b
    Examples:
      python -m spacy parsetag complexity essays/*.mrg --csv
      python -m spacy parsetag complexity essays.jsonl --text id --csv
      python -m spacy parsetag complexity essays.jsonl --id meta.author --text id
      python -m spacy parsetag parse essay.txt --format paragraphs | python -m spacy parsetag complexity -
    """
    from ..search.complexity import MEASURES, STRUCTURES, UNCLEAN, count_structures, measure
    from ..texts.tree_files import NO_TREE, find_trees, name_files, places_of, read_columns

    if as_json and as_csv:
        raise ValueError(Errors.E459)
    refuse(id_key != "id" and text == "file", "--id", "--text id or row")
    refuse_glob(glob, inputs)
    counts: dict[tuple[Any, ...], Counter[str]] = defaultdict(Counter)
    n_trees: dict[Path, int] = {}
    left_out: Counter[str] = Counter()
    unclean: set[str] = set()
    for path in find_trees(inputs, glob, partial(note, kind="warn")):
        n_trees[path] = 0
        for columns in read_columns(path, encoding, None, spans_key, left_out, id_key):
            n_trees[path] += len(columns)
            unclean.update(map(columns.strings.__getitem__, columns.label[UNCLEAN.find(columns)].tolist()))
            places = {part: places_of(columns, path, part) for part in PLACES[text]}
            if text == "row":  # whose sentences may have identifiers of their own
                firsts = np.arange(len(columns)) - columns.sentence + 1
                places["id"] = [places["id"][first] for first in firsts]
            texts = list(zip(*places.values(), strict=True))
            if text == "id" and ("",) in texts:
                raise ValueError(Errors.E471.format(where=columns.where(texts.index(("",)))))
            numbers = {place: number for number, place in enumerate(dict.fromkeys(texts))}
            text_numbers = np.array([numbers[place] for place in texts], np.int64)
            structures = count_structures(columns, text_numbers, len(numbers))
            for place, number in numbers.items():
                counts[place].update({structure: int(values[number]) for structure, values in structures.items()})
    if text == "file":
        del left_out[NO_TREE]
    note_left_out(left_out)
    if not counts:
        raise ValueError(Errors.E106.format(inputs=", ".join(map(str, inputs))))
    warn_of_empty(n_trees)
    if unclean:
        note(Warnings.W450.format(labels=", ".join(sorted(unclean)[:3])), "warn")
    rows = name_files((*place, *each.values(), *measure(each).values()) for place, each in counts.items())
    table = Table((*PLACES[text], *STRUCTURES, *MEASURES), rows)
    show(table, as_csv, [dict(zip(table.columns, row, strict=True)) for row in rows] if as_json else None)
