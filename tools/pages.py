"""Writes the pages of the site that the code knows better than anyone: commands, errors, the Python reference.

`docs/conf.py` calls `write_pages` before Sphinx looks for pages, so they are as new as the code. They are in no commit.
"""

from __future__ import annotations

import importlib
import inspect
import pkgutil
import re
import textwrap
from collections.abc import Iterator
from importlib.metadata import distribution
from pathlib import Path
from types import ModuleType
from typing import Any

import typer
from typer.cli import get_docs_for_click
from typer.main import get_command

import spacy_parsetag
from spacy_parsetag import errors
from spacy_parsetag.cli import parsetag_app
from spacy_parsetag.errors import Errors, Warnings

from .docstrings import to_rst

PACKAGE = Path(spacy_parsetag.__file__).parent
# What `write_pages` writes below `docs`.
GENERATED = ("reference/commands.md", "reference/errors.md", "reference/python")
# Public names of modules that pages of the site name beside the packages with an `__all__`.
MODULES = (
    "spacy_parsetag.pipeline.component",
    "spacy_parsetag.pipeline.ensemble",
    "spacy_parsetag.pipeline.export",
    "spacy_parsetag.pipeline.tree_matcher",
    "spacy_parsetag.ml.words",
    "spacy_parsetag.search.docs",
    "spacy_parsetag.search.complexity",
    "spacy_parsetag.evalb.differences",
    "spacy_parsetag.texts.search",
    "spacy_parsetag.tokens.extensions",
)


def public_packages() -> list[str]:
    """Find the packages and modules of spacy_parsetag that say in `__all__` what is public, but for its commands."""
    names = [
        "spacy_parsetag",
        *(info.name for info in pkgutil.walk_packages(spacy_parsetag.__path__, "spacy_parsetag.")),
    ]
    return [n for n in names if hasattr(importlib.import_module(n), "__all__") and n != "spacy_parsetag.cli"]


def registered() -> list[tuple[str, str, str]]:
    """List what configs can name: (kind, name, "module:attribute"), by kind and name."""
    return sorted(
        (point.group, point.name, point.value)
        for point in distribution("spacy-parsetag").entry_points
        if point.value.startswith("spacy_parsetag.") and point.group != "spacy_cli"
    )


def _commands() -> str:
    """Write the page of all commands, from what they say for --help."""
    command = get_command(parsetag_app)
    text = get_docs_for_click(obj=command, ctx=typer.Context(command), name="python -m spacy parsetag")
    text = text.replace("# `python -m spacy parsetag`", "# Commands", 1)
    text = re.sub(r"^(#+) `python -m spacy parsetag (.*)`$", r"\1 \2", text, flags=re.MULTILINE)
    # Lines of examples in a help text are indented, or are commands.
    example = r"(?:^(?:  +)?(?:python -m |echo ).*\n+)+"
    text = re.sub(
        example, lambda m: "\n```console\n" + re.sub(r"\n+", "\n", m[0]) + "```\n\n", text, flags=re.MULTILINE
    )
    parts = re.split(r"(^```console\n.*?^```$|`[^`\n]*`)", text, flags=re.MULTILINE | re.DOTALL)
    return "".join(
        part if part.startswith("`") else re.sub(r"([<>*_](?=\S)|(?<=\w)\*)", _escape, part) for part in parts
    )


def _escape(match: re.Match[str]) -> str:
    """Escape what Markdown would read as markup, but for bold headings and lists."""
    return match[0] if match.string[match.start() - 1 : match.end() + 1].count("*") > 1 else "\\" + match[0]


def _errors() -> str:
    """Write the page of all messages by their numbers."""
    ranges = re.findall(r"^ +(\d{3}) to (\d{3}) +(\w+)$", str(errors.__doc__), re.MULTILINE)
    sources = {path.relative_to(PACKAGE).as_posix(): path.read_text(encoding="utf8") for path in _sources()}
    lines = [
        "# Errors and warnings by number",
        "",
        "Each message begins with a number: `[E307]`, `[W254]`. What stands in braces here is filled in there. Each",
        "says what is wrong and, as a rule, what to do.",
        "",
    ]
    for first, last, room in ranges:
        codes = [
            (code, getattr(kind, code))
            for kind in (Errors, Warnings)
            for code in sorted(name for name in vars(kind) if re.fullmatch(r"[EW]\d+", name))
            if int(first) <= int(code[1:]) <= int(last)
        ]
        lines += [f"## {room}", ""] if codes else []
        for code, message in codes:
            files = [name for name, text in sources.items() if re.search(rf"\b(?:Errors|Warnings)\.{code}\b", text)]
            body = message.removeprefix(f"[{code}] ")
            lines += [f"### {code}", "", "```text", *_wrapped(body), "```", ""]
            lines += [f"Said by {', '.join(f'`{name}`' for name in files)}.", ""]
    return "\n".join(lines)


def _sources() -> Iterator[Path]:
    return (p for p in sorted(PACKAGE.rglob("*.py*")) if p.suffix in {".py", ".pyx"} and p.name != "errors.py")


def _wrapped(text: str) -> list[str]:
    return [line for part in text.splitlines() for line in textwrap.wrap(part, 90) or [""]]


def _python() -> dict[str, str]:
    """Write the pages of the Python reference: one a package, one for what is registered."""
    pages = {}
    documented = set()
    for name in public_packages():
        module = importlib.import_module(name)
        documented |= {id(getattr(module, public)) for public in module.__all__}
        data = [public for public in module.__all__ if not _has_docstring(getattr(module, public))]
        constants = [f".. py:data:: {public}\n   :module: {name}" for public in data]  # autodoc leaves them out
        lazy = [f".. autofunction:: {name}.{public}" for public in module.__all__ if public not in vars(module)]
        pages[name] = _page(name, [f".. automodule:: {name}", *lazy, *constants])
    for name in MODULES:
        module = importlib.import_module(name)
        values = [v for k, v in vars(module).items() if k[0] != "_" and getattr(v, "__module__", "") == name]
        pages[name] = _page(name, [_directive(v) for v in values if callable(v) and id(v) not in documented], module)
        documented |= set(map(id, values))
    by_module: dict[str, list[str]] = {}
    for value in sorted({value for _, _, value in registered()}):
        module_name, _, attribute = value.partition(":")
        target = getattr(importlib.import_module(module_name), attribute)
        if id(target) not in documented:
            by_module.setdefault(module_name, []).append(_directive(target))
    pages["registered"] = "# Functions that are registered\n\n" + (
        "What a config names is a function or a class. [The parts a config names](../parts.md) says what they are for;"
        " here are their arguments.\n"
    )
    for module_name, directives in by_module.items():
        pages["registered"] += f"\n## {module_name}\n\n```{{eval-rst}}\n" + "\n\n".join(directives) + "\n```\n"
    listing = "\n".join(pages)
    pages["index"] = (
        "# Python\n\nWhat can be imported, from the docstrings. A signature is followed by what each argument is, what "
        f"comes back, and what is raised.\n\n```{{toctree}}\n:maxdepth: 1\n\n{listing}\n```\n"
    )
    return pages


def _has_docstring(target: Any) -> bool:
    return (inspect.isclass(target) or inspect.isroutine(target)) and bool(target.__doc__)


def _directive(target: Any) -> str:
    kind = "class" if inspect.isclass(target) else "function"
    return f".. auto{kind}:: {target.__module__}.{target.__name__}"


def _page(name: str, directives: list[str], module: ModuleType | None = None) -> str:
    about = to_rst((inspect.getdoc(module) or "").splitlines()) if module else []
    body = "\n".join(about) + "\n" + "\n\n".join(directives)
    return f"# {name}\n\n```{{eval-rst}}\n{body}\n```\n"


def write_pages(reference: Path) -> None:
    """Write all pages that the code knows.

    reference (Path): The folder `docs/reference`.
    """
    (reference / "python").mkdir(exist_ok=True)
    pages = {"commands": _commands(), "errors": _errors()}
    pages |= {f"python/{name}": text for name, text in _python().items()}
    for name, text in pages.items():
        path = reference / f"{name}.md"
        if not path.exists() or path.read_text(encoding="utf8") != text:
            path.write_text(text, encoding="utf8")
