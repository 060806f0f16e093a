"""The examples in docstrings are run, in every module of the package."""

import doctest
import importlib
import pkgutil
from types import ModuleType

import pytest

import spacy_parsetag

MODULES = sorted(info.name for info in pkgutil.walk_packages(spacy_parsetag.__path__, "spacy_parsetag."))
# Modules whose examples must not get lost.
WITH_EXAMPLES = {"linearize", "analysis.inventories"}


def load(name: str) -> ModuleType:
    return importlib.import_module(name)


@pytest.mark.parametrize("name", MODULES)
def test_examples(name: str) -> None:
    found = doctest.testmod(load(name))
    assert not found.failed
    if name.removeprefix("spacy_parsetag.") in WITH_EXAMPLES:
        assert found.attempted


def test_every_module_is_seen() -> None:
    names = {name.removeprefix("spacy_parsetag.") for name in MODULES}
    assert names >= {*WITH_EXAMPLES, "errors", "decode", "cli", "pipeline.component"}
