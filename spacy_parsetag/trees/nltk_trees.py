"""The border to NLTK: `nltk.Tree` is what users give and get, with words and labels as they stand in a bracket file.

NLTK takes longer to import than spaCy does, so each function imports it when it is called.
"""

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias, TypeVar

from ..errors import Errors
from .escape import escape_label, escape_token, unescape_label, unescape_token
from .parse import Parse
from .tree import Tree

if TYPE_CHECKING:
    import nltk

NLTKTree: TypeAlias = "nltk.Tree"
TreeT = TypeVar("TreeT")


def to_nltk(tree: Tree) -> "nltk.Tree":
    """Make an NLTK tree, words and labels in file form.

    >>> print(to_nltk(Tree("TOP", (Tree("-LRB-", ("(",)), Tree("PRP", ("She",))))))
    (TOP (-LRB- -LRB-) (PRP She))
    """
    import nltk

    top = nltk.Tree(escape_label(tree.label) if tree.label else "", [])
    todo = [(tree, top)]
    while todo:
        node, nltk_node = todo.pop()
        for child in node.children:
            if isinstance(child, str):
                nltk_node.append(escape_token(child))
            else:
                nltk_child = nltk.Tree(escape_label(child.label), [])
                nltk_node.append(nltk_child)
                todo.append((child, nltk_child))
    return top


def from_nltk(tree: "nltk.Tree") -> Tree:
    """Take an NLTK tree, the inverse of `to_nltk`.

    RAISES (TypeError): If it is no tree of NLTK, or something in it is neither a tree nor a string.
    """
    import nltk

    if not isinstance(tree, nltk.Tree):
        raise TypeError(Errors.E009.format(found=tree))
    nodes, todo = [], [tree]
    while todo:
        nodes.append(todo.pop())
        todo.extend(child for child in nodes[-1] if isinstance(child, nltk.Tree))
    converted: dict[int, Tree] = {}  # by the identity of NLTK's node
    for node in reversed(nodes):  # children before their parents
        children: list[Tree | str] = []
        for child in node:
            if not isinstance(child, (nltk.Tree, str)):
                raise TypeError(Errors.E009.format(found=child))
            children.append(unescape_token(child) if isinstance(child, str) else converted[id(child)])
        converted[id(node)] = Tree(unescape_label(str(node.label())), tuple(children))
    return converted[id(tree)]


def refuse_single(trees: Iterable[TreeT]) -> Iterable[TreeT]:
    """Give trees back, unless they are one tree (NLTK's is a list, of its children), a string or a path.

    RAISES (TypeError): If they are.
    """
    if isinstance(trees, (str, Path, Parse)) or hasattr(trees, "label"):
        raise TypeError(Errors.E011.format(found=type(trees).__name__))
    return trees
