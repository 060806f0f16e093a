"""Decoders and losses of whole trees on scores drawn at random: one core, 150 tags, three orders.

    python benchmarks/decode.py --output benchmarks/results/decode.json
    python benchmarks/decode.py CASE --output benchmarks/results/FILE.json

exact         exact decoding beside one look at each score, `scores.max(axis=1)`: a decoder has to read every score
distribution  best tree, sums, probabilities, ten best trees, MBR (distribution.json): sentences of 25 to 200 words,
              normal scores. Real scores are sharper, which only makes sums quicker
train-loss    TreeLoss inside steps of `nlp.update` with a transformer (lattice_loss.json). Without --encoder it is a
              BERT of 6 layers, 384 wide, with random weights; without --train, sentences of the bundled grammar

Programs that stand beside each other run in turn; the fastest run of each counts, in CPU time. A distribution
keeps what was found of it, so each run makes its own.
"""

from cores import one_core

if __name__ == "__main__":
    one_core()

import argparse
import tempfile
import time
from collections.abc import Callable
from dataclasses import replace
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
import spacy
from record import parse_arguments, write_result
from samples import LABELS, draw_trees, make_sample
from spacy.training import Example
from thinc.api import fix_random_seed
from timing import in_turn

from spacy_parsetag.decode import (
    Distribution,
    ExactDecoder,
    MBRDecoder,
    SpanScores,
    TagScores,
)
from spacy_parsetag.linearize import ORDERS
from spacy_parsetag.linearize.tagset import TagSet
from spacy_parsetag.ml.losses import TreeLoss
from spacy_parsetag.tokens import docs_from_trees
from spacy_parsetag.tokens.sentences import copy_words
from spacy_parsetag.treebanks.formats.table import get_format

Figures = dict[str, Any]
BOUND = 12


def exact(args: argparse.Namespace) -> Figures:
    results: Figures = {"sentences": args.sentences, "orders": {}}
    for order in ORDERS:
        sample = make_sample(args.sentences, order)
        results["tags"] = len(sample.tags)
        for bound in (None, BOUND):
            batch, decoder = replace(sample, max_stack=bound), ExactDecoder()
            runs = {"look": lambda: batch.scores.max(axis=1), "decoder": lambda: decoder(Distribution(batch))}  # noqa: B023
            times = in_turn(runs, args.repeats)
            ratio, speed = times["decoder"].over(times["look"]), args.sentences / times["decoder"].best
            print(
                f"{order}-order, stack bound {bound}: {ratio:.2f} times one look at the scores (wall "
                f"{times['decoder'].best_wall / times['look'].best_wall:.2f}), "
                f"{speed:,.0f} sentences a second"
            )
            results["orders"].setdefault(order, {})["unbounded" if bound is None else f"max_stack_{bound}"] = {
                "times_max": ratio,
                "sentences_per_second": speed,
                **{name: seconds.figures(6) for name, seconds in times.items()},
            }
    return results


def ask_all(distribution: Distribution) -> None:
    distribution.mbr(0.5)
    distribution.constituents  # noqa: B018
    distribution.topk(10)


def draw_batch(n_words: int, sentences: int, order: str, spans: bool, bound: int | None) -> TagScores:
    """Sentences of one length with normal scores, of tags alone or of spans too."""
    rng = np.random.default_rng(0)
    tags = TagSet(f"{name}/X{i}" for name, n in LABELS.items() for i in range(n))
    rows, n_spans = 2 * n_words - 1, n_words * (n_words - 1) // 2
    scores = rng.normal(size=(sentences * rows, len(tags))).astype(np.float32)
    of_spans = None
    if spans:
        span_scores = rng.normal(size=(sentences * n_spans, len(tags.node_labels))).astype(np.float32)
        of_spans = SpanScores(span_scores, np.arange(sentences) * n_spans)
    lengths = np.full(sentences, n_words)
    return TagScores(scores, np.arange(sentences) * rows, lengths, tags, ORDERS[order], spans=of_spans, max_stack=bound)


def distribution(args: argparse.Namespace) -> Figures:
    kinds: dict[str, tuple[str, bool, int | None]] = {
        "in-order, tags alone": ("in", False, None),
        "in-order, tags and spans": ("in", True, None),
        "pre-order, stack of at most 29": ("pre", False, 29),
    }
    results: dict[str, dict[str, dict[str, float]]] = {}
    for kind, (order, spans, bound) in kinds.items():
        for n_words in args.words:
            batch = draw_batch(n_words, max(1, 200 // n_words), order, spans, bound)
            # Each from the scores, with a distribution of its own, and then all of one distribution.
            runs = {
                "best tree": lambda: ExactDecoder()(Distribution(batch)),  # noqa: B023
                "log-partition and gradient": lambda: Distribution(batch).sums(),  # noqa: B023
                "probabilities of constituents": lambda: Distribution(batch).constituents,  # noqa: B023
                "10 best trees": lambda: Distribution(batch).topk(10),  # noqa: B023
                "tree of most right constituents": lambda: MBRDecoder()(Distribution(batch)),  # noqa: B023
                "probabilities, 10 best and most right": lambda: ask_all(Distribution(batch)),  # noqa: B023
            }
            times = in_turn(runs, args.repeats)
            figures = {name: 1e3 * seconds.best / len(batch.n_words) for name, seconds in times.items()}
            results.setdefault(kind, {})[str(n_words)] = figures
            show(f"{kind}, {n_words} words, milliseconds", figures)
    return {"milliseconds_a_sentence": results}


class TimedLoss(TreeLoss):
    """The loss, with the CPU seconds of its calls."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.seconds: list[float] = []

    def __call__(self, *args: Any) -> Any:
        begin = time.process_time()
        result = super().__call__(*args)
        self.seconds.append(time.process_time() - begin)
        return result


def train_loss(args: argparse.Namespace) -> Figures:
    import torch
    from gpu import make_encoder, make_pipeline

    torch.set_num_threads(1)
    fix_random_seed(0)
    sentences = args.batch * (args.batches + 1)
    trees = draw_trees(sentences) if args.train is None else get_format("penn").read_parses(args.train)
    docs = list(islice(docs_from_trees(spacy.blank("en").vocab, trees), sentences))
    steps = []
    with tempfile.TemporaryDirectory() as folder:
        words = [token.text for doc in docs for token in doc]
        nlp = make_pipeline(args.encoder or make_encoder(Path(folder), words, layers=6, width=384), docs, 4096)
        pipe: Any = nlp.get_pipe("parsetag")
        loss = pipe.loss = TimedLoss()
        optimizer = nlp.create_optimizer()
        for start in range(0, len(docs) - args.batch + 1, args.batch):
            batch = docs[start : start + args.batch]
            examples = [Example(copy_words(doc, nlp.vocab), doc) for doc in batch]
            begin = time.process_time()
            nlp.update(examples, sgd=optimizer, drop=0.1)
            steps.append(time.process_time() - begin)
    steps, losses = steps[1:], loss.seconds[1:]  # the first warms up
    figures = {
        "encoder": args.encoder.resolve().parent.name if args.encoder else "random BERT, 6 layers, 384 wide",
        "train": args.train and "/".join(args.train.parts[-2:]),
        "steps": len(steps),
        "sentences_a_step": args.batch,
        "tags": len(pipe.labels),
        "milliseconds_a_step": 1e3 * sum(steps) / len(steps),
        "milliseconds_of_loss_and_gradient": 1e3 * sum(losses) / len(losses),
        "share": sum(losses) / sum(steps),
        "largest_share_of_a_step": max(a / b for a, b in zip(losses, steps, strict=True)),
    }
    show("TreeLoss", figures)
    return figures


def show(name: str, figures: Figures) -> None:
    shown = {key: f"{value:,.3g}" if isinstance(value, float) else value for key, value in figures.items()}
    print(f"{name}: " + ", ".join(f"{key.replace('_', ' ')} {value}" for key, value in shown.items()))


# Each with the sentences and the rounds that it takes by default.
CASES: dict[str, tuple[Callable[[argparse.Namespace], Figures], int, int]] = {
    "exact": (exact, 2000, 9),
    "distribution": (distribution, 0, 5),
    "train-loss": (train_loss, 0, 1),
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("case", nargs="?", choices=list(CASES), default="exact")
    parser.add_argument("--sentences", type=int, help="sentences to decode")
    parser.add_argument("--repeats", type=int, help="rounds; the fastest run of each program counts")
    parser.add_argument("--words", type=int, nargs="+", default=[25, 50, 100, 200], help="of distribution: lengths")
    parser.add_argument("--encoder", type=Path, help="of train-loss: a folder with a pretrained transformer")
    parser.add_argument("--train", type=Path, help="of train-loss: a bracket file")
    parser.add_argument("--batches", type=int, default=20, help="of train-loss")
    parser.add_argument("--batch", type=int, default=32, help="of train-loss: sentences a batch")
    args = parse_arguments(parser)
    run, sentences, repeats = CASES[args.case]
    args.sentences = sentences if args.sentences is None else args.sentences
    args.repeats = repeats if args.repeats is None else args.repeats
    write_result(run(args), args.output, args.made_by)


if __name__ == "__main__":
    main()
