"""Reading bracket files for scoring."""

import io
from pathlib import Path

import pytest
from nltk import Tree

from spacy_parsetag.errors import TreebankError
from spacy_parsetag.evalb import read_scored_trees


def test_failures_keep_their_place(tmp_path: Path) -> None:
    path = tmp_path / "test.mrg"
    path.write_text(
        "(TOP (NN a))\n(())\n\n( (S (NN -LRB-)\n  (NN c)))\n(TOP\n)\n(TOP (NN d)) (TOP (NN e))", "utf-8-sig"
    )
    a, none, s, empty, d, e = read_scored_trees(path)
    assert none is None and empty is None
    assert isinstance(a, Tree) and isinstance(s, Tree) and s[0][0][0] == "-LRB-" and s[0][1][0] == "c"
    assert d is not None and e is not None and d[0][0] == "d" and e[0][0] == "e"


@pytest.mark.parametrize(
    "text,line",
    [
        ("(TOP (NN a))\n(TOP (NN b)\n", 2),
        ("(TOP (NN a))\n(NN b))\n", 2),
        ("\n(TOP x (NN b))\n", 2),
        ("(()) (TOP (NN a))", 1),
    ],
)
def test_errors_name_the_line(text: str, line: int) -> None:
    with pytest.raises(TreebankError) as info:
        list(read_scored_trees(io.StringIO(text)))
    assert info.value.line == line
