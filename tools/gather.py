"""Copies files into a folder that a training, or another tool, reads as a whole.

    python -m tools.gather FOLDER FILE... [--twice FILE...]

A FILE may be a pattern, such as "texts/masc-*.txt". What is given with `--twice` is learned twice: it also gets a copy
whose name ends in "-again".
"""

from __future__ import annotations

import argparse
import shutil
from collections.abc import Iterator, Sequence
from glob import glob
from pathlib import Path


def find(patterns: Sequence[str]) -> Iterator[Path]:
    """Find the files of patterns.

    RAISES (SystemExit): If one has none.
    """
    for pattern in patterns:
        names = sorted(glob(pattern))
        if not names:
            raise SystemExit(f"{pattern}: no such file")
        yield from map(Path, names)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path, metavar="FOLDER")
    parser.add_argument("files", nargs="*", metavar="FILE")
    parser.add_argument("--twice", nargs="*", default=[], metavar="FILE")
    args = parser.parse_args()
    args.folder.mkdir(parents=True, exist_ok=True)
    for path in find(args.files + args.twice):
        shutil.copy(path, args.folder)
    for path in find(args.twice):
        shutil.copy(path, args.folder / f"{path.stem}-again{path.suffix}")


if __name__ == "__main__":
    main()
