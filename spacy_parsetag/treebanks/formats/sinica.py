"""The Sinica Treebank: a clause a line, with roles before the labels and children between bars.

    #6:6.[39032] S(agent:NP(Head:Nhaa:我們)|time:Dd:常常|Head:VA4:上學)#，(COMMACATEGORY)

becomes `(S (NP (Nhaa 我們)) (Dd 常常) (VA4 上學))`. Roles are dropped, and the mark after the clause, which is outside
the tree.
"""

import re
from collections.abc import Iterator
from dataclasses import replace

from ...errors import Errors, TreebankError
from ...trees.clean import CleanOptions
from ...trees.tree import Tree
from ..penn import Line, OnError, undecodable
from .base import TreebankFormat

_CLAUSE = re.compile(r"#[^\s]*\s+(.*)#.*")
_PIECE = re.compile(r"([^()|]*)([()|]|$)")


def read_clauses(
    lines: Iterator[Line], path: str, encoding: str, on_error: OnError | None, default_tag: str | None
) -> Iterator[Tree]:
    """Read the clauses of a file's lines; all words have tags. See `TreebankFormat.read`."""
    for number, text in lines:
        text = text.strip()
        if not text:
            continue
        found = _CLAUSE.fullmatch(text)
        try:
            if problem := undecodable(text, encoding):
                raise ValueError(problem)
            if found is None:
                raise ValueError(Errors.E113.format(reason="no '#', or no space after its number"))
            tree = parse_clause(found.group(1))
        except ValueError as err:
            error = TreebankError(path, number, str(err))
            if on_error is None:
                raise error from err
            on_error(error)
        else:
            yield replace(tree, line=number)


def parse_clause(text: str) -> Tree:
    """Read one clause.

    text (str): The clause, without number and mark.
    RETURNS (Tree): The tree.
    RAISES (ValueError): If it is none.
    """
    # Open nodes, each with its label and children; the lowest stands for the clause.
    stack: list[tuple[str, list[Tree | str]]] = [("", [])]
    after_close = False
    for found in _PIECE.finditer(text):
        name, mark = found.groups()
        if not name and not mark:
            break
        if after_close == bool(name):
            raise ValueError(Errors.E113.format(reason=f"{found.group()!r} at character {found.start() + 1}"))
        if mark == "(":
            stack.append((name.rpartition(":")[2], []))
        elif name:
            stack[-1][1].append(_leaf(name))
        if mark == ")":
            if len(stack) == 1:
                raise ValueError(Errors.E113.format(reason="a closing bracket too many"))
            label, children = stack.pop()
            stack[-1][1].append(Tree(label, tuple(children)))
        after_close = mark == ")"
    found_nodes = stack[0][1]
    if len(stack) != 1 or len(found_nodes) != 1 or not isinstance(found_nodes[0], Tree):
        raise ValueError(Errors.E113.format(reason="brackets do not match"))
    return found_nodes[0]


def _leaf(text: str) -> Tree:
    """`time:Dd:常常` becomes `(Dd 常常)`."""
    rest, colon, word = text.rpartition(":")
    tag = rest.rpartition(":")[2]
    if not colon or not tag or not word:
        raise ValueError(Errors.E113.format(reason=f"{text!r} is not a role, a tag and a word"))
    return Tree(tag, (word,))


# NLTK distributes the treebank as one file without a suffix.
SINICA = TreebankFormat(
    suffixes=(".txt", "parsed"), encoding="big5", clean=CleanOptions(functions=False), read_lines=read_clauses
)
