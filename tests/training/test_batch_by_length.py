"""Batches of like length: what is sorted together, and what is refused."""

from typing import Any

import numpy as np
import pytest
import spacy
from spacy.tokens import Doc
from spacy.training import Example

from spacy_parsetag.training.batches import make_batch_by_length

VOCAB = spacy.blank("en").vocab


def batches(lengths: list[int], *settings: Any) -> list[list[int]]:
    docs = [Doc(VOCAB, words=["a"] * n) for n in lengths]
    found = make_batch_by_length(*settings)(Example(doc, doc) for doc in docs)
    return [[len(example) for example in batch] for batch in found]


def test_of_like_length() -> None:
    assert sorted(batches([3, 1, 2, 5, 4, 3, 9], 2)) == [[1, 2], [3, 3], [4, 5], [9]]
    assert batches([], 2) == []


def test_what_is_sorted_together() -> None:
    """So many batches are read ahead: 16 unless the config says otherwise."""
    assert [sorted(both) for both in (batches([9, 1, 5, 1, 5, 9], 1, 2)[i : i + 2] for i in (0, 2, 4))] == [
        [[1], [9]],
        [[1], [5]],
        [[5], [9]],
    ]
    lengths = [9] * 32 + [1] * 4
    assert batches(lengths, 2)[-2:] == [[1, 1]] * 2 and batches(lengths, 2)[:16] == [[9, 9]] * 16


def test_the_order_of_batches_is_random() -> None:
    found = batches([*range(1, 101)], 5, 20)
    assert found != sorted(found) and sorted(found) == [[*range(n, n + 5)] for n in range(1, 101, 5)]


def test_a_schedule_of_sizes() -> None:
    lengths = [*range(1, 101)]
    assert sorted(map(len, batches(lengths, [2, 3.5, 100], 5))) == [2] * 5 + [3] * 5 + [75]
    batcher = make_batch_by_length([2, 4], 1)
    for epoch in (10, 6):  # the last size goes for all that follow: nothing is left out
        docs = [Doc(VOCAB, words=["a"]) for _ in range(epoch)]
        assert sum(map(len, batcher(Example(doc, doc) for doc in docs))) == epoch
    for sizes, got in (([], 0), ([2, 0.5], 0), ([-1], -1)):
        with pytest.raises(ValueError, match=rf"\[E227\].*size of at least 1; got {got}"):
            batches(lengths, sizes, 1)


@pytest.mark.parametrize(
    "settings, what, got",
    [((0,), "size", "0"), ((2, 0), "buffer", "0"), (("32",), "size", "'32'"), ((1.5,), "size", "1.5")],
)
def test_refused(settings: tuple[Any, ...], what: str, got: str) -> None:
    with pytest.raises(ValueError, match=rf"\[E227\].*{what} of at least 1; got {got}"):
        make_batch_by_length(*settings)


def test_numbers_of_numpy() -> None:
    assert sorted(map(len, batches([1, 2, 3], np.int64(2), np.int32(1)))) == [1, 2]
