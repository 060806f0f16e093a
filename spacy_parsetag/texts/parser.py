"""Parse batches of texts with a pipeline, and name each text that fails."""

from collections.abc import Iterable, Iterator
from contextlib import suppress
from functools import cache, cached_property
from itertools import accumulate, pairwise
from pathlib import Path
from typing import NamedTuple

from spacy.pipeline import Sentencizer
from spacy.tokens import Doc
from spacy.util import is_package

from ..errors import Errors
from ..files.find import hash_files
from ..tokens import doc_to_strings, one_sentence, parse_string
from ..tokens.groups import predictions_from_doc, with_spans
from ..trees.escape import escape_label
from .input import Record
from .load import find_parser, load_pipeline, settle_sentences
from .output import Parsed, fit_msgpack, plain, to_json, to_line

NO_PARSE = "(TOP)"


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
        """Give the same with full paths, for workers that run in other folders. As in `spacy.load`, a package counts
        more than a folder of its name."""
        model = Path(self.model)
        is_folder = model.exists() and not is_package(self.model)
        code = self.code and self.code.resolve()
        return self._replace(model=str(model.resolve()) if is_folder else self.model, code=code)


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

    @cached_property
    def sha256(self) -> str:
        """The hash of the pipeline's files."""
        return hash_files([self.nlp.path] if self.nlp.path else [])

    def __call__(self, records: list[Record]) -> Parsed:
        """Parse a batch. Its strings are forgotten afterwards, so that memory stays level over millions of texts."""
        parsed = Parsed(len(records))
        parsed.counts["n_wrapped"] = count_wrapped([record.text for record in records])
        docs: list[tuple[Doc, int]] = []
        parsed_docs: dict[int, Doc] = {}
        with self.nlp.memory_zone():
            for i, record in enumerate(records):
                with suppress(ValueError):  # `_parse_alone` meets it again
                    docs.append((self._make_doc(record), i))
            # Any component may raise any error. The texts of a batch that fails are parsed again one by one, and a text
            # that fails alone is named. (nlp.set_error_handler does not work with spaCy's own parser.)
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
                parsed.counts["n_several"] += len({sentence for sentence, token in numbered if not token.is_space}) > 1
        parsed.counts["n_escaped"] += any(token in ("-LRB-", "-RRB-") for token in record.data.get("tokens", ()))
        self._write(parsed, record, doc)

    def _write(self, parsed: Parsed, record: Record, doc: Doc | None, error: str = "") -> None:
        """Add what a text became, or why it failed, to what is written."""
        if self.settings.format == "spacy":
            parsed.docs.add(self._finish_doc(record, doc, error))
        elif self.settings.format == "brackets":
            parsed.counts["n_ids"] += bool(record.extra)
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
                pairs = zip(parse.spans, prediction.probs or (), strict=True)
                texts = [f"{escape_label(label)}[{start}:{end}] {prob:.4f}" for (start, end, label), prob in pairs]
                lines.append(" ".join(["#", *texts]))
            k_best = [(log_prob, with_spans(parse, spans)) for log_prob, spans in prediction.k_best or ()]
            is_first = bool(k_best) and k_best[0][1] == parse  # as MBR's tree need not be; readers take the first tree
            if not is_first:
                lines.append(parse_string(parse))
            for number, (log_prob, best_parse) in enumerate(k_best, start=1):
                remark = "" if is_first else ", not the pipeline's"
                lines.extend((f"# tree {number} log_prob {log_prob:.4g}{remark}", parse_string(best_parse)))
        return lines


def count_wrapped(texts: list[str]) -> int:
    """Count the texts that seem to go on in the next one, as the lines of running text do: they end within a sentence,
    and the next word would make them longer than all others."""
    width = max(map(len, texts), default=0)
    return sum(
        text[-1:] not in ".?!:;" and following[:1].islower() and len(text) + len(following.split()[0]) >= width
        for text, following in pairwise(texts)
    )


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


load_parser = cache(BatchParser)  # once in a process


def parse_batch(settings: Settings, records: list[Record]) -> Parsed:
    """Parse a batch with the pipeline that this process has loaded, or loads now."""
    return load_parser(settings)(records)
