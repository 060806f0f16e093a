"""`python -m spacy parsetag parse`: parses text and writes trees."""

import os
import shlex
from collections import Counter
from collections.abc import Callable, Generator, Iterator
from contextlib import closing
from functools import partial
from itertools import chain
from pathlib import Path
from typing import Annotated, Literal

from typer import Argument as Arg, Option as Opt

from ..errors import Errors, shorten
from ..files.read import is_stream, suffix_of
from ..files.write import STANDARD, refuse_other, refuse_overwrite
from ..texts.input import FORMATS as TEXT_FORMATS, Record, find_sources
from ..texts.on_ray import ray_shards
from ..texts.on_spark import spark_shards
from ..texts.output import open_output
from ..texts.parser import BatchParser, Settings, in_batches, parse_batch
from ..texts.processes import map_in_processes
from ..texts.shards import Job, Note, Run, ShardParser, parse_shard
from ..treebanks.formats.table import FORMATS
from ._inputs import DEFAULT_MODEL, default_model, find_input, is_pipeline, is_text, start_parser
from ._util import Code, GpuId, SkipBad, Skipped, count_processes, counted, note, progress, refuse

SHARD_SIZE = 2000
SLASHES = ("/", os.sep)
# What is in the first line of an output, by its format.
FIRST_LINES = {"brackets": rb"^(#$|# [a-z_]+ -?\d|\(TOP\b)", "jsonl": rb'"sents"', "json": rb"^\["}
HOLDING_IDS = {"jsonl", "spacy", "parquet"}  # formats that can hold ids, and parses
InputFormat = Literal["text", "paragraphs", "tokens", "jsonl", "spacy", "parquet"]
OutputFormat = Literal["brackets", "jsonl", "json", "spacy", "parquet"]
Engine = Literal["local", "ray", "spark"]
Sentences = Literal["line", "model"]


def parse_cli(
    model: Annotated[
        str | None, Arg(metavar="MODEL", help=f"Pipeline: a package or a folder. Default: {DEFAULT_MODEL}")
    ] = None,
    source: Annotated[
        str | None,
        Arg(metavar="INPUT", help="Required: a file, - for standard input, a folder of files, or text in quotes"),
    ] = None,
    output: Annotated[
        str, Arg(metavar="OUTPUT", help="File to write, - for standard output, or a folder of shards (NAME/)")
    ] = str(STANDARD),
    format: Annotated[
        InputFormat | None, Opt("--format", "-f", help="What INPUT holds. Default: by its suffix")
    ] = None,
    output_format: Annotated[
        OutputFormat | None,
        Opt(help="What to write. Default: by OUTPUT's suffix; in a folder what INPUT holds, if it can; else brackets"),
    ] = None,
    sents: Annotated[
        Sentences | None,
        Opt(
            "--sents",
            "-s",
            help="line: a text is a sentence. model: the pipeline splits, as it does text in quotes and paragraphs",
        ),
    ] = None,
    skip_bad: SkipBad = "0",
    batch_size: Annotated[
        int | None, Opt("--batch-size", "-b", min=1, help="Texts per batch. Default: 256, fewer if they are long")
    ] = None,
    n_process: Annotated[
        int | None,
        Opt("--workers", "--n-process", "-n", help="Processes, -1 for one per core; each takes seconds to start"),
    ] = None,
    probs: Annotated[
        bool, Opt("--probs", help="Say how probable trees and constituents are: in lines that begin with #, or in JSON")
    ] = False,
    k_best: Annotated[int, Opt(min=0, help="Write the best K trees of each sentence, with log-probabilities")] = 0,
    engine: Annotated[Engine, Opt(help="Who parses shards: processes here, or a Ray or Spark cluster")] = "local",
    shard_size: Annotated[
        int | None, Opt(min=1, help=f"Texts in a shard of the folder OUTPUT. Default: {SHARD_SIZE:,}")
    ] = None,
    resume: Annotated[bool, Opt("--resume", help="Go on with a folder of shards where a run was stopped")] = False,
    quiet: Annotated[bool, Opt("--quiet", "-q", help="Show no progress")] = False,
    gpu_id: GpuId = -1,
    code: Code = None,
) -> None:
    """Parse text and write trees.

    Without MODEL, the English pipeline en_parsetag_sm parses, if it is installed.

    \b
    Inputs:
      text        one text per line
      paragraphs  running text, wrapped or not: blank lines end a text, other line ends are spaces
      tokens      one sentence per line, words separated by spaces
      jsonl       one object per line, with "text", or with "tokens" and perhaps "tags"
      spacy       docs, which keep their sentence boundaries
      parquet     rows with the columns "text", or "tokens" and perhaps "tags"

    Files may be compressed (.gz, .bz2, .xz). Of a folder all files of a format are parsed, in the order of their names;
    a line or paragraph has the name of its file as its id.

    \b
    Outputs:
      brackets  one sentence per line
      jsonl     one object per line, for each text
      json      a list of these objects
      spacy     docs
      parquet   one row for each text, with the columns that jsonl has as keys

    OUTPUT/, a folder, gets shards and a manifest. Its run can be killed at any moment: --resume goes on where it was.

    With --sents line, brackets keep line numbers: line N of the output is the tree of line N of the input, and (TOP)
    stands for an empty line. They have no room for ids, which the other formats keep.
    With --sents model, blank lines end sentences, and punctuation splits text if the pipeline cannot.
    With --probs or --k-best, brackets have several lines for a sentence; lines that begin with # are comments.
    Part-of-speech tags are the pipeline's (token.tag_, else token.pos_), or X if it has no tagger.

    \b
    Examples:
      python -m spacy parsetag parse "She enjoys reading old papers."
      python -m spacy parsetag parse training/model-best sentences.txt trees.mrg
      python -m spacy parsetag parse training/model-best news.txt news.jsonl --sents model
      python -m spacy parsetag parse training/model-best corpus.txt.gz trees/ --workers 8 --skip-bad 1% --resume
      echo "She reads papers." | python -m spacy parsetag parse training/model-best -
    """
    skipped = Skipped("text", skip_bad)
    name, path, text = _find_model_and_input(model, source)
    sources = find_sources(path, format)
    reading = sources[0].format
    refuse(text is not None and reading != "text", f"--format {reading}", "a file or standard input")
    target = Path(output)
    names_folder = target.is_dir() or output.endswith(SLASHES)
    in_shards = names_folder or shard_size is not None or resume or engine != "local"
    writing: str | None = output_format
    if writing is None:
        shard_format = reading if reading in HOLDING_IDS else "brackets"
        writing = shard_format if in_shards else _guess_output(target)
    refuse(writing in {"spacy", "parquet"} and target == STANDARD, f"--output-format {writing}", "a file to write")
    n_process = None if n_process is None else count_processes(n_process)
    is_running = text is not None or reading == "paragraphs"
    one_sentence = sents == "line" or (sents is None and not is_running)
    refuse(writing == "parquet" and (probs or k_best), "--probs" if probs else "--k-best", "another --output-format")
    settings = Settings(name, gpu_id, code, one_sentence, writing, probs, k_best)
    if in_shards:
        refuse(is_stream(path), "A folder of shards", "a file or folder to parse")
        _check_folder(target, [path, Path(name)], writing)
        is_file = not names_folder and bool(target.suffix or target == STANDARD)
        refuse(is_file, "A folder of shards", "a name that ends in /, such as shards/")
    else:
        refuse(path == STANDARD and reading in {"spacy", "parquet"}, f"--format {reading}", "a file or folder to parse")
        refuse_overwrite([target], [path, *(source.path for source in sources), Path(name)])
        refuse_other(target, FIRST_LINES.get(writing, b""))
        if suffix_of(target) in TEXT_FORMATS and path.resolve() in target.resolve().parents:  # read the next time
            raise ValueError(Errors.E032.format(path=target))
    parser = start_parser(settings)
    if in_shards:
        run = Run(Job(settings, sources, target, batch_size, parser.sha256), parser, shard_size or SHARD_SIZE, resume)
        try:
            _parse_to_shards(run, parser, engine, n_process, skipped, quiet)
        except KeyboardInterrupt:
            note(f"Stopped, with {run.n_done:,} of {counted(run.n_texts, 'text')} parsed. --resume goes on.", "warn")
            raise
    else:
        by_file = (file.read() for file in sources)
        records = chain.from_iterable(by_file if text is None else [[Record("the text", {"text": text})]])
        batches = in_batches(records, batch_size)
        _parse_to_file(parser, batches, reading, target, n_process or 1, skipped, quiet)


def _parse_to_file(
    parser: BatchParser,
    batches: Iterator[list[Record]],
    format: str,
    output: Path,
    n_process: int,
    skipped: Skipped,
    quiet: bool,
) -> None:
    """Parse batches in this process, or in several, and write a file."""
    parse = parser if n_process == 1 else partial(parse_batch, parser.settings)
    counts: Counter[str] = Counter()
    with (
        closing(map_in_processes(parse, batches, n_process)) as results,
        open_output(output, parser.settings.format) as write,
        progress("texts", quiet=quiet) as advance,
    ):
        for parsed in results:
            for failure in parsed.failures:
                skipped(failure)
            skipped.n_good += parsed.n_texts - len(parsed.failures)
            write(parsed)
            counts.update(parsed.counts)
            advance(parsed.n_texts)
        skipped.check()
    skipped.summarize()
    _warn(format, counts, skipped.n + skipped.n_good)


def _parse_to_shards(
    run: Run, parser: BatchParser, engine: str, n_process: int | None, skipped: Skipped, quiet: bool
) -> None:
    """Parse what a folder of shards still lacks."""
    with (
        run.lock,
        progress("texts", total=run.n_texts, done=run.n_done, quiet=quiet) as advance,
        closing(_parse_todo(run, parser, engine, n_process, advance)) as notes,
    ):
        for failure in chain.from_iterable(shard_note["failures"] for shard_note in run.notes.values()):
            skipped.list(failure)
        run.check(skipped.max_number, skipped.limit)
        for shard_note in notes:
            run.add(shard_note)
            for failure in shard_note["failures"]:
                skipped.list(failure)
            run.check(skipped.max_number, skipped.limit)
        run.check(skipped.max_share * run.n_texts, skipped.limit)
        run.finish()
    skipped.summarize()
    _warn(run.job.sources[0].format, run.counts, run.n_texts)
    if not quiet:
        failed = f" ({run.n_failed:,} failed)" if run.n_failed else ""
        note(f"{counted(run.n_texts, 'text')}{failed} in {counted(len(run.shards), 'shard')}: {run.job.folder}", "good")


def _parse_todo(
    run: Run, parser: BatchParser, engine: str, n_process: int | None, advance: Callable[[int], object]
) -> Generator[Note, None, None]:
    """Parse the shards that are left, and yield the note on each; `advance` is told how many texts."""
    todo = [shard for shard in run.shards if run.job.name(shard) not in run.notes]
    if not todo:
        return
    if engine == "ray":
        notes = ray_shards(run.job, todo, n_process)
    elif engine == "spark":
        notes = spark_shards(run.job, todo, n_process)
    elif n_process is not None and n_process > 1:
        tasks = ((run.job.only(shard), shard) for shard in todo)
        notes = map_in_processes(parse_shard, tasks, n_process, patience=0)  # shards are written by the workers
    else:
        parse = ShardParser(run.job, parser)
        yield from (parse(shard, advance) for shard in todo)
        return
    with closing(notes):
        for shard_note in notes:
            advance(shard_note["stop"] - shard_note["start"])
            yield shard_note


def _warn(format: str, counts: Counter[str], n_texts: int) -> None:
    """Warn of what the `COUNTS` say of all texts."""
    shares = {name: f"{n:,} of {n_texts:,}" for name, n in counts.items()}
    if format == "text" and counts["n_wrapped"] > max(2, 0.3 * n_texts):
        note(
            f"{shares['n_wrapped']} lines seem to go on in the next one, and each was parsed by itself. "
            "--format paragraphs joins lines.",
            "warn",
        )
    elif counts["n_several"]:
        note(
            f"{shares['n_several']} texts look like several sentences. Each was parsed as one sentence: "
            "--sents model splits them.",
            "warn",
        )
    if counts["n_escaped"]:
        have = f"{shares['n_escaped']} texts have tokens such as -LRB-, which were taken for words"
        note(f"{have}. In JSON and tables a bracket is written as it is; --format tokens reads -LRB-.", "warn")
    if counts["n_ids"] and format in HOLDING_IDS:  # others have ids from the names of files alone
        has = f"{shares['n_ids']} texts have an id or meta"
        note(f"{has}, which brackets cannot hold. --output-format jsonl keeps them.", "warn")


def _check_folder(folder: Path, inputs: list[Path], format: str) -> None:
    """Raise a ValueError before anything is lost, if a folder of shards and the inputs are mixed up."""
    refuse(format == "json", "--output-format json", "a file to write, not a folder")
    target = folder.resolve()
    for path in map(Path.resolve, inputs):
        if target == path or target in path.parents or (path.exists() and path in target.parents):
            raise ValueError(Errors.E032.format(path=folder))
    if target.exists() and not target.is_dir():
        raise ValueError(Errors.E450.format(path=folder))


def _find_model_and_input(model: str | None, source: str | None) -> tuple[str, Path, str | None]:
    """Find the pipeline and the input (see `find_input`); a single argument is the input."""
    if model is None:
        raise ValueError(Errors.E455.format(option="The command", needs="an INPUT to parse"))
    refuse(source is None and is_pipeline(model), f"The pipeline {model}", "an INPUT to parse")
    is_input = model == str(STANDARD) or os.path.exists(model) or is_text(model)
    if source is not None and is_input and not is_pipeline(model):
        what = "a folder" if os.path.isdir(model) else "a file" if os.path.exists(model) else "a text"
        what = "standard input" if model == str(STANDARD) else what
        command = shlex.join(["python", "-m", "spacy", "parsetag", "parse", DEFAULT_MODEL, model, source])
        raise ValueError(Errors.E462.format(model=shorten(model, 80), what=what, command=command))
    return (default_model(), *find_input(model)) if source is None else (model, *find_input(source))


def _guess_output(output: Path) -> str:
    """Tell the format of an output by its name. Raises a ValueError if its suffix stands for no format."""
    formats_by_suffix = {f".{format}": format for format in ("jsonl", "json", "spacy", "parquet")}
    formats_by_suffix |= dict.fromkeys((*FORMATS["penn"].suffixes, ".txt", ""), "brackets")
    suffix = output.suffix.lower()
    if suffix not in formats_by_suffix:
        raise ValueError(Errors.E463.format(path=output, known=", ".join(filter(None, formats_by_suffix))))
    return formats_by_suffix[suffix]
