"""Write trees as Penn brackets, one to a line, without recursion."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from ..errors import Errors
from .atomic import atomic_path

if TYPE_CHECKING:
    from nltk import Tree

# The reader would not give these back: white space and brackets separate, NUL and lone surrogates are refused.
_UNWRITABLE = re.compile("[ \t\r\n\f\v()\x00\ud800-\udfff]")


def format_tree(tree: Tree) -> str:
    """Write a tree on one line: `(TOP (S (NP (PRP She)) (VP (VBZ reads))))`.

    Words and labels must be in file form already (see `escape_token`, `escape_label`); they are checked, not changed.

    tree (nltk.Tree): The tree. Its root may have an empty label.
    RETURNS (str): The brackets.
    RAISES (ValueError): If the tree could not be read back: brackets or white space in a word or label, an empty word,
        an empty label below the root, a node without children.
    """
    from nltk import Tree

    parts: list[str] = ["(", _check(tree.label(), "label") if tree.label() else ""]
    if not tree.label() and any(not isinstance(child, Tree) for child in tree):
        raise ValueError(Errors.E010.format(what="label", text="", reason="it stands over a word"))
    stack: list[tuple[Tree, Iterator[Tree | str]]] = [(tree, iter(tree))]
    while stack:
        node, children = stack[-1]
        if not len(node):
            raise ValueError(Errors.E010.format(what="node", text=node.label(), reason="it has no children"))
        child = next(children, None)
        if child is None:
            parts.append(")")
            stack.pop()
        elif isinstance(child, Tree):
            parts.append(" (")
            parts.append(_check(child.label(), "label"))
            stack.append((child, iter(child)))
        else:
            parts.append(" ")
            parts.append(_check(child, "word"))
    return "".join(parts)


def write_trees(path: str | Path, trees: Iterable[Tree]) -> int:
    """Write trees to a file in UTF-8, one to a line. The file appears whole or not at all.

    path (Union[str, Path]): The file. What it held before is replaced only once every tree is written.
    trees (Iterable[nltk.Tree]): The trees, consumed one at a time.
    RETURNS (int): How many trees were written.
    RAISES (ValueError): As `format_tree`. This, and whatever `trees` raises, leaves the old file as it was.
    """
    n_trees = 0
    with atomic_path(path) as temporary, temporary.open("w", encoding="utf-8", newline="\n") as file:
        for tree in trees:
            file.write(format_tree(tree))
            file.write("\n")
            n_trees += 1
    return n_trees


def _check(text: object, what: str) -> str:
    """The text, if it can be written."""
    text = str(text)
    if not text:
        raise ValueError(Errors.E010.format(what=what, text=text, reason="it is empty"))
    found = _UNWRITABLE.search(text)
    if found:
        raise ValueError(Errors.E010.format(what=what, text=text, reason=f"it contains {found.group()!r}"))
    return text
