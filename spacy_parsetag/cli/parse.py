"""`python -m spacy parsetag parse`: text becomes trees."""

from collections.abc import Iterator
from enum import Enum
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from spacy.cli._util import Arg, Opt

from ..errors import Errors
from ._inputs import Record, mark_one_sentence, read_docs, read_jsonl, read_lines, with_context
from ._model import find_spans_key, load_pipeline
from ._outputs import write_brackets, write_docs, write_json
from ._util import STANDARD, counting, stated_errors

if TYPE_CHECKING:
    from spacy.language import Language
    from spacy.tokens import Doc

# Strings of so many texts are kept at a time, so that memory stays level over millions.
ZONE = 10_000


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


_INPUT_SUFFIXES = {".jsonl": InputFormat.jsonl, ".spacy": InputFormat.spacy}
_OUTPUT_SUFFIXES = {".jsonl": OutputFormat.jsonl, ".json": OutputFormat.json, ".spacy": OutputFormat.spacy}


def parse_cli(
    model: Annotated[str, Arg(help="Pipeline: a package or a folder")],
    source: Annotated[
        Path,
        Arg(metavar="INPUT", allow_dash=True, help="File to parse, - for standard input, or a folder of .spacy files"),
    ],
    output: Annotated[
        Path, Arg(allow_dash=True, dir_okay=False, help="File to write, or - for standard output")
    ] = STANDARD,
    input_format: Annotated[
        InputFormat | None,
        Opt(
            "--input-format",
            "-i",
            help="text: a text a line; tokens: words with spaces between, a sentence a line; jsonl: an object a line, "
            'with "text", or "tokens" and if at hand "tags"; spacy: docs. Default: by the name of the file, else text',
        ),
    ] = None,
    format: Annotated[
        OutputFormat | None,
        Opt(
            "--format",
            "-f",
            help="brackets: a sentence a line; jsonl, json: an object for each text; spacy: docs. Default: by the name "
            "of the file, else brackets",
        ),
    ] = None,
    sents: Annotated[
        Sentences,
        Opt(
            "--sents",
            "-s",
            help="line: each line or object is one sentence; model: the pipeline finds the sentences. Docs that have "
            "sentence boundaries keep them",
        ),
    ] = Sentences.line,
    batch_size: Annotated[
        int | None, Opt("--batch-size", "-b", min=1, help="Texts in a batch. Default: as the pipeline says")
    ] = None,
    n_process: Annotated[
        int, Opt("--n-process", "-n", help="Processes, -1 for one a core; on a GPU leave it at 1")
    ] = 1,
    gpu_id: Annotated[int, Opt("--gpu-id", "-g", help="GPU, or -1 for none")] = -1,
    code: Annotated[
        Path | None, Opt("--code", "-c", help="Python file with registered functions that the pipeline needs")
    ] = None,
) -> None:
    """Parse text, and write trees.

    Brackets keep line numbers where each line is a sentence: an empty line gives (TOP), which says that there is no
    parse. Part-of-speech tags are the pipeline's (token.tag_, else token.pos_), or X where it has no tagger.

    python -m spacy parsetag parse training/model-best sentences.txt trees.mrg

    echo "She enjoys reading papers." | python -m spacy parsetag parse training/model-best -
    """
    with stated_errors():
        reading = input_format or _INPUT_SUFFIXES.get(source.suffix)
        if reading is None:
            reading = InputFormat.spacy if source.is_dir() else InputFormat.text
        writing = format or _OUTPUT_SUFFIXES.get(output.suffix, OutputFormat.brackets)
        if source != STANDARD and not source.exists():
            raise ValueError(Errors.E351.format(path=source))
        if reading is InputFormat.spacy and source == STANDARD:
            raise ValueError(Errors.E362.format(option="--input-format spacy", needs="a file or folder"))
        if writing is OutputFormat.spacy and output == STANDARD:
            raise ValueError(Errors.E362.format(option="--format spacy", needs="a file to write"))
        nlp = load_pipeline(model, gpu_id=gpu_id, code=code)
        key = find_spans_key(nlp, model)
        one_sentence = sents is Sentences.line
        options = {"batch_size": batch_size or nlp.batch_size, "n_process": n_process}
        with counting("texts") as count:
            if reading is InputFormat.spacy:
                parsed = count(parse_docs(nlp, read_docs(source, nlp), one_sentence, options))
            else:
                if reading is InputFormat.jsonl:
                    records = read_jsonl(source)
                else:
                    records = read_lines(source, tokens=reading is InputFormat.tokens)
                parsed = count(parse_records(nlp, records, one_sentence, options))
            if writing is OutputFormat.brackets:
                write_brackets(parsed, output, key, keep_empty=one_sentence)
            elif writing is OutputFormat.spacy:
                write_docs(parsed, output)
            else:
                write_json(parsed, output, key, as_lines=writing is OutputFormat.jsonl)


def parse_docs(
    nlp: "Language", docs: "Iterator[Doc]", one_sentence: bool, options: dict[str, Any]
) -> "Iterator[tuple[Doc, dict[str, Any]]]":
    """Parse docs as they come.

    nlp (Language): The pipeline.
    docs (Iterator[Doc]): The docs. What constituents they have is replaced.
    one_sentence (bool): Whether a doc without sentence boundaries is one sentence.
    options (Dict[str, Any]): For `nlp.pipe`.
    YIELDS (Tuple[Doc, Dict[str, Any]]): The docs.
    """

    def prepare() -> "Iterator[Doc]":
        for doc in docs:
            if one_sentence and not doc.has_annotation("SENT_START"):
                mark_one_sentence(doc)
            yield doc

    yield from nlp.pipe(with_context(prepare()), as_tuples=True, **options)


def parse_records(
    nlp: "Language", records: Iterator[Record], one_sentence: bool, options: dict[str, Any]
) -> "Iterator[tuple[Doc, dict[str, Any]]]":
    """Parse texts as they come. Use each doc before the next one is asked for: its strings are forgotten in time.

    nlp (Language): The pipeline.
    records (Iterator[Record]): The texts.
    one_sentence (bool): Whether each is one sentence.
    options (Dict[str, Any]): For `nlp.pipe`.
    YIELDS (Tuple[Doc, Dict[str, Any]]): The docs and what goes with them.
    """
    if options["n_process"] != 1:
        docs = ((record.make_doc(nlp, one_sentence), record.passed_on) for record in records)
        yield from nlp.pipe(docs, as_tuples=True, **options)
        return
    while chunk := list(islice(records, ZONE)):
        with nlp.memory_zone():
            docs = ((record.make_doc(nlp, one_sentence), record.passed_on) for record in chunk)
            yield from nlp.pipe(docs, as_tuples=True, **options)
