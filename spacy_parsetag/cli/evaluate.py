"""`python -m spacy parsetag evaluate`: score trees as EVALB does."""

import json
from collections.abc import Iterable, Iterator
from pathlib import Path
from timeit import default_timer as timer
from typing import TYPE_CHECKING, Annotated, Any

import typer
from spacy.cli._util import Arg, Opt

from ..errors import Errors
from ._inputs import read_docs
from ._model import find_spans_key, load_pipeline
from ._util import fail, note, stated_errors, text_output

if TYPE_CHECKING:
    from nltk import Tree
    from spacy.training import Example

    from ..evalb import EvalbResult


def evaluate_cli(
    gold: Annotated[str, Arg(metavar="GOLD|MODEL", help="Bracket file with the right trees; or a pipeline")],
    test: Annotated[
        Path,
        Arg(
            metavar="TEST|DATA",
            help="Bracket file with the trees to score, (TOP) where there is no parse; or a .spacy file or a folder of "
            "such files with the right trees",
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
    as_json: Annotated[bool, Opt("--json", "-j", help="Print JSON instead")] = False,
    output: Annotated[
        Path | None, Opt("--output", "-o", dir_okay=False, help="Write the JSON to this file as well")
    ] = None,
    fill: Annotated[
        Path | None,
        Opt(
            "--fill",
            dir_okay=False,
            help="Write the bracket file TEST with a flat tree for each sentence that has no parse over the words of "
            "GOLD, for scorers that leave such sentences out or count them right",
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

    Two figures are given: EVALB's own, from which sentences without a usable parse are missing, and one in which each
    of these counts as zero. A pipeline is scored on the words and sentences of the data, and its trees get the data's
    part-of-speech tags, as is the convention, since EVALB tells punctuation by its tag.

    python -m spacy parsetag evaluate gold.mrg test.mrg --params collins

    python -m spacy parsetag evaluate training/model-best corpus/test.spacy
    """
    with stated_errors():
        from ..evalb import evalb, format_summary, format_table

        if fill is not None and (test.suffix == ".spacy" or test.is_dir()):
            raise ValueError(Errors.E362.format(option="--fill", needs="bracket files"))
        report: dict[str, Any] = {}
        if test.suffix == ".spacy" or test.is_dir():
            scores, pairs = score_pipeline(gold, test, gpu_id, code, batch_size)
            report["scores"] = scores
            result = evalb([pair[0] for pair in pairs], [pair[1] for pair in pairs], params)
        else:
            if Path(gold).is_dir():
                raise ValueError(Errors.E362.format(option="A pipeline", needs=f"a .spacy file, which {test} is not"))
            for path in (Path(gold), test):
                if not path.is_file():
                    raise ValueError(Errors.E351.format(path=path))
            if fill is not None:
                write_filled(read_pairs(gold, test, encoding), fill)
            result = evalb(*read_pairs(gold, test, encoding), params)
        if not result.rows:
            fail(Errors.E355.format(inputs=test))
        report = {**report, "evalb": result.to_dict()} if report else result.to_dict()
        if output is not None:
            with text_output(output) as file:
                file.write(json.dumps(report, indent=2, ensure_ascii=False) + "\n")
        if as_json:
            typer.echo(json.dumps(report, indent=2, ensure_ascii=False))
        elif table if table is not None else "scores" not in report:
            typer.echo(format_table(result), nl=False)
        else:
            typer.echo(format_summary(result), nl=False)
            if "scores" in report:
                typer.echo(format_scores(report["scores"]), nl=False)
        warn_of_failures(result)


def read_pairs(gold: str, test: Path, encoding: str) -> "tuple[Iterator[Tree | None], Iterator[Tree | None]]":
    """The trees of both files, None for each sentence without one."""
    from ..evalb import read_scored_trees

    return read_scored_trees(gold, encoding=encoding), read_scored_trees(test, encoding=encoding)


def write_filled(pairs: "tuple[Iterator[Tree | None], Iterator[Tree | None]]", output: Path) -> None:
    """Write the test trees, with a flat tree for each sentence without one over the gold words, and say how many.

    pairs (Tuple[Iterator[Optional[Tree]], Iterator[Optional[Tree]]]): Gold and test trees.
    output (Path): The file, which appears whole or not at all.
    """
    from ..evalb import fill_unparsed
    from ..treebanks.penn import write_trees

    n_flat = 0

    def trees() -> "Iterator[Tree]":
        nonlocal n_flat
        for tree, is_flat in fill_unparsed(*pairs):
            n_flat += is_flat
            yield tree

    written = write_trees(output, trees())
    note(f"{written:,} trees, {n_flat:,} of them flat: {output}")


def warn_of_failures(result: "EvalbResult") -> None:
    """Say so if EVALB's figure leaves sentences out, on the error stream."""
    if result.failures:
        note(
            f"{result.failures} of {len(result.rows)} sentences have no usable parse. EVALB's F of {result.f:.2f} "
            f"leaves them out; counting them as zero it is {result.strict.f:.2f}.",
            "warn",
        )


def score_pipeline(
    model: str, data: Path, gpu_id: int, code: Path | None, batch_size: int | None
) -> "tuple[dict[str, Any], list[tuple[Tree, Tree | None]]]":
    """Run a pipeline on data with gold trees.

    model (str): The pipeline.
    data (Path): A .spacy file or a folder.
    gpu_id (int): The GPU, or -1 for none.
    code (Optional[Path]): Python file to import first.
    batch_size (Optional[int]): Docs in a batch.
    RETURNS (Tuple[Dict[str, Any], List[Tuple[Tree, Optional[Tree]]]]): The pipeline's own scores, as `spacy evaluate`
        has them, and for each sentence the gold and the predicted tree.
    RAISES (ValueError): If the pipeline has no parser, or the data no trees.
    """
    from spacy.scorer import Scorer
    from spacy.tokens import Doc
    from spacy.training import Example

    if not data.exists():
        raise ValueError(Errors.E351.format(path=data))
    nlp = load_pipeline(model, gpu_id=gpu_id, code=code)
    key = find_spans_key(nlp, model)
    examples = []
    for doc in read_docs(data, nlp):
        if key not in doc.spans or not len(doc):
            continue
        spaces = [bool(token.whitespace_) for token in doc]
        predicted = Doc(nlp.vocab, words=[token.text for token in doc], spaces=spaces)
        for token, gold in zip(predicted, doc, strict=True):
            token.is_sent_start = gold.is_sent_start
        examples.append(Example(predicted, doc))
    if not examples:
        fail(Errors.E364.format(path=data, key=key))
    # Not `nlp.evaluate`, which works on copies and keeps the parses to itself.
    start = timer()
    docs = nlp.pipe([eg.predicted for eg in examples], batch_size=batch_size)
    for eg, parsed in zip(examples, docs, strict=True):
        eg.predicted = parsed
    seconds = timer() - start
    scores = Scorer(nlp=nlp).score(examples)
    kept = {name: value for name, value in scores.items() if name.startswith("parsetag")}
    kept["speed"] = sum(len(eg.predicted) for eg in examples) / seconds
    return kept, [pair for eg in examples for pair in paired_trees(eg, key)]


def paired_trees(example: "Example", key: str) -> "Iterator[tuple[Tree, Tree | None]]":
    """The gold and the predicted tree of each sentence, the latter with gold part-of-speech tags.

    example (Example): The example; both docs have the same tokens.
    key (str): Key of the constituents.
    YIELDS (Tuple[Tree, Optional[Tree]]): The trees; None where nothing, or another sentence, was predicted.
    """
    from ..tokens.spans import has_parses, parses_from_doc
    from ..tokens.strings import tree_from_parse
    from ..trees.parse import Parse

    predicted = parses_from_doc(example.predicted, key) if has_parses(example.predicted, key) else []
    by_tokens = {tuple(tokens): parse for tokens, parse in predicted}
    for tokens, gold in parses_from_doc(example.reference, key):
        found = by_tokens.get(tuple(tokens))
        test = None if found is None else tree_from_parse(Parse(gold.words, gold.tags, found.spans))
        yield tree_from_parse(gold), test


def format_scores(scores: dict[str, Any]) -> str:
    """The scores by label and by kind of tag, as text."""
    lines: list[str] = []
    types = scores.get("parsetag_per_type") or {}
    if types:
        lines += ["", f"{'label':<12} {'P':>6} {'R':>6} {'F':>6}"]
        lines += [_format_row(label, (row["p"], row["r"], row["f"])) for label, row in sorted(types.items())]
    tags = {kind: value for kind, value in (scores.get("parsetag_tag_acc") or {}).items() if value is not None}
    if tags:
        lines += ["", "parsing tags right: " + ", ".join(f"{kind} {value:.2%}" for kind, value in tags.items())]
    if scores.get("speed"):
        lines.append(f"{scores['speed']:,.0f} words a second")
    return "".join(line + "\n" for line in lines)


def _format_row(name: str, values: Iterable[float]) -> str:
    return f"{name:<12} " + " ".join(f"{100 * value:6.2f}" for value in values)
