"""Measures the cost of a transformer in a pipeline: called bare, as a component, and with the parser; and in training.

    python benchmarks/encoder.py speed --treebank $PARSETAG_SHARED/treebanks/wsj_sample/dev.mrg \\
        --encoder $PARSETAG_ENCODER/. --output benchmarks/results/encoder.json
    python benchmarks/encoder.py training --treebank $PARSETAG_SHARED/treebanks/wsj_sample/dev.mrg \\
        --encoder $PARSETAG_ENCODER/. --output benchmarks/results/encoder_training.json

`speed`: the pipeline is that of a config, initialized on the treebank and not trained, with the batches that the
config asks for, and with one batch for 64 docs in the order of the file. Bare is the encoder on the same texts, sorted
by length, 32 a batch, with its tokenizer. `training`: an epoch over the treebank with the config's batches and
optimizer, in each precision of `TrainPrecision.v1`. One core; CPU time of the fastest of some runs, all by turns.
"""

from cores import one_core

if __name__ == "__main__":
    one_core()

import argparse
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

from pipeline import encode_bare, load
from record import ROOT, parse_arguments, write_result
from spacy.language import Language
from spacy.schemas import ConfigSchemaTraining
from spacy.tokens import Doc
from spacy.training import Example
from spacy.util import registry
from timing import in_turn

from spacy_parsetag.tokens import docs_from_trees
from spacy_parsetag.tokens.sentences import copy_words
from spacy_parsetag.training.callbacks import make_train_precision
from spacy_parsetag.treebanks.formats.table import get_format


def by_turns(runs: dict[str, Callable[[], Any]], repeats: int) -> dict[str, float]:
    """CPU seconds of the fastest run of each."""
    return {name: round(seconds.best, 3) for name, seconds in in_turn(runs, repeats).items()}


def measure_speed(args: argparse.Namespace) -> dict[str, Any]:
    nlp, sentences = load(args.config, args.treebank, args.encoder)
    transformer: Any = nlp.get_pipe("transformer")
    items = transformer.cfg["max_batch_items"]

    def make_docs() -> list[Doc]:
        return [Doc(nlp.vocab, words=words, sent_starts=[i == 0 for i in range(len(words))]) for words in sentences]

    def component(batch_size: int, n_items: int) -> None:
        transformer.cfg["max_batch_items"] = n_items
        list(transformer.pipe(make_docs(), batch_size=batch_size))

    def whole() -> None:
        transformer.cfg["max_batch_items"] = items
        list(nlp.pipe(make_docs()))

    runs: dict[str, Callable[[], Any]] = {
        "bare": lambda: encode_bare(transformer.model, map(" ".join, sentences), 32),
        "component": lambda: component(nlp.batch_size, items),
        "component_64_docs": lambda: component(64, 64 * max(map(len, sentences))),
        "whole": whole,
    }
    seconds = by_turns(runs, args.repeats)
    over_bare = {f"{name}_over_bare": round(value / seconds["bare"], 3) for name, value in seconds.items()}
    n_words = sum(map(len, sentences))
    batches = {"batch_size": nlp.batch_size, "max_batch_items": items}
    return {
        "pipeline": nlp.pipe_names,
        "sentences": len(sentences),
        "words": n_words,
        **batches,
        "seconds": seconds,
        **over_bare,
    }


def measure_training(args: argparse.Namespace) -> dict[str, Any]:
    runs: dict[str, Callable[[], Any]] = {}
    n_words = 0
    for precision in ("highest", "medium", "bfloat16"):
        nlp, sentences = load(args.config, args.treebank, args.encoder)
        docs = docs_from_trees(nlp.vocab, get_format("penn").read_parses(args.treebank))
        training = registry.resolve(nlp.config.interpolate()["training"], schema=ConfigSchemaTraining)
        batches = list(training["batcher"](Example(copy_words(doc, nlp.vocab), doc) for doc in docs))
        n_words = sum(map(len, sentences))
        runs[precision] = partial(train, nlp, batches, training["optimizer"], training["dropout"], precision)
    seconds = by_turns(runs, args.repeats)
    figures = {name: {"seconds": value, "words_a_second": round(n_words / value)} for name, value in seconds.items()}
    return {"pipeline": nlp.pipe_names, "words": n_words, "batches": len(batches), **figures}


def train(nlp: Language, batches: list[list[Example]], optimizer: Any, dropout: float, precision: Any) -> None:
    make_train_precision("highest")(nlp)  # one setting for the process, which "bfloat16" leaves as it is
    make_train_precision(precision)(nlp)
    for batch in batches:
        nlp.update(batch, sgd=optimizer, drop=dropout)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=["speed", "training"])
    parser.add_argument("--config", type=Path, default=ROOT / "configs" / "transformer.cfg")
    parser.add_argument("--encoder", default=None, help="a name, or a folder")
    parser.add_argument("--treebank", type=Path, required=True, help="bracket file")
    parser.add_argument("--repeats", type=int, default=3)
    args = parse_arguments(parser)
    measure = {"speed": measure_speed, "training": measure_training}
    figures = measure[args.what](args)
    for name, value in figures.items():
        sys.stdout.write(f"{name}: {value}\n")
    write_result(figures, args.output, args.made_by)


if __name__ == "__main__":
    main()
