"""Parses become .spacy files, one or many, which appear all together or not at all."""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack
from itertools import groupby
from operator import itemgetter
from pathlib import Path

from spacy.tokens import DocBin
from spacy.vocab import Vocab

from ..errors import Errors
from ..tokens.convert import doc_from_parses
from ..tokens.spans import SPANS_KEY
from ..trees.parse import Parse
from .atomic import atomic_path, refuse_overwrite
from .files import SourceFile
from .split import Split

# What a treebank says of a token, beside its text and spaces. With all of `DocBin`'s attributes a file would need five
# times the memory, and hold zeros.
DOCBIN_ATTRS = ("TAG", "SENT_START")
SUFFIX = ".spacy"


class DocFile:
    """A .spacy file that parses are added to.

    path (Path): The file.
    vocab (Vocab): The vocabulary.
    n_sents (int): Sentences in a doc.
    spans_key (str): Key of the constituents in `doc.spans`.
    detokenize (bool): Guess the spaces between words.
    """

    def __init__(
        self, path: Path, vocab: Vocab, *, n_sents: int = 1, spans_key: str = SPANS_KEY, detokenize: bool = False
    ) -> None:
        if n_sents < 1:
            raise ValueError(Errors.E308.format(n=n_sents))
        self.path = path
        self.vocab = vocab
        self.n_sents = n_sents
        self.spans_key = spans_key
        self.detokenize = detokenize
        self.docs = DocBin(attrs=DOCBIN_ATTRS)
        self.waiting: list[Parse] = []
        self.docs_added = self.sentences = self.words = 0

    def add(self, parse: Parse) -> None:
        """Add a sentence."""
        self.waiting.append(parse)
        self.sentences += 1
        self.words += len(parse)
        if len(self.waiting) == self.n_sents:
            self.end_doc()

    def end_doc(self) -> None:
        """The next sentence does not follow on the last one: it starts a doc."""
        if self.waiting:
            self.docs.add(
                doc_from_parses(self.vocab, self.waiting, spans_key=self.spans_key, detokenize=self.detokenize)
            )
            self.docs_added += 1
            self.waiting = []

    def write(self, path: Path) -> None:
        """Write the file under this name, and forget the docs."""
        self.docs.to_disk(path)
        self.docs = DocBin(attrs=DOCBIN_ATTRS)


def write_treebank(
    files: Sequence[SourceFile],
    read: Callable[[SourceFile], Iterator[Parse]],
    output: Path,
    *,
    make_file: Callable[[Path], DocFile],
    split: Split | None = None,
    limit: int = 0,
    check: Callable[[], None] | None = None,
) -> list[DocFile]:
    """Convert files.

    files (Sequence[SourceFile]): The treebank's files.
    read (Callable[[SourceFile], Iterator[Parse]]): Reads one.
    output (Path): A name that ends in .spacy: one file with everything. Another name: a folder, with a file for each
        part of the split, or for each file read.
    make_file (Callable[[Path], DocFile]): Makes the object for a file to be written.
    split (Optional[Split]): What goes into which part; the rest is left out.
    limit (int): Most sentences in each file written; 0 for no limit.
    check (Callable[[], None] | None): Called when all is read. If it raises, nothing is written.
    RETURNS (List[DocFile]): The files, written.
    RAISES (TreebankError): Whatever `read` raises. Nothing is written then, and what was there stays.
    RAISES (ValueError): If there are no trees, or none for a part of the split; if two files would be written under one
        name, or over one that is read; or if output is not such a name.
    """
    as_folder = output.suffix != SUFFIX
    if output.is_file() if as_folder else (output.is_dir() or split is not None):
        raise ValueError(Errors.E357.format(path=output))
    if as_folder and output.suffix and not output.exists():
        raise ValueError(Errors.E397.format(path=output, suffix=output.suffix))
    with ExitStack() as stack:
        if split is not None:
            filled: Iterable[DocFile] = _fill_parts(files, read, output, split, make_file, limit)
        elif as_folder:
            filled = _fill_each(files, read, output, make_file, limit)
        else:
            filled = _fill_one(files, read, output, make_file, limit)
        written = []
        for target in filled:
            refuse_overwrite([target.path], [file.path for file in files])
            written.append(_save(target, stack))
        if check is not None:
            check()
        if not any(target.sentences for target in written):
            raise ValueError(Errors.E355.format(inputs=", ".join(str(file.path) for file in files[:5])))
        empty = next((target.path.stem for target in written if not target.sentences), None)
        if split is not None and empty is not None:
            raise ValueError(Errors.E398.format(part=empty, block=split.block))
    return written


def _fill(target: DocFile, parses: Iterable[Parse], limit: int) -> None:
    """Add parses that stand one after another, up to the limit."""
    if not limit or target.sentences < limit:
        for parse in parses:
            target.add(parse)
            if target.sentences == limit:
                break
        target.end_doc()


def _fill_one(
    files: Sequence[SourceFile],
    read: Callable[[SourceFile], Iterator[Parse]],
    path: Path,
    make_file: Callable[[Path], DocFile],
    limit: int,
) -> list[DocFile]:
    """One file for everything."""
    target = make_file(path)
    for file in files:
        _fill(target, read(file), limit)
    return [target]


def _fill_each(
    files: Sequence[SourceFile],
    read: Callable[[SourceFile], Iterator[Parse]],
    folder: Path,
    make_file: Callable[[Path], DocFile],
    limit: int,
) -> Iterator[DocFile]:
    """A file for each one read, as it is done, so that its docs need not stay in memory."""
    paths = [folder / file.relative.with_suffix(SUFFIX) for file in files]
    twice = next((path for path, n in Counter(paths).items() if n > 1), None)
    if twice is not None:
        raise ValueError(Errors.E363.format(path=twice))
    for path, file in zip(paths, files, strict=True):
        target = make_file(path)
        _fill(target, read(file), limit)
        yield target


def _fill_parts(
    files: Sequence[SourceFile],
    read: Callable[[SourceFile], Iterator[Parse]],
    folder: Path,
    split: Split,
    make_file: Callable[[Path], DocFile],
    limit: int,
) -> list[DocFile]:
    """A file for each part of a split. A doc of several sentences ends where a run of one part's sentences ends."""
    targets = {part: make_file(folder / f"{part}{SUFFIX}") for part in split.parts}
    for file in files:
        parts = ((split.part_of(file, index), parse) for index, parse in enumerate(read(file)))
        for part, run in groupby(parts, key=itemgetter(0)):
            if part is not None:
                _fill(targets[part], (parse for _, parse in run), limit)
    return list(targets.values())


def _save(target: DocFile, stack: ExitStack) -> DocFile:
    """Write a file under a temporary name, which the stack changes to its own at the end, if all goes well."""
    target.path.parent.mkdir(parents=True, exist_ok=True)
    target.write(stack.enter_context(atomic_path(target.path)))
    return target
