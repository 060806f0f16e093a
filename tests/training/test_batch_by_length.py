"""Batches of like length: what is sorted together, and what is refused."""

import pytest
import spacy
from spacy.tokens import Doc
from spacy.training import Example

from spacy_parsetag.training.batches import make_batch_by_length

VOCAB = spacy.blank("en").vocab


def batches(lengths: list[int], *settings: int) -> list[list[int]]:
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


@pytest.mark.parametrize("settings, what", [((0,), "size"), ((2, 0), "buffer")])
def test_refused(settings: tuple[int, ...], what: str) -> None:
    with pytest.raises(ValueError, match=rf"\[E227\].*{what} of at least 1; got 0"):
        make_batch_by_length(*settings)
