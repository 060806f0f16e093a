"""The last touches on a drawn sentence, which depend on neighbouring words and not on the tree."""

from collections.abc import Sequence

from nltk import Tree

from .inflect import takes_an

_STOPS = frozenset({".", ",", ":"})
_NOT_WORDS = frozenset({"``", "''", "-LRB-", "-RRB-", ",", ":", "."})


def polish(leaves: list[tuple[Tree, Tree]], capitals: Sequence[int]) -> int:
    """Drop commas that meet other punctuation, write *an* before vowels, and capitalise.

    leaves (List[Tuple[Tree, Tree]]): Parts of speech in sentence order, each with the constituent it is in; changed.
    capitals (Sequence[int]): Positions before which a capital is asked for; the sentence's first word has one anyway.
    RETURNS (int): Number of words that are left.
    """
    wanted = {0, *capitals}
    kept: list[Tree] = []
    raising = False
    for position, (leaf, parent) in enumerate(leaves):
        raising = raising or position in wanted
        following = leaves[position + 1][0] if position + 1 < len(leaves) else None
        if leaf.label() == "," and (not kept or following is None or following.label() in _STOPS):
            _remove(parent, leaf)
            continue
        if raising and leaf.label() not in _NOT_WORDS:
            leaf[0] = leaf[0][:1].upper() + leaf[0][1:]
            raising = False
        if kept and kept[-1][0] in ("a", "A") and kept[-1].label() == "DT" and takes_an(leaf[0]):
            kept[-1][0] += "n"
        kept.append(leaf)
    return len(kept)


def _remove(parent: Tree, leaf: Tree) -> None:
    """Remove a child by identity: two commas of one constituent are equal but not the same."""
    for index in range(len(parent)):
        if parent[index] is leaf:
            del parent[index]
            return
