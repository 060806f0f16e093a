"""Windows, word pieces and batches as spacy-transformers has them; graphs of PyTorch's layers."""

import warnings
from itertools import chain, pairwise
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from hypothesis import example, given, strategies as st
from products import count_products
from spacy.tokens import Doc
from spacy.vocab import Vocab
from thinc.api import Model

from spacy_parsetag.ml import onnx
from spacy_parsetag.ml.graphs import OPSET, export_bilstm, quantize
from spacy_parsetag.ml.lstm import bilstm
from spacy_parsetag.ml.onnx import OnnxShim, _start_session, batch_by_length, onnx_bilstm
from spacy_parsetag.ml.wordpieces import Pieces, Window, align_pieces, cut_windows, windows_of

ort = pytest.importorskip("onnxruntime", reason="onnxruntime is not installed")


def test_columns_of_vectors() -> None:
    """A layer that listens gets its own columns of what the exported transformer pooled in several ways."""
    vectors = np.arange(24, dtype="f").reshape(4, 6)
    tok2vec: Any = Model("vectors", lambda model, docs, is_train: ([vectors], lambda d_vectors: d_vectors))
    model = onnx.build_columns(tok2vec, 2, 5)
    found, backprop = model([Doc(Vocab(), words=["a"] * 4)], is_train=True)
    np.testing.assert_array_equal(found[0], vectors[:, 2:5])
    assert model.get_dim("nO") == 3
    expected = np.zeros_like(vectors)
    expected[:, 2:5] = 1
    np.testing.assert_array_equal(backprop([np.ones((4, 3), dtype="f")])[0], expected)


@pytest.mark.parametrize(
    ("settings", "problem"),
    [
        ({"window": 64}, "window must be at least the stride, 96; got 64"),
        ({"window": 0, "stride": None}, "window must be at least 1; got 0"),
        ({"stride": -1}, "stride must be at least 1; got -1"),
        ({"max_batch_items": 0}, "max_batch_items must be at least 1; got 0"),
    ],
)
def test_settings(settings: dict[str, Any], problem: str) -> None:
    """Between windows that leave gaps, tokens would have no vectors."""
    with pytest.raises(ValueError, match=rf"\[E200\] {problem}"):
        onnx.build_onnx_transformer(Model("pooling", lambda *_: None), **settings)
    for whole in ({"window": None}, {"stride": None}, {"window": 96}):
        onnx.build_onnx_transformer(Model("pooling", lambda *_: None), **whole)
    with pytest.raises(ValueError, match=r"\[E200\] columns must be at least 1; got -3"):
        onnx.build_columns(Model("tok2vec", lambda *_: None), 5, 2)


@given(st.lists(st.integers(0, 40), max_size=4), st.integers(1, 20), st.integers(1, 20))
@example([6], 4, 2)  # the second window ends with the doc
def test_windows(lengths: list[int], window: int, stride: int) -> None:
    getters = pytest.importorskip("spacy_transformers.span_getters", reason="spacy-transformers is not installed")
    docs = [Doc(Vocab(), words=["a"] * n) for n in lengths]
    expected = getters.configure_strided_spans(window, stride)(docs)
    found = windows_of(docs, window, stride, by_sentence=False)
    assert found == [Window(i, span.start, span.end) for i, spans in enumerate(expected) for span in spans]
    whole = windows_of(docs, None, None, by_sentence=False)
    assert whole == [Window(i, 0, n) for i, n in enumerate(lengths) if n]


def test_windows_of_sentences() -> None:
    doc = Doc(Vocab(), words=["a", "b", "c"], sent_starts=[True, False, True])
    assert windows_of([Doc(Vocab()), doc], None, None, by_sentence=True) == [Window(1, 0, 2), Window(1, 2, 3)]
    # spaCy's own advice would put the splitter last, behind the transformer.
    with pytest.raises(ValueError, match=r"E206.*'a b '.*'sentencizer', first=True.*annotating_components"):
        windows_of([Doc(Vocab(), words=["a", "b"])], None, None, by_sentence=True)


def test_alignment() -> None:
    """Two windows that share a token, a piece of two tokens, a token and a doc without pieces."""
    windows = [Window(0, 0, 2), Window(0, 1, 4), Window(1, 0, 2)]
    cut = [([0, 0, 0, 1, 0], [0, 1, 1, 1, 0]), ([0, 0, 0], [0, 2, 0]), ([0, 0], [0, 0])]
    pieces = [Pieces(np.zeros(len(first)), np.asarray(first), np.asarray(n)) for first, n in cut]
    rows, counts = align_pieces(windows, pieces, [4, 2, 0])
    assert counts.tolist() == [2, 2, 1, 0, 1, 1]
    assert rows.tolist() == [1, 2, 3, 6, 6, 10, 10]  # 10: zeros
    rows, counts = align_pieces([], [], [0, 0])
    assert rows.tolist() == counts.tolist() == []
    assert rows.dtype == counts.dtype == np.int64


@given(st.lists(st.sampled_from(["a", "b", "a-b", "b-a-b"]), min_size=1, max_size=60), st.integers(7, 30))
def test_a_window_of_too_many_pieces_becomes_several(words: list[str], max_pieces: int) -> None:
    """Each token has all of its pieces, once, however long the window is."""
    tokenizers = pytest.importorskip("tokenizers", reason="tokenizers is not installed")
    tokenizer = tokenizers.Tokenizer(tokenizers.models.WordLevel({"[CLS]": 0, "[SEP]": 1, "a": 2, "b": 3, "-": 4}))
    tokenizer.pre_tokenizer = tokenizers.pre_tokenizers.Whitespace()
    specials = [("[CLS]", 0), ("[SEP]", 1)]
    tokenizer.post_processor = tokenizers.processors.TemplateProcessing("[CLS] $A [SEP]", None, specials)
    docs = [Doc(Vocab(), words=["b"]), Doc(Vocab(), words=words)]
    windows = windows_of(docs, None, None, by_sentence=False)
    windows, pieces = cut_windows(tokenizer.to_str(), docs, windows, max_pieces)
    assert max(len(piece.ids) for piece in pieces) <= max_pieces
    rows, counts = align_pieces(windows, pieces, [1, len(words)])
    ids = [tokenizer.encode(word).ids[1:-1] for word in ("b", *words)]
    assert np.concatenate([piece.ids for piece in pieces])[rows].tolist() == [*chain.from_iterable(ids)]
    assert counts.tolist() == list(map(len, ids))
    for before, after in pairwise(windows[1:]):  # tokens next to a cut see words on both sides
        assert after.start < before.stop or before.stop - before.start < 8 or after.stop - after.start < 8
    fits = sum(map(len, ids[1:])) + 2 <= max_pieces
    assert fits == (windows[1:] == [Window(1, 0, len(words))])


@given(st.lists(st.integers(1, 50)), st.integers(1, 100))
def test_batches(lengths: list[int], max_items: int) -> None:
    batches = list(batch_by_length(np.asarray(lengths, dtype=np.int64), max_items))
    assert sorted(i for batch in batches for i in batch) == list(range(len(lengths)))
    for batch in batches:
        assert len(batch) == 1 or len(batch) * max(lengths[i] for i in batch) <= max_items
    for before, after in pairwise(batches):
        assert max(lengths[i] for i in before) <= min(lengths[i] for i in after)


def test_batches_keep_the_order_of_equal_lengths() -> None:
    batches = batch_by_length(np.tile([5, 3], 50), 20)
    assert [*chain.from_iterable(batch.tolist() for batch in batches)] == [*range(1, 100, 2), *range(0, 100, 2)]


@pytest.mark.parametrize("asked, alone, in_worker", [(None, 0, 1), ("", 0, 1), ("3", 3, 3), ("3,2", 3, 3)])
def test_threads(asked: str | None, alone: int, in_worker: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """As many as OMP_NUM_THREADS says, as OpenMP reads it; else all (0) in the main process, one in a worker."""
    pytest.importorskip("torch", reason="torch is not installed")
    monkeypatch.delenv("OMP_NUM_THREADS", raising=False)
    if asked is not None:
        monkeypatch.setenv("OMP_NUM_THREADS", asked)
    graph = export_bilstm(bilstm(1, 4).initialize([np.zeros((1, 4), dtype="f")]).shims[0]._model, "float32")
    for parent, expected in ((None, alone), (object(), in_worker)):
        monkeypatch.setattr(onnx, "parent_process", lambda parent=parent: parent)
        session = onnx._start_session(graph, on_gpu=False)
        assert session.get_session_options().intra_op_num_threads == expected


@pytest.mark.parametrize(("precision", "most"), [("float32", 1e-5), ("int8", 0.02)])
@pytest.mark.parametrize("depth", [1, 2, 3])
def test_bilstm(depth: int, precision: Any, most: float) -> None:
    pytest.importorskip("torch", reason="torch is not installed")
    pytest.importorskip("onnx", reason="onnx is not installed")
    rng = np.random.default_rng(0)
    layer = bilstm(depth, 24)
    layer.initialize(X=[rng.normal(size=(2, 40)).astype("f")])
    exported = onnx_bilstm()
    for dim in ("nI", "nO"):
        exported.set_dim(dim, layer.get_dim(dim))
    graph = export_bilstm(layer.shims[0]._model, precision)
    assert count_products(graph) == (3 * depth if precision == "int8" else 0)
    exported.shims[0] = OnnxShim(graph)
    again = onnx_bilstm().from_bytes(exported.to_bytes())
    for lengths in ((7, 1, 0, 30, 7, 2), (5, 5, 5), (4,), (1, 1), (0,), (), (300, 600)):
        X = [rng.normal(size=(n, 40)).astype("f") for n in lengths]
        for model in (exported, exported.copy(), again):
            alone = [model.predict([x])[0] for x in X]
            for found, by_itself, expected in zip(model.predict(X), alone, layer.predict(X), strict=True):
                np.testing.assert_allclose(found, expected, atol=most)
                np.testing.assert_allclose(found, by_itself, atol=1e-6)
    with pytest.raises(ValueError, match="E204"):
        exported.begin_update(X)


def test_int8_rows_are_rounded_by_themselves() -> None:
    """A linear layer gives a row the same output whatever stands beside it, and a row of zeros only zeros."""
    onnx = pytest.importorskip("onnx", reason="onnx is not installed")
    make, kind = onnx.helper, onnx.TensorProto.FLOAT
    rng = np.random.default_rng(0)
    weights = rng.normal(size=(40, 24)).astype("f")
    nodes = [make.make_node("MatMul", ["X", "W"], ["A"]), make.make_node("MatMul", ["A", "V"], ["Y"]),
             make.make_node("MatMul", ["X", "W"], ["B"])]  # fmt: skip
    graph = make.make_graph(
        nodes,
        "layers",
        [make.make_tensor_value_info("X", kind, ["windows", "rows", 40])],
        [make.make_tensor_value_info(name, kind, ["windows", "rows", width]) for name, width in (("Y", 24), ("B", 24))],
        [onnx.numpy_helper.from_array(array, name) for array, name in ((weights, "W"), (np.eye(24, dtype="f"), "V"))],
    )
    model = make.make_model(graph, opset_imports=[make.make_opsetid("", OPSET)], ir_version=8)
    low = quantize(model.SerializeToString())
    assert count_products(low) == 3
    session = _start_session(low, on_gpu=False)
    X = rng.normal(size=(3, 5, 40)).astype("f")
    X[1] *= 1000
    X[2, 0] = 0
    found, again = session.run(None, {"X": X})
    expected = X @ weights
    for outputs in (found, again):
        assert (np.abs(outputs - expected) <= 0.02 * np.abs(expected).max(axis=(1, 2), keepdims=True)).all()
    np.testing.assert_array_equal(found[2, 0], 0)
    for i in range(3):
        alone, _ = session.run(None, {"X": X[i : i + 1]})
        np.testing.assert_array_equal(alone[0], found[i])


def test_products_that_are_clipped(monkeypatch: pytest.MonkeyPatch) -> None:
    """A session asks for exact products where the CPU clips them, and only there, for they cost time."""
    helper = pytest.importorskip("onnx", reason="onnx is not installed").helper
    sizes = {"A": (2, [2, 64]), "B": (3, [64, 32]), "C": (6, [2, 32])}  # uint8, int8, int32
    a, b, c = (helper.make_tensor_value_info(name, *size) for name, size in sizes.items())
    graph = helper.make_graph([helper.make_node("MatMulInteger", ["A", "B"], ["C"])], "g", [a, b], [c])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 10)], ir_version=8)
    assert model.SerializeToString() == onnx._PRODUCT
    made: list[dict[str, Any]] = []
    for product in (64 * 255 * 127, 64 * 2**14):
        session = SimpleNamespace(run=lambda *_, product=product: [np.full((2, 32), product)])
        fake = SimpleNamespace(InferenceSession=lambda *_, session=session, **given: made.append(given) or session)
        with monkeypatch.context() as patch:
            patch.setattr(onnx, "require", lambda *_, fake=fake: fake)
            assert onnx.clips_products.__wrapped__() is (product != 64 * 255 * 127)
    assert made == [{"providers": ["CPUExecutionProvider"]}] * 2  # which a build for GPUs wants to be told
    cpuinfo = Path("/proc/cpuinfo")
    flags = cpuinfo.read_text().split() if cpuinfo.exists() else []
    if "avx2" in flags:
        assert onnx.clips_products() is not bool({"avx512_vnni", "avx_vnni"} & {*flags})
    entries: list[tuple[str, str]] = []
    options = SimpleNamespace(add_session_config_entry=lambda *entry: entries.append(entry))
    runtime = SimpleNamespace(
        SessionOptions=lambda: options, InferenceSession=lambda *_, **__: None, get_available_providers=lambda: []
    )
    monkeypatch.setattr(onnx, "require", lambda *_: runtime)
    for clips in (False, True):
        entries.clear()
        monkeypatch.setattr(onnx, "clips_products", lambda clips=clips: clips)
        _start_session(b"", on_gpu=False)
        assert entries == [("session.x64quantprecision", "1")] * clips


def test_where_a_graph_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    """On the GPU if the model is there and ONNX Runtime can, else there is a warning; on a CPU nothing is asked for."""
    cpu, gpu = "CPUExecutionProvider", "CUDAExecutionProvider"
    made: list[list[str]] = []
    session = SimpleNamespace()
    runtime = SimpleNamespace(
        SessionOptions=lambda: SimpleNamespace(add_session_config_entry=lambda *_: None),
        InferenceSession=lambda graph, options, providers, **_: made.append(providers) or session,
    )
    monkeypatch.setattr(onnx, "require", lambda *_: runtime)
    monkeypatch.setattr(onnx, "clips_products", lambda: True)
    n_warnings = []
    for available, broken in (([cpu], ""), ([gpu, cpu], ""), ([gpu, cpu], gpu)):
        runtime.get_available_providers = lambda available=available: available
        session.get_providers = lambda broken=broken: [name for name in made[-1] if name != broken]
        for on_gpu in (False, True):
            with warnings.catch_warnings(record=True) as caught:
                onnx._start_session(b"", on_gpu=on_gpu)
            n_warnings.append(sum("[W201]" in str(each.message) for each in caught))
    assert made == [[cpu], [cpu], [cpu], [gpu, cpu], [cpu], [gpu, cpu]]
    assert n_warnings == [0, 1, 0, 0, 0, 1]


def test_without_a_graph() -> None:
    for attempt in (onnx_bilstm().initialize, lambda: onnx_bilstm().predict([np.zeros((1, 4), dtype="f")])):
        with pytest.raises(ValueError, match="E203"):
            attempt()
