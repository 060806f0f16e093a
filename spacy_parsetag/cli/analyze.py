"""`python -m spacy parsetag analyze`: counts in treebanks what makes them hard for a tagger."""

import inspect
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Annotated, Any, NamedTuple

import spacy
import typer
from tqdm import tqdm
from typer import Argument as Arg, Option as Opt

from ..analysis import inventories, plots, results, tables
from ..errors import Errors, showable
from ..files.find import each_once, find_files
from ..files.read import suffix_of, without_compression
from ..tokens import parses_from_doc
from ..treebanks.formats.table import FORMATS
from ..trees import Parse, binarize
from ._inputs import read_gold_docs, trees_and_parses
from ._util import (
    AsCsv,
    AsJson,
    Encoding,
    Glob,
    SkipBad,
    Skipped,
    SpansKey,
    refuse,
    refuse_glob,
    show,
    stated_errors,
    warn_of_empty,
    write_text,
)

SHOWN = 20  # items of a kind that are listed


class Study(NamedTuple):
    """Says how one command measures and shows its treebanks.

    measure (Callable): Counts what is in a treebank, given its parses and the first treebank's counts or None.
    table (Callable): The table to look at, of what was counted, by treebank.
    plot (Callable): Draws figures of the same into files.
    csv (Callable): The table for --csv.
    lists (Callable): Lists of items by name, to print below the table; of one treebank.
    """

    help: str
    measure: Callable[[Iterable[Parse], Any], Any]
    table: Callable[[Mapping[str, Any]], tables.Table]
    plot: Callable[[Mapping[str, Any], list[Path]], None]
    csv: Callable[[Mapping[str, Any]], tables.Table]
    lists: Callable[[Any], dict[str, Counter[str]]] = lambda counted: {}


def _lists_of_labels(labels: Any) -> dict[str, Counter[str]]:
    by_kind = labels.kinds()
    unseen = {f"unseen {kind}": inventory.unseen for kind, inventory in by_kind.items() if inventory.train is not None}
    return {kind: inventory.counts for kind, inventory in by_kind.items()} | unseen


STUDIES = {
    "deviation": Study(
        """How far the tag of each word is from its word, in the three orders.

        It is 0 in-order. It grows where trees branch to the left (pre-order) or to the right (post-order).

        \b
        Example:
          python -m spacy parsetag analyze deviation english/train.mrg japanese/train.mrg --figure deviation.svg
        """,
        lambda parses, _: inventories.count_deviations(map(binarize, parses)),
        tables.deviation_table,
        plots.plot_deviations,
        tables.deviation_table,
    ),
    "stack": Study(
        """The stack that a decoder needs to reach some share of the trees, in the three orders.

        \b
        Example:
          python -m spacy parsetag analyze stack train.mrg --figure stack.svg
        """,
        lambda parses, _: inventories.count_stacks(map(binarize, parses)),
        tables.stack_table,
        plots.plot_stacks,
        tables.stack_table,
    ),
    "tags": Study(
        """The tags of each treebank, and which of them the first one does not have.

        A tagger that is trained on the first treebank cannot find trees with other tags. All three orders have the
        same tags.

        \b
        Example:
          python -m spacy parsetag analyze tags train.mrg dev.mrg
        """,
        lambda parses, train: inventories.count_tags(map(binarize, parses), train),
        tables.tags_summary,
        lambda counted, paths: plots.plot_coverage(counted, paths, kind="tags"),
        tables.tag_counts,
        lambda counted: {} if counted.train is None else {"unseen": counted.unseen},
    ),
    "labels": Study(
        """Labels, unary chains, productions and lengths, and what of these the first treebank does not have.

        A production is a constituent with its children. Brackets are counted as they stand, with traces and function
        tags where they have them; docs have what convert kept.

        \b
        Example:
          python -m spacy parsetag analyze labels corpus/train.spacy corpus/dev.spacy
        """,
        inventories.count_labels,
        tables.labels_summary,
        lambda counted, paths: plots.plot_coverage(
            {name: labels.productions for name, labels in counted.items()}, paths, kind="productions"
        ),
        tables.label_counts,
        _lists_of_labels,
    ),
}

Figures = Annotated[
    list[Path], Opt("--figure", dir_okay=False, help="Draw a figure: .svg, .png or .pdf; may be repeated")
]

analyze_app = typer.Typer(
    name="analyze",
    help="Deviation of tags from words, stack sizes, tags and labels, and how F goes with deviation.",
    no_args_is_help=True,
    rich_markup_mode=None,
)


def _add_command(name: str, study: Study) -> None:
    @analyze_app.command(name, help=inspect.cleandoc(study.help))
    @stated_errors()
    def command(
        inputs: Annotated[
            list[str],
            Arg(
                metavar="[NAME=]INPUT...",
                help="Treebank: a bracket or .spacy file, a folder or a quoted pattern. NAME is for the table",
            ),
        ],
        as_json: AsJson = False,
        as_csv: AsCsv = False,
        figures: Figures = [],  # noqa: B006 (never changed; Typer makes it a list either way)
        limit: Annotated[int, Opt(min=0, help="Trees to take of each treebank, at even distances; 0: all")] = 0,
        seed: Annotated[int | None, Opt(help="With --limit: take trees at random, with this seed")] = None,
        glob: Glob = None,
        encoding: Encoding = "utf-8",
        skip_bad: SkipBad = "0",
        spans_key: SpansKey = "constituents",
    ) -> None:
        _check_options(as_json, as_csv, figures)
        refuse(seed is not None and not limit, "--seed", "--limit, which takes some of the trees")
        refuse_glob(glob, name_inputs(inputs).values())
        skipped = Skipped(limit=skip_bad)
        counted: dict[str, Any] = {}
        with tqdm(unit=" trees", disable=None) as bar:
            for treebank, path in name_inputs(inputs).items():
                read = read_source(path, glob, encoding, skipped, spans_key)
                parses: Iterable[Parse] = skipped.count_good(read, bar)
                if limit:
                    parses = inventories.sample(list(parses), limit, seed)
                counted[treebank] = study.measure(parses, next(iter(counted.values()), None))
                if not counted[treebank].trees:
                    raise ValueError(Errors.E106.format(inputs=path))
        skipped.check()
        skipped.summarize()
        if figures:
            study.plot(counted, figures)
        content = {"treebanks": {treebank: counts.to_dict() for treebank, counts in counted.items()}}
        show(study.csv(counted) if as_csv else study.table(counted), as_csv, content if as_json else None)
        if not as_json and not as_csv:
            for treebank, counts in counted.items():
                for kind, items in study.lists(counts).items():
                    write_text(showable(_format_list(kind, treebank, items)))


for _name, _study in STUDIES.items():
    _add_command(_name, _study)


@analyze_app.command("correlation")
@stated_errors()
def analyze_correlation_cli(
    inputs: Annotated[
        list[Path],
        Arg(metavar="INPUT...", dir_okay=False, help="CSV, JSON or JSON lines: treebank, order, f, mean deviation"),
    ],
    deviation: Annotated[
        Path | None, Opt(dir_okay=False, help="Mean deviations: what analyze deviation --json wrote")
    ] = None,
    as_json: AsJson = False,
    as_csv: AsCsv = False,
    figures: Figures = [],  # noqa: B006
) -> None:
    """Pearson's correlation of F with the mean deviation, over treebanks and orders, and its p.

    \b
    Example:
      python -m spacy parsetag analyze correlation results.csv --deviation deviation.json --figure correlation.svg
    """
    _check_options(as_json, as_csv, figures)
    for path in (*inputs, deviation):
        if path is not None and not path.is_file():
            raise ValueError(Errors.E030.format(path=path))
    once = each_once(inputs)  # points that count twice would make p too small
    points = results.read_points(once, {} if deviation is None else results.read_means(deviation))
    correlation = results.correlate(points)
    if figures:
        plots.plot_correlation(points, correlation, figures)
    content = {**correlation._asdict(), "points": [point._asdict() for point in points]}
    table = tables.correlation_rows if as_csv else tables.correlation_table
    show(table(points, correlation), as_csv, content if as_json else None)


def read_source(source: str, glob: str | None, encoding: str, skipped: Skipped, spans_key: str) -> Iterator[Parse]:
    """Read the parses of a file, folder or pattern. Labels are text, as they are in docs. Malformed trees go to
    `skipped`.

    RAISES (ValueError): If a bracket file and a .spacy file have the same name, or a file cannot be read.
    """
    files = find_files([source], suffixes=(*FORMATS["penn"].suffixes, ".spacy"), pattern=glob)
    docs_paths = {without_compression(f.path).with_suffix(""): f.path for f in files if suffix_of(f.path) == ".spacy"}
    n_trees: dict[Path, int] = {}  # of bracket files; a .spacy file without trees is an error
    for file in files:
        if suffix_of(file.path) != ".spacy":
            if docs_path := docs_paths.get(without_compression(file.path).with_suffix("")):
                raise ValueError(Errors.E487.format(first=file.path, second=docs_path))
            n_trees[file.path] = 0
            for *_, parse in trees_and_parses(file.path, encoding, skipped):
                n_trees[file.path] += 1
                yield parse
            continue
        docs = read_gold_docs(file.path, spacy.blank("xx"), spans_key, " (--spans-key)")
        yield from (parse for doc in docs for _, parse in parses_from_doc(doc, spans_key))
    warn_of_empty(n_trees)


def name_inputs(inputs: list[str]) -> dict[str, str]:
    """Name the inputs. Some come as NAME=PATH. The others are called by the first of these that tells them apart: the
    name of the file, the name of its folder, both, the whole path."""
    pairs = []
    for text in inputs:
        name, _, path = text.partition("=")
        pairs.append((name, path) if name and path and not Path(text).exists() else ("", text))
    unnamed = [without_compression(Path(path)) for name, path in pairs if not name]
    ways: list[Callable[[Path], str]] = [
        lambda path: path.stem,
        lambda path: path.parent.name,
        lambda path: f"{path.parent.name}/{path.stem}",
    ]
    way = next((way for way in ways if len({way(path) for path in unnamed} - {""}) == len(unnamed)), str)
    paths: dict[str, str] = {}
    for name, path in pairs:
        name = name or way(without_compression(Path(path)))
        if name in paths:
            raise ValueError(Errors.E457.format(name=name))
        paths[name] = path
    return paths


def _check_options(as_json: bool, as_csv: bool, figures: list[Path]) -> None:
    """Say what cannot be done before treebanks are read."""
    if as_json and as_csv:
        raise ValueError(Errors.E459)
    plots.check_paths(figures)


def _format_list(kind: str, treebank: str, items: Counter[str]) -> str:
    """Write the most frequent items in a line."""
    rest = f" and {len(items) - SHOWN:,} more" if len(items) > SHOWN else ""
    separator = " " if kind == "unseen" else "; "  # tags have no spaces in them
    text = separator.join(f"{item} ({n:,})" for item, n in inventories.rank(items)[:SHOWN])
    return f"\n{kind} in {treebank}: {text or 'none'}{rest}\n"
