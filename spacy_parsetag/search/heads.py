"""The head of each constituent, by rules in a file for each style of treebank: `heads/penn.txt`, `heads/ctb.txt`.

A rule is a ranking of the kinds of children: the child of the best rank is the head, from the left or from the right
among several of it. `penn.txt` says how rules are written.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from ..errors import Errors
from ._kernel import find_heads
from .pattern import basic_category

_FOLDER = Path(__file__).parent / "heads"
BUNDLED = ("penn", "ctb")
_LOWEST = 254  # the rank of a child that no rule names; punctuation stands below it


class HeadRules:
    """A table of head rules.

    text (str): The table.
    name (str): Its file, for messages.
    RAISES (ValueError): If a line of it is no rule.
    """

    def __init__(self, text: str, name: str) -> None:
        lines = [(number, line.partition(":")) for number, line in enumerate(text.splitlines(), start=1)]
        rules = [(number, *line) for number, line in lines if not line[0].startswith("#") and "".join(line).strip()]
        special = {what: set(rest.split()) for _, what, _, rest in rules if what in ("conjunction", "punctuation")}
        conjunctions, punctuation = (special.get(what, set()) for what in ("conjunction", "punctuation"))
        rules = [rule for rule in rules if rule[1] not in special]
        named = (name for rule in rules for name in f"{rule[1]} {rule[3]}".replace(";", " ").replace("|", " ").split())
        every = dict.fromkeys([*named, *conjunctions, *punctuation])
        self.kinds = {label: kind for kind, label in enumerate(["*", *(each for each in every if each != "*")])}
        n = len(self.kinds)
        self.is_conjunction, self.is_punctuation = (
            np.array([label in labels for label in self.kinds], np.uint8) for labels in (conjunctions, punctuation)
        )
        self.rank = np.empty((n, n), np.uint8)
        self.from_right = np.zeros((n, 256), np.uint8)
        for number, labels, _, steps in rules:
            read = self._read(steps)
            if read is None:
                raise ValueError(Errors.E606.format(path=name, line=number))
            for label in [*self.kinds] if labels.strip() == "*" else labels.split():
                self.rank[self.kinds[label]], self.from_right[self.kinds[label]] = read

    def _read(self, steps: str) -> tuple[NDArray[np.uint8], NDArray[np.uint8]] | None:
        """The ranks of kinds, and for each rank whether it is looked for from the right; None if this is no rule."""
        ranks = np.where(self.is_punctuation, _LOWEST + 1, _LOWEST).astype(np.uint8)
        sides = np.zeros(256, np.uint8)
        rank = 0
        for step in steps.split(";"):
            side, *words = step.split() or [""]
            if side not in ("left", "right"):
                return None
            for word in words:
                kinds = [self.kinds[label] for label in word.split("|")]
                ranks[kinds] = np.minimum(ranks[kinds], rank)
                sides[rank] = side == "right"
                rank += 1
            sides[_LOWEST:] = side == "right"
        return ranks, sides

    def _kind(self, label: str) -> int:
        return self.kinds.get(label, self.kinds.get(basic_category(label), 0))

    def find(self, label: NDArray[np.int32], size: NDArray[np.int32], strings: Sequence[str]) -> NDArray[np.int32]:
        """Find the head child of each node of columns: its distance, 0 at words."""
        kinds = np.array([self._kind(string) for string in strings], np.int32)
        out = np.empty(len(label), np.int32)
        find_heads(label, size, kinds, self.rank, self.from_right, self.is_conjunction, self.is_punctuation, out)
        return out

    def head_child(self, label: str, children: Sequence[str]) -> int:
        """Find the child that is the head.

        label (str): The label of a constituent.
        children (Sequence[str]): The labels of its children, of a word its part of speech.
        RETURNS (int): The place of the head.
        """
        n = len(children)
        nodes = np.array([2 * n, *([1, 0] * n)], np.int32)
        places = np.array([n + 1, *(each for i in range(n) for each in (i, n))], np.int32)
        return int(self.find(places, nodes, [*children, "", label])[0]) // 2


@lru_cache
def get_head_rules(rules: str | Path | HeadRules = "penn") -> HeadRules:
    """Head rules from a name or a file.

    rules (str | Path | HeadRules): "penn", "ctb", a file, or rules, which are returned as they are.
    RETURNS (HeadRules): The rules.
    RAISES (ValueError): If there are none of this name, or a line is no rule.
    """
    if isinstance(rules, HeadRules):
        return rules
    path = _FOLDER / f"{rules}.txt" if rules in BUNDLED else Path(rules)
    if not path.is_file():
        raise ValueError(Errors.E607.format(name=rules, known=", ".join(BUNDLED)))
    return HeadRules(path.read_text(encoding="utf-8"), str(path))
