"""`python -m spacy parsetag complexity`: fourteen measures of the syntactic complexity of English texts."""

from collections import Counter
from functools import partial
from pathlib import Path
from typing import Annotated, Any, Literal

import numpy as np
from typer import Argument as Arg, Option as Opt

from ..analysis.tables import Table
from ..errors import Errors, Warnings
from ._util import AsCsv, AsJson, Encoding, Glob, SpansKey, note, note_left_out, show, warn_of_empty

Unit = Literal["file", "row"]


def complexity_cli(
    inputs: Annotated[
        list[Path], Arg(metavar="INPUT...", help="Files of trees, folders of them, - for standard input")
    ],
    text: Annotated[Unit, Opt("--text", "-t", help="What a text is: a file; or a row, line or doc of it")] = "file",
    as_json: AsJson = False,
    as_csv: AsCsv = False,
    glob: Glob = None,
    encoding: Encoding = "utf-8",
    spans_key: SpansKey = "constituents",
) -> None:
    """Measure the syntactic complexity of English texts as L2SCA does (Lu 2010): nine structures, fourteen ratios.

    W words, S sentences, VP verb phrases, C clauses, T T-units, DC dependent clauses, CT complex T-units, CP coordinate
    phrases, CN complex nominals; MLS, MLT and MLC are the mean lengths of sentences, T-units and clauses. Labels
    and tags are the Penn Treebank's, without function tags and empty elements, which `convert` strips.

    \b
    Examples:
      python -m spacy parsetag complexity essays/*.mrg --csv
      python -m spacy parsetag complexity essays.jsonl --text row
      python -m spacy parsetag parse essay.txt --sents model | python -m spacy parsetag complexity -
    """
    from ..search.complexity import UNCLEAN, count_structures, measure
    from ..texts.search import NO_TREE, find_trees, read_columns

    if as_json and as_csv:
        raise ValueError(Errors.E459)
    counts: dict[tuple[str, Path], Counter[str]] = {}
    n_trees: dict[Path, int] = {}
    left_out: Counter[str] = Counter()
    unclean: set[str] = set()
    for path in find_trees(inputs, glob, partial(note, kind="warn")):
        n_trees[path] = 0
        for columns in read_columns(path, encoding, spans_key=spans_key, left_out=left_out):
            n_trees[path] += len(columns)
            unclean.update(map(columns.strings.__getitem__, columns.label[UNCLEAN.find(columns)].tolist()))
            names = [columns.names[source] for source in columns.source.tolist()]
            if text == "row":
                marks = (f" ({identifier})" if identifier else "" for identifier in columns.ids or [""] * len(columns))
                names = [f"{columns.where(tree)}{mark}" for tree, mark in enumerate(marks)]
            numbers = {name: number for number, name in enumerate(dict.fromkeys(names))}
            structures = count_structures(columns, np.array([numbers[name] for name in names], np.int64), len(numbers))
            for name, number in numbers.items():
                text_counts = counts.setdefault((name, path), Counter())
                text_counts.update({structure: int(values[number]) for structure, values in structures.items()})
    if text == "file":
        del left_out[NO_TREE]
    note_left_out(left_out)
    if not counts:
        raise ValueError(Errors.E106.format(inputs=", ".join(map(str, inputs))))
    warn_of_empty(n_trees)
    if unclean:
        note(Warnings.W450.format(labels=", ".join(sorted(unclean)[:3])), "warn")
    n_texts = Counter(name for name, _ in counts)  # more than one if the inputs are a file and trees saved from it
    measured = {
        name if n_texts[name] == 1 else f"{path}: {name}": {**text_counts, **measure(text_counts)}
        for (name, path), text_counts in counts.items()
    }
    rows: list[tuple[Any, ...]] = [(name, *row.values()) for name, row in measured.items()]
    show(Table(("text", *next(iter(measured.values()))), rows), as_csv, measured if as_json else None)
