"""Decoders and losses of whole trees on scores drawn at random: one core, 150 tags, three orders.

    python benchmarks/decode.py --output benchmarks/results/decode.json
    python benchmarks/decode.py CASE --output benchmarks/results/FILE.json

exact         exact decoding beside one look at each score, `scores.max(axis=1)`: a decoder has to read every score
beam          a beam of 10 beside the exact decoder and a NumPy beam (decode_beam.json). Scores are like a model's:
              noise, and a bonus for the tags of some tree, so that beams have something to follow
transitions   exact decoding of a linear chain, stacks of at most 12, beside a NumPy Viterbi (decode_transitions.json)
chain-loss    losses of the CRF learner over trees and over all tag sequences, with gradients (linear_chain_loss.json);
              exponentials of scores up to 1,000 are 0 in double, so some sums are taken in logarithms
distribution  best tree, sums, probabilities, ten best trees, MBR (distribution.json): sentences of 25 to 200 words,
              normal scores. Real scores are sharper, which only makes sums quicker
train-loss    TreeLoss inside steps of `nlp.update` with a transformer (lattice_loss.json). Without --encoder it is a
              BERT of 6 layers, 384 wide, with random weights; without --train, sentences of the bundled grammar

Programs that stand beside each other run in turn; the fastest run of each counts, in CPU time. A distribution
keeps what was found of it, so each run makes its own.
"""

from common import LABELS, draw_trees, make_sample  # isort: skip  # it leaves NumPy one core

import argparse
import tempfile
import time
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
import spacy
from numpy_decoders import NumpyBeam, NumpyViterbi
from record import parse_arguments, write_result
from spacy.tokens import Doc
from spacy.training import Example
from thinc.api import fix_random_seed
from timing import in_turn

from spacy_parsetag.decode import (
    BeamDecoder,
    Distribution,
    ExactDecoder,
    MBRDecoder,
    SpanScores,
    TagScores,
    Transitions,
    WeightedTrees,
)
from spacy_parsetag.linearize import ORDERS
from spacy_parsetag.linearize.tagset import TagSet
from spacy_parsetag.ml.losses import TagLoss, TreeLoss
from spacy_parsetag.tokens import docs_from_trees
from spacy_parsetag.treebanks.penn import read_trees
from spacy_parsetag.trees.clean import clean_tree

Figures = dict[str, Any]
BOUND = 12
LIMITS = {"in": 1.5, "pre": 2.5, "post": 2.5}  # times the look
BEAM = 10
FEW = 40  # sentences that NumPy gets
RANGES = (10.0, 1000.0)


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
                f"{order}-order, stack bound {bound}: {ratio:.2f} times one look at the scores (at most "
                f"{LIMITS[order]}; wall {times['decoder'].best_wall / times['look'].best_wall:.2f}), "
                f"{speed:,.0f} sentences a second"
            )
            results["orders"].setdefault(order, {})["unbounded" if bound is None else f"max_stack_{bound}"] = {
                "times_max": ratio,
                "sentences_per_second": speed,
                **{name: seconds.figures(6) for name, seconds in times.items()},
            }
    return results


def like_a_model(sample: TagScores, bonus: float) -> TagScores:
    """Scores with a bonus for the tags of one tree a sentence: the best tree of other random scores."""
    rng = np.random.default_rng(1)
    other_scores = rng.normal(size=sample.scores.shape).astype(np.float32)
    gold = ExactDecoder()(Distribution(replace(sample, scores=other_scores))).ids
    scores = sample.scores.copy()
    scores[np.arange(len(gold)), gold] += bonus
    return replace(sample, scores=scores)


def split(sample: TagScores) -> list[np.ndarray]:
    """The scores of each sentence."""
    return [sample.scores[start:stop] for start, stop in zip(sample.starts, sample.stops, strict=True)]


def decode_again(decoder: Any, sample: TagScores) -> Any:
    """Decode a batch that has kept nothing."""
    return decoder(Distribution(sample))


def loss_again(loss: Any, batch: TagScores, gold: Any) -> Any:
    """Find the loss of a batch that has kept nothing."""
    return loss(replace(batch), gold)


def times_numpy(sample: TagScores, doublings: int, repeats: int) -> float:
    """Time the NumPy beam, as a multiple of ours.

    Where both give up, the exact decoder's time counts on our side and nothing on NumPy's.
    """
    decoder = BeamDecoder(BEAM)
    decoder.doublings = doublings
    decoded = decoder(Distribution(sample))
    numpy_beam = NumpyBeam(sample.linearizer.lattice, sample.tags.classes, BEAM, doublings)
    sentences = split(sample)

    def run() -> list[float]:
        return [numpy_beam.decode(scores) for scores in sentences]

    widths: Any = decoded.beam_widths
    np.testing.assert_allclose(np.asarray(run()), np.where(widths, decoded.scores, np.nan), rtol=1e-5)
    times = in_turn({"numpy": run, "ours": lambda: decoder(Distribution(sample))}, repeats)
    return times["numpy"].over(times["ours"])


def beam(args: argparse.Namespace) -> Figures:
    results: Figures = {"sentences": args.sentences, "beam": BEAM, "orders": {}}
    for order in ORDERS:
        sample = like_a_model(make_sample(args.sentences, order), bonus=4.0)
        decoders = {name: BeamDecoder(BEAM, lookahead=name == "lookahead") for name in ("plain", "lookahead")}
        best = ExactDecoder()(Distribution(sample)).scores
        runs: dict[str, Callable[[], Any]] = {"exact": lambda: ExactDecoder()(Distribution(sample))}  # noqa: B023
        runs |= {name: partial(decode_again, decoder, sample) for name, decoder in decoders.items()}
        times = in_turn(runs, args.repeats)
        results["orders"][order] = {}
        for name, decoder in decoders.items():
            decoded = decoder(Distribution(sample))
            widths: Any = decoded.beam_widths
            figures = {
                "sentences_per_second": args.sentences / times[name].best,
                "times_as_long_as_exact": times[name].over(times["exact"]),
                "share_equal_to_exact": float(np.isclose(decoded.scores, best, rtol=1e-6).mean()),
                "share_widened": float((widths > BEAM).mean()),
                "share_exact_stepped_in": float((widths == 0).mean()),
            }
            if name == "plain":
                few = sample.select(np.arange(min(FEW, args.sentences)))
                figures["times_numpy"] = times_numpy(few, 0, args.repeats)
                figures["times_numpy_with_widening"] = times_numpy(few, BeamDecoder.doublings, args.repeats)
            results["orders"][order][name] = figures
            show(f"{order}-order, {name}", figures)
    return results


def transitions(args: argparse.Namespace) -> Figures:
    results: Figures = {"sentences": args.sentences, "max_stack": BOUND, "orders": {}}
    for order, linearizer in ORDERS.items():
        sample = make_sample(args.sentences, order)
        n_tags = len(sample.tags)
        weights = np.random.default_rng(1).normal(size=(n_tags, n_tags)).astype(np.float32)
        chain = Transitions(weights, np.zeros(n_tags, "f"), np.zeros(n_tags, "f"))
        batch, decoder = replace(sample, transitions=chain, max_stack=BOUND), ExactDecoder()
        ids = decoder(Distribution(batch)).ids
        viterbi = NumpyViterbi(linearizer.lattice, sample.tags.classes, weights, BOUND)
        sentences = split(sample)[:FEW]
        numpy_ids = np.concatenate([viterbi.decode(scores)[0] for scores in sentences])
        np.testing.assert_array_equal(ids[: len(numpy_ids)], numpy_ids)
        runs = {"ours": lambda: decoder(Distribution(batch)), "numpy": lambda: [viterbi.decode(s) for s in sentences]}  # noqa: B023
        times = in_turn(runs, args.repeats)
        ratio = times["numpy"].over(times["ours"]) * len(sample.scores) / sum(map(len, sentences))
        figures = {"sentences_per_second": args.sentences / times["ours"].best, "times_numpy": ratio}
        results["orders"][order] = figures
        show(f"{order}-order", figures)
    return results


def chain_loss(args: argparse.Namespace) -> Figures:
    results: Figures = {"sentences": args.sentences, "max_stack": BOUND, "orders": {}}
    for order in ORDERS:
        sample = replace(make_sample(args.sentences, order), max_stack=BOUND)
        ids = ExactDecoder()(Distribution(sample)).ids
        gold = WeightedTrees.of_batch(sample, ids)
        n_tags = len(sample.tags)
        runs: dict[str, Callable[[], Any]] = {}
        for spread in RANGES:
            rng = np.random.default_rng(1)
            shapes = (sample.scores.shape, (n_tags, n_tags), (n_tags,), (n_tags,))
            scores, *chain = (rng.uniform(0, spread, size=shape).astype(np.float32) for shape in shapes)
            batch = replace(sample, scores=scores, transitions=Transitions(*chain))
            for name, loss in (("trees", TreeLoss()), ("all_sequences", TagLoss())):
                runs[f"{name}_range_{spread:.0f}_ms"] = partial(loss_again, loss, batch, gold)
        figures = {name: 1e3 * seconds.best for name, seconds in in_turn(runs, args.repeats).items()}
        results["orders"][order] = figures
        show(f"{order}-order", figures)
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
    trees = draw_trees(sentences) if args.train is None else filter(None, map(clean_tree, read_trees(args.train)))
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
            examples = [Example(Doc(nlp.vocab, words=[token.text for token in doc]), doc) for doc in batch]
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
    "beam": (beam, 500, 9),
    "transitions": (transitions, 200, 9),
    "chain-loss": (chain_loss, 32, 9),
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
