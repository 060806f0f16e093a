"""Slow truth for the decoders: every binary tree over a few words, written out and scored.

It shares no code with the decoders; of an order it uses `linearize` alone, and not the lattice table.
"""

import itertools
from collections.abc import Iterator, Sequence
from functools import cache

import numpy as np

from spacy_parsetag.linearize import CLASS_NAMES, get_linearizer
from spacy_parsetag.trees import BinaryTree

# Change of the stack by a tag of each class (l, r, L, R), and the size at the start: the guide's table, written again.
# Tests of decoders take the orders from here.
STACK = {"in": (0, (1, 0, 0, -1)), "pre": (1, (-1, -1, 1, 1)), "post": (0, (1, 1, -1, -1))}


@cache
def _shapes(n: int) -> tuple[tuple[bool, ...], ...]:
    if n == 1:
        return ((True,),)
    return tuple((False, *a, *b) for k in range(1, n) for a in _shapes(k) for b in _shapes(n - k))


def enumerate_trees(n: int) -> Iterator[BinaryTree]:
    """Every binary tree over n words, without labels; there are Catalan(n - 1)."""
    for leaf in _shapes(n):
        yield BinaryTree(leaf, ("",) * len(leaf))


@cache
def enumerate_classes(n: int, order: str, max_stack: int | None = None) -> tuple[tuple[int, ...], ...]:
    """Tag classes (0 to 3: l, r, L, R) of every tree over n words whose stack stays within the bound."""
    linearizer = get_linearizer(order)
    start, delta = STACK[order]
    found = []
    for tree in enumerate_trees(n):
        classes = tuple(CLASS_NAMES.index(tag) for tag in linearizer.linearize(tree))
        sizes = start + np.cumsum([delta[c] for c in classes])
        if max_stack is None or sizes.max() <= max_stack:
            found.append(classes)
    return tuple(found)


def score_of(
    ids: Sequence[int],
    scores: np.ndarray,
    transitions: np.ndarray | None = None,
    start: np.ndarray | None = None,
    end: np.ndarray | None = None,
) -> float:
    """Score of one tag sequence."""
    total = sum(float(scores[p, i]) for p, i in enumerate(ids))
    if transitions is not None:
        total += sum(float(transitions[a, b]) for a, b in itertools.pairwise(ids))
    return total + (0.0 if start is None else float(start[ids[0]])) + (0.0 if end is None else float(end[ids[-1]]))


def best_by_enumeration(*arguments, **others) -> float | None:
    """The best score over every tree and every choice of labels, or None if there is no tree.

    The arguments are those of `decode`. Within a tree's classes labels form a plain chain, whose best score one pass
    along it gives.
    """
    totals = _over_trees(lambda x: x.max(axis=0), *arguments, **others)
    return max(totals) if totals else None


def log_z_by_enumeration(*arguments, **others) -> float | None:
    """Log of the sum of exp(score) over every tree and every choice of labels, or None if there is no tree."""
    totals = _over_trees(np.logaddexp.reduce, *arguments, **others)
    return float(np.logaddexp.reduce(totals)) if totals else None


def _over_trees(reduce, scores, tags, order, transitions=None, start=None, end=None, max_stack=None) -> list[float]:
    scores = np.asarray(scores, dtype=np.float64)
    columns = [[i for i, tag in enumerate(tags) if tag[0] == name] for name in CLASS_NAMES]
    totals = []
    for classes in enumerate_classes((len(scores) + 1) // 2, order, max_stack):
        chain = [columns[c] for c in classes]
        if not all(chain):
            continue
        state = scores[0, chain[0]]
        if start is not None:
            state = state + start[chain[0]]
        for p in range(1, len(chain)):
            step = state[:, None]
            if transitions is not None:
                step = step + transitions[np.ix_(chain[p - 1], chain[p])]
            state = reduce(np.broadcast_to(step, (len(chain[p - 1]), len(chain[p])))) + scores[p, chain[p]]
        if end is not None:
            state = state + end[chain[-1]]
        totals.append(float(reduce(state)))
    return totals
