"""What is read as a pattern, what is refused, and with which words."""

from time import process_time

import pytest

from spacy_parsetag.search import TreeColumns, Tregex, find_all, read_brackets
from spacy_parsetag.search.pattern import basic_category

TREES = b"""(TOP (S (NP-SBJ (NP (NNP Rolls)) (, ,) (NP (DT the) (NN maker)) (, ,)) (VP (VBZ is) (ADJP (JJ well)))))
(ROOT (SQ (VBZ Is) (NP (PRP it)) (. ?)))
"""


def columns() -> TreeColumns:
    return TreeColumns.join(read_brackets(TREES, "made up.mrg"))


def found(pattern: str) -> list[str]:
    trees = columns()
    return [" ".join(trees.words(node)) for node in Tregex(pattern).find(trees).tolist()]


@pytest.mark.parametrize(
    "pattern, expected",
    [
        ("@NP <, (@NP $+ (/,/ $+ (@NP $+ /,/=comma))) <- =comma", ["Rolls , the maker ,"]),
        ("/^(VP|ADJP)$/", ["is well", "well"]),
        ("/(?i)^rolls$|^is$/", ["Rolls", "is", "Is"]),
        ("ROOT < SQ", ["Is it ?"]),  # whatever wrapper a file has
        ("ROOT", ["Rolls , the maker , is well", "Is it ?"]),
        ("_ROOT_=r < (SQ < VBZ)", ["Is it ?"]),
        ("/^S/ > _ROOT_", ["Rolls , the maker , is well", "Is it ?"]),
        ("(NP)", ["Rolls", "the maker", "it"]),
        ("NNP | PRP", ["Rolls", "it"]),
        ("NP <: NNP | <: PRP", ["Rolls", "it"]),
        ("S=s : (JJ=j)", ["Rolls , the maker , is well"]),
        ("NP=a $ (NP=b < DT)", ["Rolls"]),
        ("NP < DT=d & < !DT", ["the maker"]),
        ("/^VB/ . (__ << well)", ["is"]),
        ("VBZ <<< Is|is", ["is", "Is"]),
        ("/^\\.$/", ["?"]),
        ("__=a > VP=b $ ~a", []),
        ("NP !<1 DT ?< NNP=x", ["Rolls", "it"]),
        ("NP <-1 NN", ["the maker"]),
        ("@NP <-2 NP", ["Rolls , the maker ,"]),
        ("NP >-2 @NP", ["the maker"]),
        ("__ <... { @NP=n ; (VP < VBZ) }", ["Rolls , the maker , is well"]),
        ("NP <... { DT ; NN }", ["the maker"]),
        ("NP !<... { (__ < __) } & !<... {}", ["the maker"]),
        ("SQ <... { __ ; __ }", []),
        ("VBZ <... { Is|is } . __ <... {__}", ["is", "Is"]),
        ("ROOT <+[!NP] VBZ !<+/^S/ NP", ["Rolls , the maker , is well"]),
    ],
)
def test_matches(pattern: str, expected: list[str]) -> None:
    assert found(pattern) == expected


@pytest.mark.parametrize(
    "pattern, expected",
    [
        ("NN < ROOT", []), ("NN < TOP", ["TOP"]), ("NN < S1", ["S1"]), ("@ROOT|CC", ["TOP and S1", "and"]),
        ("__ > !@TOP|NN|NP", ["and"]), ("__ >+(ROOT|NP) TOP", ["TOP and S1", "TOP", "and", "S1"]),
    ],
)  # fmt: skip
def test_words_that_are_called_as_roots_are(pattern: str, expected: list[str]) -> None:
    trees = TreeColumns.join(read_brackets(b"(VROOT (NP (NN TOP) (CC and) (NN S1)))", "made up.mrg"))
    assert [" ".join(trees.words(node)) for node in Tregex(pattern).find(trees).tolist()] == expected


def test_names_in_many_trees() -> None:
    """Masks have 64 nodes a word: these trees take some forty words."""
    trees = TreeColumns.join(read_brackets(TREES * 80, "made up.mrg"))
    nodes, names = Tregex("NP < DT=d").matches(trees)
    assert trees.trees_of(nodes).tolist() == [*range(0, 160, 2)]
    assert (names["d"] == nodes + 1).all()


def test_several_at_once_and_by_name() -> None:
    patterns = [Tregex("NP < NN"), Tregex("VBZ"), Tregex("NP=n < __=c & < =c")]
    alone = [pattern.find(columns()).tolist() for pattern in patterns]
    assert [nodes.tolist() for nodes in find_all(patterns, columns())] == alone
    assert find_all([], columns()) == []
    trees = columns()
    nodes, names = Tregex("NP [< DT=d | < PRP=p]").matches(trees)
    words = {
        name: [trees.strings[trees.label[node]] if node >= 0 else "" for node in others]
        for name, others in names.items()
    }
    assert len(nodes) == 2 and words == {"d": ["DT", ""], "p": ["", "PRP"]}


@pytest.mark.parametrize(
    "pattern, message",
    [
        ("NP < PRP$", r"expected a node.*PRP\\\$\$/, at character 10"),
        ("NP <", "expected a node.*at character 5"),
        ("NP < (VP", r"expected '\)', at character 9"),
        ("NP ; VP", "not ';', at character 4"),
        ("S < NP=x| < VP", r"expected a name; before \| stands a space, at character 8"),
        ("NP !< NN=x", "within a negation"),
        ("NP=x < NN=x", "another node has the name 'x'"),
        ("NP < =x", "no node before this has the name 'x'"),
        ("NP [< NN=x | < =x]", "no node before this has the name 'x'"),
        ("NP < /(/", "not a regular expression"),
        ("NP < /[[A]/", "not a regular expression: Possible nested set"),
        ("NP <0 NN", "counted from 1"),
        ("NP <... { NN NN }", "expected ';', at character 14"),
        ("NP <... NN", "expected '{', at character 9"),
        ("NP <... {DT;NN}", "a name may have, stands a space, at character 16"),
        ("NP <... { NN ;", "expected a node"),
        ("NP ! <... { NN=n }", "within a negation"),
        ("NP .+(VP) NN", "chains of words.*not a part"),
        ("NP <<<2 NN", "counting words"),
        ("/(N)P/#1%x", "groups of a regular expression"),
        ("NP < !__", "takes neither"),
        ("NP !?< NN", "optional takes no negation, at character 5"),
        ("NP < NN VP", "expected a relation or the end, not 'VP'"),
        ("NP < NN|", r"a name is missing beside \|, at character 6"),
        ("NP < DT|/^NN/", r"its own alternatives: /\^\(MD\|VB\.\*\)\$/, at character 6"),
        ("NP << /rolls/i", r"not 'i'; /\(\?i\)the/ finds capitals too, at character 14"),
        ("NP < (NN | NNS)", r"expected '\)'; alternatives are written NN\|NNS.*at character 10"),
        ("NP < /NN", "expected another / at the end of the regular expression, at character 6"),
        ("NP < ,", r"punctuation.*written /\^,\$/.*at character 6"),
        ("NP < 2019", "numbers.*at character 10"),
        ("NP < (" * 1000, "nested too deeply"),
        (f"NP {'!' * 5000}< NN", "nested too deeply"),  # 900 are read by Python 3.13
        (f"NP <0{'9' * 5000} <>", "at character 5007"),
        ("", "expected a node"),
    ],
)
def test_refused(pattern: str, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        Tregex(pattern)


def test_the_mark_stands_below_the_place() -> None:
    """Also where a pattern is several lines."""
    with pytest.raises(ValueError, match="at character 16") as caught:
        Tregex("NP\n\t< NN\r\n< (VB")
    _, pattern, mark = str(caught.value).splitlines()
    assert pattern == "  NP  < NN  < (VB" and mark.index("^") == len(pattern)


@pytest.mark.parametrize("nth", ["2147483648", "-2147483649", "9" * 30])
def test_children_that_no_node_has(nth: str) -> None:
    assert found(f"__ <{nth} __ | >{nth} __") == []


def test_time_is_linear() -> None:
    """In the nodes, also where a node has many children or stands deep: the square takes seconds for each pattern."""
    n = 60_000
    flat, deep = f"(TOP {'(NN a) ' * n})", "(TOP " + "(X (NN a) " * n + ")" * (n + 1)
    trees = TreeColumns.join(read_brackets(f"{flat}\n{deep}\n".encode(), "a.mrg"))
    expected = {"__ <3 NN": 1, "__ <-3 NN": 1, "__ <... { NN ; NN }": 0, "__ : NN": 5 * n + 2}
    for pattern, n_found in expected.items():
        start = process_time()
        assert len(Tregex(pattern).find(trees)) == n_found
        assert process_time() - start < 1


def test_deep_patterns() -> None:
    """A hundred levels, more than trees have."""
    assert found("@NP" + " >> (@NP" * 99 + ")" * 99) == []
    assert found("__" + " !< (__" * 99 + " < xyz" + ")" * 99)


def test_basic_category() -> None:
    labels = ["NP-SBJ-1", "ADVP|PRT", "NP=2", "-LRB-", "-NONE-", "NP", "", "-"]
    more = {"-NONE--1": "-NONE-", "-5-6": "-5-6", "_x_y_z": "_x_y", "--X": "-", "---": "-", "-A=B-": "-A"}
    assert {label: basic_category(label) for label in more} == more
    assert [basic_category(label) for label in labels] == ["NP", "ADVP", "NP", "-LRB-", "-NONE-", "NP", "", "-"]
