"""Search in docs: their constituents as columns, a matcher in the manner of spaCy's, and the component
`tree_matcher`."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import chain, islice
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import srsly
from numpy.typing import NDArray
from spacy.attrs import IDX, IS_SPACE, LENGTH, ORTH, SENT_START, TAG
from spacy.language import Language
from spacy.pipeline import Pipe
from spacy.tokens import Doc, Span
from spacy.vocab import Vocab

from ..errors import Errors
from ..tokens.groups import SPANS_KEY, get_group, parses_from_doc
from .columns import ROOT, Longs, TreeColumns, columns_of_parses, lay_out
from .heads import HeadRules, get_head_rules
from .match import Program, Tregex

Tokens = tuple[int, int]  # the first and one past the last
Place = tuple[int, str, Tokens, list[tuple[str, str, Tokens]]]
_COLUMNS = [ORTH, TAG, IS_SPACE, IDX, LENGTH, SENT_START]


@dataclass(frozen=True, eq=False)
class DocColumns:
    """The constituents of docs as columns.

    columns (TreeColumns): The trees; `line` is the number of the doc, from 1.
    tokens (list[Sequence[int]]): For each tree the token of each word.
    """

    columns: TreeColumns
    tokens: list[Sequence[int]]

    @cached_property
    def _words_before(self) -> Longs:
        return np.append(0, np.cumsum(self.columns.size == 0))

    def bounds(self, nodes: Longs) -> Iterator[tuple[int, Tokens]]:
        """The doc that each node is in, from 0, and its tokens, as the first and one past the last."""
        columns, words_before = self.columns, self._words_before
        trees = columns.trees_of(nodes)
        base = words_before[columns.starts[trees]]
        first = words_before[nodes] - base
        last = words_before[nodes + columns.size[nodes] + 1] - base - 1
        docs = columns.line[trees] - 1
        for doc, tree, start, end in zip(docs.tolist(), trees.tolist(), first.tolist(), last.tolist(), strict=True):
            tokens = self.tokens[tree]
            yield doc, (tokens[start], tokens[end] + 1)


def columns_of_docs(docs: Sequence[Doc], spans_key: str = SPANS_KEY, name: str = "<docs>") -> DocColumns:
    """Make columns of docs. Their constituents are read as arrays, without an object for each sentence or word.

    docs (Sequence[Doc]): The docs.
    spans_key (str): Key of the constituents in `doc.spans`.
    name (str): Where the docs are from, for messages.
    RETURNS (DocColumns): The columns. A doc without constituents has no trees there.
    RAISES (ValueError): If constituents do not nest (see `parses_from_doc`).
    """
    numbered = [(number, doc) for number, doc in enumerate(docs, start=1) if spans_key in doc.spans]
    found = _read_all(numbered, spans_key, name)
    if found is not None:
        return found
    alone = [_read_all([each], spans_key, name) or _read_doc(*each, spans_key, name) for each in numbered]
    return DocColumns(TreeColumns.join(each.columns for each in alone), [each for one in alone for each in one.tokens])


def _read_all(docs: Sequence[tuple[int, Doc]], spans_key: str, name: str) -> DocColumns | None:
    """Read docs at once, each with its number; None if something in them is out of the usual: white space, unknown
    tags, changed tokens, several vocabularies, constituents that are not in pre-order or no tree."""
    if not docs or not all(doc.vocab.lang and "sents" not in doc.user_hooks for _, doc in docs):
        return None
    if any(doc.vocab is not docs[0][1].vocab for _, doc in docs):
        return None
    table = np.concatenate([doc.to_array(_COLUMNS) for _, doc in docs]).T
    words, tags, is_space, first, length, is_start = np.ascontiguousarray(table)
    try:
        rows = [
            (span.start, span.end, span.label, span.end_char)  # making spaCy's objects takes most of the time
            for _, doc in docs
            for span in doc.spans[spans_key]
        ]
    except IndexError:  # a span beyond the end of a doc
        return None
    start, end, labels, last_char = np.fromiter(chain.from_iterable(rows), np.uint64).reshape(-1, 4).T
    n_tokens = np.array([len(doc) for _, doc in docs])
    docs_end = np.cumsum(n_tokens)
    of_doc = np.repeat(np.arange(len(docs)), [len(doc.spans[spans_key]) for _, doc in docs])
    before = (docs_end - n_tokens)[of_doc]
    begin, stop = start.astype(np.int64) + before, end.astype(np.int64) + before
    if is_space.any() or not tags.all() or (begin >= stop).any() or (stop > docs_end[of_doc]).any():
        return None
    if ((first + length)[stop - 1] != last_char).any():
        return None
    is_first = is_start == 1
    is_first[(docs_end - n_tokens)[n_tokens > 0]] = True
    starts = np.flatnonzero(is_first)
    n_words = np.diff(np.append(starts, len(words)))
    sentence = np.searchsorted(starts, begin, "right") - 1
    keys, codes = np.unique(np.concatenate([words, tags, labels]), return_inverse=True)
    strings = docs[0][1].vocab.strings
    numbers: NDArray[np.int32] = np.append(codes, len(keys)).astype(np.int32)
    of_sentence = np.searchsorted(docs_end, starts, "right")
    spans = np.stack([begin - starts[sentence], stop - starts[sentence], numbers[2 * len(words) : -1]])
    n_spans, roots = np.bincount(sentence, minlength=len(starts)), numbers[-1:].repeat(len(starts))
    line = np.array([number for number, _ in docs])[of_sentence]
    texts = [*(strings[key] for key in keys.tolist()), ROOT]
    words, tags = numbers[: 2 * len(words)].reshape(2, -1)
    try:
        columns = lay_out(n_words, n_spans, roots, words, tags, spans, line, texts, name)
    except ValueError:
        return None
    first_tokens = starts - (docs_end - n_tokens)[of_sentence]
    return DocColumns(columns, list(map(range, first_tokens.tolist(), (first_tokens + n_words).tolist())))


def _read_doc(number: int, doc: Doc, spans_key: str, name: str) -> DocColumns:
    sentences = parses_from_doc(doc, spans_key)
    columns = columns_of_parses(((sent.parse, number, ROOT, "") for sent in sentences), name)
    return DocColumns(columns, [sent.tokens for sent in sentences])


class TreeMatch(NamedTuple):
    """A match in a doc.

    label (str): The key of the patterns.
    span (Span): The constituent that matches, labelled with the key.
    names (dict[str, Span]): The nodes that have names in the pattern, each labelled with what it is called.
    """

    label: str
    span: Span
    names: dict[str, Span]


class TreeMatcher:
    """Finds Tregex patterns in the constituents of docs, as spaCy's `Matcher` finds patterns of tokens.

    >>> from spacy_parsetag.tokens import doc_from_tree
    >>> from spacy_parsetag.treebanks.penn import read_string
    >>> (tree,) = read_string("(S (NP (PRP She)) (VP (VBZ reads) (NP (NNS papers))))")
    >>> doc = doc_from_tree(Vocab(), tree)
    >>> matcher = TreeMatcher(doc.vocab)
    >>> matcher.add("OBJECT", ["VP < /^VB/=verb < NP=object"])
    >>> [(match.label, match.span.text, match.names["object"].text) for match in matcher(doc)]
    [('OBJECT', 'reads papers', 'papers')]

    vocab (Vocab): The vocabulary of the docs.
    spans_key (str): Key of the constituents in `doc.spans`.
    heads (str | Path | HeadRules): Head rules: "penn", "ctb" or a file.
    """

    def __init__(self, vocab: Vocab, *, spans_key: str = SPANS_KEY, heads: str | Path | HeadRules = "penn") -> None:
        self.vocab = vocab
        self.spans_key = spans_key
        self.rules = get_head_rules(heads)
        self.patterns: dict[str, list[str]] = {}
        self._compile([])

    def __len__(self) -> int:
        """Count the keys that have patterns."""
        return len(self.patterns)

    def __contains__(self, key: str) -> bool:
        return key in self.patterns

    def add(self, key: str, patterns: Sequence[str]) -> None:
        """Add patterns under a key, beside the patterns that it has.

        key (str): The key, which is the label of matches.
        patterns (Sequence[str]): The patterns.
        RAISES (ValueError): If one is no pattern.
        """
        if isinstance(patterns, str):
            raise ValueError(Errors.E610.format(key=key))
        compiled = [(key, Tregex(pattern, heads=self.rules)) for pattern in patterns]
        self.patterns.setdefault(key, []).extend(patterns)
        self._compile([*self._compiled, *compiled])

    def remove(self, key: str) -> None:
        """Remove a key with its patterns. RAISES (ValueError): If there is no such key."""
        if key not in self.patterns:
            raise ValueError(Errors.E611.format(key=key, known=", ".join(self.patterns) or "none"))
        del self.patterns[key]
        self._compile([row for row in self._compiled if row[0] != key])

    def _compile(self, rows: list[tuple[str, Tregex]]) -> None:
        self._compiled = rows
        self._program = Program([tregex.nodes for _, tregex in rows])

    def __call__(self, doc: Doc) -> list[TreeMatch]:
        """Find the matches in a doc, in the order of keys and then of the text."""
        return self.match([doc])[0]

    def pipe(self, docs: Iterable[Doc], *, batch_size: int = 256) -> Iterator[tuple[Doc, list[TreeMatch]]]:
        """Find the matches in many docs, batch by batch.

        YIELDS (tuple[Doc, list[TreeMatch]]): Each doc with its matches.
        """
        docs = iter(docs)
        while batch := list(islice(docs, batch_size)):
            yield from zip(batch, self.match(batch), strict=True)

    def match(self, docs: Sequence[Doc]) -> list[list[TreeMatch]]:
        """Find the matches in a batch of docs, at once."""
        found: list[list[TreeMatch]] = [[] for _ in docs]
        for number, key, (start, end), named in self.places(docs):
            doc = docs[number]
            names = {name: Span(doc, *tokens, label=label) for name, label, tokens in named}
            found[number].append(TreeMatch(key, Span(doc, start, end, label=key), names))
        return found

    def places(self, docs: Sequence[Doc]) -> Iterator[Place]:
        """Find the matches in a batch of docs as places: the number of the doc, the key, the tokens of the node that
        matches, and the name, label and tokens of each named one; in the order of keys.

        RAISES (ValueError): If a doc has words and no constituents, or they are not trees (see `parses_from_doc`).
        """
        for each in docs:
            if len(each):
                get_group(each, self.spans_key)
        nodes_of = columns_of_docs(docs, self.spans_key)
        columns = nodes_of.columns
        if not self._compiled or not len(columns):
            return
        results = self._program.find(columns, self.rules)
        for (key, tregex), candidates in zip(self._compiled, results, strict=True):
            nodes, names = tregex.matches_of(columns, candidates)
            named: list[list[tuple[str, str, Tokens]]] = [[] for _ in range(len(nodes))]
            for name, others in names.items():
                (rows,) = np.nonzero(others >= 0)
                labels = columns.label[others[rows]].tolist()
                for row, label, (_, tokens) in zip(rows.tolist(), labels, nodes_of.bounds(others[rows]), strict=True):
                    named[row].append((name, columns.strings[label], tokens))
            for others_of, (doc, tokens) in zip(named, nodes_of.bounds(nodes), strict=True):
                yield doc, key, tokens, others_of


class TreeMatcherPipe(Pipe):
    """The component `tree_matcher`: writes matches to `doc.spans`, each labelled with its key, and after it the nodes
    that have names in the pattern, labelled KEY.NAME.

    nlp (Language): The pipeline.
    name (str): The name of the component in it.
    patterns (Mapping[str, Sequence[str]]): Patterns by their keys.
    spans_key (str): Key of the constituents in `doc.spans`.
    matches_key (str): Key of the matches.
    heads (str): Head rules: "penn", "ctb" or a file.
    """

    def __init__(
        self,
        nlp: Language,
        name: str,
        patterns: Mapping[str, Sequence[str]],
        spans_key: str,
        matches_key: str,
        heads: str,
    ) -> None:
        self.name = name
        self.matches_key = matches_key
        self.matcher = TreeMatcher(nlp.vocab, spans_key=spans_key, heads=heads)
        for key, each in patterns.items():
            self.matcher.add(key, each)

    @property
    def labels(self) -> tuple[str, ...]:
        """The keys."""
        return tuple(self.matcher.patterns)

    def add_patterns(self, patterns: Iterable[Mapping[str, str]]) -> None:
        """Add patterns in the form of spaCy's `SpanRuler`: {"label": "OBJECT", "pattern": "VP < NP=object"}."""
        for row in patterns:
            self.matcher.add(row["label"], [row["pattern"]])

    def initialize(
        self,
        get_examples: Callable[[], Iterable[Any]] | None = None,
        *,
        nlp: Language | None = None,
        patterns: Iterable[Mapping[str, str]] | None = None,
    ) -> None:
        """Add patterns, for instance from a file that `srsly.read_jsonl.v1` reads in the config."""
        self.add_patterns(patterns or ())

    def __call__(self, doc: Doc) -> Doc:
        """Write the matches of a doc."""
        self._annotate([doc])
        return doc

    def pipe(self, stream: Iterable[Doc], *, batch_size: int = 128) -> Iterator[Doc]:
        """Write the matches of docs, batch by batch."""
        stream = iter(stream)
        while docs := list(islice(stream, batch_size)):
            try:
                self._annotate(docs)
            except Exception as error:
                if len(docs) == 1:
                    self.get_error_handler()(self.name, self, docs, error)
                else:  # it takes only the doc that raised it
                    yield from self.pipe(docs, batch_size=1)
            else:
                yield from docs

    def _annotate(self, docs: Sequence[Doc]) -> None:
        spans: list[list[Span]] = [[] for _ in docs]
        for number, key, tokens, named in self.matcher.places(docs):
            doc = docs[number]
            spans[number].append(Span(doc, *tokens, label=key))
            spans[number] += [Span(doc, *each, label=f"{key}.{name}") for name, _, each in named]
        for doc, found in zip(docs, spans, strict=True):
            doc.spans[self.matches_key] = found

    def to_bytes(self, *, exclude: Iterable[str] = ()) -> bytes:
        """The patterns as bytes."""
        return bytes(srsly.json_dumps(self.matcher.patterns).encode())

    def from_bytes(self, data: bytes, *, exclude: Iterable[str] = ()) -> TreeMatcherPipe:
        """Take the patterns from bytes, in place of the present ones."""
        for key in list(self.matcher.patterns):
            self.matcher.remove(key)
        for key, each in srsly.json_loads(data.decode()).items():
            self.matcher.add(key, each)
        return self

    def to_disk(self, path: str | Path, *, exclude: Iterable[str] = ()) -> None:
        """Save the patterns as a file of JSON."""
        Path(path).write_bytes(self.to_bytes())

    def from_disk(self, path: str | Path, *, exclude: Iterable[str] = ()) -> TreeMatcherPipe:
        """Load the patterns."""
        return self.from_bytes(Path(path).read_bytes())
