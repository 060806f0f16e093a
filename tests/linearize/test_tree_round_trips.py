"""Trees become tags and come back, whatever their labels, and however deep."""

import pytest
from hypothesis import given
from strategies import LABELS, parses

from spacy_parsetag.linearize import (
    ORDERS,
    delinearize,
    deviations,
    get_linearizer,
    linearize,
    make_tag,
    split_tag,
)
from spacy_parsetag.trees import (
    Constituent,
    Parse,
    binarize,
    from_nltk,
    join_chain,
    split_chain,
    to_nltk,
    tree_spans,
    unbinarize,
)

DEPTH = 5000


@given(parse=parses())
def test_round_trip(parse: Parse) -> None:
    binary = binarize(parse)
    n = len(parse)
    assert binary.n_words == n and len(binary.label) == 2 * n - 1
    assert unbinarize(binary, parse.words, parse.pos) == parse
    for order, linearizer in ORDERS.items():
        tags = linearizer.linearize(binary)
        assert len(tags) == 2 * n - 1
        assert linearizer.delinearize(tags) == binary
        assert [make_tag(*split_tag(tag)) for tag in tags] == tags
        tree = to_nltk(parse.to_tree())
        assert linearize(tree, order) == tags
        assert delinearize(tags, tree.pos(), order) == tree
        assert Parse.from_tree(from_nltk(tree)) == parse


@given(parse=parses())
def test_every_order_has_the_same_tags(parse: Parse) -> None:
    binary = binarize(parse)
    in_order, pre_order, post_order = (sorted(ORDERS[order].linearize(binary)) for order in ("in", "pre", "post"))
    assert in_order == pre_order == post_order


@given(chain=LABELS.flatmap(lambda first: LABELS.map(lambda second: [first, second, first])))
def test_chains(chain: list[str]) -> None:
    assert list(split_chain(join_chain(chain))) == chain
    for i in range(1, 4):
        assert split_chain(join_chain(chain[:i])) == tuple(chain[:i])
    assert split_chain("") == ()


@pytest.mark.parametrize("label", ["+", "a+", "+a", "a++b", "\\", "a\\", "a\\b", "a+\\"])
def test_malformed_chains(label: str) -> None:
    with pytest.raises(ValueError, match=r"\[E005\]"):
        split_chain(label)


def test_unknown_order() -> None:
    with pytest.raises(ValueError, match=r"\[E051\]"):
        get_linearizer("level")


def branching(right: bool, chain: int = 1) -> Parse:
    """A tree as deep as it has words."""
    bounds = [(i, DEPTH) if right else (0, DEPTH - i) for i in range(DEPTH)]
    spans = tuple(Constituent(start, end, f"X{i}") for start, end in bounds for i in range(chain))
    return Parse(("w",) * DEPTH, ("T",) * DEPTH, spans)


@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("right", [True, False], ids=["right", "left"])
def test_deep_trees(order: str, right: bool) -> None:
    parse = branching(right)
    tree = parse.to_tree()
    assert Parse.from_tree(tree) == parse
    tags = linearize(to_nltk(tree), order)
    back = delinearize(tags, list(zip(parse.words, parse.pos, strict=True)), order)
    assert from_nltk(back) == tree
    # Where the bounds of Propositions 2 and 3 are reached.
    worst = {"in": 0, "pre": 0 if right else (DEPTH - 1) // 2, "post": DEPTH // 2 if right else 1}
    assert max(deviations(tags)) == worst[order]


def test_long_chains() -> None:
    labels = [f"L{i}" for i in range(DEPTH)]
    parse = Parse(("w",), ("T",), tuple(Constituent(0, 1, label) for label in labels))
    tags = linearize(to_nltk(parse.to_tree()))
    assert len(tags) == 1
    assert Parse.from_tree(from_nltk(delinearize(tags, [("w", "T")]))) == parse


@pytest.mark.parametrize(
    "spans, code",
    [
        ([(0, 2, "A"), (1, 3, "B")], "E002"),
        ([(0, 4, "A")], "E003"),
        ([(-1, 2, "A")], "E003"),
        ([(1, 1, "A")], "E003"),
        ([(2, 1, "A")], "E003"),
        ([(1, 2, "A"), (0, 3, "B")], "E002"),
        ([(0, 2, "A"), (0, 3, "B")], "E002"),
        ([(0, 3, "A"), (1, 3, "B"), (1, 3, "C"), (0, 1, "D")], "E002"),
    ],
)
def test_no_trees(spans: list, code: str) -> None:
    parse = Parse(("a", "b", "c"), ("A", "B", "C"), tuple(Constituent(*span) for span in spans))
    with pytest.raises(ValueError, match=rf"\[{code}\]"):
        binarize(parse)
    with pytest.raises(ValueError, match=rf"\[{code}\]"):
        parse.to_tree()


def test_words_and_their_tags() -> None:
    """Any pairs will do; a word alone is no pair, even if it has two letters."""
    tags = ["l/NP", "L/S", "r/VP"]
    tree = delinearize(tags, zip(["She", "sleeps"], ["PRP", "VBZ"], strict=True))
    assert tree.pos() == [("She", "PRP"), ("sleeps", "VBZ")]
    with pytest.raises(ValueError, match=r"\[E056\].*got 'Hi'"):
        delinearize(tags, ["Hi", "is"])  # type: ignore[list-item]


def test_empty_labels_are_refused() -> None:
    """Otherwise the constituent would vanish, or its chain be one that nobody wrote."""
    for labels in ([""], ["S", ""]):
        parse = Parse(("a",), ("A",), tuple(Constituent(0, 1, label) for label in labels))
        with pytest.raises(ValueError, match=r"\[E001\].*words 0 to 1 has no label"):
            binarize(parse)


def test_empty_sentence() -> None:
    with pytest.raises(ValueError, match=r"\[E001\]"):
        binarize(Parse((), (), ()))


@given(parse=parses())
def test_spans_of_a_binary_tree(parse: Parse) -> None:
    assert tree_spans(binarize(parse)) == list(parse.spans)


@pytest.mark.parametrize("words, pos", [(("a",), ("A", "B")), (("a", "b"), ("A",)), (("a", "b"), ("A", "B", "C"))])
def test_unbinarize_counts_words_and_pos(words: tuple[str, ...], pos: tuple[str, ...]) -> None:
    tree = binarize(Parse(("a", "b"), ("A", "B"), ()))
    with pytest.raises(ValueError, match=r"\[E00[14]\]"):
        unbinarize(tree, words, pos)
