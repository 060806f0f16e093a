"""Callbacks for configs."""

from collections.abc import Callable
from typing import Any, Literal

from spacy.language import Language
from spacy.pipeline import TrainablePipe
from thinc.api import Model, NumpyOps

from ..compat import one_blas_thread


class _OneThreadOps(NumpyOps):  # type: ignore[misc]
    """NumPy's operations, with products on one thread."""

    def gemm(self, x: Any, y: Any, *, out: Any = None, trans1: bool = False, trans2: bool = False) -> Any:
        """Multiply matrices, as `Ops.gemm` does."""
        with one_blas_thread():
            return super().gemm(x, y, out=out, trans1=trans1, trans2=trans2)


def make_numpy_blas(n_threads: Literal[1] | None = 1) -> Callable[[Language], Language]:
    """spacy-parsetag.NumPyBLAS.v1: multiply matrices on the CPU by NumPy's BLAS, for [nlp.after_pipeline_creation].

    Thinc's own BLIS has no kernels for many of today's CPUs and falls back on plain C there; NumPy's wheels bring
    OpenBLAS or Accelerate, which has them. `benchmarks/matmul.py` prints what it gains on a machine. The products of a
    CNN pipeline are so small that threads take longer to meet than to multiply: they have one thread, unless the
    environment says how many (OMP_NUM_THREADS). Only the layers of this pipeline change; those on a GPU, and CPUs for
    which Thinc has operations of its own (Apple's), stay as they are.

    n_threads (Literal[1] | None): Threads of a product; None for as many as NumPy's BLAS takes, one for each core.
    """

    def use_numpy(nlp: Language) -> Language:
        ops = (_OneThreadOps if n_threads else NumpyOps)(use_blis=False)
        for _, pipe in nlp.components:
            if isinstance(pipe, TrainablePipe) and isinstance(pipe.model, Model):
                for node in pipe.model.walk():
                    if type(node.ops) is NumpyOps:
                        node.ops = ops
        return nlp

    return use_numpy


def in_turn(*callbacks: Callable[[Language], Language]) -> Callable[[Language], Language]:
    """spacy-parsetag.InTurn.v1: several callbacks, in their order, where a config has a place for one.

    See `configs/transformer.cfg`.
    """

    def call(nlp: Language) -> Language:
        for callback in callbacks:
            nlp = callback(nlp)
        return nlp

    return call


def make_measured_scores() -> Callable[[Language], Language]:
    """spacy-parsetag.MeasuredScores.v1: leave scores without a weight out of the pipeline's meta, for
    [training.before_to_disk].

    spaCy writes 0 there for a score that nobody measured, and the F of sentences that were given, and `spacy package`
    prints them into the README. The parser's own scores stay.
    """

    def keep_measured(nlp: Language) -> Language:
        weights = nlp.config["training"]["score_weights"]
        nlp.meta["performance"] = {
            name: score
            for name, score in nlp.meta.get("performance", {}).items()
            if weights.get(name, 0.0) is not None or name.startswith("parsetag")
        }
        return nlp

    return keep_measured
