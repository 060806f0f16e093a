"""Sets the numeric precision of PyTorch's layers, in prediction (float32, bfloat16, int8) and in training."""

import warnings
from collections.abc import Callable
from copy import deepcopy
from functools import partial
from typing import Any, Literal, get_args

from spacy.language import Language
from thinc.api import ArgsKwargs, Model, PyTorchShim

from ..compat import require
from ..errors import Errors

Precision = Literal["float32", "bfloat16", "int8"]
# Rows of a batch for which oneDNN orders weights; batches of other sizes are as right.
_N_ROWS = 512


class Predictor:
    """Predicts in place of a shim's own `predict`. Training, saving and loading stay the shim's.

    Thinc's own method puts the module into training mode when it is done, and its dropout with it: another thread that
    is predicting would see that. Here a module that predicts stays in evaluation mode until it is trained.

    On a CPU it keeps a second copy of the weights of linear layers, in int8 of LSTMs too.

    precision (str): "float32", exact to rounding; "bfloat16" for matrix products, where PyTorch's autocast takes it;
        "int8" for the weights of linear layers and LSTMs, and for their inputs as they come (dynamic quantization).
    """

    def __init__(self, shim: PyTorchShim, precision: str) -> None:
        self.shim = shim
        self.precision = precision
        self._kept: tuple[Any, ...] = (None, [], None, None)  # module, its weights, their versions, what predicts

    def __reduce__(self) -> tuple[Any, ...]:
        return Predictor, (self.shim, self.precision)  # what is kept is made again

    def __call__(self, inputs: ArgsKwargs) -> Any:
        torch = require("torch", "spacy-parsetag.PredictPrecision.v1")
        module = self._module(torch)
        low = self.precision == "bfloat16"
        with torch.no_grad(), torch.autocast(self.shim.device.type, torch.bfloat16, enabled=low):
            output = module(*inputs.args, **inputs.kwargs)
        return _to_float32(output) if low else output

    def _module(self, torch: Any) -> Any:
        """Get the module that predicts, made anew when weights have changed: trained, loaded, or averaged."""
        module = self.shim._model
        kept, weights, versions, predicts = self._kept
        # An optimizer changes weights unseen, but only in a module in training mode.
        if module.training or kept is not module or versions != _versions(weights):
            module.eval()
            weights, predicts = list(module.parameters()), module
            if self.precision == "int8":
                if self.shim.device.type != "cpu":
                    raise ValueError(Errors.E210.format(device=self.shim.device))
                predicts = _quantize(torch, module)
            elif self.shim.device.type == "cpu":
                predicts = _pack(torch, module, _bfloat16_product if self.precision == "bfloat16" else _onednn_product)
            self._kept = (module, weights, _versions(weights), predicts)
        return predicts


def _versions(weights: list[Any]) -> list[tuple[int, int]]:
    """Read the address of each tensor, and how often it was changed there."""
    return [(weight.data_ptr(), weight._version) for weight in weights]


def _quantize(torch: Any, module: Any) -> Any:
    quantization = torch.ao.quantization
    layers = {
        torch.nn.Linear: quantization.per_channel_dynamic_qconfig,
        torch.nn.LSTM: quantization.default_dynamic_qconfig,
    }
    # In a container, because the function replaces what is in a module, not the module itself.
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # PyTorch says that another package will have this function
        return quantization.quantize_dynamic(torch.nn.Sequential(module), layers)[0]


def _pack(torch: Any, module: Any, make_product: Callable[[Any, Any, Any], Callable[[Any], Any]]) -> Any:
    """A copy of a module whose linear layers multiply by weights laid out for that. All others are shared.

    PyTorch's own products would lay them out, or round them, for each batch. And its LSTM in bfloat16 stops with an
    error where sequences are of one length and the CPU has no such products (PyTorch 2.13): there it stays in float32.
    """
    has_bfloat16 = getattr(torch.ops.mkldnn, "_is_mkldnn_bf16_supported", lambda: False)()
    packed = deepcopy(module, {id(tensor): tensor for tensor in (*module.parameters(), *module.buffers())})
    for layer in packed.modules():
        if type(layer) is torch.nn.Linear:
            layer.forward = make_product(torch, layer.weight.detach(), layer.bias)
        elif type(layer) is torch.nn.LSTM and not has_bfloat16:
            layer.forward = torch.autocast("cpu", enabled=False)(layer.forward)
    return packed


def _onednn_product(torch: Any, weight: Any, bias: Any) -> Callable[[Any], Any]:
    """Make a linear layer's product by oneDNN, with weights in the order in which oneDNN reads them.

    Falls back to `torch.nn.functional.linear` without oneDNN, or if a later PyTorch drops these operators, which are
    undocumented.
    """
    bias = None if bias is None else bias.detach()
    operators: Any = torch.ops.mkldnn if torch.backends.mkldnn.is_available() else None
    if not (hasattr(operators, "_reorder_linear_weight") and hasattr(operators, "_linear_pointwise")):
        return lambda X: torch.nn.functional.linear(X, weight, bias)
    packed = operators._reorder_linear_weight(weight, _N_ROWS)
    return lambda X: operators._linear_pointwise(X, packed, bias, "none", [], "")


def _bfloat16_product(torch: Any, weight: Any, bias: Any) -> Callable[[Any], Any]:
    """Make a linear layer's product in bfloat16, under autocast, which rounds the inputs."""
    weight, bias = weight.bfloat16(), None if bias is None else bias.detach().bfloat16()
    return lambda X: torch.nn.functional.linear(X, weight, bias)


def _to_float32(output: Any) -> Any:
    """Turn the output of a module, which autocast may have left in bfloat16, into float32: NumPy has no bfloat16."""
    if isinstance(output, dict):  # such as transformers' ModelOutput
        for name, value in output.items():
            output[name] = _to_float32(value)
        return output
    if hasattr(output, "_replace"):  # such as PyTorch's PackedSequence
        return output._replace(data=output.data.float())
    if isinstance(output, (tuple, list)):
        return type(output)(map(_to_float32, output))
    return output.float() if hasattr(output, "float") else output


def _shims_of(nlp: Language) -> list[PyTorchShim]:
    models = [model for _, pipe in nlp.components if isinstance(model := getattr(pipe, "model", None), Model)]
    return [shim for model in models for node in model.walk() for shim in node.shims if isinstance(shim, PyTorchShim)]


def set_precision(nlp: Language, precision: str) -> Language:
    """Let a pipeline predict faster: in float32 as exactly, in another precision a little less. Only PyTorch's layers
    change.

    Weights stay float32 in memory and on disk, and training stays as it is. On a CPU there is a second copy of the
    weights, in that precision, which is made again when these change.

    precision (str): "float32", "bfloat16" (CPUs and GPUs that have it gain by it, others lose) or "int8" (CPUs).
    RAISES (ValueError): If there is no such precision, or no layer of PyTorch in the pipeline.
    """
    if precision not in get_args(Precision):
        raise ValueError(Errors.E211.format(precision=precision))
    shims = _shims_of(nlp)
    if not shims:
        raise ValueError(Errors.E212.format(pipes=", ".join(nlp.pipe_names) or "none"))
    for shim in shims:
        shim.predict = Predictor(shim, precision)  # type: ignore[method-assign]
    return nlp


def make_predict_precision(precision: Precision = "float32") -> Callable[[Language], Language]:
    """spacy-parsetag.PredictPrecision.v1: set the precision of prediction, for [nlp.after_pipeline_creation].

    See `set_precision`.
    """
    # Where all of PyTorch's components were left out on loading, there is nothing to set.
    return lambda nlp: set_precision(nlp, precision) if _shims_of(nlp) else nlp


def _begin_update(shim: PyTorchShim, inputs: ArgsKwargs) -> tuple[Any, Callable[[Any], Any]]:
    """Run a shim's `begin_update` with matrix products in bfloat16 on a CPU, forward and back.

    On a GPU it changes nothing: there Thinc's own method sets the precision.
    """
    torch = require("torch", "spacy-parsetag.TrainPrecision.v1")
    with torch.autocast("cpu", torch.bfloat16, enabled=shim.device.type == "cpu"):
        output, backprop = type(shim).begin_update(shim, inputs)
    return _to_float32(output), backprop


def make_train_precision(
    precision: Literal["highest", "high", "medium", "bfloat16"] = "highest",
) -> Callable[[Language], Language]:
    """spacy-parsetag.TrainPrecision.v1: how exactly PyTorch multiplies in training, for [initialize.before_init].

    With "bfloat16", layers of PyTorch in the pipeline multiply in bfloat16 when they are trained on a CPU. Weights and
    what the optimizer sees are float32. `benchmarks/encoder.py training` prints what it gains on a machine; a CPU
    without such products (AVX512-BF16, AMX) loses. On a GPU, `mixed_precision` of the transformer's architecture is
    for that.

    The others are those of `torch.set_float32_matmul_precision`, which is one setting for the whole process, so it also
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
