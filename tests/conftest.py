"""Shared fixtures. Conformance vectors and treebanks lie outside the repository; tests skip without them."""

import os
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, settings
from spacy.lang.en import English
from spacy.tokens import Doc, Span, Token
from spacy.tokens.underscore import Underscore
from spacy.vocab import Vocab, create_vocab
from thinc.api import fix_random_seed

from spacy_parsetag.tokens import register_extensions

# How long an example takes says more about what else the machine does than about the code.
for _profile, _examples in (("small", 25), ("large", 100)):
    settings.register_profile(
        _profile, max_examples=_examples, deadline=None, suppress_health_check=[HealthCheck.too_slow]
    )


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--slow", action="store_true", help="also run the slow tests")
    parser.addoption("--release", action="store_true", help="run all tests, and four times the random examples")
    parser.addoption("--passed", type=Path, metavar="FILE", help="leave out the tests that FILE names")


def pytest_configure(config: pytest.Config) -> None:
    settings.load_profile("large" if config.getoption("--release") else "small")


def pytest_collection_modifyitems(config: pytest.Config, items: list[Any]) -> None:
    if path := config.getoption("--passed"):
        passed = set(path.read_text(encoding="utf8").splitlines())
        config.hook.pytest_deselected(items=[item for item in items if item.nodeid in passed])
        items[:] = [item for item in items if item.nodeid not in passed]
    for item in items:
        if "release" in item.keywords and not config.getoption("--release"):
            item.add_marker(pytest.mark.skip(reason="for releases: run with --release"))
        elif "slow" in item.keywords and not (config.getoption("--slow") or config.getoption("--release")):
            item.add_marker(pytest.mark.skip(reason="slow: run with --slow"))


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup() -> None:
    """Fixtures draw the same weights in each run: whether a tie falls the other way is not for chance to say."""
    fix_random_seed(0)


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_call() -> None:
    """A test draws the same weights, whichever tests ran before it."""
    fix_random_seed(0)


def find_shared() -> Path:
    """The folder with `conformance/` and `treebanks/`: $PARSETAG_SHARED, or `shared` beside the repository."""
    return Path(os.environ.get("PARSETAG_SHARED", Path(__file__).resolve().parent.parent.parent / "shared"))


def shared_folder(name: str) -> Path:
    """A sub-folder of the shared data, or a skip that says what is missing."""
    folder = find_shared() / name
    if not folder.exists():
        pytest.skip(f"no {name!r} data: set PARSETAG_SHARED to a folder that holds {name}/")
    return folder


@pytest.fixture(scope="session")
def spacy_transformers() -> Any:
    """For configs that name its components: spaCy fills them when they are read."""
    return pytest.importorskip("spacy_transformers", reason="spacy-transformers is not installed")


@pytest.fixture(scope="session")
def conformance() -> Path:
    return shared_folder("conformance")


@pytest.fixture(scope="session")
def treebanks() -> Path:
    return shared_folder("treebanks")


@pytest.fixture(scope="session")
def run() -> Iterator[Callable[..., Any]]:
    """Run `python -m spacy parsetag ...` in this process."""
    from typer.main import get_command
    from typer.testing import CliRunner

    from spacy_parsetag.cli import parsetag_app

    runner = CliRunner()

    def invoke(*args: object, stdin: str = "") -> Any:
        result = runner.invoke(parsetag_app, list(map(str, args)), input=stdin)
        # A traceback is an exception that is not the command's own exit.
        assert result.exception is None or isinstance(result.exception, SystemExit), result.exception
        return result

    with pytest.MonkeyPatch.context() as patch:
        # Typer's runner makes all commands each time, which takes longer than most of them. Others may do otherwise.
        patch.setattr("typer.testing._get_command", cache(get_command), raising=False)
        yield invoke


@pytest.fixture(scope="session")
def vocab() -> Vocab:
    return create_vocab("en", English.Defaults)


@pytest.fixture
def clean_extensions() -> Iterator[None]:
    """Each test starts without extensions, and leaves those of other tests as they were."""
    owners: dict[Any, dict[str, Any]] = {
        Doc: Underscore.doc_extensions,
        Span: Underscore.span_extensions,
        Token: Underscore.token_extensions,
    }
    saved = {owner: dict(extensions) for owner, extensions in owners.items()}
    for extensions in owners.values():
        extensions.clear()
    yield
    for owner, extensions in owners.items():
        extensions.clear()
        extensions.update(saved[owner])


@pytest.fixture
def extensions(clean_extensions: None) -> None:
    register_extensions()
