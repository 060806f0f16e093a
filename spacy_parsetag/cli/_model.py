"""Finds the pipeline of commands that are given none."""

import os

from spacy.util import is_package

from ..errors import Errors

DEFAULT_MODEL = "en_parsetag_sm"  # the pipeline that comes with the project, as a package of its own


def default_model() -> str:
    """Name the pipeline of commands that are given none. Raises a ValueError if it is not installed."""
    if not is_package(DEFAULT_MODEL):
        raise ValueError(Errors.E468.format(name=DEFAULT_MODEL))
    return DEFAULT_MODEL


def is_pipeline(name: str) -> bool:
    """Tell whether there is a pipeline of this name, a package or a folder."""
    return is_package(name) or os.path.isfile(os.path.join(name, "config.cfg"))
