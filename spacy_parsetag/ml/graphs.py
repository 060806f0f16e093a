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
_DOMAIN = "com.microsoft"  # of the operators that ONNX Runtime adds to ONNX's
_TOLERANCE = 1e-3
# ONNX's LSTM is fastest on GPUs, but ONNX Runtime computes it in floats only. So the int8 graph computes the gates of
# all words in a linear layer, and a Scan computes the next states from the previous ones and the gates of a word.
_BILSTM = {
    "float32": """
        directions{i} = LSTM <direction = "bidirectional", hidden_size = {width}> ({words}, W{i}, R{i}, B{i}, lengths)
        by_word{i} = Transpose <perm = [0, 2, 1, 3]> (directions{i})
        shape{i} = Constant <value = int64[3] {{0, 0, {two_widths}}}> ()
        states{i} = Reshape (by_word{i}, shape{i})
    """,
    "int8": """
        number{i} = Shape (lengths)
        width{i} = Constant <value = int64[1] {{{width}}}> ()
        size{i} = Concat <axis = 0> (number{i}, width{i})
        start{i} = ConstantOfShape (size{i})
        until{i} = Cast <to = 7> (lengths)
        products{i} = MatMul ({words}, W{i})
        gates{i} = Add (products{i}, B{i})
        forth{i}, from_last{i} = Split <axis = 2> (gates{i})
        back{i} = ReverseSequence <time_axis = 0, batch_axis = 1> (from_last{i}, until{i})
        h_forth{i}, c_forth{i}, y_forth{i} = Scan <num_scan_inputs = 1, body = {step}> (start{i}, start{i}, forth{i})
        h_back{i}, c_back{i}, y_back{i} = Scan <num_scan_inputs = 1, body = {step}> (start{i}, start{i}, back{i})
        y_from_last{i} = ReverseSequence <time_axis = 0, batch_axis = 1> (y_back{i}, until{i})
        states{i} = Concat <axis = 2> (y_forth{i}, y_from_last{i})
    """,
}
_STEP = """
step (float[s, w] h, float[s, w] c, float[s, g] gates) => (float[s, w] next_h, float[s, w] next_c, float[s, w] y) {
    products = MatMul (h, R)
    sums = Add (products, gates)
    i, o, f, z = Split <axis = 1> (sums)
    input = Sigmoid (i)
    output = Sigmoid (o)
    forget = Sigmoid (f)
    new = Tanh (z)
    written = Mul (input, new)
    kept = Mul (forget, c)
    next_c = Add (written, kept)
    shown = Tanh (next_c)
    next_h = Mul (output, shown)
    y = Identity (next_h)
}"""


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

    target = io.BytesIO()
    axes = {0: "windows", 1: "pieces"}
    with torch.no_grad(), _on_cpu(encoder), _quiet():
        layer = LastLayer().eval()
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
        for shape in ((1, 5), (4, 33)):  # other shapes than that of the sample that was exported
            sample = _sample(encoder.config, shape)
            vectors = OnnxShim(graph).run(sample, on_gpu=False)
            expected = layer(*(torch.from_numpy(sample[name]) for name in inputs)).numpy()
            difference = float(np.abs(vectors - expected)[sample["attention_mask"] > 0].max())
            if not difference < _TOLERANCE:
                raise ValueError(Errors.E205.format(kind=encoder.config.model_type, difference=difference))
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
def _on_cpu(encoder: Any) -> Iterator[None]:
    """Have a module predict on the CPU, and leave it as it was."""
    device, training = encoder.device, encoder.training
    encoder.eval().to("cpu")
    try:
        yield
    finally:
        encoder.train(training).to(device)


@contextmanager
def _quiet() -> Iterator[None]:
    """Silence PyTorch, which warns of each place where a graph might depend on the sample, and of a newer exporter."""
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
    int8 = precision == "int8"
    width, two_widths = lstm.hidden_size, 2 * lstm.hidden_size
    words, layers = "words", ""
    weights: dict[str, NDArray[Any]] = {}
    of_steps: list[dict[str, NDArray[Any]]] = []  # a Scan's own weights
    for i in range(lstm.num_layers):
        W, R, B = (_gates(lstm, array, i) for array in "WRB")
        if int8:
            weights |= {f"W{i}": np.concatenate(list(W)).T, f"B{i}": np.add(*np.split(B, 2, axis=1)).ravel()}
            of_steps += [{"R": of_direction.T} for of_direction in R]
        else:
            weights |= {f"W{i}": W, f"R{i}": R, f"B{i}": B}
        layers += _BILSTM[precision].format(i=i, words=words, width=width, two_widths=two_widths, step=_STEP)
        words = f"states{i}"
    model = onnx.parser.parse_model(
        f"""<ir_version: 8, opset_import: ["": {OPSET}]>
        bilstm (float[words, sequences, {lstm.input_size}] words, int32[sequences] lengths)
        => (float[words, sequences, {two_widths}] {words}) {{ {layers} }}"""
    )
    steps = [body for node in model.graph.node for body in _bodies(node)]
    for graph, arrays in zip([model.graph, *steps], [weights, *of_steps], strict=True):
        graph.initializer.extend(onnx.numpy_helper.from_array(np.ascontiguousarray(a), n) for n, a in arrays.items())
    data: bytes = model.SerializeToString()
    return quantize(data) if int8 else data


def _bodies(node: Any) -> list[Any]:
    """The graphs that a Scan or another such node runs."""
    return [attribute.g for attribute in node.attribute if attribute.HasField("g")]


def _gates(lstm: Any, array: str, layer: int) -> NDArray[Any]:
    """Weights of both directions of a layer, in ONNX's order of gates: PyTorch has input, forget, cell, output, and
    ONNX input, output, forget, cell."""
    parts = {"W": ["weight_ih"], "R": ["weight_hh"], "B": ["bias_ih", "bias_hh"]}[array]
    directions = []
    for direction in ("", "_reverse"):
        arrays = [getattr(lstm, f"{part}_l{layer}{direction}").detach().cpu().numpy() for part in parts]
        split = (np.split(weights, 4) for weights in arrays)
        reordered = [np.concatenate([gates[i] for i in (0, 3, 1, 2)]) for gates in split]
        directions.append(np.concatenate(reordered))
    return np.stack(directions)


def quantize(graph: bytes) -> bytes:
    """Round the weights of a graph to int8, with one scale for each column.

    The inputs of linear layers are rounded too, each row by its own largest value. So no output depends on the rest of
    the batch; with one scale for a whole batch, as in ONNX Runtime's dynamic quantization, the tree of a sentence would
    depend on its neighbours. Embeddings are only looked up: their weights are int8 to save space.
    """
    onnx = require("onnx", "parsetag export")
    quantization = require("onnxruntime.quantization", "parsetag export")
    model = onnx.load_from_string(graph)
    _Quantizer(onnx, model.graph).run()
    model.opset_import.append(onnx.helper.make_opsetid(_DOMAIN, 1))
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
    """Rewrites the linear layers of a graph and of those in it, in place."""

    def __init__(self, onnx: Any, graph: Any) -> None:
        self.onnx, self.graph = onnx, graph
        self.weights = {array.name: array for array in graph.initializer}
        self.nodes: list[Any] = []
        self.rounded: set[str] = set()  # inputs of linear layers: queries, keys and values share theirs
        self.multiplied: set[str] = set()  # weights of linear layers

    def run(self) -> None:
        self.constant("int8_largest", np.float32(127))
        self.constant("int8_least", np.float32(1e-12))  # of a row of zeros
        self.constant("int8_one", np.float32(1))
        self.constant("int8_middle", np.uint8(128))
        for node in list(self.graph.node):
            for body in _bodies(node):
                _Quantizer(self.onnx, body).run()
            if node.op_type == "MatMul" and node.input[1] in self.weights:
                self.multiply(node.input[0], node.input[1], node.output[0])
            else:
                self.nodes.append(node)
        read = {name for node in self.nodes for name in node.input}
        weights = [array for name, array in self.weights.items() if name in read]
        for field, items in (("node", self.nodes), ("initializer", weights)):
            self.graph.ClearField(field)
            getattr(self.graph, field).extend(items)

    def constant(self, name: str, array: Any) -> str:
        self.weights[name] = self.onnx.numpy_helper.from_array(np.asarray(array), name)
        return name

    def add(self, operation: str, inputs: Sequence[str], output: str, **attributes: Any) -> str:
        self.nodes.append(self.onnx.helper.make_node(operation, inputs, [output], **attributes))
        return output

    def store(self, name: str) -> tuple[str, str]:
        """Replace a weight by integers and their scales, one for each column."""
        integers_name, scales_name = f"{name}_int8", f"{name}_scales"
        if integers_name not in self.weights:  # else two layers share it
            array = self.onnx.numpy_helper.to_array(self.weights[name])
            scales = np.maximum(np.abs(array).max(axis=0) / 127, 1e-12).astype(np.float32)
            self.constant(integers_name, np.rint(array / scales).astype(np.int8))
            self.constant(scales_name, scales)
        return integers_name, scales_name

    def multiply(self, rows: str, weight: str, output: str) -> None:
        """Multiply rows by a weight in integers: uint8 rows with the zero point 128 are fastest with int8 on CPUs."""
        integers, scales = self.store(weight)
        if rows not in self.rounded:
            self.rounded.add(rows)
            sizes = self.add("Abs", [rows], f"{rows}_sizes")
            most = self.add("ReduceMax", [sizes], f"{rows}_most", axes=[-1], keepdims=1)
            most = self.add("Max", [most, "int8_least"], f"{rows}_positive")
            self.add("Div", [most, "int8_largest"], f"{rows}_scale")
            inverse = self.add("Div", ["int8_largest", most], f"{rows}_inverse")
            scaled = self.add("Mul", [rows, inverse], f"{rows}_scaled")
            self.add("QuantizeLinear", [scaled, "int8_one", "int8_middle"], f"{rows}_uint8")
        # For exact products on x86 CPUs without VNNI ONNX Runtime rewrites the weight and the zero point of each layer.
        # It fails at one that another layer shares, and takes an Identity for a weight of its own. Versions before 1.30
        # end the process if there is no zero point.
        if integers in self.multiplied:
            integers = self.add("Identity", [integers], f"{output}_int8")
        self.multiplied.add(integers)
        zero = self.constant(f"{output}_zero", np.int8(0))
        factors = [f"{rows}_uint8", integers, "int8_one", scales, "int8_middle", zero]
        product = self.add("MatMulIntegerToFloat", factors, f"{output}_columns", domain=_DOMAIN)
        self.add("Mul", [product, f"{rows}_scale"], output)
