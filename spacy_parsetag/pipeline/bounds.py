"""The stack bound "train": the largest stack in the training data (paper appendix), which the pipe alone knows."""

from copy import copy
from typing import Any, TypeVar

from ..linearize import Linearizer, max_stack
from ..trees import BinaryTree

PartT = TypeVar("PartT")
TWO_WORDS = BinaryTree((False, True, True), ("", "", ""))


def least_bound(linearizer: Linearizer) -> int:
    """The least bound on the stack within which every sentence has a tree: that of any tree over two words."""
    return max_stack(linearizer.linearize(TWO_WORDS), linearizer.lattice)


def with_train_bound(part: PartT, linearizer: Linearizer, largest: int) -> PartT:
    """A decoder or a loss with its bound on the stack, if that is "train".

    part (PartT): The part; its attribute `max_stack` is its bound.
    linearizer (Linearizer): The order.
    largest (int): The largest stack in the training data; 0 if it is unknown, which stands for no bound.
    RETURNS (PartT): The part itself, or a copy with the bound: the largest stack, and no less than what lets any
        sentence have a tree.
    """
    if getattr(part, "max_stack", None) != "train":
        return part
    bounded: Any = copy(part)
    bounded.max_stack = max(largest, least_bound(linearizer)) if largest else None
    return bounded
