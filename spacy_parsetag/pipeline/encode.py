"""Gold trees as ids of tags with weights: one tree of weight 1, several by their probabilities, or constraints."""

import math
from collections.abc import Sequence
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..decode import Constraint, TagScores, WeightedTrees
from ..errors import shorten
from ..linearize import Linearizer, TagSet, make_tag
from ..ml.losses import Loss, partial_likelihood
from ..tokens.groups import SentenceParse
from ..trees import Parse, binarize, join_chain


class GoldSentence(NamedTuple):
    """The gold trees of one sentence of N words.

    tokens (Sequence[int]): The token of each word, as an index into the predicted doc.
    trees (tuple[tuple[float, np.ndarray], ...]): Its whole trees, none if it is known in part: the weight of each
        (they sum to 1), and (2N-1,) int32 tag ids, -1 for tags that are not in the set.
    constraints (tuple[Constraint, ...]): The constituents of a partial tree, each a "must".
    unknown (str): A tag or labels that no tag has, with the words, for a message; empty if all are known.
    """

    tokens: Sequence[int]
    trees: tuple[tuple[float, NDArray[Any]], ...] = ()
    constraints: tuple[Constraint, ...] = ()
    unknown: str = ""

    @property
    def teaches(self) -> bool:
        """True if all tags of a tree are known, or a constituent of a partial tree."""
        return bool(self.constraints) or any(ids.min() >= 0 for _, ids in self.trees)


def encode_whole(
    sentences: list[SentenceParse],
    tags: TagSet,
    linearizer: Linearizer,
    soft_trees: dict[int, list[tuple[float, Parse]]] | None = None,
) -> list[GoldSentence]:
    """Encode whole trees, one of weight 1 for each sentence, or several weighted by their probabilities.

    soft_trees (dict[int, list[tuple[float, Parse]]] | None): Log-probabilities and trees of sentences, by the first
        token; see `soft_parses`. Trees with unknown tags are left out.
    """
    encoded: list[GoldSentence] = []
    for tokens, parse in sentences:
        sequence = linearizer.linearize(binarize(parse))
        ids = tags.encode(sequence)
        trees: tuple[tuple[float, NDArray[Any]], ...] = ((1.0, ids),)
        unknown = ""
        if ids.min() < 0:
            unknown = f"{sequence[int(ids.argmin())]} in {quote(parse.words)}"
        elif soft_trees:
            ranked = soft_trees.get(tokens[0], ())
            best = max((log_prob for log_prob, _ in ranked), default=0.0)  # a long sentence's may be too small for exp
            sequences = ((log_prob, tags.encode(linearizer.linearize(binarize(tree)))) for log_prob, tree in ranked)
            weighted = [(math.exp(log_prob - best), ids) for log_prob, ids in sequences if ids.min() >= 0]
            total = sum(weight for weight, _ in weighted)
            trees = tuple((weight / total, ids) for weight, ids in weighted if total > 0) or trees
        encoded.append(GoldSentence(tokens, trees, unknown=unknown))
    return encoded


def encode_partial(sentences: list[SentenceParse], tags: TagSet) -> list[GoldSentence]:
    """Encode partial trees. A sentence is left out if no tag has the labels over one of its spans."""
    classes = pairwise(tags.offsets.tolist())
    left_leaf, right_leaf, left, right = ({frozenset(chain) for chain in tags.unaries[i:j]} for i, j in classes)
    # For single words (True) and longer spans: the sets of labels that nodes may have on the left and on the right; and
    # those of the root, whose tag is that of a left child.
    possible, of_root = {True: left_leaf & right_leaf, False: left & right}, {True: left_leaf, False: left}
    encoded: list[GoldSentence] = []
    for tokens, parse in sentences:
        chains = unary_chains(parse)
        for (start, end), chain in chains.items():
            sets = of_root if end - start == len(parse) else possible
            if not any(set(chain) <= labels for labels in sets[end - start == 1]):
                encoded.append(GoldSentence(tokens, unknown=f"{join_chain(chain)} in {quote(parse.words)}"))
                break
        else:
            musts = (Constraint(*bounds, label, "must") for bounds, chain in chains.items() for label in set(chain))
            encoded.append(GoldSentence(tokens, constraints=tuple(musts)))
    return encoded


def unary_chains(parse: Parse) -> dict[tuple[int, int], tuple[str, ...]]:
    """Collect the labels over each span of a parse, top of the chain first, by its bounds."""
    chains: dict[tuple[int, int], tuple[str, ...]] = {}
    for start, end, label in parse.spans:
        chains[start, end] = (*chains.get((start, end), ()), label)
    return chains


def partial_tags(parse: Parse) -> set[str]:
    """List the tags that the constituents of a partial tree may have: each may be a left child or a right one, and the
    root has the tag of a left one."""
    return {
        make_tag((0 if end - start == 1 else 2) + is_right, join_chain(chain))
        for (start, end), chain in unary_chains(parse).items()
        for is_right in ((False,) if end - start == len(parse) else (False, True))
    }


def gold_loss(loss: Loss, batch: TagScores, gold: Sequence[GoldSentence]) -> tuple[float, TagScores]:
    """Find the loss of the gold trees of a batch, and its gradient.

    loss (Loss): The loss of whole trees. A partial tree counts by the likelihood of all trees with its constituents,
        whatever the loss.
    """
    trees = [tree for sentence in gold for tree in sentence.trees]
    weighted = WeightedTrees(
        sentence=np.repeat(np.arange(len(gold)), [len(sentence.trees) for sentence in gold]),
        weight=np.asarray([weight for weight, _ in trees], dtype=np.float64),
        ids=np.concatenate([np.zeros(0, dtype=np.int32), *(ids for _, ids in trees)]),
    )
    value, gradient = loss(batch, weighted)
    constraints = [sentence.constraints for sentence in gold]
    if any(constraints):
        of_partial, d_partial = partial_likelihood(batch, constraints)
        value += of_partial
        gradient = gradient.with_arrays(a + b for a, b in zip(gradient.arrays, d_partial.arrays, strict=True))
    return value, gradient


def quote(words: Sequence[str]) -> str:
    """Quote words, for a message; of many only the first and last ones."""
    return repr(shorten(" ".join(words), 80))
