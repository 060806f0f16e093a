"""The trial whose words are the mean of the encoder's last four layers."""

import importlib
import sys
from pathlib import Path

import pytest

torch = pytest.importorskip("torch", reason="torch is not installed")
transformers = pytest.importorskip("transformers", reason="transformers is not installed")
sys.path.insert(0, str(Path(__file__).resolve().parent.parent.parent / "experiments"))


def test_mean_of_layers(monkeypatch: pytest.MonkeyPatch) -> None:
    config = transformers.BertConfig(
        vocab_size=9, hidden_size=8, num_hidden_layers=5, num_attention_heads=2, intermediate_size=8
    )
    model = transformers.BertModel(config).eval()
    pieces = torch.tensor([[1, 2, 3]])
    plain = model(pieces, output_hidden_states=True)
    monkeypatch.setattr(transformers.BertModel, "forward", transformers.BertModel.forward)  # to be put back afterwards
    importlib.import_module("layers")
    mean = model(pieces)
    torch.testing.assert_close(mean.last_hidden_state, sum(plain.hidden_states[2:]) / 4)
    assert mean.hidden_states is None
