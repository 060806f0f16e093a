"""Trees as columns: a few arrays over the nodes of any number of trees, in pre-order and joined.

(TOP (S (NP (PRP She)) (VP (VBZ sleeps))))

    label   TOP  S  NP  PRP  She  VP  VBZ  sleeps      numbers of strings; words are leaves, as text
    up        0  1   1    1    1   4    1       1      how far before it the parent stands; 0 at a root
    size      7  6   2    1    0   2    1       0      nodes below

That is 12 bytes a node. `up` and `size` need no change when batches are joined, or cut between trees. Each tree has a
root wrapper: its own, else TOP.
"""

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import cached_property, partial
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..errors import Errors
from ..files.write import atomic_path
from ..trees import Parse, Tree
from ._kernel import are_trees, lay_out_nodes
from .heads import HeadRules
from .pattern import Label, basic_category

Ints = NDArray[np.int32]
Longs = NDArray[np.int64]
Row = tuple[Parse, int, str, str]

SUFFIX = ".columns"  # of files that `TreeColumns.to_disk` writes
_FORMAT = 1
_ALIGNMENT = 64  # bytes
_DAMAGED = (
    FileNotFoundError, IsADirectoryError, ValueError, LookupError, TypeError, ArithmeticError, RecursionError
)  # fmt: skip
_MOST_PASSES = 256
_ARRAYS = {
    "label": np.int32, "up": np.int32, "size": np.int32, "starts": np.int64, "source": np.int32, "line": np.int64
}  # fmt: skip


@dataclass(frozen=True, eq=False)
class TreeColumns:
    """Any number of trees.

    label (Ints): The label or word of each node, as an index into `strings`.
    up (Ints): The distance to its parent; 0 at a root.
    size (Ints): The number of nodes below it.
    starts (Longs): The first node of each tree.
    strings (list[str]): Labels and words, each once.
    source (Ints): The file of each tree, as an index into `names`.
    line (Longs): The line or row of each tree in its file, from 1.
    names (list[str]): Names of files.
    ids (list[str]): The identifier of each tree, or ""; the list is empty if no tree has one.
    """

    label: Ints
    up: Ints
    size: Ints
    starts: Longs
    strings: list[str]
    source: Ints
    line: Longs
    names: list[str]
    ids: list[str] = field(default_factory=list)
    _heads: dict[HeadRules, Ints] = field(default_factory=dict, repr=False)
    _passes: dict[Label, NDArray[np.bool_]] = field(default_factory=dict, repr=False)

    def __len__(self) -> int:
        return len(self.starts)

    @cached_property
    def codes(self) -> dict[str, int]:
        """The place of each string in `strings`."""
        return {string: code for code, string in enumerate(self.strings)}

    @cached_property
    def words_before(self) -> Longs:
        """The number of words before each node, over all trees; one more entry for the end."""
        return np.append(0, np.cumsum(self.size == 0))

    @cached_property
    def sentence(self) -> Longs:
        """The number of each tree within its text: among the trees of its line or row, from 1."""
        is_first = (np.diff(self.line, prepend=-1) != 0) | (np.diff(self.source, prepend=-1) != 0)
        places = np.arange(len(self))
        return np.asarray(places - np.maximum.accumulate(places * is_first) + 1)

    def heads(self, rules: HeadRules) -> Ints:
        """The distance of each node to its head child, 0 at words; found once for each table of rules."""
        if rules not in self._heads:
            self._heads[rules] = rules.find(self.label, self.size, self.strings)
        return self._heads[rules]

    def passes(self, label: Label) -> NDArray[np.bool_]:
        """Tell whether each string passes a test of labels, whose negation does not count; found once for each test, as
        long as there are few."""
        mask = self._passes.get(label)
        if mask is None:
            if len(self._passes) >= _MOST_PASSES:  # where columns stay, and many words are looked up
                self._passes.clear()
            mask = np.zeros(len(self.strings), bool)
            if label.kind == "names" and not label.basic:
                mask[[self.codes[name] for name in label.names if name in self.codes]] = True
            else:
                texts = map(basic_category, self.strings) if label.basic else self.strings
                mask = np.fromiter(map(label.test, texts), bool, len(self.strings))
            self._passes[label] = mask
        return mask

    def trees_of(self, nodes: Longs) -> Longs:
        """Find the tree that each of some nodes belongs to."""
        return np.asarray(np.searchsorted(self.starts, nodes, "right") - 1)

    def nodes_of(self, trees: Longs) -> Longs:
        """List the nodes of some trees, tree after tree."""
        first = self.starts[trees]
        n_nodes = self.size[first].astype(np.int64) + 1
        return np.asarray(np.arange(n_nodes.sum()) + np.repeat(first - (np.cumsum(n_nodes) - n_nodes), n_nodes))

    def where(self, tree: int) -> str:
        """File and line of a tree."""
        return f"{self.names[self.source[tree]]}:{self.line[tree]}"

    def words(self, first: int, last: int | None = None) -> list[str]:
        """The words of a node, or among the nodes from one to another, the last included."""
        nodes = slice(first, (first + int(self.size[first]) if last is None else last) + 1)
        rows = zip(self.label[nodes].tolist(), self.size[nodes].tolist(), strict=True)
        return [self.strings[code] for code, size in rows if not size]

    def tree(self, number: int) -> Tree:
        """One of the trees as an object."""
        first, n_below = int(self.starts[number]), int(self.size[self.starts[number]])
        nodes = slice(first, first + n_below + 1)
        n_children = np.bincount(np.arange(1, n_below + 1) - self.up[nodes][1:], minlength=n_below + 1)
        complete: list[Any] = []  # subtrees, the leftmost last
        for code, n in zip(self.label[nodes][::-1].tolist(), n_children[::-1].tolist(), strict=True):
            node: Tree | str = self.strings[code]
            if n:
                node = Tree(self.strings[code], tuple(complete[: -n - 1 : -1]))
                del complete[-n:]
            complete.append(node)
        return Tree(complete[0].label, complete[0].children, int(self.line[number]))

    @classmethod
    def join(cls, batches: Iterable["TreeColumns"]) -> "TreeColumns":
        """Join batches into one."""
        parts = list(batches) or [columns_of_parses((), "")]
        strings, label = _renumber([(part.strings, part.label) for part in parts])
        names, source = _renumber([(part.names, part.source) for part in parts])
        up, size, line = (np.concatenate([getattr(part, name) for part in parts]) for name in ("up", "size", "line"))
        offsets = np.cumsum([0, *(len(part.label) for part in parts)])
        starts = np.concatenate([part.starts + offset for part, offset in zip(parts, offsets, strict=False)])
        ids = [name for part in parts for name in (part.ids or [""] * len(part))]
        return cls(label, up, size, starts, strings, source, line, names, ids if any(ids) else [])

    def to_disk(self, path: str | Path) -> None:
        """Save as a file, which `from_disk` maps into memory: a line of JSON, then the arrays, each at a multiple of 64
        bytes. It replaces what was saved there all at once, also where that is mapped (on Windows that is an OSError).
        """
        sizes = {"nodes": len(self.label), "trees": len(self)}
        texts = {"format": _FORMAT, **sizes, "strings": self.strings, "names": self.names, "ids": self.ids}
        Path(path).parent.mkdir(parents=True, exist_ok=True)
        with atomic_path(path) as temporary, temporary.open("wb") as file:
            file.write(json.dumps(texts).encode() + b"\n")
            for name, kind in _ARRAYS.items():
                file.write(b" " * (-file.tell() % _ALIGNMENT))
                file.write(getattr(self, name).astype(kind, copy=False).tobytes())

    @classmethod
    def from_disk(cls, path: str | Path) -> "TreeColumns":
        """Map a file that `to_disk` wrote into memory, and check that it holds trees.

        RAISES (ValueError): If `to_disk` did not write the file, it is damaged, or a later version of this package
            wrote it.
        """
        try:
            with Path(path).open("rb") as file:
                texts = json.loads(file.readline())
                if texts["format"] == _FORMAT:
                    arrays: Any = {}
                    start = file.tell()
                    for name, kind in _ARRAYS.items():
                        n = texts["nodes" if name in ("label", "up", "size") else "trees"]
                        start += -start % _ALIGNMENT
                        arrays[name] = np.asarray(np.memmap(file, kind, "r", start, n)) if n else np.empty(0, kind)
                        start += arrays[name].nbytes
                    columns = cls(**arrays, **{name: texts[name] for name in ("strings", "names", "ids")})
                    columns._check()
                    return columns
        except _DAMAGED as err:
            raise ValueError(Errors.E600.format(path=path)) from err
        raise ValueError(Errors.E601.format(path=path, found=texts["format"], known=_FORMAT))

    def _check(self) -> None:
        """Raise a ValueError if these are no trees: the search reads memory where the numbers say."""
        if not (
            all(type(text) is str for text in chain(self.strings, self.names, self.ids))
            and len(self.ids) in (0, len(self))
            and np.isin(self.source, np.arange(len(self.names))).all()
            and are_trees(self.label, self.up, self.size, len(self.strings), self.starts)
        ):
            raise ValueError


def _renumber(batches: Iterable[tuple[Sequence[str], Ints]]) -> tuple[list[str], Ints]:
    """Number the strings of several batches together, and join the numbers."""
    codes: dict[str, int] = {}
    renumbered: list[Ints] = []
    for strings, numbers in batches:
        new_numbers = np.array([codes.setdefault(string, len(codes)) for string in strings], np.int32)
        renumbered.append(new_numbers[numbers])
    return list(codes), np.concatenate(renumbered)


def columns_of_parses(rows: Iterable[Row], name: str) -> TreeColumns:
    """Make columns of parses. A parse without words is left out.

    rows (Iterable[Row]): Each parse, its line or row, the label of its root, and its identifier or "".
    RAISES (ValueError): If constituents cross, or are not in pre-order.
    """
    codes: dict[str, int] = {}
    words: list[int] = []
    tags: list[int] = []
    spans: list[tuple[int, int, int]] = []
    sentences: list[tuple[int, int, int, int]] = []
    ids: list[str] = []
    for parse, line, root, identifier in rows:
        if parse.words:
            words += [codes.setdefault(word, len(codes)) for word in parse.words]
            tags += [codes.setdefault(tag, len(codes)) for tag in parse.pos]
            spans += [(start, end, codes.setdefault(label, len(codes))) for start, end, label in parse.spans]
            sentences.append((len(parse), len(parse.spans), codes.setdefault(root, len(codes)), line))
            ids.append(identifier)
    n_words, n_spans, roots, lines = np.array(sentences, np.int64).reshape(-1, 4).T
    span_table = np.array(spans, np.int32).reshape(-1, 3).T
    return lay_out(n_words, n_spans, words, tags, span_table, list(codes), roots=roots, line=lines, name=name, ids=ids)


def lay_out(
    n_words: NDArray[Any],
    n_spans: NDArray[Any],
    words: ArrayLike,
    tags: ArrayLike,
    spans: NDArray[Any],
    strings: list[str],
    *,
    roots: NDArray[Any] | int,
    line: NDArray[Any],
    name: str,
    ids: Sequence[str] = (),
) -> TreeColumns:
    """Make columns of sentences whose constituents are spans.

    n_words, n_spans, line (NDArray): For each sentence how many words (one or more) and constituents it has, and its
        line or row.
    words, tags (ArrayLike): The words of all sentences and their parts of speech.
    spans (NDArray): Start, end and label of all constituents, as three rows; each sentence in pre-order.
    strings (list[str]): What the numbers of labels and words stand for.
    roots (NDArray | int): The label of the root of each sentence, or of all.
    ids (Sequence[str]): Their identifiers, or none.
    RAISES (ValueError): If constituents cross, or are not in pre-order.
    """
    roots = np.broadcast_to(roots, n_words.shape)
    n_nodes = 1 + n_spans.astype(np.int64) + 2 * n_words.astype(np.int64)
    tree_ends = np.cumsum(n_nodes)
    out = np.empty((3, n_nodes.sum()), np.int32)
    longs, ints = (partial(np.ascontiguousarray, dtype=kind) for kind in (np.int64, np.int32))
    bad_sentence = lay_out_nodes(longs(n_words), longs(n_spans), ints(roots), ints(words), ints(tags), ints(spans), out)
    if bad_sentence >= 0:
        raise ValueError(Errors.E602.format(where=f"{name}:{line[bad_sentence]}"))
    source = np.zeros(len(n_nodes), np.int32)
    return TreeColumns(
        out[0], out[1], out[2], tree_ends - n_nodes, strings, source, longs(line), [name], [*ids] if any(ids) else []
    )
