"""Messages: one list in the ranges that its module names, each used, and no other message in a raise."""

import ast
import re
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path

import pytest

from spacy_parsetag import errors
from spacy_parsetag.errors import Errors, TreebankError, Warnings

PACKAGE = Path(errors.__file__).parent
SOURCES = {
    path.relative_to(PACKAGE).as_posix(): path.read_text(encoding="utf8")
    for path in sorted(PACKAGE.rglob("*.py*"))
    if path.suffix in {".py", ".pyx"} and path.name != "errors.py"
}
RANGES = re.findall(r"^ +(\d{3}) to (\d{3}) +(\w+)$", str(errors.__doc__), re.MULTILINE)
# Reasons that the message of a caller takes up, or an error of another package's kind.
UNCODED = {"__init__.py", "cli/linearize.py", "evalb/counts.py"}


def codes_in(kind: str) -> list[str]:
    """The codes of a class, as they stand in the source, doubled ones too."""
    tree = ast.parse(Path(errors.__file__).read_text(encoding="utf8"))
    body = next(node.body for node in tree.body if isinstance(node, ast.ClassDef) and node.name == kind)
    return [ast.unparse(node.targets[0]) for node in body if isinstance(node, ast.Assign)]


ALL = [*codes_in("Errors"), *codes_in("Warnings")]
USED: dict[str, set[str]] = {}
for _name, _source in SOURCES.items():
    for _code in re.findall(r"(?<!Spacy)(?:Errors|Warnings)\.([EW]\d+)", _source):
        USED.setdefault(_code, set()).add(_name.partition("/")[0].removesuffix(".py"))


def test_order() -> None:
    bounds = [(int(first), int(last)) for first, last, _ in RANGES]
    assert len(bounds) > 8 and all(first <= last for first, last in bounds)
    assert all(before[1] < after[0] for before, after in pairwise(bounds))
    for kind in ("Errors", "Warnings"):
        codes = codes_in(kind)
        assert codes and codes == sorted(set(codes))


@pytest.mark.parametrize("code", ALL)
def test_each_is_used_in_the_room_of_its_range(code: str) -> None:
    room = next(room for first, last, room in RANGES if int(first) <= int(code[1:]) <= int(last))
    assert room in USED[code]


def test_none_is_missing() -> None:
    assert set(USED) == set(ALL)
    assert str(getattr(Errors, ALL[0])).startswith(f"[{ALL[0]}] ") and str(getattr(Warnings, ALL[-1])).startswith("[W")


def literals(source: str) -> Iterator[str]:
    """The messages that are written where they are raised."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Raise) and isinstance(node.exc, ast.Call) and node.exc.args:
            message = node.exc.args[0]
            is_error = isinstance(node.exc.func, ast.Name) and not node.exc.func.id.startswith("_")
            is_text = isinstance(message, ast.Constant) and isinstance(message.value, str)
            if is_error and (is_text or isinstance(message, ast.JoinedStr)):
                yield ast.unparse(message)


@pytest.mark.parametrize("name", SOURCES)
def test_no_message_without_a_code(name: str) -> None:
    if name.endswith(".pyx"):
        assert not re.search(r"raise \w+\(\s*f?[\"']", SOURCES[name])
    elif name not in UNCODED:
        assert not list(literals(SOURCES[name]))


def test_allowed_files_need_it() -> None:
    assert all(list(literals(SOURCES[name])) for name in UNCODED)


def test_a_malformed_tree_has_a_place() -> None:
    assert str(TreebankError("a.mrg", 3, "it ends too early")) == "a.mrg:3: it ends too early"
