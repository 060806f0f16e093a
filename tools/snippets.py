"""Finds the snippets of the pages: what a reader would paste, in the order of a page.

Before one that needs more than a machine without a GPU and some minutes stands a comment that says what it needs:
<!-- not run: a GPU -->.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import zip_longest
from pathlib import Path
from typing import NamedTuple

from markdown_it import MarkdownIt

from .pages import GENERATED

ROOT = Path(__file__).resolve().parent.parent
KINDS = ("python", "bash", "ini")
_MARK = re.compile(r"<!-- not run: (.+?) -->")


class Snippet(NamedTuple):
    """A snippet.

    kind (str): "python", "bash" or "ini".
    text (str): What to run.
    line (int): Where it stands, from 1.
    needs (str): Why tests do not run it; "" if they do.
    prints (str): What it prints, the block `text` right below it; "" if there is none.
    """

    kind: str
    text: str
    line: int
    needs: str
    prints: str


def pages() -> list[Path]:
    """List the pages that people wrote."""
    written = sorted((ROOT / "docs").rglob("*.md"))
    by_hand = [path for path in written if not any(path.is_relative_to(ROOT / "docs" / name) for name in GENERATED)]
    return [ROOT / "README.md", *(path for path in by_hand if "_build" not in path.parts)]


def snippets(path: Path) -> Iterator[Snippet]:
    """Read the snippets of a page.

    path (Path): The page.
    YIELDS (Snippet): The snippets, one after another.
    RAISES (ValueError): If code is indented instead of fenced, so that nobody can tell what it is.
    """
    needs = ""
    tokens = MarkdownIt("commonmark").parse(path.read_text(encoding="utf8"))
    for token, below in zip_longest(tokens, tokens[1:]):
        line = token.map[0] + 1 if token.map else 0
        if token.type == "code_block":
            raise ValueError(f"{path}:{line}: code without a fence")
        if token.type == "html_block":
            mark = _MARK.search(token.content)
            needs = mark[1] if mark else ""
        elif token.type == "fence":
            kind = token.info.split()[0] if token.info else ""
            if kind in KINDS:
                prints = below.content if below and below.type == "fence" and below.info == "text" else ""
                yield Snippet(kind, token.content, line, needs, prints)
            needs = ""
