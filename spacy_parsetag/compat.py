"""Optional packages, with their install lines; and workarounds for packages that are slow or hang.

No package is imported before a function needs it: spaCy loads every plugin's factories when it starts, and imports
would delay that.
"""

import importlib
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache, lru_cache
from threading import Lock
from typing import Any

from .errors import Errors

_INSTALL = {
    "torch": 'pip install "spacy-parsetag[transformers]"',
    "spacy_transformers": 'pip install "spacy-parsetag[transformers]"',
    "onnx": 'pip install "spacy-parsetag[export]"',
    "onnxruntime": 'pip install "spacy-parsetag[onnx]"',
    "tokenizers": 'pip install "spacy-parsetag[onnx]"',
    "cupy": 'pip install "spacy-parsetag[cuda12x]" (or cuda13x)',
    "matplotlib": 'pip install "spacy-parsetag[plots]"',
    "pyarrow": 'pip install "spacy-parsetag[ray]" (or spark, or pyarrow alone)',
    "pyspark": 'pip install "spacy-parsetag[spark]"',
    "ray": 'pip install "spacy-parsetag[ray]"',
    "scipy": 'pip install "spacy-parsetag[plots]"',
}


def require(name: str, purpose: str) -> Any:
    """Import an optional package, or say how to install it.

    purpose (str): What needs it, for the message.
    RAISES (ImportError): With the install line.
    """
    try:
        return importlib.import_module(name)
    except ImportError as err:
        install = _INSTALL.get(name.split(".")[0], f"pip install {name}")
        raise ImportError(Errors.E500.format(purpose=purpose, name=name, install=install)) from err


_process = os.getpid()


def one_thread_after_fork() -> None:
    """Leave PyTorch one thread if this process was forked since the module was imported; once in a process.

    Workers of `nlp.pipe(n_process=2)` are forks. No thread survives a fork, and PyTorch waits for the parent's: once
    the parent has predicted on several threads, its workers would wait for ever. A process that wants more threads all
    the same can set them after its first parse.
    """
    global _process
    torch = sys.modules.get("torch")
    if os.getpid() != _process and torch is not None:
        torch.set_num_threads(1)
        _process = os.getpid()


@cache
def _blas() -> Any:
    """Find NumPy's BLAS, which takes a look through all libraries of the process."""
    from threadpoolctl import ThreadpoolController

    return ThreadpoolController().select(user_api="blas")


def threads_asked() -> int | None:
    """Read how many threads OMP_NUM_THREADS asks for; None if it does not say.

    OpenMP takes one number for each level of threads within threads, "4,2", and the first one counts.
    """
    first = os.environ.get("OMP_NUM_THREADS", "").partition(",")[0].strip()
    return int(first) if first.isdecimal() else None


_limiting = Lock()
_THREADS_OF_BLAS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "BLIS_NUM_THREADS")


def one_blas_thread_asked() -> bool:
    """Tell whether the environment asks NumPy's BLAS for no more threads than one."""
    return all(os.environ.get(name) in (None, "", "1") for name in _THREADS_OF_BLAS)


@contextmanager
def one_blas_thread() -> Iterator[None]:
    """Limit NumPy's BLAS to one thread in this context, unless the environment sets its number of threads.

    The matrices of a CNN pipeline are so small that threads take longer to meet than to multiply. The limit holds for
    the whole process: if several Python threads enter the context, the first one sets the limit and later removes it.
    """
    if any(map(os.environ.get, _THREADS_OF_BLAS)) or not _limiting.acquire(blocking=False):
        yield
        return
    try:
        with _blas().limit(limits=1):
            yield
    finally:
        _limiting.release()


@cache
def cache_msgpack_plugins() -> None:
    """Let srsly look for plugins of its msgpack only where there may be new ones.

    srsly searches all installed entry points, and everything that any library registered, whenever it packs or unpacks
    anything: three times for each doc of a .spacy file, which takes longer than the rest of reading a sentence.
    """
    from srsly.msgpack import msgpack_decoders, msgpack_encoders

    for registry in (msgpack_encoders, msgpack_decoders):
        cache_plugins(registry)


def cache_plugins(registry: Any) -> None:
    """Let a registry of catalogue search again only if any registry has grown since its last search."""
    import catalogue

    search = registry.get_all
    plugins = lru_cache(maxsize=1)(lambda n_registered: search())
    registry.get_all = lambda: dict(plugins(len(catalogue.REGISTRY)))
