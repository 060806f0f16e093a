"""A tree as Penn brackets; `treebanks.penn` reads them."""

from ..errors import Errors
from .escape import escape_label, escape_token
from .tree import ROOT_LABELS, Tree


def format_tree(tree: Tree) -> str:
    r"""Write a tree on one line, in file form.

    >>> format_tree(Tree("TOP", (Tree("S", (Tree("-LRB-", ("(",)), Tree("NN", ("N.Y.",)))),)))
    '(TOP (S (-LRB- -LRB-) (NN N.Y.)))'

    tree (Tree): The tree, words and labels as text. Its root may have an empty label.
    RAISES (ValueError): If the tree could not be read back: a node without children, a root wrapper over a word.
    """
    if tree.label in ROOT_LABELS and any(isinstance(child, str) for child in tree.children):
        raise ValueError(Errors.E007.format(what="label", text=tree.label, reason="a root's stands over a word"))
    parts: list[str] = ["(", escape_label(tree.label) if tree.label else ""]
    stack = [iter(tree.children)] if tree.children else []
    if not stack:
        raise ValueError(Errors.E007.format(what="node", text=tree.label, reason="it has no children"))
    while stack:
        child = next(stack[-1], None)
        if child is None:
            parts.append(")")
            stack.pop()
        elif isinstance(child, str):
            parts += (" ", escape_token(child))
        elif not child.children:
            raise ValueError(Errors.E007.format(what="node", text=child.label, reason="it has no children"))
        elif not child.label and not child.is_preterminal:
            raise ValueError(Errors.E007.format(what="label", text="", reason="only the root's may be empty"))
        else:
            parts += (" (", escape_label(child.label))
            stack.append(iter(child.children))
    return "".join(parts)
