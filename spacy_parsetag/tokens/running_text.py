"""What an encoder reads: the words of a doc as running text, whether they come from a treebank or from raw text.

    `` It 's late , '' she said --     becomes     “It's late,” she said —

Pretrained encoders have read text, and cut the words of a treebank into pieces that they seldom saw.
"""

from collections.abc import Callable, Iterable
from functools import partial

from spacy.tokens import Doc, Span
from spacy.util import registry

from .spaces import spaces_after

# As the Penn Treebank writes them, and as text has them. A closing single quote is an apostrophe too, and stays.
_IN_TEXT = {"``": "“", "''": "”", "`": "‘", "--": "—"}


def as_running_text(doc: Doc) -> Doc:
    """A doc of as many tokens whose text is that of a page: quotes, dashes, and spaces where text has them.

    Quotes become “ and ”; a straight one opens if none is open, and closes otherwise. Spaces are those of the doc, but
    are guessed (`spaces_after`) where they are unknown or follow every token, as in a line of tokens.

    doc (Doc): The doc, which stays as it is.
    RETURNS (Doc): Another one of the same vocabulary, without annotations.
    """
    words, spaces, is_open = [], [], False
    for token in doc:
        word = token.text
        if word == '"':
            word, is_open = ("”" if is_open else "“"), not is_open
        words.append(_IN_TEXT.get(word, word))
        spaces.append(bool(token.whitespace_))
    if doc.has_unknown_spaces or all(spaces[:-1]):
        spaces = spaces_after(words)
    return Doc(doc.vocab, words=words, spaces=spaces)


def running_text(window: int, stride: int) -> Callable[[Iterable[Doc]], list[list[Span]]]:
    """Windows of running text for a transformer of spacy-transformers: spacy-parsetag.RunningText.v1.

    In place of spacy-transformers.strided_spans.v1, for English. Words of treebanks and of raw text then reach the
    encoder alike, so that a parser may be trained on the ones and used on the others.

    window (int): Tokens in a window.
    stride (int): Tokens from the beginning of a window to that of the next.
    RETURNS (Callable[[Iterable[Doc]], list[list[Span]]]): The spans of each doc, of docs made for the encoder alone.
    """
    strided = registry.get("span_getters", "spacy-transformers.strided_spans.v1")(window=window, stride=stride)
    return partial(_spans, strided)


def _spans(strided: Callable[[Iterable[Doc]], list[list[Span]]], docs: Iterable[Doc]) -> list[list[Span]]:
    return strided([as_running_text(doc) for doc in docs])
