"""Paired alignment of tags with words, and how far it strays (paper section 3.3).

Tags 2n-1 and 2n go to word n, the last tag to word N. The deviation of a word is the distance between it and the word
that its own leaf tag is aligned with.
"""

from collections.abc import Sequence

from ..errors import Errors


def pair_tags(tags: Sequence[str]) -> list[tuple[str, str | None]]:
    """Group 2N-1 tags into one pair per word.

    tags (Sequence[str]): Tags in the order the linearizer emits them.
    RETURNS (List[Tuple[str, Optional[str]]]): N pairs; the second of the last one is None.
    RAISES (ValueError): If the number of tags is not odd.
    """
    if len(tags) % 2 == 0:
        raise ValueError(Errors.E005.format(n_tags=len(tags), n_words=len(tags) // 2))
    return [(tags[i], tags[i + 1] if i + 1 < len(tags) else None) for i in range(0, len(tags), 2)]


def unpair_tags(pairs: Sequence[tuple[str, str | None]]) -> list[str]:
    """The inverse of `pair_tags`."""
    return [tag for pair in pairs for tag in pair if tag is not None]


def deviations(tags: Sequence[str]) -> list[int]:
    """Deviation of each word (paper section 3.3).

    tags (Sequence[str]): The 2N-1 tags of a tree.
    RETURNS (List[int]): N distances, in words.
    """
    leaves = (i for i, tag in enumerate(tags) if tag[0] in "lr")
    return [abs(i // 2 - n) for n, i in enumerate(leaves)]
