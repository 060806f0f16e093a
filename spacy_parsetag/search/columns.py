"""Trees as columns: a few arrays over the nodes of any number of trees, in pre-order and joined.

(TOP (S (NP (PRP She)) (VP (VBZ sleeps))))

    label   TOP  S  NP  PRP  She  VP  VBZ  sleeps      numbers of strings; words are leaves, as text
    up        0  1   1    1    1   4    1       1      how far before it the parent stands; 0 at a root
    size      7  6   2    1    0   2    1       0      nodes below

That is 12 bytes a node. Both distances stay as they are when batches are joined or cut between trees. Each tree has a
root wrapper: its own, else TOP.
"""

import io
import json
import os
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property, partial
from itertools import count, islice
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..errors import Errors, TreebankError
from ..files.read import why_misread
from ..trees import ROOT_LABELS, Constituent, Parse, Tree
from ..trees.escape import unescape_label, unescape_token
from ..trees.tree import ROOT
from ._kernel import lay_out_nodes, scan_brackets
from .heads import HeadRules
from .pattern import Label, basic_category

if TYPE_CHECKING:
    from ..treebanks.penn import OnError

Ints = NDArray[np.int32]
Longs = NDArray[np.int64]
Row = tuple[Parse, int, str, str]

BATCH = 1 << 16  # trees
_FORMAT = 1
_ARRAYS = ("label", "up", "size", "starts", "source", "line")
_CLOSING = re.compile(rb"\s*\)")
_EMPTY = re.compile(rf"^[ \t]*\((?:{'|'.join(sorted(ROOT_LABELS))})\s*\)[ \t]*$", re.MULTILINE)


@dataclass(frozen=True, eq=False)
class TreeColumns:
    """Any number of trees.

    label (Ints): What each node is called, as a place in `strings`.
    up (Ints): The distance to its parent; 0 at a root.
    size (Ints): The number of nodes below it.
    starts (Longs): The first node of each tree.
    strings (list[str]): Labels and words, each once.
    source (Ints): Where each tree is from, as a place in `names`.
    line (Longs): Its line or row there, from 1.
    names (list[str]): Files.
    ids (list[str]): The identifier of each tree, where its file has identifiers; else none.
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
        firsts, places = np.flatnonzero(is_first), np.arange(len(self))
        return np.asarray(places - firsts[np.cumsum(is_first) - 1] + 1)

    def heads(self, rules: HeadRules) -> Ints:
        """The distance of each node to its head child, 0 at words; found once for each table of rules."""
        if rules not in self._heads:
            self._heads[rules] = rules.find(self.label, self.size, self.strings)
        return self._heads[rules]

    def passes(self, label: Label) -> NDArray[np.bool_]:
        """Tell whether each string passes a test of labels; found once for each test."""
        found = self._passes.get(label)
        if found is None:
            found = np.zeros(len(self.strings), bool)
            if label.kind == "names" and not label.basic:
                found[[self.codes[name] for name in label.names if name in self.codes]] = True
            else:
                texts = map(basic_category, self.strings) if label.basic else self.strings
                found = np.fromiter(map(label.test, texts), bool, len(self.strings))
            found = self._passes[label] = found != label.negated
        return found

    def trees_of(self, nodes: Longs) -> Longs:
        """Find the tree that each of some nodes belongs to."""
        return np.asarray(np.searchsorted(self.starts, nodes, "right") - 1)

    def select(self, trees: Longs) -> tuple["TreeColumns", Longs]:
        """Some of the trees as columns of their own, and their nodes, as they are numbered here."""
        first = self.starts[trees]
        n_nodes = self.size[first].astype(np.int64) + 1
        starts = np.cumsum(n_nodes) - n_nodes
        nodes = np.arange(n_nodes.sum()) + np.repeat(first - starts, n_nodes)
        ids = [self.ids[tree] for tree in trees.tolist()] if self.ids else []
        label, up, size = self.label[nodes], self.up[nodes], self.size[nodes]
        source, line = self.source[trees], self.line[trees]
        return TreeColumns(label, up, size, starts, self.strings, source, line, self.names, ids), nodes

    def where(self, tree: int) -> str:
        """File and line of a tree."""
        return f"{self.names[self.source[tree]]}:{self.line[tree]}"

    def words(self, first: int, last: int | None = None) -> list[str]:
        """The words of a node, or among the nodes from one to another, the last included."""
        last = first + int(self.size[first]) if last is None else last
        leaves = np.flatnonzero(self.size[first : last + 1] == 0) + first
        return [self.strings[code] for code in self.label[leaves].tolist()]

    def tree(self, number: int) -> Tree:
        """One of the trees as an object."""
        first = int(self.starts[number])
        open_nodes: list[tuple[int, str, list[Tree | str]]] = []
        for node in range(first, first + int(self.size[first]) + 1):
            text = self.strings[self.label[node]]
            if self.size[node]:
                open_nodes.append((node + int(self.size[node]), text, []))
                continue
            open_nodes[-1][2].append(text)
            while open_nodes[-1][0] == node:
                _, label, children = open_nodes.pop()
                if not open_nodes:
                    return Tree(label, tuple(children), int(self.line[number]))
                open_nodes[-1][2].append(Tree(label, tuple(children)))
        raise ValueError(Errors.E604.format(number=number))

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
        """Save as a folder, which `from_disk` maps into memory; it may be the one that these are mapped from."""
        folder = Path(path)
        folder.mkdir(parents=True, exist_ok=True)
        texts = {"format": _FORMAT, "strings": self.strings, "names": self.names, "ids": self.ids}
        with TemporaryDirectory(dir=folder, prefix=".") as temporary:
            for name in _ARRAYS:
                np.save(Path(temporary, f"{name}.npy"), getattr(self, name))
            Path(temporary, "columns.json").write_text(json.dumps(texts), encoding="utf-8")
            (folder / "columns.json").unlink(missing_ok=True)  # which comes last: without it there are no columns
            for name in (*(f"{name}.npy" for name in _ARRAYS), "columns.json"):
                os.replace(Path(temporary, name), folder / name)

    @classmethod
    def from_disk(cls, path: str | Path) -> "TreeColumns":
        """Map a folder that `to_disk` wrote into memory: nothing is read before it is looked at.

        RAISES (ValueError): If it is no such folder, one whose files do not fit together, or one that a later version
            of this package wrote.
        """
        folder = Path(path)
        try:
            texts = json.loads((folder / "columns.json").read_text(encoding="utf-8"))
            if texts["format"] == _FORMAT:
                arrays = {name: np.load(folder / f"{name}.npy", mmap_mode="r") for name in _ARRAYS}
                columns = cls(**arrays, **{name: texts[name] for name in ("strings", "names", "ids")})
                columns._check()
                return columns
        except (FileNotFoundError, NotADirectoryError, EOFError, ValueError, LookupError, TypeError) as err:
            raise ValueError(Errors.E600.format(path=folder)) from err
        raise ValueError(Errors.E601.format(path=folder, found=texts["format"], known=_FORMAT))

    def _check(self) -> None:
        """Raise a ValueError if the arrays are not of one batch: by their sizes, so that they need not be read."""
        n_trees, n_nodes = len(self.starts), len(self.label)
        nodes, trees = (self.label, self.up, self.size), (self.starts, self.source, self.line)
        sizes = {(n_nodes, np.dtype(np.int32))} == {(len(each), each.dtype) for each in nodes}
        end = int(self.starts[-1]) + int(self.size[self.starts[-1]]) + 1 if n_trees and sizes else 0
        if (
            not sizes
            or {len(each) for each in trees} != {n_trees}
            or len(self.ids) not in (0, n_trees)
            or end != n_nodes
        ):
            raise ValueError


def is_columns(path: Path) -> bool:
    """Check whether a folder holds columns."""
    return (path / "columns.json").is_file()


def _renumber(rows: Iterable[tuple[Sequence[str], Ints]]) -> tuple[list[str], Ints]:
    """Number the strings of several batches together, and join the numbers."""
    codes: dict[str, int] = {}
    numbers = [np.array([codes.setdefault(each, len(codes)) for each in texts], np.int32)[old] for texts, old in rows]
    return list(codes), np.concatenate(numbers)


def read_brackets(
    data: bytes, name: str, *, encoding: str = "utf-8", on_error: "OnError | None" = None, batch: int = BATCH
) -> Iterator[TreeColumns]:
    """Read the trees of a bracket file in one pass, without an object for a node.

    What is no plain tree goes to `treebanks.penn.read_trees`, with all that follows it: so forms and errors are the
    other commands'. `(TOP)`, a sentence without a parse, is no tree.

    on_error (OnError | None): Called with each malformed tree, which is left out. Without it the first one is raised.
    RAISES (TreebankError): The first malformed tree, with file and line; or if the file is not in this encoding.
    RAISES (ValueError): If there is no such encoding.
    """
    errors = "surrogateescape"
    if encoding.lower().replace("_", "-") not in ("utf-8", "utf8"):
        try:
            data = data.decode(encoding, errors).encode("utf-8", "surrogatepass")
        except LookupError as err:
            raise ValueError(Errors.E101.format(encoding=encoding)) from err
        except UnicodeError as err:
            raise TreebankError(name, 1, why_misread(err, encoding)) from err
        errors = "surrogatepass"
    at, line = 0, 1
    is_plain = b"\xef\xbb\xbf" not in data
    while is_plain and at < len(data):
        columns, labels, words, end, end_line = scan_brackets(data, at, line, batch)
        codes: dict[str, int] = {}
        # An empty label, which only a root may have; numbered words, as discontinuous trees have them; a bracket that
        # closes nothing, which may spoil the tree before it.
        if b"\\e" in labels or (at == 0 and words and re.match(rb"[0-9]+=.", words[0])) or _CLOSING.match(data, end):
            break
        try:
            numbers = [codes.setdefault(unescape_label(label.decode()), len(codes)) for label in labels]
            # A word has a negative number, and so is counted from the end.
            numbers += [codes.setdefault(unescape_token(word.decode()), len(codes)) for word in words][::-1]
        except UnicodeDecodeError:
            break
        label, up, size, starts, lines = columns
        if len(starts):
            source = np.zeros(len(starts), np.int32)
            yield TreeColumns(np.array(numbers, np.int32)[label], up, size, starts, list(codes), source, lines, [name])
        at, line, is_plain = end, end_line, len(starts) == batch
    if at < len(data):
        # What stands behind something on its line is no comment.
        within = " " if at and data[at : at + 1] == b"#" and data[at - 1 : at] not in b"\r\n" else ""
        yield from _read_others(within + data[at:].decode("utf-8", errors), line, name, encoding, on_error, batch)


def _line_breaks(found: re.Match[str]) -> str:
    """Keep the line breaks of a tree that is left out, so that lines keep their numbers."""
    return re.sub(r"[^\r\n]", "", found.group())


def _read_others(
    text: str, line: int, name: str, encoding: str, on_error: "OnError | None", batch: int
) -> Iterator[TreeColumns]:
    # Which takes as long to import as all else.
    from ..treebanks.penn import BracketReader, Line, make_of_each, read_file_lines

    lines = read_file_lines(io.StringIO(_EMPTY.sub(_line_breaks, text), newline=None), encoding, name)
    numbered = (Line(each.number + line - 1, each.text) for each in lines)

    def parses() -> Iterator[Row]:
        trees = BracketReader(numbered, name, encoding, on_error, None)
        for tree, parse in make_of_each(trees, Parse.from_tree, name, on_error):
            if parse.words:
                yield parse, tree.line, tree.label if tree.is_wrapper else ROOT, ""

    rows = parses()
    while len(columns := columns_of_parses(islice(rows, batch), name)):
        yield columns


def columns_of_parses(rows: Iterable[Row], name: str) -> TreeColumns:
    """Make columns of parses. One without words is no tree.

    rows (Iterable[Row]): Each parse, its line or row, the label of its root, and its identifier or "".
    RAISES (ValueError): If constituents cross, or are not in pre-order.
    """
    codes: dict[str, int] = {}
    words: list[int] = []
    tags: list[int] = []
    spans: list[tuple[int, int, int]] = []
    sentences: list[tuple[int, int, int, int]] = []
    ids: list[str] = []
    for parse, line, root, one in rows:
        if parse.words:
            words += [codes.setdefault(word, len(codes)) for word in parse.words]
            tags += [codes.setdefault(tag, len(codes)) for tag in parse.pos]
            spans += [(start, end, codes.setdefault(label, len(codes))) for start, end, label in parse.spans]
            sentences.append((len(parse), len(parse.spans), codes.setdefault(root, len(codes)), line))
            ids.append(one)
    n_words, n_spans, roots, lines = np.array(sentences, np.int64).reshape(-1, 4).T
    table = np.array(spans, np.int32).reshape(-1, 3).T
    return lay_out(n_words, n_spans, roots, words, tags, table, lines, list(codes), name, ids)


def lay_out(
    n_words: NDArray[Any],
    n_spans: NDArray[Any],
    roots: NDArray[Any],
    words: ArrayLike,
    tags: ArrayLike,
    spans: NDArray[Any],
    line: NDArray[Any],
    strings: list[str],
    name: str,
    ids: Sequence[str] = (),
) -> TreeColumns:
    """Make columns of sentences whose constituents are spans.

    n_words, n_spans, roots, line (NDArray): For each sentence how many words (one or more) and constituents it has, the
        label of its root, and its line or row.
    words, tags (ArrayLike): The words of all sentences and their parts of speech.
    spans (NDArray): Start, end and label of all constituents, as three rows; each sentence in pre-order.
    strings (list[str]): What the numbers of labels and words stand for.
    ids (Sequence[str]): Their identifiers, or none.
    RAISES (ValueError): If constituents cross, or are not in pre-order.
    """
    counts = 1 + n_spans.astype(np.int64) + 2 * n_words.astype(np.int64)
    ends = np.cumsum(counts)
    out = np.empty((3, counts.sum()), np.int32)
    longs, ints = (partial(np.ascontiguousarray, dtype=kind) for kind in (np.int64, np.int32))
    bad = lay_out_nodes(longs(n_words), longs(n_spans), ints(roots), ints(words), ints(tags), ints(spans), out)
    if bad >= 0:
        raise ValueError(Errors.E602.format(where=f"{name}:{line[bad]}"))
    source = np.zeros(len(counts), np.int32)
    return TreeColumns(
        out[0], out[1], out[2], ends - counts, strings, source, longs(line), [name], [*ids] if any(ids) else []
    )


def read_rows(rows: Iterable[tuple[int, Any]], name: str) -> TreeColumns:
    """Make columns of parsed texts as `parse --output-format jsonl` writes them.

    rows (Iterable[tuple[int, Any]]): For each text its line and the object.
    RAISES (ValueError): If a line has no parse, or constituents cross.
    """

    def parses() -> Iterator[Row]:
        for line, row in rows:
            try:
                for sent in row["sents"] or ():
                    yield _parse_of(sent), line, ROOT, text_of(row.get("id"))
            except (KeyError, TypeError) as err:
                raise ValueError(Errors.E603.format(where=f"{name}:{line}")) from err

    return columns_of_parses(parses(), name)


def _parse_of(sent: Any) -> Parse:
    """Read a sentence of a parsed text. RAISES (KeyError, TypeError): If it is none."""
    spans = [Constituent(span["start"], span["end"], span["label"]) for span in sent["constituents"]]
    parse = Parse(tuple(sent["words"]), tuple(sent["pos"]), tuple(spans))
    are_lists = not isinstance(sent["words"], str) and not isinstance(sent["pos"], str)
    are_texts = all(isinstance(text, str) for text in (*parse.words, *parse.pos, *(span.label for span in spans)))
    are_places = all(isinstance(n, int) and n.bit_length() < 32 for span in spans for n in span[:2])
    if not (are_lists and are_texts and are_places and len(parse.words) == len(parse.pos)):
        raise TypeError
    return parse


def text_of(identifier: Any) -> str:
    """Write an identifier; "" for none."""
    return "" if identifier is None else str(identifier)


def read_table(table: Any, name: str, first: int = 1) -> TreeColumns:
    """Make columns of a `pyarrow.Table` or `RecordBatch` of parsed texts, as `parse --output-format parquet` writes
    it: a column "sents", and perhaps "id". Strings are compared once each.

    RAISES (ValueError): If it has no such column, a row has no parse, or constituents cross.
    """

    def by_rows() -> TreeColumns:  # which leaves out or says where
        return read_rows(zip(count(first), table.to_pylist(), strict=False), name)

    try:
        column = table.column("sents")
        column = column.combine_chunks() if hasattr(column, "combine_chunks") else column
        sents = column.flatten()
        lists = [sents.field(key) for key in ("words", "pos", "constituents")]
        texts = [*(each.flatten() for each in lists[:2]), lists[2].flatten().field("label")]
        bounds = [lists[2].flatten().field(key) for key in ("start", "end")]
    except KeyError as err:
        raise ValueError(Errors.E603.format(where=f"{name}:{first}")) from err
    except AttributeError:  # of columns that have other types, or none, as there is nothing in them
        return by_rows()
    kinds = [str(each.type) for each in (*texts, *bounds)]
    if not {*kinds[:3]} <= {"string", "large_string"} or not all("int" in kind for kind in kinds[3:]):
        return by_rows()
    n_sents = column.value_lengths().fill_null(0).to_numpy(zero_copy_only=False)
    n_words, n_tags, n_spans = (each.value_lengths().to_numpy(zero_copy_only=False) for each in lists)
    if any(each.null_count for each in (sents, *lists, *texts, *bounds)) or (n_words != n_tags).any() or 0 in n_words:
        return by_rows()
    codes: dict[str, int] = {ROOT: 0}

    def encode(strings: Any) -> Ints:
        encoded = strings.dictionary_encode()
        numbers = [codes.setdefault(text, len(codes)) for text in encoded.dictionary.to_pylist()]
        places: Longs = encoded.indices.to_numpy(zero_copy_only=False)
        return np.array(numbers, np.int32)[places]

    words, tags, labels = map(encode, texts)
    line = np.repeat(np.arange(first, first + len(n_sents)), n_sents)
    ids = [*map(text_of, table.column("id").to_pylist())] if "id" in table.schema.names else []
    ids = [ids[row - first] for row in line.tolist()] if any(ids) else []
    spans = np.stack([*(each.to_numpy(zero_copy_only=False) for each in bounds), labels]).astype(np.int32)
    return lay_out(n_words, n_spans, 0 * n_words, words, tags, spans, line, list(codes), name, ids)
