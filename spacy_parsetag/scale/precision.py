"""PyTorch's layers of a trained pipeline in bfloat16 or int8, for CPUs."""

import warnings
from collections.abc import Callable
from typing import Any, Literal, get_args

from spacy.language import Language
from thinc.api import ArgsKwargs, Model, PyTorchShim

from ..compat import require
from ..errors import Errors

Precision = Literal["float32", "bfloat16", "int8"]


class Predictor:
    """Predicts in place of a shim's own `predict`. Training, saving and loading stay the shim's.

    Thinc's own method puts the module into training mode when it is done, and its dropout with it: another thread that
    is predicting would see that. Here a module that predicts stays in evaluation mode until it is trained.

    shim (PyTorchShim): The shim.
    precision (str): "float32"; "bfloat16" for matrix products in it, where PyTorch's autocast takes it; "int8" for the
        weights of linear layers and LSTMs, and for their inputs as they come (dynamic quantization).
    """

    def __init__(self, shim: PyTorchShim, precision: str) -> None:
        self.shim = shim
        self.precision = precision
        self._quantized: tuple[Any, Any] = (None, None)  # of which module, and what it became

    def __call__(self, inputs: ArgsKwargs) -> Any:
        torch = require("torch", "spacy-parsetag.Precision.v1")
        module = self.shim._model
        if self.precision == "int8":
            module = self._quantize(torch, module)
        elif module.training:
            module.eval()
        low = self.precision == "bfloat16"
        with torch.no_grad(), torch.autocast(self.shim.device.type, torch.bfloat16, enabled=low):
            output = module(*inputs.args, **inputs.kwargs)
        return _to_float32(output) if low else output

    def _quantize(self, torch: Any, module: Any) -> Any:
        """The module in int8, made anew where another was loaded, or where it was trained since."""
        source, quantized = self._quantized
        if module.training or source is not module:
            if self.shim.device.type != "cpu":
                raise ValueError(Errors.E570.format(device=self.shim.device))
            module.eval()
            quantization = torch.ao.quantization
            layers = {
                torch.nn.Linear: quantization.per_channel_dynamic_qconfig,
                torch.nn.LSTM: quantization.default_dynamic_qconfig,
            }
            # In a container, because the function replaces what is in a module, not the module itself.
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # PyTorch says that another package will have this function
                quantized = quantization.quantize_dynamic(torch.nn.Sequential(module), layers)[0]
            self._quantized = (module, quantized)
        return quantized


def _to_float32(output: Any) -> Any:
    """What a module returns, whose tensors autocast may have left in bfloat16, which NumPy does not know."""
    if isinstance(output, dict):  # such as transformers' ModelOutput
        for name, value in output.items():
            output[name] = _to_float32(value)
        return output
    if hasattr(output, "_replace"):  # such as PyTorch's PackedSequence
        return output._replace(data=output.data.float())
    if isinstance(output, (tuple, list)):
        return type(output)(map(_to_float32, output))
    return output.float() if hasattr(output, "float") else output


def set_precision(nlp: Language, precision: str) -> Language:
    """Let a pipeline predict in another precision, faster and a little less exact. Only PyTorch's layers change.

    Weights stay float32 in memory and on disk, and training stays as it is. Averages of weights that the optimizer
    keeps are for float32: quantized weights are made again after training, not when averages are put in their place.

    nlp (Language): The pipeline, which is changed.
    precision (str): "float32", "bfloat16" (CPUs and GPUs that have it gain by it, others lose) or "int8" (CPUs).
    RETURNS (Language): The pipeline.
    RAISES (ValueError): If there is no such precision, or no layer of PyTorch in the pipeline.
    """
    if precision not in get_args(Precision):
        raise ValueError(Errors.E571.format(precision=precision))
    models = [model for _, pipe in nlp.components if isinstance(model := getattr(pipe, "model", None), Model)]
    shims = [shim for model in models for node in model.walk() for shim in node.shims if isinstance(shim, PyTorchShim)]
    if not shims:
        raise ValueError(Errors.E572.format(pipes=", ".join(nlp.pipe_names) or "none"))
    for shim in shims:
        shim.predict = Predictor(shim, precision)  # type: ignore[method-assign]
    return nlp


def make_precision(precision: Precision = "float32") -> Callable[[Language], Language]:
    """spacy-parsetag.Precision.v1: the precision in which a pipeline predicts, for [nlp.after_pipeline_creation].

    precision (str): "float32", "bfloat16" or "int8"; see `set_precision`.
    RETURNS (Callable[[Language], Language]): The callback.
    """
    return lambda nlp: set_precision(nlp, precision)
