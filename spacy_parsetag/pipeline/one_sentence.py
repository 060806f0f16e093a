"""A component for text that comes one sentence a doc: treebanks, subtitles, lines of a file."""

from typing import Any

from spacy.tokens import Doc

from ..tokens.sentences import has_sentences, mark_one_sentence


class OneSentence:
    """Makes a doc one sentence if it has no sentence boundaries; boundaries that are there stay.

    It has no state; the methods that save and load exist so that pipelines with it save and load.
    """

    def __call__(self, doc: Doc) -> Doc:
        if not has_sentences(doc):
            mark_one_sentence(doc)
        return doc

    def to_bytes(self, **kwargs: Any) -> bytes:
        return b""

    def from_bytes(self, data: bytes, **kwargs: Any) -> "OneSentence":
        return self

    def to_disk(self, path: Any, **kwargs: Any) -> None:
        pass

    def from_disk(self, path: Any, **kwargs: Any) -> "OneSentence":
        return self
