"""`python -m spacy parsetag analyze`: what a treebank asks of a tagger, in figures."""

import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

import typer
from spacy.cli._util import Arg, Opt

from ..errors import Errors, TreebankError
from ._inputs import read_docs
from ._util import MaxBad, Skipped, counting, stated_errors

if TYPE_CHECKING:
    from collections import Counter

    from ..analysis.tables import Table
    from ..trees import Parse

SHOWN = 20  # items of a kind that are listed

analyze_app = typer.Typer(
    name="analyze",
    help="Deviation of tags from words, stack sizes, tags and labels, and how F goes with deviation.",
    no_args_is_help=True,
    rich_markup_mode=None,
)

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
Limit = Annotated[
    int,
    Opt("--limit", "-l", min=0, help="Take so many trees of each treebank, at even distances; 0: all"),
]
Seed = Annotated[
    int | None, Opt("--seed", help="With --limit: draw the trees at random by this seed, not at even distances")
]
Glob = Annotated[str | None, Opt("--glob", help="Which files of a folder to read, such as 'train*.mrg'")]
Encoding = Annotated[str, Opt("--encoding", "-e", help="Encoding of bracket files")]
SkipBad = Annotated[
    bool, Opt("--skip-bad", help="List and leave out malformed trees, instead of stopping at the first")
]
SpansKey = Annotated[str, Opt("--spans-key", "-k", help="Key of the constituents in doc.spans, in .spacy files")]


class Study(NamedTuple):
    """What one command does with its treebanks.

    measure (Callable): Measures a treebank: its parses, and what the first treebank gave, None for that one itself.
    table (Callable): The table to look at, of what was found by treebank.
    plot (Callable): Draws what was found by treebank into files.
    csv (Callable | None): The table for --csv, if that is another one.
    listing (Callable | None): What is printed below the table of a treebank: lists of items by name.
    """

    measure: "Callable[[Iterable[Parse], Any], Any]"
    table: "Callable[[Mapping[str, Any]], Table]"
    plot: Callable[[Mapping[str, Any], list[Path]], None]
    csv: "Callable[[Mapping[str, Any]], Table] | None" = None
    listing: "Callable[[Any], dict[str, Counter[str]]] | None" = None


def _deviation() -> Study:
    """How far the tag of each word is from its word, in the three orders: 0 in-order, more where trees branch to the
    left (pre-order) or to the right (post-order).

    python -m spacy parsetag analyze deviation english/train.mrg japanese/train.mrg --figure deviation.svg
    """
    from ..analysis import count_deviations
    from ..analysis.plots import plot_deviations
    from ..analysis.tables import deviation_table
    from ..trees import binarize

    return Study(lambda parses, _: count_deviations(map(binarize, parses)), deviation_table, plot_deviations)


def _stack() -> Study:
    """The stack that a decoder needs to reach some share of the trees, in the three orders.

    python -m spacy parsetag analyze stack train.mrg --figure stack.svg
    """
    from ..analysis import count_stacks
    from ..analysis.plots import plot_stacks
    from ..analysis.tables import stack_table
    from ..trees import binarize

    return Study(lambda parses, _: count_stacks(map(binarize, parses)), stack_table, plot_stacks)


def _tags() -> Study:
    """The tags of the first treebank, and which of the others' tags it does not have: a tagger trained on it cannot
    find their trees. All three orders have the same tags.

    python -m spacy parsetag analyze tags train.mrg dev.mrg
    """
    from ..analysis import count_tags
    from ..analysis.plots import plot_coverage
    from ..analysis.tables import tag_table, tags_table
    from ..trees import binarize

    return Study(
        lambda parses, train: count_tags(map(binarize, parses), train),
        tags_table,
        lambda found, paths: plot_coverage(found, paths, kind="tags"),
        tag_table,
        lambda one: {} if one.train is None else {"unseen": one.unseen},
    )


def _labels() -> Study:
    """Labels, unary chains, productions (each constituent with its children) and lengths of sentences, and what of it
    the first treebank does not have.

    python -m spacy parsetag analyze labels train.mrg dev.mrg
    """
    from ..analysis import Labels, count_labels
    from ..analysis.plots import plot_coverage
    from ..analysis.tables import label_table, labels_table

    def listing(one: Labels) -> "dict[str, Counter[str]]":
        lists = {kind: found.counts for kind, found in one.kinds().items()}
        unseen = {f"unseen {kind}": found.unseen for kind, found in one.kinds().items() if found.train is not None}
        return lists | unseen

    return Study(
        count_labels,
        labels_table,
        lambda found, paths: plot_coverage(
            {name: one.productions for name, one in found.items()}, paths, kind="productions"
        ),
        label_table,
        listing,
    )


def _add_command(name: str, make_study: Callable[[], Study]) -> None:
    def command(
        inputs: Inputs,
        as_json: AsJson = False,
        as_csv: AsCsv = False,
        figure: Figures = None,
        limit: Limit = 0,
        seed: Seed = None,
        glob: Glob = None,
        encoding: Encoding = "utf-8",
        skip_bad: SkipBad = False,
        max_bad: MaxBad = 0.01,
        spans_key: SpansKey = "constituents",
    ) -> None:
        with stated_errors():
            figures = _check_options(as_json, as_csv, figure)
            study = make_study()
            skipped = Skipped(max_share=max_bad)

            def read(path: str) -> "Iterator[Parse]":
                parses = _read_parses(path, glob, encoding, skipped if skip_bad else None, spans_key)
                return skipped.count_good(parses)

            found = _measure(name_inputs(inputs), read, limit, seed, study.measure)
            skipped.check()
            skipped.summarize()
            if figures:
                study.plot(found, figures)
            if as_csv and study.csv is not None:
                _show({}, study.csv(found), as_json, as_csv)
                return
            content = {"treebanks": {name: one.to_dict() for name, one in found.items()}}
            _show(content, study.table(found), as_json, as_csv)
            if study.listing is not None and not as_json and not as_csv:
                _show_lists(found, study.listing)

    analyze_app.command(name, help=make_study.__doc__)(command)


_add_command("deviation", _deviation)
_add_command("stack", _stack)
_add_command("tags", _tags)
_add_command("labels", _labels)


@analyze_app.command("correlation")
def analyze_correlation_cli(
    inputs: Annotated[
        list[Path],
        Arg(
            metavar="INPUT...",
            help="Results: CSV, JSON or JSON lines with treebank, order (in, pre, post), f, and deviation, the mean",
            dir_okay=False,
        ),
    ],
    deviation: Annotated[
        Path | None,
        Opt("--deviation", "-d", dir_okay=False, help="Mean deviations: what `analyze deviation --json` wrote"),
    ] = None,
    as_json: AsJson = False,
    as_csv: AsCsv = False,
    figure: Figures = None,
) -> None:
    """Pearson's correlation of F with the mean deviation, over treebanks and orders, and its p.

    python -m spacy parsetag analyze correlation results.csv --deviation deviation.json --figure correlation.svg
    """
    with stated_errors():
        from ..analysis import correlate
        from ..analysis.plots import plot_correlation
        from ..analysis.results import read_means, read_points
        from ..analysis.tables import correlation_table

        figures = _check_options(as_json, as_csv, figure)
        for path in [*inputs, *([deviation] if deviation is not None else [])]:
            if not path.is_file():
                raise ValueError(Errors.E351.format(path=path))
        points = read_points(inputs, read_means(deviation) if deviation is not None else {})
        found = correlate(points)
        if figures:
            plot_correlation(points, found, figures)
        content = {**found._asdict(), "points": [point._asdict() for point in points]}
        _show(content, correlation_table(points, found), as_json, as_csv)


def name_inputs(inputs: list[str]) -> dict[str, str]:
    """The treebanks by name.

    inputs (list[str]): Paths, some with a name before them: NAME=PATH.
    RETURNS (dict[str, str]): Paths by name. Those without a name are called by the first of these that tells them
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


def _measure(
    paths: Mapping[str, str],
    read: "Callable[[str], Iterator[Parse]]",
    limit: int,
    seed: int | None,
    measure: "Callable[[Iterable[Parse], Any], Any]",
) -> dict[str, Any]:
    """Read each treebank once, and count what is in it; a tree at a time if there is no limit."""
    from ..analysis.counts import sample

    found: dict[str, Any] = {}
    with counting("trees") as progress:
        for name, path in paths.items():
            parses: Iterable[Parse] = progress(read(path))
            parses = sample(list(parses), limit, seed) if limit else parses
            found[name] = measure(parses, next(iter(found.values()), None))
            if not found[name].trees:
                raise ValueError(Errors.E355.format(inputs=path))
    return found


def _read_parses(
    source: str, glob: str | None, encoding: str, skipped: Skipped | None, spans_key: str
) -> "Iterator[Parse]":
    """The parses of a file, folder or pattern. Labels are text, as they are in docs."""
    from ..treebanks.files import find_files
    from ..treebanks.formats.table import FORMATS
    from ..treebanks.penn import read_trees
    from ..trees import Parse

    for file in find_files([source], suffixes=(*FORMATS["penn"].suffixes, ".spacy"), pattern=glob):
        if file.path.suffix == ".spacy":
            yield from _read_spacy(file.path, spans_key)
            continue
        for tree in read_trees(file.path, encoding=encoding, on_error=skipped):
            try:
                parse = Parse.from_tree(tree)
                if not parse.words:
                    raise ValueError(Errors.E001.format(reason="it has no words"))
            except ValueError as err:
                error = TreebankError(str(file.path), tree.line, str(err))
                if skipped is None:
                    raise error from err
                skipped(error)
                continue
            yield parse


def _read_spacy(path: Path, spans_key: str) -> "Iterator[Parse]":
    import spacy

    from ..tokens.spans import has_parses, parses_from_doc

    annotated = False
    for doc in read_docs(path, spacy.blank("xx")):
        if has_parses(doc, spans_key):
            annotated = True
            yield from (parse for _, parse in parses_from_doc(doc, spans_key))
    if not annotated:
        raise ValueError(Errors.E373.format(path=path, key=spans_key))


def _check_options(as_json: bool, as_csv: bool, figures: list[Path] | None) -> list[Path]:
    """Say what cannot be done before treebanks are read; returns the figures to draw."""
    from ..analysis.plots import check_paths

    if as_json and as_csv:
        raise ValueError(Errors.E374)
    check_paths(figures or [])
    return figures or []


def _show(content: dict[str, Any], table: "Table", as_json: bool, as_csv: bool) -> None:
    """Print what was found: content for --json, else the table."""
    from ..analysis.tables import format_csv, format_text

    if as_json:
        typer.echo(json.dumps(content, indent=2, ensure_ascii=False))
    else:
        typer.echo(format_csv(table) if as_csv else format_text(table), nl=False)


def _show_lists(found: Mapping[str, Any], listing: "Callable[[Any], dict[str, Counter[str]]]") -> None:
    """Print the most frequent items of each treebank."""
    from ..analysis.counts import rank

    for name, one in found.items():
        for kind, counts in listing(one).items():
            more = f" and {len(counts) - SHOWN:,} more" if len(counts) > SHOWN else ""
            separator = " " if kind == "unseen" else "; "
            text = separator.join(f"{item} ({n:,})" for item, n in rank(counts)[:SHOWN])
            typer.echo(f"\n{kind} in {name}: {text or 'none'}{more}")
