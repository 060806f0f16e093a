"""The border to NLTK: `nltk.Tree` is what users give and get, with words and labels as they stand in a bracket file.

NLTK takes longer to import than spaCy does, so it is imported where a tree of it is made or taken.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from .escape import escape_label, escape_token, unescape_label, unescape_token
from .tree import Tree

if TYPE_CHECKING:
    import nltk


def to_nltk(tree: Tree) -> nltk.Tree:
    """Make an NLTK tree.

    >>> print(to_nltk(Tree("TOP", (Tree("-LRB-", ("(",)), Tree("PRP", ("She",))))))
    (TOP (-LRB- -LRB-) (PRP She))

    tree (Tree): The tree, words and labels as text.
    RETURNS (nltk.Tree): The same with words and labels in file form: "(" has become "-LRB-".
    """
    import nltk

    top = nltk.Tree(escape_label(tree.label) if tree.label else "", [])
    todo = [(tree, top)]
    while todo:
        node, made = todo.pop()
        for child in node.children:
            if isinstance(child, str):
                made.append(escape_token(child))
            else:
                made.append(nltk.Tree(escape_label(child.label), []))
                todo.append((child, made[-1]))
    return top


def from_nltk(tree: nltk.Tree) -> Tree:
    """Take an NLTK tree, the inverse of `to_nltk`.

    tree (nltk.Tree): The tree, words and labels in file form.
    RETURNS (Tree): The same with words and labels as text: "-LRB-" has become "(".
    RAISES (TypeError): If something in it is neither a tree nor a string.
    """
    import nltk

    found: list[Tree | str] = []
    # A node, and where its children go; the node itself is made when they are all there.
    stack: list[tuple[nltk.Tree, int, list[Tree | str]]] = [(tree, 0, [])]
    while stack:
        node, position, children = stack.pop()
        if position == len(node):
            made = Tree(unescape_label(str(node.label())), tuple(children))
            (stack[-1][2] if stack else found).append(made)
            continue
        stack.append((node, position + 1, children))
        child = node[position]
        if isinstance(child, nltk.Tree):
            stack.append((child, 0, []))
        elif isinstance(child, str):
            children.append(unescape_token(child))
        else:
            raise TypeError(f"a word of a tree is a string; got {child!r}")
    (result,) = found
    if not isinstance(result, Tree):
        raise TypeError("not a tree")
    return result
