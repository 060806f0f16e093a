"""Deviation and stack of the treebanks at hand, with the figures in docs/figures.

    python benchmarks/deviation.py $PARSETAG_SHARED/treebanks --limit 2000

The argument is a folder of folders with a train.mrg each. Writes benchmarks/results/deviation.json,
docs/figures/deviation.svg and docs/figures/stack.svg.
"""

import argparse
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

from record import RESULTS, ROOT, made_by, write_result

FIGURES = Path("docs/figures")


def analyze(kind: str, files: list[Path], limit: int) -> dict[str, Any]:
    """Run `parsetag analyze`."""
    figure = str(FIGURES / f"{kind}.svg")
    inputs = [f"{path.parent.name}={path}" for path in files]
    options = ["--limit", str(limit), "--json", "--figure", figure]
    command = [sys.executable, "-m", "spacy", "parsetag", "analyze", kind, *inputs, *options]
    done = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True, cwd=ROOT)
    return {"figure": figure, **json.loads(done.stdout)}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("treebanks", type=Path)
    parser.add_argument("--file", default="train.mrg", help="which file of each folder")
    parser.add_argument("--limit", type=int, default=2000, help="trees of each treebank; 0: all")
    args = parser.parse_args()
    made = made_by()
    files = sorted(args.treebanks.resolve().glob(f"*/{args.file}"))
    figures = {kind: analyze(kind, files, args.limit) for kind in ("deviation", "stack")}
    write_result({"limit": args.limit, **figures}, RESULTS / "deviation.json", made)


if __name__ == "__main__":
    main()
