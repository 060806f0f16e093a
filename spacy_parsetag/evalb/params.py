"""What EVALB counts: its parameters, and the reader of its parameter files (`.prm`).

A parameter file has a keyword and a value a line; lines that start with # are comments:

    DELETE_LABEL TOP          ignore this bracket; for a part-of-speech tag, ignore the word
    EQ_LABEL ADVP PRT         hold two labels equal

Three files come with the package: `collins` (COLLINS.prm), `new` (new.prm) and `spmrl`.
"""

from dataclasses import dataclass
from pathlib import Path

from ..errors import Errors

DATA = Path(__file__).parent / "prm"
BUNDLED = ("collins", "new", "spmrl")

_INTEGERS = ("DEBUG", "MAX_ERROR", "CUTOFF_LEN", "LABELED", "CUT_TAGS")
_LISTS = ("DELETE_LABEL", "DELETE_LABEL_FOR_LENGTH", "QUOTE_LABEL", "LABEL_CUT")
_PAIRS = ("EQ_LABEL", "EQ_WORD")


@dataclass(frozen=True)
class EvalbParams:
    """EVALB's parameters. The defaults are those of the program without a file, which deletes nothing.

    name (str): Name to print beside a figure.
    delete_labels (FrozenSet[str]): Brackets with these labels are ignored; words tagged with them too.
    delete_labels_for_length (FrozenSet[str]): Words tagged with these do not count for the length of a sentence.
    quote_labels (FrozenSet[str]): Tags of quote-like words that come back when one file deletes them and the other not.
    eq_labels (Tuple[Tuple[str, str], ...]): Labels held equal, as pairs.
    eq_words (Tuple[Tuple[str, str], ...]): Words held equal, as pairs.
    label_cuts (Tuple[str, ...]): Bracket labels end where the first of these strings starts (NP-SBJ is NP).
    cut_tags (bool): Whether part-of-speech tags are cut in the same way before they are compared.
    labeled (bool): Whether labels count.
    max_error (int): More than this many errors and one stop the C program.
    cutoff_len (int): Longest sentence in the second summary, in words.
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
    max_error: int = 10
    cutoff_len: int = 40


def read_params(path: str | Path) -> EvalbParams:
    """Read a parameter file.

    path (Union[str, Path]): The `.prm` file.
    RETURNS (EvalbParams): The parameters, named after the file.
    RAISES (ValueError): With file and line, for an unknown keyword or a value that does not fit. (The C program warns
        about the first and takes 0 for a number it cannot read.)
    """
    path = Path(path)
    integers: dict[str, int] = {}
    lists: dict[str, list[str]] = {key: [] for key in _LISTS}
    pairs: dict[str, list[tuple[str, str]]] = {key: [] for key in _PAIRS}
    for number, line in enumerate(path.read_text(encoding="utf-8-sig").splitlines(), start=1):
        line = line.strip()
        if not line or line.startswith("#"):
            continue
        keyword, *rest = line.split(maxsplit=1)
        value = rest[0] if rest else ""
        fields = value.split()
        if keyword in _INTEGERS:
            if not value.isascii() or not value.isdigit():
                raise ValueError(_bad_value(path, number, keyword, "a whole number", value))
            integers[keyword] = int(value)
        elif keyword in _LISTS:
            if len(fields) != 1:
                raise ValueError(_bad_value(path, number, keyword, "one label", value))
            lists[keyword].append(value)
        elif keyword in _PAIRS:
            if len(fields) != 2:
                raise ValueError(_bad_value(path, number, keyword, "two values", value))
            pairs[keyword].append((fields[0], fields[1]))
        else:
            known = ", ".join((*_INTEGERS, *_LISTS, *_PAIRS))
            raise ValueError(Errors.E200.format(path=path, line=number, keyword=keyword, known=known))
    return EvalbParams(
        name=path.stem,
        delete_labels=frozenset(lists["DELETE_LABEL"]),
        delete_labels_for_length=frozenset(lists["DELETE_LABEL_FOR_LENGTH"]),
        quote_labels=frozenset(lists["QUOTE_LABEL"]),
        eq_labels=tuple(pairs["EQ_LABEL"]),
        eq_words=tuple(pairs["EQ_WORD"]),
        label_cuts=tuple(lists["LABEL_CUT"]) or EvalbParams.label_cuts,
        cut_tags=bool(integers.get("CUT_TAGS", 0)),
        labeled=bool(integers.get("LABELED", 1)),
        max_error=integers.get("MAX_ERROR", EvalbParams.max_error),
        cutoff_len=integers.get("CUTOFF_LEN", EvalbParams.cutoff_len),
    )


def _bad_value(path: Path, line: int, keyword: str, expected: str, value: str) -> str:
    return Errors.E201.format(path=path, line=line, keyword=keyword, expected=expected, value=value)


COLLINS, NEW, SPMRL = (read_params(DATA / f"{name}.prm") for name in BUNDLED)
_BY_NAME = dict(zip(BUNDLED, (COLLINS, NEW, SPMRL), strict=True))


def get_params(params: EvalbParams | str | Path) -> EvalbParams:
    """Parameters from a name or a file.

    params (Union[EvalbParams, str, Path]): Parameters (returned as they are), "collins", "new", "spmrl", or a file.
    RETURNS (EvalbParams): The parameters.
    RAISES (ValueError): If it is neither a name nor a file.
    """
    if isinstance(params, EvalbParams):
        return params
    if isinstance(params, str) and params.lower() in _BY_NAME:
        return _BY_NAME[params.lower()]
    if not Path(params).is_file():
        raise ValueError(Errors.E202.format(name=str(params), known=", ".join(BUNDLED)))
    return read_params(params)
