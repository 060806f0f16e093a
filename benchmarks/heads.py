"""Compares the head rules for Penn labels with Stanford's head finders and with dependencies annotated by hand.

    python benchmarks/heads.py TREES.mrg... --stanford stanford-tregex.jar --gum GUM \
        --output benchmarks/results/heads.json

TREES are bracket files: of their constituents with several children it counts those with the same head child as
Stanford's `CollinsHeadFinder` and `ModCollinsHeadFinder` find, by label. GUM is a clone of amir-zeldes/gum, or what
`tools/treebanks.py` takes from it: of the constituents of its training part that have several words, one of them
depending on a word outside, it counts those whose head word is that word, or a function word that depends on it.
"""

import argparse
import json
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from record import made_by, write_result
from stanford import COLLINS, MOD_COLLINS, ask, count_children, head_places, read_heads, tree_lines

from spacy_parsetag.search import TreeColumns, get_head_rules, read_brackets
from spacy_parsetag.search.pattern import basic_category

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
from tools.english import gum_names, read_conllu

# Universal Dependencies puts these below the noun or verb that they go with.
FUNCTION_WORDS = {"advmod", "aux", "case", "cc", "cop", "mark"}


def read_columns(path: Path) -> Iterator[TreeColumns]:
    return read_brackets(path.read_bytes(), str(path))


def by_stanford(jar: Path, columns: TreeColumns) -> dict[str, dict[str, int]]:
    """Count, by label and for "all", constituents with several children, and those with the head of each finder."""
    heads = columns.heads(get_head_rules("penn"))
    lines = [*tree_lines(columns, heads), f"R\t{COLLINS}", "H", f"R\t{MOD_COLLINS}", "H"]
    ours, collins, mod_collins = head_places(columns, heads), *map(read_heads, ask(jar, lines))
    counts: dict[str, Counter[str]] = {}
    for node, n_children in enumerate(count_children(columns)):
        if n_children > 1 and columns.up[node]:
            same = {"collins": ours[node] == collins[node], "mod_collins": ours[node] == mod_collins[node]}
            for label in ("all", basic_category(columns.strings[columns.label[node]])):
                counts.setdefault(label, Counter()).update({"constituents": 1, **same})
    return {label: dict(count) for label, count in sorted(counts.items(), key=lambda item: -item[1]["constituents"])}


def head_words(columns: TreeColumns) -> np.ndarray[Any, Any]:
    """Find the head word of each node: its place among the words of all trees."""
    heads, nodes = columns.heads(get_head_rules("penn")), np.arange(len(columns.label))
    while columns.size[nodes].any():
        nodes = nodes + heads[nodes]
    return columns.words_before[nodes]


def by_dependencies(folder: Path) -> dict[str, Any]:
    """Count constituents of GUM's training part, and what their heads are among its dependencies."""
    counts: Counter[str] = Counter()
    names = gum_names(folder, "train")
    for name in names:
        columns = TreeColumns.join(read_columns(folder / "const" / f"{name}.ptb"))
        texts = list(read_conllu(folder / "dep" / f"{name}.conllu"))
        words, before = head_words(columns), columns.words_before
        for tree, text in zip(range(len(columns)), texts, strict=True):
            root = int(columns.starts[tree])
            first = int(before[root])
            for node in range(root + 1, root + int(columns.size[root]) + 1):
                start, end = int(before[node]) - first, int(before[node + int(columns.size[node]) + 1]) - first
                if end - start < 2:  # whose head is found by whoever looks
                    continue
                outside = [word for word in range(start, end) if not start <= text.heads[word] < end]
                if len(outside) == 1:
                    head, label = int(words[node]) - first, basic_category(columns.strings[columns.label[node]])
                    relation = text.relations[head].partition(":")[0]
                    is_same = head == outside[0]
                    counts["constituents"] += 1
                    counts["same"] += is_same
                    counts["function word"] += relation in FUNCTION_WORDS and text.heads[head] == outside[0]
                    counts["NP"] += label == "NP"
                    counts["NP, same"] += label == "NP" and is_same
    return {"documents": len(names), **counts}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("treebanks", type=Path, nargs="+", metavar="TREES", help="bracket files")
    parser.add_argument("--stanford", type=Path, required=True, metavar="JAR", help="stanford-tregex.jar")
    parser.add_argument("--gum", type=Path, required=True, help="folder with const/ and dep/")
    parser.add_argument("--output", type=Path, help="where to write the figures, as JSON")
    args = parser.parse_args()
    made = made_by() if args.output else None
    columns = TreeColumns.join(part for path in args.treebanks for part in read_columns(path))
    figures = {"stanford": by_stanford(args.stanford, columns), "dependencies": by_dependencies(args.gum)}
    write_result(figures, args.output, made)
    print(json.dumps(figures, indent=2))


if __name__ == "__main__":
    main()
