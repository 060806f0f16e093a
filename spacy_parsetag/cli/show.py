"""`python -m spacy parsetag show`: draws trees."""

import io
import re
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping
from functools import partial
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import spacy
from spacy.tokens import Doc
from typer import Argument as Arg, Option as Opt

from ..errors import EmptyTree, Errors, TreebankError
from ..files.read import is_stream, suffix_of
from ..files.write import STANDARD, refuse_overwrite, text_output
from ..texts.input import Record, check_suffix, check_text, find_sources, join_lines, name_of, split_paragraphs
from ..texts.parser import NO_PARSE, BatchParser, Settings, in_batches
from ..tokens import SPANS_KEY, docs_from_trees
from ..treebanks.formats.table import FORMATS
from ..treebanks.lines import read_file_lines
from ..treebanks.penn import COMMENTS, refuse_other_formats
from ..trees import Parse
from ._inputs import DEFAULT_MODEL, default_model, find_input, read_docs, start_parser, trees_and_parses
from ._util import Code, Encoding, GpuId, SpansKey, counted, note, refuse, refuse_suffix, write_text

if TYPE_CHECKING:
    from ..draw.docs import Drawing, Sentence

BATCH = 32  # texts: few, so that the first trees do not wait for many others
_DISCONTINUOUS = ("#FORMAT ", "#BOS ", "#BOT ", "<?xml ", "<corpus ")  # and not <!--, as a text may begin
_TREE = re.compile(r"\s*\([^\s()]*\s*(\(|$)")  # how a tree begins
ShownFormat = Literal["text", "paragraphs", "brackets", "spacy"]


def show_cli(
    source: Annotated[
        str, Arg(metavar="INPUT", help="Text or brackets in quotes, a file, a folder of docs, - for standard input")
    ],
    model: Annotated[
        str | None, Opt("--model", "-m", help=f"Pipeline, a package or a folder. Default: {DEFAULT_MODEL}")
    ] = None,
    format: Annotated[
        ShownFormat | None,
        Opt("--format", "-f", help="What INPUT holds. Default: by its suffix, or by whether it begins with a tree"),
    ] = None,
    svg: Annotated[Path | None, Opt(dir_okay=False, help="Write a picture of the trees to this file")] = None,
    html: Annotated[Path | None, Opt(dir_okay=False, help="Write a page of the trees to this file")] = None,
    latex: Annotated[
        Path | None, Opt(dir_okay=False, help="Write the trees to this file, for LaTeX's package forest")
    ] = None,
    width: Annotated[int | None, Opt("--width", "-w", min=20, help="Columns to fit. Default: the terminal's")] = None,
    color: Annotated[bool | None, Opt(help="Colour labels. Default: on a terminal, unless NO_COLOR is set")] = None,
    tags: Annotated[bool, Opt(help="Show part-of-speech tags where there are any")] = True,
    explain: Annotated[bool, Opt("--explain", "-x", help="Say what the labels and tags mean")] = False,
    encoding: Encoding = "utf-8",
    gpu_id: GpuId = -1,
    code: Code = None,
    spans_key: SpansKey = "constituents",
) -> None:
    """Draw trees in the terminal, as a picture (SVG), as a page (HTML) or for LaTeX.

    Text is parsed, and split into sentences, by the pipeline. Trees in brackets, and docs that have constituents, are
    drawn as they are; with --model, docs are parsed anew. In the terminal, a tree that is too wide becomes an outline.

    \b
    Examples:
      python -m spacy parsetag show "She enjoys reading old papers."
      python -m spacy parsetag show "(S (NP (PRP She)) (VP (VBZ reads)))" --svg tree.svg
      python -m spacy parsetag show news.txt --model training/model-best --html news.html
      python -m spacy parsetag parse news.txt --sents model | python -m spacy parsetag show - --explain
    """
    from ..draw.docs import explain_all, render

    path, text = find_input(source)
    if text is None and is_stream(path):
        text = "".join(line.text for line in read_file_lines(path, encoding, name_of(path)))
        check_text(text)
    targets = {"svg": svg, "html": html, "latex": latex}
    in_terminal = not any(targets.values())
    refuse(width is not None and not in_terminal, "--width", "the terminal, no --svg, --html or --latex")
    given = "--color" if color else "--no-color"
    refuse(color is not None and not in_terminal, given, "the terminal, no --svg, --html or --latex")
    refuse_overwrite(targets.values(), [path, *([Path(model)] if model else [])])
    refuse_suffix("--svg", svg, ".svg")
    refuse_suffix("--html", html, ".html", ".htm")
    refuse_suffix("--latex", latex, ".tex")
    kind = format or _guess_format(path, text, encoding)
    refuse(explain and STANDARD in targets.values(), "--explain", "standard output, or drawings in files")
    refuse(kind == "spacy" and path == STANDARD, "--format spacy", "a file or folder")
    refuse(kind == "brackets" and path.is_dir(), "--format brackets", "a file")
    is_text = kind in ("text", "paragraphs")
    is_in_utf8 = kind == "spacy" or (is_text and text is None)
    refuse(is_in_utf8 and encoding != "utf-8", "--encoding", "brackets, or standard input")
    refuse(kind == "brackets" and model is not None, "--model", "docs or text (--format text if it begins as trees do)")
    is_parsed = is_text or model is not None
    refuse(not is_parsed and (gpu_id >= 0 or code is not None), "--gpu-id or --code", "something to parse")
    reads_spans = kind == "spacy" and not is_parsed
    refuse(not reads_spans and spans_key != SPANS_KEY, "--spans-key", "docs that are drawn as they are")
    docs: Iterable[Doc]
    if kind == "brackets":
        parses = (parse for _, _, parse in trees_and_parses(path, encoding, _pass_unparsed, text))
        if format is None and text is not None:
            parses = _with_hint(parses)
        docs, spans_key = docs_from_trees(spacy.blank("xx").vocab, parses, detokenize=True), SPANS_KEY
    elif reads_spans:
        docs = read_docs(path, spacy.blank("xx"), spans_key)
    else:
        parser = start_parser(Settings(model or default_model(), gpu_id, code, one_sentence=False, format="spacy"))
        docs, spans_key = _parse(parser, path, text, kind), parser.spans_key
    draw = partial(render, spans_key=spans_key, tags=tags)
    if in_terminal:
        n_trees, sentences = _print_trees(docs, partial(draw, width=width, color=color), explain)
    else:
        n_trees, sentences = _write_trees(docs, draw, targets)
    if not n_trees:
        raise ValueError(Errors.E106.format(inputs="the input"))
    if explain:
        meanings = explain_all(sentences, tags)
        longest = max((len(label) for label, _, _ in meanings), default=0)
        write_text("\n" + "".join(f"{label:<{longest}}  {meaning}\n" for label, _, meaning in meanings))


def _print_trees(
    docs: Iterable[Doc], draw: "Callable[..., Drawing]", keeps_sentences: bool
) -> "tuple[int, list[Sentence]]":
    """Print drawings as they come. Returns the number of trees, and their sentences if they are to be kept."""
    n_trees = 0
    sentences: list[Sentence] = []
    with text_output(STANDARD) as out:
        for drawing in filter(None, map(draw, docs)):
            out.write(f"\n{drawing}\n" if n_trees else f"{drawing}\n")
            out.flush()
            n_trees += len(drawing.sentences)
            sentences += drawing.sentences if keeps_sentences else ()
    return n_trees, sentences


def _write_trees(
    docs: Iterable[Doc], draw: "Callable[..., Drawing]", targets: Mapping[str, Path | None]
) -> "tuple[int, list[Sentence]]":
    """Write drawings of each style to its file, if there are trees. Returns their number and their sentences."""
    all_docs = list(docs)
    drawn = [(draw(all_docs, style), target) for style, target in targets.items() if target is not None]
    sentences = drawn[0][0].sentences
    for drawing, target in drawn if sentences else ():
        write_text(drawing, target)
        note(f"Wrote {counted(len(sentences), 'tree')} to {target}", "good")
    return len(sentences), list(sentences)


def _with_hint(parses: Iterable[Parse]) -> Generator[Parse, None, None]:
    """Yield trees; a malformed one may be text that the format's guess took for a tree."""
    try:
        yield from parses
    except TreebankError:
        note("If it is text that begins as trees do, give --format text.", "warn")
        raise


def _guess_format(path: Path, text: str | None, encoding: str) -> ShownFormat:
    """Tell brackets from text by the suffix, else by the first line that is no comment and not empty.

    RAISES (ValueError): If a tree begins only after a line of text, if the suffix stands for something else, or if a
        line is one of discontinuous trees.
    """
    suffix = suffix_of(path)
    if suffix in (".jsonl", ".json", ".parquet"):
        raise ValueError(Errors.E486.format(path=path))
    check_suffix(path)
    if path.is_dir() or suffix == ".spacy":
        return "spacy"
    if suffix in FORMATS["penn"].suffixes:
        return "brackets"
    source = path if text is None else io.StringIO(text, newline=None)
    lines = list(read_file_lines(source, encoding, name_of(path)))
    for line in lines:
        if line.text.startswith(_DISCONTINUOUS):
            refuse_other_formats(line, name_of(path))
    not_empty = (line for line in lines if line.text.strip() not in ("", NO_PARSE))
    content = [line for line in not_empty if not line.text.startswith(COMMENTS)]
    tree = next((line for line in content if _TREE.match(line.text)), None)
    if tree is not None and tree is not content[0]:
        raise ValueError(Errors.E453.format(number=tree.number, path=name_of(path)))
    without_parse = not content and any(line.text.strip() == NO_PARSE for line in lines)
    return "brackets" if tree is not None or without_parse else "text"


def _pass_unparsed(error: ValueError) -> None:
    """Raise any error but that a tree has no words, which is how `parse` writes a sentence without a parse."""
    if not isinstance(error, EmptyTree):
        raise error


def _parse(parser: BatchParser, path: Path, text: str | None, format: str) -> Iterator[Doc]:
    """Parse the lines of a text, or what a file or folder holds."""
    records: Iterator[Record]
    if text is None:
        records = chain.from_iterable(source.read() for source in find_sources(path, format))
    else:
        split = io.StringIO(text, newline=None)  # where files are; `str.splitlines` knows other separators, too
        lines = ((f"{name_of(path)}:{number}", line) for number, line in enumerate(split, start=1))
        paragraphs = split_paragraphs(lines) if format == "paragraphs" else ([line] for line in lines)
        records = map(join_lines, paragraphs)
    for batch in in_batches(records, BATCH):
        parsed = parser(batch)
        if parsed.failures:
            raise ValueError(parsed.failures[0])
        yield from parsed.docs.get_docs(parser.nlp.vocab)
