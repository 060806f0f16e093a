"""What the pipe found in docs, before it is set on them."""

from collections.abc import Sequence
from typing import Any, NamedTuple

Spans = list[tuple[int, int, str]]


class ParsedDoc(NamedTuple):
    """What the pipe found in a doc.

    sentences (list[tuple[list[int], list[tuple[int, int, str]]]]): For each sentence, the tokens that are words and the
        constituents over these in pre-order: first word, end word (exclusive) and label.
    notes (dict[str, list[Any]]): What else there is to say, by name: of each sentence; "probs" of each constituent.
    """

    sentences: list[tuple[list[int], Spans]]
    notes: dict[str, list[Any]]


def divide(
    sentences: Sequence[Sequence[list[int]]], trees: Sequence[Spans], notes: dict[str, list[Any]]
) -> list[ParsedDoc]:
    """Divide what was found in a batch among its docs.

    sentences (Sequence[Sequence[list[int]]]): For each doc and each of its sentences, the tokens of its words.
    trees (Sequence[list[tuple[int, int, str]]]): The constituents of each sentence.
    notes (dict[str, list[Any]]): By name, what there is to say of each sentence; "probs" is a list for each.
    RETURNS (list[ParsedDoc]): The docs.
    """
    parsed = []
    s = 0
    for own in sentences:
        stop = s + len(own)
        of_doc = {name: values[s:stop] for name, values in notes.items()} if own else {}
        if "probs" in of_doc:
            of_doc["probs"] = [prob for probs in of_doc["probs"] for prob in probs]
        parsed.append(ParsedDoc(list(zip(own, trees[s:stop], strict=True)), of_doc))
        s = stop
    return parsed
