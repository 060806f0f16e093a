"""Split a treebank into parts, the same way each time.

    train=0.8,dev=0.1,test=0.1                  shares of the trees
    train=wsj_0001..wsj_0159,dev=wsj_0160..wsj_0179,test=wsj_0180..wsj_0199
                                                files or folders by name: FIRST..LAST, or a pattern

A split by shares deals out blocks of consecutive trees, so that neighbours, which are about the same things, stay
together. Each block goes to the part that is furthest behind its share. No chance is involved.
"""

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from fnmatch import fnmatchcase

from ..errors import Errors
from ..files.find import SourceFile

DEFAULT_BLOCK = 10
_RANGE = re.compile(r"(.+)\.\.(.+)")
_PART = re.compile(r"\w[\w.-]*")
_SHARE = re.compile(r"0?\.[0-9]+|0\.|1\.0*")  # a number from 0 to 1 with a point; anything else is a name


@dataclass
class ShareSplit:
    """Deals out trees by shares, in blocks of consecutive trees.

    shares (dict[str, Decimal]): The share of each part, as an exact decimal, so that equal shares compare as equal.
    block (int): How many consecutive trees of a file stay together; 0 for whole files.
    """

    shares: dict[str, Decimal]
    block: int

    def __post_init__(self) -> None:
        self._counts: Counter[str | None] = Counter()
        self._current: str | None = None

    @property
    def parts(self) -> list[str]:
        """The names of the parts, in the order given."""
        return list(self.shares)

    def next_part(self, file: SourceFile, index: int) -> str | None:
        """Decide the part of the next tree, the one of this index in its file; None if no part gets it."""
        if index == 0 or (self.block and index % self.block == 0):
            self._current = self._neediest()
        self._counts[self._current] += 1
        return self._current

    def missed(self) -> str:
        """List the parts with their shares of the trees, if one is off by more than a quarter of what was asked."""
        total = sum(self._counts.values())
        got = {part: self._counts[part] / max(total, 1) for part in self.shares}
        if all(abs(got[part] - float(share)) <= float(share) / 4 for part, share in self.shares.items()):
            return ""
        return ", ".join(f"{part} {got[part]:.0%} of the trees, not {share:.0%}" for part, share in self.shares.items())

    def why_empty(self, part: str, files: Sequence[SourceFile]) -> str:
        """Say, for a message, why a part may have got no tree of these files."""
        smaller = f"choose a smaller --split-block (it is {self.block})" if self.block else "say --split-block 10"
        return f"give it more, or {smaller}"

    def _neediest(self) -> str | None:
        """Find the part furthest behind its share, the first if several are; None stands for the trees of no part."""
        n = sum(self._counts.values()) + 1
        rest = 1 - sum(self.shares.values(), Decimal())
        lacks = {part: share * n - self._counts[part] for part, share in [*self.shares.items(), (None, rest)]}
        return max(lacks, key=lacks.__getitem__)


@dataclass
class NameSplit:
    """Splits by the names of files and folders.

    patterns (list[tuple[str, str]]): Part and pattern; the first that fits counts.
    """

    patterns: list[tuple[str, str]]

    @property
    def parts(self) -> list[str]:
        """The names of the parts, in the order given."""
        return list(dict.fromkeys(part for part, _ in self.patterns))

    def next_part(self, file: SourceFile, index: int) -> str | None:
        """Decide the part of the next tree, which is its file's; None if no part gets it."""
        parts = (part for part, pattern in self.patterns if any(_fits(name, pattern) for name in file.names))
        return next(parts, None)

    def why_empty(self, part: str, files: Sequence[SourceFile]) -> str:
        """Say, for a message, why a part may have got no tree of these files."""
        patterns = " or ".join(pattern for name, pattern in self.patterns if name == part)
        return (
            f"none is in a file or folder called {patterns}. Names count from the input folder, or a pattern's "
            f"wildcards, on, such as {'/'.join(files[0].names)}; give the folder above, or other names"
        )


Split = ShareSplit | NameSplit


def read_split(text: str, block: int = DEFAULT_BLOCK) -> Split:
    """Read a split.

    block (int): How many consecutive trees of a file stay together, where parts are shares; 0 for whole files.
    RAISES (ValueError): If the text is no split.
    """
    shares: dict[str, Decimal] = {}
    patterns: list[tuple[str, str]] = []
    for item in filter(None, (item.strip() for item in text.split(","))):
        part, equals, value = (piece.strip() for piece in item.partition("="))
        if not equals or not value:
            raise ValueError(Errors.E105.format(text=text, reason=f"{item!r} has no '='"))
        if not _PART.fullmatch(part):
            raise ValueError(Errors.E108.format(name=part))
        if not _SHARE.fullmatch(value):
            patterns.append((part, value))
        elif part in shares:
            raise ValueError(Errors.E105.format(text=text, reason=f"{part!r} has two shares"))
        else:
            shares[part] = Decimal(value)
    if bool(shares) == bool(patterns):
        reason = "it mixes shares and names" if shares else "it is empty"
        raise ValueError(Errors.E105.format(text=text, reason=reason))
    total = sum(shares.values())
    if total > 1 + 1e-9:
        raise ValueError(Errors.E105.format(text=text, reason=f"the shares add up to {float(total):g}, more than 1"))
    return ShareSplit(shares, block) if shares else NameSplit(patterns)


def _fits(name: str, pattern: str) -> bool:
    match = _RANGE.fullmatch(pattern)
    if match is None:
        return fnmatchcase(name, pattern)
    first, last = match.groups()
    # Names of another length are others: 100 does not lie between 02 and 21.
    return len(first) == len(name) == len(last) and first <= name <= last
