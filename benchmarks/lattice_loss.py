"""What the lattice loss and its gradient cost beside the rest of a training step: one core, batches of 32 sentences.

    python benchmarks/lattice_loss.py --output benchmarks/results/lattice_loss.json

Steps of `nlp.update` with a transformer; the loss is timed inside them. Without `--encoder` it is a BERT of 6 layers,
384 wide, with random weights, and without `--train` the sentences are drawn from the bundled grammar.
"""

from common import draw_trees  # isort: skip  # it leaves NumPy one core

import argparse
import tempfile
import time
from itertools import islice
from pathlib import Path
from typing import Any

import spacy
import torch
from gpu import make_encoder, make_pipeline
from record import parse_arguments, write_result
from spacy.tokens import Doc
from spacy.training import Example

from spacy_parsetag.decode import StackBound
from spacy_parsetag.ml.losses import LatticeLoss
from spacy_parsetag.tokens import docs_from_trees
from spacy_parsetag.treebanks.penn import read_trees
from spacy_parsetag.trees.clean import clean_tree


class Timed(LatticeLoss):
    """The loss, with the CPU seconds of its calls."""

    def __init__(self, max_stack: StackBound = None) -> None:
        super().__init__(max_stack)
        self.seconds: list[float] = []

    def __call__(self, *args: Any) -> Any:
        begin = time.process_time()
        result = super().__call__(*args)
        self.seconds.append(time.process_time() - begin)
        return result


def read(path: Path | None, sentences: int) -> list[Doc]:
    vocab = spacy.blank("en").vocab
    if path is None:
        return list(docs_from_trees(vocab, draw_trees(sentences)))
    cleaned = (clean_tree(tree) for tree in read_trees(path))
    return list(islice(docs_from_trees(vocab, (tree for tree in cleaned if tree is not None)), sentences))


def measure(docs: list[Doc], encoder: Path, batch: int) -> dict[str, Any]:
    nlp = make_pipeline(encoder, docs, 4096)
    pipe: Any = nlp.get_pipe("parsetag")
    loss = pipe.loss = Timed()
    optimizer = nlp.create_optimizer()
    steps = []
    for start in range(0, len(docs) - batch + 1, batch):
        examples = [Example(Doc(nlp.vocab, words=[t.text for t in doc]), doc) for doc in docs[start : start + batch]]
        begin = time.process_time()
        nlp.update(examples, sgd=optimizer, drop=0.1)
        steps.append(time.process_time() - begin)
    steps, losses = steps[1:], loss.seconds[1:]  # the first warms up
    return {
        "steps": len(steps),
        "sentences_a_step": batch,
        "tags": len(pipe.labels),
        "milliseconds_a_step": 1e3 * sum(steps) / len(steps),
        "milliseconds_of_loss_and_gradient": 1e3 * sum(losses) / len(losses),
        "share": sum(losses) / sum(steps),
        "largest_share_of_a_step": max(a / b for a, b in zip(losses, steps, strict=True)),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--encoder", type=Path, help="a folder with a pretrained transformer")
    parser.add_argument("--train", type=Path, help="a bracket file")
    parser.add_argument("--batches", type=int, default=20)
    parser.add_argument("--batch", type=int, default=32, help="sentences a batch")
    args = parse_arguments(parser)
    torch.set_num_threads(1)
    docs = read(args.train, args.batch * (args.batches + 1))
    with tempfile.TemporaryDirectory() as folder:
        words = [token.text for doc in docs for token in doc]
        encoder = args.encoder or make_encoder(Path(folder), words, layers=6, width=384)
        figures = {
            "encoder": f"{encoder.resolve().parent.name}" if args.encoder else "random BERT, 6 layers, 384 wide",
            "train": args.train and "/".join(args.train.parts[-2:]),
            **measure(docs, encoder, args.batch),
        }
    for name, value in figures.items():
        print(f"{name.replace('_', ' ')}: {value:,.4g}" if isinstance(value, float) else f"{name}: {value}")
    write_result(figures, args.output, args.made_by)


if __name__ == "__main__":
    main()
