"""A vocabulary that knows white space, and the extensions, for as long as a test runs."""

from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import settings
from spacy.lang.en import English
from spacy.tokens import Doc, Span, Token
from spacy.tokens.underscore import Underscore
from spacy.vocab import Vocab, create_vocab

from spacy_parsetag.tokens import register_extensions

# On a busy machine single examples take long; pytest's own time limits are what counts.
settings.register_profile("no_deadline", deadline=None)
settings.load_profile("no_deadline")


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
