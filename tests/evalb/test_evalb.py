"""Every rule of EVALB, on toy trees."""

import random
from dataclasses import replace

import pytest
from nltk import Tree

from spacy_parsetag.evalb import EvalbParams, evalb, format_summary, format_table, get_params
from spacy_parsetag.evalb.counts import count_crossing, match_brackets
from spacy_parsetag.evalb.params import Bracket
from spacy_parsetag.trees import Parse, Tree as OurTree, from_nltk
from spacy_parsetag.trees.parse import Constituent

COLLINS, NEW, SPMRL = map(get_params, ("collins", "new", "spmrl"))

GOLD = "(TOP (S (NP (PRP She)) (VP (VBZ enjoys) (S (VP (VBG reading) (NP (NNS papers)))))))"


def score(gold: str, test: str | None, params: EvalbParams = COLLINS):
    result = evalb([Tree.fromstring(gold)], [None if test is None else Tree.fromstring(test)], params)
    return result.rows[0]


def test_example() -> None:
    row = score(GOLD, "(TOP (S (NP (PRP She)) (VP (VBZ enjoys) (VP (VBG reading) (NP (NNS papers))))))")
    assert (row.matched, row.gold, row.test, row.words, row.correct_tags, row.crossing) == (5, 6, 5, 4, 4, 0)
    assert not row.complete
    result = evalb([Tree.fromstring(GOLD)], [Tree.fromstring(GOLD)])
    assert result.f == result.exact_match == result.strict.f == 100.0


def test_duplicates_are_a_multiset() -> None:
    row = score("(TOP (NP (NP (NN a))))", "(TOP (NP (NN a)))")
    assert (row.matched, row.gold, row.test) == (1, 2, 1)
    row = score("(TOP (NP (NN a)))", "(TOP (NP (NP (NP (NN a)))))")
    assert (row.matched, row.gold, row.test) == (1, 1, 3)


def test_order_in_unary_chain_does_not_count() -> None:
    assert score("(TOP (S (VP (VB go))))", "(TOP (VP (S (VB go))))").complete


def test_function_tags_are_cut() -> None:
    row = score("(TOP (NP-SBJ-1 (NN a) (PP=2 (IN b))))", "(TOP (NP (NN a) (PP-LOC (IN b))))")
    assert row.complete and row.matched == 2


def test_advp_equals_prt() -> None:
    assert score("(TOP (ADVP (RB a)))", "(TOP (PRT (RB a)))").matched == 1
    assert score("(TOP (ADVP (RB a)))", "(TOP (PRT (RB a)))", SPMRL).matched == 0
    # Held equal as part-of-speech tags too.
    assert score("(TOP (X (ADVP a)))", "(TOP (X (PRT a)))").correct_tags == 1


def test_root_counts_where_it_is_not_deleted() -> None:
    row = score("(ROOT (S (NN a)))", "(ROOT (NP (NN a)))")
    assert (row.matched, row.gold, row.test) == (1, 2, 2)
    row = score("(TOP (S (NN a)))", "(TOP (NP (NN a)))")
    assert (row.matched, row.gold, row.test) == (0, 1, 1)
    assert score("(ROOT (S (NN a)))", "(ROOT (NP (NN a)))", SPMRL).gold == 1
    assert score("(S1 (S (NN a)))", "(S1 (NP (NN a)))", NEW).gold == 1
    # A tree without a label at the root counts too: its label is empty.
    assert score("( (S (NN a)))", "( (S (NN a)))").gold == 2


def test_punctuation_is_deleted_and_brackets_close_over_it() -> None:
    gold = "(TOP (S (NP (NN a)) (, ,) (VP (VB b)) (. .)))"
    row = score(gold, "(TOP (S (NP (NN a) (, ,)) (VP (VB b) (. .))))")
    assert row.complete and row.words == 2 and row.length == 4
    # Brackets around deleted words only are gone.
    assert score("(TOP (S (NN a) (X (. .))))", "(TOP (S (NN a) (. .)))").complete
    # SPMRL keeps punctuation; brackets are words under every file.
    assert score(gold, gold, SPMRL).words == 4
    assert score("(TOP (X (-LRB- -LRB-) (NN a)))", "(TOP (X (-LRB- -LRB-) (NN a)))").words == 2


def test_traces_do_not_count_for_the_length() -> None:
    row = score("(TOP (S (NP (-NONE- *)) (VP (VB go) (. .))))", "(TOP (S (VP (VB go) (. .))))")
    assert row.length == 2 and row.complete and row.gold == 2


def test_a_parse_is_read_as_its_line() -> None:
    """Which words count for the length, too: traces do not."""
    lines = [
        "(TOP (S (NP (-NONE- *)) (`` ``) (VP (VB go)) (. .)))",
        "(TOP (S (NP (-NONE- *)) (`` ``) (NP (VB go)) (. .)))",
    ]
    trees = [Tree.fromstring(line) for line in lines]
    parses = [Parse.from_tree(from_nltk(tree)) for tree in trees]
    rows = evalb(parses, parses[::-1]).rows
    assert rows == evalb(lines, lines[::-1]).rows == evalb(trees, trees[::-1]).rows
    assert [row.length for row in rows] == [3, 3] and not any(row.complete for row in rows)


def test_punctuation_only() -> None:
    result = evalb([Tree.fromstring("(TOP (X (. .)))")], [Tree.fromstring("(TOP (X (. .)))")])
    assert result.rows[0].status == 2 and result.failures == 0 and result.strict.gold == 0
    assert result.all.skipped == result.strict.skipped == 1 and result.strict.valid == 0
    # The gold tree has no word, the test tree has one: an error.
    assert score("(TOP (X (. .)))", "(TOP (X (NN .)))").status == 1


@pytest.mark.parametrize("test", [None, "(())", "(TOP )", "(TOP (. .))"])
def test_no_parse_is_skipped_and_counts_as_zero(test: str | None) -> None:
    gold = [Tree.fromstring(GOLD)] * 2
    result = evalb(gold, [gold[0], None if test is None else Tree.fromstring(test)])
    assert result.rows[1].status == 2
    assert (result.all.skipped, result.all.valid, result.f, result.exact_match) == (1, 1, 100.0, 100.0)
    assert (result.strict.gold, result.strict.test, result.strict.matched) == (12, 6, 6)
    assert result.strict.recall == 50.0 and result.strict.precision == 100.0 and result.strict.complete_match == 50.0
    assert result.strict.tag_accuracy == 50.0 and result.failures == 1
    assert "failures count as zero   recall  50.00  precision 100.00  F  66.67" in format_summary(result)


def test_length_and_words_differ() -> None:
    row = score("(TOP (S (NN a) (NN b)))", "(TOP (S (NN a)))")
    assert (row.status, row.error) == (1, "Length unmatch (2|1)")
    assert (row.matched, row.gold, row.words, row.all_gold, row.all_words) == (0, 0, 0, 1, 2)
    row = score("(TOP (S (NN a)))", "(TOP (S (NN b)))")
    assert (row.status, row.error) == (1, "Words unmatch (a|b)")
    # A wrong punctuation tag changes which words count.
    assert score("(TOP (S (NN a) (. .)))", "(TOP (S (NN a) (NN .)))").status == 1
    assert score("(TOP (S (NN a)))", "(TOP (S (NN A)))", replace(COLLINS, eq_words=(("A", "a"),))).status == 0


def test_quotes_come_back() -> None:
    gold = "(TOP (S (NP (NNS boys) ('' ')) (VP (VB go))))"
    test = "(TOP (S (NP (NNS boys) (POS ')) (VP (VB go))))"
    assert score(gold, test).status == 1
    for first, second in ((gold, test), (test, gold)):
        row = score(first, second, NEW)
        assert (row.status, row.matched, row.words, row.correct_tags) == (0, 3, 3, 2)
    # A quote that came back stands one word later, so a quote right behind it brings it back once more, as in C.
    row = score(*(f"(TOP (S (NN a) ({tag} ') ({tag} /) (NN b)))" for tag in ("''", "POS")), NEW)
    assert (row.status, row.error) == (1, "Words unmatch ('|/)")
    # Only ', " and / come back, and only where the tags differ.
    assert score(gold.replace(" ')", " x)"), test.replace(" ')", " x)"), NEW).status == 1


def test_unlabeled() -> None:
    row = score("(TOP (S (NN a) (NN b)))", "(TOP (X (NN a) (NN b)))", replace(COLLINS, labeled=False))
    assert row.complete and row.matched == 1


def test_equal_labels_that_are_no_equivalence() -> None:
    # A = B and B = C: matches depend on the order of brackets, as in C.
    params = replace(COLLINS, eq_labels=(("A", "B"), ("B", "C")))
    assert score("(TOP (B (A (NN a))))", "(TOP (A (B (NN a))))", params).matched == 2
    assert score("(TOP (B (A (NN a))))", "(TOP (B (C (NN a))))", params).matched == 1
    assert score("(TOP (A (NN a)))", "(TOP (C (NN a)))", params).matched == 0
    params = replace(params, eq_labels=(*params.eq_labels, ("C", "A")))
    assert score("(TOP (B (A (NN a))))", "(TOP (B (C (NN a))))", params).matched == 2
    # A label that equals a deleted one is deleted.
    assert score("(TOP (X (NN a)))", "(TOP (X (NN a)))", replace(COLLINS, eq_labels=(("X", "TOP"),))).gold == 0


def test_crossing() -> None:
    row = score("(TOP (S (X (NN a) (NN b)) (NN c)))", "(TOP (S (NN a) (X (NN b) (NN c))))")
    assert (row.crossing, row.matched) == (1, 1)


def test_crossing_and_matching_against_the_definition() -> None:
    rng = random.Random(0)

    def brackets(n: int) -> list[Bracket]:
        bounds = (sorted(rng.sample(range(n + 1), 2)) for _ in range(rng.randint(0, 12)))
        return [(start, end, rng.choice("AB")) for start, end in bounds]

    for _ in range(500):
        n = rng.randint(1, 8)
        gold, test = brackets(n), brackets(n)
        crossing = sum(any(a < c < b < d or c < a < d < b for a, b, _ in gold) for c, d, _ in test)
        assert count_crossing(gold, test, n) == crossing
        matched = sum(min(gold.count(bracket), test.count(bracket)) for bracket in set(gold))
        matching = match_brackets(gold, test, COLLINS)
        assert len(matching.matched) == matched
        assert len(matching.missing) == len(gold) - matched and len(matching.extra) == len(test) - matched


def test_summaries_and_cutoff() -> None:
    long = "(TOP (S " + " ".join(f"(NN w{i})" for i in range(41)) + "))"
    trees = [Tree.fromstring(GOLD), Tree.fromstring(long)]
    result = evalb(trees, [trees[0], Tree.fromstring(long.replace("(S ", "(X "))])
    assert (result.all.sentences, result.short.sentences, result.all.matched, result.short.matched) == (2, 1, 6, 6)
    assert result.all.complete_match == 50.0 and result.short.complete_match == 100.0
    data = result.to_dict()
    assert data["all"]["f"] == result.f and data["len<=40"]["sentences"] == 1


def test_two_or_less_crossing() -> None:
    gold = "(TOP (S (X (NN a) (NN b) (NN c) (NN d)) (NN e)))"
    two = "(TOP (S (NN a) (X (NN b) (X (NN c) (NN d) (NN e)))))"
    three = "(TOP (S (NN a) (X (NN b) (X (NN c) (X (NN d) (NN e))))))"
    result = evalb([gold] * 3, [gold, two, three])
    assert [row.crossing for row in result.rows] == [0, 2, 3]
    assert (result.all.no_crossing, result.all.two_or_less) == (1, 2)
    assert "2 or less crossing        =  66.67" in format_table(result)


def test_errors_do_not_stop_the_run() -> None:
    gold = ["(TOP (S (NN a)))"] * 13
    result = evalb(gold, ["(TOP (S (NN b)))"] * 12 + gold[:1])
    assert result.all.errors == 12 and result.f == 100.0 and result.failures == 12


def test_table_without_any_match() -> None:
    table = format_table(evalb([Tree.fromstring(GOLD)], [None]))
    assert "Bracketing FMeasure       =   -nan\n" in table
    assert "\n      0     0     0.00\n=== Summary" in table
    assert evalb([], []).f == 0.0


def test_trees_of_this_package() -> None:
    """One without words is no parse; a span outside of the sentence is named."""
    gold = Parse(("a", "b"), ("X", "X"), (Constituent(0, 2, "S"),))
    result = evalb([gold, gold], [OurTree("TOP", (OurTree("S", ()),)), replace(gold, spans=(Constituent(0, 9, "S"),))])
    assert [row.status for row in result.rows] == [2, 1] and "E003" in result.rows[1].error
    with pytest.raises(ValueError, match=r"E354.*E003"):
        evalb([replace(gold, spans=(Constituent(-1, 2, "S"),))], [gold])


def test_numbers_of_trees_differ() -> None:
    tree = Tree.fromstring(GOLD)
    with pytest.raises(ValueError, match=r"E353.*The test trees end after sentence 1"):
        evalb([tree, tree], [tree])
    with pytest.raises(ValueError, match=r"E353.*The gold trees end after sentence 0"):
        evalb([], iter([tree]))


def test_malformed_trees() -> None:
    good, bad = Tree.fromstring(GOLD), Tree.fromstring("(TOP (S a (NN b)))")
    with pytest.raises(ValueError, match=r"E354.*Gold sentence 2.*'a'"):
        evalb([good, bad], [good, good])
    result = evalb([good], [bad])
    assert result.rows[0].status == 1 and "'a'" in result.rows[0].error and result.failures == 1


def test_long_sentence_and_labels() -> None:
    words = " ".join(f"(NN {'w' * 200}{i})" for i in range(1000))
    gold = "(TOP (" + "L" * 100 + " " + words + "))"
    row = score(gold, gold)
    assert row.complete and row.words == 1000


@pytest.mark.parametrize("right", [True, False])
def test_deep_trees(right: bool) -> None:
    def deep(label: str) -> Tree:
        tree = Tree("NN", ["w0"])
        for i in range(1, 5000):
            word = Tree("NN", ["w0"]) if i % 2 else Tree("JJ", ["w0"])
            tree = Tree(label, [word, tree] if right else [tree, word])
        return Tree("TOP", [tree])

    row = evalb([deep("A")], [deep("A")]).rows[0]
    assert row.complete and row.gold == 4999 and row.words == 5000
    chain = Tree("NN", ["w"])
    for _ in range(5000):
        chain = Tree("X", [chain])
    assert evalb([chain], [chain]).rows[0].matched == 5000


def test_spmrl_cuts_morphology() -> None:
    row = score("(TOP (NP##g=f## (N##x=1## a)))", "(TOP (NP (N##y## a)))", SPMRL)
    assert row.complete and row.correct_tags == 1
    assert score("(TOP (NP (NN-X a)))", "(TOP (NP (NN a)))").correct_tags == 0
