r"""Write a tree for LaTeX's package forest: `\begin{forest} [NP [DT [the]] [NN [dog]]] \end{forest}`."""

import re

from ..trees.tree import Tree
from .nodes import DrawnNode, nodes_of

_SPECIAL = {char: "\\" + char for char in "&%$#_{}"} | {
    "\\": r"\textbackslash{}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    # TeX's old fonts have other characters in the places of these.
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "|": r"\textbar{}",
    # A letter of its own in German and other languages of babel: "a is an umlaut, and "} an error.
    '"': r"\char34{}",
}
_LIGATURE = re.compile(r"(?<=([-'`,]))(?=\1)|(?<=[!?])(?=`)")  # within which fonts would have one character for two
_PLAIN = re.compile(r"[\w-]*")


def escape_latex(text: str) -> str:
    """Write a text so that LaTeX prints it as it is."""
    return _LIGATURE.sub(r"{\\kern0pt}", "".join(_SPECIAL.get(char, char) for char in text))


def draw_latex(tree: Tree, *, tags: bool = True) -> str:
    """Write a tree as an environment of the package forest. What it would read as brackets or options is in braces."""
    parts: list[str] = []
    stack: list[DrawnNode | str] = [nodes_of(tree, tags=tags)]
    while stack:
        node = stack.pop()
        if isinstance(node, str):
            parts.append(node)
            continue
        text = escape_latex(node.text)
        parts.append(f" [{text}" if _PLAIN.fullmatch(text) else f" [{{{text}}}")
        stack += ["]", *reversed(node.children)]
    return "\\begin{forest}\n" + "".join(parts).lstrip() + "\n\\end{forest}\n"
