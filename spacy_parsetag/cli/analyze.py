"""`python -m spacy parsetag analyze`: what a treebank asks of a tagger, in figures."""

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from spacy.cli._util import Arg, Opt

from ..errors import Errors
from ._analyze import (
    AsCsv,
    AsJson,
    Encoding,
    Figures,
    Glob,
    Inputs,
    Limit,
    Reading,
    SkipBad,
    SpansKey,
    check_options,
    measure,
    show,
)
from ._util import stated_errors

if TYPE_CHECKING:
    from ..trees.binarize import BinaryTree

UNSEEN_SHOWN = 20

analyze_app = typer.Typer(
    name="analyze",
    help="Deviation of tags from words, stack sizes, tag inventories, and how F goes with deviation.",
    no_args_is_help=True,
    rich_markup_mode=None,
)


@analyze_app.command("deviation")
def analyze_deviation_cli(
    inputs: Inputs,
    as_json: AsJson = False,
    as_csv: AsCsv = False,
    figure: Figures = None,
    limit: Limit = 0,
    glob: Glob = None,
    encoding: Encoding = "utf-8",
    skip_bad: SkipBad = False,
    spans_key: SpansKey = "constituents",
) -> None:
    """How far the tag of each word is from its word, in the three orders: 0 in-order, more where trees branch to the
    left (pre-order) or to the right (post-order).

    python -m spacy parsetag analyze deviation english/train.mrg japanese/train.mrg --figure deviation.svg
    """
    with stated_errors():
        from ..analysis.deviation import count_deviations
        from ..analysis.plots import plot_deviations
        from ..analysis.tables import deviation_table

        figures = check_options(as_json, as_csv, figure)
        found = measure(inputs, Reading(limit, glob, encoding, skip_bad, spans_key), count_deviations)
        if figures:
            plot_deviations(found, figures)
        content = {"treebanks": {name: one.to_dict() for name, one in found.items()}}
        show(content, deviation_table(found), as_json, as_csv)


@analyze_app.command("stack")
def analyze_stack_cli(
    inputs: Inputs,
    as_json: AsJson = False,
    as_csv: AsCsv = False,
    figure: Figures = None,
    limit: Limit = 0,
    glob: Glob = None,
    encoding: Encoding = "utf-8",
    skip_bad: SkipBad = False,
    spans_key: SpansKey = "constituents",
) -> None:
    """The stack that a decoder needs to reach some share of the trees, in the three orders.

    python -m spacy parsetag analyze stack train.mrg --figure stack.svg
    """
    with stated_errors():
        from ..analysis.plots import plot_stacks
        from ..analysis.stack import count_stacks
        from ..analysis.tables import stack_table

        figures = check_options(as_json, as_csv, figure)
        found = measure(inputs, Reading(limit, glob, encoding, skip_bad, spans_key), count_stacks)
        if figures:
            plot_stacks(found, figures)
        content = {"treebanks": {name: one.to_dict() for name, one in found.items()}}
        show(content, stack_table(found), as_json, as_csv)


@analyze_app.command("tags")
def analyze_tags_cli(
    inputs: Inputs,
    as_json: AsJson = False,
    as_csv: AsCsv = False,
    figure: Figures = None,
    limit: Limit = 0,
    glob: Glob = None,
    encoding: Encoding = "utf-8",
    skip_bad: SkipBad = False,
    spans_key: SpansKey = "constituents",
) -> None:
    """The tags of the first treebank, and which of the others' tags it does not have: a tagger trained on it cannot
    find their trees. All three orders have the same tags.

    python -m spacy parsetag analyze tags train.mrg dev.mrg
    """
    with stated_errors():
        from ..analysis.inventory import Inventory, count_tags, sort_counts
        from ..analysis.plots import plot_tags
        from ..analysis.tables import inventory_table, tag_table

        train: list[Inventory] = []

        def count(trees: "Iterator[BinaryTree]") -> Inventory:
            """Count the first treebank; compare the others with it."""
            found = count_tags(trees, *train)
            train[:] = train or [found]
            return found

        figures = check_options(as_json, as_csv, figure)
        found = measure(inputs, Reading(limit, glob, encoding, skip_bad, spans_key), count)
        if figures:
            plot_tags(found, figures)
        content = {"treebanks": {name: one.to_dict() for name, one in found.items()}}
        show(content, inventory_table(found), as_json, as_csv, csv=tag_table(found))
        if as_json or as_csv:
            return
        for name, one in found.items():
            if one.unseen is not None:
                listed = sort_counts(one.unseen.counts)
                more = f" and {len(listed) - UNSEEN_SHOWN:,} more" if len(listed) > UNSEEN_SHOWN else ""
                text = " ".join(f"{tag} ({n:,})" for tag, n in listed[:UNSEEN_SHOWN])
                typer.echo(f"\nunseen in {name}: {text or 'none'}{more}")


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
        from ..analysis.correlation import correlate
        from ..analysis.plots import plot_correlation
        from ..analysis.results import read_means, read_points
        from ..analysis.tables import correlation_table

        figures = check_options(as_json, as_csv, figure)
        for path in [*inputs, *([deviation] if deviation is not None else [])]:
            if not path.is_file():
                raise ValueError(Errors.E351.format(path=path))
        points = read_points(inputs, read_means(deviation) if deviation is not None else {})
        found = correlate(points)
        if figures:
            plot_correlation(points, found, figures)
        content = {**found.to_dict(), "points": [point._asdict() for point in points]}
        show(content, correlation_table(points, found), as_json, as_csv)
