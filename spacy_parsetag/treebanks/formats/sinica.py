"""The Sinica Treebank: a clause a line, with roles before the labels and children between bars.

    #6:6.[39032] S(agent:NP(Head:Nhaa:我們)|time:Dd:常常|Head:VA4:上學)#，(COMMACATEGORY)

becomes `(S (NP (Nhaa 我們)) (Dd 常常) (VA4 上學))`. Roles are dropped, and the mark after the clause, which is outside
the tree.
"""

import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from ...errors import Errors, TreebankError
from ...trees.tree import Tree
from ..lines import UNDECODABLE, read_lines, undecodable_bytes
from ..reader import OnError

_CLAUSE = re.compile(r"#[^\s]*\s+(.*)#.*")
_PIECE = re.compile(r"([^()|]*)([()|]|$)")


def read_sinica(
    source: Path, *, encoding: str, on_error: OnError | None = None, default_tag: str | None = None
) -> Iterator[Tree]:
    """Read the clauses of a file.

    source (Path): The file.
    encoding (str): Its encoding.
    on_error (Optional[Callable[[TreebankError], None]]): Called with what is wrong with a line, which is left out.
    default_tag (Optional[str]): Not needed: all words have tags.
    YIELDS (Tree): The trees.
    RAISES (TreebankError): At a line that is no clause, unless `on_error` is given.
    """
    for number, text, _ in read_lines(source, encoding, str(source)):
        text = text.strip()
        if not text:
            continue
        found = _CLAUSE.fullmatch(text)
        try:
            if UNDECODABLE.search(text):
                raise ValueError(Errors.E392.format(data=undecodable_bytes(text), encoding=encoding))
            if found is None:
                raise ValueError(Errors.E390.format(reason="no '#', or no space after its number"))
            tree = parse_clause(found.group(1))
        except ValueError as err:
            error = TreebankError(str(source), number, str(err))
            if on_error is None:
                raise error from err
            on_error(error)
            continue
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
            raise ValueError(Errors.E390.format(reason=f"{found.group()!r} at character {found.start() + 1}"))
        if mark == "(":
            stack.append((name.rpartition(":")[2], []))
        elif name:
            stack[-1][1].append(_leaf(name))
        if mark == ")":
            if len(stack) == 1:
                raise ValueError(Errors.E390.format(reason="a closing bracket too many"))
            label, children = stack.pop()
            stack[-1][1].append(Tree(label, tuple(children)))
        after_close = mark == ")"
    found_nodes = stack[0][1]
    if len(stack) != 1 or len(found_nodes) != 1 or not isinstance(found_nodes[0], Tree):
        raise ValueError(Errors.E390.format(reason="brackets do not match"))
    return found_nodes[0]


def _leaf(text: str) -> Tree:
    """`time:Dd:常常` becomes `(Dd 常常)`."""
    rest, colon, word = text.rpartition(":")
    tag = rest.rpartition(":")[2]
    if not colon or not tag or not word:
        raise ValueError(Errors.E390.format(reason=f"{text!r} is not a role, a tag and a word"))
    return Tree(tag, (word,))
