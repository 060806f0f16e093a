"""Which brackets count, which of them match one to one, and which cross."""

from collections.abc import Iterable, Sequence
from typing import Any

from .brackets import Bracket, Rules


def brackets_that_count(brackets: Iterable[Bracket], rules: Rules) -> list[Bracket]:
    """Drop brackets over no word and those with deleted labels; cut the labels of the others.

    brackets (Iterable[Bracket]): Start, end and raw label.
    rules (Rules): The rules.
    RETURNS (List[Bracket]): Start, end and the label that counts; where labels are equal, the first of them.
    """
    labels = rules.bracket
    kept = ((start, end, labels[label]) for start, end, label in brackets if start < end)
    return [(start, end, label) for start, end, label in kept if label is not None]


def match_brackets(gold: Sequence[Bracket], test: Sequence[Bracket], rules: Rules) -> list[Bracket]:
    """Match brackets one to one.

    gold (Sequence[Bracket]): Gold brackets that count.
    test (Sequence[Bracket]): Test brackets that count.
    rules (Rules): The rules.
    RETURNS (List[Bracket]): The test brackets that have a partner.
    """
    matched = []
    if rules.params.labeled and rules.classes is None:
        return _match_in_order(gold, test, rules)
    left: dict[tuple[Any, ...], int] = {}
    width = 3 if rules.params.labeled else 2  # how much of a bracket must be equal
    for bracket in gold:
        key = bracket[:width]
        left[key] = left.get(key, 0) + 1
    for bracket in test:
        key = bracket[:width]
        if left.get(key):
            left[key] -= 1
            matched.append(bracket)
    return matched


def _match_in_order(gold: Sequence[Bracket], test: Sequence[Bracket], rules: Rules) -> list[Bracket]:
    """Match as C does where label equality is not transitive: each gold bracket takes the first free test bracket."""
    free: dict[tuple[int, int], list[Bracket]] = {}
    for bracket in test:
        free.setdefault(bracket[:2], []).append(bracket)
    matched = []
    for start, end, label in gold:
        candidates = free.get((start, end), [])
        for i, bracket in enumerate(candidates):
            if rules.same_label(label, bracket[2]):
                matched.append(candidates.pop(i))
                break
    return matched


def count_crossing(gold: Sequence[Bracket], test: Sequence[Bracket], n: int) -> int:
    """Number of test brackets that cross a gold bracket.

    gold (Sequence[Bracket]): Gold brackets that count.
    test (Sequence[Bracket]): Test brackets that count.
    n (int): Number of words.
    RETURNS (int): How many test brackets cross one gold bracket or more.
    """
    leftmost = [n] * (n + 1)  # by boundary: where the widest gold bracket that ends there starts
    rightmost = [0] * (n + 1)  # by boundary: where the widest gold bracket that starts there ends
    for start, end, _ in gold:
        if start < leftmost[end]:
            leftmost[end] = start
        if end > rightmost[start]:
            rightmost[start] = end
    return sum(
        end - start > 1 and (min(leftmost[start + 1 : end]) < start or max(rightmost[start + 1 : end]) > end)
        for start, end, _ in test
    )
