"""Measures deviations in many treebanks, and the stack they need: 5,000 random sentences of each, as in the paper.

    python experiments/treebanks.py TREEBANKS

TREEBANKS is a folder of folders with a train.mrg each. Writes into experiments/results/treebanks: the counts, a line
for each treebank (treebanks.jsonl); both tables (table.txt); deviation.png and stack.png.
"""

import argparse
import sys
from pathlib import Path

import srsly
from run import made
from spec import HERE

from spacy_parsetag.analysis.inventories import count_deviations, count_stacks, sample
from spacy_parsetag.analysis.plots import plot_deviations, plot_stacks
from spacy_parsetag.analysis.tables import deviation_table, format_text, stack_table
from spacy_parsetag.treebanks.formats.table import get_format
from spacy_parsetag.trees import binarize


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("treebanks", type=Path)
    parser.add_argument("--limit", type=int, default=5000, help="sentences of each treebank; 0: all")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--output", type=Path, default=HERE / "results" / "treebanks")
    arguments = parser.parse_args()
    made_by = made()
    penn = get_format("penn")
    deviations, stacks = {}, {}
    for path in sorted(arguments.treebanks.glob("*/train.mrg")):
        parses = list(penn.read_parses(path))
        trees = [binarize(parse) for parse in sample(parses, arguments.limit, arguments.seed)]
        deviations[path.parent.name], stacks[path.parent.name] = count_deviations(trees), count_stacks(trees)
    if not deviations:
        sys.exit(f"No */train.mrg in {arguments.treebanks}.")
    arguments.output.mkdir(parents=True, exist_ok=True)
    lines = [
        {"treebank": name, "deviation": deviations[name].to_dict(), "stack": stacks[name].to_dict()}
        for name in deviations
    ]
    srsly.write_jsonl(arguments.output / "treebanks.jsonl", [{"made": made_by}, *lines])
    text = f"{format_text(deviation_table(deviations))}\n{format_text(stack_table(stacks))}"
    (arguments.output / "table.txt").write_text(text, encoding="utf-8")
    plot_deviations(deviations, [arguments.output / "deviation.png"])
    plot_stacks(stacks, [arguments.output / "stack.png"])
    sys.stdout.write(text)


if __name__ == "__main__":
    main()
