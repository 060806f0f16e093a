"""Read the lexicon into weighted tables of words.

A file is made of sections. A header names the table and attributes shared by its rows; each line below is a word,
most frequent first, with irregular forms beside it, then a bar and attributes or the complements it may take:

    [noun class=person]             one row for each number, inflected
    teacher | of(text):6            complements with their weights out of 10: "a teacher of history"
    child/children                  irregular plural; `water/-` has no plural, `-/police` no singular
    [verb subj=person]              one row for each frame
    eat ate eaten | np(stuff):8 0:2 the frame's parts and the classes of what fills them
    stop* | np(event):3             an asterisk doubles the last consonant: stopped
    [adj]
    big* -er                        takes -er and -est
    [linker]
    because | w=9                   any other table: the words as they are; `w` gives a weight

Weights follow Zipf's law by rank within a section, 1 / (rank + 2), unless `w` is given or the header says `flat=yes`;
`share` in a header is the weight of the whole section.
"""

import re
from bisect import bisect_right
from collections.abc import Iterator, Mapping, Sequence
from itertools import accumulate
from math import fsum
from pathlib import Path
from random import Random
from typing import Generic, TypeVar, Union

from .inflect import comparison, participle, past, plural, third_person

ValueT = TypeVar("ValueT")
# One word: its forms, class and subcategorisation, and the table of the complements it may take.
Row = dict[str, Union[str, "Table"]]

_HEADER = re.compile(r"\[(\w+)((?: +\w+=[^\s\]]+)*)\]")
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


class Distribution(Generic[ValueT]):
    """Values with weights. Draws use `rng.random()` alone, so that every Python version draws the same.

    values (Sequence[ValueT]): The values.
    weights (Sequence[float]): Their weights, none negative, some positive.
    """

    def __init__(self, values: Sequence[ValueT], weights: Sequence[float]) -> None:
        self.values = values
        self.cumulative = list(accumulate(weights))

    def draw(self, rng: Random) -> ValueT:
        """Draw a value."""
        index = bisect_right(self.cumulative, rng.random() * self.cumulative[-1])
        return self.values[min(index, len(self.values) - 1)]


class Table:
    """Rows with weights, drawn under constraints."""

    def __init__(self) -> None:
        self.rows: list[tuple[Row, float]] = []
        self._fitting: dict[tuple[tuple[str, str], ...], Distribution[Row]] = {}

    def draw(self, rng: Random, constraints: Mapping[str, str]) -> Row:
        """Draw a row whose attributes agree with constraints; each may name alternatives (`a|b`) or `any`.

        RAISES (ValueError): No row does.
        """
        key = tuple(constraints.items())
        if key not in self._fitting:
            fitting = [(row, weight) for row, weight in self.rows if weight > 0.0 and _fits(row, constraints)]
            if not fitting:
                raise ValueError(f"No row of the table has {dict(constraints)}.")
            self._fitting[key] = Distribution([row for row, _ in fitting], [weight for _, weight in fitting])
        return self._fitting[key].draw(rng)


def _fits(row: Row, constraints: Mapping[str, str]) -> bool:
    for name, allowed in constraints.items():
        value = row.get(name, "")
        if "any" not in (allowed, value) and (
            not isinstance(value, str) or set(value.split("|")).isdisjoint(allowed.split("|"))
        ):
            return False
    return True


def read_lines(path: Path) -> Iterator[tuple[str, str]]:
    """Lines of a grammar or lexicon file, each with its place for messages, without comments and blank lines."""
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), start=1):
        text = line.split("#", 1)[0].rstrip()
        if text:
            yield f"{path}:{number}", text


def read_lexicon(paths: Sequence[Path]) -> dict[str, Table]:
    """Read lexicon files.

    paths (Sequence[Path]): The files. A table may be spread over several.
    RETURNS (Dict[str, Table]): Tables by name.
    RAISES (ValueError): A line cannot be read; the message has file and line.
    """
    tables: dict[str, Table] = {}
    for path in paths:
        sections: list[tuple[str, dict[str, str], list[tuple[str, str]]]] = []
        for place, text in read_lines(path):
            header = _HEADER.fullmatch(text)
            if header is not None:
                sections.append((header[1], dict(pair.split("=", 1) for pair in header[2].split()), []))
            elif sections and not text.startswith("["):
                sections[-1][2].append((place, text))
            else:
                raise ValueError(f"{place}: Not a section header: {text}. Write [table] or [table name=value ...].")
        for name, header_attrs, lines in sections:
            tables.setdefault(name, Table()).rows.extend(_read_section(name, header_attrs, lines))
    return tables


def _read_section(name: str, header: dict[str, str], lines: list[tuple[str, str]]) -> list[tuple[Row, float]]:
    shared: Row = {key: value for key, value in header.items() if key not in ("share", "flat")}
    build = {"noun": _noun_rows, "verb": _verb_rows, "adj": _adjective_rows}.get(name, _word_rows)
    weights: list[float] = []
    built: list[list[tuple[Row, float]]] = []
    for rank, (place, text) in enumerate(lines):
        left, _, right = text.partition(" |")
        weight = 1.0 if header.get("flat") == "yes" else 1.0 / (rank + _ZIPF_SHIFT)
        attrs: Row = {}
        complements: list[tuple[Row, float]] = []
        try:
            for token in right.split():
                if token.startswith("w="):
                    weight = float(token[2:])
                elif "=" in token:
                    key, value = token.split("=")
                    attrs[key] = value
                else:
                    frame, share = token.split(":")
                    complements.append((_read_frame(frame), float(share)))
            built.append(build(left.split(), {**shared, **attrs}, complements))
        except ValueError as error:
            raise ValueError(f"{place}: Not a line of the table {name!r}: {text}. {error}") from error
        weights.append(weight)
    # `fsum` rounds the same with every Python version; `sum` does not.
    scale = float(header["share"]) / fsum(weights) if "share" in header else 1.0
    return [(row, weight * scale * share) for rows, weight in zip(built, weights, strict=True) for row, share in rows]


def _read_frame(text: str) -> Row:
    """Read `np(thing)+pp(to,person)` as {"frame": "np+pp", "obj": "thing", "prep": "to", "pobj": "person"}."""
    names: list[str] = []
    attrs: Row = {}
    for part in text.split("+"):
        name, _, arguments = part.removesuffix(")").partition("(")
        names.append(name)
        values = arguments.split(",") if arguments else []
        for key, value in zip(_ARGUMENTS.get(name, ()), values, strict=True):
            attrs[f"{key}2" if key in attrs else key] = value
    return {"frame": "+".join(names), **attrs}


def _complement_table(complements: list[tuple[Row, float]]) -> Table:
    """Read the complements of a noun or adjective; the weight up to 10 that is left goes to none."""
    none_weight = 10.0 - fsum(weight for _, weight in complements)
    if none_weight < 0.0:
        raise ValueError("The weights of its complements are out of 10.")
    table = Table()
    table.rows = [*complements, ({"frame": "none"}, none_weight)]
    return table


def _noun_rows(forms: list[str], shared: Row, complements: list[tuple[Row, float]]) -> list[tuple[Row, float]]:
    (form,) = forms
    singular, slash, many = form.partition("/")
    attrs: Row = {**shared, "comp": _complement_table(complements)}
    if many == "-":
        return [({**attrs, "num": "sg", "count": "mass", "tag": "NN", "form": singular}, 1.0)]
    attrs["count"] = "count"
    rows: list[tuple[Row, float]] = [
        ({**attrs, "num": "sg", "tag": "NN", "form": singular}, _SINGULAR_SHARE),
        ({**attrs, "num": "pl", "tag": "NNS", "form": many if slash else plural(singular)}, 1.0 - _SINGULAR_SHARE),
    ]
    return rows[1:] if singular == "-" else rows


def _verb_rows(forms: list[str], shared: Row, complements: list[tuple[Row, float]]) -> list[tuple[Row, float]]:
    base, double = forms[0].removesuffix("*"), forms[0].endswith("*")
    regular = past(base, double=double)
    simple, *perfect = forms[1:] or [regular]
    attrs: Row = {
        **shared,
        "base": base,
        "s": third_person(base),
        "past": simple,
        "part": perfect[0] if perfect else simple,
        "ing": participle(base, double=double),
    }
    total = fsum(share for _, share in complements)
    return [({**attrs, **frame}, share / total) for frame, share in complements]


def _adjective_rows(forms: list[str], shared: Row, complements: list[tuple[Row, float]]) -> list[tuple[Row, float]]:
    base, double = forms[0].removesuffix("*"), forms[0].endswith("*")
    attrs: Row = {**shared, "form": base, "comp": _complement_table(complements), "graded": "more"}
    if len(forms) > 1:
        attrs["graded"] = "er"
        attrs["er"], attrs["est"] = comparison(base, double=double) if forms[1:] == ["-er"] else forms[1:]
    return [(attrs, 1.0)]


def _word_rows(forms: list[str], shared: Row, complements: list[tuple[Row, float]]) -> list[tuple[Row, float]]:
    # A word written as two is two tokens in a tree: the grammar asks for `first` and `second`.
    parts: Row = {"form": " ".join(forms), "first": forms[0], "second": " ".join(forms[1:]), "words": str(len(forms))}
    return [({**shared, **parts}, 1.0)]
