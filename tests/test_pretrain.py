"""`tools/pretrain.py`: the layers of an encoder go on with the word pieces of another language."""

import re
import sys
from pathlib import Path

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="torch is not installed")
transformers = pytest.importorskip("transformers", reason="transformers is not installed")
pretrain = pytest.importorskip("tools.pretrain")

WORDS = ["saya", "membaca", "koran", "dia", "suka", "buku", "tua", "yang", "di", "rumah"]


@pytest.fixture
def encoder(tmp_path: Path) -> Path:
    """A BERT of one layer, 16 wide, with random weights, which knows some letters and two of the words."""
    path = tmp_path / "encoder"
    path.mkdir()
    pieces = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "a", "b", "##a", "##b", "koran", "buku"]
    (path / "vocab.txt").write_text("\n".join(pieces), encoding="utf8")
    sizes: dict[str, int] = {
        "hidden_size": 16,
        "num_hidden_layers": 1,
        "num_attention_heads": 2,
        "intermediate_size": 32,
    }
    torch.manual_seed(0)
    config = transformers.BertConfig(vocab_size=len(pieces), max_position_embeddings=64, **sizes)
    transformers.BertModel(config).save_pretrained(path)
    transformers.BertTokenizerFast(vocab_file=str(path / "vocab.txt")).save_pretrained(path)
    return path


@pytest.fixture
def texts(tmp_path: Path) -> Path:
    """Two files of five hundred paragraphs of twenty words, each word after that before it in WORDS."""
    path, rng = tmp_path / "texts", np.random.default_rng(0)
    path.mkdir()
    for name in ("a.txt", "b.txt"):
        starts = rng.integers(len(WORDS), size=500)
        paragraphs = [" ".join(np.roll(WORDS, start).tolist() * 2) for start in starts]
        (path / name).write_text("\n\n".join(paragraphs), encoding="utf8")
    return path


@pytest.mark.parametrize("precision", ["bfloat16", "highest"])
def test_pretraining(
    precision: str,
    encoder: Path,
    texts: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """The loss falls; what is written is an encoder of the texts' pieces with the layers and dropout of the first."""
    output = tmp_path / "output"
    options = ["--steps", "200", "--vocabulary", "60", "--precision", precision]
    monkeypatch.setattr(sys, "argv", ["pretrain", str(encoder), str(texts), str(output), *options])
    pretrain.main()
    first, last = (float(loss) for loss in re.findall(r"loss ([\d.]+)", capsys.readouterr().out))
    assert last < first - 0.3
    tokenizer = transformers.AutoTokenizer.from_pretrained(output)
    model, old = map(transformers.AutoModel.from_pretrained, (output, encoder))
    assert tokenizer.tokenize("Saya suka koran") == ["saya", "suka", "koran"]
    assert model.embeddings.word_embeddings.num_embeddings == len(tokenizer) == 60
    assert model.config.hidden_dropout_prob == transformers.BertConfig().hidden_dropout_prob
    assert model.dtype == torch.float32 and not torch.equal(
        model.encoder.layer[0].output.dense.weight, old.encoder.layer[0].output.dense.weight
    )


def test_pieces_that_both_have_keep_their_vectors(encoder: Path) -> None:
    known = transformers.AutoTokenizer.from_pretrained(encoder).get_vocab()
    pieces = {"[PAD]": 0, "[UNK]": 1, "rumah": 2, "buku": 3}
    model = pretrain.begin(encoder, known, pieces)
    models = (model, transformers.BertForMaskedLM.from_pretrained(encoder))
    vectors, old = (of.get_input_embeddings().weight for of in models)
    assert torch.equal(vectors[3], old[known["buku"]]) and torch.equal(vectors[0], old[0]) and len(vectors) == 4
    assert torch.equal(model.cls.predictions.decoder.weight, vectors)


def test_blocks_and_what_is_hidden(encoder: Path) -> None:
    """A quarter of the pieces, none of them [CLS]; the others are seen as they are."""
    tokenizer = transformers.AutoTokenizer.from_pretrained(encoder)
    blocks = pretrain.blocks_of(["koran buku"] * 3000, tokenizer)
    assert blocks[0, :8].tolist() == [2, 9, 10, 3, 9, 10, 3, 9] and blocks.shape == (3000 * 3 // 63, 64)
    chosen = blocks[: pretrain.BLOCKS]
    seen, at, right = pretrain.hide(chosen, tokenizer, np.random.default_rng(0))
    assert len(np.unique(at)) == pretrain.PREDICTED == chosen.size // 4 and (at % 64).all()
    assert (right.numpy() == chosen.ravel()[at]).all()
    assert (np.delete(seen.numpy().ravel(), at) == np.delete(chosen.ravel(), at)).all()
    masked = (seen.numpy().ravel()[at] == tokenizer.mask_token_id).mean()
    assert masked == pytest.approx(0.81, abs=0.03)  # and one of eleven pieces by chance


def test_an_encoder_of_another_kind(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    transformers.RobertaConfig().save_pretrained(tmp_path)
    monkeypatch.setattr(sys, "argv", ["pretrain", str(tmp_path), str(tmp_path), str(tmp_path / "output")])
    with pytest.raises(SystemExit, match="of the kind roberta: this takes a BERT"):
        pretrain.main()


def test_texts_that_are_none(encoder: Path, tmp_path: Path) -> None:
    with pytest.raises(SystemExit, match=r"\.txt files"):
        pretrain.paragraphs(tmp_path)
    with pytest.raises(SystemExit, match="one step takes 8,064"):
        pretrain.blocks_of(["koran"] * 100, transformers.AutoTokenizer.from_pretrained(encoder))
