"""Gold trees for the tokens that the pipeline sees, which need not be those of the treebank."""

import warnings
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from spacy.attrs import ORTH
from spacy.tokens import Doc
from spacy.training import Alignment, Example

from ..errors import Errors, Warnings
from ..linearize import Linearizer
from ..linearize.tags import TagSet
from ..tokens.group import GroupCache
from ..tokens.sentences import WordMap, map_words
from ..tokens.spans import SentenceParse, has_parses, parses_from_doc
from ..trees import Constituent, Parse, binarize


class GoldTags(NamedTuple):
    """The gold tags of one sentence.

    tokens (Sequence[int]): The token of each word, as an index into the predicted doc.
    ids (np.ndarray): (2N-1,) int32 tag ids, -1 for tags that are not in the set.
    """

    tokens: Sequence[int]
    ids: np.ndarray


class _GoldDoc(NamedTuple):
    """The gold tags of a doc, and of how many sentences some tag is unknown, with an example."""

    tags: list[GoldTags]
    n_unknown: int
    example: str


class GoldReader:
    """Reads the gold trees of training data, and counts those that nothing or not all can be learned from.

    Gold tags are kept from one epoch to the next where the predicted doc has the tokens of the reference; see
    `GroupCache` for which changes of a reference are noticed. Reading gold trees takes 3 % of a training step of a CNN
    pipeline on one CPU core, and more of one on a GPU; kept, they take 0.4 %.
    """

    def __init__(self) -> None:
        self.n_sentences = 0
        self.n_unaligned = 0
        self.n_unknown = 0
        self._unaligned = ""  # an example
        self._unknown = ""
        self._next_warning = 1  # once so many sentences have been read
        self._known: GroupCache[_GoldDoc] = GroupCache()
        self._known_as: tuple[TagSet, str] | None = None

    def sentences(self, eg: Example, spans_key: str) -> list[SentenceParse]:
        """The gold trees of an example; see `gold_sentences`.

        eg (Example): The example.
        spans_key (str): Key of the constituents in `eg.reference.spans`.
        RETURNS (list[SentenceParse]): Tokens of the predicted doc with their tree.
        RAISES (ValueError): If the reference's constituents are not trees.
        """
        found = _read(eg, spans_key)
        fitting = [sentence for _, sentence in found if sentence is not None]
        self.n_sentences += len(found)
        self.n_unaligned += len(found) - len(fitting)
        if len(fitting) < len(found) and not self._unaligned:
            self._unaligned = _shorten(next(gold for gold, sentence in found if sentence is None))
        return fitting

    def tags(self, eg: Example, spans_key: str, tags: TagSet, linearizer: Linearizer) -> list[GoldTags]:
        """The gold tags of an example's sentences; see `gold_sentences`.

        eg (Example): The example.
        spans_key (str): Key of the constituents in `eg.reference.spans`.
        tags (TagSet): The tags.
        linearizer (Linearizer): The order.
        RETURNS (list[GoldTags]): Tokens of the predicted doc with their tags.
        RAISES (ValueError): If the reference's constituents are not trees.
        """
        if self._known_as is None or self._known_as[0] is not tags or self._known_as[1] != linearizer.order:
            self._known.clear()
            self._known_as = (tags, linearizer.order)
        if has_parses(eg.reference, spans_key) and _same_tokens(eg.reference, eg.predicted):
            gold = self._known.get(
                eg.reference, spans_key, lambda: _encode(parses_from_doc(eg.reference, spans_key), tags, linearizer)
            )
            self.n_sentences += len(gold.tags)
        else:
            gold = _encode(self.sentences(eg, spans_key), tags, linearizer)
        self.n_unknown += gold.n_unknown
        self._unknown = self._unknown or gold.example
        return gold.tags

    def check(self, name: str, *, complete: bool = False) -> None:
        """Warn if parts of the data that was read cannot be learned. Call it after each pass or batch.

        A warning comes with the first such sentence, and again whenever ten times as many sentences have been read.

        name (str): The component, for the message.
        complete (bool): Whether this was all of the training data, so that it is an error if nothing of it can be
            learned. Otherwise that is an error from 100 sentences on.
        RAISES (ValueError): If there were sentences, and nothing can be learned from any of them.
        """
        n = self.n_sentences
        problems = []
        if self.n_unaligned:
            problems.append(
                Warnings.W002.format(n=self.n_unaligned, total=n, share=self.n_unaligned / n, example=self._unaligned)
            )
        if self.n_unknown:
            problems.append(
                Warnings.W003.format(n=self.n_unknown, total=n, share=self.n_unknown / n, example=self._unknown)
            )
        if not problems:
            return
        if self.n_unaligned + self.n_unknown >= n and (complete or n >= 100):
            raise ValueError(Errors.E191.format(name=name, problems=" ".join(problems)))
        if n >= self._next_warning:
            warnings.warn(Warnings.W001.format(name=name, problems=" ".join(problems)), stacklevel=2)
            self._next_warning = 10 * n


def gold_sentences(eg: Example, spans_key: str) -> list[SentenceParse]:
    """The gold trees of an example, over the tokens of its predicted doc.

    Where the two docs have different tokens, each constituent is projected. A sentence is left out as a whole if a
    bound of one of its constituents falls inside a predicted token: what is left would be another tree.

    eg (Example): The example.
    spans_key (str): Key of the constituents in `eg.reference.spans`.
    RETURNS (list[SentenceParse]): Tokens of the predicted doc with their tree; empty if the reference has none.
    RAISES (ValueError): If the reference's constituents are not trees.
    """
    return [sentence for _, sentence in _read(eg, spans_key) if sentence is not None]


def _read(eg: Example, spans_key: str) -> list[tuple[Parse, SentenceParse | None]]:
    """Each gold tree, and what it is over the predicted tokens, None if it does not fit them."""
    if not has_parses(eg.reference, spans_key):
        return []
    sentences = parses_from_doc(eg.reference, spans_key)
    if _same_tokens(eg.reference, eg.predicted):
        return [(sentence.parse, sentence) for sentence in sentences]
    words = map_words(eg.predicted)
    return [(sentence.parse, _project(sentence, eg, words)) for sentence in sentences]


def _encode(sentences: list[SentenceParse], tags: TagSet, linearizer: Linearizer) -> _GoldDoc:
    found: list[GoldTags] = []
    n_unknown = 0
    example = ""
    for tokens, parse in sentences:
        sequence = linearizer.linearize(binarize(parse))
        ids = tags.encode(sequence)
        found.append(GoldTags(tokens, ids))
        if ids.min() < 0:
            n_unknown += 1
            example = example or f"{sequence[int(ids.argmin())]} in {_shorten(parse)}"
    return _GoldDoc(found, n_unknown, example)


def _shorten(parse: Parse) -> str:
    text = " ".join(parse.words)
    return repr(text if len(text) <= 80 else f"{text[:80]} ...")


def _same_tokens(a: Doc, b: Doc) -> bool:
    return len(a) == len(b) and bool((a.to_array([ORTH]) == b.to_array([ORTH])).all())


def _project(sentence: SentenceParse, eg: Example, words: WordMap) -> SentenceParse | None:
    """One sentence over the predicted tokens, or None if it does not fit them."""
    n = len(sentence.parse)
    whole = _project_range(sentence.tokens, 0, n, eg.alignment)
    if whole is None:
        return None
    before = words.before
    origin, n_words = before[whole[0]], before[whole[1]] - before[whole[0]]
    if not n_words:
        return None
    spans: list[Constituent] = []
    for start, end, label in sentence.parse.spans:
        found = _project_range(sentence.tokens, start, end, eg.alignment)
        if found is None:
            return None
        first, last = before[found[0]] - origin, before[found[1]] - origin
        if first >= last:
            return None
        spans.append(Constituent(first, last, label))
    tokens = words.tokens[origin : origin + n_words]
    texts = tuple(eg.predicted[i].text for i in tokens)
    return SentenceParse(tokens, Parse(texts, ("X",) * n_words, tuple(spans)))


def _project_range(tokens: Sequence[int], start: int, end: int, alignment: Alignment) -> list[int] | None:
    """First and end predicted token of the reference words start..end, if these tokens hold just those words."""
    first, last = tokens[start], tokens[end - 1]
    reached = alignment.y2x[first : last + 1]
    if not len(reached):
        return None
    low, high = int(reached.min()), int(reached.max()) + 1
    back = alignment.x2y[low:high]
    if len(back) and (back.min() < first or back.max() > last):
        return None
    return [low, high]
