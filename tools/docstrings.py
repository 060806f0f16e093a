"""Docstrings as this project writes them, as reStructuredText for Sphinx.

A docstring is plain text: a name in backticks is code, `name (type): meaning.` a parameter, `RETURNS`, `YIELDS` and
`RAISES` say what comes out. Nothing else in it is markup, so the rest is escaped.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

_FIELD = re.compile(r"^(\*{0,2}\w+(?:, \*{0,2}\w+)*) \((.+?)\): (.*)$", re.DOTALL)
_RAISED = re.compile(r"\((\w+(?:, \w+)*)\): ")
_CODE = re.compile(r"(``.+?``|`[^`]+`)", re.DOTALL)


def escape(text: str) -> str:
    """Turn plain text with code in backticks into reStructuredText."""
    pieces = _CODE.split(text)
    for i, piece in enumerate(pieces):
        if i % 2 == 0:
            pieces[i] = re.sub(r"([\\*_|`])", r"\\\1", piece)
            continue
        code = piece.strip("`")
        before, after = pieces[i - 1][-1:], pieces[i + 1][:1]
        glued = "\\ " * before.isalnum(), "\\ " * (after.isalnum() or after == "_")
        pieces[i] = f"{glued[0]}``{code}``{glued[1]}"
    return "".join(pieces)


def _fields(text: str) -> Iterator[str]:
    """Turn one `name (type): meaning.` into fields."""
    match = _FIELD.match(text)
    assert match is not None
    names, kind, meaning = match.groups()
    meaning = " ".join(meaning.split())
    if names in ("RETURNS", "YIELDS"):
        suffix = ", one after another" * (names == "YIELDS")
        yield f":returns: {escape(f'({kind}{suffix}) {meaning}')}"
    elif names == "RAISES":
        kinds = [kind, *_RAISED.findall(meaning)]
        yield from (
            f":raises {kind}: {escape(reason.strip())}"
            for kind, reason in zip(kinds, _RAISED.sub("\0", meaning).split("\0"), strict=True)
        )
    else:
        yield from (f":param {escape(param)}: ({escape(kind)}) {escape(meaning)}" for param in names.split(", "))


def _blocks(lines: Sequence[str]) -> Iterator[list[str]]:
    """Split into what stands between empty lines, and before each field."""
    block: list[str] = []
    for line in lines:
        if block and (not line.strip() or (_FIELD.match(line) and not block[0].startswith(">>>"))):
            yield block
            block = []
        if line.strip():
            block.append(line.rstrip())
    if block:
        yield block


def to_rst(lines: Sequence[str]) -> list[str]:
    """Turn the lines of a docstring into lines of reStructuredText."""
    result: list[str] = []
    for block in _blocks(lines):
        if block[0].startswith(">>>"):
            result += [*block, ""]
        elif all(line.startswith("    ") for line in block) or block[0].startswith("|"):
            result += ["::", "", *("    " + line for line in block), ""]
        elif _FIELD.match(block[0]):
            text = " ".join(line.strip() for line in block)
            result += [*_fields(text), ""]
        elif any(line.startswith("- ") for line in block):
            first_item = next(i for i, line in enumerate(block) if line.startswith("- "))
            result += [*escape("\n".join(block[:first_item])).splitlines(), ""] if first_item else []
            result += [*escape("\n".join(block[first_item:])).splitlines(), ""]
        else:
            indented = next((i for i, line in enumerate(block) if line.startswith("    ")), len(block))
            result += [*escape("\n".join(block[:indented])).splitlines(), ""]
            if indented < len(block):
                result += ["::", "", *("    " + line for line in block[indented:]), ""]
    return result
