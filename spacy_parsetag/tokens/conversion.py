"""Makes docs of trees, and trees and Penn brackets of docs.

(TOP (S (NP (-LRB- -LRB-) (PRP She)) ...))     words ( She ..., tags -LRB- PRP ..., constituents S[0:9] NP[0:2] ...
"""

from collections.abc import Iterable, Iterator, Mapping
from itertools import accumulate, islice
from typing import Any

from spacy.tokens import Doc
from spacy.vocab import Vocab

from ..errors import Errors
from ..trees.brackets import format_tree
from ..trees.nltk_trees import NLTKTree, from_nltk, refuse_single
from ..trees.parse import Parse, check_words
from ..trees.tree import ROOT, Tree, Word
from .detokenize import spaces_after
from .groups import SPANS_KEY, parses_from_doc, set_parses


def as_parse(tree: "Parse | Tree | NLTKTree") -> Parse:
    """Make the parse of a tree, without the root wrapper. Words are text, in an `nltk.Tree` in file form (-LRB-)."""
    if isinstance(tree, Parse):
        return tree
    return Parse.from_tree(tree if isinstance(tree, Tree) else from_nltk(tree))


def doc_from_parses(
    vocab: Vocab,
    parses: Iterable[Parse],
    *,
    spans_key: str = SPANS_KEY,
    detokenize: bool = False,
    attrs: Mapping[str, Any] | None = None,
) -> Doc:
    """Make a doc of parsed sentences: words, tags, sentence boundaries and constituents.

    Lemmas and morphology go to the tokens, where words have them. The id of the sentence goes to `doc.user_data["id"]`;
    of several sentences that is a list.

    parses (Iterable[Parse]): The sentences, their words as text.
    spans_key (str): Where the constituents go in `doc.spans`.
    detokenize (bool): Guess the spaces between words (see `spaces_after`). Otherwise spaces are unknown, and spaCy's
        `Corpus` then trains and evaluates on the words as they are.
    attrs (Mapping[str, Any] | None): Attributes of the group, see `set_parses`.
    RAISES (ValueError): If a word is empty or white space only, which cannot be a word of a doc, or a constituent lies
        outside its sentence.
    """
    parses = list(parses)
    for parse in parses:
        check_words(parse)
    spaces = [space for parse in parses for space in spaces_after(parse.words, parse.pos)] if detokenize else None
    if spaces:
        spaces[-1] = False
    words = [word for parse in parses for word in parse.words]
    annotations = [(word.lemma, word.morph) if isinstance(word, Word) else ("", "") for word in words]
    is_annotated = any(map(any, annotations))
    doc = Doc(
        vocab,
        words=list(map(str, words)),
        spaces=spaces,
        lemmas=[lemma for lemma, _ in annotations] if is_annotated else None,
        morphs=[morph for _, morph in annotations] if is_annotated else None,
        tags=[pos for parse in parses for pos in parse.pos],
        sent_starts=[i == 0 for parse in parses for i in range(len(parse))],
    )
    ends = list(accumulate(map(len, parses), initial=0))
    sentences = zip(map(range, ends, ends[1:]), (parse.spans for parse in parses), strict=True)
    set_parses(doc, sentences, spans_key=spans_key, attrs=attrs)
    ids = [parse.id for parse in parses]
    if any(ids):
        doc.user_data["id"] = ids if len(ids) > 1 else ids[0]
    return doc


def doc_from_tree(vocab: Vocab, tree: "Parse | Tree | NLTKTree", **options: Any) -> Doc:
    """Make a doc of one tree.

    >>> from nltk import Tree
    >>> doc = doc_from_tree(Vocab(), Tree("TOP", [Tree("NP", [Tree("-LRB-", ["-LRB-"]), Tree("PRP", ["She"])])]))
    >>> [token.text for token in doc], [(span.text, span.label_) for span in doc.spans["constituents"]]
    (['(', 'She'], [('( She', 'NP')])

    tree (Parse | Tree | nltk.Tree): The tree. Words are text, but in an `nltk.Tree`, where they are in file form.
    options: See `doc_from_parses`.
    RAISES (TypeError): If it is no tree of these.
    RAISES (ValueError): If it is not a tree over words, or a word is empty or white space only.
    """
    return doc_from_parses(vocab, [as_parse(tree)], **options)


def docs_from_trees(
    vocab: Vocab, trees: "Iterable[Parse | Tree | NLTKTree]", *, n_sents: int = 1, **options: Any
) -> Iterator[Doc]:
    """Make docs of trees, one after another.

    trees (Iterable[Parse | Tree | nltk.Tree]): The trees, consumed as docs are asked for.
    n_sents (int): Sentences in a doc. Leave it at 1 for training: spaCy loses the constituents of a doc it splits.
    options: See `doc_from_parses`.
    RAISES (TypeError): If this is one tree, or something in it is no tree.
    RAISES (ValueError): As `doc_from_tree`, or if `n_sents` is below 1.
    """
    if n_sents < 1:
        raise ValueError(Errors.E308.format(n=n_sents))
    parses = map(as_parse, refuse_single(trees))
    while batch := list(islice(parses, n_sents)):
        yield doc_from_parses(vocab, batch, **options)


def parse_string(parse: Parse, root: str | None = ROOT) -> str:
    """Write a parse in Penn brackets, on one line.

    root (str | None): Label of the wrapper. None leaves it out, where a single node is at the top.
    RAISES (ValueError): If spans cross or lie outside the sentence, or root is None over several nodes.
    """
    return format_tree(parse.to_tree(root))


def doc_to_strings(doc: Doc, spans_key: str = SPANS_KEY, *, root: str = ROOT) -> list[str]:
    """Write each sentence of a doc in Penn brackets, as one line of a bracket file.

    RETURNS (list[str]): The lines. Part-of-speech nodes are `token.tag_`, else `token.pos_`, else "X".
    RAISES (ValueError): If the doc has no constituents, or they are not trees (see `parses_from_doc`).
    """
    return [parse_string(sentence.parse, root) for sentence in parses_from_doc(doc, spans_key)]
