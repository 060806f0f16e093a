"""Tregex over columns equals Tregex by its definition; and what is no pattern is named."""

from itertools import count
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, seed, settings, strategies as st
from search_reference import SYMBOLS, Bool, Desc, Heads, N, Pat, Rel, all_matches, link
from strategies import n_examples, parses

import spacy_parsetag.search as search
from spacy_parsetag.search import Tregex, match
from spacy_parsetag.search.columns import TreeColumns, columns_of_parses
from spacy_parsetag.trees.parse import Parse

HEADS = Heads(Path(search.__file__).parent / "heads" / "penn.txt")
# Labels and words overlap, as they may.
NAMES = st.sampled_from(["S", "NP", "VP", "NP-SBJ", "PP", "CC", "SBAR", "a"])
TREES = st.lists(
    parses(
        max_words=7,
        words=st.sampled_from(["a", "b", "NP", "c-d"]),
        labels=NAMES,
        tags=st.sampled_from(["NN", "VB", "CC", "IN", ",", "NP", "-LRB-"]),
    ),
    min_size=1,
    max_size=4,
)
WANTED = st.sampled_from(["S", "NP", "VP", "PP", "NN", "CC", "a", "b", "ROOT", "-LRB-", "c"])
DESCS = st.builds(
    Desc,
    st.one_of(
        st.lists(WANTED, min_size=1, max_size=3).map("|".join),
        st.sampled_from(["/^N/", "/P$/", "/[ab]/", "/-/"]),
    ),
    st.booleans(),
    st.booleans(),
) | st.just(Desc(""))


@st.composite
def patterns(draw: st.DrawFn) -> tuple[Pat, list[str]]:
    """Random patterns: all relations, groups, names and references, four nodes deep."""
    numbers = count()
    names: list[str] = []

    def node(bound: list[str], depth: int, negated: bool) -> tuple[Pat, list[str]]:
        if bound and draw(st.integers(0, 3)) == 0:
            pat = Pat(Desc(""), ref=draw(st.sampled_from("=~")) + draw(st.sampled_from(bound)))
        else:
            pat = Pat(draw(DESCS))
            if not negated and draw(st.integers(0, 2)) == 0:
                pat.name = f"n{'abcdefghijklmnopqrstuvwxyz'[next(numbers) % 26]}{'x' * (next(numbers) // 26)}"
                names.append(pat.name)
                bound = [*bound, pat.name]
        if depth and draw(st.integers(0, 4)):
            pat.test, bound = test(bound, depth, negated)
        return pat, bound

    def test(bound: list[str], depth: int, negated: bool) -> tuple[Rel | Bool, list[str]]:
        kind = draw(st.sampled_from(["rel", "rel", "rel", "and", "and", "or", "not", "maybe"]))
        if kind == "rel" or depth < 2:
            symbol = draw(st.sampled_from(SYMBOLS))
            through = draw(DESCS.filter(lambda desc: desc.text)) if symbol in ("<+", ">+") else None
            pat, bound = node(bound, depth - 1, negated)
            return Rel(symbol, pat, through), bound
        if kind in ("not", "maybe"):
            part, inner = test(bound, depth - 1, negated or kind == "not")
            return Bool(kind, [part]), inner
        parts, after = [], list(bound)
        for _ in range(2):
            part, found = test(after if kind == "and" else bound, depth - 1, negated)
            parts.append(part)
            after = found if kind == "and" else [*after, *(name for name in found if name not in after)]
        return Bool(kind, parts), after

    return node([], 4, False)[0], names


def columns_of(trees: list[Parse]) -> TreeColumns:
    return columns_of_parses(((parse, number, "TOP", "") for number, parse in enumerate(trees, start=1)), "made up")


def check(trees: list[Parse], patterns: list[tuple[Pat, list[str]]], block: int) -> None:
    columns = columns_of(trees)
    linked = [link(parse.to_tree("TOP")) for parse in trees]
    for pattern, names in patterns:
        check_pattern(columns, linked, pattern, names, block)


def check_pattern(columns: TreeColumns, linked: list[list[N]], pattern: Pat, names: list[str], block: int) -> None:
    expected = {
        (number, *found) for number, nodes in enumerate(linked) for found in all_matches(pattern, nodes, names, HEADS)
    }
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(match, "BLOCK", block)
        patch.setattr(match, "ENUMERATED", block)
        tregex = Tregex(str(pattern))
        assert tregex.names == names
        nodes = tregex.find(columns)
        rows = tregex.matches(columns)
    number = columns.trees_of(rows.nodes)
    first = columns.starts[number]
    places = [rows.nodes - first, *(np.where(rows.names[name] < 0, -1, rows.names[name] - first) for name in names)]
    found = list(zip(number.tolist(), *(each.tolist() for each in places), strict=True))
    assert len(found) == len(set(found))
    assert set(found) == expected, str(pattern)
    number = columns.trees_of(nodes)
    assert list(zip(number.tolist(), (nodes - columns.starts[number]).tolist(), strict=True)) == sorted(
        {row[:2] for row in expected}
    )


@given(trees=TREES, patterns=st.lists(patterns(), min_size=1, max_size=4), block=st.sampled_from([1, 20, 1 << 14]))
@settings(max_examples=n_examples(150))
def test_equal_to_the_definition(trees: list[Parse], patterns: list[tuple[Pat, list[str]]], block: int) -> None:
    check(trees, patterns, block)


@pytest.mark.release
def test_equal_to_the_definition_on_100_000_pairs(capsys: pytest.CaptureFixture[str]) -> None:
    """A pair is a pattern and a list of trees."""
    n_pairs = n_trees = number = 0

    @given(trees=TREES, patterns=st.lists(patterns(), min_size=8, max_size=12), block=st.sampled_from([1, 20, 1 << 14]))
    @settings(max_examples=1000, database=None)
    def run(trees: list[Parse], patterns: list[tuple[Pat, list[str]]], block: int) -> None:
        nonlocal n_pairs, n_trees
        check(trees, patterns, block)
        n_pairs += len(patterns)
        n_trees += len(patterns) * len(trees)

    while n_pairs < 100_000:
        seed(number)(run)()
        with capsys.disabled():
            print(f"\n{n_pairs:,} pairs ({n_trees:,} of a pattern and a tree), seeds 0 to {number}: equal", end="")
        number += 1


@pytest.mark.parametrize("symbol", SYMBOLS)
@given(trees=TREES, upper=DESCS, lower=DESCS, through=DESCS.filter(lambda desc: desc.text))
@settings(max_examples=n_examples(15))
def test_each_relation(symbol: str, trees: list[Parse], upper: Desc, lower: Desc, through: Desc) -> None:
    rel = Rel(symbol, Pat(lower), through if symbol in ("<+", ">+") else None)
    check(trees, [(Pat(upper, test=rel), [])], 1 << 14)
    check(trees, [(Pat(upper, test=Bool("not", [rel])), [])], 20)


@pytest.mark.parametrize("symbol", SYMBOLS)
@given(trees=TREES, upper=DESCS)
@settings(max_examples=n_examples(3))
def test_wherever_a_tree_lies(symbol: str, trees: list[Parse], upper: Desc) -> None:
    """The matches in a tree do not depend on which bits of the masks are its own."""
    through = Desc("NP|VP") if symbol in ("<+", ">+") else None
    if len(columns_of(trees).up) % 2 == 0:  # copies of an odd number of nodes begin at all bits
        trees = [*trees, Parse(("a",), ("NN",), ())]
    columns = columns_of(trees * 64)
    for lower in ("a", "NP", ""):
        rel = Rel(symbol, Pat(Desc(lower)), through)
        for pattern in (Pat(Desc(""), test=rel), Pat(upper, test=Bool("not", [rel]))):
            nodes = Tregex(str(pattern)).find(columns)
            number = columns.trees_of(nodes)
            found = set(zip(number.tolist(), (nodes - columns.starts[number]).tolist(), strict=True))
            expected = {(n % len(trees) + len(trees) * i, place) for n, place in found for i in range(64)}
            assert found == expected, str(pattern)
