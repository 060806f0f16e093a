"""CRAFT: Penn brackets, where a few words are written in two parts: `(NN 5 kb)`. They are joined with `_`."""

import re

from .base import TreebankFormat, each_line

_LEAF = re.compile(r"\(([^\s()]+) ([^\s()]+(?: [^\s()]+)+)\)")


def rewrite_line(line: str) -> str:
    """Join the parts of words."""
    return _LEAF.sub(lambda match: f"({match.group(1)} {match.group(2).replace(' ', '_')})", line)


CRAFT = TreebankFormat(suffixes=(".tree",), lines=each_line(rewrite_line))
