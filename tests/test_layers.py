"""Who may import whom, and what an import of ours may cost: spaCy loads every plugin at start."""

import ast
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from graphlib import TopologicalSorter
from pathlib import Path

import pytest

from spacy_parsetag import compat

ROOT = Path(__file__).resolve().parent.parent
PACKAGE = ROOT / "spacy_parsetag"

# Each room with the rooms it may import. Lower ones never import upward.
BOTTOM = {"errors", "compat"}
TREES = {*BOTTOM, "files", "trees"}
LINEARIZE = {*TREES, "linearize"}
DECODE = {*LINEARIZE, "decode"}
SEARCH = {*TREES, "treebanks", "tokens", "search"}  # what stands on tokens and spaCy is search/docs.py alone
TOKENS = {*TREES, "search", "tokens"}
EVALB = {*TREES, "treebanks", "evalb"}
ML = {*DECODE, "tokens", "ml"}
PIPELINE = {*ML, *TOKENS, "evalb", "pipeline"}
ROOMS: dict[str, set[str]] = {
    "__init__": {"draw", "search"},  # when it is asked for
    "errors": set(),
    "project": set(),  # a script of the project that users get
    "compat": {"errors", "compat"},
    "files": {"errors", "files"},
    "trees": TREES,
    "linearize": LINEARIZE,
    "decode": DECODE,
    "ml": ML,
    "tokens": TOKENS,
    "draw": {*TOKENS, "draw"},
    "treebanks": {*TREES, "tokens", "treebanks"},
    "evalb": EVALB,
    "search": SEARCH,
    "analysis": {*LINEARIZE, "tokens", "evalb", "treebanks", "analysis"},
    "training": {*BOTTOM, "ml", "tokens", "training"},
    "pipeline": PIPELINE,
    "texts": {*TOKENS, "ml", "treebanks", "texts"},
    "cli": {*PIPELINE, "analysis", "training", "treebanks", "texts", "draw", "cli"},
}
NO_SPACY = {"__init__", "errors", "files", "trees", "linearize", "decode", "evalb"}
OPTIONAL = {
    "torch", "cupy", "matplotlib", "scipy", "ray", "pyspark", "pyarrow", "transformers", "spacy_transformers",
    "spacy_curated_transformers",
}  # fmt: skip
FILES = [path.relative_to(PACKAGE) for path in sorted(PACKAGE.rglob("*.py*")) if path.suffix in {".py", ".pyx", ".pxd"}]


def room_of(path: Path) -> str:
    return path.parts[0] if len(path.parts) > 1 else path.stem


def imported(path: Path) -> Iterator[str]:
    """Absolute names of the modules that a file imports, anywhere in it."""
    package = ["spacy_parsetag", *path.parts[:-1]]
    text = (PACKAGE / path).read_text(encoding="utf8")
    if path.suffix != ".py":
        for dots, name in re.findall(r"^\s*(?:from|cimport|import)\s+(\.*)([\w.]*)", text, re.MULTILINE):
            yield ".".join([*package[: len(package) + 1 - len(dots)], name]) if dots else name
        return
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            above = package[: len(package) + 1 - node.level] if node.level else []
            if node.module:
                yield ".".join([*above, node.module])
            else:
                yield from (".".join([*above, alias.name]) for alias in node.names)


@pytest.mark.parametrize("path", FILES, ids=str)
def test_imports(path: Path) -> None:
    room = room_of(path)
    assert room in ROOMS, f"new room {room!r}: say in this test what it may import"
    for name in imported(path):
        top, _, rest = name.partition(".")
        if top == "spacy_parsetag" and rest:
            assert rest.split(".")[0] in ROOMS[room], f"{room} must not import {name}"
        if room in NO_SPACY or (room == "search" and path.name != "docs.py"):
            assert room != "search" or not name.startswith("spacy_parsetag.tokens"), f"{path} must not know docs"
            assert top not in {"spacy", "thinc"}, f"{room} must not know {top}"
        if room != "compat":
            assert top not in OPTIONAL, f"only compat imports {top}"


def test_no_circles() -> None:
    """No file needs, even late or through others, one that needs it."""
    files = {".".join(("spacy_parsetag", *path.with_suffix("").parts)): path for path in FILES}
    files = {name.removesuffix(".__init__"): path for name, path in files.items()}
    sorter = TopologicalSorter({name: {*imported(path)} & {*files} - {name} for name, path in files.items()})
    assert len([*sorter.static_order()]) == len(files)


def test_all_files_are_seen() -> None:
    found = {name for path in FILES for name in imported(path)}
    assert {"spacy_parsetag.errors", "spacy_parsetag.trees", "spacy_parsetag.linearize", "spacy.tokens"} <= found
    assert "spacy_parsetag.decode._nodes" in found


# Only our entry points, so that no other plugin asks for what is blocked here.
OURS_ONLY = """
import sys
class Blocker:
    # Not None in sys.modules: other packages take a name that is in there for a module.
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in {blocked!r}:
            raise ModuleNotFoundError(name)
sys.meta_path.insert(0, Blocker())
import catalogue, importlib.metadata
ours = importlib.metadata.distribution("spacy-parsetag").entry_points
catalogue.AVAILABLE_ENTRY_POINTS = ours
"""


def run_python(code: str, blocked: tuple[str, ...] = ()) -> list[str]:
    """Run code in a fresh Python that sees no plugin but ours; returns the lines it prints."""
    code = OURS_ONLY.format(blocked=blocked) + code
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=600, cwd=ROOT)
    assert done.returncode == 0, done.stderr[-2000:]
    return done.stdout.splitlines()


def test_start_of_spacy_without_optional_packages() -> None:
    """A blank pipeline and the command line, with everything optional away, and NLTK, which is slow to import."""
    blocked = ("torch", "cupy", "matplotlib", "scipy", "ray", "pyspark", "transformers", "spacy_transformers", "nltk")
    lines = run_python(
        """
import spacy, spacy_parsetag
nlp = spacy.blank("en")
assert nlp.has_factory("parsetag") and nlp.has_factory("one_sentence")
print([name for name in sys.modules if name.startswith("spacy_parsetag.")])
from spacy.cli import setup_cli
sys.argv = ["spacy", "--help"]
try:
    setup_cli()
except SystemExit as end:
    assert not end.code
""",
        blocked,
    )
    loaded = {name.split(".")[1] for name in ast.literal_eval(lines[0])}
    # spaCy loads every logger there is, and with it this one's schedule.
    assert loaded <= {"pipeline", "training", "errors"}, "a blank pipeline loads no more than the factories"
    assert "spacy_parsetag.treebanks.penn" not in lines[0]
    assert any("train" in line for line in lines)


def test_pipe_without_optional_packages() -> None:
    """NLTK is away too: a pipe needs it for trees as objects only."""
    blocked = ("torch", "cupy", "matplotlib", "scipy", "ray", "pyspark", "transformers", "spacy_transformers", "nltk")
    lines = run_python(
        """
import spacy
nlp = spacy.blank("en")
nlp.add_pipe("one_sentence")
pipe = nlp.add_pipe("parsetag")
pipe.add_label("NP")
print(pipe.labels)
""",
        blocked,
    )
    assert lines == [str(("l", "l/NP", "r", "r/NP", "L", "L/NP", "R", "R/NP"))]


def test_sources_without_compiled_modules(tmp_path: Path) -> None:
    """A clone in the working folder goes before the installed package. spaCy goes on to work there."""
    shutil.copytree(PACKAGE, tmp_path / "spacy_parsetag", ignore=shutil.ignore_patterns("*.so", "*.pyd", "__pycache__"))
    code = """
import spacy
nlp = spacy.blank("en")
for attempt in (lambda: nlp.add_pipe("parsetag"), lambda: __import__("spacy_parsetag.decode")):
    try:
        attempt()
    except ImportError as err:
        print(err)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=600, cwd=tmp_path)
    assert done.returncode == 0, done.stderr[-2000:]
    lines = done.stdout.splitlines()
    assert len(lines) == 2
    for line in lines:
        assert line.startswith("[E163]") and str(tmp_path / "spacy_parsetag") in line and "pip install -e ." in line


def test_compiled_modules_of_an_older_build() -> None:
    """After a pull that changes them. The module is there, and lacks a function."""
    lines = run_python("""
import types
sys.modules["spacy_parsetag.decode._passes"] = types.ModuleType("spacy_parsetag.decode._passes")
try:
    import spacy_parsetag.decode
except ImportError as err:
    print(err)
""")
    assert len(lines) == 1 and lines[0].startswith("[E163]") and "older than the sources" in lines[0]


@pytest.mark.parametrize("name, extra", [("torch", "transformers"), ("cupy", "cuda12x"), ("matplotlib", "plots")])
def test_missing_parts_say_how_to_install_them(name: str, extra: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, name, None)
    with pytest.raises(
        ImportError, match=rf'Figures needs the package .{name}.* pip install "spacy-parsetag\[{extra}\]"'
    ):
        compat.require(name, "Figures")


def test_install_lines_name_real_extras() -> None:
    setup = (ROOT / "setup.cfg").read_text(encoding="utf8")
    extras = setup.split("[options.extras_require]")[1].split("\n[")[0]
    for line in compat._INSTALL.values():
        name = re.search(r"\[(\w+)\]", line)
        assert name is not None and f"\n{name.group(1)} =" in extras, line
