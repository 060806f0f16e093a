"""Trained pipelines, made once."""

from collections.abc import Callable

import pytest
from spacy.language import Language
from tiny import make_examples, make_nlp, train


@pytest.fixture(scope="session")
def trained() -> Callable[[str], Language]:
    """Trained pipelines by order. They are shared: do not change them."""
    made: dict[str, Language] = {}

    def get(order: str = "in") -> Language:
        if order not in made:
            made[order] = make_nlp(order)
            train(made[order], make_examples(made[order]))
        return made[order]

    return get
