"""Gold trees for the tokens that the pipeline sees, which need not be those of the treebank."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from spacy.attrs import ORTH
from spacy.tokens import Doc
from spacy.training import Alignment, Example

from ..linearize import Linearizer
from ..linearize.tags import TagSet
from ..tokens.group import GroupCache
from ..tokens.sentences import map_words
from ..tokens.spans import SentenceParse, has_parses, parses_from_doc
from ..trees import Constituent, Parse, binarize


class GoldTags(NamedTuple):
    """The gold tags of one sentence.

    tokens (Sequence[int]): The token of each word, as an index into the predicted doc.
    ids (np.ndarray): (2N-1,) int32 tag ids, -1 for tags that are not in the set.
    """

    tokens: Sequence[int]
    ids: np.ndarray


class GoldMemory:
    """Gold tag ids of reference docs, kept from one epoch to the next, for as long as the docs live.

    Only where the predicted doc has the tokens of the reference. See `GroupCache` for which changes of a reference are
    noticed. Reading gold trees takes 3 % of a training step of a CNN pipeline on one CPU core, and more of one on a
    GPU; with this it takes 0.4 %.
    """

    def __init__(self) -> None:
        self._known: GroupCache[list[GoldTags]] = GroupCache()
        self._tags: tuple[TagSet, str] | None = None

    def get(self, eg: Example, spans_key: str, tags: TagSet, linearizer: Linearizer) -> list[GoldTags]:
        """The gold tags of an example's sentences; see `gold_sentences`.

        eg (Example): The example.
        spans_key (str): Key of the constituents in `eg.reference.spans`.
        tags (TagSet): The tags.
        linearizer (Linearizer): The order.
        RETURNS (list[GoldTags]): Tokens of the predicted doc with their tags.
        RAISES (ValueError): If the reference's constituents are not trees.
        """

        def read() -> list[GoldTags]:
            return [
                GoldTags(sentence.tokens, tags.encode(linearizer.linearize(binarize(sentence.parse))))
                for sentence in gold_sentences(eg, spans_key)
            ]

        if self._tags is None or self._tags[0] is not tags or self._tags[1] != linearizer.order:
            self._known.clear()
            self._tags = (tags, linearizer.order)
        if has_parses(eg.reference, spans_key) and _same_tokens(eg.reference, eg.predicted):
            return self._known.get(eg.reference, spans_key, read)
        return read()


def gold_sentences(eg: Example, spans_key: str) -> list[SentenceParse]:
    """The gold trees of an example, over the tokens of its predicted doc.

    Where the two docs have different tokens, each constituent is projected. A sentence is left out as a whole if a
    bound of one of its constituents falls inside a predicted token: what is left would be another tree.

    eg (Example): The example.
    spans_key (str): Key of the constituents in `eg.reference.spans`.
    RETURNS (List[SentenceParse]): Tokens of the predicted doc with their tree; empty if the reference has none.
    RAISES (ValueError): If the reference's constituents are no trees.
    """
    if not has_parses(eg.reference, spans_key):
        return []
    sentences = parses_from_doc(eg.reference, spans_key)
    if _same_tokens(eg.reference, eg.predicted):
        return sentences
    projected = (_project(sentence, eg) for sentence in sentences)
    return [sentence for sentence in projected if sentence is not None]


def _same_tokens(a: Doc, b: Doc) -> bool:
    return len(a) == len(b) and bool((a.to_array([ORTH]) == b.to_array([ORTH])).all())


def _project(sentence: SentenceParse, eg: Example) -> SentenceParse | None:
    """One sentence over the predicted tokens, or None if it does not fit them."""
    words = map_words(eg.predicted)
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
