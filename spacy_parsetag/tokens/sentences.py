"""Defines for all of the package what a word of a doc is, and what a sentence is.

A *word* is a token that is not white space. A *sentence* begins at the first token, and wherever `doc.sents` begins
one. A doc without sentence boundaries is one sentence.

    tokens   She  enjoys  \\n  papers  \\n\\n  Kim  sings      words      She enjoys papers Kim sings
    starts   0                              5                 sentences  [0, 1, 3] [5, 6]
"""

import re
from collections.abc import Iterable
from itertools import pairwise, takewhile
from typing import NamedTuple, cast

import numpy as np
from numpy.typing import NDArray
from spacy.attrs import IS_SPACE, SENT_START
from spacy.language import Language
from spacy.pipeline import Pipe
from spacy.tokens import Doc
from spacy.vocab import Vocab
from thinc.types import Ints2d

from ..errors import Errors, shorten

_LINE_BREAK = re.compile("\r\n|[\r\n]")


class WordMap(NamedTuple):
    """Tokens and words of a doc, each by the other's index.

    before (list[int]): How many words precede each token; one more entry for the end of the doc.
    tokens (list[int]): The token of each word.
    """

    before: list[int]
    tokens: list[int]


def map_words(doc: Doc) -> WordMap:
    """Count the words of a doc: the indices of tokens and words, both ways."""
    is_word = _is_word(doc)
    return WordMap([0, *np.cumsum(is_word).tolist()], np.flatnonzero(is_word).tolist())


def _is_word(doc: Doc) -> NDArray[np.bool_]:
    if doc.vocab.lang:
        return np.asarray(doc.to_array(IS_SPACE) == 0)
    # A vocabulary without a language, as gold docs may have, leaves that flag unset for every token.
    return np.asarray([not token.text.isspace() for token in doc], dtype=np.bool_)


def has_sentences(doc: Doc) -> bool:
    """Tell whether a doc has sentence boundaries, so that `doc.sents` can be read. Docs of up to one token have."""
    return bool(doc.has_annotation("SENT_START"))  # True if there is a hook for `doc.sents`


def require_sentences(docs: Iterable[Doc], *, name: str) -> None:
    """Raise a ValueError if a doc has no sentence boundaries."""
    for doc in docs:
        if not has_sentences(doc):
            raise ValueError(Errors.E313.format(name=name, text=shorten(doc.text, 50)))


def sentence_starts(doc: Doc) -> NDArray[np.int64]:
    """Find the first token of each sentence; there is none in an empty doc."""
    if "sents" in doc.user_hooks:
        is_start = np.zeros(len(doc), dtype=np.bool_)
        is_start[[sentence.start for sentence in doc.sents]] = True
    else:
        is_start = np.asarray(doc.to_array(SENT_START) == 1)
    is_start[:1] = True
    return np.flatnonzero(is_start)


def sentence_words(doc: Doc) -> list[list[int]]:
    """Find the tokens that are words, sentence by sentence. Sentences without any word are left out."""
    words = np.flatnonzero(_is_word(doc))
    cuts = np.searchsorted(words, sentence_starts(doc)[1:]).tolist()
    tokens = words.tolist()
    return [tokens[start:end] for start, end in pairwise([0, *cuts, len(tokens)]) if start < end]


def copy_words(doc: Doc, vocab: Vocab) -> Doc:
    """Make a doc with the tokens, with the norms that a tokenizer gave them, and the sentences of another one."""
    words, spaces = [token.text for token in doc], [bool(token.whitespace_) for token in doc]
    copy = Doc(vocab, words=words, spaces=spaces)
    set_sentence_starts(copy, sentence_starts(doc).tolist())
    for token, copied in zip(doc, copy, strict=True):
        if token.norm != token.lex.norm:  # that of "n't" is "not"
            copied.norm_ = token.norm_
    return copy


def set_sentence_starts(doc: Doc, starts: Iterable[int]) -> None:
    """Set the sentence boundaries of a doc, in place of those it has.

    All at once: `token.is_sent_start = ...` looks through the whole doc for a dependency parse each time.

    starts (Iterable[int]): The first token of each sentence. The first token of the doc starts one anyway.
    RAISES (ValueError): If the doc has a dependency parse, whose sentences would no longer be these.
    """
    if not len(doc):
        return
    if doc.has_annotation("DEP"):
        raise ValueError(Errors.E311.format(text=shorten(doc.text, 50)))
    marks = np.full(len(doc), -1)
    marks[[0, *starts]] = 1
    _mark_starts(doc, marks)


def _mark_starts(doc: Doc, marks: NDArray[np.int64]) -> None:
    """Mark each token: 1 if it starts a sentence, -1 if it starts none, 0 where that is left open."""
    doc.from_array([SENT_START], cast(Ints2d, marks[:, None].astype(np.uint64)))


def run_before(nlp: Language, parser: Pipe, docs: Iterable[Doc]) -> list[Doc]:
    """Run the components before a parser on copies of docs' words; the sentences stay those of the docs.

    RAISES (ValueError): If a dependency parse has other sentences, or a component changes the tokens.
    """
    docs = list(docs)
    copies = [copy_words(doc, nlp.vocab) for doc in docs]
    for name, pipe in takewhile(lambda named: named[1] is not parser, nlp.pipeline):
        copies = list(pipe.pipe(copies)) if hasattr(pipe, "pipe") else [pipe(copy) for copy in copies]
        for doc, copy in zip(docs, copies, strict=True):
            if len(copy) != len(doc):
                raise ValueError(Errors.E323.format(what=f"The component {name!r}", text=shorten(doc.text, 50)))
    for doc, copy in zip(docs, copies, strict=True):
        starts = sentence_starts(doc)
        # spaCy's dependency parser keeps boundaries, and with its parse they cannot be set again.
        if not np.array_equal(sentence_starts(copy), starts):
            set_sentence_starts(copy, starts.tolist())
    return copies


def one_sentence(doc: Doc) -> Doc:
    """Make a doc one sentence if it has no sentence boundaries; boundaries that are there stay.

    This is the component `one_sentence`, for text that comes one sentence a doc: treebanks, subtitles, lines of a file.
    """
    if not has_sentences(doc):
        set_sentence_starts(doc, [])
    return doc


def paragraphs(doc: Doc) -> Doc:
    """Begin a sentence after each blank line, as after a heading, and none at white space, so that each has a word. A
    doc with sentence boundaries stays as it is.

    This is the component `paragraphs`, for texts of several paragraphs. It stands first: what splits the paragraphs
    keeps what is settled here.
    """
    if not has_sentences(doc):
        is_word = _is_word(doc)
        if not is_word.all():
            words = np.flatnonzero(is_word).tolist()
            marks = np.where(is_word, 0, -1)  # white space begins no sentence
            between = ((doc[i + 1 : j].text, j) for i, j in pairwise(words) if j - i > 1)
            marks[[j for text, j in between if len(_LINE_BREAK.findall(text)) > 1]] = 1
            marks[is_word.argmax()] = -1  # the first word, if white space precedes it
            marks[0] = 0
            _mark_starts(doc, marks)
    return doc
