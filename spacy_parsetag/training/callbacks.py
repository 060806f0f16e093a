"""Callbacks for configs."""

from typing import Callable, Literal

from spacy.language import Language

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
