"""Reads treebanks for training, as the shipped configs name it."""

from collections.abc import Callable, Iterable, Iterator
from itertools import accumulate
from pathlib import Path
from typing import Any, SupportsIndex

import numpy as np
from spacy.attrs import LEMMA, MORPH, NORM, POS, TAG
from spacy.language import Language
from spacy.tokens import Doc, Span, SpanGroup
from spacy.training import Example
from spacy.training.corpus import create_docbin_reader

from ..errors import Errors, shorten
from ..tokens.sentences import has_sentences, set_sentence_starts

Augmenter = Callable[[Language, Example], Iterator[Example]]
_OF_TOKENIZER = [NORM, TAG, POS, LEMMA, MORPH]  # what a tokenizer sets: one of Japanese sets all of these


class TreebankCorpus:
    """spacy-parsetag.Corpus.v1: spaCy's corpus reader, for docs that are sentences of a treebank.

    path (Path | None): A .spacy file or a folder of such files. None, as configs have it, is an error in training.
    n_sents (int): Number of successive docs to join into one. A component that learns where sentences end, such as
        `senter`, needs docs of several sentences. A doc whose trees are marked as partial or soft stays by itself, and
        docs without trees are not joined with docs that have them.
    gold_sents (bool): Give the docs to predict on the sentence boundaries of the treebank, which sentence splitters
        leave alone. Then trees are scored over the treebank's sentences, as EVALB does.
    limit (int): Number of docs to read; 0 for all.
    augmenter (Callable | None): One of spaCy's augmenters, or another that keeps the number of words: it gets docs
        without groups of spans. With an augmenter, `spacy.Corpus.v1` puts trees over other words, and loses sentence
        boundaries and the marks of partial and soft trees; this reader keeps all of them.
    RAISES (ValueError): If n_sents is below 1; in reading, if an augmenter changes the number of words.
    """

    def __init__(
        self,
        path: Path | None,
        n_sents: int = 1,
        gold_sents: bool = False,
        limit: int = 0,
        augmenter: Augmenter | None = None,
    ) -> None:
        if not isinstance(n_sents, SupportsIndex) or n_sents < 1:  # all docs would become one
            raise ValueError(Errors.E308.format(n=n_sents))
        self.n_sents = n_sents
        self.gold_sents = gold_sents
        self.augmenter = augmenter
        self.corpus = create_docbin_reader(path, False, limit=limit, augmenter=self._augment)

    def __call__(self, nlp: Language) -> Iterator[Example]:
        """Read the examples for a pipeline."""
        for joined in self._join(self.corpus(nlp)):
            if len(joined) == 1 and not self.gold_sents:
                yield joined[0]
                continue
            reference = joined[0].reference
            if len(joined) > 1:
                for eg in joined:  # spaCy joins no such user data, and warns of it doc by doc
                    for key in ("id", "meta"):
                        eg.reference.user_data.pop(key, None)
                reference = Doc.from_docs([eg.reference for eg in joined])
                for key, group in reference.spans.items():  # which has no attributes of the joined groups
                    if all(eg.reference.spans[key].attrs.get("partial") is False for eg in joined):
                        group.attrs["partial"] = False
            # A new doc: `Doc.from_docs` marks where each of the docs began.
            tokens = [token for eg in joined for token in eg.predicted]
            words, spaces = [token.text for token in tokens], [bool(token.whitespace_) for token in tokens]
            for end in [*accumulate(len(eg.predicted) for eg in joined)][:-1]:
                if end and not tokens[end - 1].is_space:
                    spaces[end - 1] = True  # as `Doc.from_docs` has it
            predicted = Doc(nlp.vocab, words=words, spaces=spaces)
            rows: Any = np.concatenate([eg.predicted.to_array(_OF_TOKENIZER) for eg in joined])
            predicted.from_array(_OF_TOKENIZER, rows)
            eg = Example(predicted, reference)
            if self.gold_sents and has_sentences(reference):
                set_sentence_starts(predicted, np.flatnonzero(np.array(eg.get_aligned_sent_starts()) == 1))
            yield eg

    def _augment(self, nlp: Language, eg: Example) -> Iterator[Example]:
        if self.augmenter is None:
            yield eg
            return
        # spaCy's augmenters put spans where their characters were in the old text, lose sentence boundaries, and add no
        # white space to docs with spans. But they keep the words, by whose numbers all of it is put back.
        reference = eg.reference
        bare = reference.copy()
        bare.spans.clear()
        before = [*accumulate((not token.is_space for token in reference), initial=0)]  # words before each token
        is_split = has_sentences(reference)
        first_words = {before[sentence.start] for sentence in reference.sents} if is_split else set()
        for variant in self.augmenter(nlp, Example(eg.predicted, bare)):
            doc = variant.reference
            tokens = [token.i for token in doc if not token.is_space]
            if len(tokens) != before[-1]:
                text = shorten(reference.text, 50)
                raise ValueError(Errors.E228.format(n=len(tokens), text=text, n_words=before[-1]))
            if is_split and not doc.has_annotation("DEP"):
                set_sentence_starts(doc, [tokens[word] for word in first_words if 0 < word < len(tokens)])
            for key, group in reference.spans.items():
                spans = []
                for span in group:
                    start, end = before[span.start], before[span.end]
                    if start < end:
                        bounds = tokens[start], tokens[end - 1] + 1
                        spans.append(Span(doc, *bounds, span.label, kb_id=span.kb_id, span_id=span.id))
                doc.spans[key] = SpanGroup(doc, name=key, attrs=group.attrs, spans=spans)
            if reference.has_unknown_spaces:  # as spaCy's reader has it: the tokens of the treebank
                spaces = [bool(token.whitespace_) for token in doc]
                variant = Example(Doc(nlp.vocab, words=[token.text for token in doc], spaces=spaces), doc)
            yield variant

    def _join(self, examples: Iterable[Example]) -> Iterator[list[Example]]:
        # `Doc.from_docs` drops the attributes that say how trees are marked, and a doc without a group of spans would
        # get the others' group: a sentence whose tree nobody knows would be one that has no constituents.
        joined: list[Example] = []
        for eg in examples:
            groups = eg.reference.spans
            is_marked = any(group.attrs.get(mark) for group in groups.values() for mark in ("partial", "soft"))
            has_other_groups = bool(joined) and set(groups) != set(joined[-1].reference.spans)
            if joined and (is_marked or has_other_groups or len(joined) == self.n_sents):
                yield joined
                joined = []
            if is_marked:
                yield [eg]
            else:
                joined.append(eg)
        if joined:
            yield joined
