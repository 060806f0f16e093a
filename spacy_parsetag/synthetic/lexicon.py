"""Read lexicon files into weighted tables.

A file is made of sections. A header names the table and attributes shared by its rows; each line below is a word,
most frequent first, with irregular forms beside it, then a bar and attributes or the complements it may take:

    [noun class=person]             one row for each number, inflected
    teacher | of(text):6            complements with their weights: "a teacher of history"
    child/children                  irregular plural; `water/-` has no plural, `-/police` no singular
    [verb subj=person]              one row for each frame
    eat ate eaten | np(stuff):8 0:2 the frame's parts and the classes of what fills them
    stop* | np(event):3             an asterisk doubles the last consonant: stopped
    [adj]
    big* -er                        takes -er and -est
    [linker]
    because | w=9                   any other table: the words as they are; `w` gives a weight

Weights follow Zipf's law by rank within a section, 1 / (rank + 2), unless `w` is given or the header says
`flat=yes`; `share` in a header is the weight of the whole section.
"""

import re
from collections.abc import Iterable, Sequence
from math import fsum
from pathlib import Path
from typing import NamedTuple

from ..errors import Errors
from .errors import GrammarError, read_lines
from .inflect import comparison, participle, past, plural, third_person
from .tables import Attribute, Row, Table

_HEADER = re.compile(r"\[(?P<table>[a-z][a-z0-9_]*)(?P<attrs>( +[a-z_]+=[^\s\]=]+)*)\]")
_ATTRIBUTE = re.compile(r"(?P<name>[a-z_]+)=(?P<value>\S+)")
_COMPLEMENT = re.compile(r"(?P<parts>[^\s:=]+):(?P<weight>\d+(\.\d+)?)")
_PART = re.compile(r"(?P<name>[a-z0-9_]+)(\((?P<args>[^()]*)\))?")
_ZIPF_SHIFT = 2.0
_SINGULAR_SHARE = 0.62
# Names for the arguments of the parts of a frame: np(thing)+pp(to,person) gives obj, prep and pobj; a second np or pp
# gives obj2 or prep2 and pobj2.
_ARGUMENTS = {
    "np": ("obj",),
    "pp": ("prep", "pobj"),
    "prt": ("prt",),
    "ecm": ("lower",),
    "bare": ("lower",),
    "small": ("lower",),
}


class _Line(NamedTuple):
    path: str
    number: int
    forms: list[str]
    attrs: dict[str, str]
    complements: list[tuple[dict[str, str], float]]

    def fail(self, reason: str) -> GrammarError:
        return GrammarError(self.path, self.number, reason)


def read_lexicon(paths: Iterable[Path]) -> dict[str, Table]:
    """Read lexicon files.

    paths (Iterable[Path]): The files; a table may be spread over several.
    RETURNS (Dict[str, Table]): Tables by name.
    RAISES (GrammarError): A line cannot be read; the error names file and line.
    """
    tables: dict[str, Table] = {}
    for path in paths:
        section: list[_Line] = []
        header: dict[str, str] = {}
        table = None
        for number, text in read_lines(path):
            if text.startswith("["):
                if table is not None:
                    _close(table, header, section)
                match = _HEADER.fullmatch(text)
                if match is None:
                    raise GrammarError(str(path), number, Errors.E250.format(text=text))
                table = tables.setdefault(match["table"], Table(match["table"]))
                header = dict(pair.split("=", 1) for pair in match["attrs"].split())
                section = []
                _number(header.get("share", "1"), str(path), number)
            elif table is None:
                raise GrammarError(str(path), number, Errors.E251)
            else:
                section.append(_read_line(str(path), number, text))
        if table is not None:
            _close(table, header, section)
    return tables


def _number(text: str, path: str, line: int) -> float:
    if re.fullmatch(r"\d+(\.\d+)?", text) is None:
        raise GrammarError(path, line, Errors.E252.format(text=text))
    return float(text)


def _read_line(path: str, number: int, text: str) -> _Line:
    left, _, right = text.partition(" |")
    attrs: dict[str, str] = {}
    complements: list[tuple[dict[str, str], float]] = []
    for token in right.split():
        attribute = _ATTRIBUTE.fullmatch(token)
        complement = _COMPLEMENT.fullmatch(token)
        if attribute is not None:
            attrs[attribute["name"]] = attribute["value"]
        elif complement is not None:
            complements.append((_read_parts(path, number, complement["parts"]), float(complement["weight"])))
        else:
            raise GrammarError(path, number, Errors.E253.format(text=token))
    if not left.split():
        raise GrammarError(path, number, Errors.E254)
    return _Line(path, number, left.split(), attrs, complements)


def _read_parts(path: str, number: int, text: str) -> dict[str, str]:
    """Read `np(thing)+pp(to,person)` as {"frame": "np+pp", "obj": "thing", "prep": "to", "pobj": "person"}."""
    names, attrs = [], {}
    for part in text.split("+"):
        match = _PART.fullmatch(part)
        if match is None:
            raise GrammarError(path, number, Errors.E253.format(text=text))
        names.append(match["name"])
        arguments = match["args"].split(",") if match["args"] else []
        expected = _ARGUMENTS.get(match["name"], ())
        if len(arguments) != len(expected):
            raise GrammarError(path, number, Errors.E255.format(part=part, n=len(expected)))
        for name, value in zip(expected, arguments, strict=True):
            attrs[f"{name}2" if name in attrs else name] = value
    return {"frame": "+".join(names), **attrs}


def _close(table: Table, header: dict[str, str], section: Sequence[_Line]) -> None:
    """Add a finished section's rows: only now is the sum of their weights known."""
    weights = []
    for rank, line in enumerate(section):
        if "w" in line.attrs:
            weights.append(_number(line.attrs["w"], line.path, line.number))
        else:
            weights.append(1.0 if header.get("flat") == "yes" else 1.0 / (rank + _ZIPF_SHIFT))
    # `fsum` rounds the same with every Python version; `sum` does not.
    total = fsum(weights)
    scale = float(header["share"]) / total if "share" in header and total > 0.0 else 1.0
    shared = {name: value for name, value in header.items() if name not in ("share", "flat")}
    build = {"noun": _noun_rows, "verb": _verb_rows, "adj": _adjective_rows}.get(table.name, _word_rows)
    for line, weight in zip(section, weights, strict=True):
        attrs = {**shared, **{name: value for name, value in line.attrs.items() if name != "w"}}
        for row in build(line, attrs, weight * scale):
            table.add(row)


def _complement_table(line: _Line) -> Table:
    """What a noun or adjective may take beside it; the weight up to 10 that is left goes to taking nothing."""
    table = Table("complement")
    for parts, weight in line.complements:
        table.add(Row(dict(parts), weight))
    left = 10.0 - fsum(weight for _, weight in line.complements)
    if left < 0.0:
        raise line.fail(Errors.E256)
    table.add(Row({"frame": "none"}, left))
    return table


def _noun_rows(line: _Line, shared: dict[str, str], weight: float) -> list[Row]:
    if len(line.forms) != 1:
        raise line.fail(Errors.E257.format(kind="noun", forms=" ".join(line.forms)))
    singular, slash, many = line.forms[0].partition("/")
    if not slash:
        many = plural(singular)
    attrs: dict[str, Attribute] = {**shared, "comp": _complement_table(line)}
    if many == "-":
        return [Row({**attrs, "num": "sg", "count": "mass", "tag": "NN", "form": singular}, weight)]
    rows = [Row({**attrs, "num": "pl", "count": "count", "tag": "NNS", "form": many}, weight * (1.0 - _SINGULAR_SHARE))]
    if singular != "-":
        row = Row({**attrs, "num": "sg", "count": "count", "tag": "NN", "form": singular}, weight * _SINGULAR_SHARE)
        rows.insert(0, row)
    return rows


def _verb_rows(line: _Line, shared: dict[str, str], weight: float) -> list[Row]:
    base, double = line.forms[0].removesuffix("*"), line.forms[0].endswith("*")
    if len(line.forms) not in (1, 2, 3) or not line.complements:
        raise line.fail(Errors.E257.format(kind="verb", forms=" ".join(line.forms)))
    regular = past(base, double=double)
    irregular = [*line.forms[1:], *line.forms[-1:]] if len(line.forms) > 1 else [regular, regular]
    attrs: dict[str, Attribute] = {
        **shared,
        "base": base,
        "s": third_person(base),
        "past": irregular[0],
        "part": irregular[1],
        "ing": participle(base, double=double),
    }
    total = fsum(share for _, share in line.complements)
    return [Row({**attrs, **parts}, weight * share / total) for parts, share in line.complements]


def _adjective_rows(line: _Line, shared: dict[str, str], weight: float) -> list[Row]:
    base, double = line.forms[0].removesuffix("*"), line.forms[0].endswith("*")
    attrs: dict[str, Attribute] = {**shared, "form": base, "comp": _complement_table(line)}
    if line.forms[1:] == ["-er"]:
        attrs["er"], attrs["est"] = comparison(base, double=double)
    elif len(line.forms) == 3:
        attrs["er"], attrs["est"] = line.forms[1:]
    elif len(line.forms) != 1:
        raise line.fail(Errors.E257.format(kind="adjective", forms=" ".join(line.forms)))
    attrs["graded"] = "er" if "er" in attrs else "more"
    return [Row(attrs, weight)]


def _word_rows(line: _Line, shared: dict[str, str], weight: float) -> list[Row]:
    if line.complements:
        raise line.fail(Errors.E258)
    # A word written as two is two tokens in a tree: the grammar asks for `first` and `second`.
    first, second = line.forms[0], " ".join(line.forms[1:])
    attrs = {"form": " ".join(line.forms), "first": first, "second": second, "words": str(len(line.forms))}
    return [Row({**shared, **attrs}, weight)]
