"""Writes matches of Tregex patterns to docs: the component `tree_matcher`."""

from __future__ import annotations

import configparser
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NoReturn

import srsly
from spacy.language import Language
from spacy.pipeline import Pipe
from spacy.tokens import Doc, Span
from thinc.api import Config

from ..errors import Errors
from ..search.docs import TreeMatcher
from ..search.heads import BUNDLED, HeadRules
from ..tokens.batches import annotate_batches


class _MissingRules(HeadRules):
    """Replaces the rules of a missing file: a saved pipeline brings them along, and without them a search raises."""

    def __init__(self, name: str) -> None:
        self.text, self.name = "", name

    def find(self, *args: Any) -> NoReturn:
        raise ValueError(Errors.E607.format(name=self.name, known=", ".join(BUNDLED)))


def _fits_into_config(key: str) -> bool:
    """Tell whether a key of patterns is read from a config file as it was written."""
    try:
        return Config().from_str(Config({"patterns": {key: []}}).to_str()) == {"patterns": {key: []}}
    except (ValueError, configparser.Error):  # Python 3.14 does not even write it
        return False


class TreeMatcherPipe(Pipe):
    """The component `tree_matcher`: writes matches to `doc.spans`, each labelled with its key, and after it the nodes
    that have names in the pattern, labelled KEY.NAME.

    matches_key (str): Key of the matches.
    heads (str | None): The head rules that the config names.
    RAISES (ValueError): If the matches would replace the constituents, their key is empty, a config file cannot hold a
        key of patterns, or a pattern is not valid.
    """

    def __init__(
        self,
        nlp: Language,
        name: str,
        patterns: Mapping[str, Sequence[str]],
        spans_key: str,
        matches_key: str,
        heads: str | None,
    ) -> None:
        if matches_key in ("", spans_key):
            raise ValueError(Errors.E274.format(name=name, key=matches_key))
        self.name = name
        self.matches_key = matches_key
        is_missing = heads is not None and heads not in BUNDLED and not Path(heads).is_file()
        rules = _MissingRules(str(heads)) if is_missing else heads
        self.heads = heads
        self.matcher = TreeMatcher(nlp.vocab, spans_key=spans_key, heads=rules)
        for key, of_key in patterns.items():
            if not _fits_into_config(key):
                raise ValueError(Errors.E276.format(name=name, key=key))
            try:
                self.matcher.add(key, of_key)
            except ValueError:  # a saved config has "$$" for "$", which loading leaves; `from_disk` brings the patterns
                self.matcher.add(key, [re.sub(r"\$+", "$", pattern) for pattern in of_key])

    @property
    def labels(self) -> tuple[str, ...]:
        """The keys."""
        return tuple(self.matcher.patterns)

    def add_patterns(self, patterns: Iterable[Mapping[str, str]]) -> None:
        """Add patterns in the form of spaCy's `SpanRuler`: {"label": "OBJECT", "pattern": "VP < NP=object"}.

        RAISES (ValueError): If a row is something else, or has no pattern of Tregex.
        """
        for row in patterns:
            texts = [row.get(key) for key in ("label", "pattern")] if isinstance(row, Mapping) else [None]
            if not all(isinstance(text, str) for text in texts):
                raise ValueError(Errors.E275.format(row=row))
            self.matcher.add(row["label"], [row["pattern"]])

    def initialize(
        self,
        get_examples: Callable[[], Iterable[Any]] | None = None,
        *,
        nlp: Language | None = None,
        patterns: Iterable[Any] | None = None,  # spaCy looks the annotation up among names of its own
    ) -> None:
        """Add patterns, for instance from a file that `srsly.read_jsonl.v1` reads in the config."""
        self.add_patterns(patterns or ())

    def __call__(self, doc: Doc) -> Doc:
        """Write the matches of a doc."""
        self._annotate([doc])
        return doc

    def pipe(self, stream: Iterable[Doc], *, batch_size: int = 128) -> Iterator[Doc]:
        """Write the matches of docs, batch by batch. Only a doc that raises an error goes to the handler."""
        return annotate_batches(self, stream, batch_size, self._annotate)

    def _annotate(self, docs: Sequence[Doc]) -> None:
        spans: list[list[Span]] = [[] for _ in docs]
        for i, _, _, span in self.matcher.spans(docs, by_name=True):
            spans[i].append(span)
        for doc, doc_spans in zip(docs, spans, strict=True):
            doc.spans[self.matches_key] = doc_spans

    def to_bytes(self, *, exclude: Iterable[str] = ()) -> bytes:
        """The patterns, and head rules of a file, as bytes."""
        rules = self.matcher.rules
        saved = {"patterns": self.matcher.patterns, "heads": None if rules.name in BUNDLED else rules.text}
        return bytes(srsly.json_dumps(saved).encode())

    def from_bytes(self, data: bytes, *, exclude: Iterable[str] = ()) -> TreeMatcherPipe:
        """Replace the patterns with those from bytes; and the head rules, if the saved ones came from a file and the
        config names none of the package.

        RAISES (ValueError): If a pattern is not valid; the present patterns then stay.
        """
        saved, rules = srsly.json_loads(data.decode()), self.matcher.rules
        if saved["heads"] and self.heads not in BUNDLED:
            rules = HeadRules(saved["heads"], self.heads or "saved")
        matcher = TreeMatcher(self.matcher.vocab, spans_key=self.matcher.spans_key, heads=rules)
        for key, of_key in saved["patterns"].items():
            matcher.add(key, of_key)
        self.matcher = matcher
        return self

    def to_disk(self, path: str | Path, *, exclude: Iterable[str] = ()) -> None:
        """Save the patterns, and head rules of a file, as a file of JSON."""
        Path(path).write_bytes(self.to_bytes())

    def from_disk(self, path: str | Path, *, exclude: Iterable[str] = ()) -> TreeMatcherPipe:
        """Load the patterns, and head rules that were those of a file."""
        return self.from_bytes(Path(path).read_bytes())
