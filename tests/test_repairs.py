"""Rules that write several treebanks in the Penn Treebank's convention."""

from collections import Counter
from pathlib import Path

import pytest

from spacy_parsetag.treebanks.penn import read_string
from spacy_parsetag.trees import Parse
from spacy_parsetag.trees.brackets import format_tree
from tools import masc
from tools.repairs import parents, repair


def repaired(text: str) -> tuple[str, dict[str, int]]:
    counts: Counter[str] = Counter()
    (tree,) = read_string(text)
    return format_tree(repair(Parse.from_tree(tree), counts).to_tree("TOP")), dict(counts)


@pytest.mark.parametrize(
    ("before", "after", "counts"),
    [
        (
            "(TOP (NP (NP (NNS dogs)) (SBAR (NP (WDT which)) (S (VP (VBP bark))))))",
            "(TOP (NP (NP (NNS dogs)) (SBAR (WHNP (WDT which)) (S (VP (VBP bark))))))",
            {"NP -> WHNP": 1},
        ),
        (
            "(TOP (SBARQ (NP (WP$ whose) (NN dog)) (SQ (VP (VBZ barks))) (. ?)))",
            "(TOP (SBARQ (WHNP (WP$ whose) (NN dog)) (SQ (VP (VBZ barks))) (. ?)))",
            {"NP -> WHNP": 1},
        ),
        (
            "(TOP (SBAR (WHPP (IN in) (NP (WDT which))) (S (VP (VBZ is)))))",
            "(TOP (SBAR (WHPP (IN in) (WHNP (WDT which))) (S (VP (VBZ is)))))",
            {"NP -> WHNP": 1},
        ),
        ("(TOP (S (NP (WDT which)) (VP (VBZ is))))", "(TOP (S (NP (WDT which)) (VP (VBZ is))))", {}),
        ("(TOP (SBAR (NP (WP who))))", "(TOP (SBAR (NP (WP who))))", {}),  # nothing follows it
        (
            "(TOP (NP (NML (NN gene) (NN expression)) (NN level)))",
            "(TOP (NP (NN gene) (NN expression) (NN level)))",
            {"NML -> nothing": 1},
        ),
        (
            "(TOP (NP (NP ($ $) (CD 1.5) (CD billion)) (PP (IN in) (NP (CD two) (CD million) (NNS notes)))))",
            "(TOP (NP (NP (QP ($ $) (CD 1.5) (CD billion))) (PP (IN in) (NP (QP (CD two) (CD million)) (NNS notes)))))",
            {"amount -> QP": 2},
        ),
        (
            "(TOP (NP (DT a) ($ $) (CD 2) (CD million) (NN house)))",
            "(TOP (NP (DT a) (ADJP (QP ($ $) (CD 2) (CD million))) (NN house)))",
            {"amount -> ADJP": 1, "amount -> QP": 1},
        ),
        ("(TOP (NP (NNP Nov.) (CD 2) (CD 1999)))", "(TOP (NP (NNP Nov.) (CD 2) (CD 1999)))", {}),  # a date
        ("(TOP (NP (QP (CD two) (CD million))))", "(TOP (NP (QP (CD two) (CD million))))", {}),
        (
            "(TOP (CAPTION (S (NP (NNS cells)) (VP (VBP grow)))))",
            "(TOP (S (NP (NNS cells)) (VP (VBP grow))))",
            {"CAPTION -> nothing": 1},
        ),
        (
            "(TOP (HEADING (NP (NNS cells)) (PRN (-LRB- -LRB-) (NN a) (-RRB- -RRB-))))",
            "(TOP (FRAG (NP (NNS cells)) (PRN (-LRB- -LRB-) (NN a) (-RRB- -RRB-))))",
            {"HEADING -> FRAG": 1},
        ),
        (
            "(TOP (NP (NN rate) (CIT (-LRB- -LRB-) (NNP Doe) (-RRB- -RRB-))))",
            "(TOP (NP (NN rate) (PRN (-LRB- -LRB-) (NNP Doe) (-RRB- -RRB-))))",
            {"CIT -> PRN": 1},
        ),
    ],
)
def test_rules(before: str, after: str, counts: dict[str, int]) -> None:
    assert repaired(before) == (after, counts)
    assert repaired(after) == (after, {})


def test_parents() -> None:
    (tree,) = read_string("(TOP (S (NP (PRP She)) (VP (VBZ reads) (NP (NNS papers)))) (S (VP (VB go))))")
    assert parents(Parse.from_tree(tree).spans) == [-1, 0, 0, 2, -1, 4]


def test_documents_of_masc(tmp_path: Path) -> None:
    """Each is in one part; a checkout is read by file, a folder of the parts by the counts beside them."""
    names = [name for part in masc.DOCUMENTS.values() for name in part]
    assert len(names) == len(set(names)) == 59
    assert {masc.genre(name) for name in names} == {
        "letters", "news", "essays", "debate", "interviews", "travel", "textbooks", "e-mail", "fiction"
    }  # fmt: skip
    tree = "( (S (NP-SBJ (PRP She)) (VP (VBZ reads) (NP (-NONE- *T*-1))) (SU /)))\n"
    folder = tmp_path / "checkout" / masc.FOLDER
    folder.mkdir(parents=True)
    for name in masc.DOCUMENTS["dev"]:
        (folder / f"{name}.mrg").write_text(tree, encoding="utf8")
    documents = list(masc.read_documents(tmp_path / "checkout", "dev"))
    assert [name for name, _ in documents] == list(masc.DOCUMENTS["dev"])
    assert all([parse.words for parse in parses] == [("She", "reads")] for _, parses in documents)
    with pytest.raises(SystemExit, match="110CYL067"):
        list(masc.read_documents(tmp_path / "checkout", "train"))
    (tmp_path / "dev.mrg").write_text(tree.replace("\n", "") + "\n" + tree, encoding="utf8")
    counts = tmp_path / "counts.json"
    counts.write_text('{"notes": ["trees of each document: ch5 dev 1, lw1 test 9, A1.E2-NEW dev 1"]}', encoding="utf8")
    assert [(name, len(parses)) for name, parses in masc.read_documents(tmp_path, "dev")] == [
        ("ch5", 1),
        ("A1.E2-NEW", 1),
    ]
    counts.write_text('{"notes": ["trees of each document: ch5 dev 1"]}', encoding="utf8")
    with pytest.raises(SystemExit, match="2 trees"):
        list(masc.read_documents(tmp_path, "dev"))
