"""`python -m spacy parsetag parse`: text becomes trees."""

import os
from collections.abc import Iterator
from enum import Enum
from itertools import islice
from pathlib import Path
from typing import Annotated

import typer

from ..errors import Errors
from ..treebanks.atomic import refuse_overwrite
from ._batches import BatchParser, Parsed, Settings, parse_in_processes
from ._inputs import doc_records, json_record, read_records, text_record, tokens_record
from ._outputs import write_docs, write_texts
from ._util import STANDARD, Skipped, note, progress_bar, stated_errors


class InputFormat(str, Enum):
    text = "text"
    tokens = "tokens"
    jsonl = "jsonl"
    spacy = "spacy"


class OutputFormat(str, Enum):
    brackets = "brackets"
    jsonl = "jsonl"
    json = "json"
    spacy = "spacy"


class Sentences(str, Enum):
    line = "line"
    model = "model"


RECORDS = {InputFormat.text: text_record, InputFormat.tokens: tokens_record, InputFormat.jsonl: json_record}


def parse_cli(
    model: Annotated[str, typer.Argument(metavar="MODEL", help="Pipeline: a package or a folder")],
    source: Annotated[
        Path,
        typer.Argument(
            metavar="INPUT", allow_dash=True, help="File to parse, - for standard input, or a folder of .spacy files"
        ),
    ],
    output: Annotated[
        Path,
        typer.Argument(
            metavar="OUTPUT", allow_dash=True, dir_okay=False, help="File to write, or - for standard output"
        ),
    ] = STANDARD,
    input_format: Annotated[
        InputFormat | None,
        typer.Option(
            "--input-format",
            "-i",
            help="text: one text per line. tokens: one sentence per line, its words separated by spaces. jsonl: one "
            'object per line, with "text", or with "tokens" and optionally "tags". spacy: docs. Default: by the '
            "suffix of INPUT, else text",
        ),
    ] = None,
    format: Annotated[
        OutputFormat | None,
        typer.Option(
            "--format",
            "-f",
            help="brackets: one sentence per line. jsonl, json: one object per text. spacy: docs. Default: by the "
            "suffix of OUTPUT, else brackets",
        ),
    ] = None,
    sents: Annotated[
        Sentences,
        typer.Option(
            "--sents",
            "-s",
            help="line: each line or object is one sentence. model: the pipeline splits text into sentences; if it "
            "cannot, punctuation does. Docs that have sentence boundaries keep them",
        ),
    ] = Sentences.line,
    skip_bad: Annotated[
        bool,
        typer.Option("--skip-bad", help="List texts that cannot be parsed and go on, instead of stopping at the first"),
    ] = False,
    batch_size: Annotated[
        int | None, typer.Option("--batch-size", "-b", min=1, help="Texts per batch. Default: the pipeline's own")
    ] = None,
    n_process: Annotated[
        int,
        typer.Option(
            "--n-process",
            "-n",
            help="Number of processes, -1 for one per core. Each loads the pipeline, which takes seconds: more than "
            "one pays for large inputs. On a GPU leave it at 1",
        ),
    ] = 1,
    gpu_id: Annotated[int, typer.Option("--gpu-id", "-g", help="GPU to use, or -1 for the CPU")] = -1,
    code: Annotated[
        Path | None,
        typer.Option("--code", "-c", help="Python file with registered functions that the pipeline needs"),
    ] = None,
) -> None:
    """Parse text and write trees.

    With --sents line, the default, brackets keep line numbers: line N of the output is the tree of line N of the
    input, and (TOP) stands for an empty line. Part-of-speech tags are the pipeline's (token.tag_, else token.pos_), or
    X if it has no tagger.

    \b
    Examples:
      python -m spacy parsetag parse training/model-best sentences.txt trees.mrg
      python -m spacy parsetag parse training/model-best news.txt news.jsonl --sents model
      echo "She reads papers." | python -m spacy parsetag parse training/model-best -
    """
    with stated_errors():
        reading = input_format or _guess_input(source)
        writing = format or _guess_output(output)
        if source != STANDARD and not source.exists():
            raise ValueError(Errors.E351.format(path=source))
        if reading is InputFormat.spacy and source == STANDARD:
            raise ValueError(Errors.E362.format(option="--input-format spacy", needs="a file or folder"))
        if writing is OutputFormat.spacy and output == STANDARD:
            raise ValueError(Errors.E362.format(option="--format spacy", needs="a file to write"))
        if n_process == 0 or n_process < -1:
            raise ValueError(Errors.E384.format(n=n_process))
        n_process = n_process if n_process > 0 else os.cpu_count() or 1
        refuse_overwrite([output], [source, Path(model)])
        settings = Settings(model, gpu_id, code, sents is Sentences.line, writing.value, skip_bad)
        parser = BatchParser(settings)
        if parser.added_sentencizer:
            note("The pipeline has no splitter of sentences: text is split at sentence-final punctuation.", "warn")
        size = batch_size or parser.nlp.batch_size
        if reading is InputFormat.spacy:
            records = doc_records(source, parser.spans_key)
        else:
            records = read_records(source, RECORDS[reading])
        batches = iter(lambda: list(islice(records, size)), [])
        skipped = Skipped("text")
        n_texts = n_several = 0

        def results() -> Iterator[Parsed]:
            nonlocal n_texts, n_several
            done = map(parser, batches) if n_process == 1 else parse_in_processes(settings, batches, n_process)
            with progress_bar("texts") as bar:
                for parsed in done:
                    for failure in parsed.failures:
                        if not skip_bad:
                            raise ValueError(failure)
                        skipped(failure)
                    n_texts += parsed.n_texts
                    n_several += parsed.n_several
                    bar.update(parsed.n_texts)
                    yield parsed

        if writing is OutputFormat.spacy:
            write_docs((parsed.docs for parsed in results()), output)
        else:
            lines = (line for parsed in results() for line in parsed.lines)
            write_texts(lines, output, as_list=writing is OutputFormat.json)
        skipped.summarize()
        if n_several:
            note(
                f"{n_several:,} of {n_texts:,} texts look like several sentences. Each was parsed as one sentence: "
                "--sents model splits them.",
                "warn",
            )


def _guess_input(source: Path) -> InputFormat:
    """The format of an input by its name; text if that says nothing."""
    if source.suffix.lower() == ".jsonl":
        return InputFormat.jsonl
    return InputFormat.spacy if source.suffix.lower() == ".spacy" or source.is_dir() else InputFormat.text


def _guess_output(output: Path) -> OutputFormat:
    """The format of an output by its name.

    RAISES (ValueError): If the name has a suffix that stands for no format.
    """
    from ..treebanks.formats.table import FORMATS

    suffix = output.suffix.lower()
    brackets = (*FORMATS["penn"].suffixes, ".txt")
    if not suffix or suffix in brackets:
        return OutputFormat.brackets
    known = {".jsonl": OutputFormat.jsonl, ".json": OutputFormat.json, ".spacy": OutputFormat.spacy}
    if suffix not in known:
        raise ValueError(Errors.E383.format(path=output, known=", ".join((*known, *brackets))))
    return known[suffix]
