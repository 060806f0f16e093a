"""Find the files of a treebank, and tell files apart by their content."""

import glob
import hashlib
import os
import re
from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import NamedTuple, NoReturn

from ..errors import Errors
from .read import suffix_of, without_compression
from .write import STANDARD

MOST_LISTED = 5  # suffixes of a folder, in a message


class SourceFile(NamedTuple):
    """Names a file of a treebank.

    folder (Path | None): The folder below which it was found, at any depth; None if the file itself was given.
    n_above (int): How many of its folders precede the first wildcard of the pattern that found it. The last folder does
        not count if only the names of files have wildcards: 23 in `wsj/23/*.mrg`.
    """

    path: Path
    folder: Path | None = None
    n_above: int = 0

    @property
    def relative(self) -> Path:
        """Its path from that folder on, or its name."""
        return self.path.relative_to(self.folder) if self.folder is not None else Path(self.path.name)

    @property
    def names(self) -> tuple[str, ...]:
        """The names of its folders, from `folder` or the first wildcard on, and its own name without the suffix."""
        path = without_compression(self.relative if self.folder is not None else self.path)
        return (*path.parent.parts[self.n_above :], path.stem)


def find_files(
    inputs: Iterable[str | Path], *, suffixes: Sequence[str] = (), pattern: str | None = None
) -> list[SourceFile]:
    """Find files. Those of a folder come sorted by name; inputs keep their order.

    inputs (Iterable[str | Path]): Files, "-" for standard input, folders, or patterns such as `wsj/*/*.mrg`, where `**`
        is any folders. A pattern that matches only folders stands for these folders.
    suffixes (Sequence[str]): Which files below a folder to take: suffixes in lower case, compressed or not, or whole
        names. Files given by name are taken always.
    pattern (str | None): Take those below a folder that match this instead, for instance "train*.mrg".
    RETURNS (list[SourceFile]): The files, each once, however many links lead to it. Names that begin with a dot are
        passed over in folders.
    RAISES (ValueError): If an input does not exist, or a folder holds no such file.
    """
    by_path: dict[str, SourceFile] = {}
    for source in inputs:
        path = Path(source)
        if path.is_dir():
            files = _files_below(path, suffixes, pattern)
        elif path == STANDARD or path.exists():
            files = [SourceFile(path)]
        else:
            files = _match(source, suffixes, pattern)
        for file in files:
            by_path.setdefault(os.path.realpath(file.path), file)
    return list(by_path.values())


def each_once(paths: Iterable[Path]) -> list[Path]:
    """List files, each once, however many links lead to it: by the first of its paths."""
    by_place: dict[str, Path] = {}
    for path in paths:
        by_place.setdefault(os.path.realpath(path), path)
    return list(by_place.values())


def refuse_missing(path: Path) -> None:
    """Raise a ValueError if there is no such file or folder; standard input, "-", is there always."""
    if path != STANDARD and not path.exists():
        raise ValueError(Errors.E030.format(path=path))


def _files_below(folder: Path, suffixes: Sequence[str], pattern: str | None) -> list[SourceFile]:
    """Find the files below a folder that have one of the suffixes or names, or match the pattern."""
    paths = [] if os.path.isabs(pattern or "") else paths_below(folder, pattern or "*")
    files = [
        SourceFile(path, folder)
        for path in paths
        if not path.is_dir() and (pattern or suffix_of(path) in suffixes or path.name in suffixes)
    ]
    if not files:
        patterns = pattern or ", ".join(f"*{name}" if name.startswith(".") else name for name in suffixes)
        listing, suffix = _list_suffixes(folder)
        raise ValueError(Errors.E031.format(patterns=patterns, path=folder, held=listing, suffix=suffix))
    return files


def paths_below(folder: Path, pattern: str) -> list[Path]:
    """Find what matches a pattern in a folder and all folders in it, sorted, but for names that begin with a dot.

    Each folder comes once, in its own place if it has one here, else where the first symbolic link to it stands.

    RAISES (OSError): If a folder cannot be read.
    """
    if not Path(pattern).parts:  # "." matches no file
        return []

    def refuse(error: OSError) -> NoReturn:
        raise error

    places: dict[str, Path] = {}  # of folders, by their real paths
    for follows_links in (False, True):
        for place, names, _ in os.walk(folder, onerror=refuse, followlinks=follows_links):
            path = Path(place)
            is_first = places.setdefault(os.path.realpath(place), path) == path
            names[:] = sorted(name for name in names if is_first and not name.startswith("."))
    parents = set(places.values())
    if Path(pattern).name == "**":  # it matches folders alone before Python 3.13
        pattern += "/*"
    found = {path for parent in parents for path in parent.glob(pattern) if path.parent in parents}
    return sorted(path for path in found if not path.name.startswith("."))


def _match(source: str | Path, suffixes: Sequence[str], pattern: str | None) -> list[SourceFile]:
    """Find the files that match a path with wildcards, or those below the folders that do if no file does."""
    parts = Path(source).parts
    if "**" in parts:  # glob would follow links in circles
        i = parts.index("**")
        folders = filter(Path.is_dir, map(Path, glob.glob(str(Path(*parts[:i])))))
        found = {path for folder in folders for path in paths_below(folder, "/".join(parts[i + 1 :] or "*"))}
    else:
        found = set(map(Path, glob.glob(str(source))))
    matches = sorted(filter(Path.exists, found))  # no broken links
    if not matches:
        raise ValueError(Errors.E030.format(path=source))
    first_wildcard = next(i for i, part in enumerate(parts) if re.search(r"[*?[]", part))
    n_above = max(0, min(first_wildcard, len(parts) - 2))
    base = Path(*parts[:first_wildcard])
    files = [SourceFile(match, n_above=n_above) for match in matches if match.is_file()]
    return files or [file._replace(folder=base) for file in find_files(matches, suffixes=suffixes, pattern=pattern)]


def _list_suffixes(folder: Path) -> tuple[str, str]:
    """Count the files of a folder by suffix, for a message, and find the suffix of most."""
    suffixes = sorted((suffix_of(file) for file in paths_below(folder, "*") if file.is_file()), reverse=True)
    counts = Counter(suffixes).most_common(MOST_LISTED)  # of equal ones, files without a suffix come last
    listing = ", ".join(f"{n:,} {f'*{suffix}' if suffix else 'without a suffix'}" for suffix, n in counts)
    return listing or "no files", next((suffix for suffix, _ in counts if suffix), ".txt")


def hash_files(paths: Iterable[Path]) -> str:
    """Compute the SHA-256 of the content of files, and of all files in folders with their names, but for `.name`."""
    digest = hashlib.sha256()
    for path in paths:
        for file in paths_below(path, "*") if path.is_dir() else [path]:
            if file.is_file() and file.suffix != ".pyc":
                if file != path:
                    digest.update(str(file.relative_to(path).as_posix()).encode() + b"\0")
                with file.open("rb") as stream:
                    while block := stream.read(1 << 20):
                        digest.update(block)
    return digest.hexdigest()
