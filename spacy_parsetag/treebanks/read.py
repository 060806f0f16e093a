"""Treebank files become parses: read, clean, check, and say where what cannot be used stands."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

from ..errors import Errors, TreebankError
from ..trees.clean import CleanCounts, CleanOptions, clean_tree
from ..trees.parse import Parse
from .files import SourceFile
from .formats.base import TreebankFormat


@dataclass
class ReadOptions:
    """How to read a treebank.

    format (TreebankFormat): The kind of files.
    clean (CleanOptions): What to clean.
    encoding (str | None): Encoding of the files; None for the usual one of the format.
    default_tag (str | None): Part-of-speech tag for words that have none; None makes them an error.
    max_length (int): Leave out sentences of more words; 0 keeps all.
    on_error (Callable[[TreebankError], None] | None): Called with what is wrong with a tree, which is then left
        out. Without it the error is raised.
    """

    format: TreebankFormat
    clean: CleanOptions
    encoding: str | None = None
    default_tag: str | None = None
    max_length: int = 0
    on_error: Callable[[TreebankError], None] | None = None


@dataclass
class ReadCounts:
    """What was read.

    cleaned (CleanCounts): What cleaning did.
    too_long (int): Sentences left out for their length.
    """

    cleaned: CleanCounts = field(default_factory=CleanCounts)
    too_long: int = 0


def read_parses(file: SourceFile, options: ReadOptions, counts: ReadCounts | None = None) -> Iterator[Parse]:
    """Read a file's trees as parses that can become docs.

    file (SourceFile): The file.
    options (ReadOptions): How to read it.
    counts (ReadCounts | None): Counts to add to.
    YIELDS (Parse): The parses, their words as text.
    RAISES (TreebankError): At the first tree that cannot be used, with file and line, unless `options.on_error` is set.
    """
    counts = counts if counts is not None else ReadCounts()
    trees = options.format.read(
        file.path, encoding=options.encoding, on_error=options.on_error, default_tag=options.default_tag
    )
    for tree in trees:
        try:
            cleaned = clean_tree(tree, options.clean, counts.cleaned)
            if cleaned is None:
                continue
            parse = Parse.from_tree(cleaned)
            blank = next((i for i, word in enumerate(parse.words) if not word or word.isspace()), None)
            if blank is not None:
                sentence = " ".join(parse.words)[:200]
                raise ValueError(Errors.E305.format(i=blank, word=parse.words[blank], sentence=sentence))
        except ValueError as err:
            error = TreebankError(str(file.path), tree.line, str(err))
            if options.on_error is None:
                raise error from err
            options.on_error(error)
            continue
        if options.max_length and len(parse) > options.max_length:
            counts.too_long += 1
        else:
            yield parse
