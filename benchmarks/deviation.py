"""Deviation and stack of the treebanks at hand, with the figures in docs/figures.

    python benchmarks/deviation.py TREEBANKS --limit 2000

TREEBANKS is a folder of folders with a train.mrg each. Writes benchmarks/results/deviation.json, and with the two
commands that it records docs/figures/deviation.svg and docs/figures/stack.svg. Folders are left out of the commands.
"""

import argparse
import json
import re
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
RESULT = Path("benchmarks/results/deviation.json")
FIGURES = Path("docs/figures")


def analyze(kind: str, files: list[Path], limit: int) -> dict[str, Any]:
    """Run `parsetag analyze`, and keep the command."""
    figure = str(FIGURES / f"{kind}.svg")
    options = ["--limit", str(limit), "--json", "--figure", figure]
    inputs = [f"{path.parent.name}={path}" for path in files]
    start = time.perf_counter()
    command = [sys.executable, "-m", "spacy", "parsetag", "analyze", kind, *inputs, *options]
    done = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True, cwd=ROOT)
    shown = " ".join([*(f"{path.parent.name}/{path.name}" for path in files), *options])
    return {
        "command": f"python -m spacy parsetag analyze {kind} {shown}",
        "figure": figure,
        "seconds": round(time.perf_counter() - start, 1),
        **json.loads(done.stdout),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("treebanks", type=Path)
    parser.add_argument("--file", default="train.mrg", help="which file of each folder")
    parser.add_argument("--limit", type=int, default=2000, help="trees of each treebank; 0: all")
    arguments = parser.parse_args()
    files = sorted(arguments.treebanks.resolve().glob(f"*/{arguments.file}"))
    report = {
        "made_by": f"python benchmarks/deviation.py {arguments.treebanks.name} --limit {arguments.limit}",
        "limit": arguments.limit,
        **{kind: analyze(kind, files, arguments.limit) for kind in ("deviation", "stack")},
    }
    (ROOT / RESULT).parent.mkdir(parents=True, exist_ok=True)
    text = json.dumps(report, indent=2, ensure_ascii=False)
    # Lists of counts on one line each, so that the file can be read.
    text = re.sub(
        r"\[[\d,\s]+\]", lambda found: re.sub(r"\s+", " ", found[0]).replace("[ ", "[").replace(" ]", "]"), text
    )
    (ROOT / RESULT).write_text(text + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
