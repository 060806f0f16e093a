"""Docs: `Parse` and trees to and from `doc.spans`, and the extensions that show constituents on spans and tokens."""

from .convert import doc_from_parses, doc_from_tree, doc_to_strings, docs_from_trees, parse_string
from .extensions import register_extensions
from .render import Drawing, render
from .sentences import WordMap, has_sentences, map_words, one_sentence, sentence_words, set_sentence_starts
from .spaces import spaces_after
from .spans import FORMAT_VERSION, SPANS_KEY, SentenceParse, has_parses, parses_from_doc, set_parses

__all__ = [
    "FORMAT_VERSION",
    "SPANS_KEY",
    "Drawing",
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
    "parse_string",
    "parses_from_doc",
    "register_extensions",
    "render",
    "sentence_words",
    "set_parses",
    "set_sentence_starts",
    "spaces_after",
]
