"""`python -m spacy parsetag search`: find Tregex patterns in trees."""

from collections import Counter
from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from functools import partial
from itertools import chain, islice
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from typer import Argument as Arg, Option as Opt

from ..analysis.tables import Table, format_csv
from ..errors import Errors
from ..files.read import is_stream
from ..files.write import STANDARD, refuse_other, refuse_overwrite, text_output
from ..texts.processes import map_in_processes
from ._util import (
    Encoding,
    Glob,
    IdKey,
    SkipBad,
    Skipped,
    SpansKey,
    count_processes,
    counted,
    note,
    note_left_out,
    progress,
    refuse,
    refuse_glob,
    refuse_suffix,
    show,
    warn_of_empty,
    write_text,
)

if TYPE_CHECKING:
    from ..search.pattern import Label
    from ..texts.search import Hits, Query, Report
    from ..texts.tree_files import TreeFile

NO_ID = "No text has {key} (--id), so all identifiers are empty"


def search_cli(
    pattern: Annotated[str, Arg(metavar="PATTERN", help="Tregex pattern, in quotes")],
    inputs: Annotated[
        list[Path],
        Arg(metavar="INPUT...", help="Files of trees; folders of them, shards or columns; - for standard input"),
    ],
    count: Annotated[bool, Opt("--count", help="Count trees and matches, and nothing else")] = False,
    by: Annotated[
        list[str] | None,
        Opt(
            help="Count ways to match by a node's label (NAME, match) or head word (NAME.head, in small letters "
            "NAME.lower), or by text (file, id)"
        ),
    ] = None,
    as_csv: Annotated[bool, Opt("--csv", help="Print a CSV table: a row for each way to match, or with --by")] = False,
    mrg: Annotated[bool, Opt("--mrg", help="Print the trees with a match in brackets, which hold no ids")] = False,
    html: Annotated[Path | None, Opt(dir_okay=False, help="Write a page of the trees, with matches coloured")] = None,
    limit: Annotated[int | None, Opt(min=1, help="Number of matches, or of trees, to show at most")] = None,
    save: Annotated[
        Path | None, Opt(dir_okay=False, help="Save the trees to this file (NAME.columns), to search next time")
    ] = None,
    heads: Annotated[
        str | None, Opt(help="Head rules for <#, its kin and --by NAME.head: penn (the default), ctb, icon, or a file")
    ] = None,
    n_process: Annotated[
        int, Opt("--workers", "--n-process", "-n", help="Processes, -1 for one per core; each takes whole files")
    ] = 1,
    glob: Glob = None,
    skip_bad: SkipBad = "0",
    encoding: Encoding = "utf-8",
    spans_key: SpansKey = "constituents",
    id_key: IdKey = "id",
    quiet: Annotated[bool, Opt("--quiet", "-q", help="Show no progress and no totals")] = False,
) -> None:
    """Find the nodes that match a pattern, in any number of trees.

    A match is printed with its file and line, and with its words in brackets. INPUT may be brackets (.mrg and the
    like), what `parse` writes as .jsonl or .parquet, docs (.spacy), each of them compressed, and columns that --save
    wrote.

    \b
    Examples:
      python -m spacy parsetag search "NP < (SBAR < WHNP)" news.mrg
      python -m spacy parsetag search "VP < /^VB/=verb < NP=object" shards/ --by verb.head --by object.head --csv
      python -m spacy parsetag search "SQ !< VP" shards/*.parquet --count --workers 8
      python -m spacy parsetag search "NP < (SBAR < WHNP)" essays/ --by file --csv
      python -m spacy parsetag search "SQ !< VP" shards/ --id meta.genre --by id
      python -m spacy parsetag search "S < (VP <# VBG) $+ VP" gum.mrg --html page.html --limit 50
      python -m spacy parsetag parse news.txt --sents model | python -m spacy parsetag search "NP < SBAR" -
    """
    from ..search.columns import SUFFIX
    from ..texts.search import Query, columns_of_rows, search_file, search_whole
    from ..texts.tree_files import find_trees, name_files

    reports: dict[Report, Any] = {"count": count, "by": by, "mrg": mrg, "html": html, "csv": as_csv}
    chosen = [report for report, value in reports.items() if value]
    if len(chosen) > 1 and chosen != ["by", "csv"]:
        raise ValueError(Errors.E477.format(options=", ".join(f"--{report}" for report in chosen)))
    refuse(count and limit, "--limit", "matches to show, and --count shows none")
    hides_ids = (count or (by and "id" not in by)) and not save
    refuse(id_key != "id" and hides_ids, "--id", "--by id, or matches to show")
    refuse_glob(glob, inputs)
    n_process = count_processes(n_process)
    refuse(n_process > 1 and save is not None, "--workers", "no --save, which reads file after file")
    refuse(save is not None and save.suffix != SUFFIX, "--save", f"a name that ends in {SUFFIX}")
    refuse_overwrite([html, save], inputs)
    if save is not None:
        refuse_other(save, rb'^{"format"')
        if any(path.resolve() in save.resolve().parents for path in inputs):  # its trees would count twice next time
            raise ValueError(Errors.E032.format(path=save))
    refuse_suffix("--html", html, ".html", ".htm")
    report = chosen[0] if chosen else "context"
    query = Query(pattern, heads or "penn", encoding, report, tuple(by or ()), spans_key, limit, id_key)
    tregex = query.compile()  # an error comes before anything is read
    header = columns_of_rows(tregex)
    files = find_trees(inputs, glob, partial(note, kind="warn"))
    if save is not None:
        _save(files, query, Skipped("malformed item", skip_bad), save)
        files, query = [save], query._replace(id_key="id")  # which the columns now have
    n_process = min(len(files), n_process)
    streams = any(map(is_stream, files))  # other processes cannot read those
    refuse(n_process > 1 and streams, "--workers", "files, not standard input or a pipe")
    search = partial(search_whole if n_process > 1 else search_file, query, skip_bad != "0")
    skipped = Skipped("malformed item", skip_bad)  # a tree, a row or a doc
    with closing(map_in_processes(search, files, n_process)) as by_file, progress("trees", quiet=quiet) as advance:
        results = chain.from_iterable(by_file)
        totals, table, absent = _report(results, skipped, advance, header if chosen == ["csv"] else [], html, limit)
    if not totals["trees"] and not skipped.n:
        raise ValueError(Errors.E106.format(inputs=", ".join(map(str, inputs))))
    if count:
        write_text("".join(f"{value}\t{name}\n" for name, value in totals.items()))
    elif by:
        rows = name_files((n, *key) for key, n in table.most_common())
        show(Table(("count", *by), rows[:limit]), as_csv)
    skipped.summarize()
    skipped.check()
    if not quiet and not count:
        n_trees, n_with_a_match, n_matches = totals.values()
        with_a_match = f"{counted(n_with_a_match, 'tree')} with a match"
        note(f"{counted(n_trees, 'tree')}, {with_a_match}, {counted(n_matches, 'match')}", "good")
    if not quiet and heads is None and (tregex.program.needs_heads or any("." in key for key in query.by)):
        note("Heads by the rules for the Penn Treebank's labels; --heads takes others")
    absent_labels = sorted(str(label) for label in absent - {id_key})
    if not quiet and totals["trees"] and absent_labels:
        note(f"No node of these trees is called {' or '.join(absent_labels)}", "warn")
    if totals["trees"] and id_key in absent:
        note(NO_ID.format(key=id_key), "warn")


def _save(files: list[Path], query: "Query", skipped: Skipped, target: Path) -> None:
    from ..search import TreeColumns
    from ..texts.tree_files import NO_TREE, TreeFile, name_files, read_columns

    left_out: Counter[str] = Counter()
    by_file = {
        file: TreeColumns.join(read_columns(file, query.encoding, skipped, query.spans_key, left_out, query.id_key))
        for file in files
    }
    if "id" not in query.by:
        del left_out[NO_TREE]
    note_left_out(left_out)
    names = name_files([TreeFile(str(file), name) for name in columns.names] for file, columns in by_file.items())
    renamed = zip(by_file.values(), names, strict=True)
    joined = TreeColumns.join(replace(columns, names=list(new_names)) for columns, new_names in renamed)
    skipped.n_good = len(joined)
    skipped.check()
    skipped.summarize()
    if not len(joined):
        raise ValueError(Errors.E106.format(inputs=", ".join(map(str, files))))
    warn_of_empty({file: len(columns) for file, columns in by_file.items()})
    if query.id_key != "id" and not joined.ids:
        note(NO_ID.format(key=query.id_key), "warn")
    joined.to_disk(target)


def _report(
    results: "Iterator[Hits]", skipped: Skipped, advance: Any, header: list[str], html: Path | None, limit: int | None
) -> "tuple[Counter[str], Counter[tuple[str | TreeFile, ...]], set[Label | str]]":
    """Write what is found as it comes, with a header as CSV; returns the totals, the table of --by, and the labels that
    no node has."""
    from ..draw.docs import Sentence, draw_page

    totals = Counter({"trees": 0, "trees with a match": 0, "matches": 0})
    table: Counter[tuple[str | TreeFile, ...]] = Counter()
    drawn: list[Sentence] = []
    absent: list[set[Label | str]] = []
    n_trees: Counter[Path] = Counter()
    left_out: Counter[str] = Counter()
    n_left = limit
    with text_output(STANDARD) as out:
        for hits in results:
            totals.update(hits.totals)
            n_trees[hits.path] += hits.totals["trees"]
            left_out.update(hits.left_out)
            advance(hits.totals["trees"])
            skipped.n_good += hits.totals["trees"]
            for problem in hits.skipped:
                skipped(problem)
            table.update(hits.table)
            items = list(islice(hits.items, n_left))
            n_left = None if n_left is None else n_left - len(items)
            if html is not None:
                drawn += (Sentence(*item) for item in items)
            elif header:
                out.write(format_csv(items if absent else [header, *items]))
            else:
                out.writelines(items)
            absent.append(hits.absent)
    if html is not None:
        write_text(draw_page(drawn), html)
        note(f"Wrote {counted(len(drawn), 'tree')} to {html}", "good")
    note_left_out(left_out)
    warn_of_empty(n_trees)
    return totals, table, set.intersection(*absent) if absent else set()
