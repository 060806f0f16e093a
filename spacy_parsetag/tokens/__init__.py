"""Writes trees to docs and reads them back, and registers the extensions that show constituents on spans and tokens."""

from .conversion import doc_from_parses, doc_from_tree, doc_to_strings, docs_from_trees, parse_string
from .detokenize import spaces_after
from .extensions import register_extensions
from .groups import FORMAT_VERSION, SPANS_KEY, SentenceParse, has_parses, parses_from_doc, set_parses
from .sentences import (
    WordMap,
    has_sentences,
    map_words,
    one_sentence,
    paragraphs,
    sentence_words,
    set_sentence_starts,
)

__all__ = [
    "FORMAT_VERSION",
    "SPANS_KEY",
    "SentenceParse",
    "WordMap",
    "doc_from_parses",
    "doc_from_tree",
    "doc_to_strings",
    "docs_from_trees",
    "has_parses",
    "has_sentences",
    "map_words",
    "one_sentence",
    "paragraphs",
    "parse_string",
    "parses_from_doc",
    "register_extensions",
    "sentence_words",
    "set_parses",
    "set_sentence_starts",
    "spaces_after",
]
