"""Rules that write several treebanks in the Penn Treebank's convention."""

from collections import Counter
from pathlib import Path

import pytest
from hypothesis import given, strategies as st
from strategies import parses

from spacy_parsetag.treebanks.penn import read_string
from spacy_parsetag.trees import Parse
from spacy_parsetag.trees.brackets import format_tree
from tools import masc
from tools.repairs import RULES, repair


def repaired(text: str) -> tuple[str, list[str]]:
    """Repair a tree; the rules that changed it, by name, as often as they did."""
    counts: Counter[str] = Counter()
    (tree,) = read_string(text)
    return format_tree(repair(Parse.from_tree(tree), counts).to_tree("TOP")), sorted(counts.elements())


@pytest.mark.parametrize(
    ("before", "after", "rules"),
    [
        (
            "(NP (NP (NNS dogs)) (SBAR (NP (WDT which)) (S (VP (VBP bark)))))",
            "(NP (NP (NNS dogs)) (SBAR (WHNP (WDT which)) (S (VP (VBP bark)))))",
            ["NP is WHNP"],
        ),
        (
            "(SBARQ (NP (WP$ whose) (NN dog)) (SQ (VP (VBZ barks))) (. ?))",
            "(SBARQ (WHNP (WP$ whose) (NN dog)) (SQ (VP (VBZ barks))) (. ?))",
            ["NP is WHNP"],
        ),
        (
            "(SBAR (WHPP (IN in) (NP (WDT which))) (S (VP (VBZ is))))",
            "(SBAR (WHPP (IN in) (WHNP (WDT which))) (S (VP (VBZ is))))",
            ["NP is WHNP"],
        ),
        (
            "(SBAR (ADVP (WRB when)) (S (VP (VBZ is))))",
            "(SBAR (WHADVP (WRB when)) (S (VP (VBZ is))))",
            ["ADVP is WHADVP"],
        ),
        (
            "(SBAR (ADJP (WRB how) (JJ big)) (S (VP (VBZ is))))",
            "(SBAR (WHADJP (WRB how) (JJ big)) (S (VP (VBZ is))))",
            ["ADJP is WHADJP"],
        ),
        ("(S (NP (WDT which)) (VP (VBZ is)))", "(S (NP (WDT which)) (VP (VBZ is)))", []),
        ("(SBAR (NP (WP who)))", "(SBAR (NP (WP who)))", []),  # nothing follows it
        ("(NP (NML (NN gene) (NN expression)) (NN level))", "(NP (NN gene) (NN expression) (NN level))", ["NML out"]),
        (
            "(NP (NP ($ $) (CD 1.5) (CD billion)) (PP (IN in) (NP (CD two) (CD million) (NNS notes))))",
            "(NP (NP (QP ($ $) (CD 1.5) (CD billion))) (PP (IN in) (NP (QP (CD two) (CD million)) (NNS notes))))",
            ["amount is QP", "amount is QP"],
        ),
        (
            "(NP (DT a) ($ $) (CD 2) (CD million) (NN house))",
            "(NP (DT a) (ADJP (QP ($ $) (CD 2) (CD million))) (NN house))",
            ["amount is ADJP", "amount is QP"],
        ),
        (
            "(NP (DT a) (QP ($ $) (CD 2) (CD million)) (NN house))",
            "(NP (DT a) (ADJP (QP ($ $) (CD 2) (CD million))) (NN house))",
            ["amount is ADJP"],
        ),
        ("(NP (DT a) ($ $) (CD 5) (NN fee))", "(NP (DT a) (ADJP ($ $) (CD 5)) (NN fee))", ["amount is ADJP"]),
        ("(NP (DT a) (CD 5) (NN %) (NN fee))", "(NP (DT a) (ADJP (CD 5) (NN %)) (NN fee))", ["per cent is ADJP"]),
        ("(NP (NNP Nov.) (CD 2) (CD 1999))", "(NP (NNP Nov.) (CD 2) (CD 1999))", []),  # a date
        ("(NP (QP (CD two) (CD million)))", "(NP (QP (CD two) (CD million)))", []),
        (
            "(NP (JJR more) (IN than) (CD two) (NNS dogs))",
            "(NP (QP (JJR more) (IN than) (CD two)) (NNS dogs))",
            ["about a number is QP"],
        ),
        ("(ADJP (CD 6) (NNS years) (JJ old))", "(ADJP (NP (CD 6) (NNS years)) (JJ old))", ["measure is NP"]),
        (
            "(NP ($ $) (CD 6) (NP (DT a) (NN year)))",
            "(NP (NP ($ $) (CD 6)) (NP (DT a) (NN year)))",
            ["price per unit is NP"],
        ),
        ("(CAPTION (S (NP (NNS cells)) (VP (VBP grow))))", "(S (NP (NNS cells)) (VP (VBP grow)))", ["caption out"]),
        (
            "(HEADING (NP (NNS cells)) (PRN (-LRB- -LRB-) (NN a) (-RRB- -RRB-)))",
            "(FRAG (NP (NNS cells)) (PRN (-LRB- -LRB-) (NN a) (-RRB- -RRB-)))",
            ["caption is FRAG"],
        ),
        (
            "(NP (NN rate) (CIT (-LRB- -LRB-) (NNP Doe) (-RRB- -RRB-)))",
            "(NP (NN rate) (PRN (-LRB- -LRB-) (NNP Doe) (-RRB- -RRB-)))",
            ["CIT is PRN"],
        ),
        ("(FRAG (UH No) (, ,) (UH no) (. .))", "(INTJ (UH No) (, ,) (UH no) (. .))", ["is INTJ"]),
        (
            "(S (UH well) (NP (PRP I)) (VP (VBP do)))",
            "(S (INTJ (UH well)) (NP (PRP I)) (VP (VBP do)))",
            ["UH is INTJ"],
        ),
        ("(S (UH so) (NP (PRP I)) (VP (VBP do)))", "(S (UH so) (NP (PRP I)) (VP (VBP do)))", []),
        (
            "(S (ADVP (RB Never)) (VBD had) (NP (PRP he)) (VP (VBN slept)) (. .))",
            "(SINV (ADVP (RB Never)) (VBD had) (NP (PRP he)) (VP (VBN slept)) (. .))",
            ["negative SINV"],
        ),
        (
            "(SQ (ADVP (RB Never)) (MD would) (NP (PRP he)) (VP (VB sleep)) (. ?))",
            "(SQ (ADVP (RB Never)) (MD would) (NP (PRP he)) (VP (VB sleep)) (. ?))",
            [],
        ),
        (
            "(SQ (ADVP (RB So)) (VBD did) (NP (PRP I)) (. .))",
            "(SINV (ADVP (RB So)) (VBD did) (NP (PRP I)) (. .))",
            ["so did I is SINV"],
        ),
        (
            "(S (ADVP (RB Down)) (VP (VBD came)) (NP (DT the) (NN rain)) (. .))",
            "(SINV (ADVP (RB Down)) (VP (VBD came)) (NP (DT the) (NN rain)) (. .))",
            ["VP before NP is SINV"],
        ),
        (
            "(S (ADVP (RB Then)) (VP (VBD came)) (NP (NN yesterday)))",
            "(S (ADVP (RB Then)) (VP (VBD came)) (NP (NN yesterday)))",
            [],
        ),
        (
            "(S (S (VBD Had) (NP (PRP I)) (VP (VBN slept))) (, ,) (NP (PRP I)) (VP (MD would)))",
            "(S (SBAR (SINV (VBD Had) (NP (PRP I)) (VP (VBN slept)))) (, ,) (NP (PRP I)) (VP (MD would)))",
            ["had I is SBAR", "had I is SINV"],
        ),
        (
            "(SBAR (MD should) (NP (PRP it)) (VP (VB rain)))",
            "(SBAR (SINV (MD should) (NP (PRP it)) (VP (VB rain))))",
            ["had I is SINV"],
        ),
        (
            "(PP (IN in) (NP (NN order) (S (VP (TO to) (VP (VB sleep))))))",
            "(SBAR (IN in) (NN order) (S (VP (TO to) (VP (VB sleep)))))",
            ["in order is SBAR"],
        ),
        (
            "(SBAR (ADVP (RB even)) (IN if) (S (NP (PRP it)) (VP (VBZ rains))))",
            "(SBAR (RB even) (IN if) (S (NP (PRP it)) (VP (VBZ rains))))",
            ["even if is flat"],
        ),
        (
            "(VP (VBP think) (VP (MD will) (VP (VB win))))",
            "(VP (VBP think) (SBAR (S (VP (MD will) (VP (VB win))))))",
            ["think will is SBAR"],
        ),
        ("(VP (VBZ has) (VP (VBZ put)))", "(VP (VBZ has) (VP (VBZ put)))", []),  # its tag is wrong
        (
            "(VP (VBD called) (NP (PRP it)) (NP (DT a) (NN lie)))",
            "(VP (VBD called) (S (NP (PRP it)) (NP (DT a) (NN lie))))",
            ["call it that is S"],
        ),
        (
            "(VP (VBD called) (NP (PRP it)) (NP (NNP Tuesday)))",
            "(VP (VBD called) (NP (PRP it)) (NP (NNP Tuesday)))",
            [],
        ),
        (
            "(NP (ADJP (JJ longer)) (CC and) (PP (IN with) (NP (NNS stars))))",
            "(UCP (ADJP (JJ longer)) (CC and) (PP (IN with) (NP (NNS stars))))",
            ["is UCP"],
        ),
        ("(NP (NP (NNS cats)) (CC and) (NP (NNS dogs)))", "(NP (NP (NNS cats)) (CC and) (NP (NNS dogs)))", []),
        (
            "(S (NP (PRP I)) (, ,) (PRN (S (NP (PRP he)) (VP (VBD said)))) (, ,) (VP (VBP do)))",
            "(S (NP (PRP I)) (PRN (, ,) (S (NP (PRP he)) (VP (VBD said))) (, ,)) (VP (VBP do)))",
            ["PRN has its marks"],
        ),
        (
            "(NP (NN rate) (-LRB- -LRB-) (PRN (S (VP (VB see)))) (-RRB- -RRB-))",
            "(NP (NN rate) (PRN (-LRB- -LRB-) (S (VP (VB see))) (-RRB- -RRB-)))",
            ["PRN has its brackets"],
        ),
        (
            "(NP (NP (NNP Doe)) (-LRB- -LRB-) (NP (CD 2000)) (-RRB- -RRB-))",
            "(NP (NP (NNP Doe)) (PRN (-LRB- -LRB-) (NP (CD 2000)) (-RRB- -RRB-)))",
            ["brackets are PRN"],
        ),
        (
            "(NP (NN stem) (-LRB- -LRB-) (NN ES) (-RRB- -RRB-) (NNS cells))",
            "(NP (NN stem) (-LRB- -LRB-) (NN ES) (-RRB- -RRB-) (NNS cells))",
            [],
        ),
        (
            "(S (NP (PRP it)) (: --) (PP (IN for) (NP (NNS dogs))) (: --) (VP (VBZ is)))",
            "(S (NP (PRP it)) (PRN (: --) (PP (IN for) (NP (NNS dogs))) (: --)) (VP (VBZ is)))",
            ["dashes are PRN"],
        ),
        (
            "(S (S (NP (PRP You)) (VP (VBP know))) (, ,) (NP (PRP I)) (VP (VBP do)))",
            "(S (PRN (S (NP (PRP You)) (VP (VBP know)))) (, ,) (NP (PRP I)) (VP (VBP do)))",
            ["you know is PRN"],
        ),
        ("(PP (IN to) (NP (NNS dogs)))", "(PP (TO to) (NP (NNS dogs)))", ["IN is TO"]),
    ],
)
def test_rules(before: str, after: str, rules: list[str]) -> None:
    before, after = (f"(TOP {tree})" for tree in (before, after))
    assert repaired(before) == (after, rules)
    assert repaired(after) == (after, [])


def test_each_rule_is_tested() -> None:
    """The cases above name all rules."""
    cases = test_rules.pytestmark[0].args[1]  # type: ignore[attr-defined]
    assert {rule.name for rule in RULES} <= {name for *_, rules in cases for name in rules}


LABELS = "S SQ SBAR SBARQ SINV NP VP PP ADJP ADVP PRN QP INTJ UCP NML CAPTION CIT FRAG WHNP WHPP LST"
TAGS = "CC UH IN TO NN NNS CD $ WDT WRB VBD VBZ MD RB DT JJ PRP , : . -LRB- -RRB-"
WORDS = "and in order to even if had never so said is $ % million about old a year you know call -- ( ) no ,"


@given(
    parses(
        labels=st.sampled_from(LABELS.split()),
        tags=st.sampled_from(TAGS.split()),
        words=st.sampled_from([*WORDS.split(), "a\u00a0year"]),
    )
)
def test_words_stay_and_nothing_is_repaired_twice(parse: Parse) -> None:
    once = repair(parse)
    assert once.words == parse.words
    assert repair(once) == once


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
