"""Read files that become Penn brackets once some of their lines, or the labels of their trees, are rewritten."""

from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from ...trees.parse import is_preterminal
from ..lines import Line, read_lines
from ..reader import BracketReader

if TYPE_CHECKING:
    from nltk import Tree

    from ..reader import OnError

Rewrite = Callable[[str], str]


class RewrittenBrackets:
    """A reader of a treebank's files; see `trees.penn.read_trees` for what is asked of it.

    line (Optional[Rewrite]): Rewrites each line. Line numbers stay, for messages.
    keep (Optional[Callable[[], Callable[[str], bool]]]): Makes a function for a file that says which lines are read.
    phrase, tag, word (Optional[Rewrite]): Rewrites the labels of phrases, part-of-speech tags, and words.
    dissolve (Optional[Callable[[str], bool]]): Which phrases, by label, are replaced by what is in them.
    guess_encoding (Optional[Callable[[Path], str]]): What encoding a file has, where that is given as "auto".
    """

    def __init__(
        self,
        *,
        line: Rewrite | None = None,
        keep: Callable[[], Callable[[str], bool]] | None = None,
        phrase: Rewrite | None = None,
        tag: Rewrite | None = None,
        word: Rewrite | None = None,
        dissolve: Callable[[str], bool] | None = None,
        guess_encoding: Callable[[Path], str] | None = None,
    ) -> None:
        self.line = line
        self.keep = keep
        self.phrase = phrase
        self.tag = tag
        self.word = word
        self.dissolve = dissolve
        self.guess_encoding = guess_encoding

    def __call__(
        self, source: Path, *, encoding: str, on_error: "OnError | None" = None, default_tag: str | None = None
    ) -> "Iterator[Tree]":
        if encoding == "auto":
            encoding = self.guess_encoding(source) if self.guess_encoding is not None else "utf-8"
        lines = self._lines(read_lines(source, encoding, str(source)))
        for tree in BracketReader(lines, str(source), encoding, on_error, default_tag):
            rewrite_tree(tree, phrase=self.phrase, tag=self.tag, word=self.word, dissolve=self.dissolve)
            yield tree

    def _lines(self, lines: Iterable[Line]) -> Iterator[Line]:
        keep = self.keep() if self.keep is not None else None
        for line in lines:
            text = line.text
            if keep is not None and not keep(text):
                text = "\n"
            elif self.line is not None:
                text = self.line(text)
            yield line._replace(text=text)


def rewrite_tree(
    tree: "Tree",
    *,
    phrase: Rewrite | None = None,
    tag: Rewrite | None = None,
    word: Rewrite | None = None,
    dissolve: Callable[[str], bool] | None = None,
) -> None:
    """Rewrite labels and words, in place.

    tree (nltk.Tree): The tree.
    phrase, tag, word (Optional[Rewrite]): What to do with the labels of phrases, part-of-speech tags, and words.
    dissolve (Optional[Callable[[str], bool]]): Which phrases below the top are replaced by what is in them.
    """
    stack: list[Tree] = [tree]
    while stack:
        node = stack.pop()
        if is_preterminal(node):
            if tag is not None:
                node.set_label(tag(node.label()))
            if word is not None:
                node[0] = word(node[0])
            continue
        if phrase is not None:
            node.set_label(phrase(node.label()))
        if dissolve is not None:
            _dissolve_children(node, dissolve)
        stack.extend(child for child in node if not isinstance(child, str))


def _dissolve_children(node: "Tree", dissolve: Callable[[str], bool]) -> None:
    kept = []
    waiting = list(reversed(node))
    while waiting:
        child = waiting.pop()
        if isinstance(child, str) or is_preterminal(child) or not dissolve(child.label()):
            kept.append(child)
        else:
            waiting.extend(reversed(child))
    node[:] = kept
