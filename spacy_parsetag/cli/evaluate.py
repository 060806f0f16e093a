"""`python -m spacy parsetag evaluate`: score trees as EVALB does."""

import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from timeit import default_timer as timer
from typing import TYPE_CHECKING, Annotated, Any

import typer
from spacy.cli._util import Arg, Opt
from wasabi import tables

from ..errors import Errors
from ..treebanks.atomic import refuse_overwrite
from ._inputs import read_docs
from ._model import find_spans_key, load_pipeline
from ._util import STANDARD, fail, note, stated_errors, text_output

if TYPE_CHECKING:
    from spacy.training import Example

    from ..evalb import EvalbResult

MAX_STATED = 10  # errors in single sentences that are listed on the error stream


def evaluate_cli(
    gold: Annotated[str, Arg(metavar="GOLD|MODEL", help="Bracket file with the right trees; or a pipeline")],
    test: Annotated[
        Path,
        Arg(
            metavar="TEST|DATA",
            help="Bracket file with the trees to score, an empty line or (TOP) where there is no parse; or a .spacy "
            "file or a folder of such files with the right trees",
        ),
    ],
    params: Annotated[
        str, Opt("--params", "-p", help="EVALB's parameters: collins, new, spmrl, or a parameter file")
    ] = "collins",
    table: Annotated[
        bool | None,
        Opt(
            "--table/--summary",
            help="Print EVALB's table, a line a sentence; or both summaries in three lines. Default: the table for "
            "bracket files, the summary for a pipeline",
        ),
    ] = None,
    multiline: Annotated[
        bool,
        Opt("--multiline", "-m", help="Trees of bracket files run over several lines, and empty lines mean nothing"),
    ] = False,
    as_json: Annotated[bool, Opt("--json", "-j", help="Print JSON instead")] = False,
    output: Annotated[
        Path | None, Opt("--output", "-o", dir_okay=False, help="Write the JSON to this file as well")
    ] = None,
    fill: Annotated[
        Path | None,
        Opt(
            "--fill",
            dir_okay=False,
            help="Write the bracket file TEST to this new file, with a flat tree for each sentence that has no parse "
            "over the words of GOLD, for scorers that leave such sentences out or count them right",
        ),
    ] = None,
    encoding: Annotated[str, Opt("--encoding", "-e", help="Encoding of bracket files")] = "utf-8",
    batch_size: Annotated[
        int | None, Opt("--batch-size", "-b", min=1, help="Docs in a batch. Default: as the pipeline says")
    ] = None,
    gpu_id: Annotated[int, Opt("--gpu-id", "-g", help="GPU, or -1 for none")] = -1,
    code: Annotated[
        Path | None, Opt("--code", "-c", help="Python file with registered functions that the pipeline needs")
    ] = None,
) -> None:
    """Score bracket files against each other, or a pipeline on a .spacy file. Counts are those of EVALB.

    As in EVALB a line of a bracket file is a sentence, and an empty line is a sentence without a parse.

    Two figures are given: EVALB's own, from which sentences without a usable parse are missing, and one in which each
    of these counts as zero. A pipeline is scored on the words and sentences of the data, and its trees get the data's
    part-of-speech tags, as is the convention, since EVALB tells punctuation by its tag.

    python -m spacy parsetag evaluate gold.mrg test.mrg --params collins

    python -m spacy parsetag evaluate training/model-best corpus/test.spacy
    """
    with stated_errors():
        from ..evalb import evalb, fill_unparsed, format_summary, format_table

        refuse_overwrite([output, fill], [Path(gold), test, Path(params)])
        of_pipeline = test.suffix == ".spacy" or test.is_dir()
        scores: dict[str, Any] = {}
        if of_pipeline:
            if fill is not None or multiline:
                raise ValueError(Errors.E362.format(option="--fill" if fill else "--multiline", needs="bracket files"))
            scores, pairs = score_pipeline(gold, test, gpu_id, code, batch_size)
            gold_lines, test_lines = ([pair[side] for pair in pairs] for side in (0, 1))
        else:
            if Path(gold).is_dir():
                raise ValueError(Errors.E362.format(option="A pipeline", needs=f"a .spacy file, which {test} is not"))
            gold_lines, test_lines = (read_sentences(path, encoding, multiline) for path in (Path(gold), test))
        result = evalb(gold_lines, test_lines, params)
        if not any(line.strip() for line in gold_lines):
            fail(Errors.E355.format(inputs=gold))
        report = {"scores": scores, "evalb": result.to_dict()} if of_pipeline else result.to_dict()
        text = json.dumps(report, indent=2, ensure_ascii=False) + "\n"
        if output is not None:
            with text_output(output) as file:
                file.write(text)
        if fill is not None:
            filled = list(fill_unparsed(gold_lines, test_lines))
            with text_output(fill) as file:
                file.writelines(line + "\n" for line, _ in filled)
            note(f"{len(filled):,} trees, {sum(is_flat for _, is_flat in filled):,} of them flat: {fill}")
        if not as_json:
            text = format_table(result) if table or (table is None and not of_pipeline) else format_summary(result)
            if of_pipeline and not table:
                text += format_scores(scores)
        with text_output(STANDARD) as file:
            file.write(text)
        warn_of_failures(result)


def read_sentences(path: Path, encoding: str, multiline: bool) -> list[str]:
    """Read a bracket file.

    path (Path): The file.
    encoding (str): Its encoding.
    multiline (bool): Whether a tree is a sentence rather than a line.
    RETURNS (list[str]): The brackets of each sentence.
    RAISES (ValueError): If there is no such file, or its encoding is another.
    """
    from ..evalb import join_lines, read_lines

    if not path.is_file():
        raise ValueError(Errors.E351.format(path=path))
    lines = read_lines(path, encoding=encoding)
    return list(join_lines(lines) if multiline else lines)


def warn_of_failures(result: "EvalbResult") -> None:
    """List errors in single sentences on the error stream, and say so if EVALB's figure leaves sentences out."""
    errors = [f"{number} : {row.error}" for number, row in enumerate(result.rows, start=1) if row.error]
    for error in errors[:MAX_STATED]:
        typer.echo(error, err=True)
    if len(errors) > MAX_STATED:
        typer.echo(f"... and {len(errors) - MAX_STATED:,} more: see --json", err=True)
    if any("too many open bracket" in error for error in errors):
        note("Brackets are open at the end of a line. If trees run over several lines, say --multiline.", "warn")
    if result.failures:
        note(
            f"{result.failures} of {len(result.rows)} sentences have no usable parse. EVALB's F of {result.f:.2f} "
            f"leaves them out; counting them as zero it is {result.strict.f:.2f}.",
            "warn",
        )


def score_pipeline(
    model: str, data: Path, gpu_id: int, code: Path | None, batch_size: int | None
) -> tuple[dict[str, Any], list[tuple[str, str]]]:
    """Run a pipeline on data with gold trees.

    model (str): The pipeline.
    data (Path): A .spacy file or a folder.
    gpu_id (int): The GPU, or -1 for none.
    code (Path | None): Python file to import first.
    batch_size (int | None): Docs in a batch.
    RETURNS (tuple[dict[str, Any], list[tuple[str, str]]]): The parser's own scores, as `spacy evaluate` has them but
        under their default names, with the speed in words a second; and each sentence's gold and predicted tree.
    RAISES (ValueError): If the pipeline has no parser, or the data no trees.
    """
    from spacy.scorer import Scorer
    from spacy.tokens import Doc
    from spacy.training import Example

    from ..pipeline.scorer import SCORES, score_prefix

    if not data.exists():
        raise ValueError(Errors.E351.format(path=data))
    nlp = load_pipeline(model, gpu_id=gpu_id, code=code)
    key = find_spans_key(nlp, model)
    examples = []
    for doc in read_docs(data, nlp):
        if key in doc.spans and len(doc):
            words, spaces, starts = zip(*((t.text, bool(t.whitespace_), t.is_sent_start) for t in doc), strict=True)
            predicted = Doc(nlp.vocab, words=list(words), spaces=list(spaces), sent_starts=list(starts))
            examples.append(Example(predicted, doc))
    if not examples:
        fail(Errors.E364.format(path=data, key=key))
    # Not `nlp.evaluate`, which works on copies and keeps the parses to itself.
    start = timer()
    docs = nlp.pipe([eg.predicted for eg in examples], batch_size=batch_size)
    for eg, parsed in zip(examples, docs, strict=True):
        eg.predicted = parsed
    seconds = timer() - start
    prefix = score_prefix(key)
    scores = Scorer(nlp=nlp).score(examples)
    kept = {f"parsetag_{name}": scores[f"{prefix}_{name}"] for name in SCORES if f"{prefix}_{name}" in scores}
    kept["speed"] = sum(len(eg.predicted) for eg in examples) / seconds
    return kept, [pair for eg in examples for pair in paired_trees(eg, key)]


def paired_trees(example: "Example", key: str) -> Iterator[tuple[str, str]]:
    """The gold and the predicted tree of each sentence, in brackets, the latter with gold part-of-speech tags.

    example (Example): The example; both docs have the same tokens.
    key (str): Key of the constituents.
    YIELDS (tuple[str, str]): The trees; an empty string where nothing, or another sentence, was predicted.
    """
    from ..tokens import has_parses, parse_string, parses_from_doc

    predicted = parses_from_doc(example.predicted, key) if has_parses(example.predicted, key) else []
    by_tokens = {tuple(tokens): parse for tokens, parse in predicted}
    for tokens, gold in parses_from_doc(example.reference, key):
        found = by_tokens.get(tuple(tokens))
        yield parse_string(gold), "" if found is None else parse_string(replace(gold, spans=found.spans))


def format_scores(scores: dict[str, Any]) -> str:
    """The scores by label and by kind of tag, as text."""
    text = ""
    types = scores.get("parsetag_per_type") or {}
    if types:
        rows = [(label, *(f"{100 * row[name]:.2f}" for name in "prf")) for label, row in sorted(types.items())]
        text += "\n" + tables.table(rows, header=("label", "P", "R", "F"), aligns=("l", "r", "r", "r")) + "\n"
    tags = {kind: value for kind, value in (scores.get("parsetag_tag_acc") or {}).items() if value is not None}
    if tags:
        text += "parsing tags right: " + ", ".join(f"{kind} {value:.2%}" for kind, value in tags.items()) + "\n"
    return text + f"{scores['speed']:,.0f} words a second\n"
