"""EVALB's parameters, and the reader of its parameter files (`.prm`).

A parameter file has a keyword and a value a line; lines that start with # are comments:

    DELETE_LABEL TOP          ignore this bracket; for a part-of-speech tag, ignore the word
    EQ_LABEL ADVP PRT         hold two labels equal
    LABEL_CUT #               end labels of brackets where this begins, in place of - and =; alone, cut nothing
    CUT_TAGS 1                do the same with part-of-speech tags

EVALB has not the last two; what they state, its versions have in their code.
Three files come with the package: `collins` (COLLINS.prm), `new` (new.prm) and `spmrl`.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

from ..errors import Errors, TreebankError
from ..treebanks.lines import read_file_lines, undecodable
from ..trees.clean import refuse_strings
from ..trees.escape import unescape_token

DATA = Path(__file__).parent / "prm"
BUNDLED = ("collins", "new", "spmrl")

Bracket = tuple[int, int, str]  # start, end (exclusive), label

# For each keyword what its values must be, in words for a message, and a test of them.
_NUMBER = ("a whole number", lambda values: len(values) == 1 and values[0].isascii() and values[0].isdigit())
_LABEL = ("one label", lambda values: len(values) == 1)
_PAIR = ("two values", lambda values: len(values) == 2)
_EXPECTED: dict[str, tuple[str, Callable[[list[str]], bool]]] = {
    **dict.fromkeys(("DEBUG", "MAX_ERROR", "CUTOFF_LEN", "LABELED", "CUT_TAGS"), _NUMBER),
    **dict.fromkeys(("DELETE_LABEL", "DELETE_LABEL_FOR_LENGTH", "QUOTE_LABEL"), _LABEL),
    "LABEL_CUT": ("one string, or nothing", lambda values: len(values) <= 1),
    **dict.fromkeys(("EQ_LABEL", "EQ_WORD"), _PAIR),
}


@dataclass(frozen=True)
class EvalbParams:
    """EVALB's parameters. By default they are as in the program without a file, which deletes nothing.

    name (str): Name to print beside a figure.
    delete_labels (frozenset[str]): Brackets with these labels are ignored; words tagged with them too.
    delete_labels_for_length (frozenset[str]): Words tagged with these do not count for the length of a sentence.
    quote_labels (frozenset[str]): Tags of quote-like words that come back when one file deletes them and the other not.
    eq_labels (tuple[tuple[str, str], ...]): Labels held equal, as pairs.
    eq_words (tuple[tuple[str, str], ...]): Words held equal, as pairs.
    label_cuts (tuple[str, ...]): Bracket labels end where the first of these strings starts (NP-SBJ is NP).
    cut_tags (bool): Whether part-of-speech tags are cut in the same way before they are compared.
    labeled (bool): Whether labels count.
    cutoff_len (int): Longest sentence in the second summary, in words.
    RAISES (ValueError): If a string stands where several are due, or something else than two where a pair is.
    """

    name: str = "none"
    delete_labels: frozenset[str] = frozenset()
    delete_labels_for_length: frozenset[str] = frozenset()
    quote_labels: frozenset[str] = frozenset()
    eq_labels: tuple[tuple[str, str], ...] = ()
    eq_words: tuple[tuple[str, str], ...] = ()
    label_cuts: tuple[str, ...] = ("-", "=")
    cut_tags: bool = False
    labeled: bool = True
    cutoff_len: int = 40
    # What `counted` makes of labels: each as it is cut, None if it is deleted.
    _cut_labels: dict[str, str | None] = field(default_factory=dict, init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        refuse_strings(self)
        for name in ("eq_labels", "eq_words"):
            pairs = tuple(pair if isinstance(pair, str) else tuple(pair) for pair in getattr(self, name))
            for pair in pairs:
                if isinstance(pair, str) or len(pair) != 2:
                    raise ValueError(Errors.E358.format(name=name, value=pair))
            object.__setattr__(self, name, pairs)  # JSON has lists

    def cut(self, label: str) -> str:
        """Drop a label's function tags and indices: NP-SBJ-1 is NP. As in C, -LRB- is the empty label."""
        for mark in self.label_cuts:
            label = label.partition(mark)[0]
        return label

    @cached_property
    def names(self) -> dict[str, str]:
        """For each label that is held equal to another, directly or by way of others, the first of these in
        `eq_labels`: the name of their row in a table."""
        names: dict[str, str] = {}
        for pair in self.eq_labels:
            rows = {names.setdefault(label, label) for label in pair}
            first = next(label for label in names if label in rows)
            names.update({label: first for label, row in names.items() if row in rows})
        return names

    def same_label(self, first: str, second: str) -> bool:
        return first == second or (first, second) in self.eq_labels or (second, first) in self.eq_labels

    def same_word(self, first: str, second: str) -> bool:
        same_text = unescape_token(first) == unescape_token(second)
        return same_text or (first, second) in self.eq_words or (second, first) in self.eq_words

    def counted(self, brackets: Iterable[Bracket]) -> list[Bracket]:
        """Drop brackets over no word or with deleted labels; cut the labels of the others."""
        cut_labels = self._cut_labels
        counted = []
        for start, end, label in brackets:
            if label not in cut_labels:
                cut = self.cut(label)
                is_deleted = any(self.same_label(cut, deleted) for deleted in self.delete_labels)
                cut_labels[label] = None if is_deleted else cut
            cut_label = cut_labels[label]
            if cut_label is not None and start != end:
                counted.append((start, end, cut_label))
        return counted


def read_params(path: str | Path) -> EvalbParams:
    """Read a parameter file.

    path (str | Path): The `.prm` file, in UTF-8; comments may be in any encoding.
    RAISES (ValueError): With file and line, for an unknown keyword or a value that does not fit. (The C program warns
        about the first and takes 0 for a number it cannot read.)
    """
    path = Path(path)
    lines_of: dict[str, list[list[str]]] = {keyword: [] for keyword in _EXPECTED}  # the values of each line
    for number, line in read_file_lines(path, "utf-8", str(path)):
        if not line.strip() or line.strip().startswith("#"):
            continue
        if problem := undecodable(line, "utf-8"):
            raise TreebankError(str(path), number, problem)
        keyword, *values = line.split()
        place: dict[str, Any] = {"path": path, "line": number, "keyword": keyword}
        if keyword not in lines_of:
            raise ValueError(Errors.E350.format(**place, known=", ".join(lines_of)))
        expected, fits = _EXPECTED[keyword]
        if not fits(values):
            raise ValueError(Errors.E351.format(**place, expected=expected, value=" ".join(values)))
        lines_of[keyword].append(values)
    first = {keyword: tuple(values[0] for values in lines if values) for keyword, lines in lines_of.items()}

    def number_of(keyword: str, default: int) -> int:
        """The number in the last of the lines with a keyword."""
        return int(first[keyword][-1]) if first[keyword] else default

    return EvalbParams(
        name=path.stem,
        delete_labels=frozenset(first["DELETE_LABEL"]),
        delete_labels_for_length=frozenset(first["DELETE_LABEL_FOR_LENGTH"]),
        quote_labels=frozenset(first["QUOTE_LABEL"]),
        eq_labels=tuple((a, b) for a, b in lines_of["EQ_LABEL"]),
        eq_words=tuple((a, b) for a, b in lines_of["EQ_WORD"]),
        label_cuts=first["LABEL_CUT"] if lines_of["LABEL_CUT"] else EvalbParams.label_cuts,
        cut_tags=bool(number_of("CUT_TAGS", EvalbParams.cut_tags)),
        labeled=bool(number_of("LABELED", EvalbParams.labeled)),
        cutoff_len=number_of("CUTOFF_LEN", EvalbParams.cutoff_len),
    )


def get_params(params: EvalbParams | str | Path) -> EvalbParams:
    """Parameters from a name or a file.

    params (EvalbParams | str | Path): Parameters (returned as they are), "collins", "new", "spmrl", or a file.
    RAISES (ValueError): If it is neither a name nor a file.
    """
    if isinstance(params, EvalbParams):
        return params
    if isinstance(params, str) and params.lower() in BUNDLED:
        return read_params(DATA / f"{params.lower()}.prm")
    if not Path(params).is_file():
        raise ValueError(Errors.E352.format(name=str(params), known=", ".join(BUNDLED)))
    return read_params(params)
