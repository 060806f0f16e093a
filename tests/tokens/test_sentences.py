"""Words and sentences of a doc: one definition, against a plain reading of tokens and `doc.sents`."""

from itertools import pairwise

import numpy as np
import pytest
import spacy
from hypothesis import given, strategies as st
from spacy.lang.en import English
from spacy.tokens import Doc
from spacy.vocab import Vocab, create_vocab

from spacy_parsetag.tokens import doc_to_strings, set_parses
from spacy_parsetag.tokens.sentences import (
    copy_words,
    has_sentences,
    map_words,
    one_sentence,
    paragraphs,
    sentence_starts,
    sentence_words,
    set_sentence_starts,
)

VOCAB = create_vocab("en", English.Defaults)
WORDS = st.sampled_from(["a", "(", "\n", " ", "\u00a0", "\u3000", "\u2028", "\u0085", "\u200b"])
TOKENS = st.lists(st.tuples(WORDS, st.booleans()), max_size=8)


@pytest.mark.parametrize("vocab", [VOCAB, Vocab()], ids=["English", "no language"])
@given(tokens=TOKENS, by_hook=st.booleans())
def test_as_spacy_has_them(vocab: Vocab, tokens: list[tuple[str, bool]], by_hook: bool) -> None:
    words = [word for word, _ in tokens]
    starts = [start or i == 0 for i, (_, start) in enumerate(tokens)]
    doc = Doc(vocab, words=words, sent_starts=None if by_hook else list(starts))
    if by_hook:
        bounds = [*np.flatnonzero(starts).tolist(), len(doc)]
        doc.user_hooks["sents"] = lambda doc: (doc[i:j] for i, j in pairwise(bounds))
    is_word = [not word.isspace() for word in words]
    sentences = [[token.i for token in sent if is_word[token.i]] for sent in doc.sents]
    assert has_sentences(doc)
    assert sentence_starts(doc).tolist() == [sent.start for sent in doc.sents]
    assert sentence_words(doc) == [sentence for sentence in sentences if sentence]
    assert map_words(doc).tokens == [i for i, word in enumerate(is_word) if word]
    assert map_words(doc).before == [sum(is_word[:i]) for i in range(len(doc) + 1)]


def test_without_boundaries() -> None:
    doc = Doc(VOCAB, words=["\n", "a", "b"])
    assert not has_sentences(doc)
    assert sentence_starts(doc).tolist() == [0] and sentence_words(doc) == [[1, 2]]
    assert has_sentences(doc[:1].as_doc()) and has_sentences(Doc(VOCAB))


@pytest.mark.parametrize("vocab", [VOCAB, Vocab()], ids=["English", "no language"])
@pytest.mark.parametrize("gap", ["\n\n", "\r\n\r\n", "\r\r", "\n \t\n", "\n", "\r\n", "  ", "\n  "])
def test_blank_lines_end_sentences(vocab: Vocab, gap: str) -> None:
    """What splits the paragraphs keeps these boundaries, and adds its own."""
    words = ["\n\n", "One", ".", gap, "Two", ".", "Three", "\n\n"]
    doc = paragraphs(Doc(vocab, words=words))
    is_blank = gap not in ("\n", "\r\n", "  ", "\n  ")
    assert sentence_starts(doc).tolist() == ([0, 4] if is_blank else [0])
    nlp = spacy.blank("xx")
    nlp.add_pipe("sentencizer")
    nlp.add_pipe("paragraphs", first=True)
    assert [sent.text.strip() for sent in nlp("A\n\nBees. Cats").sents] == ["A", "Bees.", "Cats"]


@pytest.mark.parametrize("text", ["\n\nShe. He", " She. He \n", "She.  \n He\n\n", "\n \n She.\n\n\n\nHe"])
def test_white_space_begins_no_sentence(text: str) -> None:
    """So that lists of trees fit `doc.sents`. Here a splitter begins one at each token that is not settled."""
    nlp = spacy.blank("en")
    nlp.add_pipe("paragraphs")
    doc = nlp(text)
    starts = [i for i in range(1, len(doc)) if doc[i].is_sent_start is not False]
    words = [token.i for token in doc if not token.is_space]
    assert starts == words[1:]
    assert not has_sentences(nlp("She. He"))


def test_boundaries_that_are_there_stay() -> None:
    doc = Doc(VOCAB, words=["a", "\n\n", "b", "c"], sent_starts=[True, False, False, True])
    assert sentence_starts(paragraphs(doc)).tolist() == [0, 3]
    assert len(paragraphs(Doc(VOCAB))) == 0


def test_a_blank_line_of_several_tokens() -> None:
    doc = paragraphs(Doc(VOCAB, words=["Title", "\n", " ", "\n", "Body", "\n", "more"]))
    assert sentence_starts(doc).tolist() == [0, 4]


def test_white_space_where_the_vocab_has_no_language() -> None:
    """`token.is_space` is False for all tokens there."""
    doc = Doc(Vocab(), words=["a", "\n", "b"])
    assert not doc[1].is_space
    set_parses(doc, [(tokens, [(0, 2, "NP")]) for tokens in sentence_words(doc)])
    assert doc_to_strings(doc) == ["(TOP (NP (X a) (X b)))"]


@given(tokens=TOKENS)
def test_setting_starts(tokens: list[tuple[str, bool]]) -> None:
    doc = Doc(VOCAB, words=[word for word, _ in tokens])
    starts = [i for i, (_, start) in enumerate(tokens) if start or i == 0]
    set_sentence_starts(doc, starts)
    assert [token.is_sent_start for token in doc] == [i in starts for i in range(len(doc))]
    assert sentence_starts(doc).tolist() == starts
    set_sentence_starts(doc, [])
    assert [token.is_sent_start for token in doc] == [i == 0 for i in range(len(doc))]


def test_a_dependency_parse_has_its_own_sentences() -> None:
    doc = Doc(VOCAB, words=["a", "b"], heads=[0, 0], deps=["ROOT", "dep"])
    with pytest.raises(ValueError, match=r"\[E311\]"):
        set_sentence_starts(doc, [0, 1])


def test_long_docs_are_marked_at_once() -> None:
    """Token by token this test takes more than 20 seconds, because each assignment looks at all tokens."""
    doc = Doc(VOCAB, words=["a"] * 32_000)
    assert one_sentence(doc) is doc
    assert len(list(doc.sents)) == 1 and doc.has_annotation("SENT_START", require_complete=True)


def test_copies_have_the_norms_of_the_tokenizer() -> None:
    """Not those of words in another vocabulary, which has its own."""
    doc = spacy.blank("en")("We can't sing")
    doc[2].norm_ = "never"
    other = spacy.blank("xx").vocab
    other["sing"].norm_ = "chant"
    assert [token.norm_ for token in copy_words(doc, doc.vocab)] == ["we", "can", "never", "sing"]
    copy = copy_words(doc, other)
    assert [token.norm_ for token in copy] == ["we", "can", "never", "chant"]
    assert copy.text == doc.text
