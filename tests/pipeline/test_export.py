"""Pipelines exported to ONNX give what they gave with PyTorch, and do without it."""

import json
import pickle
import re
import subprocess
import sys
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import spacy
from spacy.language import Language
from spacy.util import load_model_from_config
from test_transformer import make_examples, make_nlp
from tiny import spans_of

from spacy_parsetag.ml import onnx
from spacy_parsetag.pipeline import export
from spacy_parsetag.pipeline.export import export_pipeline

for package in ("torch", "transformers", "spacy_transformers", "onnx", "onnxruntime", "tokenizers"):
    pytest.importorskip(package, reason=f"{package} is not installed")

TEXTS = [
    "She enjoys reading papers.",
    "the  mat\n\n (badly) \n",
    "",
    "\n",
    "Ünïcödé 日本 🙂 it's don't ... a-b",
    " ".join(["reading papers"] * 30),
    "x" * 80,
    "She enjoys papers. The old dog sings. Kim barked",
]
SAMPLE = ["She enjoys reading papers .", "The old dog sings ( badly ) , and barked", "the the the"] * 20
LAST: dict[str, Any] = {"@layers": "spacy-parsetag.LastSubword.v1"}
MEAN: dict[str, Any] = {"@layers": "reduce_mean.v1"}


def listener(pooling: dict[str, Any]) -> dict[str, Any]:
    name = "spacy-transformers.TransformerListener.v1"
    return {"@architectures": name, "upstream": "transformer", "grad_factor": 1.0, "pooling": pooling}


def byte_pieces(path: Path) -> Any:
    import tokenizers

    tokenizer = tokenizers.ByteLevelBPETokenizer(add_prefix_space=False)
    specials = ["<s>", "<pad>", "</s>", "<unk>", "<mask>", "[CLS]", "[SEP]", "[PAD]", "[UNK]", "[MASK]"]
    tokenizer.train_from_iterator(SAMPLE, vocab_size=400, special_tokens=specials, show_progress=False)
    tokenizer.save_model(str(path))
    return {"vocab_file": str(path / "vocab.json"), "merges_file": str(path / "merges.txt")}


def sentence_pieces(path: Path) -> Any:
    import tokenizers

    tokenizer = tokenizers.SentencePieceUnigramTokenizer()
    specials = ["<s>", "<pad>", "</s>", "<unk>", "<mask>"]
    tokenizer.train_from_iterator(
        SAMPLE, vocab_size=60, special_tokens=specials, unk_token="<unk>", show_progress=False
    )
    tokenizer._tokenizer.post_processor = tokenizers.processors.TemplateProcessing(
        single="<s> $A </s>", special_tokens=[("<s>", 0), ("</s>", 2)]
    )
    tokens = {"bos_token": "<s>", "pad_token": "<pad>", "eos_token": "</s>", "unk_token": "<unk>"}
    return {"tokenizer_object": tokenizer._tokenizer, **tokens}


def word_pieces(path: Path) -> Any:
    words = ["<s>", "<pad>", "</s>", "[UNK]", "<mask>", *"abcdefghijklmnopqrstuvwxyz", "the", "##ing", "read", "pap"]
    (path / "vocab.txt").write_text("\n".join([*words, *(f"##{c}" for c in "abcdeghilmnoprstuy")]), encoding="utf8")
    return {"vocab_file": str(path / "vocab.txt")}


# Model, tokenizer, what makes its vocabulary, and settings beyond the usual ones.
FAMILIES: dict[str, tuple[str, str, Callable[[Path], Any], dict[str, Any]]] = {
    "roberta": ("Roberta", "RobertaTokenizerFast", byte_pieces, {"max_position_embeddings": 130}),
    "mpnet": ("MPNet", "MPNetTokenizerFast", word_pieces, {"max_position_embeddings": 130}),
    "xlm-roberta": ("XLMRoberta", "PreTrainedTokenizerFast", sentence_pieces, {"max_position_embeddings": 130}),
    "deberta": (
        "Deberta",
        "DebertaTokenizerFast",
        byte_pieces,
        {"relative_attention": True, "pos_att_type": ["c2p", "p2c"], "max_relative_positions": 16},
    ),
    "deberta-v3": (
        "DebertaV2",
        "PreTrainedTokenizerFast",
        sentence_pieces,
        {
            "relative_attention": True,
            "pos_att_type": ["p2c", "c2p"],
            "position_buckets": 8,
            "norm_rel_ebd": "layer_norm",
            "share_att_key": True,
            "position_biased_input": False,
        },
    ),
    "electra": ("Electra", "ElectraTokenizerFast", word_pieces, {"embedding_size": 16}),
    "distilbert": ("DistilBert", "DistilBertTokenizerFast", word_pieces, {}),
}


def make_encoder(path: Path, family: str) -> Path:
    import torch
    import transformers

    model, tokenizer_name, make_vocabulary, settings = FAMILIES[family]
    torch.manual_seed(0)
    tokenizer = getattr(transformers, tokenizer_name)(**make_vocabulary(path), model_max_length=120)
    tokenizer.save_pretrained(path)
    size = {"hidden_size": 32, "num_hidden_layers": 2, "num_attention_heads": 2, "intermediate_size": 64}
    if family == "distilbert":
        size = {"dim": 32, "n_layers": 2, "n_heads": 2, "hidden_dim": 64}
    ids = {"vocab_size": len(tokenizer), "pad_token_id": tokenizer.pad_token_id}
    config = getattr(transformers, f"{model}Config")(**size, **ids, **settings)
    getattr(transformers, f"{model}Model")(config).eval().save_pretrained(path)
    return path


def vectors_of(nlp: Language, pipe: str = "parsetag") -> list[Any]:
    """Of texts that have a token: spacy-transformers has no width for others."""
    with nlp.select_pipes(disable=[name for name in ("tagger", "parsetag") if name in nlp.pipe_names]):
        docs = list(nlp.pipe(filter(None, TEXTS)))
    return list(nlp.get_pipe(pipe).model.get_ref("tok2vec").predict(docs))  # type: ignore[attr-defined]


def assert_near(found: list[Any], expected: list[Any]) -> None:
    for array, exact in zip(found, expected, strict=True):
        np.testing.assert_allclose(array, exact, atol=1e-4)


@pytest.mark.parametrize("family", FAMILIES)
def test_families(family: str, tmp_path: Path) -> None:
    """Untrained, which is harder: no tree is much better than others."""
    nlp = make_nlp(make_encoder(tmp_path, family))
    nlp.initialize(lambda: make_examples(nlp))
    exported = spacy.load(export_pipeline(nlp, tmp_path / "exported", "float32"))
    expected = vectors_of(nlp)
    assert max(np.abs(array).max() for array in expected if array.size) > 0.1
    assert_near(vectors_of(exported), expected)
    assert [spans_of(doc) for doc in exported.pipe(TEXTS)] == [spans_of(doc) for doc in nlp.pipe(TEXTS)]
    low = spacy.load(export_pipeline(nlp, tmp_path / "int8", "int8"))
    for array, exact in zip(vectors_of(low), expected, strict=True):
        assert not exact.any() or 0 < np.abs(array - exact).max() < 0.5 * np.abs(exact).max()


@pytest.mark.parametrize(
    "getter", [{"name": "strided_spans", "window": 5, "stride": 3}, {"name": "sent_spans"}, {"name": "doc_spans"}]
)
def test_windows_and_poolings(getter: dict[str, Any], encoder: Path, tmp_path: Path) -> None:
    """What listens to one transformer may pool in different ways."""
    spans = {"@span_getters": f"spacy-transformers.{getter['name']}.v1", **getter}
    del spans["name"]
    config = make_nlp(encoder).config.copy()
    config["components"]["transformer"]["model"]["get_spans"] = spans
    nlp = load_model_from_config(config)
    nlp.replace_pipe("one_sentence", "sentencizer")  # a window may be a sentence, and not all of the doc
    tok2vec = {"@architectures": "spacy-parsetag.Scaled.v1", "tok2vec": listener(MEAN), "factor": 2.0}
    nlp.add_pipe("tagger", config={"model": {"@architectures": "spacy.Tagger.v2", "tok2vec": tok2vec}})
    nlp.initialize(lambda: make_examples(nlp))
    exported = spacy.load(export_pipeline(nlp, tmp_path / "exported", "float32"))
    for pipe in ("parsetag", "tagger"):
        assert_near(vectors_of(exported, pipe), vectors_of(nlp, pipe))
    texts = [text for text in TEXTS if text]  # an empty one stops spacy-transformers' doc_spans
    for one, other in zip(exported.pipe(texts), nlp.pipe(texts), strict=True):
        assert [token.tag_ for token in one] == [token.tag_ for token in other]
        assert spans_of(one) == spans_of(other)
    # A listener that has seen no vectors says so, as any other.
    with exported.select_pipes(disable="transformer"), pytest.raises(ValueError, match=r"\[E216\].*transformer"):
        exported("a text")


def make_trained(encoder: Path) -> Language:
    """A transformer, a tagger, and a parser with a BiLSTM: all that PyTorch may compute."""
    lstm = {"@layers": "spacy-parsetag.TorchBiLSTM.v1", "depth": 1, "hidden_width": 16}
    model = {"@architectures": "spacy-parsetag.Tags.v1", "tok2vec": listener(LAST), "encoder": lstm}
    nlp = make_nlp(encoder, model=model)
    nlp.add_pipe(
        "tagger", config={"model": {"@architectures": "spacy.Tagger.v2", "tok2vec": listener(LAST)}}, before="parsetag"
    )
    examples = make_examples(nlp)
    optimizer = nlp.initialize(lambda: examples)
    optimizer.learn_rate = 0.005
    for _ in range(5):
        nlp.update(examples, sgd=optimizer)
    return nlp


@pytest.fixture(scope="module")
def trained(encoder: Path) -> Language:
    return make_trained(encoder)


@pytest.fixture(scope="module")
def folder(trained: Language, tmp_path_factory: pytest.TempPathFactory) -> Path:
    before = trained.to_bytes()
    path = export_pipeline(trained, tmp_path_factory.mktemp("export") / "float32", "float32")
    assert trained.to_bytes() == before
    assert [child.name for child in path.parent.iterdir()] == ["float32"]
    return path


def outputs(nlp: Language, **settings: Any) -> list[Any]:
    found = nlp.pipe([text for text in TEXTS * 3 if text], **settings)
    return [(spans_of(doc), [token.tag_ for token in doc]) for doc in found]


def test_saving(trained: Language, folder: Path, tmp_path: Path) -> None:
    expected = outputs(trained)
    nlp = spacy.load(folder)
    assert nlp.pipe_names == trained.pipe_names
    assert outputs(nlp) == expected
    nlp.to_disk(tmp_path)
    assert outputs(spacy.load(tmp_path)) == expected
    assert outputs(load_model_from_config(nlp.config).from_bytes(nlp.to_bytes())) == expected
    assert outputs(pickle.loads(pickle.dumps(nlp))) == expected
    assert [spans_of(nlp(text)) for text in TEXTS * 3 if text] == [spans for spans, _ in expected]


def test_assembled_to_read_few_pieces(trained: Language, tmp_path: Path) -> None:
    assemble = pytest.importorskip("tools.assemble").assemble
    splitter = spacy.blank(trained.lang)
    splitter.add_pipe("senter").initialize(lambda: make_examples(splitter))
    trained.to_disk(tmp_path / "trained")
    splitter.to_disk(tmp_path / "splitter")
    assembled = assemble(tmp_path / "trained", tmp_path / "splitter", max_pieces=8)
    assembled.to_disk(tmp_path / "assembled")
    nlp = spacy.load(export_pipeline(spacy.load(tmp_path / "assembled"), tmp_path / "exported", "float32"))
    [encoder] = [layer for layer in nlp.get_pipe("transformer").model.walk() if layer.name == "onnx_transformer"]
    assert encoder.attrs["max_pieces"] == 8 and all(token.tag_ for token in nlp("The old dog barked. " * 9))


@pytest.mark.parametrize("in_turn", [False, True])
def test_disabled_and_renamed(trained: Language, in_turn: bool, tmp_path: Path) -> None:
    """What listens is exported where it is disabled, whatever the transformer is called, with PyTorch's callback."""
    callback: dict[str, Any] = {"@callbacks": "spacy-parsetag.EvaluationMode.v1"}
    if in_turn:
        callback = {"@callbacks": "spacy-parsetag.InTurn.v1", "*": {"mode": callback}}
    trained.to_disk(tmp_path / "trained")
    nlp = spacy.load(tmp_path / "trained", config={"nlp.after_pipeline_creation": callback})
    nlp.rename_pipe("transformer", "encoder")
    for name in ("tagger", "parsetag"):
        nlp.disable_pipe(name)
    exported = spacy.load(export_pipeline(nlp, tmp_path / "exported", "float32"))
    assert exported.disabled == nlp.disabled == ["tagger", "parsetag"]
    for each in (nlp, exported):
        each.enable_pipe("tagger")
        each.enable_pipe("parsetag")
    assert outputs(exported) == outputs(trained)


def test_settings_of_a_loaded_pipeline(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """They are the config's, also where a folder of an older version has others beside the weights."""
    seen: list[Any] = []
    batches, windows = onnx.batch_by_length, onnx.windows_of
    monkeypatch.setattr(onnx, "windows_of", lambda docs, *given: seen.extend(given) or windows(docs, *given))
    monkeypatch.setattr(onnx, "batch_by_length", lambda n, most: seen.append(most) or batches(n, most))
    given = {"window": 5, "stride": 3, "by_sentence": True, "max_batch_items": 7}
    nlp = spacy.load(folder, config={f"components.transformer.model.{name}": value for name, value in given.items()})
    layer = nlp.get_pipe("transformer").model
    layer.attrs.update(window=128, stride=96, by_sentence=False, max_batch_items=512)
    for loaded in (nlp, load_model_from_config(nlp.config).from_bytes(nlp.to_bytes()), pickle.loads(pickle.dumps(nlp))):
        loaded("She enjoys reading papers")
        assert seen[:4] == [5, 3, True, 7]
        seen.clear()


def test_processes_and_threads(folder: Path) -> None:
    nlp = spacy.load(folder)
    expected = outputs(nlp)  # sessions of the parent are there when workers begin
    assert outputs(nlp, n_process=2, batch_size=3) == expected
    with ThreadPoolExecutor(4) as pool:
        for found in pool.map(lambda _: outputs(nlp), range(8)):
            assert found == expected


def test_without_torch(trained: Language, folder: Path) -> None:
    """Neither PyTorch nor transformers is imported, nor asked for by `spacy package`."""
    code = """
import sys
for name in ("torch", "transformers", "spacy_transformers", "onnx"):
    sys.modules[name] = None
import catalogue, importlib.metadata
catalogue.AVAILABLE_ENTRY_POINTS = importlib.metadata.distribution("spacy-parsetag").entry_points
import json, spacy
nlp = spacy.load(sys.argv[1])
print(json.dumps([[(span.start, span.end, span.label_) for span in doc.spans["constituents"]] for doc in
                  nlp.pipe(json.loads(sys.argv[2]))]))
"""
    texts = [text for text in TEXTS if text.strip()]
    command = [sys.executable, "-c", code, str(folder), json.dumps(texts)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr[-2000:]
    expected = [
        [(span.start, span.end, span.label_) for span in doc.spans["constituents"]] for doc in trained.pipe(texts)
    ]
    assert json.loads(done.stdout) == [[list(span) for span in spans] for spans in expected]
    config = (folder / "config.cfg").read_text(encoding="utf8")
    assert "spacy-transformers" not in config and "Torch" not in config
    assert re.fullmatch(r"spacy-parsetag\[onnx\]>=[\d.]+,<[\d.]+", spacy.load(folder).meta["requirements"][0])


def test_int8(trained: Language, folder: Path, tmp_path: Path) -> None:
    nlp = spacy.load(export_pipeline(trained, tmp_path / "int8"))
    for array, exact in zip(vectors_of(nlp), vectors_of(trained), strict=True):
        assert not exact.any() or 0 < np.abs(array - exact).max() < 0.2 * np.abs(exact).max()
    sizes = [(path / "transformer" / "model").stat().st_size for path in (tmp_path / "int8", folder)]
    assert sizes[0] < sizes[1]


def test_training(folder: Path) -> None:
    nlp = spacy.load(folder)
    examples = make_examples(nlp)
    with pytest.raises(ValueError, match=r"\[E204\].*frozen_components"):
        nlp.update(examples, sgd=nlp.resume_training())
    with pytest.raises(ValueError, match=r"\[E203\]"):
        load_model_from_config(nlp.config).initialize(lambda: examples)
    # What listens to it can learn.
    nlp = spacy.load(folder)
    optimizer = nlp.resume_training()
    before = [token.tag_ for token in nlp(examples[0].reference.text)]
    for token in examples[0].reference:
        token.tag_ = nlp.get_pipe("tagger").labels[0]  # type: ignore[attr-defined]
    for _ in range(60):
        frozen = ["transformer", "parsetag"]
        nlp.update(examples[:1], sgd=optimizer, exclude=frozen, annotates=["transformer"])
    assert [token.tag_ for token in nlp(examples[0].reference.text)] != before


@pytest.mark.parametrize("span_width", [8, None])
def test_lstm_alone(span_width: int | None, tmp_path: Path) -> None:
    """Over a tok2vec of spaCy's own, the LSTM is all that needs PyTorch."""
    embed = {"@architectures": "spacy.HashEmbedCNN.v2", "pretrained_vectors": None, "width": 16, "depth": 1}
    embed = {**embed, "embed_size": 100, "window_size": 1, "maxout_pieces": 2, "subword_features": False}
    lstm = {"@layers": "spacy-parsetag.TorchBiLSTM.v1", "depth": 1, "hidden_width": 8}
    nlp = spacy.blank("en")
    nlp.add_pipe("one_sentence")
    model = {"@architectures": "spacy-parsetag.Spans.v1", "tok2vec": embed, "encoder": lstm, "span_width": span_width}
    loss = {"@misc": f"spacy-parsetag.{'Tree' if span_width else 'Tag'}Loss.v1"}
    nlp.add_pipe("parsetag", config={"model": model, "loss": loss})
    nlp.initialize(lambda: make_examples(nlp))
    exported = spacy.load(export_pipeline(nlp, tmp_path / "exported", "float32"))
    assert [spans_of(doc) for doc in exported.pipe(TEXTS)] == [spans_of(doc) for doc in nlp.pipe(TEXTS)]


def test_ensemble(trained: Language, folder: Path, tmp_path: Path) -> None:
    trained.to_disk(tmp_path / "member")
    nlp = spacy.blank("en")
    nlp.add_pipe("one_sentence")
    nlp.add_pipe("parsetag_ensemble", config={"pipelines": [str(tmp_path / "member")] * 2})
    exported = spacy.load(export_pipeline(nlp, tmp_path / "exported", "float32"))
    members = exported.get_pipe("parsetag_ensemble").members  # type: ignore[attr-defined]
    assert [member.config["components"]["transformer"]["factory"] for member in members] == ["tok2vec"] * 2
    assert [spans_of(doc) for doc in exported.pipe(TEXTS)] == [spans_of(doc) for doc in nlp.pipe(TEXTS)]
    assert exported.meta["requirements"] == members[0].meta["requirements"]


def with_second(encoder: Path, factory: str, pipes: list[str], upstream: str, heard: str = "transformer") -> Language:
    """A pipeline with a second encoder of the same width, which a tagger listens to."""
    config = make_nlp(encoder).config.copy()
    components = config["components"]
    config["nlp"]["pipeline"] = pipes
    components["parsetag"]["model"]["tok2vec"]["upstream"] = heard
    cnn = {"@architectures": "spacy.HashEmbedCNN.v2", "pretrained_vectors": None, "width": 32, "depth": 1}
    cnn = {**cnn, "embed_size": 100, "window_size": 1, "maxout_pieces": 2, "subword_features": False}
    tok2vec = {"@architectures": "spacy.Tok2VecListener.v1", "width": 32, "upstream": upstream}
    if factory == "transformer":
        cnn, tok2vec = components["transformer"]["model"], {**listener(MEAN), "upstream": upstream}
    components["second"] = {"factory": factory, "model": cnn}
    components["tagger"] = {"factory": "tagger", "model": {"@architectures": "spacy.Tagger.v2", "tok2vec": tok2vec}}
    nlp = load_model_from_config(config)
    nlp.initialize(lambda: make_examples(nlp))
    return nlp


@pytest.mark.parametrize("factory", ["tok2vec", "transformer"])
def test_second_encoder(factory: str, encoder: Path, tmp_path: Path) -> None:
    """Two encoders with their listeners right behind each: all read what they listen to."""
    pipes = ["one_sentence", "transformer", "parsetag", "second", "tagger"]
    for order in (pipes, ["second", "tagger", *pipes[:3]]):
        nlp = with_second(encoder, factory, order, "second")
        exported = spacy.load(export_pipeline(nlp, tmp_path / order[0], "float32"))
        assert outputs(exported) == outputs(nlp)


@pytest.mark.parametrize(
    ("factory", "order", "upstream", "heard", "wrong"),
    [
        ("tok2vec", "transformer second tagger parsetag", "second", "transformer", "parsetag.*'second'"),
        ("tok2vec", "second transformer tagger parsetag", "second", "transformer", "tagger.*'transformer'"),
        ("tok2vec", "second transformer tagger parsetag", "*", "transformer", "tagger.*'transformer'"),
        ("transformer", "transformer second tagger parsetag", "second", "transformer", "parsetag.*'second'"),
        ("transformer", "transformer second tagger parsetag", "*", "*", "tagger.*'second'"),
        ("transformer", "transformer second tagger parsetag", "transformer", "second", "tagger.*'second'"),
    ],
)
def test_hidden_encoder(
    factory: str, order: str, upstream: str, heard: str, wrong: str, encoder: Path, tmp_path: Path
) -> None:
    """Exported encoders all write doc.tensor: what listens to one must not find what another wrote after it."""
    nlp = with_second(encoder, factory, ["one_sentence", *order.split()], upstream, heard)
    with pytest.raises(ValueError, match=rf"\[E267\].*'{wrong}"):
        export_pipeline(nlp, tmp_path / "exported", "float32")
    assert not list(tmp_path.iterdir())


def test_failure_leaves_the_pipeline(trained: Language, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    calls: list[Any] = []

    def fail_once(model: Any, old: Any, new: Any) -> None:
        calls.append(model)
        if len(calls) == 2:
            raise RuntimeError
        replace(model, old, new)

    replace = export._replace
    monkeypatch.setattr(export, "_replace", fail_once)
    before = trained.to_bytes()
    with pytest.raises(RuntimeError):
        export_pipeline(trained, tmp_path / "exported")
    assert trained.to_bytes() == before
    assert not list(tmp_path.iterdir())


def test_errors(trained: Language, folder: Path, encoder: Path, tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=r"\[E450\]"):
        export_pipeline(trained, folder)
    with pytest.raises(ValueError, match=r"\[E268\].*tagger"):
        export_pipeline(spacy.load(folder), tmp_path / "again")
    embed = {"@architectures": "spacy.MultiHashEmbed.v2", "width": 16, "attrs": ["NORM"], "rows": [100]}
    encode = {"@architectures": "spacy.TorchBiLSTMEncoder.v1", "width": 16, "depth": 1, "dropout": 0.0}
    tok2vec = {"@architectures": "spacy.Tok2Vec.v2", "embed": {**embed, "include_static_vectors": False}}
    other = spacy.blank("en")
    other.add_pipe("tok2vec", config={"model": {**tok2vec, "encode": encode}})
    other.initialize()
    with pytest.raises(ValueError, match=r"\[E267\].*'tok2vec'.*PyTorch"):
        export_pipeline(other, tmp_path / "other")
    assert not list(tmp_path.iterdir())


def test_command(trained: Language, run: Callable[..., Any], tmp_path: Path) -> None:
    trained.to_disk(tmp_path / "trained")
    done = run("export", tmp_path / "trained", tmp_path / "exported", "--precision", "float32")
    assert done.exit_code == 0 and "in float32" in done.stderr
    assert outputs(spacy.load(tmp_path / "exported")) == outputs(trained)
    done = run("export", tmp_path / "trained", tmp_path / "exported")
    assert done.exit_code == 1 and "[E450]" in done.stderr
    (tmp_path / "exported" / "other").touch()
    assert run("export", tmp_path / "trained", tmp_path / "exported", "--force").exit_code == 0
    assert not (tmp_path / "exported" / "other").exists() and not list(tmp_path.glob(".*"))
    (tmp_path / "empty").mkdir()
    for other in ("trained", "empty"):  # never a pipeline that can be trained
        done = run("export", tmp_path / "trained", tmp_path / other, "--force")
        assert done.exit_code == 1 and "[E450]" in done.stderr
