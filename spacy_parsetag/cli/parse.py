"""`python -m spacy parsetag parse`: text becomes trees."""

import os
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from enum import Enum
from itertools import chain, islice, repeat
from pathlib import Path
from typing import Annotated

from spacy.tokens import DocBin
from tqdm import tqdm
from typer import Argument as Arg
from typer import Option as Opt

from ..errors import Errors
from ..treebanks.atomic import atomic_path, refuse_overwrite
from ._batches import BatchParser, Parsed, Settings, parse_in_processes
from ._inputs import Record, doc_records, read_records
from ._model import DEFAULT_MODEL, default_model, is_pipeline
from ._util import STANDARD, BatchSize, Code, GpuId, Output, Skipped, note, stated_errors, text_output


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


def parse_cli(
    model: Annotated[str, Arg(metavar="[MODEL]", help=f"Pipeline: a package or a folder. Default: {DEFAULT_MODEL}")],
    source: Annotated[
        str | None,
        Arg(
            metavar="INPUT",
            show_default=False,
            help="File to parse, - for standard input, a folder of .spacy files, or, without MODEL, a text in quotes",
        ),
    ] = None,
    output: Output = STANDARD,
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
    batch_size: BatchSize = None,
    n_process: Annotated[
        int,
        Opt("--n-process", "-n", help="Number of processes, or -1 for one per core. Each takes seconds to start"),
    ] = 1,
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

    \b
    Outputs:
      brackets  one sentence per line
      jsonl     one object per line, for each text
      json      a list of these objects
      spacy     docs

    With --sents line, brackets keep line numbers: line N of the output is the tree of line N of the input, and (TOP)
    stands for an empty line. With --sents model, punctuation splits text if the pipeline cannot.
    Part-of-speech tags are the pipeline's (token.tag_, else token.pos_), or X if it has no tagger.

    \b
    Examples:
      python -m spacy parsetag parse "She enjoys reading papers."
      python -m spacy parsetag parse training/model-best sentences.txt trees.mrg
      python -m spacy parsetag parse training/model-best news.txt news.jsonl --sents model
      echo "She reads papers." | python -m spacy parsetag parse training/model-best -
    """
    with stated_errors():
        name, path, text = _find_input(model, source)
        reading = (input_format or _guess_input(path)).value
        writing = (format or _guess_output(output)).value
        if reading == "spacy" and path == STANDARD:
            raise ValueError(Errors.E455.format(option="--input-format spacy", needs="a file or folder"))
        if writing == "spacy" and output == STANDARD:
            raise ValueError(Errors.E455.format(option="--format spacy", needs="a file to write"))
        if n_process == 0 or n_process < -1:
            raise ValueError(Errors.E464.format(n=n_process))
        n_process = n_process if n_process > 0 else os.cpu_count() or 1
        refuse_overwrite([output], [path, Path(name)])
        one_sentence = (sents or (Sentences.line if text is None else Sentences.model)) is Sentences.line
        settings = Settings(name, gpu_id, code, one_sentence, writing)
        parser = BatchParser(settings)
        if parser.added_sentencizer:
            note("The pipeline has no splitter of sentences: text is split at sentence-final punctuation.", "warn")
        if text is not None:
            records = iter([Record("the text", {"text": text})])
        else:
            records = doc_records(path, parser.spans_key) if reading == "spacy" else read_records(path, reading)
        size = batch_size or parser.nlp.batch_size
        batches = iter(lambda: list(islice(records, size)), [])
        alone = (parser(batch) for batch in batches)
        results = alone if n_process == 1 else parse_in_processes(settings, batches, n_process)
        skipped = Skipped("text")
        n_texts = n_several = 0
        with closing(results), _open_output(output, writing) as write, tqdm(unit=" texts", disable=None) as bar:
            for parsed in results:
                for failure in parsed.failures:
                    if not skip_bad:
                        raise ValueError(failure)
                    skipped(failure)
                write(parsed)
                n_texts += parsed.n_texts
                n_several += parsed.n_several
                bar.update(parsed.n_texts)
        skipped.summarize()
        if n_several:
            note(
                f"{n_several:,} of {n_texts:,} texts look like several sentences. Each was parsed as one sentence: "
                "--sents model splits them.",
                "warn",
            )


@contextmanager
def _open_output(path: Path, format: str) -> Iterator[Callable[[Parsed], None]]:
    """Yields a function that writes a batch. A file appears whole or not at all."""
    if format == "spacy":
        docs = DocBin()
        yield lambda parsed: docs.merge(parsed.docs)
        path.parent.mkdir(parents=True, exist_ok=True)
        with atomic_path(path) as temporary:
            docs.to_disk(temporary)
        return
    with text_output(path) as file:
        if format != "json":
            yield lambda parsed: file.writelines(line + "\n" for line in parsed.lines)
            return
        separators = chain(["\n"], repeat(",\n"))
        file.write("[")
        yield lambda parsed: file.writelines(next(separators) + line for line in parsed.lines)
        file.write("\n]\n")


def _find_input(model: str, source: str | None) -> tuple[str, Path, str | None]:
    """The pipeline, the file to parse (standard input for a text in quotes), and the text in quotes, if it is one."""
    if source is None and is_pipeline(model):
        raise ValueError(Errors.E455.format(option=f"The pipeline {model}", needs="an INPUT to parse"))
    name, given = (default_model(), model) if source is None else (model, source)
    path = Path(given)
    if source is None and len(given.split()) > 1 and not path.exists():
        return name, STANDARD, given
    if path != STANDARD and not path.exists():
        raise ValueError(Errors.E103.format(path=path))
    return name, path, None


def _guess_input(source: Path) -> InputFormat:
    """The format of an input by its name; text if that says nothing."""
    if source.is_dir():
        return InputFormat.spacy
    return {".jsonl": InputFormat.jsonl, ".spacy": InputFormat.spacy}.get(source.suffix.lower(), InputFormat.text)


def _guess_output(output: Path) -> OutputFormat:
    """The format of an output by its name. Raises a ValueError if its suffix stands for no format."""
    from ..treebanks.formats.table import FORMATS

    known = {".jsonl": OutputFormat.jsonl, ".json": OutputFormat.json, ".spacy": OutputFormat.spacy}
    known |= dict.fromkeys((*FORMATS["penn"].suffixes, ".txt", ""), OutputFormat.brackets)
    suffix = output.suffix.lower()
    if suffix not in known:
        raise ValueError(Errors.E463.format(path=output, known=", ".join(filter(None, known))))
    return known[suffix]
