"""The only place that asks whether an optional package is there.

Nothing is imported until it is asked for: spaCy loads every plugin's factories at start, and must not pay for ours.
"""

import importlib
import importlib.util
import os
import sys
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


@cache
def keep_forks_alive() -> None:
    """Leave PyTorch one thread in processes forked from now on, such as those of `nlp.pipe(n_process=2)`.

    Threads do not survive a fork, but OpenMP in the child would wait for those the parent had: once the parent has
    predicted with a transformer or an LSTM on more than one thread, its workers would hang for ever.
    """
    if hasattr(os, "register_at_fork"):  # not on Windows, which does not fork
        os.register_at_fork(after_in_child=_one_thread)


def _one_thread() -> None:
    set_num_threads = getattr(sys.modules.get("torch"), "set_num_threads", None)
    if set_num_threads is not None:
        set_num_threads(1)
