"""Write trees as Penn brackets, one to a line, without recursion."""

from collections.abc import Iterable
from pathlib import Path

from ..errors import Errors
from ..trees.escape import escape_label, escape_token
from ..trees.tree import Tree
from .atomic import atomic_path


def format_tree(tree: Tree) -> str:
    r"""Write a tree on one line, in file form.

    >>> format_tree(Tree("TOP", (Tree("S", (Tree("-LRB-", ("(",)), Tree("NN", ("N.Y.",)))),)))
    '(TOP (S (-LRB- -LRB-) (NN N.Y.)))'

    tree (Tree): The tree, words and labels as text. Its root may have an empty label.
    RETURNS (str): The brackets.
    RAISES (ValueError): If the tree could not be read back: a node without children, a root without a label over a
        word.
    """
    if not tree.label and any(isinstance(child, str) for child in tree.children):
        raise ValueError(Errors.E100.format(what="label", text="", reason="it stands over a word"))
    parts: list[str] = ["(", escape_label(tree.label) if tree.label else ""]
    stack = [iter(tree.children)] if tree.children else []
    if not stack:
        raise ValueError(Errors.E100.format(what="node", text=tree.label, reason="it has no children"))
    while stack:
        child = next(stack[-1], None)
        if child is None:
            parts.append(")")
            stack.pop()
        elif isinstance(child, str):
            parts += (" ", escape_token(child))
        elif not child.children:
            raise ValueError(Errors.E100.format(what="node", text=child.label, reason="it has no children"))
        elif not child.label and not child.is_preterminal:
            raise ValueError(Errors.E100.format(what="label", text="", reason="only the root's may be empty"))
        else:
            parts += (" (", escape_label(child.label))
            stack.append(iter(child.children))
    return "".join(parts)


def write_trees(path: str | Path, trees: Iterable[Tree]) -> int:
    """Write trees to a file in UTF-8, one to a line. The file appears whole or not at all.

    path (str | Path): The file. What it held before is replaced only once every tree is written.
    trees (Iterable[Tree]): The trees, consumed one at a time.
    RETURNS (int): How many trees were written.
    RAISES (ValueError): As `format_tree`. This, and whatever `trees` raises, leaves the old file as it was.
    """
    n_trees = 0
    with atomic_path(path) as temporary, temporary.open("w", encoding="utf-8", newline="\n") as file:
        for tree in trees:
            file.write(format_tree(tree) + "\n")
            n_trees += 1
    return n_trees
