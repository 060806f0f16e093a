"""What differs between trees: sentences from worst to best, and labels taken for others."""

import pytest

from spacy_parsetag.evalb import get_params
from spacy_parsetag.evalb.counts import compare
from spacy_parsetag.evalb.differences import diff

GOLD = "(TOP (S (NP (DT the) (NN dog)) (VP (VBZ sees) (NP (NNS cats))) (. .)))"
TESTS = [
    GOLD,
    GOLD.replace("(NP (NNS cats))", "(NNS cats)"),
    "(TOP (S (NP (DT the)) (VP (NN dog) (VBZ sees) (ADVP (NNS cats))) (. .)))",
    "",
    GOLD.replace("cats", "rats"),
    GOLD.replace("(NP (NNS cats))", "(NP-OBJ (NNS cats))"),
]


def test_sentences_from_worst_to_best() -> None:
    found = diff([GOLD] * len(TESTS), TESTS)
    assert [(one.number, round(one.f)) for one in found.sentences] == [(4, 0), (5, 0), (3, 25), (2, 86)]
    assert found.result.failures == 2 and found.result.all.matched == 4 + 3 + 1 + 4
    third = found.sentences[2]
    assert third.relabeled == [((3, 4, "NP"), "ADVP")]
    assert third.missing == [(0, 2, "NP"), (2, 4, "VP")] and third.extra == [(0, 1, "NP"), (1, 4, "VP")]
    assert third.text(third.missing[1]) == "sees cats"


def test_more_differences_come_first_where_f_is_the_same() -> None:
    golds = ["(TOP (S (A (NN a)) (B (NN b))))", "(TOP (S (A (NN a)) (B (NN b)) (C (NN c)) (D (NN d)) (E (NN e))))"]
    tests = ["(TOP (S (A (NN a)) (X (NN b))))", "(TOP (S (A (NN a)) (B (NN b)) (C (NN c)) (X (NN d)) (Y (NN e))))"]
    found = diff(golds, tests).sentences
    assert [(one.number, len(one.relabeled)) for one in found] == [(2, 2), (1, 1)] and found[0].f == found[1].f


def test_confusions() -> None:
    found = diff([GOLD] * len(TESTS), TESTS)
    assert found.confusions[0] == ("NP", None, 2)
    assert set(found.confusions[1:]) == {("NP", "ADVP", 1), ("VP", None, 1), (None, "NP", 1), (None, "VP", 1)}
    # Labels held equal are not confused.
    assert diff(["(TOP (ADVP (RB a)))"], ["(TOP (PRT (RB a)))"]).confusions == []
    assert diff(["(TOP (ADVP (RB a)))"], ["(TOP (PRT (RB a)))"], "spmrl").confusions == [("ADVP", "PRT", 1)]
    # In a chain each bracket is paired once.
    assert diff(["(A (B (C (NN a))))"], ["(B (D (NN a)))"]).confusions == [("A", "D", 1), ("C", None, 1)]


def test_brackets_add_up_to_the_counts() -> None:
    params = get_params("collins")
    for test in TESTS:
        row, words, matching = compare(GOLD, test, params)
        if not row.failed:
            assert len(words) == row.words
            assert len(matching.matched) == row.matched
            assert len(matching.matched) + len(matching.missing) == row.gold
            assert len(matching.matched) + len(matching.extra) == row.test


def test_the_same_words_under_tags_of_punctuation() -> None:
    """They are named, and come after other failures; no count changes."""
    gold = "(TOP (S (NP (PRP I)) (VP (VBP go) (: --) (ADVP (RB home) (-NONE- *))) (. .)))"
    comma = gold.replace("(. .)", "(, ,) (. .)")
    retagged = "'--' is tagged : in GOLD and SYM in TEST"
    test = gold.replace(" (-NONE- *)", "").replace("(: --)", "(SYM --)")
    found = diff([gold] * 4, [test, test.replace("home", "away"), "", gold.replace("home", "away")])
    assert [one.number for one in found.sentences] == [2, 3, 4, 1]
    assert [one.counts.retagged for one in found.sentences] == ["", "", "", retagged]
    assert found.sentences[3].counts.error == "Length unmatch (3|4)" and found.result.failures == 4
    assert found.to_dict()["sentences"][3]["retagged"] == retagged
    # Two tags that make up for each other; a word alone, which is then no word.
    [one] = diff([comma], [comma.replace("(: --)", "(SYM --)").replace("PRP I", ": I")]).sentences
    assert one.counts.retagged == "'I' is tagged PRP in GOLD and : in TEST" and "Words unmatch" in one.counts.error
    [one] = diff(["(NP (NN --))"], ["(NP (: --))"]).sentences
    assert one.counts.retagged == "'--' is tagged NN in GOLD and : in TEST" and not one.counts.error


def test_json() -> None:
    data = diff([GOLD] * len(TESTS), TESTS).to_dict(top=3)
    assert data["differ"] == 4 and len(data["sentences"]) == 3
    assert data["sentences"][0]["error"] == "no parse" and data["sentences"][1]["error"] == "Words unmatch (cats|rats)"
    third = data["sentences"][2]
    assert third["sentence"] == 3 and third["matched"] == 1 and third["words"] == ["the", "dog", "sees", "cats"]
    assert third["relabeled"] == [{"label": "NP", "start": 3, "end": 4, "text": "cats", "test_label": "ADVP"}]
    assert {"gold": "NP", "test": None, "count": 2} in data["confusions"]


def test_nothing_differs() -> None:
    found = diff([GOLD], [GOLD])
    assert not found.sentences and not found.confusions
    with pytest.raises(ValueError, match="E353"):
        diff([GOLD], [])
