"""`python -m spacy parsetag analyze`: what a treebank asks of a tagger, in figures."""

from collections.abc import Callable, Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from typer import Argument as Arg
from typer import Option as Opt

from ..errors import Errors
from ._util import AsJson, Encoding, Glob, MaxBad, SkipBad, Skipped, counting, format_json, stated_errors, write_text

if TYPE_CHECKING:
    from collections import Counter

    from ..analysis.tables import Table
    from ..trees import Parse

SHOWN = 20  # items of a kind that are listed

HELP = {
    "deviation": """How far the tag of each word is from its word, in the three orders.

    It is 0 in-order. It grows where trees branch to the left (pre-order) or to the right (post-order).

    \b
    Example:
      python -m spacy parsetag analyze deviation english/train.mrg japanese/train.mrg --figure deviation.svg
    """,
    "stack": """The stack that a decoder needs to reach some share of the trees, in the three orders.

    \b
    Example:
      python -m spacy parsetag analyze stack train.mrg --figure stack.svg
    """,
    "tags": """The tags of each treebank, and which of them the first one does not have.

    A tagger that is trained on the first treebank cannot find trees with other tags. All three orders have the same
    tags.

    \b
    Example:
      python -m spacy parsetag analyze tags train.mrg dev.mrg
    """,
    "labels": """Labels, unary chains, productions and lengths, and what of these the first treebank does not have.

    A production is a constituent with its children.

    \b
    Example:
      python -m spacy parsetag analyze labels train.mrg dev.mrg
    """,
}

AsCsv = Annotated[bool, Opt("--csv", help="Print CSV")]
Figures = Annotated[
    list[Path], Opt("--figure", "-f", dir_okay=False, help="Draw a figure: .svg, .png or .pdf; may be repeated")
]

analyze_app = typer.Typer(
    name="analyze",
    help="Deviation of tags from words, stack sizes, tags and labels, and how F goes with deviation.",
    no_args_is_help=True,
    rich_markup_mode=None,
)


def _add_command(name: str, help: str) -> None:
    @analyze_app.command(name, help=help)
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
        limit: Annotated[
            int, Opt("--limit", "-l", min=0, help="Trees to take of each treebank, at even distances; 0: all")
        ] = 0,
        seed: Annotated[int | None, Opt("--seed", help="With --limit: take trees at random, with this seed")] = None,
        glob: Glob = None,
        encoding: Encoding = "utf-8",
        skip_bad: SkipBad = False,
        max_bad: MaxBad = 0.01,
        spans_key: Annotated[
            str, Opt("--spans-key", "-k", help="Key of the constituents in doc.spans, in .spacy files")
        ] = "constituents",
    ) -> None:
        with stated_errors():
            from ..analysis.counts import sample
            from ._studies import STUDIES, read_parses

            _check_options(as_json, as_csv, figures)
            study = STUDIES[name]
            skipped = Skipped(max_share=max_bad)
            found: dict[str, Any] = {}
            with counting("trees") as count:
                for treebank, path in name_inputs(inputs).items():
                    on_error = skipped if skip_bad else None
                    read = read_parses(path, glob, encoding, on_error, spans_key)
                    parses: Iterable[Parse] = skipped.count_good(count(read))
                    if limit:
                        parses = sample(list(parses), limit, seed)
                    found[treebank] = study.measure(parses, next(iter(found.values()), None))
                    if not found[treebank].trees:
                        raise ValueError(Errors.E106.format(inputs=path))
            skipped.check()
            skipped.summarize()
            if figures:
                study.plot(found, figures)
            content = {"treebanks": {treebank: one.to_dict() for treebank, one in found.items()}}
            _show(content, study.csv(found) if as_csv else study.table(found), as_json, as_csv)
            if not as_json and not as_csv:
                for treebank, one in found.items():
                    for kind, counts in study.lists(one).items():
                        write_text(_format_list(f"{kind} in {treebank}", counts))


for _name, _help in HELP.items():
    _add_command(_name, _help)


@analyze_app.command("correlation")
def analyze_correlation_cli(
    inputs: Annotated[
        list[Path],
        Arg(
            metavar="INPUT...",
            dir_okay=False,
            help="CSV, JSON or JSON lines with treebank, order (in, pre, post), f and the mean deviation",
        ),
    ],
    deviation: Annotated[
        Path | None,
        Opt("--deviation", "-d", dir_okay=False, help="Mean deviations: what analyze deviation --json wrote"),
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
    with stated_errors():
        from ..analysis.plots import plot_correlation
        from ..analysis.results import correlate, read_means, read_points
        from ..analysis.tables import correlation_table

        _check_options(as_json, as_csv, figures)
        for path in (*inputs, deviation):
            if path is not None and not path.is_file():
                raise ValueError(Errors.E103.format(path=path))
        points = read_points(inputs, {} if deviation is None else read_means(deviation))
        found = correlate(points)
        if figures:
            plot_correlation(points, found, figures)
        content = {**found._asdict(), "points": [point._asdict() for point in points]}
        _show(content, correlation_table(points, found), as_json, as_csv)


def name_inputs(inputs: list[str]) -> dict[str, str]:
    """Paths by name. Some come as NAME=PATH. The others are called by the first of these that tells them apart: the
    name of the file, the name of its folder, both, the whole path."""
    pairs = []
    for text in inputs:
        name, _, path = text.partition("=")
        pairs.append((name, path) if name and path and not Path(text).exists() else ("", text))
    unnamed = [Path(path) for name, path in pairs if not name]
    ways: list[Callable[[Path], str]] = [
        lambda path: path.stem,
        lambda path: path.parent.name,
        lambda path: f"{path.parent.name}/{path.stem}",
    ]
    way = next((way for way in ways if len({way(path) for path in unnamed} - {""}) == len(unnamed)), str)
    found: dict[str, str] = {}
    for name, path in pairs:
        name = name or way(Path(path))
        if name in found:
            raise ValueError(Errors.E457.format(name=name))
        found[name] = path
    return found


def _check_options(as_json: bool, as_csv: bool, figures: list[Path]) -> None:
    """Say what cannot be done before treebanks are read."""
    from ..analysis.plots import check_paths

    if as_json and as_csv:
        raise ValueError(Errors.E459)
    check_paths(figures)


def _show(content: dict[str, Any], table: "Table", as_json: bool, as_csv: bool) -> None:
    """Print content for --json, else the table."""
    from ..analysis.tables import format_csv, format_text

    write_text(format_json(content) if as_json else format_csv(table) if as_csv else format_text(table))


def _format_list(title: str, counts: "Counter[str]") -> str:
    """The most frequent items."""
    from ..analysis.counts import rank

    more = f" and {len(counts) - SHOWN:,} more" if len(counts) > SHOWN else ""
    separator = " " if title.startswith("unseen in ") else "; "  # tags have no spaces in them
    text = separator.join(f"{item} ({n:,})" for item, n in rank(counts)[:SHOWN])
    return f"\n{title}: {text or 'none'}{more}\n"
