"""Read files that become Penn brackets once some of their lines, or the labels of their trees, are rewritten."""

from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

from ...trees.tree import Tree, rewrite
from ..lines import Line, read_lines
from ..reader import BracketReader, OnError

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
        self, source: Path, *, encoding: str, on_error: OnError | None = None, default_tag: str | None = None
    ) -> Iterator[Tree]:
        if encoding == "auto":
            encoding = self.guess_encoding(source) if self.guess_encoding is not None else "utf-8"
        lines = self._lines(read_lines(source, encoding, str(source)))
        for tree in BracketReader(lines, str(source), encoding, on_error, default_tag):
            yield rewrite_tree(tree, phrase=self.phrase, tag=self.tag, word=self.word, dissolve=self.dissolve)

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
    tree: Tree,
    *,
    phrase: Rewrite | None = None,
    tag: Rewrite | None = None,
    word: Rewrite | None = None,
    dissolve: Callable[[str], bool] | None = None,
) -> Tree:
    """Rewrite labels and words.

    tree (Tree): The tree.
    phrase, tag, word (Rewrite | None): What to do with the labels of phrases, part-of-speech tags, and words.
    dissolve (Callable[[str], bool] | None): Which phrases below the top are replaced by what is in them.
    RETURNS (Tree): The new tree.
    """

    def change(node: Tree, children: list[Tree | str]) -> Iterable[Tree | str]:
        if node.is_preterminal:
            text = str(children[0])
            return (Tree(tag(node.label) if tag else node.label, (word(text) if word else text,)),)
        if dissolve is not None and node is not tree and dissolve(node.label):
            return children
        return (Tree(phrase(node.label) if phrase else node.label, tuple(children), node.line),)

    (result,) = rewrite(tree, change, lambda node: True)
    return result if isinstance(result, Tree) else tree
