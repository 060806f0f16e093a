"""Trained pipelines, made once."""

from collections.abc import Callable
from pathlib import Path

import pytest
from spacy.language import Language
from tiny import PIECES, make_examples, make_nlp, train


@pytest.fixture(scope="session")
def trained() -> Callable[[str], Language]:
    """Trained pipelines by order. They are shared: do not change them."""
    pipelines: dict[str, Language] = {}

    def get(order: str = "in") -> Language:
        if order not in pipelines:
            pipelines[order] = make_nlp(order)
            train(pipelines[order], make_examples(pipelines[order]))
        return pipelines[order]

    return get


@pytest.fixture(scope="session")
def encoder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A BERT of two layers, 32 wide, saved as its tokenizer and its weights."""
    torch = pytest.importorskip("torch", reason="torch is not installed")
    transformers = pytest.importorskip("transformers", reason="transformers is not installed")
    pytest.importorskip("spacy_transformers", reason="spacy-transformers is not installed")
    path = tmp_path_factory.mktemp("encoder")
    (path / "vocab.txt").write_text("\n".join(PIECES), encoding="utf8")
    torch.manual_seed(0)
    size: dict[str, int] = {
        "hidden_size": 32,
        "num_hidden_layers": 2,
        "num_attention_heads": 2,
        "intermediate_size": 64,
        "max_position_embeddings": 256,
    }
    transformers.BertModel(transformers.BertConfig(vocab_size=len(PIECES), **size)).save_pretrained(path)
    transformers.BertTokenizerFast(vocab_file=str(path / "vocab.txt")).save_pretrained(path)
    return path
