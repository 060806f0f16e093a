"""What setup.cfg advertises is there, and what has to be compiled is compiled."""

import configparser
import importlib
import runpy
from collections.abc import Iterator
from pathlib import Path

import pytest
import spacy
from spacy.language import Language
from spacy.util import registry
from thinc.api import registry as thinc_registry

ROOT = Path(__file__).resolve().parent.parent


def advertised() -> Iterator[tuple[str, str, str]]:
    """Group, name and target of each entry point."""
    setup = configparser.ConfigParser(delimiters=("=",))
    setup.optionxform = str  # type: ignore[assignment,method-assign]
    setup.read(ROOT / "setup.cfg", encoding="utf8")
    for group, lines in setup["options.entry_points"].items():
        for line in lines.strip().splitlines():
            name, _, target = line.partition("=")
            yield group, name.strip(), target.strip()


@pytest.mark.parametrize("group, name, target", list(advertised()))
def test_entry_points(group: str, name: str, target: str) -> None:
    module, _, attribute = target.partition(":")
    found = getattr(importlib.import_module(module), attribute)
    if group == "spacy_factories":
        assert spacy.blank("xx").has_factory(name)
        assert Language.get_factory_meta(name).factory == name
    elif group == "spacy_cli":
        assert callable(found)
    else:
        package, _, kind = group.partition("_")
        functions = getattr(registry if package == "spacy" else thinc_registry, kind)
        assert functions.get(name) is found
        assert name.startswith("spacy-parsetag.") and name.endswith(".v1")


def test_every_extension_is_built() -> None:
    setup = runpy.run_path(str(ROOT / "setup.py"))
    sources = (path.relative_to(ROOT).with_suffix("") for path in (ROOT / "spacy_parsetag").rglob("*.pyx"))
    modules = setup["MODULES"]
    assert modules == sorted(".".join(source.parts) for source in sources)
    assert all(flag.startswith("/") for name in modules for flag in setup["flags_of"]("msvc", name))
    assert all(flag.startswith("-") for name in modules for flag in setup["flags_of"]("unix", name))
    for name in modules:
        importlib.import_module(name)


def test_version() -> None:
    setup = (ROOT / "setup.cfg").read_text(encoding="utf8")
    assert f"\nversion = {importlib.import_module('spacy_parsetag').__version__}\n" in setup


def test_documented() -> None:
    """docs/reference/parts.md names what a config can name."""
    text = (ROOT / "docs" / "reference" / "parts.md").read_text(encoding="utf8")
    missing = [name for group, name, _ in advertised() if group != "spacy_cli" and f"`{name}`" not in text]
    assert not missing
