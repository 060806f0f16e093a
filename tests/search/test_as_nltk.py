"""The same matches as nltk.tgrep, for the relations that both have, on all trees of three treebanks.

NLTK's own faults are kept away from. On plain trees its relations to parents and sisters find nothing, so these are of
class ParentedTree; and its leaves are strings without parents, so no pattern here starts at a word or looks up from one
(its page on tgrep, under "Known issues").
"""

from pathlib import Path

import pytest
from nltk import ParentedTree
from nltk.tgrep import tgrep_positions

from spacy_parsetag.search import TreeColumns, Tregex, read_brackets

# Of what has several names here, the one that NLTK has too; but <<- is <<' there.
PATTERNS = [
    "NP < (PP < IN)", "VP << (NP $. PP)", "SBAR < WHNP", "NP > (S > TOP)", "NP !< PRP", "NP >> VP", "S <, NP",
    "S <- /^\\.$/", "NP <2 NN", "NP <-1 NN", "NP >1 S", "NP >-1 PP", "NP <: PRP", "PRP >: NP", "VP <<, VBZ",
    "NP <<- NN", "NN >>- NP", "DT >>, NP", "NP $. VP", "VP $, NP", "NP $.. PP", "PP $,, NP", "NP $ VP", "NP . VP",
    "VP , NP", "NP .. VP", "VP ,, NP", "NP [< DT | < /^PRP.$/] & > VP", "/^VB/ < /ing$/", "NP|PP < NP",
]  # fmt: skip


pytestmark = pytest.mark.filterwarnings("ignore")  # of the parser that NLTK uses


@pytest.mark.parametrize("treebank, size", [("gum", 40), ("masc", 40), ("craft", 20)])
def test_some_trees(treebanks: Path, treebank: str, size: int) -> None:
    compare(treebanks / treebank / "dev.mrg", size)


@pytest.mark.slow
@pytest.mark.parametrize("treebank", ["gum", "masc", "wsj_sample"])
def test_all_trees(treebanks: Path, treebank: str) -> None:
    compare(treebanks / treebank / "train.mrg", None)


def compare(path: Path, size: int | None) -> None:
    lines = path.read_text(encoding="utf-8").splitlines()[:size]
    columns = TreeColumns.join(read_brackets("\n".join(lines).encode(), path.name))
    trees = [ParentedTree.fromstring(line) for line in lines]
    places = [{position: place for place, position in enumerate(tree.treepositions())} for tree in trees]
    positions = [list(each) for each in places]

    def at(node: tuple[int, int]) -> tuple[int, tuple[int, ...]]:
        return node[0], positions[node[0]][node[1]]

    for pattern in PATTERNS:
        nodes = Tregex(pattern).find(columns)
        numbers = columns.trees_of(nodes)
        found = set(zip(numbers.tolist(), (nodes - columns.starts[numbers]).tolist(), strict=True))
        theirs = pattern.replace("<<-", "<<'").replace(">>-", ">>'")
        expected = {
            (number, places[number][position])
            for number, matches in enumerate(tgrep_positions(theirs, trees))
            for position in matches
        }
        if ">>," in pattern or ">>-" in pattern:
            # NLTK asks here whether a node equals one of some nodes, not whether it is one of them: a subtree that
            # stands twice in a tree is found at both places.
            twins = {(number, str(trees[number][position])) for number, position in map(at, found)}
            expected -= {node for node in expected - found if (node[0], str(trees[node[0]][at(node)[1]])) in twins}
        assert found == expected, pattern
