"""Gold trees for the tokens that the pipeline sees, which need not be those of the treebank."""

import math
import warnings
from collections.abc import Iterable, Iterator, Sequence
from itertools import accumulate
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from spacy.attrs import ORTH
from spacy.tokens import Doc
from spacy.training import Example

from ..decode import Constraint
from ..errors import Errors, Warnings
from ..linearize import CLASS_NAMES, Linearizer
from ..linearize.tags import TagSet
from ..ml.spans import DocSpans
from ..tokens.extensions import with_spans
from ..tokens.sentences import has_sentences, map_words, sentence_starts, set_sentence_starts
from ..tokens.spans import GroupCache, SentenceParse, has_parses, is_partial, parses_from_doc
from ..trees import Constituent, Parse, binarize, join_chain


class GoldTags(NamedTuple):
    """The gold tags of one sentence.

    tokens (Sequence[int]): The token of each word, as an index into the predicted doc.
    ids (np.ndarray): (2N-1,) int32 tag ids, -1 for tags that are not in the set, and for all of a partial tree.
    known (tuple[Constraint, ...]): The constituents of a partial tree, each a "must".
    soft (tuple[tuple[float, np.ndarray], ...]): The trees that count instead: probability, which sum to 1, and tag ids.
    """

    tokens: Sequence[int]
    ids: NDArray[Any]
    known: tuple[Constraint, ...] = ()
    soft: tuple[tuple[float, NDArray[Any]], ...] = ()


class _GoldDoc(NamedTuple):
    """The gold tags of a doc, and of how many sentences some tag is unknown, with an example."""

    tags: list[GoldTags]
    n_unknown: int
    example: str


class GoldReader:
    """Reads the gold trees of training data, and counts those that nothing or not all can be learned from.

    Gold tags are kept from one epoch to the next where the predicted doc has the tokens of the reference; see
    `GroupCache` for which changes of a reference are noticed.
    """

    def __init__(self) -> None:
        self.n_sentences = 0
        self.n_unaligned = 0
        self.n_unknown = 0
        self.n_cut = 0
        self._unaligned = ""  # an example
        self._unknown = ""
        self._cut = ""
        self._next_warning = 1  # once so many sentences have been read
        self._known: GroupCache[_GoldDoc] = GroupCache()
        self._known_as: tuple[TagSet, str] | None = None

    def sentences(self, eg: Example, spans_key: str) -> list[SentenceParse]:
        """The gold trees of an example that fit the tokens of its predicted doc; see `read_gold`."""
        found = read_gold(eg, spans_key)
        fitting = [sentence for _, sentence in found if sentence is not None]
        self.n_sentences += len(found)
        self.n_unaligned += len(found) - len(fitting)
        if len(fitting) < len(found) and not self._unaligned:
            self._unaligned = _shorten(next(gold for gold, sentence in found if sentence is None))
        return fitting

    def tags(self, eg: Example, spans_key: str, tags: TagSet, linearizer: Linearizer) -> list[GoldTags]:
        """The gold tags of an example's sentences that fit the tokens of its predicted doc; see `read_gold`.

        Tags are made in the linearizer's order, their ids are those of `tags`.
        """
        if self._known_as is None or self._known_as[0] is not tags or self._known_as[1] != linearizer.order:
            self._known = GroupCache()
            self._known_as = (tags, linearizer.order)
        partial = is_partial(eg.reference, spans_key)

        def encode(sentences: list[SentenceParse]) -> _GoldDoc:
            if partial:
                return _encode_partial(sentences, tags)
            gold = _encode(sentences, tags, linearizer)
            if is_soft(eg.reference, spans_key):
                gold = _add_soft(gold, soft_parses(eg, spans_key), tags, linearizer)
            return gold

        if has_parses(eg.reference, spans_key) and _has_same_tokens(eg):
            gold = self._known.get(eg.reference, spans_key, lambda: encode(parses_from_doc(eg.reference, spans_key)))
            self.n_sentences += len(gold.tags)
        else:
            gold = encode(self.sentences(eg, spans_key))
        self.n_unknown += gold.n_unknown
        self._unknown = self._unknown or gold.example
        return gold.tags

    def within(self, gold: list[list[GoldTags]], spans: DocSpans, examples: Sequence[Example]) -> list[list[GoldTags]]:
        """The gold tags of those sentences that lie in a sentence of the learner; the others are counted.

        gold (list[list[GoldTags]]): The gold tags of each doc.
        spans (DocSpans): The learner's scores of spans, whose sentences these are.
        examples (Sequence[Example]): The examples, to show one.
        RETURNS (list[list[GoldTags]]): What is left.
        """
        found = iter((spans.locate([[sentence.tokens for sentence in own] for own in gold])[:, 0] >= 0).tolist())
        kept: list[list[GoldTags]] = []
        for eg, own in zip(examples, gold, strict=True):
            inside = [next(found) for _ in own]
            kept.append([sentence for sentence, fits in zip(own, inside, strict=True) if fits])
            if not all(inside):
                self.n_cut += inside.count(False)
                tokens = own[inside.index(False)].tokens
                self._cut = self._cut or _quote([eg.predicted[i].text for i in tokens])
        return kept

    def warn_if_partial(self, name: str, n_words: int, n_outside: int) -> None:
        """Warn if so many words are outside all constituents that trees seem to be partial, though not marked so."""
        if n_words >= 200 and n_outside > 0.2 * n_words:
            warnings.warn(Warnings.W254.format(name=name, share=n_outside / n_words), stacklevel=2)

    def check(self, name: str, *, complete: bool = False) -> None:
        """Warn if parts of the data that was read cannot be learned. Call it after each pass or batch.

        A warning comes with the first such sentence, and again whenever ten times as many sentences have been read.

        name (str): The component, for the message.
        complete (bool): Whether this was all of the training data, so that it is an error if nothing of it can be
            learned. Otherwise that is an error from 100 sentences on.
        RAISES (ValueError): If there were sentences, and nothing can be learned from any of them.
        """
        total, n_bad = self.n_sentences, self.n_unaligned + self.n_unknown + self.n_cut
        if not n_bad:
            return
        kinds = (
            (Warnings.W251, self.n_unaligned, self._unaligned),
            (Warnings.W252, self.n_unknown, self._unknown),
            (Warnings.W253, self.n_cut, self._cut),
        )
        problems = " ".join(
            text.format(n=n, total=total, share=n / total, example=example) for text, n, example in kinds if n
        )
        if n_bad >= total and (complete or total >= 100):
            raise ValueError(Errors.E259.format(name=name, problems=problems))
        if total >= self._next_warning:
            warnings.warn(Warnings.W250.format(name=name, problems=problems), stacklevel=2)
            self._next_warning = 10 * total


def read_gold(eg: Example, spans_key: str) -> list[tuple[Parse, SentenceParse | None]]:
    """The gold trees of an example, each with the same tree over the tokens of the predicted doc.

    Where the two docs have different tokens, constituents keep their characters. A sentence does not fit as a whole if
    a bound of one of its constituents falls inside a predicted token: what is left would be another tree.

    eg (Example): The example.
    spans_key (str): Key of the constituents in `eg.reference.spans`.
    RETURNS (list[tuple[Parse, SentenceParse | None]]): Each gold tree, and what it is over the predicted tokens, None
        if it does not fit them; empty if the reference has no trees.
    RAISES (ValueError): If the reference's constituents are not trees, or the texts differ in more than white space.
    """
    if not has_parses(eg.reference, spans_key):
        return []
    sentences = parses_from_doc(eg.reference, spans_key)
    if _has_same_tokens(eg):
        return [(sentence.parse, sentence) for sentence in sentences]
    return _fit(eg, sentences)


def _fit(eg: Example, sentences: list[SentenceParse]) -> list[tuple[Parse, SentenceParse | None]]:
    """The trees of all sentences of the reference, each with the same tree over the predicted tokens."""
    eg.alignment  # noqa: B018 - raises if the texts differ
    tokens = map_words(eg.predicted).tokens
    words = [eg.predicted[i].text for i in tokens]
    word_at = {place: i for i, place in enumerate(_bounds(words))}
    found: list[tuple[Parse, SentenceParse | None]] = []
    place = 0
    for _, gold in sentences:
        bounds = [word_at.get(place + bound) for bound in _bounds(gold.words)]
        place += sum(map(_size, gold.words))
        ends = [(bounds[start], bounds[end], label) for start, end, label in ((0, len(gold), ""), *gold.spans)]
        fitting = [(start, end, label) for start, end, label in ends if start is not None and end is not None]
        sentence = None
        if len(fitting) == len(ends):
            first, last, _ = fitting[0]
            spans = tuple(Constituent(start - first, end - first, label) for start, end, label in fitting[1:])
            parse = Parse(tuple(words[first:last]), ("X",) * (last - first), spans)
            sentence = SentenceParse(tokens[first:last], parse)
        found.append((gold, sentence))
    return found


def is_soft(doc: Doc, spans_key: str) -> bool:
    """Whether a doc's best trees with their probabilities are to be learned: `attrs["soft"] = True` says so."""
    group = doc.spans.get(spans_key)
    return group is not None and bool(group.attrs.get("soft"))


def soft_parses(eg: Example, spans_key: str) -> dict[int, list[tuple[float, Parse]]]:
    """The best trees of a soft reference that fit the tokens of its predicted doc, with their log-probabilities.

    eg (Example): The example.
    spans_key (str): Key of the constituents in `eg.reference.spans`.
    RETURNS (dict[int, list[tuple[float, Parse]]]): The trees of each sentence, by the first of its predicted tokens.
    RAISES (ValueError): If the reference does not have the best trees of each of its sentences.
    """
    sentences = parses_from_doc(eg.reference, spans_key)
    k_best = eg.reference.spans[spans_key].attrs.get("k_best", ())
    if len(k_best) != len(sentences):
        raise ValueError(Errors.E266.format(key=spans_key, n=len(k_best), sentences=len(sentences)))
    same = _has_same_tokens(eg)
    found: dict[int, list[tuple[float, Parse]]] = {}
    for rank in range(max(map(len, k_best), default=0)):
        ranked = [trees[rank] if rank < len(trees) else None for trees in k_best]
        own = [
            sentence if tree is None else SentenceParse(sentence.tokens, with_spans(sentence.parse, tree[1]))
            for sentence, tree in zip(sentences, ranked, strict=True)
        ]
        fitting: list[SentenceParse | None] = [*own] if same else [sentence for _, sentence in _fit(eg, own)]
        for one, tree in zip(fitting, ranked, strict=True):
            if one is not None and tree is not None:
                found.setdefault(one.tokens[0], []).append((tree[0], one.parse))
    return found


def _bounds(words: Iterable[str]) -> Iterator[int]:
    """The places between words, in characters other than white space."""
    return accumulate(map(_size, words), initial=0)


def _size(word: str) -> int:
    return len("".join(word.lower().split()))  # spaCy's alignment ignores case too


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


def _add_soft(
    gold: _GoldDoc, trees: dict[int, list[tuple[float, Parse]]], tags: TagSet, linearizer: Linearizer
) -> _GoldDoc:
    """Give each sentence its trees whose tags are all known, with probabilities that sum to 1."""
    found: list[GoldTags] = []
    for one in gold.tags:
        encoded = [
            (log_prob, tags.encode(linearizer.linearize(binarize(parse))))
            for log_prob, parse in trees.get(one.tokens[0], ())
        ]
        known = [(math.exp(log_prob), ids) for log_prob, ids in encoded if ids.min() >= 0 and one.ids.min() >= 0]
        total = sum(prob for prob, _ in known)
        found.append(one._replace(soft=tuple((prob / total, ids) for prob, ids in known if total > 0)))
    return gold._replace(tags=found)


def soft_targets(gold: Sequence[GoldTags]) -> list[tuple[NDArray[Any], NDArray[Any]]]:
    """What turns the likelihood of single trees into cross-entropy with several; see `expected_tree_score`.

    gold (Sequence[GoldTags]): The sentences of a batch.
    RETURNS (list[tuple[np.ndarray, np.ndarray]]): The tree of each sentence with weight 1 where others count instead;
        and these, one of each sentence a time, with minus their probabilities. Ids are in rows as in a batch.
    """
    n_ranks = max((len(one.soft) for one in gold), default=0)
    if not n_ranks:
        return []
    found = []
    for rank in range(-1, n_ranks):
        chosen = [one.soft[rank] if 0 <= rank < len(one.soft) else (0.0, one.ids) for one in gold]
        weights = [float(len(one.soft) > 0) if rank < 0 else -p for one, (p, _) in zip(gold, chosen, strict=True)]
        found.append((np.concatenate([np.append(ids, np.int32(-1)) for _, ids in chosen]), np.asarray(weights)))
    return found


def known_chains(parse: Parse) -> dict[tuple[int, int], tuple[str, ...]]:
    """The labels over each span of a parse, top of the chain first, by its bounds."""
    chains: dict[tuple[int, int], tuple[str, ...]] = {}
    for start, end, label in parse.spans:
        chains[start, end] = (*chains.get((start, end), ()), label)
    return chains


def partial_tags(parse: Parse) -> set[str]:
    """The tags that the constituents of a partial tree may have: each may be a left child or a right one."""
    return {
        f"{kind}/{join_chain(chain)}"
        for (start, end), chain in known_chains(parse).items()
        for kind in (CLASS_NAMES[:2] if end - start == 1 else CLASS_NAMES[2:])
    }


def words_outside(parse: Parse) -> int:
    """How many words no constituent covers."""
    outside, place = 0, 0
    for start, end, _ in parse.spans:  # in pre-order: what begins before `place` lies within what came before
        outside += max(start - place, 0)
        place = max(place, end)
    return outside + len(parse) - place


def _encode_partial(sentences: list[SentenceParse], tags: TagSet) -> _GoldDoc:
    """What is known of partial trees. A sentence is left out if no tag has the labels over one of its spans."""
    # By whether they are of single words: the sets of labels that a node may have as a left child and as a right one.
    possible: dict[bool, set[frozenset[str]]] = {}
    for leaf, first in ((True, 0), (False, 2)):
        left, right = (
            {frozenset(chain) for chain in tags.unaries[tags.offsets[c] : tags.offsets[c + 1]]}
            for c in (first, first + 1)
        )
        possible[leaf] = left & right
    found: list[GoldTags] = []
    n_unknown = 0
    example = ""
    for tokens, parse in sentences:
        chains = known_chains(parse)
        missing = next(
            (
                chain
                for (start, end), chain in chains.items()
                if not any(set(chain) <= labels for labels in possible[end - start == 1])
            ),
            None,
        )
        if missing is not None:
            n_unknown += 1
            example = example or f"{join_chain(missing)} in {_shorten(parse)}"
            chains = {}
        known = tuple(Constraint(*bounds, label, "must") for bounds, chain in chains.items() for label in set(chain))
        found.append(GoldTags(tokens, np.full(2 * len(parse) - 1, -1, dtype=np.int32), known))
    return _GoldDoc(found, n_unknown, example)


def set_gold_sentences(eg: Example) -> None:
    """Give the predicted doc of an example the sentence boundaries of its reference, where words align."""
    if _has_same_tokens(eg):
        starts = sentence_starts(eg.reference).tolist()
    elif has_sentences(eg.reference):
        starts = [i for i, is_start in enumerate(eg.get_aligned_sent_starts()) if is_start]
    else:
        starts = []
    set_sentence_starts(eg.predicted, starts)


def _shorten(parse: Parse) -> str:
    return _quote(parse.words)


def _quote(words: Sequence[str]) -> str:
    text = " ".join(words)
    return repr(text if len(text) <= 80 else f"{text[:80]} ...")


def _has_same_tokens(eg: Example) -> bool:
    first, second = eg.reference, eg.predicted
    return len(first) == len(second) and bool((first.to_array([ORTH]) == second.to_array([ORTH])).all())
