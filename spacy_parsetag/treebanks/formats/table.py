"""Kinds of treebank files. A new kind is a new entry of `FORMATS`; commands take its name."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Protocol

from ...errors import Errors
from ...trees.clean import HISTORICAL, CleanOptions
from ...trees.tree import Tree
from ..penn import read_trees
from ..reader import OnError
from .cess import read_cess
from .craft import read_craft
from .ctb import CTB_SPLIT, read_ctb
from .floresta import read_floresta
from .japanese import read_keyaki, read_oncoj
from .pahc import read_farpahc, read_icepahc
from .sinica import read_sinica
from .spmrl import read_spmrl
from .turkish import read_turkish

PENN = CleanOptions()


class ReadTrees(Protocol):
    """Reads the trees of a file, one at a time; see `trees.penn.read_trees` for what is asked of it."""

    def __call__(
        self, source: Path, *, encoding: str, on_error: OnError | None, default_tag: str | None
    ) -> Iterator[Tree]: ...


@dataclass(frozen=True)
class TreebankFormat:
    """A kind of treebank files.

    read (ReadTrees): Reads a file.
    suffixes (Tuple[str, ...]): Which files of a folder to read, in lower case.
    about (str): What it is, for help.
    encoding (str): The usual encoding; "auto" where `read` finds out.
    clean (CleanOptions): The usual cleaning.
    split (Optional[str]): The usual split by names of files, where there is one.
    """

    read: ReadTrees
    suffixes: tuple[str, ...]
    about: str
    encoding: str = "utf-8"
    clean: CleanOptions = PENN
    split: str | None = None


_PENN_SUFFIXES = (".mrg", ".ptb", ".psd", ".tree", ".trees", ".bracket", ".brackets", ".bra", ".cparse")

_CTB_SUFFIXES = (".fid", ".nw", ".mz", ".bn", ".bc", ".wb", ".df", ".sc", ".cs")
_PSD = (".psd",)
PTB_SPLIT = "train=02..21,dev=22,test=23"

FORMATS: dict[str, TreebankFormat] = {
    "penn": TreebankFormat(read_trees, _PENN_SUFFIXES, "Penn brackets"),
    "ptb": TreebankFormat(
        read_trees, (".mrg",), "the Penn Treebank's folders of sections, with the standard split", split=PTB_SPLIT
    ),
    "spmrl": TreebankFormat(read_spmrl, (".ptb", ".mrg"), "SPMRL's brackets, morphology after ## cut", "auto"),
    "ctb": TreebankFormat(
        read_ctb, _CTB_SUFFIXES, "the Chinese Treebank's files, with the split of 5.1", "auto", split=CTB_SPLIT
    ),
    "historical": TreebankFormat(
        read_trees,
        _PENN_SUFFIXES,
        "Penn corpora of historical languages, which have bare traces, and labels such as CODE",
        clean=HISTORICAL,
    ),
    "icepahc": TreebankFormat(read_icepahc, _PSD, "historical, with lemmas: tungu-tunga", clean=HISTORICAL),
    "farpahc": TreebankFormat(read_farpahc, _PSD, "historical, with lemmas of punctuation: ,-,", clean=HISTORICAL),
    "keyaki": TreebankFormat(read_keyaki, _PSD, "the Keyaki Treebank, Japanese", clean=HISTORICAL),
    "oncoj": TreebankFormat(read_oncoj, _PSD, "Old Japanese, the word below its lexeme", clean=HISTORICAL),
    "cess": TreebankFormat(
        read_cess,
        (".tbf",),
        "CESS, Spanish and Catalan: tag, word and lemma",
        clean=replace(PENN, trace_words=r"\*0\*"),
    ),
    "craft": TreebankFormat(read_craft, (".tree",), "CRAFT, English articles"),
    "floresta": TreebankFormat(
        read_floresta, (".ptb",), "Floresta, Portuguese: function+form", clean=replace(PENN, functions=False)
    ),
    "sinica": TreebankFormat(
        read_sinica, (".txt",), "the Sinica Treebank, Chinese", clean=replace(PENN, functions=False)
    ),
    "turkish": TreebankFormat(read_turkish, (".txt", ".train", ".dev", ".test"), "Turkish trees with layers"),
}


def get_format(name: str) -> TreebankFormat:
    """The format of a name.

    name (str): One of `FORMATS`.
    RETURNS (TreebankFormat): The format.
    RAISES (ValueError): If there is none of that name.
    """
    if name not in FORMATS:
        raise ValueError(Errors.E350.format(name=name, known=", ".join(FORMATS)))
    return FORMATS[name]
