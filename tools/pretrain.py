"""A pretrained encoder for a language that has none: a masked language model, begun from another language's encoder.

    python -m tools.pretrain ENCODER TEXTS OUTPUT [--steps N] [--vocabulary N] [--precision P]

ENCODER is the folder of a BERT, TEXTS one of .txt files with an empty line between paragraphs, which `tools/texts.py`
makes. OUTPUT becomes an encoder with word pieces of these texts, for `--vars.encoder` of `configs/transformer.cfg`. Its
layers go on from ENCODER's, and pieces that both have keep their vectors: much of what layers learn of one language
holds for others (Artetxe and others 2020). A quarter of the pieces are predicted, which teaches more in a given time
than BERT's 15 % (Wettig and others 2023). Of places beyond a block it learns nothing: `tools/assemble.py --max-pieces`
has longer sentences read in parts. Weights are in float32, and products in bfloat16, which `--precision highest` spares
a CPU that is slow with them. It takes the extra `transformers`.
"""

import argparse
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch.nn.functional import cross_entropy
from transformers import AutoConfig, AutoTokenizer, BertForMaskedLM

# Pieces of a block, which begins with [CLS]; blocks of a step; pieces of a step that are predicted.
LENGTH, BLOCKS = 64, 128
PREDICTED = LENGTH * BLOCKS // 4
# At its height, after the first hundred steps. Most vectors of pieces start from chance, and learn faster than layers.
LAYERS_RATE, VECTORS_RATE, WARMUP = 0.0006, 0.002, 100
CHARACTERS = 1000  # texts have names in all scripts, whose letters are not worth a piece each


def paragraphs(texts: Path) -> list[str]:
    """Read the paragraphs of all .txt files of a folder."""
    files = (path.read_text(encoding="utf8") for path in sorted(texts.glob("*.txt")))
    found = [" ".join(block.split()) for text in files for block in text.split("\n\n") if block.strip()]
    if not found:
        raise SystemExit(f"{texts} has no text: it takes .txt files.")
    return found


def blocks_of(texts: list[str], tokenizer: Any) -> np.ndarray:
    """Cut paragraphs, with [SEP] after each, into blocks of pieces.

    RETURNS (np.ndarray): Shape (blocks, LENGTH), int64; each begins with [CLS].
    """
    encoded = tokenizer(texts, add_special_tokens=False, return_attention_mask=False, verbose=False)["input_ids"]
    pieces = np.concatenate([np.asarray([*ids, tokenizer.sep_token_id], dtype=np.int64) for ids in encoded])
    rows = pieces[: pieces.size // (LENGTH - 1) * (LENGTH - 1)].reshape(-1, LENGTH - 1)
    if len(rows) < BLOCKS:
        raise SystemExit(f"The texts have {pieces.size:,} word pieces; one step takes {BLOCKS * (LENGTH - 1):,}.")
    return np.insert(rows, 0, tokenizer.cls_token_id, axis=1)


def begin(encoder: Path, known: dict[str, int], pieces: dict[str, int]) -> BertForMaskedLM:
    """Load an encoder with other pieces: those that it knows keep their vectors, those of others are random.

    known (dict[str, int]): The encoder's pieces.
    pieces (dict[str, int]): Those of the texts.
    """
    model: BertForMaskedLM = BertForMaskedLM.from_pretrained(encoder, attn_implementation="eager")
    old = model.bert.embeddings.word_embeddings.weight.detach().clone()
    vectors = old.mean(0) + old.std(0) * torch.randn(len(pieces), old.shape[1])
    shared = sorted(pieces.keys() & known.keys())
    vectors[[pieces[piece] for piece in shared]] = old[[known[piece] for piece in shared]]
    model.resize_token_embeddings(len(pieces), mean_resizing=False)
    model.bert.embeddings.word_embeddings.weight.data.copy_(vectors)
    model.cls.predictions.bias.data.zero_()
    return model


def hide(blocks: np.ndarray, tokenizer: Any, rng: np.random.Generator) -> tuple[torch.Tensor, ...]:
    """Hide pieces: of those that are predicted 80 % are masked, 10 % become others, 10 % stay.

    blocks (np.ndarray): Shape (BLOCKS, LENGTH).
    RETURNS (tuple[torch.Tensor, ...]): What the model sees, shape (BLOCKS, LENGTH); the places
        of the predicted pieces among all, and these, shape (PREDICTED,).
    """
    seen = blocks.flatten()
    at = np.sort(rng.choice(np.flatnonzero(np.arange(seen.size) % LENGTH), PREDICTED, replace=False))
    right, chance = seen[at], rng.random(PREDICTED)
    others = at[chance >= 0.9]
    seen[at[chance < 0.8]] = tokenizer.mask_token_id
    seen[others] = rng.integers(len(tokenizer), size=others.size)
    return torch.from_numpy(seen.reshape(blocks.shape)), torch.from_numpy(at), torch.from_numpy(right)


def train(model: BertForMaskedLM, blocks: np.ndarray, tokenizer: Any, n_steps: int, precision: str) -> None:
    """Train a model, whose weights stay in float32.

    model (BertForMaskedLM): The model, in float32 before and after.
    blocks (np.ndarray): Those of all texts, shape (blocks, LENGTH); a step takes `BLOCKS` of them.
    precision (str): "bfloat16" or "highest", of products.
    """
    rng = np.random.default_rng(0)
    weights = {name: weight.detach().clone() for name, weight in model.named_parameters()}
    layers = [weights[name] for name in weights if name.startswith("bert.encoder")]
    others = [weights[name] for name in weights if not name.startswith("bert.encoder")]
    groups = [{"params": layers, "lr": LAYERS_RATE}, {"params": others, "lr": VECTORS_RATE}]
    optimizer = torch.optim.AdamW(groups, betas=(0.9, 0.98), weight_decay=0.01, foreach=True)
    rate = torch.optim.lr_scheduler.LambdaLR(optimizer, lambda i: min((i + 1) / WARMUP, 1) * (1 - i / n_steps))
    if precision == "bfloat16":
        model.bfloat16()
    model.eval()  # without dropout: no text is seen often
    order, total, began = np.empty(0, dtype=np.int64), 0.0, time.monotonic()
    for step in range(1, n_steps + 1):
        if order.size < BLOCKS:
            order = rng.permutation(len(blocks))
        chosen, order = np.split(order, [BLOCKS])
        seen, at, right = hide(blocks[chosen], tokenizer, rng)
        hidden = model.bert(seen).last_hidden_state.flatten(0, 1)
        loss: Any = cross_entropy(model.cls(hidden[at]).float(), right)
        loss.backward()
        for name, copy in model.named_parameters():
            weights[name].grad, copy.grad = None if copy.grad is None else copy.grad.float(), None
        torch.nn.utils.clip_grad_norm_(weights.values(), 1.0)
        optimizer.step()
        rate.step()
        with torch.no_grad():
            for name, copy in model.named_parameters():
                copy.copy_(weights[name])
        total += loss.item()
        if step % 100 == 0 or step == n_steps:
            seconds = time.monotonic() - began
            sys.stdout.write(f"step {step} of {n_steps}, {seconds:.0f} s: loss {total / (step % 100 or 100):.2f}\n")
            sys.stdout.flush()
            total = 0.0
    model.float().load_state_dict(weights, strict=False)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("encoder", type=Path, metavar="ENCODER")
    parser.add_argument("texts", type=Path, metavar="TEXTS")
    parser.add_argument("output", type=Path, metavar="OUTPUT")
    parser.add_argument("--steps", type=int, default=2800, help=f"of {LENGTH * BLOCKS:,} word pieces")
    parser.add_argument("--vocabulary", type=int, default=12_000, help="word pieces to tell apart")
    parser.add_argument("--precision", choices=["bfloat16", "highest"], default="bfloat16", help="of products")
    args = parser.parse_args()
    kind = AutoConfig.from_pretrained(args.encoder).model_type
    if kind != "bert":
        raise SystemExit(f"{args.encoder} is an encoder of the kind {kind}: this takes a BERT.")
    torch.manual_seed(0)
    texts = paragraphs(args.texts)
    known = AutoTokenizer.from_pretrained(args.encoder)
    tokenizer = known.train_new_from_iterator(texts, args.vocabulary, limit_alphabet=CHARACTERS)
    blocks = blocks_of(texts, tokenizer)
    model = begin(args.encoder, known.get_vocab(), tokenizer.get_vocab())
    train(model, blocks, tokenizer, args.steps, args.precision)
    model.bert.save_pretrained(args.output)
    tokenizer.save_pretrained(args.output)


if __name__ == "__main__":
    main()
