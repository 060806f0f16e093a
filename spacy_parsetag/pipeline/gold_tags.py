"""Gold trees as the ids of their tags, and their loss: that of whole trees, partial ones, and several with weights."""

import math
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..decode import Constraint, TagScores
from ..linearize import CLASS_NAMES, Linearizer
from ..linearize.tags import TagSet
from ..ml.losses import Loss, expected_tree_score, partial_likelihood
from ..tokens.spans import SentenceParse
from ..trees import Parse, binarize, join_chain


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


class GoldDoc(NamedTuple):
    """The gold tags of a doc, and of how many sentences some tag is unknown, with an example."""

    tags: list[GoldTags]
    n_unknown: int
    example: str


def encode_whole(sentences: list[SentenceParse], tags: TagSet, linearizer: Linearizer) -> GoldDoc:
    found: list[GoldTags] = []
    n_unknown = 0
    example = ""
    for tokens, parse in sentences:
        sequence = linearizer.linearize(binarize(parse))
        ids = tags.encode(sequence)
        found.append(GoldTags(tokens, ids))
        if ids.min() < 0:
            n_unknown += 1
            example = example or f"{sequence[int(ids.argmin())]} in {shorten(parse)}"
    return GoldDoc(found, n_unknown, example)


def encode_partial(sentences: list[SentenceParse], tags: TagSet) -> GoldDoc:
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
            example = example or f"{join_chain(missing)} in {shorten(parse)}"
            chains = {}
        known = tuple(Constraint(*bounds, label, "must") for bounds, chain in chains.items() for label in set(chain))
        found.append(GoldTags(tokens, np.full(2 * len(parse) - 1, -1, dtype=np.int32), known))
    return GoldDoc(found, n_unknown, example)


def add_soft(
    gold: GoldDoc, trees: dict[int, list[tuple[float, Parse]]], tags: TagSet, linearizer: Linearizer
) -> GoldDoc:
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


def gold_loss(loss: Loss, batch: TagScores, gold: Sequence[GoldTags]) -> tuple[float, TagScores]:
    """The loss of the gold trees of a batch, and its gradient.

    loss (Loss): The loss of whole trees. Of partial ones the likelihood of all trees with the known constituents
        counts, whatever the loss.
    batch (TagScores): The scores.
    gold (Sequence[GoldTags]): Its sentences.
    RETURNS (tuple[float, TagScores]): The loss, and the gradient as the batch with gradients for scores.
    """
    ids = [np.zeros(0, dtype=np.int32), *(np.append(one.ids, np.int32(-1)) for one in gold)]
    value, gradient = loss(batch, np.concatenate(ids))
    terms = []
    if any(one.known for one in gold):
        terms.append(partial_likelihood(batch, [one.known for one in gold]))
    if soft := soft_targets(gold):
        terms.append(expected_tree_score(batch, soft))
    for more, d_more in terms:
        value += more
        gradient = gradient.with_arrays(a + b for a, b in zip(gradient.arrays, d_more.arrays, strict=True))
    return value, gradient


def shorten(parse: Parse) -> str:
    """The words of a parse, for a message."""
    return quote(parse.words)


def quote(words: Sequence[str]) -> str:
    """Words, for a message; of many only the first ones."""
    text = " ".join(words)
    return repr(text if len(text) <= 80 else f"{text[:80]} ...")
