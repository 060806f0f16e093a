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

_NUMBERS = ("DEBUG", "MAX_ERROR", "CUTOFF_LEN", "LABELED", "CUT_TAGS")
_LABELS = ("DELETE_LABEL", "DELETE_LABEL_FOR_LENGTH", "QUOTE_LABEL", "LABEL_CUT")
_PAIRS = ("EQ_LABEL", "EQ_WORD")
_EXPECTED = {
    **dict.fromkeys(_NUMBERS, "a whole number"),
    **dict.fromkeys(_LABELS, "one label"),
    **dict.fromkeys(_PAIRS, "two values"),
}


@dataclass(frozen=True)
class EvalbParams:
    """EVALB's parameters. The defaults are those of the program without a file, which deletes nothing.

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


def read_params(path: str | Path) -> EvalbParams:
    """Read a parameter file.

    path (str | Path): The `.prm` file, in UTF-8; comments may be in any encoding.
    RETURNS (EvalbParams): The parameters, named after the file.
    RAISES (ValueError): With file and line, for an unknown keyword or a value that does not fit. (The C program warns
        about the first and takes 0 for a number it cannot read.)
    """
    path = Path(path)
    numbers = {"CUTOFF_LEN": EvalbParams.cutoff_len, "LABELED": 1, "CUT_TAGS": 0}
    labels: dict[str, list[str]] = {key: [] for key in _LABELS}
    pairs: dict[str, list[tuple[str, str]]] = {key: [] for key in _PAIRS}
    for number, line in enumerate(path.read_bytes().removeprefix(b"\xef\xbb\xbf").splitlines(), start=1):
        if not line.strip() or line.strip().startswith(b"#"):
            continue
        try:
            keyword, *fields = line.decode("utf-8").split()
        except UnicodeDecodeError as err:
            data = f"{line[err.start]:#04x}"
            raise ValueError(Errors.E205.format(path=path, line=number, data=data, encoding="UTF-8")) from err
        value = " ".join(fields)
        if keyword in _NUMBERS and value.isascii() and value.isdigit():
            numbers[keyword] = int(value)
        elif keyword in _LABELS and len(fields) == 1:
            labels[keyword] += fields
        elif keyword in _PAIRS and len(fields) == 2:
            pairs[keyword].append((fields[0], fields[1]))
        elif keyword in _EXPECTED:
            expected = _EXPECTED[keyword]
            raise ValueError(
                Errors.E201.format(path=path, line=number, keyword=keyword, expected=expected, value=value)
            )
        else:
            known = ", ".join(_EXPECTED)
            raise ValueError(Errors.E200.format(path=path, line=number, keyword=keyword, known=known))
    return EvalbParams(
        name=path.stem,
        delete_labels=frozenset(labels["DELETE_LABEL"]),
        delete_labels_for_length=frozenset(labels["DELETE_LABEL_FOR_LENGTH"]),
        quote_labels=frozenset(labels["QUOTE_LABEL"]),
        eq_labels=tuple(pairs["EQ_LABEL"]),
        eq_words=tuple(pairs["EQ_WORD"]),
        label_cuts=tuple(labels["LABEL_CUT"]) or EvalbParams.label_cuts,
        cut_tags=bool(numbers["CUT_TAGS"]),
        labeled=bool(numbers["LABELED"]),
        cutoff_len=numbers["CUTOFF_LEN"],
    )


def get_params(params: EvalbParams | str | Path) -> EvalbParams:
    """Parameters from a name or a file.

    params (EvalbParams | str | Path): Parameters (returned as they are), "collins", "new", "spmrl", or a file.
    RETURNS (EvalbParams): The parameters.
    RAISES (ValueError): If it is neither a name nor a file.
    """
    if isinstance(params, EvalbParams):
        return params
    if isinstance(params, str) and params.lower() in BUNDLED:
        return read_params(DATA / f"{params.lower()}.prm")
    if not Path(params).is_file():
        raise ValueError(Errors.E202.format(name=str(params), known=", ".join(BUNDLED)))
    return read_params(params)
