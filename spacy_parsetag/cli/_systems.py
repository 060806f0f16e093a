"""Reads or makes what `evaluate` scores: trees of parsers, from bracket files or by pipelines, beside gold trees."""

from collections.abc import Hashable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from timeit import default_timer as timer
from typing import Any, NamedTuple

from spacy.training import Example

from ..errors import Errors, shorten
from ..evalb import join_lines, read_tree_lines
from ..evalb.lines import Brackets
from ..evalb.params import EvalbParams
from ..files.find import refuse_missing
from ..files.read import is_stream
from ..files.write import STANDARD
from ..pipeline.align import has_same_tokens
from ..pipeline.scorer import SCORES, score_constituents, score_prefix
from ..texts.load import find_parser, load_pipeline
from ..tokens import has_parses, parses_from_doc
from ..tokens.sentences import copy_words
from ..treebanks.formats.base import guess_encoding
from ..treebanks.lines import read_file_lines
from ..trees import Parse
from ._inputs import read_gold_docs
from ._util import refuse


class System(NamedTuple):
    """Holds the trees of a parser, and what they are scored against.

    gold (Sequence[Brackets]): The gold tree of each sentence.
    test (Sequence[Brackets]): The parser's tree of each.
    documents (Sequence[Hashable] | None): The document of each, to compare by documents.
    scores (dict[str, Any] | None): The scores by the pipeline's own scorer, and its speed; None of bracket files.
    """

    gold: Sequence[Brackets]
    test: Sequence[Brackets]
    documents: Sequence[Hashable] | None
    scores: dict[str, Any] | None = None


def read_systems(
    gold: Path, tests: Sequence[Path], documents: Path | None, encoding: str, multiline: bool
) -> dict[str, System]:
    """Read the trees of parsers from bracket files, and from another file the document of each sentence."""
    refuse(gold == STANDARD and STANDARD in tests, "Standard input (-)", "to be GOLD or TEST, not both")
    gold_lines = read_gold(gold, encoding, multiline)
    n_lines = len(gold_lines)
    test_lines = {str(path): read_sentences(path, encoding, multiline) for path in tests}
    shortest = min(map(len, test_lines.values()))
    while len(tests) > 1 and not gold_lines[-1].strip() and shortest < len(gold_lines):
        gold_lines.pop()  # so that empty lines at the end, which a TEST lacks, are no sentences of any parser
    names = None if documents is None else read_documents(documents)
    if names is not None and len(names) == n_lines:
        names = names[: len(gold_lines)]
    while names and len(names) > len(gold_lines) and not names[-1]:
        names.pop()  # an empty line at the end, as GOLD and TEST may have
    return {parser: System(gold_lines, lines, names) for parser, lines in test_lines.items()}


def read_sentences(path: Path, encoding: str, multiline: bool) -> list[str]:
    """Read the brackets of each sentence: lines, or trees where these run over several lines.

    encoding (str): The encoding of a stream. A file may be in UTF-8 instead, since the other side's need not be in it.
    """
    refuse_missing(path)
    lines = read_tree_lines(path, encoding=encoding if is_stream(path) else guess_encoding(path, encoding))
    return join_lines(lines) if multiline else lines


def read_documents(path: Path) -> list[str]:
    """Read the name of each sentence's document, a line each. The names may be in any encoding."""
    refuse_missing(path)
    return [line.text.strip() for line in read_file_lines(path, "utf-8", str(path))]


def read_gold(path: Path, encoding: str, multiline: bool) -> list[str]:
    """Read the gold sentences. Raises a ValueError if there is none."""
    sentences = read_sentences(path, encoding, multiline)
    if not any(map(str.strip, sentences)):
        raise ValueError(Errors.E106.format(inputs=path))
    return sentences


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
    examples = [Example(copy_words(doc, nlp.vocab), doc) for doc in read_gold_docs(data, nlp, key)]
    # Not `nlp.evaluate`, which works on copies and keeps the parses to itself.
    started = timer()
    docs = nlp.pipe([eg.predicted for eg in examples], batch_size=batch_size)
    for eg, parsed in zip(examples, docs, strict=True):
        eg.predicted = parsed
        if not has_same_tokens(eg):
            text = shorten(eg.reference.text, 50)
            raise ValueError(Errors.E323.format(what="A component of the pipeline, such as merge_entities,", text=text))
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
