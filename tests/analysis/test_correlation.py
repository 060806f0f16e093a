"""Pearson's correlation, the tables it is read from, and what cannot be read."""

import json
import re
from collections.abc import Sequence
from math import acos, pi, sqrt
from pathlib import Path

import pytest
from hypothesis import assume, given, strategies as st

from spacy_parsetag.analysis.results import Correlation, Point, correlate, read_means, read_points

stats = pytest.importorskip("scipy.stats", reason="scipy is not installed")
NUMBERS = st.floats(-100, 100).map(lambda value: round(value, 3))


def pearson(first: Sequence[float], second: Sequence[float]) -> Correlation:
    return correlate([Point("a", "in", f, deviation) for f, deviation in zip(first, second, strict=True)])


@given(pairs=st.lists(st.tuples(NUMBERS, NUMBERS), min_size=3, max_size=40))
def test_as_scipy(pairs: list[tuple[float, float]]) -> None:
    first, second = zip(*pairs, strict=True)
    assume(max(first) - min(first) > 0.01 and max(second) - min(second) > 0.01)
    found, expected = pearson(first, second), stats.pearsonr(first, second)
    assert found.n == len(pairs)
    assert found.r == pytest.approx(expected.statistic, abs=1e-12)
    assert found.p == pytest.approx(expected.pvalue, abs=1e-12)


def test_known_values() -> None:
    assert pearson([1, 2, 3], [2, 4, 6]) == pytest.approx((3, 1, 0), abs=1e-7)
    assert pearson([1, 2, 3, 4], [1, -1, -1, 1]) == pytest.approx((4, 0, 1))
    points = [Point("a", "in", 90, 0), Point("a", "pre", 88, 1), Point("a", "post", 60, 5)]
    r = -88 / sqrt(14 * 1688 / 3)
    assert correlate(points) == pytest.approx((3, r, 2 / pi * acos(-r)))


@pytest.mark.parametrize(
    "first, second",
    [
        ([1, 2], [1, 2]),
        ([1, 1, 1], [1, 2, 3]),
        ([1, 2, 3], [0, 0, 0]),
        ([1, 2, float("nan")], [1, 2, 3]),
    ],
)
def test_no_correlation(first: list[float], second: list[float]) -> None:
    with pytest.raises(ValueError, match=r"\[E401\]"):
        pearson(first, second)


ROWS = [{"treebank": "a", "order": "pre", "f": 80.5, "deviation": 1.5}, {"treebank": "b", "order": "in", "f": 90}]
POINTS = [Point("a", "pre", 80.5, 1.5), Point("b", "in", 90.0, 0.0)]
MEANS = {("b", "in"): 0.0}


@pytest.mark.parametrize(
    "name, text",
    [
        ("a.json", json.dumps(ROWS)),
        ("a.jsonl", "\n".join(map(json.dumps, ROWS)) + "\n\n"),
        ("a.csv", "\ufefforder,treebank,f,deviation,else\npre,a,80.5,1.5,x\nin,b,90,,\n"),
    ],
)
def test_results(tmp_path: Path, name: str, text: str) -> None:
    path = tmp_path / name
    path.write_text(text, encoding="utf-8")
    assert read_points([path], MEANS) == POINTS
    with pytest.raises(ValueError, match=rf"\[E404\] {re.escape(str(path))}: .*'b'"):
        read_points([path], {})


def test_one_object(tmp_path: Path) -> None:
    path = tmp_path / "run.json"
    path.write_text(json.dumps(ROWS[0]))
    assert read_points([path, path], {}) == POINTS[:1] * 2


@pytest.mark.parametrize(
    "name, text, code",
    [
        ("a.json", "{", "E403"),
        ("a.json", "[1]", "E403"),
        ("a.json", "[" * 100_000, "E403"),
        ("a.json", '{"treebank": "a", "order": "pre", "f": 1' + "0" * 400 + ', "deviation": 1}', "E403"),
        ("a.jsonl", "nonsense", "E403"),
        ("a.csv", "treebank,f\na,1\n", "E403"),
        ("a.csv", "treebank,order,f,deviation\na,pre,much,1\n", "E403"),
        ("a.csv", "treebank,order,f,deviation\na,pre\n", "E403"),
        ("a.json", '{"treebank": "a", "order": "pre", "f": 1, "deviation": []}', "E403"),
        ("a.csv", "treebank,order,f,deviation\na,level,1,1\n", "E051"),
    ],
    ids=lambda text: text[:40],
)
def test_no_results(tmp_path: Path, name: str, text: str, code: str) -> None:
    path = tmp_path / name
    path.write_text(text, encoding="utf-8")
    with pytest.raises(ValueError, match=rf"\[{code}\]") as raised:
        read_points([path], {})
    assert str(path) in str(raised.value)


@pytest.mark.parametrize(
    "text",
    ["", "[]", "{}", "[" * 100_000, '{"treebanks": []}', '{"treebanks": {"a": {"orders": {"in": {}}}}}'],
    ids=lambda text: text[:40],
)
def test_no_means(tmp_path: Path, text: str) -> None:
    path = tmp_path / "deviation.json"
    path.write_text(text)
    with pytest.raises(ValueError, match=r"\[E403\]"):
        read_means(path)
