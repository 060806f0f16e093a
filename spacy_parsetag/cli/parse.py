"""`python -m spacy parsetag parse`: text becomes trees."""

import os
from collections.abc import Callable, Generator, Iterator
from contextlib import closing
from enum import Enum
from functools import partial
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from typer import Argument as Arg
from typer import Option as Opt

from ..errors import Errors
from ..treebanks.atomic import STANDARD, refuse_overwrite
from ._model import DEFAULT_MODEL, default_model, is_pipeline
from ._util import Code, GpuId, Skipped, note, progress, stated_errors

if TYPE_CHECKING:
    from ..scale.batches import BatchParser
    from ..scale.records import Record
    from ..scale.shards import Note, Run

SHARD_SIZE = 2000


class InputFormat(str, Enum):
    text = "text"
    tokens = "tokens"
    jsonl = "jsonl"
    spacy = "spacy"
    parquet = "parquet"


class OutputFormat(str, Enum):
    brackets = "brackets"
    jsonl = "jsonl"
    json = "json"
    spacy = "spacy"
    parquet = "parquet"


class Engine(str, Enum):
    local = "local"
    ray = "ray"
    spark = "spark"


class Precision(str, Enum):
    float32 = "float32"
    bfloat16 = "bfloat16"
    int8 = "int8"


class Sentences(str, Enum):
    line = "line"
    model = "model"


def parse_cli(
    model: Annotated[str, Arg(metavar="[MODEL]", help=f"Pipeline: a package or a folder. Default: {DEFAULT_MODEL}")],
    source: Annotated[
        str | None,
        Arg(
            metavar="INPUT",
            show_default=False,
            help="File to parse, - for standard input, a folder of files, or, without MODEL, a text in quotes",
        ),
    ] = None,
    output: Annotated[
        str, Arg(metavar="OUTPUT", help="File to write, - for standard output, or a folder of shards (NAME/)")
    ] = str(STANDARD),
    input_format: Annotated[
        InputFormat | None,
        Opt("--input-format", "-i", help="What INPUT holds, as listed above. Default: by its suffix, else text"),
    ] = None,
    format: Annotated[
        OutputFormat | None,
        Opt("--format", "-f", help="What to write, as listed above. Default: by the suffix of OUTPUT, else brackets"),
    ] = None,
    sents: Annotated[
        Sentences | None,
        Opt(
            "--sents",
            "-s",
            help="line: each text is one sentence. model: the pipeline splits text into sentences. Default: line for "
            "files, model for a text in quotes",
        ),
    ] = None,
    skip_bad: Annotated[
        bool,
        Opt("--skip-bad", help="List texts that cannot be parsed and go on, instead of stopping at the first"),
    ] = False,
    max_errors: Annotated[
        int, Opt("--max-errors", min=0, help="List up to so many texts that cannot be parsed, and stop at the next")
    ] = 0,
    batch_size: Annotated[
        int | None, Opt("--batch-size", "-b", min=1, help="Texts per batch. Default: 256, fewer if they are long")
    ] = None,
    n_process: Annotated[
        int | None,
        Opt(
            "--workers",
            "--n-process",
            "-n",
            help="Number of processes, or -1 for one per core. Each takes seconds to start. Default: 1",
        ),
    ] = None,
    probs: Annotated[
        bool, Opt("--probs", help="Say how probable trees and constituents are: in lines that begin with #, or in JSON")
    ] = False,
    k_best: Annotated[
        int, Opt("--k-best", min=0, help="Write so many of the best trees of each sentence, with log-probabilities")
    ] = 0,
    engine: Annotated[
        Engine, Opt("--engine", help="Who parses shards: processes of this machine, or a Ray or Spark cluster")
    ] = Engine.local,
    shard_size: Annotated[
        int | None,
        Opt("--shard-size", min=1, help=f"Write a folder of shards with so many texts each. Default: {SHARD_SIZE:,}"),
    ] = None,
    resume: Annotated[
        bool, Opt("--resume", help="Go on with a folder of shards where an earlier run was stopped")
    ] = False,
    precision: Annotated[
        Precision | None,
        Opt("--precision", help="What PyTorch's layers predict in. Default: what the pipeline says"),
    ] = None,
    quiet: Annotated[bool, Opt("--quiet", "-q", help="Show no progress")] = False,
    gpu_id: GpuId = -1,
    code: Code = None,
) -> None:
    """Parse text and write trees.

    Without MODEL, the English pipeline en_parsetag_sm parses, if it is installed.

    \b
    Inputs:
      text      one text per line
      tokens    one sentence per line, words separated by spaces
      jsonl     one object per line, with "text", or with "tokens" and perhaps "tags"
      spacy     docs, which keep their sentence boundaries
      parquet   rows with the columns "text", or "tokens" and perhaps "tags"

    Files may be compressed (.gz, .bz2, .xz). Of a folder all files of a format are parsed, in the order of their names.

    \b
    Outputs:
      brackets  one sentence per line
      jsonl     one object per line, for each text
      json      a list of these objects
      spacy     docs
      parquet   one row for each text, with the columns that jsonl has as keys

    OUTPUT/, a folder, gets shards and a manifest. Its run can be killed at any moment: --resume goes on where it was.

    With --sents line, brackets keep line numbers: line N of the output is the tree of line N of the input, and (TOP)
    stands for an empty line. With --sents model, punctuation splits text if the pipeline cannot.
    With --probs or --k-best, brackets have several lines for a sentence; those that begin with # are comments.
    Part-of-speech tags are the pipeline's (token.tag_, else token.pos_), or X if it has no tagger.

    \b
    Examples:
      python -m spacy parsetag parse "She enjoys reading papers."
      python -m spacy parsetag parse training/model-best sentences.txt trees.mrg
      python -m spacy parsetag parse training/model-best news.txt news.jsonl --sents model
      python -m spacy parsetag parse training/model-best corpus.txt.gz trees/ --workers 8 --skip-bad --resume
      echo "She reads papers." | python -m spacy parsetag parse training/model-best -
    """
    with stated_errors():
        from ..scale.batches import BatchParser, Settings, in_batches
        from ..scale.records import Record
        from ..scale.shards import Job, Run, find_sources

        name, path, text = _find_input(model, source)
        sources = find_sources(path, input_format and input_format.value)
        target = Path(output)
        in_shards = target.is_dir() or output.endswith(("/", os.sep)) or shard_size is not None or resume
        in_shards = in_shards or engine is not Engine.local
        writing = (format or (OutputFormat.brackets if in_shards else _guess_output(target))).value
        if path == STANDARD and (in_shards or sources[0].format in {"spacy", "parquet"}):
            what = "A folder of shards" if in_shards else f"--input-format {sources[0].format}"
            raise ValueError(Errors.E455.format(option=what, needs="a file or folder to parse"))
        if writing in {"spacy", "parquet"} and target == STANDARD:
            raise ValueError(Errors.E455.format(option=f"--format {writing}", needs="a file to write"))
        if n_process is not None and (n_process == 0 or n_process < -1):
            raise ValueError(Errors.E464.format(n=n_process))
        n_process = (os.cpu_count() or 1) if n_process == -1 else n_process
        one_sentence = (sents or (Sentences.line if text is None else Sentences.model)) is Sentences.line
        if writing == "parquet" and (probs or k_best):
            raise ValueError(Errors.E455.format(option="--probs" if probs else "--k-best", needs="another --format"))
        settings = Settings(name, gpu_id, code, one_sentence, writing, probs, k_best, precision and precision.value)
        if in_shards:
            _check_folder(target, [path, Path(name)], writing)
        else:
            refuse_overwrite([target], [path, *(source.path for source in sources), Path(name)])
        parser = BatchParser(settings)
        if parser.added_sentencizer:
            note("The pipeline has no splitter of sentences: text is split at sentence-final punctuation.", "warn")
        allowed = None if skip_bad else max_errors
        if in_shards:
            run = Run(Job(settings, sources, target, batch_size), parser, shard_size or SHARD_SIZE, resume)
            _parse_to_shards(run, parser, engine.value, n_process, allowed, quiet)
        else:
            read = (each.read() for each in sources)
            records = chain.from_iterable(read if text is None else [[Record("the text", {"text": text})]])
            _parse_to_file(parser, in_batches(records, batch_size), target, n_process or 1, allowed, quiet)


def _parse_to_file(
    parser: "BatchParser",
    batches: "Iterator[list[Record]]",
    output: Path,
    n_process: int,
    allowed: int | None,
    quiet: bool,
) -> None:
    """Parse batches in this process, or in several, and write a file. `allowed` is how many texts may fail."""
    from ..scale.batches import map_in_processes, parse_batch
    from ..scale.output import open_output

    alone = (parser(batch) for batch in batches)
    several = map_in_processes(partial(parse_batch, parser.settings), batches, n_process)
    skipped = Skipped("text")
    n_texts = n_several = 0
    with (
        closing(alone if n_process == 1 else several) as results,
        open_output(output, parser.settings.format) as write,
        progress("texts", quiet=quiet) as advance,
    ):
        for parsed in results:
            for failure in parsed.failures:
                if allowed == 0:
                    raise ValueError(failure)
                skipped(failure)
            if allowed is not None and skipped.n > allowed:
                raise ValueError(Errors.E469.format(n=allowed))
            write(parsed)
            n_texts += parsed.n_texts
            n_several += parsed.n_several
            advance(parsed.n_texts)
    skipped.summarize()
    _warn_of_several(n_several, n_texts)


def _parse_to_shards(
    run: "Run", parser: "BatchParser", engine: str, n_process: int | None, allowed: int | None, quiet: bool
) -> None:
    """Parse what a folder of shards still lacks. `allowed` is how many of all texts may fail."""
    run.check(allowed)
    skipped = Skipped("text")
    with (
        progress("texts", total=run.n_texts, done=run.n_done, quiet=quiet) as advance,
        closing(_parse_todo(run, parser, engine, n_process, advance)) as notes,
    ):
        for found in notes:
            run.add(found)
            for failure in found["failures"]:
                skipped(failure)
            run.check(allowed)
    run.finish()
    skipped.summarize()
    _warn_of_several(run.n_several, run.n_texts)
    if not quiet:
        failed = f" ({run.n_failed:,} failed)" if run.n_failed else ""
        note(f"{run.n_texts:,} texts{failed} in {len(run.shards):,} shards: {run.job.folder}", "good")


def _parse_todo(
    run: "Run", parser: "BatchParser", engine: str, n_process: int | None, advance: Callable[[int], object]
) -> "Generator[Note, None, None]":
    """The shards that were still to be parsed, as they are done; `advance` is told how many texts."""
    from ..scale.batches import map_in_processes
    from ..scale.on_ray import ray_shards
    from ..scale.on_spark import spark_shards
    from ..scale.shards import ShardParser, parse_shard

    todo = run.todo
    if engine == "local" and n_process in {None, 1}:
        parse = ShardParser(run.job, parser)
        yield from (parse(shard, advance) for shard in todo)
    elif todo:
        engines = {"ray": ray_shards, "spark": spark_shards}
        several = partial(map_in_processes, partial(parse_shard, run.job), todo)
        notes = several(n_process or 1) if engine == "local" else engines[engine](run.job, todo, n_process)
        with closing(notes):
            for found in notes:
                advance(found["stop"] - found["start"])
                yield found


def _warn_of_several(n_several: int, n_texts: int) -> None:
    if n_several:
        note(
            f"{n_several:,} of {n_texts:,} texts look like several sentences. Each was parsed as one sentence: "
            "--sents model splits them.",
            "warn",
        )


def _check_folder(folder: Path, inputs: list[Path], format: str) -> None:
    """Raise a ValueError before anything is lost, if a folder of shards and the inputs are mixed up."""
    if format == "json":
        raise ValueError(Errors.E455.format(option="--format json", needs="a file to write, not a folder"))
    target = folder.resolve()
    for path in map(Path.resolve, inputs):
        if target == path or target in path.parents or (path.exists() and path in target.parents):
            raise ValueError(Errors.E112.format(path=folder))
    if target.exists() and not target.is_dir():
        raise ValueError(Errors.E450.format(path=folder))


def _find_input(model: str, source: str | None) -> tuple[str, Path, str | None]:
    """The pipeline, the file to parse (standard input for a text in quotes), and the text in quotes, if it is one."""
    if source is None and is_pipeline(model):
        raise ValueError(Errors.E455.format(option=f"The pipeline {model}", needs="an INPUT to parse"))
    name, given = (default_model(), model) if source is None else (model, source)
    path = Path(given)
    exists = os.path.exists(given)  # unlike Path.exists, it knows that a long text is no file
    if source is None and len(given.split()) > 1 and not exists:
        return name, STANDARD, given
    if path != STANDARD and not exists:
        raise ValueError(Errors.E103.format(path=path))
    return name, path, None


def _guess_output(output: Path) -> OutputFormat:
    """The format of an output by its name. Raises a ValueError if its suffix stands for no format."""
    from ..treebanks.formats.table import FORMATS

    formats = (OutputFormat.jsonl, OutputFormat.json, OutputFormat.spacy, OutputFormat.parquet)
    known = {f".{format.value}": format for format in formats}
    known |= dict.fromkeys((*FORMATS["penn"].suffixes, ".txt", ""), OutputFormat.brackets)
    suffix = output.suffix.lower()
    if suffix not in known:
        raise ValueError(Errors.E463.format(path=output, known=", ".join(filter(None, known))))
    return known[suffix]
