"""Layers that predict with ONNX Runtime, and need neither PyTorch nor transformers. `graphs.py` makes their graphs."""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable, Iterator, Sequence
from functools import cache
from multiprocessing import parent_process
from typing import Any

import numpy as np
from numpy.typing import NDArray
from spacy.tokens import Doc
from thinc.api import Model, Shim, chain
from thinc.types import Floats2d, Ragged

from ..compat import require, threads_asked
from ..errors import Errors, Warnings
from .wordpieces import align_pieces, cut_windows, windows_of
from .words import Arrays, SequenceModel, WithSettings, check_sizes, cut

# Words with their padding that an LSTM reads at once. Its states should stay in a CPU's cache.
_LSTM_ITEMS = 512
# A graph of one MatMulInteger of (2, 64) uint8 and (64, 32) int8, as `onnx.helper` makes it: to predict takes no onnx.
_PRODUCT = bytes.fromhex(
    "08083a5c0a180a01410a0142120143220d4d61744d756c496e74656765721201675a130a0141120e0a0c080212080a0208020a02"
    "08405a130a0142120e0a0c080312080a0208400a02082062130a0143120e0a0c080612080a0208020a02082042040a00100a"
)


class OnnxShim(Shim):
    """A graph and the session that runs it, for a Thinc model. It is saved, copied and pickled as the graph.

    A session is made when it is first needed, once in each process, since its threads do not survive a fork. Python
    threads may share it.

    graph (bytes): The graph, empty until it is loaded.
    """

    def __init__(self, graph: bytes = b"") -> None:
        super().__init__(graph)
        # The session, its process, and whether it runs on a GPU: one tuple, which threads that share it read at once.
        self._session: tuple[Any, tuple[int, bool] | None] = (None, None)

    def __reduce__(self) -> tuple[Any, ...]:
        return OnnxShim, (self._model,)

    def run(self, inputs: dict[str, NDArray[Any]], *, on_gpu: bool) -> NDArray[Any]:
        """Compute the graph's only output from named arrays. Arrays that are not inputs of the graph are ignored.

        RAISES (ImportError): Without ONNX Runtime, with the install line.
        """
        place = (os.getpid(), on_gpu)
        session, started_in = self._session
        if started_in != place:
            session = _start_session(self._model, on_gpu=on_gpu)
            self._session = (session, place)
        names = [node.name for node in session.get_inputs()]
        (output,) = session.run(None, {name: inputs[name] for name in names})
        return np.asarray(output)

    def to_device(self, device_type: str, device_id: int) -> None:
        """Do nothing: each call of `run` says whether to compute on a GPU."""

    def to_bytes(self) -> bytes:
        graph: bytes = self._model
        return graph

    def from_bytes(self, data: bytes) -> OnnxShim:
        self._model = data
        self._session = (None, None)
        return self


def _start_session(graph: bytes, *, on_gpu: bool) -> Any:
    runtime = require("onnxruntime", "a pipeline exported to ONNX")
    options = runtime.SessionOptions()
    # OMP_NUM_THREADS sets the number, as for NumPy. Without it a worker process gets 1, others 0: one for each core.
    options.intra_op_num_threads = threads_asked() or (0 if parent_process() is None else 1)
    # This optimizer fuses a sum and a normalization into one operation. On a CPU the two are faster.
    disabled = ["SkipLayerNormFusion"]
    if clips_products():
        options.add_session_config_entry("session.x64quantprecision", "1")  # takes up to 2.6 times as long
        disabled.append("EliminateIdentity")  # exact products need a weight for each layer (`_Quantizer.multiply`)
    preferred = ["CUDAExecutionProvider", "CPUExecutionProvider"] if on_gpu else ["CPUExecutionProvider"]
    providers = [name for name in preferred if name in runtime.get_available_providers()]
    session = runtime.InferenceSession(graph, options, providers, disabled_optimizers=disabled)
    if on_gpu and "CUDAExecutionProvider" not in session.get_providers():  # not there, or it could not start
        warnings.warn(Warnings.W201, stacklevel=1)
    return session


@cache
def clips_products() -> bool:
    """Tell whether ONNX Runtime clips great int8 products: x86 CPUs without VNNI add pairs of them in 16 bits."""
    runtime = require("onnxruntime", "a pipeline exported to ONNX")
    session = runtime.InferenceSession(_PRODUCT, providers=["CPUExecutionProvider"])  # GPU builds ask for a name
    (product,) = session.run(None, {"A": np.full((2, 64), 255, np.uint8), "B": np.full((64, 32), 127, np.int8)})
    return bool((product != 64 * 255 * 127).any())


def build_onnx_transformer(
    pooling: Model[Ragged, Floats2d],
    window: int | None = 128,
    stride: int | None = 96,
    by_sentence: bool = False,
    max_batch_items: int = 512,
) -> Model[list[Doc], Arrays]:
    """An exported transformer with its tokenizer: spacy-parsetag.OnnxTransformer.v1.

    It gives the vectors that spacy-transformers gave. Its graph and its tokenizer come with the weights; `parsetag
    export` writes them. It cannot be trained. Windows of all docs of a batch are sorted by length, so that little is
    padding.

    pooling (Model[Ragged, Floats2d]): The layer that makes one vector of the vectors of a word's pieces.
    window (int | None): Tokens that the transformer sees at once; None for a whole doc.
    stride (int | None): Tokens from the start of a window to that of the next.
    by_sentence (bool): Each sentence is a window of its own; one of more pieces than the transformer reads at once
        becomes several.
    max_batch_items (int): Pieces with their padding that it reads at once. On a GPU some thousand; a CPU is fastest
        with few, which stay in its cache.
    RAISES (ValueError): If a number is below 1, or windows leave gaps between them.
    """
    check_sizes(window=window, stride=stride, max_batch_items=max_batch_items)
    if window is not None and stride is not None and stride > window:
        raise ValueError(Errors.E200.format(what="window", least=f"the stride, {stride}", value=window))
    return Model(
        "onnx_transformer",
        WithSettings(_encode, window=window, stride=stride, by_sentence=by_sentence, max_batch_items=max_batch_items),
        init=_init,
        layers=[pooling],
        dims={"nO": None},
        attrs={
            "tokenizer": "",  # tokenizer.json
            "width": 0,  # of its vectors, before pooling
            "max_pieces": 0,
            "pad_id": 0,
        },
        shims=[OnnxShim()],
    )


def onnx_bilstm() -> SequenceModel:
    """An exported BiLSTM: spacy-parsetag.OnnxBiLSTM.v1. It gives what spacy-parsetag.TorchBiLSTM.v1 gave.

    Input: (words, nI) arrays. Output: (words, nO) arrays. It cannot be trained.
    """
    return Model("onnx_bilstm", _read_sequences, init=_init, dims={"nI": None, "nO": None}, shims=[OnnxShim()])


def build_columns(tok2vec: Model[list[Doc], Arrays], start: int, stop: int) -> Model[list[Doc], Arrays]:
    """Take some columns of a tok2vec's vectors: spacy-parsetag.Columns.v1.

    If the listeners to a transformer pool in several ways, the exported one gives the vectors of all ways side by side.

    RAISES (ValueError): If there are none between `start` and `stop`.
    """
    check_sizes(columns=stop - start)
    layer: Model[Any, Any] = Model("columns", WithSettings(_columns, start=start, stop=stop), dims={"nO": stop - start})
    return chain(tok2vec, layer)


def _columns(
    model: SequenceModel, X: Arrays, is_train: bool, *, start: int, stop: int
) -> tuple[Arrays, Callable[[Arrays], Arrays]]:
    def backprop(dY: Arrays) -> Arrays:
        dX: Arrays = [model.ops.alloc2f(*x.shape) for x in X]
        for dx, dy in zip(dX, dY, strict=True):
            dx[:, start:stop] = dy
        return dX

    return [x[:, start:stop] for x in X], backprop


def _init(model: Model[Any, Any], X: Any = None, Y: Any = None) -> None:
    _shim_of(model)


def _shim_of(model: Model[Any, Any], is_train: bool = False) -> OnnxShim:
    """Return the shim with the graph of a layer. Raise an error if the layer is to be trained, or has no graph."""
    (shim,) = model.shims
    if is_train:
        raise ValueError(Errors.E204)
    if not isinstance(shim, OnnxShim) or not shim.to_bytes():
        raise ValueError(Errors.E203)
    return shim


def _encode(
    model: Model[list[Doc], Arrays],
    docs: list[Doc],
    is_train: bool,
    *,
    window: int | None,
    stride: int | None,
    by_sentence: bool,
    max_batch_items: int,
) -> tuple[Arrays, Callable[[Arrays], list[Doc]]]:
    shim = _shim_of(model, is_train)
    attrs, pooling = model.attrs, model.layers[0]
    windows = windows_of(docs, window, stride, by_sentence)
    windows, pieces = cut_windows(attrs["tokenizer"], docs, windows, attrs["max_pieces"])
    vectors = _encode_windows(model, shim, [piece.ids for piece in pieces], max_batch_items)
    lengths = [len(doc) for doc in docs]
    rows, counts = align_pieces(windows, pieces, lengths)
    aligned = Ragged(vectors[model.ops.xp.asarray(rows)], model.ops.xp.asarray(counts, dtype="i"))
    return cut(pooling.predict(aligned), lengths), lambda dY: []


def _encode_windows(
    model: Model[Any, Any], shim: OnnxShim, sequences: Sequence[NDArray[Any]], max_items: int
) -> Floats2d:
    """Compute the vectors of all pieces of all windows, in order: (pieces + 1, width), the last row zeros."""
    lengths = np.asarray([len(ids) for ids in sequences])
    starts = np.cumsum(lengths) - lengths
    vectors = np.zeros((int(lengths.sum()) + 1, model.attrs["width"]), dtype="f")
    for batch in batch_by_length(lengths, max_items):
        ids = np.full((len(batch), lengths[batch].max()), model.attrs["pad_id"], dtype=np.int64)
        mask = np.arange(ids.shape[1]) < lengths[batch][:, None]
        ids[mask] = np.concatenate([sequences[i] for i in batch])
        inputs = {"input_ids": ids, "attention_mask": mask.astype(np.int64), "token_type_ids": np.zeros_like(ids)}
        output = shim.run(inputs, on_gpu=model.ops.device_type == "gpu")  # (windows, pieces, width)
        for i, of_window in zip(batch, output, strict=True):
            vectors[starts[i] : starts[i] + lengths[i]] = of_window[: lengths[i]]
    on_device: Floats2d = model.ops.xp.asarray(vectors)
    return on_device


def batch_by_length(lengths: NDArray[Any], max_items: int) -> Iterator[NDArray[Any]]:
    """Group the indices of sequences of like length, so that a group, padded to its longest, has at most `max_items`.

    A longer sequence is a group by itself.
    """
    order = np.argsort(lengths, kind="stable")
    start = 0
    for stop in range(1, len(order) + 1):
        if stop == len(order) or (stop + 1 - start) * lengths[order[stop]] > max_items:
            yield order[start:stop]
            start = stop


def _read_sequences(model: SequenceModel, X: Arrays, is_train: bool) -> tuple[Arrays, Callable[[Arrays], Arrays]]:
    shim = _shim_of(model, is_train)
    lengths = np.asarray([len(x) for x in X])
    arrays: list[Any] = [model.ops.to_numpy(x) for x in X]
    outputs: list[Any] = [np.zeros((0, model.get_dim("nO")), dtype="f")] * len(X)
    present = np.flatnonzero(lengths)
    for batch in (present[group] for group in batch_by_length(lengths[present], _LSTM_ITEMS)):
        padded = np.zeros((lengths[batch].max(), len(batch), model.get_dim("nI")), dtype="f")  # (words, sequences, nI)
        for column, i in enumerate(batch):
            padded[: lengths[i], column] = arrays[i]
        inputs = {"words": padded, "lengths": lengths[batch].astype(np.int32)}
        output = shim.run(inputs, on_gpu=model.ops.device_type == "gpu")
        for column, i in enumerate(batch):
            outputs[i] = output[: lengths[i], column]
    return [model.ops.asarray2f(y) for y in outputs], lambda dY: []
