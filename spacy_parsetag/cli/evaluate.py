"""`python -m spacy parsetag evaluate`: scores trees as EVALB does."""

import os
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from enum import Enum
from itertools import chain
from pathlib import Path
from typing import Annotated, Any, Literal

import typer
from typer import Argument as Arg, Option as Opt

from ..analysis.tables import Table, format_text
from ..errors import Errors, showable
from ..evalb import EvalbResult, evalb, fill_unparsed, format_summary, format_table
from ..evalb.counts import SKIP
from ..evalb.lines import OPEN, UNOPENED, first_of_several, n_open, place_of
from ..evalb.params import EvalbParams, get_params
from ..evalb.significance import N_SAMPLES
from ..files.find import refuse_missing
from ..files.read import suffix_of
from ..files.write import STANDARD, refuse_overwrite
from ..trees import ROOT_LABELS
from ..trees.tree import ROOT
from ._compare import compare_systems, format_report
from ._inputs import is_pipeline
from ._systems import System, parse_gold, read_systems
from ._util import (
    AsJson,
    BatchSize,
    Code,
    EncodingOrUtf8,
    GpuId,
    Multiline,
    Params,
    counted,
    format_json,
    note,
    refuse,
    write_text,
)

# Typer takes no list of literals.
Kind = Enum("Kind", {"label": "label", "length": "length", "span": "span"}, type=str)
Style = Literal["text", "csv", "latex"]

MAX_STATED = 10  # errors in single sentences that are listed on the error stream
_ROOT = re.compile(r"\s*\(\s*([^\s()]*)\s*(?=\()")  # the outermost bracket of a line, with its label


def evaluate_cli(
    gold: Annotated[str, Arg(metavar="GOLD|MODEL", help="Bracket file with the right trees; or a pipeline")],
    tests: Annotated[
        list[Path],
        Arg(metavar="TEST...|[MODEL...] DATA", help="Bracket files; or more pipelines, and a .spacy file or a folder"),
    ],
    params: Params = "collins",
    table: Annotated[
        bool | None,
        Opt("--table/--summary", help="EVALB's table, a line a sentence, or a summary. Default: the table for files"),
    ] = None,
    multiline: Multiline = False,
    as_json: AsJson = False,
    output: Annotated[Path | None, Opt("--output", "-o", dir_okay=False, help="Write the JSON here as well")] = None,
    fill: Annotated[
        Path | None, Opt(dir_okay=False, help="Write TEST here, with a flat tree for each sentence without a parse")
    ] = None,
    by: Annotated[list[Kind] | None, Opt(help="Also F by label, length of sentence, or of constituent (span)")] = None,
    documents: Annotated[
        Path | None, Opt(dir_okay=False, help="Compare by documents: this file names each sentence's, a line each")
    ] = None,
    samples: Annotated[
        int | None, Opt(min=1, help=f"Samples of the bootstrap, and random exchanges. Default: {N_SAMPLES}")
    ] = None,
    style: Annotated[Style, Opt("--tables", help="Style of the tables of several parsers, and of --by")] = "text",
    encoding: EncodingOrUtf8 = "utf-8",
    batch_size: BatchSize = None,
    gpu_id: GpuId = -1,
    code: Code = None,
) -> None:
    """Score bracket files, or a pipeline on .spacy files, with EVALB's counts.

    As in EVALB, each line of a bracket file is one sentence. An empty line or (TOP) is a sentence without a parse.

    The command gives two figures. EVALB's own leaves out sentences without a usable parse. The other counts each of
    them as zero. A pipeline is scored on the words and sentences of the data, and its trees get the data's
    part-of-speech tags, because EVALB tells punctuation by its tag. So the tagging accuracy of its --table is 100.

    Of several parsers, by files or by pipelines, each is compared with the first: the difference in F with its 95 %
    interval by a paired bootstrap, p by that and by approximate randomization; and mean and deviation over all of them,
    as of one parser's seeds.

    The flat trees of --fill are for scorers that leave out sentences without a parse, or count them as right.

    \b
    Examples:
      python -m spacy parsetag evaluate gold.mrg test.mrg --params collins
      python -m spacy parsetag evaluate training/model-best corpus/test.spacy
      python -m spacy parsetag evaluate gold.mrg a.mrg b.mrg --by label --tables latex
      python -m spacy parsetag evaluate model_a model_b corpus/test.spacy
    """
    refuse_overwrite([output, fill], [Path(gold), *tests, Path(params), *([documents] if documents else [])])
    of_pipeline = takes_docs(gold, tests)
    parsers = [gold, *map(str, tests[:-1])] if of_pipeline else [str(path) for path in tests]
    if twice := [name for name, n in Counter(parsers).items() if n > 1]:
        raise ValueError(Errors.E485.format(name=twice[0]))
    for option, path in (("--output", output), ("--fill", fill)):
        refuse(path == STANDARD, option, "a file: the scores go to standard output")
    is_alone = len(parsers) == 1
    as_tables = not is_alone or bool(by) or style != "text"
    of_brackets = ("--fill", fill), ("--multiline", multiline), ("--encoding", encoding != "utf-8")
    of_docs = ("--batch-size", batch_size), ("--gpu-id", gpu_id >= 0), ("--code", code)
    for option, is_given in of_brackets if of_pipeline else of_docs:
        refuse(is_given, option, "bracket files" if of_pipeline else "a pipeline to score")
    refuse(documents and (of_pipeline or is_alone), "--documents", "several bracket files to compare")
    refuse(as_tables and fill is not None, "--fill", "one TEST and nothing but its scores")
    refuse(as_tables and table is not None, "--table or --summary", "one TEST and nothing but its scores")
    refuse(as_json and table is not None, "--table or --summary", "no --json, which has all figures")
    refuse(as_json and style != "text", "--tables", "no --json, which has all figures")
    refuse(is_alone and samples is not None, "--samples", "several parsers to compare")
    evalb_params = get_params(params)
    if of_pipeline:
        # Docs have no root; a parse gets TOP, which would be a bracket that is always right.
        evalb_params = replace(evalb_params, delete_labels=evalb_params.delete_labels | {ROOT})
        systems = {name: parse_gold(name, tests[-1], evalb_params, batch_size, gpu_id, code) for name in parsers}
    else:
        systems = read_systems(Path(gold), tests, documents, encoding, multiline)
    if as_tables:
        kinds = [kind.value for kind in by or ()]
        compared, results = compare_systems(systems, evalb_params, samples=samples or N_SAMPLES, by=kinds)
        report, text = format_json(compared), format_report(compared, style)
    else:
        results = {name: evalb(system.gold, system.test, evalb_params) for name, system in systems.items()}
        report, text = format_result(systems[parsers[0]], results[parsers[0]], table)
    try:
        if output is not None:
            write_text(report, output)
        if fill is not None:
            write_filled(systems[parsers[0]], evalb_params, fill)
    finally:  # scores may have taken hours
        write_text(report if as_json else text)
    for name, result in results.items():
        warn_of_failures(result, "" if is_alone else f"{name}: ")
    if not of_pipeline:
        warn_of_trees(systems, results)


def takes_docs(gold: str, tests: Sequence[Path]) -> bool:
    """Tell whether pipelines are to be scored on docs, and not bracket files.

    RAISES (ValueError): If an argument is a file where it should be a pipeline, or the other way round; or if there are
        no such docs.
    """
    *_, test = tests
    of_pipeline = suffix_of(test) == ".spacy" or test.is_dir()
    for path in (gold, *map(str, tests[:-1])):
        is_file = os.path.isfile(path)
        refuse(of_pipeline and is_file and test.exists(), test, f"a pipeline to score, which {path} is not")
        is_other = not is_file and (is_pipeline(path) or os.path.isdir(path))
        refuse(is_other and not of_pipeline, "A pipeline", f"a .spacy file, which {test} is not")
    if of_pipeline:
        refuse_missing(test)
    return of_pipeline


def format_result(system: System, result: EvalbResult, as_table: bool | None) -> tuple[str, str]:
    """Write the scores of one parser, as JSON and as text; by default a table for bracket files alone."""
    if system.scores is None:
        text = format_summary(result) if as_table is False else format_table(result)
        return format_json(result.to_dict()), text
    evalb_scores = result.to_dict()
    for name in ("all", f"len<={result.params.cutoff_len}", "strict"):
        del evalb_scores[name]["correct_tags"], evalb_scores[name]["tag_accuracy"]  # both sides have the gold tags
    report = format_json({"scores": system.scores, "evalb": evalb_scores})
    return report, format_table(result) if as_table else format_summary(result) + format_scores(system.scores)


def write_filled(system: System, params: EvalbParams, path: Path) -> None:
    """Write a parser's trees, with a flat tree for each sentence without a parse."""
    filled = list(fill_unparsed(system.gold, system.test, params))
    write_text("".join(f"{line}\n" for line, _ in filled), path)
    flat = [is_flat for line, is_flat in filled if line]
    note(f"{counted(len(flat), 'tree')}, {sum(flat):,} of them flat: {path}")


def warn_of_failures(result: EvalbResult, lead: str = "") -> None:
    """List errors in single sentences on the error stream, and say so if EVALB's figure leaves sentences out.

    lead (str): What each message begins with.
    """
    errors = [f"{lead}{number} : {error}" for number, error in result.errors.items()]
    for error in errors[:MAX_STATED]:
        typer.echo(showable(error), err=True)
    if len(errors) > MAX_STATED:
        typer.echo(f"{lead}... and {len(errors) - MAX_STATED:,} more: see --json", err=True)
    respelled = [row.respelled for row in result.rows if row.respelled]
    if respelled:
        note(
            f"{lead}In {counted(len(respelled), 'sentence')} both sides have the same text, spelled otherwise (such as "
            f"{respelled[0]}). That counts; the EVALB program would take it for an error."
        )
    if result.failures:
        note(
            f"{lead}{result.failures} of {len(result.rows)} sentences have no usable parse. EVALB's F of "
            f"{result.f:.2f} leaves them out; counting them as zero it is {result.strict.f:.2f}.",
            "warn",
        )


def warn_of_trees(systems: Mapping[str, System], results: Mapping[str, EvalbResult]) -> None:
    """Say what may be wrong with trees in bracket files, given each parser's trees and scores.

    Brackets may not be balanced: EVALB calls a single closing bracket too many an open one. Roots may differ in what
    they count as, since one that EVALB's parameters do not delete is a bracket. Gold trees may be malformed, for which
    no parser is to blame.
    """
    gold, *_ = next(iter(systems.values()))  # the same for all parsers
    sides = [gold, *(system.test for system in systems.values())]
    lines = list(chain.from_iterable(sides))
    several = filter(None, map(first_of_several, sides))
    if line := next(chain(several, (line for line in lines if n_open(line) > 0)), None):
        note(OPEN.format(place=place_of(line)), "warn")
    elif line := next((line for line in lines if n_open(line) < 0), None):
        note(UNOPENED.format(place=place_of(line)), "warn")
    for name, system in systems.items():
        result = results[name]
        pairs = zip(*system[:2], result.rows, strict=False)
        matches = (tuple(map(_ROOT.match, map(str, pair))) for *pair, row in pairs if row.status != SKIP)
        roots = Counter((gold[1], test[1]) for gold, test in matches if gold and test)
        for (gold_root, test_root), n in roots.items():
            counts = [result.params.counted([(0, 1, root)]) for root in (gold_root, test_root)]
            if counts[0] != counts[1] and {gold_root, test_root} <= ROOT_LABELS:
                note(
                    f"In {counted(n, 'sentence')} the root is ({gold_root} in GOLD and ({test_root} in {name}. As in "
                    "EVALB, one that the parameters do not delete counts as a bracket: write the same in both, such as "
                    "(TOP.",
                    "warn",
                )
    rows = next(iter(results.values())).rows
    broken = [(line, row.gold_error) for line, row in zip(gold, rows, strict=False) if row.gold_error]
    if broken:
        line, error = broken[0]
        note(
            f"{len(broken):,} trees of GOLD are malformed, the first of them{place_of(line)}: {error}. Whatever a "
            "parser finds there counts as a failure: mend GOLD.",
            "warn",
        )


def format_scores(scores: dict[str, Any]) -> str:
    """Write the scores by label and by kind of tag."""
    text = ""
    if types := scores["parsetag_per_type"]:
        by_label = sorted(types.items())
        rows = [(showable(label, keep=""), *(100 * row[name] for name in "prf")) for label, row in by_label]
        text += "\n" + format_text(Table(("label", "P", "R", "F"), rows)) + "\n"
    tags = {kind: value for kind, value in scores["parsetag_tag_acc"].items() if value is not None}
    if tags:
        text += "parsing tags right: " + ", ".join(f"{kind} {value:.2%}" for kind, value in tags.items()) + "\n"
    return text + f"{scores['speed']:,.0f} words per second\n"
