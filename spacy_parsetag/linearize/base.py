"""The interface of linearizers: two functions between binary trees and tags, and a table of integers whose paths are
the tag sequences of trees.

Four classes of tag, one notation for the three orders: `l` and `r` tag a leaf that is a left or right child, `L` and
`R` an internal node that is a left or right child; after a slash the node's label, if it has one: `l`, `r/NP`,
`R/S+VP`, and a bare `R` for a node that binarization added. The root counts as a left child.
"""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import IntEnum
from functools import lru_cache
from itertools import accumulate
from typing import Protocol, runtime_checkable

from ..errors import Errors
from ..trees import BinaryTree
from ..trees.binary import node_bounds


class TagClass(IntEnum):
    """Class of a tag, in the order in which tag sets are sorted."""

    LEFT_LEAF = 0
    RIGHT_LEAF = 1
    LEFT_NODE = 2
    RIGHT_NODE = 3


CLASS_NAMES = ("l", "r", "L", "R")
_CLASS_OF = {name: TagClass(i) for i, name in enumerate(CLASS_NAMES)}
# The least and the largest value of each field of a lattice.
_RANGES: dict[str, tuple[int, int | None]] = {
    **dict.fromkeys(("start_stack", "end_stack", "need"), (0, None)),
    **dict.fromkeys(("start_state", "end_state", "source", "target"), (0, 1)),
    "delta": (-1, 1),
}


@dataclass(frozen=True)
class Lattice:
    """The lattice of tag classes whose paths are trees, as a table of integers; decoders and losses read nothing else.

    A node of the lattice is a stack size and one of two states, which says what has to be known of the last tag. A tag
    of class c may come in state source[c] with at least need[c] on the stack; it leads to state target[c] and changes
    the stack by delta[c]. Two classes lead into each state. A sequence of 2N-1 tags from the start to the end is a tree
    over N words.

    order (str): Name of the order; "in", "pre" and "post" are the paper's.
    start_stack, start_state (int): Where a sequence starts.
    end_stack, end_state (int): Where it ends.
    delta, need, source, target (tuple[int, ...]): By tag class: l, r, L, R.
    RAISES (ValueError): If no linearization can have this table.
    """

    order: str
    start_stack: int
    start_state: int
    end_stack: int
    end_state: int
    delta: tuple[int, int, int, int]
    need: tuple[int, int, int, int]
    source: tuple[int, int, int, int]
    target: tuple[int, int, int, int]

    def __post_init__(self) -> None:
        if not isinstance(self.order, str) or not self.order:
            raise self._invalid("its order needs a name")
        for name, (least, most) in _RANGES.items():
            field = getattr(self, name)
            if name in ("delta", "need", "source", "target"):
                if not isinstance(field, Sequence) or len(field) != len(CLASS_NAMES):
                    raise self._invalid(f"{name} needs 4 integers, for l, r, L and R; got {field!r}")
                object.__setattr__(self, name, tuple(field))
            for value in field if isinstance(field, Sequence) else (field,):
                if type(value) is not int or value < least or (most is not None and value > most):
                    expected = f"at least {least}" if most is None else f"from {least} to {most}"
                    raise self._invalid(f"{name} must be {expected}, in whole numbers; got {field!r}")
        for c, name in enumerate(CLASS_NAMES):
            if self.need[c] + self.delta[c] < 0:
                raise self._invalid(f"{name} takes more off the stack than it needs there: the size would be negative")
        for state in (0, 1):
            names = [name for name, target in zip(CLASS_NAMES, self.target, strict=True) if target == state]
            if len(names) != 2:
                raise self._invalid(f"two classes must lead into state {state}; got {', '.join(names) or 'none'}")
        for n_words, n_trees in enumerate((1, 1, 2, 5), start=1):
            length = 2 * n_words - 1
            n_sequences, n_shorter = self._count_sequences(length), self._count_sequences(length - 1)
            if not 1 <= n_sequences <= n_trees or n_shorter:
                reason = (
                    f"{n_sequences} sequences of {length} tags and {n_shorter} of {length - 1} lead from its start "
                    f"to its end, but {n_words} words have {n_trees} binary trees, each of {length} tags"
                )
                raise self._invalid(reason)

    def _count_sequences(self, length: int) -> int:
        """Count the sequences of a number of tags that lead from the start to the end."""
        counts = Counter({(self.start_stack, self.start_state): 1})
        for _ in range(length):
            next_counts: Counter[tuple[int, int]] = Counter()
            for (size, state), n in counts.items():
                for delta, need, source, target in zip(self.delta, self.need, self.source, self.target, strict=True):
                    if source == state and size >= need:
                        next_counts[size + delta, target] += n
            counts = next_counts
        return counts[self.end_stack, self.end_state]

    def _invalid(self, reason: str) -> ValueError:
        return ValueError(Errors.E053.format(order=self.order, reason=reason))


@runtime_checkable
class Linearizer(Protocol):
    """A way to write a binary tree over N words as 2N-1 tags and back."""

    lattice: Lattice

    @property
    def order(self) -> str:
        """Name of the order."""
        return self.lattice.order

    def linearize(self, tree: BinaryTree) -> list[str]:
        """Write a tree over N words as 2N-1 tags."""

    def delinearize(self, tags: Sequence[str]) -> BinaryTree:
        """The inverse of `linearize`.

        RAISES (ValueError): If the sequence is not that of a tree.
        """


def make_tag(tag_class: int, label: str) -> str:
    """Write a tag: class 3 and "S+VP" make `R/S+VP`."""
    return f"{CLASS_NAMES[tag_class]}/{label}" if label else CLASS_NAMES[tag_class]


@lru_cache(maxsize=65536)  # there are few tags, each many times
def split_tag(tag: str) -> tuple[TagClass, str]:
    """The inverse of `make_tag`: class and label, "" if it has none.

    RAISES (ValueError): If it is not written as a tag.
    """
    tag_class = _CLASS_OF.get(tag[:1])
    if tag_class is None or (len(tag) > 1 and (tag[1] != "/" or len(tag) == 2)):
        raise ValueError(Errors.E052.format(tag=tag))
    return tag_class, tag[2:]


def preorder_tags(tree: BinaryTree) -> list[str]:
    """List the tag of each node, in pre-order. Every order has the same tags, in different positions."""
    # A node right after a leaf is a right child, any other a left one.
    nodes = zip(tree.leaf, (False, *tree.leaf), tree.label, strict=False)
    return [make_tag((0 if is_leaf else 2) + after_leaf, label) for is_leaf, after_leaf, label in nodes]


def children_first(tree: BinaryTree) -> list[int]:
    """The nodes of a binary tree, by their place in pre-order, so that each comes after its children."""
    bounds = node_bounds(tree)
    return sorted(range(len(bounds)), key=lambda node: (bounds[node][1], -bounds[node][0]))


def largest_stack(tags: Sequence[str], lattice: Lattice) -> int:
    """The largest stack a tag sequence needs: sizes are those after each tag (paper section 5.1, appendix E)."""
    sizes = accumulate((lattice.delta[split_tag(tag)[0]] for tag in tags), initial=lattice.start_stack)
    return max(list(sizes)[1:], default=0)


def deviations(tags: Sequence[str]) -> list[int]:
    """Measure how far each word is from its own leaf tag (paper section 3.3).

    Tags are aligned with words in pairs: 2n-1 and 2n go to word n, the last tag to word N. The deviation of a word is
    the distance between it and the word that its leaf tag is aligned with.

    tags (Sequence[str]): The 2N-1 tags of a tree.
    RETURNS (list[int]): N distances, in words.
    """
    leaves = (i for i, tag in enumerate(tags) if tag[0] in "lr")
    return [abs(i // 2 - n) for n, i in enumerate(leaves)]


def read_tags(tags: Sequence[str], lattice: Lattice) -> list[tuple[TagClass, str]]:
    """Split tags into classes and labels, and walk the lattice with them, so that only trees come through.

    RAISES (ValueError): If the sequence is not that of a tree; the message says where, and what may come there.
    """
    nodes = [split_tag(tag) for tag in tags]
    size, state = lattice.start_stack, lattice.start_state
    for i, (tag_class, _) in enumerate(nodes):
        if state != lattice.source[tag_class] or size < lattice.need[tag_class]:
            allowed = (c for c in TagClass if state == lattice.source[c] and size >= lattice.need[c])
            names = " or ".join(CLASS_NAMES[c] for c in allowed)
            raise _invalid(tags, i, f"{names} must come" if names else "the tree is already complete", lattice)
        size += lattice.delta[tag_class]
        state = lattice.target[tag_class]
    if (size, state) != (lattice.end_stack, lattice.end_state):
        raise _invalid(tags, len(tags), "the tree is not complete", lattice)
    return nodes


def _invalid(tags: Sequence[str], i: int, reason: str, lattice: Lattice) -> ValueError:
    tag = tags[i] if i < len(tags) else "the end"
    n_words = (len(tags) + 1) // 2
    return ValueError(Errors.E050.format(order=lattice.order, n=n_words, reason=reason, position=i + 1, tag=tag))


def tree_of(nodes: Sequence[tuple[TagClass, str]], preorder: Iterable[int]) -> BinaryTree:
    """Build the tree of `nodes`, given their indices in pre-order."""
    ordered = [nodes[i] for i in preorder]
    return BinaryTree(tuple(c < TagClass.LEFT_NODE for c, _ in ordered), tuple(label for _, label in ordered))
