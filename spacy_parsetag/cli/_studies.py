"""The analyses of treebanks that `parsetag analyze` has commands for, as a table. Imported when one of them runs."""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import spacy

from ..analysis.counts import count_deviations, count_labels, count_stacks, count_tags
from ..analysis.plots import plot_coverage, plot_deviations, plot_stacks
from ..analysis.tables import Table, deviation_table, label_table, labels_table, stack_table, tag_table, tags_table
from ..errors import Errors
from ..tokens import has_parses, parses_from_doc
from ..treebanks.files import find_files
from ..treebanks.formats.table import FORMATS
from ..trees import Parse, binarize
from ._inputs import read_docs, read_trees
from ._util import Skipped

Found = Mapping[str, Any]  # what was counted, by treebank


class Study(NamedTuple):
    """What one command does with its treebanks.

    measure (Callable): Counts what is in a treebank. Gets its parses, and what the first treebank gave, else None.
    table (Callable): The table to look at.
    plot (Callable): Draws figures into files.
    csv (Callable): The table for --csv.
    lists (Callable): Lists of items by name, to print below the table; of one treebank.
    """

    measure: Callable[[Iterable[Parse], Any], Any]
    table: Callable[[Found], Table]
    plot: Callable[[Found, list[Path]], None]
    csv: Callable[[Found], Table]
    lists: Callable[[Any], dict[str, Counter[str]]] = lambda found: {}


def _lists_of_labels(found: Any) -> dict[str, Counter[str]]:
    kinds = found.kinds()
    unseen = {f"unseen {kind}": one.unseen for kind, one in kinds.items() if one.train is not None}
    return {kind: one.counts for kind, one in kinds.items()} | unseen


STUDIES = {
    "deviation": Study(
        lambda parses, _: count_deviations(map(binarize, parses)), deviation_table, plot_deviations, deviation_table
    ),
    "stack": Study(lambda parses, _: count_stacks(map(binarize, parses)), stack_table, plot_stacks, stack_table),
    "tags": Study(
        lambda parses, train: count_tags(map(binarize, parses), train),
        tags_table,
        lambda found, paths: plot_coverage(found, paths, kind="tags"),
        tag_table,
        lambda found: {} if found.train is None else {"unseen": found.unseen},
    ),
    "labels": Study(
        count_labels,
        labels_table,
        lambda found, paths: plot_coverage(
            {name: one.productions for name, one in found.items()}, paths, kind="productions"
        ),
        label_table,
        _lists_of_labels,
    ),
}


def read_parses(
    source: str, glob: str | None, encoding: str, skipped: Skipped | None, spans_key: str
) -> Iterator[Parse]:
    """The parses of a file, folder or pattern. Labels are text, as they are in docs.

    Malformed trees go to `skipped`. If that is None, the first one is a TreebankError.
    """
    for file in find_files([source], suffixes=(*FORMATS["penn"].suffixes, ".spacy"), pattern=glob):
        if file.path.suffix == ".spacy":
            annotated = False
            for doc in read_docs(file.path, spacy.blank("xx")):
                if has_parses(doc, spans_key):
                    annotated = True
                    yield from (parse for _, parse in parses_from_doc(doc, spans_key))
            if not annotated:
                raise ValueError(Errors.E458.format(path=file.path, key=spans_key))
            continue
        yield from (parse for *_, parse in read_trees(file.path, encoding, skipped))
