"""Batches of sentences of like length."""

import random
from collections.abc import Callable, Iterable, Iterator

from spacy.training import Example
from spacy.util import minibatch

from ..errors import Errors


def make_batch_by_length(size: int, buffer: int = 16) -> Callable[[Iterable[Example]], Iterator[list[Example]]]:
    """spacy-parsetag.BatchByLength.v1: batch docs of like length, so that little of a batch is padding.

    Batches come in random order. `spacy.batch_by_padded.v1` bounds the words of a batch instead, and gives the longest
    docs first.

    size (int): Docs in a batch.
    buffer (int): Number of batches to read ahead, sort by length, split and shuffle.
    RAISES (ValueError): If size or buffer is below 1.
    """
    for what, value in (("size", size), ("buffer", buffer)):
        if value < 1:
            raise ValueError(Errors.E227.format(what=what, value=value))

    def batch_by_length(examples: Iterable[Example]) -> Iterator[list[Example]]:
        for read in minibatch(examples, size * buffer):
            ordered = sorted(read, key=len)
            batches = [ordered[i : i + size] for i in range(0, len(ordered), size)]
            random.shuffle(batches)
            yield from batches

    return batch_by_length
