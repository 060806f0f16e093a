"""The prose of the code: summary lines say what is done, without inverted clauses."""

import ast
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
FILES = [
    path for room in ("spacy_parsetag", "benchmarks", "experiments", "tools") for path in (ROOT / room).rglob("*.py")
]


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(ROOT)))
def test_summary_lines(path: Path) -> None:
    """A summary line begins with a verb or a noun, not with a question word; a number has a name."""
    text = path.read_text(encoding="utf-8")
    assert not re.search(r"\b(so many|of which|of whose)\b", text)
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, (ast.Module, ast.ClassDef, ast.FunctionDef)):
            summary = (ast.get_docstring(node) or "").partition("\n")[0]
            assert not re.match(r"(What|Whether|Where|Which|Who|How|When|Those|So)\b", summary), summary
