"""The pipe on an encoder of spacy-curated-transformers: a tiny one with random weights, and one through its loaders."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import spacy
from spacy.language import Language
from spacy.tokens import Doc
from spacy.training import Example
from tiny import PIECES, TREES, gold_doc, make_examples, spans_of

from spacy_parsetag.tokens import parses_from_doc

pytest.importorskip("spacy_curated_transformers", reason="spacy-curated-transformers is not installed")
torch = pytest.importorskip("torch", reason="torch is not installed")

if tuple(map(int, np.__version__.split(".")[:2])) >= (2, 4):
    pytest.skip("spacy-curated-transformers 0.3 trains with NumPy below 2.4 only", allow_module_level=True)

CONFIG = Path(__file__).resolve().parents[2] / "configs" / "curated.cfg"
WIDTH = 32


LISTENER = {
    "@architectures": "spacy-curated-transformers.LastTransformerLayerListener.v1",
    "width": WIDTH,
    "pooling": {"@layers": "spacy-parsetag.LastSubword.v1"},
}


def add_parser(nlp: Language) -> None:
    nlp.add_pipe("one_sentence")
    model = {"@architectures": "spacy-parsetag.Tags.v1", "tok2vec": LISTENER}
    nlp.add_pipe("parsetag", config={"model": model, "learn_rate_scale": 5.0})


def make_encoder(path: Path) -> Language:
    """A pipeline with a BERT of two layers, its weights random."""
    torch.manual_seed(0)
    (path / "vocab.txt").write_text("\n".join(PIECES), encoding="utf8")
    nlp = spacy.blank("en")
    model = {
        "@architectures": "spacy-curated-transformers.BertTransformer.v1",
        "vocab_size": len(PIECES),
        "hidden_width": WIDTH,
        "intermediate_width": 64,
        "num_attention_heads": 2,
        "num_hidden_layers": 2,
        "piece_encoder": {"@architectures": "spacy-curated-transformers.BertWordpieceEncoder.v1"},
        "with_spans": {"@architectures": "spacy-curated-transformers.WithStridedSpans.v1", "window": 16, "stride": 12},
    }
    nlp.add_pipe("curated_transformer", "transformer", config={"model": model})
    loader = {"@model_loaders": "spacy-curated-transformers.WordpieceLoader.v1", "path": str(path / "vocab.txt")}
    nlp.config["initialize"]["components"]["transformer"] = {"piecer_loader": {**loader, "lowercase": True}}
    return nlp


def weights(nlp: Language) -> dict[str, Any]:
    module = nlp.get_pipe("transformer").model.get_ref("transformer").shims[0]._model  # type: ignore[attr-defined]
    return {name: value.numpy().copy() for name, value in module.state_dict().items()}


def update(nlp: Language, examples: list[Example], optimizer: Any, steps: int) -> list[float]:
    found = []
    for _ in range(steps):
        losses: dict[str, float] = {}
        nlp.update(examples, sgd=optimizer, losses=losses)
        found.append(losses["parsetag"])
    return found


@pytest.fixture(scope="module")
def trained(tmp_path_factory: pytest.TempPathFactory) -> Language:
    nlp = make_encoder(tmp_path_factory.mktemp("curated"))
    add_parser(nlp)
    examples = make_examples(nlp)
    optimizer = nlp.initialize(lambda: examples)
    optimizer.learn_rate = 0.005
    first, *_, last = update(nlp, examples, optimizer, 20)
    assert last < first / 3
    return nlp


def test_it_learns_and_is_saved(trained: Language, tmp_path: Path) -> None:
    assert trained.evaluate(make_examples(trained))["parsetag_f"] > 0.9
    texts = ["She enjoys reading papers .", "the mat", "", "\n"]
    expected = [spans_of(doc) for doc in trained.pipe(texts)]
    trained.to_disk(tmp_path)
    assert [spans_of(doc) for doc in spacy.load(tmp_path).pipe(texts)] == expected


def test_odd_docs(trained: Language) -> None:
    words = [["\n"], ["the"], ["\n", "the", " ", "dog", "\n"], ["ü", "日本", "🙂"], ["reading"] * 100]
    for doc in trained.pipe([Doc(trained.vocab, words=tokens) for tokens in words]):
        found = [i for sentence in parses_from_doc(doc) for i in sentence.tokens]
        assert found == [token.i for token in doc if not token.is_space]


@pytest.mark.parametrize("frozen", [False, True])
def test_a_parser_for_an_encoder_that_is_there(frozen: bool, tmp_path: Path) -> None:
    """The recipe of docs/how-to/encoders.md: the encoder learns with the parser, or stays as it is."""
    source = make_encoder(tmp_path)
    golds = [gold_doc(source, tree) for tree in TREES]
    examples = [Example(Doc(source.vocab, words=[token.text for token in gold]), gold) for gold in golds]
    source.initialize(lambda: examples)
    source.to_disk(tmp_path / "source")

    nlp = spacy.load(tmp_path / "source")
    before = weights(nlp)
    nlp.get_pipe("transformer").frozen = frozen  # type: ignore[attr-defined]
    add_parser(nlp)
    examples = make_examples(nlp)
    nlp.get_pipe("parsetag").initialize(lambda: examples, nlp=nlp)  # type: ignore[attr-defined]
    optimizer = nlp.resume_training()
    optimizer.learn_rate = 0.005
    first, *_, last = update(nlp, examples, optimizer, 5)
    assert last < first
    after = weights(nlp)
    assert all(np.array_equal(before[name], after[name]) for name in before) == frozen


def test_a_parser_without_its_encoder(trained: Language, tmp_path: Path) -> None:
    trained.to_disk(tmp_path)
    alone = spacy.load(tmp_path, exclude=["transformer"])
    with pytest.raises(ValueError, match="E216"):
        alone("She enjoys reading papers .")


def test_the_config_with_an_encoder_through_its_loaders(encoder: Path) -> None:
    sizes = {"vocab_size": len(PIECES), "width": 32, "intermediate_width": 64, "heads": 2, "layers": 2}
    config = spacy.util.load_config(CONFIG, overrides={f"vars.{key}": value for key, value in sizes.items()})
    config["vars"]["encoder"] = str(encoder)
    config["components"]["transformer"]["model"]["max_position_embeddings"] = 256
    nlp = spacy.util.load_model_from_config(config.interpolate(), auto_fill=True)
    examples = make_examples(nlp)
    nlp.initialize(lambda: examples)
    from transformers import AutoModel, AutoTokenizer

    doc = nlp.make_doc("She enjoys reading papers .")
    vectors = nlp.get_pipe("parsetag").model.get_ref("tok2vec")  # type: ignore[attr-defined]
    nlp.get_pipe("transformer")(doc)
    found = next(node for node in vectors.walk() if node.name == "last_transformer_layer_listener").predict([doc])[0]
    pieces = AutoTokenizer.from_pretrained(encoder)([token.text for token in doc], is_split_into_words=True)
    with torch.no_grad():
        states = AutoModel.from_pretrained(encoder).eval()(torch.tensor([pieces["input_ids"]])).last_hidden_state
    lasts = {word: i for i, word in enumerate(pieces.word_ids()) if word is not None}
    np.testing.assert_allclose(found, states[0, [lasts[i] for i in range(len(doc))]].numpy(), atol=2e-4)
