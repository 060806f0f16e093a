"""Reads the gold trees of training data, and counts the ones that cannot be learned."""

import warnings
from collections import Counter
from collections.abc import Iterable

from spacy.tokens import Doc
from spacy.training import Example

from ..errors import Errors, Warnings, shorten
from ..linearize import Linearizer, TagSet, largest_stack
from ..tokens.groups import GroupCache, SentenceParse, has_parses, is_marked, list_groups, parses_from_doc
from ..tokens.sentences import sentence_words
from ..trees import Parse, binarize
from .align import has_same_tokens, read_gold, soft_parses
from .encode import GoldSentence, encode_partial, encode_whole, partial_tags, quote

_MANY = 100  # sentences or docs; one of them at least should teach something


class GoldReader:
    """Reads the gold trees of training data, and counts sentences that cannot be learned, in whole or in part.

    Encoded trees are kept from one epoch to the next where the predicted doc has the tokens of the reference; see
    `GroupCache` for which changes of a reference are noticed.
    """

    def __init__(self) -> None:
        self.n_docs = self.n_sentences = 0
        self.n_bad: Counter[str] = Counter()  # sentences that cannot be learned in full, by the message why
        self.n_lost = 0  # sentences that teach nothing, each once
        self._examples: dict[str, str] = {}
        self._next_warning = 1  # the number of sentences read at which to warn
        self._encoded: GroupCache[list[GoldSentence]] = GroupCache()
        self._encoded_as: tuple[TagSet, str] | None = None

    def sentences(self, eg: Example, spans_key: str) -> list[SentenceParse]:
        """Read the gold trees of an example that fit the tokens of its predicted doc; see `read_gold`."""
        pairs = read_gold(eg, spans_key)
        self.n_sentences += len(pairs)
        if lost := [gold for gold, sentence in pairs if sentence is None]:
            self._count(Warnings.W251, len(lost), quote(lost[0].words), lost=len(lost))
        return [sentence for _, sentence in pairs if sentence is not None]

    def encode(
        self, eg: Example, spans_key: str, tags: TagSet, linearizer: Linearizer, *, by_tag: bool = False
    ) -> list[GoldSentence]:
        """Encode the gold trees of an example that fit the tokens of its predicted doc; see `read_gold`.

        Tags are made in the linearizer's order, and `tags` gives their ids. `by_tag`: the other tags of a sentence
        with an unknown tag are learned, as with TagLoss without transitions; otherwise the sentence teaches nothing.
        """
        if self.n_docs == _MANY and not self.n_sentences:
            groups = list_groups([eg.reference])
            warnings.warn(Warnings.W256.format(n=_MANY, key=spans_key, found=groups), stacklevel=2)
        self.n_docs += 1
        if self._encoded_as != (tags, linearizer.order):
            self._encoded = GroupCache()
            self._encoded_as = (tags, linearizer.order)
        partial = is_marked(eg.reference, "partial", spans_key)

        def encode(sentences: list[SentenceParse]) -> list[GoldSentence]:
            if partial:
                return encode_partial(sentences, tags)
            soft_trees = soft_parses(eg, spans_key) if is_marked(eg.reference, "soft", spans_key) else None
            return encode_whole(sentences, tags, linearizer, soft_trees)

        if has_parses(eg.reference, spans_key) and has_same_tokens(eg):
            gold = self._encoded.get(eg.reference, spans_key, lambda: encode(parses_from_doc(eg.reference, spans_key)))
            self.n_sentences += len(gold)
        else:
            gold = encode(self.sentences(eg, spans_key))
        if unknown := [sentence.unknown for sentence in gold if sentence.unknown]:
            self._count(Warnings.W252, len(unknown), unknown[0], lost=0 if by_tag else len(unknown))
        return gold

    def leave_out(self, cut: list[tuple[Doc, GoldSentence]]) -> None:
        """Count gold sentences, each with its predicted doc, that lie in no sentence of a learner that scores spans."""
        if cut:
            doc, sentence = cut[0]
            lost = sum(sentence.teaches for _, sentence in cut)  # the others were lost before
            self._count(Warnings.W253, len(cut), quote([doc[i].text for i in sentence.tokens]), lost=lost)

    def _count(self, why: str, n: int, example: str, *, lost: int) -> None:
        self.n_bad[why] += n
        self.n_lost += lost
        self._examples.setdefault(why, example)

    def check(self, name: str, *, complete: bool = False) -> None:
        """Warn if parts of the data that was read cannot be learned. Call it after each pass or batch.

        A warning comes with the first such sentence, and again whenever ten times as many sentences have been read.

        complete (bool): All data has been read: raise now if nothing is learnable, not only after 100 sentences.
        RAISES (ValueError): If there were sentences, and nothing can be learned from any of them.
        """
        total = self.n_sentences
        if not self.n_bad:
            return
        problems = " ".join(
            why.format(n=n, total=total, share=n / total, example=self._examples[why])
            for why, n in sorted(self.n_bad.items())
        )
        if self.n_lost >= total and (complete or total >= _MANY):
            raise ValueError(Errors.E259.format(name=name, problems=problems))
        if total >= self._next_warning:
            warnings.warn(Warnings.W250.format(name=name, problems=problems), stacklevel=2)
            self._next_warning = 10 * total


def read_inventory(
    examples: Iterable[Example], spans_key: str, linearizer: Linearizer, name: str, *, has_chart: bool
) -> tuple[set[str], int]:
    """Read all training data once, and warn of what cannot be learned.

    has_chart (bool): Whether the learner's scores have a chart, without which no partial tree can be learned.
    RETURNS (tuple[set[str], int]): The tags, and the largest stack (paper, appendix) of whole trees.
    RAISES (ValueError): If there are sentences, and nothing can be learned from any of them; if there is a partial tree
        and no chart.
    """
    reader = GoldReader()
    tags: set[str] = set()
    largest = n_words = n_outside = 0
    n_docs: Counter[bool] = Counter()  # by whether they have trees
    for eg in examples:
        if (has_trees := has_parses(eg.reference, spans_key)) or sentence_words(eg.reference):
            n_docs[has_trees] += 1
        parses = [parse for _, parse in reader.sentences(eg, spans_key)]
        if is_marked(eg.reference, "soft", spans_key):
            parses += [parse for trees in soft_parses(eg, spans_key).values() for _, parse in trees]
        if is_marked(eg.reference, "partial", spans_key):
            if parses and not has_chart:
                raise ValueError(Errors.E272.format(name=name, text=shorten(eg.reference.text, 50)))
            tags.update(*map(partial_tags, parses))
            continue
        for parse in parses:
            if "partial" not in eg.reference.spans[spans_key].attrs:
                n_words, n_outside = n_words + len(parse), n_outside + _words_outside(parse)
            sequence = linearizer.linearize(binarize(parse))
            tags.update(sequence)
            largest = max(largest, largest_stack(sequence, linearizer.lattice))
    reader.check(name, complete=True)
    if n_docs[True] and n_docs[False]:
        text = Warnings.W261.format(n=n_docs[False], total=n_docs.total(), name=name, key=spans_key)
        warnings.warn(text, stacklevel=2)
    if n_words >= 200 and n_outside > 0.2 * n_words:  # trees seem to be partial, though not marked so
        warnings.warn(Warnings.W254.format(name=name, key=spans_key, share=n_outside / n_words), stacklevel=2)
    return tags, largest


def _words_outside(parse: Parse) -> int:
    """Count the words that no constituent covers."""
    n_outside, n_read = 0, 0
    for start, end, _ in parse.spans:  # in pre-order: what begins before `n_read` lies within what came before
        n_outside += max(start - n_read, 0)
        n_read = max(n_read, end)
    return n_outside + len(parse) - n_read
