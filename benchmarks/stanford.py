"""Stanford's Tregex, a program in Java, asked for matches and heads in the trees of columns.

Its jar, stanford-tregex.jar, is at https://nlp.stanford.edu/software/tregex.html; the JDK runs StanfordTregex.java from
source. Labels and words are the same strings on both sides: Stanford's reader of bracket files is left out.
"""

import subprocess
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np

from spacy_parsetag.search import TreeColumns
from spacy_parsetag.search.columns import Ints

SOURCE = Path(__file__).with_name("StanfordTregex.java")
COLLINS, MOD_COLLINS = (f"edu.stanford.nlp.trees.{name}HeadFinder" for name in ("Collins", "ModCollins"))


class Answer(NamedTuple):
    """An answer to a pattern.

    matches (set[tuple[int, ...]]): Tree, node, and the nodes of the names asked for, -1 where there is none; nodes are
        counted from the root of their tree, in pre-order.
    seconds (float): How long it took.
    error (str): Why there is no answer, or "".
    """

    matches: set[tuple[int, ...]]
    seconds: float
    error: str


def ask(jar: Path, lines: Iterable[str]) -> list[str]:
    """Send lines to StanfordTregex.java, which says what they are, and return its answers."""
    command = ["java", "-Dfile.encoding=UTF-8", "-Xss64m", "-cp", str(jar), str(SOURCE)]
    text = "".join(f"{line}\n" for line in lines)
    done = subprocess.run(command, input=text, stdout=subprocess.PIPE, text=True, encoding="utf-8", check=True)
    return done.stdout.splitlines()


def pattern_line(pattern: str, names: Sequence[str] = ()) -> str:
    """Ask for a pattern, and with names for all ways to match; the answer is for `read_matches`."""
    return "\t".join(["P", pattern, *names])


def tree_lines(columns: TreeColumns, heads: Ints) -> Iterator[str]:
    """Add trees, with the distance of each node to its head child."""
    yield "C"
    n_children = count_children(columns)
    places = head_places(columns, heads)
    for start in columns.starts.tolist():
        nodes = range(start, start + int(columns.size[start]) + 1)
        fields = (f"{n_children[node]} {places[node]} {columns.strings[columns.label[node]]}" for node in nodes)
        yield "\t".join(["T", *fields])


def count_children(columns: TreeColumns) -> list[int]:
    """Count the children of each node."""
    parents = np.arange(len(columns.up)) - columns.up
    counts: list[int] = np.bincount(parents[columns.up > 0], minlength=len(parents)).tolist()
    return counts


def head_places(columns: TreeColumns, heads: Ints) -> list[int]:
    """Find for each node which of its children is the head, counted from 1; 0 at words."""
    size, distances = columns.size.tolist(), heads.tolist()
    places = []
    for node, distance in enumerate(distances):
        place, child = int(distance > 0), node + 1
        while child < node + distance:
            place, child = place + 1, child + size[child] + 1
        places.append(place)
    return places


def read_matches(line: str) -> Answer:
    """Read the answer to a pattern."""
    if line.startswith("!"):
        return Answer(set(), 0.0, line[1:])
    seconds, *matches = line.split("\t")
    return Answer({tuple(map(int, match.replace(":", ",").split(","))) for match in matches}, float(seconds), "")


def read_heads(line: str) -> list[int]:
    """Read the answer to "H": the place of the head child of each node of all trees, 0 where there is none."""
    return [int(place) for place in line.replace("\t", " ").split(" ")]
