"""The head of each constituent, by rules in a file for each style of treebank, such as `heads/penn.txt`.

A rule ranks the kinds of children. The child of the best rank is the head; of several such children it is the first
from the left or from the right, as the rule says. `penn.txt` describes how rules are written.
"""

import warnings
from collections.abc import Sequence
from functools import cache
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from ..errors import Errors, Warnings
from ._kernel import find_heads
from .pattern import basic_category

_FOLDER = Path(__file__).parent / "heads"
BUNDLED = ("penn", "ctb", "icon")
_OF_LANGUAGE = {"en": "penn", "zh": "ctb", "id": "icon"}


class HeadRules:
    """A table of head rules.

    text (str): The rules, as `penn.txt` says.
    name (str): Their name or file.
    RAISES (ValueError): If a line of it is no rule.
    """

    def __init__(self, text: str, name: str) -> None:
        self.text, self.name = text, name
        rules: dict[str, dict[str, int]] = {"*": {"": 0}}
        special: dict[str, set[str]] = {"conjunction": set(), "punctuation": set()}
        for number, line in enumerate(text.splitlines(), start=1):
            labels, _, rest = line.partition(":")
            if labels in special:
                special[labels].update(rest.split())
            elif line.strip() and not line.startswith("#"):
                ranks = _read_ranks(rest)
                if not ranks:
                    raise ValueError(Errors.E606.format(path=name, line=number))
                rules.update(dict.fromkeys(labels.split(), ranks))
        conjunctions, punctuation = special.values()
        named = {*rules, *conjunctions, *punctuation}.union(*rules.values()) - {"*", ""}
        self.kinds = {label: kind for kind, label in enumerate(["*", *sorted(named)])}
        self.mark = np.array([(label in conjunctions) + 2 * (label in punctuation) for label in self.kinds], np.uint8)
        # Among the children that no step names, punctuation ranks last.
        penalties = dict(zip(self.kinds, (self.mark & 2).tolist(), strict=True))
        ranks_of = [rules.get(label, rules["*"]) for label in self.kinds]
        rows = [[ranks.get(label, ranks[""] + penalty) for label, penalty in penalties.items()] for ranks in ranks_of]
        self.rank = np.array(rows, np.int32)

    def find(self, label: NDArray[np.int32], size: NDArray[np.int32], strings: Sequence[str]) -> NDArray[np.int32]:
        """Find the head child of each node of columns: its distance, 0 at words."""
        kind_of = self.kinds.get
        kinds = np.array([kind_of(string, kind_of(basic_category(string), 0)) for string in strings], np.int32)
        distances = np.empty(len(label), np.int32)
        find_heads(label, size, kinds, self.rank, self.mark, distances)
        return distances

    def head_child(self, label: str, children: Sequence[str]) -> int:
        """Find the child that is the head: its index.

        label (str): The label of the node.
        children (Sequence[str]): The labels of its children, of a word its part of speech.
        """
        n_children = len(children)
        sizes = np.array([2 * n_children, *([1, 0] * n_children)], np.int32)
        labels = np.array([n_children + 1, *(code for i in range(n_children) for code in (i, n_children))], np.int32)
        return int(self.find(labels, sizes, [*children, "", label])[0]) // 2


def _read_ranks(steps: str) -> dict[str, int]:
    """Read a rule: the rank of each kind of child, "" for all others, odd if the last child of that rank is the head.

    Empty if this is no rule.
    """
    ranks: dict[str, int] = {}
    for step in steps.split(";"):
        side, *words = step.split() or [""]
        if side not in ("left", "right"):
            return {}
        for word in words:
            rank = 2 * len(ranks) + (side == "right")
            ranks = {**dict.fromkeys(word.split("|"), rank), **ranks}
    return {**ranks, "": 2 * len(ranks) + (side == "right")}


def get_head_rules(rules: str | Path | HeadRules = "penn") -> HeadRules:
    """Head rules from a name or a file.

    rules (str | Path | HeadRules): "penn", "ctb", "icon", a file, or rules, which are returned as they are.
    RAISES (ValueError): If no rules or file have this name, a file is not UTF-8, or a line is not a rule.
    """
    if isinstance(rules, HeadRules):
        return rules
    if rules in BUNDLED:
        return _bundled_rules(str(rules))
    path = Path(rules)
    if not path.is_file():
        raise ValueError(Errors.E607.format(name=rules, known=", ".join(BUNDLED)))
    try:
        text = path.read_text(encoding="utf-8-sig")
    except UnicodeDecodeError as err:
        raise ValueError(Errors.E608.format(path=path, problem=err)) from err
    return HeadRules(text, str(path))


def rules_of_language(lang: str) -> HeadRules:
    """The rules for a language: those of the Chinese Treebank for Chinese, of ICON for Indonesian, else of the Penn
    Treebank."""
    return get_head_rules(_OF_LANGUAGE.get(lang, "penn"))


def warn_of_language(lang: str) -> None:
    """Warn if heads by the rules for a language are asked for, and there are none for it but those for English."""
    if lang not in _OF_LANGUAGE:
        warnings.warn(Warnings.W600.format(lang=lang, known=", ".join(BUNDLED)), stacklevel=3)


@cache
def _bundled_rules(name: str) -> HeadRules:
    return HeadRules((_FOLDER / f"{name}.txt").read_text(encoding="utf-8"), name)
