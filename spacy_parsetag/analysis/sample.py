"""Some of many trees. Treebanks begin with one text or one year, so the first trees stand for themselves only."""

import random
from collections.abc import Sequence
from typing import TypeVar

ItemT = TypeVar("ItemT")


def sample(items: Sequence[ItemT], limit: int, seed: int | None = None) -> Sequence[ItemT]:
    """Take some items, in their order.

    >>> sample("abcdefgh", 3)
    ['a', 'c', 'f']

    items (Sequence): The items.
    limit (int): How many; 0 for all.
    seed (int | None): Draw them at random by this seed. None takes them at even distances.
    RETURNS (Sequence): The items; all of them if there are no more than the limit.
    """
    n = len(items)
    if not limit or limit >= n:
        return items
    if seed is None:
        return [items[i * n // limit] for i in range(limit)]
    return [items[i] for i in sorted(random.Random(seed).sample(range(n), limit))]
