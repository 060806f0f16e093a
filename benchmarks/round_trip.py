"""Counts the trees that come back from their tags as they were: each treebank of a folder, in three orders.

    python benchmarks/round_trip.py "$PARSETAG_SHARED"/treebanks --output benchmarks/results/round_trip.json

It runs `parsetag linearize --check` on all bracket files of each folder in the folder.
"""

import argparse
import re
import subprocess
import sys
from pathlib import Path

from record import made_by, write_result


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("treebanks", type=Path, help="folder of folders of bracket files (*.mrg)")
    parser.add_argument("--output", type=Path)
    args = parser.parse_args()
    made = made_by() if args.output else None
    figures: dict[str, dict[str, dict[str, int]]] = {}
    for folder in sorted({path.parent for path in args.treebanks.glob("*/*.mrg")}):
        command = [sys.executable, "-m", "spacy", "parsetag", "linearize", str(folder / "*.mrg"), "--check"]
        printed = subprocess.run(command, check=True, capture_output=True, text=True).stdout
        rows = re.findall(r"^(\w+) +([\d,]+) of ([\d,]+) trees came back \(([\d,]+) words\)", printed, re.MULTILINE)
        for order, *counts in rows:
            came_back, trees, words = (int(count.replace(",", "")) for count in counts)
            figures.setdefault(order, {})[folder.name] = {"came_back": came_back, "trees": trees, "words": words}
    for order, by_folder in figures.items():
        total = {key: sum(counts[key] for counts in by_folder.values()) for key in ("came_back", "trees", "words")}
        print(f"{order}: {total['came_back']:,} of {total['trees']:,} trees ({total['words']:,} words)")
    write_result({"orders": figures}, args.output, made)


if __name__ == "__main__":
    main()
