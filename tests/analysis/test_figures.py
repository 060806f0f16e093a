"""Figures are files of their kind, and the same each time; tables line up."""

import csv
import io
from collections.abc import Callable
from pathlib import Path
from xml.etree import ElementTree

import pytest

from spacy_parsetag.analysis.inventories import Deviations, Stacks, count_tags
from spacy_parsetag.analysis.plots import (
    _figure,
    check_paths,
    plot_correlation,
    plot_coverage,
    plot_deviations,
    plot_stacks,
)
from spacy_parsetag.analysis.results import Correlation, Point
from spacy_parsetag.analysis.tables import Table, format_csv, format_text
from spacy_parsetag.trees import BinaryTree

MAGIC = {".svg": b"<?xml", ".png": b"\x89PNG", ".pdf": b"%PDF"}


def deviations() -> Deviations:
    found = Deviations(trees=2, words=10)
    found.counts["in"].update({0: 10})
    found.counts["pre"].update({0: 4, 1: 5, 2: 1})
    found.counts["post"].update({0: 2, 3: 8})
    return found


def stacks() -> Stacks:
    found = Stacks(trees=3)
    for order, most in (("in", 2), ("pre", 3), ("post", 9)):
        found.counts[order].update({1: 2, most: 1})
    return found


POINTS = [Point("a", "in", 90, 0), Point("a", "pre", 88, 1), Point("a", "post", 60, 5)]
TREE = BinaryTree((False, True, True), ("S", "NP", ""))
DRAWINGS: dict[str, Callable[[list], None]] = {
    "deviation": lambda paths: plot_deviations({name: deviations() for name in "abcde"}, paths),
    "one": lambda paths: plot_deviations({"a": deviations()}, paths),
    "stack": lambda paths: plot_stacks({name: stacks() for name in "ab"}, paths),
    "tags": lambda paths: plot_coverage({"a": count_tags([TREE])}, paths, kind="tags"),
    "correlation": lambda paths: plot_correlation(POINTS, Correlation(3, -0.99, 0.05), paths),
}


@pytest.mark.parametrize("name", DRAWINGS)
def test_figures(name: str, tmp_path: Path) -> None:
    pytest.importorskip("matplotlib", reason="matplotlib is not installed")
    folders = [tmp_path / "new" / str(i) for i in range(2)]
    for folder in folders:
        DRAWINGS[name]([folder / f"{name}{suffix}" for suffix in (".svg", ".png")])
    for suffix in (".svg", ".png"):
        first, second = ((folder / f"{name}{suffix}").read_bytes() for folder in folders)
        assert first.startswith(MAGIC[suffix])
        assert first == second
    assert len(list(folders[0].iterdir())) == 2


def test_orders_of_a_user(tmp_path: Path) -> None:
    """An order beside the three of the paper is drawn like them."""
    pytest.importorskip("matplotlib", reason="matplotlib is not installed")
    strayed, needed = deviations(), stacks()
    for counts in (strayed.counts, needed.counts):
        counts["mine"] = counts["post"].copy()
        counts["yours"] = counts["pre"].copy()
    path = tmp_path / "figure.svg"
    plot_deviations({"a": strayed}, [path])
    assert "mine-order, mean 2.40" in path.read_text() and "yours-order" in path.read_text()
    plot_stacks({"a": needed}, [path])
    assert "mine-order, all at 9" in path.read_text()
    plot_correlation([*POINTS, Point("a", "mine", 50, 6)], Correlation(4, -0.99, 0.05), [path])
    assert "mine-order" in path.read_text()


@pytest.mark.parametrize("name", ["_dev", r"x$\frac$", "x$y$", r"x\$"])
def test_names_of_treebanks(name: str, tmp_path: Path) -> None:
    """They are drawn as they are, whatever Matplotlib reads in such text elsewhere."""
    pytest.importorskip("matplotlib", reason="matplotlib is not installed")
    path = tmp_path / "figure.svg"
    plot_coverage({name: count_tags([TREE]), "b": count_tags([TREE])}, [path], kind="tags")
    assert f" tags in {name}<" in path.read_text() and " tags in b<" in path.read_text()
    plot_deviations({name: deviations()}, [path])
    assert f">{name}<" in path.read_text()
    plot_correlation([*POINTS, Point(name, "pre", 50, 6)], Correlation(4, -0.99, 0.05), [path])
    assert f">{name}<" in path.read_text()


def test_names_that_xml_may_not_have(tmp_path: Path) -> None:
    pytest.importorskip("matplotlib", reason="matplotlib is not installed")
    path = tmp_path / "figure.svg"
    plot_deviations({"<a>&\x1b": deviations()}, [path])
    assert "\x1b" not in path.read_text() and "&lt;a&gt;&amp;\ufffd<" in path.read_text(encoding="utf-8")
    ElementTree.parse(path)


@pytest.mark.parametrize("integers", [True, False])
def test_ticks(integers: bool) -> None:
    """Where x counts things, its ticks are whole numbers."""
    pytest.importorskip("matplotlib", reason="matplotlib is not installed")
    with _figure([], ["a"], x="", y="", panel=(3, 2), integers=integers) as (axes,):
        assert axes.figure.get_size_inches().tolist() == [3, 2.3]
        axes.set_xlim(0, 2)
        assert all(tick == int(tick) for tick in axes.get_xticks()) == integers


def test_pdf(tmp_path: Path) -> None:
    pytest.importorskip("matplotlib", reason="matplotlib is not installed")
    DRAWINGS["stack"]([tmp_path / "a.pdf"])
    assert (tmp_path / "a.pdf").read_bytes().startswith(MAGIC[".pdf"])


@pytest.mark.parametrize("path", ["figure", "figure.jpeg", "figure.svgz"])
def test_unknown_kinds(path: str) -> None:
    with pytest.raises(ValueError, match=r"\[E402\].*\.svg, \.png, \.pdf"):
        check_paths([path])


def test_tables() -> None:
    table = Table(("name", "n", "share"), [("a", 1200, 0.5), ("a, b", 3, 0.0001), ("c", "", 0.0)])
    assert format_text(table) == "name      n   share\na     1,200    0.50\na, b      3  0.0001\nc              0.00\n"
    assert format_csv([table.columns, *table.rows]) == 'name,n,share\na,1200,0.5\n"a, b",3,0.0001\nc,,0.0\n'
    rows = [["a\rb", "c\nd"], ["e\r\nf", 'g"h'], ["", "i,j"]]
    assert [*csv.reader(io.StringIO(format_csv(rows), newline=""))] == rows
    assert format_text(Table(("a", "b"), [])) == "a  b\n"
    assert format_text(Table(("a",), [(0.005,), (0.0049,)])).split() == ["a", "0.01", "0.0049"]
