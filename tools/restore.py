"""An exported pipeline becomes one that can be trained on: the weights of its graphs, int8 or not, are PyTorch's again.

    python -m tools.restore PIPELINE CONFIG ENCODER OUTPUT

PIPELINE was exported from a pipeline of CONFIG (`configs/transformer.cfg`), whose encoder began as ENCODER. OUTPUT can
be the first pipeline of `models/en_parsetag_trf_second.cfg` (`--paths.first`). What int8 rounded off stays off, which
is less than what training changes.
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import spacy
import torch
from numpy.typing import NDArray
from onnx.numpy_helper import to_array
from spacy.language import Language
from spacy.training import Example
from spacy.util import load_config, load_model_from_config
from thinc.api import Config, Model

from spacy_parsetag.ml.lstm import LSTMShim
from spacy_parsetag.ml.onnx import OnnxShim

Array = NDArray[np.float32]
TEXT = "Some words."  # only its shape counts
GATES = (0, 2, 3, 1)  # PyTorch's input, forget, cell, output, in ONNX's order of input, output, forget, cell


def restore(exported: Language, config: Config) -> Language:
    """Make a pipeline of a config that predicts what an exported one does.

    exported (Language): A pipeline that `parsetag export` wrote.
    config (Config): The config that it was trained with, with the encoder in it.
    RETURNS (Language): The pipeline. What has no weights in it, such as `sentencizer`, is new.
    RAISES (ValueError): If the two have not the same weights.
    """
    nlp = load_model_from_config(config, auto_fill=True)
    heads = [name for name in nlp.pipe_names if exported.pipe_labels.get(name)]
    pipes: list[tuple[Any, Any]] = [(exported.get_pipe(name), nlp.get_pipe(name)) for name in heads]
    for old, new in pipes:
        nlp.config["initialize"]["components"][new.name] = {"labels": old.label_data}
    nlp.initialize(lambda: [Example(nlp.make_doc(TEXT), exported(TEXT))])
    transformer: Any = nlp.get_pipe("transformer")
    load_encoder(graph_of(exported.get_pipe("transformer")), transformer.model.transformer)
    for old, new in pipes:
        copy_arrays(old.model, new.model)
        for node in new.model.walk():
            if any(isinstance(shim, LSTMShim) for shim in node.shims):
                load_lstm(graph_of(old), node.shims[0]._model)
    return nlp


def graph_of(pipe: Any) -> Any:
    """The only ONNX graph of a component."""
    (shim,) = (shim for node in pipe.model.walk() for shim in node.shims if isinstance(shim, OnnxShim))
    return onnx.load_from_string(shim.to_bytes()).graph


def copy_arrays(old: Model[Any, Any], new: Model[Any, Any]) -> None:
    """Copy what Thinc's own layers have learned, in the order of the layers."""
    sources, targets = ([node for node in model.walk() if node.param_names] for model in (old, new))
    for source, target in zip(sources, targets, strict=True):
        for name in target.param_names:
            array, expected = source.get_param(name), target.get_param(name).shape
            if array.shape != expected:
                raise ValueError(f"{target.name}, {name}: of shape {array.shape}, where the config's is {expected}")
            target.set_param(name, array.copy())


def weights_of(graph: Any) -> dict[str, Array]:
    """The weights of a graph as floats, by their names before `spacy_parsetag.ml.graphs.quantize` rounded them."""
    arrays = {tensor.name: to_array(tensor) for tensor in graph.initializer}
    weights = {}
    for name, array in arrays.items():
        if name.endswith("_int8"):
            name = name.removesuffix("_int8")
            array = array * arrays[f"{name}_scales"]
        elif name.endswith("_quantized"):  # by ONNX Runtime, a scale for each row or column
            name = name.removesuffix("_quantized")
            scale, zero = arrays[f"{name}_scale"], arrays[f"{name}_zero_point"].astype(np.float32)
            if scale.size > 1:
                shape = [size if size == scale.size else 1 for size in array.shape]
                scale, zero = scale.reshape(shape), zero.reshape(shape)
            array = (array - zero) * scale
        weights[name] = np.asarray(array, dtype=np.float32)
    return weights


def load_encoder(graph: Any, encoder: Any) -> None:
    """Load a transformer's weights. Those of linear layers have lost their names, but what they compute has not.

    RAISES (ValueError): If a weight is missing, or has another shape.
    """
    weights = weights_of(graph)
    for node in graph.node:
        if node.op_type == "Identity" and node.input[0] in weights:  # of equal weights one was exported
            weights[node.output[0]] = weights[node.input[0]]
    arrays = {name.removeprefix("encoder."): array for name, array in weights.items()}
    for node in graph.node:
        for weight in (name.removesuffix("_scales") for name in node.input[1:4:2]):
            if node.op_type in ("MatMul", "MatMulIntegerToFloat") and weight in weights:
                # such as /encoder/encoder/layer.0/attention/self/query/MatMul_output_0
                path = node.output[0].strip("/").split("/")[1:-1]
                arrays[".".join((*path, "weight"))] = weights[weight].T
    load(encoder, arrays)


def load_lstm(graph: Any, lstm: Any) -> None:
    """Load the weights of a bidirectional LSTM. An int8 graph has the sums of the two biases that PyTorch has."""
    weights, arrays = weights_of(graph), {}
    # The graph that a Scan runs, by the name of its output.
    steps = {node.output[-1]: attr.g for node in graph.node for attr in node.attribute if attr.HasField("g")}
    for layer in range(lstm.num_layers):
        inputs, biases = weights[f"W{layer}"], weights[f"B{layer}"]
        if steps:
            inputs, biases = np.stack(np.split(inputs.T, 2)), np.stack(np.split(biases, 2))
            biases = np.hstack([biases, np.zeros_like(biases)])
            states = [weights_of(steps[f"y_{direction}{layer}"])["R"].T for direction in ("forth", "back")]
        else:
            states = list(weights[f"R{layer}"])
        for direction, suffix in enumerate(("", "_reverse")):
            params = (inputs[direction], states[direction], *np.split(biases[direction], 2))
            for name, array in zip(("weight_ih", "weight_hh", "bias_ih", "bias_hh"), params, strict=True):
                gates = np.split(array, 4)
                arrays[f"{name}_l{layer}{suffix}"] = np.concatenate([gates[i] for i in GATES])
    load(lstm, arrays)


def load(module: Any, arrays: dict[str, Array]) -> None:
    """Load all weights of a module of PyTorch. A transformer's pooler stays as it is: nothing reads it."""
    state = module.state_dict()
    for name, tensor in state.items():
        if name in arrays and arrays[name].shape == tensor.shape:
            state[name] = torch.tensor(arrays[name])
        elif not name.startswith("pooler."):
            raise ValueError(f"{name}: no weight of shape {tuple(tensor.shape)} was exported")
    module.load_state_dict(state)


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name in ("pipeline", "config", "encoder", "output"):
        arguments.add_argument(name, type=Path, metavar=name.upper())
    args = arguments.parse_args()
    config = load_config(args.config, overrides={"vars.encoder": str(args.encoder)})
    restore(spacy.load(args.pipeline), config).to_disk(args.output)


if __name__ == "__main__":
    main()
