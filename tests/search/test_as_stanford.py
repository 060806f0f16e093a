"""The same matches as Stanford's Tregex, node by node, on random trees and patterns and on treebanks.

$PARSETAG_STANFORD names the folder of its stanford-tregex.jar; Java must be there too. Kept away are:

- `?` before a group, and `!` before alternatives, which version 4.2.0 never answers (its successors do);
- `!` before what is negated already, which is one negation there;
- names that refer to what is optional: `?` binds a name to the first node there, to each one here;
- `<<<`, which 4.2.0 has not.
"""

import os
import random
import re
import shutil
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given, seed, settings, strategies as st
from search_reference import SYMBOLS, Bool, Pat, Rel
from strategies import n_examples
from test_tregex import TREES, patterns

from spacy_parsetag.search import TreeColumns, Tregex, get_head_rules, read_brackets
from spacy_parsetag.search.columns import columns_of_parses
from spacy_parsetag.search.complexity import STRUCTURES
from spacy_parsetag.search.pattern import basic_category
from spacy_parsetag.trees.parse import Parse

sys.path.append(str(Path(__file__).resolve().parents[2] / "benchmarks"))

import stanford

TREEBANKS = ["gum/dev", "masc/dev", "wsj_sample/dev", "craft/dev", "icepahc/dev", "keyaki_ja/dev"]


@pytest.fixture(scope="module")
def jar() -> Path:
    if "PARSETAG_STANFORD" not in os.environ:
        pytest.skip("no Stanford Tregex: set PARSETAG_STANFORD to the folder of stanford-tregex.jar")
    if shutil.which("java") is None:
        pytest.skip("no Java on PATH")
    return Path(os.environ["PARSETAG_STANFORD"]) / "stanford-tregex.jar"


def parts(part: Pat | Rel | Bool | None) -> Iterator[Pat | Rel | Bool]:
    if part is not None:
        yield part
        below = part.parts if isinstance(part, Bool) else [part.pat if isinstance(part, Rel) else part.test]
        for each in below:
            yield from parts(each)


def is_comparable(pattern: Pat) -> bool:
    every = list(parts(pattern))
    groups = [part for part in every if isinstance(part, Bool)]
    for group in groups:
        inner = group.parts[0]
        if group.kind == "maybe" and isinstance(inner, Bool):
            return False
        if group.kind == "not" and isinstance(inner, Bool) and inner.kind != "and":
            return False
    refers = any(isinstance(part, Pat) and part.ref for part in every)
    optional = any(group.kind == "maybe" for group in groups)
    return not (refers and optional) and not any(isinstance(part, Rel) and part.symbol == "<<<" for part in every)


def ways(pattern: str, names: list[str], columns: TreeColumns) -> set[tuple[int, ...]]:
    """What the package finds, as Stanford's program says it."""
    nodes, named = Tregex(pattern).matches(columns)
    trees = columns.trees_of(nodes)
    first = columns.starts[trees]
    places = [nodes - first, *(named[name] - first * (named[name] >= 0) for name in names)]
    return set(zip(trees.tolist(), *(each.tolist() for each in places), strict=True))


def test_random_patterns(jar: Path) -> None:
    cases: list[tuple[TreeColumns, list[tuple[str, list[str]]]]] = []

    @seed(0)
    @settings(max_examples=n_examples(1000), database=None)
    @given(trees=TREES, found=st.lists(patterns(), min_size=6, max_size=10))
    def collect(trees: list[Parse], found: list[tuple[Pat, list[str]]]) -> None:
        columns = columns_of_parses(((parse, 1, "ROOT", "") for parse in trees), "made up")
        # With `?` only the nodes that match are compared, without their names.
        comparable = [(str(pat), names * ("?" not in str(pat))) for pat, names in found if is_comparable(pat)]
        cases.append((columns, comparable))

    collect()
    lines = []
    for columns, comparable in cases:
        lines += stanford.tree_lines(columns, columns.heads(get_head_rules()))
        lines += (stanford.pattern_line(pattern, names) for pattern, names in comparable)
    answers = map(stanford.read_matches, stanford.ask(jar, lines))
    n_pairs: Counter[str] = Counter()
    for columns, comparable in cases:
        for (pattern, names), answer in zip(comparable, answers, strict=False):
            if answer.error != "took too long":
                assert not answer.error, pattern
                assert ways(pattern, names, columns) == answer.matches, pattern
            n_pairs[answer.error or "equal"] += len(columns)
    assert n_pairs["equal"] > 100 * n_pairs["took too long"]


def test_basic_categories(jar: Path) -> None:
    """Of labels that begin with what begins a function tag, too."""
    labels = ["-NONE-", "-NONE--1", "-LRB-", "-LRB--1", "-5-6", "-5-6-7", "_x_y", "_x-y_", "--X", "=a|b=", "NP-SBJ"]
    data = "(ROOT " + "".join(f"(NP ({label} a))" for label in labels) + ")"
    columns = TreeColumns.join(read_brackets(data.encode(), "made up"))
    patterns = [f"@/^{re.escape(basic_category(label))}$/" for label in labels] + ["@-NONE-", "NP !< @-NONE-"]
    lines = [*stanford.tree_lines(columns, columns.heads(get_head_rules())), *map(stanford.pattern_line, patterns)]
    for pattern, answer in zip(patterns, map(stanford.read_matches, stanford.ask(jar, lines)), strict=True):
        assert not answer.error and ways(pattern, [], columns) == answer.matches != set(), pattern


def random_patterns(columns: TreeColumns) -> list[str]:
    """Each relation with labels and words of a treebank, negated, by the basic category, within another relation."""
    chance = random.Random(0)
    counts = Counter(columns.label[columns.size > 1].tolist())
    labels = [label for code, _ in counts.most_common(25) if (label := columns.strings[code]).isalpha()]
    found = ["NP <... { DT ; NN }", "__ <... { __ ; (@NP=n < __) }", "__ !<... { __ } < __"]
    found += ["@S <+[!@VP] /^V/", "@S <+!/V/ (/^N/=x)"]
    for symbol in SYMBOLS:
        if symbol != "<<<":
            a, b, c, d = chance.choices(labels, k=4)
            through = f"(!@{c})" if symbol in ("<+", ">+") else ""
            found.append(f"@{a}|{b} {symbol}{through} (/{c}/=x < __)")
            found.append(f"__ !{symbol}{through} {b} < ({d} {symbol}{through} !{a})")
            found.append(f"{a} << (__ {symbol}{through} {b} ?> {c})")
    return found


def read(path: Path, n_trees: int) -> TreeColumns:
    """The first trees of a file. A wrapper has any name here, and must be ROOT there."""
    data = re.sub(rb"^\((TOP|S1|VROOT)?(?= )", b"(ROOT", path.read_bytes(), flags=re.MULTILINE)
    return next(read_brackets(data, path.name, batch=n_trees))


@pytest.mark.parametrize("name", TREEBANKS)
def test_treebanks(jar: Path, treebanks: Path, name: str) -> None:
    columns = read(treebanks / f"{name}.mrg", n_examples(400))
    patterns = random_patterns(columns)
    lines = [*stanford.tree_lines(columns, columns.heads(get_head_rules())), *map(stanford.pattern_line, patterns)]
    for pattern, line in zip(patterns, stanford.ask(jar, lines), strict=True):
        answer = stanford.read_matches(line)
        assert not answer.error, pattern
        assert ways(pattern, [], columns) == answer.matches, pattern


@pytest.mark.parametrize("name", ["gum/dev", "masc/dev", "wsj_sample/train"])
def test_structures_of_complexity(jar: Path, treebanks: Path, name: str) -> None:
    """The patterns of L2SCA, with the heads of CollinsHeadFinder, as Lu's program has them."""
    columns = read(treebanks / f"{name}.mrg", n_examples(1200))
    patterns = [pattern for group in STRUCTURES.values() for pattern in group]
    lines = [*stanford.tree_lines(columns, columns.heads(get_head_rules())), f"R\t{stanford.COLLINS}"]
    answers = stanford.ask(jar, [*lines, *map(stanford.pattern_line, patterns)])
    for pattern, answer in zip(patterns, map(stanford.read_matches, answers), strict=True):
        assert not answer.error and ways(pattern, [], columns) == answer.matches, pattern


@pytest.mark.parametrize("name", ["masc/dev", "wsj_sample/dev"])
def test_heads(jar: Path, treebanks: Path, name: str) -> None:
    """Where CollinsHeadFinder finds another head, it takes punctuation, has no rule for the label, or for that of a
    child, or looks for the conjunct before a conjunction only sometimes."""
    columns = read(treebanks / f"{name}.mrg", n_examples(1200))
    heads = columns.heads(get_head_rules())
    line = stanford.ask(jar, [*stanford.tree_lines(columns, heads), f"R\t{stanford.COLLINS}", "H"])[0]
    ours = stanford.head_places(columns, heads)
    differing = [node for node, theirs in enumerate(stanford.read_heads(line)) if theirs != ours[node]]
    assert len(differing) < 0.03 * sum(place > 0 for place in ours)
    for node in differing:
        children = [basic_category(label) for label in children_of(columns, node)]
        if basic_category(columns.strings[columns.label[node]]) not in ("NML", "NX") and columns.up[node]:
            assert {"NML", "CC", "CONJP", ",", ":", ".", "-LRB-", "``", "''"} & {*children}, children


def children_of(columns: TreeColumns, node: int) -> Iterator[str]:
    child = node + 1
    while child <= node + columns.size[node]:
        yield columns.strings[columns.label[child]]
        child += int(columns.size[child]) + 1
