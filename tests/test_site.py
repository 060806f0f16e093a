"""The site builds without a warning, and every public name, error and command has a place on it."""

import importlib
import json
import re
import subprocess
import sys
from collections.abc import Iterator
from html.parser import HTMLParser
from importlib.metadata import distribution
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest

from spacy_parsetag.cli import parsetag_app
from spacy_parsetag.errors import Errors, Warnings
from spacy_parsetag.tokens.extensions import EXTENSIONS, METHODS
from spacy_parsetag.tokens.groups import _ATTRS
from tools.docstrings import to_rst
from tools.pages import public_packages, registered, write_pages

ROOT = Path(__file__).resolve().parent.parent
DOCS = ROOT / "docs"


# What a person who knows none of it looks for, and the heading under which it stands.
LOOKED_FOR = {
    "parse a corpus": r"^A corpus in an afternoon$",
    "train": r"^Train$",
    "what attributes a span has": r"^Extensions and attributes$",
    "what an error means": r"^Errors and warnings by number$",
}


class Article(HTMLParser):
    """Collects the links and headings of a page's own text; the sidebar, which links to everything, is not read."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.links: list[str] = []
        self.headings: list[str] = []
        self.within = self.is_heading = self.is_mark = False
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        values = dict(attrs)
        if tag == "article":
            self.within = True
        elif self.within and tag in ("h1", "h2", "h3"):
            self.is_heading = True
            self.headings.append("")
        elif self.within and tag == "a":
            self.is_mark = "headerlink" in (values.get("class") or "")
            if not self.is_mark and values.get("href"):
                self.links.append(str(values["href"]))

    def handle_endtag(self, tag: str) -> None:
        if tag == "article":
            self.within = False
        elif tag in ("h1", "h2", "h3"):
            self.is_heading = False
        elif tag == "a":
            self.is_mark = False

    def handle_data(self, data: str) -> None:
        if self.is_heading and not self.is_mark:
            self.headings[-1] += data


def clicks_to(folder: Path, most: int = 3) -> dict[str, int]:
    """Count the clicks from the front page to each heading of the site, breadth first, at most so many."""
    clicks: dict[str, int] = {}
    seen = level = {(folder / "index.html").resolve()}
    for n in range(most + 1):
        further = set()
        for path in sorted(level):
            article = Article(path.read_text(encoding="utf8"))
            for heading in article.headings:
                clicks.setdefault(heading.strip(), n)
            for link in map(urlsplit, article.links):
                target = (path.parent / unquote(link.path)).resolve()
                if not link.scheme and target.suffix == ".html" and target.is_file():
                    further.add(target)
        level = further - seen
        seen = seen | further
    return clicks


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    pytest.importorskip("sphinx", reason="sphinx is not installed")
    pytest.importorskip("en_parsetag_sm", reason="en_parsetag_sm, which the notebooks load, is not installed")
    out = tmp_path_factory.mktemp("site")
    build = [sys.executable, "-m", "sphinx", "-q", "-W", "-n", "--keep-going", str(DOCS), str(out)]
    run = subprocess.run(build, capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stdout + run.stderr
    return out


@pytest.mark.slow
def test_every_public_name_has_a_page(site: Path) -> None:
    from sphinx.util.inventory import InventoryFile

    inventory = InventoryFile.loads((site / "objects.inv").read_bytes(), uri="")
    found = {name for kind, items in inventory.data.items() if kind.startswith("py:") for name in items}
    packages = public_packages()
    assert "spacy_parsetag.decode" in packages and len(packages) > 7
    public = {f"{package}.{name}" for package in packages for name in importlib.import_module(package).__all__}
    assert not public - found
    ends = {name.rpartition(".")[2] for name in found}
    assert not {value.rpartition(":")[2] for _, _, value in registered()} - ends
    for code in (name for kind in (Errors, Warnings) for name in vars(kind) if name[:1] in "EW" and name[1:].isdigit()):
        assert f'id="{code.lower()}"' in (site / "reference" / "errors.html").read_text(encoding="utf8"), code


@pytest.mark.slow
@pytest.mark.parametrize("heading", LOOKED_FOR.values(), ids=LOOKED_FOR)
def test_found_in_three_clicks(site: Path, heading: str) -> None:
    clicks = clicks_to(site)
    assert [name for name in clicks if re.search(heading, name)], sorted(clicks)


@pytest.mark.slow
def test_text_from_the_code(site: Path) -> None:
    """Options keep their dashes, and of named tuples the page has what their docstrings say."""
    commands = (site / "reference" / "commands.html").read_text(encoding="utf8")
    assert re.search(r"With\s+--skip-bad\s+it\s+lists", commands)
    page = (site / "reference" / "python" / "spacy_parsetag.decode.html").read_text(encoding="utf8")
    assert "Alias for field number" not in page and "<strong>beam</strong> – (int)" in page


@pytest.mark.slow
def test_cells_that_print_have_an_output(site: Path) -> None:
    for path in notebooks():
        page = (site / "gallery" / f"{path.stem}.html").read_text(encoding="utf8")
        cells = page.split('<div class="cell docutils')[1:]
        assert any(">print</span>" in cell for cell in cells)
        assert all("cell_output" in cell for cell in cells if ">print</span>" in cell), path


def test_clicks_are_counted(tmp_path: Path) -> None:
    page = '<a href="d.html">aside</a><article><h1>{}<a class="headerlink" href="#x">#</a></h1>{}</article>'
    there = '<a href="{}.html#x"><b>on</b></a><a href="https://example.org/d.html">out</a><a href="none.html">lost</a>'
    (tmp_path / "sub").mkdir()
    (tmp_path / "index.html").write_text(page.format("Front", there.format("sub/a")))
    (tmp_path / "sub" / "a.html").write_text(page.format("First <em>steps</em>", there.format("../b")))
    (tmp_path / "b.html").write_text(page.format("Second", there.format("sub/a") + there.format("c")))
    (tmp_path / "c.html").write_text(page.format("Third", there.format("d")))
    (tmp_path / "d.html").write_text(page.format("Too far", ""))
    assert clicks_to(tmp_path) == {"Front": 0, "First steps": 1, "Second": 2, "Third": 3}


def test_pages_that_the_code_writes(tmp_path: Path) -> None:
    write_pages(tmp_path)
    commands = (tmp_path / "commands.md").read_text(encoding="utf8")
    for command in parsetag_app.registered_commands:
        assert f"\n## {command.name}\n" in commands
    assert "[OPTIONS]" in commands and "`--skip-bad LIMIT`" in commands
    errors = (tmp_path / "errors.md").read_text(encoding="utf8")
    assert "### E307" in errors and "### W254" in errors and "Said by `tokens/extensions.py`" in errors
    assert (tmp_path / "python" / "spacy_parsetag.tokens.md").exists()
    assert len(registered()) == sum(
        point.group != "spacy_cli" and point.value.startswith("spacy_parsetag.")
        for point in distribution("spacy-parsetag").entry_points
    )


def test_the_table_of_attributes_has_all_of_them() -> None:
    page = (DOCS / "reference" / "attributes.md").read_text(encoding="utf8")
    attributes = [(owner.__name__.lower(), name) for owner, names in EXTENSIONS.items() for name in names]
    for owner, name in attributes:
        assert f"| `{owner}._.{name}` |" in page
    for name in METHODS:
        assert f"| `doc._.{name}(" in page
    for name in (*_ATTRS.values(), "probs", "format", "k", "partial", "soft"):
        assert f"| `{name}` |" in page


def test_docstrings_become_fields() -> None:
    docstring = [
        "Do it with `a_b`s.",
        "",
        "first, second (list[int]): Two_ of *them*,",
        "    in turn.",
        "RETURNS (int): How many.",
        "RAISES (ValueError): If one is bad. (TypeError): If both are.",
        "",
        ">>> 1",
        "1",
    ]
    assert to_rst(docstring) == [
        "Do it with ``a_b``\\ s.",
        "",
        ":param first: (list[int]) Two\\_ of \\*them\\*, in turn.",
        ":param second: (list[int]) Two\\_ of \\*them\\*, in turn.",
        "",
        ":returns: (int) How many.",
        "",
        ":raises ValueError: If one is bad.",
        ":raises TypeError: If both are.",
        "",
        ">>> 1",
        "1",
        "",
    ]


def notebooks() -> Iterator[Path]:
    return (DOCS / "gallery").glob("*.ipynb")


def test_notebooks_are_stripped() -> None:
    assert len(list(notebooks())) == 5
    for path in notebooks():
        for cell in json.loads(path.read_text(encoding="utf8"))["cells"]:
            assert not cell.get("outputs") and cell.get("execution_count") is None, path
