"""The only place that asks whether an optional package is there.

Nothing is imported until it is asked for: spaCy loads every plugin's factories at start, and must not pay for ours.
"""

import importlib
import importlib.util
from functools import cache
from typing import Any

_INSTALL = {
    "torch": 'pip install "spacy-parsetag[transformers]"',
    "spacy_transformers": 'pip install "spacy-parsetag[transformers]"',
    "cupy": 'pip install "spacy-parsetag[cuda12x]" (or cuda13x)',
    "matplotlib": 'pip install "spacy-parsetag[plots]"',
    "scipy": 'pip install "spacy-parsetag[plots]"',
}


@cache
def has_module(name: str) -> bool:
    """Whether an optional package can be imported, found without importing it."""
    return importlib.util.find_spec(name) is not None


def has_torch() -> bool:
    return has_module("torch")


@cache
def has_cupy_gpu() -> bool:
    """Whether cupy is installed and sees a device."""
    if not has_module("cupy"):
        return False
    import cupy

    try:
        return bool(cupy.cuda.runtime.getDeviceCount() > 0)
    except cupy.cuda.runtime.CUDARuntimeError:
        return False


def require(name: str, purpose: str) -> Any:
    """Import an optional package, or say how to install it.

    name (str): Module to import, for instance "matplotlib".
    purpose (str): What needs it, for the message.
    RETURNS (module): The module.
    RAISES (ImportError): With the install line.
    """
    try:
        return importlib.import_module(name)
    except ImportError as err:
        install = _INSTALL.get(name.split(".")[0], f"pip install {name}")
        message = f"{purpose} needs the package {name!r}, which is not installed. Install it: {install}"
        raise ImportError(message) from err
