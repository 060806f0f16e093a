"""Search files, shards and tables of trees: what a worker, an actor of Ray or a task of Spark does."""

import json
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from itertools import groupby, islice
from operator import itemgetter
from pathlib import Path
from typing import Any, Literal, NamedTuple, TypeAlias

import numpy as np
import spacy
from spacy.tokens import Doc

from ..compat import require
from ..errors import Errors, TreebankError, Warnings, showable
from ..files.find import find_files
from ..files.read import open_binary, suffix_of
from ..files.write import STANDARD
from ..search import TreeColumns, Tregex, read_brackets, read_rows, read_table
from ..search.columns import is_columns
from ..search.docs import columns_of_docs
from ..search.heads import HeadRules
from ..search.match import Matches
from ..search.pattern import Label
from ..tokens.groups import SPANS_KEY, has_parses, is_marked, list_groups
from ..treebanks.formats.table import FORMATS
from ..trees.brackets import format_tree
from .input import load_json, name_of, open_parquet, read_doc_file, read_lines
from .output import arrow_type
from .shards import is_unfinished

ROWS = 1 << 14  # rows or lines that become one batch of columns
Report: TypeAlias = Literal["context", "count", "by", "csv", "mrg", "html"]
NO_TREE = "they have no words, or could not be parsed"  # a reason to leave out a text
MATCH = "match"  # what --by calls the node that matches
TEXTS = ("file", "id")  # what --by calls the text of a match
# The columns of a row, before the nodes that a pattern names, and those of a table.
COLUMNS = ("file", "line", "id", "sentence", "label", "start", "end", "text", "left", "right")
MATCHES = {
    "id": str, "row": int, "sentence": int, "label": str, "start": int, "end": int, "text": str, "left": str,
    "right": str, "names": str,
}  # fmt: skip


class TreeFile(NamedTuple):
    """Identifies a file of trees in the rows of a table.

    path (str): The input: the file itself, or columns in which it was saved.
    name (str): What the trees call it.
    """

    path: str
    name: str


def name_files(rows: Iterable[Sequence[Any]]) -> list[tuple[Any, ...]]:
    """Write each `TreeFile` of some rows as its name, after its input if files of several inputs have that name."""
    rows = list(rows)
    n_inputs = Counter(name for _, name in {cell for row in rows for cell in row if isinstance(cell, TreeFile)})

    def named(cell: Any) -> Any:
        if not isinstance(cell, TreeFile):
            return cell
        return cell.name if n_inputs[cell.name] == 1 else f"{cell.path}: {cell.name}"

    return [tuple(map(named, row)) for row in rows]


def find_trees(inputs: Iterable[Path], glob: str | None, warn: Callable[[str], object]) -> list[Path]:
    """List the files of trees that some inputs stand for, each once. An input is a file, a folder of columns, a folder
    with either of them (only files that match `glob`, if given), or "-" for standard input.

    warn (Callable[[str], object]): Told of each folder of shards that may lack some, as its run has not ended.
    """
    sources = []
    folders: set[Path] = set()
    suffixes = (*FORMATS["penn"].suffixes, ".jsonl", ".parquet", ".spacy", "columns.json")
    for path in inputs:
        if path == STANDARD:
            sources.append(path)
            continue
        pattern = None if is_columns(path) else glob
        found = find_files([path], suffixes=suffixes, pattern=pattern)
        folders.update(file.path.parent for file in found if file.folder is not None)
        files = [file.path for file in found]
        sources += [file.parent if file.name == "columns.json" else file for file in files]
    for folder in sorted(filter(is_unfinished, folders)):
        warn(Warnings.W551.format(path=folder))
    return list(dict.fromkeys(sources))


def read_columns(
    path: Path,
    encoding: str = "utf-8",
    on_error: Any = None,
    spans_key: str = SPANS_KEY,
    left_out: Counter[str] | None = None,
) -> Iterator[TreeColumns]:
    """Read a file of trees batch by batch: brackets, what `parse` writes as JSON lines or Parquet, docs, or columns.

    path (Path): The file, a folder that `TreeColumns.to_disk` wrote, or "-" for brackets from standard input.
    on_error (OnError | None): Called with the error of each malformed tree in brackets, text or doc; without it the
        first one is raised.
    left_out (Counter[str] | None): Counts rows and docs that are left out, by the reason; "" for partial docs.
    YIELDS (TreeColumns): Batches. Lines of Parquet and docs are rows, from 1.
    RAISES (ValueError): If the file is not of its format.
    """
    suffix, name = suffix_of(path), name_of(path)
    left_out = Counter() if left_out is None else left_out
    if is_columns(path):
        yield TreeColumns.from_disk(path)
    elif suffix == ".parquet":
        yield from _read_parquet(path, on_error, left_out)
    elif suffix == ".jsonl":
        rows = _read_objects(path, on_error)
        while batch := list(islice(rows, ROWS)):
            yield from _read_good(batch, lambda i, rows: read_rows(rows, name), on_error, left_out)
    elif suffix == ".spacy":
        yield from _read_docs(path, spans_key, on_error, left_out)
    elif suffix == ".json":
        raise ValueError(Errors.E578.format(path=path))
    else:
        with open_binary(path) as file:
            data = file.read()
        yield from read_brackets(data, name, encoding=encoding, on_error=on_error)


def _read_good(
    rows: Any, read: Callable[[int, Any], TreeColumns], on_error: Any, left_out: Counter[str], first: int = 0
) -> Iterator[TreeColumns]:
    """Read a batch of rows. With `on_error`, halve a batch that cannot be read until each bad row is alone, and pass
    its error to `on_error`.

    read (Callable[[int, Any], TreeColumns]): Reads rows of the batch; it is told the place of the first one.
    """
    try:
        columns = read(first, rows)
    except ValueError as err:
        if on_error is None:
            raise
        if (half := len(rows) // 2) == 0:
            on_error(err)
            return
        yield from _read_good(rows[:half], read, on_error, left_out, first)
        yield from _read_good(rows[half:], read, on_error, left_out, first + half)
    else:
        left_out[NO_TREE] += len(rows) - len(np.unique(columns.line))
        yield columns


def _read_objects(path: Path, on_error: Any) -> Iterator[tuple[int, Any]]:
    """Read the objects of a file of JSON lines, each with its line."""
    for number, (_, line) in enumerate(read_lines(path), start=1):
        if line.strip():
            try:
                data = load_json(line)
            except ValueError as err:
                error = TreebankError(str(path), number, str(err))
                if on_error is None:
                    raise error from err
                on_error(error)
            else:
                yield number, data


def _read_parquet(path: Path, on_error: Any, left_out: Counter[str]) -> Iterator[TreeColumns]:
    with open_parquet(path) as file:
        names = (file.schema.column(i).path for i in range(len(file.schema)))
        needed = [name for name in names if name == "id" or {"words", "pos", "constituents"} & {*name.split(".")}]
        first_row = 1
        for batch in file.iter_batches(batch_size=ROWS, columns=needed):
            yield from _read_good(
                batch, lambda row, rows: read_table(rows, str(path), row), on_error, left_out, first_row
            )
            first_row += batch.num_rows


def _read_docs(path: Path, spans_key: str, on_error: Any, left_out: Counter[str]) -> Iterator[TreeColumns]:
    docs = read_doc_file(path, spacy.blank("xx").vocab)
    first_doc = 1
    while batch := list(islice(docs, ROWS)):
        are_partial = [is_marked(doc, "partial", spans_key) for doc in batch]
        left_out[""] += sum(are_partial)
        others = [doc for doc in batch if len(doc) and not has_parses(doc, spans_key)]
        left_out[f"doc.spans has no {spans_key!r} (--spans-key), but {list_groups(others)}"] += len(others)
        left_out[NO_TREE] -= sum(are_partial) + len(others)
        batch = [Doc(doc.vocab) if is_partial else doc for doc, is_partial in zip(batch, are_partial, strict=True)]
        yield from _read_good(
            batch,
            lambda row, docs: columns_of_docs(docs, spans_key, str(path), row).columns,
            on_error,
            left_out,
            first_doc,
        )
        first_doc += len(batch)


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
    """

    pattern: str
    heads: str
    encoding: str
    report: Report
    by: tuple[str, ...] = ()
    spans_key: str = SPANS_KEY
    limit: int | None = None

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
    absent (set[Label]): Labels of the pattern that no node has.
    path (Path): The file.
    left_out (Counter[str]): In the last batch how many docs of the file are left out, by the reason (see
        `read_columns`).
    """

    totals: Counter[str]
    items: list[Any]
    table: Counter[tuple[str | TreeFile, ...]]
    skipped: list[str]
    absent: set[Label]
    path: Path
    left_out: Counter[str]


def search_whole(query: Query, skip_bad: bool, path: Path) -> list[Hits]:
    """Search a file in a worker, which sends all its matches at once."""
    return list(search_file(query, skip_bad, path))


def search_file(query: Query, skip_bad: bool, path: Path) -> Iterator[Hits]:
    """Search a file batch by batch. The last batch is an empty one, so that no file is without."""
    tregex = query.compile()
    names = (
        replace(label, text=name, negated=False)
        for label in tregex.program.labels
        for name in (label.names if label.kind == "names" else [label.text])
    )
    labels = {label for label in names if not label.means_root}
    left_out: Counter[str] = Counter()
    skipped: list[str] = []
    on_error = (lambda error: skipped.append(str(error))) if skip_bad else None
    n_left = query.limit
    for columns in read_columns(path, query.encoding, on_error, query.spans_key, left_out):
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
        absent = {label for label in labels if not columns.passes(label).any()}
        yield Hits(totals, shown, table, skipped, absent, path, Counter())
        skipped = []
    if "id" not in query.by:
        del left_out[NO_TREE]
    yield Hits(Counter(), [], Counter(), skipped, labels, path, left_out)


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
            label, text, *named = (cell for code, i, j in cells for cell in (strings[code], " ".join(words[i:j])))
            context = " ".join(words[:start]), " ".join(words[end:])
            yield [*place, int(columns.sentence[tree]), label, start, end, text, *context, *named]


def tabulate(
    columns: TreeColumns, matches: Matches, by: tuple[str, ...], rules: HeadRules, path: Path
) -> Counter[tuple[str | TreeFile, ...]]:
    """Count ways to match by the labels, or the head words, of nodes, and by text: with nothing but that also those
    without a match.

    path (Path): The input that the trees are of.
    """
    nodes, names = matches
    files = [TreeFile(str(path), name) for name in columns.names]
    texts: dict[str, Sequence[str | TreeFile]] = {
        "file": list(map(files.__getitem__, columns.source.tolist())),
        "id": columns.ids or [""] * len(columns),
    }
    strings = [*columns.strings, ""]
    lowered = [*map(str.lower, strings)] if any(key.endswith(".lower") for key in by) else strings
    values = [texts.get(key, lowered if key.endswith(".lower") else strings) for key in by]
    codes = []
    for key in by:
        if key in texts:
            codes.append(columns.trees_of(nodes))
            continue
        name, _, what = key.partition(".")
        counted = nodes if name == MATCH else names[name]
        while what and (columns.size[counted] * (counted >= 0)).any():
            counted = np.where(counted >= 0, counted + columns.heads(rules)[counted], counted)
        codes.append(np.where(counted >= 0, columns.label[counted], -1))
    table = Counter(dict.fromkeys(zip(*values, strict=True), 0) if texts.keys() >= {*by} else {})
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
