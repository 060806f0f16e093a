"""Callbacks for configs."""

from collections.abc import Callable
from typing import Literal

from spacy.language import Language
from thinc.api import NumpyOps, get_current_ops, set_current_ops

from ..compat import require


def make_matmul_precision(
    precision: Literal["highest", "high", "medium"] = "highest",
) -> Callable[[Language], Language]:
    """spacy-parsetag.MatmulPrecision.v1: how exactly PyTorch multiplies float32 matrices, for [initialize.before_init].

    "medium" uses bfloat16 products on CPUs and GPUs that have them (TF32 with "high"), about twice as fast on such a
    CPU. It is a setting of the whole process, so nothing sets it unless a config asks for it.

    precision (Literal["highest", "high", "medium"]): As `torch.set_float32_matmul_precision` takes it.
    RETURNS (Callable[[Language], Language]): The callback.
    """

    def set_precision(nlp: Language) -> Language:
        torch = require("torch", "spacy-parsetag.MatmulPrecision.v1")
        torch.set_float32_matmul_precision(precision)
        return nlp

    return set_precision


def make_numpy_blas() -> Callable[[type[Language]], type[Language]]:
    """spacy-parsetag.NumPyBLAS.v1: multiply matrices on the CPU by NumPy's BLAS, for [nlp.before_creation].

    Thinc's own BLIS has no kernels for many of today's CPUs and falls back on plain C there; NumPy's wheels bring
    OpenBLAS or Accelerate, which has them. `benchmarks/matmul.py` prints what it gains on a machine. OpenBLAS takes as
    many threads as there are cores unless OPENBLAS_NUM_THREADS says otherwise. All pipelines of this thread made later
    use it too; those on a GPU, and CPUs for which Thinc has operations of its own (Apple's), stay as they are.

    RETURNS (Callable[[Type[Language]], Type[Language]]): The callback.
    """

    def use_numpy(language: type[Language]) -> type[Language]:
        if type(get_current_ops()) is NumpyOps:
            set_current_ops(NumpyOps(use_blis=False))
        return language

    return use_numpy
