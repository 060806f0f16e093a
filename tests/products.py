"""The int8 products of ONNX graphs."""

import numpy as np
import pytest


def count_products(data: bytes) -> int:
    """Count the int8 products of a graph and of those in it, each of which has a zero point of its own."""
    onnx = pytest.importorskip("onnx", reason="onnx is not installed")
    graphs, n_products = [onnx.load_from_string(data).graph], 0
    for graph in graphs:
        graphs += [attribute.g for node in graph.node for attribute in node.attribute if attribute.HasField("g")]
        zeros = [node.input[5] for node in graph.node if node.op_type == "MatMulIntegerToFloat"]
        arrays = {array.name: onnx.numpy_helper.to_array(array) for array in graph.initializer}
        assert len({*zeros}) == len(zeros) and all(arrays[name] == np.int8(0) for name in zeros)
        n_products += len(zeros)
    return n_products
