"""Batches of sentences of like length."""

import random
from collections.abc import Callable, Iterable, Iterator
from itertools import islice, repeat
from typing import SupportsIndex

from spacy.training import Example

from ..errors import Errors


def make_batch_by_length(
    size: int | Iterable[int], buffer: int = 16
) -> Callable[[Iterable[Example]], Iterator[list[Example]]]:
    """spacy-parsetag.BatchByLength.v1: batch docs of like length, so that little of a batch is padding.

    Batches come in random order. `spacy.batch_by_padded.v1` bounds the words of a batch instead, and gives the longest
    docs first.

    size (int | Iterable[int]): Docs in a batch; or a schedule, which gives each buffer the size of its batches, and the
        last size to all that follow.
    buffer (int): Number of batches to read ahead, sort by length, split and shuffle.
    RAISES (ValueError): If size or buffer is no whole number of at least 1.
    """
    is_schedule = isinstance(size, Iterable) and not isinstance(size, str)
    for what, value in (("size", 1 if is_schedule else size), ("buffer", buffer)):
        if not isinstance(value, SupportsIndex) or value < 1:
            raise ValueError(Errors.E227.format(what=what, value=value))
    sizes = iter(size) if isinstance(size, Iterable) else repeat(size)
    n = 0

    def batch_by_length(examples: Iterable[Example]) -> Iterator[list[Example]]:
        nonlocal n
        examples = iter(examples)
        while True:
            n = int(next(sizes, n))  # those of a schedule may have fractions
            if n < 1:
                raise ValueError(Errors.E227.format(what="size", value=n))
            ordered = sorted(islice(examples, n * buffer), key=len)
            if not ordered:
                return
            batches = [ordered[i : i + n] for i in range(0, len(ordered), n)]
            random.shuffle(batches)
            yield from batches

    return batch_by_length
