"""Transfers gold trees to the tokens that the pipeline sees, which may differ from those of the treebank."""

from collections.abc import Iterable, Iterator
from itertools import accumulate, zip_longest

from spacy.attrs import ORTH
from spacy.training import Example

from ..errors import Errors
from ..tokens.groups import SentenceParse, has_parses, parses_from_doc, with_spans
from ..tokens.sentences import map_words, sentence_starts, sentence_words, set_sentence_starts
from ..trees import Constituent, Parse
from ..trees.tree import NO_TAG


def read_gold(eg: Example, spans_key: str) -> list[tuple[Parse, SentenceParse | None]]:
    """Read the gold trees of an example, each with the same tree over the tokens of the predicted doc.

    Where the two docs have different tokens, constituents keep their characters. A sentence does not fit as a whole if
    a bound of one of its constituents falls inside a predicted token: what is left would be another tree.

    RETURNS (list[tuple[Parse, SentenceParse | None]]): Each gold tree, and what it is over the predicted tokens, None
        if it does not fit them; empty if the reference has no trees.
    RAISES (ValueError): If the reference's constituents are not trees, or the texts differ in more than white space.
    """
    return _fit(eg, parses_from_doc(eg.reference, spans_key)) if has_parses(eg.reference, spans_key) else []


def _fit(eg: Example, sentences: list[SentenceParse]) -> list[tuple[Parse, SentenceParse | None]]:
    """Find for each tree of the reference the same tree over the predicted tokens."""
    if has_same_tokens(eg):
        return [(sentence.parse, sentence) for sentence in sentences]
    eg.alignment  # noqa: B018 - raises if the texts differ
    tokens = map_words(eg.predicted).tokens
    words = [eg.predicted[i].text for i in tokens]
    word_at = {offset: i for i, offset in enumerate(_bounds(words))}
    fitted: list[tuple[Parse, SentenceParse | None]] = []
    offset = 0  # of the sentence, in characters
    for _, gold in sentences:
        bounds = [word_at.get(offset + bound, -1) for bound in _bounds(gold.words)]
        offset += sum(map(_size, gold.words))
        spans = [(bounds[start], bounds[end], label) for start, end, label in ((0, len(gold), ""), *gold.spans)]
        sentence = None
        if all(start >= 0 and end >= 0 for start, end, _ in spans):
            first, stop, _ = spans[0]
            constituents = tuple(Constituent(start - first, end - first, label) for start, end, label in spans[1:])
            parse = Parse(tuple(words[first:stop]), (NO_TAG,) * (stop - first), constituents)
            sentence = SentenceParse(tokens[first:stop], parse)
        fitted.append((gold, sentence))
    return fitted


def soft_parses(eg: Example, spans_key: str) -> dict[int, list[tuple[float, Parse]]]:
    """Read the best trees of a soft reference that fit the tokens of its predicted doc, with their log-probabilities.

    RETURNS (dict[int, list[tuple[float, Parse]]]): The trees of each sentence, by the first of its predicted tokens.
    RAISES (ValueError): If the reference does not have the best trees of each of its sentences.
    """
    sentences = parses_from_doc(eg.reference, spans_key)
    k_best = eg.reference.spans[spans_key].attrs.get("k_best", ())
    if len(k_best) != len(sentences):
        raise ValueError(Errors.E266.format(key=spans_key, n=len(k_best), sentences=len(sentences)))
    parses: dict[int, list[tuple[float, Parse]]] = {}
    for trees in zip_longest(*k_best):  # of one rank, None for a sentence that has fewer
        ranked = [
            sentence if tree is None else sentence._replace(parse=with_spans(sentence.parse, tree[1]))
            for sentence, tree in zip(sentences, trees, strict=True)
        ]
        for (_, sentence), tree in zip(_fit(eg, ranked), trees, strict=True):
            if sentence is not None and tree is not None:
                parses.setdefault(sentence.tokens[0], []).append((tree[0], sentence.parse))
    return parses


def _bounds(words: Iterable[str]) -> Iterator[int]:
    """Find the places between words, in characters other than white space."""
    return accumulate(map(_size, words), initial=0)


def _size(word: str) -> int:
    return len("".join(word.lower().split()))  # spaCy's alignment ignores case too


def set_gold_sentences(eg: Example) -> None:
    """Give the predicted doc of an example the sentence boundaries of its reference, where words align."""
    if has_same_tokens(eg):
        starts = sentence_starts(eg.reference).tolist()
    else:  # by words, since white space may be in one of the docs alone
        starts = [int(eg.alignment.y2x[tokens[0]][0]) for tokens in sentence_words(eg.reference)]
    set_sentence_starts(eg.predicted, starts)


def has_same_tokens(eg: Example) -> bool:
    """Check whether the two docs of an example have the same tokens."""
    reference, predicted = eg.reference, eg.predicted
    return len(reference) == len(predicted) and bool((reference.to_array([ORTH]) == predicted.to_array([ORTH])).all())
