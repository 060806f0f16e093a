"""Search files, shards and tables of trees: what a worker, an actor of Ray or a task of Spark does."""

import json
from collections import Counter
from collections.abc import Collection, Iterable, Iterator
from dataclasses import replace
from functools import partial
from itertools import chain, groupby, islice
from operator import itemgetter
from pathlib import Path
from typing import Any, Literal, NamedTuple, TypeAlias

import numpy as np

from ..compat import require
from ..errors import Errors, showable
from ..search import TreeColumns, Tregex, read_table
from ..search.heads import HeadRules
from ..search.match import Matches
from ..search.pattern import Label
from ..tokens.groups import SPANS_KEY
from ..trees.brackets import format_tree
from .output import arrow_type
from .tree_files import NO_TREE, TreeFile, places_of, read_columns

Report: TypeAlias = Literal["context", "count", "by", "csv", "mrg", "html"]
MATCH = "match"  # what --by calls the node that matches
TEXTS = ("file", "id")  # what --by calls the text of a match
# The columns of a row, before the nodes that a pattern names, and those of a table.
COLUMNS = ("file", "line", "id", "sentence", "label", "start", "end", "text", "left", "right")
MATCHES = {
    "id": str, "row": int, "sentence": int, "label": str, "start": int, "end": int, "text": str, "left": str,
    "right": str, "names": str,
}  # fmt: skip


class Query(NamedTuple):
    """A search: the pattern and the report. It goes to each worker process.

    pattern (str): The pattern, in Tregex's notation.
    heads (str): Whose head rules the pattern goes by: "penn", "ctb", "icon" or a file of them.
    encoding (str): The encoding of bracket files.
    report (Report): What to make of the matches: lines with their words ("context"), numbers ("count", "by"), rows of a
        table ("csv"), or trees, in brackets ("mrg") or to be drawn ("html").
    by (tuple[str, ...]): For "by": names of nodes, or "match"; with ".head" their head words, with ".lower" these in
        small letters, else their labels; "file" and "id" for the text.
    spans_key (str): Where the constituents of docs are in `doc.spans`.
    limit (int | None): How many matches, or trees, of a file to write at most.
    id_key (str): What identifies a text, see `read_columns`.
    """

    pattern: str
    heads: str
    encoding: str
    report: Report
    by: tuple[str, ...] = ()
    spans_key: str = SPANS_KEY
    limit: int | None = None
    id_key: str = "id"

    def compile(self) -> Tregex:
        """Read the pattern. RAISES (ValueError): If it is none, or its names do not fit the report."""
        tregex = Tregex(self.pattern, heads=self.heads)
        names = [MATCH, *tregex.names]
        for key in self.by:
            name, _, what = key.partition(".")
            if key not in TEXTS and (name not in names or what not in ("", "head", "lower")):
                raise ValueError(Errors.E572.format(name=key, known=", ".join(names)))
        _check_names(tregex, {"csv": COLUMNS, "by": (MATCH, *TEXTS)}.get(self.report, ()))
        return tregex


class Hits(NamedTuple):
    """The matches of a batch of a file.

    totals (Counter[str]): How many "trees", "trees with a match" and "matches" there are.
    items (list[Any]): What to write, as the report asks; for drawings file and line of each tree, the tree, and the
        numbers of its nodes that match, in pre-order from 0, the root.
    table (Counter[tuple[str | TreeFile, ...]]): For "by" how often each combination occurs.
    skipped (list[str]): What was malformed, each with file and line.
    absent (set[Label | str]): Labels of the pattern that no node has; and the key of identifiers, if no text has it.
    path (Path): The file.
    left_out (Counter[str]): In the last batch how many docs of the file are left out, by the reason (see
        `read_columns`).
    """

    totals: Counter[str]
    items: list[Any]
    table: Counter[tuple[str | TreeFile, ...]]
    skipped: list[str]
    absent: set[Label | str]
    path: Path
    left_out: Counter[str]


def search_whole(query: Query, skip_bad: bool, path: Path) -> list[Hits]:
    """Search a file in a worker, which sends all its matches at once."""
    return list(search_file(query, skip_bad, path))


def search_file(query: Query, skip_bad: bool, path: Path) -> Iterator[Hits]:
    """Search a file batch by batch. The last batch is an empty one, so that no file is without."""
    tregex = query.compile()
    names = (
        replace(label, text=name)
        for label in tregex.program.labels
        for name in (label.names if label.kind == "names" else [label.text])
    )
    wanted: set[Label | str] = {label for label in names if not label.means_root}
    wanted |= {query.id_key} - {"id"}
    left_out: Counter[str] = Counter()
    skipped: list[str] = []
    on_error = (lambda error: skipped.append(str(error))) if skip_bad else None
    n_left = query.limit
    for columns in read_columns(path, query.encoding, on_error, query.spans_key, left_out, query.id_key):
        # All ways to match are found only for a report that needs them.
        matches = tregex.matches(columns) if query.report in ("csv", "by") else Matches(tregex.find(columns), {})
        nodes = np.unique(matches.nodes)
        trees = columns.trees_of(nodes)
        matching = np.unique(trees).tolist()
        totals = Counter({"trees": len(columns), "trees with a match": len(matching), "matches": len(nodes)})
        report = query.report if matching or query.report == "by" else "count"
        table: Counter[tuple[str | TreeFile, ...]] = Counter()
        items: Iterable[Any] = ()
        if report == "by":
            table = tabulate(columns, matches, query.by, tregex.rules, path)
        elif report == "csv":
            items = rows_of(columns, matches)
        elif report == "context":
            items = map(partial(_in_context, columns), trees.tolist(), nodes.tolist())
        elif report == "mrg":
            items = (f"{format_tree(columns.tree(tree))}\n" for tree in matching)
        elif report == "html":
            nodes_by_tree = np.split(nodes - columns.starts[trees], np.flatnonzero(np.diff(trees)) + 1)
            items = (
                (columns.where(tree), columns.tree(tree), frozenset(tree_nodes.tolist()))
                for tree, tree_nodes in zip(matching, nodes_by_tree, strict=True)
            )
        shown = list(islice(items, n_left))
        n_left = None if n_left is None else n_left - len(shown)
        absent = {x for x in wanted if not (columns.ids if isinstance(x, str) else columns.passes(x).any())}
        yield Hits(totals, shown, table, skipped, absent, path, Counter())
        skipped = []
    if "id" not in query.by:
        del left_out[NO_TREE]
    yield Hits(Counter(), [], Counter(), skipped, wanted, path, left_out)


def _in_context(columns: TreeColumns, tree: int, node: int) -> str:
    """A line with file and line, identifier and words; the words of the match in brackets with its label."""
    first = int(columns.starts[tree])
    last, end = node + int(columns.size[node]), first + int(columns.size[first])
    match = " ".join((columns.strings[columns.label[node]], *columns.words(node + 1, last)))
    words = (*columns.words(first, node - 1), f"[{match}]", *columns.words(last + 1, end))
    name = f" ({columns.ids[tree]})" if columns.ids and columns.ids[tree] else ""
    return showable(f"{columns.where(tree)}:{name} {' '.join(words)}", keep="") + "\n"


def _check_names(tregex: Tregex, columns: Collection[str]) -> None:
    """Refuse names of a pattern that are columns of its rows: the node would take their place."""
    for name in tregex.names:
        if name in columns:
            raise ValueError(Errors.E573.format(name=name))


def columns_of_rows(tregex: Tregex) -> list[str]:
    """List the columns of `rows_of`: COLUMNS, where "sentence" is the number of the sentence within the text, from 1,
    "start" and "end" count its words, and "left" and "right" are those before and after the match; and for each name of
    the pattern NAME, the label of the node, and NAME.text, its words; both are empty where there is no such node."""
    return [*COLUMNS, *(column for name in tregex.names for column in (name, f"{name}.text"))]


def rows_of(columns: TreeColumns, matches: Matches) -> Iterator[list[Any]]:
    """A row for each way to match, with the columns of `columns_of_rows`."""
    nodes, names = matches
    found, trees, before = np.stack([nodes, *names.values()], axis=1), columns.trees_of(nodes), columns.words_before
    is_there, first_words = found >= 0, before[columns.starts[trees]][:, None]
    ends = before[found + np.where(is_there, columns.size[found] + 1, 0)]
    labels = np.where(is_there, columns.label[found], -1)
    spans = np.stack([labels, before[found] - first_words, ends - first_words], axis=2)
    strings = [*columns.strings, ""]
    for tree, ways in groupby(zip(trees.tolist(), spans, strict=True), key=itemgetter(0)):
        words = columns.words(int(columns.starts[tree]))
        place = columns.names[columns.source[tree]], int(columns.line[tree]), columns.ids[tree] if columns.ids else ""
        for _, way in ways:
            (_, start, end), *_ = cells = way.tolist()
            (label, text), *named = [(strings[code], " ".join(words[i:j])) for code, i, j in cells]
            context = " ".join(words[:start]), " ".join(words[end:])
            sentence = int(columns.sentence[tree])
            yield [*place, sentence, label, start, end, text, *context, *chain.from_iterable(named)]


def tabulate(
    columns: TreeColumns, matches: Matches, by: tuple[str, ...], rules: HeadRules, path: Path
) -> Counter[tuple[str | TreeFile, ...]]:
    """Count ways to match by the labels, or the head words, of nodes, and by text: with nothing but that also those
    without a match.

    path (Path): The input that the trees are of.
    """
    nodes, names = matches
    strings = [*columns.strings, ""]  # the last one where there is no node
    lowered = [*map(str.lower, strings)] if any(key.endswith(".lower") for key in by) else strings
    codes, values = [], []
    for key in by:
        if key in TEXTS:
            codes.append(columns.trees_of(nodes))
            values.append(places_of(columns, path, key))
            continue
        name, _, what = key.partition(".")
        counted = nodes if name == MATCH else names[name]
        while what and columns.size[counted].any():  # -1, for no node, is also the last word, and stays where it is
            counted = counted + columns.heads(rules)[counted]
        codes.append(np.where(counted >= 0, columns.label[counted], -1))
        values.append(lowered if what == "lower" else strings)
    table = Counter(dict.fromkeys(zip(*values, strict=True), 0) if {*by} <= {*TEXTS} else {})
    rows, numbers = np.unique(np.stack(codes), axis=1, return_counts=True)
    cells = (map(each.__getitem__, row) for each, row in zip(values, rows.tolist(), strict=True))
    for combination, number in zip(zip(*cells, strict=True), numbers.tolist(), strict=True):
        table[combination] += number  # several trees may be of one text, and a root may be called "", as no node is
    return table


class TableSearcher:
    """Finds a pattern in tables of parsed texts: a row for each way to match, as `rows_of` makes it.

    RAISES (ValueError): If the pattern is not valid, or gives a node the name of a column.
    """

    def __init__(self, pattern: str, heads: str = "penn") -> None:
        self.tregex = Tregex(pattern, heads=heads)
        _check_names(self.tregex, {*COLUMNS, *MATCHES})

    def __call__(self, table: Any) -> Any:
        """Search a `pyarrow.Table` or `RecordBatch` with a column "sents", as `parse` adds it, and perhaps "id".

        RETURNS (pyarrow.Table): The columns of `MATCHES`: "row" is the row of this table, from 1, and "names" are the
            named nodes, as JSON.
        """
        pa = require("pyarrow", "A table")
        rows = []
        header = columns_of_rows(self.tregex)
        columns = read_table(table, "<table>")
        for values in rows_of(columns, self.tregex.matches(columns)):
            row = dict(zip(header, values, strict=True))
            names = {key: row[key] for key in row if key not in ("file", "line", *MATCHES)}
            rows.append({**row, "row": row["line"], "names": json.dumps(names, ensure_ascii=False)})
        return pa.Table.from_pylist(rows, schema=pa.schema(list(arrow_type(MATCHES))))
