"""ONNX graphs of PyTorch's layers: transformers and BiLSTMs, in float32 or with int8 weights."""

import io
import logging
import tempfile
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from ..compat import require
from ..errors import Errors
from .onnx import OnnxShim

Precision = Literal["float32", "int8"]
OPSET = 17
_TOLERANCE = 1e-3


def export_transformer(encoder: Any, names: Sequence[str], precision: Precision) -> bytes:
    """The graph of a transformer, from word pieces to the vectors of its last layer.

    names (Sequence[str]): The inputs that its tokenizer makes, such as "input_ids".
    RAISES (ImportError): Without a package that this needs, with the install line.
    RAISES (ValueError): If the graph does not compute what the encoder does.
    """
    torch = require("torch", "parsetag export")
    require("onnx", "parsetag export")
    inputs = [name for name in ("input_ids", "attention_mask", "token_type_ids") if name in names]

    class LastLayer(torch.nn.Module):  # type: ignore[misc, name-defined]
        def __init__(self) -> None:
            super().__init__()
            self.encoder = encoder

        def forward(self, *arrays: Any) -> Any:
            return self.encoder(**dict(zip(inputs, arrays, strict=True))).last_hidden_state

    layer = LastLayer().eval()
    device = encoder.device
    encoder.eval().to("cpu")
    target = io.BytesIO()
    axes = {0: "windows", 1: "pieces"}
    with torch.no_grad(), _quiet():
        sample = _sample(encoder.config, (3, 7))
        torch.onnx.export(
            layer,
            tuple(torch.from_numpy(sample[name]) for name in inputs),
            target,
            input_names=inputs,
            output_names=["vectors"],
            dynamic_axes=dict.fromkeys((*inputs, "vectors"), axes),
            opset_version=OPSET,
            dynamo=False,
        )
        graph = target.getvalue()
        for shape in ((1, 5), (4, 33)):  # not the ones that it was made of
            sample = _sample(encoder.config, shape)
            found = OnnxShim(graph).run(sample, on_gpu=False)
            expected = layer(*(torch.from_numpy(sample[name]) for name in inputs)).numpy()
            difference = float(np.abs(found - expected)[sample["attention_mask"] > 0].max())
            if not difference < _TOLERANCE:
                raise ValueError(Errors.E205.format(kind=encoder.config.model_type, difference=difference))
    encoder.to(device)
    return quantize(graph) if precision == "int8" else graph


def _sample(config: Any, shape: tuple[int, int]) -> dict[str, NDArray[Any]]:
    """Random pieces, of windows of different lengths."""
    rng = np.random.default_rng(0)
    mask = np.ones(shape, dtype=np.int64)
    if shape[0] > 1:
        mask[-1, shape[1] // 2 :] = 0
    ids = np.where(mask, rng.integers(5, config.vocab_size, shape), config.pad_token_id or 0)
    return {"input_ids": ids, "attention_mask": mask, "token_type_ids": np.zeros_like(ids)}


@contextmanager
def _quiet() -> Iterator[None]:
    """PyTorch warns of each place where a graph might depend on the sample, and that there is a newer exporter."""
    logger = logging.getLogger()
    level = logger.level
    logger.setLevel(logging.ERROR)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield
    finally:
        logger.setLevel(level)


def export_bilstm(lstm: Any, precision: Precision) -> bytes:
    """The graph of a bidirectional torch.nn.LSTM over padded sequences: words (words, sequences, nI) and lengths."""
    onnx = require("onnx", "parsetag export")
    make, constant = onnx.helper, onnx.numpy_helper.from_array
    width = lstm.hidden_size
    nodes, weights = [], [constant(np.asarray([0, 0, 2 * width]), "shape")]
    name = "words"
    for i in range(lstm.num_layers):
        for array in ("W", "R", "B"):
            weights.append(constant(_gates(lstm, array, i), f"{array}{i}"))
        nodes += [
            make.make_node(
                "LSTM",
                [name, f"W{i}", f"R{i}", f"B{i}", "lengths"],
                [f"directions{i}"],
                name=f"lstm{i}",
                direction="bidirectional",
                hidden_size=width,
            ),
            # (words, directions, sequences, width) to (words, sequences, 2 width)
            make.make_node("Transpose", [f"directions{i}"], [f"words_first{i}"], perm=[0, 2, 1, 3]),
            make.make_node("Reshape", [f"words_first{i}", "shape"], [f"states{i}"]),
        ]
        name = f"states{i}"
    kind = onnx.TensorProto
    inputs = [
        make.make_tensor_value_info("words", kind.FLOAT, ["words", "sequences", lstm.input_size]),
        make.make_tensor_value_info("lengths", kind.INT32, ["sequences"]),
    ]
    output = make.make_tensor_value_info(name, kind.FLOAT, ["words", "sequences", 2 * width])
    graph = make.make_graph(nodes, "bilstm", inputs, [output], weights)
    model = make.make_model(graph, opset_imports=[make.make_opsetid("", OPSET)], ir_version=8)
    data: bytes = model.SerializeToString()
    return quantize(data) if precision == "int8" else data


def _gates(lstm: Any, array: str, layer: int) -> NDArray[Any]:
    """Weights of both directions of a layer, in ONNX's order of gates: PyTorch has input, forget, cell, output, and
    ONNX input, output, forget, cell."""
    parts = {"W": ["weight_ih"], "R": ["weight_hh"], "B": ["bias_ih", "bias_hh"]}[array]
    directions = []
    for direction in ("", "_reverse"):
        arrays = [getattr(lstm, f"{part}_l{layer}{direction}").detach().cpu().numpy() for part in parts]
        reordered = [np.concatenate([gates[i] for i in (0, 3, 1, 2)]) for gates in (np.split(own, 4) for own in arrays)]
        directions.append(np.concatenate(reordered))
    return np.stack(directions)


def quantize(graph: bytes) -> bytes:
    """The graph with int8 weights, one scale for each column, so that no output depends on what else is in a batch.

    What a linear layer multiplies is rounded too, each row by its own largest value: one scale for all of a batch, as
    ONNX Runtime's dynamic quantization has it, would tie a sentence's tree to its neighbours. Embeddings are looked up
    and LSTMs compute in float32: their weights are int8 for size.
    """
    onnx = require("onnx", "parsetag export")
    quantization = require("onnxruntime.quantization", "parsetag export")
    model = onnx.load_from_string(graph)
    _Quantizer(onnx, model.graph).run()
    with tempfile.TemporaryDirectory() as folder, _quiet():
        source, target = Path(folder) / "layers.onnx", Path(folder) / "int8.onnx"
        source.write_bytes(model.SerializeToString())
        quantization.quantize_dynamic(
            source,
            target,
            op_types_to_quantize=["Gather"],
            per_channel=True,
            weight_type=quantization.QuantType.QInt8,
        )
        return target.read_bytes()


class _Quantizer:
    """Rewrites the linear layers and the LSTMs of a graph, in place."""

    def __init__(self, onnx: Any, graph: Any) -> None:
        self.onnx, self.graph = onnx, graph
        self.weights = {array.name: array for array in graph.initializer}
        self.nodes: list[Any] = []
        self.rounded: set[str] = set()  # inputs of linear layers: queries, keys and values share theirs

    def run(self) -> None:
        self.constant("int8_largest", np.float32(127))
        self.constant("int8_least", np.float32(1e-12))  # of a row of zeros
        self.constant("int8_one", np.float32(1))
        self.constant("int8_middle", np.uint8(128))
        for node in list(self.graph.node):
            if node.op_type == "MatMul" and node.input[1] in self.weights:
                self.multiply(node.input[0], node.input[1], node.output[0])
            else:
                if node.op_type == "LSTM":
                    node.input[1:3] = [self.restore(name) for name in node.input[1:3]]
                self.nodes.append(node)
        read = {name for node in self.nodes for name in node.input}
        weights = [array for name, array in self.weights.items() if name in read]
        for name, own in (("node", self.nodes), ("initializer", weights)):
            self.graph.ClearField(name)
            getattr(self.graph, name).extend(own)

    def constant(self, name: str, array: Any) -> str:
        self.weights[name] = self.onnx.numpy_helper.from_array(np.asarray(array), name)
        return name

    def add(self, operation: str, inputs: Sequence[str], output: str, **attributes: Any) -> str:
        self.nodes.append(self.onnx.helper.make_node(operation, inputs, [output], **attributes))
        return output

    def store(self, name: str, axis: int) -> tuple[str, str]:
        """Replace a weight by integers and their scales: one for each place but those along an axis."""
        integers_name, scales_name = f"{name}_int8", f"{name}_scales"
        if integers_name in self.weights:  # two layers share it
            return integers_name, scales_name
        array = self.onnx.numpy_helper.to_array(self.weights[name])
        scales = np.maximum(np.abs(array).max(axis=axis, keepdims=True) / 127, 1e-12).astype(np.float32)
        integers = np.rint(array / scales).astype(np.int8)
        return self.constant(integers_name, integers), self.constant(scales_name, scales)

    def multiply(self, rows: str, weight: str, output: str) -> None:
        """Multiply integers: rows in uint8 about 128, which CPUs multiply fastest with int8."""
        integers, scales = self.store(weight, axis=0)
        if rows not in self.rounded:
            self.rounded.add(rows)
            sizes = self.add("Abs", [rows], f"{rows}_sizes")
            most = self.add("ReduceMax", [sizes], f"{rows}_most", axes=[-1], keepdims=1)
            most = self.add("Max", [most, "int8_least"], f"{rows}_positive")
            self.add("Div", [most, "int8_largest"], f"{rows}_scale")
            scaled = self.add("Div", [rows, f"{rows}_scale"], f"{rows}_scaled")
            self.add("QuantizeLinear", [scaled, "int8_one", "int8_middle"], f"{rows}_uint8")
        product = self.add("MatMulInteger", [f"{rows}_uint8", integers, "int8_middle"], f"{output}_integers")
        product = self.add("Cast", [product], f"{output}_floats", to=self.onnx.TensorProto.FLOAT)
        product = self.add("Mul", [product, f"{rows}_scale"], f"{output}_rows")
        self.add("Mul", [product, scales], output)

    def restore(self, weight: str) -> str:
        """Make floats of an LSTM's weights, (directions, gates, inputs), once: when a session folds constants."""
        integers, scales = self.store(weight, axis=-1)
        floats = self.add("Cast", [integers], f"{weight}_floats", to=self.onnx.TensorProto.FLOAT)
        return self.add("Mul", [floats, scales], f"{weight}_restored")
