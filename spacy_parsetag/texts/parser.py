"""Parse batches of texts, in this process or in several, and name each text that fails."""

import json
import math
import os
import signal
from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator
from concurrent import futures  # which imports the pool of processes when it is used
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cache
from itertools import accumulate
from multiprocessing import active_children, connection, get_context, parent_process
from pathlib import Path
from threading import Thread
from typing import Any, NamedTuple, TypeVar

import srsly
from spacy.pipeline import Sentencizer
from spacy.tokens import Doc, DocBin

from ..errors import Errors
from ..tokens import doc_to_strings, one_sentence, parse_string
from ..tokens.groups import predictions_from_doc, with_spans
from .input import Record
from .load import find_parser, load_pipeline, settle_sentences

PATIENCE = 10.0  # seconds for results of workers that nobody needs any more
NO_PARSE = "(TOP)"
TaskT = TypeVar("TaskT")
ResultT = TypeVar("ResultT")


class Settings(NamedTuple):
    """Says how to parse. It goes to each worker process.

    model (str): The pipeline, a package or a folder.
    gpu_id (int): The GPU to use, or -1 for the CPU.
    code (Path | None): A Python file with registered functions that the pipeline needs.
    one_sentence (bool): Whether each text is one sentence; otherwise the pipeline splits texts.
    format (str): What to write: "brackets", "jsonl", "json", "spacy", or "parquet" for rows.
    probs (bool): Whether to write how probable trees and constituents are.
    k_best (int): How many of the best trees of each sentence to write; 0 for the pipeline's tree alone.
    """

    model: str
    gpu_id: int
    code: Path | None
    one_sentence: bool
    format: str
    probs: bool = False
    k_best: int = 0

    def absolute(self) -> "Settings":
        """Give the same with full paths, for workers that run in other folders."""
        model = Path(self.model)
        code = self.code and self.code.resolve()
        return self._replace(model=str(model.resolve()) if model.exists() else self.model, code=code)


@dataclass
class Parsed:
    """Holds the result of a batch of texts.

    lines (list[str]): The lines to write: trees in brackets, or JSON.
    rows (list[dict[str, Any]]): The rows to write, as `to_json` makes them, where rows are asked for.
    docs (DocBin): The docs to write, where docs are asked for.
    failures (list[str]): For each text that failed file, line and reason.
    n_several (int): How many texts look like several sentences and were parsed as one.
    n_ids (int): How many texts have an id or meta that is not written, because brackets cannot hold it.
    """

    n_texts: int
    lines: list[str] = field(default_factory=list)
    rows: list[dict[str, Any]] = field(default_factory=list)
    docs: DocBin = field(default_factory=lambda: DocBin(store_user_data=True))
    failures: list[str] = field(default_factory=list)
    n_several: int = 0
    n_ids: int = 0


class BatchParser:
    """Parses texts with a loaded pipeline and makes what is written."""

    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        self.nlp = load_pipeline(settings.model, settings.gpu_id, settings.code)
        parser = find_parser(self.nlp, settings.model)
        self.spans_key = str(parser.cfg["spans_key"])
        self.added_sentencizer = settle_sentences(self.nlp, one_sentence=settings.one_sentence)
        self.sentencizer = Sentencizer()
        if settings.probs or settings.k_best:
            if hasattr(parser, "k_best"):
                parser.probs, parser.k_best = parser.probs or settings.probs, settings.k_best or parser.k_best
            elif settings.k_best:  # an ensemble finds probabilities without being told, and one tree
                raise ValueError(Errors.E569.format(name=settings.model, pipe=parser.name))

    def __call__(self, records: list[Record]) -> Parsed:
        """Parse a batch. Its strings are forgotten afterwards, so that memory stays level over millions of texts."""
        parsed = Parsed(len(records))
        docs: list[tuple[Doc, int]] = []
        parsed_docs: dict[int, Doc] = {}
        with self.nlp.memory_zone():
            for i, record in enumerate(records):
                with suppress(ValueError):  # `_parse_alone` meets it again
                    docs.append((self._make_doc(record), i))
            # A component of any origin may raise anything. What is lost with a batch is parsed again text by text, and
            # a text that fails alone is named. (nlp.set_error_handler does not work where spaCy's own parser is.)
            with suppress(Exception):
                parsed_docs.update((i, doc) for doc, i in self.nlp.pipe(docs, as_tuples=True, batch_size=len(docs)))
            for i, record in enumerate(records):
                try:
                    self._add(parsed, record, parsed_docs[i] if i in parsed_docs else self._parse_alone(record))
                except ValueError as err:
                    parsed.failures.append(f"{record.where}: {err}")
                    self._write(parsed, record, None, str(err))
        return parsed

    def _make_doc(self, record: Record) -> Doc:
        doc = record.make_doc(self.nlp)
        doc.spans.pop(self.spans_key, None)  # of a doc that is parsed again
        return one_sentence(doc) if self.settings.one_sentence else doc

    def _parse_alone(self, record: Record) -> Doc:
        doc = self._make_doc(record)
        try:
            return next(self.nlp.pipe([doc]))
        except StopIteration as err:
            raise ValueError(Errors.E557.format(reason="a component returned no doc")) from err
        except Exception as err:
            raise ValueError(Errors.E557.format(reason=f"{type(err).__name__}: {err}".rstrip("."))) from err

    def _add(self, parsed: Parsed, record: Record, doc: Doc) -> None:
        if self.settings.one_sentence and "doc" not in record.data:
            n_sents = sum(1 for _ in doc.sents)
            if n_sents > 1:
                raise ValueError(Errors.E558.format(n=n_sents))
            if "tokens" not in record.data:
                numbered = zip(accumulate(self.sentencizer.predict([doc])[0]), doc, strict=True)
                parsed.n_several += len({sentence for sentence, token in numbered if not token.is_space}) > 1
        self._write(parsed, record, doc)

    def _write(self, parsed: Parsed, record: Record, doc: Doc | None, error: str = "") -> None:
        """Add what a text became, or why it failed, to what is written."""
        if self.settings.format == "spacy":
            parsed.docs.add(self._finish_doc(record, doc, error))
        elif self.settings.format == "brackets":
            parsed.n_ids += bool(record.extra)
            lines = [] if doc is None else self._to_lines(doc)
            # One line for each text that is one sentence, so that lines keep their numbers.
            parsed.lines.extend(lines or [NO_PARSE] * self.settings.one_sentence)
        else:
            failed = {"text": record.text, "sents": [], "error": error}
            data = {**(failed if doc is None else to_json(doc, self.spans_key)), **record.extra}
            if self.settings.format == "parquet":
                parsed.rows.append(data)
            else:
                parsed.lines.append(to_line(data))

    def _finish_doc(self, record: Record, doc: Doc | None, error: str) -> Doc:
        """Make the doc to write. One for each text, parsed or not, so that docs keep their places."""
        extra = {key: fit_msgpack(value) for key, value in record.extra.items()}
        if doc is None:  # without words: the text may be what made it fail
            doc = Doc(self.nlp.vocab)
            doc.spans[self.spans_key] = []
            extra.update(text=plain(record.text), error=plain(error))
        # What components keep there may be large, and need not be fit for a file.
        doc.user_data = {**record.data.get("user_data", {}), **extra}
        return doc

    def _to_lines(self, doc: Doc) -> list[str]:
        """Write the trees in brackets, after comment lines where probabilities or several trees are asked for."""
        if not (self.settings.probs or self.settings.k_best):
            return doc_to_strings(doc, self.spans_key)
        lines = []
        for prediction, parse in predictions_from_doc(doc, self.spans_key):
            if self.settings.probs:
                values = " ".join(f"{name} {value:.4g}" for name, value in prediction.values.items())
                lines.append(f"# {values}".rstrip())
                constituents = zip(parse.spans, prediction.probs or (), strict=True)
                texts = [f"{label}[{start}:{end}] {prob:.4f}" for (start, end, label), prob in constituents]
                lines.append(" ".join(["#", *texts]))
            k_best = [(log_prob, with_spans(parse, spans)) for log_prob, spans in prediction.k_best or ()]
            is_first = bool(k_best) and k_best[0][1] == parse  # as MBR's tree need not be; readers take the first tree
            if not is_first:
                lines.append(parse_string(parse))
            for number, (log_prob, best_parse) in enumerate(k_best, start=1):
                remark = "" if is_first else ", not the pipeline's"
                lines.extend((f"# tree {number} log_prob {log_prob:.4g}{remark}", parse_string(best_parse)))
        return lines


# The sentences of `to_json` where they are rows: names and types, [type] for lists, dicts for records.
_CONSTITUENT = {"label": str, "start": int, "end": int}
SENTS = [{"start": int, "end": int, "words": [str], "pos": [str], "constituents": [_CONSTITUENT], "tree": str}]


def to_json(doc: Doc, spans_key: str) -> dict[str, Any]:
    """Write a parsed doc as JSON: "text", and "sents" with "start" and "end" (characters of the text), "words", "pos",
    "constituents" (in pre-order; "start" and "end" count the words of the sentence) and "tree". Where the doc has
    them there are also "prob" of each constituent, "log_prob", "entropy" and "expected_f", "rivals": other constituents
    that are likely, and "k_best": a list of objects with "log_prob" and "tree"."""
    sents: list[dict[str, Any]] = []
    for prediction, parse in predictions_from_doc(doc, spans_key):
        first, last = doc[prediction.tokens[0]], doc[prediction.tokens[-1]]
        sents.append(
            {
                "start": first.idx,
                "end": last.idx + len(last),
                "words": parse.words,
                "pos": parse.pos,
                "constituents": [{"label": label, "start": start, "end": end} for start, end, label in parse.spans],
                "tree": parse_string(parse),
                **prediction.values,
            }
        )
        for constituent, prob in zip(sents[-1]["constituents"], prediction.probs or (), strict=False):
            constituent["prob"] = prob
        if prediction.rivals:
            names = ("start", "end", "label", "prob")
            sents[-1]["rivals"] = [dict(zip(names, rival, strict=True)) for rival in prediction.rivals]
        if prediction.k_best:
            trees = ((log_prob, parse_string(with_spans(parse, spans))) for log_prob, spans in prediction.k_best)
            sents[-1]["k_best"] = [{"log_prob": log_prob, "tree": tree} for log_prob, tree in trees]
    return {"text": doc.text, "sents": sents}


def to_line(data: dict[str, Any]) -> str:
    """Write JSON on one line. Numbers that JSON lacks (NaN, infinities) become null, keys that it lacks strings."""
    try:
        return json.dumps(data, ensure_ascii=False, default=str, allow_nan=False)
    except (TypeError, ValueError):
        return json.dumps(_with_nulls(data), ensure_ascii=False, default=str)


def _with_nulls(value: Any) -> Any:
    if isinstance(value, dict):
        return {key if isinstance(key, (int, str)) else str(key): _with_nulls(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_with_nulls(item) for item in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value


def plain(text: str) -> str:
    """Write half a surrogate pair, which Parquet and docs cannot hold, as an escape."""
    return text.encode("utf-8", "backslashreplace").decode()


def fit_msgpack(value: Any) -> Any:
    """Give a value as it is if msgpack can hold it, as docs need, else as JSON."""
    try:
        srsly.msgpack_dumps(value)
    except (TypeError, ValueError, OverflowError):
        return plain(to_line(value))
    return value


def in_batches(records: Iterable[Record], size: int | None) -> Iterator[list[Record]]:
    """Put successive texts in batches.

    size (int | None): Texts per batch. None: 256, or as many as reach 32,000 characters. (The `batch_size` of a
        pipeline counts docs, whatever their length, and one made for long docs is slow with short ones.)
    """
    batch: list[Record] = []
    n_characters = 0
    for record in records:
        batch.append(record)
        n_characters += len(record.text)
        if len(batch) == (size or 256) or (size is None and n_characters >= 32_000):
            yield batch
            batch, n_characters = [], 0
    if batch:
        yield batch


def map_in_processes(
    function: Callable[[TaskT], ResultT], tasks: Iterable[TaskT], n_process: int
) -> Generator[ResultT, None, None]:
    """Do tasks in several processes, a few at a time. Results keep the order of the tasks.

    Each process loads the pipeline once and returns finished output. (`nlp.pipe(n_process=...)` sends each doc there
    and back as bytes, which takes most pipelines longer than to parse.)

    RAISES (ValueError): If a process dies, for instance because memory ran out.
    """
    earlier_children = set(active_children())
    # NumPy and PyTorch in the workers read this when they are imported there.
    os.environ.setdefault("OMP_NUM_THREADS", str(max(1, (os.cpu_count() or 1) // n_process)))
    pool = futures.ProcessPoolExecutor(n_process, get_context("spawn"), initializer=_start_worker)
    pending: deque[futures.Future[ResultT]] = deque()
    try:
        for task in tasks:
            pending.append(pool.submit(function, task))
            if len(pending) > 2 * n_process:
                pending[0].result()  # it stays among those that are waited for, if this is interrupted
                yield pending.popleft().result()
        while pending:
            pending[0].result()
            yield pending.popleft().result()
        pool.shutdown()
    except futures.BrokenExecutor as err:
        raise ValueError(Errors.E559) from err
    finally:
        # After an error nobody needs what the workers are doing. But of one that ends while it writes a result this
        # process would read for ever, so large results, which are not long in coming, are waited for.
        pool.shutdown(wait=False, cancel_futures=True)
        futures.wait(pending, timeout=PATIENCE)
        for process in set(active_children()) - earlier_children:
            process.terminate()


def _start_worker() -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the main process ends its workers
    Thread(target=_end_with_parent, daemon=True).start()


def _end_with_parent() -> None:
    """End this worker when the main process is gone: a process that is killed cannot end its workers."""
    parent = parent_process()
    if parent is not None:
        connection.wait([parent.sentinel])
        os._exit(1)


load_parser = cache(BatchParser)  # once in a process


def parse_batch(settings: Settings, records: list[Record]) -> Parsed:
    """Parse a batch with the pipeline that this process has loaded, or loads now."""
    return load_parser(settings)(records)
