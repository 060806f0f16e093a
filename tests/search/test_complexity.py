"""Structures of L2SCA, counted by hand: each alternative of each of Lu's patterns has a tree that needs it."""

import re

import numpy as np
import pytest

from spacy_parsetag.search import TreeColumns, read_brackets
from spacy_parsetag.search.complexity import count_structures

HE, SINGS, SING = "(NP (PRP he))", "(VP (VBZ sings))", "(VP (TO to) (VP (VB sing)))"
HE_SINGS = f"(S {HE} {SINGS})"
IS_ODD = "(VP (VBZ is) (ADJP (JJ odd)))"


@pytest.mark.parametrize(
    "tree, expected",
    [
        ("(S (NP (PRP$ My) (HYPH -) (NN dog)) (VP (VBZ sings)) (. .) (NFP *))", "W3 S1 VP1 C1 T1"),
        ("(S (VP (VB Sing)) (. .))", "W1 S1 VP1 C1 T1"),
        (f"(S {HE} (VP (VBZ wants) (S {SING})))", "W4 S1 VP2 C1 T1"),
        (f"(SQ (MD Can) {HE} (VP (VB sing)))", "W3 S1 VP1 C1 T1"),
        (f"(SQ (VBZ Is) {HE} (NP (NNP Kim)))", "W3 S1 VP1 C1 T1"),
        (f"(SBARQ (WHNP (WP Who)) (SQ {SINGS}))", "W2 S1 VP1 C1 T1"),
        (f"(SINV (ADVP (RB Here)) (VP (VBZ is)) {HE})", "W3 S1 VP1 C1 T1"),
        (f"(S {HE} (VP {SINGS} (CC and) {SINGS}))", "W4 S1 VP1 C1 T1 CP1"),
        (f"(S {HE_SINGS} (CC and) {HE_SINGS})", "W5 S1 VP2 C2 T2"),
        ("(FRAG (NP (NNP Kim)))", "W1 S1 C1 T1"),
        (f"(FRAG (SBAR (IN If) {HE_SINGS}))", "W3 S1 VP1 C1 T1 DC1"),
        (f"(FRAG {HE_SINGS} (: -) {HE_SINGS})", "W4 S1 VP2 C2 T1"),
        (f"(S (SBAR (IN If) {HE_SINGS}) {HE} {SINGS})", "W5 S1 VP2 C2 T1 DC1 CT1"),
        ("(FRAG (ADJP (ADVP (RB now) (CC and) (RB then)) (JJ odd) (CC or) (JJ even)))", "W6 S1 C1 T1 CP2"),
        # Complex nominals: noun phrases,
        ("(FRAG (NP (JJ odd) (NN dog)))", "W2 S1 C1 T1 CN1"),
        ("(FRAG (NP (NP (NNP Kim) (POS 's)) (NN dog)))", "W3 S1 C1 T1 CN1"),
        ("(FRAG (NP (NP (NN end)) (PP (IN of) (NP (NNP May)))))", "W3 S1 C1 T1 CN1"),
        (f"(FRAG (NP (NN wish) (S {SING})))", "W3 S1 VP1 C1 T1 CN1"),
        ("(FRAG (NP (VBG singing) (NN dog)))", "W2 S1 C1 T1 CN1"),
        ("(FRAG (NP (NP (NNP Kim)) (, ,) (NP (DT the) (NN dog))))", "W3 S1 C1 T1 CN1"),
        ("(FRAG (NP (NP (NNP Kim)) (CC and) (NP (NNP Lee))))", "W3 S1 C1 T1 CP1"),
        # clauses, as subjects and below verbs,
        (f"(S (SBAR (IN That) {HE_SINGS}) {IS_ODD})", "W5 S1 VP2 C2 T1 DC1 CT1 CN1"),
        (f"(S (SBAR (IN For) (S {HE} {SING})) {IS_ODD})", "W6 S1 VP2 C1 T1 CN1"),
        (f"(S {HE} (VP (VBZ asks) (SBAR (IN for) (S {HE} {SING}))))", "W6 S1 VP2 C1 T1 CN1"),
        (f"(S {HE} (VP (VBZ says) (SBAR (IN that) {HE_SINGS})))", "W5 S1 VP2 C2 T1 DC1 CT1 CN1"),
        (f"(S {HE} (VP (VBZ asks) (SBAR (IN whether) {HE_SINGS})))", "W5 S1 VP2 C2 T1 DC1 CT1"),
        (f"(S {HE} (VP (VBZ asks) (SBAR (WHNP (WP who)) (S {SINGS}))))", "W4 S1 VP2 C2 T1 DC1 CT1 CN1"),
        (f"(S {HE} (VP (VBZ says) (SBAR (S {HE_SINGS} (CC and) {HE_SINGS}))))", "W7 S1 VP3 C3 T1 CN1"),
        # and gerunds and infinitives as subjects.
        (f"(S (S (VP (VBG Singing))) {IS_ODD})", "W3 S1 VP2 C1 T1 CN1"),
        (f"(S (S {SING}) {IS_ODD})", "W4 S1 VP2 C1 T1 CN1"),
    ],
)  # fmt: skip
def test_structures(tree: str, expected: str) -> None:
    columns = TreeColumns.join(read_brackets(f"(ROOT {tree})".encode(), "made up"))
    counts = {name: int(count[0]) for name, count in count_structures(columns, np.zeros(1, int), 1).items()}
    wanted = {name: int(n) for name, n in re.findall(r"([A-Z]+)(\d)", expected)}
    assert counts == dict.fromkeys(counts, 0) | wanted
