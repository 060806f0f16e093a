"""`python -m spacy parsetag evaluate`: scores trees as EVALB does."""

import os
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from enum import Enum
from pathlib import Path
from timeit import default_timer as timer
from typing import Annotated, Any, Literal

import typer
from spacy.training import Example
from typer import Argument as Arg, Option as Opt
from wasabi import tables

from ..analysis.tables import WIDEST
from ..errors import Errors, showable
from ..evalb import EvalbResult, evalb, fill_unparsed, format_summary, format_table, join_lines, read_tree_lines
from ..evalb.lines import Brackets, place_of
from ..evalb.params import EvalbParams, get_params
from ..files.read import suffix_of
from ..files.write import refuse_overwrite
from ..pipeline.scorer import SCORES, score_constituents, score_prefix
from ..texts.load import find_parser, load_pipeline
from ..tokens import has_parses, parses_from_doc
from ..tokens.groups import is_marked, list_groups
from ..tokens.sentences import copy_words
from ..treebanks.lines import read_file_lines
from ..trees import ROOT_LABELS, Parse
from ._compare import System, compare_systems, format_report
from ._inputs import is_pipeline, read_docs
from ._util import (
    AsJson,
    BatchSize,
    Code,
    Encoding,
    GpuId,
    Multiline,
    Params,
    counted,
    format_json,
    note,
    note_left_out,
    refuse,
    write_text,
)

# Typer takes no list of literals.
Kind = Enum("Kind", {"label": "label", "length": "length", "span": "span"}, type=str)
Style = Literal["text", "csv", "latex"]

SAMPLES = 10_000
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
    samples: Annotated[int, Opt(min=1, help="Samples of the bootstrap, and random exchanges")] = SAMPLES,
    style: Annotated[Style, Opt("--tables", help="Style of the tables of several parsers, and of --by")] = "text",
    encoding: Encoding = "utf-8",
    batch_size: BatchSize = None,
    gpu_id: GpuId = -1,
    code: Code = None,
) -> None:
    """Score bracket files, or a pipeline on .spacy files, with EVALB's counts.

    As in EVALB, each line of a bracket file is one sentence. An empty line or (TOP) is a sentence without a parse.

    The command gives two figures. EVALB's own leaves out sentences without a usable parse. The other counts each of
    them as zero. A pipeline is scored on the words and sentences of the data, and its trees get the data's
    part-of-speech tags, because EVALB tells punctuation by its tag.

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
    *_, test = tests
    refuse_overwrite([output, fill], [Path(gold), *tests, Path(params), *([documents] if documents else [])])
    of_pipeline = suffix_of(test) == ".spacy" or test.is_dir()
    for path in (gold, *map(str, tests[:-1])):
        is_file = os.path.isfile(path)
        refuse(of_pipeline and is_file and test.exists(), test, f"a pipeline to score, which {path} is not")
        is_other = not is_file and (is_pipeline(path) or os.path.isdir(path))
        refuse(is_other and not of_pipeline, "A pipeline", f"a .spacy file, which {test} is not")
    parsers = [gold, *map(str, tests[:-1])] if of_pipeline else [str(path) for path in tests]
    if twice := [name for name, n in Counter(parsers).items() if n > 1]:
        raise ValueError(Errors.E485.format(name=twice[0]))
    refuse(of_pipeline and (fill is not None or multiline), "--fill" if fill else "--multiline", "bracket files")
    refuse(documents and (of_pipeline or len(parsers) == 1), "--documents", "several bracket files to compare")
    as_tables = len(parsers) > 1 or bool(by) or style != "text"
    refuse(as_tables and fill is not None, "--fill", "one TEST and nothing but its scores")
    refuse(as_tables and table, "--table", "one TEST and nothing but its scores")
    refuse(len(parsers) == 1 and samples != SAMPLES, "--samples", "several parsers to compare")
    if of_pipeline:
        if not test.exists():
            raise ValueError(Errors.E030.format(path=test))
        systems = {name: parse_gold(name, test, get_params(params), batch_size, gpu_id, code) for name in parsers}
    else:
        systems = read_systems(Path(gold), tests, documents, encoding, multiline)
    if as_tables:
        kinds = [kind.value for kind in by or ()]
        compared, results = compare_systems(systems, params, samples=samples, by=kinds)
        report, text = format_json(compared), format_report(compared, style)
    else:
        ((name, system),) = systems.items()
        result = evalb(system.gold, system.test, params)
        results = {name: result}
        scores = system.scores
        report = format_json(result.to_dict() if scores is None else {"scores": scores, "evalb": result.to_dict()})
        if table or (table is None and scores is None):
            text = format_table(result)
        else:
            text = format_summary(result) + ("" if scores is None else format_scores(scores))
    if output is not None:
        write_text(report, output)
    if fill is not None:
        (system,) = systems.values()
        filled = list(fill_unparsed(system.gold, system.test, params))
        write_text("".join(f"{line}\n" for line, _ in filled), fill)
        note(f"{counted(len(filled), 'tree')}, {sum(is_flat for _, is_flat in filled):,} of them flat: {fill}")
    write_text(report if as_json else text)
    for name, result in results.items():
        warn_of_failures(result, f"{name}: " if len(results) > 1 else "")
    if not of_pipeline:
        for name, system in systems.items():
            warn_of_roots(name, system.gold, system.test, get_params(params))
        any_system, *_ = systems.values()  # all of them tell what is wrong with GOLD
        any_result, *_ = results.values()
        warn_of_gold(any_system.gold, any_result)


def read_systems(
    gold: Path, tests: Sequence[Path], documents: Path | None, encoding: str, multiline: bool
) -> dict[str, System]:
    """Read the trees of parsers from bracket files, and from another file the document of each sentence."""
    gold_lines = read_gold(gold, encoding, multiline)
    n_lines = len(gold_lines)
    while len(tests) > 1 and not gold_lines[-1].strip():
        gold_lines.pop()  # so that empty lines at the end, which TEST may lack, are no sentences of any parser
    test_lines = {str(path): read_sentences(path, encoding, multiline) for path in tests}
    names = None if documents is None else read_documents(documents)
    if names is not None and len(names) == n_lines:
        names = names[: len(gold_lines)]
    return {parser: System(gold_lines, lines, names) for parser, lines in test_lines.items()}


def read_sentences(path: Path, encoding: str, multiline: bool) -> list[str]:
    """Read the brackets of each sentence: lines, or trees where these run over several lines."""
    if not path.exists():
        raise ValueError(Errors.E030.format(path=path))
    lines = read_tree_lines(path, encoding=encoding)
    return list(join_lines(lines) if multiline else lines)


def read_documents(path: Path) -> list[str]:
    """Read the name of each sentence's document, a line each. The names may be in any encoding."""
    if not path.exists():
        raise ValueError(Errors.E030.format(path=path))
    return [line.text.strip() for line in read_file_lines(path, "utf-8", str(path))]


def read_gold(path: Path, encoding: str, multiline: bool) -> list[str]:
    """Read the gold sentences. Raises a ValueError if there is none."""
    sentences = read_sentences(path, encoding, multiline)
    if not any(map(str.strip, sentences)):
        raise ValueError(Errors.E106.format(inputs=path))
    return sentences


def warn_of_failures(result: EvalbResult, lead: str = "") -> None:
    """List errors in single sentences on the error stream, and say so if EVALB's figure leaves sentences out.

    lead (str): What each message begins with.
    """
    errors = [f"{lead}{number} : {error}" for number, error in result.errors.items()]
    for error in errors[:MAX_STATED]:
        typer.echo(showable(error), err=True)
    if len(errors) > MAX_STATED:
        typer.echo(f"{lead}... and {len(errors) - MAX_STATED:,} more: see --json", err=True)
    if any("too many open bracket" in error for error in errors):
        note(f"{lead}Brackets are open at the end of a line. If trees run over several lines, say --multiline.", "warn")
    respelled = [row.respelled for row in result.rows if row.respelled]
    if respelled:
        note(
            f"{lead}{len(respelled):,} sentences have the same text, spelled otherwise (such as {respelled[0]}). "
            "They count; the EVALB program would take them for errors."
        )
    if result.failures:
        note(
            f"{lead}{result.failures} of {len(result.rows)} sentences have no usable parse. EVALB's F of "
            f"{result.f:.2f} leaves them out; counting them as zero it is {result.strict.f:.2f}.",
            "warn",
        )


def warn_of_gold(gold: Sequence[Brackets], result: EvalbResult) -> None:
    """Say so if gold trees are malformed, for which no parser is to blame."""
    broken = [(line, row.gold_error) for line, row in zip(gold, result.rows, strict=False) if row.gold_error]
    if broken:
        line, error = broken[0]
        note(
            f"{len(broken):,} trees of GOLD are malformed, the first of them{place_of(line)}: {error}. Whatever a "
            "parser finds there counts as a failure: mend GOLD.",
            "warn",
        )


def warn_of_roots(name: str, gold: Sequence[Brackets], test: Sequence[Brackets], params: EvalbParams) -> None:
    """Say so if roots differ in what they count as: one that EVALB's parameters do not delete is a bracket."""
    matches = (tuple(_ROOT.match(str(line)) for line in pair) for pair in zip(gold, test, strict=False))
    roots = Counter((gold_match[1], test_match[1]) for gold_match, test_match in matches if gold_match and test_match)
    for (gold_root, test_root), n in roots.items():
        counted = [params.counted([(0, 1, root)]) for root in (gold_root, test_root)]
        if counted[0] != counted[1] and {gold_root, test_root} <= ROOT_LABELS:
            note(
                f"{n:,} sentences have the root ({gold_root} in GOLD and ({test_root} in {name}. As in EVALB, one "
                "that the parameters do not delete counts as a bracket: write the same in both, such as (TOP.",
                "warn",
            )


def parse_gold(
    model: str, data: Path, params: EvalbParams, batch_size: int | None, gpu_id: int, code: Path | None
) -> System:
    """Run a pipeline on data with gold trees. Each doc is a document.

    The scores are those of the pipeline's scorer with these parameters, under their default names whatever the key of
    the constituents.
    """
    nlp = load_pipeline(model, gpu_id, code)
    cfg = find_parser(nlp, model).cfg
    key = str(cfg["spans_key"])
    examples = []
    left_out: Counter[str] = Counter()
    for doc in read_docs(data, nlp):
        if is_marked(doc, "partial", key):
            left_out[""] += 1  # what is not known to be there may be right
        elif key in doc.spans and len(doc):
            examples.append(Example(copy_words(doc, nlp.vocab), doc))
        elif len(doc):
            left_out[f"doc.spans has no {key!r}, but {list_groups([doc])}"] += 1
    note_left_out(left_out)
    if not examples:
        raise ValueError(Errors.E458.format(path=data, key=key))
    # Not `nlp.evaluate`, which works on copies and keeps the parses to itself.
    started = timer()
    docs = nlp.pipe([eg.predicted for eg in examples], batch_size=batch_size)
    for eg, parsed in zip(examples, docs, strict=True):
        eg.predicted = parsed
    seconds = timer() - started
    prefix = score_prefix(key)
    scores = score_constituents(examples, params=params, **cfg)
    parser_scores = {f"parsetag_{name}": scores[f"{prefix}_{name}"] for name in SCORES}
    parser_scores["speed"] = sum(len(eg.predicted) for eg in examples) / seconds
    rows = [(i, gold, test) for i, eg in enumerate(examples) for gold, test in paired_trees(eg, key)]
    return System(
        gold=[gold for _, gold, _ in rows],
        test=[test for _, _, test in rows],
        documents=[i for i, _, _ in rows],
        scores=parser_scores,
    )


def paired_trees(example: Example, key: str) -> Iterator[tuple[Parse, Parse | None]]:
    """Pair the gold and the predicted tree of each sentence, the latter with gold part-of-speech tags.

    example (Example): The example; both docs have the same tokens.
    YIELDS (tuple[Parse, Parse | None]): The trees; None where nothing, or another sentence, was predicted.
    """
    predicted = parses_from_doc(example.predicted, key) if has_parses(example.predicted, key) else []
    by_tokens = {tuple(tokens): parse for tokens, parse in predicted}
    for tokens, gold in parses_from_doc(example.reference, key):
        parse = by_tokens.get(tuple(tokens))
        yield gold, None if parse is None else replace(gold, spans=parse.spans)


def format_scores(scores: dict[str, Any]) -> str:
    """Write the scores by label and by kind of tag."""
    text = ""
    if types := scores["parsetag_per_type"]:
        rows = [
            (showable(label, keep=""), *(f"{100 * row[name]:.2f}" for name in "prf"))
            for label, row in sorted(types.items())
        ]
        header = ("label", "P", "R", "F")
        text += "\n" + tables.table(rows, header=header, aligns=("l", "r", "r", "r"), max_col=WIDEST) + "\n"
    tags = {kind: value for kind, value in scores["parsetag_tag_acc"].items() if value is not None}
    if tags:
        text += "parsing tags right: " + ", ".join(f"{kind} {value:.2%}" for kind, value in tags.items()) + "\n"
    return text + f"{scores['speed']:,.0f} words per second\n"
