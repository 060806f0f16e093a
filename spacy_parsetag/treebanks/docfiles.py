"""Writes parses to .spacy files, one or many, which appear all together or not at all."""

from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path

from spacy.tokens import DocBin
from spacy.vocab import Vocab

from ..compat import cache_msgpack_plugins
from ..errors import Errors
from ..files.find import SourceFile
from ..files.read import without_compression
from ..files.write import atomic_path, refuse_overwrite
from ..tokens import SPANS_KEY, doc_from_parses
from ..trees.parse import Parse
from .split import Split

# The attributes of a token that a treebank gives, besides its text and spaces. With all of `DocBin`'s attributes a file
# would need five times the memory, and hold zeros for the others.
DOCBIN_ATTRS = ("TAG", "SENT_START")
SUFFIX = ".spacy"


@dataclass
class DocFile:
    """Collects parses for a .spacy file.

    path (Path): The file.
    vocab (Vocab): The vocabulary of the docs.
    n_sents (int): Sentences in a doc.
    spans_key (str): Where the constituents go in `doc.spans`.
    detokenize (bool): Whether to guess the spaces between words (see `spaces_after`).
    attrs (tuple[str, ...]): Which of LEMMA and MORPH the treebank has.
    limit (int): The most sentences that the file may hold; 0 for no limit.
    docs_added, sentences, words (int): How many were added so far.
    """

    path: Path
    vocab: Vocab
    n_sents: int = 1
    spans_key: str = SPANS_KEY
    detokenize: bool = False
    attrs: tuple[str, ...] = ()
    limit: int = 0
    docs_added: int = field(default=0, init=False)
    sentences: int = field(default=0, init=False)
    words: int = field(default=0, init=False)

    def __post_init__(self) -> None:
        self.docs = DocBin(attrs=(*DOCBIN_ATTRS, *self.attrs), store_user_data=True)
        self.waiting: list[Parse] = []

    @property
    def is_full(self) -> bool:
        """Tell whether it has as many sentences as the limit allows."""
        return self.limit > 0 and self.sentences == self.limit

    def add(self, parse: Parse) -> None:
        """Add a sentence."""
        self.waiting.append(parse)
        self.sentences += 1
        self.words += len(parse)
        if len(self.waiting) == self.n_sents:
            self.end_doc()

    def end_doc(self) -> None:
        """End a doc: the next sentence begins a new one."""
        if self.waiting:
            doc = doc_from_parses(self.vocab, self.waiting, spans_key=self.spans_key, detokenize=self.detokenize)
            self.docs.add(doc)
            self.docs_added += 1
            self.waiting = []

    def write(self, path: Path) -> None:
        """Write the file under this name, and forget the docs."""
        path.parent.mkdir(parents=True, exist_ok=True)
        self.docs.to_disk(path)
        self.docs = DocBin(store_user_data=True)


def write_treebank(
    files: Sequence[SourceFile],
    read: Callable[[SourceFile], Iterator[Parse]],
    output: Path,
    *,
    make_file: Callable[[Path], DocFile],
    split: Split | None = None,
    check: Callable[[], None],
) -> list[DocFile]:
    """Convert files.

    output (Path): A name that ends in .spacy: one file with everything. Another name: a folder, with a file for each
        part of the split, or for each file read.
    split (Split | None): What goes into which part; the rest is left out.
    check (Callable[[], None]): Called when all is read. If it raises, nothing is written.
    RAISES (TreebankError): Whatever `read` raises. Nothing is written then, and existing files stay.
    RAISES (ValueError): If there are no trees, or none for a part of the split; if two files would be written under one
        name, or over one that is read; or if output is not such a name.
    """
    cache_msgpack_plugins()
    file_by_file = split is None and output.suffix != SUFFIX
    targets = {key: make_file(path) for key, path in _output_paths(files, output, split).items()}

    def targeted(file: SourceFile) -> Iterator[tuple[DocFile | None, Parse]]:
        for index, parse in enumerate(read(file)):
            if split is not None:
                yield targets.get(split.next_part(file, index)), parse
            else:
                yield targets[file if file_by_file else None], parse

    has_read = False
    with ExitStack() as stack:
        for file in files:
            has_read |= _add_parses(targeted(file), [targets[file]] if file_by_file else list(targets.values()))
            if file_by_file:
                # Now, so that its docs need not stay in memory.
                targets[file].write(stack.enter_context(atomic_path(targets[file].path)))
        check()
        if not has_read:
            raise ValueError(Errors.E106.format(inputs=", ".join(str(file.path) for file in files[:5])))
        empty_part = next((str(part) for part, target in targets.items() if not target.sentences), None)
        if split is not None and empty_part is not None:
            raise ValueError(Errors.E111.format(part=empty_part, reason=split.why_empty(empty_part, files)))
        if not file_by_file:
            for target in targets.values():
                target.write(stack.enter_context(atomic_path(target.path)))
    return list(targets.values())


def _output_paths(files: Sequence[SourceFile], output: Path, split: Split | None) -> dict[Hashable, Path]:
    """Find where to write each part of the split, each file read, or everything (None). Raises as `write_treebank`."""
    as_folder = output.suffix != SUFFIX
    if output.is_file() if as_folder else (output.is_dir() or split is not None):
        raise ValueError(Errors.E107.format(path=output))
    if as_folder and output.suffix and not output.exists():
        raise ValueError(Errors.E110.format(path=output, suffix=output.suffix))
    paths: dict[Hashable, Path] = {None: output}
    if split is not None:
        paths = {part: output / f"{part}{SUFFIX}" for part in split.parts}
    elif as_folder:
        paths = {file: output / without_compression(file.relative).with_suffix(SUFFIX) for file in files}
    twice = next((path for path, n in Counter(paths.values()).items() if n > 1), None)
    if twice is not None:
        raise ValueError(Errors.E109.format(path=twice))
    refuse_overwrite(paths.values(), [file.path for file in files])
    return paths


def _add_parses(parses: Iterable[tuple[DocFile | None, Parse]], targets: Sequence[DocFile]) -> bool:
    """Add a file's parses to their targets, until all targets are full. No doc continues in the next file.

    RETURNS (bool): Whether any parse was read, with or without a target.
    """
    if all(each.is_full for each in targets):
        return False
    has_read = False
    last_target: DocFile | None = None
    for target, parse in parses:
        has_read = True
        if last_target is not None and target is not last_target:
            last_target.end_doc()
        last_target = target
        if target is not None and not target.is_full:
            target.add(parse)
            if all(each.is_full for each in targets):
                break
    if last_target is not None:
        last_target.end_doc()
    return has_read
