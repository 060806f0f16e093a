"""Search in docs: their constituents as columns, and a matcher in the manner of spaCy's."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from spacy.attrs import IDX, IS_SPACE, LENGTH, ORTH, SENT_START, TAG
from spacy.tokens import Doc, Span, SpanGroup
from spacy.vocab import Vocab

from ..errors import Errors, TreebankError
from ..tokens.batches import split_batches
from ..tokens.groups import FORMAT_VERSION, SPANS_KEY, get_group, parses_from_doc
from ..trees.tree import ROOT
from ._kernel import number_keys, read_spans
from .columns import Longs, Row, TreeColumns, columns_of_parses, lay_out
from .heads import HeadRules, get_head_rules, rules_of_language, warn_of_language
from .match import Program, Tregex
from .read import ids_of

_TOKEN_ATTRS = [ORTH, TAG, IS_SPACE, IDX, LENGTH, SENT_START]


class DocColumns(NamedTuple):
    """The constituents of docs as columns.

    columns (TreeColumns): The trees; `line` is the number of the doc, from 1.
    tokens (Longs): For each word of the trees its token, as an index into its doc.
    """

    columns: TreeColumns
    tokens: Longs

    def bounds(self, nodes: Longs) -> tuple[Longs, Longs]:
        """Find the tokens that nodes cover: an array of their first tokens, and one of the tokens after their last."""
        before = self.columns.words_before
        return self.tokens[before[nodes]], self.tokens[before[nodes + self.columns.size[nodes] + 1] - 1] + 1


def columns_of_docs(
    docs: Sequence[Doc], spans_key: str = SPANS_KEY, name: str | None = None, first: int = 1, id_key: str = "id"
) -> DocColumns:
    """Make columns of docs. Where nothing is unusual, constituents are read as arrays, without an object for each
    sentence or word; otherwise as `parses_from_doc` reads them.

    name (str | None): The file that they are of, if any.
    first (int): The number of the first doc there.
    id_key (str): What of `doc.user_data` identifies a doc, see `read.ids_of`.
    RETURNS (DocColumns): The columns. A doc without constituents has no trees there.
    RAISES (ValueError): If constituents do not nest (see `parses_from_doc`); for a file a TreebankError, with the
        number of the doc.
    """
    numbered = [(number, doc) for number, doc in enumerate(docs, start=first) if spans_key in doc.spans]
    doc_columns = _read_at_once(numbered, spans_key, name or "<docs>", id_key)
    if doc_columns is not None:
        return doc_columns
    tokens: list[int] = []

    def rows() -> Iterator[Row]:
        for number, doc in numbered:
            try:
                sentences = parses_from_doc(doc, spans_key)
            except ValueError as err:
                if name is None:
                    raise
                raise TreebankError(name, number, str(err)) from err
            ids = ids_of(doc.user_data, id_key, len(sentences))
            for sent, identifier in zip(sentences, ids, strict=True):
                tokens.extend(sent.tokens)
                yield sent.parse, number, ROOT, identifier

    return DocColumns(columns_of_parses(rows(), name or "<docs>"), np.array(tokens, np.int64))


def _read_at_once(docs: Sequence[tuple[int, Doc]], spans_key: str, name: str, id_key: str) -> DocColumns | None:
    """Read numbered docs at once. Return None if that is impossible: because of missing tags, changed tokens, several
    vocabularies, or constituents that have another format, no label or no word, that are not in pre-order and in the
    order of sentences, or that are not a tree."""
    vocab = docs[0][1].vocab if docs else None
    if vocab is None or not vocab.lang or any(doc.vocab is not vocab or "sents" in doc.user_hooks for _, doc in docs):
        return None
    groups = [doc.spans[spans_key] for _, doc in docs]
    if any(group.attrs.get("format", FORMAT_VERSION) != FORMAT_VERSION for group in groups):
        return None
    # Tokens are counted over all docs, and so are words, which are the tokens that are not white space.
    tokens = np.ascontiguousarray(np.concatenate([doc.to_array(_TOKEN_ATTRS) for _, doc in docs]).T)
    n_tokens = np.array([len(doc) for _, doc in docs])
    doc_ends = np.cumsum(n_tokens)
    doc_starts = doc_ends - n_tokens
    constituents = _read_constituents(groups, tokens, doc_starts)
    if constituents is None:
        return None
    starts, ends, labels = constituents
    forms, all_tags, is_space, *_, sent_start = tokens
    is_first = sent_start == 1
    is_first[doc_starts[n_tokens > 0]] = True
    token_of = np.flatnonzero(is_space == 0)  # (words,)
    sentence_starts = np.flatnonzero(np.diff(np.cumsum(is_first)[token_of], prepend=0))  # (sentences with words,)
    n_words = np.diff(sentence_starts, append=len(token_of))
    sentence_of = np.searchsorted(sentence_starts, starts, "right") - 1  # (constituents,)
    if not len(token_of) or (np.diff(sentence_of) < 0).any():
        return None
    n_spans = np.bincount(sentence_of, minlength=len(sentence_starts))
    numbers, keys = number_keys(np.concatenate([forms[token_of], all_tags[token_of], labels]))
    words, tags, labels = np.split(numbers, [len(token_of), 2 * len(token_of)])
    offsets = sentence_starts[sentence_of]
    spans = np.stack([starts - offsets, ends - offsets, labels])
    doc_of = np.searchsorted(doc_ends, token_of[sentence_starts], "right")  # (sentences with words,)
    line = np.array([number for number, _ in docs])[doc_of]
    n_sentences = np.bincount(doc_of, minlength=len(docs)).tolist()
    with_counts = zip(docs, n_sentences, strict=True)
    ids = [text for (_, doc), n in with_counts for text in ids_of(doc.user_data, id_key, n)]
    texts = [vocab.strings[key] for key in keys]
    texts += [ROOT] * (ROOT not in texts)  # each once
    try:
        columns = lay_out(
            n_words, n_spans, words, tags, spans, texts, roots=texts.index(ROOT), line=line, name=name, ids=ids
        )
    except ValueError:
        return None
    return DocColumns(columns, token_of - doc_starts.repeat(n_tokens)[token_of])


def _read_constituents(
    groups: Sequence[SpanGroup], tokens: NDArray[np.uint64], doc_starts: Longs
) -> tuple[Longs, Longs, NDArray[np.uint64]] | None:
    """Read the starts, ends and labels of docs' constituents, over the words of all docs. Return None if tokens or
    constituents are unusual (see `_read_at_once`); the order of constituents is not checked here.

    tokens (NDArray): A row for each of `_TOKEN_ATTRS`.
    """
    _, tags, is_space, first_char, length, _ = tokens
    group_sizes = np.array([len(group) for group in groups])
    rows = np.empty((5, group_sizes.sum()), np.uint64)
    try:
        read_spans(groups, rows)  # most of the time goes into spaCy's making an object for each span
    except IndexError:  # a span beyond the end of a doc
        return None
    start, end, labels, start_char, end_char = rows
    first_tokens, end_tokens = np.stack([start, end]).astype(np.int64) + doc_starts.repeat(group_sizes)
    words_before = np.append(0, np.cumsum(is_space == 0))
    starts, ends = words_before[first_tokens], words_before[end_tokens]
    if not ((tags | is_space).all() and labels.all() and (starts < ends).all()):
        return None
    char_ends = first_char + length
    is_unchanged = (first_char[first_tokens] == start_char).all() and (char_ends[end_tokens - 1] == end_char).all()
    return (starts, ends, labels) if is_unchanged else None


class TreeMatch(NamedTuple):
    """A match in a doc.

    label (str): The key of the patterns.
    span (Span): The node that matches, labelled with what it is called.
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

    spans_key (str): Key of the constituents in `doc.spans`.
    heads (str | Path | HeadRules | None): Head rules: "penn", "ctb", "icon" or a file. None for those of the language.
    """

    def __init__(
        self, vocab: Vocab, *, spans_key: str = SPANS_KEY, heads: str | Path | HeadRules | None = None
    ) -> None:
        self.vocab = vocab
        self.spans_key = spans_key
        self.rules = rules_of_language(vocab.lang) if heads is None else get_head_rules(heads)
        self._has_rules = heads is not None
        self._tregexes: dict[str, list[Tregex]] = {}
        self._program: Program | None = None  # of all patterns, made when it is needed

    def __len__(self) -> int:
        """Count the keys that have patterns."""
        return len(self._tregexes)

    def __contains__(self, key: str) -> bool:
        return key in self._tregexes

    @property
    def patterns(self) -> dict[str, list[str]]:
        """The patterns by their keys."""
        return {key: [tregex.pattern for tregex in tregexes] for key, tregexes in self._tregexes.items()}

    def add(self, key: str, patterns: Iterable[str]) -> None:
        """Add patterns under a key, beside the patterns that it has; those that it has already are not added again.

        key (str): The key, which is the label of matches.
        RAISES (ValueError): If one is no pattern.
        """
        texts: list[Any] = [*patterns] if isinstance(patterns, Iterable) and not isinstance(patterns, str) else [None]
        if not all(isinstance(text, str) for text in texts):
            raise ValueError(Errors.E610.format(key=key))
        present = self.patterns.get(key, ())
        tregexes = [Tregex(text, heads=self.rules) for text in dict.fromkeys(texts) if text not in present]
        if not self._has_rules and any(tregex.program.needs_heads for tregex in tregexes):
            warn_of_language(self.vocab.lang)
        self._tregexes.setdefault(key, []).extend(tregexes)
        self._program = None

    def remove(self, key: str) -> None:
        """Remove a key with its patterns. RAISES (ValueError): If there is no such key."""
        if key not in self._tregexes:
            raise ValueError(Errors.E611.format(key=key, known=", ".join(map(str, self._tregexes)) or "none"))
        del self._tregexes[key]
        self._program = None

    def __call__(self, doclike: Doc | Span) -> list[TreeMatch]:
        """Find the matches in a doc, or those that lie in a span, in the order of keys and then of the text, each once.

        For a span the whole doc is searched. So for many spans, search the doc once and select from its matches.
        """
        given: Any = doclike  # `match` says so if it is neither
        (matches,) = self.match([getattr(given, "doc", given)])
        first, last = (doclike.start, doclike.end) if isinstance(doclike, Span) else (0, len(doclike))
        return [match for match in matches if first <= match.span.start and match.span.end <= last]

    def pipe(self, docs: Iterable[Doc], *, batch_size: int = 256) -> Iterator[tuple[Doc, list[TreeMatch]]]:
        """Find the matches in many docs, batch by batch.

        YIELDS (tuple[Doc, list[TreeMatch]]): Each doc with its matches.
        """
        for batch in split_batches(docs, batch_size):
            yield from zip(batch, self.match(batch), strict=True)

    def match(self, docs: Iterable[Doc]) -> list[list[TreeMatch]]:
        """Find the matches in a batch of docs, at once."""
        docs = list(docs)
        matches: list[list[TreeMatch]] = [[] for _ in docs]
        for i, key, name, span in self.spans(docs):
            if name:  # of the match that came before
                matches[i][-1].names[name] = span
            else:
                matches[i].append(TreeMatch(key, span, {}))
        return matches

    def spans(self, docs: Iterable[Doc], *, by_name: bool = False) -> Iterator[tuple[int, str, str, Span]]:
        """Find the nodes of the matches in a batch of docs, in the order of keys and then of the text. A
        match of several patterns of a key comes once.

        by_name (bool): Label the nodes with KEY and KEY.NAME, not with what they are called.
        YIELDS (tuple[int, str, str, Span]): The index of the doc, the key, the name, and the node. A node that matches
            has the name "", and the named nodes of its match follow it.
        RAISES (ValueError): If a doc has words and no constituents, or they are not trees (see `parses_from_doc`), or
            it is no doc.
        """
        docs = list(docs)
        for doc in docs:
            if not isinstance(doc, Doc):
                raise ValueError(Errors.E612.format(found=type(doc).__name__))
            if len(doc):
                get_group(doc, self.spans_key)
        patterns = [(key, tregex) for key, tregexes in self._tregexes.items() for tregex in tregexes]
        doc_columns = columns_of_docs(docs, self.spans_key)
        columns = doc_columns.columns
        if not patterns or not len(columns):
            return
        self._program = self._program or Program([tregex.nodes for _, tregex in patterns])
        candidates = zip(patterns, self._program.find(columns, self.rules), strict=True)
        for key, of_key in groupby(candidates, lambda each: each[0][0]):
            found = [tregex.matches_of(columns, nodes) for (_, tregex), nodes in of_key]
            names = ["", *dict.fromkeys(name for _, named in found for name in named)]
            tables = [
                np.stack([nodes, *(named.get(name, np.full_like(nodes, -1)) for name in names[1:])], axis=1)
                for nodes, named in found
            ]
            table = np.unique(np.vstack(tables), axis=0)  # (matches, names), -1 where there is no node
            # Row by row, so that the named nodes of a match follow it.
            nodes, name_places = table[table >= 0], np.nonzero(table >= 0)[1]
            docs_of, codes = columns.line[columns.trees_of(nodes)] - 1, columns.label[nodes]
            arrays = (docs_of, name_places, codes, *doc_columns.bounds(nodes))
            keys = [f"{key}.{name}" if name else key for name in names]
            for i, place, code, start, end in zip(*(array.tolist() for array in arrays), strict=True):
                label = keys[place] if by_name else columns.strings[code]
                yield i, key, names[place], Span(docs[i], start, end, label)
