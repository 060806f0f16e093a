"""Callbacks for configs."""

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any, Literal

import numpy as np
from spacy.language import Language
from thinc.api import ArgsKwargs, Model, NumpyOps, PyTorchShim

from ..compat import one_blas_thread, one_blas_thread_asked, require
from ..ml._mlp import limit_registers, multiply


def _layers_of(nlp: Language) -> Iterator[Model[Any, Any]]:
    for _, pipe in nlp.components:
        if isinstance(model := getattr(pipe, "model", None), Model):
            yield from model.walk()


def _shims_of(nlp: Language) -> Iterator[PyTorchShim]:
    return (shim for layer in _layers_of(nlp) for shim in layer.shims if isinstance(shim, PyTorchShim))


# From here on compiled products are as fast as those of OpenBLAS with its kernels for AVX-512. It takes some new CPUs
# for older ones, and is about half as fast there.
_WIDE, _MANY_VECTORS = 64, 64


def _fit(x: Any, y: Any) -> bool:
    """Tell whether compiled code can multiply each row of a matrix by each row of another."""
    return (
        x.ndim == y.ndim == 2
        and x.shape[1] == y.shape[1]
        and all(array.dtype == np.float32 and array.flags.c_contiguous for array in (x, y))
    )


class _OneThreadOps(NumpyOps):  # type: ignore[misc]
    """NumPy's operations, with products on one thread, or by compiled code where that is as fast."""

    def gemm(self, x: Any, y: Any, *, out: Any = None, trans1: bool = False, trans2: bool = False) -> Any:
        """Multiply matrices, as `Ops.gemm` does."""
        is_layer = trans2 and not trans1 and out is None and len(x) >= _MANY_VECTORS
        if is_layer and limit_registers(0) >= _WIDE and one_blas_thread_asked() and _fit(x, y):
            return multiply(x, y)
        with one_blas_thread():
            return super().gemm(x, y, out=out, trans1=trans1, trans2=trans2)


def make_numpy_blas(n_threads: Literal[1] | None = 1) -> Callable[[Language], Language]:
    """spacy-parsetag.NumPyBLAS.v1: multiply matrices on the CPU by NumPy's BLAS, for [nlp.after_pipeline_creation].

    Thinc's own BLIS has no kernels for many of today's CPUs and falls back on plain C there; NumPy's wheels bring
    OpenBLAS or Accelerate, which has them. The products of a CNN pipeline are so small that threads take longer to meet
    than to multiply: they have one thread, unless the environment says how many (OMP_NUM_THREADS). On one thread, and a
    CPU with AVX-512, which OpenBLAS may not know, compiled code of this package multiplies the inputs of layers. Only
    the layers of this pipeline change; those on a GPU, and CPUs for which Thinc has operations of its own (Apple's),
    stay as they are.

    n_threads (Literal[1] | None): Threads of a product; None for as many as NumPy's BLAS takes, one for each core.
    """

    def use_numpy(nlp: Language) -> Language:
        ops = (_OneThreadOps if n_threads else NumpyOps)(use_blis=False)
        for layer in _layers_of(nlp):
            if type(layer.ops) is NumpyOps:
                layer.ops = ops
        return nlp

    return use_numpy


def make_evaluation_mode() -> Callable[[Language], Language]:
    """spacy-parsetag.EvaluationMode.v1: let threads share a pipeline on PyTorch, for [nlp.after_pipeline_creation].

    Thinc puts a module of PyTorch into training mode, dropout and all, whenever it has predicted, and a thread that is
    predicting meanwhile would see that. With this, a module stays in evaluation mode until it is trained.
    """

    def keep_mode(nlp: Language) -> Language:
        for shim in _shims_of(nlp):
            shim.predict = partial(_predict, shim)  # type: ignore[method-assign]
        return nlp

    return keep_mode


def _predict(shim: PyTorchShim, inputs: ArgsKwargs) -> Any:
    torch = require("torch", "spacy-parsetag.EvaluationMode.v1")
    if shim._model.training:
        shim._model.eval()
    with torch.no_grad(), torch.autocast("cuda", enabled=shim._mixed_precision):
        return _to_float32(shim._model(*inputs.args, **inputs.kwargs))


def make_train_precision(
    precision: Literal["highest", "high", "medium", "bfloat16"] = "highest",
) -> Callable[[Language], Language]:
    """spacy-parsetag.TrainPrecision.v1: how exactly PyTorch multiplies in training, for [initialize.before_init].

    With "bfloat16", layers of PyTorch in the pipeline multiply in bfloat16 when they are trained on a CPU. Weights and
    what the optimizer sees are float32. `benchmarks/encoder.py training` prints what it gains on a machine; a CPU
    without such products (AVX512-BF16, AMX) loses. On a GPU, use `mixed_precision` of the transformer's architecture
    instead.

    The other values go to `torch.set_float32_matmul_precision`, a setting of the whole process, which therefore also
    holds for other pipelines and for your own PyTorch code: "high" may use TF32, "medium" bfloat16 within a product.

    It counts when a config that names this callback is initialized for training, not for a pipeline that is loaded.
    """

    def set_training(nlp: Language) -> Language:
        if precision == "bfloat16":
            for shim in _shims_of(nlp):
                shim.begin_update = partial(_begin_update, shim)  # type: ignore[method-assign]
        else:
            require("torch", "spacy-parsetag.TrainPrecision.v1").set_float32_matmul_precision(precision)
        return nlp

    return set_training


def _begin_update(shim: PyTorchShim, inputs: ArgsKwargs) -> tuple[Any, Callable[[Any], Any]]:
    """Run a shim's `begin_update` with matrix products in bfloat16 on a CPU, forward and back.

    On a GPU it changes nothing: there Thinc's own method sets the precision.
    """
    torch = require("torch", "spacy-parsetag.TrainPrecision.v1")
    with torch.autocast("cpu", torch.bfloat16, enabled=shim.device.type == "cpu"):
        output, backprop = type(shim).begin_update(shim, inputs)
    return _to_float32(output), backprop


def _to_float32(output: Any) -> Any:
    """Turn the output of a module, which autocast may have left in bfloat16 or float16, into float32."""
    if isinstance(output, dict):  # such as transformers' ModelOutput
        for name, value in output.items():
            output[name] = _to_float32(value)
        return output
    if hasattr(output, "_replace"):  # such as PyTorch's PackedSequence
        return output._replace(data=output.data.float())
    if isinstance(output, (tuple, list)):
        return type(output)(map(_to_float32, output))
    return output.float() if hasattr(output, "float") else output


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

    For a score that was not measured spaCy writes 0 into the meta, and it also writes the F of sentences that were
    given; `spacy package` copies both into the README. The parser's own scores stay.
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
